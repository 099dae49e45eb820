//! BVH motion files as a source: a reader of our own, since those at hand trust what files do not keep to.
//!
//! | what | is |
//! |---|---|
//! | hierarchy | `ROOT` and `JOINT` become bones, in file order; `End Site` does not, its offset is kept in [`Joint::end_site`] |
//! | rest pose | the `OFFSET`s without rotation: BVH knows no rest rotation |
//! | rotations | degrees, in the order each joint declares, composed left to right: `Zrotation Xrotation Yrotation` is Rz·Rx·Ry |
//! | positions | **replace** the OFFSET, per axis; see below |
//! | units | not stated by the format: [`CENTIMETRES`] is the habit, [`METRES`] exists; the caller says |
//! | axes | right-handed, +Y up as most tools write; **assumed**, and where a character faces is not guessed |
//!
//! Whether position channels replace a joint's OFFSET or add to it is told differently. Files with six channels per
//! joint decide it: their position channels repeat the offsets (`Geno_stance`, the mocopi app's layout, Bandai-Namco's
//! motions), and roots with an OFFSET have their height in the channels too (`walk01`, `AV_8Walk`). Blender reads it so.
//!
//! What files get wrong and what is done about it:
//!
//! | trap | done |
//! |---|---|
//! | `Frames:` larger or smaller than the rows there | rows count; [`Bvh::declared_frames`] has what was said |
//! | last row cut short by a crash | left out and counted in [`Bvh::cut_rows`] |
//! | a row short or long elsewhere, decimal commas, missing spaces, NaN | an error that names the line |
//! | CRLF, lone CR, mixed ends, tabs, a byte-order mark, braces on the same line | read |
//! | names with spaces, colons, in any script, twice the same | kept; a control character becomes a space |
//! | joints with two rotation channels, none, or a channel thrice | read as declared |
//! | several `ROOT`s | read; each is a bone without parent |
//!
//! Facts: the Biovision layout as the Wisconsin notes have it, Blender's reader, and the files of our samples.

mod read;
mod sample;

pub use read::{
    Bvh, BvhError, Channel, Joint, MAX_BYTES, MAX_CHANNELS_PER_JOINT, MAX_JOINTS, MAX_VALUES,
};

/// Metres per unit of a file in centimetres, the habit.
pub const CENTIMETRES: f32 = 0.01;
/// Metres per unit of a file in metres.
pub const METRES: f32 = 1.0;
