//! The numbers of an animation: floats, or integers that are stretched to ±1, in files that may lie elsewhere.

use std::borrow::Cow;

use serde_json::Value;

use super::error::{AnimationFault, AnimationFaultKind as Kind};
use crate::{
    accessor::{Component, Source},
    base64,
};

pub(super) use crate::accessor::{Shape, array, item};

/// Most numbers read of one animation, all channels together: 128 MiB.
pub(super) const MAX_VALUES: usize = 1 << 25;

pub(super) type Found<T> = Result<T, AnimationFault>;

/// Gives the bytes of another file by its address, or `None`.
pub(super) type Resolve<'a> = dyn FnMut(&str) -> Option<Vec<u8>> + 'a;

/// The BIN chunk, and files that are asked for.
struct Files<'d, 'r> {
    /// `None` when the file is no GLB.
    bin: Option<&'d [u8]>,
    resolve: &'r mut Resolve<'r>,
}

/// A document and the bytes it refers to, loaded when first asked for.
pub(super) struct Data<'d, 'r> {
    data: crate::accessor::Data<'d, Files<'d, 'r>>,
    values_left: usize,
}

impl<'d, 'r> Data<'d, 'r> {
    pub(super) fn new(
        document: &'d Value,
        bin: Option<&'d [u8]>,
        resolve: &'r mut Resolve<'r>,
    ) -> Self {
        Self {
            data: crate::accessor::Data::new(document, Files { bin, resolve }),
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
        let accessor = self.data.accessor(index, path)?;
        let fault = |key: &str, kind| AnimationFault::new(format!("{}/{key}", accessor.path), kind);
        if accessor.shape != shape {
            return Err(fault("type", Kind::Expected(shape.word())));
        }
        if accessor.component == Component::U32 {
            let kind = Kind::Expected("floats or normalized integers of 8 or 16 bits");
            return Err(fault("componentType", kind));
        }
        if !accessor.is_unit() {
            return Err(fault("normalized", Kind::Expected("normalized integers")));
        }
        let total = accessor.count.checked_mul(shape.width());
        let total = total.filter(|n| *n <= self.values_left).ok_or_else(|| {
            let what = "numbers in one animation";
            let limit = MAX_VALUES;
            fault("count", Kind::TooMany { what, limit })
        })?;
        let values = self.data.floats(&accessor)?;
        self.values_left -= total;
        Ok(values)
    }
}

impl<'d> Source<'d> for Files<'d, '_> {
    type Fault = AnimationFault;

    fn load(&mut self, index: usize, buffer: &'d Value) -> Found<Cow<'d, [u8]>> {
        let path = || format!("/buffers/{index}/uri");
        match (buffer.get("uri"), self.bin) {
            (None, Some(bin)) if index == 0 => Ok(Cow::Borrowed(bin)),
            (None, _) => {
                let kind = Kind::Expected("the buffer's address");
                Err(AnimationFault::new(path(), kind))
            }
            (Some(uri), _) => {
                let uri = uri.as_str();
                let uri =
                    uri.ok_or_else(|| AnimationFault::new(path(), Kind::Expected("the address")))?;
                let found = match uri.strip_prefix("data:") {
                    Some(data) => base64::data_uri(data).ok_or(Kind::DataUri),
                    None => (self.resolve)(uri).ok_or_else(|| Kind::OtherFile {
                        uri: uri.chars().take(100).collect(),
                    }),
                };
                Ok(Cow::Owned(
                    found.map_err(|kind| AnimationFault::new(path(), kind))?,
                ))
            }
        }
    }
}
