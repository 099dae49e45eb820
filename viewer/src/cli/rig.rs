//! `ghostlight rig`: what is recognised in a skeleton.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use retarget::{HumanBone, characterise::BoneMap};
use serde_json::{Map, Value, json};

use crate::{
    output::{Outcome, Output},
    rigs,
};

#[derive(Args)]
pub(super) struct RigArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Say which bone of a file is which of a person's, why, and what is missing
    Inspect {
        /// A motion (.bvh, .glb, .gltf) or a character (.glb, .vrm)
        file: PathBuf,
    },
}

pub(super) fn run(args: &RigArgs, out: Output) -> anyhow::Result<Outcome> {
    let What::Inspect { file } = &args.what;
    let found = rigs::inspect(file, &BoneMap::default())?;
    let names = found.rig.names();
    let name = |bone: usize| names[bone].as_str();
    let missing: Vec<_> = HumanBone::ALL
        .iter()
        .filter(|b| found.bones.bone(**b).is_none())
        .map(|b| b.as_str())
        .collect();
    let unmapped: Vec<_> = found
        .bones
        .unmapped(&found.rig)
        .into_iter()
        .map(|b| name(b as usize))
        .collect();
    let mapped: Map<String, Value> = HumanBone::ALL
        .iter()
        .filter_map(|b| Some((b.to_string(), name(found.bones.bone(*b)?).into())))
        .collect();
    let event = json!({
        "event": "rig",
        "file": file,
        "bones": names.len(),
        "score": found.bones.score,
        "rest_is_body": found.bones.rest_is_body,
        "base_frame": found.base_frame,
        "map": mapped,
        "missing": missing,
        "unmapped": unmapped,
        "reasons": found.bones.reasons.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "notes": found.notes,
    });
    let mut text = format!(
        "{}: {} bones, recognised {:.0} %\n",
        file.display(),
        names.len(),
        found.bones.score * 100.0
    );
    for note in &found.notes {
        text.push_str(&format_args!("  {note}\n").to_string());
    }
    if let Some(frame) = found.base_frame {
        text.push_str(
            &format_args!("  the rest pose is no body: frame {frame} was taken instead\n")
                .to_string(),
        );
    }
    for reason in &found.bones.reasons {
        let mark = if reason.is_warning() { "!" } else { " " };
        text.push_str(&format_args!("{mark} {reason}\n").to_string());
    }
    text.push('\n');
    for (human, bone) in &mapped {
        let bone = bone.as_str().unwrap_or_default();
        text.push_str(&format_args!("  {human:<26} {bone}\n").to_string());
    }
    let list = |title: &str, names: &[&str]| match names {
        [] => String::new(),
        names => format!("\n{title}: {}\n", names.join(", ")),
    };
    text.push_str(&list("missing", &missing));
    text.push_str(&list("not a person's, or not known", &unmapped));
    out.say(&event, text.trim_end());
    let has_body = found.bones.bone(HumanBone::Hips).is_some();
    Ok(Outcome::lossy(!has_body))
}
