//! Buffers, views and accessors → floats. Every range is checked before it is read, every count before memory is asked for.
//!
//! ```text
//! accessor ─byteOffset, count, type─→ bufferView ─byteOffset, byteLength, byteStride─→ buffer ─uri─→ bytes
//!    └ sparse: places and values that replace some of it
//! ```
//! Source: glTF 2.0 specification, section 3.6.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    base64,
    error::{AnimationFault, AnimationFaultKind as Kind},
};

/// Most numbers read of one animation, all channels together: 128 MiB.
pub(super) const MAX_VALUES: usize = 1 << 25;

pub(super) type Found<T> = Result<T, AnimationFault>;

/// Gives the bytes of another file by its address, or `None`.
pub(super) type Resolve<'a> = dyn FnMut(&str) -> Option<Vec<u8>> + 'a;

/// What one element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Scalar,
    Vec3,
    Vec4,
}

impl Shape {
    fn word(self) -> &'static str {
        match self {
            Self::Scalar => "SCALAR",
            Self::Vec3 => "VEC3",
            Self::Vec4 => "VEC4",
        }
    }

    /// Numbers of an element.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Scalar => 1,
            Self::Vec3 => 3,
            Self::Vec4 => 4,
        }
    }
}

/// How a number is stored. Integers are normalised: 0..=1, or −1..=1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    F32,
}

impl Component {
    fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::F32 => 4,
        }
    }

    /// Section 3.11 has the formulas.
    fn read(self, bytes: &[u8]) -> f32 {
        match (self, bytes) {
            (Self::I8, &[a]) => (f32::from(a.cast_signed()) / 127.0).max(-1.0),
            (Self::U8, &[a]) => f32::from(a) / 255.0,
            (Self::I16, &[a, b]) => (f32::from(i16::from_le_bytes([a, b])) / 32767.0).max(-1.0),
            (Self::U16, &[a, b]) => f32::from(u16::from_le_bytes([a, b])) / 65535.0,
            (Self::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
            // Chunks have the component's length; what had another would be found as no number.
            _ => f32::NAN,
        }
    }
}

/// A document and the bytes it refers to, loaded when first asked for.
pub(super) struct Data<'d, 'r> {
    document: &'d Value,
    /// The BIN chunk; `None` when the file is no GLB.
    bin: Option<&'d [u8]>,
    resolve: &'r mut Resolve<'r>,
    buffers: Vec<Option<Cow<'d, [u8]>>>,
    values_left: usize,
}

impl<'d, 'r> Data<'d, 'r> {
    pub(super) fn new(
        document: &'d Value,
        bin: Option<&'d [u8]>,
        resolve: &'r mut Resolve<'r>,
    ) -> Self {
        let num_buffers = array(document, "buffers").len();
        Self {
            document,
            bin,
            resolve,
            buffers: (0..num_buffers).map(|_| None).collect(),
            values_left: MAX_VALUES,
        }
    }

    /// All numbers of the accessor that `index` names, element by element; at least one element. `path` is where the
    /// index stands.
    pub(super) fn floats(
        &mut self,
        index: Option<&Value>,
        path: &str,
        shape: Shape,
    ) -> Found<Vec<f32>> {
        let (index, accessor) = item(self.document, "accessors", index, path)?;
        let path = format!("/accessors/{index}");
        if accessor.get("type").and_then(Value::as_str) != Some(shape.word()) {
            let kind = Kind::Expected(shape.word());
            return Err(AnimationFault::new(format!("{path}/type"), kind));
        }
        let component = component(accessor, &path)?;
        let count = number(accessor, "count", &path)?.filter(|n| *n > 0);
        let count = count.ok_or_else(|| {
            let kind = Kind::Expected("at least one element");
            AnimationFault::new(format!("{path}/count"), kind)
        })?;
        let total = count
            .checked_mul(shape.width())
            .filter(|n| *n <= self.values_left);
        let total = total.ok_or_else(|| {
            let what = "numbers in one animation";
            let limit = MAX_VALUES;
            AnimationFault::new(format!("{path}/count"), Kind::TooMany { what, limit })
        })?;
        let mut values = if let Some(view) = accessor.get("bufferView") {
            let offset = number(accessor, "byteOffset", &path)?.unwrap_or(0);
            let size = component.bytes() * shape.width();
            let (bytes, stride) =
                self.elements(view, &format!("{path}/bufferView"), offset, count, size)?;
            let mut values = Vec::with_capacity(total);
            for element in bytes.chunks(stride).take(count) {
                let element = element.get(..size).unwrap_or(element);
                let components = element.chunks(component.bytes());
                values.extend(components.map(|c| component.read(c)));
            }
            values
        } else {
            // Without a view an accessor is all zeros, but for what is sparse.
            vec![0.0; total]
        };
        self.values_left -= total;
        if let Some(sparse) = accessor.get("sparse") {
            let path = format!("{path}/sparse");
            self.replace(sparse, &path, component, shape, &mut values)?;
        }
        Ok(values)
    }

