//! The bytes of a message: the little XML that these senders write, and no more.
//!
//! | read | refused |
//! |---|---|
//! | one declaration `<?xml … ?>`, or none | document types, comments, other instructions |
//! | the root with at most `RESULT` | other roots: those are other protocols |
//! | each known element at most once, with at most `VALUE`, white space between them | other elements, attributes, text |
//! | the five predefined entities, numbered characters, and a bare `&` that begins no entity | other entities |
//!
//! One maker's own example has a bare `&` in its notes.

use super::{MAX_NAME_CHARS, Trigger, safe_name};
use crate::error::Reject;

/// Longest message, in bytes.
pub const MAX_BYTES: usize = 4096;
/// Longest value, in characters.
pub const MAX_VALUE_CHARS: usize = 1024;

/// Longest name of an element or attribute, in bytes.
const MAX_WORD: usize = 32;
/// Longest value written of a free text, in bytes as escaped: two of them and a name fit into a message.
const MAX_TEXT_BYTES: usize = 1024;
const DECLARATION: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>"#;
const ENTITIES: [(&str, char); 5] = [
    ("amp;", '&'),
    ("lt;", '<'),
    ("gt;", '>'),
    ("quot;", '"'),
    ("apos;", '\''),
];
/// Elements, by their place in the set of those seen. Those after `PacketID` are read over.
const ELEMENTS: [&str; 11] = [
    "Name",
    "Notes",
    "Description",
    "Delay",
    "PacketID",
    "DatabasePath",
    "SessionName",
    "HostName",
    "ProcessID",
    "Timecode",
    "TimeCode",
];

/// Reads one datagram. `None` for `CaptureComplete`, which says that files are written and asks for nothing.
///
/// Values come without control characters: a space stands for each. An empty number is none.
///
/// # Errors
/// Anything that is not such a message, with the offset where it ends to be one.
pub fn parse(bytes: &[u8]) -> Result<Option<Trigger>, Reject> {
    if bytes.len() > MAX_BYTES {
        return Err(Reject::WrongLength {
            want: MAX_BYTES,
            have: bytes.len(),
        });
    }
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    let (text, rest) = bytes.split_at(end);
    if rest.iter().any(|b| *b != 0) {
        return Err(Reject::Syntax {
            at: end,
            expected: "nothing after the NUL",
        });
    }
    let text = str::from_utf8(text).map_err(|e| Reject::Syntax {
        at: e.valid_up_to(),
        expected: "UTF-8",
    })?;
    let mut cursor = Cursor { text, at: 0 };
    cursor.eat("\u{feff}");
    cursor.space();
    if cursor.eat("<?xml") {
        cursor.skip_past("?>")?;
        cursor.space();
    }
    if !cursor.eat("<") {
        return Err(Reject::BadMagic);
    }
    if cursor.rest().starts_with(['!', '?']) {
        return Err(cursor.expected("no document type and no comment"));
    }
    let root = cursor.word();
    if !matches!(root, "CaptureStart" | "CaptureStop" | "CaptureComplete") {
        return Err(Reject::BadMagic);
    }
    let found = found(&mut cursor, root)?;
    cursor.space();
    if !cursor.rest().is_empty() {
        return Err(cursor.expected("nothing after the message"));
    }
    Ok(match root {
        "CaptureStart" => Some(Trigger::Start {
            name: found.name,
            notes: found.notes,
            description: found.description,
            delay_ms: found.delay_ms,
            packet_id: found.packet_id,
        }),
        "CaptureStop" => Some(Trigger::Stop {
            name: found.name,
            has_failed: found.has_failed,
            packet_id: found.packet_id,
        }),
        _ => None,
    })
}

#[derive(Default)]
struct Found {
    /// A bit for each of [`ELEMENTS`].
    seen: u16,
    name: String,
    notes: String,
    description: String,
    delay_ms: u32,
    packet_id: Option<i64>,
    has_failed: bool,
}

