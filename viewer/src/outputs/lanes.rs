//! The subjects of one output, as they are now: which there are, under which names they go, how they are.
//!
//! The hub's lock is held only to look and to copy; names, patterns and encoding are outside it.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use hub::{
    FrameData, FrameMeta, FrameRate, QualifiedFrameTime, StaticData, SubjectKey, SubjectName,
    WorldTime,
    client::{At, Client, Evaluated, Evaluation, Quality, SubjectId},
    virtuals::nearest,
};

use super::{
    StageView,
    pace::Limiter,
    select::Patterns,
    sender::{Encoder, Sender},
    stats::Missing,
};

/// Subjects evaluated while the lock is held once.
const PER_LOCK: usize = 32;

/// One subject on its way out.
pub(super) struct Lane {
    pub(super) key: SubjectKey,
    id: SubjectId,
    /// Generation of the static data in the client.
    client_generation: u32,
    pub(super) statics: Arc<StaticData>,
    /// Generation on this output, from 1.
    pub(super) generation: u32,
    /// Number on this output; no other subject ever has it.
    pub(super) number: u32,
    /// Whether this kind of output has anything to say of it.
    pub(super) fits: bool,
    /// Under which name it is sent; `None` when it is not.
    pub(super) name: Option<SubjectName>,
    /// What was announced last: name and generation.
    pub(super) announced: Option<(SubjectName, u32)>,
    pub(super) is_paused: bool,
    /// Meta data and values, live.
    pub(super) live: Evaluated,
    pub(super) answer: Evaluation,
    /// Whether `live` ever held values that fit the static data.
    pub(super) has_values: bool,
    /// The pose at the moment of the pause.
    pub(super) frozen: Option<FrameData>,
    /// Meta data as sent, where it differs from live.
    pub(super) meta: FrameMeta,
    pub(super) limiter: Limiter,
    pub(super) encoder: Encoder,
}

/// All subjects of an output, in the order in which the hub has them.
pub(super) struct Lanes {
    select: Patterns,
    max_rate: FrameRate,
    list: Vec<Lane>,
    by_key: HashMap<SubjectKey, usize>,
    /// What the client had at the last look: place, generation, and whether it plays under its name.
    seen: Vec<(SubjectId, u32, bool)>,
    /// Announced subjects that went away: name and number.
    gone: Vec<(SubjectName, u32)>,
    next_number: u32,
    missing: Vec<Missing>,
    clashing: Vec<String>,
}

/// A subject in the client.
struct Found {
    key: SubjectKey,
    id: SubjectId,
    generation: u32,
    statics: Arc<StaticData>,
}

impl Lanes {
    pub(super) fn new(select: Patterns, max_rate: FrameRate) -> Self {
        let missing = missing(&select, &[]);
        Self {
            select,
            max_rate,
            list: Vec::new(),
            by_key: HashMap::new(),
            seen: Vec::new(),
            gone: Vec::new(),
            next_number: 0,
            missing,
            clashing: Vec::new(),
        }
    }

    /// Looks which subjects there are. Costs little when nothing changed.
    pub(super) fn refresh(&mut self, view: &dyn StageView, sender: &Sender) {
        let (seen, mut found) = (&mut self.seen, None);
        view.with_client(&mut |client| {
            if !is_as_seen(client, seen) {
                found = Some(look(client, seen));
            }
        });
        if let Some(found) = found {
            self.take(found, sender);
        }
    }

