//! Views under `EXT_meshopt_compression`: packed bytes in, the view's bytes out.
//!
//! ```text
//! ATTRIBUTES  a0, blocks of at most 256 elements, tail: the element before the first, padded in front to 32 bytes
//!             block: for each byte of an element, 2 bits for each group of 16 elements, then the groups:
//!                    0: nothing · 1: 2 bits each · 2: 4 bits each · 3: a byte each; all ones: a byte that follows
//! TRIANGLES   e1, a code for each triangle, data, tail: a table of 16 bytes
//! INDICES     d1, LEB128 numbers, tail: 4 bytes
//! ```
//! The size of what comes out is checked against what that many packed bytes can hold before memory is asked for.
//! Source: the extension's specification, appendices A (bitstream) and B (filters). `KHR_meshopt_compression` is read
//! as far as it is the same: no `COLOR` filter, no attributes of version 1.

/// How a view was packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Attributes,
    Triangles,
    Indices,
}

impl Mode {
    pub(crate) fn of(word: &str) -> Option<Self> {
        match word {
            "ATTRIBUTES" => Some(Self::Attributes),
            "TRIANGLES" => Some(Self::Triangles),
            "INDICES" => Some(Self::Indices),
            _ => None,
        }
    }
}

/// What is done to the elements after they are unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    None,
    Octahedral,
    Quaternion,
    Exponential,
}

impl Filter {
    pub(crate) fn of(word: &str) -> Option<Self> {
        match word {
            "NONE" => Some(Self::None),
            "OCTAHEDRAL" => Some(Self::Octahedral),
            "QUATERNION" => Some(Self::Quaternion),
            "EXPONENTIAL" => Some(Self::Exponential),
            _ => None,
        }
    }
}

/// What a view holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) mode: Mode,
    pub(crate) filter: Filter,
    /// Bytes of an element.
    pub(crate) stride: usize,
    /// Elements.
    pub(crate) count: usize,
}

/// Bytes that one packed byte holds at most: two bits for each group of sixteen.
const MAX_RATIO: usize = 64;

type Unpacked<T> = Result<T, &'static str>;

const CUT_SHORT: &str = "it ends too early";
const LEFT_OVER: &str = "something follows its end";

/// The `stride * count` bytes of a view.
pub(crate) fn unpack(packed: &[u8], layout: Layout) -> Unpacked<Vec<u8>> {
    let Layout {
        mode,
        filter,
        stride,
        count,
    } = layout;
    let is_stride_right = match (mode, filter) {
        (Mode::Attributes, Filter::Octahedral) => matches!(stride, 4 | 8),
        (Mode::Attributes, Filter::Quaternion) => stride == 8,
        (Mode::Attributes, Filter::None | Filter::Exponential) => {
            stride.is_multiple_of(4) && (4..=256).contains(&stride)
        }
        (Mode::Triangles | Mode::Indices, _) => matches!(stride, 2 | 4),
    };
    if !is_stride_right {
        return Err("its stride does not fit its mode and filter");
    }
    if mode != Mode::Attributes && filter != Filter::None {
        return Err("indices have no filter");
    }
    let most = packed.len().saturating_mul(MAX_RATIO);
    if count.checked_mul(stride).is_none_or(|bytes| bytes > most) {
        return Err("so few bytes do not hold so many elements");
    }
    match mode {
        Mode::Attributes => {
            let mut bytes = attributes(packed, stride, count)?;
            undo(filter, stride, &mut bytes);
            Ok(bytes)
        }
        Mode::Triangles => triangles(packed, stride, count),
        Mode::Indices => indices(packed, stride, count),
    }
}

/// Reads forward.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Unpacked<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(CUT_SHORT)?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Unpacked<u8> {
        let (byte, rest) = self.rest.split_first().ok_or(CUT_SHORT)?;
        self.rest = rest;
        Ok(*byte)
    }

    /// LEB128, at most 32 bits.
    fn number(&mut self) -> Unpacked<u32> {
        let mut number = 0_u32;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            number |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("a number has more than 32 bits")
    }
}

/// What lies between a header byte and a tail, and the tail.
fn framed(packed: &[u8], header: u8, tail: usize) -> Unpacked<(Reader<'_>, &[u8])> {
    let (first, rest) = packed.split_first().ok_or(CUT_SHORT)?;
    if *first != header {
        return Err("its first byte is not its mode's");
    }
    let middle = rest.len().checked_sub(tail).ok_or(CUT_SHORT)?;
    let (middle, tail) = rest.split_at_checked(middle).ok_or(CUT_SHORT)?;
    Ok((Reader { rest: middle }, tail))
}

/// Elements of a group.
const GROUP: usize = 16;

