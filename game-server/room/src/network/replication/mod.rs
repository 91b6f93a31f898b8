//! What to send to each client now.
//!
//! [`object_slots`] tracks what one client knows of which object and what is due, `slot_copies`
//! what of it is sent twice on a line that loses datagrams; [`compose`] writes that as records,
//! whose components [`records`] encodes once for all clients. Poses take another path:
//! [`pose_table`] has the recent poses of each object, [`viewer_poses`] knows which of them are due
//! for one client and against which baseline ([`sent_datagrams`] knows what the client has),
//! [`reckoning`] what it shows without them, [`coded_poses`] codes each once for all clients with
//! the same baseline, and [`pose_section`] puts as many into a datagram as fit, by the priorities
//! of [`freshness`].

pub mod coded_poses;
pub mod compose;
pub mod freshness;
pub mod object_slots;
pub mod pose_at_client;
pub mod pose_section;
pub mod pose_source;
pub mod pose_table;
mod pose_track;
pub mod reckoning;
pub mod records;
pub mod sent_datagrams;
mod slot_copies;
pub mod viewer_poses;
