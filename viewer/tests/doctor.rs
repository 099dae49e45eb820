//! The doctor on real datagrams: each thing that keeps something from moving, and what is said of it.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say so and stop; it runs a real process"
)]

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Read as _},
    net::{SocketAddr, UdpSocket},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use serde_json::Value;

/// Between two packets: about 60 a second.
const PERIOD: Duration = Duration::from_millis(16);
/// So many packets at most, in case the program hangs: about a minute.
const MAX_PACKETS: u32 = 4000;

/// A doctor that listens.
struct Doctor {
    child: Child,
    out: BufReader<ChildStdout>,
    /// Where each kind of source listens.
    addrs: HashMap<String, SocketAddr>,
}

/// What it said.
struct Diagnosis {
    code: i32,
    findings: Vec<Value>,
    end: Value,
}

impl Doctor {
    /// Starts it and waits until so many sources listen.
    fn start(args: &[&str], num_sources: usize) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ghostlight"))
            .arg("doctor")
            .args(args)
            .arg("--json")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut addrs = HashMap::new();
        while addrs.len() < num_sources {
            let mut line = String::new();
            assert!(out.read_line(&mut line).unwrap() > 0, "it ended too soon");
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["event"] == "listening" {
                let kind = event["source"].as_str().unwrap().to_owned();
                addrs.insert(kind, event["addr"].as_str().unwrap().parse().unwrap());
            }
        }
        Self { child, out, addrs }
    }

    /// Calls `send` about 60 times a second until the doctor has ended.
    fn diagnose(mut self, mut send: impl FnMut(u32, &HashMap<String, SocketAddr>)) -> Diagnosis {
        for n in 0..MAX_PACKETS {
            if self.child.try_wait().unwrap().is_some() {
                break;
            }
            send(n, &self.addrs);
            std::thread::sleep(PERIOD);
        }
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        let lines: Vec<Value> = rest
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        let end = lines.iter().find(|l| l["event"] == "diagnosis");
        Diagnosis {
            code: self.child.wait().unwrap().code().unwrap_or(-1),
            end: end.unwrap().clone(),
            findings: lines
                .into_iter()
                .filter(|l| l["event"] == "finding")
                .collect(),
        }
    }
}

impl Diagnosis {
    /// The answer must be of that layer and hold all of the words.
    fn is(&self, layer: &str, words: &[&str]) -> &Value {
        let text = format!("{} → {}", self.end["answer"], self.end["do_next"]);
        assert_eq!(self.code, 3, "{:#?}", self.findings);
        assert_eq!(self.end["layer"], layer, "{:#?}", self.findings);
        for word in words {
            // As JSON has it: quotes within are escaped.
            let escaped = word.replace('"', "\\\"");
            assert!(text.contains(&escaped), "{word:?} is not in {text}");
        }
        let answer = self.findings.iter().find(|f| f["level"] == "problem");
        answer.unwrap()
    }

    /// Whether some finding of that level holds the words.
    fn has(&self, level: &str, words: &str) -> bool {
        let holds = |f: &Value| {
            let what = f["what"].as_str().unwrap();
            f["level"] == level && what.contains(words)
        };
        self.findings.iter().any(holds)
    }
}

/// A Live Link Face packet, laid out by hand from the protocol's table. With a face, all curves move.
fn face(n: u32, version: u8, device: char, has_face: bool) -> Vec<u8> {
    let mut b = vec![version];
    b.extend(36u32.to_be_bytes());
    b.extend(b"00000000-0000-4000-8000-00000000000");
    b.push(device as u8);
    b.extend(5u32.to_be_bytes());
    b.extend(b"Robot");
    b.extend(n.to_be_bytes());
    b.extend(0f32.to_be_bytes());
    b.extend(60u32.to_be_bytes());
    b.extend(1u32.to_be_bytes());
    if has_face {
        b.push(61);
        for curve in 0..61 {
            let value = 0.2 + 0.1 * (n as f32 * 0.1 + curve as f32).sin();
            b.extend(value.to_be_bytes());
        }
    }
    b
}

fn socket() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").unwrap()
}

/// A doctor of one Live Link Face source, and what a phone sends to it.
fn with_phone(args: &[&str], mut packet: impl FnMut(u32) -> Option<Vec<u8>>) -> Diagnosis {
    let mut all = vec!["--source", "livelinkface=127.0.0.1:0"];
    all.extend(args);
    let phone = socket();
    Doctor::start(&all, 1).diagnose(|n, addrs| {
        if let Some(packet) = packet(n) {
            // After its end nobody listens any more.
            let _ = phone.send_to(&packet, addrs["livelinkface"]);
        }
    })
}

