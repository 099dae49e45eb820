//! Claps in motion: the hands come together fast, and stop.

use glam::Vec3;

use super::Clap;

/// Hands (wrists) further apart than this, in metres, do not clap.
const NEAR_M: f32 = 0.4;
/// They come together at least this fast, in metres per second.
const CLOSING: f64 = 1.0;
/// That much of it is gone the moment after.
const STOPPED: f64 = 0.6;
/// Looked at on each side of the nearest frame, in seconds.
const SPAN_SECS: f64 = 0.1;
/// Claps are this far apart, in seconds.
const APART_SECS: f64 = 0.1;

/// Claps of two hands, in time order. `times_s` in seconds, rising; `left` and `right` the positions of
/// the wrists or palms in metres, in one space. As many of each are looked at as the shortest list has.
///
/// Speed comes from the frames before the hands meet, the moment from where that speed would have
/// brought them: finer than a frame, where the hands do not come apart at once.
pub fn hands_clap(times_s: &[f64], left: &[Vec3], right: &[Vec3]) -> Vec<Clap> {
    let points: Vec<(f64, f64)> = times_s
        .iter()
        .zip(left.iter().zip(right))
        .filter(|(t, (l, r))| t.is_finite() && l.is_finite() && r.is_finite())
        .map(|(t, (l, r))| (*t, f64::from(l.distance(*r))))
        .collect();
    let mut claps: Vec<Clap> = Vec::new();
    for at in 1..points.len().saturating_sub(1) {
        let Some(clap) = clap_at(&points, at) else {
            continue;
        };
        match claps.last_mut() {
            Some(last) if clap.time_s - last.time_s < APART_SECS => {
                if clap.strength > last.strength {
                    *last = clap;
                }
            }
            _ => claps.push(clap),
        }
    }
    claps
}

/// The clap whose nearest frame is `at`.
fn clap_at(points: &[(f64, f64)], at: usize) -> Option<Clap> {
    let (time, nearest) = *points.get(at)?;
    let (time_before, before) = *points.get(at - 1)?;
    let (_, after) = *points.get(at + 1)?;
    // The first frame of a flat bottom counts.
    if nearest > f64::from(NEAR_M) || before <= nearest || after < nearest {
        return None;
    }
    // The frames before the last one, in which the hands may have met already.
    let closing = points
        .get(..at)?
        .windows(2)
        .rev()
        .take_while(|w| w.first().is_some_and(|(t, _)| time - t <= SPAN_SECS))
        .filter_map(speed)
        .fold(f64::NEG_INFINITY, |most, v| most.max(-v));
    // At low rates there may be but one step.
    let last_step = -speed(&[(time_before, before), (time, nearest)])?;
    let closing = closing.max(last_step);
    let (after_time, after_distance) = points
        .get(at + 1..)?
        .iter()
        .take_while(|(t, _)| t - time <= SPAN_SECS)
        .last()
        .or_else(|| points.get(at + 1))?;
    let parting = (after_distance - nearest) / (after_time - time).max(1e-6);
    let stopped = closing + parting.min(closing);
    if closing < CLOSING || parting < -(1.0 - STOPPED) * closing {
        return None;
    }
    let met = time_before + (before - nearest) / closing;
    Some(Clap {
        time_s: met.clamp(time_before, time),
        strength: stopped,
    })
}

/// Metres per second between two points; `None` when time stands.
fn speed(pair: &[(f64, f64)]) -> Option<f64> {
    let [(t0, d0), (t1, d1)] = pair else {
        return None;
    };
    (t1 > t0).then(|| (d1 - d0) / (t1 - t0))
}
