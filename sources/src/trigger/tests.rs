//! Messages as the makers' help pages show them, and what strangers may send instead.

use proptest::prelude::*;

use super::*;
use crate::error::Reject;

fn ms(ms: i64) -> WorldTime {
    WorldTime::from_nanos(ms * 1_000_000)
}

fn start(id: Option<i64>) -> Trigger {
    Trigger::Start {
        name: "dance".to_owned(),
        notes: String::new(),
        description: String::new(),
        delay_ms: 0,
        packet_id: id,
    }
}

fn stop(id: Option<i64>) -> Trigger {
    Trigger::Stop {
        name: "dance".to_owned(),
        has_failed: false,
        packet_id: id,
    }
}

fn read(text: &str) -> Trigger {
    parse(text.as_bytes()).unwrap().unwrap()
}

/// Vicon's fields, without white space and with the NUL, as its help describes the packet.
const VICON_START: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>"#,
    r#"<CaptureStart><Name VALUE="dance"/><Notes VALUE="two pets"/><Description VALUE="a crowd"/>"#,
    r#"<DatabasePath VALUE="D:/Jeremy/Captures"/><Delay VALUE="33"/><PacketID VALUE="33360"/>"#,
    "</CaptureStart>\0"
);

#[test]
fn vicons_start_is_read() {
    assert_eq!(
        read(VICON_START),
        Trigger::Start {
            name: "dance".to_owned(),
            notes: "two pets".to_owned(),
            description: "a crowd".to_owned(),
            delay_ms: 33,
            packet_id: Some(33360),
        }
    );
}

#[test]
fn a_stop_says_how_it_went() {
    for (result, has_failed) in [
        (" RESULT=\"SUCCESS\"", false),
        (" RESULT='CANCEL' ", true),
        (" RESULT=\"FAIL\"", true),
        ("", false),
    ] {
        let text = format!(
            "<CaptureStop{result}><Name VALUE=\"dance\"/><Delay VALUE=\"33\"/><PacketID VALUE=\"33361\"/></CaptureStop>"
        );
        assert_eq!(
            read(&text),
            Trigger::Stop {
                name: "dance".to_owned(),
                has_failed,
                packet_id: Some(33361),
            }
        );
    }
}

#[test]
fn other_makers_forms_are_read() {
    // MANUS and StretchSense: a name and little else, with line ends and without a NUL.
    let manus = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n<CaptureStart>\r\n    <Name VALUE=\"TakeName\"/>\r\n    <DatabasePath VALUE=\"C:/Recording\"/>\r\n</CaptureStart>\r\n";
    assert_eq!(read(manus).name(), "TakeName");
    assert_eq!(read(manus).packet_id(), None);
    // NOKOV: spaces before the slash, a bare ampersand, backslashes.
    let nokov = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\" ?>\n<CaptureStart>\n<Name VALUE=\"take0116\" />\n<DatabasePath VALUE=\"F:\\2023\\test1\" />\n<Notes VALUE=\"Science & Technology Co\" />\n<Delay VALUE=\"33\" />\n<PacketID VALUE=\"10028\" />\n</CaptureStart>\n";
    let Trigger::Start { notes, .. } = read(nokov) else {
        panic!("a start")
    };
    assert_eq!(notes, "Science & Technology Co");
    // Qualisys, as a program that imitates it writes: more fields, empty ones.
    let qtm = "<CaptureStart><Name VALUE=\"m\"/><DatabasePath VALUE=\"\"/><Delay VALUE=\"\"/>\n<PacketID VALUE=\"\"/><HostName VALUE=\"H\"/><ProcessID VALUE=\"9\"/><Timecode VALUE=\"\"/></CaptureStart>\n\0\0";
    assert_eq!(read(qtm).packet_id(), None);
    // Written by other XML programs: an element with an end of its own, a root without any, a byte order mark.
    assert_eq!(
        read("\u{feff}\n<CaptureStop><Name VALUE='a' ></Name></CaptureStop >").name(),
        "a"
    );
    assert_eq!(read("<CaptureStart/>").name(), "");
    assert_eq!(
        parse(b"<CaptureComplete><PacketID VALUE=\"3\"/></CaptureComplete>"),
        Ok(None)
    );
}

#[test]
fn names_in_any_script_come_plain_or_escaped() {
    for (value, name) in [
        ("演員 山田", "演員 山田"),
        ("a&amp;b&lt;c&gt;&quot;&apos;", "a&b<c>\"'"),
        ("&#28436;&#x54E1;", "演員"),
        ("&amp;lt;", "&lt;"),
        ("a\tb\nc&#10;d", "a b c d"),
        ("A & B &", "A & B &"),
    ] {
        let text = format!("<CaptureStart><Name VALUE=\"{value}\"/></CaptureStart>");
        assert_eq!(read(&text).name(), name);
    }
}

