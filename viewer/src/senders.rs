//! Who sends to a socket, whether or not it makes sense: what a pairing screen needs to say what is wrong.

use std::net::{IpAddr, SocketAddr};

use hub::{NANOS_PER_SEC, WorldTime};
use sources::Reject;

/// Most senders kept of one socket; the one that has been quiet for longest goes.
pub const MAX_SENDERS: usize = 32;
/// Seconds over which [`Sender::recent`] counts.
pub const RECENT_SECS: usize = 10;
/// Most bytes kept of one datagram of a sender.
pub const SAMPLE_BYTES: usize = 64;

/// The beginning of a datagram, to tell by which protocol it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    bytes: [u8; SAMPLE_BYTES],
    /// How many of them there are.
    len: usize,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            bytes: [0; SAMPLE_BYTES],
            len: 0,
        }
    }
}

impl Sample {
    fn of(datagram: &[u8]) -> Self {
        let mut sample = Self::default();
        for (kept, byte) in sample.bytes.iter_mut().zip(datagram) {
            *kept = *byte;
            sample.len += 1;
        }
        sample
    }

    /// The bytes; at most [`SAMPLE_BYTES`].
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }
}

/// One address that sends to a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    /// Its address.
    pub ip: IpAddr,
    /// The port it sent from last.
    pub port: u16,
    /// When it was first heard.
    pub first: WorldTime,
    /// When it was last heard.
    pub last: WorldTime,
    /// Datagrams in all.
    pub datagrams: u64,
    /// Of these, left out.
    pub rejected: u64,
    /// Why the last one that was left out was, as an index of [`Reject::NAMES`].
    pub last_reject: Option<usize>,
    /// The beginning of the last datagram that was left out; of the first one while none was.
    pub sample: Sample,
    /// Datagrams by second, the second being the index modulo its length.
    by_second: [u32; RECENT_SECS],
}

fn second(at: WorldTime) -> i64 {
    at.as_nanos().div_euclid(NANOS_PER_SEC)
}

fn slot(second: i64) -> usize {
    second.rem_euclid(RECENT_SECS as i64) as usize
}

impl Sender {
    fn new(from: SocketAddr, now: WorldTime) -> Self {
        Self {
            ip: from.ip(),
            port: from.port(),
            first: now,
            last: now,
            datagrams: 0,
            rejected: 0,
            last_reject: None,
            sample: Sample::default(),
            by_second: [0; RECENT_SECS],
        }
    }

    fn heard(&mut self, port: u16, reject: Option<usize>, now: WorldTime) {
        let (before, this) = (second(self.last), second(now));
        let passed = this.saturating_sub(before).clamp(0, RECENT_SECS as i64);
        for step in 1..=passed {
            if let Some(count) = self.by_second.get_mut(slot(before.saturating_add(step))) {
                *count = 0;
            }
        }
        // A gap longer than the window has cleared every slot, whichever they were.
        if let Some(count) = self.by_second.get_mut(slot(this)) {
            *count = count.saturating_add(1);
        }
        self.port = port;
        self.last = self.last.max(now);
        self.datagrams = self.datagrams.saturating_add(1);
        if reject.is_some() {
            self.rejected = self.rejected.saturating_add(1);
            self.last_reject = reject;
        }
    }

    /// Datagrams in the last [`RECENT_SECS`] seconds, the running second being one of them.
    pub fn recent(&self, now: WorldTime) -> u64 {
        let age = second(now).saturating_sub(second(self.last));
        let kept = (RECENT_SECS as i64).saturating_sub(age.max(0)).max(0);
        (0..kept)
            .filter_map(|back| {
                self.by_second
                    .get(slot(second(self.last).saturating_sub(back)))
            })
            .map(|count| u64::from(*count))
            .sum()
    }
}

/// The senders of one socket, bounded. After its making it allocates nothing.
#[derive(Clone, Debug)]
pub struct Senders {
    all: Vec<Sender>,
}

impl Default for Senders {
    fn default() -> Self {
        Self {
            all: Vec::with_capacity(MAX_SENDERS),
        }
    }
}

impl Senders {
    /// Notes one datagram and what became of it.
    pub fn heard(&mut self, from: SocketAddr, outcome: &Result<(), Reject>, now: WorldTime) {
        let reject = outcome.as_ref().err().map(Reject::index);
        if let Some(known) = self.all.iter_mut().find(|s| s.ip == from.ip()) {
            known.heard(from.port(), reject, now);
            return;
        }
        let mut sender = Sender::new(from, now);
        sender.heard(from.port(), reject, now);
        if self.all.len() < MAX_SENDERS {
            self.all.push(sender);
        } else if let Some(oldest) = self.all.iter_mut().min_by_key(|s| s.last) {
            *oldest = sender;
        }
    }

