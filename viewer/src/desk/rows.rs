//! The state of a session as rows.

use std::{
    collections::{HashMap, HashSet},
    sync::PoisonError,
};

use hub::{
    SubjectKey,
    client::{At, Evaluated, Quality, SubjectView},
};
use recordings::naming;
use sources::livelinkface::Recording;

use super::message::{
    BufferRow, CharacterRow, OutputRow, PhoneRow, RecordingRow, Snapshot, SourceRow, StepRow,
    SubjectRow, TimecodeRow, VirtualRow,
};
use crate::{
    adapters::{self, Wish},
    live::{Listening, Live},
    outputs::{OutputStats, RunningOutput},
    session::Session,
    stage::{SubjectTable, Transport},
};

/// Most senders told of a socket.
const MAX_SENDERS: usize = 8;
/// Numbers of subjects that are remembered; twice as many as a hub keeps.
const MAX_IDS: usize = 8192;
/// Snapshots between two looks at the disk.
const DISK_EVERY: u32 = 10;

/// Makes snapshots; gives subjects their numbers.
#[derive(Default)]
pub(crate) struct Rows {
    ids: HashMap<SubjectKey, u32>,
    next_id: u32,
    evaluated: Evaluated,
    looks: u32,
    disk_free_bytes: Option<u64>,
    next_take: u32,
    addresses: Vec<String>,
}

impl Rows {
    /// The subjects by their numbers, for those who watch.
    pub(crate) fn keys(&self) -> HashMap<u32, SubjectKey> {
        self.ids
            .iter()
            .map(|(key, id)| (*id, key.clone()))
            .collect()
    }

    /// Everything now.
    pub(crate) fn snapshot(&mut self, session: &Session) -> Snapshot {
        let live = session.live();
        let now = live.clock().now();
        let subjects = self.subjects(live);
        if self.looks.is_multiple_of(DISK_EVERY) {
            self.disk_free_bytes = recordings::disk::free_bytes(session.folder());
            self.next_take = naming::next_take_number(session.folder(), session.slate());
        }
        self.looks = self.looks.wrapping_add(1);
        let recording = session.recording().map(|r| {
            let recorder = r.recorder();
            let info = recorder.info();
            let began = info.start_unix_nanos;
            RecordingRow {
                slate: info.slate.clone(),
                take: info.take,
                path: recorder.part_path().to_owned(),
                elapsed_secs: (live.clock().unix_nanos(now) - began) as f64 / 1e9,
                frames: recorder.tap().accepted_frames(),
                dropped: recorder.tap().dropped(),
                bytes: std::fs::metadata(recorder.part_path()).map_or(0, |m| m.len()),
            }
        });
        Snapshot {
            now_nanos: now.as_nanos(),
            sources: sources(live),
            subjects,
            timecode: timecode(live),
            recording,
            folder: std::path::absolute(session.folder())
                .unwrap_or_else(|_| session.folder().to_owned()),
            next_slate: session.slate().to_owned(),
            next_take: self.next_take,
            disk_free_bytes: self.disk_free_bytes,
            outputs: live.outputs().iter().map(output).collect(),
            virtuals: live
                .virtuals()
                .into_iter()
                .map(|v| VirtualRow {
                    name: v.name,
                    gives: v.gives,
                    troubles: v.faults.into_iter().chain(v.notes).collect(),
                })
                .collect(),
            characters: live
                .doubles()
                .into_iter()
                .map(|d| CharacterRow {
                    name: d.name,
                    file: d.file,
                    source: d.source,
                    state: format!("{:?}", d.state).to_lowercase(),
                    driven: d.driven,
                    troubles: d.fault.into_iter().chain(d.notes).collect(),
                })
                .collect(),
            phones: phones(live),
            audio_peak: audio_peak(live),
            needs_restart: session.needs_restart(),
            addresses: self.addresses(),
        }
    }

    /// Addresses that devices may send to; looked up as seldom as the disk.
    fn addresses(&mut self) -> Vec<String> {
        if self.looks % DISK_EVERY == 1 {
            let all = adapters::adapters().unwrap_or_default();
            self.addresses = adapters::rank(&all, Wish::default())
                .into_iter()
                .filter(|ranked| ranked.usable)
                .map(|ranked| ranked.adapter.ip.to_string())
                .collect();
        }
        self.addresses.clone()
    }

    fn subjects(&mut self, live: &Live) -> Vec<SubjectRow> {
        let (ids, next) = (&mut self.ids, &mut self.next_id);
        let evaluated = &mut self.evaluated;
        let mut rows: Vec<SubjectRow> = live.with(|shared| {
            let client = &shared.client;
            client
                .subjects()
                .map(|view| {
                    let key = view.key();
                    let id = *ids.entry(key.clone()).or_insert_with(|| {
                        *next += 1;
                        *next - 1
                    });
                    let table = shared.table(key);
                    let plays = client.find_name(&key.name) == client.find(key);
                    let mut row = row(view, id, table, live, evaluated, client);
                    row.conflicts = !plays;
                    if let Some((faults, ..)) = shared.processing(key) {
                        for fault in faults {
                            if let Some(step) = row.steps.get_mut(fault.step) {
                                step.fault = Some(fault.to_string());
                            }
                        }
                    }
                    row
                })
                .collect()
        });
        if self.ids.len() > MAX_IDS {
            // Who sends a new name with every packet must not fill the memory.
            let here: HashSet<u32> = rows.iter().map(|r| r.id).collect();
            self.ids.retain(|_, id| here.contains(id));
        }
        rows.sort_by(|a, b| (&a.source, &a.name).cmp(&(&b.source, &b.name)));
        rows
    }
}