fn attributes(packed: &[u8], stride: usize, count: usize) -> Unpacked<Vec<u8>> {
    let (mut reader, tail) = framed(packed, 0xa0, stride.max(32))?;
    let mut previous = tail
        .get(tail.len().saturating_sub(stride)..)
        .unwrap_or_default()
        .to_vec();
    let most = ((8192 / stride) & !(GROUP - 1)).min(256);
    let mut bytes = vec![0; stride * count];
    for block in bytes.chunks_mut(stride * most) {
        let elements = block.len() / stride;
        let groups = elements.div_ceil(GROUP);
        for (place, last) in previous.iter_mut().enumerate() {
            let kinds = reader.take(groups.div_ceil(4))?;
            for group in 0..groups {
                let kind = kinds.get(group / 4).copied().unwrap_or_default();
                let deltas = deltas(&mut reader, (kind >> (2 * (group % 4))) & 3)?;
                // What is beyond the last element is left out.
                let first = group * GROUP * stride + place;
                let places = block.iter_mut().skip(first).step_by(stride);
                for (byte, delta) in places.zip(deltas) {
                    *last = last.wrapping_add(unzigzag(delta));
                    *byte = *last;
                }
            }
        }
    }
    if reader.rest.is_empty() {
        Ok(bytes)
    } else {
        Err(LEFT_OVER)
    }
}

/// One group, still in zigzag.
fn deltas(reader: &mut Reader<'_>, kind: u8) -> Unpacked<[u8; GROUP]> {
    let mut deltas = [0; GROUP];
    match kind {
        0 => {}
        3 => deltas.copy_from_slice(reader.take(GROUP)?),
        _ => {
            let bits = if kind == 1 { 2 } else { 4 };
            let sentinel = (1_u8 << bits) - 1;
            let in_a_byte = 8 / bits;
            let packed = reader.take(GROUP / in_a_byte)?;
            for (byte, some) in packed.iter().zip(deltas.chunks_mut(in_a_byte)) {
                // The first is in the highest bits.
                for (at, delta) in some.iter_mut().rev().enumerate() {
                    *delta = (byte >> (bits * at)) & sentinel;
                }
            }
            for delta in deltas.iter_mut().filter(|delta| **delta == sentinel) {
                *delta = reader.byte()?;
            }
        }
    }
    Ok(deltas)
}

fn unzigzag(code: u8) -> u8 {
    if code & 1 == 0 {
        code >> 1
    } else {
        !(code >> 1)
    }
}

fn unzigzag_u32(code: u32) -> u32 {
    if code & 1 == 0 {
        code >> 1
    } else {
        !(code >> 1)
    }
}

/// The latest sixteen of something; 0 is the most recent.
struct Recent<T> {
    items: [T; 16],
    next: usize,
}

impl<T: Copy + Default> Recent<T> {
    fn new() -> Self {
        Self {
            items: [T::default(); 16],
            next: 0,
        }
    }

    fn push(&mut self, item: T) {
        self.items[self.next & 15] = item;
        self.next = self.next.wrapping_add(1);
    }

    fn get(&self, age: u8) -> T {
        self.items[self.next.wrapping_sub(1 + usize::from(age)) & 15]
    }
}

/// What is known while triangles are unpacked.
struct Triangles<'a> {
    data: Reader<'a>,
    next: u32,
    last: u32,
    edges: Recent<[u32; 2]>,
    vertices: Recent<u32>,
}

impl Triangles<'_> {
    fn fresh(&mut self) -> u32 {
        let fresh = self.next;
        self.next = fresh.wrapping_add(1);
        fresh
    }

    fn explicit(&mut self) -> Unpacked<u32> {
        let delta = unzigzag_u32(self.data.number()?);
        self.last = self.last.wrapping_add(delta);
        Ok(self.last)
    }

    /// A corner from a nibble: 0 is the next vertex, others are recent ones, 15 is written out if that is meant.
    fn corner(&mut self, nibble: u8, is_long: bool) -> Unpacked<u32> {
        match nibble {
            0 => Ok(self.fresh()),
            15 if is_long => self.explicit(),
            _ => Ok(self.vertices.get(nibble - 1)),
        }
    }

    fn triangle(&mut self, code: u8, table: &[u8]) -> Unpacked<[u32; 3]> {
        let (high, low) = (code >> 4, code & 15);
        if high < 15 {
            let [a, b] = self.edges.get(high);
            let c = match low {
                0 => self.fresh(),
                1..=12 => self.vertices.get(low),
                13 => {
                    self.last = self.last.wrapping_sub(1);
                    self.last
                }
                14 => {
                    self.last = self.last.wrapping_add(1);
                    self.last
                }
                _ => self.explicit()?,
            };
            if !(1..=12).contains(&low) {
                self.vertices.push(c);
            }
            self.edges.push([c, b]);
            self.edges.push([a, c]);
            return Ok([a, b, c]);
        }
        let is_long = low >= 14;
        let pair = if is_long {
            self.data.byte()?
        } else {
            table.get(usize::from(low)).copied().unwrap_or_default()
        };
        let (z, w) = (pair >> 4, pair & 15);
        if is_long && pair == 0 {
            self.next = 0;
        }
        let a = if low == 15 {
            self.explicit()?
        } else {
            self.fresh()
        };
        let b = self.corner(z, is_long)?;
        let c = self.corner(w, is_long)?;
        self.edges.push([b, a]);
        self.edges.push([c, b]);
        self.edges.push([a, c]);
        self.vertices.push(a);
        let is_new = |nibble: u8| nibble == 0 || (is_long && nibble == 15);
        if is_new(z) {
            self.vertices.push(b);
        }
        if is_new(w) {
            self.vertices.push(c);
        }
        Ok([a, b, c])
    }
}

