//! Reads WAV files: PCM of 8, 16, 24 and 32 bits, float of 32 and 64, RIFF and RF64.

use std::{
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    path::Path,
};

use super::{Bext, WavSpec, parse::Parsed};
use crate::audio::error::{AudioError, WavFault};

/// Most bytes held at a time.
const PIECE_BYTES: usize = 1 << 16;

/// A WAV file being read. Memory does not grow with the file.
pub struct WavReader<R> {
    input: R,
    parsed: Parsed,
    /// The next frame.
    at: u64,
    bytes: Vec<u8>,
}

impl WavReader<BufReader<File>> {
    /// Opens a file.
    ///
    /// # Errors
    /// When it cannot be read or is no WAV file that is read here.
    pub fn open(path: &Path) -> Result<Self, AudioError> {
        let file = File::open(path).map_err(AudioError::io("open the audio file", path))?;
        Self::new(BufReader::with_capacity(PIECE_BYTES, file)).map_err(AudioError::wav(path))
    }
}

impl<R: Read + Seek> WavReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// When it is no WAV file that is read here.
    pub fn new(mut input: R) -> Result<Self, WavFault> {
        let len = input.seek(SeekFrom::End(0))?;
        let parsed = super::parse::parse(&mut input, len)?;
        let mut reader = Self {
            input,
            parsed,
            at: 0,
            bytes: Vec::new(),
        };
        reader.seek(0)?;
        Ok(reader)
    }

    /// What the samples are.
    pub fn spec(&self) -> WavSpec {
        self.parsed.spec
    }

    /// Frames that can be read.
    pub fn frames(&self) -> u64 {
        self.parsed.data / self.parsed.spec.frame_bytes() as u64
    }

    /// The next frame.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Whether the header does not know the file's length, as after a kill; [`super::repair()`] makes it right.
    pub fn is_unfinished(&self) -> bool {
        self.parsed.is_unfinished
    }

    /// Whether lengths are of 64 bits.
    pub fn is_rf64(&self) -> bool {
        self.parsed.layout.is_rf64
    }

    /// What a Broadcast WAV says of itself.
    pub fn bext(&self) -> Option<&Bext> {
        self.parsed.bext.as_ref()
    }

    /// The iXML document.
    pub fn ixml(&self) -> Option<&str> {
        self.parsed.ixml.as_deref()
    }

    /// Goes to a frame, or to the end if there is none.
    ///
    /// # Errors
    /// When the input refuses.
    pub fn seek(&mut self, frame: u64) -> Result<(), WavFault> {
        self.at = frame.min(self.frames());
        let offset = self.at * self.parsed.spec.frame_bytes() as u64;
        self.input
            .seek(SeekFrom::Start(self.parsed.layout.data_at + offset))?;
        Ok(())
    }

    /// Appends up to `frames` frames to `out`, interleaved, full scale ±1. Gives the number of them; fewer only at
    /// the end.
    ///
    /// # Errors
    /// When the input refuses.
    pub fn read(&mut self, frames: usize, out: &mut Vec<f32>) -> Result<usize, WavFault> {
        let frame = self.parsed.spec.frame_bytes();
        let mut done = 0;
        while done < frames {
            let left = self.frames() - self.at;
            let now = (frames - done)
                .min(PIECE_BYTES / frame)
                .min(usize::try_from(left).unwrap_or(usize::MAX));
            if now == 0 {
                break;
            }
            self.bytes.clear();
            let wanted = (now * frame) as u64;
            let mut piece = self.input.by_ref().take(wanted);
            piece.read_to_end(&mut self.bytes)?;
            let got = self.bytes.len() / frame;
            if let Some(whole) = self.bytes.get(..got * frame) {
                self.parsed.spec.format.decode(whole, out);
            }
            self.at += got as u64;
            done += got;
            if got < now {
                // The file was cut while it was read.
                self.parsed.data = self.at * frame as u64;
                break;
            }
        }
        Ok(done)
    }
}
