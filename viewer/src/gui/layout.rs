//! Panels that dock, and how they stood when the window was closed.

use std::path::Path;

use egui_tiles::{
    Behavior, Container, SimplificationOptions, Tile, TileId, Tiles, Tree, UiResponse,
};

use super::Pane;

/// File of the layout in the user's folder.
const FILE: &str = "layout.json";
/// Largest layout that is read.
const MAX_BYTES: u64 = 256 << 10;
/// The tree's name for egui.
const TREE: &str = "panes";

/// Panels at first: the list and details left, the stage in the middle, curves and takes right, the rest below.
pub(super) fn usual() -> Tree<Pane> {
    let mut tiles = Tiles::default();
    let pane = |tiles: &mut Tiles<Pane>, pane| tiles.insert_pane(pane);
    let subjects = pane(&mut tiles, Pane::Subjects);
    let details = pane(&mut tiles, Pane::Details);
    let viewport = pane(&mut tiles, Pane::Viewport);
    let curves = pane(&mut tiles, Pane::Curves);
    let record = pane(&mut tiles, Pane::Record);
    let takes = pane(&mut tiles, Pane::Takes);
    let doctor = pane(&mut tiles, Pane::Doctor);
    let log = pane(&mut tiles, Pane::Log);
    let left = tiles.insert_vertical_tile(vec![subjects, details]);
    let below = tiles.insert_tab_tile(vec![takes, log, doctor]);
    let right = tiles.insert_vertical_tile(vec![curves, below]);
    let upper = tiles.insert_horizontal_tile(vec![left, viewport, right]);
    let root = tiles.insert_vertical_tile(vec![record, upper]);
    let share = |tiles: &mut Tiles<Pane>, parent: TileId, child: TileId, share: f32| {
        if let Some(Tile::Container(Container::Linear(linear))) = tiles.get_mut(parent) {
            linear.shares.set_share(child, share);
        }
    };
    share(&mut tiles, root, record, 0.13);
    share(&mut tiles, root, upper, 0.87);
    share(&mut tiles, upper, left, 0.3);
    share(&mut tiles, upper, viewport, 0.42);
    share(&mut tiles, upper, right, 0.28);
    Tree::new(egui::Id::unique(TREE), root, tiles)
}

/// The layout as it was left, if it can be read and has every panel once.
pub(super) fn load(folder: &Path) -> Option<Tree<Pane>> {
    let path = folder.join(FILE);
    if std::fs::metadata(&path).ok()?.len() > MAX_BYTES {
        return None;
    }
    let tree: Tree<Pane> = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    let mut found: Vec<Pane> = tree
        .tiles
        .tiles()
        .filter_map(|tile| match tile {
            Tile::Pane(pane) => Some(*pane),
            Tile::Container(_) => None,
        })
        .collect();
    found.sort_unstable();
    let mut all = Pane::ALL.to_vec();
    all.sort_unstable();
    (found == all && tree.root().is_some()).then_some(tree)
}

/// Keeps the layout.
///
/// # Errors
/// When it cannot be written.
pub(super) fn save(folder: &Path, tree: &Tree<Pane>) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let temporary = folder.join("layout.partial");
    std::fs::write(&temporary, serde_json::to_vec(tree)?)?;
    std::fs::rename(temporary, folder.join(FILE))
}

/// Shows or hides a panel; a hidden one is shown as the front of its tabs.
pub(super) fn toggle(tree: &mut Tree<Pane>, pane: Pane) {
    if let Some(id) = tree.tiles.find_pane(&pane) {
        let visible = tree.tiles.is_visible(id);
        tree.tiles.set_visible(id, !visible);
        if !visible {
            tree.make_active(|tile, _| tile == id);
        }
    }
}

/// Brings a panel to the front.
pub(super) fn show(tree: &mut Tree<Pane>, pane: Pane) {
    if let Some(id) = tree.tiles.find_pane(&pane) {
        tree.tiles.set_visible(id, true);
        tree.make_active(|tile, _| tile == id);
    }
}

/// Draws each panel by one function.
pub(super) struct Panes<F> {
    pub(super) draw: F,
}

impl<F: FnMut(&mut egui::Ui, Pane)> Behavior<Pane> for Panes<F> {
    fn pane_ui(&mut self, ui: &mut egui::Ui, _tile: TileId, pane: &mut Pane) -> UiResponse {
        egui::Frame::new()
            .inner_margin(6)
            .show(ui, |ui| (self.draw)(ui, *pane));
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &Pane) -> egui::WidgetText {
        pane.title().into()
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions {
            // Every panel has a title to be found by, and to be dragged.
            all_panes_must_have_tabs: true,
            ..SimplificationOptions::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_found_again_and_one_without_a_panel_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let mut tree = usual();
        toggle(&mut tree, Pane::Log);
        save(folder.path(), &tree).unwrap();
        let again = load(folder.path()).unwrap();
        let log = again.tiles.find_pane(&Pane::Log).unwrap();
        assert!(!again.tiles.is_visible(log));
        tree.tiles.remove(log);
        save(folder.path(), &tree).unwrap();
        assert!(load(folder.path()).is_none());
        std::fs::write(folder.path().join(FILE), "{").unwrap();
        assert!(load(folder.path()).is_none());
    }
}