fn row(
    view: SubjectView<'_>,
    id: u32,
    table: Option<&SubjectTable>,
    live: &Live,
    evaluated: &mut Evaluated,
    client: &hub::client::Client,
) -> SubjectRow {
    let now = live.clock().now();
    let key = view.key();
    let counts = view.counts();
    let statics = view.statics();
    let quantile = |q| view.latency().quantile_secs(q).map(|s| s * 1e3);
    let answer = client.find(key).map(|at| {
        let answer = client.evaluate_at(at, At::World(now), now, evaluated);
        (answer, view.settings().world_offset_secs)
    });
    let buffer = answer.map_or_else(BufferRow::default, |(answer, offset)| BufferRow {
        frames: view.buffered(),
        oldest_secs: offset + answer.from_oldest_secs,
        newest_secs: offset - answer.to_newest_secs,
        read_secs: offset,
        between: matches!(
            answer.quality,
            Quality::Exact { .. } | Quality::Blended { .. }
        ),
    });
    SubjectRow {
        id,
        name: key.name.to_string(),
        source: key.source.to_string(),
        role: view.role().to_string(),
        state: view.state(now),
        enabled: table.is_none_or(|t| t.enabled),
        conflicts: false,
        recorded: table.is_none_or(|t| t.record),
        sent: table.is_none_or(|t| t.send),
        paused: table.is_some_and(|t| t.paused),
        outbound_name: table.and_then(|t| t.outbound_name.clone()),
        rate_hz: view.rate_hz(now),
        jitter_ms: view.jitter_secs() * 1e3,
        latency_ms: quantile(0.5).zip(quantile(0.99)).map(|(a, b)| [a, b]),
        received: counts.received,
        lost: counts.lost,
        late: counts.late,
        duplicate: counts.duplicate,
        refused: counts.refused_total(),
        untracked: counts.untracked,
        clock_steps: counts.clock_steps,
        silent_secs: (now - view.last_arrival()) as f64 / 1e9,
        timecode: view.timecode().map(|t| t.label().to_string()),
        buffer,
        num_curves: statics.properties.len(),
        num_bones: statics.num_transforms(),
        steps: table
            .iter()
            .flat_map(|t| &t.process)
            .map(|step| StepRow {
                step: step.clone(),
                fault: None,
            })
            .collect(),
        settings: *view.settings(),
    }
}

fn sources(live: &Live) -> Vec<SourceRow> {
    let files = live.files().iter().map(|file| SourceRow {
        kind: "file".into(),
        place: file.key().source.to_string(),
        transport: "file".into(),
        notes: file.notes().to_vec(),
        ..SourceRow::default()
    });
    live.listening().iter().map(source).chain(files).collect()
}

fn source(listening: &Listening) -> SourceRow {
    let stats = *listening
        .stats
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let senders = listening
        .senders
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .newest(MAX_SENDERS);
    SourceRow {
        kind: listening.kind.as_str().to_owned(),
        place: listening.addr.to_string(),
        transport: match listening.transport {
            Transport::Udp => "udp",
            Transport::Tcp => "tcp",
        }
        .into(),
        received: stats.datagrams,
        rejected: stats.rejected_total(),
        senders,
        notes: if listening.connects {
            vec!["the hub connects to this address".into()]
        } else {
            Vec::new()
        },
    }
}

fn timecode(live: &Live) -> TimecodeRow {
    let now = live.clock().now();
    let status = live.timecode_in().status(now);
    let own = || live.timecode(now).label().to_string();
    let is_external = status.source.is_external();
    TimecodeRow {
        healthy: !is_external || (status.timecode.is_some() && status.jammed_secs.is_none()),
        label: status.timecode.or_else(|| Some(own())),
        rate: status.rate,
        source: format!("{:?}", status.source).to_lowercase(),
        state: status.state.to_string(),
        drift_ppm: status.drift_ppm,
    }
}

fn output(output: &RunningOutput) -> OutputRow {
    let stats: OutputStats = output.stats();
    OutputRow {
        troubles: stats.troubles(),
        kind: stats.kind.as_str().to_owned(),
        name: stats.name,
        enabled: stats.is_enabled,
        frames: stats.frames,
    }
}

/// Loudest sample of all inputs since the last look, 0..=1.
fn audio_peak(live: &Live) -> Option<f32> {
    let peaks = live.audio().iter().map(|input| {
        let decibels = input.report().peak_dbfs;
        decibels.map_or(0.0, |db| 10f32.powf(db / 20.0))
    });
    peaks.reduce(f32::max)
}

fn phones(live: &Live) -> Vec<PhoneRow> {
    let Some(remote) = live.remote() else {
        return Vec::new();
    };
    remote
        .status()
        .phones
        .into_iter()
        .map(|phone| PhoneRow {
            name: phone.name,
            reachable: phone.status.is_reachable,
            battery: phone.status.battery,
            recording: phone.status.recording == Recording::On,
        })
        .collect()
}
