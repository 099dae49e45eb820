//! `ghostlight retarget`: a take with a character in the performer's place.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use clap::Args;
use drive::{Double, DoubleSettings};
use hub::{FrameData, FrameMeta, SourceId, SubjectKey, client::SourceSettings, wire};
use recordings::{
    act,
    bake::bake,
    disk::RealDisk,
    format::TakeWriter,
    performance::{self, Performance, TakeContent},
};
use serde_json::json;

use crate::{
    cast,
    live::doubles::statics_of,
    output::{Outcome, Output},
};

#[derive(Args)]
pub(super) struct RetargetArgs {
    /// The take, finished or interrupted
    #[arg(long, value_name = "FILE")]
    take: PathBuf,
    /// The character: a GLB, glTF or VRM file, or "builtin"
    #[arg(long, value_name = "FILE|builtin", default_value = cast::BUILTIN)]
    character: PathBuf,
    /// What you decided about body and face (TOML); without it everything is found
    #[arg(long, value_name = "FILE")]
    asset: Option<PathBuf>,
    /// The performer's calibration (TOML)
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Only this subject; default every one that can drive the character
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,
    /// The new take, ending in .mcap
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// How one subject went.
struct Done {
    frames: usize,
    held: usize,
}

pub(super) fn run(args: &RetargetArgs, out: Output) -> anyhow::Result<Outcome> {
    let content = performance::load(&args.take)?;
    let figure = cast::figure(&args.character)?;
    let asset = cast::asset(args.asset.as_deref())?;
    let profile = cast::profile(args.profile.as_deref())?;
    let wanted = |p: &&Performance| {
        args.subject
            .as_deref()
            .is_none_or(|name| name == p.key.name.as_str())
    };
    if !content.subjects.iter().any(|p| wanted(&p)) {
        let names: Vec<_> = content
            .subjects
            .iter()
            .map(|s| s.key.name.as_str())
            .collect();
        bail!(
            "no subject to retarget; the take has: {}",
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            }
        );
    }
    let (writer_path, part) = paths(&args.out)?;
    let disk = RealDisk;
    let info = recordings::format::TakeInfo {
        program: format!("ghostlight {}", env!("CARGO_PKG_VERSION")),
        subjects: Vec::new(),
        ..content.info.clone()
    };
    let start = content.info.start_unix_nanos;
    let mut writer = TakeWriter::create_at(&disk, (writer_path, part.clone()), info, start)?;
    let mut outcome = Outcome::lossy(content.stats.damaged > 0 || !content.stats.complete);
    let mut end = start;
    let mut any = false;
    let mut used: HashMap<SubjectKey, SubjectKey> = HashMap::new();
    for subject in content.subjects.iter().filter(wanted) {
        for generation in &subject.generations {
            let Some(rows) = bake(&subject.key, generation, None, SourceSettings::default()) else {
                continue;
            };
            let stances = act::stances(&rows);
            let built = cast::puppet(
                &figure,
                &generation.statics,
                &asset,
                profile.as_ref(),
                &stances,
            );
            let puppet = match built {
                Ok((puppet, _)) => puppet,
                Err(error) => {
                    out.warn(&format!("{} is left out: {error}", subject.key.name));
                    outcome = Outcome::WithLoss;
                    continue;
                }
            };
            for note in puppet.notes() {
                out.warn(&format!("{}: {note}", subject.key.name));
            }
            let settings = DoubleSettings {
                loss: asset.loss,
                springs: false,
                ..DoubleSettings::default()
            };
            let mut double = Double::new(&figure, settings);
            // The puppet was built for this figure.
            let _ = double.set_puppet(Some(puppet));
            let mut key = key_of(subject, &args.character)?;
            // Two sources may have one name; neither may become the other. Generations of one share theirs.
            for n in 2..1000 {
                if used.get(&key).is_none_or(|of| *of == subject.key) {
                    break;
                }
                let source = SourceId::new(&format!("character/{n}"))?;
                key = SubjectKey::new(source, subject.key.name.clone());
            }
            used.insert(key.clone(), subject.key.clone());
            let done = write(&mut writer, &key, &mut double, generation, start, &mut end)?;
            any = true;
            let event = json!({
                "event": "retarget",
                "subject": key.name.as_str(),
                "character": args.character,
                "frames": done.frames,
                "held": done.held,
                "path": args.out,
            });
            let sentence = format!(
                "{}: {} frames onto {}{}",
                key.name,
                done.frames,
                args.character.display(),
                match done.held {
                    0 => String::new(),
                    n => format!(", {n} without tracking held"),
                }
            );
            out.say(&event, &sentence);
        }
    }
    if !any {
        drop(writer);
        // Nothing is in it.
        let _ = std::fs::remove_file(&part);
        let _ = std::fs::remove_file(part.with_extension("reserve"));
        bail!("nothing in this take drives {}", args.character.display());
    }
    writer.event(&note(args, &content), end)?;
    let mut finished = writer.finish("retargeted", end, |info| {
        info.duration_secs = content.info.duration_secs;
    })?;
    finished.verify_and_name(&disk)?;
    Ok(outcome)
}

