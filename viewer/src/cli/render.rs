//! `ghostlight render`: a take as pictures, without a window.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use drive::{DoubleSettings, Figure};
use hub::{FrameBody, FrameRate, StaticData, client::SourceSettings};
use recordings::{
    act,
    bake::{Rows, bake},
    performance::{self, Performance, TakeContent},
};
use render::{
    Camera, Gpu, GpuOptions, Orbit, Picture, Placement, Renderer, Scene, Settings,
    overlays::Overlays,
    shading::{Background, Ground},
};
use serde_json::json;

use crate::{
    cast,
    output::{Outcome, Output},
    picture,
    shown::Shown,
};

/// Pictures of a contact sheet, and its columns.
const SHEET: usize = 12;
const SHEET_COLUMNS: u32 = 4;
/// Pictures at once, unless more are asked for by their frames.
const MAX_FRAMES: usize = 100_000;
/// Seconds that a character settles before the first picture.
const SETTLE_SECS: f32 = 1.0;

/// What is behind the character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum BackgroundArg {
    /// A paper roll in a studio
    #[default]
    Studio,
    /// The sky by which it is lit
    Sky,
    /// Nothing: the pictures have an alpha channel
    Transparent,
}

#[derive(Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(super) struct RenderArgs {
    /// The take
    take: PathBuf,
    /// The character: a GLB, glTF or VRM file, or "builtin"
    #[arg(long, value_name = "FILE|builtin", default_value = cast::BUILTIN)]
    character: PathBuf,
    /// What you decided about body and face (TOML)
    #[arg(long, value_name = "FILE")]
    asset: Option<PathBuf>,
    /// Only this subject; default the first that drives the character
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,
    /// Where one looks from: "body", "face", or the name of a subject of the take that is a camera
    #[arg(long, value_name = "body|face|NAME", default_value = "body")]
    camera: String,
    /// Turns the camera about the character, degrees; positive to its left
    #[arg(
        long,
        value_name = "D",
        default_value_t = 0.0,
        allow_hyphen_values = true
    )]
    turn: f32,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size)]
    size: (u32, u32),
    /// Frames from A to B, both included, counted from 0; default all
    #[arg(long, value_name = "A..B", value_parser = frames, conflicts_with = "times")]
    frames: Option<(usize, usize)>,
    /// Only at these seconds (separated by commas)
    #[arg(long, value_name = "S,…", value_delimiter = ',')]
    times: Vec<f64>,
    /// Even frame rate; default the take's own
    #[arg(long, value_name = "R")]
    rate: Option<FrameRate>,
    /// Behind the character
    #[arg(long, value_enum, default_value_t)]
    background: BackgroundArg,
    /// Draw bones over it
    #[arg(long)]
    bones: bool,
    /// Leave the floor out
    #[arg(long)]
    no_floor: bool,
    /// Folder for the pictures
    #[arg(long, value_name = "DIR", required_unless_present = "raw")]
    out: Option<PathBuf>,
    /// One picture of twelve moments, as DIR/sheet.png, in place of one a frame
    #[arg(long)]
    sheet: bool,
    /// Write raw RGBA frames to standard output, for `ffmpeg -f rawvideo -pix_fmt rgba -s WxH -r RATE -i -`
    #[arg(long, conflicts_with = "sheet")]
    raw: bool,
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let read = || {
        let (width, height) = text.split_once('x')?;
        let (width, height) = (width.parse().ok()?, height.parse().ok()?);
        let is_good = |side: &u32| (16..=8192).contains(side);
        (is_good(&width) && is_good(&height)).then_some((width, height))
    };
    read().ok_or_else(|| format!("{text:?} is no size such as 1280x720, 16 to 8192 a side"))
}

fn frames(text: &str) -> Result<(usize, usize), String> {
    let read = || {
        let (from, to) = text.split_once("..")?;
        let (from, to) = (from.parse().ok()?, to.parse().ok()?);
        (from <= to).then_some((from, to))
    };
    read().ok_or_else(|| format!("{text:?} is no range such as 0..99"))
}

