//! What to tell each client now.
//!
//! [`slots`] holds what one client knows of which object and what is due; [`compose`] turns that
//! into records, whose components [`records`] encodes once for all. Poses go another way: [`book`]
//! has what each was, [`poses`] knows which of them one client is to be told and against what base
//! ([`numbers`] says what it has), [`cache`] codes each once for all clients with the same base,
//! and [`fill`] puts as many into a datagram as fit, by the priorities of [`freshness`]. Source:
//! design, section 6.

pub mod book;
pub mod cache;
pub mod compose;
pub mod fill;
pub mod freshness;
pub mod numbers;
pub mod poses;
pub mod records;
pub mod slots;
mod track;
