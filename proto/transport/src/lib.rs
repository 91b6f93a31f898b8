//! The transport kit: how the messages of `ambit-proto` get from one process to another.
//!
//! [`quic`] has quinn's settings, congestion control, timers and certificates; [`frame`] cuts a
//! stream into messages; [`ticket`] is the way into a room; [`impair`] injects faults below QUIC.
//! Nothing here opens a socket.

pub mod frame;
pub mod impair;
pub mod quic;
pub mod ticket;
