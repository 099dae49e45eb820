//! A field whose text is the hub's.

use egui::{Id, Key, TextEdit, Ui};

/// Draws it; what was typed, once, when the hand leaves the field. Escape lets it go.
///
/// The hub's answer takes longer than the next key: until then egui keeps what is typed, as it does for numbers.
pub(super) fn show(
    ui: &mut Ui,
    id: Id,
    label: Id,
    told: &str,
    hint: &str,
    width: f32,
) -> Option<String> {
    let draft = ui.data(|data| data.get_temp::<String>(id));
    let is_drafted = draft.is_some();
    let mut text = draft.unwrap_or_else(|| told.to_owned());
    let edit = TextEdit::singleline(&mut text)
        .id(id)
        .hint_text(hint)
        .char_limit(120)
        .desired_width(width);
    let response = ui.add(edit).labelled_by(label);
    if response.has_focus() {
        if response.changed() {
            ui.data_mut(|data| data.insert_temp(id, text));
        }
        return None;
    }
    // A screen reader sets the text without the focus.
    if !is_drafted && !response.changed() {
        return None;
    }
    ui.data_mut(|data| data.remove_temp::<String>(id));
    let is_let_go = ui.input(|i| i.key_pressed(Key::Escape));
    (!is_let_go && text != told).then_some(text)
}
