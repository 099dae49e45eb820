//! Names of curves: one key for all spellings, the other side's name, the nearest name.

/// Longest name that is compared for likeness, characters of its key.
const MAX_COMPARED: usize = 64;

/// One spelling for all spellings of a name: lower case, sides as words, nothing before the last dot.
///
/// These are the rules by which [`FaceRig`](crate::FaceRig) binds: `eyeBlinkLeft`, `EyeBlink_L`, `eyeBlink.L`,
/// `eyeBlink_left` and `blendShape2.eyeBlinkLeft` have one key. Only ASCII letters change case.
///
/// ```
/// use retarget::face::curve_key;
/// assert_eq!(curve_key("blendShape2.eyeBlink_L"), curve_key("EyeBlinkLeft"));
/// assert_ne!(curve_key("jawLeft"), curve_key("jawRight"));
/// ```
pub fn curve_key(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    for (short, side) in [
        ("_left", "left"),
        ("_right", "right"),
        ("_l", "left"),
        ("_r", "right"),
        (".l", "left"),
        (".r", "right"),
    ] {
        if let Some(stem) = lower.strip_suffix(short) {
            return format!("{}{side}", after_last_dot(stem));
        }
    }
    after_last_dot(&lower).to_owned()
}

fn after_last_dot(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The curve's name on the other side; the name itself when it tells none. Taken twice it is the name again.
///
/// - `Left` and `Right` with a capital anywhere (`eyeBlinkLeft`, `LeftEyeYaw`), `left` and `right` at the
///   beginning or after a mark (`left_eye`);
/// - `_L`, `_R`, `.L`, `.R` at the end, either case;
/// - in names of Unreal's face controls (`CTRL_…`) a capital `L` or `R` at the end, as in `eyeLookLeftR`, whose
///   counterpart is `eyeLookRightL`.
///
/// `eyeLookIn…` stays *in*: it is relative to the nose.
///
/// ```
/// use retarget::face::other_side;
/// assert_eq!(other_side("eyeLookInLeft"), "eyeLookInRight");
/// assert_eq!(other_side("CTRL_expressions_eyeLookRightL"), "CTRL_expressions_eyeLookLeftR");
/// assert_eq!(other_side("viseme_RR"), "viseme_RR");
/// ```
pub fn other_side(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut before: Option<char> = None;
    let mut rest = name;
    while let Some(letter) = rest.chars().next() {
        let is_edge = before.is_none_or(|c| !c.is_alphanumeric());
        let swapped = [
            ("Left", "Right", true),
            ("Right", "Left", true),
            ("left", "right", is_edge),
            ("right", "left", is_edge),
        ]
        .into_iter()
        .find(|(word, _, fits)| *fits && rest.starts_with(word));
        if let Some((word, other, _)) = swapped {
            out.push_str(other);
            before = word.chars().next_back();
            rest = rest.get(word.len()..).unwrap_or_default();
        } else {
            out.push(letter);
            before = Some(letter);
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        }
    }
    let is_control = has_prefix(name, "CTRL_");
    let mut end = out.chars().rev();
    let swap = match end.next() {
        Some('L') => 'R',
        Some('R') => 'L',
        Some('l') => 'r',
        Some('r') => 'l',
        _ => return out,
    };
    let is_marked = matches!(end.next(), Some('_' | '.'));
    if is_marked || (is_control && swap.is_ascii_uppercase()) {
        out.pop();
        out.push(swap);
    }
    out
}

/// Whether the name begins so, ignoring ASCII case.
fn has_prefix(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// The candidate that is most like the name, if any is like it at all: at most a third of its letters differ.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted: Vec<char> = curve_key(name).chars().take(MAX_COMPARED).collect();
    let most = (wanted.len() / 3).max(1);
    candidates
        .map(|candidate| (distance(&wanted, &curve_key(candidate)), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance: insertions, deletions and substitutions.
fn distance(a: &[char], b: &str) -> usize {
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (at, letter) in b.chars().take(MAX_COMPARED).enumerate() {
        let mut diagonal = at;
        let mut left = at + 1;
        let mut next = Vec::with_capacity(row.len());
        next.push(left);
        for (mine, above) in a.iter().zip(row.iter().skip(1)) {
            let substituted = diagonal + usize::from(*mine != letter);
            left = substituted.min(above + 1).min(left + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

/// Names of one side of a map, found by key.
#[derive(Clone, Debug)]
pub(super) struct Lookup {
    keys: Vec<String>,
}

impl Lookup {
    pub(super) fn new(names: &[&str]) -> Self {
        Self {
            keys: names.iter().map(|name| curve_key(name)).collect(),
        }
    }

    /// Place of the first curve of that name in any spelling.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.with_key(&curve_key(name)).next()
    }

    /// Places of all curves of that key.
    pub(super) fn with_key(&self, key: &str) -> impl Iterator<Item = usize> {
        let places = self.keys.iter().enumerate();
        places.filter(move |(_, k)| *k == key).map(|(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FaceJoints, FaceRig};

    #[test]
    fn the_key_binds_what_the_face_rig_binds() {
        let names = [
            "eyeBlinkLeft",
            "EYEBLINK_L",
            "eyeBlink.L",
            "eyeBlink_Left",
            "blendShape2.eyeBlinkLeft",
            "eyeBlinkRight",
            "eyeBlink_R",
            "jawLeft",
            "left_jaw",
            "山田.笑い",
            "笑い",
            "a.b.c_r",
        ];
        for a in names {
            for b in names {
                let rig = FaceRig::build(&[a], &[b]);
                let mut weight = [0.0];
                rig.evaluate(&[1.0], &mut weight, &mut FaceJoints::default());
                let is_bound = weight == [1.0];
                assert_eq!(curve_key(a) == curve_key(b), is_bound, "{a} {b}");
            }
        }
    }

    #[test]
    fn sides_change_and_change_back() {
        for (name, other) in [
            ("eyeBlinkLeft", "eyeBlinkRight"),
            ("Blink_L", "Blink_R"),
            ("smile.r", "smile.l"),
            ("LeftEyeYaw", "RightEyeYaw"),
            ("left_eye", "right_eye"),
            ("mouthLeft", "mouthRight"),
            (
                "CTRL_expressions_mouthFunnelUL",
                "CTRL_expressions_mouthFunnelUR",
            ),
            ("CTRL_expressions_jawLeft", "CTRL_expressions_jawRight"),
            ("jawOpen", "jawOpen"),
            ("brightness", "brightness"),
            ("viseme_RR", "viseme_RR"),
            ("演員_L", "演員_R"),
            ("", ""),
        ] {
            assert_eq!(other_side(name), other);
            assert_eq!(other_side(other), name);
        }
    }

    #[test]
    fn the_nearest_name_is_a_slip_away_or_none() {
        let names = ["jawOpen", "jawForward", "eyeBlinkLeft"];
        assert_eq!(nearest("jawOpne", names.into_iter()), Some("jawOpen"));
        assert_eq!(
            nearest("eyeBlink_Lef", names.into_iter()),
            Some("eyeBlinkLeft")
        );
        assert_eq!(nearest("kneeBend", names.into_iter()), None);
        // Two letters stand for each other: distance 2 of "ab" to "ba".
        assert_eq!(distance(&['a', 'b'], "ba"), 2);
        assert_eq!(distance(&['k', 'i', 't', 't', 'e', 'n'], "sitting"), 3);
        assert_eq!(distance(&[], "abc"), 3);
    }
}
