//! The newest state of each room, as its host sent it, so that another host can resume the room.
//!
//! Here messages become what the lobby learns, and the lobby's orders become messages: checkpoints
//! are stored on the way in, and added to the orders to resume rooms. Only the host on which the
//! lobby placed a room may update its checkpoint. Messages of another host, which was given up and
//! is still alive, are dropped.
//!
//! Bound: for each room its newest state and the ticks since then, at most `MAX_TICKS`. If a room
//! sends no newer state for that long, its checkpoint is discarded.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use ambit_host::host_core::messages::{RoomMember, RoomResume};
use ambit_host::host_core::protobuf::open_room;
use ambit_host::protocol::messages::{HostToWorld, WorldToHost, host_to_world::Body};
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_room::journal::SavedRoom;

use crate::lobby::{HostId, HostOrder, HostReport};

/// A minute at 60 Hz. Hosts send a room's state once a second.
const MAX_TICKS: usize = 3_600;

/// The checkpoints of all rooms; see the module.
#[derive(Debug, Default)]
pub struct RoomCheckpoints(Mutex<BTreeMap<RoomId, RoomCheckpoint>>);

#[derive(Debug)]
struct RoomCheckpoint {
    host: HostId,
    saved: Option<SavedRoom>,
    /// When the newest message arrived.
    received_at: LocalTime,
}

impl RoomCheckpoint {
    fn new(now: LocalTime, host: HostId) -> Self {
        Self {
            host,
            saved: None,
            received_at: now,
        }
    }
}

impl RoomCheckpoints {
    /// Prepares the message for an order to a host. An order to open a room places it there: from
    /// now on only that host updates its checkpoint. An order to resume a room takes its checkpoint
    /// along; without one, the host answers that it cannot resume the room, and the lobby closes
    /// it.
    pub fn prepare_message(&self, now: LocalTime, host: HostId, order: HostOrder) -> WorldToHost {
        match order {
            HostOrder::OpenRoom {
                assignment,
                resume_with,
            } => {
                let room = assignment.room;
                let resume = resume_with.map(|members| self.resume(now, room, members));
                self.rooms()
                    .entry(room)
                    .or_insert(RoomCheckpoint::new(now, host))
                    .host = host;
                open_room(assignment, resume)
            }
            HostOrder::Message(body) => WorldToHost { body: Some(body) },
        }
    }

    /// A host runs a room already: discards the room's checkpoint, since ticks may be missing in
    /// it.
    pub fn adopt(&self, now: LocalTime, room: RoomId, host: HostId) {
        self.rooms().insert(room, RoomCheckpoint::new(now, host));
    }

    /// Removes the checkpoint of a closed room.
    pub fn remove(&self, room: RoomId) {
        self.rooms().remove(&room);
    }

    /// Receives a host's message. Returns what the lobby has to know: that a room has its first
    /// checkpoint, and every message that is not a checkpoint.
    pub fn receive(
        &self,
        now: LocalTime,
        host: HostId,
        message: HostToWorld,
    ) -> Option<HostReport> {
        match message.body {
            Some(Body::RoomSaved(saved)) => {
                let room = RoomId(saved.room);
                let first = self.update_from(now, host, room, |checkpoint| {
                    let first = checkpoint.saved.is_none();
                    // The journal keeps its memory.
                    let room = checkpoint.saved.get_or_insert_default();
                    room.snapshot = saved.into();
                    room.journal.clear();
                    first
                })?;
                first.then_some(HostReport::Checkpointed(room))
            }
            Some(Body::RoomTick(tick)) => {
                self.update_from(now, host, RoomId(tick.room), |checkpoint| {
                    checkpoint
                        .saved
                        .take_if(|saved| saved.journal.len() >= MAX_TICKS);
                    if let Some(saved) = &mut checkpoint.saved {
                        saved.journal.push(tick.into());
                    }
                });
                None
            }
            Some(body) => Some(HostReport::Message(body)),
            None => {
                tracing::debug!(host = host.0, "skipped an unknown message of a host");
                None
            }
        }
    }

    /// The checkpoint of a room.
    pub fn saved(&self, room: RoomId) -> Option<SavedRoom> {
        self.rooms().get(&room)?.saved.clone()
    }

    fn resume(&self, now: LocalTime, room: RoomId, members: Vec<RoomMember>) -> RoomResume {
        let mut resume = RoomResume {
            members: Some(members),
            ..RoomResume::default()
        };
        if let Some(checkpoint) = self.rooms().get(&room)
            && let Some(saved) = &checkpoint.saved
        {
            resume.now = saved.last_tick() + now.since(checkpoint.received_at);
            resume.saved.clone_from(saved);
        }
        resume
    }

    pub fn len(&self) -> usize {
        self.rooms().len()
    }

    /// Whether there is no room.
    pub fn is_empty(&self) -> bool {
        self.rooms().is_empty()
    }

    fn update_from<T>(
        &self,
        now: LocalTime,
        host: HostId,
        room: RoomId,
        then: impl FnOnce(&mut RoomCheckpoint) -> T,
    ) -> Option<T> {
        let mut rooms = self.rooms();
        let checkpoint = rooms
            .get_mut(&room)
            .filter(|checkpoint| checkpoint.host == host)?;
        checkpoint.received_at = now;
        Some(then(checkpoint))
    }

