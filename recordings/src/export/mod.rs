//! Files for other programs: rows in, bytes out.

pub mod csv;
pub mod glb;
