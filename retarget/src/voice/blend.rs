//! A voice over a tracked face.

use super::{CURVES, VoiceFrame, curve};
use crate::face::curve_key;

/// Which curve of a voice is which of a face. Built once by name, used each frame.
///
/// With `k` = weight · activity of the voice, so that a silent voice leaves the face alone:
///
/// ```text
/// JawOpen      the larger of the tracked one and k · that of the voice: either may open the mouth
/// MouthClose   tracked · (1 − k) + k · the part of the voice's jaw that its lips close · JawOpen, at most JawOpen
/// the others   tracked · (1 − k) + k · voice
/// ```
///
/// Curves that a voice has not (eyes, brows, cheeks, nose, smile, frown, sideways) are not touched.
///
/// ```
/// use retarget::voice::{CURVES, VoiceBlend, VoiceFrame};
///
/// let blend = VoiceBlend::build(&["browInnerUp", "jawOpen"]);
/// assert_eq!(blend.unbound(), &CURVES[1..]);
/// let mut curves = [0.0; 15];
/// curves[0] = 0.6;
/// let frame = VoiceFrame { level_dbfs: -20.0, activity: 1.0, visemes: [0.0; 15], curves };
/// let mut tracked = [0.7, 0.2];
/// blend.blend(&mut tracked, &frame, 0.5);
/// assert_eq!(tracked, [0.7, 0.3]);
/// ```
#[derive(Clone, Debug)]
pub struct VoiceBlend {
    /// Index in the face of each of [`CURVES`].
    at: [Option<usize>; CURVES.len()],
    unbound: Vec<&'static str>,
}

impl VoiceBlend {
    /// `names` are those of the curves that [`blend`](Self::blend) will get, in that order, in any usual spelling
    /// ([`curve_key`]). The first of equal names is taken.
    pub fn build(names: &[&str]) -> Self {
        let keys: Vec<String> = names.iter().map(|n| curve_key(n)).collect();
        let at = CURVES.map(|name| keys.iter().position(|key| *key == curve_key(name)));
        let unbound = CURVES
            .into_iter()
            .zip(at)
            .filter(|(_, at)| at.is_none())
            .map(|(name, _)| name)
            .collect();
        Self { at, unbound }
    }

    /// Curves of a voice that the face has not.
    pub fn unbound(&self) -> &[&'static str] {
        &self.unbound
    }

    /// Lays the mouth of `frame` over `tracked`; `weight` 0..=1 is how much the voice counts. A curve that
    /// is not there, as in a shorter slice, is left out.
    pub fn blend(&self, tracked: &mut [f32], frame: &VoiceFrame, weight: f32) {
        let k = weight * frame.activity;
        let k = if k.is_finite() {
            k.clamp(0.0, 1.0)
        } else {
            0.0
        };
        let voice_jaw = frame.curves[curve::JAW_OPEN];
        let closed = if voice_jaw > 1e-4 {
            (frame.curves[curve::MOUTH_CLOSE] / voice_jaw).clamp(0.0, 1.0)
        } else {
            0.0
        };
        // Without a jaw in the face, that of the voice is what the lips close.
        let mut jaw = k * voice_jaw;
        for (i, at) in self.at.iter().enumerate() {
            let Some(value) = at.and_then(|at| tracked.get_mut(at)) else {
                continue;
            };
            *value = match i {
                // First of all, so that the lips know it.
                curve::JAW_OPEN => {
                    jaw = value.max(k * voice_jaw);
                    jaw
                }
                curve::MOUTH_CLOSE => {
                    let lips = *value * (1.0 - k) + k * closed * jaw;
                    if k > 0.0 { lips.min(jaw) } else { *value }
                }
                _ => *value * (1.0 - k) + k * frame.curves[i],
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(jaw: f32, close: f32, pucker: f32, activity: f32) -> VoiceFrame {
        let mut curves = [0.0; CURVES.len()];
        curves[curve::JAW_OPEN] = jaw;
        curves[curve::MOUTH_CLOSE] = close;
        curves[curve::MOUTH_PUCKER] = pucker;
        VoiceFrame {
            level_dbfs: -20.0,
            activity,
            visemes: [0.0; 15],
            curves,
        }
    }

    const NAMES: [&str; 5] = [
        "eyeBlink_L",
        "mouthClose",
        "jawOpen",
        "mouthPucker",
        "mouthSmile_R",
    ];

    #[track_caller]
    fn check(tracked: [f32; 5], frame: &VoiceFrame, weight: f32, wanted: [f32; 5]) {
        let mut curves = tracked;
        VoiceBlend::build(&NAMES).blend(&mut curves, frame, weight);
        for (have, wanted) in curves.iter().zip(wanted) {
            assert!((have - wanted).abs() < 1e-6, "{curves:?} {wanted:?}");
        }
    }

    #[test]
    fn the_mouth_is_the_voices_and_the_rest_the_trackers() {
        check(
            [0.5, 0.0, 0.1, 0.8, 0.3],
            &frame(0.6, 0.0, 0.2, 1.0),
            1.0,
            [0.5, 0.0, 0.6, 0.2, 0.3],
        );
    }

    #[test]
    fn a_silent_voice_leaves_the_face_alone() {
        let tracked = [0.5, 0.4, 0.1, 0.8, 0.3];
        check(tracked, &frame(0.6, 0.6, 0.2, 0.0), 1.0, tracked);
        check(tracked, &frame(0.6, 0.6, 0.2, 1.0), 0.0, tracked);
        check(tracked, &frame(0.6, 0.6, 0.2, 1.0), f32::NAN, tracked);
    }

    #[test]
    fn the_wider_jaw_counts_and_the_lips_close_all_of_it() {
        // The voice closes all of its jaw of 0.2, so the lips close the tracked 0.5 as well.
        check(
            [0.0, 0.0, 0.5, 0.0, 0.0],
            &frame(0.2, 0.2, 0.0, 1.0),
            1.0,
            [0.0, 0.5, 0.5, 0.0, 0.0],
        );
        // By half: jaw 0.5, lips half of it.
        check(
            [0.0, 0.0, 0.5, 0.4, 0.0],
            &frame(0.2, 0.2, 0.0, 0.5),
            1.0,
            [0.0, 0.25, 0.5, 0.2, 0.0],
        );
    }

    #[test]
    fn every_curve_of_a_voice_is_one_of_arkit() {
        let blend = VoiceBlend::build(&hub::arkit::CURVES);
        assert!(blend.unbound().is_empty(), "{:?}", blend.unbound());
    }
}
