//! The operator's window: a desk of a hub that runs as a process of its own.
//!
//! ```text
//!   hub process ──desk──► Inbox ─look─► Model ──► panels draw (&Model) ──► Actions ──► Model, hub, work
//!   files ────► Work (threads: takes, exports, playback) ──┘                     one place applies them
//! ```
//!
//! - [`Model`] is plain data; panels read it and give [`Action`]s; [`Model::apply`] alone changes it;
//! - what takes time is done by threads of `work`, never by drawing;
//! - nothing is drawn anew when nothing changed: the threads that learn something ask for it.

mod action;
mod app;
mod hub_process;
mod layout;
mod model;
mod panels;
#[cfg(test)]
mod tests;
mod theme;
mod viewport;
mod work;

pub use action::{Action, Dialog, Pane, Watching};
pub use app::App;
pub use hub_process::Start;
pub use model::{
    Choices, Effect, Job, JobState, MAX_PLOTS, Model, Playing, Plot, TakeRow, Theme, Watched,
};

/// Opens the window and returns when it is closed.
///
/// # Errors
/// When there is no screen, or nothing that can draw.
pub fn run(start: Start) -> Result<(), eframe::Error> {
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("Ghostlight")
            .with_app_id("ghostlight")
            .with_inner_size([1440.0, 900.0])
            .with_min_inner_size([640.0, 400.0]),
        ..eframe::NativeOptions::default()
    };
    eframe::run_native(
        "Ghostlight",
        options,
        Box::new(move |creation| {
            let gpu = creation.wgpu_render_state.as_ref();
            Ok(Box::new(App::new(&creation.egui_ctx, &start, gpu)))
        }),
    )
}
