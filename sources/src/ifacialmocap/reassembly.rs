//! Messages that come in parts, put together within bounds.
//!
//! For the whole socket: at most 8 messages and 512 KiB under assembly, half of the messages from one address; a
//! frame is given up after 0.25 s, a schema after 3 s (the vendor's numbers). Only bytes that came are held.

use std::{borrow::Cow, net::SocketAddr};

use hub::WorldTime;

use super::fmv3::{Header, Kind, MAX_PARTS};
use crate::error::Reject;

const MAX_MESSAGES: usize = 8;
const MAX_MESSAGES_PER_ADDRESS: usize = 4;
const MAX_BYTES: usize = 512 << 10;
const FRAME_NANOS: i64 = 250_000_000;
const SCHEMA_NANOS: i64 = 3_000_000_000;

struct Message {
    from: SocketAddr,
    /// Of the first part that came, with part 0.
    header: Header,
    begun: WorldTime,
    /// Part, and where it begins in `bytes`, in order of arrival.
    pieces: Vec<(u16, usize)>,
    have: [u64; MAX_PARTS as usize / 64],
    bytes: Vec<u8>,
}

impl Message {
    fn is_of(&self, from: SocketAddr, header: &Header) -> bool {
        let mine = &self.header;
        self.from == from
            && mine.kind == header.kind
            && mine.session == header.session
            && mine.schema == header.schema
            && mine.sequence == header.sequence
    }

    fn is_too_old(&self, now: WorldTime) -> bool {
        let limit = if self.header.kind == Kind::Frame {
            FRAME_NANOS
        } else {
            SCHEMA_NANOS
        };
        now - self.begun > limit
    }

    fn piece(&self, part: u16) -> Option<&[u8]> {
        let at = self.pieces.iter().position(|p| p.0 == part)?;
        let end = self.pieces.get(at + 1).map_or(self.bytes.len(), |p| p.1);
        self.bytes.get(self.pieces[at].1..end)
    }
}

/// All messages of a socket that are not whole yet.
#[derive(Default)]
pub(super) struct Reassembly {
    messages: Vec<Message>,
}

