//! What both ends know of shipped games beyond their schemas: rules that a client's own simulation
//! goes on with.
//!
//! Any client understands any game by its schema; what stands here is for games whose objects
//! clients simulate (`schema::PosePresentation::Simulated`). Names, grids and controls are there
//! for everybody, physics behind the feature `physics`.

pub mod cubes;
