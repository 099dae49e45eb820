//! Several subjects as one: whose body it has, whose curves, and the frame made of theirs.
//!
//! The body is that of the first part with a skeleton, with others attached (see `attach`). Without any
//! skeleton it is the first part with a transform, a camera or a light; without these there are only curves.

use crate::{
    client::Client,
    frame_data::{CameraFrame, FrameBody, FrameData, LightFrame, Transform},
    static_data::{StaticBody, StaticData},
};

use super::{
    Report,
    attach::{self, Present},
    bones::Bones,
    curves::Curves,
    part::Part,
    spec::PartSpec,
};

#[derive(Debug, Default)]
enum Body {
    #[default]
    None,
    /// Merged bones.
    Bones(Bones),
    /// One part's body as it is.
    Copied { part: usize, unheard: FrameBody },
}

/// The recipe for the parts that are there.
#[derive(Debug)]
pub(super) struct Merge {
    specs: Vec<PartSpec>,
    body: Body,
    curves: Curves,
}

impl Merge {
    pub(super) fn new(specs: Vec<PartSpec>) -> Self {
        Self {
            specs,
            body: Body::None,
            curves: Curves::default(),
        }
    }

    /// Binds the parts that are there; what cannot be bound is reported and left out.
    pub(super) fn build(
        &mut self,
        parts: &[Part],
        client: &Client,
        report: &mut Report,
    ) -> StaticData {
        let present: Vec<Present<'_>> = parts
            .iter()
            .zip(&self.specs)
            .enumerate()
            .filter_map(|(place, (part, spec))| {
                let (id, _) = part.seen?;
                let statics: &StaticData = client.view(id)?.statics();
                Some((place, spec, statics))
            })
            .collect();
        let (curves, properties) = Curves::build(&present, report);
        self.curves = curves;
        let skeleton = present.iter().position(|p| p.2.skeleton().is_some());
        let bones = skeleton.and_then(|base| attach::build(&present, base, report));
        if let Some((bones, skeleton)) = bones {
            self.body = Body::Bones(bones);
            return StaticData {
                body: StaticBody::Animation(skeleton),
                properties,
            };
        }
        for (_, spec, _) in present.iter().filter(|p| p.1.attach.is_some()) {
            report.faults.push(format!(
                "part {:?} is to be attached, but no part has a skeleton",
                spec.subject
            ));
        }
        let copied = present.iter().find(|p| p.2.num_transforms() > 0);
        let body = copied.map_or(StaticBody::Basic, |(_, _, statics)| statics.body.clone());
        self.body = copied.map_or(Body::None, |(part, _, statics)| Body::Copied {
            part: *part,
            unheard: unheard(&statics.body),
        });
        StaticData { body, properties }
    }

    /// Makes the frame of the parts' values.
    pub(super) fn compose(&mut self, parts: &[Part], out: &mut FrameData) {
        self.curves.compose(parts, &mut out.properties);
        match &mut self.body {
            Body::None => out.body = FrameBody::Basic,
            Body::Bones(bones) => {
                if !matches!(out.body, FrameBody::Animation(_)) {
                    out.body = FrameBody::Animation(Vec::new());
                }
                if let FrameBody::Animation(pose) = &mut out.body {
                    bones.compose(parts, pose);
                }
            }
            Body::Copied { part, unheard } => {
                let part = parts.get(*part).filter(|p| p.is_heard());
                out.body
                    .clone_from(part.map_or(&*unheard, |p| &p.values.data.body));
            }
        }
    }
}

/// The body of a part that has announced itself and sent nothing yet.
fn unheard(body: &StaticBody) -> FrameBody {
    match body {
        StaticBody::Basic | StaticBody::Animation(_) => FrameBody::Basic,
        StaticBody::Transform => FrameBody::Transform(Transform::IDENTITY),
        StaticBody::Camera(_) => FrameBody::Camera(CameraFrame::default()),
        StaticBody::Light(_) => FrameBody::Light(LightFrame::default()),
    }
}