impl Reassembly {
    /// Takes a part; gives the payload when that makes it whole.
    pub(super) fn take<'a>(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        header: &Header,
        chunk: &'a [u8],
    ) -> Result<Option<Cow<'a, [u8]>>, Reject> {
        if header.parts == 1 {
            return Ok(Some(Cow::Borrowed(chunk)));
        }
        let bad = Reject::BadFragment {
            index: header.part,
            count: header.parts,
        };
        let first = Header { part: 0, ..*header };
        self.messages.retain(|m| !m.is_too_old(now));
        let held: usize = self.messages.iter().map(|m| m.bytes.len()).sum();
        let index = match self.messages.iter().position(|m| m.is_of(from, header)) {
            Some(index) => index,
            None => self.begin(now, from, first).ok_or(bad)?,
        };
        let message = &mut self.messages[index];
        let (word, bit) = (usize::from(header.part / 64), 1u64 << (header.part % 64));
        let is_known = message.have[word] & bit != 0;
        if is_known && message.piece(header.part) == Some(chunk) && message.header == first {
            return Ok(None);
        }
        let too_long = message.bytes.len() + chunk.len() > header.total as usize;
        if is_known || message.header != first || too_long || held + chunk.len() > MAX_BYTES {
            self.messages.swap_remove(index);
            return Err(bad);
        }
        message.have[word] |= bit;
        message.pieces.push((header.part, message.bytes.len()));
        message.bytes.extend_from_slice(chunk);
        if message.pieces.len() < usize::from(header.parts) {
            return Ok(None);
        }
        let message = self.messages.swap_remove(index);
        if message.bytes.len() != header.total as usize {
            return Err(bad);
        }
        let mut whole = Vec::with_capacity(message.bytes.len());
        for part in 0..header.parts {
            whole.extend_from_slice(message.piece(part).ok_or(bad)?);
        }
        Ok(Some(Cow::Owned(whole)))
    }

    /// Begins a message; `None` when there is no place for it.
    fn begin(&mut self, now: WorldTime, from: SocketAddr, header: Header) -> Option<usize> {
        let of_address = |m: &&Message| m.from.ip() == from.ip();
        if self.messages.iter().filter(of_address).count() >= MAX_MESSAGES_PER_ADDRESS {
            let own = self.messages.iter().enumerate();
            let own = own.filter(|(_, m)| m.from.ip() == from.ip());
            let (oldest, _) = own.min_by_key(|(_, m)| m.begun)?;
            self.messages.swap_remove(oldest);
        } else if self.messages.len() >= MAX_MESSAGES {
            return None;
        }
        self.messages.push(Message {
            from,
            header,
            begun: now,
            pieces: Vec::new(),
            have: [0; MAX_PARTS as usize / 64],
            bytes: Vec::new(),
        });
        Some(self.messages.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ifacialmocap::fmv3::tests::split;

    fn at_ms(ms: i64) -> WorldTime {
        WorldTime::from_nanos(ms * 1_000_000)
    }

    fn peer(host: u8) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, host], 49983))
    }

    fn header(kind: Kind, sequence: u32) -> Header {
        Header {
            schema: 1,
            sequence,
            ..Header::of(kind, 9)
        }
    }

    fn take(
        r: &mut Reassembly,
        ms: i64,
        host: u8,
        bytes: &[u8],
    ) -> Result<Option<Vec<u8>>, Reject> {
        let (header, chunk) = Header::parse(bytes).unwrap();
        let whole = r.take(at_ms(ms), peer(host), &header, chunk)?;
        Ok(whole.map(Cow::into_owned))
    }

    #[test]
    fn parts_in_any_order_and_twice_make_the_message() {
        let payload: Vec<u8> = (0..1200u32).map(|i| i as u8).collect();
        let parts = split(header(Kind::Schema, 0), &payload, 536);
        assert_eq!(parts.len(), 3);
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let mut r = Reassembly::default();
            for i in &order[..2] {
                assert_eq!(take(&mut r, 0, 1, &parts[*i]), Ok(None));
                assert_eq!(take(&mut r, 0, 1, &parts[*i]), Ok(None));
            }
            let whole = take(&mut r, 0, 1, &parts[order[2]]).unwrap();
            assert_eq!(whole.as_ref(), Some(&payload));
            assert!(r.messages.is_empty());
        }
    }

    #[test]
    fn unfinished_messages_are_given_up_in_time() {
        for (kind, sequence, limit) in [(Kind::Frame, 1, 250), (Kind::Schema, 0, 3000)] {
            let parts = split(header(kind, sequence), &[1; 100], 60);
            let mut r = Reassembly::default();
            take(&mut r, 0, 1, &parts[0]).unwrap();
            assert!(take(&mut r, limit, 1, &parts[1]).unwrap().is_some());
            take(&mut r, 0, 1, &parts[0]).unwrap();
            assert_eq!(take(&mut r, limit + 1, 1, &parts[1]), Ok(None));
        }
    }

    #[test]
    fn messages_bytes_and_contradictions_are_bounded() {
        let mut r = Reassembly::default();
        // One address keeps its newest four.
        for i in 0..10 {
            let parts = split(header(Kind::Frame, i), &[1; 100], 60);
            take(&mut r, 0, 1, &parts[0]).unwrap();
        }
        assert_eq!(r.messages.len(), 4);
        for host in 2..6 {
            let parts = split(header(Kind::Frame, 1), &[1; 100], 60);
            take(&mut r, 0, host, &parts[0]).unwrap();
        }
        let parts = split(header(Kind::Frame, 1), &[1; 100], 60);
        assert!(take(&mut r, 0, 7, &parts[0]).is_err());
        assert_eq!(r.messages.len(), 8);

        // Bytes: two schemas of nearly the most, then a third does not fit.
        let mut r = Reassembly::default();
        let big = vec![7; 262_144];
        let mut refused = 0;
        for host in 1..4 {
            let parts = split(header(Kind::Schema, 0), &big, 60_000);
            for part in &parts[..4] {
                refused += usize::from(take(&mut r, 0, host, part).is_err());
            }
        }
        assert!(refused > 0);
        let held: usize = r.messages.iter().map(|m| m.bytes.len()).sum();
        assert!(held <= MAX_BYTES);

        // Another text in a part that came already ends the message.
        let mut r = Reassembly::default();
        let parts = split(header(Kind::Frame, 1), &[1; 100], 60);
        let other = split(header(Kind::Frame, 1), &[2; 100], 60);
        take(&mut r, 0, 1, &parts[0]).unwrap();
        assert!(take(&mut r, 0, 1, &other[0]).is_err());
        assert!(r.messages.is_empty());
        // So does another total.
        take(&mut r, 0, 1, &parts[0]).unwrap();
        let longer = split(header(Kind::Frame, 1), &[1; 101], 60);
        assert!(take(&mut r, 0, 1, &longer[1]).is_err());
        // A total that the parts do not reach is refused at the end.
        let mut short = split(header(Kind::Frame, 1), &[1; 100], 60);
        for part in &mut short {
            part[28] = 101;
        }
        take(&mut r, 0, 1, &short[0]).unwrap();
        assert!(take(&mut r, 0, 1, &short[1]).is_err());
    }
}
