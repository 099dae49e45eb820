use glam::Vec3;

use super::*;

const RATE: u32 = 48_000;

/// A plain generator of numbers in −1..1 (Numerical Recipes, 3rd ed., 7.1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0) as f32
    }
}

/// Mixes a clap into `samples`: noise that decays within 2 ms, then a room of `reverb_secs` at half its energy.
fn mix_clap(samples: &mut [f32], rate: u32, time_s: f64, level: f32, reverb_secs: f64) {
    let mut random = Random(3);
    let at = (time_s * f64::from(rate)) as usize;
    let room = reverb_secs * f64::from(rate);
    for n in 0..(room as usize) {
        let n_f = n as f64;
        let head = (-n_f / (0.002 * f64::from(rate))).exp();
        // −60 dB at the end of the room's time; 0.1 makes about half the head's energy at 0.4 s.
        let tail = 0.1 * (-6.9 * n_f / room).exp();
        let Some(sample) = samples.get_mut(at + n) else {
            return;
        };
        *sample += level * random.next() * (head + tail) as f32;
    }
}

/// A voice of a kind: pulses through a slow filter, swelling four times a second, with hisses between.
fn voice(secs: f64) -> Vec<f32> {
    let mut random = Random(9);
    let mut low = 0.0f32;
    (0..(secs * f64::from(RATE)) as usize)
        .map(|n| {
            let t = n as f64 / f64::from(RATE);
            let swell = (std::f64::consts::TAU * 4.0 * t).sin().max(0.0) as f32;
            let hiss = (std::f64::consts::TAU * 4.0 * t).sin().min(0.0).abs() as f32;
            let pulse = if n.is_multiple_of(400) { 8.0 } else { 0.0 };
            low += 0.1 * (pulse - low);
            0.4 * swell * low + 0.02 * hiss * random.next()
        })
        .collect()
}

const AT: [f64; 4] = [1.0, 2.37, 3.11, 5.52];

#[test]
fn claps_in_speech_are_found_within_a_millisecond_and_speech_alone_has_none() {
    let mut samples = voice(7.0);
    assert!(find_claps(&samples, RATE).is_empty());
    for at in AT {
        mix_clap(&mut samples, RATE, at, 0.9, 0.4);
    }
    let claps = find_claps(&samples, RATE);
    assert_eq!(claps.len(), AT.len(), "{claps:?}");
    for (clap, at) in claps.iter().zip(AT) {
        assert!((clap.time_s - at).abs() < 0.001, "{claps:?}");
        assert!(clap.strength > 13.0);
    }
}

#[test]
fn silence_tones_and_nonsense_have_no_claps() {
    assert!(find_claps(&[], RATE).is_empty());
    assert!(find_claps(&vec![0.0; 48_000], RATE).is_empty());
    assert!(find_claps(&vec![f32::NAN; 48_000], RATE).is_empty());
    assert!(find_claps(&voice(1.0), 0).is_empty());
    // A tone that begins at once and stays is an onset, but no clap.
    let tone: Vec<f32> = (0..96_000)
        .map(|n| {
            let on = if n > 48_000 { 0.5 } else { 0.0 };
            on * (f64::from(n) * 0.13).sin() as f32
        })
        .collect();
    assert!(find_claps(&tone, RATE).is_empty());
}

/// Wrists that clap at `at`: they come together at 3 m/s from 0.8 m to 0.1 m, stay 80 ms, and part.
fn hands(fps: f64, secs: f64, at: &[f64]) -> (Vec<f64>, Vec<Vec3>, Vec<Vec3>) {
    let times: Vec<f64> = (0..(secs * fps) as usize).map(|n| n as f64 / fps).collect();
    let distance = |t: f64| {
        at.iter()
            .map(|c| {
                let before = 0.1 + 3.0 * (c - t).max(0.0);
                let after = 0.1 + 1.0 * (t - c - 0.08).max(0.0);
                before.max(after)
            })
            .fold(0.8, f64::min)
    };
    let half = |side: f64| {
        times
            .iter()
            .map(|t| Vec3::new((side * distance(*t) / 2.0) as f32, 1.2, 0.3))
            .collect()
    };
    // The character's left is +X.
    (times.clone(), half(1.0), half(-1.0))
}

#[test]
fn hands_clap_where_they_stop() {
    for fps in [30.0, 60.0, 100.0] {
        let (times, left, right) = hands(fps, 7.0, &AT);
        let claps = hands_clap(&times, &left, &right);
        assert_eq!(claps.len(), AT.len(), "{fps}: {claps:?}");
        for (clap, at) in claps.iter().zip(AT) {
            assert!((clap.time_s - at).abs() < 1.0 / fps, "{fps}: {claps:?}");
            assert!((clap.strength - 3.0).abs() < 1.2, "{claps:?}");
        }
        // Which hand is which does not matter.
        assert_eq!(hands_clap(&times, &right, &left), claps);
    }
}

