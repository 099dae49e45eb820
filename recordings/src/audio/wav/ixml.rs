//! The chunk `iXML`: what editors read for scene, take and timecode (iXML 2.10, ixml.info).

use std::fmt::Write as _;

use hub::{DropFrame, FrameRate};

use super::WavSpec;

/// Most bytes of a note.
const MAX_NOTE_BYTES: usize = 4096;
/// Most bytes read.
pub(super) const MAX_BYTES: u64 = 1 << 20;

/// What iXML tells of a recording.
#[derive(Clone, Debug)]
pub struct Ixml<'a> {
    /// Scene: the slate, in any script.
    pub scene: &'a str,
    /// Take number.
    pub take: u32,
    /// Anything; 4096 bytes are kept.
    pub note: &'a str,
    /// Rate of the timecode.
    pub rate: FrameRate,
    /// Whether it drops labels.
    pub drop: DropFrame,
    /// The file's samples.
    pub spec: WavSpec,
    /// See [`super::Bext::time_reference`].
    pub time_reference: u64,
    /// Name of the track.
    pub track: &'a str,
}

impl Ixml<'_> {
    /// The document.
    pub fn document(&self) -> String {
        let mut out = String::with_capacity(2048);
        out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<BWFXML>\n");
        tag(&mut out, "IXML_VERSION", "2.10");
        tag(&mut out, "SCENE", self.scene);
        tag(&mut out, "TAKE", &self.take.to_string());
        let note = self
            .note
            .get(..self.note.floor_char_boundary(MAX_NOTE_BYTES));
        tag(&mut out, "NOTE", note.unwrap_or(""));
        out.push_str("<SPEED>\n");
        let rate = format!("{}/{}", self.rate.num(), self.rate.den());
        tag(&mut out, "MASTER_SPEED", &rate);
        tag(&mut out, "CURRENT_SPEED", &rate);
        tag(&mut out, "TIMECODE_RATE", &rate);
        let flag = match self.drop {
            DropFrame::Drop => "DF",
            DropFrame::NonDrop => "NDF",
        };
        tag(&mut out, "TIMECODE_FLAG", flag);
        let samples = self.spec.sample_rate.to_string();
        tag(&mut out, "FILE_SAMPLE_RATE", &samples);
        let bits = self.spec.format.bits().to_string();
        tag(&mut out, "AUDIO_BIT_DEPTH", &bits);
        tag(&mut out, "DIGITIZER_SAMPLE_RATE", &samples);
        let (high, low) = (self.time_reference >> 32, self.time_reference as u32);
        tag(&mut out, HIGH, &high.to_string());
        tag(&mut out, LOW, &low.to_string());
        tag(&mut out, "TIMESTAMP_SAMPLE_RATE", &samples);
        out.push_str("</SPEED>\n<TRACK_LIST>\n");
        tag(&mut out, "TRACK_COUNT", &self.spec.channels.to_string());
        for channel in 1..=self.spec.channels {
            out.push_str("<TRACK>\n");
            tag(&mut out, "CHANNEL_INDEX", &channel.to_string());
            tag(&mut out, "INTERLEAVE_INDEX", &channel.to_string());
            tag(&mut out, "NAME", self.track);
            out.push_str("</TRACK>\n");
        }
        out.push_str("</TRACK_LIST>\n</BWFXML>\n");
        out
    }
}

const HIGH: &str = "TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_HI";
const LOW: &str = "TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_LO";

/// The same document for a file that begins elsewhere; unchanged where it names no beginning.
pub(crate) fn with_time_reference(document: &str, time_reference: u64) -> String {
    let (high, low) = (time_reference >> 32, time_reference as u32);
    let document = replace(document, HIGH, &high.to_string());
    replace(&document, LOW, &low.to_string())
}

fn replace(document: &str, name: &str, value: &str) -> String {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let parts = document
        .split_once(&open)
        .and_then(|(before, rest)| Some((before, rest.split_once(&close)?.1)));
    match parts {
        Some((before, after)) => format!("{before}{open}{value}{close}{after}"),
        None => document.to_owned(),
    }
}

fn tag(out: &mut String, name: &str, text: &str) {
    // Writing to a String does not fail.
    let _ = write!(out, "<{name}>");
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\t' | '\n' | '\r' => out.push(c),
            // Not allowed in XML 1.0.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    let _ = writeln!(out, "</{name}>");
}