fn stage(folder: &Path, text: &str) -> String {
    let path = folder.join("stage.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A doctor of a stage with one Live Link Face source and whatever `more` says, while a phone streams.
fn with_stage(more: &str) -> Diagnosis {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("[[source]]\nkind = \"livelinkface\"\nlisten = \"127.0.0.1:0\"\n{more}");
    let path = stage(dir.path(), &text);
    let phone = socket();
    Doctor::start(&["--stage", &path, "--seconds", "3"], 1).diagnose(|n, addrs| {
        let _ = phone.send_to(&face(n, 6, 'A', true), addrs["livelinkface"]);
    })
}

#[test]
fn a_phone_that_streams_is_well() {
    let args = [
        "--seconds",
        "3",
        "--subject",
        "Robot",
        "--character",
        "builtin",
    ];
    let diagnosis = with_phone(&args, |n| Some(face(n, 6, 'A', true)));
    assert_eq!(diagnosis.code, 0, "{:#?}", diagnosis.findings);
    assert_eq!(diagnosis.end["ok"], true);
    assert!(diagnosis.has("ok", "packets in the last 10 s"));
    assert!(diagnosis.has("ok", "52 of 52 shapes"));
    assert!(diagnosis.has("ok", "moves"));
}

#[test]
fn without_a_packet_it_is_the_network() {
    let diagnosis = with_phone(&["--seconds", "1"], |_| None);
    let found = diagnosis.is(
        "network",
        &["no packet came in 1 s", "livelinkface on 127.0.0.1:"],
    );
    assert_eq!(found["evidence"]["listening"][0]["packets_last_10_s"], 0);
}

#[test]
fn people_read_marks_and_what_to_do() {
    let out = Command::new(env!("CARGO_BIN_EXE_ghostlight"))
        .args([
            "doctor",
            "--source",
            "livelinkface=127.0.0.1:0",
            "--seconds",
            "1",
        ])
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(3));
    let text = String::from_utf8(out.stdout).unwrap();
    for words in [
        "✓ source",
        "✗ network",
        "→",
        "The first thing in the way: no packet",
        "Do this: ",
    ] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
}

#[test]
fn another_protocol_at_the_port_is_recognised() {
    // VMC: a bundle with one message, `/VMC/Ext/OK` and the number 1.
    let mut vmc = b"#bundle\0\0\0\0\0\0\0\0\x01\0\0\0\x14".to_vec();
    vmc.extend(b"/VMC/Ext/OK\0,i\0\0\0\0\0\x01");
    let diagnosis = with_phone(&["--seconds", "2"], |_| Some(vmc.clone()));
    let found = diagnosis.is(
        "source",
        &[
            "from 127.0.0.1 were refused",
            "this looks like vmc",
            "--source vmc=127.0.0.1:",
        ],
    );
    assert_eq!(found["evidence"]["looks_like"], "vmc");
    let json = br#"{"Timestamp":1700000000000,"Hotkey":-1,"FaceFound":true}"#;
    let diagnosis = with_phone(&["--seconds", "2"], |_| Some(json.to_vec()));
    diagnosis.is("source", &["this looks like vtubestudio"]);
}

#[test]
fn another_version_of_the_protocol_is_named() {
    let diagnosis = with_phone(&["--seconds", "2"], |n| Some(face(n, 7, 'A', true)));
    diagnosis.is("source", &["version 7 of livelinkface is not supported"]);
}

#[test]
fn a_port_in_use_is_a_finding_and_no_failure() {
    let taken = socket();
    let addr = taken.local_addr().unwrap();
    let source = format!("livelinkface={addr}");
    let diagnosis = Doctor::start(&["--source", &source, "--seconds", "1"], 0).diagnose(|_, _| {});
    let port = format!("port {}", addr.port());
    let found = diagnosis.is("source", &[&port, "in use", "listen on port"]);
    assert_ne!(found["evidence"]["free"], addr.port());
}

#[test]
fn a_name_that_differs_has_its_nearest() {
    let args = ["--seconds", "2", "--subject", "robot"];
    let diagnosis = with_phone(&args, |n| Some(face(n, 6, 'A', true)));
    diagnosis.is(
        "subject_name",
        &["no subject \"robot\"", "nearest name is \"Robot\""],
    );
}

#[test]
fn a_face_that_is_not_seen_is_told_from_silence() {
    let diagnosis = with_phone(&["--seconds", "2"], |n| Some(face(n, 6, 'A', n < 20)));
    diagnosis.is("source", &["the face is not seen"]);
    let diagnosis = with_phone(&["--seconds", "4"], |n| {
        (n < 60).then(|| face(n, 6, 'A', true))
    });
    diagnosis.is("source", &["has stopped"]);
}

#[test]
fn a_face_that_never_changes_is_seen() {
    let diagnosis = with_phone(&["--seconds", "2"], |n| {
        // The number counts on, and the curves are those of the first packet.
        let mut packet = face(0, 6, 'A', true);
        packet[50..54].copy_from_slice(&n.to_be_bytes());
        Some(packet)
    });
    diagnosis.is("picture", &["the same values"]);
}

#[test]
fn two_phones_of_one_name_are_a_conflict() {
    let diagnosis = with_phone(&["--seconds", "2"], |n| {
        let device = if n % 2 == 0 { 'A' } else { 'B' };
        Some(face(n / 2, 6, device, true))
    });
    diagnosis.is("subject_name", &["sent by two sources", "waits"]);
}

#[test]
fn a_disabled_subject_is_told() {
    let diagnosis = with_stage("[[subject]]\nname = \"Robot\"\nenabled = false\n");
    diagnosis.is("subject_name", &["Robot", "disabled"]);
}

#[test]
fn an_output_that_nobody_takes_is_told() {
    let gone = socket();
    let to = gone.local_addr().unwrap();
    drop(gone);
    let diagnosis = with_stage(&format!("[[output]]\nkind = \"vmc\"\nto = [\"{to}\"]\n"));
    diagnosis.is("consumer", &["nobody takes", &to.to_string()]);
}

#[test]
fn an_output_bound_to_a_missing_subject_names_the_nearest() {
    let receiver = socket();
    let to = receiver.local_addr().unwrap();
    let diagnosis = with_stage(&format!(
        "[[output]]\nkind = \"vmc\"\nto = [\"{to}\"]\nsubjects = [\"Robto\"]\n"
    ));
    diagnosis.is(
        "subject_name",
        &["vmc-1", "\"Robto\"", "nearest name is \"Robot\""],
    );
}

#[test]
fn a_camera_is_no_face() {
    let args = [
        "--source",
        "freed=127.0.0.1:0",
        "--seconds",
        "2",
        "--subject",
        "Camera 1",
        "--character",
        "builtin",
    ];
    let camera = socket();
    let diagnosis = Doctor::start(&args, 1).diagnose(|n, addrs| {
        // FreeD D1 of camera 1: pan in 1/32768 degree, all else 0, then the checksum.
        let pan = n * 1000;
        let mut message = vec![0xd1, 1];
        message.extend(&pan.to_be_bytes()[1..]);
        message.resize(28, 0);
        let sum = message.iter().fold(0u8, |sum, b| sum.wrapping_add(*b));
        message.push(0x40u8.wrapping_sub(sum));
        let _ = camera.send_to(&message, addrs["freed"]);
    });
    diagnosis.is(
        "role",
        &["Camera 1", "neither the curves of a face", "a camera"],
    );
}

#[test]
fn what_moves_nothing_of_the_character_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = stage(
        dir.path(),
        "[[source]]\nkind = \"json\"\nlisten = \"127.0.0.1:0\"\n\
         [[source.json.curve]]\nfield = \"/x\"\ncurve = \"Xyzzy\"\n\
         [[source]]\nkind = \"osc\"\nlisten = \"127.0.0.1:0\"\n\
         [[source.osc.bone]]\naddress = \"/tracker/1\"\nname = \"頭\"\n\
         position = [0, 1, 2]\nrotation = [3, 4, 5, 6]\n",
    );
    let args = ["--stage", &path, "--seconds", "2", "--character", "builtin"];
    let sender = socket();
    let diagnosis = Doctor::start(&args, 2).diagnose(|n, addrs| {
        let json = format!("{{\"x\": {}}}", f64::from(n % 100) / 100.0);
        let _ = sender.send_to(json.as_bytes(), addrs["json"]);
        let mut osc = b"/tracker/1\0\0,fffffff\0\0\0\0".to_vec();
        for value in [n as f32 * 0.001, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0] {
            osc.extend(value.to_be_bytes());
        }
        let _ = sender.send_to(&osc, addrs["osc"]);
    });
    diagnosis.is("mapping", &[]);
    for words in ["no curve moves a shape", "\"Xyzzy\"", "no rest pose"] {
        assert!(diagnosis.has("problem", words), "{:#?}", diagnosis.findings);
    }
}