/// What was done, for whoever opens the take.
fn note(args: &RetargetArgs, content: &TakeContent) -> serde_json::Value {
    json!({
        "event": "retarget",
        "from": args.take,
        "slate": content.info.slate,
        "take": content.info.take,
        "character": args.character,
        "asset": args.asset,
        "profile": args.profile,
    })
}

/// The finished and the unfinished path. Never over a file that is there.
fn paths(out: &Path) -> anyhow::Result<(PathBuf, PathBuf)> {
    if out
        .extension()
        .is_none_or(|e| e != recordings::naming::EXTENSION)
    {
        bail!("{} does not end in .mcap", out.display());
    }
    if out.exists() {
        bail!("{} is there already; give another --out", out.display());
    }
    if let Some(folder) = out.parent().filter(|f| !f.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    }
    let mut part = out.as_os_str().to_owned();
    part.push(".part");
    Ok((out.to_owned(), part.into()))
}

/// The performer's name, from a source that tells what was done.
fn key_of(subject: &Performance, character: &Path) -> anyhow::Result<SubjectKey> {
    let stem = character.file_stem().unwrap_or_default().to_string_lossy();
    let source = SourceId::new(&format!("character/{stem}"))
        .or_else(|_| SourceId::new("character/unnamed"))?;
    Ok(SubjectKey::new(source, subject.key.name.clone()))
}

fn write(
    writer: &mut TakeWriter<'_>,
    key: &SubjectKey,
    double: &mut Double,
    generation: &performance::Generation,
    start: i64,
    end: &mut i64,
) -> anyhow::Result<Done> {
    let statics = statics_of(double.figure());
    writer.static_data(key, &statics, start)?;
    let mut encoder = wire::Encoder::default();
    let mut record = Vec::new();
    let mut done = Done { frames: 0, held: 0 };
    let mut data = FrameData::default();
    let mut before = None;
    for frame in &generation.frames {
        let dt = before.map_or(0.0, |b: i64| (frame.nanos - b) as f32 / 1e9);
        before = Some(frame.nanos);
        double.evaluate(frame.data.as_ref(), dt);
        let mut locals = double.locals().to_vec();
        double.figure().turn_roots(&mut locals);
        data.body = hub::FrameBody::Animation(locals);
        data.properties.clear();
        data.properties.extend_from_slice(double.curves());
        done.frames += 1;
        done.held += usize::from(frame.data.is_none());
        let meta = FrameMeta {
            extra: Vec::new(),
            tracking: hub::Tracking::Tracked,
            ..frame.meta.clone()
        };
        record.clear();
        encoder.frame(&meta, Some(&data), &mut record);
        // As received, counted from the start, so that the take keeps its pace.
        let at = start + frame.meta.arrival.as_nanos();
        writer.frame(key, &record, meta.timecode, at)?;
        writer.tick(at)?;
        *end = (*end).max(at);
    }
    Ok(done)
}
