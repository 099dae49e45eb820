//! Text → joints and rows. Bounded by what is there: nothing declared is believed before it is read.

use thiserror::Error;

/// Longest file read.
pub const MAX_BYTES: usize = 1 << 30;
/// Most joints, as many as the hub takes bones.
pub const MAX_JOINTS: usize = hub::MAX_BONES;
/// Most values of all rows together.
pub const MAX_VALUES: usize = 10_000_000;
/// Most channels of one joint; six are usual.
pub const MAX_CHANNELS_PER_JOINT: usize = 12;

/// Why a text is no BVH. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BvhError {
    /// Something else should stand there.
    #[error("line {line}: expected {expected}, found {found:?}")]
    Syntax {
        /// Where.
        line: usize,
        /// What should stand there.
        expected: &'static str,
        /// The beginning of what does.
        found: String,
    },
    /// A row that has not one value per channel, and is not the last one cut short.
    #[error("line {line}: {have} values in this row, the hierarchy has {want} channels")]
    Row {
        /// Where.
        line: usize,
        /// Channels.
        want: usize,
        /// Values.
        have: usize,
    },
    /// Beyond a bound.
    #[error("line {line}: more than {limit} {what}")]
    TooMany {
        /// Where it was reached.
        line: usize,
        /// Most taken.
        limit: usize,
        /// Of what.
        what: &'static str,
    },
    /// The file ends too early.
    #[error("the file ends at line {line}; expected {expected}")]
    Ends {
        /// Its last line.
        line: usize,
        /// What is missing.
        expected: &'static str,
    },
}

/// What a value of a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Along an axis, 0..3 for X, Y, Z, in the file's unit.
    Position(u8),
    /// About an axis, 0..3 for X, Y, Z, in degrees.
    Rotation(u8),
}

impl Channel {
    fn of(word: &str) -> Option<Self> {
        let (axis, kind) = word.split_at_checked(1)?;
        let axis = match axis {
            "X" | "x" => 0,
            "Y" | "y" => 1,
            "Z" | "z" => 2,
            _ => return None,
        };
        if kind.eq_ignore_ascii_case("position") {
            Some(Self::Position(axis))
        } else if kind.eq_ignore_ascii_case("rotation") {
            Some(Self::Rotation(axis))
        } else {
            None
        }
    }
}

/// One `ROOT` or `JOINT`.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// As written, without the space around it; need not be unique.
    pub name: String,
    /// Index of the parent, smaller than the joint's own.
    pub parent: Option<u32>,
    /// From the parent, in the file's unit.
    pub offset: [f32; 3],
    /// In declared order.
    pub channels: Vec<Channel>,
    /// Index of the first channel in a row.
    pub first_channel: usize,
    /// Offset of the joint's first `End Site`, in the file's unit.
    pub end_site: Option<[f32; 3]>,
}

/// A file as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Bvh {
    pub(super) joints: Vec<Joint>,
    pub(super) num_channels: usize,
    /// Row by row: value of channel c in frame f at `f * num_channels + c`.
    pub(super) values: Vec<f32>,
    pub(super) frame_time_secs: f64,
    declared_frames: Option<u64>,
    cut_rows: usize,
}

impl Bvh {
    /// Reads a file's text; UTF-8 is not required.
    ///
    /// # Errors
    /// See [`BvhError`].
    pub fn read<T: AsRef<[u8]> + ?Sized>(text: &T) -> Result<Self, BvhError> {
        read_within(text.as_ref(), LIMITS)
    }

    /// The joints, parents before children.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// Values of a row.
    pub fn num_channels(&self) -> usize {
        self.num_channels
    }

    /// Whole rows in the file.
    pub fn num_frames(&self) -> usize {
        self.values
            .len()
            .checked_div(self.num_channels)
            .unwrap_or(0)
    }

