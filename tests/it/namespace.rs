//! The hub in a network of its own: a local network, a tunnel, and adapters that are dead.
//!
//! ```text
//! lan0   192.168.77.2/24   up        what a phone must be told
//! tun0   10.8.0.2/24       up        the VPN: only when asked for
//! tun9   10.9.0.2/24       no link   a tunnel that nobody serves (where the system lets us make one)
//! dead0  192.168.99.2/24   down
//! no default route: whatever leaves the choice of an adapter to the system fails
//! ```
//!
//! The test runs itself again under `unshare`, which makes a user and a network namespace without root. Where the
//! machine forbids that, the test says so and does nothing; with `GHOSTLIGHT_NEEDS_NETNS=1` in the environment,
//! as on our own machines, it fails instead.

use std::{
    io::{BufRead as _, BufReader},
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, sync_channel},
    time::Duration,
};

use serde_json::Value;
use socket2::{Domain, Protocol, Socket, Type};

/// Set for the run inside; without it `inside` must not touch the machine's network.
const INSIDE: &str = "GHOSTLIGHT_INSIDE_NETNS";
/// Turns the skip into a failure.
const NEEDED: &str = "GHOSTLIGHT_NEEDS_NETNS";
const LAN: Ipv4Addr = Ipv4Addr::new(192, 168, 77, 2);
const TUNNEL: Ipv4Addr = Ipv4Addr::new(10, 8, 0, 2);
const DEAD: Ipv4Addr = Ipv4Addr::new(192, 168, 99, 2);
const GROUP: Ipv4Addr = Ipv4Addr::new(236, 10, 10, 10);
const PSN_PORT: u16 = 56565;
/// How long the program may take to say something.
const PATIENCE: Duration = Duration::from_secs(20);

/// The program, built beside this test by `cargo test --workspace`.
fn program() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let folder = this.parent().and_then(Path::parent).unwrap();
    folder.join(format!("ghostlight{}", std::env::consts::EXE_SUFFIX))
}

/// A command inside a new namespace. Where `ip` lives is not on everybody's path.
fn unshare() -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("unshare");
    command
        .arg("-Urn")
        .env("PATH", format!("{path}:/usr/sbin:/sbin:/usr/bin:/bin"));
    command
}

fn can_have_namespace() -> Result<(), String> {
    if !cfg!(target_os = "linux") {
        return Err("network namespaces are a thing of Linux".to_owned());
    }
    let tried = unshare()
        .args([
            "ip", "link", "add", "lan0", "type", "veth", "peer", "name", "lan0x",
        ])
        .output();
    match tried {
        Err(error) => Err(format!("unshare cannot be run: {error}")),
        Ok(out) if !out.status.success() => {
            Err(String::from_utf8_lossy(&out.stderr).trim().to_owned())
        }
        Ok(_) if !program().exists() => Err(format!(
            "{} is not built; cargo build -p viewer, or cargo test --workspace",
            program().display()
        )),
        Ok(_) => Ok(()),
    }
}

#[test]
fn the_hub_is_found_on_the_lan_and_nothing_comes_twice() {
    if let Err(why) = can_have_namespace() {
        let is_needed = std::env::var(NEEDED).is_ok_and(|v| v != "0" && !v.is_empty());
        assert!(
            !is_needed,
            "{NEEDED} is set, and there is no namespace: {why}"
        );
        println!("SKIPPED: no network namespace here: {why}");
        return;
    }
    let out = unshare()
        .arg(std::env::current_exe().unwrap())
        .args(["namespace::inside", "--exact", "--ignored", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    let wrong = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}\n{wrong}");
    // A filter that matches nothing succeeds, too.
    assert!(said.contains("1 passed"), "{said}\n{wrong}");
}

fn ip(args: &str) {
    let out = Command::new("ip").args(args.split(' ')).output().unwrap();
    let wrong = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "ip {args}: {wrong}");
}

fn pair_of_ends(name: &str, address: Ipv4Addr) {
    ip(&format!("link add {name} type veth peer name {name}x"));
    ip(&format!("addr add {address}/24 dev {name}"));
}

