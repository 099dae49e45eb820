//! Writes a Broadcast WAV through the seam to the file system.

use std::path::{Path, PathBuf};

use super::{Bext, Layout, SampleFormat, WavSpec};
use crate::{
    audio::error::{AudioError, WavFault},
    disk::{Disk, DiskFile},
};

/// Bytes gathered before they go to the file.
const STAGE_BYTES: usize = 1 << 16;
/// The extensible format's identity of PCM and float: the tag, then these (RFC 2361, KSDATAFORMAT_SUBTYPE).
const SUBTYPE: [u8; 14] = [
    0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71,
];

/// Everything before the samples.
#[derive(Clone, Debug)]
pub struct WavHead {
    /// The samples.
    pub spec: WavSpec,
    /// Origin and time.
    pub bext: Bext,
    /// The iXML document; none when empty.
    pub ixml: String,
}

/// A finished file, locked until this is dropped.
pub struct WavDone {
    /// Where it is.
    pub path: PathBuf,
    /// Frames in it.
    pub frames: u64,
    _lock: Box<dyn DiskFile>,
}

/// A file being written. Dropped unfinished it stays as the last [`Self::settle`] left it.
pub struct WavWriter {
    file: Box<dyn DiskFile>,
    path: PathBuf,
    spec: WavSpec,
    layout: Layout,
    staged: Vec<u8>,
    /// Bytes of samples in the file.
    on_disk: u64,
    /// The file ends with part of what was to be appended.
    torn: bool,
}

fn chunk(out: &mut Vec<u8>, id: [u8; 4], payload: &[u8]) {
    out.extend_from_slice(&id);
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    out.extend_from_slice(payload);
    if !payload.len().is_multiple_of(2) {
        out.push(0);
    }
}

fn format_chunk(spec: WavSpec) -> Vec<u8> {
    let frame = spec.frame_bytes() as u32;
    let is_extensible = spec.channels > 2;
    let tag = if is_extensible {
        0xfffe
    } else {
        spec.format.tag()
    };
    let mut out = Vec::with_capacity(40);
    out.extend_from_slice(&tag.to_le_bytes());
    out.extend_from_slice(&spec.channels.to_le_bytes());
    out.extend_from_slice(&spec.sample_rate.to_le_bytes());
    out.extend_from_slice(&spec.sample_rate.saturating_mul(frame).to_le_bytes());
    out.extend_from_slice(&(frame as u16).to_le_bytes());
    out.extend_from_slice(&spec.format.bits().to_le_bytes());
    if is_extensible {
        out.extend_from_slice(&22u16.to_le_bytes());
        out.extend_from_slice(&spec.format.bits().to_le_bytes());
        // Channels of no speaker: microphones.
        out.extend_from_slice(&0u32.to_le_bytes());
        out.extend_from_slice(&spec.format.tag().to_le_bytes());
        out.extend_from_slice(&SUBTYPE);
    } else if spec.format.is_float() {
        out.extend_from_slice(&0u16.to_le_bytes());
    }
    out
}

/// The header for no samples yet.
fn head_bytes(head: &WavHead) -> (Vec<u8>, Layout) {
    let mut out = Vec::with_capacity(4096);
    out.extend_from_slice(b"RIFF\0\0\0\0WAVE");
    chunk(&mut out, *b"JUNK", &[0; super::DS64_BYTES as usize]);
    chunk(&mut out, *b"bext", &head.bext.to_bytes());
    chunk(&mut out, *b"fmt ", &format_chunk(head.spec));
    let fact_at = head.spec.format.is_float().then(|| {
        chunk(&mut out, *b"fact", &[0; 4]);
        out.len() as u64 - 4
    });
    if !head.ixml.is_empty() {
        let mut document = head.ixml.clone();
        // Some readers forget that odd chunks are padded.
        if !document.len().is_multiple_of(2) {
            document.push('\n');
        }
        chunk(&mut out, *b"iXML", document.as_bytes());
    }
    chunk(&mut out, *b"data", &[]);
    let layout = Layout {
        fact_at,
        data_at: out.len() as u64,
        has_room: true,
        is_rf64: false,
    };
    let riff = (out.len() - 8) as u32;
    if let Some(size) = out.get_mut(4..8) {
        size.copy_from_slice(&riff.to_le_bytes());
    }
    (out, layout)
}

