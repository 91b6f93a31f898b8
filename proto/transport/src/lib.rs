//! The transport kit: how the messages of `ambit-proto` get from one process to another.
//!
//! [`quic`] has quinn's settings, congestion control, timers and certificates; [`frame_reader`]
//! reads messages from a stream; [`ticket`] is the way into a room; [`account_proof`] shows whose
//! account it is; [`acceptance_limits`] limit connections; [`address`] has what limits count by;
//! [`random`] has unpredictable bytes; [`impair`] injects faults below QUIC. Nothing here opens a
//! socket.

pub mod acceptance_limits;
pub mod account_proof;
pub mod address;
pub mod frame_reader;
pub mod impair;
pub mod key_proof;
pub mod quic;
pub mod random;
pub mod ticket;
