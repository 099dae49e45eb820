//! Colours and sizes, and fonts for every script.

use egui::{Color32, CornerRadius, FontFamily, Stroke, Visuals};
use hub::SubjectState;

use super::Theme;

/// What a colour says. Never the only thing that says it: a word or a mark stands beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// As it should be.
    Good,
    /// Someone should look.
    Careful,
    /// Something is wrong.
    Bad,
    /// Off, or nothing to say.
    Quiet,
    /// A take is made.
    Record,
    /// Chosen, or to be pressed.
    Accent,
}

/// The colour of a tone on the theme's background, at a contrast of at least 4.5 to 1.
pub(super) fn color(ui: &egui::Ui, tone: Tone) -> Color32 {
    of(tone, ui.visuals().dark_mode)
}

fn of(tone: Tone, dark: bool) -> Color32 {
    let rgb = Color32::from_rgb;
    match (tone, dark) {
        (Tone::Good, true) => rgb(110, 210, 130),
        (Tone::Good, false) => rgb(0, 110, 50),
        (Tone::Careful, true) => rgb(240, 190, 80),
        (Tone::Careful, false) => rgb(135, 85, 0),
        (Tone::Bad, true) => rgb(255, 120, 110),
        (Tone::Bad, false) => rgb(180, 20, 20),
        (Tone::Quiet, true) => rgb(160, 162, 168),
        (Tone::Quiet, false) => rgb(95, 98, 104),
        (Tone::Record, true) => rgb(255, 95, 90),
        (Tone::Record, false) => rgb(190, 0, 10),
        (Tone::Accent, true) => rgb(255, 200, 120),
        (Tone::Accent, false) => rgb(150, 75, 0),
    }
}

/// The tone and mark of a subject's state.
pub(super) fn of_state(state: SubjectState) -> (Tone, &'static str) {
    match state {
        SubjectState::Connected => (Tone::Good, "●"),
        SubjectState::Unresponsive => (Tone::Bad, "▲"),
        SubjectState::Disconnected => (Tone::Quiet, "■"),
        _ => (Tone::Careful, "◆"),
    }
}

/// Sets colours and sizes.
pub(super) fn apply(ctx: &egui::Context, theme: Theme) {
    let dark = theme == Theme::Dark;
    let mut visuals = if dark {
        Visuals::dark()
    } else {
        Visuals::light()
    };
    let gray = Color32::from_gray;
    if dark {
        visuals.panel_fill = gray(24);
        visuals.window_fill = gray(30);
        visuals.extreme_bg_color = gray(14);
        visuals.faint_bg_color = gray(30);
        visuals.override_text_color = Some(gray(225));
    } else {
        visuals.panel_fill = gray(246);
        visuals.override_text_color = Some(gray(20));
    }
    let accent = of(Tone::Accent, dark);
    visuals.selection.bg_fill = accent.gamma_multiply(0.35);
    visuals.selection.stroke = Stroke::new(1.0, accent);
    visuals.hyperlink_color = accent;
    for widget in [
        &mut visuals.widgets.noninteractive,
        &mut visuals.widgets.inactive,
        &mut visuals.widgets.hovered,
        &mut visuals.widgets.active,
        &mut visuals.widgets.open,
    ] {
        widget.corner_radius = CornerRadius::same(3);
    }
    ctx.set_visuals(visuals);
}

/// Names of font files that have Chinese, Japanese and Korean, the best first.
const FILES: [&str; 14] = [
    "NotoSansCJK-Regular.ttc",
    "NotoSansCJKsc-Regular.otf",
    "NotoSansCJKjp-Regular.otf",
    "NotoSansSC-Regular.otf",
    "SourceHanSans-Regular.ttc",
    "SourceHanSansSC-Regular.otf",
    "wqy-microhei.ttc",
    "wqy-zenhei.ttc",
    "DroidSansFallbackFull.ttf",
    "msyh.ttc",
    "YuGothM.ttc",
    "Hiragino Sans GB.ttc",
    "PingFang.ttc",
    "AppleSDGothicNeo.ttc",
];
/// Largest font file.
const MAX_BYTES: u64 = 64 << 20;
/// How deep fonts are looked for.
const MAX_DEPTH: usize = 5;

