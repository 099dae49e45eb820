//! Reads a take from front to back: finished, cut short anywhere, or damaged in the middle.
//!
//! Records are framed by opcode and length; a chunk carries its own checksum. A chunk whose checksum fails
//! is left out whole and counted. When the framing itself is broken, the reader looks for the next chunk
//! header. Memory grows with a chunk, never with the file.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};

use hub::{FrameData, FrameMeta, SourceId, StaticData, SubjectKey, SubjectName, WorldTime, wire};
use mcap::records::{Record, op};

use super::{TAG_FRAME, TAG_REMOVED, TAG_STATIC, TakeInfo};
use crate::error::TakeError;

/// Largest record read; our own chunks hold a quarter of a second.
const MAX_RECORD_BYTES: u64 = 256 << 20;
/// Most bytes kept of channels not yet known.
const MAX_ORPHAN_BYTES: usize = 16 << 20;
/// Opcode and length.
const FRAMING_BYTES: usize = 9;
/// A chunk's header when it is not compressed.
const CHUNK_HEADER_BYTES: u64 = 40;

/// One thing of a take. Times are nanoseconds of Unix time; `FrameMeta::arrival` counts from the take's start.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// The description; the last one counts.
    Info(Box<TakeInfo>),
    /// Static data of a subject.
    Static {
        /// Whose.
        key: SubjectKey,
        /// The data.
        data: Box<StaticData>,
        /// Arrival.
        nanos: i64,
    },
    /// A frame of a subject; without values only when tracking is lost.
    Frame {
        /// Whose.
        key: SubjectKey,
        /// When and how.
        meta: Box<FrameMeta>,
        /// The values.
        data: Option<Box<FrameData>>,
        /// Arrival.
        nanos: i64,
    },
    /// A subject ended.
    Removed {
        /// Whose.
        key: SubjectKey,
        /// When.
        nanos: i64,
    },
    /// Something that happened.
    Event {
        /// JSON.
        value: serde_json::Value,
        /// When.
        nanos: i64,
    },
    /// A datagram as it came.
    Raw {
        /// Who received it, for example `livelinkface/0.0.0.0:11111`.
        listener: String,
        /// Who sent it.
        from: SocketAddr,
        /// Its bytes.
        bytes: Vec<u8>,
        /// Arrival.
        nanos: i64,
    },
}

impl Item {
    /// When it arrived, in nanoseconds of Unix time; `None` for the description.
    pub fn nanos(&self) -> Option<i64> {
        match self {
            Self::Info(_) => None,
            Self::Static { nanos, .. }
            | Self::Frame { nanos, .. }
            | Self::Removed { nanos, .. }
            | Self::Event { nanos, .. }
            | Self::Raw { nanos, .. } => Some(*nanos),
        }
    }
}

/// What was found so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadStats {
    /// Messages read.
    pub messages: u64,
    /// Chunks and messages left out because they are damaged.
    pub damaged: u64,
    /// Whether the file ends as a finished take does.
    pub complete: bool,
}

enum Channel {
    Subject(SubjectKey),
    Raw(String),
    Events,
    Other,
}

/// Reads items one after the other.
pub struct Reader {
    path: PathBuf,
    file: BufReader<File>,
    len: u64,
    at: u64,
    buffer: Vec<u8>,
    channels: HashMap<u16, Channel>,
    /// Messages whose channel is not known: its record was in a damaged chunk.
    orphans: HashMap<u16, Vec<(i64, Vec<u8>)>>,
    orphan_bytes: usize,
    queue: VecDeque<Item>,
    stats: ReadStats,
    start_nanos: Option<i64>,
    with_raw: bool,
    /// The index has begun: records of other kinds are expected.
    data_ended: bool,
    done: bool,
    /// Bytes that searches for chunk headers may still read: hostile files must not cost more than their length a few times.
    search_budget: u64,
}