    fn take(&mut self, found: Vec<Found>, sender: &Sender) {
        let names: Vec<&str> = found.iter().map(|f| f.key.name.as_str()).collect();
        self.missing = missing(&self.select, &names);
        let mut before: HashMap<SubjectKey, Lane> =
            self.list.drain(..).map(|l| (l.key.clone(), l)).collect();
        for found in found {
            if !self.select.matches(found.key.name.as_str()) {
                continue;
            }
            let lane = match before.remove(&found.key) {
                Some(mut lane) => {
                    lane.become_like(found, sender);
                    lane
                }
                None => self.new_lane(found, sender),
            };
            self.list.push(lane);
        }
        let mut gone: Vec<Lane> = before.into_values().collect();
        gone.sort_by_key(|lane| lane.number);
        let announced = |lane: Lane| Some((lane.announced?.0, lane.number));
        self.gone.extend(gone.into_iter().filter_map(announced));
        let places = self.list.iter().enumerate();
        self.by_key = places.map(|(at, lane)| (lane.key.clone(), at)).collect();
    }

    fn new_lane(&mut self, found: Found, sender: &Sender) -> Lane {
        let number = self.next_number;
        self.next_number = self.next_number.wrapping_add(1);
        Lane {
            fits: sender.fits(&found.statics),
            encoder: sender.encoder(&found.key),
            key: found.key,
            id: found.id,
            client_generation: found.generation,
            statics: found.statics,
            generation: 1,
            number,
            name: None,
            announced: None,
            is_paused: false,
            live: Evaluated::default(),
            answer: Evaluation::default(),
            has_values: false,
            frozen: None,
            meta: FrameMeta::default(),
            limiter: Limiter::new(self.max_rate),
        }
    }

    /// Asks under which name each subject goes, and whether. With `is_on` false none goes.
    pub(super) fn apply_outbound(&mut self, view: &dyn StageView, is_on: bool) {
        // A clash may be over without any name that changed.
        let mut is_changed = !self.clashing.is_empty();
        for lane in &mut self.list {
            let outbound = view.outbound(&lane.key);
            let is_sent = is_on && outbound.enabled && lane.fits;
            lane.is_paused = outbound.paused;
            if !lane.is_paused {
                lane.frozen = None;
            }
            let name = outbound.name.as_ref().unwrap_or(&lane.key.name);
            let name = is_sent.then_some(name);
            if lane.name.as_ref() != name {
                lane.name = name.cloned();
                is_changed = true;
            }
        }
        // A lane that was left out for its name comes back here too: its name differs from what it should be.
        if is_changed {
            self.clashing.clear();
            let mut taken = HashSet::new();
            for lane in &mut self.list {
                if let Some(name) = &lane.name
                    && !taken.insert(name.clone())
                {
                    self.clashing.push(lane.key.to_string());
                    lane.name = None;
                }
            }
        }
    }

    /// Evaluates every subject that is sent, as of a time.
    pub(super) fn evaluate(&mut self, view: &dyn StageView, ask: At, now: WorldTime) {
        for lanes in self.list.chunks_mut(PER_LOCK) {
            view.with_client(&mut |client| {
                for lane in lanes.iter_mut().filter(|l| l.name.is_some()) {
                    lane.answer = client.evaluate_at(lane.id, ask, now, &mut lane.live);
                    // Static data changed since the last look: the next tick has both.
                    if lane.answer.generation != lane.client_generation {
                        lane.answer = Evaluation::default();
                    }
                    lane.has_values |= lane.answer.quality != Quality::None;
                }
            });
        }
    }

    pub(super) fn list(&self) -> &[Lane] {
        &self.list
    }

    pub(super) fn list_mut(&mut self) -> &mut [Lane] {
        &mut self.list
    }

    pub(super) fn of(&mut self, key: &SubjectKey) -> Option<&mut Lane> {
        let at = *self.by_key.get(key)?;
        self.list.get_mut(at)
    }

    pub(super) fn drain_gone(&mut self) -> impl Iterator<Item = (SubjectName, u32)> {
        self.gone.drain(..)
    }

    pub(super) fn missing(&self) -> &[Missing] {
        &self.missing
    }

    pub(super) fn clashing(&self) -> &[String] {
        &self.clashing
    }
}

