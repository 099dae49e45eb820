//! A pose that comes in several datagrams of one sample, put together.

use std::ops::Range;

use hub::WorldTime;

use super::packet::Packet;
use crate::error::Reject;

/// Most datagrams of one sample.
const MAX_PARTS: usize = 8;
/// A sample not whole after that long is given up.
const PATIENCE_NANOS: i64 = 100_000_000;

/// One sample being put together. Holds at most 8 × 127 items; its memory is kept for the next.
#[derive(Default)]
pub(super) struct Fragments {
    /// Type and sample counter, and when its first datagram came.
    of: Option<(u8, u32, WorldTime)>,
    is_done: bool,
    last: Option<usize>,
    /// Where each part lies in `bytes`, by its index.
    parts: [Option<Range<usize>>; MAX_PARTS],
    bytes: Vec<u8>,
}

impl Fragments {
    /// Takes a part; true when the sample is whole, and its items are in `out`.
    ///
    /// # Errors
    /// A part that fits no place.
    pub(super) fn take(
        &mut self,
        p: &Packet<'_>,
        now: WorldTime,
        out: &mut Vec<u8>,
    ) -> Result<bool, Reject> {
        let index = usize::from(p.index);
        let bad = Reject::BadFragment {
            index: u16::from(p.index),
            count: self.last.map_or(MAX_PARTS, |l| l + 1) as u16,
        };
        if index >= MAX_PARTS {
            return Err(bad);
        }
        let is_same = match self.of {
            Some((kind, sample, begun)) if now - begun < PATIENCE_NANOS => {
                let is_older = p.sample.wrapping_sub(sample).cast_signed() < 0;
                if kind == p.kind && is_older {
                    // A part of a sample already given up.
                    return Ok(false);
                }
                kind == p.kind && sample == p.sample
            }
            _ => false,
        };
        if !is_same {
            self.of = Some((p.kind, p.sample, now));
            self.is_done = false;
            self.last = None;
            self.parts.fill(None);
            self.bytes.clear();
        }
        if self.is_done || self.parts[index].is_some() {
            return Ok(false);
        }
        let highest = self.parts.iter().rposition(Option::is_some).unwrap_or(0);
        let fits = match self.last {
            Some(last) => index <= last && !p.is_last,
            None => !p.is_last || highest <= index,
        };
        if !fits {
            return Err(bad);
        }
        if p.is_last {
            self.last = Some(index);
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(p.payload);
        self.parts[index] = Some(start..self.bytes.len());
        let Some(last) = self.last else {
            return Ok(false);
        };
        if self.parts[..=last].iter().any(Option::is_none) {
            return Ok(false);
        }
        self.is_done = true;
        out.clear();
        for part in self.parts.iter().flatten() {
            out.extend_from_slice(&self.bytes[part.clone()]);
        }
        Ok(true)
    }
}
