//! Tables of adapters as `ip addr`, `ifconfig` and `Get-NetIPAddress` show them on ordinary machines.

use sources::Protocol;

use super::*;

/// `name address/bits`, then `down` or `p2p`.
fn table(lines: &[&str]) -> Vec<Adapter> {
    lines
        .iter()
        .map(|line| {
            let (line, running) = match line.strip_suffix(" down") {
                Some(rest) => (rest, false),
                None => (*line, true),
            };
            let (line, point_to_point) = match line.strip_suffix(" p2p") {
                Some(rest) => (rest, true),
                None => (line, false),
            };
            let (name, address) = line.rsplit_once(' ').unwrap();
            let (ip, bits) = address.split_once('/').unwrap();
            Adapter {
                name: name.to_owned(),
                ip: ip.parse().unwrap(),
                prefix_len: bits.parse().unwrap(),
                running,
                point_to_point,
            }
        })
        .collect()
}

fn chosen(lines: &[&str], wish: Wish<'_>) -> Option<String> {
    rank(&table(lines), wish)
        .into_iter()
        .find(|r| r.usable)
        .map(|r| r.adapter.ip.to_string())
}

fn usual(lines: &[&str]) -> Option<String> {
    let by_rank = chosen(lines, Wish::default());
    let by_best = best(&table(lines)).map(|r| r.adapter.ip.to_string());
    assert_eq!(by_rank, by_best);
    by_rank
}

const LINUX: [&str; 9] = [
    "lo 127.0.0.1/8",
    "lo ::1/128",
    "docker0 172.17.0.1/16 down",
    "br-5f3c2a1b9d0e 172.18.0.1/16",
    "virbr0 192.168.122.1/24",
    "tun0 10.8.0.2/24 p2p",
    "tailscale0 100.101.102.103/32 p2p",
    "wlp3s0 192.168.178.42/24",
    "wlp3s0 fe80::1c2d:3e4f:5a6b:7c8d/64",
];

const MACOS: [&str; 9] = [
    "lo0 127.0.0.1/8",
    "en0 192.168.1.23/24",
    "en0 fe80::c2b:aa11:22cc:33dd/64",
    "awdl0 fe80::9c1f:2eff:fe00:1/64",
    "llw0 fe80::9c1f:2eff:fe00:2/64",
    "utun3 fe80::ce81:b1c:bd2c:69e/64 p2p",
    "utun4 10.5.0.2/16 p2p",
    "bridge100 192.168.64.1/24",
    "en5 169.254.12.9/16",
];

const WINDOWS: [&str; 8] = [
    "Loopback Pseudo-Interface 1 127.0.0.1/8",
    "vEthernet (WSL (Hyper-V firewall)) 172.29.96.1/20",
    "vEthernet (Default Switch) 172.25.0.1/20",
    "VMware Network Adapter VMnet8 192.168.80.1/24",
    "NordLynx 10.5.0.2/16",
    "Local Area Connection* 1 169.254.7.9/16 down",
    "Ethernet 169.254.99.1/16 down",
    "Wi-Fi 192.168.0.17/24",
];

#[test]
fn the_lan_is_offered_on_every_system() {
    assert_eq!(usual(&LINUX).as_deref(), Some("192.168.178.42"));
    assert_eq!(usual(&MACOS).as_deref(), Some("192.168.1.23"));
    assert_eq!(usual(&WINDOWS).as_deref(), Some("192.168.0.17"));
}

#[test]
fn a_tunnel_is_offered_only_when_asked_for() {
    let tunnel = Wish {
        tunnel: true,
        adapter: None,
    };
    assert_eq!(chosen(&LINUX, tunnel).as_deref(), Some("10.8.0.2"));
    assert_eq!(chosen(&MACOS, tunnel).as_deref(), Some("10.5.0.2"));
    assert_eq!(chosen(&WINDOWS, tunnel).as_deref(), Some("10.5.0.2"));
    // Asked for and not there: the local network is better than nothing.
    assert_eq!(
        chosen(&["eth0 10.0.0.4/24"], tunnel).as_deref(),
        Some("10.0.0.4")
    );
}

#[test]
fn a_name_or_an_address_wins_over_every_kind() {
    let named = |name| Wish {
        tunnel: false,
        adapter: Some(name),
    };
    assert_eq!(
        chosen(&LINUX, named("virbr0")).as_deref(),
        Some("192.168.122.1")
    );
    assert_eq!(
        chosen(&MACOS, named("bridge100")).as_deref(),
        Some("192.168.64.1")
    );
    assert_eq!(
        chosen(&WINDOWS, named("nordlynx")).as_deref(),
        Some("10.5.0.2")
    );
    assert_eq!(
        chosen(&LINUX, named("100.101.102.103")).as_deref(),
        Some("100.101.102.103")
    );
    // Down is down, whoever asks.
    assert_eq!(
        chosen(&LINUX, named("docker0")).as_deref(),
        Some("192.168.178.42")
    );
}

#[test]
fn without_a_reachable_address_nothing_is_offered() {
    let alone = [
        "lo 127.0.0.1/8",
        "eth0 192.168.1.4/24 down",
        "wg0 10.7.0.2/32 p2p",
        "docker0 172.17.0.1/16",
    ];
    assert_eq!(usual(&alone), None);
    assert_eq!(usual(&[]), None);
}

#[test]
fn a_straight_cable_is_better_than_nothing_and_worse_than_a_router() {
    assert_eq!(
        usual(&["eth0 169.254.3.4/16", "lo 127.0.0.1/8"]).as_deref(),
        Some("169.254.3.4")
    );
    assert_eq!(
        usual(&["eth0 169.254.3.4/16", "wlan0 10.1.1.9/24"]).as_deref(),
        Some("10.1.1.9")
    );
}