#[test]
fn what_is_no_such_message_is_refused() {
    for (text, why) in [
        ("", "not a packet"),
        ("hello", "not a packet"),
        ("<StartRecordingReq SessionName=\"x\" />", "not a packet"),
        ("<CaptureStarted/>", "not a packet"),
        (
            "<!DOCTYPE x [<!ENTITY a \"b\">]><CaptureStart/>",
            "no document type",
        ),
        (
            "<?xml version=\"1.0\"?><!-- x --><CaptureStart/>",
            "no document type",
        ),
        ("<?xml version=\"1.0\"", "?>"),
        ("<CaptureStart><!-- x --></CaptureStart>", "an element"),
        ("<CaptureStart>x</CaptureStart>", "an element"),
        (
            "<CaptureStart><Nam VALUE=\"x\"/></CaptureStart>",
            "an element of this message",
        ),
        (
            "<CaptureStart><Database Path VALUE=\"x\"/></CaptureStart>",
            "an element of",
        ),
        (
            "<CaptureStart><Name VALUE=\"x\"/><Name VALUE=\"y\"/></CaptureStart>",
            "at most once",
        ),
        (
            "<CaptureStart><Name VALUE=\"x\" VALUE=\"y\"/></CaptureStart>",
            "at most one attribute",
        ),
        (
            "<CaptureStart><Name value=\"x\"/></CaptureStart>",
            "at most one attribute",
        ),
        (
            "<CaptureStart><NameVALUE=\"x\"/></CaptureStart>",
            "an element of",
        ),
        ("<CaptureStart VALUE=\"x\"/>", "at most one attribute"),
        ("<CaptureStart><Name VALUE=x/></CaptureStart>", "in quotes"),
        (
            "<CaptureStart><Name VALUE=\"x/></CaptureStart>",
            "closing quote",
        ),
        ("<CaptureStart><Name VALUE=\"<b\"/></CaptureStart>", "no <"),
        (
            "<CaptureStart><Name VALUE=\"&evil;\"/></CaptureStart>",
            "no entity",
        ),
        (
            "<CaptureStart><Name VALUE=\"&#xD800;\"/></CaptureStart>",
            "no entity",
        ),
        (
            "<CaptureStart><Name VALUE=\"&#+65;\"/></CaptureStart>",
            "no entity",
        ),
        (
            "<CaptureStart><Delay VALUE=\"-1\"/></CaptureStart>",
            "a whole number",
        ),
        (
            "<CaptureStart><Delay VALUE=\"4294967296\"/></CaptureStart>",
            "a whole number",
        ),
        (
            "<CaptureStart><PacketID VALUE=\"1.5\"/></CaptureStart>",
            "a whole number",
        ),
        (
            "<CaptureStart><Name VALUE=\"x\"></CaptureStart>",
            "the end of the element that is open",
        ),
        ("<CaptureStart><Name VALUE=\"x\">", "the end of the element"),
        (
            "<CaptureStart></CaptureStop>",
            "the end of the element that is open",
        ),
        ("<CaptureStart>", "an element"),
        ("<CaptureStart/><CaptureStop/>", "nothing after the message"),
        ("<CaptureStart/>\0x", "nothing after the NUL"),
    ] {
        let error = parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
    assert_eq!(
        parse(b"<CaptureStart>\xff"),
        Err(Reject::Syntax {
            at: 14,
            expected: "UTF-8"
        })
    );
}

#[test]
fn lengths_are_bounded() {
    let named = |chars: usize| {
        let name = "演".repeat(chars);
        parse(format!("<CaptureStart><Name VALUE=\"{name}\"/></CaptureStart>").as_bytes())
    };
    assert!(named(1024).is_ok());
    assert_eq!(
        named(1025),
        Err(Reject::OutOfRange {
            what: "characters of a value",
            have: 1025,
            min: 0,
            max: 1024
        })
    );
    let padded = |len: usize| format!("{:len$}", "<CaptureStart/>");
    assert!(parse(padded(4096).as_bytes()).is_ok());
    assert_eq!(
        parse(padded(4097).as_bytes()),
        Err(Reject::WrongLength {
            want: 4096,
            have: 4097
        })
    );
}

#[test]
fn what_we_write_has_the_makers_form() {
    let mut out = Vec::new();
    write(
        &Trigger::Start {
            name: "Scene 1_003".to_owned(),
            notes: "at 10:11:12:13 \"<&>'\"\n".to_owned(),
            description: String::new(),
            delay_ms: 0,
            packet_id: Some(7),
        },
        &mut out,
    );
    let expected = concat!(
        r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?><CaptureStart><Name VALUE="Scene 1_003"/>"#,
        r#"<Notes VALUE="at 10:11:12:13 &quot;&lt;&amp;&gt;&apos;&quot; "/><Description VALUE=""/>"#,
        r#"<Delay VALUE="0"/><PacketID VALUE="7"/></CaptureStart>"#,
        "\0"
    );
    assert_eq!(str::from_utf8(&out).unwrap(), expected);
    out.clear();
    write(&stop(Some(8)), &mut out);
    let expected = concat!(
        r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?><CaptureStop RESULT="SUCCESS">"#,
        r#"<Name VALUE="dance"/><Delay VALUE="0"/><PacketID VALUE="8"/></CaptureStop>"#,
        "\0"
    );
    assert_eq!(str::from_utf8(&out).unwrap(), expected);
}

#[test]
fn xsens_is_told_in_its_own_words() {
    let mut out = Vec::new();
    write_xsens(&start(None), &mut out);
    write_xsens(&stop(None), &mut out);
    let expected = "<StartRecordingReq SessionName=\"dance\" /><StopRecordingReq />";
    assert_eq!(str::from_utf8(&out).unwrap(), expected);
}

#[test]
fn a_strangers_name_becomes_a_harmless_one() {
    for (name, safe) in [
        ("Scene 12A_v2-b.1", "Scene 12A_v2-b.1"),
        ("../../etc/passwd", "etcpasswd"),
        ("C:\\Takes\\a*?\"<>|'&%$", "CTakesa"),
        ("第三幕　山田", "第三幕 山田"),
        ("नमस्ते e\u{301}", "नमस्ते e\u{301}"),
        ("a\u{202e}b\u{200b}c\u{1b}[2J\u{0}", "abc2J"),
        (" .hidden. ", "hidden"),
        ("...", ""),
        ("", ""),
    ] {
        assert_eq!(safe_name(name), safe, "{name:?}");
    }
    assert_eq!(safe_name(&"演".repeat(500)), "演".repeat(128));
    assert_eq!(safe_name(&"a ".repeat(500)).chars().count(), 127);
}

#[test]
fn a_number_counts_once_a_minute() {
    let mut dedup = Dedup::default();
    assert!(dedup.accept(ms(0), &start(Some(5))));
    assert!(!dedup.accept(ms(400), &start(Some(5))), "another way");
    assert!(!dedup.accept(ms(59_999), &start(Some(5))));
    // A sender that never changes its number can still stop.
    assert!(dedup.accept(ms(59_999), &stop(Some(5))));
    assert!(dedup.accept(ms(60_000), &start(Some(5))));
}

#[test]
fn repeats_within_a_quarter_second_are_one() {
    let mut dedup = Dedup::default();
    assert!(dedup.accept(ms(0), &start(Some(1))));
    assert!(!dedup.accept(ms(249), &start(Some(2))));
    assert!(dedup.accept(ms(249), &stop(None)), "a stop always counts");
    assert!(!dedup.accept(ms(300), &stop(None)));
    assert!(dedup.accept(ms(300), &start(None)));
    assert!(!dedup.accept(ms(549), &start(None)));
    assert!(dedup.accept(ms(550), &start(None)));
}

#[test]
fn our_own_messages_do_not_count() {
    let mut dedup = Dedup::default();
    dedup.remember(ms(0), 9);
    assert!(!dedup.accept(ms(1), &start(Some(9))));
    assert!(!dedup.accept(ms(1), &stop(Some(9))));
    assert!(dedup.accept(ms(1), &start(Some(10))));
}

#[test]
fn numbers_remembered_are_bounded() {
    let mut dedup = Dedup::default();
    for id in 0..5000 {
        dedup.accept(ms(id), &start(Some(id)));
    }
    assert_eq!(dedup.seen.len(), MAX_SEEN);
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn no_damage_to_a_message_panics(at in 0..VICON_START.len(), byte in any::<u8>()) {
        let mut bytes = VICON_START.as_bytes().to_vec();
        bytes[at] = byte;
        let _ = parse(&bytes);
        let _ = parse(&bytes[..at]);
    }

    #[test]
    fn what_is_written_is_read(
        name in "[a-z演é ]{1,40}x",
        notes in "[ -~演]{0,100}",
        id in any::<i64>(),
        delay_ms in any::<u32>(),
    ) {
        let trigger = Trigger::Start {
            name: safe_name(&name),
            notes,
            description: String::new(),
            delay_ms,
            packet_id: Some(id),
        };
        let mut bytes = Vec::new();
        write(&trigger, &mut bytes);
        prop_assert!(bytes.len() <= MAX_BYTES);
        prop_assert_eq!(parse(&bytes), Ok(Some(trigger)));
    }

    #[test]
    fn every_message_fits_and_can_be_read(name in ".{0,300}", notes in ".{0,2000}") {
        let trigger = Trigger::Start {
            name,
            notes: notes.clone(),
            description: notes,
            delay_ms: u32::MAX,
            packet_id: Some(i64::MIN),
        };
        let mut bytes = Vec::new();
        write(&trigger, &mut bytes);
        prop_assert!(bytes.len() <= MAX_BYTES);
        prop_assert!(parse(&bytes).is_ok());
    }
}
