//! The window itself: looks, draws, and does what was done.

use std::sync::Arc;

use egui::{Key, KeyboardShortcut, Modifiers};
use egui_tiles::Tree;

use super::{
    Action, Effect, Model, Pane, Watching,
    hub_process::{self, Hub, Start},
    layout,
    model::Watched,
    panels, theme,
    viewport::Viewport,
    work::{Learned, Work},
};
use crate::desk::{
    client::{Changed, Client},
    place,
};

/// Frames of watched subjects ask for a new picture at most so often.
const FRAME_SECS: f32 = 1.0 / 60.0;

/// What the window is.
pub struct App {
    model: Model,
    tree: Tree<Pane>,
    client: Option<Client>,
    hub: Option<Hub>,
    work: Work,
    viewport: Option<Viewport>,
    watching: Watching,
    themed: Option<(super::Theme, f32)>,
    /// Whether the window closes now.
    is_closing: bool,
    /// Whether the window was told so.
    said_close: bool,
}

impl App {
    /// A window that reaches for its hub.
    pub fn new(
        ctx: &egui::Context,
        start: &Start,
        gpu: Option<&eframe::egui_wgpu::RenderState>,
    ) -> Self {
        let mut model = Model::new();
        model.font_note = theme::add_fonts(ctx);
        let waking = ctx.clone();
        let reached = hub_process::reach(start, || {
            let ctx = waking.clone();
            Box::new(move |changed| match changed {
                // Many frames come in one picture's time.
                Changed::Frame => {
                    ctx.request_repaint_after(std::time::Duration::from_secs_f32(FRAME_SECS));
                }
                Changed::State | Changed::Gone => ctx.request_repaint(),
            })
        });
        let (client, hub) = match reached {
            Ok((client, hub)) => {
                model.owns_hub = hub.is_ours();
                (Some(client), Some(hub))
            }
            Err(error) => {
                model.no_hub = Some(format!("{error:#}"));
                (None, None)
            }
        };
        Self::with(ctx, model, client, hub, gpu)
    }

    /// A window over a hub that is reached already; for tests, too.
    pub(super) fn with(
        ctx: &egui::Context,
        model: Model,
        client: Option<Client>,
        hub: Option<Hub>,
        gpu: Option<&eframe::egui_wgpu::RenderState>,
    ) -> Self {
        let tree = place::kept()
            .and_then(|folder| layout::load(&folder))
            .unwrap_or_else(layout::usual);
        // The model says how large everything is; egui's own keys would change it behind its back.
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        let waking = ctx.clone();
        Self {
            model,
            tree,
            client,
            hub,
            work: Work::new(Arc::new(move || waking.request_repaint())),
            viewport: gpu.map(Viewport::new),
            watching: Watching::default(),
            themed: None,
            is_closing: false,
            said_close: false,
        }
    }

    /// What the panels read.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Takes what came since the last look.
    fn look(&mut self) {
        if let Some(client) = &self.client {
            // Before its last word is read: the goodbye is there when the connection is seen to have ended.
            let is_gone = client.is_gone();
            let mut inbox = client.inbox();
            let newer = inbox.snapshot.clone().filter(|new| {
                self.model
                    .snapshot
                    .as_ref()
                    .is_none_or(|old| !Arc::ptr_eq(old, new))
            });
            let answers: Vec<_> = inbox.answers.drain(..).collect();
            let events: Vec<_> = inbox.events.drain(..).collect();
            if let Some(diagnosis) = inbox.diagnosis.take() {
                self.model.diagnosis = Some(diagnosis);
                self.model.is_diagnosing = false;
            }
            self.model.program.clone_from(&inbox.program);
            self.model
                .watched
                .retain(|w| inbox.seen.iter().any(|s| s.id == w.id));
            for seen in &inbox.seen {
                let Some(watched) = self.model.watched.iter_mut().find(|w| w.id == seen.id) else {
                    self.model.watched.push(Watched {
                        id: seen.id,
                        statics: Arc::clone(&seen.statics),
                        frame: seen.frame.clone(),
                        meta: seen.meta.clone(),
                    });
                    continue;
                };
                watched.statics = Arc::clone(&seen.statics);
                watched.frame.clone_from(&seen.frame);
                watched.meta.clone_from(&seen.meta);
            }
            let is_over = inbox.is_over;
            drop(inbox);
            let is_first = self.model.snapshot.is_none();
            let was_recording = self.model.is_recording();
            if let Some(snapshot) = newer {
                self.model.take_snapshot(snapshot);
                if is_first || (was_recording && !self.model.is_recording()) {
                    self.effect(Effect::ListTakes);
                }
            }
            for event in events {
                self.model.take_event(event);
            }
            for answer in answers {
                if let Err(why) = answer.result {
                    self.model.notice = Some((why, true));
                }
            }
            if is_gone && self.model.no_hub.is_none() {
                self.model.is_diagnosing = false;
                self.model.no_hub = Some(if is_over {
                    "The hub has ended.".into()
                } else {
                    "The connection to the hub is lost. It may still run and record; close this window and open it again.".into()
                });
            }
        }
        let learned: Vec<_> = self.work.learned().collect();
        for learned in learned {
            match learned {
                Learned::Takes(takes) => self.model.takes = takes,
                Learned::Job(job) => {
                    match self.model.jobs.iter_mut().find(|j| j.number == job.number) {
                        Some(known) => *known = job,
                        None => self.model.jobs.push(job),
                    }
                }
            }
        }
    }

