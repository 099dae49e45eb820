//! `ghostlight export`: a take to files that other programs open.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use characters::Character;
use clap::{Args, ValueEnum};
use glam::Quat;
use hub::{FrameRate, SubjectKey, client::SourceSettings};
use recordings::{
    bake::{Origin, Rows, bake},
    export::{
        csv,
        glb::{GlbTracks, JointTrack, MorphTrack, write_glb},
    },
    naming,
    performance::{self, TakeContent},
};
use retarget::{FaceJoints, FaceRig};
use serde_json::json;

use crate::output::{Outcome, Output};

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Live Link Face CSV: 61 curves and timecode
    Csv,
    /// glTF binary: a character driven by the face
    Glb,
}

#[derive(Args)]
pub(super) struct ExportArgs {
    /// The take, finished or interrupted
    take: PathBuf,
    /// What to write (repeatable, or separated by commas)
    #[arg(
        long,
        value_enum,
        value_name = "csv|glb",
        required = true,
        value_delimiter = ','
    )]
    format: Vec<Format>,
    /// Folder for the files
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Even frame rate, for example 24 or 29.97; default the take's own frames
    #[arg(long, value_name = "R")]
    rate: Option<FrameRate>,
    /// Only this subject
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,
    /// The character for glb: a GLB file, or "builtin"
    #[arg(long, value_name = "FILE|builtin", default_value = "builtin")]
    character: String,
}

/// What one export is made from.
pub(super) struct Job<'a> {
    pub(super) take: &'a Path,
    pub(super) out: &'a Path,
    pub(super) formats: &'a [Format],
    pub(super) rate: Option<FrameRate>,
    pub(super) subject: Option<&'a str>,
    pub(super) character: &'a str,
}

pub(super) fn run(args: &ExportArgs, out: Output) -> anyhow::Result<Outcome> {
    export(
        &Job {
            take: &args.take,
            out: &args.out,
            formats: &args.format,
            rate: args.rate,
            subject: args.subject.as_deref(),
            character: &args.character,
        },
        out,
    )
    .map(|(outcome, _)| outcome)
}

