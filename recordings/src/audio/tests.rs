use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use hub::{DropFrame, FrameRate, QualifiedFrameTime, WorldTime};
use serde_json::Value;

use super::*;
use super::{
    drift::Stamp,
    wav::{SampleFormat, WavReader, WavSpec},
};
use crate::{
    disk::{Disk, DiskFile, RealDisk},
    format::{TakeInfo, TakeWriter},
};

const RATE: u32 = 48_000;
/// Frames of a block: 10 ms.
const BLOCK: u64 = 480;
const BLOCK_NANOS: i64 = 10_000_000;

fn at(nanos: i64) -> WorldTime {
    WorldTime::from_nanos(nanos)
}

/// The hub's time is not the take's: a take began at 100 s.
const START: i64 = 100_000_000_000;

fn spec() -> WavSpec {
    WavSpec {
        sample_rate: RATE,
        channels: 1,
        format: SampleFormat::Pcm24,
    }
}

fn start(take: PathBuf) -> AudioStart {
    AudioStart {
        take,
        name: "語り手".into(),
        spec: spec(),
        at: at(START),
        timecode: QualifiedFrameTime {
            frame: 90_000,
            sub_frame: 0.0,
            rate: FrameRate::FPS_25,
            drop: DropFrame::NonDrop,
        },
        offset_nanos: 0,
        slate: "Scene".into(),
        number: 3,
        started: "2026-11-30T12:34:56.000+01:00".into(),
        program: "ghostlight".into(),
    }
}

type Told = Arc<Mutex<Vec<(Value, i64)>>>;

fn notes() -> (Told, Notes) {
    let told = Told::default();
    let notes: Notes = {
        let told = Arc::clone(&told);
        Box::new(move |value: Value, at: WorldTime| {
            told.lock().unwrap().push((value, at.as_nanos() - START));
        })
    };
    (told, notes)
}

/// 24 bits of frame n, never 0.
fn value(n: u64) -> f32 {
    ((n % 60_000 + 1) as f32) / 65_536.0
}

/// Records `secs` seconds, as fast as the ring takes them.
fn record(disk: &'static dyn Disk, take: PathBuf, secs: u64, notes: Notes) -> Option<AudioEnded> {
    let (recorder, mut feed) = AudioRecorder::start_on(disk, start(take), notes).ok()?;
    let blocks = secs * 100;
    let mut n = 0_u64;
    while n < blocks && !recorder.has_ended() {
        let samples: Vec<f32> = (n * BLOCK..(n + 1) * BLOCK).map(value).collect();
        let nanos = n as i64 * BLOCK_NANOS;
        // Late by 0 to 4 ms.
        let late = (n * 7919 % 5) as i64 * 1_000_000;
        feed.push(&samples, at(START + nanos + late));
        n += 1;
        if n.is_multiple_of(400) {
            // Give the writer a moment: what counts is what is in the file, not how fast.
            std::thread::sleep(std::time::Duration::from_millis(60));
        }
    }
    Some(recorder.finish(at(START + secs as i64 * 1_000_000_000)))
}

fn read(path: &Path) -> Vec<f32> {
    let mut out = Vec::new();
    let mut reader = WavReader::open(path).unwrap();
    reader.read(usize::MAX, &mut out).unwrap();
    out
}

#[test]
fn a_track_is_recorded_beside_its_take() {
    let dir = tempfile::tempdir().unwrap();
    let take = dir.path().join("2026-11-30_Scene_003.mcap.part");
    let (told, notes) = notes();
    let ended = record(&RealDisk, take, 5, notes).unwrap();
    assert_eq!(ended.trouble, None);
    let path = dir.path().join("2026-11-30_Scene_003_audio_語り手.wav");
    assert_eq!(ended.path, path);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    let expected: Vec<f32> = (0..5 * 48_000).map(value).collect();
    assert!(read(&path) == expected);
    let reader = WavReader::open(&path).unwrap();
    let bext = reader.bext().unwrap();
    // 90000 frames of 1/25 s are an hour.
    assert_eq!(bext.time_reference, 172_800_000);
    assert_eq!((&*bext.date, &*bext.time), ("2026-11-30", "12:34:56"));
    assert!(reader.ixml().unwrap().contains("<NAME>語り手</NAME>"));
    let told = told.lock().unwrap();
    let of = |kind: &str| told.iter().filter(|(v, _)| v["event"] == kind).count();
    assert_eq!(
        (of("audio_start"), of("audio_end"), of("audio_gap")),
        (1, 1, 0)
    );
    assert_eq!(of("audio_clock"), 5);
    let last = &told.last().unwrap().0;
    assert_eq!(last["frames"], 240_000);
    assert_eq!(last["lost"], 0);
    let clock = ended.clock.unwrap();
    assert!(clock.nanos_of(0.0).abs() < 1e6, "{clock:?}");
}

