//! The whole system in one thread, on virtual time, from one seed: lobby, host, rooms, clients and
//! a faulty network.
//!
//! [`System`] owns the real cores and carries what they say through the simulated network
//! ([`net`]); nothing is mocked but the carrying. A run takes as long as its decisions do, not as
//! long as its time. The same seed and the same calls give the same bytes at the same times:
//! [`System::traffic`] is a hash over all of it.
//!
//! Each client's clock has its own offset, so that nothing works by clocks that happen to agree.

pub mod host;
pub mod net;
mod system;
pub mod wire;

pub use system::{Guest, System, fleet};