    /// The raw values of a row, in channel order; `None` past the end.
    pub fn row(&self, frame: usize) -> Option<&[f32]> {
        let start = frame.checked_mul(self.num_channels)?;
        if frame >= self.num_frames() {
            return None;
        }
        self.values.get(start..)?.get(..self.num_channels)
    }

    /// Seconds from row to row as written; 0 in some files of a single pose.
    pub fn frame_time_secs(&self) -> f64 {
        self.frame_time_secs
    }

    /// What `Frames:` says, if it says a number.
    pub fn declared_frames(&self) -> Option<u64> {
        self.declared_frames
    }

    /// Rows left out because the file ends within them: 0 or 1.
    pub fn cut_rows(&self) -> usize {
        self.cut_rows
    }
}

#[derive(Clone, Copy)]
struct Limits {
    bytes: usize,
    joints: usize,
    values: usize,
}

const LIMITS: Limits = Limits {
    bytes: MAX_BYTES,
    joints: MAX_JOINTS,
    values: MAX_VALUES,
};

/// Lines of whatever end, counted from 1.
struct Lines<'a> {
    rest: &'a [u8],
    line: usize,
}

/// A line without its end, and whether it had one.
struct Line<'a> {
    text: &'a [u8],
    is_ended: bool,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        let end = self.rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
        let (text, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = match rest {
            [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
            [] => &[],
        };
        Some(Line {
            text,
            is_ended: end.is_some(),
        })
    }

    /// The next line that has anything on it.
    fn next_filled(&mut self) -> Option<Line<'a>> {
        loop {
            let line = self.next()?;
            if !line.text.trim_ascii().is_empty() {
                return Some(line);
            }
        }
    }

    fn syntax(&self, expected: &'static str, found: &[u8]) -> BvhError {
        let text = String::from_utf8_lossy(found);
        BvhError::Syntax {
            line: self.line,
            expected,
            found: text.trim().chars().take(40).collect(),
        }
    }

    fn too_many(&self, limit: usize, what: &'static str) -> BvhError {
        BvhError::TooMany {
            line: self.line,
            limit,
            what,
        }
    }
}

/// The first word of a line and what follows it, both without the space around them.
fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii();
    let end = text
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (word, rest.trim_ascii())
}

/// A finite number; ASCII, a decimal point if any.
fn number(word: &[u8]) -> Option<f32> {
    let text = std::str::from_utf8(word).ok()?;
    text.parse().ok().filter(|v: &f32| v.is_finite())
}

/// What a brace belongs to.
#[derive(Clone, Copy)]
enum Open {
    Joint(usize),
    EndSite(usize),
}

/// The hierarchy while it is read.
struct Hierarchy<'l, 'a> {
    lines: &'l mut Lines<'a>,
    limits: Limits,
    joints: Vec<Joint>,
    num_channels: usize,
    open: Vec<Open>,
    /// Named, its brace not yet seen.
    pending: Option<Open>,
}

