//! How long the functions of a game take, and which of them panicked: for an author or operator who
//! asks what a room does with its time, or why it ended.
//!
//! A [`MeasuredGame`] stands between a room and its game, and changes nothing of what either does.
//! Of `sees`, which is called most often and is the shortest, one call in 16 is measured and counts
//! for all. Cost: two readings of the clock for each call that is measured. A panic passes through,
//! after the call was noted.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::keymap::Keymap;
use ambit_proto::schema::{Predictors, Schema};
use ambit_proto::space::Position;
use ambit_room::logic::game::{Game, GameCommand, Left, Refusal};
use ambit_room::logic::gate::Gate;
use ambit_room::logic::player_values::PlayerValues;
use ambit_room::logic::sight::{Sight, SightChecks};
use ambit_room::logic::store::{StoreAnswer, StoreNumber, StoreRequest};
use ambit_room::logic::world::{DueTimer, World};
use ambit_room::saved::BadState;

use ambit_host_protocol::stats::CallbackTime;

/// One call of `sees` in this number is measured.
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
    Stored,
    AllHere,
}

const NAMES: [&str; 9] =
    ["join", "leave", "command", "input", "timer", "step", "sees", "stored", "all_here"];

/// Calls and times of a game's functions, since the room runs on this host.
#[derive(Debug, Default)]
pub(crate) struct CallbackTimes {
    calls: [AtomicU64; NAMES.len()],
    nanos: [AtomicU64; NAMES.len()],
    panicked: OnceLock<PanickedCall>,
}

/// The call in which a game panicked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PanickedCall {
    pub(crate) callback: &'static str,
    /// Whom it was about.
    pub(crate) player: Option<PlayerId>,
    /// Its name and its fields.
    pub(crate) command: Option<String>,
}

impl CallbackTimes {
    /// A call has panicked. One that came from within another one stands already.
    pub(crate) fn note_panic(&self, call: PanickedCall) {
        let _ = self.panicked.set(call);
    }

    /// The first call that panicked.
    pub(crate) fn panicked(&self) -> Option<&PanickedCall> {
        self.panicked.get()
    }

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
    /// By the index of each command.
    command_names: Vec<String>,
}

impl MeasuredGame {
    pub(crate) fn new(game: Box<dyn Game>, times: Arc<CallbackTimes>) -> Self {
        let commands = game.schema().commands.into_iter();
        let command_names = commands.map(|command| command.name).collect();
        Self { game, times, sees_calls: AtomicU64::new(0), command_names }
    }

    fn measure<R>(
        &mut self,
        callback: Callback,
        player: Option<PlayerId>,
        call: impl FnOnce(&mut dyn Game) -> R,
    ) -> R {
        let game = self.game.as_mut();
        let called = || PanickedCall { player, ..PanickedCall::of(NAMES[callback as usize]) };
        let (result, time) = timed(|| noting(&self.times, called, || call(game)));
        self.times.add(callback, 1, time);
        result
    }

    /// A call that is not measured.
    fn call<R>(
        &mut self,
        callback: &'static str,
        player: Option<PlayerId>,
        call: impl FnOnce(&mut dyn Game) -> R,
    ) -> R {
        let game = self.game.as_mut();
        noting(&self.times, || PanickedCall { player, ..PanickedCall::of(callback) }, || call(game))
    }

    /// The same of a function that only reads.
    fn read<R>(
        &self,
        callback: &'static str,
        player: Option<PlayerId>,
        call: impl FnOnce(&dyn Game) -> R,
    ) -> R {
        let called = || PanickedCall { player, ..PanickedCall::of(callback) };
        noting(&self.times, called, || call(self.game.as_ref()))
    }
}

impl PanickedCall {
    fn of(callback: &'static str) -> Self {
        Self { callback, ..Self::default() }
    }
}

/// Calls a function of a game, and notes which one if it panics. The room is over then, so nothing
/// reads what the panic has left half done.
fn noting<R>(
    times: &CallbackTimes,
    called: impl FnOnce() -> PanickedCall,
    call: impl FnOnce() -> R,
) -> R {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        times.note_panic(called());
        resume_unwind(panic)
    })
}

#[expect(clippy::disallowed_methods, reason = "the duration of a call is measured here")]
fn timed<R>(call: impl FnOnce() -> R) -> (R, Duration) {
    let began = Instant::now();
    let result = call();
    (result, began.elapsed())
}

impl Game for MeasuredGame {
    delegate::delegate! {
        to self.game {
            fn schema(&self) -> Schema;
            fn planned_objects(&self) -> u64;
            fn lag_compensation(&self) -> Duration;
            fn input_timeout(&self) -> Duration;
            fn predictors(&self) -> Predictors;
            fn sight_checks(&self) -> SightChecks;
            fn player_values(&self) -> Box<dyn PlayerValues>;
            fn world_wide_kinds(&self) -> BTreeSet<u8>;
            fn is_finished(&self) -> bool;
            fn as_any(&mut self) -> Option<&mut dyn Any>;
        }
    }

    fn start(&mut self, world: &mut World) {
        self.call("start", None, |game| game.start(world));
    }

    fn join(&mut self, world: &mut World, player: PlayerId, name: &str) -> ObjectId {
        self.measure(Callback::Join, Some(player), |game| game.join(world, player, name))
    }

    fn rename(&mut self, world: &mut World, player: PlayerId, name: &str) {
        self.call("rename", Some(player), |game| game.rename(world, player, name));
    }

    fn leave(&mut self, world: &mut World, player: PlayerId, why: Left) {
        self.measure(Callback::Leave, Some(player), |game| game.leave(world, player, why));
    }

