//! The expression presets of VRM 0.x and VRM 1.0, which VMC senders use side by side.
//!
//! Decoder and encoder pass names as they are: senders mix both sets with names of their own. This table is
//! for whoever binds names to a character.

/// Preset of VRM 0.x, and the one of VRM 1.0 that it became.
///
/// Source: vrm-c/vrm-specification, `specification/VRMC_vrm-1.0/expressions.md`. VRM 1.0's `surprised` is not
/// among them, because VRM 0.x has no such preset.
pub const EXPRESSIONS: [(&str, &str); 17] = [
    ("Neutral", "neutral"),
    ("A", "aa"),
    ("I", "ih"),
    ("U", "ou"),
    ("E", "ee"),
    ("O", "oh"),
    ("Blink", "blink"),
    ("Blink_L", "blinkLeft"),
    ("Blink_R", "blinkRight"),
    ("Joy", "happy"),
    ("Angry", "angry"),
    ("Sorrow", "sad"),
    ("Fun", "relaxed"),
    ("LookUp", "lookUp"),
    ("LookDown", "lookDown"),
    ("LookLeft", "lookLeft"),
    ("LookRight", "lookRight"),
];

/// The VRM 1.0 name of a VRM 0.x preset, ignoring ASCII case.
///
/// ```
/// assert_eq!(sources::vmc::vrm1_of("Joy"), Some("happy"));
/// assert_eq!(sources::vmc::vrm1_of("happy"), None);
/// ```
pub fn vrm1_of(vrm0: &str) -> Option<&'static str> {
    let pair = EXPRESSIONS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(vrm0));
    pair.map(|(_, vrm1)| *vrm1)
}

/// The VRM 0.x name of a VRM 1.0 preset, ignoring ASCII case.
///
/// ```
/// assert_eq!(sources::vmc::vrm0_of("blinkLeft"), Some("Blink_L"));
/// ```
pub fn vrm0_of(vrm1: &str) -> Option<&'static str> {
    let pair = EXPRESSIONS
        .iter()
        .find(|(_, name)| name.eq_ignore_ascii_case(vrm1));
    pair.map(|(vrm0, _)| *vrm0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_reads_both_ways() {
        for (vrm0, vrm1) in EXPRESSIONS {
            assert_eq!(vrm1_of(vrm0), Some(vrm1));
            assert_eq!(vrm0_of(vrm1), Some(vrm0));
            assert_eq!(vrm1_of(&vrm0.to_uppercase()), Some(vrm1));
        }
        assert_eq!(vrm1_of("JawOpen"), None);
        assert_eq!(vrm0_of("surprised"), None);
    }
}
