//! Random and mutated datagrams through every decoder: no panic, no allocation beyond a stated bound.
//!
//! `GHOSTLIGHT_FUZZ` sets the number for the phone and for our own wire (default 200,000; the slow checks use
//! 10,000,000 each); the other protocols get a tenth of it each.

use std::net::SocketAddr;

use crate::corpus;
use hub::{
    FrameData, FrameMeta, FrameRate, QualifiedFrameTime, SubjectName, WorldTime, client::Client,
    wire,
};
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use sources::{
    Decoder, freed, ifacialmocap,
    livelinkface::{LiveLinkFaceDecoder, Options},
    mocopi,
    native::{NativeDecoder, NativeSender},
    natnet, openseeface, psn, rokoko, vmc, vtubestudio, xsens,
};
use tests::{
    counting::count,
    rig::{ToClient, datagram},
};

/// Largest single allocation a datagram of at most 4,096 bytes may cause: a decoder's table of a few
/// thousand streams growing once more. Nothing a length field claims may exceed it.
const MAX_ALLOCATION: usize = 2 << 20;

fn rounds() -> u64 {
    std::env::var("GHOSTLIGHT_FUZZ")
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(200_000)
}

/// One of: random bytes; a good datagram with bytes flipped, cut, repeated or with a number overwritten.
fn mutate(rng: &mut ChaCha8Rng, corpus: &[Vec<u8>], out: &mut Vec<u8>) {
    out.clear();
    if rng.random_ratio(1, 16) {
        out.resize(rng.random_range(0..1500), 0);
        rng.fill_bytes(out);
        return;
    }
    out.extend_from_slice(&corpus[rng.random_range(0..corpus.len())]);
    for _ in 0..rng.random_range(0..4) {
        if out.is_empty() {
            return;
        }
        let at = rng.random_range(0..out.len());
        match rng.random_range(0..5) {
            0 => out[at] ^= 1 << rng.random_range(0..8),
            1 => out[at] = rng.random(),
            2 => out.truncate(at),
            3 => {
                let extreme: [u8; 4] =
                    *[[0xff; 4], [0x7f, 0xff, 0xff, 0xff], [0; 4], [0x80, 0, 0, 0]]
                        .get(rng.random_range(0..4usize))
                        .unwrap();
                for (byte, e) in out[at..].iter_mut().zip(extreme) {
                    *byte = e;
                }
            }
            _ => {
                let tail = out[at..].to_vec();
                out.extend_from_slice(&tail);
                out.truncate(4096);
            }
        }
    }
}

fn fuzz(decoder: &mut dyn Decoder, corpus: &[Vec<u8>], seed: u64, rounds: u64) -> (u64, u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut client = Client::default();
    let mut bytes = Vec::with_capacity(2048);
    let (mut taken, mut refused) = (0, 0);
    for i in 0..rounds {
        mutate(&mut rng, corpus, &mut bytes);
        let from = SocketAddr::from(([10, 0, 0, (i % 3) as u8], 5000));
        let now = WorldTime::from_nanos(i as i64 * 5_000_000);
        let (outcome, _, largest) =
            count(|| decoder.handle_datagram(now, from, &bytes, &mut ToClient(&mut client)));
        assert!(
            largest <= MAX_ALLOCATION,
            "round {i}: {largest} bytes at once for a datagram of {}: {bytes:02x?}",
            bytes.len()
        );
        match outcome {
            Ok(()) => taken += 1,
            Err(_) => refused += 1,
        }
        if i % 1000 == 0 {
            evaluate_all(&client, now);
        }
    }
    (taken, refused)
}

fn evaluate_all(client: &Client, now: WorldTime) {
    use hub::client::{At, Evaluated};
    let mut out = Evaluated::default();
    for name in ["fuzz", "body"] {
        let name = SubjectName::new(name).unwrap();
        let timecode = QualifiedFrameTime::whole(100, FrameRate::FPS_60);
        for at in [At::Latest, At::World(now), At::Timecode(timecode)] {
            client.evaluate(&name, at, now, &mut out);
            let finite = out.data.properties.iter().all(|v| v.is_finite());
            assert!(finite, "a value that is no number came through");
        }
    }
}

#[test]
fn live_link_face_takes_any_bytes() {
    let corpus: Vec<Vec<u8>> = (0..32)
        .map(|i| {
            let mut d = datagram(
                "fuzz",
                QualifiedFrameTime::whole(i, FrameRate::FPS_60),
                i as f64,
            );
            if i % 4 == 0 {
                d.truncate(d.len() - 245);
            }
            d
        })
        .collect();
    let (taken, refused) = fuzz(
        &mut LiveLinkFaceDecoder::new(Options::default()),
        &corpus,
        1,
        rounds(),
    );
    println!("live link face: {taken} taken, {refused} refused");
    assert!(taken > 0 && refused > 0);
}

