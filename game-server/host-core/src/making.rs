//! Making a room takes time: the shell does it on a thread of its own.

use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::Error;
use ambit_proto::ids::RoomId;
use ambit_proto::time::{GameTime, LocalTime};

use super::checkpoints::{CheckpointSender, restore_room};
use super::clock::RoomClock;
use super::room_host::RoomHost;
use ambit_host_protocol::messages::RoomResume;
use ambit_room::config::RoomConfig;
use ambit_room::journal::RoomSnapshot;
use ambit_room::logic::game::Game;
use ambit_room::logic::registry::Registry;
use ambit_room::recording::Header;
use ambit_room::room::Room;

/// How to make a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomPlan {
    pub header: Header,
    /// How often it was given to a host.
    pub incarnation: u32,
    /// The room at its last host, and its clock since the order has arrived; `None` for a new room,
    /// whose clock starts when the room does.
    pub resume: Option<(RoomClock, RoomResume)>,
    /// Whether the WorldServer saves the room.
    pub is_saved: bool,
}

/// A room that has not ticked at this host yet.
pub struct PreparedRoom {
    room: Room,
    plan: RoomPlan,
}

/// A room that can start.
pub struct MadeRoom {
    pub host: RoomHost,
    /// The first snapshot, if the WorldServer saves the room.
    pub snapshot: Option<RoomSnapshot>,
}

impl RoomPlan {
    /// Creates the room, or restores it and brings it up to the time that `clock` shows. Its game
    /// is what `wrap` makes of the registered one. The game's code may panic.
    pub fn prepare(
        self,
        registry: &Registry,
        has_trace: bool,
        wrap: impl FnOnce(Box<dyn Game>) -> Box<dyn Game>,
        clock: impl Fn() -> LocalTime,
    ) -> Result<PreparedRoom, Error> {
        let (config, game) = registry.prepare(&self.header)?;
        let game = wrap(game);
        let config = RoomConfig { trace: has_trace, ..config };
        let room = match &self.resume {
            None => Room::new(config, game),
            Some((room_clock, resume)) => {
                let now = || room_clock.room_time(clock());
                restore_room(config, game, now, resume).map_err(|bad| {
                    codes::error(
                        ErrorCode::ServerError,
                        format!("the room can't go on here: {bad}"),
                    )
                })?
            }
        };
        Ok(PreparedRoom { room, plan: self })
    }
}

impl PreparedRoom {
    pub fn room(&self) -> &Room {
        &self.room
    }

    pub fn header(&self) -> &Header {
        &self.plan.header
    }

    /// The snapshot that a recording begins with; `None` for a new room.
    pub fn snapshot(&self) -> Option<RoomSnapshot> {
        self.plan.resume.as_ref()?;
        Some(RoomSnapshot {
            at: self.room.last_tick().unwrap_or_default(),
            state: self.room.save()?,
        })
    }

    /// Lets the room begin: the first tick of a new room, at room time zero, creates the world.
    /// `before_tick` is called before it. The game's code may panic.
    pub fn finish(mut self, before_tick: impl FnOnce(GameTime)) -> MadeRoom {
        let Header { room, capacity, .. } = self.plan.header;
        let id = RoomId(room);
        if self.plan.resume.is_none() {
            before_tick(GameTime::ZERO);
            self.room.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
        }
        let (checkpoints, snapshot) =
            self.plan.is_saved.then(|| CheckpointSender::new(id, &self.room)).flatten().unzip();
        let mut host = RoomHost::new(id, capacity, self.room, checkpoints);
        host.begin_incarnation(self.plan.incarnation);
        MadeRoom { host, snapshot: snapshot.flatten() }
    }
}
