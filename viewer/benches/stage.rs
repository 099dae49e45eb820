//! Budget defended: a stage of eight performers with everything on loses nothing on two cores.
//!
//! A performer is a phone's face at 60 Hz, a body of 65 bones at 100 Hz, and two gloves of 20 bones at 60 Hz, merged
//! into one virtual subject. All that is recorded, and sent on by all five kinds of output, two web pages among the
//! receivers. The senders and the receivers are threads of this very process (`rig-…`), so their share of the machine
//! is told apart from the hub's.
//!
//! Not a criterion bench: it paces real datagrams over loopback. It fails when anything was dropped by us. What the
//! kernel dropped because a receive buffer was full is counted apart, from `/proc/net/udp`, and so are ticks that an
//! output missed because the machine stood still. Percentages and percentiles are printed and fail nothing.

use std::{
    collections::BTreeMap,
    io::{BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream, UdpSocket},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use hub::{
    FrameBody, FrameData, FrameMeta, FrameRate, Skeleton, SourceTime, StaticBody, StaticData,
    SubjectName, Transform, arkit::NUM_CURVES,
};
use sources::{livelinkface::Packet, native::NativeSender, net::socket, synthetic::Performer};
use viewer::{HubClock, live::Live, outputs::RunningOutput, stage::Stage};

const PERFORMERS: usize = if cfg!(debug_assertions) { 2 } else { 8 };
const SECONDS: i64 = if cfg!(debug_assertions) { 2 } else { 20 };
/// Until subjects, virtual subjects and outputs have found each other.
const WARM_UP: Duration = Duration::from_millis(if cfg!(debug_assertions) { 500 } else { 2000 });
const BODY_BONES: usize = 65;
const GLOVE_BONES: usize = 20;
const PAGES: usize = 2;
/// Outputs tick at their usual rate.
const TICK_HZ: f64 = 60.0;
/// Clock ticks a second in `/proc`, which Linux fixes for all programs.
const CPU_TICKS: f64 = 100.0;

fn say(line: &str) {
    // A closed pipe is no reason to fail a bench.
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn thread(name: &str, run: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    std::thread::Builder::new()
        .name(format!("rig-{name}"))
        .spawn(run)
        .expect("a thread")
}

// ---------------------------------------------------------------- senders

/// The synthetic body with bones of no name in particular up to 65, and a hand of it with some up to 20.
struct Cast {
    body: StaticData,
    gloves: [StaticData; 2],
    /// Bones of the body that each glove begins with.
    hands: [Vec<usize>; 2],
}

fn padded(mut skeleton: Skeleton, to: usize, label: &str) -> StaticData {
    for number in skeleton.num_bones()..to {
        skeleton.bone_names.push(format!("{label}{number}"));
        skeleton.parents.push(Some(0));
        skeleton.rest.push(Transform::IDENTITY);
    }
    StaticData::animation(skeleton)
}

impl Cast {
    fn new(performer: &Performer) -> Self {
        let statics = performer.body_static();
        let StaticBody::Animation(body) = statics.body else {
            unreachable!("the synthetic body is a skeleton")
        };
        let hand = |name: &str| {
            let mut chosen: Vec<usize> = Vec::new();
            for bone in 0..body.num_bones() {
                let parent = body.parents[bone].map(|p| p as usize);
                if body.bone_names[bone] == name || parent.is_some_and(|p| chosen.contains(&p)) {
                    chosen.push(bone);
                }
            }
            chosen
        };
        let hands = ["LeftHand", "RightHand"].map(hand);
        let glove = |chosen: &Vec<usize>| {
            let place = |bone: u32| {
                let at = chosen.iter().position(|b| *b == bone as usize);
                at.map(|p| p as u32)
            };
            let skeleton = Skeleton {
                bone_names: chosen.iter().map(|b| body.bone_names[*b].clone()).collect(),
                parents: chosen
                    .iter()
                    .map(|b| body.parents[*b].and_then(place))
                    .collect(),
                rest: chosen.iter().map(|b| body.rest[*b]).collect(),
            };
            padded(skeleton, GLOVE_BONES, "Sensor")
        };
        let gloves = [glove(&hands[0]), glove(&hands[1])];
        Self {
            body: padded(body, BODY_BONES, "Extra"),
            gloves,
            hands,
        }
    }
}

/// What one performer sent.
#[derive(Clone, Copy, Default)]
struct Sent {
    faces: u64,
    bodies: u64,
    gloves: u64,
    face_datagrams: u64,
    native_datagrams: u64,
}

impl Sent {
    fn frames(&self) -> u64 {
        self.faces + self.bodies + self.gloves
    }
}

fn subject(text: &str) -> SubjectName {
    SubjectName::new(text).expect("a short name")
}

/// Sends for `SECONDS`, each frame at its own moment.
fn perform(number: usize, faces: SocketAddr, natives: SocketAddr, clock: HubClock) -> Sent {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket to send from");
    let performer = Performer::new(number as u64 + 1);
    let cast = Cast::new(&performer);
    let names = ["Body", "GloveL", "GloveR"].map(|part| subject(&format!("{part}{number}")));
    let statics = [&cast.body, &cast.gloves[0], &cast.gloves[1]];
    let mut sender = NativeSender::new(number as u64 + 1, "bench");
    let mut sent = Sent::default();
    let mut datagrams = 0;
    for (name, statics) in names.iter().zip(statics) {
        sender.static_data(name, statics, clock.now(), |d| {
            socket.send_to(d, natives).expect("loopback takes it");
            datagrams += 1;
        });
    }
    let mut frames: [FrameData; 3] = std::array::from_fn(|part| FrameData {
        body: FrameBody::Animation(vec![Transform::IDENTITY; statics[part].num_transforms()]),
        properties: Vec::new(),
    });
    let mut pose = Vec::new();
    let mut face = Vec::new();
    let device = format!("00000000-0000-4000-8000-{number:012}");
    let phone = format!("Phone{number}");
    // Performers do not send in step.
    let start = clock.now().as_nanos() + 50_000_000 + number as i64 * 1_300_000;
    let (at_60, at_100) = (FrameRate::FPS_60, FrameRate::FPS_100);
    let (mut next_60, mut next_100) = (0i64, 0i64);
    loop {
        let due = at_60.nanos_of(next_60).min(at_100.nanos_of(next_100));
        if due >= SECONDS * 1_000_000_000 {
            break;
        }
        let wait = start + due - clock.now().as_nanos();
        if wait > 0 {
            std::thread::sleep(Duration::from_nanos(wait.unsigned_abs()));
        }
        let secs = due as f64 / 1e9;
        performer.body(secs, &mut pose);
        let is_body = at_100.nanos_of(next_100) == due;
        let parts = if is_body { 0..1 } else { 1..3 };
        for part in parts {
            if let FrameBody::Animation(bones) = &mut frames[part].body {
                match part {
                    0 => bones[..pose.len()].copy_from_slice(&pose),
                    glove => {
                        for (bone, of) in bones.iter_mut().zip(&cast.hands[glove - 1]) {
                            *bone = pose[*of];
                        }
                    }
                }
            }
            let now = clock.now();
            let meta = FrameMeta {
                // Its delay is measured by it: both ends read one clock.
                source_time: Some(SourceTime::from_nanos(now.as_nanos())),
                ..FrameMeta::default()
            };
            sender.frame(&names[part], &meta, Some(&frames[part]), now, |d| {
                socket.send_to(d, natives).expect("loopback takes it");
                datagrams += 1;
            });
        }
        if is_body {
            sent.bodies += 1;
            next_100 += 1;
            continue;
        }
        sent.gloves += 2;
        let mut values = [0.0; NUM_CURVES];
        performer.face(secs, &mut values);
        let mut curves = values.map(f32::to_be_bytes);
        // The send time goes into the last curve pair, as two halves that an f32 holds exactly.
        let now = clock.now().as_nanos();
        curves[58] = (((now >> 20) & 0xff_ffff) as f32 / 16_777_216.0).to_be_bytes();
        curves[59] = ((now & 0xf_ffff) as f32 / 1_048_576.0).to_be_bytes();
        face.clear();
        Packet {
            device_id: device.as_bytes(),
            subject: phone.as_bytes(),
            frame: next_60 as i32,
            sub_frame: 0.0,
            rate_num: 60,
            rate_den: 1,
            curves: Some(&curves),
        }
        .write(&mut face);
        socket.send_to(&face, faces).expect("loopback takes it");
        sent.faces += 1;
        sent.face_datagrams += 1;
        next_60 += 1;
    }
    sent.native_datagrams = datagrams;
    sent
}

/// The send time out of the two curves, given that it is less than 2⁴⁴ ns.
fn sent_nanos(high: f32, low: f32) -> i64 {
    let (high, low) = ((high * 16_777_216.0) as i64, (low * 1_048_576.0) as i64);
    high << 20 | low
}

// ---------------------------------------------------------------- receivers

/// A program that receives: counts datagrams until told to stop.
struct Program {
    addr: SocketAddr,
    datagrams: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Program {
    fn new(kind: &str, stop: &Arc<AtomicBool>) -> Self {
        // With the receive buffer that our own sources ask for.
        let bound = socket::bind(([127, 0, 0, 1], 0).into()).expect("a socket");
        let wait = Duration::from_millis(100);
        bound
            .socket
            .set_read_timeout(Some(wait))
            .expect("a timeout");
        let datagrams = Arc::new(AtomicU64::new(0));
        let (count, stop) = (Arc::clone(&datagrams), Arc::clone(stop));
        Self {
            addr: bound.addr,
            datagrams,
            thread: thread(kind, move || {
                let mut buffer = vec![0; 65_536];
                loop {
                    if bound.socket.recv(&mut buffer).is_ok() {
                        count.fetch_add(1, Ordering::Relaxed);
                    } else if stop.load(Ordering::Relaxed) {
                        return;
                    }
                }
            }),
        }
    }
}

/// A page of a few lines that knows RFC 6455: counts whole messages until the hub says goodbye.
fn page(addr: SocketAddr, messages: Arc<AtomicU64>) -> JoinHandle<()> {
    thread("page", move || {
        let mut stream = TcpStream::connect(addr).expect("a page may connect");
        // The key is the example of RFC 6455, section 1.3.
        write!(
            stream,
            "GET / HTTP/1.1\r\nHost: {addr}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        .expect("the request goes out");
        let mut reader = BufReader::with_capacity(1 << 16, stream);
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            reader.read_exact(&mut byte).expect("an answer");
            head.push(byte[0]);
        }
        assert!(
            head.starts_with(b"HTTP/1.1 101"),
            "the page was turned away"
        );
        let mut payload = Vec::new();
        while let Some(kind) = message(&mut reader, &mut payload) {
            match kind {
                0x81 => {
                    messages.fetch_add(1, Ordering::Relaxed);
                }
                0x88 => return,
                // A ping is answered with what it holds, masked with zeros.
                0x89 => {
                    let held = &payload[..payload.len().min(125)];
                    let mut pong = vec![0x8a, 0x80 | held.len() as u8, 0, 0, 0, 0];
                    pong.extend_from_slice(held);
                    // A connection that is over shows at the next read.
                    let _ = reader.get_mut().write_all(&pong);
                }
                _ => {}
            }
        }
    })
}

/// The next message and its kind, by the framing of RFC 6455, section 5.2; `None` when the connection is over.
fn message(reader: &mut BufReader<TcpStream>, payload: &mut Vec<u8>) -> Option<u8> {
    let mut start = [0; 2];
    reader.read_exact(&mut start).ok()?;
    let mut long = [0; 8];
    let length = match start[1] {
        126 => {
            reader.read_exact(&mut long[6..]).ok()?;
            u64::from_be_bytes(long)
        }
        127 => {
            reader.read_exact(&mut long).ok()?;
            u64::from_be_bytes(long)
        }
        short => u64::from(short),
    };
    payload.resize(usize::try_from(length).ok()?, 0);
    reader.read_exact(payload).ok()?;
    Some(start[0])
}

// ---------------------------------------------------------------- what the system says

/// Datagrams that the kernel dropped at a socket because its buffer was full; `None` where it does not tell.
fn kernel_drops(addr: SocketAddr) -> Option<u64> {
    let table = std::fs::read_to_string("/proc/net/udp").ok()?;
    let port = format!(":{:04X}", addr.port());
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_it = fields.get(1).is_some_and(|local| local.ends_with(&port));
        is_it.then(|| fields.last()?.parse().ok()).flatten()
    })
}

/// Processor seconds so far: of the hub's threads, and of this bench's own.
fn cpu_secs() -> Option<[f64; 2]> {
    let mut secs = [0.0; 2];
    for task in std::fs::read_dir("/proc/self/task").ok()?.flatten() {
        let Ok(stat) = std::fs::read_to_string(task.path().join("stat")) else {
            continue;
        };
        // `id (name) state …`; user and system time are fields 14 and 15.
        let (head, rest) = stat.rsplit_once(')')?;
        let name = head.split_once('(')?.1;
        let mut fields = rest.split_whitespace().skip(11);
        let mut ticks = || fields.next()?.parse::<f64>().ok();
        let spent = (ticks()? + ticks()?) / CPU_TICKS;
        let is_rig = name.starts_with("rig-");
        secs[usize::from(is_rig)] += spent;
    }
    Some(secs)
}

// ---------------------------------------------------------------- the stage

fn stage_text(programs: &BTreeMap<&str, Program>) -> String {
    let source = |kind: &str| format!("[[source]]\nkind = \"{kind}\"\nlisten = \"127.0.0.1:0\"\n");
    let mut parts: Vec<String> = ["livelinkface", "native"].map(source).to_vec();
    parts.extend((0..PERFORMERS).map(|number| {
        format!(
            "[[virtual]]\nname = \"Hero{number}\"\nparts = [\n\
             {{ subject = \"Body{number}\" }},\n\
             {{ subject = \"GloveL{number}\", attach = {{ to = \"LeftHand\", bone = \"LeftHand\" }} }},\n\
             {{ subject = \"GloveR{number}\", attach = {{ to = \"RightHand\", bone = \"RightHand\" }} }},\n\
             {{ subject = \"Phone{number}\" }},\n]\n"
        )
    }));
    parts.extend(programs.iter().map(|(kind, program)| {
        format!(
            "[[output]]\nkind = \"{kind}\"\nto = [\"{}\"]\n",
            program.addr
        )
    }));
    parts.push("[[output]]\nkind = \"websocket\"\nlisten = \"127.0.0.1:0\"\n".to_owned());
    parts.concat()
}

/// Nanoseconds from send to the client holding the frame.
#[derive(Default)]
struct Delays {
    faces: Vec<i64>,
    natives: Vec<i64>,
    virtuals: u64,
}

fn percentiles(name: &str, delays: &mut [i64]) {
    delays.sort_unstable();
    let at = |q: f64| {
        let index = (delays.len().saturating_sub(1) as f64 * q) as usize;
        delays.get(index).map_or(f64::NAN, |n| *n as f64 / 1e3)
    };
    say(&format!(
        "{name:<16} {} frames, send to client: p50 {:.0} µs, p99 {:.0} µs, max {:.0} µs",
        delays.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    ));
}

/// Frames and missed ticks of each output, and the subjects it sends.
fn outputs(live: &Live) -> Vec<(String, u64, u64, usize)> {
    let stats = live.outputs().iter().map(RunningOutput::stats);
    stats
        .map(|s| (s.name, s.frames, s.missed_ticks, s.subjects.len()))
        .collect()
}

fn main() {
    let stop = Arc::new(AtomicBool::new(false));
    let programs: BTreeMap<&str, Program> = ["vmc", "livelinkface", "native", "osc"]
        .into_iter()
        .map(|kind| (kind, Program::new(kind, &stop)))
        .collect();
    let stage = Stage::parse(&stage_text(&programs)).expect("the stage is sound");
    let mut live = Live::start(&stage).expect("loopback can be bound");
    let clock = live.clock();
    let delays = Arc::new(Mutex::new(Delays::default()));
    live.observe(Box::new({
        let delays = Arc::clone(&delays);
        move |key, meta, data| {
            let now = clock.now().as_nanos();
            let mut delays = delays.lock().unwrap_or_else(PoisonError::into_inner);
            if key.source.as_str().starts_with("virtual/") {
                delays.virtuals += 1;
            } else if let Some(sent) = meta.source_time {
                delays.natives.push(now - sent.as_nanos());
            } else if let Some([high, low]) = data.and_then(|d| d.properties.get(58..60)) {
                delays.faces.push(now - sent_nanos(*high, *low));
            }
        }
    }));
    let web = live.outputs().iter().find_map(RunningOutput::listening);
    let web = web.expect("the websocket listens");
    let messages: Vec<Arc<AtomicU64>> = (0..PAGES).map(|_| Arc::default()).collect();
    let pages: Vec<JoinHandle<()>> = messages
        .iter()
        .map(|count| page(web, Arc::clone(count)))
        .collect();
    let folder = std::env::temp_dir().join(format!("ghostlight-stage-{}", std::process::id()));
    let recording = live
        .record(folder.clone(), "Stage", 0)
        .expect("the folder can be used");
    let sources: Vec<SocketAddr> = live.listening().iter().map(|l| l.addr).collect();
    say(&format!(
        "{PERFORMERS} performers for {SECONDS} s: face at 60 Hz, body of {BODY_BONES} bones at 100 Hz, two gloves of \
         {GLOVE_BONES} bones at 60 Hz; {PERFORMERS} virtual subjects; five outputs, {PAGES} pages; recording"
    ));

    let all_sent = Arc::new(Mutex::new(Vec::new()));
    let (faces, natives) = (sources[0], sources[1]);
    let performers: Vec<JoinHandle<()>> = (0..PERFORMERS)
        .map(|number| {
            let all_sent = Arc::clone(&all_sent);
            thread("performer", move || {
                let sent = perform(number, faces, natives, clock);
                let mut all = all_sent.lock().unwrap_or_else(PoisonError::into_inner);
                all.push(sent);
            })
        })
        .collect();
    std::thread::sleep(WARM_UP);
    let (began, cpu_before, before) = (clock.now(), cpu_secs(), outputs(&live));
    // Threads that have ended are no longer in /proc: look shortly before the performers end.
    let rest = SECONDS * 1_000_000_000 - clock.now().as_nanos().max(0);
    let rest = (rest - 200_000_000).max(100_000_000).unsigned_abs();
    std::thread::sleep(Duration::from_nanos(rest));
    let (ended, cpu_after, after) = (clock.now(), cpu_secs(), outputs(&live));
    for performer in performers {
        performer.join().expect("a performer ends");
    }
    std::thread::sleep(Duration::from_millis(500));

    // What came in, against what was sent.
    let sent = all_sent
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    let sum = |of: fn(&Sent) -> u64| -> u64 { sent.iter().map(of).sum() };
    let mut is_all_ours = true;
    let mut lost_by_kernel = 0;
    for (listening, expected) in live
        .listening()
        .iter()
        .zip([sum(|s| s.face_datagrams), sum(|s| s.native_datagrams)])
    {
        let stats = *listening
            .stats
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let dropped = kernel_drops(listening.addr).unwrap_or(0);
        lost_by_kernel += dropped;
        say(&format!(
            "{:<16} {expected} datagrams sent, {} received, {dropped} dropped by the kernel, {} refused",
            listening.kind,
            stats.datagrams,
            stats.rejected_total()
        ));
        is_all_ours &= stats.datagrams + dropped == expected && stats.rejected_total() == 0;
    }
    let made = delays
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .virtuals;
    let ended_take = live
        .finish(recording, "over")
        .expect("the take is finished");
    let info = &ended_take.finished.info;
    let recorded = info
        .subjects
        .iter()
        .filter(|s| !s.source.starts_with("virtual/"));
    let recorded: u64 = recorded.map(|s| s.frames).sum();
    let recorded_virtuals = info.frames() - recorded;
    say(&format!(
        "{:<16} {} frames sent, {recorded} recorded, and {recorded_virtuals} of virtual subjects; {} dropped by us, \
         {} raw datagrams dropped, verified {}",
        "take",
        sum(Sent::frames),
        info.dropped_by_us,
        info.dropped_raw,
        ended_take.finished.complete
    ));

    // What went out.
    let seconds = (ended - began) as f64 / 1e9;
    let mut has_all_ticks = true;
    for (before, after) in before.iter().zip(&after) {
        let (name, frames, missed, subjects) = after;
        let (frames, missed) = (frames - before.1, missed - before.2);
        let expected = (TICK_HZ * seconds).floor() as u64 * *subjects as u64;
        // A report is up to a tenth of a second old, at either end.
        let tolerated = 12 * *subjects as u64;
        say(&format!(
            "{name:<16} {subjects} subjects, {frames} frames in {seconds:.1} s ({:.1} a second each), {missed} ticks missed",
            frames as f64 / seconds / (*subjects).max(1) as f64
        ));
        has_all_ticks &=
            *subjects > 0 && frames + missed * *subjects as u64 + tolerated >= expected;
    }
    if let (Some(before), Some(after)) = (cpu_before, cpu_after) {
        let share = |of: usize| 100.0 * (after[of] - before[of]) / seconds;
        say(&format!(
            "{:<16} hub {:.0} % of one core, senders and receivers of this bench {:.0} %",
            "processor",
            share(0),
            share(1)
        ));
    }
    {
        let mut delays = delays.lock().unwrap_or_else(PoisonError::into_inner);
        let Delays { faces, natives, .. } = &mut *delays;
        percentiles("faces", faces);
        percentiles("bodies, gloves", natives);
    }
    for output in live.outputs() {
        output.set_enabled(false);
    }
    std::thread::sleep(Duration::from_millis(300));
    let mut is_all_out = true;
    for output in live.outputs() {
        let stats = output.stats();
        let receivers = stats.receivers.iter();
        let left_out: u64 = receivers.clone().map(|r| r.skipped + r.failed).sum();
        let handed: u64 = receivers.map(|r| r.sent).sum();
        let program = programs.get(stats.kind.as_str());
        let came = program.map(|p| p.datagrams.load(Ordering::Relaxed));
        let by_kernel = program.and_then(|p| kernel_drops(p.addr)).unwrap_or(0);
        let came_text = came.map_or_else(String::new, |came| {
            format!(", {came} came, {by_kernel} dropped by the kernel at the receiver")
        });
        say(&format!(
            "{:<16} {handed} handed over{came_text}; {left_out} left out, {} dropped by us, faults: {:?} {:?}",
            stats.name, stats.dropped, stats.clashing, stats.missing
        ));
        is_all_out &= stats.dropped == 0 && stats.limited == 0;
        is_all_out &= stats.clashing.is_empty() && stats.missing.is_empty();
        if let Some(came) = came {
            is_all_out &= left_out == 0 && came + by_kernel == handed;
        }
    }
    for report in live.virtuals() {
        assert!(report.gives && report.faults.is_empty(), "{report:?}");
    }
    live.stop();
    stop.store(true, Ordering::Relaxed);
    for program in programs.into_values() {
        program.thread.join().expect("a receiver ends");
    }
    for page in pages {
        page.join().expect("a page ends");
    }
    for (number, count) in messages.iter().enumerate() {
        let count = count.load(Ordering::Relaxed);
        say(&format!("page {:<11} {count} messages", number + 1));
        assert!(count > 0, "a page got nothing");
    }
    // Best effort: a temporary folder that stays is no failure of the bench.
    let _ = std::fs::remove_dir_all(&folder);

    assert!(is_all_ours, "datagrams were lost by us, or refused");
    assert_eq!(
        (info.dropped_by_us, info.dropped_raw),
        (0, 0),
        "the recorder dropped frames"
    );
    assert!(ended_take.finished.complete, "the take is not whole");
    if lost_by_kernel == 0 {
        assert_eq!(recorded, sum(Sent::frames), "a recording must lose nothing");
        assert_eq!(info.lost(), 0, "frames count as lost that were not");
    } else {
        say("the kernel dropped datagrams: this machine was too busy to judge the take");
    }
    assert!(
        recorded_virtuals >= made,
        "frames of virtual subjects are missing from the take"
    );
    assert!(has_all_ticks, "an output sent less than its ticks");
    assert!(is_all_out, "an output left something out");
}
