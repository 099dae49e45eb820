mod long;

use std::{
    io::Cursor,
    path::{Path, PathBuf},
};

use hub::{DropFrame, FrameRate, QualifiedFrameTime, Timecode};

use super::*;
use crate::disk::RealDisk;

fn spec(format: SampleFormat, channels: u16) -> WavSpec {
    WavSpec {
        sample_rate: 48_000,
        channels,
        format,
    }
}

fn head(spec: WavSpec) -> WavHead {
    WavHead {
        spec,
        bext: Bext {
            description: "Scene 演".into(),
            originator: "Ghostlight".into(),
            reference: "REF".into(),
            date: "2026-11-30".into(),
            time: "12:34:56".into(),
            time_reference: 0x0000_0001_0203_0405,
            history: "A=PCM\r\n".into(),
        },
        ixml: Ixml {
            scene: "第三幕 <&>",
            take: 7,
            note: "",
            rate: FrameRate::FPS_29_97,
            drop: DropFrame::Drop,
            spec,
            time_reference: 0x0000_0001_0203_0405,
            track: "役者",
        }
        .document(),
    }
}

/// Sample n of a signal whose 16 bits are all different.
fn value(n: u64) -> f32 {
    (n as i64 * 7919 % 65_536 - 32_768) as f32 / 32_768.0
}

fn samples(from: u64, count: u64) -> Vec<f32> {
    (from..from + count).map(value).collect()
}

fn written(format: SampleFormat, channels: u16, count: u64) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.wav");
    let mut writer = WavWriter::create(&RealDisk, &path, &head(spec(format, channels))).unwrap();
    writer.write(&samples(0, count)).unwrap();
    let done = writer.finish().unwrap();
    assert_eq!(done.frames, count / u64::from(channels));
    drop(done);
    (dir, path)
}

fn find(bytes: &[u8], id: &[u8]) -> usize {
    bytes.windows(id.len()).position(|w| w == id).unwrap()
}

fn read_all(path: &Path) -> Vec<f32> {
    let mut out = Vec::new();
    let mut reader = WavReader::open(path).unwrap();
    while reader.read(1000, &mut out).unwrap() > 0 {}
    out
}

#[test]
fn bext_stands_where_ebu_tech_3285_has_it() {
    let (_dir, path) = written(SampleFormat::Pcm24, 1, 10);
    let bytes = std::fs::read(&path).unwrap();
    // RIFF, size, WAVE, then room for ds64 first (EBU Tech 3306, section 4).
    assert_eq!(&bytes[..4], b"RIFF");
    assert_eq!(&bytes[8..20], b"WAVEJUNK\x1c\0\0\0");
    assert_eq!(&bytes[48..52], b"bext");
    let size = u32::from_le_bytes(bytes[52..56].try_into().unwrap());
    assert_eq!(size, 602 + 8, "7 characters of history, padded to even");
    let bext = &bytes[56..];
    // Not ASCII: a question mark; the name stands in iXML.
    assert_eq!(&bext[..8], b"Scene ?\0");
    assert_eq!(&bext[256..267], b"Ghostlight\0");
    assert_eq!(&bext[288..292], b"REF\0");
    assert_eq!(&bext[320..330], b"2026-11-30");
    assert_eq!(&bext[330..338], b"12:34:56");
    assert_eq!(&bext[338..342], &[5, 4, 3, 2], "low word");
    assert_eq!(&bext[342..346], &[1, 0, 0, 0], "high word");
    assert_eq!(&bext[346..348], &[1, 0], "version");
    assert!(bext[348..602].iter().all(|b| *b == 0));
    assert_eq!(&bext[602..609], b"A=PCM\r\n");
    let format = find(&bytes, b"fmt ");
    // PCM, 1 channel, 48000 a second, 144000 bytes a second, 3 a frame, 24 bits.
    let expected = [
        16, 0, 0, 0, 1, 0, 1, 0, 0x80, 0xbb, 0, 0, 0x80, 0x32, 0x02, 0, 3, 0, 24, 0,
    ];
    assert_eq!(&bytes[format + 4..format + 24], &expected);
    let riff = u32::from_le_bytes(bytes[4..8].try_into().unwrap());
    assert_eq!(riff as usize, bytes.len() - 8);
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("<SCENE>第三幕 &lt;&amp;&gt;</SCENE>"));
    assert!(text.contains("<TIMECODE_RATE>30000/1001</TIMECODE_RATE>"));
    assert!(text.contains("<TIMECODE_FLAG>DF</TIMECODE_FLAG>"));
    assert!(text.contains("MIDNIGHT_HI>1</"), "high word");
    assert!(text.contains("MIDNIGHT_LO>33752069</"), "0x02030405");
}

