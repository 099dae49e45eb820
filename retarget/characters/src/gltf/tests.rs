use crate::{Character, CharacterError, FaultKind};

use super::*;

/// A document of two buffers, three views and three images, one of which is a view already.
fn beside() -> Value {
    json!({
        "asset": {"version": "2.0"},
        "buffers": [
            // The bytes 1 to 5 as Python's base64 writes them.
            {"byteLength": 5, "uri": "data:application/octet-stream;base64,AQIDBAU="},
            {"byteLength": 3, "uri": "身体.bin"}
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 1, "byteLength": 4},
            {"buffer": 1, "byteLength": 2},
            {"buffer": 1, "byteOffset": 2, "byteLength": 1}
        ],
        "images": [
            {"name": "a", "uri": "data:image/jpeg;base64,/9j/"},
            {"bufferView": 1, "mimeType": "image/png"},
            {"uri": "b.png"},
            {"uri": "c.png"}
        ]
    })
}

fn read(
    document: &Value,
    resolve: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
) -> Result<Character, CharacterError> {
    Character::from_gltf(&serde_json::to_vec(document).unwrap(), resolve)
}

/// The only faults.
#[track_caller]
fn check_faults(document: &Value, want: &[(&str, FaultKind)]) {
    let mut give = |uri: &str| (uri == "身体.bin").then(|| vec![6, 7, 8]);
    let faults = match read(document, &mut give) {
        Err(CharacterError::Faults(faults)) => faults,
        other => panic!("expected faults, found {other:?}"),
    };
    let have = faults.listed.iter();
    let have: Vec<_> = have
        .map(|fault| (fault.path.as_str(), fault.kind))
        .collect();
    assert_eq!(have, want);
}

#[test]
fn buffers_and_pictures_become_one_binary_and_the_document_says_where() {
    let mut asked = Vec::new();
    let mut give = |uri: &str| {
        asked.push(uri.to_owned());
        match uri {
            // One byte more than is needed.
            "身体.bin" => Some(vec![6, 7, 8, 9]),
            "b.png" => Some(b"\x89PNG\r".to_vec()),
            _ => None,
        }
    };
    let character = read(&beside(), &mut give).unwrap();
    assert_eq!(asked, ["身体.bin", "b.png", "c.png"]);
    // Each on a multiple of four.
    let want = [
        b"\x01\x02\x03\x04\x05\0\0\0".as_slice(),
        b"\x06\x07\x08\0",
        b"\xff\xd8\xff\0",
        b"\x89PNG\r\0\0\0",
    ];
    assert_eq!(character.bin, want.concat());
    let document = &character.document;
    assert_eq!(document["buffers"], json!([{"byteLength": 24}]));
    assert_eq!(
        document["bufferViews"],
        json!([
            {"buffer": 0, "byteOffset": 1, "byteLength": 4},
            {"buffer": 0, "byteLength": 2, "byteOffset": 8},
            {"buffer": 0, "byteOffset": 10, "byteLength": 1},
            {"buffer": 0, "byteOffset": 12, "byteLength": 3},
            {"buffer": 0, "byteOffset": 16, "byteLength": 5}
        ])
    );
    assert_eq!(
        document["images"],
        json!([
            {"name": "a", "bufferView": 3, "mimeType": "image/jpeg"},
            {"bufferView": 1, "mimeType": "image/png"},
            {"bufferView": 4, "mimeType": "image/png"},
            {"uri": "c.png"}
        ])
    );
    let images = character.geometry().unwrap().images;
    let bytes: Vec<&[u8]> = images.iter().map(|image| image.bytes.as_slice()).collect();
    assert_eq!(
        bytes,
        [b"\xff\xd8\xff".as_slice(), b"\x06\x07", b"\x89PNG\r", b""]
    );

    // Written and read as GLB it is the same character.
    let json = serde_json::to_vec(document).unwrap();
    let file = glb::write(&json, &character.bin).unwrap();
    assert_eq!(Character::from_glb(&file).unwrap(), character);
}

#[test]
fn buffers_that_compressed_views_stand_in_for_stay_without_bytes() {
    let document = json!({
        "asset": {"version": "2.0"},
        "extensionsRequired": ["EXT_meshopt_compression"],
        "buffers": [{"byteLength": 100}, {"byteLength": 3, "uri": "data:;base64,AQID"}],
        "bufferViews": [{"buffer": 0, "byteLength": 12, "extensions": {"EXT_meshopt_compression": {
            "buffer": 1, "byteOffset": 1, "byteLength": 2
        }}}]
    });
    let character = read(&document, &mut |_| None).unwrap();
    let buffers = json!([{"byteLength": 4}, {"byteLength": 100}]);
    assert_eq!(character.document["buffers"], buffers);
    let view = &character.document["bufferViews"][0];
    assert_eq!(view["buffer"], json!(1));
    let packing = json!({"buffer": 0, "byteOffset": 1, "byteLength": 2});
    assert_eq!(view["extensions"]["EXT_meshopt_compression"], packing);
}

#[test]
fn all_that_is_missing_or_too_short_is_named() {
    let check = |pointer: &str, value: Value, path: &str, kind: FaultKind| {
        let mut document = beside();
        *document.pointer_mut(pointer).unwrap() = value;
        check_faults(&document, &[(path, kind)]);
    };
    let uri = "/buffers/0/uri";
    check(uri, json!("other.bin"), uri, FaultKind::OtherFile);
    check(uri, json!("data:;base64,A"), uri, FaultKind::DataUri);
    check(
        uri,
        json!(null),
        uri,
        FaultKind::Expected("the buffer's address"),
    );
    check(
        "/images/0/uri",
        json!("data:,x"),
        "/images/0/uri",
        FaultKind::DataUri,
    );
    let short = FaultKind::OutOfBounds { needed: 9, have: 5 };
    check("/buffers/0/byteLength", json!(9), "/buffers/0", short);
    let number = FaultKind::Expected("whole number");
    check(
        "/buffers/0/byteLength",
        json!(-1),
        "/buffers/0/byteLength",
        number,
    );
    // Merged it would not be beyond the end any more.
    let beyond = FaultKind::OutOfBounds { needed: 6, have: 5 };
    check(
        "/bufferViews/0/byteLength",
        json!(5),
        "/bufferViews/0",
        beyond,
    );
    let index = FaultKind::IndexOutOfRange { index: 2, count: 2 };
    check(
        "/bufferViews/0/buffer",
        json!(2),
        "/bufferViews/0/buffer",
        index,
    );

    let mut document = beside();
    document["buffers"][0]["uri"] = json!("x");
    document["buffers"][1]["uri"] = json!("y");
    let both = [
        ("/buffers/0/uri", FaultKind::OtherFile),
        ("/buffers/1/uri", FaultKind::OtherFile),
    ];
    check_faults(&document, &both);
}

#[test]
fn what_is_no_document_is_refused() {
    let read = |json: &[u8]| Character::from_gltf(json, &mut |_| None);
    assert!(matches!(read(b"glTF"), Err(CharacterError::Json(_))));
    assert!(matches!(read(b"[]"), Err(CharacterError::Faults(_))));
    let plain = b"\xef\xbb\xbf{\"asset\":{\"version\":\"2.0\"}}";
    let character = read(plain).unwrap();
    assert_eq!(character.bin, [0_u8; 0]);
    assert_eq!(character.document.get("buffers"), None);
    let long = vec![b' '; glb::MAX_JSON_BYTES + 1];
    assert!(matches!(read(&long), Err(CharacterError::Framing(_))));
}
