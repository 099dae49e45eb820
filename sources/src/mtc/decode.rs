//! Bytes → readings.

use hub::{FrameRate, QualifiedFrameTime, Timecode, WorldTime, master::TimecodeReading};

use super::rates::counted;

/// Data bytes of a full frame message.
const FULL_FRAME: usize = 8;
/// Pieces further apart than this do not belong together.
const MAX_GAP_NANOS: i64 = 500_000_000;

/// Which messages a reading came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MtcKind {
    /// Eight quarter frames: time runs.
    QuarterFrames,
    /// A full frame message: time stands, or was moved.
    FullFrame,
}

/// A reading and where it came from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MtcEvent {
    /// For quarter frames `at` is the arrival of the first piece, for a full frame that of its end.
    pub reading: TimecodeReading,
    /// Which messages.
    pub kind: MtcKind,
}

/// Counted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MtcCounts {
    /// Labels of eight quarter frames.
    pub quarter_frames: u64,
    /// Labels of full frame messages.
    pub full_frames: u64,
    /// Whole labels that do not exist.
    pub refused: u64,
    /// Pieces that continued no other: the start, a jump, a change of direction, lost bytes.
    pub breaks: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    /// Anything; data bytes are of no concern.
    Status,
    /// The data byte of a quarter frame.
    Piece,
    /// Data of a system exclusive message.
    Exclusive,
}

/// The decoder of one MIDI stream. Sans-IO; allocates nothing.
#[derive(Clone, Debug)]
pub struct MtcDecoder {
    stated: Option<FrameRate>,
    expect: Expect,
    exclusive: [u8; FULL_FRAME],
    /// Data bytes of the message so far; one more than fit when it is too long.
    exclusive_len: usize,
    pieces: [u8; 8],
    arrivals: [WorldTime; 8],
    last: Option<u8>,
    forward: bool,
    /// Pieces in a row in one direction.
    run: u32,
    counts: MtcCounts,
}

impl MtcDecoder {
    /// `rate` is what the operator says; see the room's docs.
    pub fn new(rate: Option<FrameRate>) -> Self {
        Self {
            stated: rate,
            expect: Expect::Status,
            exclusive: [0; FULL_FRAME],
            exclusive_len: 0,
            pieces: [0; 8],
            arrivals: [WorldTime::default(); 8],
            last: None,
            forward: true,
            run: 0,
            counts: MtcCounts::default(),
        }
    }

    /// Counters.
    pub fn counts(&self) -> MtcCounts {
        self.counts
    }

    /// Takes bytes that arrived at `now`; calls `emit` with each reading.
    pub fn push(&mut self, bytes: &[u8], now: WorldTime, emit: &mut dyn FnMut(&MtcEvent)) {
        for byte in bytes {
            let event = match byte {
                // Real-time messages may stand anywhere, even inside others.
                0xf8.. => None,
                0xf0 => {
                    self.expect = Expect::Exclusive;
                    self.exclusive_len = 0;
                    None
                }
                0xf1 => {
                    self.expect = Expect::Piece;
                    None
                }
                0xf7 => {
                    let was = std::mem::replace(&mut self.expect, Expect::Status);
                    if was == Expect::Exclusive {
                        self.full_frame(now)
                    } else {
                        None
                    }
                }
                // Any other status ends what was begun. Its data bytes, and those of running status, are passed over.
                0x80.. => {
                    self.expect = Expect::Status;
                    None
                }
                data => match self.expect {
                    Expect::Status => None,
                    Expect::Piece => {
                        self.expect = Expect::Status;
                        self.piece(*data, now)
                    }
                    Expect::Exclusive => {
                        if let Some(place) = self.exclusive.get_mut(self.exclusive_len) {
                            *place = *data;
                        }
                        self.exclusive_len = (self.exclusive_len + 1).min(FULL_FRAME + 1);
                        None
                    }
                },
            };
            if let Some(event) = event {
                emit(&event);
            }
        }
    }

    fn full_frame(&mut self, now: WorldTime) -> Option<MtcEvent> {
        if self.exclusive_len != FULL_FRAME {
            return None;
        }
        let [0x7f, _, 0x01, 0x01, hours, minutes, seconds, frames] = self.exclusive else {
            return None;
        };
        // The tape was moved: pieces from before belong to another place.
        self.last = None;
        self.run = 0;
        let label = [hours & 0x1f, minutes, seconds, frames];
        let reading = self.reading(label, (hours >> 5) & 3, now, true)?;
        self.counts.full_frames += 1;
        Some(MtcEvent {
            reading,
            kind: MtcKind::FullFrame,
        })
    }

    fn piece(&mut self, data: u8, now: WorldTime) -> Option<MtcEvent> {
        let number = (data >> 4) & 7;
        let place = usize::from(number);
        let forward = match self.last {
            Some(last) if number == (last + 1) % 8 => Some(true),
            Some(last) if number == (last + 7) % 8 => Some(false),
            _ => None,
        };
        let is_prompt = self
            .last
            .is_some_and(|last| now - self.arrivals[usize::from(last)] <= MAX_GAP_NANOS);
        match forward {
            Some(forward) if is_prompt && (forward == self.forward || self.run <= 1) => {
                self.forward = forward;
                self.run = self.run.saturating_add(1);
            }
            Some(forward) if is_prompt => {
                // Turned round: this one and the one before are the first two.
                self.forward = forward;
                self.run = 2;
                self.counts.breaks += 1;
            }
            _ => {
                self.run = 1;
                self.counts.breaks += 1;
            }
        }
        self.last = Some(number);
        self.pieces[place] = data & 0x0f;
        self.arrivals[place] = now;
        let (first, end) = if self.forward { (0, 7) } else { (7, 0) };
        if self.run < 8 || number != end {
            return None;
        }
        let [f, f_high, s, s_high, m, m_high, h, last] = self.pieces;
        let label = [
            h | ((last & 1) << 4),
            m | ((m_high & 3) << 4),
            s | ((s_high & 3) << 4),
            f | ((f_high & 1) << 4),
        ];
        let at = self.arrivals[first];
        let reading = self.reading(label, (last >> 1) & 3, at, self.forward)?;
        self.counts.quarter_frames += 1;
        Some(MtcEvent {
            reading,
            kind: MtcKind::QuarterFrames,
        })
    }

    fn reading(
        &mut self,
        label: [u8; 4],
        kind: u8,
        at: WorldTime,
        forward: bool,
    ) -> Option<TimecodeReading> {
        let (rate, drop) = counted(kind, self.stated)?;
        let Ok(label) = Timecode::new(label.map(u32::from), rate, drop) else {
            self.counts.refused += 1;
            return None;
        };
        Some(TimecodeReading {
            time: QualifiedFrameTime {
                frame: label.frame(),
                sub_frame: 0.0,
                rate,
                drop,
            },
            at,
            forward,
        })
    }
}