/// Reads from behind the root's name to behind its end.
fn found(cursor: &mut Cursor<'_>, root: &str) -> Result<Found, Reject> {
    let mut found = Found::default();
    let (result, is_empty) = cursor.tag("RESULT")?;
    found.has_failed = !result.is_empty() && !result.eq_ignore_ascii_case("SUCCESS");
    if is_empty {
        return Ok(found);
    }
    loop {
        cursor.space();
        if cursor.eat("</") {
            cursor.end_of(root)?;
            return Ok(found);
        }
        let at = cursor.at;
        if !cursor.eat("<") {
            return Err(cursor.expected("an element"));
        }
        let element = cursor.word();
        let place = ELEMENTS.iter().position(|known| *known == element);
        let place = place.ok_or(Reject::Syntax {
            at,
            expected: "an element of this message",
        })?;
        if found.seen & (1 << place) != 0 {
            return Err(Reject::Syntax {
                at,
                expected: "each element at most once",
            });
        }
        found.seen |= 1 << place;
        let (value, is_empty) = cursor.tag("VALUE")?;
        if !is_empty {
            cursor.space();
            if !cursor.eat("</") {
                return Err(cursor.expected("the end of the element"));
            }
            cursor.end_of(element)?;
        }
        match element {
            "Name" => found.name = value,
            "Notes" => found.notes = value,
            "Description" => found.description = value,
            "Delay" => found.delay_ms = number(&value, at)?.unwrap_or(0),
            "PacketID" => found.packet_id = number(&value, at)?,
            _ => {}
        }
    }
}

/// A whole number, or nothing.
fn number<T: std::str::FromStr>(value: &str, at: usize) -> Result<Option<T>, Reject> {
    let value = value.trim();
    if value.is_empty() {
        return Ok(None);
    }
    value.parse().ok().map(Some).ok_or(Reject::Syntax {
        at,
        expected: "a whole number within its range",
    })
}

/// Steps through the text; never past its end.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn expected(&self, expected: &'static str) -> Reject {
        Reject::Syntax {
            at: self.at,
            expected,
        }
    }

    fn eat(&mut self, token: &str) -> bool {
        let is_there = self.rest().starts_with(token);
        if is_there {
            self.at += token.len();
        }
        is_there
    }

    /// White space as XML has it.
    fn space(&mut self) {
        let rest = self.rest();
        let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        self.at += rest.len() - trimmed.len();
    }

    fn skip_past(&mut self, token: &'static str) -> Result<(), Reject> {
        match self.rest().find(token) {
            Some(position) => {
                self.at += position + token.len();
                Ok(())
            }
            None => Err(self.expected(token)),
        }
    }

    /// A name of letters and digits, perhaps empty, cut at its longest: then nothing known begins like it.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let end = end.min(MAX_WORD);
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// The attributes of an element, of which there is at most this one, and the end of its tag. Gives the value,
    /// empty without, and whether the element ends there too.
    fn tag(&mut self, known: &'static str) -> Result<(String, bool), Reject> {
        let mut value = None;
        loop {
            let before = self.at;
            self.space();
            if self.eat("/>") {
                return Ok((value.unwrap_or_default(), true));
            }
            if self.eat(">") {
                return Ok((value.unwrap_or_default(), false));
            }
            let is_new = value.is_none() && self.at > before;
            if !is_new || self.word() != known {
                return Err(self.expected("at most one attribute, VALUE or RESULT"));
            }
            self.space();
            if !self.eat("=") {
                return Err(self.expected("="));
            }
            self.space();
            value = Some(self.quoted()?);
        }
    }

    fn quoted(&mut self) -> Result<String, Reject> {
        let quote = if self.eat("\"") {
            '"'
        } else if self.eat("'") {
            '\''
        } else {
            return Err(self.expected("a value in quotes"));
        };
        let at = self.at;
        let Some((raw, _)) = self.rest().split_once(quote) else {
            return Err(self.expected("the closing quote"));
        };
        if raw.contains('<') {
            return Err(self.expected("no < in a value"));
        }
        self.at += raw.len() + 1;
        unescape(raw, at)
    }

    /// Behind `</`: the name and the bracket.
    fn end_of(&mut self, element: &str) -> Result<(), Reject> {
        if self.word() != element {
            return Err(self.expected("the end of the element that is open"));
        }
        self.space();
        if self.eat(">") {
            Ok(())
        } else {
            Err(self.expected(">"))
        }
    }
}

