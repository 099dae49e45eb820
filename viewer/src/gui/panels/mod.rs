//! One panel a file: what it draws of the [`Model`](super::Model), and the [`Action`](super::Action)s it gives.
//!
//! A panel keeps nothing. Everything that can be pressed has a label that says what it does, for screen readers and tests.

pub(super) mod curves;
pub(super) mod details;
pub(super) mod dialogs;
pub(super) mod doctor;
mod field;
pub(super) mod log;
pub(super) mod menu;
pub(super) mod notice;
pub(super) mod record;
pub(super) mod subjects;
pub(super) mod takes;
mod words;