/// Writes the files; returns their paths.
pub(super) fn export(job: &Job<'_>, out: Output) -> anyhow::Result<(Outcome, Vec<PathBuf>)> {
    let content = performance::load(job.take)?;
    let names = || {
        content
            .subjects
            .iter()
            .map(|s| s.key.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let wanted = |key: &SubjectKey| job.subject.is_none_or(|s| s == key.name.as_str());
    if !content.subjects.iter().any(|s| wanted(&s.key)) {
        match job.subject {
            Some(subject) => bail!("no subject {subject:?} in this take; it has: {}", names()),
            None => bail!("the take holds no subject: {}", job.take.display()),
        }
    }
    std::fs::create_dir_all(job.out)
        .with_context(|| format!("cannot create the folder {}", job.out.display()))?;
    let loaded;
    let character = if !job.formats.contains(&Format::Glb) || job.character == "builtin" {
        Character::builtin()
    } else {
        let path = Path::new(job.character);
        let bytes =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        loaded = Character::from_glb(&bytes)
            .with_context(|| format!("cannot use the character {}", path.display()))?;
        &loaded
    };
    let mut outcome = Outcome::lossy(content.stats.damaged > 0 || !content.stats.complete);
    if outcome == Outcome::WithLoss {
        out.warn(&format!(
            "the take is {}; exporting what it has",
            if content.stats.complete {
                "damaged"
            } else {
                "cut short"
            }
        ));
    }
    let mut paths = Vec::new();
    // Names as a file system that ignores case sees them.
    let mut stems = HashSet::new();
    for subject in content.subjects.iter().filter(|s| wanted(&s.key)) {
        for (number, generation) in subject.generations.iter().enumerate() {
            let Some(rows) = bake(
                &subject.key,
                generation,
                job.rate,
                SourceSettings::default(),
            ) else {
                out.warn(&format!("{}: no frame with values", subject.key.name));
                outcome = Outcome::WithLoss;
                continue;
            };
            if !csv::fits(&rows.statics) {
                let bones = rows.statics.num_transforms();
                out.warn(&format!(
                    "{}: {} data without face curves ({bones} transforms) has no place in csv and face glb; left out",
                    subject.key.name,
                    rows.statics.role()
                ));
                outcome = Outcome::WithLoss;
                continue;
            }
            let base = stem(job.take, &subject.key, number);
            // Two phones may have one name; neither may overwrite the other.
            let stem = (1..10_000)
                .map(|n| {
                    if n == 1 {
                        base.clone()
                    } else {
                        format!("{base}-{n}")
                    }
                })
                .find(|s| stems.insert(s.to_lowercase()))
                .unwrap_or(base);
            for format in job.formats {
                let path = match format {
                    Format::Csv => write_csv(job, &stem, &rows)?,
                    Format::Glb => write_character(
                        job,
                        &stem,
                        &rows,
                        (&content, &subject.key),
                        character,
                        out,
                    )?,
                };
                let event = json!({
                    "event": "export",
                    "format": format.to_possible_value().map(|v| v.get_name().to_owned()),
                    "path": path,
                    "subject": subject.key.name.as_str(),
                    "frames": rows.rows.len(),
                    "filled": rows.num_filled(),
                    "rate": rows.rate.to_string(),
                    "seconds": rows.duration_secs(),
                    "bytes": std::fs::metadata(&path).map_or(0, |m| m.len()),
                });
                let sentence = format!(
                    "{}: {} frames at {} per second, {} filled",
                    path.display(),
                    rows.rows.len(),
                    rows.rate,
                    rows.num_filled()
                );
                out.say(&event, &sentence);
                paths.push(path);
            }
            write_sidecar(job, &stem, &rows, &content, &subject.key)?;
        }
    }
    Ok((outcome, paths))
}

/// `2026-11-30_Slate_001_Subject`, with a number for a later generation.
fn stem(take: &Path, key: &SubjectKey, generation: usize) -> String {
    let name = take.file_name().and_then(|n| n.to_str()).unwrap_or("take");
    let take = name.split(".mcap").next().unwrap_or(name);
    let subject = naming::safe_part(key.name.as_str());
    match generation {
        0 => format!("{take}_{subject}"),
        n => format!("{take}_{subject}_{}", n + 1),
    }
}

/// Writes beside the target, then renames: a file is whole or not there.
fn write_file(
    path: &Path,
    write: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    let temporary = path.with_extension("partial");
    let attempt = || -> std::io::Result<()> {
        let mut file = std::fs::File::create(&temporary)?;
        write(&mut file)?;
        std::fs::rename(&temporary, path)
    };
    attempt().with_context(|| format!("cannot write {}", path.display()))
}

fn write_csv(job: &Job<'_>, stem: &str, rows: &Rows) -> anyhow::Result<PathBuf> {
    let path = job.out.join(format!("{stem}.csv"));
    write_file(&path, |file| csv::write(rows, file))?;
    Ok(path)
}

fn facts(rows: &Rows, content: &TakeContent, key: &SubjectKey) -> serde_json::Value {
    let info = &content.info;
    let start = rows.rows.first().map(|r| r.timecode.to_string());
    json!({
        "slate": info.slate,
        "take": info.take,
        "date": info.date,
        "started": info.started,
        "subject": key.name.as_str(),
        "source": key.source.as_str(),
        "startTimecode": start,
        "timecodeRate": rows.timecode_rate.to_string(),
        "dropFrame": rows.rows.first().is_some_and(|r| r.timecode.drop == hub::DropFrame::Drop),
        "frameRate": rows.rate.to_string(),
        "frames": rows.rows.len(),
        "filledFrames": rows.num_filled(),
        "units": "metres, radians, seconds",
        "upAxis": "+Y",
        "facing": "+Z",
        "recordedBy": info.program,
        "exportedBy": format!("ghostlight {}", env!("CARGO_PKG_VERSION")),
    })
}

fn write_sidecar(
    job: &Job<'_>,
    stem: &str,
    rows: &Rows,
    content: &TakeContent,
    key: &SubjectKey,
) -> anyhow::Result<()> {
    let mut sidecar = facts(rows, content, key);
    let filled: Vec<_> = rows
        .rows
        .iter()
        .enumerate()
        .filter(|(_, r)| r.origin != Origin::Recorded)
        .map(|(i, r)| {
            let how = match r.origin {
                Origin::Held => "held",
                _ => "interpolated",
            };
            json!({"row": i, "how": how, "timecode": r.timecode.to_string()})
        })
        .collect();
    if let Some(sidecar) = sidecar.as_object_mut() {
        // A resampled file is interpolated throughout; listing each row would say nothing.
        if job.rate.is_none() {
            sidecar.insert("filled".into(), filled.into());
        }
        sidecar.insert(
            "counts".into(),
            serde_json::to_value(&content.info.subjects)?,
        );
        sidecar.insert("droppedByUs".into(), content.info.dropped_by_us.into());
        sidecar.insert("damagedPieces".into(), content.stats.damaged.into());
    }
    let path = job.out.join(format!("{stem}.json"));
    let text = serde_json::to_string_pretty(&sidecar)?;
    write_file(&path, |file| {
        std::io::Write::write_all(file, text.as_bytes())
    })
}

/// A node, what of the face turns it, and its rotation per frame.
type Track = (usize, fn(&FaceJoints) -> Quat, Vec<Quat>);

fn write_character(
    job: &Job<'_>,
    stem: &str,
    rows: &Rows,
    (content, key): (&TakeContent, &SubjectKey),
    character: &Character,
    out: Output,
) -> anyhow::Result<PathBuf> {
    let curves: Vec<&str> = rows
        .statics
        .properties
        .iter()
        .map(|p| p.name.as_str())
        .collect();
    let times: Vec<f32> = rows
        .rows
        .iter()
        .map(|r| (r.nanos as f64 / 1e9) as f32)
        .collect();
    let mut morphs = Vec::new();
    let mut gaze_in_morphs = false;
    for mesh in &character.morph_meshes {
        let names: Vec<&str> = mesh.names.iter().map(String::as_str).collect();
        let rig = FaceRig::build(&curves, &names);
        if rig.unbound_morphs().len() == names.len() {
            continue;
        }
        let looks = |n: &&str| n.to_ascii_lowercase().contains("eyelook");
        gaze_in_morphs |= names.iter().any(looks);
        let mut weights = vec![0.0; names.len() * rows.rows.len()];
        let mut joints = FaceJoints::default();
        for (row, weights) in rows.rows.iter().zip(weights.chunks_mut(names.len())) {
            rig.evaluate(&row.data.properties, weights, &mut joints);
        }
        morphs.push(MorphTrack {
            node: mesh.node,
            num_targets: names.len(),
            weights,
        });
    }
    if morphs.is_empty() {
        bail!(
            "the character {} has no morph target that any of the take's curves drives",
            job.character
        );
    }
    let rig = FaceRig::build(&curves, &[]);
    let mut tracks: Vec<Track> = Vec::new();
    let mut want = |names: &[&str], part: fn(&FaceJoints) -> Quat| match names
        .iter()
        .find_map(|n| character.node_named(n))
    {
        Some(node) => tracks.push((node, part, Vec::with_capacity(rows.rows.len()))),
        None => out.warn(&format!(
            "the character has no node named {}",
            names.join(" or ")
        )),
    };
    want(&["Neck"], |j| j.neck);
    want(&["Head"], |j| j.head);
    // Shapes that turn the eyeballs and joints that do the same would add up.
    if !gaze_in_morphs {
        want(&["LeftEye", "eye.L", "Eye_L"], |j| j.left_eye);
        want(&["RightEye", "eye.R", "Eye_R"], |j| j.right_eye);
    }
    let mut joints = FaceJoints::default();
    for row in &rows.rows {
        rig.evaluate(&row.data.properties, &mut [], &mut joints);
        for (node, part, rotations) in &mut tracks {
            rotations.push(character.nodes[*node].rest.rotation * part(&joints));
        }
    }
    let name = format!("{}_{:03}", content.info.slate, content.info.take);
    let bytes = write_glb(
        character,
        &GlbTracks {
            name: &name,
            times_secs: &times,
            morphs,
            joints: tracks
                .into_iter()
                .map(|(node, _, rotations)| JointTrack {
                    node,
                    rotations,
                    translations: None,
                })
                .collect(),
            extras: facts(rows, content, key),
        },
    )?;
    let path = job.out.join(format!("{stem}.glb"));
    write_file(&path, |file| std::io::Write::write_all(file, &bytes))?;
    Ok(path)
}