    fn effect(&mut self, effect: Effect) {
        match &effect {
            // What was asked for is brought to the front.
            Effect::Diagnose => layout::show(&mut self.tree, Pane::Doctor),
            Effect::Play(_) => layout::show(&mut self.tree, Pane::Viewport),
            _ => {}
        }
        let told = match (effect, &self.client) {
            (Effect::Hub(command), Some(client)) => client.command(command).map(drop),
            (Effect::Diagnose, Some(client)) => client.diagnose(),
            (Effect::Watch(watching), Some(client)) => client.watch(watching.ids, watching.per_sec),
            (Effect::Hub(_) | Effect::Diagnose | Effect::Watch(_), None) => {
                self.model.notice = Some(("There is no hub.".into(), true));
                self.model.is_diagnosing = false;
                Ok(())
            }
            (Effect::ListTakes, _) => {
                if let Some(snapshot) = &self.model.snapshot {
                    self.work.list(snapshot.folder.clone());
                }
                Ok(())
            }
            (Effect::Annotate(take, rating, notes), _) => {
                self.work.annotate(&take, rating, notes);
                Ok(())
            }
            (Effect::Play(path), _) => {
                match self.viewport.as_mut().map(|v| v.play(&path)) {
                    Some(Ok(playing)) => self.model.playing = Some(playing),
                    Some(Err(error)) => self.model.notice = Some((format!("{error:#}"), true)),
                    None => {}
                }
                Ok(())
            }
            (Effect::Playback(playing), _) => {
                if let Some(viewport) = &mut self.viewport {
                    viewport.playback(&playing);
                }
                Ok(())
            }
            (Effect::StopPlaying, _) => {
                if let Some(viewport) = &mut self.viewport {
                    viewport.stop_playing();
                }
                Ok(())
            }
            (Effect::Export(dialog), _) => {
                self.model.jobs.extend(self.work.export(&dialog));
                Ok(())
            }
            (Effect::CancelJob(number), _) => {
                self.work.cancel(number);
                Ok(())
            }
            (Effect::TogglePane(pane), _) => {
                layout::toggle(&mut self.tree, pane);
                Ok(())
            }
            (Effect::ResetLayout, _) => {
                self.tree = layout::usual();
                Ok(())
            }
            (Effect::EndHub, Some(client)) => client.quit(),
            (Effect::EndHub, None) => Ok(()),
            (Effect::Quit, _) => {
                self.is_closing = true;
                Ok(())
            }
        };
        if let Err(error) = told {
            self.model.notice = Some((format!("the hub cannot be told: {error}"), true));
        }
    }

    /// Draws everything and does what was done.
    pub(super) fn frame(&mut self, ui: &mut egui::Ui) {
        let ctx = ui.ctx().clone();
        self.look();
        if self.themed != Some((self.model.theme, self.model.zoom)) {
            theme::apply(&ctx, self.model.theme);
            ctx.set_zoom_factor(self.model.zoom);
            self.themed = Some((self.model.theme, self.model.zoom));
        }
        let now = ctx.input(|i| i.time);
        self.model.take_values(now);
        let mut actions = Vec::new();
        dropped(&ctx, &self.model, &mut actions);
        shortcuts(&ctx, &self.model, &mut actions);
        egui::Panel::top("menu").show(ui, |ui| panels::menu::show(ui, &self.model, &mut actions));
        egui::Panel::bottom("notice").show(ui, |ui| {
            panels::notice::show(ui, &self.model, &mut actions);
        });
        let (model, viewport) = (&self.model, &mut self.viewport);
        let tree = &mut self.tree;
        egui::CentralPanel::no_frame().show(ui, |ui| {
            let mut panes = layout::Panes {
                draw: |ui: &mut egui::Ui, pane: Pane| match pane {
                    Pane::Subjects => panels::subjects::show(ui, model, &mut actions),
                    Pane::Details => panels::details::show(ui, model, &mut actions),
                    Pane::Curves => panels::curves::show(ui, model, &mut actions),
                    Pane::Record => panels::record::show(ui, model, &mut actions),
                    Pane::Takes => panels::takes::show(ui, model, &mut actions),
                    Pane::Doctor => panels::doctor::show(ui, model, &mut actions),
                    Pane::Log => panels::log::show(ui, model, &mut actions),
                    Pane::Viewport => match viewport {
                        Some(viewport) => viewport.show(ui, model, &mut actions),
                        None => {
                            ui.label("No GPU, no picture: this window was opened without one.");
                        }
                    },
                },
            };
            tree.ui(&mut panes, ui);
        });
        panels::dialogs::show(&ctx, &self.model, &mut actions);
        if !actions.is_empty() {
            // The panels were drawn before the model changed.
            ctx.request_repaint();
        }
        let mut effects = Vec::new();
        for action in actions {
            self.model.apply(action, &mut effects);
        }
        if self.model.wanted() != self.watching && self.client.is_some() {
            self.watching = self.model.wanted();
            effects.push(Effect::Watch(self.watching.clone()));
        }
        if !effects.is_empty() {
            ctx.request_repaint();
        }
        for effect in effects {
            self.effect(effect);
        }
        if let (Some(playing), Some(viewport)) = (&mut self.model.playing, &self.viewport)
            && let Some(at) = viewport.playing_secs()
        {
            playing.at_secs = at;
        }
        if self.is_closing && !self.said_close {
            self.said_close = true;
            ctx.send_viewport_cmd(egui::ViewportCommand::Close);
        }
    }

