//! Writes a take. Told the time; does file operations only through the seam; survives a full disk.
//!
//! MCAP bytes are made in memory and go to the disk one finished chunk at a time, so the file always ends
//! with a whole chunk as far as we got. When the disk is full, the torn chunk is cut off, a file kept in
//! reserve is given up, and its room takes that chunk and the index: the take ends valid.

use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Seek, SeekFrom, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
};

use hub::{StaticData, SubjectKey, wire};
use mcap::records::MessageHeader;

use super::{ENCODING, PROFILE, TAG_FRAME, TAG_REMOVED, TAG_STATIC, TakeInfo};
use crate::{
    disk::{Disk, DiskFile},
    error::TakeError,
    naming,
};

/// A chunk is finished after that long.
const CHUNK_NANOS: i64 = 250_000_000;
/// The file is synced to the medium that often.
const SYNC_NANOS: i64 = 1_000_000_000;
/// Static data is written again that often, so that any later part of a take can be understood alone.
const STATIC_NANOS: i64 = 10_000_000_000;
/// The first time it is: damage to the very first chunk then costs that chunk and no more.
const FIRST_STATIC_NANOS: i64 = 500_000_000;
/// Room kept for the end of the file: one chunk and the index of four hours.
const RESERVE_BYTES: usize = 4 << 20;
/// A chunk is also finished at this size, so that memory stays bounded at any data rate.
const MAX_CHUNK_BYTES: usize = 4 << 20;

const EVENT_SCHEMA: &str = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"ghostlight.event","type":"object","required":["event"],"properties":{"event":{"type":"string"}}}"#;

/// Bytes not yet on disk; knows its place in the file.
#[derive(Default)]
struct Staging {
    base: u64,
    bytes: Vec<u8>,
    at: usize,
}

impl Write for Staging {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let end = self.at + data.len();
        if end > self.bytes.len() {
            self.bytes.resize(end, 0);
        }
        self.bytes[self.at..end].copy_from_slice(data);
        self.at = end;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Staging {
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        let target = match pos {
            SeekFrom::Start(n) => i128::from(n),
            SeekFrom::End(n) => i128::from(self.base) + self.bytes.len() as i128 + i128::from(n),
            SeekFrom::Current(n) => i128::from(self.base) + self.at as i128 + i128::from(n),
        };
        // The container only patches the header of the chunk it is writing, which is always staged.
        let at = usize::try_from(target - i128::from(self.base))
            .ok()
            .filter(|at| *at <= self.bytes.len())
            .ok_or_else(|| io::Error::other("seek outside the chunk being written"))?;
        self.at = at;
        Ok(self.base + at as u64)
    }
}

/// Shared with the container library, which owns its writer.
#[derive(Clone, Default)]
struct Shared(std::sync::Arc<std::sync::Mutex<Staging>>);

