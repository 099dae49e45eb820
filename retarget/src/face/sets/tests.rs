use super::*;

#[test]
fn the_sets_have_the_sizes_of_their_specifications() {
    for (id, num) in [
        (SetId::Arkit, 52),
        (SetId::LiveLinkFace, 61),
        (SetId::Vrm0, 17),
        (SetId::Vrm1, 18),
        (SetId::Visemes15, 15),
    ] {
        assert_eq!(CurveSet::known(id).num_curves(), num, "{id:?}");
    }
}

#[test]
fn every_curve_is_found_at_its_own_place_in_other_spellings() {
    for id in SetId::ALL {
        let set = CurveSet::known(id);
        assert_eq!(set.name(), id.as_str());
        for (at, name) in set.names().enumerate() {
            assert_eq!(set.index_of(name), Some(at), "{name}");
            assert_eq!(set.index_of(&name.to_uppercase()), Some(at), "{name}");
            assert_eq!(set.index_of(&format!("mesh.{name}")), Some(at), "{name}");
        }
    }
    let arkit = CurveSet::known(SetId::Arkit);
    assert_eq!(arkit.index_of("EyeBlink_L"), Some(0));
    assert_eq!(arkit.index_of("jaw_Left"), arkit.index_of("jawLeft"));
    assert_eq!(arkit.index_of("HeadYaw"), None);
    assert_eq!(arkit.nearest("mouthFunel"), Some("mouthFunnel"));
}

#[test]
fn aliases_are_understood() {
    let visemes = CurveSet::known(SetId::Visemes15);
    // Meta's order: sil PP FF TH DD kk CH SS nn RR aa E ih oh ou.
    for (name, at) in [
        ("ih", 12),
        ("viseme_oh", 13),
        ("ou", 14),
        ("E", 11),
        ("pp", 1),
    ] {
        assert_eq!(visemes.index_of(name), Some(at), "{name}");
    }
    let facs = CurveSet::known(SetId::Facs);
    assert_eq!(
        facs.index_of("AU12_L"),
        facs.index_of("lipCornerPullerLeft")
    );
    assert_eq!(
        facs.index_of("au04_right"),
        facs.index_of("browLowererRight")
    );
    assert!(facs.index_of("AU12_L").is_some());
}

#[test]
fn a_set_of_ones_own_is_checked_whole() {
    let set = CurveSet::custom("mine", &["笑い", "まばたき_L", "jaw"]).unwrap();
    assert_eq!(set.index_of("まばたき.l"), Some(1));
    let faults = CurveSet::custom("mine", &["jaw_L", "", "JawLeft"]).unwrap_err();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(faults[1].contains("jaw_L") && faults[1].contains("JawLeft"));
}

#[test]
fn regions_are_told_by_name() {
    for (name, region) in [
        ("eyeBlinkLeft", Region::Lids),
        ("EyeSquintRight", Region::Lids),
        ("Blink", Region::Lids),
        ("Blink_L", Region::Lids),
        ("CTRL_expressions_eyeWidenL", Region::Lids),
        ("upperLidRaiserLeft", Region::Lids),
        ("EyeLookInLeft", Region::Gaze),
        ("LeftEyeYaw", Region::Gaze),
        ("LookUp", Region::Gaze),
        ("browInnerUp", Region::Brows),
        ("cheekPuff", Region::Cheeks),
        ("NoseSneerLeft", Region::Cheeks),
        ("CTRL_expressions_eyeCheekRaiseL", Region::Cheeks),
        ("jawOpen", Region::Jaw),
        ("CTRL_expressions_jawChinRaiseDL", Region::Mouth),
        ("mouthClose", Region::Mouth),
        ("viseme_RR", Region::Mouth),
        ("A", Region::Mouth),
        ("ou", Region::Mouth),
        ("dimplerLeft", Region::Mouth),
        ("tongueOut", Region::Tongue),
        ("HeadPitch", Region::Head),
        ("Joy", Region::Other),
        ("山田", Region::Other),
    ] {
        assert_eq!(Region::of(name), region, "{name}");
    }
    for (at, region) in Region::ALL.into_iter().enumerate() {
        assert_eq!(region.index(), at);
    }
}

#[test]
fn angles_are_the_nine_rotations() {
    let set = CurveSet::known(SetId::LiveLinkFace);
    let angles: Vec<&str> = set.names().filter(|name| is_angle(name)).collect();
    assert_eq!(angles, arkit::CURVES[52..]);
    assert!(!is_angle("jawOpen"));
}
