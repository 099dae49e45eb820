//! Text → joints and rows. Bounded by what is there: nothing declared is believed before it is read.

use thiserror::Error;

/// Longest file read.
pub const MAX_BYTES: usize = 1 << 30;
/// Most joints, as many as the hub takes bones.
pub const MAX_JOINTS: usize = hub::MAX_BONES;
/// Most values of all rows together.
pub const MAX_VALUES: usize = 10_000_000;
/// Most channels of one joint; six are usual.
pub const MAX_CHANNELS_PER_JOINT: usize = 12;

/// Why a text is no BVH. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BvhError {
    /// Something else should stand there.
    #[error("line {line}: expected {expected}, found {found:?}")]
    Syntax {
        /// Where.
        line: usize,
        /// What should stand there.
        expected: &'static str,
        /// The beginning of what does.
        found: String,
    },
    /// A row that has not one value per channel, and is not the last one cut short.
    #[error("line {line}: {have} values in this row, the hierarchy has {want} channels")]
    Row {
        /// Where.
        line: usize,
        /// Channels.
        want: usize,
        /// Values.
        have: usize,
    },
    /// Beyond a bound.
    #[error("line {line}: more than {limit} {what}")]
    TooMany {
        /// Where it was reached.
        line: usize,
        /// Most taken.
        limit: usize,
        /// Of what.
        what: &'static str,
    },
    /// The file ends too early.
    #[error("the file ends at line {line}; expected {expected}")]
    Ends {
        /// Its last line.
        line: usize,
        /// What is missing.
        expected: &'static str,
    },
}

/// What a value of a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Along an axis, 0..3 for X, Y, Z, in the file's unit.
    Position(u8),
    /// About an axis, 0..3 for X, Y, Z, in degrees.
    Rotation(u8),
}

impl Channel {
    fn of(word: &str) -> Option<Self> {
        let (axis, kind) = word.split_at_checked(1)?;
        let axis = match axis {
            "X" | "x" => 0,
            "Y" | "y" => 1,
            "Z" | "z" => 2,
            _ => return None,
        };
        if kind.eq_ignore_ascii_case("position") {
            Some(Self::Position(axis))
        } else if kind.eq_ignore_ascii_case("rotation") {
            Some(Self::Rotation(axis))
        } else {
            None
        }
    }
}

/// One `ROOT` or `JOINT`.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// As written, without the space around it; need not be unique.
    pub name: String,
    /// Index of the parent, smaller than the joint's own.
    pub parent: Option<u32>,
    /// From the parent, in the file's unit.
    pub offset: [f32; 3],
    /// In declared order.
    pub channels: Vec<Channel>,
    /// Index of the first channel in a row.
    pub first_channel: usize,
    /// Offset of the joint's first `End Site`, in the file's unit.
    pub end_site: Option<[f32; 3]>,
}

/// A file as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Bvh {
    pub(super) joints: Vec<Joint>,
    pub(super) num_channels: usize,
    /// Row by row: value of channel c in frame f at `f * num_channels + c`.
    pub(super) values: Vec<f32>,
    pub(super) frame_time_secs: f64,
    declared_frames: Option<u64>,
    cut_rows: usize,
}

impl Bvh {
    /// Reads a file's text; UTF-8 is not required.
    ///
    /// # Errors
    /// See [`BvhError`].
    pub fn read<T: AsRef<[u8]> + ?Sized>(text: &T) -> Result<Self, BvhError> {
        read_within(text.as_ref(), LIMITS)
    }

    /// The joints, parents before children.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// Values of a row.
    pub fn num_channels(&self) -> usize {
        self.num_channels
    }

    /// Whole rows in the file.
    pub fn num_frames(&self) -> usize {
        self.values
            .len()
            .checked_div(self.num_channels)
            .unwrap_or(0)
    }

    /// The raw values of a row, in channel order; `None` past the end.
    pub fn row(&self, frame: usize) -> Option<&[f32]> {
        let start = frame.checked_mul(self.num_channels)?;
        if frame >= self.num_frames() {
            return None;
        }
        self.values.get(start..)?.get(..self.num_channels)
    }

    /// Seconds from row to row as written; 0 in some files of a single pose.
    pub fn frame_time_secs(&self) -> f64 {
        self.frame_time_secs
    }

