//! OSC 1.0, read in place: no recursion, no allocation, nothing believed before it is bounded.
//!
//! What all rooms that speak OSC share.
//!
//! All big-endian; strings end in NUL and are padded with NUL to a multiple of 4.
//!
//! | message | |
//! |---|---|
//! | address | string, ASCII, begins with `/` |
//! | type tags | string, begins with `,`; old senders leave it out where there are no arguments |
//! | arguments | one per tag: `i` `f` `r` `m` `c` 4 bytes; `h` `d` `t` 8; `s` `S` a string; `b` an i32 length, then as many bytes, padded; `T` `F` `N` `I` and the brackets of arrays none |
//!
//! | bundle | |
//! |---|---|
//! | 0 | `#bundle\0` |
//! | 8 | time tag, 8 bytes; 1 = immediately |
//! | 16 | elements: i32 size, then a message or a bundle of that size |

use crate::{error::Reject, reader::Reader};

/// Longest payload of a UDP datagram over IPv4.
pub(crate) const MAX_DATAGRAM: usize = 65_507;
/// Most bundles within each other.
pub(crate) const MAX_DEPTH: usize = 4;
/// Most messages of a datagram.
pub(crate) const MAX_MESSAGES: usize = 512;
/// What a bundle begins with.
pub(crate) const BUNDLE: &[u8; 8] = b"#bundle\0";

/// Longest address, in bytes.
pub(crate) const MAX_ADDRESS: usize = 256;
const MAX_STRING: usize = 1024;
/// Marker and time tag.
const BUNDLE_HEAD: usize = 16;

/// One message of a datagram.
#[derive(Clone, Debug)]
pub(crate) struct Message<'a> {
    /// ASCII, begins with `/`.
    pub(crate) address: &'a str,
    /// The arguments, yet to be read.
    pub(crate) args: Args<'a>,
}

/// Arguments, read from the front. Each call wants the very type that is sent; after a `None` the rest means
/// nothing.
#[derive(Clone, Debug)]
pub(crate) struct Args<'a> {
    tags: &'a [u8],
    reader: Reader<'a>,
    /// Where the message ends in the datagram.
    end: usize,
}

impl<'a> Args<'a> {
    fn tag(&mut self, wanted: u8) -> Option<()> {
        let (tag, rest) = self.tags.split_first()?;
        self.tags = rest;
        (*tag == wanted).then_some(())
    }

    /// The next argument, an i32.
    pub(crate) fn int(&mut self) -> Option<i32> {
        self.tag(b'i')?;
        self.reader.i32_be().ok()
    }

    /// The next argument, an f32; any, also NaN.
    pub(crate) fn float(&mut self) -> Option<f32> {
        self.tag(b'f')?;
        self.reader.f32_be().ok()
    }

    /// The next `N` arguments, all f32.
    pub(crate) fn floats<const N: usize>(&mut self) -> Option<[f32; N]> {
        let mut values = [0.0; N];
        for value in &mut values {
            *value = self.float()?;
        }
        Some(values)
    }