impl<'a> Hierarchy<'_, 'a> {
    /// Reads until the line `MOTION`.
    fn read(&mut self) -> Result<(), BvhError> {
        loop {
            let Some(line) = self.lines.next_filled() else {
                return Err(BvhError::Ends {
                    line: self.lines.line,
                    expected: "MOTION",
                });
            };
            let mut rest = line.text.trim_ascii();
            while !rest.is_empty() {
                let (word, after) = split_word(rest);
                if word.eq_ignore_ascii_case(b"MOTION") {
                    return self.finish(rest);
                }
                rest = self.statement(rest, word, after)?;
            }
        }
    }

    fn finish(&self, found: &[u8]) -> Result<(), BvhError> {
        if !self.open.is_empty() || self.pending.is_some() {
            return Err(self.lines.syntax("} for each {", found));
        }
        if self.joints.is_empty() {
            return Err(self.lines.syntax("ROOT and a joint", found));
        }
        Ok(())
    }

    /// Takes one statement; gives the rest of the line.
    fn statement(
        &mut self,
        all: &'a [u8],
        word: &'a [u8],
        after: &'a [u8],
    ) -> Result<&'a [u8], BvhError> {
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        if let [first @ (b'{' | b'}'), rest @ ..] = all {
            if *first == b'{' {
                let opened = self.pending.take();
                let opened = opened.ok_or_else(|| self.lines.syntax("a joint before {", all))?;
                self.open.push(opened);
            } else if self.pending.is_some() || self.open.pop().is_none() {
                return Err(self.lines.syntax("{ before }", all));
            }
            return Ok(rest.trim_ascii());
        }
        if self.pending.is_some() {
            return Err(self.lines.syntax("{", all));
        }
        match self.open.last().copied() {
            None if is("HIERARCHY") && self.joints.is_empty() => Ok(after),
            None if is("ROOT") => self.joint(None, after),
            None => Err(self.lines.syntax("ROOT or MOTION", all)),
            Some(Open::Joint(parent)) if is("JOINT") => self.joint(Some(parent), after),
            Some(Open::Joint(of)) if is("End") => {
                let (site, after) = split_word(after);
                // Some write a name behind it.
                if !site.eq_ignore_ascii_case(b"Site") {
                    return Err(self.lines.syntax("End Site", all));
                }
                let (_, rest) = until_brace(after);
                self.pending = Some(Open::EndSite(of));
                Ok(rest)
            }
            Some(open) if is("OFFSET") => self.offset(open, after),
            Some(Open::Joint(of)) if is("CHANNELS") => self.channels(of, after),
            Some(Open::Joint(_)) => {
                let expected = "OFFSET, CHANNELS, JOINT, End Site or }";
                Err(self.lines.syntax(expected, all))
            }
            Some(Open::EndSite(_)) => Err(self.lines.syntax("OFFSET or }", all)),
        }
    }

    fn joint(&mut self, parent: Option<usize>, text: &'a [u8]) -> Result<&'a [u8], BvhError> {
        let (name, rest) = until_brace(text);
        if name.is_empty() {
            return Err(self.lines.syntax("a name", text));
        }
        if self.joints.len() >= self.limits.joints {
            return Err(self.lines.too_many(self.limits.joints, "joints"));
        }
        let name: String = String::from_utf8_lossy(name)
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        if name.len() > hub::MAX_NAME_BYTES {
            return Err(self.lines.too_many(hub::MAX_NAME_BYTES, "bytes in a name"));
        }
        self.pending = Some(Open::Joint(self.joints.len()));
        self.joints.push(Joint {
            name,
            parent: parent.map(|p| p as u32),
            offset: [0.0; 3],
            channels: Vec::new(),
            first_channel: 0,
            end_site: None,
        });
        Ok(rest)
    }

    fn offset(&mut self, open: Open, text: &'a [u8]) -> Result<&'a [u8], BvhError> {
        let mut rest = text;
        let mut offset = [0.0; 3];
        for value in &mut offset {
            let (word, after) = split_word(rest);
            *value = number(word).ok_or_else(|| self.lines.syntax("three numbers", rest))?;
            rest = after;
        }
        match open {
            Open::Joint(at) => {
                if let Some(joint) = self.joints.get_mut(at) {
                    joint.offset = offset;
                }
            }
            Open::EndSite(of) => {
                if let Some(joint) = self.joints.get_mut(of) {
                    joint.end_site.get_or_insert(offset);
                }
            }
        }
        Ok(rest)
    }

    fn channels(&mut self, of: usize, text: &'a [u8]) -> Result<&'a [u8], BvhError> {
        let (word, mut rest) = split_word(text);
        let count = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
        let count = count
            .filter(|n: &usize| *n <= MAX_CHANNELS_PER_JOINT)
            .ok_or_else(|| self.lines.syntax("a number of channels, at most 12", text))?;
        let Some(joint) = self.joints.get_mut(of).filter(|j| j.channels.is_empty()) else {
            return Err(self.lines.syntax("CHANNELS once per joint", text));
        };
        // Rows are in the order of the CHANNELS lines, which need not be that of the joints.
        joint.first_channel = self.num_channels;
        for _ in 0..count {
            let (word, after) = split_word(rest);
            let channel = std::str::from_utf8(word).ok().and_then(Channel::of);
            let channel = channel
                .ok_or_else(|| self.lines.syntax("Xposition, Xrotation and the like", rest))?;
            joint.channels.push(channel);
            rest = after;
        }
        self.num_channels += count;
        Ok(rest)
    }
}

/// The text before the first brace, without the space around it, and the rest from the brace on.
fn until_brace(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|b| *b == b'{').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    (name.trim_ascii(), rest)
}

/// What stands between `MOTION` and the rows.
struct MotionHead<'a> {
    declared_frames: Option<u64>,
    frame_time_secs: f64,
    first_row: Option<Line<'a>>,
}

