//! Which protocol a datagram is of, by its first bytes: for what came to the wrong port.
//!
//! | begins with | is |
//! |---|---|
//! | `GLIT` | our own |
//! | `FMV3`; or text `name-12\|` or `name&12\|` | iFacialMocap |
//! | `MXTP` | Xsens |
//! | a box `head` with a box `ftyp` in it | mocopi |
//! | the magic of an LZ4 frame; or JSON with `version` and a scene | Rokoko |
//! | DDFF, and EEFF 60 bytes on | Axis Neuron |
//! | a chunk 6755 or 6756 that holds chunks | PosiStageNet |
//! | D1, and the checksum 28 bytes on | FreeD |
//! | seconds of this century, a face's number, a picture's size | OpenSeeFace |
//! | a small version, a length, as many printable characters | Live Link Face |
//! | message 1, 5 or 7 and the length of what follows | NatNet |
//! | `/` or `#bundle`: OSC; with an address of VMC or Face Cap, that | OSC, VMC, Face Cap |
//! | JSON with keys of VTube Studio, else any | VTube Studio, JSON |
//!
//! The layouts are those of each protocol's own room in `sources`. A guess is only ever said, never acted upon.

use sources::Protocol;

/// As many bytes as are looked at.
const LOOKED_AT: usize = 64;
/// Bytes of a FreeD message, the last of which is its checksum.
const FREED_BYTES: usize = 29;

/// The protocol that a datagram looks like, from its beginning: all of it, or at least 64 bytes. `None` when it
/// looks like none.
pub(crate) fn guess_protocol(bytes: &[u8]) -> Option<Protocol> {
    let bytes = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    binary(bytes)
        .or_else(|| osc(bytes))
        .or_else(|| json(bytes))
        .or_else(|| is_face_text(bytes).then_some(Protocol::IFacialMocap))
}

/// The version that a datagram of that protocol says it is of, where it stands in a fixed place.
pub(crate) fn version_of(protocol: Protocol, bytes: &[u8]) -> Option<u8> {
    match protocol {
        Protocol::LiveLinkFace => bytes.first().copied(),
        Protocol::Native => bytes.get(4).copied(),
        _ => None,
    }
}

/// `N` bytes from an offset on, if they are there.
fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

fn stands(bytes: &[u8], at: usize, what: &[u8]) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(what))
}

fn holds(bytes: &[u8], what: &str) -> bool {
    bytes.windows(what.len()).any(|w| w == what.as_bytes())
}

fn binary(bytes: &[u8]) -> Option<Protocol> {
    let is_mocopi = stands(bytes, 4, b"head") && stands(bytes, 12, b"ftyp");
    let is_axis = stands(bytes, 0, &[0xff, 0xdd]) && stands(bytes, 62, &[0xff, 0xee]);
    let all = [
        (stands(bytes, 0, b"GLIT"), Protocol::Native),
        (stands(bytes, 0, b"FMV3"), Protocol::IFacialMocap),
        (stands(bytes, 0, b"MXTP"), Protocol::Xsens),
        (is_mocopi, Protocol::Mocopi),
        (
            stands(bytes, 0, &[0x04, 0x22, 0x4d, 0x18]),
            Protocol::Rokoko,
        ),
        (is_axis, Protocol::AxisNeuron),
        (is_psn(bytes), Protocol::Psn),
        (is_freed(bytes), Protocol::FreeD),
        (
            is_openseeface(bytes).unwrap_or(false),
            Protocol::OpenSeeFace,
        ),
        (
            is_livelinkface(bytes).unwrap_or(false),
            Protocol::LiveLinkFace,
        ),
        (is_natnet(bytes).unwrap_or(false), Protocol::NatNet),
    ];
    all.into_iter()
        .find_map(|(is_it, protocol)| is_it.then_some(protocol))
}

/// The root chunk of PosiStageNet 2: its id, and the bit that says that chunks are in it.
fn is_psn(bytes: &[u8]) -> bool {
    array(bytes, 0).is_some_and(|[low, high, _, flag]: [u8; 4]| {
        let id = u16::from_le_bytes([low, high]);
        matches!(id, 0x6755 | 0x6756) && flag & 0x80 != 0
    })
}

fn is_freed(bytes: &[u8]) -> bool {
    array(bytes, 0).is_some_and(|message: [u8; FREED_BYTES]| {
        // 0x40 less all bytes before the checksum: with it, all of them come to 0x40.
        let sum = message.iter().fold(0u8, |sum, b| sum.wrapping_add(*b));
        message.first() == Some(&0xd1) && sum == 0x40
    })
}

