//! A phone with a known true signal → its datagrams → a bad network → decoder → client, on one simulated clock.

use std::net::SocketAddr;

use hub::{
    FrameData, FrameMeta, FrameRate, QualifiedFrameTime, StaticData, SubjectKey, SubjectName,
    WorldTime,
    arkit::NUM_CURVES,
    client::{At, Client, Evaluated, Evaluation, SourceSettings},
};
use sources::{
    Decoder as _, Sink,
    faults::{BadNetwork, Faults},
    livelinkface::{LiveLinkFaceDecoder, Options, Packet},
};

/// Least delay of the simulated network.
pub const BASE_DELAY_NANOS: i64 = 2_000_000;

/// The performer's true signal: a slow swing, a faster one, and time itself (in kiloseconds) to see it run.
pub fn truth(t_secs: f64) -> [f32; 3] {
    let swing = |hertz: f64, amplitude: f64| {
        (0.5 + amplitude * (std::f64::consts::TAU * hertz * t_secs).sin()) as f32
    };
    [swing(0.5, 0.4), swing(2.0, 0.2), (t_secs / 1000.0) as f32]
}

/// A datagram of the phone at true time `t_secs`, labelled with `time`.
pub fn datagram(name: &str, time: QualifiedFrameTime, t_secs: f64) -> Vec<u8> {
    let mut curves = [[0; 4]; NUM_CURVES];
    for (curve, value) in curves.iter_mut().zip(truth(t_secs)) {
        *curve = value.to_be_bytes();
    }
    let mut bytes = Vec::new();
    Packet {
        device_id: b"00000000-0000-4000-8000-00000000000A",
        subject: name.as_bytes(),
        frame: time.frame as i32,
        sub_frame: time.sub_frame,
        rate_num: time.rate.num() as i32,
        rate_den: time.rate.den() as i32,
        curves: Some(&curves),
    }
    .write(&mut bytes);
    bytes
}

/// Events of a decoder straight into a client.
pub struct ToClient<'a>(pub &'a mut Client);

impl Sink for ToClient<'_> {
    fn static_data(&mut self, key: &SubjectKey, data: &StaticData, at: WorldTime) {
        // A refusal shows in what the client answers.
        let _ = self.0.push_static(key, data, at);
    }

    fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        self.0.push_frame(key, meta, data);
    }

    fn removed(&mut self, key: &SubjectKey, _at: WorldTime) {
        self.0.remove(key);
    }
}

/// One way a session can go.
pub struct Session {
    /// The network.
    pub faults: Faults,
    /// Seconds simulated.
    pub secs: f64,
    /// Label of the frame that is true at a time; lets clocks step, wrap and restart. `None`: the phone is silent.
    pub label: fn(f64) -> Option<f64>,
    /// How far behind now the reader reads.
    pub offset_secs: f64,
    /// When a datagram that entered the network at a time comes out of it: holds, queues, other ways.
    pub route: fn(f64) -> f64,
    /// Frames per second of phone and timecode.
    pub rate: FrameRate,
}

/// What a reader at 90 Hz saw.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// Reads that were answered.
    pub reads: u64,
    /// Largest error against the true signal at the time read, over reads between two frames.
    pub max_error: f64,
    /// Root mean square of all errors.
    pub rms_error: f64,
    /// Largest step back of the performer's time, in seconds.
    pub max_back_secs: f64,
    /// Longest time for which the performer's time stood still, in seconds.
    pub max_still_secs: f64,
    /// Largest step forward of the performer's time between two reads, in seconds.
    pub max_ahead_secs: f64,
    /// Largest change of a curve between two reads; the signal itself moves by at most 0.03.
    pub max_jump: f64,
    /// Share of reads between two frames or on one.
    pub good_share: f64,
    /// Lost as counted by the client.
    pub lost: u64,
    /// Clock steps as counted by the client.
    pub clock_steps: u64,
}

