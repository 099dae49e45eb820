//! A figure as it stands on the stage, through losses and switches.

use std::sync::Arc;

use characters::{Constraints, MaterialChange, Pose, Springs};
use glam::{Mat4, Vec3};
use hub::{FrameData, Transform};
use retarget::layers::{
    Easing, Fallback, FallbackPolicy, FallbackState, FallbackTick, Inertialiser, Reserves,
};

use crate::{Figure, Puppet, spread::Spread};

/// How a double behaves.
#[derive(Clone, Debug)]
pub struct DoubleSettings {
    /// How it goes over when its puppet is replaced.
    pub switch: Easing,
    /// What the body does when the stream is lost; the face has a policy of its own.
    pub loss: FallbackPolicy,
    /// What can play instead.
    pub reserves: Reserves,
    /// Whether a VRM's constraints are kept.
    pub constraints: bool,
    /// Whether a VRM's springs swing.
    pub springs: bool,
}

impl Default for DoubleSettings {
    fn default() -> Self {
        Self {
            switch: Easing::default(),
            loss: FallbackPolicy::default(),
            reserves: Reserves::default(),
            constraints: true,
            springs: true,
        }
    }
}

/// A figure on the stage.
pub struct Double {
    figure: Arc<Figure>,
    puppet: Option<Puppet>,
    reserves: Reserves,
    fallback: Fallback,
    switch: Inertialiser,
    spread: Spread,
    constraints: Option<Constraints>,
    springs: Option<Springs>,
    /// Pose of the rig, curves of the figure.
    locals: Vec<Transform>,
    curves: Vec<f32>,
    pose: Pose,
    globals: Vec<Mat4>,
    /// Where it stands, `world_from_model`.
    place: Transform,
    /// What blows at it, m/s².
    wind: Vec3,
}

impl Double {
    /// The figure at rest, with nobody who drives it.
    pub fn new(figure: &Arc<Figure>, settings: DoubleSettings) -> Self {
        let character = figure.character();
        let rig = figure.rig();
        let num_curves = figure.face().names().len();
        let carrier = figure.bones().carrier.unwrap_or(0);
        let vrm = figure.vrm();
        Self {
            puppet: None,
            // The face has its own policy, so no curves are held here.
            fallback: Fallback::new(rig, 0, carrier, settings.loss, settings.reserves.clone()),
            reserves: settings.reserves,
            switch: Inertialiser::new(rig.len(), num_curves, settings.switch),
            spread: Spread::new(character, vrm, figure.face()),
            constraints: vrm
                .filter(|_| settings.constraints)
                .map(|vrm| Constraints::build(vrm, character)),
            springs: vrm
                .filter(|_| settings.springs)
                .map(|vrm| Springs::build(vrm, character)),
            locals: rig.rest().to_vec(),
            curves: vec![0.0; num_curves],
            pose: Pose::rest(character),
            globals: Vec::new(),
            place: Transform {
                rotation: figure.facing_turn(),
                ..Transform::IDENTITY
            },
            wind: Vec3::ZERO,
            figure: Arc::clone(figure),
        }
    }

    /// The figure.
    pub fn figure(&self) -> &Arc<Figure> {
        &self.figure
    }

    /// Who drives it.
    pub fn puppet(&self) -> Option<&Puppet> {
        self.puppet.as_ref()
    }

    /// Likewise, to switch its steps and stages.
    pub fn puppet_mut(&mut self) -> Option<&mut Puppet> {
        self.puppet.as_mut()
    }

    /// Another performer, or other settings: what is shown goes over without a pop. A puppet of another figure is
    /// refused by giving it back.
    ///
    /// # Errors
    /// The puppet itself, when it is bound to another figure.
    pub fn set_puppet(&mut self, puppet: Option<Puppet>) -> Result<(), Box<Puppet>> {
        if let Some(puppet) = puppet {
            if !Arc::ptr_eq(puppet.figure(), &self.figure) {
                return Err(Box::new(puppet));
            }
            self.puppet = Some(puppet);
        } else {
            self.puppet = None;
        }
        self.switch.switch();
        Ok(())
    }