    /// What `Frames:` says, if it says a number.
    pub fn declared_frames(&self) -> Option<u64> {
        self.declared_frames
    }

    /// Rows left out because the file ends within them: 0 or 1.
    pub fn cut_rows(&self) -> usize {
        self.cut_rows
    }
}

#[derive(Clone, Copy)]
struct Limits {
    bytes: usize,
    joints: usize,
    values: usize,
}

const LIMITS: Limits = Limits {
    bytes: MAX_BYTES,
    joints: MAX_JOINTS,
    values: MAX_VALUES,
};

/// Lines of whatever end, counted from 1.
struct Lines<'a> {
    rest: &'a [u8],
    line: usize,
}

/// A line without its end, and whether it had one.
struct Line<'a> {
    text: &'a [u8],
    is_ended: bool,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        let end = self.rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
        let (text, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = match rest {
            [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
            [] => &[],
        };
        Some(Line {
            text,
            is_ended: end.is_some(),
        })
    }

    /// The next line that has anything on it.
    fn next_filled(&mut self) -> Option<Line<'a>> {
        loop {
            let line = self.next()?;
            if !line.text.trim_ascii().is_empty() {
                return Some(line);
            }
        }
    }

    fn syntax(&self, expected: &'static str, found: &[u8]) -> BvhError {
        let text = String::from_utf8_lossy(found);
        BvhError::Syntax {
            line: self.line,
            expected,
            found: text.trim().chars().take(40).collect(),
        }
    }

    fn too_many(&self, limit: usize, what: &'static str) -> BvhError {
        BvhError::TooMany {
            line: self.line,
            limit,
            what,
        }
    }
}

/// The first word of a line and what follows it, both without the space around them.
fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii();
    let end = text
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (word, rest.trim_ascii())
}

/// A finite number; ASCII, a decimal point if any.
fn number(word: &[u8]) -> Option<f32> {
    let text = std::str::from_utf8(word).ok()?;
    text.parse().ok().filter(|v: &f32| v.is_finite())
}

/// What a brace belongs to.
#[derive(Clone, Copy)]
enum Open {
    Joint(usize),
    EndSite(usize),
}

/// The hierarchy while it is read.
struct Hierarchy<'l, 'a> {
    lines: &'l mut Lines<'a>,
    limits: Limits,
    joints: Vec<Joint>,
    num_channels: usize,
    open: Vec<Open>,
    /// Named, its brace not yet seen.
    pending: Option<Open>,
}

