//! Who sends to a socket: streams told apart by address and an identifying text, bounded in number and pace.
//!
//! - A stream that sends faster than its protocol's devices do has its excess dropped.
//! - When all places are taken, the stream silent longest gives way, if that is a minute.
//! - A sender with the same identity on another port is the same device begun anew, unless the first one
//!   still sends: heard within a second, it keeps its name to itself, and the second is a *twin*.

use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::BuildHasher as _,
    net::{IpAddr, SocketAddr},
};

use hub::WorldTime;

use crate::error::Reject;

/// Most streams one socket keeps.
pub(crate) const MAX_STREAMS: usize = 1024;
/// Most streams of one address: one sender must not take every place.
pub(crate) const MAX_STREAMS_PER_ADDRESS: usize = 256;
/// Seconds of a network's hold that may arrive at once.
const BURST_SECS: f64 = 10.0;
/// A stream silent for that long gives way to a new one when all places are taken.
const IDLE_NANOS: i64 = 60_000_000_000;
/// A sender heard within this time keeps its name.
const SAME_DEVICE_NANOS: i64 = 1_000_000_000;

struct Stream<T> {
    ip: IpAddr,
    /// The sender's port, while it sends.
    port: u16,
    identity: Box<[u8]>,
    tokens: f64,
    /// The stream whose datagram followed this one's last time: devices take turns.
    next: usize,
    last: WorldTime,
    /// Another stream of the same identity was here first.
    twin: bool,
    state: T,
}

impl<T> Stream<T> {
    fn is_from(&self, from: SocketAddr, identity: &[u8]) -> bool {
        self.ip == from.ip() && self.port == from.port() && *self.identity == *identity
    }
}

/// The streams of one socket, each with what its decoder remembers of it.
pub(crate) struct Streams<T> {
    all: Vec<Stream<T>>,
    /// Places by a keyed hash of address and identity; collisions are told apart by comparing.
    by_hash: HashMap<u64, Vec<usize>>,
    hasher: RandomState,
    last_stream: usize,
    max_per_sec: u32,
}

impl<T> Streams<T> {
    /// Streams of a protocol whose devices send at most `max_per_sec` datagrams a second each.
    pub(crate) fn new(max_per_sec: u32) -> Self {
        Self {
            all: Vec::new(),
            by_hash: HashMap::new(),
            hasher: RandomState::new(),
            last_stream: 0,
            max_per_sec,
        }
    }

    /// The state of the stream a datagram belongs to, made by `make` when it is new; `make` is told whether
    /// the stream is a twin, which must not share the first one's source id.
    ///
    /// # Errors
    /// Too many streams, or too fast; `make` may refuse with an error of its own.
    pub(crate) fn of(
        &mut self,
        from: SocketAddr,
        identity: &[u8],
        now: WorldTime,
        make: impl FnOnce(bool) -> Result<T, Reject>,
    ) -> Result<&mut T, Reject> {
        let mut make = Some(make);
        let mut index = self.index(from, identity, now, &mut make)?;
        if self.all[index].twin
            && let Some(first) = self.first_gone(index, now)
            && let Some(make) = make
        {
            // The first one is gone: its name is free for the device that was begun anew.
            self.all[index].state = make(false)?;
            self.all[index].twin = false;
            self.all.swap_remove(first);
            self.rebuild();
            index = self
                .all
                .iter()
                .position(|s| s.is_from(from, identity))
                .unwrap_or(0);
            self.last_stream = index;
        }
        let stream = &mut self.all[index];
        let rate = f64::from(self.max_per_sec);
        let elapsed = (now - stream.last).max(0) as f64 / 1e9;
        let tokens = (stream.tokens + elapsed * rate).min(rate * BURST_SECS);
        if tokens < 1.0 {
            return Err(Reject::TooFast {
                limit: self.max_per_sec,
            });
        }
        stream.tokens = tokens - 1.0;
        stream.last = stream.last.max(now);
        Ok(&mut stream.state)
    }

    fn index(
        &mut self,
        from: SocketAddr,
        identity: &[u8],
        now: WorldTime,
        make: &mut Option<impl FnOnce(bool) -> Result<T, Reject>>,
    ) -> Result<usize, Reject> {
        // Mostly it is the same sender as before, or the one that followed it last time.
        let before = self.last_stream;
        let next = self.all.get(before).map_or(usize::MAX, |s| s.next);
        for guess in [next, before] {
            if let Some(s) = self.all.get(guess)
                && s.is_from(from, identity)
            {
                self.last_stream = guess;
                return Ok(guess);
            }
        }
        let index = self.look_up(from, identity, now, make)?;
        if let Some(s) = self.all.get_mut(before) {
            s.next = index;
        }
        self.last_stream = index;
        Ok(index)
    }