/// Everything that a picture is made with.
struct Studio {
    gpu: Gpu,
    renderer: Renderer,
    actors: [render::Actor; 1],
    shown: Shown,
    statics: Arc<StaticData>,
}

pub(super) fn run(args: &RenderArgs, out: Output) -> anyhow::Result<Outcome> {
    let content = performance::load(&args.take)?;
    let figure = cast::figure(&args.character)?;
    let (rows, subject) = performer(args, &content, &figure)?;
    let gpu = Gpu::headless(GpuOptions::default())?;
    out.note(&format!("drawing with {}", gpu.info.name));
    let mut studio = Studio::new(args, gpu, &figure, &rows)?;
    let wanted = wanted(args, &rows)?;
    let camera = Cameras::new(args, &content, subject)?;
    studio.settle(&rows);
    let folder = args.out.as_deref();
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    }
    let mut sheet: Vec<Picture> = Vec::new();
    let mut before: Option<i64> = None;
    let mut made = 0usize;
    let last = wanted.last().copied().unwrap_or(0);
    let mut orbit = None;
    for (index, row) in rows.rows.iter().enumerate().take(last + 1) {
        let dt = before.map_or(0.0, |b| (row.nanos - b) as f32 / 1e9);
        before = Some(row.nanos);
        // Every frame is acted, drawn or not: what swings and stands depends on what was.
        let statics = Arc::clone(&studio.statics);
        studio.shown.frame(&statics, Some(&row.data), dt);
        if wanted.binary_search(&index).is_err() {
            continue;
        }
        let camera = camera.at(row.nanos, &studio, args, &mut orbit);
        let picture = studio.draw(args, camera, row.nanos)?;
        made += 1;
        if args.raw {
            std::io::stdout()
                .lock()
                .write_all(&picture.rgba)
                .context("cannot write the frames")?;
        } else if args.sheet {
            sheet.push(picture);
        } else if let Some(folder) = folder {
            save(&picture, &folder.join(format!("{index:06}.png")))?;
        }
        if made.is_multiple_of(30) {
            out.note(&format!("  {made} of {} pictures", wanted.len()));
        }
    }
    if let (true, Some(folder)) = (args.sheet, folder) {
        save(&tiled(&sheet, SHEET_COLUMNS), &folder.join("sheet.png"))?;
    }
    if let Some(fault) = studio.shown.fault() {
        bail!("the subject does not move the character: {fault}");
    }
    if !args.raw {
        let event = json!({
            "event": "render",
            "take": args.take,
            "character": args.character,
            "pictures": made,
            "size": [args.size.0, args.size.1],
            "adapter": studio.gpu.info.name,
            "out": args.out,
        });
        let place = folder.map_or_else(String::new, |f| f.display().to_string());
        out.say(&event, &format!("{made} pictures in {place}"));
    }
    Ok(Outcome::lossy(
        content.stats.damaged > 0 || !content.stats.complete,
    ))
}

/// The rows of whoever drives the character.
fn performer<'c>(
    args: &RenderArgs,
    content: &'c TakeContent,
    figure: &Arc<Figure>,
) -> anyhow::Result<(Rows, &'c Performance)> {
    let asset = cast::asset(args.asset.as_deref())?;
    let mut reasons = Vec::new();
    for subject in &content.subjects {
        let name = subject.key.name.as_str();
        if args.subject.as_deref().is_some_and(|s| s != name) {
            continue;
        }
        let longest = subject.generations.iter().max_by_key(|g| g.frames.len());
        let baked = longest.and_then(|generation| {
            let settings = SourceSettings::default();
            let own = bake(&subject.key, generation, None, settings)?;
            let rate = args.rate.unwrap_or(own.rate);
            bake(&subject.key, generation, Some(rate), settings)
        });
        let Some(rows) = baked else {
            reasons.push(format!("{name}: no frame with values"));
            continue;
        };
        if figure.is_own(&rows.statics) {
            return Ok((rows, subject));
        }
        let stances = act::stances(&rows);
        match cast::puppet(figure, &rows.statics, &asset, None, &stances) {
            Ok(_) => return Ok((rows, subject)),
            Err(error) => reasons.push(format!("{name}: {error}")),
        }
    }
    bail!(
        "no subject of the take drives {}: {}",
        args.character.display(),
        reasons.join("; ")
    )
}

