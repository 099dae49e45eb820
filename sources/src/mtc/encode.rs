//! Labels → bytes.

use hub::Timecode;

use super::rates::kind_of;

/// The eight quarter frames of a label, in the order of running forwards; they are to be sent a quarter of a frame
/// apart, and the next label is two frames on. `None` at rates other than 23.976 to 30.
pub fn quarter_frames(label: &Timecode) -> Option<[[u8; 2]; 8]> {
    let [hours, minutes, seconds, frames] = bytes(label);
    let kind = kind_of(label.rate(), label.drop())?;
    let pieces = [
        frames & 15,
        frames >> 4,
        seconds & 15,
        seconds >> 4,
        minutes & 15,
        minutes >> 4,
        hours & 15,
        (hours >> 4) | (kind << 1),
    ];
    let mut messages = [[0xf1, 0]; 8];
    for (number, (message, piece)) in (0u8..).zip(messages.iter_mut().zip(pieces)) {
        message[1] = (number << 4) | piece;
    }
    Some(messages)
}

/// The full frame message of a label, to all devices. `None` at rates other than 23.976 to 30.
pub fn full_frame(label: &Timecode) -> Option<[u8; 10]> {
    let [hours, minutes, seconds, frames] = bytes(label);
    let kind = kind_of(label.rate(), label.drop())?;
    let hours = hours | (kind << 5);
    Some([
        0xf0, 0x7f, 0x7f, 0x01, 0x01, hours, minutes, seconds, frames, 0xf7,
    ])
}

/// Fields as bytes: a label has none above 59 at these rates.
fn bytes(label: &Timecode) -> [u8; 4] {
    label.fields().map(|field| field as u8)
}
