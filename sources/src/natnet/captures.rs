//! Captures of Motive 1.5, 1.7.2, 1.9 and 2.1, where the samples are at hand. What is expected stands in the
//! samples' READMEs and in the text that the vendor's own client printed for the same session.

use std::{fs, net::SocketAddr, path::PathBuf};

use glam::{Quat, Vec3};
use hub::{Tracking, WorldTime};

use super::{
    MULTICAST, NatNetDecoder, Options,
    packet::connect,
    tests::{Seen, decode},
};
use crate::Decoder as _;

fn sample(path: &str) -> Option<Vec<u8>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let bytes = fs::read(root.join("../../shared/samples").join(path)).ok();
    if bytes.is_none() {
        eprintln!("no sample {path}: not checked");
    }
    bytes
}

fn natnet(name: &str) -> Option<Vec<u8>> {
    sample(&format!("protocols/natnet/{name}"))
}

#[test]
fn motive_2_1_is_read_as_its_readme_states() {
    let names = [
        "serverinfo_packet_v3.bin",
        "modeldef_packet_v3.bin",
        "mocapframe_packet_v3.bin",
        "mocapframe_packet_occluded_v3.bin",
        // What passes by on the same wire.
        "connect_packet_v3.bin",
        "discovery_packet_v3.bin",
        "echorequest_packet_v3.bin",
        "echoresponse_packet_v3.bin",
        "requestmodeldef_packet_v3.bin",
    ];
    let messages: Vec<Vec<u8>> = names.iter().filter_map(|n| natnet(n)).collect();
    if messages.len() != names.len() {
        return;
    }
    let (seen, rejects) = decode(Options::default(), &messages);
    assert_eq!(rejects, []);
    let (name, meta, data) = &seen.frames[0];
    assert_eq!(name, "RaceQuad");
    assert_eq!(meta.sequence, Some(162_734));
    assert_eq!(meta.tracking, Tracking::Tracked);
    assert!((meta.source_time.unwrap().as_secs_f64() - 1356.1167).abs() < 1e-4);
    assert_eq!(meta.timecode, None);
    let body = data.as_ref().unwrap().transforms()[0];
    let want = Vec3::new(0.17445, 1.44713, -0.73430);
    assert!(
        (body.translation - want).length() < 1e-4,
        "{}",
        body.translation
    );
    let want = Quat::from_xyzw(-0.05459, 0.50995, 0.04370, -0.85736);
    assert!(body.rotation.dot(want).abs() > 0.99999, "{}", body.rotation);
    // The occluded frame is of another session: its body was never defined.
    let (name, meta, data) = &seen.frames[1];
    assert_eq!(name, "RigidBody 7");
    // Only markers are occluded there: the body's flags, read with Python's struct, say tracked.
    assert_eq!(meta.tracking, Tracking::Tracked);
    let body = data.as_ref().unwrap().transforms()[0];
    let want = Vec3::new(-0.154_131_56, 0.282_944_8, 0.470_664_32);
    assert!(
        (body.translation - want).length() < 1e-6,
        "{}",
        body.translation
    );
    // What we send to connect has the layout of the vendor's client.
    let (theirs, ours) = (&messages[4], connect());
    assert_eq!(theirs.len(), ours.len());
    assert_eq!((&theirs[..4], &theirs[260..]), (&ours[..4], &ours[260..]));
}