fn is_openseeface(bytes: &[u8]) -> Option<bool> {
    let secs = f64::from_le_bytes(array(bytes, 0)?);
    let face = i32::from_le_bytes(array(bytes, 8)?);
    let size = [12, 16].map(|at| array(bytes, at).map(f32::from_le_bytes));
    // From 2001 to 2242, as the tracker's own room has it.
    let is_time = (1e9..8_589_934_592.0).contains(&secs);
    let is_size = size
        .iter()
        .all(|s| s.is_some_and(|s| (16.0..=16_384.0).contains(&s)));
    Some(is_time && is_size && (0..=10_000).contains(&face) && bytes.len() == LOOKED_AT)
}

/// Any version: one that is not read is worth knowing.
fn is_livelinkface(bytes: &[u8]) -> Option<bool> {
    let [version] = array(bytes, 0)?;
    let len = i32::from_be_bytes(array(bytes, 1)?);
    let id = bytes.get(5..)?.iter().take(usize::try_from(len).ok()?);
    Some(
        (1..=15).contains(&version)
            && (4..=64).contains(&len)
            && id.clone().next().is_some()
            && id.clone().all(u8::is_ascii_graphic),
    )
}

fn is_natnet(bytes: &[u8]) -> Option<bool> {
    let message = u16::from_le_bytes(array(bytes, 0)?);
    let payload = usize::from(u16::from_le_bytes(array(bytes, 2)?));
    let is_whole = bytes.len() == (payload + 4).min(LOOKED_AT);
    Some(matches!(message, 1 | 5 | 7) && payload >= 20 && is_whole)
}

fn osc(bytes: &[u8]) -> Option<Protocol> {
    let is_bundle = bytes.starts_with(b"#bundle\0");
    // A bundle has a time tag and the length of its first message before that message's address.
    let message = if is_bundle {
        bytes.get(20..).unwrap_or_default()
    } else {
        bytes
    };
    let address = message.split(|b| *b == 0).next().unwrap_or_default();
    let is_address = address.starts_with(b"/") && address.iter().all(u8::is_ascii_graphic);
    if !is_bundle && !is_address {
        return None;
    }
    Some(match address {
        _ if holds(bytes, "/VMC/") => Protocol::Vmc,
        b"/W" | b"/HT" | b"/HR" | b"/HRQ" | b"/ELR" | b"/ERR" => Protocol::FaceCap,
        _ => Protocol::Osc,
    })
}

fn json(bytes: &[u8]) -> Option<Protocol> {
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let any = |keys: &[&str]| keys.iter().any(|key| holds(bytes, key));
    let is_face = any(&[
        "\"FaceFound\"",
        "\"BlendShapes\"",
        "\"Hotkey\"",
        "\"Timestamp\"",
    ]);
    let is_scene = any(&[
        "\"fps\"",
        "\"scene\"",
        "\"actors\"",
        "\"props\"",
        "\"timestamp\"",
    ]);
    Some(if is_face {
        Protocol::VTubeStudio
    } else if is_scene && holds(bytes, "\"version\"") {
        Protocol::Rokoko
    } else {
        Protocol::Json
    })
}

