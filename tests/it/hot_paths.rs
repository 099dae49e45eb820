//! Datagram to buffer to answer without one allocation, once memory is warm.

use std::net::SocketAddr;

use hub::{
    FrameRate, QualifiedFrameTime, SubjectName, WorldTime,
    client::{At, Client, Evaluated},
};
use sources::{
    Decoder as _,
    livelinkface::{LiveLinkFaceDecoder, Options},
};
use tests::{
    counting::count,
    rig::{ToClient, datagram},
};

#[test]
fn a_steady_face_does_not_allocate_from_datagram_to_answer() {
    let rate = FrameRate::FPS_60;
    let packets: Vec<Vec<u8>> = (0..1000)
        .map(|i| datagram("warm", QualifiedFrameTime::whole(i, rate), i as f64 / 60.0))
        .collect();
    let name = SubjectName::new("warm").unwrap();
    let mut client = Client::default();
    let mut decoder = LiveLinkFaceDecoder::new(Options::default());
    let mut out = Evaluated::default();
    let from = SocketAddr::from(([10, 0, 0, 1], 1));
    let mut play = |range: std::ops::Range<usize>| {
        for i in range {
            let now = WorldTime::from_nanos(rate.nanos_of(i as i64));
            decoder
                .handle_datagram(now, from, &packets[i], &mut ToClient(&mut client))
                .unwrap();
            for at in [
                At::Latest,
                At::World(now),
                At::Timecode(QualifiedFrameTime::whole(i as i64 - 2, rate)),
            ] {
                client.evaluate(&name, at, now, &mut out);
            }
        }
    };
    // The buffer (one second) fills, and each slot is used once.
    play(0..300);
    let ((), allocations, _) = count(|| play(300..1000));
    assert_eq!(allocations, 0);
    assert!(out.data.properties.len() == 61);
}

#[test]
fn a_steady_body_does_not_allocate_over_our_own_wire() {
    let performer = sources::synthetic::Performer::new(3);
    let name = SubjectName::new("body").unwrap();
    let mut sender = sources::native::NativeSender::new(1, "test");
    let mut decoder = sources::native::NativeDecoder::new();
    let mut client = Client::default();
    let mut out = Evaluated::default();
    let from = SocketAddr::from(([10, 0, 0, 1], 1));
    let mut frame = hub::FrameData {
        body: hub::FrameBody::Animation(Vec::new()),
        properties: Vec::new(),
    };
    let rate = FrameRate::FPS_100;
    let now = WorldTime::default();
    let statics = performer.body_static();
    sender.static_data(&name, &statics, now, |d| {
        decoder
            .handle_datagram(now, from, d, &mut ToClient(&mut client))
            .unwrap();
    });
    let mut play = |range: std::ops::Range<i64>| {
        for i in range {
            let nanos = rate.nanos_of(i);
            let now = WorldTime::from_nanos(nanos);
            if let hub::FrameBody::Animation(bones) = &mut frame.body {
                performer.body(nanos as f64 / 1e9, bones);
            }
            let meta = hub::FrameMeta {
                source_time: Some(hub::SourceTime::from_nanos(nanos)),
                ..hub::FrameMeta::default()
            };
            sender.frame(&name, &meta, Some(&frame), now, |d| {
                decoder
                    .handle_datagram(now, from, d, &mut ToClient(&mut client))
                    .unwrap();
            });
            client.evaluate(&name, At::World(now), now, &mut out);
        }
    };
    play(0..250);
    // One static repetition per second is parsed anew; frames between two of them must not allocate.
    let ((), allocations, _) = count(|| play(250..299));
    assert_eq!(allocations, 0);
}
