//! The client: takes what sources push, keeps it in time order, answers at any time.
//!
//! Each subject has a *generation* of static data. Changed static data starts a new one and empties the
//! buffer; equal static data pushed again changes nothing. Of several sources that push the same subject
//! *name*, the first plays; the others are kept, marked as a conflict, and never take over by themselves.

mod buffer;
mod evaluation;
mod interpolate;
mod settings;
mod stream;
mod timeline;

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

pub use evaluation::{At, Evaluated, Evaluation, Quality};
pub use interpolate::{blend_towards, slerp};
pub use settings::{ClientLimits, SourceSettings, StallPolicy};

use crate::{
    error::{Refusal, StaticFault},
    frame_data::{FrameData, FrameMeta},
    health::{Counts, Latency, SubjectState},
    role::Role,
    static_data::StaticData,
    subject::{SourceId, SubjectKey, SubjectName},
    time::WorldTime,
    timecode::QualifiedFrameTime,
};

use stream::Stream;

/// What static data did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaticOutcome {
    /// The subject is new.
    New {
        /// Another source already plays that name; this subject is kept aside.
        conflict: bool,
    },
    /// Names, hierarchy or role changed: a new generation began.
    Changed,
    /// Equal to what was there: nothing happened.
    Unchanged,
}

/// What a frame did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushOutcome {
    /// It is in the buffer.
    Taken {
        /// It came after a later one and was put in its place.
        reordered: bool,
    },
    /// It was there already.
    Duplicate,
    /// Too old to be put anywhere.
    Late,
    /// Not acceptable; [`Refusal::NoStatic`] when no static data has come for that subject.
    Refused(Refusal),
}

/// A subject's place in the client, stable until it is removed. Saves the look-up by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubjectId {
    index: u32,
    epoch: u32,
}

#[derive(Debug)]
struct Entry {
    epoch: u32,
    stream: Option<Box<Stream>>,
}

/// Buffers and evaluates subjects. Pure: every method that needs the time is told it.
#[derive(Debug, Default)]
pub struct Client {
    entries: Vec<Entry>,
    free: Vec<u32>,
    by_key: HashMap<SubjectKey, SubjectId>,
    /// The subject that plays under a name.
    by_name: HashMap<SubjectName, SubjectId>,
    settings: HashMap<SourceId, SourceSettings>,
    default_settings: Option<SourceSettings>,
    limits: ClientLimits,
    unknown_frames: u64,
}

static DEFAULT_SETTINGS: LazyLock<SourceSettings> = LazyLock::new(SourceSettings::default);

/// A look at one subject.
#[derive(Clone, Copy)]
pub struct SubjectView<'a> {
    stream: &'a Stream,
}

