//! One binary, a module per journey.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot go on should say so and stop"
)]

mod characterise;
mod characters;
mod faults;
mod fbx_ufbx;
mod fuzz;
mod hot_paths;
mod layering;
mod motions;
mod namespace;
mod packets;
mod round_trip;
mod voice;
mod vrm;

use tests::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
