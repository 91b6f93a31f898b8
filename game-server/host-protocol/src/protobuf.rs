//! The messages between a host and its WorldServer as protobufs, and back.
//!
//! What is made of a message is the same message again, but the times of what the next host gets of
//! a room's snapshot and the numbers of its ticks, which it does not need.

mod orders;
mod pieces;
mod reports;
mod stats;
mod stores;

pub use orders::{messages_of_order, order_of};
pub use reports::{host_message_of, messages_of};

#[cfg(test)]
mod tests;
