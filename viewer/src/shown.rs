//! A subject shown on a character: bound when it is announced, evaluated frame by frame.

use std::sync::Arc;

use drive::{Double, DoubleSettings, Figure, PuppetAsset};
use hub::{FrameBody, FrameData, StaticData, Transform};

use crate::cast;

/// Poses of a source whose rest pose is none that are tried as a stance.
const MAX_STANCES: usize = 8;

/// A character and who is shown on it.
pub struct Shown {
    double: Double,
    asset: PuppetAsset,
    bound: Option<Arc<StaticData>>,
    is_own: bool,
    stances: Vec<Vec<Transform>>,
    /// Since it was announced.
    tries: usize,
    fault: Option<String>,
}

impl Shown {
    /// The character at rest.
    pub fn new(figure: &Arc<Figure>, asset: PuppetAsset, settings: DoubleSettings) -> Self {
        Self {
            double: Double::new(figure, settings),
            asset,
            bound: None,
            is_own: false,
            stances: Vec::new(),
            tries: 0,
            fault: None,
        }
    }

    /// The character.
    pub fn double(&self) -> &Double {
        &self.double
    }

    /// Likewise, to change it.
    pub fn double_mut(&mut self) -> &mut Double {
        &mut self.double
    }

    /// Why the subject does not move the character, if so.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Likely poses of a source whose rest pose is none, before its first frame.
    pub fn set_stances(&mut self, stances: Vec<Vec<Transform>>) {
        self.stances = stances;
    }

    /// The next frame of the subject; `None` while it is lost. A subject that is announced anew is bound anew.
    pub fn frame(&mut self, statics: &Arc<StaticData>, frame: Option<&FrameData>, dt_secs: f32) {
        let is_known = self
            .bound
            .as_ref()
            .is_some_and(|bound| Arc::ptr_eq(bound, statics) || bound == statics);
        let waits = !self.is_own && self.double.puppet().is_none() && self.tries < MAX_STANCES;
        if let (Some(frame), true) = (frame, !is_known || waits) {
            self.bind(statics, frame, is_known);
        }
        match frame {
            Some(frame) if self.is_own => {
                self.double.show(frame, dt_secs);
            }
            None if self.is_own => {}
            frame => {
                self.double.evaluate(frame, dt_secs);
            }
        }
    }

    fn bind(&mut self, statics: &Arc<StaticData>, frame: &FrameData, is_known: bool) {
        let figure = Arc::clone(self.double.figure());
        self.is_own = figure.is_own(statics);
        if !is_known {
            self.tries = 0;
            if self.bound.is_some() {
                self.stances.clear();
                // Frames of another skeleton would be read as those of the old one.
                let _ = self.double.set_puppet(None);
            }
        }
        self.tries += 1;
        self.bound = Some(Arc::clone(statics));
        if self.is_own {
            self.fault = None;
            // Its own figure's: never refused.
            let _ = self.double.set_puppet(None);
            return;
        }
        if let FrameBody::Animation(locals) = &frame.body
            && self.stances.len() < MAX_STANCES
        {
            self.stances.push(locals.clone());
        }
        match cast::puppet(&figure, statics, &self.asset, None, &self.stances) {
            Ok((puppet, _)) => {
                self.fault = None;
                // Built for this very figure.
                let _ = self.double.set_puppet(Some(puppet));
            }
            Err(error) => self.fault = Some(error.to_string()),
        }
    }
}