/// Indices of the frames that are drawn, rising.
fn wanted(args: &RenderArgs, rows: &Rows) -> anyhow::Result<Vec<usize>> {
    let count = rows.rows.len();
    let mut all: Vec<usize> = if !args.times.is_empty() {
        args.times
            .iter()
            .map(|secs| {
                let nanos = (secs * 1e9) as i64;
                rows.rows.partition_point(|r| r.nanos < nanos)
            })
            .collect()
    } else if let Some((from, to)) = args.frames {
        (from..=to).collect()
    } else {
        (0..count).collect()
    };
    all.retain(|i| *i < count);
    if args.sheet {
        let every = (all.len() as f64 / SHEET as f64).max(1.0);
        all = (0..SHEET)
            .filter_map(|i| all.get((i as f64 * every) as usize).copied())
            .collect();
    }
    all.sort_unstable();
    all.dedup();
    if all.is_empty() {
        bail!("the take has {count} frames; none of those asked for is among them");
    }
    if all.len() > MAX_FRAMES {
        bail!(
            "{} pictures are more than {MAX_FRAMES}; choose with --frames",
            all.len()
        );
    }
    Ok(all)
}

/// Where one looks from.
enum Cameras {
    Body,
    Face,
    /// A subject of the take, and when its first row was against the performer's.
    Subject {
        rows: Rows,
        ahead_nanos: i64,
    },
}

impl Cameras {
    fn new(
        args: &RenderArgs,
        content: &TakeContent,
        performer: &Performance,
    ) -> anyhow::Result<Self> {
        match args.camera.as_str() {
            "body" => return Ok(Self::Body),
            "face" => return Ok(Self::Face),
            _ => {}
        }
        let arrival = |p: &Performance| {
            let longest = p.generations.iter().max_by_key(|g| g.frames.len());
            let first = longest.and_then(|g| g.frames.first());
            first.map_or(0, |f| f.meta.arrival.as_nanos())
        };
        let subject = content
            .subjects
            .iter()
            .find(|s| s.key.name.as_str() == args.camera);
        let Some(subject) = subject else {
            bail!(
                "--camera {:?}: the take has no such subject; body and face are always there",
                args.camera
            );
        };
        let longest = subject.generations.iter().max_by_key(|g| g.frames.len());
        let rows = longest
            .filter(|g| g.statics.role() == hub::Role::Camera)
            .and_then(|g| bake(&subject.key, g, None, SourceSettings::default()));
        let Some(rows) = rows else {
            bail!("--camera {:?}: the subject is no camera", args.camera);
        };
        Ok(Self::Subject {
            rows,
            ahead_nanos: arrival(performer) - arrival(subject),
        })
    }

    fn at(
        &self,
        nanos: i64,
        studio: &Studio,
        args: &RenderArgs,
        orbit: &mut Option<Orbit>,
    ) -> Camera {
        if let Self::Subject { rows, ahead_nanos } = self {
            let at = nanos + ahead_nanos;
            let after = rows.rows.partition_point(|r| r.nanos <= at);
            let row = rows.rows.get(after.saturating_sub(1));
            if let Some(FrameBody::Camera(frame)) = row.map(|r| &r.data.body) {
                return picture::camera_of(frame, Placement::IDENTITY);
            }
        }
        let double = studio.shown.double();
        let mut arm = *orbit.get_or_insert_with(|| match self {
            Self::Face => Orbit {
                // The head and some air, whatever the shape of the picture.
                distance: 0.9,
                ..Orbit::face(picture::face_center(double))
            },
            _ => Orbit::body(studio.actors[0].bounds().max.y.clamp(0.3, 4.0)),
        });
        if matches!(self, Self::Face) {
            arm.target = picture::face_center(double);
        } else {
            // Along the floor the camera goes with whoever is seen.
            let center = studio.actors[0].bounds().center();
            arm.target = glam::Vec3::new(center.x, arm.target.y, center.z);
        }
        arm.yaw_rad += args.turn.to_radians();
        arm.camera()
    }
}