/// Text of iFacialMocap: a name, `-` or `&`, a whole number, and `|` after it.
fn is_face_text(bytes: &[u8]) -> bool {
    let mut items = bytes.split(|b| *b == b'|');
    let (Some(first), Some(_)) = (items.next(), items.next()) else {
        return false;
    };
    let mut parts = first.splitn(2, |b| matches!(b, b'-' | b'&'));
    let name = parts.next().unwrap_or_default();
    let value = parts.next().unwrap_or_default();
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let is_item = !name.is_empty() && name.iter().all(is_name);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    first.starts_with(b"=head#") || (is_item && is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes laid out by hand from each protocol's published layout.
    fn samples() -> Vec<(Protocol, Vec<u8>)> {
        let mut phone = vec![6, 0, 0, 0, 36];
        phone.extend(b"00000000-0000-4000-8000-0000000000AA");
        phone.extend([0, 0, 0, 5]);
        phone.extend(b"Robot and what follows it");
        // 0x40 − (0xD1 + 0x01) = 0x6E.
        let mut camera = vec![0xd1, 1];
        camera.resize(28, 0);
        camera.push(0x6e);
        let mut axis = vec![0xff, 0xdd, 0, 0, 1, 1];
        axis.resize(62, 0);
        axis.extend([0xff, 0xee]);
        let mut tracker = 1_700_000_000f64.to_le_bytes().to_vec();
        tracker.extend(0i32.to_le_bytes());
        tracker.extend(640f32.to_le_bytes());
        tracker.extend(480f32.to_le_bytes());
        tracker.resize(1785, 0);
        let mut motive = vec![7, 0, 0x2c, 1];
        motive.resize(0x12c + 4, 0);
        let mut vmc = b"#bundle\0\0\0\0\0\0\0\0\x01\0\0\0\x14".to_vec();
        vmc.extend(b"/VMC/Ext/OK\0,i\0\0\0\0\0\x01");
        vec![
            (Protocol::LiveLinkFace, phone),
            (Protocol::Native, b"GLIT\x01\x01 and so on".to_vec()),
            (
                Protocol::IFacialMocap,
                b"trackingStatus-1|jawOpen-12|".to_vec(),
            ),
            (Protocol::IFacialMocap, b"eyeBlink_L&-5|jawOpen&1|".to_vec()),
            (Protocol::IFacialMocap, b"=head#1,2,3,0,0,0|".to_vec()),
            (Protocol::IFacialMocap, b"FMV3\x01\0".to_vec()),
            (
                Protocol::VTubeStudio,
                br#"{"Timestamp":1700000000000,"Hotkey":-1,"FaceFound":true}"#.to_vec(),
            ),
            (Protocol::OpenSeeFace, tracker),
            (Protocol::Vmc, vmc),
            (Protocol::Vmc, b"/VMC/Ext/T\0\0,f\0\0\0\0\0\0".to_vec()),
            (
                Protocol::Mocopi,
                b"\x22\0\0\0head\x12\0\0\0ftypsony motion format".to_vec(),
            ),
            (
                Protocol::Rokoko,
                br#"{"version":"3.0","fps":30,"scene":{"timestamp":1.5}}"#.to_vec(),
            ),
            (Protocol::Rokoko, vec![0x04, 0x22, 0x4d, 0x18, 0x40]),
            (Protocol::Xsens, b"MXTP02\0\0\0\x01\x80".to_vec()),
            (Protocol::NatNet, motive),
            (Protocol::FreeD, camera),
            (Protocol::Psn, vec![0x55, 0x67, 0x14, 0x80, 0, 0, 0x0c, 0]),
            (Protocol::AxisNeuron, axis),
            (Protocol::FaceCap, b"/W\0\0,if\0\0\0\0\x11".to_vec()),
            (Protocol::Osc, b"/face/jaw\0\0\0,f\0\0".to_vec()),
            (Protocol::Json, br#" {"jaw": 0.5, "name": "Ann"}"#.to_vec()),
        ]
    }

    #[test]
    fn every_protocol_is_known_by_its_beginning() {
        for (expected, bytes) in samples() {
            let guess = guess_protocol(&bytes);
            assert_eq!(
                guess,
                Some(expected),
                "{:?}",
                bytes.escape_ascii().to_string()
            );
        }
        let known: Vec<Protocol> = samples().iter().map(|(p, _)| *p).collect();
        for protocol in Protocol::ALL {
            let is_known = known.contains(protocol) || *protocol == Protocol::File;
            assert!(is_known, "{protocol} has no sample");
        }
    }

    #[test]
    fn the_beginning_is_enough() {
        for (expected, mut bytes) in samples() {
            bytes.truncate(LOOKED_AT);
            assert_eq!(guess_protocol(&bytes), Some(expected));
        }
    }

    #[test]
    fn what_is_none_of_them_is_not_guessed() {
        let text = "GET / HTTP/1.1\r\nHost: x\r\n";
        for bytes in [
            &b""[..],
            b"\0",
            b"garbage",
            text.as_bytes(),
            "演員|山田".as_bytes(),
            b"a-b|c",
            &[0xd1; 29],
            &[0; 64],
            &[0xff; 64],
        ] {
            assert_eq!(guess_protocol(bytes), None, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn no_bytes_break_it() {
        // Every cut of every sample, and every single byte changed.
        for (_, bytes) in samples() {
            for len in 0..bytes.len().min(80) {
                guess_protocol(&bytes[..len]);
                let mut other = bytes.clone();
                other[len] ^= 0xff;
                guess_protocol(&other);
            }
        }
    }

    #[test]
    fn a_version_stands_where_the_protocol_has_it() {
        assert_eq!(version_of(Protocol::LiveLinkFace, &[7, 0, 0]), Some(7));
        assert_eq!(version_of(Protocol::Native, b"GLIT\x02"), Some(2));
        assert_eq!(version_of(Protocol::Native, b"GLI"), None);
        assert_eq!(version_of(Protocol::Vmc, b"/VMC"), None);
    }
}
