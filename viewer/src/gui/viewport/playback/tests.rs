//! A take that a hub recorded, played in the window.

use super::*;
use crate::gui::tests::running::a_take;

/// A second of a face and more.
fn opened(folder: &Path) -> Playback {
    let take = a_take(folder.to_owned(), "演員", 70);
    Playback::open(&take).unwrap()
}

#[test]
fn a_take_is_opened_with_its_subjects_and_its_length() {
    let folder = tempfile::tempdir().unwrap();
    let playback = opened(folder.path());
    let playing = playback.playing();
    assert_eq!(playing.subjects, ["演員"]);
    // Seventy frames at 60 Hz; a machine that is busy records a few more.
    assert!(
        (1.0..20.0).contains(&playing.of_secs),
        "{}",
        playing.of_secs
    );
    assert!(!playing.paused && !playing.looping);
    assert_eq!(playback.ids().collect::<Vec<_>>(), [0]);
    let (statics, frame) = playback.frame(0).unwrap();
    assert_eq!(statics.properties.len(), 61);
    assert!(frame.unwrap().check(&statics).is_ok());
    assert!(playback.frame(1).is_none());
}

#[test]
fn it_moves_on_stands_at_its_end_and_begins_again_if_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let mut playback = opened(folder.path());
    let of_secs = playback.playing().of_secs;
    let values = |playback: &Playback| playback.frame(0).unwrap().1.unwrap().properties.clone();
    let first = values(&playback);
    playback.advance(0.5);
    assert_eq!(playback.at_secs(), 0.5);
    assert_ne!(values(&playback), first);
    playback.follow(&Playing {
        paused: true,
        ..playback.playing()
    });
    assert!(!playback.moves());
    playback.advance(0.25);
    assert_eq!(playback.at_secs(), 0.5);
    playback.follow(&Playing {
        paused: false,
        ..playback.playing()
    });
    playback.advance(of_secs);
    assert_eq!(playback.at_secs(), of_secs);
    assert!(!playback.moves());
    playback.follow(&Playing {
        looping: true,
        ..playback.playing()
    });
    assert!(playback.moves());
    playback.advance(0.25);
    assert_eq!(playback.at_secs(), 0.0);
    assert_eq!(values(&playback), first);
}

#[test]
fn a_file_that_is_no_take_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("山田.mcap");
    std::fs::write(&path, b"not a take").unwrap();
    let error = Playback::open(&path).err().unwrap();
    assert!(format!("{error:#}").contains("山田"), "{error:#}");
}
