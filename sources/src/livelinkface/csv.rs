//! The app's CSV takes as a source: rows of curves, bound **by header name**.
//!
//! The file orders `JawRight, JawLeft` and `MouthRight, MouthLeft` where the datagram has left first, and
//! spells its count column in two ways; nothing here relies on a position. It states no frame rate: the
//! timecode's FF counts 60ths or 30ths ([`infer_rate`]), while rows may come at half of that.

use hub::{
    DropFrame, FrameRate, QualifiedFrameTime, Timecode, TimecodeError,
    arkit::{self, NUM_CURVES},
};
use thiserror::Error;

/// Most rows read: five hours at 240 per second.
const MAX_ROWS: usize = 4_320_000;

/// Why a CSV is no Live Link Face take.
#[derive(Debug, Error)]
pub enum CsvError {
    /// Not readable as CSV text at all.
    #[error("not a readable CSV: {0}")]
    Csv(#[from] csv::Error),
    /// The header lacks the time column.
    #[error("no column named Timecode in the header; is this a Live Link Face take?")]
    NoTimecode,
    /// The header has none of the curves.
    #[error("none of the 61 curve names is in the header; is this a Live Link Face take?")]
    NoCurves,
    /// The same curve twice.
    #[error("column {name} stands twice in the header")]
    Twice {
        /// Its name.
        name: String,
    },
    /// A field that is no number.
    #[error("line {line}, column {column}: expected a finite number, found {found:?}")]
    Number {
        /// Line in the file, from 1.
        line: u64,
        /// Column name.
        column: &'static str,
        /// The text there.
        found: String,
    },
    /// A field that is no timecode.
    #[error("line {line}: timecode {found:?}: {why}")]
    Time {
        /// Line in the file, from 1.
        line: u64,
        /// The text there.
        found: String,
        /// What is wrong.
        why: TimecodeError,
    },
    /// No rows.
    #[error("the file has a header but no rows")]
    Empty,
    /// Beyond the bound.
    #[error("more than {limit} rows")]
    TooLong {
        /// Most rows read.
        limit: usize,
    },
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct CsvRow {
    /// Its time.
    pub time: QualifiedFrameTime,
    /// The 61 values in [`arkit::CURVES`] order; curves without a column are 0.
    pub values: [f32; NUM_CURVES],
}

/// A take as read.
#[derive(Clone, Debug)]
pub struct CsvTake {
    /// Rows in file order; at least one.
    pub rows: Vec<CsvRow>,
    /// Rate of the timecode.
    pub rate: FrameRate,
    /// Curves that have no column.
    pub missing: Vec<&'static str>,
    /// Columns that are no curve, besides timecode and count.
    pub unknown: Vec<String>,
}

/// The rate that frame fields suggest: 60 if any reaches 30, else 30; the file itself does not say.
pub fn infer_rate(largest_frame_field: u32) -> FrameRate {
    if largest_frame_field >= 30 {
        FrameRate::FPS_60
    } else {
        FrameRate::FPS_30
    }
}

struct Row {
    fields: [u32; 4],
    thousandths: f32,
    line: u64,
    text: String,
    values: [f32; NUM_CURVES],
}

impl CsvTake {
    /// Reads a take; `rate` overrides the inferred timecode rate.
    ///
    /// # Errors
    /// See [`CsvError`]; line numbers count from 1.
    pub fn read(input: impl std::io::Read, rate: Option<FrameRate>) -> Result<Self, CsvError> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(input);
        let header = reader.headers()?.clone();
        let mut time_column = None;
        let mut columns = [None; NUM_CURVES];
        let mut unknown = Vec::new();
        for (at, name) in header.iter().enumerate() {
            let name = name.trim().trim_start_matches('\u{feff}');
            if name.eq_ignore_ascii_case("timecode") {
                time_column = Some(at);
            } else if let Some(curve) = arkit::index_of(name) {
                if columns[curve].replace(at).is_some() {
                    return Err(CsvError::Twice { name: name.into() });
                }
            } else if !name.eq_ignore_ascii_case("blendshapecount") {
                unknown.push(name.to_owned());
            }
        }
        let time_column = time_column.ok_or(CsvError::NoTimecode)?;
        if columns.iter().all(Option::is_none) {
            return Err(CsvError::NoCurves);
        }
        let mut raw = Vec::new();
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record)? {
            if raw.len() == MAX_ROWS {
                return Err(CsvError::TooLong { limit: MAX_ROWS });
            }
            raw.push(read_row(&record, time_column, &columns)?);
        }
        let largest = raw
            .iter()
            .map(|r| r.fields[3])
            .max()
            .ok_or(CsvError::Empty)?;
        let rate = rate.unwrap_or_else(|| infer_rate(largest));
        let rows = raw
            .into_iter()
            .map(|row| {
                let label = Timecode::new(row.fields, rate, DropFrame::NonDrop).map_err(|why| {
                    CsvError::Time {
                        line: row.line,
                        found: row.text,
                        why,
                    }
                })?;
                Ok(CsvRow {
                    time: QualifiedFrameTime {
                        sub_frame: row.thousandths,
                        ..QualifiedFrameTime::whole(label.frame(), rate)
                    },
                    values: row.values,
                })
            })
            .collect::<Result<_, CsvError>>()?;
        Ok(Self {
            rows,
            rate,
            missing: arkit::CURVES
                .into_iter()
                .zip(columns)
                .filter_map(|(name, column)| column.is_none().then_some(name))
                .collect(),
            unknown,
        })
    }
}

