use std::{
    io::{Cursor, Read},
    net::UdpSocket,
    time::Duration,
};

use hub::{FrameData, FrameMeta, SourceId, StaticData, SubjectKey, SubjectName, Timecode};
use sources::{
    artnet::ArtTimeCode,
    ltc::{EncodeOptions, LtcEncoder},
    mtc::{full_frame, quarter_frames},
};

use super::*;

fn options(text: &str) -> TimecodeOptions {
    toml::from_str(text).unwrap()
}

fn shared() -> Arc<Mutex<Shared>> {
    Arc::new(Mutex::new(Shared::default()))
}

fn start(options: &TimecodeOptions, rate: FrameRate) -> (TimecodeIn, HubClock) {
    let clock = HubClock::new();
    let input = TimecodeIn::start(options, rate, clock, &shared()).unwrap();
    (input, clock)
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("not within 5 s: {what}");
}

fn feed(source: MasterSource, rate: Option<FrameRate>) -> Feed {
    let master = TimecodeMaster::new(MasterOptions {
        source,
        rate,
        ..MasterOptions::default()
    });
    Feed {
        master: Arc::new(Mutex::new(master)),
        report: Arc::default(),
        clock: HubClock::new(),
        stop: Arc::default(),
    }
}

/// LTC from a label on.
fn ltc(sample_rate: u32, rate: FrameRate, first: &str, frames: i64) -> Vec<f32> {
    let first = Timecode::parse(first, rate).unwrap();
    let mut encoder = LtcEncoder::new(sample_rate, rate, EncodeOptions::default()).unwrap();
    let mut samples = Vec::new();
    for i in 0..frames {
        let label = Timecode::from_frame(first.frame() + i, rate, first.drop()).unwrap();
        encoder.frame(&label, 0, &mut samples);
    }
    encoder.finish(&mut samples);
    samples
}

#[test]
fn the_table_is_read_and_mistakes_are_named() {
    let full = options(
        r#"
        source = "ltc"
        path = "tape.wav"
        sample_rate = 44100
        channel = 2
        listen = "127.0.0.1:0"
        subject = "演員"
        rate = "29.97"
        drop = true
        offset_frames = -1.5
        freewheel_secs = 10.0
        start = "10:00:00:00"
        "#,
    );
    assert_eq!(full.source, MasterSource::Ltc);
    assert_eq!(full.rate, Some(FrameRate::FPS_29_97));
    assert_eq!(full.offset_frames, -1.5);
    assert_eq!(full.subject.as_ref().unwrap().as_str(), "演員");
    assert_eq!(options(""), TimecodeOptions::default());
    assert!(full.check().is_ok());
    for text in [
        "sorce = \"ltc\"",
        "source = \"vitc\"",
        "rate = \"x\"",
        "listen = \"nowhere\"",
    ] {
        assert!(toml::from_str::<TimecodeOptions>(text).is_err(), "{text}");
    }
    for (text, wanted) in [
        ("source = \"ltc\"", "`path`"),
        ("source = \"mtc\"", "`path`"),
        ("source = \"subject\"", "`subject`"),
        ("source = \"ltc\"\npath = \"-\"\nchannel = 0", "`channel`"),
        (
            "source = \"ltc\"\npath = \"-\"\nsample_rate = 7999",
            "`sample_rate`",
        ),
        ("offset_frames = nan", "`offset_frames`"),
        ("freewheel_secs = -1.0", "`freewheel_secs`"),
    ] {
        let error = options(text).check().unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}: {error}");
    }
}

#[test]
fn relative_paths_are_relative_to_the_stage_file() {
    for (path, want) in [
        ("tape.wav", "/stage/tape.wav"),
        ("/dev/snd/midiC1D0", "/dev/snd/midiC1D0"),
        ("-", "-"),
        ("audio", "audio"),
        ("audio:USB", "audio:USB"),
    ] {
        let mut options = TimecodeOptions {
            path: Some(path.into()),
            ..TimecodeOptions::default()
        };
        options.relative_to(std::path::Path::new("/stage"));
        assert_eq!(options.path, Some(want.into()));
        options.source = MasterSource::Ltc;
        assert_eq!(options.takes_standard_input(), path == "-");
    }
}

#[test]
fn a_rate_of_slow_seconds_beside_a_hub_of_whole_ones_is_told() {
    let options = options("source = \"ltc\"\npath = \"-\"\nrate = \"23.976\"");
    assert_eq!(options.notes(FrameRate::FPS_60).len(), 1);
    assert!(options.notes(FrameRate::FPS_47_952).is_empty());
    assert!(
        TimecodeOptions::default()
            .notes(FrameRate::FPS_60)
            .is_empty()
    );
}