impl<'a> Hierarchy<'_, 'a> {
    /// Reads until the line `MOTION`.
    fn read(&mut self) -> Result<(), BvhError> {
        loop {
            let Some(line) = self.lines.next_filled() else {
                return Err(BvhError::Ends {
                    line: self.lines.line,
                    expected: "MOTION",
                });
            };
            let mut rest = line.text.trim_ascii();
            while !rest.is_empty() {
                let (word, after) = split_word(rest);
                if word.eq_ignore_ascii_case(b"MOTION") {
                    return self.finish(rest);
                }
                rest = self.statement(rest, word, after)?;
            }
        }
    }

    fn finish(&self, found: &[u8]) -> Result<(), BvhError> {
        if !self.open.is_empty() || self.pending.is_some() {
            return Err(self.lines.syntax("} for each {", found));
        }
        if self.joints.is_empty() {
            return Err(self.lines.syntax("ROOT and a joint", found));
        }
        Ok(())
    }

    /// Takes one statement; gives the rest of the line.
    fn statement(
        &mut self,
        all: &'a [u8],
        word: &'a [u8],
        after: &'a [u8],
    ) -> Result<&'a [u8], BvhError> {
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        if let [first @ (b'{' | b'}'), rest @ ..] = all {
            if *first == b'{' {
                let opened = self.pending.take();
                let opened = opened.ok_or_else(|| self.lines.syntax("a joint before {", all))?;
                self.open.push(opened);
            } else if self.pending.is_some() || self.open.pop().is_none() {
                return Err(self.lines.syntax("{ before }", all));
            }
            return Ok(rest.trim_ascii());
        }
        if self.pending.is_some() {
            return Err(self.lines.syntax("{", all));
        }
        match self.open.last().copied() {
            None if is("HIERARCHY") && self.joints.is_empty() => Ok(after),
            None if is("ROOT") => self.joint(None, after),
            None => Err(self.lines.syntax("ROOT or MOTION", all)),
            Some(Open::Joint(parent)) if is("JOINT") => self.joint(Some(parent), after),
            Some(Open::Joint(of)) if is("End") => {
                let (site, after) = split_word(after);
                // Some write a name behind it.
                if !site.eq_ignore_ascii_case(b"Site") {
                    return Err(self.lines.syntax("End Site", all));
                }
                let (_, rest) = until_brace(after);
                self.pending = Some(Open::EndSite(of));
                Ok(rest)
            }
            Some(open) if is("OFFSET") => self.offset(open, after),
            Some(Open::Joint(of)) if is("CHANNELS") => self.channels(of, after),
            Some(Open::Joint(_)) => {
                let expected = "OFFSET, CHANNELS, JOINT, End Site or }";
                Err(self.lines.syntax(expected, all))
            }
            Some(Open::EndSite(_)) => Err(self.lines.syntax("OFFSET or }", all)),
        }
    }

    fn joint(&mut self, parent: Option<usize>, text: &'a [u8]) -> Result<&'a [u8], BvhError> {
        let (name, rest) = until_brace(text);
        if name.is_empty() {
            return Err(self.lines.syntax("a name", text));
        }
        if self.joints.len() >= self.limits.joints {
            return Err(self.lines.too_many(self.limits.joints, "joints"));
        }
        let name: String = String::from_utf8_lossy(name)
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        if name.len() > hub::MAX_NAME_BYTES {
            return Err(self.lines.too_many(hub::MAX_NAME_BYTES, "bytes in a name"));
        }
        self.pending = Some(Open::Joint(self.joints.len()));
        self.joints.push(Joint {
            name,
            parent: parent.map(|p| p as u32),
            offset: [0.0; 3],
            channels: Vec::new(),
            first_channel: 0,
            end_site: None,
        });
        Ok(rest)
    }

    fn offset(&mut self, open: Open, text: &'a [u8]) -> Result<&'a [u8], BvhError> {
        let mut rest = text;
        let mut offset = [0.0; 3];
        for value in &mut offset {
            let (word, after) = split_word(rest);
            *value = number(word).ok_or_else(|| self.lines.syntax("three numbers", rest))?;
            rest = after;
        }
        match open {
            Open::Joint(at) => {
                if let Some(joint) = self.joints.get_mut(at) {
                    joint.offset = offset;
                }
            }
            Open::EndSite(of) => {
                if let Some(joint) = self.joints.get_mut(of) {
                    joint.end_site.get_or_insert(offset);
                }
            }
        }
        Ok(rest)
    }

    fn channels(&mut self, of: usize, text: &'a [u8]) -> Result<&'a [u8], BvhError> {
        let (word, mut rest) = split_word(text);
        let count = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
        let count = count
            .filter(|n: &usize| *n <= MAX_CHANNELS_PER_JOINT)
            .ok_or_else(|| self.lines.syntax("a number of channels, at most 12", text))?;
        let Some(joint) = self.joints.get_mut(of).filter(|j| j.channels.is_empty()) else {
            return Err(self.lines.syntax("CHANNELS once per joint", text));
        };
        // Rows are in the order of the CHANNELS lines, which need not be that of the joints.
        joint.first_channel = self.num_channels;
        for _ in 0..count {
            let (word, after) = split_word(rest);
            let channel = std::str::from_utf8(word).ok().and_then(Channel::of);
            let channel = channel
                .ok_or_else(|| self.lines.syntax("Xposition, Xrotation and the like", rest))?;
            joint.channels.push(channel);
            rest = after;
        }
        self.num_channels += count;
        Ok(rest)
    }
}

/// The text before the first brace, without the space around it, and the rest from the brace on.
fn until_brace(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|b| *b == b'{').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    (name.trim_ascii(), rest)
}

/// What stands between `MOTION` and the rows.
struct MotionHead<'a> {
    declared_frames: Option<u64>,
    frame_time_secs: f64,
    first_row: Option<Line<'a>>,
}

