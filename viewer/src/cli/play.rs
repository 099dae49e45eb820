//! `ghostlight play`: a take back over the network, at its own timing.

use std::{net::UdpSocket, path::PathBuf, time::Duration};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use hub::{FrameRate, StaticData, SubjectKey, Timecode, arkit::NUM_CURVES};
use recordings::{export::csv, format::Item, player::Player};
use serde_json::json;
use sources::native::NativeSender;

use super::{record::seconds, send, wait};
use crate::{
    HubClock,
    output::{Outcome, Output, UsageError},
    stage::resolve,
};

/// How frames are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum As {
    /// Faces as Live Link Face, everything else in Ghostlight's own format
    Auto,
    /// Faces as Live Link Face, nothing else
    #[value(name = "livelinkface")]
    LiveLinkFace,
    /// Everything in Ghostlight's own format
    Native,
    /// The very datagrams that were received
    Raw,
}

#[derive(Args)]
pub(super) struct PlayArgs {
    /// The take, or any prefix of one
    take: PathBuf,
    /// Where to: HOST:PORT
    #[arg(long, value_name = "ADDR")]
    to: String,
    /// 1 is the take's own speed
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = speed)]
    speed: f64,
    /// Begin again at the end, until interrupted
    #[arg(long = "loop")]
    looping: bool,
    /// Begin at this timecode, HH:MM:SS:FF
    #[arg(long, value_name = "TC")]
    from: Option<String>,
    /// Rate that --from counts in
    #[arg(long, value_name = "R", default_value = "60")]
    from_rate: FrameRate,
    /// Stop after this time
    #[arg(long, value_name = "N", value_parser = seconds)]
    seconds: Option<f64>,
    /// How frames are sent
    #[arg(long = "as", value_enum, default_value = "auto")]
    kind: As,
}

fn speed(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|s| (0.01..=100.0).contains(s))
        .ok_or_else(|| format!("{text:?} is no speed between 0.01 and 100"))
}

struct Out {
    socket: UdpSocket,
    to: std::net::SocketAddr,
    native: NativeSender,
    statics: Vec<(SubjectKey, StaticData)>,
    kind: As,
    bytes: Vec<u8>,
    frames: u64,
    skipped: u64,
    clock: HubClock,
}

impl Out {
    fn is_face(&self, data: &StaticData) -> bool {
        matches!(self.kind, As::Auto | As::LiveLinkFace) && csv::fits(data)
    }

    fn give(&mut self, item: &Item) {
        let now = self.clock.now();
        let (socket, to) = (&self.socket, self.to);
        // UDP: a datagram nobody takes is nobody's error.
        let send = |d: &[u8]| drop(socket.send_to(d, to));
        match item {
            Item::Raw { bytes, .. } if self.kind == As::Raw => {
                send(bytes);
                self.frames += 1;
            }
            _ if self.kind == As::Raw => {}
            Item::Static { key, data, .. } => {
                if !self.is_face(data) && self.kind != As::LiveLinkFace {
                    self.native.static_data(&key.name, data, now, send);
                }
                self.statics.retain(|(k, _)| k != key);
                self.statics.push((key.clone(), (**data).clone()));
            }
            Item::Frame {
                key, meta, data, ..
            } => {
                let Some((_, statics)) = self.statics.iter().find(|(k, _)| k == key) else {
                    self.skipped += 1;
                    return;
                };
                if !self.is_face(statics) {
                    let known = self.kind != As::LiveLinkFace
                        && self
                            .native
                            .frame(&key.name, meta, data.as_deref(), now, send);
                    if known {
                        self.frames += 1;
                    } else {
                        self.skipped += 1;
                    }
                    return;
                }
                let time = meta
                    .timecode
                    .unwrap_or_else(|| self.clock.timecode(now, FrameRate::FPS_60));
                let id = send::device_id(1);
                let mut values = [0.0; NUM_CURVES];
                if let Some(data) = data {
                    for (value, name) in values.iter_mut().zip(hub::arkit::CURVES) {
                        let index = statics
                            .properties
                            .iter()
                            .position(|p| p.name.eq_ignore_ascii_case(name));
                        *value = index
                            .and_then(|i| data.properties.get(i))
                            .copied()
                            .unwrap_or(0.0);
                    }
                }
                send::face_packet(&id, key.name.as_str(), time, &values, &mut self.bytes);
                if data.is_none() {
                    // The no-face packet ends after the time.
                    self.bytes.truncate(self.bytes.len() - 1 - 4 * NUM_CURVES);
                }
                send(&self.bytes);
                self.frames += 1;
            }
            _ => {}
        }
    }
}

pub(super) fn run(args: &PlayArgs, out: Output) -> anyhow::Result<Outcome> {
    let to = resolve(&args.to, sources::livelinkface::PORT).map_err(UsageError)?;
    let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let clock = HubClock::new();
    let now = clock.now();
    let mut player = Player::open(&args.take, args.speed, args.looping, now)?;
    let mut sink = Out {
        socket: UdpSocket::bind(any).context("cannot open a socket to send from")?,
        to,
        native: NativeSender::new(clock.unix_nanos(now).cast_unsigned(), "playback"),
        statics: Vec::new(),
        kind: args.kind,
        bytes: Vec::new(),
        frames: 0,
        skipped: 0,
        clock,
    };
    if let Some(from) = &args.from {
        let from = Timecode::parse(from, args.from_rate).map_err(|why| {
            UsageError(format!(
                "--from {from:?} at {} frames per second: {why}",
                args.from_rate
            ))
        })?;
        if !player.seek(from, now, |item| sink.give(&item))? {
            anyhow::bail!("no frame of this take is at or after timecode {from}");
        }
    }
    let event = json!({"event": "playing", "path": args.take, "to": to.to_string()});
    out.say(
        &event,
        &format!("playing {} to {to}; Ctrl-C stops", args.take.display()),
    );
    let mut trouble = None;
    let end = wait::until_end(args.seconds, Duration::from_millis(1), || {
        match player.poll(clock.now(), |item| sink.give(&item)) {
            Ok(next) => next.is_none(),
            Err(error) => {
                trouble = Some(error);
                true
            }
        }
    })?;
    if let Some(error) = trouble {
        return Err(error.into());
    }
    let event = json!({
        "event": "played",
        "frames": sink.frames,
        "left_out": sink.skipped,
        "rounds": player.rounds(),
        "end": end.as_str(),
    });
    out.say(
        &event,
        &format!("{} frames sent, {} left out", sink.frames, sink.skipped),
    );
    Ok(Outcome::lossy(sink.skipped > 0))
}