    fn look_up(
        &mut self,
        from: SocketAddr,
        identity: &[u8],
        now: WorldTime,
        make: &mut Option<impl FnOnce(bool) -> Result<T, Reject>>,
    ) -> Result<usize, Reject> {
        let hash = self.hasher.hash_one((from.ip(), identity));
        let known = self.by_hash.get(&hash).map_or(&[][..], Vec::as_slice);
        let streams = &mut self.all;
        if let Some(index) = known
            .iter()
            .copied()
            .find(|i| streams[*i].is_from(from, identity))
        {
            return Ok(index);
        }
        let same = |s: &Stream<T>| s.ip == from.ip() && *s.identity == *identity;
        let mut twins = known.iter().copied().filter(|i| same(&streams[*i]));
        let is_twin = twins.clone().next().is_some();
        if let Some(index) = twins.find(|i| now - streams[*i].last > SAME_DEVICE_NANOS) {
            // The device was restarted: its port changed.
            streams[index].port = from.port();
            return Ok(index);
        }
        let of_address = streams.iter().filter(|s| s.ip == from.ip()).count();
        if of_address >= MAX_STREAMS_PER_ADDRESS {
            self.forget_idlest(Some(from.ip()), now, MAX_STREAMS_PER_ADDRESS)?;
        } else if streams.len() >= MAX_STREAMS {
            self.forget_idlest(None, now, MAX_STREAMS)?;
        }
        let full = Reject::TooManyStreams { limit: MAX_STREAMS };
        let state = make.take().ok_or(full)?(is_twin)?;
        self.all.push(Stream {
            ip: from.ip(),
            port: from.port(),
            identity: identity.into(),
            tokens: f64::from(self.max_per_sec) * BURST_SECS,
            next: usize::MAX,
            last: now,
            twin: is_twin,
            state,
        });
        let index = self.all.len() - 1;
        self.by_hash.entry(hash).or_default().push(index);
        Ok(index)
    }

    /// Makes room for a stream by dropping the one silent longest, if that is long enough.
    fn forget_idlest(
        &mut self,
        of: Option<IpAddr>,
        now: WorldTime,
        limit: usize,
    ) -> Result<(), Reject> {
        let full = Reject::TooManyStreams { limit };
        let candidates = self.all.iter().enumerate();
        let (index, idlest) = candidates
            .filter(|(_, s)| of.is_none_or(|ip| s.ip == ip))
            .min_by_key(|(_, s)| s.last)
            .ok_or(full)?;
        if now - idlest.last < IDLE_NANOS {
            return Err(full);
        }
        self.all.swap_remove(index);
        self.rebuild();
        Ok(())
    }

    /// The stream whose name this twin waits for, if it has been silent long enough.
    fn first_gone(&self, twin: usize, now: WorldTime) -> Option<usize> {
        let twin = &self.all[twin];
        self.all.iter().position(|s| {
            !s.twin
                && s.ip == twin.ip
                && s.identity == twin.identity
                && now - s.last > SAME_DEVICE_NANOS
        })
    }

    fn rebuild(&mut self) {
        self.by_hash.clear();
        for (index, s) in self.all.iter().enumerate() {
            let hash = self.hasher.hash_one((s.ip, &*s.identity));
            self.by_hash.entry(hash).or_default().push(index);
        }
    }
}

/// `protocol/address/device`; a twin's address carries its port.
pub(crate) fn source_id(
    protocol: &str,
    from: SocketAddr,
    device: &str,
    is_twin: bool,
) -> hub::SourceId {
    let ip = from.ip();
    let text = match (is_twin, device) {
        (false, "") => format!("{protocol}/{ip}"),
        (true, "") => format!("{protocol}/{ip}:{}", from.port()),
        (false, device) => format!("{protocol}/{ip}/{device}"),
        (true, device) => format!("{protocol}/{ip}:{}/{device}", from.port()),
    };
    hub::SourceId::from_wire(text.as_bytes())
        .unwrap_or_else(|| unreachable!("the text begins with printable characters of our own"))
}
