//! Small files with known contents, every trap, and the collected samples where they are.

use proptest::prelude::*;

use super::{
    Channel::{Position, Rotation},
    *,
};

const SMALL: &str = "HIERARCHY\n\
    ROOT Hips\n{\n\
    \tOFFSET 0.0 90.0 0.0\n\
    \tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
    \tJOINT Head\n\t{\n\
    \t\tOFFSET 0 10 1e1\n\
    \t\tCHANNELS 3 Xrotation Yrotation Zrotation\n\
    \t\tEnd Site\n\t\t{\n\
    \t\t\tOFFSET 0 0 0\n\
    \t\t}\n\t}\n}\n\
    MOTION\n\
    Frames: 2\n\
    Frame Time: 0.0166667\n\
    1 2 3 4 5 6 7 8 9\n\
    -1 -2e0 +3 .4 5. 6 7 8 9.5e-3\n";

fn check_same(text: &str) {
    let bvh = Bvh::read(text).unwrap();
    let mut expected = Bvh::read(SMALL).unwrap();
    expected.declared_frames = bvh.declared_frames;
    assert_eq!(bvh, expected);
}

#[test]
fn a_small_file_reads_as_it_says() {
    let bvh = Bvh::read(SMALL).unwrap();
    let [hips, head] = bvh.joints() else {
        panic!("two joints");
    };
    assert_eq!((hips.name.as_str(), hips.parent), ("Hips", None));
    assert_eq!((head.name.as_str(), head.parent), ("Head", Some(0)));
    assert_eq!((hips.offset, hips.end_site), ([0.0, 90.0, 0.0], None));
    assert_eq!(head.offset, [0.0, 10.0, 10.0]);
    assert_eq!(head.end_site, Some([0.0; 3]));
    assert_eq!(
        hips.channels,
        [
            Position(0),
            Position(1),
            Position(2),
            Rotation(2),
            Rotation(0),
            Rotation(1)
        ]
    );
    assert_eq!((head.first_channel, bvh.num_channels()), (6, 9));
    assert_eq!(bvh.num_frames(), 2);
    assert_eq!(
        bvh.row(1),
        Some(&[-1.0, -2.0, 3.0, 0.4, 5.0, 6.0, 7.0, 8.0, 9.5e-3][..])
    );
    assert_eq!(bvh.row(2), None);
    assert_eq!(bvh.row(usize::MAX), None);
    assert_eq!((bvh.declared_frames(), bvh.cut_rows()), (Some(2), 0));
    assert_eq!(bvh.frame_time_secs(), 0.016_666_7);
}

#[test]
fn line_ends_tabs_braces_and_case_do_not_matter() {
    check_same(&SMALL.replace('\n', "\r\n"));
    check_same(&SMALL.replace('\n', "\r"));
    check_same(&SMALL.replace('\n', "\n\n  \n"));
    check_same(&SMALL.replace(' ', "\t "));
    check_same(&SMALL.replace("\n{", " {").replace("\n\t{", "{"));
    check_same(&SMALL.replace("\n\t\t}\n\t}\n}", " } }}"));
    check_same(
        &SMALL
            .replace("OFFSET", "offset")
            .replace("End Site", "END SITE tip"),
    );
    check_same(&SMALL.replace("HIERARCHY", "\u{feff}hierarchy"));
    check_same(SMALL.trim_end());
    check_same(&SMALL.replace("7 8 9\n", "7 8 9 \n"));
    // The two lines in the other order.
    check_same(&SMALL.replace(
        "Frames: 2\nFrame Time: 0.0166667",
        "Frame Time : 0.0166667\nFrames:2",
    ));
}

#[test]
fn the_declared_count_of_frames_is_not_believed() {
    for (written, declared) in [
        ("Frames: 99999999999", Some(99_999_999_999)),
        ("Frames:    1    ", Some(1)),
        ("Frames: -5", None),
        ("Frames:", None),
    ] {
        let text = SMALL.replace("Frames: 2", written);
        check_same(&text);
        assert_eq!(Bvh::read(&text).unwrap().declared_frames(), declared);
    }
}

