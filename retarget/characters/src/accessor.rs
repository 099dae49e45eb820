//! Buffers, views and accessors → numbers. Every range is checked before it is read, every count before memory is asked for.
//!
//! ```text
//! accessor ─byteOffset, count, type─→ bufferView ─byteOffset, byteLength, byteStride─→ buffer ─→ bytes
//!    └ sparse: places and values         └ EXT_meshopt_compression ─→ bytes of another buffer, unpacked
//! ```
//! Source: glTF 2.0 specification, section 3.6.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    error::{Fault, FaultKind},
    meshopt::{self, Filter, Layout, Mode},
};

/// Largest magnitude of a number that is taken; what is computed of such numbers stays finite.
pub(crate) const MAX_MAGNITUDE: f32 = 1e12;

/// Most bytes that the compressed views of one document may unpack to.
const MAX_UNPACKED_BYTES: usize = 512 << 20;

/// The extensions by which a view is compressed.
pub(crate) const COMPRESSIONS: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// Where the bytes of buffers come from.
pub(crate) trait Source<'d> {
    type Fault: From<Fault>;

    /// All bytes of buffer `index` of the document, whose JSON is `buffer`; asked for once.
    fn load(&mut self, index: usize, buffer: &'d Value) -> Result<Cow<'d, [u8]>, Self::Fault>;
}

/// What one element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Scalar,
    Vec2,
    Vec3,
    Vec4,
    Mat4,
}

impl Shape {
    fn of(word: &str) -> Option<Self> {
        let all = [Self::Scalar, Self::Vec2, Self::Vec3, Self::Vec4, Self::Mat4];
        all.into_iter().find(|shape| shape.word() == word)
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Scalar => "SCALAR",
            Self::Vec2 => "VEC2",
            Self::Vec3 => "VEC3",
            Self::Vec4 => "VEC4",
            Self::Mat4 => "MAT4",
        }
    }

    /// Numbers of an element.
    pub(crate) fn width(self) -> usize {
        match self {
            Self::Scalar => 1,
            Self::Vec2 => 2,
            Self::Vec3 => 3,
            Self::Vec4 => 4,
            Self::Mat4 => 16,
        }
    }
}

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn of(code: u64) -> Option<Self> {
        match code {
            5120 => Some(Self::I8),
            5121 => Some(Self::U8),
            5122 => Some(Self::I16),
            5123 => Some(Self::U16),
            5125 => Some(Self::U32),
            5126 => Some(Self::F32),
            _ => None,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// As it stands.
    fn plain(self, bytes: &[u8]) -> f32 {
        match (self, bytes) {
            (Self::I8, &[a]) => f32::from(a.cast_signed()),
            (Self::U8, &[a]) => f32::from(a),
            (Self::I16, &[a, b]) => f32::from(i16::from_le_bytes([a, b])),
            (Self::U16, &[a, b]) => f32::from(u16::from_le_bytes([a, b])),
            (Self::U32, &[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]) as f32,
            (Self::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
            // Chunks have the component's length; what had another would be found as no number.
            _ => f32::NAN,
        }
    }

    /// Integers as 0..=1, or −1..=1. Section 3.11 has the formulas.
    fn normalized(self, bytes: &[u8]) -> f32 {
        let value = self.plain(bytes);
        match self {
            Self::I8 => (value / 127.0).max(-1.0),
            Self::U8 => value / 255.0,
            Self::I16 => (value / 32767.0).max(-1.0),
            Self::U16 => value / 65535.0,
            Self::U32 | Self::F32 => value,
        }
    }

    /// Of an unsigned component; little-endian, the last byte counts most.
    fn index(bytes: &[u8]) -> u32 {
        let bits = bytes.iter().rev();
        bits.fold(0, |number, byte| (number << 8) | u32::from(*byte))
    }
}

/// What an accessor says of itself.
#[derive(Clone, Debug)]
pub(crate) struct Accessor<'d> {
    json: &'d Value,
    /// `/accessors/<index>`.
    pub(crate) path: String,
    pub(crate) shape: Shape,
    pub(crate) component: Component,
    pub(crate) is_normalized: bool,
    /// At least one. One may lower it, to read only the first elements.
    pub(crate) count: usize,
}

impl Accessor<'_> {
    /// A fault of one of its members.
    pub(crate) fn fault(&self, key: &str, kind: FaultKind) -> Fault {
        Fault::new(format!("{}/{key}", self.path), kind)
    }

    /// Whether it has integers that may be indices: unsigned, and not stretched to 0..=1.
    pub(crate) fn is_unsigned(&self) -> bool {
        let is_unsigned = matches!(
            self.component,
            Component::U8 | Component::U16 | Component::U32
        );
        is_unsigned && !self.is_normalized
    }

    /// Whether it has floats, or integers of 8 or 16 bits that are stretched to the same range.
    pub(crate) fn is_unit(&self) -> bool {
        match self.component {
            Component::F32 => true,
            Component::U32 => false,
            _ => self.is_normalized,
        }
    }

    /// Numbers of all elements; saturating.
    fn numbers(&self) -> usize {
        self.count.saturating_mul(self.shape.width())
    }

    fn size(&self) -> usize {
        self.component.bytes() * self.shape.width()
    }
}

