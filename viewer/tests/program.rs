//! The program as its users meet it: exit codes, lines for machines, signals, and a hundred kills.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should say so and stop; it runs a real process on a real clock"
)]

use std::{
    io::{BufRead as _, BufReader},
    net::{SocketAddr, UdpSocket},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

fn ghostlight() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ghostlight"))
}

fn run(args: &[&str]) -> Output {
    ghostlight().args(args).output().unwrap()
}

fn lines(out: &Output) -> Vec<Value> {
    String::from_utf8_lossy(&out.stdout)
        .lines()
        .map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}")))
        .collect()
}

fn event<'a>(lines: &'a [Value], name: &str) -> &'a Value {
    lines
        .iter()
        .find(|l| l["event"] == name)
        .unwrap_or_else(|| panic!("no event {name} in {lines:#?}"))
}

/// A running command that listens.
struct Listener {
    child: Child,
    out: BufReader<ChildStdout>,
    addr: SocketAddr,
}

impl Listener {
    fn start(args: &[&str]) -> Self {
        let mut child = ghostlight()
            .args(args)
            .args(["--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        let addr = loop {
            line.clear();
            assert!(
                out.read_line(&mut line).unwrap() > 0,
                "it ended before it listened"
            );
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["event"] == "listening" {
                assert_eq!(event["source"], "livelinkface");
                break event["addr"].as_str().unwrap().parse().unwrap();
            }
        };
        Self { child, out, addr }
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(status.success());
    }

    fn end(mut self) -> (i32, Vec<Value>) {
        let lines = self
            .out
            .lines()
            .map(|l| serde_json::from_str(&l.unwrap()).unwrap())
            .collect();
        (self.child.wait().unwrap().code().unwrap_or(-1), lines)
    }
}

/// A Live Link Face datagram laid out by hand from the protocol's table, so that this test does not lean
/// on the decoder's own encoder.
fn packet(frame: u32) -> Vec<u8> {
    let mut b = vec![6];
    b.extend(36u32.to_be_bytes());
    b.extend(b"00000000-0000-4000-8000-0000000000AA");
    b.extend(5u32.to_be_bytes());
    b.extend(b"Robot");
    b.extend(frame.to_be_bytes());
    b.extend(0f32.to_be_bytes());
    b.extend(60u32.to_be_bytes());
    b.extend(1u32.to_be_bytes());
    b.push(61);
    for c in 0..61 {
        b.extend((f32::from(c as u8) / 100.0).to_be_bytes());
    }
    b
}

#[test]
fn help_version_and_wrong_usage_have_their_exit_codes() {
    for args in [&["--help"][..], &["record", "--help"], &["--version"]] {
        let out = run(args);
        assert_eq!(out.status.code(), Some(0), "{args:?}");
        assert!(!out.stdout.is_empty());
    }
    for args in [
        &["record", "--out", "x"][..],
        &["record", "--slate", "S", "--source", "nonsense=1"],
        &["send", "livelinkface", "--to", "127.0.0.1:1"],
        &["export", "x", "--format", "maya", "--out", "y"],
    ] {
        assert_eq!(run(args).status.code(), Some(2), "{args:?}");
    }
    let missing = run(&["take", "verify", "no/such/take.mcap", "--json"]);
    assert_eq!(missing.status.code(), Some(1));
    let message = event(&lines(&missing), "error")["message"].clone();
    assert!(
        message.as_str().unwrap().contains("no/such/take.mcap"),
        "{message}"
    );
}

#[test]
fn a_port_in_use_is_an_error_that_names_a_free_one() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap();
    let out = run(&["serve", "--source", &format!("livelinkface={addr}")]);
    assert_eq!(out.status.code(), Some(1));
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(
        text.contains(&addr.port().to_string()) && text.contains("listen on port"),
        "{text}"
    );
}

#[test]
fn a_broken_stage_file_names_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("stage.toml");
    std::fs::write(
        &path,
        "[[source]]\nkind = \"livelinkface\"\nlisten = \"nowhere\"\n",
    )
    .unwrap();
    let out = run(&["serve", "--stage", path.to_str().unwrap()]);
    assert_eq!(out.status.code(), Some(1));
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(
        text.contains("line 3") && text.contains("stage.toml"),
        "{text}"
    );
}

