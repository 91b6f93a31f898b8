//! What the WorldServer is sent of a room while it runs, so that the room can go on at another
//! host; and how that host goes on with it.
//!
//! A snapshot is taken before the room's first tick here and sent before its first journal entry;
//! later ones follow about once a second, and a journal entry after each tick. A WorldServer that
//! has all of them up to a tick can restore the room of that tick. So no tick is confirmed to a
//! player before its entry has left ([`super::release`]), the first one included. Cost: the inputs;
//! once a second, all objects (see the bench `checkpoint`). Rooms take turns within the second by
//! their ids.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::GameTime;

use ambit_host_protocol::MAX_ROOM_STATE_BYTES;
use ambit_host_protocol::messages::{RoomMember, RoomResume};
use ambit_room::config::RoomConfig;
use ambit_room::journal::{JournalEntry, RoomSnapshot};
use ambit_room::logic::game::Game;
use ambit_room::logic::game::Left;
use ambit_room::room::{Room, RoomInput};
use ambit_room::saved::BadState;
use ambit_room::tick_schedule::TickSchedule;

/// How often a snapshot is sent.
const EVERY: Duration = Duration::from_secs(1);

/// Of the ticks that a room has missed while it had no host, it runs at most this number and skips
/// the rest: ten seconds at 20 Hz.
const MOST_MISSED: u32 = 200;

/// How long after the room's last tick the changes of its members take effect. Before the next
/// tick, at any rate.
const MEMBERS_AFTER: Duration = Duration::from_millis(1);

/// Decides what of one room is sent when.
#[derive(Debug)]
pub struct CheckpointSender {
    next_at: GameTime,
    /// Whether a snapshot was sent that journal entries can follow.
    has_begun: bool,
    /// Whether the next snapshot is for a WorldServer that has none.
    restarts: bool,
}

impl CheckpointSender {
    /// For a room that is about to tick here, with the first snapshot; that is `None` if it is too
    /// large. No sender if the game does not support snapshots.
    pub fn new(id: RoomId, room: &Room) -> Option<(Self, Option<RoomSnapshot>)> {
        let mut sender = Self { next_at: GameTime::ZERO, has_begun: false, restarts: false };
        room.save()?;
        let first = sender.snapshot(id, room, room.last_tick().unwrap_or_default());
        if first.is_none() {
            tracing::warn!(
                room = id.0,
                "the room's snapshot is too large to be sent: the room will end with this process"
            );
        }
        Some((sender, first))
    }

    /// The journal entry of the room's last tick, to be sent before anything of the tick is
    /// confirmed to a player; `None` before the first snapshot.
    pub fn journal(&self, room: &Room, now: GameTime) -> Option<JournalEntry> {
        self.has_begun.then(|| JournalEntry::new(now, room.journal()))
    }

    /// Makes the next snapshot due.
    pub fn hurry(&mut self) {
        self.next_at = GameTime::ZERO;
    }

    /// Makes the next snapshot due, for a WorldServer that has nothing of the room. If it is too
    /// large, no journal entries follow it.
    pub fn restart(&mut self) {
        self.hurry();
        self.restarts = true;
    }

    /// A snapshot of the room after its tick at `now`, if it is due.
    pub fn snapshot(&mut self, id: RoomId, room: &Room, now: GameTime) -> Option<RoomSnapshot> {
        if now < self.next_at {
            return None;
        }
        let is_first = !self.has_begun;
        self.has_begun &= !std::mem::take(&mut self.restarts);
        let Some(state) = room.save().filter(|state| state.len() <= MAX_ROOM_STATE_BYTES) else {
            self.next_at = now + EVERY;
            return None;
        };
        self.has_begun = true;
        let turn = Duration::from_millis(id.0 % 20 * 50);
        self.next_at = if is_first { now + turn + EVERY / 2 } else { now + EVERY };
        Some(RoomSnapshot { at: now, state })
    }
}

/// A room that goes on where its last host has left it: repeats the journal, updates the members,
/// and runs the ticks that were missed up to what `clock` shows.
pub fn restore_room(
    config: RoomConfig,
    game: Box<dyn Game>,
    clock: impl Fn() -> GameTime,
    resume: &RoomResume,
) -> Result<Room, BadState> {
    let tick_hz = config.tick_hz;
    let mut room = Room::restore(config, game, &resume.saved.snapshot.state)?;
    for entry in &resume.saved.journal {
        room.replay(entry.at, &entry.inputs()?);
    }
    let last = room.last_tick().unwrap_or_default();
    room.finish_replay(last);
    if let Some(members) = &resume.members {
        let changes = member_changes(&room, members);
        if !changes.is_empty() {
            room.replay(last + MEMBERS_AFTER, &changes);
        }
    }
    let mut missed = TickSchedule::after(tick_hz, last);
    for _ in 0..MOST_MISSED {
        let due = missed.next_deadline();
        if due > clock() || room.is_asleep() {
            break;
        }
        missed.skip();
        room.replay(due, &[]);
    }
    room.begin_trace();
    Ok(room)
}