/// The elements of an accessor that are given one by one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sparse<T> {
    /// Elements, rising.
    pub(crate) places: Vec<u32>,
    /// Numbers of each.
    pub(crate) values: Vec<T>,
}

/// A document and the bytes it refers to, loaded when first asked for.
pub(crate) struct Data<'d, S> {
    document: &'d Value,
    source: S,
    buffers: Vec<Option<Cow<'d, [u8]>>>,
    /// Of compressed views, what they unpack to.
    unpacked: Vec<Option<Vec<u8>>>,
    unpacked_left: usize,
}

impl<'d, S: Source<'d>> Data<'d, S> {
    pub(crate) fn new(document: &'d Value, source: S) -> Self {
        let buffers = array(document, "buffers").iter();
        let num_views = array(document, "bufferViews").len();
        Self {
            document,
            source,
            buffers: buffers.map(|_| None).collect(),
            unpacked: vec![None; num_views],
            unpacked_left: MAX_UNPACKED_BYTES,
        }
    }

    /// The accessor that `index`, standing at `path`, names. Reads no data.
    pub(crate) fn accessor(
        &self,
        index: Option<&Value>,
        path: &str,
    ) -> Result<Accessor<'d>, Fault> {
        let (index, json) = item(self.document, "accessors", index, path)?;
        let path = format!("/accessors/{index}");
        let shape = json.get("type").and_then(Value::as_str).and_then(Shape::of);
        let shape = shape.ok_or_else(|| {
            let kind = FaultKind::Expected("SCALAR, VEC2, VEC3, VEC4 or MAT4");
            Fault::new(format!("{path}/type"), kind)
        })?;
        let component = json.get("componentType").and_then(Value::as_u64);
        let component = component.and_then(Component::of).ok_or_else(|| {
            let kind = FaultKind::Expected("a component type");
            Fault::new(format!("{path}/componentType"), kind)
        })?;
        let count = number(json, "count", &path)?.filter(|n| *n > 0);
        let count = count.ok_or_else(|| {
            let kind = FaultKind::Expected("at least one element");
            Fault::new(format!("{path}/count"), kind)
        })?;
        Ok(Accessor {
            json,
            shape,
            component,
            is_normalized: json.get("normalized").and_then(Value::as_bool) == Some(true),
            count,
            path,
        })
    }

    /// All numbers of an accessor, element by element. The caller has bounded its count.
    pub(crate) fn floats(&mut self, accessor: &Accessor<'d>) -> Result<Vec<f32>, S::Fault> {
        let component = accessor.component;
        if accessor.is_normalized {
            self.numbers(accessor, |bytes| component.normalized(bytes))
        } else {
            self.numbers(accessor, |bytes| component.plain(bytes))
        }
    }

    /// The same of unsigned integers, as they stand.
    pub(crate) fn integers(&mut self, accessor: &Accessor<'d>) -> Result<Vec<u32>, S::Fault> {
        self.numbers(accessor, Component::index)
    }

    /// The elements of an accessor that are zero but where it says otherwise; `None` when it says something of all.
    pub(crate) fn sparse_floats(
        &mut self,
        accessor: &Accessor<'d>,
    ) -> Result<Option<Sparse<f32>>, S::Fault> {
        if accessor.json.get("bufferView").is_some() {
            return Ok(None);
        }
        let component = accessor.component;
        let read = |bytes: &[u8]| {
            if accessor.is_normalized {
                component.normalized(bytes)
            } else {
                component.plain(bytes)
            }
        };
        self.sparse(accessor, read).map(Some)
    }

    fn numbers<T: Copy + Default>(
        &mut self,
        accessor: &Accessor<'d>,
        read: impl Fn(&[u8]) -> T,
    ) -> Result<Vec<T>, S::Fault> {
        let mut values = if let Some(view) = accessor.json.get("bufferView") {
            let path = &accessor.path;
            let offset = number(accessor.json, "byteOffset", path)?.unwrap_or(0);
            let path = format!("{path}/bufferView");
            let size = accessor.size();
            let (bytes, stride) = self.elements(view, &path, offset, accessor.count, size)?;
            let mut values = Vec::with_capacity(accessor.numbers());
            for element in bytes.chunks(stride).take(accessor.count) {
                let element = element.get(..size).unwrap_or(element);
                values.extend(element.chunks(accessor.component.bytes()).map(&read));
            }
            values
        } else {
            // Without a view an accessor is all zeros, but for what is sparse.
            vec![T::default(); accessor.numbers()]
        };
        let sparse = self.sparse(accessor, &read)?;
        let width = accessor.shape.width();
        for (place, element) in sparse.places.iter().zip(sparse.values.chunks(width)) {
            let start = (*place as usize).saturating_mul(width);
            let target = values.get_mut(start..start.saturating_add(width));
            // Places lie within the accessor.
            if let Some(target) = target {
                target.copy_from_slice(element);
            }
        }
        Ok(values)
    }

    /// What is sparse of an accessor, its places checked; nothing when it has no such part.
    fn sparse<T>(
        &mut self,
        accessor: &Accessor<'d>,
        read: impl Fn(&[u8]) -> T,
    ) -> Result<Sparse<T>, S::Fault> {
        let mut sparse = Sparse {
            places: Vec::new(),
            values: Vec::new(),
        };
        let Some(json) = accessor.json.get("sparse") else {
            return Ok(sparse);
        };
        let path = format!("{}/sparse", accessor.path);
        let count = number(json, "count", &path)?.filter(|n| *n <= accessor.count);
        let count = count.ok_or_else(|| {
            let kind = FaultKind::Expected("a count within the accessor");
            Fault::new(format!("{path}/count"), kind)
        })?;
        if count == 0 {
            return Ok(sparse);
        }
        sparse.places = self.places(json, &format!("{path}/indices"), count)?;
        let path = format!("{path}/values");
        let rises = sparse.places.is_sorted_by(|a, b| a < b);
        let is_within = |place: &u32| (*place as usize) < accessor.count;
        if !(rises && sparse.places.last().is_none_or(is_within)) {
            return Err(Fault::new(path, FaultKind::SparseIndices).into());
        }
        let part = json.get("values").unwrap_or(&Value::Null);
        let view = part.get("bufferView").unwrap_or(&Value::Null);
        let offset = number(part, "byteOffset", &path)?.unwrap_or(0);
        let size = accessor.size();
        let path = format!("{path}/bufferView");
        let (bytes, stride) = self.elements(view, &path, offset, count, size)?;
        for element in bytes.chunks(stride).take(count) {
            let element = element.get(..size).unwrap_or(element);
            let components = element.chunks(accessor.component.bytes());
            sparse.values.extend(components.map(&read));
        }
        Ok(sparse)
    }

    /// The places of sparse values, as they stand.
    fn places(&mut self, sparse: &Value, path: &str, count: usize) -> Result<Vec<u32>, S::Fault> {
        let part = sparse.get("indices").unwrap_or(&Value::Null);
        let component = part.get("componentType").and_then(Value::as_u64);
        let component = component.and_then(Component::of);
        let component = component
            .filter(|c| matches!(c, Component::U8 | Component::U16 | Component::U32))
            .ok_or_else(|| {
                let kind = FaultKind::Expected("an unsigned component type");
                Fault::new(format!("{path}/componentType"), kind)
            })?;
        let view = part.get("bufferView").unwrap_or(&Value::Null);
        let offset = number(part, "byteOffset", path)?.unwrap_or(0);
        let path = format!("{path}/bufferView");
        let size = component.bytes();
        let (bytes, stride) = self.elements(view, &path, offset, count, size)?;
        let places = bytes.chunks(stride).take(count);
        Ok(places
            .map(|place| Component::index(place.get(..size).unwrap_or(place)))
            .collect())
    }

    /// The bytes of `count` elements of `size` bytes in a view, from the first on, and from one to the next.
    fn elements(
        &mut self,
        view: &Value,
        path: &str,
        offset: usize,
        count: usize,
        size: usize,
    ) -> Result<(&[u8], usize), S::Fault> {
        let (index, view) = item(self.document, "bufferViews", Some(view), path)?;
        let path = format!("/bufferViews/{index}");
        let stride = number(view, "byteStride", &path)?.unwrap_or(size);
        if stride < size || stride > 252.max(size) {
            let kind = FaultKind::Expected("a stride of an element to 252 bytes");
            return Err(Fault::new(format!("{path}/byteStride"), kind).into());
        }
        let whole = self.view(index, view)?;
        // No sum of these overflows 128 bits.
        let last = count.saturating_sub(1) as u128 * stride as u128;
        let needed = offset as u128 + last + size as u128;
        if needed > whole.len() as u128 {
            return Err(out_of_bounds(path, needed, whole.len()).into());
        }
        Ok((whole.get(offset..).unwrap_or(&[]), stride))
    }

    /// The bytes of the view that `index`, standing at `path`, names.
    pub(crate) fn view_bytes(
        &mut self,
        index: Option<&Value>,
        path: &str,
    ) -> Result<&[u8], S::Fault> {
        let (index, view) = item(self.document, "bufferViews", index, path)?;
        self.view(index, view)
    }

    /// All bytes of a view; `index` is below their number.
    fn view(&mut self, index: usize, view: &'d Value) -> Result<&[u8], S::Fault> {
        let path = format!("/bufferViews/{index}");
        if let Some((name, packing)) = compression(view) {
            if self.unpacked.get(index).is_some_and(Option::is_none) {
                let path = format!("{path}/extensions/{name}");
                let length = length(view, &format!("/bufferViews/{index}"))?;
                let bytes = self.unpack(packing, length, &path)?;
                if let Some(slot) = self.unpacked.get_mut(index) {
                    *slot = Some(bytes);
                }
            }
            let slot = self.unpacked.get(index).and_then(Option::as_deref);
            return slot.ok_or_else(|| Fault::new(path, FaultKind::Expected("buffer view")).into());
        }
        self.range(view, &path)
    }

    /// What a compressed view of `length` bytes holds.
    fn unpack(
        &mut self,
        packing: &'d Value,
        length: usize,
        path: &str,
    ) -> Result<Vec<u8>, S::Fault> {
        let expected = |key: &str, what| {
            let kind = FaultKind::Expected(what);
            Fault::new(format!("{path}/{key}"), kind)
        };
        let mode = packing.get("mode").and_then(Value::as_str);
        let mode = mode.and_then(Mode::of);
        let mode = mode.ok_or_else(|| expected("mode", "ATTRIBUTES, TRIANGLES or INDICES"))?;
        let filter = packing.get("filter").map_or(Some("NONE"), Value::as_str);
        let filter = filter
            .and_then(Filter::of)
            .ok_or_else(|| expected("filter", "NONE, OCTAHEDRAL, QUATERNION or EXPONENTIAL"))?;
        let stride = number(packing, "byteStride", path)?;
        let stride = stride.ok_or_else(|| expected("byteStride", "number of bytes"))?;
        let count = number(packing, "count", path)?;
        let count = count.ok_or_else(|| expected("count", "number of elements"))?;
        if count.checked_mul(stride) != Some(length) {
            return Err(expected("count", "count and stride of the view's length").into());
        }
        if length > self.unpacked_left {
            let kind = FaultKind::TooMany {
                what: "bytes in compressed views",
                have: length.saturating_add(MAX_UNPACKED_BYTES - self.unpacked_left),
                limit: MAX_UNPACKED_BYTES,
            };
            return Err(Fault::new(path, kind).into());
        }
        let layout = Layout {
            mode,
            filter,
            stride,
            count,
        };
        let packed = self.range(packing, path)?;
        let bytes = meshopt::unpack(packed, layout);
        let bytes = bytes.map_err(|why| Fault::new(path, FaultKind::Compressed(why)))?;
        self.unpacked_left -= length;
        Ok(bytes)
    }

    /// The bytes that `byteOffset` and `byteLength` of something at `path` name of its `buffer`.
    fn range(&mut self, of: &Value, path: &str) -> Result<&[u8], S::Fault> {
        let start = number(of, "byteOffset", path)?.unwrap_or(0);
        let length = length(of, path)?;
        let (index, buffer) = item(
            self.document,
            "buffers",
            of.get("buffer"),
            &format!("{path}/buffer"),
        )?;
        let buffer = self.buffer(index, buffer)?;
        let range = start
            .checked_add(length)
            .and_then(|end| buffer.get(start..end));
        range.ok_or_else(|| {
            let needed = start as u128 + length as u128;
            out_of_bounds(path, needed, buffer.len()).into()
        })
    }

    /// The bytes of a buffer; `index` is below their number.
    fn buffer(&mut self, index: usize, buffer: &'d Value) -> Result<&[u8], S::Fault> {
        let path = format!("/buffers/{index}");
        if self.buffers.get(index).is_some_and(Option::is_none) {
            let declared = length(buffer, &path)?;
            let loaded = self.source.load(index, buffer)?;
            if loaded.len() < declared {
                return Err(out_of_bounds(path, declared as u128, loaded.len()).into());
            }
            if let Some(slot) = self.buffers.get_mut(index) {
                *slot = Some(loaded);
            }
        }
        let slot = self.buffers.get(index).and_then(Option::as_deref);
        slot.ok_or_else(|| Fault::new(path, FaultKind::Expected("buffer")).into())
    }
}

