//! A `.gltf` document and what lies beside it → one document and one binary, as in a GLB file.
//!
//! ```text
//! buffers   data URIs and other files, one after another      → buffer 0, the binary
//!           those that compressed views only stand in for     → buffers 1.. without bytes
//! images    data URIs and other files that are found          → views of buffer 0
//! views     buffer and byteOffset, also of what is compressed → where it is now
//! ```

use serde_json::{Map, Value, json};

use crate::{
    accessor::{COMPRESSIONS, array, length},
    base64,
    error::{Fault, FaultKind, Faults},
    glb,
    survey::is_placeholder,
};

/// Gives the bytes of another file by its address, or `None`.
type Resolve<'a> = dyn FnMut(&str) -> Option<Vec<u8>> + 'a;

/// Where a buffer went.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Into the binary.
    At { start: usize, length: usize },
    /// Nowhere; it keeps its entry, at this index.
    Placeholder(usize),
    /// It was not found, and that is noted.
    Missing,
}

/// Moves all data into one binary, which is given back; the document says so afterwards.
pub(crate) fn gather(document: &mut Value, resolve: &mut Resolve<'_>) -> Result<Vec<u8>, Faults> {
    let mut gathering = Gathering {
        resolve,
        bin: Vec::new(),
        faults: Faults::default(),
    };
    let places = gathering.buffers(document);
    gathering.views(document, &places);
    let pictures = gathering.images(document);
    let Gathering {
        mut bin, faults, ..
    } = gathering;
    if !faults.is_empty() {
        return Err(faults);
    }
    append_views(document, pictures);
    bin.resize(bin.len().next_multiple_of(4), 0);
    if places.is_empty() && bin.is_empty() {
        return Ok(bin);
    }
    let mut buffers = vec![json!({"byteLength": bin.len()})];
    let old = array(document, "buffers").iter().zip(&places);
    let kept = old.filter(|(_, place)| matches!(place, Place::Placeholder(_)));
    buffers.extend(kept.map(|(buffer, _)| buffer.clone()));
    if let Some(document) = document.as_object_mut() {
        document.insert("buffers".to_owned(), Value::Array(buffers));
    }
    Ok(bin)
}

struct Gathering<'a, 'r> {
    resolve: &'a mut Resolve<'r>,
    bin: Vec<u8>,
    faults: Faults,
}

impl Gathering<'_, '_> {
    fn buffers(&mut self, document: &Value) -> Vec<Place> {
        let mut places = Vec::new();
        let mut num_placeholders = 0;
        for (at, buffer) in array(document, "buffers").iter().enumerate() {
            if is_placeholder(document, buffer) {
                num_placeholders += 1;
                places.push(Place::Placeholder(num_placeholders));
                continue;
            }
            let place = self.buffer(buffer, &format!("/buffers/{at}"));
            places.push(place.unwrap_or_else(|fault| {
                self.faults.push(fault);
                Place::Missing
            }));
        }
        places
    }

    fn buffer(&mut self, buffer: &Value, path: &str) -> Result<Place, Fault> {
        let length = length(buffer, path)?;
        let path_of_uri = format!("{path}/uri");
        let Some(uri) = buffer.get("uri").and_then(Value::as_str) else {
            let kind = FaultKind::Expected("the buffer's address");
            return Err(Fault::new(path_of_uri, kind));
        };
        let bytes = match uri.strip_prefix("data:") {
            Some(data) => base64::data_uri(data).ok_or(FaultKind::DataUri),
            None => (self.resolve)(uri).ok_or(FaultKind::OtherFile),
        };
        let bytes = bytes.map_err(|kind| Fault::new(path_of_uri, kind))?;
        // What follows the declared length is nobody's.
        let bytes = bytes.get(..length).ok_or_else(|| {
            let (needed, have) = (length as u64, bytes.len());
            Fault::new(path, FaultKind::OutOfBounds { needed, have })
        })?;
        let start = self.append(bytes, path)?;
        Ok(Place::At { start, length })
    }

    /// Adds to the binary, on a multiple of 4. Where it begins.
    fn append(&mut self, bytes: &[u8], path: &str) -> Result<usize, Fault> {
        let start = self.bin.len().next_multiple_of(4);
        let have = start.saturating_add(bytes.len());
        let limit = glb::MAX_FILE_BYTES;
        if have > limit {
            let what = "bytes of buffers and pictures";
            return Err(Fault::new(path, FaultKind::TooMany { what, have, limit }));
        }
        self.bin.resize(start, 0);
        self.bin.extend_from_slice(bytes);
        Ok(start)
    }

