//! Files: whole or not there.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
};

use anyhow::{Context as _, bail};
use characters::Pose;
use glam::Mat4;
use hub::Transform;
use recordings::export::{
    bvh::{BvhFacing, BvhOptions, BvhPositions, BvhUnit, write_bvh},
    fbx::write_fbx,
    glb::{GlbTracks, write_glb},
    scene::Scene,
    usda::{UsdaOptions, write_usda},
    vrma::{VrmaExpressions, VrmaOptions, write_vrma},
};
use retarget::{HumanBone, pose::t_pose};

use super::{BvhRest, Format, Job, Part, Written, scene};

/// Writes beside the target, then renames.
pub(super) fn file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".partial");
    let attempt = || -> anyhow::Result<()> {
        let mut out = BufWriter::new(File::create(&temporary)?);
        write(&mut out)?;
        out.flush()?;
        drop(out);
        std::fs::rename(&temporary, path)?;
        Ok(())
    };
    let done = attempt();
    if done.is_err() {
        // What is half written is of no use to anybody.
        let _ = std::fs::remove_file(&temporary);
    }
    done.with_context(|| format!("cannot write {}", path.display()))
}

/// `model_from_node` of every node with the character in a T-pose, and the bones of a person that it has.
fn in_t_pose(part: &Part<'_>) -> Vec<Transform> {
    let figure = part.double.figure();
    let rig = figure.rig();
    let fitted = t_pose(rig, figure.bones(), rig.rest());
    let mut pose = Pose::rest(figure.character());
    figure.put(&fitted.locals, &mut pose.locals);
    let mut globals: Vec<Mat4> = Vec::new();
    pose.globals(figure.character(), &mut globals);
    globals
        .iter()
        .map(|matrix| {
            let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
            Transform {
                translation,
                rotation,
                scale,
            }
        })
        .collect()
}

/// The bones of a VRMA. Many models have no upper chest, and players drop what a model does not have: neck and
/// shoulders would lose its turn. Without it their own turns hold it, on every model.
pub(super) fn vrma_bones(all: &[(HumanBone, usize)], upper_chest: bool) -> Vec<(HumanBone, usize)> {
    let is_kept = |bone: HumanBone| upper_chest || bone != HumanBone::UpperChest;
    all.iter().copied().filter(|b| is_kept(b.0)).collect()
}

impl Job<'_> {
    /// Writes one format.
    pub(super) fn write(&self, format: Format, part: &Part<'_>) -> anyhow::Result<Written> {
        let path = self.path(format);
        let name = format!("{}_{:03}", self.content.info.slate, self.content.info.take);
        let scene = scene::of(self, part, &name);
        let bones = part.double.figure().human_nodes();
        let mut written = self.written(format, path.clone(), part.rows);
        match format {
            Format::Glb => write_character(&scene, &path)?,
            Format::Fbx => {
                let done = write_fbx(&scene)?;
                file(&path, |out| Ok(out.write_all(&done.bytes)?))?;
                written.names = done.names;
            }
            Format::Usda => write_usd(&scene, &path, &mut written)?,
            Format::Bvh => self.bvh(&scene, part, &bones, &path, &mut written)?,
            Format::Vrma => {
                if part
                    .double
                    .figure()
                    .bones()
                    .turn
                    .angle_between(glam::Quat::IDENTITY)
                    > 1e-3
                {
                    bail!(
                        "this character does not face +Z; a VRMA plays on every VRM whoever acted it: export it with --character builtin"
                    );
                }
                let bones = vrma_bones(&bones, self.stagecraft.options.vrma_upper_chest);
                file(&path, |out| {
                    let pose = in_t_pose(part);
                    let report = write_vrma(
                        &scene,
                        out,
                        &VrmaOptions {
                            bones: &bones,
                            t_pose: &pose,
                            expressions: VrmaExpressions::MorphTargets,
                            gaze: None,
                        },
                    )?;
                    written.names = report.names;
                    written.notes = report.notes;
                    Ok(())
                })?;
            }
            Format::Csv | Format::Wav => bail!("no character acts in {}", format.as_str()),
        }
        Ok(written)
    }

    fn bvh(
        &self,
        scene: &Scene<'_>,
        part: &Part<'_>,
        bones: &[(HumanBone, usize)],
        path: &Path,
        written: &mut Written,
    ) -> anyhow::Result<()> {
        let choice = self.stagecraft.options.bvh;
        // The model's own frame may face -Z already.
        let faces_minus_z = part.double.place().rotation != glam::Quat::IDENTITY;
        let wants_turn = choice.facing_minus_z ^ faces_minus_z;
        let pose = (choice.rest == BvhRest::T).then(|| in_t_pose(part));
        let options = BvhOptions {
            names: choice.names,
            bones,
            rest: pose.as_deref(),
            unit: if choice.metres {
                BvhUnit::Metres
            } else {
                BvhUnit::Centimetres
            },
            facing: if wants_turn {
                BvhFacing::MinusZ
            } else {
                BvhFacing::PlusZ
            },
            positions: BvhPositions::default(),
            root_offset: false,
        };
        file(path, |out| {
            let report = write_bvh(scene, out, &options)?;
            written.names = report.names;
            written.notes = report.notes;
            written
                .notes
                .push(format!("{:.3} m high at rest", report.height_m));
            Ok(())
        })
    }
}

fn write_character(scene: &Scene<'_>, path: &Path) -> anyhow::Result<()> {
    let times: Vec<f32> = (0..scene.num_frames)
        .map(|i| (scene.rate.nanos_of(i as i64) as f64 / 1e9) as f32)
        .collect();
    let bytes = write_glb(
        scene.character,
        &GlbTracks {
            name: scene.name,
            times_secs: &times,
            morphs: scene.morphs.clone(),
            joints: scene.joints.clone(),
            extras: scene.facts.clone(),
        },
    )?;
    file(path, |out| Ok(out.write_all(&bytes)?))
}

fn write_usd(scene: &Scene<'_>, path: &Path, written: &mut Written) -> anyhow::Result<()> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = format!("{stem}_textures");
    // An identifier of USD may not hold everything that a name may.
    let is_plain = !folder.contains(['@', '\\']);
    let options = UsdaOptions {
        textures: is_plain.then_some(&*folder),
    };
    let mut images = Vec::new();
    file(path, |out| {
        let report = write_usda(scene, out, &options)?;
        written.names = report.names;
        written.notes = report.notes;
        images = report.images;
        Ok(())
    })?;
    let parent = path.parent().unwrap_or(Path::new(""));
    for image in images {
        let Some(source) = scene.geometry.and_then(|g| g.images.get(image.image)) else {
            continue;
        };
        let target = parent.join(&image.path);
        if let Some(folder) = target.parent() {
            std::fs::create_dir_all(folder)?;
        }
        file(&target, |out| Ok(out.write_all(&source.bytes)?))?;
    }
    Ok(())
}
