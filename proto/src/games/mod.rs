//! What both ends know of the shipped games beyond their schemas: the rules of the client's own
//! simulation.
//!
//! Any client understands any game by its schema. This module is for games whose objects clients
//! simulate (`schema::PosePresentation::Simulated`). Names, grids and controls are always
//! available, physics only with the feature `physics`.

pub mod cubes;
