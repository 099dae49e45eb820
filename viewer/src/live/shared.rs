//! What stands behind the hub's one lock, and the sink through which every source fills it.
//!
//! ```text
//! decoder ─► LiveSink ─┬─► Tap of the recorder      as received
//!                      └─► Chain of the subject ─┬─► Client
//!                                                └─► Feeds of outputs that pass frames through
//! ```
//!
//! A take holds what was received, never what processing made of it: a wrong setting must not spoil a take.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use hub::{
    Counts, FrameData, FrameMeta, StaticData, SubjectKey, SubjectName, WorldTime,
    client::{Client, PushOutcome, SourceSettings, StaticOutcome},
    process::{Chain, ChainCounts, ChainFault, Processed, Step},
};
use recordings::recorder::Tap;
use serde_json::json;
use sources::Sink;

use super::Observer;
use crate::{
    outputs::{Feed, Outbound},
    stage::SubjectTable,
};

/// Most subjects that ended during a take whose counts are kept.
const MAX_ENDED: usize = 4096;

/// Adds the counts of which a take tells.
fn add(to: &mut Counts, more: &Counts) {
    to.lost += more.lost;
    to.late += more.late;
    to.duplicate += more.duplicate;
    for (to, more) in to.refused.iter_mut().zip(more.refused) {
        *to += more;
    }
}

/// A subject whose frames are changed on their way to the client.
struct Processing {
    chain: Chain,
    /// As the source announced it.
    received: StaticData,
}

/// What the receiving tasks share with everyone else.
#[derive(Default)]
pub struct Shared {
    /// The subjects.
    pub client: Client,
    /// The recorder's input, while a take is made.
    pub(super) tap: Option<Arc<Tap>>,
    pub(super) observer: Option<Observer>,
    /// What the operator says of subjects.
    pub(super) subjects: Vec<SubjectTable>,
    processing: HashMap<SubjectKey, Processing>,
    /// Subjects that takes do not hold.
    unrecorded: HashSet<SubjectKey>,
    /// Outputs that pass frames through.
    pub(super) feeds: Vec<Arc<Feed>>,
    scratch: FrameData,
    /// Counts of subjects that ended while a take was made.
    pub(super) ended: HashMap<SubjectKey, Counts>,
    /// Static data that contradicted itself, found no room, or could not be processed.
    pub refused_statics: u64,
    /// Frames that could not be processed.
    pub refused_frames: u64,
}

impl Shared {
    pub(super) fn new(subjects: Vec<SubjectTable>) -> Self {
        Self {
            subjects,
            ..Self::default()
        }
    }

    /// The recorder's input for a subject, while a take is made that is to hold it.
    fn tap_for(&self, key: &SubjectKey) -> Option<&Arc<Tap>> {
        let tap = self.tap.as_ref()?;
        (self.unrecorded.is_empty() || !self.unrecorded.contains(key)).then_some(tap)
    }

    /// Whether takes hold a subject.
    pub(super) fn is_recorded(&self, key: &SubjectKey) -> bool {
        !self.unrecorded.contains(key)
    }

    /// What the operator says of the subject.
    pub(crate) fn table(&self, key: &SubjectKey) -> Option<&SubjectTable> {
        self.subjects.iter().find(|s| s.is_about(key))
    }

    /// How the subject is sent on.
    pub fn outbound(&self, key: &SubjectKey) -> Outbound {
        self.table(key)
            .map_or_else(Outbound::default, |s| Outbound {
                name: s
                    .outbound_name
                    .as_deref()
                    .and_then(|n| SubjectName::new(n).ok()),
                enabled: s.send && s.enabled,
                paused: s.paused,
            })
    }

    /// The table of a subject, made when there is none yet.
    pub(super) fn table_mut(&mut self, name: &str, source: Option<&str>) -> &mut SubjectTable {
        let index = self
            .subjects
            .iter()
            .position(|s| s.name == name && s.source.as_deref() == source);
        let index = index.unwrap_or_else(|| {
            self.subjects
                .push(SubjectTable::new(name, source.map(str::to_owned)));
            self.subjects.len() - 1
        });
        &mut self.subjects[index]
    }

    /// Why steps of a subject are left out, what is worth knowing of them, and what became of its frames.
    pub fn processing(
        &self,
        key: &SubjectKey,
    ) -> Option<(&[ChainFault], &[ChainFault], ChainCounts)> {
        let chain = &self.processing.get(key)?.chain;
        Some((chain.faults(), chain.notes(), chain.counts()))
    }

