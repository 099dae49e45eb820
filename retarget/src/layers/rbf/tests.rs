use hub::Transform;

use super::*;
use crate::{
    Rig,
    layers::testing::{ARM, CHEST, HEAD, SPINE, person},
    math::angle_between,
};

const KERNELS: [RbfKernel; 3] = [RbfKernel::Gaussian, RbfKernel::Linear, RbfKernel::Cubic];

fn joint(part: RbfPart, axis: Vec3) -> RbfJoint {
    RbfJoint {
        bone: "左腕".to_owned(),
        part,
        axis,
    }
}

/// About +X, in degrees.
fn bent(degrees: f32) -> Quat {
    Quat::from_rotation_x(degrees.to_radians())
}

fn sample(degrees: f32, morph: f32) -> RbfSample {
    RbfSample {
        rotations: vec![bent(degrees)],
        morphs: vec![morph],
        helpers: Vec::new(),
    }
}

fn samples() -> [RbfSample; 4] {
    [
        sample(-40.0, 0.2),
        sample(0.0, 0.0),
        sample(35.0, 0.6),
        sample(90.0, 1.0),
    ]
}

fn at(rbf: &mut Rbf, rotation: Quat) -> f32 {
    let mut out = [f32::NAN];
    rbf.evaluate(&[rotation], &mut out);
    out[0]
}

#[test]
fn values_between_samples_agree_with_scipy() {
    // scipy 1.17, RBFInterpolator of the unit vectors at −40°, 0°, 35°, 90°, degree 0, epsilon the reciprocal of the
    // radius 41.25°; negative shares cut, divided by the sum; at −20°, 17°, 60°, 120°.
    let expected = [
        [0.095_156_86, 0.274_825_35, 0.718_569_9, 0.781_905_9],
        [0.1, 0.291_428_57, 0.781_818_2, 1.0],
        [0.088_655_83, 0.274_750_43, 0.669_142_4, 0.691_032_95],
    ];
    // Turned about X, a joint of whatever part is as far apart.
    let parts = [
        joint(RbfPart::Full, Vec3::Y),
        joint(RbfPart::Twist, Vec3::X * 3.0),
        joint(RbfPart::Swing, Vec3::Y),
    ];
    for part in parts {
        for (kernel, expected) in KERNELS.into_iter().zip(expected) {
            let mut rbf = Rbf::new(std::slice::from_ref(&part), &samples(), kernel, None).unwrap();
            assert!((rbf.radius() - 41.25f64.to_radians()).abs() < 1e-5);
            for (degrees, expected) in [-20.0, 17.0, 60.0, 120.0].into_iter().zip(expected) {
                for q in [bent(degrees), -bent(degrees)] {
                    let found = at(&mut rbf, q);
                    assert!(
                        (found - expected).abs() < 1e-4,
                        "{kernel:?} {degrees}: {found}"
                    );
                }
            }
        }
    }
}

#[test]
fn samples_are_exact_and_shares_add_up_to_one() {
    // 64 poses of 8 joints, each with values of its own.
    let pose = |i: usize| -> Vec<Quat> {
        (0..8)
            .map(|k| {
                let (i, k) = (i as f32, k as f32);
                let v = Vec3::new(
                    (1.3 * i + k).sin(),
                    (2.1 * i + 0.7 * k).cos(),
                    (0.9 * i * (k + 1.0) + 2.0).sin(),
                );
                crate::math::exp(v * 0.9)
            })
            .collect()
    };
    let joints: Vec<RbfJoint> = (0..8).map(|_| joint(RbfPart::Full, Vec3::Y)).collect();
    let samples: Vec<RbfSample> = (0..64)
        .map(|i| RbfSample {
            rotations: pose(i),
            morphs: vec![(i as f32 * 0.37).fract(), i as f32 / 64.0],
            helpers: vec![Vec3::new(0.0, 0.01 * i as f32, -0.5)],
        })
        .collect();
    for kernel in KERNELS {
        let mut rbf = Rbf::new(&joints, &samples, kernel, None).unwrap();
        let mut out = [0.0; 5];
        for sample in &samples {
            rbf.evaluate(&sample.rotations, &mut out);
            let helper = sample.helpers[0].to_array();
            for (found, expected) in out.iter().zip(sample.morphs.iter().chain(&helper)) {
                assert!(
                    (found - expected).abs() < 1e-4,
                    "{kernel:?}: {found} {expected}"
                );
            }
        }
        // Anywhere else the values stay in the range of the samples.
        for i in 0..50 {
            rbf.evaluate(&pose(1000 + 7 * i), &mut out);
            assert!((rbf.shares().iter().sum::<f64>() - 1.0).abs() < 1e-9);
            assert!((0.0..=1.0).contains(&out[1]), "{out:?}");
            assert!((out[4] + 0.5).abs() < 1e-5, "{out:?}");
        }
    }
}

