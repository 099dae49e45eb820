//! The four types that MIDI and Art-Net know, and rates above 30.

use hub::{DropFrame, FrameRate};

/// The rate of labels at `rate`: rates above 30 are carried at half of it (a third or a quarter at 90 and 120).
pub(crate) fn label_rate(rate: FrameRate) -> Option<FrameRate> {
    let divisor = rate.nominal().div_ceil(30);
    FrameRate::new(rate.num(), rate.den().checked_mul(divisor)?).ok()
}

/// What a type 0 to 3 counts. `stated`, what the operator says, decides between rates of as many frames.
pub(crate) fn counted(kind: u8, stated: Option<FrameRate>) -> Option<(FrameRate, DropFrame)> {
    let (rate, drop) = match kind {
        0 => (FrameRate::FPS_24, DropFrame::NonDrop),
        1 => (FrameRate::FPS_25, DropFrame::NonDrop),
        2 => (FrameRate::FPS_29_97, DropFrame::Drop),
        3 => (FrameRate::FPS_30, DropFrame::NonDrop),
        _ => return None,
    };
    let stated = stated
        .and_then(label_rate)
        .filter(|s| s.nominal() == rate.nominal() && drop == DropFrame::NonDrop);
    Some((stated.unwrap_or(rate), drop))
}

/// The type for labels at a rate; `None` for rates that none of them counts.
pub(crate) fn kind_of(rate: FrameRate, drop: DropFrame) -> Option<u8> {
    match (rate.nominal(), drop) {
        (24, _) => Some(0),
        (25, _) => Some(1),
        (30, DropFrame::Drop) => Some(2),
        (30, DropFrame::NonDrop) => Some(3),
        _ => None,
    }
}