    /// Static data as the source announced it.
    pub(super) fn received(&self, key: &SubjectKey) -> Option<&StaticData> {
        match self.processing.get(key) {
            Some(p) => Some(&p.received),
            None => self.client.subject(key).map(|v| &**v.statics()),
        }
    }

    /// A subject that was not there before.
    fn welcome(&mut self, key: &SubjectKey, settings: SourceSettings, now: WorldTime) {
        let client = &self.client;
        self.processing.retain(|k, _| client.find(k).is_some());
        if *self.client.settings(&key.source) != settings.sanitized() {
            self.client.set_settings(key.source.clone(), settings);
            // That took what tables say of the source's other subjects.
            let others: Vec<_> = self
                .client
                .subjects()
                .map(|v| v.key())
                .filter(|k| k.source == key.source && *k != key)
                .cloned()
                .collect();
            for other in &others {
                self.apply_table(other, now);
            }
        }
        self.apply_table(key, now);
    }

    /// Keeps what is to be told of a subject when the take ends.
    fn note_end(&mut self, key: &SubjectKey) {
        if self.tap.is_none() || (self.ended.len() >= MAX_ENDED && !self.ended.contains_key(key)) {
            return;
        }
        if let Some(view) = self.client.subject(key) {
            let counts = view.counts();
            add(self.ended.entry(key.clone()).or_default(), &counts);
        }
    }

    /// What happened to the frames of all subjects since a take began, those that ended included.
    pub(super) fn counts(&self) -> HashMap<SubjectKey, Counts> {
        let mut all = self.ended.clone();
        for view in self.client.subjects() {
            add(all.entry(view.key().clone()).or_default(), &view.counts());
        }
        all
    }

    /// Brings what is said of subjects to those that are here.
    pub(super) fn apply_tables(&mut self, now: WorldTime) {
        let keys: Vec<_> = self.client.subjects().map(|v| v.key().clone()).collect();
        for key in keys {
            self.apply_table(&key, now);
        }
    }

    fn apply_table(&mut self, key: &SubjectKey, now: WorldTime) {
        let Some(table) = self.table(key).cloned() else {
            // What a table said before holds no longer.
            self.record_again(key, now);
            self.client.allow(key);
            let of_source = *self.client.settings(&key.source);
            self.client.set_subject_settings(key, of_source);
            self.set_steps(key, &[], now);
            return;
        };
        if table.record {
            self.record_again(key, now);
        } else {
            self.unrecorded.insert(key.clone());
        }
        if table.source.is_some() && table.enabled {
            self.client.enable(key);
        } else if table.enabled {
            self.client.allow(key);
        } else {
            self.client.disable(key);
        }
        let of_source = *self.client.settings(&key.source);
        let settings = table.settings.unwrap_or(of_source);
        self.client.set_subject_settings(key, settings);
        self.set_steps(key, &table.process, now);
    }

    /// Takes hold the subject from now on; one that is being made learns who it is.
    fn record_again(&mut self, key: &SubjectKey, now: WorldTime) {
        if self.unrecorded.remove(key)
            && let Some(tap) = &self.tap
            && let Some(view) = self.client.subject(key)
        {
            tap.static_data(key, self.received(key).unwrap_or(view.statics()), now);
        }
    }

    /// Replaces the processing of one subject; the client sees new static data only if it differs.
    fn set_steps(&mut self, key: &SubjectKey, steps: &[Step], now: WorldTime) {
        let Some(received) = self.received(key).cloned() else {
            return;
        };
        if steps.is_empty() {
            let had = self.processing.remove(key).is_some();
            if had && self.client.push_static(key, &received, now).is_err() {
                self.refused_statics += 1;
            }
            return;
        }
        let processing = self.processing.entry(key.clone());
        let processing = processing.or_insert_with(|| Processing {
            chain: Chain::default(),
            received,
        });
        // Filters that go on keep what they remember, so that nothing jumps.
        if !processing.chain.steps().eq(steps) && processing.chain.replace(steps).is_err() {
            // Steps were checked when they were read; without them the subject goes on as it was.
            self.refused_statics += 1;
        }
        if processing.announce(&mut self.client, key, now).is_err() {
            self.refused_statics += 1;
        }
    }