impl Reader {
    /// Opens a take or any prefix of one.
    ///
    /// # Errors
    /// When the file cannot be read or does not begin like an MCAP file.
    pub fn open(path: &Path) -> Result<Self, TakeError> {
        let file = File::open(path).map_err(TakeError::io("open the take", path))?;
        let len = file
            .metadata()
            .map_err(TakeError::io("open the take", path))?
            .len();
        let mut file = BufReader::with_capacity(1 << 16, file);
        let mut magic = [0; 8];
        let short = file.read_exact(&mut magic).is_err();
        if short || magic != *mcap::MAGIC {
            return Err(TakeError::NotATake {
                why: if short {
                    "shorter than 8 bytes"
                } else {
                    "it does not begin like an MCAP file"
                },
                path: path.to_owned(),
            });
        }
        let mut reader = Self {
            path: path.to_owned(),
            file,
            len,
            at: 8,
            buffer: Vec::new(),
            // Our writer's first channel; a channel record says the same.
            channels: HashMap::from([(1, Channel::Events)]),
            orphans: HashMap::new(),
            orphan_bytes: 0,
            queue: VecDeque::new(),
            stats: ReadStats::default(),
            start_nanos: None,
            with_raw: false,
            data_ended: false,
            done: false,
            search_budget: 4 * len + (16 << 20),
        };
        reader.read_summary()?;
        Ok(reader)
    }

    /// Learns the channels from the end of a finished take, so that no damage in front can hide them.
    fn read_summary(&mut self) -> Result<(), TakeError> {
        /// Opcode, length, summary start, summary offset start, checksum, magic.
        const FOOTER_BYTES: u64 = 9 + 8 + 8 + 4 + 8;
        if self.len < 8 + FOOTER_BYTES {
            return Ok(());
        }
        let data_start = self.at;
        self.seek_to(self.len - FOOTER_BYTES)?;
        self.take_body(FOOTER_BYTES)?;
        let footer = self.buffer.clone();
        if let [op::FOOTER, rest @ ..] = &footer[..]
            && rest.ends_with(mcap::MAGIC)
            && let Some((_, rest)) = rest.split_first_chunk::<8>()
            && let Some((summary, _)) = rest.split_first_chunk::<8>()
        {
            let summary = u64::from_le_bytes(*summary);
            if (data_start..self.len - FOOTER_BYTES).contains(&summary) {
                self.seek_to(summary)?;
                self.data_ended = true;
                while self.at < self.len - FOOTER_BYTES
                    && let Some((opcode, len)) = self.framing()?
                {
                    if opcode != op::CHANNEL {
                        self.skip(len)?;
                        continue;
                    }
                    self.take_body(len)?;
                    if let Ok(Record::Channel(c)) = mcap::parse_record(opcode, &self.buffer) {
                        self.add_channel(&c);
                    }
                }
            }
        }
        self.stats = ReadStats::default();
        self.data_ended = false;
        self.done = false;
        self.seek_to(data_start)
    }

    /// Also gives the raw datagrams, which are skipped otherwise (they are counted either way).
    pub fn with_raw(mut self) -> Self {
        self.with_raw = true;
        self
    }

    /// What was found so far; final once [`Self::next_item`] gave `None`.
    pub fn stats(&self) -> ReadStats {
        self.stats
    }

    /// The next item, or `None` at the end of what can be read.
    ///
    /// # Errors
    /// Only when the file system fails; damage is counted, not an error.
    pub fn next_item(&mut self) -> Result<Option<Item>, TakeError> {
        loop {
            if let Some(item) = self.queue.pop_front() {
                return Ok(Some(item));
            }
            if self.done {
                let orphans = std::mem::take(&mut self.orphans);
                self.stats.damaged += orphans.values().map(|o| o.len() as u64).sum::<u64>();
                return Ok(None);
            }
            self.read_record()?;
        }
    }