#[test]
fn a_last_row_cut_short_is_left_out_and_counted() {
    for cut in [
        "1",
        "1 2 3 4 5 6 7 8",
        "1 2 3 4 5 6 7 8\n",
        "1 2 3 4 5 6 7 -",
        "1 2 3 4 5 6 7 1.5e",
        "1 2 3 4 5 6 7 8 -",
        "1 2 3 .",
        "1 2 3\n\n \n",
    ] {
        let text = format!("{SMALL}{cut}");
        let bvh = Bvh::read(&text).unwrap();
        assert_eq!((bvh.num_frames(), bvh.cut_rows()), (2, 1), "{cut:?}");
    }
    // Anywhere else it is an error, and so is one value too many.
    let check = |row: &str, expected: BvhError| {
        assert_eq!(Bvh::read(&format!("{SMALL}{row}")), Err(expected));
    };
    let row = |have| BvhError::Row {
        line: 21,
        want: 9,
        have,
    };
    check("1 2 3\n1 2 3 4 5 6 7 8 9\n", row(3));
    check("1 2 3\n1 2\n", row(3));
    check("1 2 3 4 5 6 7 8 9 10", row(10));
    let syntax = |found: &str| BvhError::Syntax {
        line: 21,
        expected: "a finite number",
        found: found.into(),
    };
    check("1 2 3 4 5 6 7 8 -\n", syntax("-"));
    check("1 2 3 4 5 6 7 8 x", syntax("x"));
    check("1,5 2 3 4 5 6 7 8 9\n", syntax("1,5"));
    check("1 2 3 4 5 6 7 8.5-9.25\n", syntax("8.5-9.25"));
    check("1 2 3 4 nan 6 7 8 9\n", syntax("nan"));
    check("1 2 3 4 5 6 7 8 inf", syntax("inf"));
    check("1 2 3 4 5 6 7 8 1e39\n", syntax("1e39"));
}

#[test]
fn names_keep_spaces_colons_scripts_and_doubles() {
    let with = |name: &str| {
        let text = SMALL.replace("ROOT Hips", &format!("ROOT {name}"));
        Bvh::read(&text).unwrap().joints()[0].name.clone()
    };
    assert_eq!(with("  Bip01 L Collar \t"), "Bip01 L Collar");
    assert_eq!(with("mixamorig:Hips"), "mixamorig:Hips");
    assert_eq!(with("センター"), "センター");
    assert_eq!(with("Head"), "Head");
    assert_eq!(with("a\tb"), "a b");
    assert_eq!(with("JOINT"), "JOINT");
    // Bytes of no UTF-8.
    let bytes = SMALL.replace("Hips", "H#ft").into_bytes();
    let bytes: Vec<u8> = bytes
        .iter()
        .map(|b| if *b == b'#' { 0xfc } else { *b })
        .collect();
    assert_eq!(Bvh::read(&bytes).unwrap().joints()[0].name, "H\u{fffd}ft");
}

#[test]
fn two_none_and_repeated_channels_are_taken_as_declared() {
    let text = SMALL
        .replace(
            "CHANNELS 3 Xrotation Yrotation Zrotation",
            "CHANNELS 2 Zrotation Zrotation",
        )
        .replace(" 9\n", "\n")
        .replace(" 9.5e-3\n", "\n");
    let bvh = Bvh::read(&text).unwrap();
    assert_eq!(bvh.joints()[1].channels, [Rotation(2); 2]);
    assert_eq!((bvh.num_channels(), bvh.num_frames()), (8, 2));
    let text = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\n}\nROOT b\n{\n}\nMOTION\nFrames: 3\nFrame Time: 0\n";
    let bvh = Bvh::read(text).unwrap();
    assert_eq!((bvh.joints().len(), bvh.num_frames()), (2, 0));
    assert_eq!(bvh.row(0), None);
    assert_eq!(bvh.joints()[1].parent, None);
}

#[test]
fn a_joint_that_declares_channels_after_its_children_has_them_there() {
    let text = "HIERARCHY\nROOT a\n{\nJOINT b\n{\nCHANNELS 1 Xrotation\n}\nCHANNELS 1 Yrotation\n}\n\
        MOTION\nFrame Time: 1\n10 20\n";
    let bvh = Bvh::read(text).unwrap();
    let firsts: Vec<_> = bvh.joints().iter().map(|j| j.first_channel).collect();
    assert_eq!(firsts, [1, 0]);
}