    /// Switches one processor of a subject on or off. False when there is none of that number.
    pub(super) fn enable_step(
        &mut self,
        name: &str,
        index: usize,
        on: bool,
        now: WorldTime,
    ) -> bool {
        let mut found = false;
        let keys: Vec<_> = self.client.subjects().map(|v| v.key().clone()).collect();
        for table in self.subjects.iter_mut().filter(|s| s.name == name) {
            if let Some(step) = table.process.get_mut(index) {
                step.set_enabled(on);
                found = true;
            }
        }
        for key in keys.iter().filter(|k| k.name.as_str() == name) {
            if let Some(p) = self.processing.get_mut(key) {
                found |= p.chain.set_enabled(index, on);
                if p.announce(&mut self.client, key, now).is_err() {
                    self.refused_statics += 1;
                }
            }
        }
        found
    }
}

impl Processing {
    fn announce(
        &mut self,
        client: &mut Client,
        key: &SubjectKey,
        now: WorldTime,
    ) -> Result<StaticOutcome, hub::StaticFault> {
        client.push_static(key, self.chain.statics(&self.received), now)
    }
}

/// The sink of one source.
pub(super) struct LiveSink<'a> {
    pub(super) shared: &'a mut Shared,
    pub(super) settings: SourceSettings,
}

impl Sink for LiveSink<'_> {
    fn static_data(&mut self, key: &SubjectKey, data: &StaticData, at: WorldTime) {
        let shared = &mut *self.shared;
        if shared.client.find(key).is_none() {
            // The client may have let it go to make room: its chain is made anew.
            shared.processing.remove(key);
        } else if shared.received(key) == Some(data) {
            return;
        }
        let processing = shared.processing.get_mut(key);
        let outcome = if let Some(p) = processing {
            p.received.clone_from(data);
            p.announce(&mut shared.client, key, at)
        } else {
            shared.client.push_static(key, data, at)
        };
        match outcome {
            Ok(StaticOutcome::New { .. }) => shared.welcome(key, self.settings, at),
            Ok(StaticOutcome::Changed | StaticOutcome::Unchanged) => {}
            Err(_) => {
                shared.refused_statics += 1;
                return;
            }
        }
        if let Some(tap) = shared.tap_for(key) {
            tap.static_data(key, data, at);
        }
    }

    fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        let shared = &mut *self.shared;
        // Most subjects have no processing; then nothing is looked up.
        let processing = if shared.processing.is_empty() {
            None
        } else {
            shared.processing.get_mut(key)
        };
        let processed = match (processing, data) {
            (Some(p), Some(data)) => match p.chain.frame(meta, data, &mut shared.scratch) {
                Processed::Taken { .. } => Some(&shared.scratch),
                // The client refuses it too where it does not fit, and counts it by its reasons.
                Processed::Refused(_) => {
                    shared.refused_frames += 1;
                    if p.chain.processed() == Some(&p.received) {
                        Some(data)
                    } else {
                        // A wrong setting must not spoil the take.
                        if data.check(&p.received).is_ok()
                            && let Some(tap) = shared.tap_for(key)
                        {
                            tap.frame(key, meta, Some(data));
                        }
                        return;
                    }
                }
            },
            (_, data) => data,
        };
        let outcome = shared.client.push_frame(key, meta, processed);
        let refused = matches!(outcome, PushOutcome::Refused(_));
        // What is late or double for live use is recorded; what is no frame at all is only in the raw datagrams.
        if !refused && let Some(tap) = shared.tap_for(key) {
            tap.frame(key, meta, data);
        }
        // Late and double frames would make receivers jump back.
        let is_in_order = matches!(outcome, PushOutcome::Taken { reordered: false });
        if is_in_order && !shared.feeds.is_empty() {
            let outbound = shared.outbound(key);
            if let Some(view) = shared.client.subject(key).filter(|_| outbound.enabled) {
                for feed in &shared.feeds {
                    feed.frame(key, view.statics(), meta, processed);
                }
            }
        }
        if let Some(observer) = &mut shared.observer {
            observer(key, meta, processed);
        }
    }

    fn removed(&mut self, key: &SubjectKey, at: WorldTime) {
        self.shared.note_end(key);
        self.shared.client.remove(key);
        self.shared.processing.remove(key);
        if let Some(tap) = self.shared.tap_for(key) {
            tap.removed(key, at);
        }
        self.shared.unrecorded.remove(key);
        for feed in &self.shared.feeds {
            feed.removed(key);
        }
    }
}

/// What was done to a subject, for the take.
pub(super) fn processing_event(table: &SubjectTable) -> serde_json::Value {
    json!({"event": "process", "subject": table.name, "source": table.source, "steps": table.process})
}
