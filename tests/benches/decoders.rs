//! Every decoder on one core: packets a second, and nanoseconds for each value that comes out.
//!
//! Budgets are held by `sources/benches/decode.rs` for the phone and our own wire; here every protocol stands beside
//! the others, from datagram to the events a client takes. Datagrams are those of a usual device, laid out by hand
//! (`decoders/devices.rs`), so that no encoder of ours is needed to read them.
//!
//! OSC is measured against `rosc` on the same bytes: `osc, one rule` scans and looks every address up, `vmc` makes
//! a body of it, `rosc alone` only builds its tree. What python-osc does with such a bundle is printed by
//! `tests/peers/osc_speed.py` in the same run of the slow checks.
//!
//! The table at the end is this bench's own measurement, the best of several passes; criterion's figures come first.

#[path = "decoders/devices.rs"]
mod devices;

use std::{hint::black_box, io::Write as _, net::SocketAddr};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hub::{FrameData, FrameMeta, StaticData, SubjectKey, WorldTime};
use sources::{Decoder, Sink};
use viewer::HubClock;

use devices::{Device, PACKETS, devices};

/// Passes of which the best counts.
const PASSES: usize = if cfg!(debug_assertions) { 1 } else { 15 };
/// Between datagrams: slow enough for every rate limit.
const STEP_NANOS: i64 = 10_000_000;

/// Counts the numbers it is given, and looks at one, so that nothing can be left out.
#[derive(Default)]
struct Values {
    count: u64,
    sum: f32,
}

impl Sink for Values {
    fn static_data(&mut self, _: &SubjectKey, data: &StaticData, _: WorldTime) {
        black_box(data);
    }

    fn frame(&mut self, _: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        black_box(meta);
        if let Some(data) = data {
            // A transform is seven numbers: place and rotation.
            self.count += (7 * data.transforms().len() + data.properties.len()) as u64;
            self.sum += data.properties.first().copied().unwrap_or_default();
        }
    }

    fn removed(&mut self, _: &SubjectKey, _: WorldTime) {}
}

/// What one pass over all datagrams of a device does; gives the numbers that came out.
fn pass(decoder: &mut dyn Decoder, packets: &[Vec<u8>]) -> u64 {
    let from = SocketAddr::from(([10, 0, 0, 1], 5000));
    let mut values = Values::default();
    for (i, packet) in packets.iter().enumerate() {
        let now = WorldTime::from_nanos(i as i64 * STEP_NANOS);
        let outcome = decoder.handle_datagram(now, from, black_box(packet), &mut values);
        assert!(black_box(outcome).is_ok(), "{outcome:?}");
    }
    black_box(values.sum);
    values.count
}

/// A decoder that has had what a device says before its first frame.
fn ready(device: &Device) -> Box<dyn Decoder> {
    let mut decoder = (device.decoder)();
    pass(&mut *decoder, &device.before);
    decoder
}

fn decoders(c: &mut Criterion) {
    for device in devices() {
        let mut group = c.benchmark_group("decode");
        group.throughput(Throughput::Elements(PACKETS as u64));
        if cfg!(debug_assertions) {
            group.sample_size(10);
        }
        group.bench_function(device.name, |b| {
            b.iter_batched(
                || ready(&device),
                |mut decoder| {
                    black_box(pass(&mut *decoder, &device.packets));
                    decoder
                },
                criterion::BatchSize::LargeInput,
            );
        });
        group.finish();
    }
}

fn rosc_alone(packets: &[Vec<u8>]) {
    for packet in packets {
        let decoded = rosc::decoder::decode_udp(black_box(packet));
        assert!(black_box(&decoded).is_ok());
    }
}

/// The same bytes: a bundle of 55 bones and 52 expressions.
fn osc(c: &mut Criterion) {
    let devices = devices();
    let bundles = devices
        .iter()
        .find(|d| d.name == "vmc")
        .expect("it is there");
    let mut group = c.benchmark_group("osc");
    group.throughput(Throughput::Elements(PACKETS as u64));
    if cfg!(debug_assertions) {
        group.sample_size(10);
    }
    group.bench_function("rosc_alone", |b| b.iter(|| rosc_alone(&bundles.packets)));
    for name in ["osc, one rule", "vmc"] {
        let device = devices
            .iter()
            .find(|d| d.name == name)
            .expect("it is there");
        group.bench_function(name.replace([',', ' '], "_"), |b| {
            b.iter_batched(
                || ready(device),
                |mut decoder| {
                    black_box(pass(&mut *decoder, &device.packets));
                    decoder
                },
                criterion::BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn say(line: &str) {
    // A closed pipe is no reason to fail a bench.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Nanoseconds of the fastest of some passes.
fn best<T>(mut prepare: impl FnMut() -> T, mut run: impl FnMut(&mut T)) -> f64 {
    let clock = HubClock::new();
    let nanos = (0..PASSES).map(|_| {
        let mut prepared = prepare();
        let start = clock.now();
        run(&mut prepared);
        clock.now() - start
    });
    nanos.min().unwrap_or_default() as f64
}

fn row(name: &str, bytes: usize, nanos: f64, values: u64) {
    let (per_packet, per_value) = (nanos / PACKETS as f64, nanos / values.max(1) as f64);
    say(&format!(
        "{name:<20} {bytes:>6} bytes {:>12.0} packets/s {per_packet:>9.1} ns/packet {:>5} values {per_value:>7.2} ns/value",
        1e9 / per_packet,
        values / PACKETS as u64,
    ));
}

fn table(_: &mut Criterion) {
    say("");
    for device in devices() {
        let mut values = 0;
        let nanos = best(
            || ready(&device),
            |decoder| values = pass(&mut **decoder, &device.packets),
        );
        assert!(values > 0, "{} gave nothing", device.name);
        row(device.name, device.packets[0].len(), nanos, values);
        if device.name == "vmc" {
            let nanos = best(|| (), |_unit| rosc_alone(&device.packets));
            // What there is to read in it; rosc makes no events of it.
            row(
                "rosc alone, the same",
                device.packets[0].len(),
                nanos,
                values,
            );
        }
    }
    for (name, unit, per_pass, mut run) in devices::timecodes() {
        let nanos = best(|| (), |_unit| run());
        say(&format!(
            "{name:<20} {:>12.0} {unit}/s {:>9.1} ns each",
            1e9 * per_pass as f64 / nanos,
            nanos / per_pass as f64
        ));
    }
}

criterion_group!(benches, decoders, osc, table);
criterion_main!(benches);