impl Shared {
    fn with<T>(&self, f: impl FnOnce(&mut Staging) -> T) -> T {
        f(&mut self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

impl Write for Shared {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.with(|s| s.write(data))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Shared {
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        self.with(|s| s.seek(pos))
    }
}

struct SubjectChannel {
    id: u16,
    sequence: u32,
    statics: Option<StaticData>,
    role: Option<hub::Role>,
    statics_at: i64,
    statics_repeated: bool,
    frames: u64,
    first_timecode: Option<String>,
}

/// How a take ended.
pub struct Finished {
    /// The take.
    pub path: PathBuf,
    /// The name it was written under.
    pub part_path: PathBuf,
    /// Its final description.
    pub info: TakeInfo,
    /// Size in bytes.
    pub bytes: u64,
    /// Messages written, for verification.
    pub messages: u64,
    /// False when not even the index could be written: the file keeps its `.part` name and the next start recovers it.
    pub complete: bool,
    /// Keeps the lock until the take has its name: nobody may recover it meanwhile.
    lock: Option<Box<dyn DiskFile>>,
}

/// A take being written.
pub struct TakeWriter<'d> {
    disk: &'d dyn Disk,
    file: Box<dyn DiskFile>,
    part_path: PathBuf,
    final_path: PathBuf,
    reserve_path: PathBuf,
    staged: Shared,
    mcap: mcap::Writer<Shared>,
    on_disk: u64,
    /// The file ends with half a chunk that could not be cut off.
    torn: bool,
    /// The medium refused a sync: what it holds is not certain.
    unsure: bool,
    subjects: HashMap<SubjectKey, SubjectChannel>,
    subject_order: Vec<SubjectKey>,
    raw: HashMap<String, (u16, u32)>,
    subject_schema: u16,
    raw_schema: u16,
    events: (u16, u32),
    info: TakeInfo,
    chunk_since: Option<i64>,
    synced_at: i64,
    encoder: wire::Encoder,
    scratch: Vec<u8>,
    messages: u64,
    last_nanos: i64,
}

impl<'d> TakeWriter<'d> {
    /// Creates the `.part` file in `folder` and writes the description, so that even an empty take tells
    /// what it was. All times are nanoseconds of Unix time.
    ///
    /// # Errors
    /// When the folder cannot be used.
    pub fn create(
        disk: &'d dyn Disk,
        folder: &Path,
        mut info: TakeInfo,
        now_nanos: i64,
    ) -> Result<Self, TakeError> {
        disk.create_folder(folder)
            .map_err(|cause| TakeError::Folder {
                cause,
                path: folder.to_owned(),
            })?;
        if info.take == 0 {
            info.take = naming::next_take_number(folder, &info.slate);
        }
        let stem = naming::stem(&info.date, &info.slate, info.take);
        let paths = naming::free_paths(folder, &stem);
        Self::create_at(disk, paths, info, now_nanos)
    }

    /// As [`Self::create`], with the finished and the unfinished path given.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn create_at(
        disk: &'d dyn Disk,
        (final_path, part_path): (PathBuf, PathBuf),
        mut info: TakeInfo,
        now_nanos: i64,
    ) -> Result<Self, TakeError> {
        let folder = part_path.parent().unwrap_or(Path::new(".")).to_owned();
        let folder = folder.as_path();
        let unusable = |cause| TakeError::Folder {
            cause,
            path: folder.to_owned(),
        };
        let file = disk.create_new(&part_path).map_err(unusable)?;
        let reserve_path = part_path.with_extension("reserve");
        info.version = super::VERSION;
        "recording".clone_into(&mut info.status);
        let begun = Self::begin(disk, file, (final_path, part_path.clone()), info, now_nanos);
        if begun.is_err() {
            // A take that never began leaves nothing behind.
            let _ = disk.remove(&part_path);
            let _ = disk.remove(&reserve_path);
        }
        begun
    }

    fn begin(
        disk: &'d dyn Disk,
        file: Box<dyn DiskFile>,
        (final_path, part_path): (PathBuf, PathBuf),
        info: TakeInfo,
        now_nanos: i64,
    ) -> Result<Self, TakeError> {
        let reserve_path = part_path.with_extension("reserve");
        let staged = Shared::default();
        let mut mcap = mcap::WriteOptions::new()
            .compression(None)
            .profile(PROFILE)
            .library(info.program.clone())
            .chunk_size(None)
            // A chunk holds a quarter of a second: reading it whole is as fast as an index into it.
            .emit_message_indexes(false)
            .create(staged.clone())?;
        mcap.write_metadata(&info.to_metadata())?;
        // First, so that its number is known without its record.
        let event_schema =
            mcap.add_schema("ghostlight.event", "jsonschema", EVENT_SCHEMA.as_bytes())?;
        let events = mcap.add_channel(event_schema, "events", "json", &BTreeMap::new())?;
        let subject_schema = mcap.add_schema(
            "ghostlight.subject.v1",
            ENCODING,
            include_bytes!("../../FORMAT.md"),
        )?;
        let raw_schema = mcap.add_schema(
            "ghostlight.datagram.v1",
            ENCODING,
            b"u8 address length (4 or 16), address, u16 big-endian port, datagram",
        )?;
        let mut writer = Self {
            disk,
            file,
            part_path,
            final_path,
            reserve_path,
            staged,
            mcap,
            on_disk: 0,
            torn: false,
            unsure: false,
            subjects: HashMap::new(),
            subject_order: Vec::new(),
            raw: HashMap::new(),
            subject_schema,
            raw_schema,
            events: (events, 0),
            info,
            chunk_since: Some(now_nanos),
            synced_at: now_nanos,
            encoder: wire::Encoder::default(),
            scratch: Vec::new(),
            messages: 0,
            last_nanos: now_nanos,
        };
        if writer
            .part_path
            .extension()
            .is_some_and(|e| e == naming::PART)
        {
            writer.reserve();
        }
        writer.cut()?;
        writer
            .file
            .sync()
            .map_err(TakeError::io("sync the take", &writer.part_path))?;
        // The name must survive a power cut as well as the bytes.
        if let Some(folder) = writer.part_path.parent() {
            let _ = disk.sync_folder(folder);
        }
        Ok(writer)
    }

    /// Best effort: without the reserve a full disk leaves a `.part` file for recovery.
    fn reserve(&self) {
        if let Ok(mut file) = self.disk.create_new(&self.reserve_path) {
            // Real bytes: a sparse file would hold no room.
            let filled = file
                .append(&vec![0xa5; RESERVE_BYTES])
                .and_then(|()| file.sync());
            if filled.is_err() {
                let _ = self.disk.remove(&self.reserve_path);
            }
        }
    }

    /// Where it is being written.
    pub fn part_path(&self) -> &Path {
        &self.part_path
    }

    /// The description so far.
    pub fn info(&self) -> &TakeInfo {
        &self.info
    }

    fn message(
        &mut self,
        channel: u16,
        sequence: u32,
        nanos: i64,
        data: &[u8],
    ) -> Result<(), TakeError> {
        let time = nanos.max(0) as u64;
        self.mcap.write_to_known_channel(
            &MessageHeader {
                channel_id: channel,
                sequence,
                log_time: time,
                publish_time: time,
            },
            data,
        )?;
        self.messages += 1;
        self.last_nanos = self.last_nanos.max(nanos);
        self.chunk_since.get_or_insert(nanos);
        Ok(())
    }

    fn channel(&mut self, key: &SubjectKey) -> Result<&mut SubjectChannel, TakeError> {
        if !self.subjects.contains_key(key) {
            let topic = format!("subject/{}/{}", key.source, key.name);
            let metadata = BTreeMap::from([
                ("source".to_owned(), key.source.to_string()),
                ("subject".to_owned(), key.name.to_string()),
            ]);
            let id = self
                .mcap
                .add_channel(self.subject_schema, &topic, ENCODING, &metadata)?;
            self.subject_order.push(key.clone());
            self.subjects.insert(
                key.clone(),
                SubjectChannel {
                    id,
                    sequence: 0,
                    statics: None,
                    role: None,
                    statics_at: 0,
                    statics_repeated: false,
                    frames: 0,
                    first_timecode: None,
                },
            );
        }
        self.subjects.get_mut(key).ok_or(TakeError::Container(
            mcap::McapError::AttemptedWriteAfterFailure,
        ))
    }

    /// Static data; written when it differs from what the take has.
    pub fn static_data(
        &mut self,
        key: &SubjectKey,
        data: &StaticData,
        nanos: i64,
    ) -> Result<(), TakeError> {
        let channel = self.channel(key)?;
        if channel.statics.as_ref() == Some(data) {
            return Ok(());
        }
        channel.statics = Some(data.clone());
        channel.role = Some(data.role());
        channel.statics_repeated = false;
        self.write_static(key, nanos)
    }

    fn write_static(&mut self, key: &SubjectKey, nanos: i64) -> Result<(), TakeError> {
        let Some(channel) = self.subjects.get_mut(key) else {
            return Ok(());
        };
        let Some(data) = &channel.statics else {
            return Ok(());
        };
        channel.statics_at = nanos;
        channel.sequence += 1;
        let (id, sequence) = (channel.id, channel.sequence);
        let mut payload = vec![TAG_STATIC];
        payload = postcard::to_extend(&(key.source.as_str(), key.name.as_str()), payload)
            .expect("a Vec takes any number of bytes and strings always serialise");
        self.encoder.static_data(data, &mut payload);
        self.message(id, sequence, nanos, &payload)
    }

    /// A frame, already in the byte form of [`hub::wire`].
    pub fn frame(
        &mut self,
        key: &SubjectKey,
        record: &[u8],
        timecode: Option<hub::QualifiedFrameTime>,
        nanos: i64,
    ) -> Result<(), TakeError> {
        let channel = self.channel(key)?;
        channel.frames += 1;
        channel.sequence += 1;
        if channel.first_timecode.is_none() {
            channel.first_timecode = timecode.map(|t| t.to_string());
        }
        let (id, sequence) = (channel.id, channel.sequence);
        let repeat = if channel.statics_repeated {
            STATIC_NANOS
        } else {
            FIRST_STATIC_NANOS
        };
        if nanos - channel.statics_at > repeat {
            channel.statics_repeated = true;
            self.write_static(key, nanos)?;
        }
        let mut payload = std::mem::take(&mut self.scratch);
        payload.clear();
        payload.push(TAG_FRAME);
        payload.extend_from_slice(record);
        let written = self.message(id, sequence, nanos, &payload);
        self.scratch = payload;
        written
    }

    /// The source said that the subject ends.
    pub fn removed(&mut self, key: &SubjectKey, nanos: i64) -> Result<(), TakeError> {
        let channel = self.channel(key)?;
        channel.sequence += 1;
        channel.statics = None;
        let (id, sequence) = (channel.id, channel.sequence);
        self.message(id, sequence, nanos, &[TAG_REMOVED])
    }

    /// A datagram as it came.
    pub fn raw(
        &mut self,
        listener: &str,
        from: SocketAddr,
        datagram: &[u8],
        nanos: i64,
    ) -> Result<(), TakeError> {
        if !self.raw.contains_key(listener) {
            let topic = format!("raw/{listener}");
            let id = self
                .mcap
                .add_channel(self.raw_schema, &topic, ENCODING, &BTreeMap::new())?;
            self.raw.insert(listener.to_owned(), (id, 0));
        }
        let Some((id, sequence)) = self.raw.get_mut(listener) else {
            return Ok(());
        };
        *sequence += 1;
        let (id, sequence) = (*id, *sequence);
        let mut payload = std::mem::take(&mut self.scratch);
        payload.clear();
        match from {
            SocketAddr::V4(a) => {
                payload.push(4);
                payload.extend_from_slice(&a.ip().octets());
            }
            SocketAddr::V6(a) => {
                payload.push(16);
                payload.extend_from_slice(&a.ip().octets());
            }
        }
        payload.extend_from_slice(&from.port().to_be_bytes());
        payload.extend_from_slice(datagram);
        let written = self.message(id, sequence, nanos, &payload);
        self.scratch = payload;
        written
    }

    /// Something that happened.
    pub fn event(&mut self, event: &serde_json::Value, nanos: i64) -> Result<(), TakeError> {
        self.events.1 += 1;
        let (id, sequence) = self.events;
        self.message(id, sequence, nanos, event.to_string().as_bytes())
    }

    /// Does what is due: finishes a chunk after 250 ms, syncs each second.
    ///
    /// # Errors
    /// When the disk refuses. The take is then whole up to the last chunk: call [`Self::finish`].
    pub fn tick(&mut self, now_nanos: i64) -> Result<(), TakeError> {
        let due = self
            .chunk_since
            .is_some_and(|since| now_nanos - since >= CHUNK_NANOS);
        if due || self.staged.with(|s| s.bytes.len()) > MAX_CHUNK_BYTES {
            self.cut()?;
        }
        if now_nanos - self.synced_at >= SYNC_NANOS {
            self.synced_at = now_nanos;
            let synced = self.file.sync();
            self.unsure |= synced.is_err();
            synced.map_err(TakeError::io("sync the take", &self.part_path))?;
        }
        Ok(())
    }

    /// Finishes the chunk and gives it to the system.
    fn cut(&mut self) -> Result<(), TakeError> {
        self.chunk_since = None;
        self.mcap.flush()?;
        self.drain()
    }

    /// Moves staged bytes to the file; after a failure the file is cut back to whole chunks and the bytes
    /// stay staged.
    fn drain(&mut self) -> Result<(), TakeError> {
        if self.torn {
            // Half a chunk must not stand between two whole ones.
            self.file
                .truncate(self.on_disk)
                .map_err(TakeError::io("cut the take back", &self.part_path))?;
            self.torn = false;
        }
        let bytes = self.staged.with(|s| std::mem::take(&mut s.bytes));
        match self.file.append(&bytes) {
            Ok(()) => {
                self.on_disk += bytes.len() as u64;
                self.staged.with(|s| {
                    s.base += bytes.len() as u64;
                    s.at = 0;
                    let mut reuse = bytes;
                    reuse.clear();
                    s.bytes = reuse;
                });
                Ok(())
            }
            Err(cause) => {
                self.staged.with(|s| s.bytes = bytes);
                self.torn = self.file.truncate(self.on_disk).is_err();
                Err(TakeError::Io {
                    action: "write the take",
                    cause,
                    path: self.part_path.clone(),
                })
            }
        }
    }

    /// Ends the take: last chunk, description, index, sync, rename. `summaries` adds the hub's counts.
    ///
    /// # Errors
    /// Only when the container library itself refuses; a disk that refuses gives `complete: false`.
    pub fn finish(
        mut self,
        end: &str,
        now_nanos: i64,
        adjust: impl FnOnce(&mut TakeInfo),
    ) -> Result<Finished, TakeError> {
        // The reserve's room is for this moment.
        let _ = self.disk.remove(&self.reserve_path);
        for key in &self.subject_order {
            let Some(channel) = self.subjects.get(key) else {
                continue;
            };
            self.info.subjects.push(super::SubjectSummary {
                source: key.source.to_string(),
                name: key.name.to_string(),
                role: channel.role.map_or_else(String::new, |r| r.to_string()),
                frames: channel.frames,
                first_timecode: channel.first_timecode.clone(),
                ..super::SubjectSummary::default()
            });
        }
        "finished".clone_into(&mut self.info.status);
        end.clone_into(&mut self.info.end);
        let span = now_nanos.max(self.last_nanos) - self.info.start_unix_nanos;
        self.info.duration_secs = span.max(0) as f64 / 1e9;
        adjust(&mut self.info);
        self.mcap.flush()?;
        // The chunk first, alone: if the rest finds no room, at least the data is there.
        let data = self.drain();
        self.mcap.write_metadata(&self.info.to_metadata())?;
        self.mcap.finish()?;
        let complete = data
            .and_then(|()| self.drain())
            .and_then(|()| {
                self.file
                    .sync()
                    .map_err(TakeError::io("sync the take", &self.part_path))
            })
            .is_ok()
            && !self.unsure;
        Ok(Finished {
            path: if complete {
                self.final_path
            } else {
                self.part_path.clone()
            },
            part_path: self.part_path,
            info: self.info,
            bytes: self.on_disk,
            messages: self.messages,
            complete,
            lock: complete.then_some(self.file),
        })
    }
}

impl Finished {
    /// Checks the finished `.part` by reading it back, then gives the take its name.
    ///
    /// # Errors
    /// When what is read is not what was written, or the name cannot be given; the `.part` file stays.
    pub fn verify_and_name(&mut self, disk: &dyn Disk) -> Result<(), TakeError> {
        let named = self.check_and_rename(disk);
        if named.is_err() {
            self.complete = false;
            self.path.clone_from(&self.part_path);
        }
        self.lock = None;
        named
    }

    fn check_and_rename(&self, disk: &dyn Disk) -> Result<(), TakeError> {
        let part = &self.part_path;
        let mut reader = super::Reader::open(part)?;
        while reader.next_item()?.is_some() {}
        let stats = reader.stats();
        if stats.messages != self.messages || stats.damaged > 0 || !stats.complete {
            return Err(TakeError::Verify {
                written: self.messages,
                read: stats.messages,
                path: part.clone(),
            });
        }
        disk.rename_new(part, &self.path)
            .map_err(TakeError::io("name the finished take", &self.path))?;
        if let Some(folder) = self.path.parent() {
            // Durable names are a bonus on file systems that can.
            let _ = disk.sync_folder(folder);
        }
        Ok(())
    }
}