    fn views(&mut self, document: &mut Value, places: &[Place]) {
        let views = document
            .get_mut("bufferViews")
            .and_then(Value::as_array_mut);
        for (at, view) in views.into_iter().flatten().enumerate() {
            let path = format!("/bufferViews/{at}");
            self.range(view, &path, places);
            for name in COMPRESSIONS {
                let packing = view.get_mut("extensions").and_then(|e| e.get_mut(name));
                if let Some(packing) = packing {
                    self.range(packing, &format!("{path}/extensions/{name}"), places);
                }
            }
        }
    }

    /// A range of an old buffer, where it is now. What is no range is found wrong when it is read.
    fn range(&mut self, of: &mut Value, path: &str, places: &[Place]) {
        let number = |key: &str| of.get(key).and_then(Value::as_u64);
        let (offset, length) = (number("byteOffset"), number("byteLength"));
        let Some(buffer) = number("buffer") else {
            return;
        };
        let (offset, length) = (offset.unwrap_or(0), length.unwrap_or(0));
        let place = usize::try_from(buffer).ok();
        let Some(place) = place.and_then(|buffer| places.get(buffer)) else {
            let kind = FaultKind::IndexOutOfRange {
                index: buffer,
                count: places.len(),
            };
            let path = format!("{path}/buffer");
            return self.faults.push(Fault::new(path, kind));
        };
        match *place {
            Place::At {
                start,
                length: have,
            } => {
                // Beyond its own buffer it would now read another's.
                let needed = offset.saturating_add(length);
                if needed > have as u64 {
                    let kind = FaultKind::OutOfBounds { needed, have };
                    return self.faults.push(Fault::new(path, kind));
                }
                set(of, "buffer", 0);
                set(of, "byteOffset", start as u64 + offset);
            }
            Place::Placeholder(index) => set(of, "buffer", index as u64),
            Place::Missing => {}
        }
    }

    /// Appends the images that are found and makes them name views that are to come. Those views.
    fn images(&mut self, document: &mut Value) -> Vec<Value> {
        let num_views = array(document, "bufferViews").len();
        let mut views = Vec::new();
        let images = document.get_mut("images").and_then(Value::as_array_mut);
        for (at, image) in images.into_iter().flatten().enumerate() {
            let path = format!("/images/{at}/uri");
            let Some(image) = image.as_object_mut() else {
                continue;
            };
            match self.image(image, &path) {
                Ok(Some((bytes, mime))) => match self.append(&bytes, &path) {
                    Ok(start) => {
                        image.shift_remove("uri");
                        let view = num_views + views.len();
                        image.insert("bufferView".to_owned(), view.into());
                        if let Some(mime) = mime {
                            image.insert("mimeType".to_owned(), mime.into());
                        }
                        let length = bytes.len();
                        views.push(json!({"buffer": 0, "byteOffset": start, "byteLength": length}));
                    }
                    Err(fault) => self.faults.push(fault),
                },
                Ok(None) => {}
                Err(fault) => self.faults.push(fault),
            }
        }
        views
    }

    /// Bytes of an image that has an address, if they are found, and their kind, if it can be told.
    fn image(&mut self, image: &Map<String, Value>, path: &str) -> Result<Option<Picture>, Fault> {
        let Some(uri) = image.get("uri").and_then(Value::as_str) else {
            return Ok(None);
        };
        let (bytes, said) = if let Some(data) = uri.strip_prefix("data:") {
            let bytes = base64::data_uri(data);
            let bytes = bytes.ok_or_else(|| Fault::new(path, FaultKind::DataUri))?;
            (bytes, base64::media_type(data))
        } else {
            let Some(bytes) = (self.resolve)(uri) else {
                return Ok(None);
            };
            (bytes, "")
        };
        let said = Some(said).filter(|said| !said.is_empty());
        let said = image.get("mimeType").and_then(Value::as_str).or(said);
        let mime = said.or_else(|| kind_of(&bytes)).map(str::to_owned);
        Ok(Some((bytes, mime)))
    }
}

/// A picture's bytes, and its kind, if it can be told.
type Picture = (Vec<u8>, Option<String>);

/// The media type of a picture by how it begins.
fn kind_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [0xab, b'K', b'T', b'X', ..] => Some("image/ktx2"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}

fn set(of: &mut Value, key: &str, number: u64) {
    if let Some(object) = of.as_object_mut() {
        object.insert(key.to_owned(), number.into());
    }
}

fn append_views(document: &mut Value, views: Vec<Value>) {
    let Some(document) = document.as_object_mut().filter(|_| !views.is_empty()) else {
        return;
    };
    let all = document.entry("bufferViews");
    if let Value::Array(all) = all.or_insert_with(|| Value::Array(Vec::new())) {
        all.extend(views);
    }
}

#[cfg(test)]
mod tests;
