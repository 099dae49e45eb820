//! Characters on the stage: subjects shown live, or a take that plays, drawn into the window.

mod playback;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use drive::{DoubleSettings, Figure, PuppetAsset};
use eframe::egui_wgpu::RenderState;
use egui::{Key, Sense, Ui};
use glam::{Mat4, Vec3};
use hub::{FrameBody, FrameData, StaticData};
use render::{
    Actor, Camera, Gpu, Model as Mesh, Orbit, Placement, Renderer, Scene, Settings,
    overlays::Overlays,
};

use self::playback::Playback;
use super::{
    Action, Choices, Model, Playing,
    theme::{Tone, color},
};
use crate::{cast, shown::Shown};

/// Between two characters that stand side by side, metres.
const APART_M: f32 = 1.2;
/// How far a character goes before the camera comes along.
const LEASH_M: f32 = 1.0;
/// Longest step that a character takes at once; a longer one is a cut.
const MAX_STEP_SECS: f32 = 0.25;
/// Colour of the performer's own bones.
const SOURCE_COLOR: [f32; 4] = [0.15, 0.65, 1.0, 0.9];
/// Colour of the character's bones.
const BONE_COLOR: [f32; 4] = [1.0, 0.72, 0.25, 0.95];

/// A character's file as it is shared by all who are shown on it.
struct Loaded {
    figure: Arc<Figure>,
    mesh: Mesh,
}

/// Someone on the stage.
struct Player {
    file: PathBuf,
    shown: Shown,
    actor: Actor,
    /// Where its joints were, for velocities.
    before: Vec<Vec3>,
}

/// The picture, and what moves in it.
pub(super) struct Viewport {
    gpu: Gpu,
    state: RenderState,
    renderer: Option<Renderer>,
    target: Option<Target>,
    loaded: BTreeMap<PathBuf, Result<Loaded, String>>,
    players: BTreeMap<u32, Player>,
    playback: Option<Playback>,
    orbit: Orbit,
    /// The kind of camera that the arm was set for.
    set_for: String,
    /// Where the first character was, once there is one.
    center: Option<Vec3>,
    overlays: Overlays,
    last_secs: f64,
    fault: Option<String>,
}

/// A texture that the window shows.
struct Target {
    view: render::wgpu::TextureView,
    id: egui::TextureId,
    size: (u32, u32),
}

