//! The transport kit: how the messages of `ambit-proto` get from one process to another.
//!
//! [`quic`] has quinn's settings, congestion control, timers and certificates; [`frame`] and
//! [`frame_reader`] cut a stream into messages; [`ticket`] is the way into a room; [`accept`] and
//! [`acceptance_limits`] limit handshakes and connections; [`address`] has what limits count by;
//! [`impair`] injects faults below QUIC. Nothing here opens a socket.

pub mod accept;
pub mod acceptance_limits;
pub mod address;
pub mod frame;
pub mod frame_reader;
pub mod impair;
pub mod key_proof;
pub mod quic;
pub mod ticket;
