//! The names of the known sets.

use hub::arkit;

use super::SetId;

/// Keys of mouth shapes that are too short to be told by a part of the name: vowels of both VRMs, the bare names of
/// the visemes.
pub(super) const SOUNDS: [&str; 20] = [
    "a", "i", "u", "e", "o", "aa", "ih", "ou", "ee", "oh", "sil", "pp", "ff", "th", "dd", "kk",
    "ch", "ss", "nn", "rr",
];

/// Source: vrm-c/vrm-specification, `specification/0.0/README.md`.
const VRM0: [&str; 17] = [
    "Neutral",
    "A",
    "I",
    "U",
    "E",
    "O",
    "Blink",
    "Blink_L",
    "Blink_R",
    "Joy",
    "Angry",
    "Sorrow",
    "Fun",
    "LookUp",
    "LookDown",
    "LookLeft",
    "LookRight",
];

/// Source: vrm-c/vrm-specification, `specification/VRMC_vrm-1.0/expressions.md`.
const VRM1: [&str; 18] = [
    "neutral",
    "aa",
    "ih",
    "ou",
    "ee",
    "oh",
    "blink",
    "blinkLeft",
    "blinkRight",
    "happy",
    "angry",
    "sad",
    "relaxed",
    "surprised",
    "lookUp",
    "lookDown",
    "lookLeft",
    "lookRight",
];

/// As glTF avatars spell them, and Meta's own names where a prefix does not make them.
const VISEMES: [(&str, &str); 15] = [
    ("viseme_sil", "sil"),
    ("viseme_PP", "PP"),
    ("viseme_FF", "FF"),
    ("viseme_TH", "TH"),
    ("viseme_DD", "DD"),
    ("viseme_kk", "kk"),
    ("viseme_CH", "CH"),
    ("viseme_SS", "SS"),
    ("viseme_nn", "nn"),
    ("viseme_RR", "RR"),
    ("viseme_aa", "aa"),
    ("viseme_E", "E"),
    ("viseme_I", "ih"),
    ("viseme_O", "oh"),
    ("viseme_U", "ou"),
];

/// Number of the action unit, its name, whether left and right are told apart. The numbers and names are those of
/// Ekman and Friesen's manual; 28 and 43 are split or joined as ARKit has them, 30 and 61 to 64 by direction.
const FACS: [(u8, &str, bool); 30] = [
    (1, "innerBrowRaiser", true),
    (2, "outerBrowRaiser", true),
    (4, "browLowerer", true),
    (5, "upperLidRaiser", true),
    (6, "cheekRaiser", true),
    (7, "lidTightener", true),
    (8, "lipsToward", false),
    (9, "noseWrinkler", true),
    (10, "upperLipRaiser", true),
    (12, "lipCornerPuller", true),
    (14, "dimpler", true),
    (15, "lipCornerDepressor", true),
    (16, "lowerLipDepressor", true),
    (17, "chinRaiser", false),
    (18, "lipPucker", false),
    (19, "tongueShow", false),
    (20, "lipStretcher", true),
    (22, "lipFunneler", false),
    (24, "lipPressor", true),
    (26, "jawDrop", false),
    (28, "lipSuckLower", false),
    (28, "lipSuckUpper", false),
    (29, "jawThrust", false),
    (30, "jawSideways", true),
    (34, "cheekPuff", false),
    (43, "eyesClosed", true),
    (61, "eyesTurnLeft", false),
    (62, "eyesTurnRight", false),
    (63, "eyesUp", false),
    (64, "eyesDown", false),
];

/// Units that number does not tell apart: no alias.
const SHARED_NUMBER: u8 = 28;

const CONTROL: &str = "CTRL_expressions_";