impl Client {
    /// A client with other bounds than the default.
    pub fn with_limits(limits: ClientLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Settings for sources that have none of their own.
    pub fn set_default_settings(&mut self, settings: SourceSettings) {
        let settings = settings.sanitized();
        self.default_settings = Some(settings);
        for stream in self
            .entries
            .iter_mut()
            .filter_map(|e| e.stream.as_deref_mut())
        {
            if !self.settings.contains_key(&stream.key.source) {
                stream.settings = settings;
            }
        }
    }

    /// Settings of one source.
    pub fn set_settings(&mut self, source: SourceId, settings: SourceSettings) {
        let settings = settings.sanitized();
        for stream in self
            .entries
            .iter_mut()
            .filter_map(|e| e.stream.as_deref_mut())
        {
            if stream.key.source == source {
                stream.settings = settings;
            }
        }
        self.settings.insert(source, settings);
    }

    /// Settings of one subject alone, until its source's are set again. Returns false when there is none.
    pub fn set_subject_settings(&mut self, key: &SubjectKey, settings: SourceSettings) -> bool {
        match self.find(key).and_then(|id| self.stream_mut(id)) {
            Some(stream) => {
                stream.settings = settings.sanitized();
                true
            }
            None => false,
        }
    }

    /// The settings in force for a source.
    pub fn settings(&self, source: &SourceId) -> &SourceSettings {
        self.settings
            .get(source)
            .or(self.default_settings.as_ref())
            .unwrap_or(&DEFAULT_SETTINGS)
    }

    fn stream(&self, id: SubjectId) -> Option<&Stream> {
        let entry = self.entries.get(id.index as usize)?;
        (entry.epoch == id.epoch).then_some(entry.stream.as_deref())?
    }

    fn stream_mut(&mut self, id: SubjectId) -> Option<&mut Stream> {
        let entry = self.entries.get_mut(id.index as usize)?;
        if entry.epoch != id.epoch {
            return None;
        }
        entry.stream.as_deref_mut()
    }

    /// Takes static data.
    ///
    /// # Errors
    /// When the data contradicts itself or the hub is full; nothing changes then.
    pub fn push_static(
        &mut self,
        key: &SubjectKey,
        statics: &StaticData,
        now: WorldTime,
    ) -> Result<StaticOutcome, StaticFault> {
        if let Some(id) = self.by_key.get(key).copied()
            && let Some(stream) = self.stream_mut(id)
        {
            if *stream.statics == *statics {
                return Ok(StaticOutcome::Unchanged);
            }
            statics.validate()?;
            stream.replace_statics(statics.clone());
            return Ok(StaticOutcome::Changed);
        }
        statics.validate()?;
        if self.by_key.len() >= self.limits.max_subjects {
            self.forget_longest_gone(now);
        }
        if self.by_key.len() >= self.limits.max_subjects {
            return Err(StaticFault::TooManySubjects {
                limit: self.limits.max_subjects,
            });
        }
        // Also when nobody plays that name but another subject waits for it: only the operator decides.
        let conflict = self.by_key.keys().any(|k| k.name == key.name);
        let settings = *self.settings(&key.source);
        let stream = Stream::new(key.clone(), statics.clone(), now, conflict, settings);
        let stream = Box::new(stream);
        let id = if let Some(index) = self.free.pop() {
            let entry = &mut self.entries[index as usize];
            entry.stream = Some(stream);
            SubjectId {
                index,
                epoch: entry.epoch,
            }
        } else {
            self.entries.push(Entry {
                epoch: 0,
                stream: Some(stream),
            });
            SubjectId {
                index: (self.entries.len() - 1) as u32,
                epoch: 0,
            }
        };
        self.by_key.insert(key.clone(), id);
        if !conflict {
            self.by_name.insert(key.name.clone(), id);
        }
        Ok(StaticOutcome::New { conflict })
    }

    /// The subject's place, for [`Self::push_frame_at`].
    pub fn find(&self, key: &SubjectKey) -> Option<SubjectId> {
        self.by_key.get(key).copied()
    }

    /// The subject that plays under that name.
    pub fn find_name(&self, name: &SubjectName) -> Option<SubjectId> {
        self.by_name.get(name).copied()
    }

    /// Takes a frame; `data` may be absent only when tracking is lost.
    pub fn push_frame(
        &mut self,
        key: &SubjectKey,
        meta: &FrameMeta,
        data: Option<&FrameData>,
    ) -> PushOutcome {
        let Some(id) = self.find(key) else {
            self.unknown_frames += 1;
            return PushOutcome::Refused(Refusal::NoStatic);
        };
        self.push_frame_at(id, meta, data)
    }

    /// Takes a frame for a subject whose place is known.
    pub fn push_frame_at(
        &mut self,
        id: SubjectId,
        meta: &FrameMeta,
        data: Option<&FrameData>,
    ) -> PushOutcome {
        let Some(entry) = self
            .entries
            .get_mut(id.index as usize)
            .filter(|e| e.epoch == id.epoch)
        else {
            self.unknown_frames += 1;
            return PushOutcome::Refused(Refusal::NoStatic);
        };
        let Some(stream) = entry.stream.as_deref_mut() else {
            self.unknown_frames += 1;
            return PushOutcome::Refused(Refusal::NoStatic);
        };
        stream.push(meta, data)
    }

    /// Forgets a subject. Another one of that name does not take over by itself.
    pub fn remove(&mut self, key: &SubjectKey) -> bool {
        let Some(id) = self.by_key.remove(key) else {
            return false;
        };
        if self.by_name.get(&key.name) == Some(&id) {
            self.by_name.remove(&key.name);
        }
        let entry = &mut self.entries[id.index as usize];
        entry.stream = None;
        entry.epoch += 1;
        self.free.push(id.index);
        if !self.by_key.keys().any(|k| k.source == key.source) {
            self.settings.remove(&key.source);
        }
        true
    }

    /// When all places are taken, the subject that has been silent longest gives way, if that is a minute.
    fn forget_longest_gone(&mut self, now: WorldTime) {
        let gone = self
            .entries
            .iter()
            .filter_map(|e| e.stream.as_deref())
            .min_by_key(|s| s.last_arrival())
            .filter(|s| now - s.last_arrival() > 60 * crate::time::NANOS_PER_SEC)
            .map(|s| s.key.clone());
        if let Some(key) = gone {
            self.remove(&key);
        }
    }

    /// Lets this subject play under its name; a subject that did so becomes the conflicting one.
    /// Returns false when there is no such subject.
    pub fn enable(&mut self, key: &SubjectKey) -> bool {
        let Some(id) = self.find(key) else {
            return false;
        };
        let rival = self.by_name.insert(key.name.clone(), id);
        if let Some(rival) = rival.filter(|r| *r != id)
            && let Some(stream) = self.stream_mut(rival)
        {
            stream.conflict = true;
        }
        if let Some(stream) = self.stream_mut(id) {
            stream.enabled = true;
            stream.conflict = false;
        }
        true
    }

    /// Answers for this subject again, without taking its name from another one.
    /// Returns false when there is no such subject.
    pub fn allow(&mut self, key: &SubjectKey) -> bool {
        match self.find(key).and_then(|id| self.stream_mut(id)) {
            Some(stream) => {
                stream.enabled = true;
                true
            }
            None => false,
        }
    }

    /// Stops answering for this subject; its frames are still taken and counted.
    /// Returns false when there is no such subject.
    pub fn disable(&mut self, key: &SubjectKey) -> bool {
        match self.find(key).and_then(|id| self.stream_mut(id)) {
            Some(stream) => {
                stream.enabled = false;
                true
            }
            None => false,
        }
    }

    /// Evaluates the subject that plays under `name`. Cannot fail: see [`Evaluation::quality`].
    pub fn evaluate(
        &self,
        name: &SubjectName,
        at: At,
        now: WorldTime,
        out: &mut Evaluated,
    ) -> Evaluation {
        match self.by_name.get(name) {
            Some(id) => self.evaluate_at(*id, at, now, out),
            None => Evaluation::default(),
        }
    }

    /// Evaluates a subject whose place is known, a conflicting one included.
    pub fn evaluate_at(
        &self,
        id: SubjectId,
        at: At,
        now: WorldTime,
        out: &mut Evaluated,
    ) -> Evaluation {
        match self.stream(id) {
            Some(stream) if stream.enabled => evaluation::evaluate(stream, at, now, out),
            _ => Evaluation::default(),
        }
    }

    /// All subjects, in the order in which their places were first taken.
    pub fn subjects(&self) -> impl Iterator<Item = SubjectView<'_>> {
        self.entries.iter().filter_map(|e| {
            let stream = e.stream.as_deref()?;
            Some(SubjectView { stream })
        })
    }