fn set_up() {
    ip("link set lo up");
    for (name, address) in [("lan0", LAN), ("tun0", TUNNEL)] {
        pair_of_ends(name, address);
        ip(&format!("link set {name} up"));
        ip(&format!("link set {name}x up"));
    }
    pair_of_ends("dead0", DEAD);
    // Without /dev/net/tun the dead adapter above must do.
    let tun = Command::new("ip")
        .args(["tuntap", "add", "dev", "tun9", "mode", "tun"])
        .output()
        .unwrap();
    if tun.status.success() {
        ip("addr add 10.9.0.2/24 dev tun9");
        ip("link set tun9 up");
    } else {
        println!("no tun device here; going on without tun9");
    }
    // Links come up in their own time.
    for _ in 0..100 {
        let out = Command::new("ip").args(["-br", "addr"]).output().unwrap();
        let table = String::from_utf8_lossy(&out.stdout).into_owned();
        let is_up = |name: &str| {
            table
                .lines()
                .any(|l| l.starts_with(name) && l.contains(" UP "))
        };
        if is_up("lan0@") && is_up("tun0@") {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the links do not come up");
}

/// A running command; ends with the test, however that ends.
struct Running {
    child: Child,
    lines: Receiver<Value>,
    said: Vec<Value>,
}

impl Running {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(program())
            .args(args)
            .arg("--json")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = child.stdout.take().unwrap();
        let (say, lines) = sync_channel(10_000);
        std::thread::Builder::new()
            .name("lines".into())
            .spawn(move || {
                for line in BufReader::new(out).lines() {
                    let Ok(line) = line else { break };
                    let event =
                        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
                    if say.send(event).is_err() {
                        break;
                    }
                }
            })
            .unwrap();
        Self {
            child,
            lines,
            said: Vec::new(),
        }
    }

    /// The first line that fits, said before or within the patience.
    fn wait_for(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(found) = self.said.iter().find(|e| fits(e)) {
            return found.clone();
        }
        while let Ok(event) = self.lines.recv_timeout(PATIENCE) {
            self.said.push(event);
            if let Some(last) = self.said.last().filter(|e| fits(e)) {
                return last.clone();
            }
        }
        panic!("no {what} in {:#?}", self.said);
    }

    fn event(&mut self, name: &str) -> Value {
        self.wait_for(name, |e| e["event"] == name)
    }

    fn listens(&mut self, source: &str) -> SocketAddr {
        let event = self.wait_for(source, |e| {
            e["event"] == "listening" && e["source"] == source
        });
        event["addr"].as_str().unwrap().parse().unwrap()
    }

    /// Interrupts it; its exit code and everything it said.
    fn end(mut self) -> (Option<i32>, Vec<Value>) {
        let pid = self.child.id().to_string();
        let kill = Command::new("kill").args(["-INT", &pid]).status().unwrap();
        assert!(kill.success());
        let code = self.child.wait().unwrap().code();
        while let Ok(event) = self.lines.recv_timeout(PATIENCE) {
            self.said.push(event);
        }
        (code, std::mem::take(&mut self.said))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A Live Link Face datagram laid out by hand from the protocol's table.
fn face(frame: u32) -> Vec<u8> {
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
    for c in 0..61u8 {
        b.extend((f32::from(c) / 100.0).to_be_bytes());
    }
    b
}

/// A chunk of PosiStageNet 2.03: id, then length and a bit for "chunks again".
fn chunk(id: u16, has_chunks: bool, bytes: &[u8]) -> Vec<u8> {
    let head = u32::from(id) | ((bytes.len() as u32) << 16) | (u32::from(has_chunks) << 31);
    [&head.to_le_bytes()[..], bytes].concat()
}

fn tracker_packet(root: u16, list: u16, micros: u64, frame: u8, fields: &[u8]) -> Vec<u8> {
    let mut header = micros.to_le_bytes().to_vec();
    header.extend([2, 3, frame, 1]);
    let trackers = chunk(list, true, &chunk(7, true, fields));
    chunk(root, true, &[chunk(0, false, &header), trackers].concat())
}

fn tracker_name() -> Vec<u8> {
    tracker_packet(0x6756, 2, 0, 0, &chunk(0, false, b"Hut"))
}

fn tracker(frame: u32) -> Vec<u8> {
    let position: Vec<u8> = [1.0f32, 2.0, 3.0]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let micros = 1_000_000 + u64::from(frame) * 16_667;
    tracker_packet(0x6755, 1, micros, frame as u8, &chunk(0, false, &position))
}

/// Somebody else on this machine who listens to the group on every adapter that lets him.
fn eavesdropper() -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP)).unwrap();
    socket.set_reuse_address(true).unwrap();
    let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, PSN_PORT));
    socket.bind(&any.into()).unwrap();
    for interface in [LAN, TUNNEL] {
        socket.join_multicast_v4(&GROUP, &interface).unwrap();
    }
    for interface in [DEAD, Ipv4Addr::new(10, 9, 0, 2)] {
        let _ = socket.join_multicast_v4(&GROUP, &interface);
    }
    socket
}

