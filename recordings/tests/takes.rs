//! Takes on good and failing disks, whole, cut short and damaged.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say so and stop"
)]

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use hub::{
    FrameData, FrameMeta, FrameRate, QualifiedFrameTime, SourceId, StaticData, SubjectKey,
    SubjectName, Tracking, WorldTime, wire,
};
use recordings::{
    disk::{Disk, DiskFile, RealDisk},
    format::{Item, Reader, TakeInfo, TakeWriter},
    library, performance,
    player::Player,
    recorder::{Recorder, Start},
};

const START: i64 = 1_700_000_000_000_000_000;
const FRAME: i64 = 16_666_667;

fn key() -> SubjectKey {
    SubjectKey::new(
        SourceId::new("livelinkface/10.0.0.1/ID").unwrap(),
        SubjectName::new("役者").unwrap(),
    )
}

fn info() -> TakeInfo {
    TakeInfo {
        slate: "Test".into(),
        take: 1,
        date: "2026-11-30".into(),
        start_unix_nanos: START,
        ..TakeInfo::default()
    }
}

fn meta(i: i64) -> FrameMeta {
    FrameMeta {
        timecode: Some(QualifiedFrameTime::whole(i, FrameRate::FPS_60)),
        arrival: WorldTime::from_nanos(i * FRAME),
        tracking: if i % 50 == 49 {
            Tracking::Lost
        } else {
            Tracking::Tracked
        },
        ..FrameMeta::default()
    }
}

fn data(i: i64) -> FrameData {
    FrameData::basic((0..61).map(|c| (i * 61 + c) as f32).collect())
}

/// Writes `frames` frames; stops at the first refusal of the disk, as the recorder does.
fn write(
    disk: &dyn Disk,
    folder: &Path,
    frames: i64,
) -> Option<(recordings::format::Finished, bool)> {
    let mut writer = TakeWriter::create(disk, folder, info(), START).ok()?;
    let names: Vec<String> = (0..61).map(|i| format!("c{i}")).collect();
    let mut encoder = wire::Encoder::default();
    let mut record = Vec::new();
    let mut put_all = || -> Result<(), recordings::TakeError> {
        writer.static_data(&key(), &StaticData::basic(&names), START)?;
        for i in 0..frames {
            let nanos = START + i * FRAME;
            record.clear();
            let lost = i % 50 == 49;
            encoder.frame(&meta(i), (!lost).then(|| data(i)).as_ref(), &mut record);
            writer.raw(
                "livelinkface/127.0.0.1:1",
                ([10, 0, 0, 1], 7).into(),
                &record,
                nanos,
            )?;
            writer.frame(&key(), &record, meta(i).timecode, nanos)?;
            writer.tick(nanos)?;
        }
        Ok(())
    };
    let good = put_all().is_ok();
    let mut finished = writer.finish("test", START + frames * FRAME, |_| ()).ok()?;
    if finished.complete {
        // A refusal shows as `complete: false`.
        let _ = finished.verify_and_name(disk);
    }
    Some((finished, good))
}

/// Frame numbers of a take, each frame checked against what was written.
fn read(path: &Path) -> Vec<i64> {
    let mut reader = Reader::open(path).unwrap();
    let mut numbers = Vec::new();
    while let Some(item) = reader.next_item().unwrap() {
        if let Item::Frame {
            key: k,
            meta: m,
            data: d,
            ..
        } = item
        {
            let i = m.timecode.unwrap().frame;
            assert_eq!(k, key());
            assert_eq!(*m, meta(i));
            assert_eq!(d.map(|d| *d), (i % 50 != 49).then(|| data(i)));
            numbers.push(i);
        }
    }
    numbers
}

