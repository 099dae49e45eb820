//! How an operation runs.

use super::state::{Shape, State};

/// An operation, built for two bodies.
pub(super) trait Run: std::fmt::Debug + Send + Sync {
    /// Changes the frame; `weight` is above 0, up to 1. Neither fails nor allocates.
    fn run(&mut self, shape: &Shape, state: &mut State, weight: f32);

    /// Forgets earlier frames: after a cut or a jump in time.
    fn forget(&mut self) {}
}