#[test]
fn the_system_clock_and_the_generator_run_free() {
    let (input, clock) = start(&TimecodeOptions::default(), FrameRate::FPS_30);
    let now = clock.now();
    let status = input.status(now);
    assert_eq!(status.state, MasterState::FreeRun);
    let told = lock(&input.master).timecode(now).unwrap();
    let wall = clock.timecode(now, FrameRate::FPS_30);
    assert!((told.as_nanos() - wall.as_nanos()).abs() < 1000);

    let options = options("source = \"free\"\nstart = \"10:00:00;00\"\nrate = \"29.97\"");
    let (input, clock) = start(&options, FrameRate::FPS_59_94);
    let text = input.status(clock.now()).timecode.unwrap();
    assert!(text.starts_with("10:00:00;"), "{text}");
    assert!(input.thread.is_none());
    let wrong = TimecodeOptions {
        start: Some("10:00:00:99".into()),
        ..options
    };
    let error = TimecodeIn::start(&wrong, FrameRate::FPS_30, clock, &shared());
    assert!(error.is_err());
}

#[test]
fn a_wav_file_plays_in_its_own_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.wav");
    let spec = hound::WavSpec {
        channels: 2,
        sample_rate: 48_000,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let mut writer = hound::WavWriter::create(&path, spec).unwrap();
    for x in ltc(48_000, FrameRate::FPS_25, "23:59:59:20", 25) {
        writer.write_sample(0i16).unwrap();
        writer.write_sample((x * 32_767.0) as i16).unwrap();
    }
    writer.finalize().unwrap();
    let mut options = TimecodeOptions {
        source: MasterSource::Ltc,
        path: Some(path.clone()),
        channel: 2,
        rate: Some(FrameRate::FPS_25),
        ..TimecodeOptions::default()
    };
    let (mut input, clock) = start(&options, FrameRate::FPS_25);
    let began = clock.now();
    wait_until("the end", || {
        input.status(clock.now()).input.ended.is_some()
    });
    let now = clock.now();
    assert!(now - began > 900_000_000, "25 frames last a second");
    let status = input.status(now);
    // All but the first frame, and the labels agree with the time that passed since: 00:00:00:20 began at 1 s.
    assert_eq!(status.counts.readings, 24, "{status:?}");
    assert_eq!((status.counts.jumps, status.counts.refused), (0, 0));
    assert_eq!(status.source_rate.as_deref(), Some("25"));
    assert_eq!(status.labels_agree, Some(true));
    let told = lock(&input.master).timecode(now).unwrap().as_nanos();
    let passed = told + 200_000_000;
    let off = passed - (now - began);
    // The thread began a little before or after we looked.
    assert!(off.abs() < 300_000_000, "{off}");
    input.stop();

    options.channel = 3;
    let error = TimecodeIn::start(&options, FrameRate::FPS_25, clock, &shared());
    assert!(error.is_err_and(|e| format!("{e:#}").contains("channel 3")));
    options.path = Some(folder.path().to_owned());
    let error = TimecodeIn::start(&options, FrameRate::FPS_25, clock, &shared());
    assert!(error.is_err_and(|e| format!("{e:#}").contains("folder")));
    std::fs::write(&path, b"no sound").unwrap();
    options.path = Some(path);
    let error = TimecodeIn::start(&options, FrameRate::FPS_25, clock, &shared());
    assert!(error.is_err_and(|e| format!("{e:#}").contains("WAV")));
}

/// Gives what it has in odd pieces.
struct Trickle(Cursor<Vec<u8>>);

impl Read for Trickle {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let most = into.len().min(1001);
        self.0.read(&mut into[..most])
    }
}

#[test]
fn samples_from_a_pipe_are_read_whole_in_odd_pieces() {
    let feed = feed(MasterSource::Ltc, None);
    let bytes = ltc(48_000, FrameRate::FPS_29_97, "17:23:58;14", 20)
        .iter()
        .flat_map(|x| ((x * 32_767.0) as i16).to_le_bytes())
        .collect();
    let mut pipe = Trickle(Cursor::new(bytes));
    sound::run_samples(&mut pipe, 48_000, None, &feed).unwrap();
    let master = lock(&feed.master);
    assert_eq!(master.counts().readings, 19);
    assert_eq!(
        master.source_counting(),
        Some((FrameRate::FPS_29_97, DropFrame::Drop))
    );
    assert_eq!(master.counts().refused, 0);
}