    /// The description alone: skips everything else, so that listing a folder is quick.
    ///
    /// # Errors
    /// As [`Self::next_item`].
    pub fn info_only(mut self) -> Result<(Option<TakeInfo>, ReadStats), TakeError> {
        let mut info = None;
        while !self.done {
            let Some((opcode, len)) = self.framing()? else {
                break;
            };
            if opcode == op::METADATA {
                self.take_body(len)?;
                self.metadata();
                while let Some(Item::Info(found)) = self.queue.pop_front() {
                    info = Some(*found);
                }
            } else {
                self.stats.complete |= opcode == op::FOOTER;
                self.done |= opcode == op::FOOTER;
                self.skip(len)?;
            }
        }
        Ok((info, self.stats))
    }

    fn seek_to(&mut self, at: u64) -> Result<(), TakeError> {
        let delta = at as i64 - self.at as i64;
        self.file
            .seek_relative(delta)
            .map_err(TakeError::io("read the take", &self.path))?;
        self.at = at;
        Ok(())
    }

    fn skip(&mut self, len: u64) -> Result<(), TakeError> {
        self.seek_to(self.at + len)
    }

    /// Opcode and length of the next record; resynchronises over damage; `None` ends the reading.
    fn framing(&mut self) -> Result<Option<(u8, u64)>, TakeError> {
        loop {
            let mut head = [0; FRAMING_BYTES];
            if self.len - self.at < FRAMING_BYTES as u64 || self.file.read_exact(&mut head).is_err()
            {
                self.done = true;
                return Ok(None);
            }
            self.at += FRAMING_BYTES as u64;
            let [opcode, length @ ..] = head;
            let length = u64::from_le_bytes(length);
            // A flipped bit must not make a chunk pass for something to be skipped, or for the end.
            let known = match opcode {
                op::FOOTER => length == 20 && self.at + 20 + 8 == self.len,
                op::HEADER | op::CHUNK | op::METADATA | op::ATTACHMENT => true,
                op::DATA_END => length == 4,
                _ => self.data_ended,
            };
            if known && length <= MAX_RECORD_BYTES && length <= self.len - self.at {
                self.data_ended |= opcode == op::DATA_END;
                return Ok(Some((opcode, length)));
            }
            let from = self.at - FRAMING_BYTES as u64 + 1;
            let Some(at) = self.find_chunk(from)? else {
                // A last record that claims more than there is was torn off by a crash; anything else is damage.
                let torn = known && length <= MAX_RECORD_BYTES;
                self.stats.damaged += u64::from(!torn);
                self.done = true;
                return Ok(None);
            };
            self.stats.damaged += 1;
            self.seek_to(at)?;
        }
    }

    /// Offset of the next thing that looks like one of our chunk headers.
    fn find_chunk(&mut self, from: u64) -> Result<Option<u64>, TakeError> {
        const LARGEST_BLOCK: usize = 1 << 20;
        const OVERLAP: usize = FRAMING_BYTES + CHUNK_HEADER_BYTES as usize;
        let fail = TakeError::io("read the take", &self.path);
        let here = self.at;
        let mut block = Vec::new();
        let mut start = from;
        let mut found = None;
        // Mostly the next header is near; a wide gap is crossed in wider strides.
        let mut size = 4096;
        let budget = &mut self.search_budget;
        let mut search = || -> std::io::Result<()> {
            while start < self.len && found.is_none() && *budget > 0 {
                self.file.seek(SeekFrom::Start(start))?;
                block.clear();
                (&mut self.file).take(size as u64).read_to_end(&mut block)?;
                *budget = budget.saturating_sub(block.len() as u64);
                size = (size * 2).min(LARGEST_BLOCK);
                found = block
                    .windows(OVERLAP)
                    .position(|w| looks_like_chunk(w, self.len - start))
                    .map(|i| start + i as u64);
                if block.len() < OVERLAP {
                    break;
                }
                start += (block.len() - OVERLAP + 1) as u64;
            }
            self.file.seek(SeekFrom::Start(here)).map(|_| ())
        };
        search().map_err(fail)?;
        Ok(found)
    }

    fn take_body(&mut self, len: u64) -> Result<(), TakeError> {
        self.buffer.clear();
        let read = (&mut self.file)
            .take(len)
            .read_to_end(&mut self.buffer)
            .map_err(TakeError::io("read the take", &self.path))?;
        self.at += read as u64;
        if (read as u64) < len {
            self.done = true;
        }
        Ok(())
    }

