//! Budget defended: at least 8 million Live Link Face packets a second on one core (125 ns each), from
//! datagram to the event a client takes, through the whole decoder with its checks, stream look-up and rate
//! limit. A plain bounds-checked decoder without any of that was measured at 105 ns elsewhere.
//!
//! `packet_alone` is what the Python peer does, bytes to fields and numbers. The peer's own figure is printed by
//! `tests/peers/decode_speed.py` in the same run of the slow checks (about 28 µs a packet); the budget is to be
//! 500 times as fast.

use std::{hint::black_box, net::SocketAddr};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use hub::{
    FrameData, FrameMeta, FrameRate, StaticData, SubjectKey, SubjectName, WorldTime,
    arkit::NUM_CURVES,
};
use sources::{
    Decoder as _, Sink,
    livelinkface::{LiveLinkFaceDecoder, Options, Packet},
    native::{NativeDecoder, NativeSender},
    synthetic::Performer,
};

/// Looks at what it gets, so that nothing can be left out.
struct Drain(f32);

impl Sink for Drain {
    fn static_data(&mut self, _: &SubjectKey, data: &StaticData, _: WorldTime) {
        black_box(data);
    }

    fn frame(&mut self, _: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        black_box(meta);
        self.0 += data.map_or(0.0, |d| d.properties.first().copied().unwrap_or(0.0));
    }

    fn removed(&mut self, _: &SubjectKey, _: WorldTime) {}
}

const PACKETS: usize = if cfg!(debug_assertions) { 10 } else { 1000 };

fn packets(phones: usize) -> Vec<(SocketAddr, Vec<u8>)> {
    let performer = Performer::new(1);
    (0..PACKETS)
        .map(|i| {
            let phone = i % phones;
            let mut values = [0.0; NUM_CURVES];
            performer.face(i as f64 / 60.0, &mut values);
            let curves = values.map(f32::to_be_bytes);
            let mut bytes = Vec::new();
            Packet {
                device_id: format!("00000000-0000-4000-8000-{phone:012}").as_bytes(),
                subject: b"Sample_iPhone",
                frame: (i / phones) as i32,
                sub_frame: 0.25,
                rate_num: 60,
                rate_den: 1,
                curves: Some(&curves),
            }
            .write(&mut bytes);
            (SocketAddr::from(([10, 0, 0, phone as u8], 5000)), bytes)
        })
        .collect()
}

/// What the Python peer does: bytes to fields and 61 numbers, no more.
fn packet_alone(c: &mut Criterion) {
    let packets = packets(1);
    let mut group = c.benchmark_group("live_link_face");
    group.throughput(Throughput::Elements(PACKETS as u64));
    if cfg!(debug_assertions) {
        group.sample_size(10);
    }
    group.bench_function("packet_alone", |b| {
        b.iter(|| {
            for (_, bytes) in &packets {
                let packet = Packet::parse(black_box(bytes)).expect("our own packet");
                black_box(packet.frame);
                black_box(packet.values());
            }
        });
    });
}

fn live_link_face(c: &mut Criterion) {
    let mut group = c.benchmark_group("live_link_face");
    group.throughput(Throughput::Elements(PACKETS as u64));
    if cfg!(debug_assertions) {
        group.sample_size(10);
    }
    for phones in [1, 50] {
        let packets = packets(phones);
        let mut decoder = LiveLinkFaceDecoder::new(Options::default());
        let mut sink = Drain(0.0);
        let mut tick = 0i64;
        group.bench_function(format!("decode_{phones}_phones"), |b| {
            b.iter(|| {
                for (from, bytes) in &packets {
                    tick += 1;
                    // Slow enough for the rate limit of each phone.
                    let now = WorldTime::from_nanos(tick * 5_000_000);
                    let outcome = decoder.handle_datagram(now, *from, bytes, &mut sink);
                    assert!(black_box(outcome).is_ok());
                }
            });
        });
        black_box(sink.0);
    }
}

fn native(c: &mut Criterion) {
    let performer = Performer::new(1);
    let name = SubjectName::new("body").expect("a short name");
    let mut sender = NativeSender::new(1, "bench");
    let now = WorldTime::default();
    let (mut statics, mut frames) = (Vec::new(), Vec::new());
    sender.static_data(&name, &performer.body_static(), now, |d| {
        statics.push(d.to_vec());
    });
    for i in 0..PACKETS {
        let mut bones = Vec::new();
        performer.body(i as f64 / 100.0, &mut bones);
        let frame = FrameData {
            body: hub::FrameBody::Animation(bones),
            properties: Vec::new(),
        };
        let meta = FrameMeta {
            source_time: Some(hub::SourceTime::from_nanos(
                FrameRate::FPS_100.nanos_of(i as i64),
            )),
            ..FrameMeta::default()
        };
        sender.frame(&name, &meta, Some(&frame), now, |d| frames.push(d.to_vec()));
    }
    let from = SocketAddr::from(([10, 0, 0, 1], 5000));
    let mut group = c.benchmark_group("native");
    group.throughput(Throughput::Elements(PACKETS as u64));
    if cfg!(debug_assertions) {
        group.sample_size(10);
    }
    group.bench_function("decode_52_bones", |b| {
        b.iter_batched(
            || {
                let mut decoder = NativeDecoder::new();
                for d in &statics {
                    decoder
                        .handle_datagram(now, from, d, &mut Drain(0.0))
                        .expect("our own static data");
                }
                decoder
            },
            |mut decoder| {
                let mut sink = Drain(0.0);
                for d in &frames {
                    assert!(decoder.handle_datagram(now, from, d, &mut sink).is_ok());
                }
                decoder
            },
            BatchSize::LargeInput,
        );
    });
}

criterion_group!(benches, packet_alone, live_link_face, native);
criterion_main!(benches);