#[test]
fn a_twist_does_not_see_a_swing_and_a_swing_no_twist() {
    let two = [sample(0.0, 0.0), sample(90.0, 1.0)];
    let mut twist = Rbf::new(
        &[joint(RbfPart::Twist, Vec3::X)],
        &two,
        RbfKernel::Linear,
        None,
    )
    .unwrap();
    let swung = Quat::from_rotation_z(1.2) * bent(30.0);
    assert!((at(&mut twist, swung) - 1.0 / 3.0).abs() < 1e-4);
    let mut swing = Rbf::new(
        &[joint(RbfPart::Swing, Vec3::Y)],
        &two,
        RbfKernel::Linear,
        None,
    )
    .unwrap();
    let twisted = bent(30.0) * Quat::from_rotation_y(2.0);
    assert!((at(&mut swing, twisted) - 1.0 / 3.0).abs() < 1e-4);
    // What is no rotation counts as rest.
    assert!(at(&mut swing, Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0)).abs() < 1e-4);
}

#[test]
fn what_does_not_determine_its_values_is_refused_in_words() {
    let full = [joint(RbfPart::Full, Vec3::Y)];
    let near = [sample(0.0, 0.0), sample(90.0, 1.0), sample(0.02, 0.5)];
    let fault = Rbf::new(&full, &near, RbfKernel::Gaussian, None).unwrap_err();
    assert!(
        matches!(
            fault,
            RbfFault::TooNear {
                first: 0,
                second: 2,
                ..
            }
        ),
        "{fault}"
    );
    // The condition of four samples at a radius of 50 rad is 2e11 by NumPy, at 5 rad 2e5.
    assert!(Rbf::new(&full, &samples(), RbfKernel::Gaussian, Some(5.0)).is_ok());
    let fault = Rbf::new(&full, &samples(), RbfKernel::Gaussian, Some(50.0)).unwrap_err();
    assert!(fault.to_string().contains("smaller radius"), "{fault}");
    // A twist does not tell two swings apart.
    let swings = [sample(0.0, 0.0), sample(90.0, 1.0)];
    let fault = Rbf::new(
        &[joint(RbfPart::Twist, Vec3::Z)],
        &swings,
        RbfKernel::Linear,
        None,
    );
    assert!(matches!(fault, Err(RbfFault::TooNear { .. })));
}

#[test]
fn what_is_out_of_bounds_is_refused_before_it_is_solved() {
    let full = [joint(RbfPart::Full, Vec3::Y)];
    let new = |joints: &[RbfJoint], samples: &[RbfSample]| {
        Rbf::new(joints, samples, RbfKernel::Linear, None)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        new(&full, &[]),
        "a pose driver has 1 to 64 samples, this one 0"
    );
    let many: Vec<RbfSample> = (0..65).map(|i| sample(i as f32, 0.0)).collect();
    assert_eq!(
        new(&full, &many),
        "a pose driver has 1 to 64 samples, this one 65"
    );
    assert!(new(&[], &many).contains("1 to 8 joints"));
    let mut other = samples();
    other[2].morphs.push(0.5);
    assert_eq!(new(&full, &other), "sample 2 has 2 morphs, expected 1");
    other[2].morphs = vec![f32::NAN];
    assert!(new(&full, &other).starts_with("sample 2 holds"));
    other[2] = sample(35.0, 0.0);
    other[1].rotations = vec![Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)];
    assert!(new(&full, &other).starts_with("sample 1 holds"));
    assert!(new(&[joint(RbfPart::Twist, Vec3::ZERO)], &samples()).contains("axis of joint 0"));
    let fault = Rbf::new(&full, &samples(), RbfKernel::Linear, Some(f32::NAN));
    assert!(matches!(fault, Err(RbfFault::Radius { .. })));
}

