//! Discrete-event simulation of the whole system in one thread, on virtual time, from one seed:
//! lobby, hosts, rooms, clients and a faulty network.
//!
//! [`System`] runs the real cores (`Lobby`, `HostCore`, `RoomHost`, `check_release`, `Client`) and
//! delivers their messages through the simulated network ([`net`]). Virtual time jumps from event
//! to event, so a run takes only its computing time. The same seed and the same calls give the same
//! bytes at the same times: [`System::traffic`] is a hash over all of them.
//!
//! Each client's clock has its own offset, so tests fail if code assumes that clocks agree.
//!
//! The simulator replaces the shells. It differs from the real ones in these points:
//! - Connections: QUIC's handshakes, flow control and timeouts are simplified ([`quic`] runs the
//!   real ones, without the rest). Connection limits, the time limit for a `Join` and the bounds of
//!   queues (a client's datagrams and control messages, two batches of datagrams, orders to a
//!   stuck room) do not exist.
//! - A client's messages, its datagrams and the end of its connection reach the room in order; in a
//!   real host two tasks forward them to the room's mailbox.
//! - Threads: a room is created, ticked and ended at once. Only hosts in their own processes need
//!   time to create a room. A room that panics ends the test.
//! - The pipe of a child: messages leave one by one, and the journal is written with them.
//! - The WorldServer's end of a link: it registers a host before the host's first message, it
//!   acknowledges the journal of a host on another machine, and it completes orders to resume a
//!   room (with the real `RoomCheckpoints`).
//! - Reconnects: a host on another machine that has lost its link ends and starts again without
//!   rooms; a real one reconnects with its rooms.
//! - Processes: children are started and killed by events; a stopped process handles its waiting
//!   events when it continues.
//! - Statistics (`HostStats`) are not sent.

pub mod host;
pub mod net;
pub mod quic;
pub mod store;
mod system;
pub mod wire;

pub use system::{SimUser, System, fleet};
