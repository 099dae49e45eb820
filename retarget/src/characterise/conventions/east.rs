//! Conventions of Japanese and Chinese characters.

use super::{Fingers, NUMBERED, Table};
use crate::characterise::parts::Part::{
    Between, Eye, Foot, Hand, Head, Hips, Jaw, LowerArm, LowerLeg, Neck, Shoulder, Spine, Tip,
    Toes, UpperArm, UpperLeg,
};

pub(super) static MMD: Table = Table {
    name: "MMD",
    marks: &["下半身"],
    rows: &[
        (Hips, &["下半身"]),
        (Spine, &["上半身", "上半身2", "上半身3", "上半身1"]),
        (Neck, &["首"]),
        (Head, &["頭"]),
        (Jaw, &["あご", "顎"]),
        (Eye, &["目"]),
        (Shoulder, &["肩"]),
        (UpperArm, &["腕"]),
        (LowerArm, &["ひじ", "肘", "ヒジ"]),
        (Hand, &["手首"]),
        (UpperLeg, &["足"]),
        (LowerLeg, &["ひざ", "膝", "ヒザ"]),
        (Foot, &["足首"]),
        (Toes, &["つま先"]),
        (Tip, &["手先"]),
        (Between, &["センター", "グルーブ", "腰", "全ての親", "両目"]),
    ],
    fingers: &[Fingers {
        before: "",
        words: ["親指", "人指", "中指", "薬指", "小指"],
        joints: &["0", "1", "2", "3"],
        metacarpals: &[],
        tips: &["先"],
    }],
};

pub(super) static MMD_ENGLISH: Table = Table {
    name: "MMD in English",
    marks: &["lower body"],
    rows: &[
        (Hips, &["lowerbody"]),
        (Spine, &["upperbody", "upperbody2", "upperbody3"]),
        (Neck, &["neck"]),
        (Head, &["head"]),
        (Eye, &["eye"]),
        (Shoulder, &["shoulder"]),
        (UpperArm, &["arm"]),
        (LowerArm, &["elbow"]),
        (Hand, &["wrist"]),
        (UpperLeg, &["leg"]),
        (LowerLeg, &["knee"]),
        (Foot, &["ankle"]),
        (Toes, &["toe"]),
        (Between, &["center", "groove", "waist", "eyes"]),
    ],
    fingers: &[Fingers {
        before: "",
        words: ["thumb", "fore", "middle", "third", "little"],
        joints: &["0", "1", "2", "3"],
        metacarpals: &[],
        tips: &[],
    }],
};

pub(super) static CHINESE: Table = Table {
    name: "Chinese names",
    marks: &["大腿", "小腿"],
    rows: &[
        (Hips, &["骨盆", "盆骨", "臀部", "髋部", "胯部"]),
        (
            Spine,
            &[
                "脊柱", "脊柱1", "脊柱2", "脊柱3", "脊椎", "脊椎1", "脊椎2", "脊椎3", "腰", "腰部",
                "胸", "胸部", "上胸",
            ],
        ),
        (Neck, &["脖子", "颈", "颈部", "頸", "頸部", "颈椎"]),
        (Head, &["头", "头部", "頭", "頭部"]),
        (Eye, &["眼", "眼睛", "眼球"]),
        (Jaw, &["下巴", "下颌"]),
        (Shoulder, &["锁骨", "鎖骨", "肩", "肩膀", "肩部"]),
        (UpperArm, &["上臂", "大臂", "手臂"]),
        (LowerArm, &["前臂", "小臂", "下臂"]),
        (Hand, &["手", "手掌", "手腕"]),
        (UpperLeg, &["大腿"]),
        (LowerLeg, &["小腿"]),
        (Foot, &["脚", "脚掌", "脚部", "脚踝", "足"]),
        (Toes, &["脚趾", "脚尖"]),
    ],
    fingers: &[Fingers {
        before: "",
        words: ["拇指", "食指", "中指", "无名指", "小指"],
        joints: NUMBERED,
        metacarpals: &[],
        tips: &[],
    }],
};