const ASSET: &str = r#"
kernel = "linear"
morphs = ["biceps_R", "力こぶ"]
helpers = ["head"]

[[joints]]
bone = "左腕"

[[samples]]
rotations = [[0, 0, 0, 1]]
morphs = [0, 0]
helpers = [[0, 0, 0]]

[[samples]]
rotations = [[0.70710678, 0, 0, 0.70710678]]
morphs = [0.25, 1]
helpers = [[0, 0.8, 0]]
"#;

#[test]
fn an_asset_is_bound_by_name_and_drives_morphs_and_helper_bones() {
    let asset: RbfAsset = toml::from_str(ASSET).unwrap();
    let rest = person();
    // A rig whose arm does not rest at the identity.
    let mut locals = rest.rest().to_vec();
    let arm = Quat::from_rotation_z(0.7);
    let head = Quat::from_rotation_x(-0.2);
    locals[ARM].rotation = arm;
    locals[HEAD].rotation = head;
    let rig = Rig::new(rest.names().to_vec(), rest.parents().to_vec(), locals).unwrap();
    let mut driver = asset.build(&rig, &["力こぶ", "smile", "biceps_R"]).unwrap();
    let mut pose: Vec<Transform> = rig.rest().to_vec();
    pose[ARM].rotation = arm * bent(45.0);
    pose[SPINE].rotation = bent(5.0);
    let mut morphs = [9.0, 0.3, 9.0];
    driver.evaluate(&mut pose, &mut morphs);
    assert!(
        (morphs[0] - 0.5).abs() < 1e-4 && (morphs[2] - 0.125).abs() < 1e-4,
        "{morphs:?}"
    );
    assert_eq!(morphs[1], 0.3);
    assert!(angle_between(pose[HEAD].rotation, head * Quat::from_rotation_y(0.4)) < 1e-4);
    assert_eq!(pose[CHEST], rig.rest()[CHEST]);
    assert!((driver.rbf().shares()[0] - 0.5).abs() < 1e-4);
}

#[test]
fn an_asset_for_another_character_names_what_is_missing() {
    let mut asset: RbfAsset = toml::from_str(ASSET).unwrap();
    let rig = person();
    let fault = asset.build(&rig, &["力こぶ"]).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "the character has no morph target biceps_R"
    );
    asset.helpers = vec!["尾".to_owned()];
    asset.joints[0].bone = "wing".to_owned();
    let fault = asset.build(&rig, &["力こぶ", "biceps_R"]).unwrap_err();
    assert_eq!(fault.to_string(), "the skeleton has no bone wing, 尾");
    asset.helpers = vec!["head".to_owned()];
    asset.joints[0].bone = "head".to_owned();
    let fault = asset.build(&rig, &["力こぶ", "biceps_R"]).unwrap_err();
    assert_eq!(fault.to_string(), "bone head drives and is driven");
    asset.joints[0].bone = "spine".to_owned();
    asset.morphs.pop();
    let fault = asset.build(&rig, &["力こぶ", "biceps_R"]).unwrap_err();
    assert_eq!(fault.to_string(), "sample 0 has 2 morphs, expected 1");
    assert!(
        toml::from_str::<RbfAsset>("kernal = \"linear\"\njoints = []\nsamples = []\n").is_err()
    );
}