#[test]
fn what_was_written_is_read_back_bit_for_bit() {
    let dir = tempfile::tempdir().unwrap();
    let (finished, good) = write(&RealDisk, dir.path(), 600).unwrap();
    assert!(good && finished.complete);
    assert_eq!(finished.path, dir.path().join("2026-11-30_Test_001.mcap"));
    assert_eq!(read(&finished.path), (0..600).collect::<Vec<_>>());
    let v = library::verify(&finished.path).unwrap();
    assert!(v.is_good(), "{v:?}");
    // Nothing else is left in the folder.
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn any_prefix_of_a_take_opens_and_gives_the_frames_before_the_cut() {
    let dir = tempfile::tempdir().unwrap();
    let (finished, _) = write(&RealDisk, dir.path(), 300).unwrap();
    let bytes = std::fs::read(&finished.path).unwrap();
    let prefix = dir.path().join("prefix.mcap");
    let mut most = 0;
    for step in 0..200 {
        let len = 8 + (bytes.len() - 8) * step / 200;
        std::fs::write(&prefix, &bytes[..len]).unwrap();
        let frames = read(&prefix);
        assert_eq!(
            frames,
            (0..frames.len() as i64).collect::<Vec<_>>(),
            "cut at {len}"
        );
        assert!(frames.len() >= most, "cut at {len}");
        most = frames.len();
        let mut player = Player::open(&prefix, 100.0, false, WorldTime::default()).unwrap();
        let mut played = 0;
        let end = WorldTime::from_nanos(i64::MAX / 2);
        player
            .poll(end, |item| {
                played += usize::from(matches!(item, Item::Frame { .. }));
            })
            .unwrap();
        assert_eq!(played, frames.len());
    }
    assert!(most >= 285, "only {most} frames before the index");
    assert!(Reader::open(dir.path()).is_err());
    std::fs::write(&prefix, b"not mcap at all").unwrap();
    let error = Reader::open(&prefix).err().unwrap().to_string();
    assert!(
        error.contains("does not begin like an MCAP file"),
        "{error}"
    );
}

#[test]
fn one_flipped_byte_costs_one_quarter_of_a_second_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let (finished, _) = write(&RealDisk, dir.path(), 600).unwrap();
    let bytes = std::fs::read(&finished.path).unwrap();
    let damaged = dir.path().join("damaged.mcap");
    // The data section only: what follows is the index, which reading does not need.
    let data_end = bytes.len() * 9 / 10;
    for step in 0..300 {
        let at = 600 + (data_end - 600) * step / 300;
        let mut copy = bytes.clone();
        copy[at] ^= 0x55;
        std::fs::write(&damaged, &copy).unwrap();
        let frames = read(&damaged);
        assert!(
            frames.len() >= 600 - 32,
            "byte {at}: {} frames",
            frames.len()
        );
        assert!(frames.is_sorted());
    }
}

/// A disk whose n-th operation fails, then the next ones too, or only that one.
struct Failing {
    left: Arc<AtomicU64>,
    kind: io::ErrorKind,
    /// Bytes that still fit when a write fails: a short write.
    short: usize,
    for_ever: bool,
}

impl Failing {
    fn due(&self) -> io::Result<()> {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            if !self.for_ever {
                self.left.store(u64::MAX, Ordering::Relaxed);
            }
            return Err(self.kind.into());
        }
        self.left.store(left - 1, Ordering::Relaxed);
        Ok(())
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
}

impl Disk for Failing {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.due()?;
        RealDisk.create_folder(path)
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.due()?;
        let inner = RealDisk.create_new(path)?;
        let copy = Failing {
            left: Arc::clone(&self.left),
            ..*self
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

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.due()?;
        RealDisk.sync_folder(path)
    }
}

#[test]
fn whichever_operation_fails_the_result_opens_and_holds_what_was_written_before() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::Other] {
        for (short, for_ever) in [(0, true), (100, true), (0, false), (100, false)] {
            let mut failures = 0;
            for n in 0..60 {
                let dir = tempfile::tempdir().unwrap();
                let disk = Failing {
                    left: Arc::new(AtomicU64::new(n)),
                    kind,
                    short,
                    for_ever,
                };
                let Some((finished, good)) = write(&disk, dir.path(), 240) else {
                    // The folder or the file could not even be created: nothing was promised.
                    assert!(n < 8, "operation {n}");
                    continue;
                };
                failures += usize::from(!good);
                let frames = read(&finished.path);
                assert_eq!(
                    frames,
                    (0..frames.len() as i64).collect::<Vec<_>>(),
                    "operation {n}"
                );
                if good && finished.complete {
                    assert_eq!(frames.len(), 240, "operation {n}");
                }
                if !finished.complete {
                    // What is left is found and finished by the next start.
                    let recovered = library::recover_all(dir.path());
                    assert_eq!(recovered.len(), 1, "operation {n}");
                    let take = recovered[0].as_ref().unwrap().take.clone().unwrap();
                    assert_eq!(read(&take), frames, "operation {n}");
                    let entries = library::list(dir.path()).unwrap();
                    assert_eq!(entries.len(), 1);
                    assert_eq!(entries[0].status, library::Status::Recovered);
                }
            }
            assert!(failures > 5, "the disk hardly failed: {failures}");
        }
    }
}