#[test]
fn bytes_of_a_midi_device_are_read() {
    let feed = feed(MasterSource::Mtc, None);
    let mut bytes = Vec::new();
    let rate = FrameRate::FPS_25;
    for i in 0..4 {
        let label = Timecode::from_frame(1000 + 2 * i, rate, DropFrame::NonDrop).unwrap();
        bytes.extend(quarter_frames(&label).unwrap().concat());
    }
    bytes.extend(full_frame(&Timecode::parse("01:00:00:00", rate).unwrap()).unwrap());
    inputs::run_midi(&mut Cursor::new(bytes), None, &feed).unwrap();
    let master = lock(&feed.master);
    assert_eq!(master.counts().readings, 4);
    assert_eq!(master.source_counting(), Some((rate, DropFrame::NonDrop)));
    assert_eq!(lock(&feed.report).taken, 4 * 16 + 10);
}

#[test]
fn art_net_is_heard_on_its_socket_and_the_stop_is_prompt() {
    let options = options("source = \"artnet\"\nlisten = \"127.0.0.1:0\"");
    let (mut input, clock) = start(&options, FrameRate::FPS_50);
    let desk = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = input.listening().unwrap();
    assert_eq!(input.status(clock.now()).state, MasterState::NoTimecode);
    desk.send_to(b"no Art-Net", to).unwrap();
    for frames in 0..25 {
        let packet = ArtTimeCode {
            label: [10, 20, 30, frames],
            kind: 1,
        };
        desk.send_to(&packet.to_bytes(), to).unwrap();
        std::thread::sleep(Duration::from_millis(40));
    }
    wait_until("25 readings", || {
        input.status(clock.now()).counts.readings == 25
    });
    let status = input.status(clock.now());
    assert_eq!(status.source_rate.as_deref(), Some("25"));
    assert_eq!((status.input.taken, status.input.rejected), (26, 1));
    assert!(status.timecode.unwrap().starts_with("10:20:3"));
    let before = clock.now();
    input.stop();
    assert!(clock.now() - before < 250_000_000);
    assert!(input.thread.is_none());
}

#[test]
fn the_timecode_of_a_subject_is_taken() {
    let clock = HubClock::new();
    let shared = shared();
    let options = options("source = \"subject\"\nsubject = \"演員\"");
    let input = TimecodeIn::start(&options, FrameRate::FPS_30, clock, &shared).unwrap();
    let key = SubjectKey::new(
        SourceId::new("test").unwrap(),
        SubjectName::new("演員").unwrap(),
    );
    let statics = StaticData::basic(&["a"]);
    let data = FrameData::basic(vec![0.5]);
    lock(&shared)
        .client
        .push_static(&key, &statics, clock.now())
        .unwrap();
    for i in 0..10 {
        let meta = FrameMeta {
            timecode: Some(QualifiedFrameTime::whole(54_000 + i, FrameRate::FPS_30)),
            arrival: clock.now(),
            ..FrameMeta::default()
        };
        lock(&shared).client.push_frame(&key, &meta, Some(&data));
        std::thread::sleep(Duration::from_millis(33));
    }
    let status = input.status(clock.now());
    assert_eq!(status.source_rate.as_deref(), Some("30"), "{status:?}");
    assert!(status.timecode.unwrap().starts_with("00:30:00:"));
}

/// A named pipe in a folder, if this system makes them.
#[cfg(unix)]
fn named_pipe(folder: &std::path::Path) -> Option<std::path::PathBuf> {
    let path = folder.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if made.is_ok_and(|status| status.success()) {
        return Some(path);
    }
    println!("no mkfifo here: nothing checked");
    None
}

#[cfg(unix)]
#[test]
fn a_pipe_without_a_writer_does_not_keep_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let Some(path) = named_pipe(folder.path()) else {
        return;
    };
    let options = TimecodeOptions {
        source: MasterSource::Mtc,
        path: Some(path.clone()),
        ..TimecodeOptions::default()
    };
    let (mut input, clock) = start(&options, FrameRate::FPS_30);
    // By then its thread waits for a writer.
    std::thread::sleep(Duration::from_millis(50));
    let before = clock.now();
    input.stop();
    assert!(clock.now() - before < 1_000_000_000);
    // A writer lets it go.
    // For reading too: so it does not wait when nobody reads any more.
    drop(
        std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path),
    );
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_and_its_writer_may_leave() {
    let folder = tempfile::tempdir().unwrap();
    let Some(path) = named_pipe(folder.path()) else {
        return;
    };
    let options = TimecodeOptions {
        source: MasterSource::Mtc,
        path: Some(path.clone()),
        ..TimecodeOptions::default()
    };
    let (mut input, clock) = start(&options, FrameRate::FPS_30);
    let label = Timecode::parse("01:00:00:00", FrameRate::FPS_25).unwrap();
    // Opens, writes, leaves.
    std::fs::write(&path, full_frame(&label).unwrap()).unwrap();
    wait_until("bytes", || input.status(clock.now()).input.taken == 10);
    assert_eq!(input.status(clock.now()).input.ended, None);
    input.stop();
    // For reading too: so it does not wait when nobody reads any more.
    drop(
        std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path),
    );
}
