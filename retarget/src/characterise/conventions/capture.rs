//! Conventions of motion capture, and of files that came from it.

use super::{ENGLISH, Fingers, MID, NUMBERED, PINKY, Table};
use crate::characterise::parts::Part::{
    Between, Eye, Finger, Foot, Hand, Head, Hips, Jaw, LowerArm, LowerLeg, Metacarpal, Neck,
    Shoulder, Spine, Tip, Toes, UpperArm, UpperLeg,
};

pub(super) static NEURON: Table = Table {
    name: "Perception Neuron",
    marks: &["inhand"],
    rows: &[
        (Hips, &["hips"]),
        (Spine, &["spine", "spine1", "spine2", "spine3"]),
        (Neck, &["neck", "neck1"]),
        (Head, &["head"]),
        (Shoulder, &["shoulder"]),
        (UpperArm, &["arm"]),
        (LowerArm, &["forearm"]),
        (Hand, &["hand"]),
        (UpperLeg, &["upleg"]),
        (LowerLeg, &["leg"]),
        (Foot, &["foot"]),
        (Toes, &["toebase"]),
    ],
    fingers: &[
        Fingers {
            before: "hand",
            words: PINKY,
            joints: NUMBERED,
            metacarpals: &[],
            tips: &["4"],
        },
        Fingers {
            before: "inhand",
            words: PINKY,
            joints: &[],
            metacarpals: &[""],
            tips: &[],
        },
    ],
};

pub(super) static XSENS: Table = Table {
    name: "Xsens MVN",
    marks: &[],
    rows: &[
        (Hips, &["pelvis"]),
        (Spine, &["l5", "l3", "t12", "t8"]),
        (Neck, &["neck"]),
        (Head, &["head"]),
        (Shoulder, &["shoulder"]),
        (UpperArm, &["upperarm"]),
        (LowerArm, &["forearm", "lowerarm"]),
        (Hand, &["hand"]),
        (UpperLeg, &["upperleg"]),
        (LowerLeg, &["lowerleg"]),
        (Foot, &["foot"]),
        (Toes, &["toe"]),
        (Between, &["carpus"]),
    ],
    fingers: &[Fingers {
        before: "",
        words: ["first", "second", "third", "fourth", "fifth"],
        joints: &["pp", "mp", "dp"],
        metacarpals: &["mc"],
        tips: &[],
    }],
};

pub(super) static MOCOPI: Table = Table {
    name: "mocopi",
    marks: &["torso_7"],
    rows: &[
        (Hips, &["root"]),
        (
            Spine,
            &[
                "torso1", "torso2", "torso3", "torso4", "torso5", "torso6", "torso7",
            ],
        ),
        (Neck, &["neck1", "neck2"]),
        (Head, &["head"]),
        (Shoulder, &["shoulder"]),
        (UpperArm, &["uparm"]),
        (LowerArm, &["lowarm"]),
        (Hand, &["hand"]),
        (UpperLeg, &["upleg"]),
        (LowerLeg, &["lowleg"]),
        (Foot, &["foot"]),
        (Toes, &["toes"]),
    ],
    fingers: &[],
};

pub(super) static ROKOKO: Table = Table {
    name: "Rokoko",
    marks: &[],
    rows: &[
        (Hips, &["hip", "hips"]),
        (Spine, &["spine", "chest"]),
        (Neck, &["neck"]),
        (Head, &["head"]),
        (Shoulder, &["shoulder"]),
        (UpperArm, &["upperarm"]),
        (LowerArm, &["lowerarm"]),
        (Hand, &["hand"]),
        (UpperLeg, &["upleg"]),
        (LowerLeg, &["leg"]),
        (Foot, &["foot"]),
        (Toes, &["toe"]),
        (Tip, &["toeend"]),
    ],
    fingers: &[Fingers {
        before: "",
        words: ENGLISH,
        joints: &["proximal", "medial", "distal"],
        metacarpals: &[],
        tips: &["tip"],
    }],
};

pub(super) static BIOVISION: Table = Table {
    name: "Biovision",
    marks: &[],
    rows: &[
        (Hips, &["hips", "pelvis", "hip", "spinebase"]),
        (
            Spine,
            &[
                "chest", "chest1", "chest2", "chest3", "chest4", "spinemid", "spine",
            ],
        ),
        (Neck, &["neck"]),
        (Head, &["head"]),
        (Shoulder, &["collar"]),
        (UpperArm, &["shoulder"]),
        (LowerArm, &["elbow"]),
        (Hand, &["wrist", "hand"]),
        (UpperLeg, &["hip"]),
        (LowerLeg, &["knee"]),
        (Foot, &["ankle", "foot"]),
        (Toes, &["toe", "toebase"]),
    ],
    fingers: &[],
};