#[test]
fn slow_hands_and_distant_hands_do_not_clap() {
    let times: Vec<f64> = (0..600).map(|n| f64::from(n) / 60.0).collect();
    let swing = |centre: f64, reach: f64, pace: f64| -> Vec<Vec3> {
        times
            .iter()
            .map(|t| {
                let x = centre + reach * (std::f64::consts::TAU * pace * t).cos();
                Vec3::new(x as f32, 1.0, 0.0)
            })
            .collect()
    };
    let still = vec![Vec3::ZERO.with_y(1.0); times.len()];
    // Touched gently, once a second; and fast, but half a metre away.
    assert!(hands_clap(&times, &swing(0.2, 0.1, 1.0), &still).is_empty());
    assert!(hands_clap(&times, &swing(1.0, 0.5, 2.0), &still).is_empty());
    let lost = vec![Vec3::NAN; times.len()];
    assert!(hands_clap(&times, &lost, &still).is_empty());
    assert!(hands_clap(&[], &[], &[]).is_empty());
}

#[test]
fn sound_and_motion_align_within_a_frame() {
    // The recorder of the sound began 12.345 s before the motion.
    const LAG: f64 = 12.345;
    let mut samples = voice(20.0);
    let heard: Vec<f64> = AT.iter().map(|t| t + LAG).collect();
    for at in &heard {
        mix_clap(&mut samples, RATE, *at, 0.9, 0.4);
    }
    let (times, left, right) = hands(60.0, 7.0, &AT);
    let seconds = |claps: Vec<Clap>| -> Vec<f64> { claps.iter().map(|c| c.time_s).collect() };
    let sound = seconds(find_claps(&samples, RATE));
    let motion = seconds(hands_clap(&times, &left, &right));
    let offset = align(&sound, &motion).unwrap();
    assert_eq!(offset.matched, 4);
    assert!((offset.seconds - LAG).abs() < 1.0 / 60.0, "{offset:?}");
    assert!(offset.spread < 1.0 / 60.0);
}

#[test]
fn what_is_missing_and_what_is_too_much_does_not_matter() {
    let a = [10.0, 11.37, 12.11, 14.52];
    // 5 s earlier; one missing, two that were no claps, in no order.
    let b = [9.52, 5.0, 6.37, 3.333, 8.9];
    let offset = align(&a, &b).unwrap();
    assert_eq!(offset.matched, 3);
    assert!((offset.seconds - 5.0).abs() < 1e-9 && offset.spread < 1e-9);
    // b onto a; the other way round it is the opposite.
    let back = align(&b, &a).unwrap();
    assert!((back.seconds + 5.0).abs() < 1e-9);
}

#[test]
fn a_doubtful_offset_is_none() {
    // Evenly spaced claps fit at two places.
    assert_eq!(align(&[0.0, 1.0, 2.0], &[0.0, 1.0]), None);
    // One among several.
    assert_eq!(align(&[0.0, 1.7], &[0.0]), None);
    assert_eq!(align(&[], &[1.0]), None);
    assert_eq!(align(&[f64::NAN], &[1.0]), None);
    // One on each side is a slate.
    let slate = align(&[3.5], &[1.25]).unwrap();
    assert_eq!((slate.seconds, slate.matched), (2.25, 1));
}

/// Recorded and synthetic speech: samples/audio of the folder in `GHOSTLIGHT_SAMPLES`.
#[test]
#[ignore = "needs the folder of samples"]
fn claps_mixed_into_recorded_speech_are_found() {
    let folder = std::env::var_os("GHOSTLIGHT_SAMPLES").expect("the folder of samples");
    let folder = std::path::Path::new(&folder).join("audio");
    let (mut clips, mut mixed, mut found) = (0, 0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "wav") {
            continue;
        }
        clips += 1;
        let mut reader = crate::audio::wav::WavReader::open(&path).unwrap();
        let rate = reader.spec().sample_rate;
        let mut speech = Vec::new();
        reader.read(usize::MAX, &mut speech).unwrap();
        assert!(find_claps(&speech, rate).is_empty(), "{}", path.display());
        let secs = speech.len() as f64 / f64::from(rate);
        for reverb in [0.15, 0.4, 0.8] {
            let mut samples = speech.clone();
            let mut at = Vec::new();
            let mut next = 0.35;
            while next < secs - 0.2 {
                at.push(next);
                mix_clap(&mut samples, rate, next, 1.0, reverb);
                next += 1.37;
            }
            let claps = find_claps(&samples, rate);
            let near = |clap: &Clap| at.iter().any(|a| (clap.time_s - a).abs() < 0.002);
            assert!(claps.iter().all(near), "{}: {claps:?}", path.display());
            mixed += at.len();
            found += claps.len();
        }
    }
    assert_eq!(clips, 8);
    assert!(found * 100 >= mixed * 85, "{found} of {mixed}");
}
