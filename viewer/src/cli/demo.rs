//! `ghostlight demo`: a whole session without any device, on real datagrams over loopback.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, anyhow};
use clap::Args;
use hub::{FrameRate, Latency, NANOS_PER_SEC, QualifiedFrameTime, arkit::NUM_CURVES};
use serde_json::json;
use sources::{Protocol, faults::Faults, synthetic::Performer};

use super::{export, record, send, start};
use crate::{
    exporting::{Format, Options},
    output::{Outcome, Output},
    stage::{SourceTable, Stage},
};

#[derive(Args)]
pub(super) struct DemoArgs {
    /// Folder for the take and the files made of it
    #[arg(long, value_name = "DIR", default_value = "demo")]
    out: PathBuf,
    /// Length of the performance
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = record::seconds)]
    seconds: f64,
    /// Open no window; the demo never does, and scripts say so
    #[arg(long)]
    no_window: bool,
}

const SUBJECT: &str = "Ghost";
const SEED: u64 = 1;

#[derive(Default)]
struct Measured {
    /// When each frame number left the phone, nanoseconds of the hub's clock.
    sent: HashMap<i64, i64>,
    latency: Latency,
    received: u64,
}

pub(super) fn run(args: &DemoArgs, out: Output) -> anyhow::Result<Outcome> {
    let rate = FrameRate::FPS_60;
    let mut stage = Stage::default();
    let anywhere = ([127, 0, 0, 1], 0).into();
    stage
        .sources
        .push(SourceTable::new(Protocol::LiveLinkFace, anywhere));
    let mut live = start(&stage, out)?;
    let clock = live.clock();
    let to = live.listening()[0].addr;

    let measured = Arc::new(Mutex::new(Measured::default()));
    live.observe(Box::new({
        let measured = Arc::clone(&measured);
        move |_, meta, _| {
            // The client has the frame now: it can be evaluated.
            let now = clock.now().as_nanos();
            let mut m = measured.lock().unwrap_or_else(PoisonError::into_inner);
            m.received += 1;
            if let Some(sent) = meta.timecode.and_then(|t| m.sent.remove(&t.frame)) {
                m.latency.record(now - sent);
            }
        }
    }));

    let recording = live.record(args.out.clone(), "Demo", 0)?;
    out.note(&format!(
        "a synthetic phone performs for {} s at {rate} frames per second over UDP …",
        args.seconds
    ));
    let frames = rate
        .frame_at((args.seconds * NANOS_PER_SEC as f64) as i64)
        .max(1);
    let phone = std::thread::Builder::new()
        .name("phone".into())
        .spawn({
            let measured = Arc::clone(&measured);
            move || phone(to, rate, frames, clock, &measured)
        })
        .context("cannot start the phone")?;
    let sent = phone
        .join()
        .map_err(|_cause| anyhow!("the synthetic phone broke down"))??;
    // The last datagram needs a moment through the kernel.
    for _ in 0..200 {
        if measured
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .received
            >= sent
        {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let ended = live.finish(recording, "demo over")?;
    live.stop();
    let outcome = record::report(&ended, 0, out);

    let takes = [ended.finished.path.clone()];
    let options = Options {
        formats: vec![Format::Csv, Format::Glb],
        ..Options::default()
    };
    let (exported, paths) = export::export(&takes, &args.out, options, out)?;

    let m = measured.lock().unwrap_or_else(PoisonError::into_inner);
    let recorded = ended.finished.info.frames();
    let lost = sent.saturating_sub(recorded);
    let micros = |q| m.latency.quantile_secs(q).map(|s| s * 1e6);
    let event = json!({
        "event": "demo",
        "sent": sent,
        "received": m.received,
        "recorded": recorded,
        "lost": lost,
        "latency_p50_us": micros(0.5),
        "latency_p99_us": micros(0.99),
        "latency_max_us": m.latency.max_secs().map(|s| s * 1e6),
        "take": ended.finished.path,
        "files": paths,
    });
    let sentence = format!(
        "\nframes   {sent} sent, {} received, {recorded} recorded, {lost} lost\n\
         latency  p50 {:.0} µs, p99 {:.0} µs from the phone's send to an evaluable frame\n\
         files    {}\n         {}\n\
         \nOpen the .glb in Blender or any glTF viewer and press play; the .csv goes into every Live Link Face importer.",
        m.received,
        micros(0.5).unwrap_or(f64::NAN),
        micros(0.99).unwrap_or(f64::NAN),
        ended.finished.path.display(),
        paths
            .iter()
            .map(|p| p.display().to_string())
            .collect::<Vec<_>>()
            .join("\n         "),
    );
    out.say(&event, &sentence);
    Ok(outcome.and(exported).and(Outcome::lossy(lost > 0)))
}

/// The phone: its own thread, its own socket, real datagrams.
fn phone(
    to: std::net::SocketAddr,
    rate: FrameRate,
    frames: i64,
    clock: crate::HubClock,
    measured: &Mutex<Measured>,
) -> anyhow::Result<u64> {
    let performer = Performer::new(SEED);
    let mut wire = send::Wire::new(to, Faults::default(), SEED)?;
    let start = clock.timecode(clock.now(), rate);
    let day = rate.frames_per_day(start.drop);
    let id = send::device_id(SEED);
    let mut values = [0.0; NUM_CURVES];
    let mut bytes = Vec::new();
    for i in 0..frames {
        let at = rate.nanos_of(i);
        wire.wait_until(at);
        performer.face(at as f64 / 1e9, &mut values);
        let time = QualifiedFrameTime {
            frame: (start.frame + i) % day,
            ..start
        };
        send::face_packet(&id, SUBJECT, time, &values, &mut bytes);
        let sent = clock.now().as_nanos();
        measured
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .sent
            .insert(time.frame, sent);
        wire.push(&bytes);
    }
    wire.finish();
    Ok(frames as u64)
}