#[test]
fn every_way_to_stop_gives_the_same_finished_take() {
    for (number, signal) in ["-INT", "-TERM", "-HUP"].into_iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().to_str().unwrap();
        let listener = Listener::start(&[
            "record",
            "--source",
            "livelinkface=127.0.0.1:0",
            "--slate",
            "Stop",
            "--out",
            out,
        ]);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        for i in 0..120 {
            socket.send_to(&packet(i), listener.addr).unwrap();
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(100));
        listener.signal(signal);
        let (code, lines) = listener.end();
        let take = event(&lines, "take");
        assert_eq!(
            (code, &take["frames"], &take["lost"]),
            (0, &120.into(), &0.into()),
            "{signal}"
        );
        assert_eq!(take["verified"], true);
        let path = take["path"].as_str().unwrap();
        assert!(path.ends_with("_Stop_001.mcap"), "{path} {number}");
        let verify = run(&["take", "verify", path, "--json"]);
        assert_eq!(verify.status.code(), Some(0));
        assert_eq!(event(&self::lines(&verify), "verified")["frames"], 120);
    }
}

#[test]
fn serve_stops_cleanly_and_reports_states() {
    let listener = Listener::start(&["serve", "--source", "livelinkface=127.0.0.1:0"]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for i in 0..60 {
        socket.send_to(&packet(i), listener.addr).unwrap();
        socket.send_to(b"garbage", listener.addr).unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(1100));
    listener.signal("-TERM");
    let (code, lines) = listener.end();
    assert_eq!(code, 0);
    let states: Vec<&str> = lines
        .iter()
        .filter(|l| l["event"] == "subject")
        .map(|l| l["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["connected", "unresponsive"]);
    assert_eq!(event(&lines, "stopped")["rejected_datagrams"], 60);
}

#[test]
fn a_demo_runs_on_real_datagrams_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = run(&[
        "demo",
        "--seconds",
        "2",
        "--no-window",
        "--json",
        "--out",
        dir.path().to_str().unwrap(),
    ]);
    assert_eq!(
        out.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let lines = lines(&out);
    let demo = event(&lines, "demo");
    assert_eq!(demo["sent"], 120);
    assert_eq!(
        (&demo["received"], &demo["recorded"], &demo["lost"]),
        (&120.into(), &120.into(), &0.into())
    );
    for file in demo["files"].as_array().unwrap() {
        assert!(Path::new(file.as_str().unwrap()).is_file());
    }
}

#[test]
fn a_take_played_into_a_hub_is_the_same_performance() {
    let dir = tempfile::tempdir().unwrap();
    let folder = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let first = run(&["demo", "--seconds", "2", "--json", "--out", &folder("a")]);
    let take = event(&lines(&first), "demo")["take"]
        .as_str()
        .unwrap()
        .to_owned();
    let listener = Listener::start(&[
        "record",
        "--source",
        "livelinkface=127.0.0.1:0",
        "--slate",
        "Again",
        "--out",
        &folder("b"),
    ]);
    let played = run(&["play", &take, "--to", &listener.addr.to_string(), "--json"]);
    assert_eq!(event(&lines(&played), "played")["frames"], 120);
    std::thread::sleep(Duration::from_millis(200));
    listener.signal("-INT");
    let (_, recorded) = listener.end();
    let again = event(&recorded, "take")["path"]
        .as_str()
        .unwrap()
        .to_owned();
    let csv = |take: &str, out: &str| {
        let done = run(&["export", take, "--format", "csv", "--out", out, "--json"]);
        let path = event(&lines(&done), "export")["path"]
            .as_str()
            .unwrap()
            .to_owned();
        std::fs::read_to_string(path).unwrap()
    };
    assert_eq!(csv(&take, &folder("a")), csv(&again, &folder("b")));
}

#[test]
fn an_export_does_what_the_edits_beside_the_take_say() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    let demo = run(&["demo", "--seconds", "2", "--json", "--out", out]);
    let take = event(&lines(&demo), "demo")["take"]
        .as_str()
        .unwrap()
        .to_owned();
    // Rows of the CSV: their timecode, and how open the jaw is.
    let rows = |more: &[&str]| -> Vec<(String, f32)> {
        let mut args = vec!["export", &take, "--format", "csv", "--out", out, "--json"];
        args.extend(more);
        let done = run(&args);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        let written = lines(&done);
        let path = event(&written, "export")["path"].as_str().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let mut table = text.lines().map(|line| line.split(','));
        let jaw = table.next().unwrap().position(|name| name == "JawOpen");
        let jaw = jaw.unwrap();
        table
            .map(|mut line| {
                let timecode = line.next().unwrap().to_owned();
                (timecode, line.nth(jaw - 1).unwrap().parse().unwrap())
            })
            .collect()
    };
    let recorded = rows(&[]);
    assert_eq!(recorded.len(), 120);
    assert!(recorded.iter().any(|r| r.1 > 0.1));

    let file = Path::new(&take).with_extension("edits.toml");
    let edit = |text: &str| std::fs::write(&file, text).unwrap();
    // Timecodes are those of the CSV without the parts of a frame.
    let label = |row: usize| &recorded[row].0[..11];
    let trim = format!(r#"{{ from = "{}", to = "{}" }}"#, label(30), label(90));
    edit(&format!("version = 1\ntrim = {trim}\n"));
    assert_eq!(rows(&[]), recorded[30..90]);
    assert_eq!(rows(&["--no-edits"]), recorded);

    edit(&format!(
        "version = 1\n[[part]]\nname = \"one\"\nat = 0\n[[part]]\nname = \"two\"\nat = \"{}\"\n",
        label(60)
    ));
    assert_eq!(rows(&["--part", "one"]), recorded[..60]);
    assert_eq!(rows(&["--part", "two"]), recorded[60..]);
    let wrong = [
        "export", &take, "--format", "csv", "--out", out, "--part", "three",
    ];
    let done = run(&wrong);
    let told = String::from_utf8(done.stderr).unwrap();
    assert!(
        told.contains("no part \"three\"") && told.contains("one, two"),
        "{told}"
    );

    edit("version = 1\n[[subject]]\nname = \"Ghost\"\nmute = [\"Jaw*\"]\n");
    let muted = rows(&[]);
    assert_eq!(muted.len(), 120);
    assert!(muted.iter().all(|r| r.1 == 0.0));

    edit("version = 1\nspede = 2\n");
    let done = run(&["export", &take, "--format", "csv", "--out", out]);
    assert_eq!(done.status.code(), Some(1));
    let told = String::from_utf8(done.stderr).unwrap();
    assert!(told.contains("spede") && told.contains("line 2"), "{told}");
}

/// Kills one recording at a moment and returns (frames sent a second before the kill, frames recovered).
fn kill_once(folder: &Path, after: Duration) -> (u64, u64) {
    let out = folder.to_str().unwrap();
    let mut listener = Listener::start(&[
        "record",
        "--source",
        "livelinkface=127.0.0.1:0",
        "--slate",
        "Kill",
        "--out",
        out,
    ]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let started = Instant::now();
    let (mut sent, mut safe) = (0, 0);
    while started.elapsed() < after {
        socket.send_to(&packet(sent as u32), listener.addr).unwrap();
        sent += 1;
        if started.elapsed() + Duration::from_secs(1) <= after {
            safe = sent;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    listener.child.kill().unwrap();
    listener.child.wait().unwrap();
    let list = run(&["take", "list", out, "--json"]);
    assert_eq!(list.status.code(), Some(0));
    let lines = lines(&list);
    let take = event(&lines, "take");
    assert_eq!(take["status"], "recovered", "{lines:#?}");
    let path = take["path"].as_str().unwrap();
    assert!(path.ends_with("_Kill_001.mcap"), "{path}");
    let verify = run(&["take", "verify", path, "--json"]);
    assert_eq!(verify.status.code(), Some(0));
    let frames = event(&self::lines(&verify), "verified")["frames"]
        .as_u64()
        .unwrap();
    assert!(frames <= sent);
    let left: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
    (safe, frames)
}

/// `GHOSTLIGHT_KILLS` sets the number (default 8; the slow checks use 100).
#[test]
fn a_killed_recording_loses_at_most_the_last_second() {
    let kills: u64 = std::env::var("GHOSTLIGHT_KILLS")
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(8);
    let workers = 4;
    let totals: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers)
            .map(|worker| {
                std::thread::Builder::new()
                    .spawn_scoped(scope, move || {
                        let mut results = Vec::new();
                        for round in (worker..kills).step_by(workers as usize) {
                            let dir = tempfile::tempdir().unwrap();
                            // Moments spread over 0.05 to 2.5 s without a pattern.
                            let after = 50 + (round * 7919 + 1237) % 2450;
                            results.push(kill_once(dir.path(), Duration::from_millis(after)));
                        }
                        results
                    })
                    .unwrap()
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|t| t.join().unwrap())
            .collect()
    });
    assert_eq!(totals.len() as u64, kills);
    for (safe, frames) in &totals {
        assert!(
            frames >= safe,
            "{frames} recovered, {safe} were a second old"
        );
    }
    println!(
        "{kills} kills: {} frames recovered",
        totals.iter().map(|t| t.1).sum::<u64>()
    );
}

#[test]
fn losses_on_the_way_are_counted_and_told_by_the_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let listener = Listener::start(&[
        "record",
        "--source",
        "livelinkface=127.0.0.1:0",
        "--slate",
        "Lossy",
        "--out",
        dir.path().to_str().unwrap(),
    ]);
    let sent = run(&[
        "send",
        "livelinkface",
        "--synthetic",
        "--to",
        &listener.addr.to_string(),
        "--seconds",
        "5",
        "--rate",
        "100",
        "--loss",
        "10",
        "--reorder",
        "4",
        "--duplicate",
        "5",
        "--seed",
        "3",
        "--json",
    ]);
    assert_eq!(sent.status.code(), Some(0));
    let sent = event(&lines(&sent), "sent").clone();
    let lost = sent["lost"].as_u64().unwrap();
    assert!(lost > 20, "{sent}");
    std::thread::sleep(Duration::from_millis(200));
    listener.signal("-INT");
    let (code, lines) = listener.end();
    assert_eq!(code, 3);
    let take = event(&lines, "take");
    // Doubles are in the take as they came; the last frames may be lost without anyone being able to know.
    assert_eq!(take["frames"], sent["datagrams"]);
    assert_eq!(take["duplicate"], sent["doubled"]);
    let counted = take["lost"].as_u64().unwrap();
    assert!(
        counted <= lost && counted + 3 >= lost,
        "{counted} of {lost}"
    );
}

#[test]
fn a_body_and_a_face_travel_in_our_own_format() {
    let dir = tempfile::tempdir().unwrap();
    let stage = dir.path().join("stage.toml");
    std::fs::write(
        &stage,
        "[hub]\nrecord_folder = \"takes\"\n[[source]]\nkind = \"livelinkface\"\nlisten = \"127.0.0.1:0\"\n\
         [[source]]\nkind = \"native\"\nlisten = \"127.0.0.1:0\"\n",
    )
    .unwrap();
    let mut child = ghostlight()
        .args([
            "record",
            "--stage",
            stage.to_str().unwrap(),
            "--slate",
            "本番",
            "--json",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    let addr = loop {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0);
        let event: Value = serde_json::from_str(&line).unwrap();
        if event["source"] == "native" {
            break event["addr"].as_str().unwrap().to_owned();
        }
    };
    let sent = run(&[
        "send",
        "native",
        "--to",
        &addr,
        "--subject",
        "舞",
        "--seconds",
        "2",
        "--rate",
        "60",
        "--json",
    ]);
    assert_eq!(event(&lines(&sent), "sent")["frames"], 240);
    std::thread::sleep(Duration::from_millis(200));
    Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    let rest: Vec<Value> = out
        .lines()
        .map(|l| serde_json::from_str(&l.unwrap()).unwrap())
        .collect();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let take = event(&rest, "take");
    assert_eq!((&take["frames"], &take["lost"]), (&240.into(), &0.into()));
    let path = take["path"].as_str().unwrap();
    assert!(
        path.contains("takes") && path.ends_with("_本番_001.mcap"),
        "{path}"
    );
    let info = run(&["take", "info", path, "--json"]);
    let info = event(&lines(&info), "take")["info"].clone();
    let roles: Vec<(&str, &str)> = info["subjects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["name"].as_str().unwrap(), s["role"].as_str().unwrap()))
        .collect();
    assert_eq!(roles, [("舞_face", "basic"), ("舞_body", "animation")]);
}

#[test]
fn the_stage_decides_which_of_two_phones_plays() {
    let dir = tempfile::tempdir().unwrap();
    let stage = dir.path().join("stage.toml");
    std::fs::write(
        &stage,
        "[[source]]\nkind = \"livelinkface\"\nlisten = \"127.0.0.1:0\"\n\
         [[subject]]\nname = \"Robot\"\nsource = \"livelinkface/127.0.0.1/SECOND\"\n",
    )
    .unwrap();
    let listener = Listener::start(&["serve", "--stage", stage.to_str().unwrap()]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for i in 0..60 {
        let first = packet(i);
        let mut second = packet(i);
        second[5..41].copy_from_slice(b"SECOND00-0000-4000-8000-000000000001");
        socket.send_to(&first, listener.addr).unwrap();
        socket.send_to(&second, listener.addr).unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
    listener.signal("-INT");
    let (_, lines) = listener.end();
    let last = |device: &str| {
        lines
            .iter()
            .rfind(|l| l["source"].as_str().is_some_and(|s| s.contains(device)))
            .unwrap()["state"]
            .clone()
    };
    assert_eq!(
        (last("SECOND"), last("0000AA")),
        ("connected".into(), "conflict".into())
    );
}