#[test]
fn the_old_motives_are_read_as_their_readme_states() {
    for (motive, first, id) in [
        ("1.5.0", 92_881, 1),
        ("1.7.2", 411_213, 1),
        ("1.9.0", 11_823_217, 2),
    ] {
        let files = [0, 1, 2].map(|i| natnet(&format!("frame-motive-{motive}-00{i}.bin")));
        let [Some(info), Some(one), Some(two)] = files else {
            return;
        };
        let (seen, rejects) = decode(Options::default(), &[info, one, two]);
        assert_eq!(rejects, [], "{motive}");
        assert_eq!(seen.frames.len(), 2, "{motive}: one rigid body each");
        for (i, (name, meta, data)) in seen.frames.iter().enumerate() {
            assert_eq!(*name, format!("RigidBody {id}"));
            assert_eq!(meta.sequence, Some(first + i as u64), "{motive}");
            // 2.5 has no timestamp of its own.
            assert_eq!(meta.source_time.is_some(), motive != "1.5.0");
            let have = data.as_ref().expect("tracked").transforms()[0].translation;
            if motive == "1.5.0" && i == 0 {
                // Read from the file's bytes with Python's struct.
                let want = Vec3::new(-0.263_157_9, 0.039_126_75, 1.123_518_3);
                assert!((have - want).length() < 1e-6, "{have}");
            }
        }
    }
}

/// UDP payloads of a little-endian pcapng file of Ethernet and IPv4, with sender and time in nanoseconds.
fn udp_of_pcapng(file: &[u8]) -> Vec<(i64, SocketAddr, SocketAddr, Vec<u8>)> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let mut packets = Vec::new();
    let mut at = 0;
    while at + 12 <= file.len() {
        let len = word(at + 4) as usize;
        // An enhanced packet block: interface, time high and low in microseconds, lengths, the packet.
        if word(at) == 6 {
            let micros = (i64::from(word(at + 12)) << 32) | i64::from(word(at + 16));
            let captured = word(at + 20) as usize;
            let ip = &file[at + 28 + 14..at + 28 + captured];
            let header = usize::from(ip[0] & 15) * 4;
            if ip[9] == 17 {
                let udp = &ip[header..];
                let port = |i: usize| u16::from_be_bytes([udp[i], udp[i + 1]]);
                let address = |i: usize| <[u8; 4]>::try_from(&ip[i..i + 4]).unwrap();
                packets.push((
                    micros * 1000,
                    SocketAddr::from((address(12), port(0))),
                    SocketAddr::from((address(16), port(2))),
                    udp[8..usize::from(port(4))].to_vec(),
                ));
            }
        }
        at += len;
    }
    packets
}

#[test]
fn a_captured_session_plays_through_with_its_own_handshake() {
    let Some(file) = sample("captures/natnet_traffic.pcapng") else {
        return;
    };
    let packets = udp_of_pcapng(&file);
    assert_eq!(packets.len(), 550);
    let server = "192.168.0.106".parse().unwrap();
    let mut decoder = NatNetDecoder::new(Options {
        server: Some(server),
        ..Options::default()
    });
    let mut seen = Seen::default();
    let mut asked = Vec::new();
    let mut rejects = Vec::new();
    let start = packets[0].0;
    for (nanos, from, to, bytes) in &packets {
        let now = WorldTime::from_nanos(nanos - start);
        if from.ip() == server {
            if to.ip() == MULTICAST {
                assert_eq!(bytes[0], 7);
            }
            rejects.extend(decoder.handle_datagram(now, *from, bytes, &mut seen).err());
        }
        decoder.transmit(now, &mut |to, bytes| {
            assert_eq!(to, SocketAddr::new(server, 1510));
            asked.push(bytes[0]);
        });
    }
    assert_eq!(rejects, []);
    assert_eq!(decoder.multicast_group(), Some(MULTICAST));
    assert_eq!(asked[0], 0, "connect");
    assert!(asked.contains(&4) && asked.contains(&10), "{asked:?}");
    assert_eq!(seen.frames.len(), 518);
    let sequences: Vec<u64> = seen.frames.iter().filter_map(|f| f.1.sequence).collect();
    assert!(sequences.is_sorted() && sequences[0] == 162_734);
    // The session's own client asked for the definitions only after some frames.
    assert_eq!(seen.frames[0].0, "RigidBody 2");
    assert_eq!(seen.removed, ["RigidBody 2"]);
    // As the vendor's client printed it: 0.17 1.45 -0.73, -0.05 0.51 0.04 -0.86.
    let body = seen.transforms("RaceQuad")[0];
    assert!((body.translation - Vec3::new(0.17, 1.45, -0.73)).length() < 0.01);
}
