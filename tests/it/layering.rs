//! The floor plan as code: who may depend on whom, and what the pure rooms must not touch.

use std::{collections::BTreeMap, path::Path, process::Command};

fn metadata() -> serde_json::Value {
    let out = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    serde_json::from_slice(&out.stdout).unwrap()
}

#[test]
fn no_crate_reaches_past_its_floor() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("hub", &[][..]),
        ("sources", &["hub"]),
        ("retarget", &["hub"]),
        ("characters", &["hub"]),
        ("drive", &["hub", "retarget", "characters"]),
        ("render", &["characters", "hub"]),
        ("recordings", &["hub", "retarget", "characters", "drive"]),
        (
            "viewer",
            &[
                "hub",
                "sources",
                "retarget",
                "characters",
                "drive",
                "render",
                "recordings",
            ],
        ),
        (
            "tests",
            &[
                "hub",
                "sources",
                "retarget",
                "characters",
                "drive",
                "render",
                "recordings",
                "viewer",
            ],
        ),
    ]);
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    assert_eq!(packages.len(), allowed.len(), "a crate without a floor");
    for package in packages {
        let name = package["name"].as_str().unwrap();
        for dependency in package["dependencies"].as_array().unwrap() {
            let target = dependency["name"].as_str().unwrap();
            if allowed.contains_key(target) {
                assert!(
                    allowed[name].contains(&target),
                    "{name} must not depend on {target}"
                );
            }
        }
    }
}

#[test]
fn every_crate_takes_the_houses_lints() {
    for package in metadata()["packages"].as_array().unwrap() {
        let manifest = package["manifest_path"].as_str().unwrap();
        let text = std::fs::read_to_string(manifest).unwrap();
        assert!(text.contains("[lints]\nworkspace = true"), "{manifest}");
    }
}

/// Names that would let a clock, a socket, a file or a runtime into a pure room.
const IMPURE: [&str; 8] = [
    "std::fs",
    "std::net",
    "std::thread",
    "Instant",
    "SystemTime",
    "tokio",
    "socket2",
    "std::io",
];

fn sources_below(folder: &Path, out: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources_below(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn the_pure_rooms_know_no_clock_socket_or_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for room in [
        "hub/src",
        "retarget/src",
        "retarget/characters/src",
        "retarget/drive/src",
    ] {
        sources_below(&root.join(room), &mut files);
    }
    assert!(files.len() > 15);
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            for name in IMPURE {
                assert!(
                    !code.contains(name),
                    "{}:{}: a pure room must not name {name}",
                    path.display(),
                    number + 1
                );
            }
        }
    }
}