    fn read_record(&mut self) -> Result<(), TakeError> {
        let Some((opcode, len)) = self.framing()? else {
            return Ok(());
        };
        match opcode {
            op::CHUNK => {
                let start = self.at - FRAMING_BYTES as u64;
                self.take_body(len)?;
                if !self.chunk() {
                    self.stats.damaged += 1;
                    // Its length may be what is damaged: look for its neighbours inside it.
                    if let Some(next) = self.find_chunk(start + 1)? {
                        self.done = false;
                        self.seek_to(next)?;
                    }
                }
            }
            op::METADATA => {
                self.take_body(len)?;
                self.metadata();
            }
            op::FOOTER => {
                self.stats.complete = true;
                self.done = true;
            }
            _ => self.skip(len)?,
        }
        Ok(())
    }

    fn metadata(&mut self) {
        let Ok(Record::Metadata(m)) = mcap::parse_record(op::METADATA, &self.buffer) else {
            self.stats.damaged += 1;
            return;
        };
        if let Some(info) = TakeInfo::from_metadata(&m) {
            self.start_nanos.get_or_insert(info.start_unix_nanos);
            self.queue.push_back(Item::Info(Box::new(info)));
        }
    }

    fn add_channel(&mut self, c: &mcap::records::Channel) {
        let subject = || {
            let key = SubjectKey::new(
                SourceId::new(c.metadata.get("source")?).ok()?,
                SubjectName::new(c.metadata.get("subject")?).ok()?,
            );
            Some(Channel::Subject(key))
        };
        let channel = if c.topic == "events" {
            Channel::Events
        } else if let Some(listener) = c.topic.strip_prefix("raw/") {
            Channel::Raw(listener.to_owned())
        } else {
            subject().unwrap_or(Channel::Other)
        };
        self.channels.insert(c.id, channel);
    }

    /// Takes the chunk in the buffer whole, or leaves it out whole and returns false.
    fn chunk(&mut self) -> bool {
        let buffer = std::mem::take(&mut self.buffer);
        let records = unpack(&buffer);
        for record in records.iter().flatten() {
            match record {
                Record::Channel(c) => self.add_channel(c),
                Record::Message { header, data } => {
                    self.stats.messages += 1;
                    self.message(header.channel_id, header.log_time as i64, data);
                }
                _ => {}
            }
        }
        let good = records.is_some();
        drop(records);
        self.buffer = buffer;
        good
    }

    fn message(&mut self, id: u16, nanos: i64, data: &[u8]) {
        // Static data names its subject, so that a take whose first chunk is lost can still be read from the next minute on.
        if !self.channels.contains_key(&id)
            && let Some((key, _)) = read_static(data)
        {
            self.channels.insert(id, Channel::Subject(key));
            let orphans = self.orphans.remove(&id).unwrap_or_default();
            self.orphan_bytes -= orphans.iter().map(|(_, data)| data.len()).sum::<usize>();
            for (nanos, data) in orphans {
                self.message(id, nanos, &data);
            }
        }
        let item = match self.channels.get(&id) {
            Some(Channel::Subject(key)) => self.subject_message(&key.clone(), nanos, data),
            Some(Channel::Raw(listener)) if self.with_raw => {
                read_raw(data).map(|(from, bytes)| Item::Raw {
                    listener: listener.clone(),
                    from,
                    bytes: bytes.to_vec(),
                    nanos,
                })
            }
            Some(Channel::Events) => serde_json::from_slice(data)
                .ok()
                .map(|value| Item::Event { value, nanos }),
            Some(Channel::Raw(_) | Channel::Other) => return,
            // Raw datagrams of an unknown channel never tell which one it was.
            None if data.first().is_some_and(|tag| *tag <= TAG_REMOVED)
                && self.orphan_bytes + data.len() <= MAX_ORPHAN_BYTES =>
            {
                self.orphan_bytes += data.len();
                self.orphans
                    .entry(id)
                    .or_default()
                    .push((nanos, data.to_vec()));
                return;
            }
            None => None,
        };
        match item {
            Some(item) => self.queue.push_back(item),
            None => self.stats.damaged += 1,
        }
    }