/// Folders in which systems keep fonts.
fn folders() -> Vec<std::path::PathBuf> {
    let mut all: Vec<std::path::PathBuf> = [
        "/usr/share/fonts",
        "/usr/local/share/fonts",
        "/System/Library/Fonts",
        "/Library/Fonts",
        "C:\\Windows\\Fonts",
    ]
    .iter()
    .map(Into::into)
    .collect();
    if let Some(home) = std::env::home_dir() {
        all.push(home.join(".fonts"));
        all.push(home.join(".local/share/fonts"));
        all.push(home.join("Library/Fonts"));
    }
    all
}

fn find(folder: &std::path::Path, depth: usize, best: &mut Option<(usize, std::path::PathBuf)>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() && depth < MAX_DEPTH {
            find(&path, depth + 1, best);
        } else if let Some(name) = path.file_name().and_then(|n| n.to_str())
            && let Some(rank) = FILES.iter().position(|f| f.eq_ignore_ascii_case(name))
            && best.as_ref().is_none_or(|(b, _)| rank < *b)
            && std::fs::metadata(&path).is_ok_and(|m| m.len() <= MAX_BYTES)
        {
            *best = Some((rank, path));
        }
    }
}

/// Adds a font for Chinese, Japanese and Korean from those of the system; what to tell when there is none.
pub(super) fn add_fonts(ctx: &egui::Context) -> Option<String> {
    let mut fonts = egui::FontDefinitions::default();
    let mut add = |family, name: &str| {
        // Last: Latin letters keep egui's own face.
        let names = fonts.families.entry(family).or_default();
        names.push(name.to_owned());
    };
    // It alone has the marks beside words: circles, triangles, arrows.
    add(FontFamily::Proportional, "Hack");
    let found = system_font();
    if found.is_ok() {
        add(FontFamily::Proportional, "cjk");
        add(FontFamily::Monospace, "cjk");
    }
    let note = match found {
        Ok(bytes) => {
            let font = egui::FontData::from_owned(bytes);
            let font = std::sync::Arc::new(font);
            fonts.font_data.insert("cjk".into(), font);
            None
        }
        Err(why) => Some(why),
    };
    ctx.set_fonts(fonts);
    note
}

/// The best font of the system for Chinese, Japanese and Korean, or what to tell when there is none.
fn system_font() -> Result<Vec<u8>, String> {
    let mut best = None;
    for folder in folders() {
        find(&folder, 0, &mut best);
    }
    let Some((_, path)) = best else {
        return Err(
            "No font of this system has Chinese, Japanese and Korean: such names are shown as boxes. Install Noto Sans CJK (Debian: fonts-noto-cjk).".into(),
        );
    };
    std::fs::read(&path).map_err(|e| format!("cannot read the font {}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contrast by the formula of WCAG 2.1.
    fn contrast(a: Color32, b: Color32) -> f64 {
        let luminance = |c: Color32| {
            let linear = |v: u8| {
                let v = f64::from(v) / 255.0;
                if v <= 0.04045 {
                    v / 12.92
                } else {
                    ((v + 0.055) / 1.055).powf(2.4)
                }
            };
            0.2126 * linear(c.r()) + 0.7152 * linear(c.g()) + 0.0722 * linear(c.b())
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_tone_can_be_read_on_both_backgrounds() {
        for tone in [
            Tone::Good,
            Tone::Careful,
            Tone::Bad,
            Tone::Quiet,
            Tone::Record,
            Tone::Accent,
        ] {
            for (dark, background) in [(true, 30), (false, 246)] {
                let contrast = contrast(of(tone, dark), Color32::from_gray(background));
                assert!(contrast >= 4.5, "{tone:?} {dark}: {contrast:.2}");
            }
        }
    }
}