impl Studio {
    fn new(args: &RenderArgs, gpu: Gpu, figure: &Arc<Figure>, rows: &Rows) -> anyhow::Result<Self> {
        let mut renderer = Renderer::new(&gpu, Settings::default())?;
        let geometry = figure.character().geometry()?;
        let model = renderer.upload(&gpu, figure.character(), &geometry)?;
        let actor = renderer.actor(&gpu, &model)?;
        let asset = cast::asset(args.asset.as_deref())?;
        let settings = DoubleSettings {
            loss: asset.loss,
            ..DoubleSettings::default()
        };
        let mut shown = Shown::new(figure, asset, settings);
        shown.set_stances(act::stances(rows));
        Ok(Self {
            gpu,
            renderer,
            actors: [actor],
            shown,
            statics: Arc::new(rows.statics.clone()),
        })
    }

    /// Feet find the floor, and what swings hangs.
    fn settle(&mut self, rows: &Rows) {
        let Some(first) = rows.rows.first() else {
            return;
        };
        let steps = (SETTLE_SECS * 60.0) as usize;
        let statics = Arc::clone(&self.statics);
        for _ in 0..steps {
            self.shown
                .frame(&statics, Some(&first.data), SETTLE_SECS / steps as f32);
        }
    }

    fn draw(&mut self, args: &RenderArgs, camera: Camera, nanos: i64) -> anyhow::Result<Picture> {
        let double = self.shown.double();
        let place = double.place();
        let world = glam::Mat4::from_rotation_translation(place.rotation, place.translation);
        self.actors[0].set_pose(double.globals(), &double.pose().weights, world);
        let mut overlays = Overlays::default();
        if args.bones {
            let figure = double.figure();
            let at = |bone: usize| {
                let node = figure.nodes().get(bone)?;
                Some(world * *double.globals().get(*node)?)
            };
            overlays.skeleton(at, figure.rig().parents(), [1.0, 0.72, 0.25, 0.95]);
        }
        let occluders = picture::occluders(std::iter::once(double));
        let scene = Scene {
            camera,
            ground: (!args.no_floor).then(Ground::default),
            background: match args.background {
                BackgroundArg::Studio => Background::default(),
                BackgroundArg::Sky => Background::Sky,
                BackgroundArg::Transparent => Background::Transparent,
            },
            occluders: &occluders,
            time_secs: nanos as f32 / 1e9,
            ..Scene::studio(&self.actors, &overlays)
        };
        Ok(self.renderer.picture(&self.gpu, &scene, args.size)?)
    }
}

/// Pictures of one size side by side, row by row.
fn tiled(pictures: &[Picture], columns: u32) -> Picture {
    let (width, height) = pictures.first().map_or((1, 1), |p| (p.width, p.height));
    let rows = (pictures.len() as u32).div_ceil(columns).max(1);
    let columns = columns.min(pictures.len().max(1) as u32);
    let mut sheet = Picture {
        width: width * columns,
        height: height * rows,
        rgba: vec![0; (width * columns * height * rows * 4) as usize],
    };
    let stride = (sheet.width * 4) as usize;
    let line = (width * 4) as usize;
    for (at, picture) in pictures.iter().enumerate() {
        let left = (at as u32 % columns * width * 4) as usize;
        let top = (at as u32 / columns * height) as usize;
        for (y, from) in picture.rgba.chunks_exact(line).enumerate() {
            let start = (top + y) * stride + left;
            if let Some(to) = sheet.rgba.get_mut(start..start + line) {
                to.copy_from_slice(from);
            }
        }
    }
    sheet
}

fn save(picture: &Picture, path: &Path) -> anyhow::Result<()> {
    image::save_buffer(
        path,
        &picture.rgba,
        picture.width,
        picture.height,
        image::ExtendedColorType::Rgba8,
    )
    .with_context(|| format!("cannot write {}", path.display()))
}