#[test]
fn a_second_track_of_one_name_does_not_overwrite_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let take = dir.path().join("T_S_001.mcap");
    let one = record(&RealDisk, take.clone(), 1, notes().1).unwrap();
    let two = record(&RealDisk, take, 1, notes().1).unwrap();
    assert_ne!(one.path, two.path);
    assert!(two.path.ends_with("T_S_001_audio_語り手-2.wav"));
    assert!(read(&one.path) == read(&two.path));
}

/// A disk whose n-th operation fails, and all after it.
struct Failing {
    left: Arc<AtomicU64>,
    short: usize,
}

impl Failing {
    fn due(&self) -> io::Result<()> {
        let spent = |left: u64| left.checked_sub(1);
        match self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spent)
        {
            Ok(_) => Ok(()),
            Err(_) => Err(io::ErrorKind::StorageFull.into()),
        }
    }
}

struct FailingFile(Box<dyn DiskFile>, Failing);

impl DiskFile for FailingFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.1.due() {
            self.0.append(&bytes[..bytes.len().min(self.1.short)])?;
            return Err(error);
        }
        self.0.append(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.1.due()?;
        self.0.sync()
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.0.truncate(len)
    }

    fn patch(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.1.due()?;
        self.0.patch(at, bytes)
    }
}

impl Disk for Failing {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_folder(path)
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.due()?;
        let inner = RealDisk.create_new(path)?;
        let copy = Self {
            left: Arc::clone(&self.left),
            short: self.short,
        };
        Ok(Box::new(FailingFile(inner, copy)))
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.due()?;
        RealDisk.rename_new(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }

    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn whichever_operation_fails_the_sound_before_it_is_kept() {
    let (mut troubles, mut begun) = (0, 0);
    for short in [0, 100] {
        for n in 0..40 {
            let dir = tempfile::tempdir().unwrap();
            let disk: &'static Failing = Box::leak(Box::new(Failing {
                left: Arc::new(AtomicU64::new(n)),
                short,
            }));
            let take = dir.path().join("T_S_001.mcap");
            let Some(ended) = record(disk, take, 3, notes().1) else {
                assert!(n < 3, "operation {n}");
                assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
                continue;
            };
            begun += 1;
            troubles += usize::from(ended.trouble.is_some());
            assert!(WavReader::open(&ended.path).is_ok(), "operation {n}");
            if ended.trouble.is_some() {
                let saved = recover_all(dir.path());
                assert_eq!(saved.len(), 1, "operation {n}");
                let saved = saved[0].as_ref().unwrap();
                let sound = read(&saved.path);
                assert!(sound.len() as u64 >= saved.repair.claimed);
                let expected: Vec<f32> = (0..sound.len() as u64).map(value).collect();
                assert!(sound == expected, "operation {n}");
                assert!(saved.path.ends_with("T_S_001_audio_語り手.wav"));
            } else {
                assert_eq!(ended.frames, 3 * 48_000, "operation {n}");
            }
        }
    }
    assert!(troubles > 10 && begun > troubles, "{troubles} of {begun}");
}

/// A take with a track recorded by a clock that is `ppm` too fast. A click of one frame stands at every whole second
/// of hub time.
fn take_with_clicks(folder: &Path, secs: u64, ppm: f64) -> PathBuf {
    let info = TakeInfo {
        slate: "Scene".into(),
        take: 1,
        date: "2026-11-30".into(),
        ..TakeInfo::default()
    };
    let mut take = TakeWriter::create(&RealDisk, folder, info, 0).unwrap();
    let (told, notes) = notes();
    let start = start(take.part_path().to_owned());
    let (recorder, mut feed) = AudioRecorder::start(start, notes).unwrap();
    let real = f64::from(RATE) * (1.0 + ppm * 1e-6);
    for n in 0..secs * 100 {
        let samples: Vec<f32> = (n * BLOCK..(n + 1) * BLOCK)
            .map(|frame| {
                let nearest = (frame as f64 / real).round();
                let is_click = nearest > 0.0 && (nearest * real).round() as u64 == frame;
                f32::from(u8::from(is_click)) * 0.9
            })
            .collect();
        let nanos = (n * BLOCK) as f64 / real * 1e9;
        let late = (n * 7919 % 50) as i64 * 100_000;
        feed.push(&samples, at(START + nanos as i64 + late));
        if n % 400 == 399 {
            std::thread::sleep(std::time::Duration::from_millis(60));
        }
    }
    let ended = recorder.finish(at(START + secs as i64 * 1_000_000_000));
    assert_eq!((ended.trouble, ended.lost), (None, 0));
    for (event, nanos) in told.lock().unwrap().iter() {
        take.event(event, *nanos).unwrap();
    }
    let mut finished = take
        .finish("test", secs as i64 * 1_000_000_000, |_| ())
        .unwrap();
    finished.verify_and_name(&RealDisk).unwrap();
    finished.path
}

