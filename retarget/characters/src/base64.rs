//! Base64 of data URIs (RFC 4648, section 4).

/// The bytes of what follows `data:`, if that is base64: `application/octet-stream;base64,AAAA`. Padding may be missing.
pub(crate) fn data_uri(after_scheme: &str) -> Option<Vec<u8>> {
    let (media, text) = after_scheme.split_once(',')?;
    let is_base64 = media
        .rsplit_once(';')
        .is_some_and(|(_, last)| last.eq_ignore_ascii_case("base64"));
    if !is_base64 {
        return None;
    }
    decode(text.as_bytes())
}

/// The media type of what follows `data:`, without parameters; empty when there is none.
pub(crate) fn media_type(after_scheme: &str) -> &str {
    let media = after_scheme.split_once(',').map_or("", |(media, _)| media);
    media.split_once(';').map_or(media, |(kind, _)| kind)
}

fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let text = text
        .strip_suffix(b"==")
        .or_else(|| text.strip_suffix(b"="))
        .unwrap_or(text);
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.chunks(4) {
        let mut bits = 0_u32;
        for symbol in group {
            bits = (bits << 6) | u32::from(sextet(*symbol)?);
        }
        // Six bits a symbol; what does not fill a byte at the end is left out.
        bits <<= 6 * (4 - group.len());
        let [_, a, b, c] = bits.to_be_bytes();
        match group.len() {
            4 => bytes.extend_from_slice(&[a, b, c]),
            3 => bytes.extend_from_slice(&[a, b]),
            2 => bytes.push(a),
            _ => return None,
        }
    }
    Some(bytes)
}

fn sextet(symbol: u8) -> Option<u8> {
    match symbol {
        b'A'..=b'Z' => Some(symbol - b'A'),
        b'a'..=b'z' => Some(symbol - b'a' + 26),
        b'0'..=b'9' => Some(symbol - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_the_specification_are_read() {
        // RFC 4648, section 10.
        for (text, want) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9vYmE=", "fooba"),
            ("Zm9vYmFy", "foobar"),
            ("Zm9vYg", "foob"),
        ] {
            let uri = format!("application/octet-stream;base64,{text}");
            assert_eq!(data_uri(&uri).as_deref(), Some(want.as_bytes()), "{text}");
        }
        assert_eq!(data_uri(";base64,+/+/"), Some(vec![0xfb, 0xff, 0xbf]));
        assert_eq!(media_type("image/png;base64,AA"), "image/png");
        assert_eq!(
            media_type("text/plain;charset=utf-8;base64,AA"),
            "text/plain"
        );
        assert_eq!(media_type(";base64,AA"), "");
        assert_eq!(media_type("image/png"), "");
    }

    #[test]
    fn what_is_not_base64_is_refused() {
        for bad in [
            "base64,Zm9v",
            "text/plain,foo",
            ";base64",
            ";base64,Z",
            ";base64,Zm9vY",
            ";base64,Zm=v",
            ";base64,Zm 9",
            ";base64,Zm9é",
        ] {
            assert_eq!(data_uri(bad), None, "{bad}");
        }
    }
}