impl Lane {
    /// Takes over what the client has of the same subject.
    fn become_like(&mut self, found: Found, sender: &Sender) {
        self.id = found.id;
        self.client_generation = found.generation;
        if Arc::ptr_eq(&self.statics, &found.statics) || self.statics == found.statics {
            self.statics = found.statics;
            return;
        }
        self.fits = sender.fits(&found.statics);
        self.statics = found.statics;
        self.generation = self.generation.wrapping_add(1);
        // Poses of the old bones say nothing of the new ones.
        self.has_values = false;
        self.frozen = None;
        self.answer = Evaluation::default();
    }
}

fn is_as_seen(client: &Client, seen: &[(SubjectId, u32, bool)]) -> bool {
    let mut now = states(client);
    seen.iter()
        .all(|before| now.next().as_ref() == Some(before))
        && now.next().is_none()
}

fn states(client: &Client) -> impl Iterator<Item = (SubjectId, u32, bool)> {
    client.subjects().filter_map(move |subject| {
        let key = subject.key();
        let id = client.find(key)?;
        let plays = client.find_name(&key.name) == Some(id);
        Some((id, subject.generation(), plays))
    })
}

/// Those that play under their name.
fn look(client: &Client, seen: &mut Vec<(SubjectId, u32, bool)>) -> Vec<Found> {
    seen.clear();
    seen.extend(states(client));
    let playing = seen.iter().filter(|(_, _, plays)| *plays);
    let found = playing.filter_map(|(id, generation, _)| {
        let subject = client.view(*id)?;
        Some(Found {
            key: subject.key().clone(),
            id: *id,
            generation: *generation,
            statics: Arc::clone(subject.statics()),
        })
    });
    found.collect()
}

fn missing(select: &Patterns, names: &[&str]) -> Vec<Missing> {
    let absent = select.names().filter(|wanted| !names.contains(wanted));
    let missing = absent.map(|wanted| Missing {
        name: wanted.to_owned(),
        nearest: nearest(wanted, names.iter().copied()).map(str::to_owned),
    });
    missing.collect()
}

/// Timecode of what was evaluated: that of the earlier frame, and on from there by as much as the values are
/// later. Between two frames that is their share, in frames: consecutive frames are one apart.
pub(super) fn timecode_of(
    frame: Option<QualifiedFrameTime>,
    quality: Quality,
) -> Option<QualifiedFrameTime> {
    let frame = frame?;
    let later_nanos = match quality {
        Quality::Blended { weight, .. } => f64::from(weight) * 1e9 / frame.rate.hertz(),
        Quality::Held { since_secs, .. } | Quality::Stale { since_secs, .. } => since_secs * 1e9,
        Quality::Exact { .. } | Quality::Early { .. } | Quality::None => return Some(frame),
    };
    let nanos = frame.as_nanos().saturating_add(later_nanos as i64);
    let mut time = QualifiedFrameTime::from_nanos(nanos, frame.rate, frame.drop);
    time.frame = time.frame.rem_euclid(frame.rate.frames_per_day(frame.drop));
    Some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timecode_goes_on_with_the_values() {
        let day = 24 * 3600 * 60;
        let frame = QualifiedFrameTime::whole(day - 1, FrameRate::FPS_60);
        let at = |quality| timecode_of(Some(frame), quality).unwrap();
        let exact = at(Quality::Exact { frame: 7 });
        assert_eq!(exact, frame);
        let half = at(Quality::Blended {
            from: 1,
            to: 2,
            weight: 0.5,
        });
        assert_eq!(half.frame, day - 1);
        assert!((half.sub_frame - 0.5).abs() < 1e-3, "{half}");
        // A second and a half later it is past midnight: 90 frames on, less the one.
        let held = at(Quality::Held {
            frame: 7,
            since_secs: 1.5,
        });
        assert_eq!(held.frame, 89);
        assert!(held.sub_frame < 1e-3, "{held}");
        assert_eq!(timecode_of(None, Quality::None), None);
    }
}