/// A server with several adapters, which sends each packet on all of them from one address.
fn psn_server() -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP)).unwrap();
    let from = SocketAddr::from((LAN, 0));
    socket.bind(&from.into()).unwrap();
    socket
}

fn send_everywhere(server: &Socket, bytes: &[u8]) {
    let to = SocketAddr::from((GROUP, PSN_PORT));
    for interface in [LAN, TUNNEL] {
        server.set_multicast_if_v4(&interface).unwrap();
        server.send_to(bytes, &to.into()).unwrap();
    }
}

#[test]
#[ignore = "runs in a network namespace, started by the test above"]
fn inside() {
    if std::env::var_os(INSIDE).is_none() {
        println!("SKIPPED: this would change the machine's own network");
        return;
    }
    set_up();
    the_lan_is_offered_and_the_tunnel_on_request();
    a_name_that_is_not_there_is_wrong_usage();
    hubs_find_each_other_on_the_lan_alone();
    a_device_is_told_with_its_way();
    what_is_no_frame_is_told_with_its_sender();
    nothing_comes_twice();
}

fn address<'a>(said: &'a [Value], ip: &str) -> &'a Value {
    said.iter()
        .find(|e| e["event"] == "address" && e["address"] == ip)
        .unwrap_or_else(|| panic!("no address {ip} in {said:#?}"))
}

fn the_lan_is_offered_and_the_tunnel_on_request() {
    // PosiStageNet among them: joining its group must not fail for want of a default route.
    let sources = ["--source", "livelinkface", "--source", "psn"];
    let mut usual = Running::start(&[&["pair"][..], &sources].concat());
    let pair = usual.event("pair");
    assert_eq!(pair["source"], "livelinkface");
    assert_eq!(pair["address"], "192.168.77.2", "{pair}");
    assert_eq!(
        (&pair["port"], &pair["adapter"]),
        (&11111.into(), &"lan0".into())
    );
    assert_eq!(pair["code"], "192.168.77.2:11111");
    // With nobody there it says within seconds where it listens and what there is.
    let hint = usual.wait_for("no_device", |e| e["hint"] == "no_device");
    assert_eq!(hint["target"], "192.168.77.2");
    assert_eq!(hint["listening"][0]["packets_last_10_s"], 0);
    assert!(
        hint["firewall"].as_str().unwrap().contains("11111"),
        "{hint}"
    );
    let (code, said) = usual.end();
    assert_eq!(code, Some(0));
    let tunnel = address(&said, "10.8.0.2");
    assert_eq!(
        (&tunnel["kind"], &tunnel["usable"], &tunnel["chosen"]),
        (&"tunnel".into(), &false.into(), &false.into())
    );
    assert_eq!(address(&said, "192.168.77.2")["chosen"], true);
    assert_eq!(address(&said, "192.168.99.2")["usable"], false);

    let mut asked = Running::start(&["pair", "--tunnel", "--source", "livelinkface"]);
    assert_eq!(asked.event("pair")["address"], "10.8.0.2");
    assert_eq!(asked.end().0, Some(0));

    let mut named = Running::start(&["pair", "--adapter", "tun0", "--source", "livelinkface"]);
    assert_eq!(named.event("pair")["adapter"], "tun0");
    assert_eq!(named.end().0, Some(0));
}

fn a_name_that_is_not_there_is_wrong_usage() {
    let out = Command::new(program())
        .args(["pair", "--adapter", "wlan7"])
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(2));
    let wrong = String::from_utf8_lossy(&out.stderr);
    assert!(wrong.contains("wlan7") && wrong.contains("lan0"), "{wrong}");
}

/// `other` says where `one` is.
fn is_found_by(one: &mut Running, other: &mut Running) {
    let face_port = one.listens("livelinkface").port();
    let native_port = one.listens("native").port();
    let hub = other.wait_for("hub", |e| {
        e["event"] == "hub" && e["native_port"] == native_port
    });
    let addresses = hub["addresses"].as_array().unwrap();
    assert!(!addresses.is_empty(), "{hub}");
    for address in addresses {
        assert_eq!(address["address"], "192.168.77.2", "{hub}");
        assert_eq!(address["adapter"], "lan0", "{hub}");
    }
    let sources = hub["sources"].as_array().unwrap();
    let is_said = sources
        .iter()
        .any(|s| s["source"] == "livelinkface" && s["port"] == face_port);
    assert!(is_said, "{hub}");
}

