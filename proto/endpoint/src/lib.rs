//! QUIC connections without a task for each: one owner drives all connections of a socket.
//!
//! [`core`](crate::endpoint_core) is the endpoint as a deterministic struct over `quinn-proto`:
//! packets, calls and the time go in, events and packets come out. [`udp`] is the socket: it
//! receives and sends many packets in one call of the system. [`driver`] is the thread that has
//! both, and the handles of connections and streams that tasks use. [`accept`] limits handshakes;
//! [`player_connection`] is a connection of a program or a browser.
//!
//! What always holds:
//! 1. The same inputs at the same times give the same events and, with seeded random sources, the
//!    same bytes.
//! 2. An established connection owes its peer acknowledgements only: they leave with its next
//!    datagram, or when a timer is due. So a server that sends in ticks sends in ticks.
//! 3. No input of a peer makes the core panic or keeps memory beyond the limits of QUIC's
//!    configuration (`ambit_transport::quic`).
//!
//! Cost: a call for a packet, a timer or a datagram costs what `quinn-proto` costs; the deadlines
//! of all connections are one array, which is walked when one of them is due.

pub mod accept;
pub mod driver;
mod due_times;
pub mod endpoint_core;
pub mod packets;
pub mod player_connection;
pub mod udp;
mod web_transport;
pub mod wire_bytes;