    fn subject_message(&mut self, key: &SubjectKey, nanos: i64, data: &[u8]) -> Option<Item> {
        let key = key.clone();
        match data.split_first()? {
            (&TAG_STATIC, _) => {
                let (_, statics) = read_static(data)?;
                Some(Item::Static {
                    key,
                    data: Box::new(statics),
                    nanos,
                })
            }
            (&TAG_FRAME, record) => {
                let (mut meta, mut values) = (FrameMeta::default(), FrameData::default());
                let has_data = wire::read_frame(record, &mut meta, &mut values).ok()?;
                let start = *self.start_nanos.get_or_insert(nanos);
                meta.arrival = WorldTime::from_nanos(nanos - start);
                Some(Item::Frame {
                    key,
                    meta: Box::new(meta),
                    data: has_data.then(|| Box::new(values)),
                    nanos,
                })
            }
            (&TAG_REMOVED, _) => Some(Item::Removed { key, nanos }),
            _ => None,
        }
    }
}

/// The channels and messages of a chunk. `None` when its checksum or its framing is wrong: then nothing in it
/// is believed. Our chunks are neither compressed nor without checksum.
fn unpack(chunk: &[u8]) -> Option<Vec<Record<'_>>> {
    let Ok(Record::Chunk {
        header,
        data: Cow::Borrowed(mut data),
    }) = mcap::parse_record(op::CHUNK, chunk)
    else {
        return None;
    };
    if !header.compression.is_empty() || crc32fast::hash(data) != header.uncompressed_crc {
        return None;
    }
    let mut records = Vec::new();
    while let Some((&opcode, rest)) = data.split_first() {
        let (len, rest) = rest.split_first_chunk::<8>()?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
        let (body, rest) = rest.split_at_checked(len)?;
        if matches!(opcode, op::CHANNEL | op::MESSAGE) {
            records.push(mcap::parse_record(opcode, body).ok()?);
        }
        data = rest;
    }
    Some(records)
}

fn looks_like_chunk(window: &[u8], left: u64) -> bool {
    let u64_at = |at: usize| {
        window[at..]
            .first_chunk()
            .map_or(u64::MAX, |b| u64::from_le_bytes(*b))
    };
    if window[0] != op::CHUNK {
        return false;
    }
    let len = u64_at(1);
    let no_compression = window[FRAMING_BYTES + 28..FRAMING_BYTES + 32] == [0; 4];
    (CHUNK_HEADER_BYTES..=MAX_RECORD_BYTES).contains(&len)
        && len <= left
        && no_compression
        && u64_at(FRAMING_BYTES + 32) == len - CHUNK_HEADER_BYTES
}

fn read_static(data: &[u8]) -> Option<(SubjectKey, StaticData)> {
    let (&TAG_STATIC, rest) = data.split_first()? else {
        return None;
    };
    let ((source, name), record) = postcard::take_from_bytes::<(&str, &str)>(rest).ok()?;
    let key = SubjectKey::new(SourceId::new(source).ok()?, SubjectName::new(name).ok()?);
    Some((key, wire::read_static(record).ok()?))
}

fn read_raw(data: &[u8]) -> Option<(SocketAddr, &[u8])> {
    let (len, rest) = data.split_first()?;
    let (ip, rest) = match len {
        4 => {
            let (ip, rest) = rest.split_first_chunk::<4>()?;
            (IpAddr::from(*ip), rest)
        }
        16 => {
            let (ip, rest) = rest.split_first_chunk::<16>()?;
            (IpAddr::from(*ip), rest)
        }
        _ => return None,
    };
    let (port, bytes) = rest.split_first_chunk()?;
    Some((SocketAddr::new(ip, u16::from_be_bytes(*port)), bytes))
}
