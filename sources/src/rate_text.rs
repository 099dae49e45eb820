//! An optional frame rate written as in every stage file: text such as `"29.97"` or `"30000/1001"`.

use hub::FrameRate;
use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

#[expect(
    clippy::ref_option,
    reason = "serde's `with` asks for this very signature"
)]
pub(crate) fn serialize<S: Serializer>(rate: &Option<FrameRate>, to: S) -> Result<S::Ok, S::Error> {
    match rate {
        Some(rate) => to.collect_str(rate),
        None => to.serialize_none(),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<FrameRate>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.map(|t| t.parse().map_err(D::Error::custom))
        .transpose()
}
