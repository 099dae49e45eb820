//! Messages out of a stream of bytes. Pure: told the bytes in any pieces, it gives whole messages.
//!
//! | framing | a message is | longest, in bytes |
//! |---|---|---|
//! | [`Framing::Delimited`] | what stands before the delimiter | 16 Ki |
//! | [`Framing::Xsens`] | a header of 24 bytes that begins with `MXTP` and two digits, and its payload | 24 + 65,535 |
//! | [`Framing::FaceMotion3`] | a header of 40 bytes that begins with `FMV3`, and its payload | 40 + 262,144 |
//! | [`Framing::AxisNeuron`] | a header of 64 bytes between two tokens, and floats | 64 + 4 × 4,096 |
//!
//! What is no message is skipped and counted: up to the next delimiter, or up to the next bytes that may begin a
//! message. Garbage that looks like a header costs the bytes it claims, at most one longest message. How the stream
//! is cut into pieces makes no difference. Held is at most one longest message, and its memory is kept for the next.

#[cfg(test)]
mod tests;

/// Longest text before its delimiter.
const MAX_TEXT: usize = 16 << 10;
const XSENS_HEADER: usize = 24;
/// Most items of an Xsens datagram.
const MAX_XSENS_ITEMS: u8 = 127;
const FACE_MOTION_HEADER: usize = 40;
/// Longest payload of Face Motion v3: a schema.
const MAX_FACE_MOTION: usize = 262_144;
const NEURON_HEADER: usize = 64;
const MAX_NEURON_VALUES: usize = 4096;
/// Where the second token of an Axis Neuron header stands.
const NEURON_END_AT: usize = NEURON_HEADER - 2;
/// 0xDDFF and 0xEEFF, little-endian.
const NEURON_START: [u8; 2] = [0xff, 0xdd];
const NEURON_END: [u8; 2] = [0xff, 0xee];
/// Memory taken at first.
const FIRST_HELD: usize = 4096;

/// How messages are told apart in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Each message is followed by these bytes, which are not part of it. Empty messages are passed over.
    Delimited(&'static [u8]),
    /// Datagrams of the MVN network streamer, one after the other.
    Xsens,
    /// Messages of Face Motion v3, never in parts.
    FaceMotion3,
    /// Frames of the binary BVH broadcast of Axis Neuron.
    AxisNeuron,
}

impl Framing {
    /// Longest message in bytes, without its delimiter. Longer ones are garbage.
    pub const fn max_message(self) -> usize {
        match self {
            Self::Delimited(_) => MAX_TEXT,
            Self::Xsens => XSENS_HEADER + u16::MAX as usize,
            Self::FaceMotion3 => FACE_MOTION_HEADER + MAX_FACE_MOTION,
            Self::AxisNeuron => NEURON_HEADER + 4 * MAX_NEURON_VALUES,
        }
    }

    /// Whether a connection with garbage in it is to be closed, as the specification of Face Motion v3 asks. The
    /// others say nothing of the kind, and go on after it.
    pub const fn is_ended_by_garbage(self) -> bool {
        matches!(self, Self::FaceMotion3)
    }

    /// Most bytes held while a message is not whole.
    const fn max_held(self) -> usize {
        match self {
            Self::Delimited(end) => MAX_TEXT + end.len(),
            _ => self.max_message(),
        }
    }

    /// Whether these bytes, as far as they go, may begin a message.
    fn may_begin(self, rest: &[u8]) -> bool {
        match self {
            Self::Delimited(_) => true,
            Self::Xsens => {
                agrees(rest, b"MXTP") && rest.iter().skip(4).take(2).all(u8::is_ascii_digit)
            }
            Self::FaceMotion3 => agrees(rest, b"FMV3"),
            Self::AxisNeuron => {
                let end = rest.get(NEURON_END_AT..).unwrap_or(&[]);
                agrees(rest, &NEURON_START) && agrees(end, &NEURON_END)
            }
        }
    }

    /// What the front of `rest` is, for framings with a header.
    fn look(self, rest: &[u8]) -> Look {
        if self.may_begin(rest) {
            let len = match self {
                // Looked at by `Framer::look_for_end`.
                Self::Delimited(_) => None,
                Self::Xsens => rest.first_chunk::<XSENS_HEADER>().map(xsens_len),
                Self::FaceMotion3 => rest
                    .first_chunk::<FACE_MOTION_HEADER>()
                    .map(face_motion_len),
                Self::AxisNeuron => rest.first_chunk::<NEURON_HEADER>().map(neuron_len),
            };
            match len {
                None => return Look::Need,
                Some(Some(len)) if len > rest.len() => return Look::Need,
                Some(Some(len)) => return Look::Message { len, after: 0 },
                Some(None) => {}
            }
        }
        let next = (1..rest.len()).find(|n| self.may_begin(&rest[*n..]));
        Look::Garbage(next.unwrap_or(rest.len()))
    }
}

/// Whether the bytes are these, as far as both go.
fn agrees(bytes: &[u8], these: &[u8]) -> bool {
    bytes.iter().zip(these).all(|(a, b)| a == b)
}

