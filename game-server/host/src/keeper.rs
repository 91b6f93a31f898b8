//! What the WorldServer is told of a room all along, so that it can go on elsewhere: all that it is
//! before its first tick here and about once a second, and what each tick has taken; and how
//! another host goes on with it by that.
//!
//! A room after a tick goes in, messages come out. A WorldServer that has all of them up to a tick
//! has the room of that tick; so no tick is confirmed to anybody before its message has left
//! ([`crate::host`]), the first one included. Cost: what was taken; once a second, all objects (see
//! the bench `checkpoint`). Rooms take turns within the second by their ids.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::protocol::messages::{Members, Resume, RoomSaved, RoomTick};
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::GameTime;

use crate::clock_thread::TickSchedule;
use ambit_room::config::RoomConfig;
use ambit_room::logic::game::Game;
use ambit_room::room::{Accepted, Room};
use ambit_room::saved::{self, BadState};

/// How often all of it is told.
const EVERY: Duration = Duration::from_secs(1);
/// A room that is larger than this can't be told: the link's messages are bounded.
const LARGEST: usize = ambit_transport::frame::MAX_HOST - 1_024;

/// Ticks that a room which goes on from elsewhere has missed and makes good; of more it misses the
/// rest: ten seconds at 20 Hz.
const MOST_MISSED: u32 = 200;

/// How long after the last tick it takes effect that somebody has left since. PriorEstimate the
/// next tick, at any rate.
const A_MOMENT: Duration = Duration::from_millis(1);

/// See the module.
#[derive(Debug)]
pub struct Keeper {
    save_at: GameTime,
    /// Whether anything was told that ticks can follow.
    begun: bool,
}

impl Keeper {
    /// Of a room that is about to tick here, and what is to be told before it does; nothing if it
    /// can't go on elsewhere.
    pub fn of(id: RoomId, room: &Room) -> Option<(Self, Option<RoomSaved>)> {
        let mut keeper = Self {
            save_at: GameTime::ZERO,
            begun: false,
        };
        room.save()?;
        let first = keeper.save(id, room, room.last_tick().unwrap_or_default());
        if first.is_none() {
            tracing::warn!(
                room = id.0,
                "the room is too large to be kept: it will end with this process"
            );
        }
        Some((keeper, first))
    }

    /// What a tick has taken: to be told before anything of it is confirmed to a player. Nothing
    /// before the first [`Keeper::save`].
    pub fn tick(&self, id: RoomId, room: &Room, now: GameTime) -> Option<RoomTick> {
        let accepted = || saved::of(room.accepted());
        self.begun.then(|| RoomTick {
            room: id.0,
            at_us: now.micros(),
            accepted: accepted(),
            serial: 0,
        })
    }

    /// It is time to tell all that the room is.
    pub fn hurry(&mut self) {
        self.save_at = GameTime::ZERO;
    }

    /// All that the room is after a tick, if it is time to tell that.
    pub fn save(&mut self, id: RoomId, room: &Room, now: GameTime) -> Option<RoomSaved> {
        if now < self.save_at {
            return None;
        }
        let first = !self.begun;
        let Some(state) = room.save().filter(|state| state.len() <= LARGEST) else {
            self.save_at = now + EVERY;
            return None;
        };
        self.begun = true;
        let turn = Duration::from_millis(id.0 % 20 * 50);
        self.save_at = if first {
            now + turn + EVERY / 2
        } else {
            now + EVERY
        };
        Some(RoomSaved {
            room: id.0,
            at_us: now.micros(),
            state,
        })
    }
}

/// A room that goes on where it was: what it had taken is done again, and the ticks that nobody has
/// ticked since, up to what `clock` shows.
pub fn take_up(
    config: RoomConfig,
    game: Box<dyn Game>,
    clock: impl Fn() -> GameTime,
    resume: &Resume,
) -> Result<Room, BadState> {
    let tick_hz = config.tick_hz;
    let mut room = Room::restore(config, game, &resume.state)?;
    for tick in &resume.ticks {
        let accepted: Vec<Accepted> = saved::all(&tick.accepted)?;
        room.replay(GameTime::from_micros(tick.at_us), &accepted);
    }
    let last = room.last_tick().unwrap_or_default();
    room.resume(last);
    let (changes, soon) = (changes(&room, resume.members.as_ref()), last + A_MOMENT);
    if !changes.is_empty() {
        room.replay(soon, &changes);
    }
    let mut missed = TickSchedule::after(tick_hz, last);
    for _ in 0..MOST_MISSED {
        let due = missed.next_deadline();
        if due > clock() {
            break;
        }
        missed.skip();
        room.replay(due, &[]);
    }
    Ok(room)
}

/// What the room does not know yet of those who sit there.
pub fn changes(room: &Room, members: Option<&Members>) -> Vec<Accepted> {
    let Some(Members { members }) = members else {
        return Vec::new();
    };
    let called: BTreeMap<PlayerId, &String> = members
        .iter()
        .map(|member| (PlayerId(member.player), &member.name))
        .collect();
    let change = |(player, name): (PlayerId, &str)| match called.get(&player) {
        None => Some(Accepted::Remove { player }),
        Some(now) if *now != name => Some(Accepted::Rename {
            player,
            name: (*now).clone(),
        }),
        Some(_) => None,
    };
    room.seated().filter_map(change).collect()
}