impl Viewport {
    /// On the window's own device.
    pub(super) fn new(state: &RenderState) -> Self {
        let gpu = Gpu::from_parts(
            state.device.clone(),
            state.queue.clone(),
            state.adapter.get_info(),
        );
        let settings = Settings {
            target_format: render::wgpu::TextureFormat::Rgba8Unorm,
            ..Settings::default()
        };
        let (renderer, fault) = match Renderer::new(&gpu, settings) {
            Ok(renderer) => (Some(renderer), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Self {
            gpu,
            state: state.clone(),
            renderer,
            target: None,
            loaded: BTreeMap::new(),
            players: BTreeMap::new(),
            playback: None,
            orbit: Orbit::body(1.7),
            set_for: "body".into(),
            center: None,
            overlays: Overlays::default(),
            last_secs: 0.0,
            fault,
        }
    }

    /// Plays a take in place of what is live.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn play(&mut self, path: &Path) -> anyhow::Result<Playing> {
        let playback = Playback::open(path)?;
        let playing = playback.playing();
        self.playback = Some(playback);
        self.players.clear();
        Ok(playing)
    }

    /// Follows the operator's hand on the playback.
    pub(super) fn playback(&mut self, playing: &Playing) {
        if let Some(playback) = &mut self.playback {
            playback.follow(playing);
        }
    }

    /// Back to what is live.
    pub(super) fn stop_playing(&mut self) {
        self.playback = None;
        self.players.clear();
    }

    /// Where the playback stands.
    pub(super) fn playing_secs(&self) -> Option<f64> {
        self.playback.as_ref().map(Playback::at_secs)
    }

    /// Draws the picture and takes the hand on it.
    pub(super) fn show(&mut self, ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
        toolbar(ui, model, actions);
        let now = ui.input(|i| i.time);
        let dt = (now - self.last_secs).clamp(0.0, f64::from(MAX_STEP_SECS)) as f32;
        self.last_secs = now;
        self.act(model, dt);
        let size = ui.available_size().max(egui::vec2(16.0, 16.0));
        let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        response
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, "Stage".to_owned()));
        self.hand(ui, &response, model, actions);
        let pixels = ui.ctx().pixels_per_point();
        let pixel_size = (
            ((rect.width() * pixels) as u32).clamp(16, 4096),
            ((rect.height() * pixels) as u32).clamp(16, 4096),
        );
        match self.draw(model, pixel_size) {
            Ok(id) => {
                let whole = egui::Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
                ui.painter().image(id, rect, whole, egui::Color32::WHITE);
            }
            Err(error) => self.fault = Some(format!("{error:#}")),
        }
        self.say(ui, rect, model);
        if self.playback.as_ref().is_some_and(Playback::moves) {
            ui.ctx().request_repaint();
        }
    }

    /// Words over the picture: who is not moved, and why; what to do when nobody is there.
    fn say(&self, ui: &Ui, rect: egui::Rect, model: &Model) {
        let mut lines: Vec<(Tone, String)> = Vec::new();
        lines.extend(self.fault.iter().map(|f| (Tone::Bad, f.clone())));
        for (file, loaded) in &self.loaded {
            if let Err(why) = loaded {
                lines.push((Tone::Bad, format!("{}: {why}", file.display())));
            }
        }
        for player in self.players.values() {
            lines.extend(player.shown.fault().map(|f| (Tone::Bad, f.to_owned())));
        }
        if self.players.is_empty() && lines.is_empty() {
            let text = if model
                .snapshot
                .as_ref()
                .is_none_or(|s| s.subjects.is_empty())
            {
                "Nobody is on the stage yet. Let a device send, or add a source."
            } else {
                "Choose a subject and show it on a character: the button is in Details."
            };
            lines.push((Tone::Quiet, text.to_owned()));
        }
        let mut at = rect.left_top() + egui::vec2(10.0, 10.0);
        for (tone, text) in lines {
            let painted = ui.painter().text(
                at,
                egui::Align2::LEFT_TOP,
                text,
                egui::FontId::proportional(14.0),
                color(ui, tone),
            );
            at.y = painted.bottom() + 4.0;
        }
    }

    /// Drag orbits, with the right or middle button pans, the wheel goes nearer; F and B choose the camera.
    fn hand(
        &mut self,
        ui: &Ui,
        response: &egui::Response,
        model: &Model,
        actions: &mut Vec<Action>,
    ) {
        let height = response.rect.height().max(1.0);
        let way = response.drag_delta() / height;
        let shift = ui.input(|i| i.modifiers.shift);
        if response.dragged_by(egui::PointerButton::Primary) && !shift {
            self.orbit.turn(way.x, way.y);
        } else if response.dragged() {
            self.orbit.pan(way.x, way.y);
        }
        if response.hovered() {
            let wheel = ui.input(|i| i.smooth_scroll_delta().y);
            if wheel != 0.0 {
                self.orbit.dolly(wheel / 40.0);
            }
            let typing = ui.ctx().text_edit_focused();
            for (key, camera) in [(Key::F, "face"), (Key::B, "body")] {
                if !typing && ui.input(|i| i.key_pressed(key)) {
                    // Again: the arm goes back to where it was set.
                    self.set_for.clear();
                    actions.push(Action::Choices(Box::new(Choices {
                        camera: camera.into(),
                        ..model.choices.clone()
                    })));
                }
            }
        }
    }

    /// Moves everyone by one frame.
    fn act(&mut self, model: &Model, dt: f32) {
        if let Some(playback) = &mut self.playback {
            playback.advance(f64::from(dt));
        }
        let wanted: Vec<(u32, PathBuf)> = match &self.playback {
            Some(playback) => {
                let chosen = model.stage.values().next();
                let file = chosen.cloned().unwrap_or_else(|| cast::BUILTIN.into());
                playback.ids().map(|id| (id, file.clone())).collect()
            }
            None => model
                .stage
                .iter()
                .map(|(id, file)| (*id, file.clone()))
                .collect(),
        };
        self.players.retain(|id, player| {
            wanted
                .iter()
                .any(|(w, file)| w == id && *file == player.file)
        });
        // A file that could not be read may be mended and dropped again.
        self.loaded
            .retain(|f, l| l.is_ok() || wanted.iter().any(|(_, w)| w == f));
        for (id, file) in wanted {
            if !self.players.contains_key(&id)
                && let Some(player) = self.enter(&file)
            {
                self.players.insert(id, player);
            }
        }
        let count = self.players.len();
        for (place, (id, player)) in self.players.iter_mut().enumerate() {
            player.before = crate::picture::joints(player.shown.double());
            match &mut self.playback {
                Some(playback) => {
                    if let Some((statics, frame)) = playback.frame(*id) {
                        player.shown.frame(&statics, frame, dt);
                    }
                }
                None => {
                    if let Some(watched) = model.watched(*id) {
                        let lost = model
                            .snapshot
                            .as_ref()
                            .and_then(|s| s.subjects.iter().find(|r| r.id == *id))
                            .is_none_or(|r| r.state != hub::SubjectState::Connected);
                        let frame = watched.frame.as_ref().filter(|_| !lost);
                        player.shown.frame(&watched.statics, frame, dt);
                    }
                }
            }
            if model.selected == Some(*id) {
                for (curve, value) in &model.hands {
                    hold(&mut player.shown, curve, *value);
                }
            }
            let aside = (place as f32 - (count as f32 - 1.0) / 2.0) * APART_M;
            player.stand(aside);
        }
    }

    /// A character enters the stage.
    fn enter(&mut self, file: &Path) -> Option<Player> {
        let (gpu, renderer) = (&self.gpu, self.renderer.as_mut()?);
        let loaded = self
            .loaded
            .entry(file.to_owned())
            .or_insert_with(|| load(gpu, renderer, file).map_err(|e| format!("{e:#}")));
        let loaded = loaded.as_ref().ok()?;
        let settings = DoubleSettings::default();
        let shown = Shown::new(&loaded.figure, PuppetAsset::default(), settings);
        match renderer.actor(gpu, &loaded.mesh) {
            Ok(actor) => Some(Player {
                file: file.to_owned(),
                shown,
                actor,
                before: Vec::new(),
            }),
            Err(error) => {
                self.fault = Some(error.to_string());
                None
            }
        }
    }

    fn draw(&mut self, model: &Model, size: (u32, u32)) -> anyhow::Result<egui::TextureId> {
        self.ready(size);
        let camera = self.camera(model);
        self.overlay(model);
        let Some(target) = &self.target else {
            anyhow::bail!("no picture to draw on");
        };
        let renderer = self.renderer.as_mut().context("no renderer")?;
        let mut actors: Vec<Actor> = Vec::new();
        let ids: Vec<u32> = self.players.keys().copied().collect();
        let mut players: Vec<Player> = std::mem::take(&mut self.players).into_values().collect();
        // The renderer wants them side by side.
        let mut rests = Vec::new();
        for player in players.drain(..) {
            let Player {
                file,
                shown,
                actor,
                before,
            } = player;
            actors.push(actor);
            rests.push((file, shown, before));
        }
        let occluders = crate::picture::occluders(
            rests
                .iter()
                .zip(&actors)
                .map(|((_, shown, _), _)| shown.double()),
        );
        let scene = Scene {
            camera,
            ground: model.choices.grid.then(render::shading::Ground::default),
            occluders: &occluders,
            time_secs: self.last_secs as f32,
            ..Scene::studio(&actors, &self.overlays)
        };
        let mut encoder =
            self.gpu
                .device
                .create_command_encoder(&render::wgpu::CommandEncoderDescriptor {
                    label: Some("stage"),
                });
        let drawn = renderer.draw(&self.gpu, &mut encoder, &scene, &target.view, size);
        self.gpu.queue.submit([encoder.finish()]);
        let id = target.id;
        self.players = ids
            .into_iter()
            .zip(rests.into_iter().zip(actors))
            .map(|(id, ((file, shown, before), actor))| {
                let player = Player {
                    file,
                    shown,
                    actor,
                    before,
                };
                (id, player)
            })
            .collect();
        drawn?;
        Ok(id)
    }

    /// A texture of that size, known to the window.
    fn ready(&mut self, size: (u32, u32)) {
        if self.target.as_ref().is_some_and(|t| t.size == size) {
            return;
        }
        let texture = self
            .gpu
            .device
            .create_texture(&render::wgpu::TextureDescriptor {
                label: Some("stage"),
                size: render::wgpu::Extent3d {
                    width: size.0,
                    height: size.1,
                    depth_or_array_layers: 1,
                },
                mip_level_count: 1,
                sample_count: 1,
                dimension: render::wgpu::TextureDimension::D2,
                format: render::wgpu::TextureFormat::Rgba8Unorm,
                usage: render::wgpu::TextureUsages::RENDER_ATTACHMENT
                    | render::wgpu::TextureUsages::TEXTURE_BINDING,
                view_formats: &[],
            });
        let view = texture.create_view(&render::wgpu::TextureViewDescriptor::default());
        let mut egui = self.state.renderer.write();
        let filter = render::wgpu::FilterMode::Linear;
        let id = if let Some(old) = &self.target {
            egui.update_egui_texture_from_wgpu_texture(&self.gpu.device, &view, filter, old.id);
            old.id
        } else {
            egui.register_native_texture(&self.gpu.device, &view, filter)
        };
        drop(egui);
        self.target = Some(Target { view, id, size });
    }

    fn camera(&mut self, model: &Model) -> Camera {
        let choice = &model.choices.camera;
        if let Some(camera) = subject_camera(model, choice) {
            return camera;
        }
        let first = self.players.values().next();
        let face = first.map(Player::face);
        let center = first.map(|p| p.actor.bounds().center());
        let before = std::mem::replace(&mut self.center, center);
        if before.is_none() && center.is_some() {
            // Whoever enters is looked at.
            self.set_for.clear();
        }
        if self.set_for != *choice {
            self.set_for.clone_from(choice);
            self.orbit = if let ("face", Some(face)) = (choice.as_str(), face) {
                Orbit::face(face)
            } else {
                let heights = self.players.values().map(|p| p.actor.bounds().max.y);
                let mut orbit = Orbit::body(heights.fold(1.7, f32::max));
                if let Some(center) = center {
                    orbit.target = Vec3::new(center.x, orbit.target.y, center.z);
                }
                orbit
            };
        }
        if let Some(center) = center {
            match (choice.as_str(), before) {
                ("follow", _) => {
                    self.orbit.target = Vec3::new(center.x, self.orbit.target.y, center.z);
                }
                ("body", Some(before)) => {
                    self.orbit.target = on_leash(self.orbit.target, before, center);
                }
                _ => {}
            }
        }
        self.orbit.camera()
    }

    fn overlay(&mut self, model: &Model) {
        let choices = &model.choices;
        let overlays = &mut self.overlays;
        overlays.clear();
        for player in self.players.values() {
            let double = player.shown.double();
            let figure = double.figure();
            let world = player.world();
            let globals = double.globals();
            let node_of = |bone: usize| figure.nodes().get(bone).copied();
            let at = |bone: usize| Some(world * *globals.get(node_of(bone)?)?);
            if choices.skeleton {
                overlays.skeleton(at, figure.rig().parents(), BONE_COLOR);
            }
            if choices.axes {
                for bone in 0..figure.rig().len() {
                    if let Some(global) = at(bone) {
                        overlays.axes(global, 0.04);
                    }
                }
            }
            if choices.bounds {
                overlays.bounds(&player.actor.bounds(), [1.0, 1.0, 1.0, 0.5]);
            }
            if choices.velocity {
                for (bone, before) in player.before.iter().enumerate() {
                    if let Some(global) = at(bone) {
                        let now = global.w_axis.truncate();
                        overlays.line(now, now + (now - *before) * 6.0, [0.3, 1.0, 0.4, 0.9], 1.5);
                    }
                }
            }
            let Some(retargeter) = double.puppet().and_then(drive::Puppet::retargeter) else {
                continue;
            };
            let aside = Mat4::from_translation(player.aside() + Vec3::X * 0.9);
            if choices.source
                && let Some((rig, _)) = double.puppet().and_then(drive::Puppet::source)
            {
                let globals = retargeter.source_globals();
                let at = |bone: usize| {
                    let t = globals.get(bone)?;
                    Some(aside * Mat4::from_rotation_translation(t.rotation, t.translation))
                };
                overlays.skeleton(at, rig.parents(), SOURCE_COLOR);
            }
            if choices.retarget {
                let here = Mat4::from_translation(player.aside());
                for mark in retargeter.marks() {
                    let at = here.transform_point3(mark.at);
                    if mark.is_contact {
                        overlays.ring(at, Vec3::Y, 0.06, [0.2, 1.0, 0.4, 1.0]);
                    } else {
                        overlays.cross(at, 0.03, [1.0, 0.3, 0.9, 1.0]);
                    }
                    let reached = here.transform_point3(mark.reached);
                    overlays.line(at, reached, [1.0, 0.2, 0.2, 1.0], 3.0);
                }
            }
        }
    }
}

