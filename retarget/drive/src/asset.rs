//! What a person decides about a performer and a character, as a file.

use retarget::{asset::RetargetAsset, face::FaceAsset, layers::FallbackPolicy};
use serde::{Deserialize, Serialize};

/// How a performer becomes a character: body, face, and what happens when the stream is lost. As TOML:
///
/// ```toml
/// [body.source]
/// pose = "as_it_is"
///
/// [[body.target.edits]]
/// bone = "LeftArm"
/// turn_deg = [0.0, 0.0, 5.0]
///
/// [face.map]
/// name = "mine"
/// direct = { Blink_L = "eyeBlinkLeft" }
///
/// [loss]
/// hold_secs = 2.0
/// ```
///
/// What it does not state is found or usual.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PuppetAsset {
    /// The body. Default: bones found by name and shape, T-poses fitted, the usual steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<RetargetAsset>,
    /// The face. Default: the ready map between the two sets of names, nothing smoothed or repaired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub face: Option<FaceAsset>,
    /// What the body does when the stream is lost.
    pub loss: FallbackPolicy,
}

impl PuppetAsset {
    /// Reads an asset's file.
    ///
    /// # Errors
    /// With the line and what is wrong there.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The asset's file.
    ///
    /// # Errors
    /// A seed beyond what TOML can write, 2⁶³.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}