fn hubs_find_each_other_on_the_lan_alone() {
    let sources = [
        "--source",
        "livelinkface=0.0.0.0:0",
        "--source",
        "native=0.0.0.0:0",
    ];
    let mut first = Running::start(&[&["pair"][..], &sources].concat());
    let mut second = Running::start(&[&["serve"][..], &sources].concat());
    is_found_by(&mut first, &mut second);
    is_found_by(&mut second, &mut first);
    let (code, said) = first.end();
    assert_eq!(code, Some(0));
    // A hub that says goodbye is gone, and none ever saw itself.
    second.event("hub_gone");
    let itself = second.listens("native").port();
    let (_, of_second) = second.end();
    let saw = |said: &[Value], port: u16| {
        said.iter()
            .filter(|e| e["event"] == "hub")
            .any(|e| e["native_port"] == port)
    };
    assert!(!saw(&of_second, itself), "{of_second:#?}");
    assert!(saw(&said, itself), "{said:#?}");
}

fn a_device_is_told_with_its_way() {
    let mut hub = Running::start(&["pair", "--once", "--source", "livelinkface"]);
    hub.listens("livelinkface");
    let phone = UdpSocket::bind((LAN, 0)).unwrap();
    for frame in 0..10 {
        phone.send_to(&face(frame), (LAN, 11111)).unwrap();
        std::thread::sleep(Duration::from_millis(16));
    }
    let device = hub.event("device");
    assert_eq!(
        (
            &device["subject"],
            &device["address"],
            &device["adapter"],
            &device["local"]
        ),
        (
            &"Robot".into(),
            &"192.168.77.2".into(),
            &"lan0".into(),
            &"192.168.77.2".into()
        )
    );
    // `--once`: it ends by itself.
    hub.event("stopped");
    assert_eq!(hub.child.wait().unwrap().code(), Some(0));
}

fn what_is_no_frame_is_told_with_its_sender() {
    let mut hub = Running::start(&["pair", "--source", "livelinkface"]);
    hub.listens("livelinkface");
    // From loopback: an own address of the network would be told as "this computer itself".
    let odd = UdpSocket::bind("127.0.0.1:0").unwrap();
    for _ in 0..40 {
        odd.send_to(
            b"iFacialMocap_sahuasouryya9218sauhuiayeta91555dy3719",
            ("127.0.0.1", 11111),
        )
        .unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    let hint = hub.wait_for("hello_no_data", |e| e["hint"] == "hello_no_data");
    assert_eq!(
        (&hint["from"], &hint["source"]),
        (&"127.0.0.1".into(), &"livelinkface".into())
    );
    assert_eq!(hint["datagrams"], hint["rejected"]);
    assert_eq!(hub.end().0, Some(0));
}

fn nothing_comes_twice() {
    const FRAMES: u32 = 120;
    let folder = tempfile::tempdir().unwrap();
    let stage = folder.path().join("stage.toml");
    let text = format!(
        "[hub]\nrecord_folder = \"takes\"\n[[source]]\nkind = \"livelinkface\"\n\
         [[source]]\nkind = \"psn\"\ninterface = \"{LAN}\"\n"
    );
    std::fs::write(&stage, text).unwrap();
    let other = eavesdropper();
    let mut hub = Running::start(&[
        "record",
        "--stage",
        stage.to_str().unwrap(),
        "--slate",
        "Netz",
    ]);
    hub.listens("livelinkface");
    hub.listens("psn");
    let phone = UdpSocket::bind((LAN, 0)).unwrap();
    let server = psn_server();
    send_everywhere(&server, &tracker_name());
    for frame in 0..FRAMES {
        phone.send_to(&face(frame), (LAN, 11111)).unwrap();
        send_everywhere(&server, &tracker(frame));
        std::thread::sleep(Duration::from_millis(5));
    }
    // The other one is on two adapters and must have heard every packet twice, or this proves nothing.
    other
        .set_read_timeout(Some(Duration::from_millis(500)))
        .unwrap();
    let mut heard = 0;
    let mut buffer = [std::mem::MaybeUninit::<u8>::uninit(); 2048];
    while other.recv_from(&mut buffer).is_ok() {
        heard += 1;
    }
    assert_eq!(heard, 2 * (FRAMES + 1));
    let (code, said) = hub.end();
    assert_eq!(code, Some(0), "{said:#?}");
    let take = said.iter().find(|e| e["event"] == "take").unwrap();
    assert_eq!(
        (&take["frames"], &take["lost"], &take["duplicate"]),
        (&(2 * FRAMES).into(), &0.into(), &0.into()),
        "{take}"
    );
}
