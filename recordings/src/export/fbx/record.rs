//! The tree of an FBX file, and its bytes. Nothing here knows what the records mean.

use std::{
    io::{Cursor, Seek, Write},
    sync::Arc,
};

use fbxcel::{
    low::{FbxVersion, v7400::ArrayAttributeEncoding},
    writer::v7400::binary::{Error, FbxFooter, Result, Writer},
};

use super::{FbxError, document::FOOTER_CODE};

/// Arrays longer than this many bytes are compressed.
const COMPRESS_ABOVE: usize = 128;

/// One value of a record.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// The character that stands for a switch that is on.
    Yes,
    Int(i32),
    Long(i64),
    Double(f64),
    Text(String),
    Bytes(&'a [u8]),
    Ints(Vec<i32>),
    /// Shared, for all curves have the same times.
    Longs(Arc<[i64]>),
    Floats(Vec<f32>),
    Doubles(Vec<f64>),
}

impl From<i32> for Value<'_> {
    fn from(v: i32) -> Self {
        Self::Int(v)
    }
}

impl From<i64> for Value<'_> {
    fn from(v: i64) -> Self {
        Self::Long(v)
    }
}

impl From<f64> for Value<'_> {
    fn from(v: f64) -> Self {
        Self::Double(v)
    }
}

impl From<&str> for Value<'_> {
    fn from(v: &str) -> Self {
        Self::Text(v.to_owned())
    }
}

impl From<String> for Value<'_> {
    fn from(v: String) -> Self {
        Self::Text(v)
    }
}

impl From<Vec<i32>> for Value<'_> {
    fn from(v: Vec<i32>) -> Self {
        Self::Ints(v)
    }
}

impl From<Arc<[i64]>> for Value<'_> {
    fn from(v: Arc<[i64]>) -> Self {
        Self::Longs(v)
    }
}

impl From<Vec<f32>> for Value<'_> {
    fn from(v: Vec<f32>) -> Self {
        Self::Floats(v)
    }
}

impl From<Vec<f64>> for Value<'_> {
    fn from(v: Vec<f64>) -> Self {
        Self::Doubles(v)
    }
}

/// A name, values, and records within it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record<'a> {
    pub(super) name: &'static str,
    values: Vec<Value<'a>>,
    children: Vec<Record<'a>>,
}

impl<'a> Record<'a> {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            values: Vec::new(),
            children: Vec::new(),
        }
    }

    /// An object: `kind: id, "name\0\1class", "sort"`.
    pub(super) fn object(kind: &'static str, id: i64, name: &str, class: &str, sort: &str) -> Self {
        Self::new(kind)
            .value(id)
            .value(name_and_class(name, class))
            .value(sort)
    }

    /// With one more value.
    pub(super) fn value(mut self, value: impl Into<Value<'a>>) -> Self {
        self.values.push(value.into());
        self
    }

    /// With one more record within.
    pub(super) fn child(mut self, child: Self) -> Self {
        self.children.push(child);
        self
    }

    /// With one more record within, of one value.
    pub(super) fn entry(self, name: &'static str, value: impl Into<Value<'a>>) -> Self {
        self.child(Self::new(name).value(value))
    }

    /// With more records within.
    pub(super) fn children(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children);
        self
    }
}

/// How binary files write a name of a class.
pub(super) fn name_and_class(name: &str, class: &str) -> String {
    format!("{name}\0\u{1}{class}")
}

/// The bytes of a file with these records at its top.
pub(super) fn encode(records: &[Record<'_>]) -> std::result::Result<Vec<u8>, FbxError> {
    let mut writer = Writer::new(Cursor::new(Vec::new()), FbxVersion::V7_4)?;
    for record in records {
        write(&mut writer, record)?;
    }
    let footer = FbxFooter {
        unknown1: Some(&FOOTER_CODE),
        ..FbxFooter::default()
    };
    Ok(writer.finalize(&footer)?.into_inner())
}

/// As deep as records are nested, and no file is built deeper than six.
fn write<W: Write + Seek>(writer: &mut Writer<W>, record: &Record<'_>) -> Result<()> {
    let mut values = writer.new_node(record.name)?;
    for value in &record.values {
        match value {
            Value::Yes => values.append_bool(true)?,
            Value::Int(v) => values.append_i32(*v)?,
            Value::Long(v) => values.append_i64(*v)?,
            Value::Double(v) => values.append_f64(*v)?,
            Value::Text(v) => values.append_string_direct(v)?,
            Value::Bytes(v) => values.append_binary_direct(v)?,
            Value::Ints(v) => {
                values.append_arr_i32_from_iter(packing(size_of_val(&**v)), v.iter().copied())?;
            }
            Value::Longs(v) => {
                values.append_arr_i64_from_iter(packing(size_of_val(&**v)), v.iter().copied())?;
            }
            Value::Floats(v) => {
                values.append_arr_f32_from_iter(packing(size_of_val(&**v)), v.iter().copied())?;
            }
            Value::Doubles(v) => {
                values.append_arr_f64_from_iter(packing(size_of_val(&**v)), v.iter().copied())?;
            }
        }
    }
    for child in &record.children {
        write(writer, child)?;
    }
    writer.close_node()
}

fn packing(bytes: usize) -> Option<ArrayAttributeEncoding> {
    (bytes > COMPRESS_ABOVE).then_some(ArrayAttributeEncoding::Zlib)
}

impl From<Error> for FbxError {
    fn from(error: Error) -> Self {
        match error {
            Error::FileTooLarge(bytes) => Self::TooLarge { bytes },
            Error::AttributeTooLong(bytes) | Error::TooManyArrayAttributeElements(bytes) => {
                Self::TooLarge {
                    bytes: bytes as u64,
                }
            }
            // The others would be faults of this room, such as a record left open. Their type holds
            // what cannot cross threads; its words can.
            other => Self::Encoding(other.to_string()),
        }
    }
}