fn unescape(raw: &str, at: usize) -> Result<String, Reject> {
    let mut out = String::new();
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let known = ENTITIES
            .iter()
            .find_map(|(name, c)| Some((*c, after.strip_prefix(name)?)));
        let begins_entity = |c: char| c.is_alphanumeric() || matches!(c, '#' | '_' | ':');
        let (c, after) = match known.or_else(|| numbered(after)) {
            Some(found) => found,
            None if after.starts_with(begins_entity) => {
                return Err(Reject::Syntax {
                    at,
                    expected: "no entity but the five predefined ones",
                });
            }
            None => ('&', after),
        };
        out.push(c);
        rest = after;
    }
    out.push_str(rest);
    let have = out.chars().count();
    if have > MAX_VALUE_CHARS {
        return Err(Reject::OutOfRange {
            what: "characters of a value",
            have: have as i64,
            min: 0,
            max: MAX_VALUE_CHARS as i64,
        });
    }
    Ok(out.replace(char::is_control, " "))
}

/// `#233;` or `#xE9;`, behind the ampersand: the character, and what follows.
fn numbered(after: &str) -> Option<(char, &str)> {
    let (digits, rest) = after.strip_prefix('#')?.split_once(';')?;
    let (digits, radix) = match digits.strip_prefix('x') {
        Some(hex) => (hex, 16),
        None => (digits, 10),
    };
    // A sign would do for the number, and is no digit.
    let is_plain = digits.len() <= 8 && digits.chars().all(|c| c.is_digit(radix));
    let code = u32::from_str_radix(digits, radix)
        .ok()
        .filter(|_| is_plain)?;
    Some((char::from_u32(code)?, rest))
}

/// Puts a message at the end of `out`, with its NUL: at most [`MAX_BYTES`], without white space between elements,
/// as Vicon's help has it.
///
/// The name is made safe; notes and description are cut where they would be too long. No `DatabasePath`: where
/// others store is not ours to say.
pub fn write(trigger: &Trigger, out: &mut Vec<u8>) {
    let mut text = DECLARATION.to_owned();
    let root = match trigger {
        Trigger::Start { .. } => "CaptureStart",
        Trigger::Stop { .. } => "CaptureStop",
    };
    text.push('<');
    text.push_str(root);
    if let Trigger::Stop { has_failed, .. } = trigger {
        text.push_str(if *has_failed {
            " RESULT=\"CANCEL\""
        } else {
            " RESULT=\"SUCCESS\""
        });
    }
    text.push('>');
    element(&mut text, "Name", &safe_name(trigger.name()));
    if let Trigger::Start {
        notes,
        description,
        delay_ms,
        ..
    } = trigger
    {
        element(&mut text, "Notes", notes);
        element(&mut text, "Description", description);
        element(&mut text, "Delay", &delay_ms.to_string());
    } else {
        element(&mut text, "Delay", "0");
    }
    if let Some(id) = trigger.packet_id() {
        element(&mut text, "PacketID", &id.to_string());
    }
    text.push_str("</");
    text.push_str(root);
    text.push('>');
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// Puts the message of Xsens MVN's UDP remote control at the end of `out`, without a NUL. Port 6004 unless MVN is
/// set to another; it answers, and the answer needs no reading.
pub fn write_xsens(trigger: &Trigger, out: &mut Vec<u8>) {
    let mut text = String::new();
    match trigger {
        Trigger::Start { name, .. } => {
            text.push_str("<StartRecordingReq SessionName=\"");
            escape(&mut text, &safe_name(name));
            text.push_str("\" />");
        }
        Trigger::Stop { .. } => text.push_str("<StopRecordingReq />"),
    }
    out.extend_from_slice(text.as_bytes());
}

fn element(text: &mut String, name: &str, value: &str) {
    text.push('<');
    text.push_str(name);
    text.push_str(" VALUE=\"");
    escape(text, value);
    text.push_str("\"/>");
}

/// The value, or its beginning.
fn escape(text: &mut String, value: &str) {
    let end = text.len() + MAX_TEXT_BYTES;
    for c in value.chars() {
        let mut plain = [0; 4];
        let escaped = match c {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\'' => "&apos;",
            c if c.is_control() => " ",
            c => &*c.encode_utf8(&mut plain),
        };
        if text.len() + escaped.len() > end {
            break;
        }
        text.push_str(escaped);
    }
}

// A message of three texts at their longest fits, the rest of it being shorter than 600 bytes.
const _: () = assert!(3 * MAX_TEXT_BYTES + 600 < MAX_BYTES && 4 * MAX_NAME_CHARS < MAX_TEXT_BYTES);