pub(super) static SMPL: Table = Table {
    name: "SMPL",
    marks: &[],
    rows: &[
        (Hips, &["pelvis"]),
        (Spine, &["spine1", "spine2", "spine3"]),
        (Neck, &["neck"]),
        (Head, &["head"]),
        (Jaw, &["jaw"]),
        (Eye, &["eyesmplhf"]),
        (Shoulder, &["collar"]),
        (UpperArm, &["shoulder"]),
        (LowerArm, &["elbow"]),
        (Hand, &["wrist"]),
        (UpperLeg, &["hip"]),
        (LowerLeg, &["knee"]),
        (Foot, &["ankle"]),
        (Toes, &["foot"]),
        (Between, &["hand"]),
    ],
    fingers: &[Fingers {
        before: "",
        words: PINKY,
        joints: NUMBERED,
        metacarpals: &[],
        tips: &[],
    }],
};

pub(super) static CMU: Table = Table {
    name: "CMU",
    marks: &["hipjoint"],
    rows: &[
        (Hips, &["hips"]),
        (Spine, &["lowerback", "spine", "spine1"]),
        (Neck, &["neck", "neck1"]),
        (Head, &["head"]),
        (Shoulder, &["shoulder"]),
        (UpperArm, &["arm"]),
        (LowerArm, &["forearm"]),
        (Hand, &["hand"]),
        (UpperLeg, &["upleg"]),
        (LowerLeg, &["leg"]),
        (Foot, &["foot"]),
        (Toes, &["toebase"]),
        (Finger(0), &["thumb"]),
        (Metacarpal(1), &["fingerbase"]),
        (Finger(1), &["handindex1"]),
        (Between, &["hipjoint"]),
    ],
    fingers: &[],
};

pub(super) static ACCLAIM: Table = Table {
    name: "CMU (Acclaim)",
    marks: &["femur"],
    rows: &[
        (Hips, &["root"]),
        (Spine, &["lowerback", "upperback", "thorax"]),
        (Neck, &["lowerneck", "upperneck"]),
        (Head, &["head"]),
        (Shoulder, &["clavicle"]),
        (UpperArm, &["humerus"]),
        (LowerArm, &["radius"]),
        (Hand, &["wrist"]),
        (UpperLeg, &["femur"]),
        (LowerLeg, &["tibia"]),
        (Foot, &["foot"]),
        (Toes, &["toes"]),
        (Finger(0), &["thumb"]),
        (Between, &["hipjoint", "hand", "fingers"]),
    ],
    fingers: &[],
};

pub(super) static MOTIVE: Table = Table {
    name: "OptiTrack Motive",
    marks: &["luarm"],
    rows: &[
        (Hips, &["hip", "hips"]),
        (Spine, &["ab", "chest"]),
        (Neck, &["neck"]),
        (Head, &["head"]),
        (Shoulder, &["shoulder"]),
        (UpperArm, &["uarm"]),
        (LowerArm, &["farm"]),
        (Hand, &["hand"]),
        (UpperLeg, &["thigh"]),
        (LowerLeg, &["shin"]),
        (Foot, &["foot"]),
        (Toes, &["toe"]),
    ],
    fingers: &[Fingers {
        before: "",
        words: PINKY,
        joints: NUMBERED,
        metacarpals: &[],
        tips: &[],
    }],
};

pub(super) static ARKIT: Table = Table {
    name: "ARKit body",
    marks: &["spine_7_joint"],
    rows: &[
        (Hips, &["hips"]),
        (
            Spine,
            &[
                "spine1", "spine2", "spine3", "spine4", "spine5", "spine6", "spine7",
            ],
        ),
        (Neck, &["neck1", "neck2", "neck3", "neck4"]),
        (Head, &["head"]),
        (Jaw, &["jaw"]),
        (Eye, &["eye"]),
        (Shoulder, &["shoulder1"]),
        (UpperArm, &["arm"]),
        (LowerArm, &["forearm"]),
        (Hand, &["hand"]),
        (UpperLeg, &["upleg"]),
        (LowerLeg, &["leg"]),
        (Foot, &["foot"]),
        (Toes, &["toes"]),
    ],
    fingers: &[Fingers {
        before: "hand",
        words: MID,
        joints: NUMBERED,
        metacarpals: &["start"],
        tips: &["end"],
    }],
};