/// Name without prefix, and the letters of its sides, if it has any. `mouthUp` is moved by no ARKit curve; its presence tells Unreal's newer face system from the older.
const CONTROLS: [(&str, &str); 48] = [
    ("eyeBlink", "LR"),
    ("eyeLookUp", "LR"),
    ("eyeLookDown", "LR"),
    ("eyeLookLeft", "LR"),
    ("eyeLookRight", "LR"),
    ("eyeSquintInner", "LR"),
    ("eyeWiden", "LR"),
    ("eyeCheekRaise", "LR"),
    ("browDown", "LR"),
    ("browLateral", "LR"),
    ("browRaiseIn", "LR"),
    ("browRaiseOuter", "LR"),
    ("noseWrinkle", "LR"),
    ("mouthCheekBlow", "LR"),
    ("mouthLipsBlow", "LR"),
    ("jawOpen", ""),
    ("jawFwd", ""),
    ("jawLeft", ""),
    ("jawRight", ""),
    ("jawChinRaiseD", "LR"),
    ("jawChinRaiseU", "LR"),
    ("mouthUp", ""),
    ("mouthLeft", ""),
    ("mouthRight", ""),
    ("mouthFunnelU", "LR"),
    ("mouthFunnelD", "LR"),
    ("mouthLipsPurseU", "LR"),
    ("mouthLipsPurseD", "LR"),
    ("mouthLipsTowardsU", "LR"),
    ("mouthLipsTowardsD", "LR"),
    ("mouthLipsTogetherU", "LR"),
    ("mouthLipsTogetherD", "LR"),
    ("mouthCornerPull", "LR"),
    ("mouthCornerDepress", "LR"),
    ("mouthDimple", "LR"),
    ("mouthStretch", "LR"),
    ("mouthLowerLipRollIn", "LR"),
    ("mouthUpperLipRollIn", "LR"),
    ("mouthPressU", "LR"),
    ("mouthPressD", "LR"),
    ("mouthLowerLipDepress", "LR"),
    ("mouthUpperLipRaise", "LR"),
    ("tongueOut", ""),
    ("tongueDown", ""),
    ("tongueWide", ""),
    ("tongueRollDown", ""),
    ("tongueLeft", ""),
    ("tongueRight", ""),
];

/// Names in order, each with its aliases.
pub(super) fn entries(id: SetId) -> Vec<(String, Vec<String>)> {
    let plain = |names: &[&str]| {
        names
            .iter()
            .map(|name| ((*name).to_owned(), Vec::new()))
            .collect()
    };
    match id {
        SetId::Arkit => arkit::CURVES
            .iter()
            .take(arkit::NUM_FACE_CURVES)
            .map(|name| (camel(name), Vec::new()))
            .collect(),
        SetId::LiveLinkFace => plain(&arkit::CURVES),
        SetId::Vrm0 => plain(&VRM0),
        SetId::Vrm1 => plain(&VRM1),
        SetId::Visemes15 => VISEMES
            .iter()
            .map(|(name, bare)| {
                let prefixed = format!("viseme_{bare}");
                ((*name).to_owned(), vec![(*bare).to_owned(), prefixed])
            })
            .collect(),
        SetId::Facs => facs(),
        SetId::Metahuman => CONTROLS
            .iter()
            .flat_map(|(stem, sides)| {
                let name = |side: &str| (format!("{CONTROL}{stem}{side}"), Vec::new());
                if sides.is_empty() {
                    vec![name("")]
                } else {
                    vec![name("L"), name("R")]
                }
            })
            .collect(),
    }
}

/// Apple's own spelling: the first letter small.
fn camel(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_ascii_lowercase().to_string() + letters.as_str()
    })
}

fn facs() -> Vec<(String, Vec<String>)> {
    let mut out = Vec::new();
    for (number, name, is_paired) in FACS {
        let sides: &[(&str, &str)] = if is_paired {
            &[("Left", "_L"), ("Right", "_R")]
        } else {
            &[("", "")]
        };
        for (side, short) in sides {
            let aliases = if number == SHARED_NUMBER {
                Vec::new()
            } else {
                vec![
                    format!("AU{number}{short}"),
                    format!("AU{number:02}{short}"),
                ]
            };
            out.push((format!("{name}{side}"), aliases));
        }
    }
    out
}