#[test]
fn of_two_networks_the_wireless_one_and_of_one_network_the_cable() {
    // A rig's cameras on the cable, the phones on the radio.
    let two = ["enp2s0 10.20.0.1/24", "wlp3s0 192.168.1.8/24"];
    assert_eq!(usual(&two).as_deref(), Some("192.168.1.8"));
    let one = ["wlp3s0 192.168.1.8/24", "enp2s0 192.168.1.7/24"];
    assert_eq!(usual(&one).as_deref(), Some("192.168.1.7"));
    let windows = ["Ethernet 2 10.20.0.1/24", "Wi-Fi 192.168.1.8/24"];
    assert_eq!(usual(&windows).as_deref(), Some("192.168.1.8"));
}

#[test]
fn names_and_addresses_tell_the_kind() {
    let check = |line: &str, kind: Kind| {
        assert_eq!(table(&[line])[0].kind(), kind, "{line}");
    };
    for tunnel in [
        "tun0 10.8.0.2/24",
        "tap0 10.8.0.2/24",
        "wg0 10.7.0.2/32",
        "utun4 10.5.0.2/16 p2p",
        "ztyqbqk3ab 10.147.17.5/24",
        "ppp0 10.64.64.64/32 p2p",
        "ipsec0 10.0.9.1/32 p2p",
        "proton0 10.2.0.2/32",
        "OpenVPN TAP-Windows6 10.8.0.6/30",
        "Firma VPN 10.3.0.7/32",
        "Tailscale fd7a:115c:a1e0::1/128",
        "wwan0 100.80.1.2/30",
        "gif0 10.11.0.2/32 p2p",
    ] {
        check(tunnel, Kind::Tunnel);
    }
    for inside in [
        "docker0 172.17.0.1/16",
        "br-0123456789ab 172.18.0.1/16",
        "veth1a2b3c4 169.254.1.1/16",
        "vboxnet0 192.168.56.1/24",
        "vmnet8 172.16.5.1/24",
        "vEthernet (WSL) 172.29.96.1/20",
        "VirtualBox Host-Only Network 192.168.56.1/24",
    ] {
        check(inside, Kind::Virtual);
    }
    for lan in [
        // A bridge that carries the real network, and the neighbours of CGNAT.
        "br0 192.168.1.2/24",
        "eth0 100.63.255.254/24",
        "eth0 100.128.0.1/24",
        "イーサネット 192.168.11.5/24",
        "以太网 10.0.0.8/24",
        "en0 2001:db8::7/64",
        "Local Area Connection* 10 192.168.137.1/24",
    ] {
        check(lan, Kind::Lan);
    }
    check("en5 169.254.12.9/16", Kind::LinkLocal);
    check("en0 fe80::1/64", Kind::LinkLocal);
    check("lo0 ::1/128", Kind::Loopback);
}

#[test]
fn every_address_is_there_once_with_a_reason_of_its_own_kind() {
    let ranked = rank(&table(&LINUX), Wish::default());
    assert_eq!(ranked.len(), LINUX.len());
    let reason = |ip: &str| {
        let one = ranked.iter().find(|r| r.adapter.ip.to_string() == ip);
        one.unwrap().reason.clone()
    };
    assert!(reason("192.168.178.42").contains("192.168.178.0/24"));
    assert!(reason("10.8.0.2").contains("--tunnel"));
    assert!(reason("172.18.0.1").contains("--adapter"));
    assert!(reason("172.17.0.1").contains("off or not connected"));
    assert!(reason("127.0.0.1").contains("itself"));
}

#[test]
fn a_network_holds_its_own_addresses_and_no_others() {
    let adapter = &table(&["eth0 192.168.1.10/23"])[0];
    assert_eq!(adapter.network(), "192.168.0.0/23");
    for (ip, inside) in [
        ("192.168.0.255", true),
        ("192.168.1.1", true),
        ("192.168.2.1", false),
        ("::1", false),
    ] {
        assert_eq!(adapter.contains(ip.parse().unwrap()), inside, "{ip}");
    }
    let unknown = &table(&["eth0 192.168.1.10/0"])[0];
    assert!(!unknown.contains("8.8.8.8".parse().unwrap()));
    assert!(unknown.contains("192.168.1.10".parse().unwrap()));
    assert_eq!(unknown.network(), "0.0.0.0/0");
    let six = &table(&["eth0 2001:db8:1:2::5/64"])[0];
    assert_eq!(six.network(), "2001:db8:1:2::/64");
    assert!(six.contains("2001:db8:1:2:9::1".parse().unwrap()));
    assert!(!six.contains("2001:db8:1:3::1".parse().unwrap()));
}

#[test]
fn groups_are_joined_on_the_lan_unless_the_stage_says_otherwise() {
    let any = |kind: Protocol| SourceTable::new(kind, ([0, 0, 0, 0], 0).into());
    let lan = Ipv4Addr::new(192, 168, 1, 5);
    let mut sources = [
        any(Protocol::Psn),
        any(Protocol::LiveLinkFace),
        SourceTable::new(Protocol::Psn, ([127, 0, 0, 1], 0).into()),
        any(Protocol::Psn),
    ];
    sources[3].interface = Some(Ipv4Addr::LOCALHOST);
    join_on(&mut sources, lan);
    let interfaces = sources.map(|s| s.interface);
    assert_eq!(
        interfaces,
        [Some(lan), None, None, Some(Ipv4Addr::LOCALHOST)]
    );
}