fn read_motion_head<'a>(lines: &mut Lines<'a>) -> Result<MotionHead<'a>, BvhError> {
    let (mut declared_frames, mut frame_time_secs) = (None, None);
    let first_row = loop {
        let Some(line) = lines.next_filled() else {
            break None;
        };
        let text = line.text.trim_ascii();
        let Some(colon) = text.iter().position(|b| *b == b':') else {
            break Some(line);
        };
        let (key, value) = text.split_at(colon);
        let value = value.get(1..).unwrap_or(&[]).trim_ascii();
        let (first, second) = split_word(key);
        if first.eq_ignore_ascii_case(b"Frames") && second.is_empty() {
            declared_frames = std::str::from_utf8(value).ok().and_then(|v| v.parse().ok());
        } else if first.eq_ignore_ascii_case(b"Frame") && second.eq_ignore_ascii_case(b"Time") {
            let secs = std::str::from_utf8(value).ok().and_then(|v| v.parse().ok());
            let secs = secs.filter(|s: &f64| (0.0..=86_400.0).contains(s));
            frame_time_secs =
                Some(secs.ok_or_else(|| lines.syntax("seconds after Frame Time:", text))?);
        } else {
            return Err(lines.syntax("Frames: or Frame Time:", text));
        }
    };
    let Some(frame_time_secs) = frame_time_secs else {
        let expected = "Frame Time: before the first row";
        return Err(match first_row {
            Some(line) => lines.syntax(expected, line.text),
            None => BvhError::Ends {
                line: lines.line,
                expected,
            },
        });
    };
    Ok(MotionHead {
        declared_frames,
        frame_time_secs,
        first_row,
    })
}

fn read_within(bytes: &[u8], limits: Limits) -> Result<Bvh, BvhError> {
    if bytes.len() > limits.bytes {
        return Err(BvhError::TooMany {
            line: 1,
            limit: limits.bytes,
            what: "bytes",
        });
    }
    let mut lines = Lines {
        rest: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
        line: 0,
    };
    let mut hierarchy = Hierarchy {
        lines: &mut lines,
        limits,
        joints: Vec::new(),
        num_channels: 0,
        open: Vec::new(),
        pending: None,
    };
    hierarchy.read()?;
    let (joints, num_channels) = (hierarchy.joints, hierarchy.num_channels);
    let head = read_motion_head(&mut lines)?;
    let mut values = Vec::new();
    let mut cut_rows = 0;
    let mut next = head.first_row;
    while let Some(line) = next {
        let row = read_row(&lines, &line, num_channels, limits, &mut values)?;
        let row_line = lines.line;
        next = lines.next_filled();
        if let Row::Short { have } = row {
            if next.is_some() {
                return Err(BvhError::Row {
                    line: row_line,
                    want: num_channels,
                    have,
                });
            }
            cut_rows = 1;
        }
    }
    values.shrink_to_fit();
    Ok(Bvh {
        joints,
        num_channels,
        values,
        frame_time_secs: head.frame_time_secs,
        declared_frames: head.declared_frames,
        cut_rows,
    })
}

