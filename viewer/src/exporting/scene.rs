//! A part as a scene: the character's tracks, and the cameras and objects of the take beside them.

use glam::Quat;
use hub::{FrameBody, Role, StaticData, SubjectKey, client::SourceSettings};
use recordings::{
    export::scene::{CameraTrack, PropTrack, Scene},
    performance::{Generation, Sampler},
};

use super::{Job, Part, role_is_placed};

/// Angle from the upper to the lower edge of a camera that does not tell its own: 35 mm on a full frame.
const USUAL_FOV_RAD: f32 = 0.66;
/// Width over height of a camera that does not tell it.
const USUAL_ASPECT: f32 = 16.0 / 9.0;

/// Whether a character can act what a subject sends.
pub(super) fn is_performer(statics: &StaticData) -> bool {
    matches!(statics.role(), Role::Animation | Role::Basic)
}

/// Whether a subject stands beside the character in formats that can hold it.
pub(super) fn goes_along(statics: &StaticData) -> bool {
    role_is_placed(statics)
}

/// The scene of a part.
pub(super) fn of<'a>(job: &'a Job<'_>, part: &Part<'a>, name: &'a str) -> Scene<'a> {
    let rows = part.rows;
    let (mut cameras, mut props) = beside(job, part);
    let mut facts = job.facts(rows);
    // Nodes are in the model's own frame; what stands beside them has to be, too.
    let turn = part.double.place().rotation.conjugate();
    if turn != Quat::IDENTITY {
        let tracks = cameras.iter_mut().flat_map(|c| &mut c.transforms);
        for t in tracks.chain(props.iter_mut().flat_map(|p| &mut p.transforms)) {
            t.translation = turn * t.translation;
            t.rotation = turn * t.rotation;
        }
        if let Some(facts) = facts.as_object_mut() {
            facts.insert("facing".into(), "-Z".into());
        }
    }
    let start = rows.rows.first().map_or_else(
        || hub::QualifiedFrameTime::whole(0, rows.rate),
        |row| row.timecode,
    );
    Scene {
        name,
        character: part.double.figure().character(),
        geometry: Some(&job.stagecraft.geometry),
        rate: rows.rate,
        num_frames: part.acted.num_frames,
        start,
        joints: part.acted.joints.clone(),
        morphs: part.acted.morphs.clone(),
        cameras,
        props,
        facts,
    }
}

/// Cameras and objects of the take, at the part's own times.
fn beside(job: &Job<'_>, part: &Part<'_>) -> (Vec<CameraTrack>, Vec<PropTrack>) {
    let mut cameras = Vec::new();
    let mut props = Vec::new();
    let Some(start) = arrival(job.generation) else {
        return (cameras, props);
    };
    for subject in &job.content.subjects {
        // The longest stretch speaks for the subject.
        let longest = subject.generations.iter().max_by_key(|g| g.frames.len());
        let Some(generation) = longest.filter(|g| role_is_placed(&g.statics)) else {
            continue;
        };
        let Some(own) = arrival(generation) else {
            continue;
        };
        let times =
            (0..part.acted.num_frames).map(|i| part.rows.rate.nanos_of(i as i64) + start - own);
        track(&subject.key, generation, times, &mut cameras, &mut props);
    }
    (cameras, props)
}

fn arrival(generation: &Generation) -> Option<i64> {
    Some(generation.frames.first()?.meta.arrival.as_nanos())
}

fn track(
    key: &SubjectKey,
    generation: &Generation,
    times: impl Iterator<Item = i64>,
    cameras: &mut Vec<CameraTrack>,
    props: &mut Vec<PropTrack>,
) {
    let mut sampler = Sampler::new(key, generation, SourceSettings::default());
    let mut transforms = Vec::new();
    let mut fovs = Vec::new();
    let mut aspect = USUAL_ASPECT;
    for nanos in times {
        let (data, _) = sampler.at(nanos.max(0));
        match &data.body {
            FrameBody::Camera(camera) => {
                transforms.push(camera.transform);
                // The angle is told from side to side or not at all; the format wants it from top to bottom.
                let ratio = camera
                    .aspect_ratio
                    .filter(|a| *a > 0.1)
                    .unwrap_or(USUAL_ASPECT);
                aspect = ratio;
                let fov = camera.field_of_view_rad.map_or(USUAL_FOV_RAD, |across| {
                    2.0 * ((across * 0.5).tan() / ratio).atan()
                });
                fovs.push(fov.clamp(0.01, 3.0));
            }
            FrameBody::Light(light) => transforms.push(light.transform),
            FrameBody::Transform(transform) => transforms.push(*transform),
            FrameBody::Basic | FrameBody::Animation(_) => return,
        }
    }
    let name = key.name.to_string();
    if generation.statics.role() == Role::Camera {
        cameras.push(CameraTrack {
            name,
            transforms,
            vertical_fov_rad: fovs,
            aspect,
        });
    } else {
        props.push(PropTrack { name, transforms });
    }
}