    /// The next argument, a string in UTF-8.
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        self.tag(b's')?;
        let bytes = string(&mut self.reader, self.end, "string length", MAX_STRING).ok()?;
        std::str::from_utf8(bytes).ok()
    }

    /// The first `N` arguments as numbers: `i`, `h`, `f`, `d` as they are, `T` and `F` as 1 and 0. `None`
    /// stands for an argument of another type and for one that was not sent. Brackets of arrays do not count
    /// as arguments; what follows a tag of unknown size is not there.
    pub(crate) fn numbers<const N: usize>(mut self) -> [Option<f64>; N] {
        let mut values = [None; N];
        let mut places = values.iter_mut();
        for tag in self.tags {
            let Ok(Some(bytes)) = self.value(*tag) else {
                break;
            };
            if matches!(tag, b'[' | b']') {
                continue;
            }
            let Some(place) = places.next() else {
                break;
            };
            *place = number(*tag, bytes);
        }
        values
    }

    /// Walks over all arguments. What follows a tag of unknown size is left alone.
    fn check(mut self) -> Result<(), Reject> {
        for tag in self.tags {
            if self.value(*tag)?.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Takes the bytes that belong to a tag, without padding; `None` for a tag of unknown size.
    fn value(&mut self, tag: u8) -> Result<Option<&'a [u8]>, Reject> {
        Ok(Some(match tag {
            b'i' | b'f' | b'c' | b'r' | b'm' => self.reader.take(4)?,
            b'h' | b'd' | b't' => self.reader.take(8)?,
            b's' | b'S' => string(&mut self.reader, self.end, "string length", MAX_STRING)?,
            b'b' => {
                let have = self.reader.i32_be()?;
                let max = self.reader.left();
                let len = in_range("blob length", have, 0, max)?;
                let padded = self.reader.take(len.next_multiple_of(4))?;
                padded.get(..len).unwrap_or_default()
            }
            b'T' | b'F' | b'N' | b'I' | b'[' | b']' => self.reader.take(0)?,
            _ => return Ok(None),
        }))
    }
}

/// The number that the bytes of an argument are, if its type is one of numbers.
fn number(tag: u8, bytes: &[u8]) -> Option<f64> {
    match tag {
        b'i' => Some(f64::from(i32::from_be_bytes(bytes.try_into().ok()?))),
        b'h' => Some(i64::from_be_bytes(bytes.try_into().ok()?) as f64),
        b'f' => Some(f64::from(f32::from_be_bytes(bytes.try_into().ok()?))),
        b'd' => Some(f64::from_be_bytes(bytes.try_into().ok()?)),
        b'T' => Some(1.0),
        b'F' => Some(0.0),
        _ => None,
    }
}

/// Judges a whole datagram: depth, counts, sizes, addresses, strings. After that [`Messages`] gives every
/// message of it without an error.
///
/// # Errors
/// The first fault found.
pub(crate) fn check(datagram: &[u8]) -> Result<(), Reject> {
    if datagram.len() > MAX_DATAGRAM {
        return Err(Reject::WrongLength {
            want: MAX_DATAGRAM,
            have: datagram.len(),
        });
    }
    if !(datagram.starts_with(b"/") || datagram.starts_with(BUNDLE)) {
        return Err(Reject::BadMagic);
    }
    let mut messages = Messages::new(datagram);
    let mut count = 0;
    while let Some(message) = messages.next_message()? {
        count += 1;
        if count > MAX_MESSAGES {
            return Err(Reject::OutOfRange {
                what: "message count",
                have: count as i64,
                min: 0,
                max: MAX_MESSAGES as i64,
            });
        }
        message.args.check()?;
    }
    Ok(())
}

/// The messages of a datagram in order, bundles opened on the way.
#[derive(Clone, Debug)]
pub(crate) struct Messages<'a> {
    datagram: &'a [u8],
    at: usize,
    has_begun: bool,
    /// Where the open bundles end, outermost first; `depth` of them.
    ends: [usize; MAX_DEPTH],
    depth: usize,
}

impl<'a> Messages<'a> {
    /// Of a datagram, usually one that has passed [`check`].
    pub(crate) fn new(datagram: &'a [u8]) -> Self {
        Self {
            datagram,
            at: 0,
            has_begun: false,
            ends: [0; MAX_DEPTH],
            depth: 0,
        }
    }

