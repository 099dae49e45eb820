//! `ghostlight send`: a phone, or a whole performer, over a good or a bad network.

use std::{
    net::{SocketAddr, UdpSocket},
    path::PathBuf,
    time::Duration,
};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use hub::{
    FrameData, FrameMeta, FrameRate, NANOS_PER_SEC, QualifiedFrameTime, SourceTime, SubjectName,
    arkit::NUM_CURVES,
};
use serde_json::json;
use sources::{
    Protocol,
    faults::{BadNetwork, Faults},
    livelinkface::{CsvTake, Packet},
    native::NativeSender,
    synthetic::Performer,
};

use super::record::seconds;
use crate::{
    HubClock,
    output::{Outcome, Output, UsageError},
    stage::resolve,
};

#[derive(Args)]
pub(super) struct SendArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// A Live Link Face phone
    #[command(name = "livelinkface")]
    LiveLinkFace(PhoneArgs),
    /// A performer with face and body, in Ghostlight's own format
    Native(NativeArgs),
}

#[derive(Args)]
#[group(id = "what", required = true, multiple = false, args = ["csv", "synthetic"])]
struct PhoneArgs {
    /// Send this take of the app, at its own timing
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Send the synthetic performer
    #[arg(long)]
    synthetic: bool,
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Args)]
struct NativeArgs {
    /// Send the synthetic performer (the only choice, and the default)
    #[arg(long)]
    synthetic: bool,
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Args)]
struct CommonArgs {
    /// Where to: HOST:PORT
    #[arg(long, value_name = "ADDR")]
    to: String,
    /// Subject name
    #[arg(long, value_name = "NAME", default_value = "Ghost")]
    subject: String,
    /// Frames per second, for example 60 or 29.97; a CSV keeps its own pace unless this is given
    #[arg(long, value_name = "R")]
    rate: Option<FrameRate>,
    /// Stop after this time
    #[arg(long, value_name = "N", value_parser = seconds)]
    seconds: Option<f64>,
    /// Lose this share of datagrams, in percent
    #[arg(long, value_name = "P", default_value_t = 0.0, value_parser = percent)]
    loss: f64,
    /// Lose this many in a row whenever one is lost
    #[arg(long, value_name = "N", default_value_t = 1)]
    burst: u32,
    /// Delay each datagram by up to this many milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0.0, value_parser = seconds)]
    jitter: f64,
    /// Let a datagram be overtaken by up to this many later ones
    #[arg(long, value_name = "N", default_value_t = 0)]
    reorder: u32,
    /// Send this share of datagrams twice, in percent
    #[arg(long, value_name = "P", default_value_t = 0.0, value_parser = percent)]
    duplicate: f64,
    /// Seed of the performer and of the network's faults
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

fn percent(text: &str) -> Result<f64, String> {
    text.trim_end_matches('%')
        .parse()
        .ok()
        .filter(|p| (0.0..=100.0).contains(p))
        .ok_or_else(|| format!("{text:?} is no percentage between 0 and 100"))
}

/// An id of the length the app sends, the same for the same seed.
pub(super) fn device_id(seed: u64) -> String {
    format!("67686F73-746C-4967-8874-{:012X}", seed & 0xffff_ffff_ffff)
}

/// Sends through the faults of a network, waiting as it goes.
pub(super) struct Wire {
    socket: UdpSocket,
    to: SocketAddr,
    network: BadNetwork,
    clock: HubClock,
    sent: u64,
    refused: u64,
}

impl Wire {
    pub(super) fn new(to: SocketAddr, faults: Faults, seed: u64) -> anyhow::Result<Self> {
        let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(any).context("cannot open a socket to send from")?;
        Ok(Self {
            socket,
            to,
            network: BadNetwork::new(faults, seed),
            clock: HubClock::new(),
            sent: 0,
            refused: 0,
        })
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.network.push(self.clock.now().as_nanos(), bytes);
        self.release();
    }

    fn release(&mut self) {
        let now = self.clock.now().as_nanos();
        while let Some(bytes) = self.network.pop(now) {
            match self.socket.send_to(&bytes, self.to) {
                Ok(_) => self.sent += 1,
                // Nobody listens yet, or the way is full: UDP loses it, and so do we, counted.
                Err(_) => self.refused += 1,
            }
        }
    }