fn read_row(
    record: &csv::StringRecord,
    time_column: usize,
    columns: &[Option<usize>; NUM_CURVES],
) -> Result<Row, CsvError> {
    let line = record.position().map_or(0, csv::Position::line);
    let text = record.get(time_column).unwrap_or("").trim();
    let (fields, thousandths) = split_timecode(text).ok_or_else(|| CsvError::Time {
        line,
        found: text.to_owned(),
        why: TimecodeError::Syntax,
    })?;
    let mut values = [0.0; NUM_CURVES];
    for (curve, column) in columns.iter().enumerate() {
        let Some(column) = *column else {
            continue;
        };
        let text = record.get(column).unwrap_or("").trim();
        values[curve] = text
            .parse()
            .ok()
            .filter(|v: &f32| v.is_finite())
            .ok_or_else(|| CsvError::Number {
                line,
                column: arkit::CURVES[curve],
                found: text.to_owned(),
            })?;
    }
    Ok(Row {
        fields,
        thousandths,
        line,
        text: text.to_owned(),
        values,
    })
}

/// `HH:MM:SS:FF` with an optional `.sss` of a frame.
fn split_timecode(text: &str) -> Option<([u32; 4], f32)> {
    let (label, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = label.split(':');
    let mut fields = [0; 4];
    for field in &mut fields {
        *field = parts.next()?.parse().ok()?;
    }
    let digits = fraction.len();
    if parts.next().is_some() || digits > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let count: u32 = fraction.parse().ok()?;
    Some((
        fields,
        (f64::from(count) / 10f64.powi(digits as i32)) as f32,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "Timecode,BlendShapeCount,JawForward,JawRight,JawLeft,HeadYaw,Mystery";

    #[test]
    fn columns_bind_by_name_and_not_by_place() {
        let text = format!("{HEADER}\n05:04:23:31.652,61,0.1,0.2,0.3,-0.4,9\n");
        let take = CsvTake::read(text.as_bytes(), None).unwrap();
        let v = &take.rows[0].values;
        let value = |name| v[arkit::index_of(name).unwrap()];
        assert_eq!(value("JawRight"), 0.2);
        assert_eq!(value("JawLeft"), 0.3);
        assert_eq!(value("HeadYaw"), -0.4);
        assert_eq!(take.rate, FrameRate::FPS_60);
        assert_eq!(take.rows[0].time.to_string(), "05:04:23:31.652");
        assert_eq!(take.unknown, ["Mystery"]);
        assert_eq!(take.missing.len(), 57);
    }

    #[test]
    fn each_fault_names_its_line_and_column() {
        let check = |rows: &str, expected: &str| {
            let error = CsvTake::read(format!("{HEADER}\n{rows}").as_bytes(), None).unwrap_err();
            assert_eq!(error.to_string(), expected);
        };
        check("", "the file has a header but no rows");
        check(
            "00:00:00:00.0,61,0,0,0,0,0\n00:00:00:01.0,61,0,nan,0,0,0",
            "line 3, column JawRight: expected a finite number, found \"nan\"",
        );
        check(
            "00:00:00:0x,61,0,0,0,0,0",
            "line 2: timecode \"00:00:00:0x\": expected HH:MM:SS:FF (or ;FF for drop-frame)",
        );
        check(
            "25:00:00:00,61,0,0,0,0,0",
            "line 2: timecode \"25:00:00:00\": hours 25 is not below 24",
        );
        assert!(matches!(
            CsvTake::read(&b"a,b\n1,2\n"[..], None),
            Err(CsvError::NoTimecode)
        ));
    }
}