    /// The next message; `None` after the last.
    ///
    /// # Errors
    /// What is wrong with it; there is nothing to go on with then.
    pub(crate) fn next_message(&mut self) -> Result<Option<Message<'a>>, Reject> {
        loop {
            let Some(end) = self.next_element()? else {
                return Ok(None);
            };
            let element = self.datagram.get(self.at..end).unwrap_or_default();
            if !element.starts_with(BUNDLE) {
                let message = message(self.datagram, self.at, end)?;
                self.at = end;
                return Ok(Some(message));
            }
            if self.depth == MAX_DEPTH {
                return Err(Reject::OutOfRange {
                    what: "bundle depth",
                    have: MAX_DEPTH as i64 + 1,
                    min: 0,
                    max: MAX_DEPTH as i64,
                });
            }
            reader(self.datagram, self.at, end)?.take(BUNDLE_HEAD)?;
            self.ends[self.depth] = end;
            self.depth += 1;
            self.at += BUNDLE_HEAD;
        }
    }

    /// Steps to the next element, out of bundles that are done. Its end, or `None` after the last.
    fn next_element(&mut self) -> Result<Option<usize>, Reject> {
        if !self.has_begun {
            self.has_begun = true;
            return Ok(Some(self.datagram.len()));
        }
        while let Some(innermost) = self.depth.checked_sub(1) {
            let bundle_end = self.ends[innermost];
            if self.at == bundle_end {
                self.depth = innermost;
                continue;
            }
            let mut r = reader(self.datagram, self.at, bundle_end)?;
            let have = r.i32_be()?;
            let len = in_range("element size", have, 4, r.left())?;
            if !len.is_multiple_of(4) {
                return Err(Reject::Syntax {
                    at: self.at,
                    expected: "an element size that is a multiple of 4",
                });
            }
            self.at += 4;
            return Ok(Some(self.at + len));
        }
        Ok(None)
    }
}

fn in_range(what: &'static str, have: i32, min: usize, max: usize) -> Result<usize, Reject> {
    usize::try_from(have)
        .ok()
        .filter(|n| (min..=max).contains(n))
        .ok_or(Reject::OutOfRange {
            what,
            have: i64::from(have),
            min: min as i64,
            max: max as i64,
        })
}

/// Over `at..end` of the datagram, with offsets of the datagram in its errors.
fn reader(datagram: &[u8], at: usize, end: usize) -> Result<Reader<'_>, Reject> {
    let mut reader = Reader::new(datagram.get(..end).unwrap_or(datagram));
    reader.take(at)?;
    Ok(reader)
}

fn message(datagram: &[u8], at: usize, end: usize) -> Result<Message<'_>, Reject> {
    let mut reader = reader(datagram, at, end)?;
    let address = string(&mut reader, end, "address length", MAX_ADDRESS)?;
    let address = std::str::from_utf8(address)
        .ok()
        .filter(|a| a.starts_with('/') && a.is_ascii())
        .ok_or(Reject::Syntax {
            at,
            expected: "an ASCII address that begins with /",
        })?;
    let mut tags = &[][..];
    let tags_at = end - reader.left();
    if tags_at < end {
        tags = string(&mut reader, end, "type tags length", MAX_STRING)?
            .strip_prefix(b",")
            .ok_or(Reject::Syntax {
                at: tags_at,
                expected: "type tags that begin with ,",
            })?;
    }
    Ok(Message {
        address,
        args: Args { tags, reader, end },
    })
}