enum Row {
    Whole,
    /// Taken back: too few values.
    Short {
        have: usize,
    },
}

/// Appends a row's values, or nothing when it is short.
fn read_row(
    lines: &Lines<'_>,
    line: &Line<'_>,
    want: usize,
    limits: Limits,
    values: &mut Vec<f32>,
) -> Result<Row, BvhError> {
    let start = values.len();
    if start + want > limits.values {
        return Err(lines.too_many(limits.values, "values"));
    }
    let mut have = 0;
    let mut rest = line.text.trim_ascii();
    while !rest.is_empty() {
        let (word, after) = split_word(rest);
        let Some(value) = number(word) else {
            // The very end of a file may be half a number, such as `-` or `1e`.
            if after.is_empty() && !line.is_ended && is_half_number(word) && have < want {
                break;
            }
            return Err(lines.syntax("a finite number", word));
        };
        have += 1;
        if have <= want {
            values.push(value);
        }
        rest = after;
    }
    if have > want {
        return Err(BvhError::Row {
            line: lines.line,
            want,
            have,
        });
    }
    if have < want {
        values.truncate(start);
        return Ok(Row::Short { have });
    }
    Ok(Row::Whole)
}

/// Whether more digits could make a number of it.
fn is_half_number(word: &[u8]) -> bool {
    number(&[word, &b"0"[..]].concat()).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        Channel::{Position, Rotation},
        *,
    };

    const SMALL: &str = "HIERARCHY\n\
        ROOT Hips\n{\n\
        \tOFFSET 0.0 90.0 0.0\n\
        \tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
        \tJOINT Head\n\t{\n\
        \t\tOFFSET 0 10 1e1\n\
        \t\tCHANNELS 3 Xrotation Yrotation Zrotation\n\
        \t\tEnd Site\n\t\t{\n\
        \t\t\tOFFSET 0 0 0\n\
        \t\t}\n\t}\n}\n\
        MOTION\n\
        Frames: 2\n\
        Frame Time: 0.0166667\n\
        1 2 3 4 5 6 7 8 9\n\
        -1 -2e0 +3 .4 5. 6 7 8 9.5e-3\n";

    fn check_same(text: &str) {
        let bvh = Bvh::read(text).unwrap();
        let mut expected = Bvh::read(SMALL).unwrap();
        expected.declared_frames = bvh.declared_frames;
        assert_eq!(bvh, expected);
    }

    #[test]
    fn a_small_file_reads_as_it_says() {
        let bvh = Bvh::read(SMALL).unwrap();
        let [hips, head] = bvh.joints() else {
            panic!("two joints");
        };
        assert_eq!((hips.name.as_str(), hips.parent), ("Hips", None));
        assert_eq!((head.name.as_str(), head.parent), ("Head", Some(0)));
        assert_eq!((hips.offset, hips.end_site), ([0.0, 90.0, 0.0], None));
        assert_eq!(head.offset, [0.0, 10.0, 10.0]);
        assert_eq!(head.end_site, Some([0.0; 3]));
        assert_eq!(
            hips.channels,
            [
                Position(0),
                Position(1),
                Position(2),
                Rotation(2),
                Rotation(0),
                Rotation(1)
            ]
        );
        assert_eq!((head.first_channel, bvh.num_channels()), (6, 9));
        assert_eq!(bvh.num_frames(), 2);
        assert_eq!(
            bvh.row(1),
            Some(&[-1.0, -2.0, 3.0, 0.4, 5.0, 6.0, 7.0, 8.0, 9.5e-3][..])
        );
        assert_eq!(bvh.row(2), None);
        assert_eq!(bvh.row(usize::MAX), None);
        assert_eq!((bvh.declared_frames(), bvh.cut_rows()), (Some(2), 0));
        assert_eq!(bvh.frame_time_secs(), 0.016_666_7);
    }

    #[test]
    fn line_ends_tabs_braces_and_case_do_not_matter() {
        check_same(&SMALL.replace('\n', "\r\n"));
        check_same(&SMALL.replace('\n', "\r"));
        check_same(&SMALL.replace('\n', "\n\n  \n"));
        check_same(&SMALL.replace(' ', "\t "));
        check_same(&SMALL.replace("\n{", " {").replace("\n\t{", "{"));
        check_same(&SMALL.replace("\n\t\t}\n\t}\n}", " } }}"));
        check_same(
            &SMALL
                .replace("OFFSET", "offset")
                .replace("End Site", "END SITE tip"),
        );
        check_same(&SMALL.replace("HIERARCHY", "\u{feff}hierarchy"));
        check_same(SMALL.trim_end());
        check_same(&SMALL.replace("7 8 9\n", "7 8 9 \n"));
        // The two lines in the other order.
        check_same(&SMALL.replace(
            "Frames: 2\nFrame Time: 0.0166667",
            "Frame Time : 0.0166667\nFrames:2",
        ));
    }

    #[test]
    fn the_declared_count_of_frames_is_not_believed() {
        for (written, declared) in [
            ("Frames: 99999999999", Some(99_999_999_999)),
            ("Frames:    1    ", Some(1)),
            ("Frames: -5", None),
            ("Frames:", None),
        ] {
            let text = SMALL.replace("Frames: 2", written);
            check_same(&text);
            assert_eq!(Bvh::read(&text).unwrap().declared_frames(), declared);
        }
    }

    #[test]
    fn a_last_row_cut_short_is_left_out_and_counted() {
        for cut in [
            "1",
            "1 2 3 4 5 6 7 8",
            "1 2 3 4 5 6 7 8\n",
            "1 2 3 4 5 6 7 -",
            "1 2 3 4 5 6 7 1.5e",
            "1 2 3 4 5 6 7 8 -",
            "1 2 3 .",
            "1 2 3\n\n \n",
        ] {
            let text = format!("{SMALL}{cut}");
            let bvh = Bvh::read(&text).unwrap();
            assert_eq!((bvh.num_frames(), bvh.cut_rows()), (2, 1), "{cut:?}");
        }
        // Anywhere else it is an error, and so is one value too many.
        let check = |row: &str, expected: BvhError| {
            assert_eq!(Bvh::read(&format!("{SMALL}{row}")), Err(expected));
        };
        let row = |have| BvhError::Row {
            line: 21,
            want: 9,
            have,
        };
        check("1 2 3\n1 2 3 4 5 6 7 8 9\n", row(3));
        check("1 2 3\n1 2\n", row(3));
        check("1 2 3 4 5 6 7 8 9 10", row(10));
        let syntax = |found: &str| BvhError::Syntax {
            line: 21,
            expected: "a finite number",
            found: found.into(),
        };
        check("1 2 3 4 5 6 7 8 -\n", syntax("-"));
        check("1 2 3 4 5 6 7 8 x", syntax("x"));
        check("1,5 2 3 4 5 6 7 8 9\n", syntax("1,5"));
        check("1 2 3 4 5 6 7 8.5-9.25\n", syntax("8.5-9.25"));
        check("1 2 3 4 nan 6 7 8 9\n", syntax("nan"));
        check("1 2 3 4 5 6 7 8 inf", syntax("inf"));
        check("1 2 3 4 5 6 7 8 1e39\n", syntax("1e39"));
    }

    #[test]
    fn names_keep_spaces_colons_scripts_and_doubles() {
        let with = |name: &str| {
            let text = SMALL.replace("ROOT Hips", &format!("ROOT {name}"));
            Bvh::read(&text).unwrap().joints()[0].name.clone()
        };
        assert_eq!(with("  Bip01 L Collar \t"), "Bip01 L Collar");
        assert_eq!(with("mixamorig:Hips"), "mixamorig:Hips");
        assert_eq!(with("センター"), "センター");
        assert_eq!(with("Head"), "Head");
        assert_eq!(with("a\tb"), "a b");
        assert_eq!(with("JOINT"), "JOINT");
        // Bytes of no UTF-8.
        let bytes = SMALL.replace("Hips", "H#ft").into_bytes();
        let bytes: Vec<u8> = bytes
            .iter()
            .map(|b| if *b == b'#' { 0xfc } else { *b })
            .collect();
        assert_eq!(Bvh::read(&bytes).unwrap().joints()[0].name, "H\u{fffd}ft");
    }

    #[test]
    fn two_none_and_repeated_channels_are_taken_as_declared() {
        let text = SMALL
            .replace(
                "CHANNELS 3 Xrotation Yrotation Zrotation",
                "CHANNELS 2 Zrotation Zrotation",
            )
            .replace(" 9\n", "\n")
            .replace(" 9.5e-3\n", "\n");
        let bvh = Bvh::read(&text).unwrap();
        assert_eq!(bvh.joints()[1].channels, [Rotation(2); 2]);
        assert_eq!((bvh.num_channels(), bvh.num_frames()), (8, 2));
        let text = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\n}\nROOT b\n{\n}\nMOTION\nFrames: 3\nFrame Time: 0\n";
        let bvh = Bvh::read(text).unwrap();
        assert_eq!((bvh.joints().len(), bvh.num_frames()), (2, 0));
        assert_eq!(bvh.row(0), None);
        assert_eq!(bvh.joints()[1].parent, None);
    }

    #[test]
    fn a_joint_that_declares_channels_after_its_children_has_them_there() {
        let text = "HIERARCHY\nROOT a\n{\nJOINT b\n{\nCHANNELS 1 Xrotation\n}\nCHANNELS 1 Yrotation\n}\n\
            MOTION\nFrame Time: 1\n10 20\n";
        let bvh = Bvh::read(text).unwrap();
        let firsts: Vec<_> = bvh.joints().iter().map(|j| j.first_channel).collect();
        assert_eq!(firsts, [1, 0]);
    }

    #[test]
    fn each_fault_names_its_line() {
        let check = |from: &str, to: &str, expected: &str| {
            assert!(SMALL.contains(from));
            let error = Bvh::read(&SMALL.replacen(from, to, 1)).unwrap_err();
            assert_eq!(error.to_string(), expected);
        };
        check("ROOT Hips", "ROOT", "line 2: expected a name, found \"\"");
        check(
            "ROOT Hips",
            "BONE x",
            "line 2: expected ROOT or MOTION, found \"BONE x\"",
        );
        check("{", "", "line 4: expected {, found \"OFFSET 0.0 90.0 0.0\"");
        check(
            "0.0 90.0 0.0",
            "0.0 90,0 0.0",
            "line 4: expected three numbers, found \"90,0 0.0\"",
        );
        check(
            "0.0 90.0 0.0",
            "0.0 90.0",
            "line 4: expected three numbers, found \"\"",
        );
        check(
            "CHANNELS 6",
            "CHANNELS 13",
            "line 5: expected a number of channels, at most 12, found \
             \"13 Xposition Yposition Zposition Zrotati\"",
        );
        check(
            "CHANNELS 6",
            "CHANNELS 7",
            "line 5: expected Xposition, Xrotation and the like, found \"\"",
        );
        check(
            "Xposition",
            "Wposition",
            "line 5: expected Xposition, Xrotation and the like, found \
             \"Wposition Yposition Zposition Zrotation \"",
        );
        check(
            "End Site",
            "End",
            "line 10: expected End Site, found \"End\"",
        );
        check(
            "JOINT Head",
            "ROOT Head",
            "line 6: expected OFFSET, CHANNELS, JOINT, End Site or }, found \"ROOT Head\"",
        );
        check(
            "}\n}\nMOTION",
            "}\nMOTION",
            "line 15: expected } for each {, found \"MOTION\"",
        );
        check(
            "}\nMOTION",
            "}\n}\nMOTION",
            "line 16: expected { before }, found \"}\"",
        );
        check(
            "MOTION",
            "",
            "line 17: expected ROOT or MOTION, found \"Frames: 2\"",
        );
        check(
            "0.0166667",
            "soon",
            "line 18: expected seconds after Frame Time:, found \"Frame Time: soon\"",
        );
        check(
            "0.0166667",
            "-1",
            "line 18: expected seconds after Frame Time:, found \"Frame Time: -1\"",
        );
        check(
            "Frame Time: 0.0166667\n",
            "",
            "line 18: expected Frame Time: before the first row, found \"1 2 3 4 5 6 7 8 9\"",
        );
        check(
            "Frames: 2",
            "Rows: 2",
            "line 17: expected Frames: or Frame Time:, found \"Rows: 2\"",
        );
        let ends = |text: &str, expected: &str| {
            assert_eq!(Bvh::read(text).unwrap_err().to_string(), expected);
        };
        ends("", "the file ends at line 0; expected MOTION");
        ends(
            "HIERARCHY\nROOT a\n{",
            "the file ends at line 3; expected MOTION",
        );
        ends(
            "MOTION\n",
            "line 1: expected ROOT and a joint, found \"MOTION\"",
        );
        let cut = SMALL.split("Frame Time").next().unwrap();
        ends(
            cut,
            "the file ends at line 17; expected Frame Time: before the first row",
        );
    }

    #[test]
    fn joints_values_names_and_bytes_are_bounded() {
        let small = Limits {
            bytes: 1000,
            joints: 2,
            values: 18,
        };
        let read = |limits| read_within(SMALL.as_bytes(), limits).map(|b| b.num_frames());
        assert_eq!(read(small), Ok(2));
        let too_many = |line, limit, what| Err(BvhError::TooMany { line, limit, what });
        assert_eq!(
            read(Limits { joints: 1, ..small }),
            too_many(6, 1, "joints")
        );
        assert_eq!(
            read(Limits {
                values: 17,
                ..small
            }),
            too_many(20, 17, "values")
        );
        assert_eq!(
            read(Limits {
                bytes: 100,
                ..small
            }),
            too_many(1, 100, "bytes")
        );
        let long = SMALL.replace("Hips", &"x".repeat(257));
        assert_eq!(
            Bvh::read(&long).map(|b| b.num_frames()),
            too_many(2, 256, "bytes in a name")
        );
        let mut deep = String::from("HIERARCHY\nROOT r\n{\n");
        for _ in 0..MAX_JOINTS {
            deep.push_str("JOINT j\n{\n");
        }
        let error = Bvh::read(&deep).unwrap_err();
        assert!(matches!(
            error,
            BvhError::TooMany {
                what: "joints",
                limit: MAX_JOINTS,
                ..
            }
        ));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let _ = Bvh::read(&bytes);
        }

        #[test]
        fn no_change_of_a_good_file_panics_and_a_cut_one_keeps_its_rows(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = SMALL.as_bytes().to_vec();
            let rows_start = SMALL.find("1 2 3 4").unwrap();
            let at = rows_start + cut.index(SMALL.len() - rows_start);
            let whole = Bvh::read(&bytes).unwrap();
            let partly = Bvh::read(&bytes[..at]).unwrap();
            prop_assert!(partly.num_frames() + partly.cut_rows() <= 2);
            if let Some(row) = partly.row(0) && partly.num_frames() == 2 {
                prop_assert_eq!(row, whole.row(0).unwrap());
            }
            for (at, value) in changes {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            let _ = Bvh::read(&bytes);
        }

        #[test]
        fn words_of_the_format_in_any_order_do_not_panic(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "HIERARCHY", "ROOT", "JOINT", "End", "Site", "{", "}", "OFFSET", "CHANNELS", "3",
                    "Xrotation", "Zposition", "0", "MOTION", "Frames:", "Frame", "Time:", "\n", "1e", "a b",
                ]),
                0..60,
            ),
        ) {
            let _ = Bvh::read(&words.join(" "));
        }
    }
}
