//! Files for other programs: rows or a scene in, bytes out.

pub mod bvh;
pub mod csv;
pub mod fbx;
pub mod glb;
pub mod names;
pub mod scene;
pub mod table;
pub mod usda;
pub mod vrma;
