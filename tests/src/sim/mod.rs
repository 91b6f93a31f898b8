//! The whole system in one thread, on virtual time, from one seed: lobby, hosts, rooms, clients and
//! a faulty network.
//!
//! [`System`] runs the real cores (`Lobby`, `HostCore`, `RoomHost`, `ServingLease`, `ReleaseGate`,
//! `Client`) and carries their messages through the simulated network ([`net`]). A run takes as
//! long as its decisions do, not as long as its time. The same seed and the same calls give the
//! same bytes at the same times: [`System::traffic`] is a hash over all of it.
//!
//! Each client's clock has its own offset, so that nothing works only because clocks agree.
//!
//! What the simulator imitates of a host, since it is in the shells and not in a core:
//! - Connections: QUIC with its handshakes, flow control and timeouts, their limits, the time limit
//!   for a `Join`, bounded queues (a client's share of datagrams, its control messages, two batches
//!   of datagrams, orders to a stuck room).
//! - The order in which a client's messages, its datagrams and the end of its connection reach the
//!   room: they arrive in order here; in a host two tasks carry them to the room's mailbox.
//! - Threads: a room is made, ticked and ended at once here. Making takes time at hosts that may
//!   die alone. A room that panics ends the test.
//! - The pipe of a child: messages leave one by one, and the journal is written with them.
//! - The WorldServer's end of a link: it learns of a host before the host's first message, it
//!   acknowledges the journal of a host on another machine, and it completes an order to go on with
//!   a room (`RoomCheckpoints`, which is the real one).
//! - `dial`: a host on another machine that has lost its link ends and comes anew without rooms,
//!   instead of dialling again with them.
//! - Processes: how children are started and killed, what a stopped process finds when it wakes up.
//! - Figures (`HostStats`) are not sent.

pub mod host;
pub mod net;
mod system;
pub mod wire;

pub use system::{Guest, System, fleet};