fn read_motion_head<'a>(lines: &mut Lines<'a>) -> Result<MotionHead<'a>, BvhError> {
    let (mut declared_frames, mut frame_time_secs) = (None, None);
    let first_row = loop {
        let Some(line) = lines.next_filled() else {
            break None;
        };
        let text = line.text.trim_ascii();
        let Some(colon) = text.iter().position(|b| *b == b':') else {
            break Some(line);
        };
        let (key, value) = text.split_at(colon);
        let value = value.get(1..).unwrap_or(&[]).trim_ascii();
        let (first, second) = split_word(key);
        if first.eq_ignore_ascii_case(b"Frames") && second.is_empty() {
            declared_frames = std::str::from_utf8(value).ok().and_then(|v| v.parse().ok());
        } else if first.eq_ignore_ascii_case(b"Frame") && second.eq_ignore_ascii_case(b"Time") {
            let secs = std::str::from_utf8(value).ok().and_then(|v| v.parse().ok());
            let secs = secs.filter(|s: &f64| (0.0..=86_400.0).contains(s));
            frame_time_secs =
                Some(secs.ok_or_else(|| lines.syntax("seconds after Frame Time:", text))?);
        } else {
            return Err(lines.syntax("Frames: or Frame Time:", text));
        }
    };
    let Some(frame_time_secs) = frame_time_secs else {
        let expected = "Frame Time: before the first row";
        return Err(match first_row {
            Some(line) => lines.syntax(expected, line.text),
            None => BvhError::Ends {
                line: lines.line,
                expected,
            },
        });
    };
    Ok(MotionHead {
        declared_frames,
        frame_time_secs,
        first_row,
    })
}

fn read_within(bytes: &[u8], limits: Limits) -> Result<Bvh, BvhError> {
    if bytes.len() > limits.bytes {
        return Err(BvhError::TooMany {
            line: 1,
            limit: limits.bytes,
            what: "bytes",
        });
    }
    let mut lines = Lines {
        rest: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
        line: 0,
    };
    let mut hierarchy = Hierarchy {
        lines: &mut lines,
        limits,
        joints: Vec::new(),
        num_channels: 0,
        open: Vec::new(),
        pending: None,
    };
    hierarchy.read()?;
    let (joints, num_channels) = (hierarchy.joints, hierarchy.num_channels);
    let head = read_motion_head(&mut lines)?;
    let mut values = Vec::new();
    let mut cut_rows = 0;
    let mut next = head.first_row;
    while let Some(line) = next {
        let row = read_row(&lines, &line, num_channels, limits, &mut values)?;
        let row_line = lines.line;
        next = lines.next_filled();
        if let Row::Short { have } = row {
            if next.is_some() {
                return Err(BvhError::Row {
                    line: row_line,
                    want: num_channels,
                    have,
                });
            }
            cut_rows = 1;
        }
    }
    values.shrink_to_fit();
    Ok(Bvh {
        joints,
        num_channels,
        values,
        frame_time_secs: head.frame_time_secs,
        declared_frames: head.declared_frames,
        cut_rows,
    })
}

enum Row {
    Whole,
    /// Taken back: too few values.
    Short {
        have: usize,
    },
}

/// Appends a row's values, or nothing when it is short.
fn read_row(
    lines: &Lines<'_>,
    line: &Line<'_>,
    want: usize,
    limits: Limits,
    values: &mut Vec<f32>,
) -> Result<Row, BvhError> {
    let start = values.len();
    if start + want > limits.values {
        return Err(lines.too_many(limits.values, "values"));
    }
    let mut have = 0;
    let mut rest = line.text.trim_ascii();
    while !rest.is_empty() {
        let (word, after) = split_word(rest);
        let Some(value) = number(word) else {
            // The very end of a file may be half a number, such as `-` or `1e`.
            if after.is_empty() && !line.is_ended && is_half_number(word) && have < want {
                break;
            }
            return Err(lines.syntax("a finite number", word));
        };
        have += 1;
        if have <= want {
            values.push(value);
        }
        rest = after;
    }
    if have > want {
        return Err(BvhError::Row {
            line: lines.line,
            want,
            have,
        });
    }
    if have < want {
        values.truncate(start);
        return Ok(Row::Short { have });
    }
    Ok(Row::Whole)
}

/// Whether more digits could make a number of it.
fn is_half_number(word: &[u8]) -> bool {
    number(&[word, &b"0"[..]].concat()).is_some()
}

#[cfg(test)]
mod tests;
