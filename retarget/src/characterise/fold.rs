//! Width and accents of names folded, as far as names of bones need it: of Unicode's NFKC the full-width ASCII
//! letters, the half-width katakana, and kana with their voice marks apart. What else it folds no rig has shown.

/// U+FF66 to U+FF9D in their usual width.
const HALF_WIDTH: &str = "ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン";
/// Kana whose voiced form is the next code point.
const VOICED_NEXT: &str =
    "かきくけこさしすせそたちつてとはひふへほカキクケコサシスセソタチツテトハヒフヘホ";
/// Kana whose half-voiced form is the one after.
const HALF_VOICED: &str = "はひふへほハヒフヘホ";

/// A name with widths folded; case and separators stay.
pub(super) fn fold(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        let folded = match c {
            '\u{ff01}'..='\u{ff5e}' => moved(c, -0xfee0),
            '\u{3000}' => Some(' '),
            '\u{ff66}'..='\u{ff9d}' => HALF_WIDTH.chars().nth((c as u32 - 0xff66) as usize),
            // Voice marks: half-width, combining, alone.
            '\u{ff9e}' | '\u{3099}' | '\u{309b}' => marked(&mut out, voiced),
            '\u{ff9f}' | '\u{309a}' | '\u{309c}' => marked(&mut out, half_voiced),
            _ => None,
        };
        out.push(folded.unwrap_or(c));
    }
    out
}

/// The last character with the mark on it, taken out; `None` and untouched if it bears none.
fn marked(out: &mut String, mark: fn(char) -> Option<char>) -> Option<char> {
    let composed = mark(out.chars().next_back()?)?;
    out.pop();
    Some(composed)
}

fn voiced(c: char) -> Option<char> {
    match c {
        'う' => Some('ゔ'),
        'ウ' => Some('ヴ'),
        _ if VOICED_NEXT.contains(c) => moved(c, 1),
        _ => None,
    }
}

fn half_voiced(c: char) -> Option<char> {
    if HALF_VOICED.contains(c) {
        moved(c, 2)
    } else {
        None
    }
}

fn moved(c: char, by: i32) -> Option<char> {
    char::from_u32((c as u32).checked_add_signed(by)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_folded() {
        assert_eq!(fold("左人指１"), "左人指1");
        assert_eq!(fold("左足ＩＫ"), "左足IK");
        assert_eq!(fold("左　腕"), "左 腕");
        // The morph of MMD models in half-width katakana.
        assert_eq!(fold("ｳｨﾝｸ２右"), "ウィンク2右");
        assert_eq!(fold("ｾﾝﾀｰ"), "センター");
        assert_eq!(fold("ｸﾞﾙｰﾌﾞ"), "グルーブ");
    }

    #[test]
    fn kana_with_marks_apart_are_composed() {
        assert_eq!(fold("左ひし\u{3099}"), "左ひじ");
        assert_eq!(fold("ハ\u{309a}"), "パ");
        assert_eq!(fold("ウ\u{3099}"), "ヴ");
        // Nothing to bear it.
        assert_eq!(fold("a\u{3099}"), "a\u{3099}");
        assert_eq!(fold("\u{ff9e}"), "\u{ff9e}");
    }

    #[test]
    fn the_table_has_one_letter_per_code_point() {
        assert_eq!(HALF_WIDTH.chars().count(), 0xff9d - 0xff66 + 1);
    }
}