/// The bytes before the NUL, of a reader that ends at `end` of the datagram.
fn string<'a>(
    reader: &mut Reader<'a>,
    end: usize,
    what: &'static str,
    limit: usize,
) -> Result<&'a [u8], Reject> {
    let left = reader.left();
    let bytes = reader.clone().take(left)?;
    let Some(len) = bytes.iter().take(limit + 1).position(|b| *b == 0) else {
        return Err(if left > limit {
            Reject::OutOfRange {
                what,
                have: limit as i64 + 1,
                min: 0,
                max: limit as i64,
            }
        } else {
            Reject::Syntax {
                at: end,
                expected: "NUL at the end of a string",
            }
        });
    };
    reader.take((len + 1).next_multiple_of(4))?;
    Ok(bytes.get(..len).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Marker and time tag "immediately".
    const HEAD: &[u8; 16] = b"#bundle\0\0\0\0\0\0\0\0\x01";

    fn bundle(elements: &[&[u8]]) -> Vec<u8> {
        let mut out = HEAD.to_vec();
        for element in elements {
            out.extend((element.len() as i32).to_be_bytes());
            out.extend_from_slice(element);
        }
        out
    }

    fn nested(depth: usize) -> Vec<u8> {
        let mut bytes = bundle(&[]);
        for _ in 1..depth {
            bytes = bundle(&[&bytes]);
        }
        bytes
    }

    fn addresses(datagram: &[u8]) -> Vec<String> {
        check(datagram).unwrap();
        let mut messages = Messages::new(datagram);
        let mut found = Vec::new();
        while let Some(message) = messages.next_message().unwrap() {
            found.push(message.address.to_owned());
        }
        found
    }

    fn check_what(datagram: &[u8], expected: &str) {
        match check(datagram) {
            Err(Reject::OutOfRange { what, .. }) => assert_eq!(what, expected),
            other => panic!("expected {expected}, found {other:?}"),
        }
    }

    #[test]
    fn messages_come_in_order_out_of_nested_bundles() {
        let inner = bundle(&[b"/b\0\0,\0\0\0", b"/c\0\0"]);
        let all = bundle(&[b"/a\0\0,\0\0\0", &inner, &bundle(&[]), b"/d\0\0,\0\0\0"]);
        assert_eq!(addresses(&all), ["/a", "/b", "/c", "/d"]);
        assert_eq!(addresses(b"/alone\0\0"), ["/alone"]);
        assert!(addresses(&bundle(&[])).is_empty());
    }

    #[test]
    fn arguments_are_read_by_their_very_type() {
        let mut bytes = b"/x\0\0,sifT\0\0\0name\0\0\0\0".to_vec();
        bytes.extend(7i32.to_be_bytes());
        bytes.extend(0.5f32.to_be_bytes());
        check(&bytes).unwrap();
        let message = Messages::new(&bytes).next_message().unwrap().unwrap();
        let mut args = message.args.clone();
        assert_eq!(args.text(), Some("name"));
        assert_eq!(args.int(), Some(7));
        assert_eq!(args.float(), Some(0.5));
        assert_eq!(args.float(), None);
        let mut args = message.args;
        assert_eq!(args.float(), None);
    }

    /// The two messages that the OSC 1.0 specification writes out byte by byte.
    #[test]
    fn the_examples_of_the_specification_read_as_stated() {
        let frequency = b"/oscillator/4/frequency\0,f\0\0\x43\xdc\0\0";
        check(frequency).unwrap();
        let message = Messages::new(frequency).next_message().unwrap().unwrap();
        assert_eq!(message.address, "/oscillator/4/frequency");
        assert_eq!(message.args.numbers::<2>(), [Some(440.0), None]);
        let foo = b"/foo\0\0\0\0,iisff\0\0\0\0\x03\xe8\xff\xff\xff\xffhello\0\0\0\
            \x3f\x9d\xf3\xb6\x40\xb5\xb2\x2d";
        assert_eq!(foo.len(), 40);
        check(foo).unwrap();
        let message = Messages::new(foo).next_message().unwrap().unwrap();
        let [a, b, c, d, e] = message.args.numbers::<5>();
        assert_eq!((a, b, c), (Some(1000.0), Some(-1.0), None));
        assert_eq!(d.map(|v| v as f32), Some(1.234));
        assert_eq!(e.map(|v| v as f32), Some(5.678));
    }

    #[test]
    fn numbers_are_read_past_arguments_of_every_other_type() {
        // A blob of 3 bytes, a time tag, nil, impulse, a character, then in an array: h −3, d 0.25, T, F.
        let bytes = b"/x\0\0,btNIc[hdTF]\0\0\0\0\0\0\0\x03abc\0\0\0\0\0\0\0\0\x01\0\0\0A\
            \xff\xff\xff\xff\xff\xff\xff\xfd\x3f\xd0\0\0\0\0\0\0";
        check(bytes).unwrap();
        let message = Messages::new(bytes).next_message().unwrap().unwrap();
        let numbers = message.args.clone().numbers::<10>();
        let [_, _, _, _, _, h, d, t, f, none] = numbers;
        assert!(numbers.iter().take(5).all(Option::is_none));
        assert_eq!((h, d, t, f), (Some(-3.0), Some(0.25), Some(1.0), Some(0.0)));
        assert_eq!(none, None);
        assert_eq!(message.args.numbers::<2>(), [None, None]);
        // After a tag that nobody knows nothing can be found.
        let unknown = b"/x\0\0,iqi\0\0\0\0\0\0\0\x01\0\0\0\x02";
        check(unknown).unwrap();
        let message = Messages::new(unknown).next_message().unwrap().unwrap();
        assert_eq!(message.args.numbers::<3>(), [Some(1.0), None, None]);
    }

    #[test]
    fn a_bomb_of_2500_bundles_is_refused_without_recursion() {
        assert!(check(&nested(MAX_DEPTH)).is_ok());
        check_what(&nested(MAX_DEPTH + 1), "bundle depth");
        let bomb = nested(2500);
        assert_eq!(bomb.len(), 49_996);
        check_what(&bomb, "bundle depth");
    }

    #[test]
    fn each_bound_is_held() {
        let message: &[u8] = b"/a\0\0,\0\0\0";
        assert!(check(&bundle(&[message; MAX_MESSAGES])).is_ok());
        check_what(&bundle(&[message; MAX_MESSAGES + 1]), "message count");
        check_what(&[b"/".repeat(300), vec![0; 4]].concat(), "address length");
        let long = [&b"/a\0\0,s\0\0"[..], &b"x".repeat(1025), &[0; 3]].concat();
        check_what(&long, "string length");
        assert_eq!(
            check(&vec![b'/'; MAX_DATAGRAM + 1]),
            Err(Reject::WrongLength {
                want: MAX_DATAGRAM,
                have: MAX_DATAGRAM + 1
            })
        );
        for size in [-8i32, 0, 12] {
            let mut bytes = bundle(&[message]);
            bytes[16..20].copy_from_slice(&size.to_be_bytes());
            check_what(&bytes, "element size");
        }
        let mut blob = b"/a\0\0,b\0\0".to_vec();
        blob.extend(i32::MAX.to_be_bytes());
        check_what(&blob, "blob length");
    }

    #[test]
    fn each_fault_of_form_is_named() {
        assert_eq!(check(b""), Err(Reject::BadMagic));
        assert_eq!(check(b"hello"), Err(Reject::BadMagic));
        for (bytes, at) in [
            (&b"/a\0\0xy\0\0"[..], 4),
            (b"/a\0\0,i", 6),
            (b"/\xc3\xa4\0", 0),
            (&bundle(&[b"abc\0"]), 20),
        ] {
            match check(bytes) {
                Err(Reject::Syntax { at: found, .. }) => assert_eq!(found, at, "{bytes:?}"),
                other => panic!("expected a fault at {at}, found {other:?}"),
            }
        }
        // Padding of a string, an argument, the head of a bundle, the size of an element.
        for bytes in [
            &b"/a\0"[..],
            b"/a\0\0,i\0\0\0\0\0",
            b"#bundle\0\0\0\0",
            &nested(1)[..12],
        ] {
            assert!(
                matches!(check(bytes), Err(Reject::Short { .. })),
                "{bytes:?}"
            );
        }
        assert!(matches!(
            check(&[&bundle(&[])[..], &[0, 0]].concat()),
            Err(Reject::Short { at: 16, .. })
        ));
    }

    proptest! {
        #[test]
        fn no_bytes_panic_and_what_is_checked_can_be_read(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            as_bundle: bool,
        ) {
            let bytes = if as_bundle { bundle(&[&bytes]) } else { bytes };
            if check(&bytes).is_ok() {
                let mut messages = Messages::new(&bytes);
                while let Some(message) = messages.next_message().unwrap() {
                    let _ = message.args.numbers::<8>();
                }
            }
        }
    }
}