#[test]
fn each_fault_names_its_line() {
    let check = |from: &str, to: &str, expected: &str| {
        assert!(SMALL.contains(from));
        let error = Bvh::read(&SMALL.replacen(from, to, 1)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    check("ROOT Hips", "ROOT", "line 2: expected a name, found \"\"");
    check(
        "ROOT Hips",
        "BONE x",
        "line 2: expected ROOT or MOTION, found \"BONE x\"",
    );
    check("{", "", "line 4: expected {, found \"OFFSET 0.0 90.0 0.0\"");
    check(
        "0.0 90.0 0.0",
        "0.0 90,0 0.0",
        "line 4: expected three numbers, found \"90,0 0.0\"",
    );
    check(
        "0.0 90.0 0.0",
        "0.0 90.0",
        "line 4: expected three numbers, found \"\"",
    );
    check(
        "CHANNELS 6",
        "CHANNELS 13",
        "line 5: expected a number of channels, at most 12, found \
         \"13 Xposition Yposition Zposition Zrotati\"",
    );
    check(
        "CHANNELS 6",
        "CHANNELS 7",
        "line 5: expected Xposition, Xrotation and the like, found \"\"",
    );
    check(
        "Xposition",
        "Wposition",
        "line 5: expected Xposition, Xrotation and the like, found \
         \"Wposition Yposition Zposition Zrotation \"",
    );
    check(
        "End Site",
        "End",
        "line 10: expected End Site, found \"End\"",
    );
    check(
        "JOINT Head",
        "ROOT Head",
        "line 6: expected OFFSET, CHANNELS, JOINT, End Site or }, found \"ROOT Head\"",
    );
    check(
        "}\n}\nMOTION",
        "}\nMOTION",
        "line 15: expected } for each {, found \"MOTION\"",
    );
    check(
        "}\nMOTION",
        "}\n}\nMOTION",
        "line 16: expected { before }, found \"}\"",
    );
    check(
        "MOTION",
        "",
        "line 17: expected ROOT or MOTION, found \"Frames: 2\"",
    );
    check(
        "0.0166667",
        "soon",
        "line 18: expected seconds after Frame Time:, found \"Frame Time: soon\"",
    );
    check(
        "0.0166667",
        "-1",
        "line 18: expected seconds after Frame Time:, found \"Frame Time: -1\"",
    );
    check(
        "Frame Time: 0.0166667\n",
        "",
        "line 18: expected Frame Time: before the first row, found \"1 2 3 4 5 6 7 8 9\"",
    );
    check(
        "Frames: 2",
        "Rows: 2",
        "line 17: expected Frames: or Frame Time:, found \"Rows: 2\"",
    );
    let ends = |text: &str, expected: &str| {
        assert_eq!(Bvh::read(text).unwrap_err().to_string(), expected);
    };
    ends("", "the file ends at line 0; expected MOTION");
    ends(
        "HIERARCHY\nROOT a\n{",
        "the file ends at line 3; expected MOTION",
    );
    ends(
        "MOTION\n",
        "line 1: expected ROOT and a joint, found \"MOTION\"",
    );
    let cut = SMALL.split("Frame Time").next().unwrap();
    ends(
        cut,
        "the file ends at line 17; expected Frame Time: before the first row",
    );
}

#[test]
fn joints_values_names_and_bytes_are_bounded() {
    let small = Limits {
        bytes: 1000,
        joints: 2,
        values: 18,
    };
    let read = |limits| read_within(SMALL.as_bytes(), limits).map(|b| b.num_frames());
    assert_eq!(read(small), Ok(2));
    let too_many = |line, limit, what| Err(BvhError::TooMany { line, limit, what });
    assert_eq!(
        read(Limits { joints: 1, ..small }),
        too_many(6, 1, "joints")
    );
    assert_eq!(
        read(Limits {
            values: 17,
            ..small
        }),
        too_many(20, 17, "values")
    );
    assert_eq!(
        read(Limits {
            bytes: 100,
            ..small
        }),
        too_many(1, 100, "bytes")
    );
    let long = SMALL.replace("Hips", &"x".repeat(257));
    assert_eq!(
        Bvh::read(&long).map(|b| b.num_frames()),
        too_many(2, 256, "bytes in a name")
    );
    let mut deep = String::from("HIERARCHY\nROOT r\n{\n");
    for _ in 0..MAX_JOINTS {
        deep.push_str("JOINT j\n{\n");
    }
    let error = Bvh::read(&deep).unwrap_err();
    assert!(matches!(
        error,
        BvhError::TooMany {
            what: "joints",
            limit: MAX_JOINTS,
            ..
        }
    ));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = Bvh::read(&bytes);
    }

    #[test]
    fn no_change_of_a_good_file_panics_and_a_cut_one_keeps_its_rows(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = SMALL.as_bytes().to_vec();
        let rows_start = SMALL.find("1 2 3 4").unwrap();
        let at = rows_start + cut.index(SMALL.len() - rows_start);
        let whole = Bvh::read(&bytes).unwrap();
        let partly = Bvh::read(&bytes[..at]).unwrap();
        prop_assert!(partly.num_frames() + partly.cut_rows() <= 2);
        if let Some(row) = partly.row(0) && partly.num_frames() == 2 {
            prop_assert_eq!(row, whole.row(0).unwrap());
        }
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = Bvh::read(&bytes);
    }

    #[test]
    fn words_of_the_format_in_any_order_do_not_panic(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "HIERARCHY", "ROOT", "JOINT", "End", "Site", "{", "}", "OFFSET", "CHANNELS", "3",
                "Xrotation", "Zposition", "0", "MOTION", "Frames:", "Frame", "Time:", "\n", "1e", "a b",
            ]),
            0..60,
        ),
    ) {
        let _ = Bvh::read(&words.join(" "));
    }
}
