//! The newest state of each room, as its host sent it, so that another host can resume the room.
//!
//! `RoomSaved` and `RoomTick` go in as they arrive, a `Resume` comes out. Only the host on which
//! the lobby placed a room may update its checkpoint. Messages of another host, which was given up
//! and is still alive, are dropped.
//!
//! Bound: for each room its newest state and the ticks since then, at most `MAX_TICKS`. If a room
//! sends no newer state for that long, its checkpoint is discarded.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use ambit_host::protocol::messages::{HostToWorld, Resume, RoomSaved, RoomTick, host_to_world};
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use crate::lobby::HostId;

/// A minute at 60 Hz. Hosts send a room's state once a second.
const MAX_TICKS: usize = 3_600;

/// The checkpoints of all rooms; see the module.
#[derive(Debug, Default)]
pub struct RoomCheckpoints(Mutex<BTreeMap<RoomId, RoomCheckpoint>>);

#[derive(Debug)]
struct RoomCheckpoint {
    host: HostId,
    saved: Option<RoomSaved>,
    ticks: Vec<RoomTick>,
    /// When the newest message arrived.
    received_at: LocalTime,
}

impl RoomCheckpoints {
    /// Places a room on a host: from now on only that host updates its checkpoint.
    pub fn set_host(&self, now: LocalTime, room: RoomId, host: HostId) {
        let mut rooms = self.rooms();
        match rooms.get_mut(&room) {
            Some(checkpoint) => checkpoint.host = host,
            None => {
                rooms.insert(
                    room,
                    RoomCheckpoint {
                        host,
                        saved: None,
                        ticks: Vec::new(),
                        received_at: now,
                    },
                );
            }
        }
    }

    /// A host runs a room already: discards the room's checkpoint, since ticks may be missing in
    /// it.
    pub fn adopt(&self, now: LocalTime, room: RoomId, host: HostId) {
        self.rooms().insert(
            room,
            RoomCheckpoint {
                host,
                saved: None,
                ticks: Vec::new(),
                received_at: now,
            },
        );
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
    ) -> Option<HostToWorld> {
        match message.body {
            Some(host_to_world::Body::RoomSaved(saved)) => {
                let room = saved.room;
                let first = self.update_from(now, host, RoomId(room), |checkpoint| {
                    checkpoint.ticks.clear();
                    checkpoint.saved.replace(saved).is_none()
                });
                let news = RoomSaved {
                    room,
                    ..RoomSaved::default()
                };
                (first == Some(true)).then_some(HostToWorld {
                    body: Some(host_to_world::Body::RoomSaved(news)),
                })
            }
            Some(host_to_world::Body::RoomTick(tick)) => {
                self.update_from(now, host, RoomId(tick.room), |checkpoint| {
                    if checkpoint.ticks.len() >= MAX_TICKS {
                        (checkpoint.saved, checkpoint.ticks) = (None, Vec::new());
                    }
                    if checkpoint.saved.is_some() {
                        checkpoint.ticks.push(tick);
                    }
                });
                None
            }
            body => Some(HostToWorld { body }),
        }
    }

    /// Completes the lobby's order with the room's checkpoint, for the next host. Returns the order
    /// unchanged if there is no checkpoint.
    pub fn complete_resume(&self, now: LocalTime, room: RoomId, order: Resume) -> Resume {
        let rooms = self.rooms();
        let known = rooms
            .get(&room)
            .and_then(|checkpoint| Some((checkpoint.saved.as_ref()?, checkpoint)));
        let Some((
            saved,
            RoomCheckpoint {
                ticks, received_at, ..
            },
        )) = known
        else {
            return order;
        };
        let last_us = ticks.last().map_or(saved.at_us, |tick| tick.at_us);
        let now_us = last_us + now.since(*received_at).as_micros() as u64;
        Resume {
            state: saved.state.clone(),
            ticks: ticks.clone(),
            now_us,
            ..order
        }
    }

    /// The number of rooms.
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

    use ambit_host::protocol::messages::{Member, Members};

    use super::*;

    const NOW: LocalTime = LocalTime::ZERO;
    const ROOM: RoomId = RoomId(7);
    const FIRST: HostId = HostId(1);
    const SECOND: HostId = HostId(2);

    #[test]
    fn a_checkpoint_is_the_newest_state_and_the_ticks_since() {
        let checkpoints = RoomCheckpoints::default();
        checkpoints.set_host(NOW, ROOM, FIRST);
        assert!(checkpoints.receive(NOW, FIRST, tick(50)).is_none());
        assert_eq!(
            resume_at(&checkpoints, NOW),
            None,
            "ticks without a saved state are not enough"
        );
        assert_eq!(
            checkpoints.receive(NOW, FIRST, saved(100, 1)),
            Some(saved_notice()),
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
    fn messages_of_a_rooms_former_host_are_dropped() {
        let checkpoints = RoomCheckpoints::default();
        checkpoints.set_host(NOW, ROOM, FIRST);
        checkpoints.receive(NOW, FIRST, saved(100, 1));
        checkpoints.set_host(NOW, ROOM, SECOND);
        checkpoints.receive(NOW, FIRST, saved(900, 9));
        checkpoints.receive(NOW, FIRST, tick(950));
        checkpoints.receive(NOW, SECOND, tick(150));
        assert_eq!(known_ticks(&checkpoints), (vec![1], vec![150]));
    }

    #[test]
    fn the_number_of_kept_ticks_is_bounded() {
        let checkpoints = RoomCheckpoints::default();
        checkpoints.set_host(NOW, ROOM, FIRST);
        checkpoints.receive(NOW, FIRST, saved(0, 1));
        for at in 0..=MAX_TICKS as u64 {
            checkpoints.receive(NOW, FIRST, tick(at));
        }
        assert_eq!(resume_at(&checkpoints, NOW), None);
    }

    fn resume_at(checkpoints: &RoomCheckpoints, now: LocalTime) -> Option<Resume> {
        let order = Resume {
            members: Some(Members {
                members: vec![Member {
                    player: 3,
                    name: "ann".into(),
                }],
            }),
            ..Resume::default()
        };
        let resume = checkpoints.complete_resume(now, ROOM, order.clone());
        assert_eq!(resume.members, order.members);
        (resume != order).then_some(resume)
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
            body: Some(host_to_world::Body::RoomSaved(saved)),
        }
    }

    fn saved_notice() -> HostToWorld {
        let saved = RoomSaved {
            room: ROOM.0,
            ..RoomSaved::default()
        };
        HostToWorld {
            body: Some(host_to_world::Body::RoomSaved(saved)),
        }
    }

    fn tick(at_ms: u64) -> HostToWorld {
        let tick = RoomTick {
            room: ROOM.0,
            at_us: at_ms * 1_000,
            ..RoomTick::default()
        };
        HostToWorld {
            body: Some(host_to_world::Body::RoomTick(tick)),
        }
    }
}
