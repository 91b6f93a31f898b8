//! What hosts have said of their rooms, so that these can go on elsewhere.
//!
//! `RoomSaved` and `RoomTick` go in as they come, a `Resume` comes out. Of a room one host is
//! heard: the one that the lobby has placed it on. What another one says, that was given up and
//! lives after all, is dropped.
//!
//! Bound: for each room its newest state, and the ticks since then, `MOST_TICKS` at most: of a room
//! that has not said more for so long, nothing is known any more.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use ambit_proto::control::host::{HostToWorld, Resume, RoomSaved, RoomTick, host_to_world};
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use crate::lobby::HostId;

/// A minute at 60 Hz: hosts say once a second what a room is.
const MAX_TICKS: usize = 3_600;

/// See the module.
#[derive(Debug, Default)]
pub struct RoomCheckpoints(Mutex<BTreeMap<RoomId, RoomCheckpoint>>);

#[derive(Debug)]
struct RoomCheckpoint {
    host: HostId,
    saved: Option<RoomSaved>,
    ticks: Vec<RoomTick>,
    /// When the newest of them came.
    received_at: LocalTime,
}

impl RoomCheckpoints {
    /// A room is to run at a host: from now on that one is heard.
    pub fn set_host(&self, now: LocalTime, room: RoomId, host: HostId) {
        let mut rooms = self.rooms();
        match rooms.get_mut(&room) {
            Some(kept) => kept.host = host,
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

    /// A host says that it runs a room already: what was known of it may have gaps, and goes.
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

    /// A room is gone for good.
    pub fn remove(&self, room: RoomId) {
        self.rooms().remove(&room);
    }

    /// Takes what a host has said of a room; gives back what is the lobby's business: that a room
    /// can go on elsewhere from now on, and whatever else it is.
    pub fn receive(
        &self,
        now: LocalTime,
        host: HostId,
        message: HostToWorld,
    ) -> Option<HostToWorld> {
        match message.body {
            Some(host_to_world::Body::RoomSaved(saved)) => {
                let room = saved.room;
                let first = self.update_from(now, host, RoomId(room), |kept| {
                    kept.ticks.clear();
                    kept.saved.replace(saved).is_none()
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
                self.update_from(now, host, RoomId(tick.room), |kept| {
                    if kept.ticks.len() >= MAX_TICKS {
                        (kept.saved, kept.ticks) = (None, Vec::new());
                    }
                    if kept.saved.is_some() {
                        kept.ticks.push(tick);
                    }
                });
                None
            }
            body => Some(HostToWorld { body }),
        }
    }

    /// The lobby's order with what the room was when it was last heard of, for the next host; as it
    /// was given, if nothing is known.
    pub fn complete_resume(&self, now: LocalTime, room: RoomId, order: Resume) -> Resume {
        let rooms = self.rooms();
        let known = rooms
            .get(&room)
            .and_then(|kept| Some((kept.saved.as_ref()?, kept)));
        let Some((
            saved,
            RoomCheckpoint {
                ticks,
                received_at: heard,
                ..
            },
        )) = known
        else {
            return order;
        };
        let last_us = ticks.last().map_or(saved.at_us, |tick| tick.at_us);
        let now_us = last_us + now.since(*heard).as_micros() as u64;
        Resume {
            state: saved.state.clone(),
            ticks: ticks.clone(),
            now_us,
            ..order
        }
    }

    /// How many rooms are known of.
    pub fn len(&self) -> usize {
        self.rooms().len()
    }

    /// Whether none is.
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
        let kept = rooms.get_mut(&room).filter(|kept| kept.host == host)?;
        kept.received_at = now;
        Some(then(kept))
    }

    fn rooms(&self) -> std::sync::MutexGuard<'_, BTreeMap<RoomId, RoomCheckpoint>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ambit_proto::control::host::{Member, Members};

    use super::*;

    const NOW: LocalTime = LocalTime::ZERO;
    const ROOM: RoomId = RoomId(7);
    const FIRST: HostId = HostId(1);
    const SECOND: HostId = HostId(2);

    #[test]
    fn what_is_kept_is_the_newest_state_and_the_ticks_since() {
        let kept = RoomCheckpoints::default();
        kept.set_host(NOW, ROOM, FIRST);
        assert!(kept.receive(NOW, FIRST, tick(50)).is_none());
        assert_eq!(resume_at(&kept, NOW), None, "ticks alone say nothing");
        assert_eq!(
            kept.receive(NOW, FIRST, saved(100, 1)),
            Some(bare()),
            "the lobby learns it once"
        );
        assert!(
            kept.receive(NOW, FIRST, tick(150)).is_none()
                && kept.receive(NOW, FIRST, tick(200)).is_none()
        );
        assert_eq!(told(&kept), (vec![1], vec![150, 200]));
        assert_eq!(kept.receive(NOW, FIRST, saved(200, 2)), None);
        assert!(kept.receive(NOW, FIRST, tick(250)).is_none());
        assert_eq!(told(&kept), (vec![2], vec![250]));
        assert!(
            resume_at(&kept, NOW + Duration::from_millis(7))
                .is_some_and(|resume| resume.now_us == 257_000)
        );
        kept.remove(ROOM);
        assert_eq!(resume_at(&kept, NOW), None);
    }

    #[test]
    fn a_host_that_has_lost_a_room_is_not_heard_any_more() {
        let kept = RoomCheckpoints::default();
        kept.set_host(NOW, ROOM, FIRST);
        kept.receive(NOW, FIRST, saved(100, 1));
        kept.set_host(NOW, ROOM, SECOND);
        kept.receive(NOW, FIRST, saved(900, 9));
        kept.receive(NOW, FIRST, tick(950));
        kept.receive(NOW, SECOND, tick(150));
        assert_eq!(told(&kept), (vec![1], vec![150]));
    }

    #[test]
    fn ticks_without_end_are_not_kept() {
        let kept = RoomCheckpoints::default();
        kept.set_host(NOW, ROOM, FIRST);
        kept.receive(NOW, FIRST, saved(0, 1));
        for at in 0..=MAX_TICKS as u64 {
            kept.receive(NOW, FIRST, tick(at));
        }
        assert_eq!(resume_at(&kept, NOW), None);
    }

    fn resume_at(kept: &RoomCheckpoints, now: LocalTime) -> Option<Resume> {
        let order = Resume {
            members: Some(Members {
                members: vec![Member {
                    player: 3,
                    name: "ann".into(),
                }],
            }),
            ..Resume::default()
        };
        let resume = kept.complete_resume(now, ROOM, order.clone());
        assert_eq!(resume.members, order.members);
        (resume != order).then_some(resume)
    }

    fn told(kept: &RoomCheckpoints) -> (Vec<u8>, Vec<u64>) {
        let resume = resume_at(kept, NOW).expect("a room that is kept");
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

    fn bare() -> HostToWorld {
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