#[test]
fn one_oclock_is_where_the_rates_put_it() {
    let reference = |text: &str, rate| {
        let label = Timecode::parse(text, rate).unwrap();
        let time = QualifiedFrameTime {
            frame: label.frame(),
            sub_frame: 0.0,
            rate,
            drop: label.drop(),
        };
        time_reference(time, 48_000)
    };
    // 3600 s of 48000.
    assert_eq!(reference("01:00:00:00", FrameRate::FPS_24), 172_800_000);
    assert_eq!(reference("01:00:00:00", FrameRate::FPS_25), 172_800_000);
    // 86400 and 108000 frames of 1001/24000 and 1001/30000 s: 3603.6 s.
    assert_eq!(reference("01:00:00:00", FrameRate::FPS_23_976), 172_972_800);
    assert_eq!(reference("01:00:00:00", FrameRate::FPS_29_97), 172_972_800);
    // 107892 frames of 1001/30000 s: 3599.9964 s, 172,799,827.2 samples.
    assert_eq!(reference("01:00:00;00", FrameRate::FPS_29_97), 172_799_827);
    // The last frame of a day at 25: a frame of 1920 samples less than 24 h.
    assert_eq!(reference("23:59:59:24", FrameRate::FPS_25), 4_147_198_080);
    // Half a frame at 25 is 960 samples.
    let half = QualifiedFrameTime {
        frame: 90_000,
        sub_frame: 0.5,
        rate: FrameRate::FPS_25,
        drop: DropFrame::NonDrop,
    };
    assert_eq!(time_reference(half, 48_000), 172_800_960);
}

#[test]
fn another_reader_gets_every_sample() {
    for (format, channels) in [
        (SampleFormat::Pcm16, 1),
        (SampleFormat::Pcm24, 2),
        (SampleFormat::Float32, 1),
        (SampleFormat::Pcm24, 4),
    ] {
        let count = 40_000;
        let (_dir, path) = written(format, channels, count);
        let mut other = hound::WavReader::open(&path).unwrap();
        assert_eq!(other.spec().channels, channels);
        assert_eq!(other.spec().bits_per_sample, format.bits());
        let scale = 2f32.powi(1 - i32::from(format.bits()));
        let theirs: Vec<f32> = if format.is_float() {
            other.samples::<f32>().map(Result::unwrap).collect()
        } else {
            let all = other.samples::<i32>();
            all.map(|x| x.unwrap() as f32 * scale).collect()
        };
        assert!(theirs == samples(0, count), "{format:?}");
        assert!(read_all(&path) == theirs, "{format:?}");
        let reader = WavReader::open(&path).unwrap();
        assert!(!reader.is_unfinished() && !reader.is_rf64());
        assert_eq!(reader.bext().unwrap().time_reference, 0x0001_0203_0405);
        assert_eq!(reader.bext().unwrap().time, "12:34:56");
        assert!(reader.ixml().unwrap().contains("役者"));
    }
}

#[test]
fn files_of_others_are_read() {
    for (bits, float) in [
        (8, false),
        (16, false),
        (24, false),
        (32, false),
        (32, true),
    ] {
        let spec = hound::WavSpec {
            channels: 2,
            sample_rate: 44_100,
            bits_per_sample: bits,
            sample_format: if float {
                hound::SampleFormat::Float
            } else {
                hound::SampleFormat::Int
            },
        };
        let mut bytes = Cursor::new(Vec::new());
        let mut writer = hound::WavWriter::new(&mut bytes, spec).unwrap();
        for n in 0..100 {
            if float {
                writer.write_sample(n as f32 / 128.0).unwrap();
            } else {
                // n / 128 of full scale at every depth.
                writer.write_sample(n << (bits - 8)).unwrap();
            }
        }
        writer.finalize().unwrap();
        let mut reader = WavReader::new(bytes).unwrap();
        assert_eq!((reader.spec().sample_rate, reader.frames()), (44_100, 50));
        let mut out = Vec::new();
        reader.seek(10).unwrap();
        assert_eq!(reader.read(1000, &mut out).unwrap(), 40);
        let expected: Vec<f32> = (20..100).map(|n| n as f32 / 128.0).collect();
        assert_eq!(out, expected, "{bits} bits");
    }
}