    /// Sparse values into their places.
    fn replace(
        &mut self,
        sparse: &Value,
        path: &str,
        component: Component,
        shape: Shape,
        values: &mut [f32],
    ) -> Found<()> {
        let elements = values.len() / shape.width();
        let count = number(sparse, "count", path)?.filter(|n| *n <= elements);
        let count = count.ok_or_else(|| {
            let kind = Kind::Expected("a count within the accessor");
            AnimationFault::new(format!("{path}/count"), kind)
        })?;
        if count == 0 {
            return Ok(());
        }
        let places = self.places(sparse, &format!("{path}/indices"), count)?;
        let path = format!("{path}/values");
        let part = sparse.get("values").unwrap_or(&Value::Null);
        let view = part.get("bufferView").unwrap_or(&Value::Null);
        let offset = number(part, "byteOffset", &path)?.unwrap_or(0);
        let size = component.bytes() * shape.width();
        let (bytes, stride) =
            self.elements(view, &format!("{path}/bufferView"), offset, count, size)?;
        let mut next = 0;
        for (place, element) in places.into_iter().zip(bytes.chunks(stride)) {
            let start = place.saturating_mul(shape.width());
            let target = values.get_mut(start..start.saturating_add(shape.width()));
            let Some(target) = target.filter(|_| place >= next) else {
                return Err(AnimationFault::new(path, Kind::SparseIndices));
            };
            next = place + 1;
            for (value, bytes) in target.iter_mut().zip(element.chunks(component.bytes())) {
                *value = component.read(bytes);
            }
        }
        Ok(())
    }

    /// The places of sparse values.
    fn places(&mut self, sparse: &Value, path: &str, count: usize) -> Found<Vec<usize>> {
        let part = sparse.get("indices").unwrap_or(&Value::Null);
        let size = match part.get("componentType").and_then(Value::as_u64) {
            Some(5121) => 1,
            Some(5123) => 2,
            Some(5125) => 4,
            _ => {
                let kind = Kind::Expected("an unsigned component type");
                return Err(AnimationFault::new(format!("{path}/componentType"), kind));
            }
        };
        let view = part.get("bufferView").unwrap_or(&Value::Null);
        let offset = number(part, "byteOffset", path)?.unwrap_or(0);
        let (bytes, _) = self.elements(view, &format!("{path}/bufferView"), offset, count, size)?;
        let places = bytes.chunks(size).take(count).map(|place| {
            // Little-endian: the last byte counts most.
            let bits = place.iter().rev();
            bits.fold(0_usize, |n, byte| (n << 8) | usize::from(*byte))
        });
        Ok(places.collect())
    }

    /// The bytes of `count` elements of `size` bytes in a view, from the first on, and from one to the next.
    fn elements(
        &mut self,
        view: &Value,
        path: &str,
        offset: usize,
        count: usize,
        size: usize,
    ) -> Found<(&[u8], usize)> {
        let (index, view) = item(self.document, "bufferViews", Some(view), path)?;
        let path = format!("/bufferViews/{index}");
        for extension in ["EXT_meshopt_compression", "KHR_meshopt_compression"] {
            let extensions = view.get("extensions");
            if extensions.is_some_and(|e| e.get(extension).is_some()) {
                return Err(AnimationFault::new(path, Kind::Compressed { extension }));
            }
        }
        let stride = number(view, "byteStride", &path)?.unwrap_or(size);
        if stride < size || stride > 252.max(size) {
            let kind = Kind::Expected("a stride of an element to 252 bytes");
            return Err(AnimationFault::new(format!("{path}/byteStride"), kind));
        }
        let start = number(view, "byteOffset", &path)?.unwrap_or(0);
        let length = number(view, "byteLength", &path)?;
        let length = length.ok_or_else(|| {
            let kind = Kind::Expected("number of bytes");
            AnimationFault::new(format!("{path}/byteLength"), kind)
        })?;
        let (buffer, _) = item(
            self.document,
            "buffers",
            view.get("buffer"),
            &format!("{path}/buffer"),
        )?;
        let buffer = self.buffer(buffer)?;
        let outside = |needed: u128, have: usize| {
            let needed = u64::try_from(needed).unwrap_or(u64::MAX);
            AnimationFault::new(path.as_str(), Kind::OutOfBounds { needed, have })
        };
        let end = start as u128 + length as u128;
        let whole = start
            .checked_add(length)
            .and_then(|end| buffer.get(start..end))
            .ok_or_else(|| outside(end, buffer.len()))?;
        // No sum of these overflows 128 bits.
        let last = count.saturating_sub(1) as u128 * stride as u128;
        let needed = offset as u128 + last + size as u128;
        if needed > whole.len() as u128 {
            return Err(outside(needed, whole.len()));
        }
        Ok((whole.get(offset..).unwrap_or(&[]), stride))
    }

