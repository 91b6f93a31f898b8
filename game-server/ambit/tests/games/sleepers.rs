//! Worlds that stay without players: they sleep, wake, and know the date.

use ambit::prelude::*;
use ambit::test::{Line, TestRoom};

const HOUR: Duration = Duration::from_hours(1);

#[derive(Kind)]
struct Gardener {
    path: Path,
}

/// What grows, whether anybody looks or not.
#[derive(Kind)]
struct Tree {
    path: Path,
    size: Gauge<60_000>,
}

#[derive(Serialize, Deserialize)]
enum Timer {
    Market,
    Soon,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Gardener, Tree), timer = Timer)]
struct Garden {
    steps: u64,
    longest_step: Duration,
    slept: Vec<Duration>,
    /// The days of the markets, and the hours.
    markets: Vec<(i64, u64)>,
    soon: u32,
}

impl Game for Garden {
    const INFO: GameInfo = GameInfo::new("garden", "Wait.").lasting();
    type Avatar = Gardener;
    no_commands!();
    type Refusal = NoRefusal;

    fn start(&mut self, world: &mut World<Self>) {
        let path = Path::at(world.centre());
        world.spawn(Tree { path, size: Gauge::of(0.0).changing(1.0 / 64.0) });
        world.after(world.calendar().until(4 * HOUR), Timer::Market);
    }

    fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Gardener> {
        if self.markets.is_empty() {
            world.after(10.secs(), Timer::Soon);
        }
        world.spawn(Gardener { path: Path::at(world.centre()) })
    }

    fn wake(&mut self, _: &mut World<Self>, slept: Duration) {
        self.slept.push(slept);
    }

    fn timer(&mut self, world: &mut World<Self>, timer: Timer, _: GameTime) {
        let calendar = world.calendar();
        match timer {
            Timer::Market => {
                self.markets.push((calendar.day(), calendar.time_of_day().as_secs() / 3_600));
                world.after(calendar.until(4 * HOUR), Timer::Market);
            }
            Timer::Soon => self.soon += 1,
        }
    }

    fn step(&mut self, _: &mut World<Self>, dt: Duration) {
        self.steps += 1;
        self.longest_step = self.longest_step.max(dt);
    }
}

#[test]
fn a_world_without_players_sleeps_and_wakes_with_what_has_passed() {
    let mut room = garden();
    let ann = room.join("ann", Line::default());
    room.run(1.secs());
    room.leave(ann);
    room.run(6.secs());
    let steps = room.edit(|_, garden| garden.steps);
    room.sleep(31 * 24 * HOUR);
    let bob = room.join("bob", Line::default());
    room.run(1.secs());
    let (later, longest, slept, soon) =
        room.edit(|_, it| (it.steps, it.longest_step, it.slept.clone(), it.soon));
    assert!((1..60).contains(&(later - steps)), "it slept, and is awake: {}", later - steps);
    assert_eq!((longest, soon), (50.millis(), 1));
    assert_eq!(slept.len(), 1);
    assert!(slept[0] >= 31 * 24 * HOUR && slept[0] < 31 * 24 * HOUR + 1.secs(), "{slept:?}");
    // Its gauge has gone on, and the newcomer sees it as it is.
    let tree = room.sees(bob).into_iter().find(|seen| seen.kind == "tree").expect("in sight");
    let size = tree.gauge("size").expect("it is public");
    // A month has 2,678,400 seconds.
    assert!((41_850.0 - size).abs() < 1.0, "{size}");
}

#[test]
fn daily_at_four_is_daily_at_four_and_after_a_sleep_when_it_wakes() {
    let mut room = garden();
    // 2 o'clock on the day 20,786.
    room.set_calendar(20_786 * 86_400 + 2 * 3_600);
    let ann = room.join("ann", Line::default());
    room.run(3 * HOUR);
    assert_eq!(room.edit(|_, garden| garden.markets.clone()), [(20_786, 4)]);
    room.leave(ann);
    room.run(6.secs());
    room.sleep(48 * HOUR);
    room.join("ann", Line::default());
    room.run(1.secs());
    assert_eq!(room.edit(|_, garden| garden.markets.clone()), [(20_786, 4), (20_788, 5)]);
}

#[test]
fn a_world_that_goes_on_elsewhere_sleeps_there() {
    let mut room = garden();
    let ann = room.join("ann", Line::default());
    room.run(1.secs());
    room.leave(ann);
    room.run(6.secs());
    let steps = room.edit(|_, garden| garden.steps);
    room.sleep(HOUR);
    room.move_to_another_host();
    assert_eq!(room.edit(|_, garden| (garden.steps, garden.slept.len())), (steps, 0));
    room.sleep(HOUR);
    room.join("ann", Line::default());
    let slept = room.edit(|_, garden| garden.slept.clone());
    assert!(slept.len() == 1 && slept[0] >= 2 * HOUR, "{slept:?}");
}

#[test]
#[should_panic = "the room has players"]
fn a_world_with_a_player_who_may_come_back_does_not_sleep() {
    let mut room = garden();
    let ann = room.join("ann", Line::default());
    room.run(1.secs());
    room.disconnect(ann);
    room.run(20.secs());
    room.sleep(HOUR);
}

fn garden() -> TestRoom<Garden> {
    TestRoom::with(&[("lasting", "yes")])
}