    fn close(&mut self) {
        if let Some(folder) = place::kept() {
            // A layout that cannot be kept is the usual one the next time.
            let _ = layout::save(&folder, &self.tree);
        }
        if let (Some(client), Some(hub)) = (&self.client, &mut self.hub)
            && hub.is_ours()
        {
            // A connection that broke does not mean that the hub has: it is told anew.
            let _again = if client.is_gone() || client.quit().is_err() {
                hub.end()
            } else {
                None
            };
            hub.wait();
        }
    }
}

/// A character dropped on the window is put on the stage, a take is played.
fn dropped(ctx: &egui::Context, model: &Model, actions: &mut Vec<Action>) {
    let paths: Vec<_> = ctx.input(|i| {
        let files = i.raw.dropped_files.iter();
        files.map(|f| f.path().to_owned()).collect()
    });
    for path in paths {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        match (extension.to_ascii_lowercase().as_str(), model.selected) {
            ("glb" | "gltf" | "vrm", Some(id)) => actions.push(Action::Stage {
                id,
                character: Some(path),
            }),
            ("mcap", _) => actions.push(Action::Play(path)),
            _ => {}
        }
    }
}

/// Keys that work wherever the focus is, but not while text is typed.
fn shortcuts(ctx: &egui::Context, model: &Model, actions: &mut Vec<Action>) {
    let has_focus = ctx.egui_wants_keyboard_input();
    let typing = ctx.text_edit_focused();
    // Pressed now, not held: R held for a second must not begin, end and begin a take.
    let press = |key: Key| {
        // Space presses what has the focus.
        if typing || (key == Key::Space && has_focus) {
            return false;
        }
        ctx.input_mut(|i| {
            let mut is_pressed = false;
            i.events.retain(|event| match event {
                egui::Event::Key {
                    key: k,
                    pressed: true,
                    repeat,
                    modifiers,
                    ..
                } if *k == key && modifiers.matches_logically(Modifiers::NONE) => {
                    is_pressed |= !*repeat;
                    false
                }
                _ => true,
            });
            is_pressed
        })
    };
    let command = |key: Key| {
        ctx.input_mut(|i| i.consume_shortcut(&KeyboardShortcut::new(Modifiers::COMMAND, key)))
    };
    if press(Key::R) {
        actions.push(Action::ToggleRecord);
    }
    if press(Key::M) && model.is_recording() {
        actions.push(Action::Mark(String::new()));
    }
    if press(Key::Space) {
        match &model.playing {
            Some(playing) => actions.push(Action::Pause(!playing.paused)),
            None => actions.push(Action::ToggleRecord),
        }
    }
    if press(Key::Escape) && model.dialog.is_some() {
        actions.push(Action::Close);
    }
    if press(Key::F1) {
        actions.push(Action::Open(super::Dialog::Keys));
    }
    if command(Key::Q) {
        actions.push(Action::Quit);
    }
    if command(Key::Plus) || command(Key::Equals) {
        actions.push(Action::Zoom(model.zoom + 0.1));
    }
    if command(Key::Minus) {
        actions.push(Action::Zoom(model.zoom - 0.1));
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        if ui.ctx().input(|i| i.viewport().close_requested()) && !self.is_closing {
            if self.model.is_recording() && self.model.owns_hub {
                ui.ctx()
                    .send_viewport_cmd(egui::ViewportCommand::CancelClose);
                self.model.dialog = Some(super::Dialog::Quit);
            } else {
                self.is_closing = true;
            }
        }
        self.frame(ui);
    }

    fn on_exit(&mut self) {
        self.close();
    }
}