/// The inputs that make a room's members these ones.
pub fn member_changes(room: &Room, members: &[RoomMember]) -> Vec<RoomInput> {
    let names: BTreeMap<PlayerId, &String> =
        members.iter().map(|member| (member.player, &member.name)).collect();
    let change = |(player, name): (PlayerId, &str)| match names.get(&player) {
        // The lobby's list of members does not say why one is not in it.
        None => Some(RoomInput::Remove { player, why: Left::Removed }),
        Some(now) if *now != name => Some(RoomInput::Rename { player, name: (*now).clone() }),
        Some(_) => None,
    };
    room.seated().filter_map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ambit::{GameInfo, Id, Typed};
    use ambit_room::journal::SavedRoom;
    use ambit_room::logic::world::TraceEvent;

    const ID: RoomId = RoomId(23);

    #[test]
    fn a_room_takes_its_turn_once_then_sends_a_snapshot_each_second() {
        let room = room_of(0);
        let (mut sender, first) = CheckpointSender::new(ID, &room).expect("it can be saved");
        assert!(first.is_some());
        let sent = (1..4_000).filter(|&ms| sender.snapshot(ID, &room, at(ms)).is_some());
        // Half a second, and the turn of number 23: 3 of 20.
        assert_eq!(sent.collect::<Vec<_>>(), [650, 1_650, 2_650, 3_650]);
    }

    #[test]
    fn journal_entries_follow_a_snapshot_that_the_world_server_has() {
        let small = room_of(0);
        let large = room_of(MAX_ROOM_STATE_BYTES);
        let (mut sender, _) = CheckpointSender::new(ID, &small).expect("it can be saved");
        let has_journal = |sender: &CheckpointSender, ms| sender.journal(&large, at(ms)).is_some();
        // The room has grown: entries follow the snapshot from before.
        assert_eq!(sender.snapshot(ID, &large, at(1_000)), None);
        assert!(has_journal(&sender, 1_050));
        // The next WorldServer does not have that one.
        sender.restart();
        assert_eq!(sender.snapshot(ID, &large, at(1_100)), None);
        assert!(!has_journal(&sender, 1_150));
        // The room is tried again after a second, and has shrunk.
        assert_eq!(sender.snapshot(ID, &small, at(2_099)), None);
        assert!(sender.snapshot(ID, &small, at(2_100)).is_some());
        assert!(has_journal(&sender, 2_150));
        // That was for the next WorldServer.
        assert_eq!(sender.snapshot(ID, &large, at(9_000)), None);
        assert!(has_journal(&sender, 9_050));
    }

    #[test]
    fn a_room_that_is_too_large_at_first_has_no_journal() {
        let rest = room_of(MAX_ROOM_STATE_BYTES).save().expect("a state").len();
        let largest = MAX_ROOM_STATE_BYTES - (rest - MAX_ROOM_STATE_BYTES);
        for (bytes, fits) in [(largest, true), (largest + 1, false)] {
            let room = room_of(bytes);
            let (sender, first) = CheckpointSender::new(ID, &room).expect("it can be saved");
            assert_eq!(first.is_some(), fits);
            assert_eq!(sender.journal(&room, at(50)).is_some(), fits);
        }
    }

    #[test]
    fn the_trace_of_a_room_that_missed_ticks_begins_with_what_all_have() {
        let config = RoomConfig { trace: true, ..RoomConfig::default() };
        let mut first = Room::new(config.clone(), Box::new(Typed(Ballast(0))));
        first.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
        for missed_ms in [0, 40, 1_000] {
            let state = first.save().expect("a state");
            let snapshot = RoomSnapshot { at: GameTime::ZERO, state };
            let saved = SavedRoom { snapshot, journal: Vec::new() };
            let resume = RoomResume { saved, now: at(missed_ms), members: None };
            let game = Box::new(Typed(Ballast(0)));
            let mut room = restore_room(config.clone(), game, || at(missed_ms), &resume)
                .expect("the room goes on");
            room.tick(at(missed_ms + 50), &mut Vec::new(), &mut Vec::new());
            let states = room.trace().iter().filter(|line| {
                matches!(&line.event, TraceEvent::State { components, .. } if components.len() == 1)
            });
            assert_eq!(states.count(), 1, "after {missed_ms} ms");
        }
    }

    /// A game with a state of this number of bytes.
    #[derive(Default, ambit::Declare)]
    #[declare(kinds(Walker, Weight), unsaved)]
    struct Ballast(usize);

    /// The state, which all have.
    #[derive(ambit::Kind)]
    #[kind(room_wide)]
    struct Weight {
        bytes: ambit::component::Number<0, 1_000_000_000>,
    }

    #[derive(ambit::Kind)]
    struct Walker {
        path: ambit::component::Path,
    }

    impl ambit::Game for Ballast {
        const INFO: GameInfo = GameInfo::new("ballast", "Is large.");
        type Avatar = Walker;
        ambit::no_commands!();
        type Refusal = ambit::NoRefusal;

        fn start(&mut self, world: &mut ambit::World<Self>) {
            world.spawn(Weight { bytes: (self.0 as i64).into() });
        }

        fn join(&mut self, world: &mut ambit::World<Self>, _: ambit::Newcomer<'_>) -> Id<Walker> {
            let path = ambit::component::Path::at(world.centre());
            world.spawn(Walker { path })
        }

        fn save(&self) -> Option<Vec<u8>> {
            Some(vec![1; self.0])
        }

        fn restore(
            &mut self,
            _: &mut ambit::World<Self>,
            saved: ambit::saved::Saved<'_>,
        ) -> Result<(), BadState> {
            self.0 = saved.bytes().len();
            Ok(())
        }
    }

    fn room_of(bytes: usize) -> Room {
        let mut room = Room::new(RoomConfig::default(), Box::new(Typed(Ballast(bytes))));
        room.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
        room
    }

    fn at(millis: u64) -> GameTime {
        GameTime::ZERO + Duration::from_millis(millis)
    }
}
