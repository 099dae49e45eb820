//! What the journeys share: a performer whose true signal is known, a bad network, a simulated clock,
//! and an allocator that counts.

pub mod corpus;
pub mod counting;
pub mod rig;
pub mod samples;
pub mod sheet;