/// Length of the message that a header announces; `None` when it cannot be one.
fn xsens_len(header: &[u8; XSENS_HEADER]) -> Option<usize> {
    let [_, _, _, _, tens, ones, _, _, _, _, _, items, .., high, low] = *header;
    if items > MAX_XSENS_ITEMS {
        return None;
    }
    let declared = usize::from(u16::from_be_bytes([high, low]));
    if declared > 0 {
        return Some(XSENS_HEADER + declared);
    }
    // Senders before MVN 2019 leave the length out; it follows from the items where those have one size. Of other
    // types only the header is taken, and what follows it is skipped.
    let item_bytes = match [tens, ones] {
        [b'0', b'1'] => 28,
        [b'0', b'2' | b'5'] => 32,
        [b'0', b'3'] => 16,
        [b'2', b'0'] => 20,
        [b'2', b'1'] => 40,
        [b'2', b'2'] => 44,
        _ => 0,
    };
    Some(XSENS_HEADER + usize::from(items) * item_bytes)
}

/// As [`xsens_len`].
fn face_motion_len(header: &[u8; FACE_MOTION_HEADER]) -> Option<usize> {
    let [_, _, _, _, 1..=9, _, 40, 0, .., a, b, c, d] = *header else {
        return None;
    };
    let payload = u32::from_le_bytes([a, b, c, d]) as usize;
    (payload <= MAX_FACE_MOTION).then_some(FACE_MOTION_HEADER + payload)
}

/// As [`xsens_len`]. The two layouts of the header have the count at the same place; the bytes after it are flags in
/// one and the upper half of the count in the other, so that both are 0 or 1.
fn neuron_len(header: &[u8; NEURON_HEADER]) -> Option<usize> {
    let [_, _, _, _, _, _, low, high, 0..=1, 0..=1, ..] = *header else {
        return None;
    };
    let values = usize::from(u16::from_le_bytes([low, high]));
    (1..=MAX_NEURON_VALUES)
        .contains(&values)
        .then_some(NEURON_HEADER + 4 * values)
}

/// What the front of the held bytes is.
enum Look {
    /// More bytes are needed to tell.
    Need,
    /// A message, and after it so many bytes that only end it.
    Message { len: usize, after: usize },
    /// So many bytes are no message; never 0.
    Garbage(usize),
}

/// Cuts one stream into messages.
#[derive(Debug)]
pub struct Framer {
    framing: Framing,
    held: Vec<u8>,
    /// So many of the held bytes are known to begin no delimiter.
    searched: usize,
    /// The text is too long already: all of it goes, up to its delimiter.
    is_in_garbage: bool,
    skipped: u64,
}

impl Framer {
    /// A stream of which nothing was heard yet.
    pub fn new(framing: Framing) -> Self {
        Self {
            framing,
            held: Vec::new(),
            searched: 0,
            is_in_garbage: false,
            skipped: 0,
        }
    }

    /// Takes the next bytes of the stream, and calls `each` with every message that they make whole.
    pub fn push(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(&[u8])) {
        while !bytes.is_empty() {
            // Never 0: with so many bytes held, one message at least is whole, or garbage.
            let room = self.framing.max_held() - self.held.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.hold(now);
            self.cut(each);
            bytes = later;
        }
    }

    /// Bytes that belonged to no message, from the beginning of the stream on.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Bytes held for a message that is not whole yet.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    fn hold(&mut self, bytes: &[u8]) {
        let needed = self.held.len() + bytes.len();
        if needed > self.held.capacity() {
            let most = self.framing.max_held();
            let wanted = needed.next_power_of_two().max(FIRST_HELD).min(most);
            self.held.reserve_exact(wanted - self.held.len());
        }
        self.held.extend_from_slice(bytes);
    }

    fn cut(&mut self, each: &mut dyn FnMut(&[u8])) {
        let mut at = 0;
        loop {
            let look = match self.framing {
                Framing::Delimited(end) => self.look_for_end(at, end),
                framing => framing.look(self.held.get(at..).unwrap_or(&[])),
            };
            match look {
                Look::Need => break,
                Look::Message { len, after } => {
                    let message = self.held.get(at..at + len).unwrap_or(&[]);
                    if !message.is_empty() {
                        each(message);
                    }
                    at += len + after;
                }
                Look::Garbage(len) => {
                    self.skipped = self.skipped.saturating_add(len as u64);
                    at += len;
                }
            }
        }
        self.held.drain(..at.min(self.held.len()));
    }

    fn look_for_end(&mut self, at: usize, end: &[u8]) -> Look {
        let rest = self.held.get(at..).unwrap_or(&[]);
        if rest.is_empty() {
            return Look::Need;
        }
        let Some(partial) = end.len().checked_sub(1) else {
            // No delimiter, no messages.
            return Look::Garbage(rest.len());
        };
        let searched = self.searched.min(rest.len());
        let found = rest[searched..].windows(end.len()).position(|w| w == end);
        if let Some(found) = found {
            self.searched = 0;
            let len = searched + found;
            let is_rest_of_garbage = std::mem::take(&mut self.is_in_garbage);
            return if is_rest_of_garbage || len > MAX_TEXT {
                Look::Garbage(len + end.len())
            } else {
                Look::Message {
                    len,
                    after: end.len(),
                }
            };
        }
        // The last bytes may begin a delimiter.
        let known = rest.len().saturating_sub(partial);
        if known > MAX_TEXT || self.is_in_garbage {
            self.is_in_garbage = true;
            self.searched = 0;
            if known == 0 {
                return Look::Need;
            }
            return Look::Garbage(known);
        }
        self.searched = known;
        Look::Need
    }
}