/// Frames at which clicks peak.
fn clicks(samples: &[f32]) -> Vec<i64> {
    (1..samples.len() - 1)
        .filter(|n| {
            let x = samples[*n];
            x > 0.4 && x >= samples[n - 1] && x > samples[n + 1]
        })
        .map(|n| n as i64)
        .collect()
}

#[test]
fn an_export_is_in_hub_time_and_says_when_it_begins() {
    let dir = tempfile::tempdir().unwrap();
    // Ten times what a bad card does: 30 s then drift by 15 ms.
    let take = take_with_clicks(dir.path(), 30, 500.0);
    let tracks = tracks(&take).unwrap();
    assert_eq!(tracks.len(), 1);
    let track = &tracks[0];
    assert_eq!((&*track.name, track.sample_rate), ("語り手", RATE));
    assert!(track.is_finished && track.path.exists());
    assert!(
        (track.clock.ppm(RATE) - 500.0).abs() < 10.0,
        "{:?}",
        track.clock
    );
    // Uncorrected, the last click is 14.5 ms late by its frame number.
    let raw = clicks(&read(&track.path));
    // (29 × 48,024; where the file begins is known to the lateness of the first stamps.)
    assert!((raw.last().unwrap() - 1_392_696).abs() < 48, "{raw:?}");
    let out = dir.path().join("out.wav");
    let span = Span {
        from_nanos: 500_000_000,
        until_nanos: Some(29_500_000_000),
        shift_nanos: 0,
    };
    let done = export(&RealDisk, track, span, &out).unwrap();
    assert_eq!(done.frames, 29 * 48_000);
    assert!(done.corrected_ppm.is_some());
    // An hour, and half a second.
    assert_eq!(done.time_reference, 172_824_000);
    let sound = read(&out);
    assert_eq!(sound.len(), 29 * 48_000);
    let found = clicks(&sound);
    assert_eq!(found.len(), 29);
    for (second, frame) in (1..).zip(&found) {
        let expected = second * 48_000 - 24_000;
        // Within a millisecond, stamps that are late by up to 5 ms or not.
        assert!(
            (frame - expected).abs() < 48,
            "second {second}: {frame} for {expected}"
        );
    }
    let reader = WavReader::open(&out).unwrap();
    assert_eq!(reader.bext().unwrap().time_reference, 172_824_000);
    assert!(reader.ixml().unwrap().contains("_LO>172824000</"));
    // Again, onto what is there, and a second later by what claps said.
    let span = Span {
        shift_nanos: 1_000_000_000,
        ..span
    };
    export(&RealDisk, track, span, &out).unwrap();
    let found = clicks(&read(&out));
    assert!((found[0] - 72_000).abs() < 48, "{}", found[0]);
    assert!(!dir.path().join("out.partial").exists());
}

#[test]
fn a_clock_that_agrees_is_copied_bit_for_bit_and_silence_surrounds_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.wav");
    let ended = record(&RealDisk, dir.path().join("T_S_001.mcap"), 2, notes().1).unwrap();
    let track = Track {
        name: "x".into(),
        path: ended.path,
        sample_rate: RATE,
        time_reference: 48_000,
        stamps: Vec::new(),
        clock: drift::ClockFit::ideal(RATE),
        is_finished: true,
    };
    let span = Span {
        from_nanos: -500_000_000,
        until_nanos: Some(2_500_000_000),
        shift_nanos: 0,
    };
    let done = export(&RealDisk, &track, span, &path).unwrap();
    assert_eq!((done.frames, done.corrected_ppm), (144_000, None));
    assert_eq!(done.time_reference, 24_000);
    let sound = read(&path);
    let expected: Vec<f32> = (0..96_000).map(value).collect();
    assert!(
        sound[..24_000]
            .iter()
            .chain(&sound[120_000..])
            .all(|x| *x == 0.0)
    );
    assert!(sound[24_000..120_000] == expected);
    let empty = Span {
        from_nanos: 5_000_000_000,
        until_nanos: Some(5_000_000_000),
        shift_nanos: 0,
    };
    let refused = export(&RealDisk, &track, empty, &path);
    assert!(matches!(refused, Err(AudioError::EmptyRange { .. })));
    // The whole of it is the default.
    let whole = export(&RealDisk, &track, Span::default(), &path).unwrap();
    assert_eq!((whole.frames, whole.time_reference), (96_000, 48_000));
}

#[test]
fn a_line_through_the_notes_survives_their_journey() {
    let stamps: Vec<Stamp> = (0..60u64)
        .map(|s| Stamp {
            frame: s * 48_000,
            nanos: s as i64 * 1_000_050_000,
        })
        .collect();
    // 50 µs more in each second: 50 ppm too slow, to 3 digits.
    let fit = drift::fit(&stamps, RATE).unwrap();
    assert!((fit.ppm(RATE) + 50.0).abs() < 0.01, "{fit:?}");
}