fn triangles(packed: &[u8], stride: usize, count: usize) -> Unpacked<Vec<u8>> {
    if !count.is_multiple_of(3) {
        return Err("its count is no multiple of 3");
    }
    let (mut data, table) = framed(packed, 0xe1, 16)?;
    let codes = data.take(count / 3)?;
    let mut state = Triangles {
        data,
        next: 0,
        last: 0,
        edges: Recent::new(),
        vertices: Recent::new(),
    };
    let mut bytes = Vec::with_capacity(count * stride);
    for code in codes {
        for corner in state.triangle(*code, table)? {
            push_index(&mut bytes, corner, stride);
        }
    }
    if state.data.rest.is_empty() {
        Ok(bytes)
    } else {
        Err(LEFT_OVER)
    }
}

fn indices(packed: &[u8], stride: usize, count: usize) -> Unpacked<Vec<u8>> {
    let (mut data, _) = framed(packed, 0xd1, 4)?;
    if count > data.rest.len() {
        return Err(CUT_SHORT);
    }
    let mut last = [0_u32; 2];
    let mut bytes = Vec::with_capacity(count * stride);
    for _ in 0..count {
        let code = data.number()?;
        let baseline = &mut last[(code & 1) as usize];
        *baseline = baseline.wrapping_add(unzigzag_u32(code >> 1));
        push_index(&mut bytes, *baseline, stride);
    }
    if data.rest.is_empty() {
        Ok(bytes)
    } else {
        Err(LEFT_OVER)
    }
}

fn push_index(bytes: &mut Vec<u8>, index: u32, stride: usize) {
    let all = index.to_le_bytes();
    bytes.extend(all.iter().take(stride));
}

/// Undoes a filter in place.
fn undo(filter: Filter, stride: usize, bytes: &mut [u8]) {
    match filter {
        Filter::None => {}
        Filter::Octahedral if stride == 4 => {
            let (elements, _) = bytes.as_chunks_mut::<4>();
            for element in elements {
                let [x, y, one, _] = element.map(|byte| f32::from(byte.cast_signed()));
                let unit = octahedral(x / one, y / one);
                for (byte, value) in element.iter_mut().zip(unit) {
                    *byte = ((value * 127.0).round() as i8).cast_unsigned();
                }
            }
        }
        Filter::Octahedral => {
            let (elements, _) = bytes.as_chunks_mut::<8>();
            for element in elements {
                let [x, y, one, rest] = words(*element);
                let [x, y, one] = [x, y, one].map(f32::from);
                let [x, y, z] = octahedral(x / one, y / one).map(|v| (v * 32767.0).round() as i16);
                put_words(element, [x, y, z, rest]);
            }
        }
        Filter::Quaternion => {
            let (elements, _) = bytes.as_chunks_mut::<8>();
            for element in elements {
                let [x, y, z, kind] = words(*element);
                let one = f32::from(kind | 3);
                let part = |v: i16| f32::from(v) / one * std::f32::consts::FRAC_1_SQRT_2;
                let (x, y, z) = (part(x), part(y), part(z));
                let w = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
                let mut out = [0; 4];
                for (at, value) in [w, x, y, z].into_iter().enumerate() {
                    // The largest is left out; the others follow it, around the corner.
                    out[((kind & 3) as usize + at) % 4] = (value * 32767.0).round() as i16;
                }
                put_words(element, out);
            }
        }
        Filter::Exponential => {
            let (numbers, _) = bytes.as_chunks_mut::<4>();
            for number in numbers {
                let bits = i32::from_le_bytes(*number);
                let mantissa = (bits << 8) >> 8;
                *number = (mantissa as f32 * 2.0_f32.powi(bits >> 24)).to_le_bytes();
            }
        }
    }
}

/// The unit vector of a point in the octahedral square.
fn octahedral(x: f32, y: f32) -> [f32; 3] {
    let z = 1.0 - x.abs() - y.abs();
    let below = z.min(0.0);
    let (x, y) = (x - below.copysign(x), y - below.copysign(y));
    let length = (x * x + y * y + z * z).sqrt();
    [x / length, y / length, z / length]
}

fn words(element: [u8; 8]) -> [i16; 4] {
    let [a, b, c, d, e, f, g, h] = element;
    [[a, b], [c, d], [e, f], [g, h]].map(i16::from_le_bytes)
}

fn put_words(element: &mut [u8; 8], words: [i16; 4]) {
    let bytes = words.map(i16::to_le_bytes);
    element.copy_from_slice(bytes.as_flattened());
}

#[cfg(test)]
mod tests;