#[test]
fn our_own_wire_takes_any_bytes() {
    let mut corpus = Vec::new();
    let mut sender = NativeSender::new(5, "fuzz");
    let performer = sources::synthetic::Performer::new(1);
    let name = SubjectName::new("body").unwrap();
    let now = WorldTime::default();
    sender.static_data(&name, &performer.body_static(), now, |d| {
        corpus.push(d.to_vec());
    });
    let mut frame = FrameData {
        body: hub::FrameBody::Animation(Vec::new()),
        properties: Vec::new(),
    };
    for i in 0..16 {
        if let hub::FrameBody::Animation(bones) = &mut frame.body {
            performer.body(f64::from(i), bones);
        }
        let meta = FrameMeta {
            timecode: Some(QualifiedFrameTime::whole(i64::from(i), FrameRate::FPS_60)),
            source_time: (i % 2 == 0)
                .then(|| hub::SourceTime::from_nanos(i64::from(i) * 16_666_667)),
            extra: vec![("k".into(), "v".into())],
            ..FrameMeta::default()
        };
        sender.frame(&name, &meta, Some(&frame), now, |d| corpus.push(d.to_vec()));
    }
    let (taken, refused) = fuzz(&mut NativeDecoder::new(), &corpus, 2, rounds());
    println!("native: {taken} taken, {refused} refused");
    assert!(taken > 0 && refused > 0);
}

/// Mutations of good datagrams: some must still be taken, most are not.
fn others(name: &str, decoder: &mut dyn Decoder, corpus: &[Vec<u8>], seed: u64) {
    let (taken, refused) = fuzz(decoder, corpus, seed, rounds() / 10);
    println!("{name}: {taken} taken, {refused} refused");
    assert!(taken > 0 && refused > 0, "{name}");
}

#[test]
fn face_trackers_take_any_bytes() {
    let mut d = ifacialmocap::IFacialMocapDecoder::new(ifacialmocap::Options::default());
    others("ifacialmocap", &mut d, &corpus::ifacialmocap(), 11);
    let mut d = vtubestudio::VTubeStudioDecoder::new(vtubestudio::Options::default());
    others("vtubestudio", &mut d, &corpus::vtubestudio(), 12);
    let mut d = openseeface::OpenSeeFaceDecoder::new(openseeface::Options::default());
    others("openseeface", &mut d, &corpus::openseeface(), 13);
}

#[test]
fn body_suits_take_any_bytes() {
    let mut d = vmc::VmcDecoder::new(vmc::Options::default());
    others("vmc", &mut d, &corpus::vmc(), 14);
    let mut d = mocopi::MocopiDecoder::new(mocopi::Options::default());
    others("mocopi", &mut d, &corpus::mocopi(), 15);
    let mut d = rokoko::RokokoDecoder::new(rokoko::Options::default());
    others("rokoko", &mut d, &corpus::rokoko(), 16);
    let mut d = xsens::XsensDecoder::new(xsens::Options::default());
    others("xsens", &mut d, &corpus::xsens(), 17);
}

#[test]
fn cameras_and_trackers_take_any_bytes() {
    let mut d = natnet::NatNetDecoder::new(natnet::Options::default());
    others("natnet", &mut d, &corpus::natnet(), 18);
    let mut d = freed::FreedDecoder::new(freed::Options::default());
    others("freed", &mut d, &corpus::freed(), 19);
    let mut d = psn::PsnDecoder::new(psn::Options::default());
    others("psn", &mut d, &corpus::psn(), 20);
}

#[test]
fn records_of_any_bytes_are_read_or_refused() {
    let performer = sources::synthetic::Performer::new(1);
    let mut encoder = wire::Encoder::default();
    let (mut statics, mut record) = (Vec::new(), Vec::new());
    encoder.static_data(&performer.body_static(), &mut statics);
    let mut bones = Vec::new();
    performer.body(1.0, &mut bones);
    let frame = FrameData {
        body: hub::FrameBody::Animation(bones),
        properties: vec![0.5; 61],
    };
    encoder.frame(&FrameMeta::default(), Some(&frame), &mut record);
    let corpus = [statics, record];
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut bytes = Vec::new();
    let (mut meta, mut data) = (FrameMeta::default(), FrameData::default());
    let mut good = 0;
    for _ in 0..rounds() / 4 {
        mutate(&mut rng, &corpus, &mut bytes);
        let ((), _, largest) = count(|| {
            good += u64::from(wire::read_static(&bytes).is_ok());
            good += u64::from(wire::read_frame(&bytes, &mut meta, &mut data).is_ok());
        });
        assert!(largest <= MAX_ALLOCATION, "{largest} bytes at once");
    }
    assert!(good > 0);
}