    /// Keeps the beginning of a datagram that was just noted, if it was left out or is the sender's first.
    pub fn keep(&mut self, from: SocketAddr, datagram: &[u8], is_left_out: bool) {
        let sender = self.all.iter_mut().find(|s| s.ip == from.ip());
        if let Some(sender) = sender.filter(|s| is_left_out || s.datagrams == 1) {
            sender.sample = Sample::of(datagram);
        }
    }

    /// Addresses, the newest heard first, at most so many.
    pub fn newest(&self, most: usize) -> Vec<String> {
        let mut all: Vec<&Sender> = self.all.iter().collect();
        all.sort_by_key(|s| std::cmp::Reverse(s.last));
        let told = all.into_iter().take(most);
        told.map(|s| SocketAddr::new(s.ip, s.port).to_string())
            .collect()
    }

    /// All that are kept, in the order in which they were first heard, but for those that took another's place.
    pub fn iter(&self) -> std::slice::Iter<'_, Sender> {
        self.all.iter()
    }
}

impl<'a> IntoIterator for &'a Senders {
    type Item = &'a Sender;
    type IntoIter = std::slice::Iter<'a, Sender>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(last: u8, port: u16) -> SocketAddr {
        ([192, 168, 77, last], port).into()
    }

    fn at(secs: f64) -> WorldTime {
        WorldTime::from_secs_f64(secs)
    }

    #[test]
    fn one_address_is_one_sender_whatever_its_port() {
        let mut senders = Senders::default();
        senders.heard(from(9, 5000), &Ok(()), at(1.0));
        senders.heard(from(9, 5001), &Err(Reject::BadMagic), at(2.0));
        senders.heard(from(10, 5000), &Ok(()), at(2.5));
        let all: Vec<_> = senders.iter().collect();
        assert_eq!(all.len(), 2);
        assert_eq!(
            (all[0].datagrams, all[0].rejected, all[0].port),
            (2, 1, 5001)
        );
        assert_eq!(Reject::NAMES[all[0].last_reject.unwrap()], "bad_magic");
        assert_eq!((all[1].rejected, all[1].last_reject), (0, None));
    }

    /// A datagram, what became of it, what is kept then.
    type Case<'a> = (&'a [u8], Result<(), Reject>, &'a [u8]);

    #[test]
    fn what_was_left_out_last_is_kept_and_else_the_first() {
        let mut senders = Senders::default();
        let sample = |senders: &Senders| senders.iter().next().unwrap().sample.as_slice().to_vec();
        let cases: [Case<'_>; 6] = [
            (b"first", Ok(()), b"first"),
            (b"second", Ok(()), b"first"),
            (b"bad", Err(Reject::BadMagic), b"bad"),
            (b"good", Ok(()), b"bad"),
            (&[7; 100], Err(Reject::BadMagic), &[7; SAMPLE_BYTES]),
            (b"", Err(Reject::BadMagic), b""),
        ];
        for (bytes, outcome, expected) in cases {
            senders.heard(from(9, 1), &outcome, at(1.0));
            senders.keep(from(9, 1), bytes, outcome.is_err());
            assert_eq!(sample(&senders), expected);
        }
        // Of an address that is not kept there is no sample either.
        senders.keep(from(10, 1), b"x", true);
        assert_eq!(senders.iter().count(), 1);
    }

    #[test]
    fn the_last_ten_seconds_slide() {
        let mut senders = Senders::default();
        // Two a second from second 0 to second 19.
        for half in 0..40 {
            senders.heard(from(9, 1), &Ok(()), at(f64::from(half) / 2.0));
        }
        let sender = senders.iter().next().unwrap();
        let recent: Vec<u64> = [19.9, 20.0, 24.0, 28.9, 29.0, 500.0]
            .map(|secs| sender.recent(at(secs)))
            .to_vec();
        assert_eq!(recent, [20, 18, 10, 2, 0, 0]);
        // After a long silence the old seconds are gone.
        senders.heard(from(9, 1), &Ok(()), at(1000.0));
        assert_eq!(senders.iter().next().unwrap().recent(at(1000.5)), 1);
    }

    #[test]
    fn a_flood_of_addresses_drives_out_the_quietest() {
        let mut senders = Senders::default();
        for n in 0..MAX_SENDERS as u8 {
            senders.heard(from(n, 1), &Ok(()), at(f64::from(n)));
        }
        senders.heard(from(0, 1), &Ok(()), at(100.0));
        senders.heard(from(200, 1), &Ok(()), at(101.0));
        assert_eq!(senders.iter().count(), MAX_SENDERS);
        let has = |last| senders.iter().any(|s| s.ip == from(last, 1).ip());
        assert!(has(0) && has(200) && !has(1));
    }
}
