use std::path::PathBuf;

use hub::{DropFrame, FrameRate};
use recordings::{
    audio::wav::{Bext, SampleFormat, WavHead, WavReader, WavWriter},
    disk::RealDisk,
};

use super::{inputs::run_samples, *};

fn sample(n: usize) -> f32 {
    (n % 4800 + 1) as f32 / 8192.0
}

fn wav(folder: &Path, frames: usize) -> PathBuf {
    let path = folder.join("in.wav");
    let head = WavHead {
        spec: WavSpec {
            sample_rate: 48_000,
            channels: 1,
            format: SampleFormat::Pcm16,
        },
        bext: Bext::default(),
        ixml: String::new(),
    };
    let mut writer = WavWriter::create(&RealDisk, &path, &head).unwrap();
    let samples: Vec<f32> = (0..frames).map(sample).collect();
    writer.write(&samples).unwrap();
    writer.finish().unwrap();
    path
}

#[test]
fn a_wav_file_plays_in_its_own_time_again_and_again_into_a_take() {
    let folder = tempfile::tempdir().unwrap();
    // A tenth of a second, which repeats.
    let options = AudioOptions {
        name: "声".into(),
        path: wav(folder.path(), 4800),
        repeat: true,
        ..AudioOptions::default()
    };
    let clock = HubClock::new();
    let mut source = AudioIn::start(&options, clock).unwrap();
    let info = TakeInfo {
        slate: "Scene".into(),
        take: 1,
        ..TakeInfo::default()
    };
    let at = clock.now();
    let take = AudioTake {
        path: &folder.path().join("T_Scene_001.mcap"),
        info: &info,
        at,
        timecode: QualifiedFrameTime {
            frame: 0,
            sub_frame: 0.0,
            rate: FrameRate::FPS_25,
            drop: DropFrame::NonDrop,
        },
    };
    let recorder = source.record(take, Box::new(|_, _| ())).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let end = clock.now();
    let ended = recorder.finish(end);
    source.release();
    assert_eq!(ended.trouble, None);
    let mut reader = WavReader::open(&ended.path).unwrap();
    // As long as it was recorded, to the frame.
    let frames = (end - at) as u64 * 48_000 / NANOS_PER_SEC as u64;
    assert!(
        reader.frames().abs_diff(frames) <= 1,
        "{} {frames}",
        reader.frames()
    );
    let mut samples = Vec::new();
    reader.read(frames as usize - 1, &mut samples).unwrap();
    // From the first sound on, what follows is the next sample of the loop.
    let from = samples.iter().position(|x| *x != 0.0).unwrap();
    assert!(from < 24_000, "{from}");
    let first = (samples[from] * 8192.0) as usize - 1;
    for (n, x) in samples[from..].iter().enumerate() {
        assert_eq!(*x, sample(first + n), "frame {}", from + n);
    }
    let report = source.report();
    assert!(report.frames >= 48_000 && report.ended.is_none());
    assert!(report.peak_dbfs.unwrap() < 0.0);
    source.stop();
}

#[test]
fn a_file_that_does_not_repeat_says_that_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let options = AudioOptions {
        path: wav(folder.path(), 480),
        ..AudioOptions::default()
    };
    let source = AudioIn::start(&options, HubClock::new()).unwrap();
    let mut waited = 0;
    while source.report().ended.is_none() && waited < 200 {
        std::thread::sleep(Duration::from_millis(20));
        waited += 1;
    }
    assert_eq!(source.report().ended.as_deref(), Some("it is at its end"));
    assert_eq!(source.report().frames, 480);
}

#[test]
fn bytes_of_a_pipe_may_come_in_any_pieces() {
    /// Gives one byte, then two, then three.
    struct Pieces(Vec<u8>, usize);
    impl std::io::Read for Pieces {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            self.1 = self.1 % 3 + 1;
            let count = self.1.min(self.0.len()).min(into.len());
            for (to, from) in into.iter_mut().zip(self.0.drain(..count)) {
                *to = from;
            }
            Ok(count)
        }
    }
    let (feed, mut drain) = recordings::audio::ring(2, 1000);
    let ear = Ear {
        feed: Mutex::new(Some(feed)),
        counted: Mutex::default(),
        stop: AtomicBool::new(false),
        clock: HubClock::new(),
    };
    let heard = Heard {
        sample_rate: 48_000,
        channels: 2,
    };
    let numbers: Vec<i16> = (0..200).map(|n| n * 100 - 10_000).collect();
    let bytes = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    run_samples(&mut Pieces(bytes, 0), heard, &ear).unwrap();
    let (mut all, mut block) = (Vec::new(), Vec::new());
    while drain.take(&mut block).is_some() {
        all.extend(block.iter().map(|x| (x * 32_768.0) as i16));
    }
    assert_eq!(all, numbers);
    assert_eq!(lock(&ear.counted).frames, 100);
}

#[test]
fn wrong_options_are_named() {
    let wrong = |change: fn(&mut AudioOptions)| {
        let mut options = AudioOptions {
            path: "-".into(),
            ..AudioOptions::default()
        };
        change(&mut options);
        options.check().unwrap_err().to_string()
    };
    assert!(wrong(|o| o.name = " ".into()).contains("name"));
    assert!(wrong(|o| o.path = PathBuf::new()).contains("path"));
    assert!(wrong(|o| o.sample_rate = 5).contains("sample_rate"));
    assert!(wrong(|o| o.channels = 0).contains("channels"));
    assert!(wrong(|o| o.offset_ms = f64::NAN).contains("offset_ms"));
    let mut options = AudioOptions {
        path: "audio:USB".into(),
        ..AudioOptions::default()
    };
    options.relative_to(Path::new("/stage"));
    assert_eq!(options.sound_card(), Some("USB"));
    let missing = AudioOptions {
        path: "/nowhere/x.wav".into(),
        ..AudioOptions::default()
    };
    assert!(AudioIn::start(&missing, HubClock::new()).is_err());
}