/// Runs a session and reads it in world time.
///
/// # Panics
/// Never for a name and settings that are constants of this file.
pub fn run(session: &Session) -> Report {
    let name = SubjectName::new("sim").expect("a constant name");
    let rate = session.rate;
    let mut client = Client::default();
    client.set_default_settings(SourceSettings {
        world_offset_secs: session.offset_secs,
        ..SourceSettings::default()
    });
    let mut decoder = LiveLinkFaceDecoder::new(Options::default());
    let from = SocketAddr::from(([10, 0, 0, 1], 5000));
    let mut network = BadNetwork::new(session.faults, 42);
    let mut out = Evaluated::default();
    let mut report = Report::default();
    let (mut frame, mut read) = (0i64, 0i64);
    let (mut squares, mut good) = (0.0, 0u64);
    let mut before: Option<[f32; 2]> = None;
    let (mut shown, mut shown_since): (Option<f64>, f64) = (None, 0.0);
    let read_rate = FrameRate::FPS_90;
    let end = (session.secs * 1e9) as i64;
    loop {
        let (next_frame, next_read) = (rate.nanos_of(frame), read_rate.nanos_of(read));
        let next_due = network.next_due().unwrap_or(i64::MAX);
        let now = next_frame.min(next_read).min(next_due);
        if now > end {
            break;
        }
        let t = now as f64 / 1e9;
        if next_due == now {
            while let Some(bytes) = network.pop(now) {
                let world = WorldTime::from_nanos(now);
                // Rejections show as losses.
                let _ = decoder.handle_datagram(world, from, &bytes, &mut ToClient(&mut client));
            }
        } else if next_frame == now {
            frame += 1;
            if let Some(label) = (session.label)(t) {
                // As the phone counts: in whole frames and a fraction of its own rate.
                let frames = label * rate.hertz();
                let time = QualifiedFrameTime {
                    sub_frame: (frames.fract() as f32).clamp(0.0, 0.999_999),
                    ..QualifiedFrameTime::whole(frames as i64, rate)
                };
                let out = ((session.route)(t) * 1e9).round() as i64;
                network.push(out.max(now) + BASE_DELAY_NANOS, &datagram("sim", time, t));
            }
        } else {
            read += 1;
            let world = WorldTime::from_nanos(now);
            let answer = client.evaluate(&name, At::World(world), world, &mut out);
            if matches!(answer.quality, hub::client::Quality::None) {
                continue;
            }
            // The first second lets buffer and clock fill.
            if t < 1.0 {
                continue;
            }
            look(&mut report, &answer, &out, t, &mut shown, &mut shown_since);
            let values = [out.data.properties[0], out.data.properties[1]];
            if let Some(before) = before.replace(values) {
                for (a, b) in before.iter().zip(values) {
                    report.max_jump = report.max_jump.max(f64::from((a - b).abs()));
                }
            }
            let expected = truth(t - session.offset_secs - BASE_DELAY_NANOS as f64 / 1e9);
            let error = out.data.properties[..2]
                .iter()
                .zip(expected)
                .map(|(a, b)| f64::from((a - b).abs()))
                .fold(0.0, f64::max);
            squares += error * error;
            if is_good(&answer) {
                good += 1;
                report.max_error = report.max_error.max(error);
            }
        }
    }
    report.rms_error = (squares / report.reads.max(1) as f64).sqrt();
    report.good_share = good as f64 / report.reads.max(1) as f64;
    if let Some(view) = client.subjects().next() {
        report.lost = view.counts().lost;
        report.clock_steps = view.counts().clock_steps;
    }
    report
}

fn is_good(answer: &Evaluation) -> bool {
    use hub::client::Quality;
    matches!(
        answer.quality,
        Quality::Exact { .. } | Quality::Blended { .. }
    )
}

fn look(
    report: &mut Report,
    answer: &Evaluation,
    out: &Evaluated,
    t: f64,
    shown: &mut Option<f64>,
    since: &mut f64,
) {
    report.reads += 1;
    // While easing to rest the third curve is not the performer's time.
    if matches!(answer.quality, hub::client::Quality::Stale { .. }) {
        *shown = None;
        return;
    }
    let performed = f64::from(out.data.properties[2]) * 1000.0;
    if let Some(before) = *shown {
        report.max_back_secs = report.max_back_secs.max(before - performed);
        report.max_ahead_secs = report.max_ahead_secs.max(performed - before);
        if performed > before + 1e-4 {
            *since = t;
        }
        report.max_still_secs = report.max_still_secs.max(t - *since);
    } else {
        *since = t;
    }
    *shown = Some(performed);
}