    fn rooms(&self) -> std::sync::MutexGuard<'_, BTreeMap<RoomId, RoomCheckpoint>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ambit_host::host_core::messages::RoomAssignment;
    use ambit_host::protocol::messages::{Heartbeat, Resume, RoomSaved, RoomTick, world_to_host};
    use ambit_proto::ids::PlayerId;

    use super::*;

    const NOW: LocalTime = LocalTime::ZERO;
    const ROOM: RoomId = RoomId(7);
    const FIRST: HostId = HostId(1);
    const SECOND: HostId = HostId(2);

    #[test]
    fn a_checkpoint_is_the_newest_state_and_the_ticks_since() {
        let checkpoints = RoomCheckpoints::default();
        place(&checkpoints, FIRST);
        assert!(checkpoints.receive(NOW, FIRST, tick(50)).is_none());
        assert_eq!(
            resume_at(&checkpoints, NOW),
            None,
            "ticks without a saved state are not enough"
        );
        assert_eq!(
            checkpoints.receive(NOW, FIRST, saved(100, 1)),
            Some(HostReport::Checkpointed(ROOM)),
            "the lobby is notified once"
        );
        assert!(
            checkpoints.receive(NOW, FIRST, tick(150)).is_none()
                && checkpoints.receive(NOW, FIRST, tick(200)).is_none()
        );
        assert_eq!(known_ticks(&checkpoints), (vec![1], vec![150, 200]));
        assert_eq!(checkpoints.receive(NOW, FIRST, saved(200, 2)), None);
        assert!(checkpoints.receive(NOW, FIRST, tick(250)).is_none());
        assert_eq!(known_ticks(&checkpoints), (vec![2], vec![250]));
        assert!(
            resume_at(&checkpoints, NOW + Duration::from_millis(7))
                .is_some_and(|resume| resume.now_us == 257_000)
        );
        checkpoints.remove(ROOM);
        assert_eq!(resume_at(&checkpoints, NOW), None);
    }

    #[test]
    fn other_messages_are_passed_on_and_unknown_ones_skipped() {
        let checkpoints = RoomCheckpoints::default();
        let unknown = HostToWorld { body: None };
        assert_eq!(checkpoints.receive(NOW, FIRST, unknown), None);
        let beat = HostToWorld {
            body: Some(Body::Heartbeat(Heartbeat { number: 5 })),
        };
        assert_eq!(
            checkpoints.receive(NOW, FIRST, beat),
            Some(HostReport::Message(Body::Heartbeat(Heartbeat {
                number: 5
            })))
        );
    }

    #[test]
    fn messages_of_a_rooms_former_host_are_dropped() {
        let checkpoints = RoomCheckpoints::default();
        place(&checkpoints, FIRST);
        checkpoints.receive(NOW, FIRST, saved(100, 1));
        place(&checkpoints, SECOND);
        checkpoints.receive(NOW, FIRST, saved(900, 9));
        checkpoints.receive(NOW, FIRST, tick(950));
        checkpoints.receive(NOW, SECOND, tick(150));
        assert_eq!(known_ticks(&checkpoints), (vec![1], vec![150]));
    }

    #[test]
    fn the_number_of_kept_ticks_is_bounded() {
        let checkpoints = RoomCheckpoints::default();
        place(&checkpoints, FIRST);
        checkpoints.receive(NOW, FIRST, saved(0, 1));
        for at in 0..=MAX_TICKS as u64 {
            checkpoints.receive(NOW, FIRST, tick(at));
        }
        assert_eq!(resume_at(&checkpoints, NOW), None);
    }

    fn place(checkpoints: &RoomCheckpoints, host: HostId) {
        checkpoints.prepare_message(NOW, host, order(None));
    }

    /// Places the room on `FIRST` and returns what that host gets to resume it; `None` if there is
    /// no checkpoint.
    fn resume_at(checkpoints: &RoomCheckpoints, now: LocalTime) -> Option<Resume> {
        let members = vec![RoomMember {
            player: PlayerId(3),
            name: "ann".into(),
        }];
        let message = checkpoints.prepare_message(now, FIRST, order(Some(members.clone())));
        let Some(world_to_host::Body::OpenRoom(open)) = message.body else {
            panic!("{message:?}")
        };
        let resume = open.resume.expect("an order to resume");
        assert_eq!(resume.members, Some(members.into()));
        (!resume.state.is_empty()).then_some(resume)
    }

    fn order(resume_with: Option<Vec<RoomMember>>) -> HostOrder {
        let assignment = RoomAssignment {
            room: ROOM,
            ..RoomAssignment::default()
        };
        HostOrder::OpenRoom {
            assignment,
            resume_with,
        }
    }

    fn known_ticks(checkpoints: &RoomCheckpoints) -> (Vec<u8>, Vec<u64>) {
        let resume = resume_at(checkpoints, NOW).expect("a room with a checkpoint");
        (
            resume.state,
            resume.ticks.iter().map(|tick| tick.at_us / 1_000).collect(),
        )
    }

    fn saved(at_ms: u64, state: u8) -> HostToWorld {
        let saved = RoomSaved {
            room: ROOM.0,
            at_us: at_ms * 1_000,
            state: vec![state],
        };
        HostToWorld {
            body: Some(Body::RoomSaved(saved)),
        }
    }

    fn tick(at_ms: u64) -> HostToWorld {
        let tick = RoomTick {
            room: ROOM.0,
            at_us: at_ms * 1_000,
            ..RoomTick::default()
        };
        HostToWorld {
            body: Some(Body::RoomTick(tick)),
        }
    }
}