    fn command(
        &mut self,
        world: &mut World,
        player: PlayerId,
        command: &GameCommand,
    ) -> Result<(), Refusal> {
        let game = self.game.as_mut();
        let called = || {
            let name = self.command_names.get(usize::from(command.kind));
            let name = name.map_or_else(|| command.kind.to_string(), Clone::clone);
            PanickedCall {
                player: Some(player),
                command: Some(format!("{name} {:?}", command.fields)),
                ..PanickedCall::of(NAMES[Callback::Command as usize])
            }
        };
        let call = || noting(&self.times, called, || game.command(world, player, command));
        let (result, time) = timed(call);
        self.times.add(Callback::Command, 1, time);
        result
    }

    fn input(&mut self, world: &mut World, player: PlayerId, keys: Keymap) {
        self.measure(Callback::Input, Some(player), |game| game.input(world, player, keys));
    }

    fn timer(&mut self, world: &mut World, timer: &DueTimer) {
        self.measure(Callback::Timer, None, |game| game.timer(world, timer));
    }

    fn wake(&mut self, world: &mut World, slept: Duration) {
        self.call("wake", None, |game| game.wake(world, slept));
    }

    fn stored(
        &mut self,
        world: &mut World,
        number: StoreNumber,
        request: &StoreRequest,
        answer: &StoreAnswer,
    ) {
        self.measure(Callback::Stored, None, |game| game.stored(world, number, request, answer));
    }

    fn all_here(&mut self, world: &mut World) {
        self.measure(Callback::AllHere, None, |game| game.all_here(world));
    }

    fn step(&mut self, world: &mut World, dt: Duration) {
        self.measure(Callback::Step, None, |game| game.step(world, dt));
    }

    fn sees(&self, world: &World, viewer: ObjectId, object: ObjectId, sight: Sight) -> bool {
        let name = NAMES[Callback::Sees as usize];
        let see = || self.read(name, None, |game| game.sees(world, viewer, object, sight));
        if !self.sees_calls.fetch_add(1, Relaxed).is_multiple_of(SEES_SHARE) {
            return see();
        }
        let (sees, time) = timed(see);
        self.times.add(Callback::Sees, SEES_SHARE, time * SEES_SHARE as u32);
        sees
    }

    fn gates(&self, world: &World) -> Vec<Gate> {
        self.read("gates", None, |game| game.gates(world))
    }

    fn departs(&self, world: &World, player: PlayerId) -> Option<(u32, Position)> {
        self.read("departs", Some(player), |game| game.departs(world, player))
    }

    fn carry(&self, world: &World, player: PlayerId) -> Option<Vec<u8>> {
        self.read("carry", Some(player), |game| game.carry(world, player))
    }

    fn arrive(
        &mut self,
        world: &mut World,
        player: PlayerId,
        name: &str,
        at: Position,
        carried: &[u8],
    ) -> ObjectId {
        let arrive = |game: &mut dyn Game| game.arrive(world, player, name, at, carried);
        self.measure(Callback::Join, Some(player), arrive)
    }

    fn may_move(&self, world: &World) -> bool {
        noting(&self.times, || PanickedCall::of("may_move"), || self.game.may_move(world))
    }

    fn save(&self) -> Option<Vec<u8>> {
        noting(&self.times, || PanickedCall::of("save"), || self.game.save())
    }

    fn restore(&mut self, world: &mut World, saved: &[u8]) -> Result<(), BadState> {
        self.call("restore", None, |game| game.restore(world, saved))
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::message::FieldValue;
    use ambit_proto::schema::CommandKind;
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

    #[test]
    fn a_panic_passes_through_and_its_call_is_noted() {
        let times = Arc::new(CallbackTimes::default());
        let mut game = MeasuredGame::new(Box::new(Panicking), Arc::clone(&times));
        let mut world = World::new(&RoomConfig::default(), game.schema());
        game.start(&mut world);
        assert_eq!(times.panicked(), None);
        let command = GameCommand { kind: 0, fields: vec![FieldValue::Number(7)] };
        let mut panics = |call: &mut dyn FnMut(&mut MeasuredGame, &mut World)| {
            let call = AssertUnwindSafe(|| call(&mut game, &mut world));
            let panic = catch_unwind(call).expect_err("it passes through");
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"a mistake"));
        };
        panics(&mut |game, world| {
            let _ = game.command(world, PlayerId(3), &command);
        });
        let expected = PanickedCall {
            callback: "command",
            player: Some(PlayerId(3)),
            command: Some("jump [Number(7)]".to_owned()),
        };
        assert_eq!(times.panicked(), Some(&expected));
        // The first one counts.
        panics(&mut |game, world| game.step(world, Duration::from_millis(50)));
        assert_eq!(times.panicked(), Some(&expected));
    }

    struct Panicking;

    impl Game for Panicking {
        fn schema(&self) -> Schema {
            let jump = CommandKind { name: "jump".into(), ..CommandKind::default() };
            Schema { game: "panicking".into(), commands: vec![jump], ..Schema::default() }
        }

        fn start(&mut self, _: &mut World) {}

        fn join(&mut self, _: &mut World, _: PlayerId, _: &str) -> ObjectId {
            panic!("a mistake")
        }

        fn leave(&mut self, _: &mut World, _: PlayerId, _: Left) {}

        fn command(&mut self, _: &mut World, _: PlayerId, _: &GameCommand) -> Result<(), Refusal> {
            panic!("a mistake")
        }

        fn step(&mut self, _: &mut World, _: Duration) {
            panic!("a mistake")
        }
    }
}
