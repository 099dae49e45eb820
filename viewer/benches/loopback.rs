//! Budget defended: from a phone's `send` to a frame that can be evaluated, 50 subjects at 60 Hz, p99 under
//! 1 ms and within 1.5 times a bare socket reader measured in the same run; a recording of the same loses
//! nothing.
//!
//! Not a criterion bench: it paces real datagrams over loopback and reports percentiles. Each
//! round has the same 50 phones at 60 Hz, in turn against:
//! - *bare*: a thread that blocks in `recv_from` and notes the time, nothing else;
//! - *tokio*: a task that awaits the same socket and notes the time: what waiting costs without our code;
//! - *hub*: the whole path, to the moment the client holds the frame;
//! - *hub, recording*: the same with a take being written.
//!
//! The first two seconds of each round, in which buffers fill for the first time, are shown apart.
//!
//! Then what the socket alone can take as fast as one thread sends.

use std::{
    io::Write as _,
    net::{SocketAddr, UdpSocket},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hub::{FrameRate, arkit::NUM_CURVES};
use sources::{Protocol, livelinkface::Packet, synthetic::Performer};
use viewer::{
    HubClock,
    live::Live,
    stage::{SourceTable, Stage},
};

const SUBJECTS: usize = if cfg!(debug_assertions) { 5 } else { 50 };
const SECONDS: i64 = if cfg!(debug_assertions) { 1 } else { 6 };
/// The ways are measured in turn, so that what else the machine does hits all of them alike.
const ROUNDS: usize = if cfg!(debug_assertions) { 1 } else { 3 };

/// Nanoseconds from send to receipt; the send time travels in the device id.
type Delays = Arc<Mutex<Vec<i64>>>;

fn say(line: &str) {
    // A closed pipe is no reason to fail a bench.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Sends frame i of each subject at its own moment within the tick, as phones do.
fn phones(to: SocketAddr, clock: HubClock) -> u64 {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket to send from");
    let performer = Performer::new(1);
    let rate = FrameRate::FPS_60;
    let mut bytes = Vec::new();
    let mut sent = 0;
    let start = clock.now().as_nanos() + 50_000_000;
    for i in 0..60 * SECONDS {
        let mut values = [0.0; NUM_CURVES];
        performer.face(i as f64 / 60.0, &mut values);
        let curves = values.map(f32::to_be_bytes);
        for subject in 0..SUBJECTS {
            let due =
                start + rate.nanos_of(i) + rate.frame_nanos() * subject as i64 / SUBJECTS as i64;
            let wait = due - clock.now().as_nanos();
            if wait > 0 {
                std::thread::sleep(Duration::from_nanos(wait as u64));
            }
            bytes.clear();
            // The id tells the phone, the frame number and sub-frame are honest; the send time goes into the
            // last curve pair, as two 24-bit halves that an f32 holds exactly.
            let mut curves = curves;
            let now = clock.now().as_nanos();
            curves[58] = (((now >> 20) & 0xff_ffff) as f32 / 16_777_216.0).to_be_bytes();
            curves[59] = ((now & 0xf_ffff) as f32 / 1_048_576.0).to_be_bytes();
            Packet {
                device_id: format!("00000000-0000-4000-8000-{subject:012}").as_bytes(),
                subject: format!("Phone{subject}").as_bytes(),
                frame: i as i32,
                sub_frame: 0.0,
                rate_num: 60,
                rate_den: 1,
                curves: Some(&curves),
            }
            .write(&mut bytes);
            socket.send_to(&bytes, to).expect("loopback takes it");
            sent += 1;
        }
    }
    sent
}

/// The send time out of the two curves, given that it is less than 2⁴⁴ ns before `now`.
fn sent_nanos(high: f32, low: f32) -> i64 {
    let (high, low) = ((high * 16_777_216.0) as i64, (low * 1_048_576.0) as i64);
    high << 20 | low
}

/// Percentiles over all but the first two seconds, which stand behind them; returns the 99th.
fn report(name: &str, sent: u64, delays: &Delays) -> f64 {
    let mut warm = delays
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    let received = warm.len();
    let mut cold: Vec<i64> = warm.drain(..received.min(2 * 60 * SUBJECTS)).collect();
    if warm.is_empty() {
        std::mem::swap(&mut warm, &mut cold);
    }
    warm.sort_unstable();
    cold.sort_unstable();
    let at = |sorted: &[i64], q: f64| {
        let index = ((sorted.len() as f64 - 1.0) * q) as usize;
        sorted.get(index).map_or(f64::NAN, |n| *n as f64 / 1e3)
    };
    say(&format!(
        "{name:<16} {sent} sent, {received} received; p50 {:.0} µs, p99 {:.0} µs, max {:.0} µs (first 2 s: p99 {:.0} µs)",
        at(&warm, 0.5),
        at(&warm, 0.99),
        at(&warm, 1.0),
        at(&cold, 0.99),
    ));
    at(&warm, 0.99)
}

fn bare(clock: HubClock) -> f64 {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let to = socket.local_addr().expect("bound");
    socket
        .set_read_timeout(Some(Duration::from_millis(200)))
        .expect("a timeout");
    let delays = Delays::default();
    let stop = Arc::new(AtomicBool::new(false));
    let reader = std::thread::Builder::new()
        .name("bare".into())
        .spawn({
            let (delays, stop) = (Arc::clone(&delays), Arc::clone(&stop));
            move || {
                let mut buffer = [0; 2048];
                while !stop.load(Ordering::Relaxed) {
                    let Ok((len, _)) = socket.recv_from(&mut buffer) else {
                        continue;
                    };
                    let now = clock.now().as_nanos();
                    let curve = |i: usize| {
                        let at = len - 4 * NUM_CURVES + 4 * i;
                        f32::from_be_bytes(*buffer[at..].first_chunk().expect("in the packet"))
                    };
                    let sent = sent_nanos(curve(58), curve(59));
                    delays
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(now - sent);
                }
            }
        })
        .expect("a thread");
    let sent = phones(to, clock);
    std::thread::sleep(Duration::from_millis(100));
    stop.store(true, Ordering::Relaxed);
    reader.join().expect("the reader ends");
    report("bare socket", sent, &delays)
}

fn under_tokio(clock: HubClock) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.set_nonblocking(true).expect("non-blocking");
    let to = socket.local_addr().expect("bound");
    let delays = Delays::default();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let reader = std::thread::Builder::new()
        .name("tokio".into())
        .spawn({
            let delays = Arc::clone(&delays);
            move || {
                runtime.block_on(async move {
                    let socket = tokio::net::UdpSocket::from_std(socket).expect("registered");
                    let mut stopped = stopped;
                    let mut buffer = [0; 2048];
                    loop {
                        tokio::select! {
                            _ = &mut stopped => return,
                            got = socket.recv_from(&mut buffer) => {
                                let now = clock.now().as_nanos();
                                let Ok((len, _)) = got else { continue };
                                let curve = |i: usize| {
                                    let at = len - 4 * NUM_CURVES + 4 * i;
                                    f32::from_be_bytes(*buffer[at..].first_chunk().expect("in the packet"))
                                };
                                let sent = sent_nanos(curve(58), curve(59));
                                delays.lock().unwrap_or_else(PoisonError::into_inner).push(now - sent);
                            }
                        }
                    }
                });
            }
        })
        .expect("a thread");
    let sent = phones(to, clock);
    std::thread::sleep(Duration::from_millis(100));
    // The reader may have ended by itself only if it broke down, which join tells.
    let _ = stop.send(());
    reader.join().expect("the reader ends");
    report("tokio alone", sent, &delays)
}

fn hub(name: &str, folder: Option<&std::path::Path>) -> f64 {
    let mut stage = Stage::default();
    let anywhere = ([127, 0, 0, 1], 0).into();
    stage
        .sources
        .push(SourceTable::new(Protocol::LiveLinkFace, anywhere));
    let mut live = Live::start(&stage).expect("loopback can be bound");
    let clock = live.clock();
    let delays = Delays::default();
    live.observe(Box::new({
        let delays = Arc::clone(&delays);
        move |_, _, data| {
            let now = clock.now().as_nanos();
            let Some(data) = data else {
                return;
            };
            let sent = sent_nanos(data.properties[58], data.properties[59]);
            delays
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(now - sent);
        }
    }));
    let recording = folder.map(|f| {
        live.record(f.to_owned(), "Bench", 0)
            .expect("the folder can be used")
    });
    let sent = phones(live.listening()[0].addr, clock);
    std::thread::sleep(Duration::from_millis(200));
    if let Some(recording) = recording {
        let ended = live
            .finish(recording, "over")
            .expect("the take is finished");
        let info = &ended.finished.info;
        say(&format!(
            "{:<16} {} recorded, {} lost, {} dropped by us, verified {}",
            "",
            info.frames(),
            info.lost(),
            info.dropped_by_us,
            ended.finished.complete
        ));
        assert_eq!(info.frames(), sent, "a recording must lose nothing");
    }
    live.stop();
    report(name, sent, &delays)
}

/// What one receiving thread takes from a socket while another sends as fast as it can.
fn flood() {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let to = socket.local_addr().expect("bound");
    socket
        .set_read_timeout(Some(Duration::from_millis(200)))
        .expect("a timeout");
    let sender = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let packets: u32 = if cfg!(debug_assertions) {
        1000
    } else {
        500_000
    };
    let clock = HubClock::new();
    let thread = std::thread::Builder::new()
        .name("flood".into())
        .spawn(move || {
            for _ in 0..packets {
                // Full buffers are what this measures.
                let _ = sender.send_to(&[0; 319], to);
            }
        })
        .expect("a thread");
    let mut buffer = [0; 2048];
    let (mut received, mut last) = (0u64, 0);
    while socket.recv_from(&mut buffer).is_ok() {
        received += 1;
        last = clock.now().as_nanos();
    }
    thread.join().expect("the sender ends");
    say(&format!(
        "socket alone     {:.0} datagrams of 319 bytes a second into one thread ({received} of {packets} came)",
        received as f64 / (last as f64 / 1e9)
    ));
}

fn main() {
    say(&format!("{SUBJECTS} subjects at 60 Hz for {SECONDS} s"));
    let folder = std::env::temp_dir().join(format!("ghostlight-bench-{}", std::process::id()));
    let (mut plain, mut recording) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let bare = bare(HubClock::new());
        under_tokio(HubClock::new());
        plain.push(hub("hub", None) / bare);
        recording.push(hub("hub, recording", Some(&folder)) / bare);
    }
    // Best effort: a temporary folder that stays is no failure of the bench.
    let _ = std::fs::remove_dir_all(&folder);
    let median = |ratios: &mut Vec<f64>| {
        ratios.sort_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    };
    say(&format!(
        "p99 against the bare socket's, median of {ROUNDS} rounds: hub {:.2} times, hub recording {:.2} times",
        median(&mut plain),
        median(&mut recording)
    ));
    flood();
}
