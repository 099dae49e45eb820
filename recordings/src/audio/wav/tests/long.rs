//! Files past 4 GiB that no disk has to hold, and bytes that are no file.

use std::{
    io::{self, Cursor},
    path::Path,
    sync::{Arc, Mutex},
};

use proptest::prelude::*;

use super::{find, head, samples, spec};
use crate::{
    audio::wav::{SampleFormat, WavReader, WavWriter},
    disk::{Disk, DiskFile},
};

/// A disk that keeps the first bytes of a file and counts the rest.
#[derive(Clone, Default)]
struct Sparse(Arc<Mutex<(Vec<u8>, u64)>>);

const KEPT: usize = 8192;

impl DiskFile for Sparse {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.0.lock().unwrap();
        let room = KEPT - file.0.len();
        file.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
        file.1 += bytes.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&mut self, _len: u64) -> io::Result<()> {
        Ok(())
    }

    fn patch(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.0.lock().unwrap();
        let at = at as usize;
        file.0[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

impl Disk for Sparse {
    fn create_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn create_new(&self, _path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(self.clone()))
    }

    fn rename_new(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// The kept bytes, and zeros up to the counted length.
struct Long {
    kept: Vec<u8>,
    len: u64,
    at: u64,
}

impl io::Read for Long {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = into.len().min((self.len - self.at) as usize);
        for (i, byte) in into[..count].iter_mut().enumerate() {
            let kept = self.kept.get(self.at as usize + i);
            *byte = kept.copied().unwrap_or(0);
        }
        self.at += count as u64;
        Ok(count)
    }
}

impl io::Seek for Long {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.at = match to {
            io::SeekFrom::Start(at) => at.min(self.len),
            io::SeekFrom::End(_) => self.len,
            io::SeekFrom::Current(_) => self.at,
        };
        Ok(self.at)
    }
}

#[test]
fn past_four_gibibytes_it_becomes_rf64() {
    let disk = Sparse::default();
    let spec = spec(SampleFormat::Float32, 2);
    let mut writer = WavWriter::create(&disk, Path::new("x.wav"), &head(spec)).unwrap();
    let kept = |disk: &Sparse| disk.0.lock().unwrap().0.clone();
    let header = find(&kept(&disk), b"data") as u64 + 8;
    // The longest that 32 bits hold, in frames of 8 bytes.
    let most = (u64::from(u32::MAX) - 1 - (header - 8)) / 8;
    writer.silence(most).unwrap();
    writer.settle().unwrap();
    let bytes = kept(&disk);
    assert_eq!(&bytes[..4], b"RIFF");
    assert_eq!(&bytes[12..16], b"JUNK");
    let riff = u32::from_le_bytes(bytes[4..8].try_into().unwrap());
    assert_eq!(u64::from(riff), header - 8 + most * 8);
    // A frame more is too many.
    writer.write(&[0.0, 0.0]).unwrap();
    writer.settle().unwrap();
    writer.silence(1 << 20).unwrap();
    let done = writer.finish().unwrap();
    let frames = most + 1 + (1 << 20);
    assert_eq!(done.frames, frames);
    let bytes = kept(&disk);
    // EBU Tech 3306: RF64, -1, WAVE, ds64, 28, size of the file, of data, frames, no table.
    assert_eq!(&bytes[..16], b"RF64\xff\xff\xff\xffWAVEds64");
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!(bytes[16..20], 28u32.to_le_bytes());
    assert_eq!(long(20), header - 8 + frames * 8);
    assert_eq!(long(28), frames * 8);
    assert_eq!(long(36), frames);
    assert_eq!(bytes[44..48], [0; 4]);
    assert_eq!(&bytes[48..52], b"bext");
    let data = find(&bytes, b"data");
    assert_eq!(bytes[data + 4..data + 8], [0xff; 4]);
    let len = disk.0.lock().unwrap().1;
    assert_eq!(len, header + frames * 8);
    let mut reader = WavReader::new(Long {
        kept: bytes,
        len,
        at: 0,
    })
    .unwrap();
    assert!(reader.is_rf64() && !reader.is_unfinished());
    assert_eq!(reader.frames(), frames);
    reader.seek(frames - 3).unwrap();
    assert_eq!(reader.read(10, &mut Vec::new()).unwrap(), 3);
}

proptest! {
    #[test]
    fn no_bytes_panic_or_cost_more_than_they_are(
        rest in proptest::collection::vec(any::<u8>(), 0..600),
        is_long in any::<bool>(),
        data in proptest::option::of(any::<u32>()),
    ) {
        let magic: &[u8] = if is_long { b"RF64" } else { b"RIFF" };
        let mut bytes: Vec<u8> = magic
            .iter()
            .chain(b"\xff\xff\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0\x80\xbb\0\0\0\xee\x02\0\x04\0\x10\0")
            .copied()
            .collect();
        if let Some(size) = data {
            bytes.extend_from_slice(b"data");
            bytes.extend_from_slice(&size.to_le_bytes());
        }
        bytes.extend_from_slice(&rest);
        if let Ok(mut reader) = WavReader::new(Cursor::new(&bytes)) {
            let mut out = Vec::new();
            let frames = reader.read(usize::MAX, &mut out).unwrap();
            prop_assert_eq!(frames as u64, reader.frames());
            prop_assert!(out.len() * 2 <= bytes.len() && out.iter().all(|x| x.is_finite()));
        }
    }

    #[test]
    fn flipped_bytes_do_not_panic(at in 0usize..1400, with in any::<u8>(), cut in 0usize..2000) {
        let mut bytes = Vec::new();
        {
            let disk = Sparse::default();
            let head = head(spec(SampleFormat::Float32, 2));
            let mut writer = WavWriter::create(&disk, Path::new("x"), &head).unwrap();
            writer.write(&samples(0, 40)).unwrap();
            writer.finish().unwrap();
            bytes.extend_from_slice(&disk.0.lock().unwrap().0);
        }
        if let Some(byte) = bytes.get_mut(at) {
            *byte = with;
        }
        bytes.truncate(bytes.len().saturating_sub(cut));
        if let Ok(mut reader) = WavReader::new(Cursor::new(&bytes)) {
            let mut out = Vec::new();
            reader.read(usize::MAX, &mut out).unwrap();
            prop_assert!(out.len() <= bytes.len());
            prop_assert!(out.iter().all(|x| x.is_finite()));
        }
    }
}
