//! The segments of an MVN character: names, parents, orders.
//!
//! Order and names: specification, section 3.1, in the spelling of MVN's own files; finger names likewise.

use crate::error::Reject;

/// Segments of a body.
pub const NUM_BODY_SEGMENTS: usize = 23;
/// Finger segments of both hands together.
pub const NUM_FINGER_SEGMENTS: usize = 40;
/// Most props of a character.
pub(super) const MAX_PROPS: usize = 4;
/// Most segments of a character.
pub(super) const MAX_SEGMENTS: usize = NUM_BODY_SEGMENTS + NUM_FINGER_SEGMENTS;

const FINGERS_PER_HAND: usize = NUM_FINGER_SEGMENTS / 2;

/// Name and parent of each body segment, by segment id − 1.
const BODY: [(&str, Option<u32>); NUM_BODY_SEGMENTS] = [
    ("Pelvis", None),
    ("L5", Some(0)),
    ("L3", Some(1)),
    ("T12", Some(2)),
    ("T8", Some(3)),
    ("Neck", Some(4)),
    ("Head", Some(5)),
    ("RightShoulder", Some(4)),
    ("RightUpperArm", Some(7)),
    ("RightForeArm", Some(8)),
    ("RightHand", Some(9)),
    ("LeftShoulder", Some(4)),
    ("LeftUpperArm", Some(11)),
    ("LeftForeArm", Some(12)),
    ("LeftHand", Some(13)),
    ("RightUpperLeg", Some(0)),
    ("RightLowerLeg", Some(15)),
    ("RightFoot", Some(16)),
    ("RightToe", Some(17)),
    ("LeftUpperLeg", Some(0)),
    ("LeftLowerLeg", Some(19)),
    ("LeftFoot", Some(20)),
    ("LeftToe", Some(21)),
];

const RIGHT_HAND: u32 = 10;
const LEFT_HAND: u32 = 14;

/// Name of each finger segment without its side, and its parent within the hand; `None` is the hand itself.
const FINGERS: [(&str, Option<u32>); FINGERS_PER_HAND] = [
    ("Carpus", None),
    ("FirstMC", Some(0)),
    ("FirstPP", Some(1)),
    ("FirstDP", Some(2)),
    ("SecondMC", Some(0)),
    ("SecondPP", Some(4)),
    ("SecondMP", Some(5)),
    ("SecondDP", Some(6)),
    ("ThirdMC", Some(0)),
    ("ThirdPP", Some(8)),
    ("ThirdMP", Some(9)),
    ("ThirdDP", Some(10)),
    ("FourthMC", Some(0)),
    ("FourthPP", Some(12)),
    ("FourthMP", Some(13)),
    ("FourthDP", Some(14)),
    ("FifthMC", Some(0)),
    ("FifthPP", Some(16)),
    ("FifthMP", Some(17)),
    ("FifthDP", Some(18)),
];

/// Index of each segment of type 05 in the order of type 02 (specification, table 3).
const UNITY_ORDER: [usize; NUM_BODY_SEGMENTS] = [
    0, 15, 16, 17, 18, 19, 20, 21, 22, 1, 2, 3, 4, 11, 12, 13, 14, 7, 8, 9, 10, 5, 6,
];

/// Names and parents of the body, then of left and right fingers where there are any.
pub(super) fn skeleton(with_fingers: bool) -> (Vec<String>, Vec<Option<u32>>) {
    let mut names: Vec<String> = BODY.iter().map(|s| s.0.to_owned()).collect();
    let mut parents: Vec<Option<u32>> = BODY.iter().map(|s| s.1).collect();
    if with_fingers {
        for (side, hand) in [("Left", LEFT_HAND), ("Right", RIGHT_HAND)] {
            let first = names.len() as u32;
            names.extend(FINGERS.iter().map(|s| format!("{side}{}", s.0)));
            parents.extend(
                FINGERS
                    .iter()
                    .map(|s| Some(s.1.map_or(hand, |p| first + p))),
            );
        }
    }
    (names, parents)
}

/// How many items of a pose are what, in their order.
pub(super) struct Counts {
    pub(super) body: usize,
    pub(super) props: usize,
    pub(super) fingers: usize,
}

/// By the header where it fits the items, else (senders before MVN 2019) by their number.
pub(super) fn counts(header: [u8; 3], items: usize) -> Result<Counts, Reject> {
    let [body, props, fingers] = header.map(usize::from);
    let told = Counts {
        body,
        props,
        fingers,
    };
    let is_known = |c: &Counts| {
        (1..=NUM_BODY_SEGMENTS).contains(&c.body)
            && c.props <= MAX_PROPS
            && (c.fingers == 0 || c.fingers == NUM_FINGER_SEGMENTS)
    };
    if body + props + fingers == items && is_known(&told) {
        return Ok(told);
    }
    let body = items.min(NUM_BODY_SEGMENTS);
    let fingers = if items - body >= NUM_FINGER_SEGMENTS {
        NUM_FINGER_SEGMENTS
    } else {
        0
    };
    let guessed = Counts {
        body,
        props: items - body - fingers,
        fingers,
    };
    is_known(&guessed)
        .then_some(guessed)
        .ok_or(Reject::OutOfRange {
            what: "items of a pose",
            have: items as i64,
            min: 1,
            max: (MAX_SEGMENTS + MAX_PROPS) as i64,
        })
}

/// Index of a body segment by its id, from 1.
pub(super) fn segment(is_unity: bool, id: i32) -> Option<usize> {
    let at = usize::try_from(id).ok()?.checked_sub(1)?;
    let in_unity = *UNITY_ORDER.get(at)?;
    Some(if is_unity { in_unity } else { at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_stand_before_their_children() {
        let (names, parents) = skeleton(true);
        assert_eq!((names.len(), parents.len()), (MAX_SEGMENTS, MAX_SEGMENTS));
        for (i, parent) in parents.iter().enumerate() {
            assert!(parent.is_none_or(|p| (p as usize) < i), "{}", names[i]);
        }
        assert_eq!((names[23].as_str(), parents[23]), ("LeftCarpus", Some(14)));
        assert_eq!((names[43].as_str(), parents[43]), ("RightCarpus", Some(10)));
        assert_eq!(
            (names[62].as_str(), parents[62]),
            ("RightFifthDP", Some(61))
        );
    }

    #[test]
    fn the_order_of_unity_names_each_segment_once() {
        let mut sorted = UNITY_ORDER;
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(i, s)| i == *s));
        assert_eq!(BODY[UNITY_ORDER[16]].0, "LeftHand");
        assert_eq!(BODY[UNITY_ORDER[22]].0, "Head");
    }
}
