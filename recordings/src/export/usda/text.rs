//! USD's text: indentation, numbers, strings, arrays and time samples.

use std::{
    fmt::{self, Display, Write as _},
    io::{self, Write},
};

use glam::{DMat4, DQuat, DVec3, Quat, Vec2, Vec3};

/// A number, the shortest that reads as the same 32-bit float. Written as 0 when it is none.
pub(super) struct F(pub(super) f32);

impl Display for F {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0;
        if value == 0.0 || !value.is_finite() {
            f.write_str("0")
        } else if (1e-5..1e9).contains(&value.abs()) {
            write!(f, "{value}")
        } else {
            write!(f, "{value:e}")
        }
    }
}

/// A number, the shortest that reads as the same 64-bit float. Written as 0 when it is none.
pub(super) struct D(pub(super) f64);

impl Display for D {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0;
        if value == 0.0 || !value.is_finite() {
            f.write_str("0")
        } else if (1e-5..1e15).contains(&value.abs()) {
            write!(f, "{value}")
        } else {
            write!(f, "{value:e}")
        }
    }
}

/// `(a, b)`.
pub(super) struct Tuple<const N: usize>(pub(super) [f32; N]);

impl<const N: usize> Display for Tuple<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, value) in self.0.iter().enumerate() {
            f.write_str(if at == 0 { "(" } else { ", " })?;
            F(*value).fmt(f)?;
        }
        f.write_str(")")
    }
}

pub(super) fn vec2(v: Vec2) -> Tuple<2> {
    Tuple(v.to_array())
}

pub(super) fn vec3(v: Vec3) -> Tuple<3> {
    Tuple(v.to_array())
}

/// Positions of joints and props; what is below a nanometre is nothing.
pub(super) fn position(v: DVec3) -> Tuple<3> {
    let tidy = |value: f64| {
        if value.abs() < 1e-9 {
            0.0
        } else {
            value as f32
        }
    };
    Tuple(v.to_array().map(tidy))
}

/// USD writes w, x, y, z.
pub(super) fn quat(q: Quat) -> Tuple<4> {
    Tuple([q.w, q.x, q.y, q.z])
}

/// The rotation as 32-bit floats of the sign nearer to `before`, which it then is.
pub(super) fn continuous(rotation: DQuat, before: &mut Quat) -> Tuple<4> {
    let mut now = rotation.as_quat();
    if now.dot(*before) < 0.0 {
        now = -now;
    }
    *before = now;
    quat(now)
}

/// `( (a, b, c, d), … )`. USD multiplies rows from the left, so that our columns are its rows.
pub(super) struct Matrix(pub(super) DMat4);

impl Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, column) in self.0.to_cols_array_2d().into_iter().enumerate() {
            f.write_str(if at == 0 { "( " } else { ", " })?;
            let [a, b, c, d] = column.map(|v| D(if v.abs() < 1e-12 { 0.0 } else { v }));
            write!(f, "({a}, {b}, {c}, {d})")?;
        }
        f.write_str(" )")
    }
}

/// A string or token in quotes.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                c if c.is_control() => f.write_char('_')?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// How an array is spread over a mesh.
#[derive(Clone, Copy)]
pub(super) struct Spread {
    pub(super) interpolation: &'static str,
    /// Values to an element; 1 is not said.
    pub(super) element_size: usize,
}

impl Spread {
    /// One value a vertex.
    pub(super) const VERTEX: Self = Self {
        interpolation: "vertex",
        element_size: 1,
    };
    /// One value for all.
    pub(super) const CONSTANT: Self = Self {
        interpolation: "constant",
        element_size: 1,
    };
}

/// The text as it is written.
pub(super) struct Text<'w, W: Write> {
    out: &'w mut W,
    depth: usize,
    buffer: String,
}

impl<'w, W: Write> Text<'w, W> {
    pub(super) fn new(out: &'w mut W) -> Self {
        Self {
            out,
            depth: 0,
            buffer: String::new(),
        }
    }

    fn indent(&mut self) -> io::Result<()> {
        for _ in 0..self.depth {
            self.out.write_all(b"    ")?;
        }
        Ok(())
    }

    /// A line of its own.
    pub(super) fn line(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.indent()?;
        self.out.write_fmt(text)?;
        self.out.write_all(b"\n")
    }

    /// An empty line.
    pub(super) fn blank(&mut self) -> io::Result<()> {
        self.out.write_all(b"\n")
    }

    /// A line, and everything up to `close` is inside it.
    pub(super) fn open(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.line(text)?;
        self.depth += 1;
        Ok(())
    }

    /// Ends what `open` began.
    pub(super) fn close(&mut self, mark: &str) -> io::Result<()> {
        self.depth -= 1;
        self.line(format_args!("{mark}"))
    }

    /// `def KIND "NAME" { …`, up to `close("}")`, with these API schemas.
    pub(super) fn prim(&mut self, kind: &str, name: &str, schemas: &[&str]) -> io::Result<()> {
        if schemas.is_empty() {
            self.line(format_args!("def {kind} \"{name}\""))?;
        } else {
            self.open(format_args!("def {kind} \"{name}\" ("))?;
            let schemas = schemas.iter().map(|s| format!("\"{s}\""));
            let schemas = schemas.collect::<Vec<_>>().join(", ");
            self.line(format_args!("prepend apiSchemas = [{schemas}]"))?;
            self.close(")")?;
        }
        self.open(format_args!("{{"))
    }

    /// `HEAD = [a, b]`, one value at a time.
    pub(super) fn array<T: Display>(
        &mut self,
        head: &str,
        values: impl Iterator<Item = T>,
        spread: Option<Spread>,
    ) -> io::Result<()> {
        self.indent()?;
        write!(self.out, "{head} = [")?;
        for (at, value) in values.enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(self.out, "{comma}{value}")?;
        }
        let Some(spread) = spread else {
            return self.out.write_all(b"]\n");
        };
        self.out.write_all(b"] (\n")?;
        self.depth += 1;
        if spread.element_size > 1 {
            self.line(format_args!("elementSize = {}", spread.element_size))?;
        }
        self.line(format_args!("interpolation = \"{}\"", spread.interpolation))?;
        self.close(")")
    }

    /// `HEAD.timeSamples = { … }`: the text of each frame, left out where it is that of the frames around it.
    pub(super) fn samples(
        &mut self,
        head: &str,
        num_frames: usize,
        mut value: impl FnMut(usize, &mut String) -> fmt::Result,
    ) -> io::Result<()> {
        self.open(format_args!("{head}.timeSamples = {{"))?;
        let mut last = String::new();
        let mut held = None;
        let mut now = std::mem::take(&mut self.buffer);
        for frame in 0..num_frames {
            now.clear();
            value(frame, &mut now)
                .map_err(|_cause| io::Error::other("a value cannot be written"))?;
            if frame > 0 && now == last {
                held = Some(frame);
                continue;
            }
            // Else the value would glide from its last key to this one.
            if let Some(held) = held.take() {
                self.line(format_args!("{held}: {last},"))?;
            }
            self.line(format_args!("{frame}: {now},"))?;
            std::mem::swap(&mut last, &mut now);
        }
        self.buffer = now;
        self.close("}")
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Appends `[a, b]`.
pub(super) fn push_array<T: Display>(
    text: &mut String,
    values: impl Iterator<Item = T>,
) -> fmt::Result {
    text.push('[');
    for (at, value) in values.enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        write!(text, "{comma}{value}")?;
    }
    text.push(']');
    Ok(())
}