#[test]
fn cut_at_any_byte_a_file_gives_all_whole_frames_after_its_repair() {
    let dir = tempfile::tempdir().unwrap();
    for (format, channels) in [
        (SampleFormat::Pcm16, 1),
        (SampleFormat::Pcm24, 1),
        (SampleFormat::Pcm24, 3),
        (SampleFormat::Float32, 2),
    ] {
        // A recorder that settled after 300 samples and was killed after 900.
        let path = dir.path().join("killed.wav");
        let _ = std::fs::remove_file(&path);
        let mut writer =
            WavWriter::create(&RealDisk, &path, &head(spec(format, channels))).unwrap();
        writer.write(&samples(0, 300)).unwrap();
        writer.settle().unwrap();
        writer.write(&samples(300, 600)).unwrap();
        writer.flush().unwrap();
        drop(writer);
        let bytes = std::fs::read(&path).unwrap();
        let data_at = find(&bytes, b"data") + 8;
        assert_eq!(bytes.len(), data_at + 900 * format.bytes());
        // What was settled plays without any repair.
        assert_eq!(read_all(&path), samples(0, 300));
        assert!(WavReader::open(&path).unwrap().is_unfinished());
        let cut = dir.path().join("cut.wav");
        for len in (data_at..=bytes.len()).step_by(7) {
            std::fs::write(&cut, &bytes[..len]).unwrap();
            let frame = format.bytes() * usize::from(channels);
            let whole = (len - data_at) / frame * usize::from(channels);
            let found = repair(&cut).unwrap();
            assert_eq!(
                found.frames as usize * usize::from(channels),
                whole,
                "{len}"
            );
            assert_eq!(read_all(&cut), samples(0, whole as u64), "{len}");
            assert!(!WavReader::open(&cut).unwrap().is_unfinished());
            // An independent reader finds the same number.
            let other = hound::WavReader::open(&cut).unwrap();
            assert_eq!(other.len() as usize, whole, "{len}");
            let again = repair(&cut).unwrap();
            assert_eq!((again.is_changed, again.frames), (false, found.frames));
        }
        for len in [0, 3, 11, 12, 50, data_at - 1] {
            std::fs::write(&cut, &bytes[..len]).unwrap();
            assert!(repair(&cut).is_err(), "{len}");
            assert_eq!(std::fs::read(&cut).unwrap(), &bytes[..len]);
        }
    }
}

#[test]
fn lengths_of_zero_are_repaired_and_a_finished_file_is_left_alone() {
    let (_dir, path) = written(SampleFormat::Pcm24, 1, 333);
    let whole = std::fs::read(&path).unwrap();
    assert!(!repair(&path).unwrap().is_changed);
    assert_eq!(std::fs::read(&path).unwrap(), whole);
    let mut zero = whole.clone();
    zero[4..8].fill(0);
    let data = find(&zero, b"data");
    zero[data + 4..data + 8].fill(0);
    // Without the byte that evens it out, which a writer adds at its end.
    zero.pop();
    std::fs::write(&path, &zero).unwrap();
    let found = repair(&path).unwrap();
    assert_eq!(
        found,
        Repair {
            claimed: 0,
            frames: 333,
            is_changed: true
        }
    );
    assert_eq!(std::fs::read(&path).unwrap(), whole);
    // While someone writes, nobody repairs.
    let other = path.with_file_name("b.wav");
    let writer = WavWriter::create(&RealDisk, &other, &head(spec(SampleFormat::Pcm16, 1))).unwrap();
    let refused = repair(&other);
    assert!(matches!(
        refused,
        Err(crate::audio::AudioError::InProgress { .. })
    ));
    drop(writer);
    assert!(repair(&other).is_ok());
}

#[test]
fn chunks_behind_the_samples_of_others_do_not_become_sound() {
    let (_dir, path) = written(SampleFormat::Pcm16, 1, 100);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(b"LIST\x04\0\0\0INFO");
    let riff = bytes.len() as u32 - 8;
    bytes[4..8].copy_from_slice(&riff.to_le_bytes());
    std::fs::write(&path, &bytes).unwrap();
    assert!(!repair(&path).unwrap().is_changed);
    assert_eq!(read_all(&path), samples(0, 100));
}

#[test]
fn what_is_not_written_is_refused_before_there_is_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.wav");
    let rate = WavSpec {
        sample_rate: 0,
        ..spec(SampleFormat::Pcm16, 1)
    };
    for spec in [
        spec(SampleFormat::Pcm8, 1),
        spec(SampleFormat::Pcm16, 0),
        spec(SampleFormat::Pcm16, 65),
        rate,
    ] {
        assert!(WavWriter::create(&RealDisk, &path, &head(spec)).is_err());
        assert!(!path.exists());
    }
}