    /// Waits until `nanos` after the start, letting delayed datagrams go when they are due.
    pub(super) fn wait_until(&mut self, nanos: i64) {
        loop {
            self.release();
            let now = self.clock.now().as_nanos();
            let next = self.network.next_due().map_or(nanos, |due| due.min(nanos));
            if now >= nanos {
                return;
            }
            std::thread::sleep(Duration::from_nanos((next - now).max(0) as u64));
        }
    }

    /// Lets everything delayed go.
    pub(super) fn finish(&mut self) {
        self.network.finish();
        while let Some(due) = self.network.next_due() {
            self.wait_until(due);
        }
    }
}

pub(super) fn run(args: &SendArgs, out: Output) -> anyhow::Result<Outcome> {
    let (common, kind) = match &args.what {
        What::LiveLinkFace(a) => (&a.common, Protocol::LiveLinkFace),
        What::Native(a) => (&a.common, Protocol::Native),
    };
    let to = resolve(&common.to, kind.default_port()).map_err(UsageError)?;
    let faults = Faults {
        loss: common.loss / 100.0,
        burst: common.burst,
        jitter_nanos: (common.jitter * 1e6) as i64,
        reorder_depth: common.reorder,
        duplicate: common.duplicate / 100.0,
    };
    let mut wire = Wire::new(to, faults, common.seed)?;
    let event = json!({"event": "sending", "to": to.to_string(), "subject": common.subject, "source": kind.as_str()});
    out.say(
        &event,
        &format!("sending {kind} as {} to {to}", common.subject),
    );
    let frames = match &args.what {
        What::LiveLinkFace(a) => match &a.csv {
            Some(path) => send_csv(path, a, &mut wire, out)?,
            None => send_face(a, &mut wire),
        },
        What::Native(a) => send_native(&a.common, &mut wire)?,
    };
    wire.finish();
    let network = &wire.network;
    let event = json!({
        "event": "sent",
        "frames": frames,
        "datagrams": wire.sent,
        "lost": network.lost(),
        "doubled": network.doubled(),
        "refused_by_system": wire.refused,
    });
    let sentence = format!(
        "{frames} frames made, {} datagrams sent, {} lost on purpose, {} doubled on purpose",
        wire.sent,
        network.lost(),
        network.doubled()
    );
    out.say(&event, &sentence);
    if wire.refused > 0 {
        out.warn(&format!(
            "the system refused {} datagrams; is something listening on {to}?",
            wire.refused
        ));
    }
    Ok(Outcome::Success)
}

fn send_csv(path: &PathBuf, args: &PhoneArgs, wire: &mut Wire, out: Output) -> anyhow::Result<u64> {
    let file =
        std::fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let take = CsvTake::read(std::io::BufReader::new(file), None)
        .with_context(|| format!("cannot read {}", path.display()))?;
    if !take.missing.is_empty() {
        out.warn(&format!(
            "{} of the 61 curves have no column and are sent as 0: {}",
            take.missing.len(),
            take.missing.join(", ")
        ));
    }
    let id = device_id(args.common.seed);
    let mut bytes = Vec::new();
    let mut frames = 0;
    let mut at = 0;
    let mut previous: Option<QualifiedFrameTime> = None;
    for row in &take.rows {
        at += match (args.common.rate, previous) {
            (_, None) => 0,
            (Some(rate), Some(_)) => rate.frame_nanos(),
            // Midnight wraps; a step back plays at once.
            (None, Some(p)) => {
                let delta = (row.time.as_nanos() - p.as_nanos()).rem_euclid(row.time.day_nanos());
                if delta < row.time.day_nanos() / 2 {
                    delta
                } else {
                    0
                }
            }
        };
        previous = Some(row.time);
        if args.common.seconds.is_some_and(|s| at as f64 / 1e9 > s) {
            break;
        }
        wire.wait_until(at);
        face_packet(&id, &args.common.subject, row.time, &row.values, &mut bytes);
        wire.push(&bytes);
        frames += 1;
    }
    Ok(frames)
}

pub(super) fn face_packet(
    id: &str,
    subject: &str,
    time: QualifiedFrameTime,
    values: &[f32; NUM_CURVES],
    bytes: &mut Vec<u8>,
) {
    let curves = values.map(f32::to_be_bytes);
    bytes.clear();
    Packet {
        device_id: id.as_bytes(),
        subject: subject.as_bytes(),
        frame: time.frame as i32,
        sub_frame: time.sub_frame,
        rate_num: time.rate.num() as i32,
        rate_den: time.rate.den() as i32,
        curves: Some(&curves),
    }
    .write(bytes);
}

fn num_frames(args: &CommonArgs, rate: FrameRate) -> i64 {
    args.seconds.map_or(i64::MAX, |s| {
        rate.frame_at((s * NANOS_PER_SEC as f64) as i64)
    })
}

fn send_face(args: &PhoneArgs, wire: &mut Wire) -> u64 {
    let common = &args.common;
    let rate = common.rate.unwrap_or(FrameRate::FPS_60);
    let performer = Performer::new(common.seed);
    let id = device_id(common.seed);
    let start = wire.clock.timecode(wire.clock.now(), rate);
    let day = rate.frames_per_day(start.drop);
    let mut values = [0.0; NUM_CURVES];
    let mut bytes = Vec::new();
    let total = num_frames(common, rate);
    for i in 0..total {
        let at = rate.nanos_of(i);
        wire.wait_until(at);
        performer.face(at as f64 / 1e9, &mut values);
        let time = QualifiedFrameTime {
            frame: (start.frame + i) % day,
            ..start
        };
        face_packet(&id, &common.subject, time, &values, &mut bytes);
        wire.push(&bytes);
    }
    total.max(0) as u64
}

fn send_native(args: &CommonArgs, wire: &mut Wire) -> anyhow::Result<u64> {
    let rate = args.rate.unwrap_or(FrameRate::FPS_60);
    let performer = Performer::new(args.seed);
    let face = SubjectName::new(&format!("{}_face", args.subject))?;
    let body = SubjectName::new(&format!("{}_body", args.subject))?;
    let mut sender = NativeSender::new(
        wire.clock.unix_nanos(wire.clock.now()).cast_unsigned(),
        "synthetic",
    );
    let start = wire.clock.timecode(wire.clock.now(), rate);
    let day = rate.frames_per_day(start.drop);
    let mut outgoing: Vec<Vec<u8>> = Vec::new();
    let now = wire.clock.now();
    let face_static = sources::livelinkface::LiveLinkFaceDecoder::static_data();
    sender.static_data(&face, face_static, now, |d| outgoing.push(d.to_vec()));
    sender.static_data(&body, &performer.body_static(), now, |d| {
        outgoing.push(d.to_vec());
    });
    let mut face_data = FrameData::basic(vec![0.0; NUM_CURVES]);
    let mut body_data = FrameData {
        body: hub::FrameBody::Animation(Vec::new()),
        properties: Vec::new(),
    };
    let total = num_frames(args, rate);
    for i in 0..total {
        let at = rate.nanos_of(i);
        wire.wait_until(at);
        let t = at as f64 / 1e9;
        let meta = FrameMeta {
            timecode: Some(QualifiedFrameTime {
                frame: (start.frame + i) % day,
                ..start
            }),
            source_time: Some(SourceTime::from_nanos(at)),
            ..FrameMeta::default()
        };
        let mut values = [0.0; NUM_CURVES];
        performer.face(t, &mut values);
        face_data.properties.copy_from_slice(&values);
        if let hub::FrameBody::Animation(bones) = &mut body_data.body {
            performer.body(t, bones);
        }
        let now = wire.clock.now();
        sender.frame(&face, &meta, Some(&face_data), now, |d| {
            outgoing.push(d.to_vec());
        });
        sender.frame(&body, &meta, Some(&body_data), now, |d| {
            outgoing.push(d.to_vec());
        });
        for datagram in outgoing.drain(..) {
            wire.push(&datagram);
        }
    }
    sender.removed(&face, |d| outgoing.push(d.to_vec()));
    sender.removed(&body, |d| outgoing.push(d.to_vec()));
    for datagram in outgoing.drain(..) {
        wire.push(&datagram);
    }
    Ok(2 * total.max(0) as u64)
}