    /// One subject.
    pub fn subject(&self, key: &SubjectKey) -> Option<SubjectView<'_>> {
        self.view(self.find(key)?)
    }

    /// One subject whose place is known.
    pub fn view(&self, id: SubjectId) -> Option<SubjectView<'_>> {
        Some(SubjectView {
            stream: self.stream(id)?,
        })
    }

    /// Frames refused because no static data had come for their subject ([`Refusal::NoStatic`]).
    pub fn unknown_frames(&self) -> u64 {
        self.unknown_frames
    }
}

impl<'a> SubjectView<'a> {
    /// Source and name.
    pub fn key(&self) -> &'a SubjectKey {
        &self.stream.key
    }

    /// Role of the current generation.
    pub fn role(&self) -> Role {
        self.stream.statics.role()
    }

    /// Static data of the current generation.
    pub fn statics(&self) -> &'a Arc<StaticData> {
        &self.stream.statics
    }

    /// Counts generations from 1.
    pub fn generation(&self) -> u32 {
        self.stream.generation
    }

    /// State in one word.
    pub fn state(&self, now: WorldTime) -> SubjectState {
        self.stream.state(now)
    }

    /// What happened to its frames.
    pub fn counts(&self) -> Counts {
        self.stream.counts()
    }

    /// Frames per second over the last two seconds.
    pub fn rate_hz(&self, now: WorldTime) -> f64 {
        self.stream.rate_hz(now)
    }

    /// Interarrival jitter in seconds (RFC 3550).
    pub fn jitter_secs(&self) -> f64 {
        self.stream.jitter_secs()
    }

    /// Delay beyond the least delay.
    pub fn latency(&self) -> &'a Latency {
        &self.stream.latency
    }

    /// When the last frame came.
    pub fn last_arrival(&self) -> WorldTime {
        self.stream.last_arrival()
    }

    /// Timecode of the newest frame.
    pub fn timecode(&self) -> Option<QualifiedFrameTime> {
        self.stream.buffer.newest()?.meta.timecode
    }

    /// Frames in the buffer.
    pub fn buffered(&self) -> usize {
        self.stream.buffer.slots().len()
    }

    /// Estimated nanoseconds from the source's clock to the hub's.
    pub fn clock_offset_nanos(&self) -> Option<i64> {
        self.stream.world_offset_nanos()
    }

    /// The settings in force for it.
    pub fn settings(&self) -> &'a SourceSettings {
        &self.stream.settings
    }

    /// When the newest frame would have come by the least delay, on the hub's clock.
    pub fn newest_world(&self) -> Option<WorldTime> {
        let newest = self.stream.buffer.newest()?;
        let offset = self.stream.world_offset_nanos()?;
        Some(WorldTime::from_nanos(newest.key.saturating_add(offset)))
    }
}