/// A disk with a fixed number of bytes in all.
struct Small(Arc<AtomicU64>);

struct SmallFile {
    inner: Box<dyn DiskFile>,
    path: PathBuf,
    room: Arc<AtomicU64>,
    len: u64,
}

impl DiskFile for SmallFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = self.room.load(Ordering::Relaxed);
        let fits = room.min(bytes.len() as u64);
        self.room.store(room - fits, Ordering::Relaxed);
        self.len += fits;
        self.inner.append(&bytes[..fits as usize])?;
        if fits < bytes.len() as u64 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.inner.sync()
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.room.fetch_add(self.len - len, Ordering::Relaxed);
        self.len = len;
        self.inner.truncate(len)
    }
}

impl Disk for Small {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_folder(path)
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(SmallFile {
            inner: RealDisk.create_new(path)?,
            path: path.to_owned(),
            room: Arc::clone(&self.0),
            len: 0,
        }))
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename_new(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let len = std::fs::metadata(path)?.len();
        RealDisk.remove(path)?;
        self.0.fetch_add(len, Ordering::Relaxed);
        Ok(())
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.sync_folder(path)
    }
}

impl Drop for SmallFile {
    fn drop(&mut self) {
        assert!(!self.path.as_os_str().is_empty());
    }
}

#[test]
fn a_full_disk_ends_the_take_valid_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    // Room for the reserve of 4 MiB and some 900 kB of take: about 25 s of this stream.
    let disk: &'static Small = Box::leak(Box::new(Small(Arc::new(AtomicU64::new(5 << 20)))));
    let recorder = Recorder::start_on(
        disk,
        Start {
            folder: dir.path().to_owned(),
            info: info(),
            at: WorldTime::default(),
        },
    )
    .unwrap();
    let tap = recorder.tap();
    let names: Vec<String> = (0..61).map(|i| format!("c{i}")).collect();
    tap.static_data(&key(), &StaticData::basic(&names), WorldTime::default());
    let listener: Arc<str> = "livelinkface/x".into();
    let mut i = 0;
    while !recorder.has_ended() && i < 1_000_000 {
        let lost = i % 50 == 49;
        tap.raw(
            &listener,
            ([10, 0, 0, 1], 7).into(),
            &[0; 319],
            meta(i).arrival,
        );
        tap.frame(&key(), &meta(i), (!lost).then(|| data(i)).as_ref());
        i += 1;
        if i % 100 == 0 {
            // Give the writer's clock a moment; what counts is when the disk is full, not how fast.
            std::thread::park_timeout(std::time::Duration::from_millis(5));
        }
    }
    let ended = recorder
        .stop("asked", WorldTime::from_nanos(i * FRAME), |_| ())
        .unwrap();
    let trouble = ended.trouble.expect("it says why it ended");
    assert!(trouble.contains("write the take"), "{trouble}");
    assert!(ended.finished.complete);
    assert!(library::verify(&ended.finished.path).unwrap().is_good());
    let frames = read(&ended.finished.path);
    assert!(frames.len() > 500, "{}", frames.len());
    assert_eq!(frames, (0..frames.len() as i64).collect::<Vec<_>>());
}

#[test]
fn recorded_is_received_before_the_stop() {
    for round in 0..20 {
        let dir = tempfile::tempdir().unwrap();
        let recorder = Recorder::start(Start {
            folder: dir.path().to_owned(),
            info: info(),
            at: WorldTime::default(),
        })
        .unwrap();
        let tap = recorder.tap();
        let names: Vec<String> = (0..61).map(|i| format!("c{i}")).collect();
        tap.static_data(&key(), &StaticData::basic(&names), WorldTime::default());
        let sent = 500 + round * 37;
        for i in 0..sent {
            let lost = i % 50 == 49;
            tap.frame(&key(), &meta(i), (!lost).then(|| data(i)).as_ref());
        }
        assert_eq!(tap.accepted_frames(), sent as u64);
        let ended = recorder
            .stop("asked", WorldTime::from_nanos(sent * FRAME), |_| ())
            .unwrap();
        // After the stop nothing is taken.
        tap.frame(&key(), &meta(sent), Some(&data(sent)));
        assert_eq!(ended.finished.info.frames(), sent as u64);
        assert_eq!(read(&ended.finished.path).len(), sent as usize);
        assert_eq!(ended.trouble, None);
    }
}