impl Player {
    /// `world_from_model`, where it stands.
    fn world(&self) -> Mat4 {
        let place = self.shown.double().place();
        Mat4::from_rotation_translation(place.rotation, place.translation)
    }

    fn aside(&self) -> Vec3 {
        self.shown.double().place().translation
    }

    /// Stands so far to the side, and gives its pose to the picture.
    fn stand(&mut self, aside: f32) {
        self.shown.double_mut().stand_at(Vec3::new(aside, 0.0, 0.0));
        let world = self.world();
        let double = self.shown.double();
        self.actor
            .set_pose(double.globals(), &double.pose().weights, world);
    }

    /// The middle of its face.
    fn face(&self) -> Vec3 {
        crate::picture::face_center(self.shown.double())
    }
}

/// Where the camera looks when a character at `before` is at `now`: a few steps leave it where it is, whoever goes further
/// takes it along. A view that the operator moved aside stays aside. Metres, +Y up.
fn on_leash(target: Vec3, before: Vec3, now: Vec3) -> Vec3 {
    let flat = |v: Vec3| Vec3::new(v.x, 0.0, v.z);
    if flat(now - target).length() > LEASH_M {
        target + flat(now - before)
    } else {
        target
    }
}

fn hold(shown: &mut Shown, curve: &str, value: f32) {
    let names = shown.double().figure().face().names();
    let key = retarget::face::curve_key(curve);
    let name = names
        .iter()
        .find(|n| retarget::face::curve_key(n) == key)
        .cloned();
    if let Some(name) = name {
        shown.double_mut().hold_curve(&name, value);
    }
}