impl WavWriter {
    /// Creates a file that must not exist, with a header that is right for no samples.
    ///
    /// # Errors
    /// A format that is not written here; whatever the disk says, and then there is no file.
    pub fn create(disk: &dyn Disk, path: &Path, head: &WavHead) -> Result<Self, AudioError> {
        let spec = head.spec;
        spec.check().map_err(AudioError::wav(path))?;
        let is_written = matches!(
            spec.format,
            SampleFormat::Pcm16 | SampleFormat::Pcm24 | SampleFormat::Float32
        );
        if !is_written {
            return Err(AudioError::wav(path)(WavFault::Format {
                tag: spec.format.tag(),
                bits: spec.format.bits(),
            }));
        }
        let (bytes, layout) = head_bytes(head);
        let mut file = disk
            .create_new(path)
            .map_err(AudioError::io("create the audio file", path))?;
        let begun = file.append(&bytes).and_then(|()| file.sync());
        if let Err(cause) = begun {
            drop(file);
            let _ = disk.remove(path);
            return Err(AudioError::io("begin the audio file", path)(cause));
        }
        Ok(Self {
            file,
            path: path.to_owned(),
            spec,
            layout,
            staged: Vec::with_capacity(2 * STAGE_BYTES),
            on_disk: 0,
            torn: false,
        })
    }

    /// What the samples are.
    pub fn spec(&self) -> WavSpec {
        self.spec
    }

    /// Where it is being written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Frames taken so far.
    pub fn frames(&self) -> u64 {
        (self.on_disk + self.staged.len() as u64) / self.spec.frame_bytes() as u64
    }

    /// Frames that went to the file so far.
    pub fn frames_in_file(&self) -> u64 {
        self.on_disk / self.spec.frame_bytes() as u64
    }

    /// Takes interleaved samples; what is no whole frame at their end is left out.
    ///
    /// # Errors
    /// When the disk refuses. The file then ends with whole frames, or is cut back to them later: call
    /// [`Self::finish`].
    pub fn write(&mut self, samples: &[f32]) -> Result<(), AudioError> {
        let channels = usize::from(self.spec.channels);
        let whole = samples.len() - samples.len() % channels;
        // In pieces: a long block must not be held twice.
        for piece in samples[..whole].chunks(STAGE_BYTES / 8 / channels * channels) {
            for sample in piece {
                self.spec.format.encode(*sample, &mut self.staged);
            }
            if self.staged.len() >= STAGE_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Appends silence.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn silence(&mut self, frames: u64) -> Result<(), AudioError> {
        self.flush()?;
        let frame = self.spec.frame_bytes();
        let block = STAGE_BYTES / frame;
        let zeros = vec![0; block * frame];
        let mut left = frames;
        while left > 0 {
            let now = left.min(block as u64);
            self.append(&zeros[..now as usize * frame])?;
            left -= now;
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), AudioError> {
        if self.staged.is_empty() {
            return Ok(());
        }
        let mut staged = std::mem::take(&mut self.staged);
        let appended = self.append(&staged);
        if appended.is_ok() {
            staged.clear();
        }
        self.staged = staged;
        appended
    }

    /// To the file; after a failure it is cut back to what was there.
    fn append(&mut self, bytes: &[u8]) -> Result<(), AudioError> {
        let end = self.layout.data_at + self.on_disk;
        if self.torn {
            self.file
                .truncate(end)
                .map_err(AudioError::io("cut the audio file back", &self.path))?;
            self.torn = false;
        }
        match self.file.append(bytes) {
            Ok(()) => {
                self.on_disk += bytes.len() as u64;
                Ok(())
            }
            Err(cause) => {
                self.torn = self.file.truncate(end).is_err();
                Err(AudioError::io("write the audio file", &self.path)(cause))
            }
        }
    }

    fn patch(&mut self, padding: u64) -> Result<(), AudioError> {
        let frame = self.spec.frame_bytes();
        let patches = self
            .layout
            .lengths(self.on_disk, padding, frame)
            .map_err(AudioError::wav(&self.path))?;
        for (at, bytes) in patches {
            self.file.patch(at, &bytes).map_err(AudioError::io(
                "write the header of the audio file",
                &self.path,
            ))?;
            self.layout.is_rf64 |= bytes.starts_with(b"RF64");
        }
        Ok(())
    }

    /// Gives everything to the disk, makes the header say so, and waits for the medium: what is in the file
    /// plays from now on, whatever happens.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn settle(&mut self) -> Result<(), AudioError> {
        self.flush()?;
        self.patch(0)?;
        self.file
            .sync()
            .map_err(AudioError::io("sync the audio file", &self.path))
    }

    /// Ends the file. Also when the disk refuses, the header is made right for what is in it.
    ///
    /// # Errors
    /// As [`Self::write`]: not all that was taken is in the file.
    pub fn finish(mut self) -> Result<WavDone, AudioError> {
        let flushed = self.flush();
        if self.torn {
            let end = self.layout.data_at + self.on_disk;
            self.torn = self.file.truncate(end).is_err();
        }
        // A file whose last byte is missing for want of room is still read by everyone.
        let is_odd = !self.on_disk.is_multiple_of(2);
        let padding = u64::from(is_odd && !self.torn && self.file.append(&[0]).is_ok());
        let patched = self.patch(padding);
        let synced = self
            .file
            .sync()
            .map_err(AudioError::io("sync the audio file", &self.path));
        flushed.and(patched).and(synced)?;
        Ok(WavDone {
            frames: self.on_disk / self.spec.frame_bytes() as u64,
            path: self.path,
            _lock: self.file,
        })
    }
}
