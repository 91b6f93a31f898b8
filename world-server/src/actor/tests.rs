//! Support for tests of what is around the actor.

pub(crate) mod idle;