/// How a view is compressed: the extension's name and what it says.
pub(crate) fn compression(view: &Value) -> Option<(&'static str, &Value)> {
    let extensions = view.get("extensions")?;
    let found = COMPRESSIONS.into_iter();
    let mut found = found.filter_map(|name| Some((name, extensions.get(name)?)));
    found.next()
}

/// The array of that key; empty when there is none.
pub(crate) fn array<'v>(of: &'v Value, key: &str) -> &'v [Value] {
    let items = of.get(key).and_then(Value::as_array);
    items.map_or(&[] as &[Value], Vec::as_slice)
}

/// The item of the document's array `key` that `index`, standing at `path`, names; with its index.
pub(crate) fn item<'v>(
    document: &'v Value,
    key: &str,
    index: Option<&Value>,
    path: &str,
) -> Result<(usize, &'v Value), Fault> {
    let items = array(document, key);
    let Some(index) = index.and_then(Value::as_u64) else {
        return Err(Fault::new(path, FaultKind::Expected("index")));
    };
    let found = usize::try_from(index).ok();
    let found = found.and_then(|at| Some((at, items.get(at)?)));
    found.ok_or_else(|| {
        let count = items.len();
        Fault::new(path, FaultKind::IndexOutOfRange { index, count })
    })
}

/// A whole number, not negative; `None` when there is none.
pub(crate) fn number(of: &Value, key: &str, path: &str) -> Result<Option<usize>, Fault> {
    let Some(value) = of.get(key) else {
        return Ok(None);
    };
    let found = value.as_u64().and_then(|n| usize::try_from(n).ok());
    found.map(Some).ok_or_else(|| {
        let kind = FaultKind::Expected("whole number");
        Fault::new(format!("{path}/{key}"), kind)
    })
}

/// `byteLength`, which must be there.
pub(crate) fn length(of: &Value, path: &str) -> Result<usize, Fault> {
    number(of, "byteLength", path)?.ok_or_else(|| {
        let kind = FaultKind::Expected("number of bytes");
        Fault::new(format!("{path}/byteLength"), kind)
    })
}

fn out_of_bounds(path: impl Into<String>, needed: u128, have: usize) -> Fault {
    let needed = u64::try_from(needed).unwrap_or(u64::MAX);
    Fault::new(path, FaultKind::OutOfBounds { needed, have })
}
