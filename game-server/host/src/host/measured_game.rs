//! How long the functions of a game take: for an author or operator who asks what a room does with
//! its time.
//!
//! A [`MeasuredGame`] stands between a room and its game, and changes nothing of what either does.
//! Of `sees`, which is called most often and is the shortest, one call in 16 is measured and counts
//! for all. Cost: two readings of the clock for each call that is measured.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::keymap::Keymap;
use ambit_proto::schema::{Predictors, Schema};
use ambit_proto::space::Position;
use ambit_room::logic::game::{Game, GameCommand, Left, Refusal};
use ambit_room::logic::gate::Gate;
use ambit_room::logic::sight::{Sight, SightChecks};
use ambit_room::logic::world::{DueTimer, World};
use ambit_room::saved::BadState;

use crate::protocol::messages::CallbackTime;

/// One call of `sees` in so many is measured.
const SEES_SHARE: u64 = 16;

/// The functions that are measured.
#[derive(Clone, Copy, Debug)]
enum Callback {
    Join,
    Leave,
    Command,
    Input,
    Timer,
    Step,
    Sees,
}

const NAMES: [&str; 7] = ["join", "leave", "command", "input", "timer", "step", "sees"];

/// Calls and times of a game's functions, since the room runs on this host.
#[derive(Debug, Default)]
pub(crate) struct CallbackTimes {
    calls: [AtomicU64; NAMES.len()],
    nanos: [AtomicU64; NAMES.len()],
}

impl CallbackTimes {
    /// The functions that were called, by name.
    pub(crate) fn read(&self) -> Vec<CallbackTime> {
        let counts = self.calls.iter().zip(&self.nanos).zip(NAMES);
        let times = counts.map(|((calls, nanos), name)| CallbackTime {
            callback: name.to_owned(),
            calls: calls.load(Relaxed),
            nanos: nanos.load(Relaxed),
        });
        times.filter(|time| time.calls > 0).collect()
    }

    fn add(&self, callback: Callback, calls: u64, time: Duration) {
        let index = callback as usize;
        self.calls[index].fetch_add(calls, Relaxed);
        self.nanos[index].fetch_add(time.as_nanos() as u64, Relaxed);
    }
}

/// A game whose functions are measured. See the module.
pub(crate) struct MeasuredGame {
    game: Box<dyn Game>,
    times: Arc<CallbackTimes>,
    sees_calls: AtomicU64,
}

impl MeasuredGame {
    pub(crate) fn new(game: Box<dyn Game>, times: Arc<CallbackTimes>) -> Self {
        Self { game, times, sees_calls: AtomicU64::new(0) }
    }

    fn measure<R>(&mut self, callback: Callback, call: impl FnOnce(&mut dyn Game) -> R) -> R {
        let (result, time) = timed(|| call(self.game.as_mut()));
        self.times.add(callback, 1, time);
        result
    }
}

#[expect(clippy::disallowed_methods, reason = "the duration of a call is measured here")]
fn timed<R>(call: impl FnOnce() -> R) -> (R, Duration) {
    let began = Instant::now();
    let result = call();
    (result, began.elapsed())
}

impl Game for MeasuredGame {
    fn schema(&self) -> Schema {
        self.game.schema()
    }

    fn planned_objects(&self) -> u64 {
        self.game.planned_objects()
    }

    fn lag_compensation(&self) -> Duration {
        self.game.lag_compensation()
    }

    fn predictors(&self) -> Predictors {
        self.game.predictors()
    }

    fn start(&mut self, world: &mut World) {
        self.game.start(world);
    }

    fn join(&mut self, world: &mut World, player: PlayerId, name: &str) -> ObjectId {
        self.measure(Callback::Join, |game| game.join(world, player, name))
    }

    fn rename(&mut self, world: &mut World, player: PlayerId, name: &str) {
        self.game.rename(world, player, name);
    }

    fn leave(&mut self, world: &mut World, player: PlayerId, why: Left) {
        self.measure(Callback::Leave, |game| game.leave(world, player, why));
    }

    fn command(
        &mut self,
        world: &mut World,
        player: PlayerId,
        command: &GameCommand,
    ) -> Result<(), Refusal> {
        self.measure(Callback::Command, |game| game.command(world, player, command))
    }

    fn input(&mut self, world: &mut World, player: PlayerId, keys: Keymap) {
        self.measure(Callback::Input, |game| game.input(world, player, keys));
    }

    fn timer(&mut self, world: &mut World, timer: &DueTimer) {
        self.measure(Callback::Timer, |game| game.timer(world, timer));
    }

    fn step(&mut self, world: &mut World, dt: Duration) {
        self.measure(Callback::Step, |game| game.step(world, dt));
    }

    fn sees(&self, world: &World, viewer: ObjectId, object: ObjectId, sight: Sight) -> bool {
        let see = || self.game.sees(world, viewer, object, sight);
        if !self.sees_calls.fetch_add(1, Relaxed).is_multiple_of(SEES_SHARE) {
            return see();
        }
        let (sees, time) = timed(see);
        self.times.add(Callback::Sees, SEES_SHARE, time * SEES_SHARE as u32);
        sees
    }

    fn sight_checks(&self) -> SightChecks {
        self.game.sight_checks()
    }

    fn gates(&self, world: &World) -> Vec<Gate> {
        self.game.gates(world)
    }

    fn departs(&self, world: &World, player: PlayerId) -> Option<(u32, Position)> {
        self.game.departs(world, player)
    }

    fn carry(&self, world: &World, player: PlayerId) -> Option<Vec<u8>> {
        self.game.carry(world, player)
    }

    fn arrive(
        &mut self,
        world: &mut World,
        player: PlayerId,
        name: &str,
        at: Position,
        carried: &[u8],
    ) -> ObjectId {
        self.measure(Callback::Join, |game| game.arrive(world, player, name, at, carried))
    }

    fn save(&self) -> Option<Vec<u8>> {
        self.game.save()
    }

    fn restore(&mut self, world: &mut World, saved: &[u8]) -> Result<(), BadState> {
        self.game.restore(world, saved)
    }

    fn is_finished(&self) -> bool {
        self.game.is_finished()
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        self.game.as_any()
    }
}

#[cfg(test)]
mod tests {
    use ambit_room::config::RoomConfig;
    use ambit_room::logic::registry::{Header, Registry};

    use super::*;

    #[test]
    fn calls_of_a_game_are_counted_and_change_nothing() {
        let registry = Registry::from(ambit::Games::new().with::<ambit_field::FieldGame>());
        let header = Header { game: "field".to_owned(), ..Header::default() };
        let (config, game): (RoomConfig, _) = registry.prepare(&header).expect("a room of field");
        let times = Arc::new(CallbackTimes::default());
        let mut game = MeasuredGame::new(game, Arc::clone(&times));
        assert_eq!(times.read(), []);
        let mut world = World::new(&config, game.schema());
        game.start(&mut world);
        let avatar = game.join(&mut world, PlayerId(1), "ann");
        assert!(world.contains(avatar));
        game.step(&mut world, Duration::from_millis(50));
        game.step(&mut world, Duration::from_millis(50));
        for _ in 0..20 {
            assert!(game.sees(&world, avatar, avatar, Sight::New));
        }
        let read = times.read();
        let counts: Vec<_> = read.iter().map(|it| (it.callback.as_str(), it.calls)).collect();
        assert_eq!(counts, [("join", 1), ("step", 2), ("sees", 32)]);
        assert!(read.iter().all(|time| time.nanos > 0), "{read:?}");
    }
}
