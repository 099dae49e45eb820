//! One binary, a module per journey.

mod faults;
mod fuzz;
mod hot_paths;
mod layering;

use tests::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