fn load(gpu: &Gpu, renderer: &mut Renderer, file: &Path) -> anyhow::Result<Loaded> {
    let figure = cast::figure(file)?;
    let geometry = figure.character().geometry()?;
    let mesh = renderer.upload(gpu, figure.character(), &geometry)?;
    Ok(Loaded { figure, mesh })
}

/// A subject that is a camera.
fn subject_camera(model: &Model, name: &str) -> Option<Camera> {
    let snapshot = model.snapshot.as_ref()?;
    let row = snapshot
        .subjects
        .iter()
        .find(|r| r.role == "camera" && r.name == name)?;
    let FrameBody::Camera(camera) = &model.watched(row.id)?.frame.as_ref()?.body else {
        return None;
    };
    Some(crate::picture::camera_of(camera, Placement::IDENTITY))
}

fn toolbar(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let mut choices = model.choices.clone();
    ui.horizontal_wrapped(|ui| {
        let mut cameras = vec!["body".to_owned(), "face".into(), "follow".into()];
        if let Some(snapshot) = &model.snapshot {
            let of_role = snapshot.subjects.iter().filter(|r| r.role == "camera");
            cameras.extend(of_role.map(|r| r.name.clone()));
        }
        egui::ComboBox::from_label("Camera")
            .selected_text(&choices.camera)
            .show_ui(ui, |ui| {
                for camera in cameras {
                    ui.selectable_value(&mut choices.camera, camera.clone(), camera);
                }
            });
        ui.checkbox(&mut choices.skeleton, "Bones");
        ui.checkbox(&mut choices.axes, "Axes");
        ui.checkbox(&mut choices.source, "Performer");
        ui.checkbox(&mut choices.retarget, "Contacts, goals");
        ui.checkbox(&mut choices.velocity, "Velocity");
        ui.checkbox(&mut choices.bounds, "Bounds");
        ui.checkbox(&mut choices.grid, "Floor");
    });
    if choices != model.choices {
        actions.push(Action::Choices(Box::new(choices)));
    }
}

/// What a playback gives of one subject.
type Given<'a> = (Arc<StaticData>, Option<&'a FrameData>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walker_stays_in_view_a_step_moves_nothing_and_a_view_aside_stays_aside() {
        let eyes = Vec3::new(0.0, 1.0, 0.0);
        let at = |x: f32| Vec3::new(x, 0.9, 0.0);
        assert_eq!(on_leash(eyes, at(0.0), at(0.6)), eyes);
        let mut target = eyes;
        for step in 0..100 {
            let x = step as f32 * 0.1;
            target = on_leash(target, at(x), at(x + 0.1));
            assert!((target.x - (x + 0.1)).abs() <= LEASH_M + 1e-4);
        }
        // A file that begins again: a jump of ten metres, up as well.
        let there = on_leash(eyes, at(0.5), Vec3::new(0.5, 3.0, -10.0));
        assert_eq!(there, Vec3::new(0.0, 1.0, -10.0));
        // The operator looks three metres past someone who stands.
        let aside = Vec3::new(3.0, 1.0, 0.0);
        assert_eq!(on_leash(aside, at(0.0), at(0.0)), aside);
    }
}