    /// The bytes of a buffer; `index` is below their number.
    fn buffer(&mut self, index: usize) -> Found<&[u8]> {
        let missing = || {
            let kind = Kind::Expected("buffer");
            AnimationFault::new(format!("/buffers/{index}"), kind)
        };
        if self.buffers.get(index).is_some_and(Option::is_none) {
            let loaded = self.load(index)?;
            if let Some(slot) = self.buffers.get_mut(index) {
                *slot = Some(loaded);
            }
        }
        let slot = self.buffers.get(index).and_then(Option::as_deref);
        slot.ok_or_else(missing)
    }

    fn load(&mut self, index: usize) -> Found<Cow<'d, [u8]>> {
        let path = format!("/buffers/{index}");
        let buffer = array(self.document, "buffers").get(index);
        let buffer = buffer.unwrap_or(&Value::Null);
        let declared = number(buffer, "byteLength", &path)?;
        let declared = declared.ok_or_else(|| {
            let kind = Kind::Expected("number of bytes");
            AnimationFault::new(format!("{path}/byteLength"), kind)
        })?;
        let bytes = match (buffer.get("uri"), self.bin) {
            (None, Some(bin)) if index == 0 => Cow::Borrowed(bin),
            (None, _) => {
                let kind = Kind::Expected("the buffer's address");
                return Err(AnimationFault::new(format!("{path}/uri"), kind));
            }
            (Some(uri), _) => {
                let path = || format!("{path}/uri");
                let uri = uri.as_str();
                let uri =
                    uri.ok_or_else(|| AnimationFault::new(path(), Kind::Expected("the address")))?;
                let found = match uri.strip_prefix("data:") {
                    Some(data) => base64::data_uri(data).ok_or(Kind::DataUri),
                    None => (self.resolve)(uri).ok_or_else(|| Kind::OtherFile {
                        uri: uri.chars().take(100).collect(),
                    }),
                };
                Cow::Owned(found.map_err(|kind| AnimationFault::new(path(), kind))?)
            }
        };
        if bytes.len() < declared {
            let kind = Kind::OutOfBounds {
                needed: declared as u64,
                have: bytes.len(),
            };
            return Err(AnimationFault::new(path, kind));
        }
        Ok(bytes)
    }
}

fn component(accessor: &Value, path: &str) -> Found<Component> {
    let is_normalized = accessor.get("normalized").and_then(Value::as_bool) == Some(true);
    let kind = accessor.get("componentType").and_then(Value::as_u64);
    let component = match kind {
        Some(5120) => Component::I8,
        Some(5121) => Component::U8,
        Some(5122) => Component::I16,
        Some(5123) => Component::U16,
        Some(5126) => return Ok(Component::F32),
        _ => {
            let kind = Kind::Expected("floats or normalized integers of 8 or 16 bits");
            return Err(AnimationFault::new(format!("{path}/componentType"), kind));
        }
    };
    if !is_normalized {
        let kind = Kind::Expected("normalized integers");
        return Err(AnimationFault::new(format!("{path}/normalized"), kind));
    }
    Ok(component)
}

/// The array of that key; empty when there is none.
pub(super) fn array<'v>(of: &'v Value, key: &str) -> &'v [Value] {
    let items = of.get(key).and_then(Value::as_array);
    items.map_or(&[] as &[Value], Vec::as_slice)
}

/// The item of the document's array `key` that `index`, standing at `path`, names; with its index.
pub(super) fn item<'v>(
    document: &'v Value,
    key: &str,
    index: Option<&Value>,
    path: &str,
) -> Found<(usize, &'v Value)> {
    let items = array(document, key);
    let Some(index) = index.and_then(Value::as_u64) else {
        return Err(AnimationFault::new(path, Kind::Expected("index")));
    };
    let found = usize::try_from(index).ok();
    let found = found.and_then(|at| Some((at, items.get(at)?)));
    found.ok_or_else(|| {
        let count = items.len();
        AnimationFault::new(path, Kind::IndexOutOfRange { index, count })
    })
}

/// A whole number, not negative; `None` when there is none.
fn number(of: &Value, key: &str, path: &str) -> Found<Option<usize>> {
    let Some(value) = of.get(key) else {
        return Ok(None);
    };
    let found = value.as_u64().and_then(|n| usize::try_from(n).ok());
    found.map(Some).ok_or_else(|| {
        let kind = Kind::Expected("whole number");
        AnimationFault::new(format!("{path}/{key}"), kind)
    })
}