    /// Another policy of loss, from now on; what was held is let go.
    pub fn set_loss(&mut self, policy: FallbackPolicy) {
        let rig = self.figure.rig();
        let carrier = self.figure.bones().carrier.unwrap_or(0);
        self.fallback = Fallback::new(rig, 0, carrier, policy, self.reserves.clone());
        self.switch.switch();
    }

    /// Where it stands: `world_from_model`, with the half turn of characters that face −Z in it.
    pub fn place(&self) -> &Transform {
        &self.place
    }

    /// Stands at a point, metres in the house frame.
    pub fn stand_at(&mut self, point: Vec3) {
        if point.is_finite() {
            self.place.translation = point;
        }
    }

    /// What blows at everything that swings, m/s² in the house frame.
    pub fn set_wind(&mut self, wind: Vec3) {
        self.wind = if wind.is_finite() { wind } else { Vec3::ZERO };
    }

    /// The next frame, `dt_secs` after the one before; `None` while the stream is lost.
    pub fn evaluate(&mut self, frame: Option<&FrameData>, dt_secs: f32) -> &Pose {
        if let Some(puppet) = &mut self.puppet {
            puppet.evaluate(frame, dt_secs);
            self.locals.clone_from_slice(puppet.locals());
            self.curves.clone_from_slice(puppet.curves());
            let tick = FallbackTick {
                dt_secs,
                alive: frame.is_some(),
                show_secs: 0.0,
            };
            self.fallback.apply(tick, &mut self.locals, &mut []);
        } else {
            self.locals.clone_from_slice(self.figure.rig().rest());
            self.curves.fill(0.0);
        }
        self.finish(dt_secs)
    }

    /// The next frame, of a subject that [`Figure::is_own`]: shown as it is.
    pub fn show(&mut self, frame: &FrameData, dt_secs: f32) -> &Pose {
        for (local, new) in self.locals.iter_mut().zip(frame.transforms()) {
            *local = *new;
        }
        self.figure.turn_roots(&mut self.locals);
        for (curve, new) in self.curves.iter_mut().zip(&frame.properties) {
            *curve = *new;
        }
        self.finish(dt_secs)
    }

    /// Changes a curve by hand before it is shown: for rig checks. Call it between the puppet's frame and the picture:
    /// it holds until the next frame.
    pub fn hold_curve(&mut self, name: &str, value: f32) {
        let names = self.figure.face().names();
        if let Some(at) = names.iter().position(|n| n == name)
            && let Some(curve) = self.curves.get_mut(at)
        {
            *curve = value;
            self.spread.apply(&self.curves, &mut self.pose);
        }
    }

    fn finish(&mut self, dt_secs: f32) -> &Pose {
        self.switch
            .apply(dt_secs, &mut self.locals, &mut self.curves);
        self.figure.put(&self.locals, &mut self.pose.locals);
        self.spread.apply(&self.curves, &mut self.pose);
        let character = self.figure.character();
        if let Some(constraints) = &mut self.constraints {
            constraints.evaluate(&mut self.pose.locals);
        }
        if let Some(springs) = &mut self.springs {
            springs.update(dt_secs, &self.place, self.wind, &mut self.pose.locals);
        }
        self.pose.globals(character, &mut self.globals);
        &self.pose
    }

    /// The pose of the last frame.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// `model_from_local` of every node in the last frame.
    pub fn globals(&self) -> &[Mat4] {
        &self.globals
    }

    /// The rig's pose in the last frame, `parent_from_local`.
    pub fn locals(&self) -> &[Transform] {
        &self.locals
    }

    /// The figure's face curves in the last frame.
    pub fn curves(&self) -> &[f32] {
        &self.curves
    }

    /// What the last frame changes of materials.
    pub fn materials(&self) -> &[MaterialChange] {
        self.spread.materials()
    }

    /// What the body does about its stream.
    pub fn state(&self) -> FallbackState {
        self.fallback.state()
    }

    /// After a cut or a jump in time: nothing of before is carried over.
    pub fn forget(&mut self) {
        if let Some(puppet) = &mut self.puppet {
            puppet.forget();
        }
        self.switch.reset();
        if let Some(springs) = &mut self.springs {
            springs.reset();
        }
    }
}