#[test]
fn an_interrupted_take_is_recovered_once_and_never_over_another() {
    let dir = tempfile::tempdir().unwrap();
    let (finished, _) = write(&RealDisk, dir.path(), 120).unwrap();
    let bytes = std::fs::read(&finished.path).unwrap();
    let part = dir.path().join("2026-11-30_Test_001.mcap.part");
    std::fs::write(&part, &bytes[..bytes.len() / 2]).unwrap();
    std::fs::write(dir.path().join("2026-11-30_Test_001.mcap.reserve"), b"room").unwrap();
    let entries = library::list(dir.path()).unwrap();
    assert_eq!(entries.len(), 2);
    assert!(
        entries
            .iter()
            .any(|e| e.status == library::Status::Interrupted)
    );
    let results = library::recover_all(dir.path());
    let recovery = results[0].as_ref().unwrap();
    let take = recovery.take.clone().unwrap();
    assert_ne!(
        take, finished.path,
        "the finished take of that name is untouched"
    );
    assert_eq!(read(&take).len() as u64, recovery.frames);
    assert!(recovery.frames > 40);
    assert_eq!(library::recover_all(dir.path()).len(), 0);
    assert_eq!(std::fs::read(&finished.path).unwrap(), bytes);
    let content = performance::load(&take).unwrap();
    assert_eq!(content.info.status, "recovered");
}

#[test]
fn a_take_being_recorded_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = Recorder::start(Start {
        folder: dir.path().to_owned(),
        info: info(),
        at: WorldTime::default(),
    })
    .unwrap();
    // File locks belong to the open file, so this process sees its own recording as another would.
    assert!(library::recover_all(dir.path()).is_empty());
    assert!(library::recover(recorder.part_path()).is_err());
    let entries = library::list(dir.path()).unwrap();
    assert_eq!(entries[0].status, library::Status::InProgress);
    let ended = recorder
        .stop("asked", WorldTime::from_nanos(FRAME), |_| ())
        .unwrap();
    assert!(ended.finished.complete);
    let entries = library::list(dir.path()).unwrap();
    assert_eq!(entries[0].status, library::Status::Empty);
}

#[test]
fn the_player_keeps_time_loops_and_seeks() {
    let dir = tempfile::tempdir().unwrap();
    let (finished, _) = write(&RealDisk, dir.path(), 120).unwrap();
    let at = |secs: f64| WorldTime::from_secs_f64(secs);
    let mut player = Player::open(&finished.path, 2.0, true, at(10.0)).unwrap();
    let mut frames = Vec::new();
    let mut poll = |player: &mut Player, t: f64| {
        player
            .poll(at(t), |item| {
                if let Item::Frame { meta, .. } = item {
                    frames.push(meta.timecode.unwrap().frame);
                }
            })
            .unwrap();
        frames.len()
    };
    // At double speed half a second gives one second of frames.
    assert_eq!(poll(&mut player, 10.0), 1);
    assert!((59..=61).contains(&poll(&mut player, 10.5)));
    assert!((119..=121).contains(&poll(&mut player, 11.0)));
    assert!(poll(&mut player, 11.5) > 170, "it began again");
    assert_eq!(player.rounds(), 1);
    let mut player = Player::open(&finished.path, 1.0, false, at(0.0)).unwrap();
    let target = hub::Timecode::parse("00:00:01:00", FrameRate::FPS_60).unwrap();
    let mut statics = 0;
    assert!(
        player
            .seek(target, at(0.0), |item| {
                statics += usize::from(matches!(item, Item::Static { .. }));
            })
            .unwrap()
    );
    assert_eq!(statics, 1);
    let mut first = None;
    player
        .poll(at(0.0), |item| {
            if let Item::Frame { meta, .. } = item {
                first.get_or_insert(meta.timecode.unwrap().frame);
            }
        })
        .unwrap();
    assert_eq!(first, Some(60));
}
