//! One performer bound to one figure.

use std::sync::Arc;

use hub::{FrameBody, FrameData, StaticData, Transform};
use retarget::{
    RigFault,
    characterise::Characterisation,
    face::{FaceInput, FacePipeline, Profile},
    solve::{RetargetFaults, Retargeter},
};

use crate::{
    Figure, PuppetAsset,
    body::BodyDrive,
    face::{BodyHas, FaceDrive},
};

/// Why a performer cannot drive a figure.
#[derive(Debug, thiserror::Error)]
pub enum PuppetError {
    /// The performer's skeleton is none.
    #[error("the skeleton of the source: {0}")]
    Source(RigFault),
    /// Body: all faults.
    #[error("the body: {0}")]
    Body(RetargetFaults),
    /// Face: all faults, a line each.
    #[error("the face: {}", .0.join("\n"))]
    Face(Vec<String>),
    /// Nothing of what the source sends moves anything of the character.
    #[error(
        "nothing that the source sends moves this character: it sends {curves} curves and {bones} bones; \
         the character has {targets} face curves and {rig} bones"
    )]
    Nothing {
        /// Curves of the source.
        curves: usize,
        /// Bones of the source.
        bones: usize,
        /// Face curves of the character.
        targets: usize,
        /// Bones of the character.
        rig: usize,
    },
}

/// One performer bound to one figure: each frame becomes a pose of the figure's rig and its curves.
#[derive(Debug)]
pub struct Puppet {
    figure: Arc<Figure>,
    body: Option<BodyDrive>,
    face: Option<FaceDrive>,
    notes: Vec<String>,
    locals: Vec<Transform>,
    curves: Vec<f32>,
}

impl Puppet {
    /// Binds by name. `base` is a pose of the source, `parent_from_local`, in which the performer stands, for skeletons
    /// whose rest pose is none; `profile` the performer's calibration.
    ///
    /// # Errors
    /// All that is wrong at once; or that nothing of the source moves anything of the figure.
    pub fn build(
        figure: &Arc<Figure>,
        statics: &StaticData,
        base: Option<&[Transform]>,
        asset: &PuppetAsset,
        profile: Option<&Profile>,
    ) -> Result<Self, PuppetError> {
        let mut notes = Vec::new();
        let body = BodyDrive::build(figure, statics, asset.body.as_ref(), base, &mut notes)?;
        let has = body
            .as_ref()
            .map_or_else(BodyHas::default, |b| b.has(figure));
        let names: Vec<&str> = statics.properties.iter().map(|p| p.name.as_str()).collect();
        let face = FaceDrive::build(
            figure,
            &names,
            asset.face.as_ref(),
            profile,
            has,
            &mut notes,
        )
        .map_err(PuppetError::Face)?;
        if body.is_none() && face.is_none() {
            return Err(PuppetError::Nothing {
                curves: names.len(),
                bones: statics.num_transforms(),
                targets: figure.face().names().len(),
                rig: figure.rig().len(),
            });
        }
        Ok(Self {
            figure: Arc::clone(figure),
            body,
            face,
            notes,
            locals: figure.rig().rest().to_vec(),
            curves: vec![0.0; figure.face().names().len()],
        })
    }

    /// The figure.
    pub fn figure(&self) -> &Arc<Figure> {
        &self.figure
    }

    /// What is worth knowing about how it was bound.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The body's retargeter, if a body drives.
    pub fn retargeter(&self) -> Option<&Retargeter> {
        self.body.as_ref().map(|b| &b.retargeter)
    }

    /// Likewise, to switch steps.
    pub fn retargeter_mut(&mut self) -> Option<&mut Retargeter> {
        self.body.as_mut().map(|b| &mut b.retargeter)
    }

    /// The source's bones and which is which, if a body drives.
    pub fn source(&self) -> Option<(&retarget::Rig, &Characterisation)> {
        self.body.as_ref().map(|b| (&b.rig, &b.source))
    }

    /// The face's stages, if a face drives.
    pub fn face(&self) -> Option<&FacePipeline> {
        self.face.as_ref().map(FaceDrive::pipeline)
    }

    /// Likewise, to blend stages or take a calibration.
    pub fn face_mut(&mut self) -> Option<&mut FacePipeline> {
        self.face.as_mut().map(FaceDrive::pipeline_mut)
    }

    /// One frame, `dt_secs` after the one before; `None` while tracking is lost, when the face does what its policy says
    /// and the body stays.
    pub fn evaluate(&mut self, frame: Option<&FrameData>, dt_secs: f32) {
        if let (Some(body), Some(FrameBody::Animation(bones))) =
            (&mut self.body, frame.map(|f| &f.body))
        {
            body.retargeter.evaluate(bones, dt_secs, &mut self.locals);
        }
        if let Some(face) = &mut self.face {
            let input = FaceInput {
                curves: frame.map(|f| f.properties.as_slice()),
                dt_secs,
                ..FaceInput::default()
            };
            face.evaluate(&input, &mut self.curves, &mut self.locals);
        }
    }

    /// The pose of the figure's rig in the last frame, `parent_from_local`.
    pub fn locals(&self) -> &[Transform] {
        &self.locals
    }

    /// The figure's face curves in the last frame, in the order of [`FaceTargets::names`](crate::FaceTargets::names).
    pub fn curves(&self) -> &[f32] {
        &self.curves
    }

    /// Forgets earlier frames: after a cut or a jump in time.
    pub fn forget(&mut self) {
        if let Some(body) = &mut self.body {
            body.retargeter.forget();
        }
    }
}
