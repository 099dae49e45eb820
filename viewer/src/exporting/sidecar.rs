//! The file beside the files: what the take was, for whoever opens them.

use hub::{DropFrame, SubjectKey};
use recordings::{
    bake::{Origin, Rows},
    performance::TakeContent,
};
use serde_json::{Value, json};

use super::{Job, Written, write};

/// What goes into every file that can hold it.
pub(super) fn facts(rows: &Rows, content: &TakeContent, key: &SubjectKey) -> Value {
    let info = &content.info;
    let first = rows.rows.first();
    json!({
        "slate": info.slate,
        "take": info.take,
        "date": info.date,
        "started": info.started,
        "subject": key.name.as_str(),
        "source": key.source.as_str(),
        "startTimecode": first.map(|r| r.timecode.to_string()),
        "timecodeRate": rows.timecode_rate.to_string(),
        "dropFrame": first.is_some_and(|r| r.timecode.drop == DropFrame::Drop),
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

/// Writes it.
pub(super) fn write(
    job: &Job<'_>,
    rows: &Rows,
    written: &[Written],
    names: &[(String, String)],
) -> anyhow::Result<()> {
    let mut sidecar = facts(rows, job.content, &job.subject.key);
    let options = &job.stagecraft.options;
    if let Some(sidecar) = sidecar.as_object_mut() {
        // A resampled file is interpolated throughout; listing each row would say nothing.
        if options.rate.is_none() {
            sidecar.insert("filled".into(), filled(rows).into());
        }
        sidecar.insert(
            "counts".into(),
            serde_json::to_value(&job.content.info.subjects)?,
        );
        sidecar.insert("droppedByUs".into(), job.content.info.dropped_by_us.into());
        sidecar.insert("damagedPieces".into(), job.content.stats.damaged.into());
        sidecar.insert("character".into(), json!(options.character));
        sidecar.insert("edited".into(), job.is_edited.into());
        sidecar.insert("part".into(), json!(options.part));
        sidecar.insert("offline".into(), options.offline.into());
        let files: Vec<Value> = written
            .iter()
            .map(|w| {
                json!({
                    "format": w.format.as_str(),
                    "file": w.path.file_name().map(|n| n.to_string_lossy().into_owned()),
                    "frames": w.frames,
                    "rate": w.rate,
                    "notes": w.notes,
                })
            })
            .collect();
        sidecar.insert("files".into(), files.into());
        let mut renamed: Vec<_> = names.to_vec();
        renamed.sort();
        renamed.dedup();
        let renamed: Vec<Value> = renamed
            .iter()
            .map(|(from, to)| json!({"name": from, "written": to}))
            .collect();
        sidecar.insert("renamed".into(), renamed.into());
    }
    let mut path = job.stem.as_os_str().to_owned();
    path.push(".json");
    let text = serde_json::to_string_pretty(&sidecar)?;
    write::file(path.as_ref(), |file| {
        Ok(std::io::Write::write_all(file, text.as_bytes())?)
    })
}

fn filled(rows: &Rows) -> Vec<Value> {
    rows.rows
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
        .collect()
}
