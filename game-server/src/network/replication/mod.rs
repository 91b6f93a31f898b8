//! What to tell each client now.
//!
//! [`slots`] holds what one client knows of which object and what is due; [`compose`] turns that
//! into records, whose components [`records`] encodes once for all. Poses go another way: [`book`]
//! has what each was, [`poses`] knows which of them one client is to be told and against what base
//! ([`numbers`] says what it has), [`cache`] codes each once for all clients with the same base,
//! and [`fill`] puts as many into a datagram as fit, by the priorities of [`freshness`].
//! PoseSource: design, section 6.

pub mod coded_poses;
pub mod compose;
pub mod freshness;
pub mod object_slots;
pub mod pose_section;
pub mod pose_table;
mod pose_track;
pub mod records;
pub mod sent_datagrams;
pub mod viewer_poses;
