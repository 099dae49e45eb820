//! Why something cannot be drawn.

use thiserror::Error;

/// Why a GPU cannot be had, or cannot hold or draw what it was given.
#[derive(Clone, Debug, Error)]
pub enum RenderError {
    /// No adapter answers.
    #[error("no graphics adapter was found: {reason}; {hint}")]
    NoAdapter {
        /// What each backend said.
        reason: String,
        /// What to install on this system.
        hint: &'static str,
    },
    /// The adapter gives no device with what is needed.
    #[error("{adapter} gives no device: {reason}")]
    NoDevice {
        /// Name of the adapter.
        adapter: String,
        /// What the driver said.
        reason: String,
    },
    /// The device can do less than is needed.
    #[error("{adapter} is too weak: {limit} is {have}, {need} needed")]
    Limit {
        /// Name of the adapter.
        adapter: String,
        /// WebGPU's name of the limit.
        limit: &'static str,
        /// The device's value.
        have: u64,
        /// What is needed.
        need: u64,
    },
    /// More than the device's buffers hold.
    #[error("{what} take {have} bytes, the device holds {limit} in one buffer")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its bytes.
        have: u64,
        /// Most that the device takes.
        limit: u64,
    },
    /// A picture of no or too many pixels.
    #[error("a picture of {width}×{height} pixels; each side must be 1 to {limit}")]
    Size {
        /// Width asked for.
        width: u32,
        /// Height asked for.
        height: u32,
        /// Most pixels of a side.
        limit: u32,
    },
    /// The device has no memory left.
    #[error("the graphics memory is full while making {what}")]
    OutOfMemory {
        /// What was being made.
        what: &'static str,
    },
    /// The driver refused; a fault of this program or of the driver.
    #[error("the graphics driver refused {what}: {reason}")]
    Refused {
        /// What was being made or done.
        what: &'static str,
        /// The driver's words.
        reason: String,
    },
    /// The device is gone, or a picture did not come back from it.
    #[error("the graphics device gave no picture: {reason}")]
    NoPicture {
        /// What went wrong.
        reason: String,
    },
    /// A model whose parts contradict each other.
    #[error("{what} {index} is not below {count}")]
    IndexOutOfRange {
        /// What the index names.
        what: &'static str,
        /// The index.
        index: usize,
        /// How many there are.
        count: usize,
    },
}
