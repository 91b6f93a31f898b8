//! Mistakes of a game in its numbers and times, with a room and a client that suffer them.

use ambit::prelude::*;
use ambit::test::{Line, TestRoom};
use ambit::{MotionFormat, PoseFormat, Turning};

const NOWHERE: Position = Position::on_ground(f32::NAN, 1.0);
const FAR_AWAY: Position = Position::new(-f32::MAX, f32::MAX, f32::MAX);
const MOVING: PoseFormat = PoseFormat {
    per_metre: 512,
    turn: Turning::Free { bits: 9 },
    motion: Some(MotionFormat { linear: 64, angular: 64 }),
};

#[derive(Kind)]
struct Walker {
    path: Path,
    mana: Gauge<100>,
    count: Number<-5, 1000>,
    awake: Flag,
}

#[derive(Kind)]
struct Cart {
    pose: YawPose,
}

#[derive(Kind)]
struct Ball {
    #[pose(format = MOVING)]
    pose: FreePose,
}

#[derive(Event)]
struct Bang {
    by: Id<Walker>,
    at: Position,
}

#[derive(Serialize, Deserialize)]
enum Timer {
    Now,
    Never,
}

#[derive(Command)]
enum Command {
    /// Makes all mistakes of one group.
    Err { group: u8 },
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker, Cart, Ball), events(Bang), timer = Timer)]
struct Mistakes {
    cart: Option<Id<Cart>>,
    ball: Option<Id<Ball>>,
    is_reminded: bool,
}

impl Game for Mistakes {
    const INFO: GameInfo = GameInfo::new("mistakes", "All that can go wrong.");
    type Avatar = Walker;
    type Command = Command;
    type Refusal = NoRefusal;

    fn start(&mut self, world: &mut World<Self>) {
        let here = world.centre();
        let pose = YawPose::at(here);
        self.cart = Some(world.spawn(Cart { pose }));
        let pose = FreePose::at(here);
        self.ball = Some(world.spawn(Ball { pose }));
    }

    fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Walker> {
        world.spawn(Walker {
            path: Path::at(world.centre()),
            mana: 50.0.into(),
            count: 7.into(),
            awake: true.into(),
        })
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<'_, Self>,
        Command::Err { group }: Command,
    ) -> Result<(), NoRefusal> {
        match group {
            0 => walk(world, player),
            1 => count(world, player),
            2 => self.steer(world),
            3 => spawn(world),
            4 => wait(world, player),
            _ => search(world, player),
        }
        Ok(())
    }

    fn timer(&mut self, _: &mut World<Self>, timer: Timer, _: GameTime) {
        assert!(matches!(timer, Timer::Now));
        self.is_reminded = true;
    }

    fn is_finished(&self) -> bool {
        false
    }
}

/// Nothing of this moves the walker.
fn walk(world: &mut World<Mistakes>, player: Player<'_, Mistakes>) {
    let here = world.centre();
    let now = world.now();
    let there = Position::on_ground(here.x + 50.0, here.y);
    let mut walker = world.avatar(player);
    let mut path = walker.path();
    assert_eq!(path.walk_to(NOWHERE, 5.0), now);
    for speed in [0.0, -5.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(path.walk_to(there, speed), now);
    }
    path.teleport(NOWHERE);
    path.replace_from(now, [(now, NOWHERE), (GameTime::MAX, NOWHERE)]);
    path.replace_from(GameTime::MAX, [(GameTime::ZERO, there)]);
    assert_eq!(path.position(), here);
    let arrival = path.walk_to(FAR_AWAY, f32::MIN_POSITIVE);
    assert!(arrival > now + Duration::from_secs(1 << 30));
    assert_eq!(path.position(), here);
}

fn count(world: &mut World<Mistakes>, player: Player<'_, Mistakes>) {
    let mut walker = world.avatar(player);
    for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        walker.mana().set(wrong);
        walker.mana().add(wrong);
        walker.mana().set_rate(wrong);
        walker.mana().set_both(wrong, 1.0);
    }
    assert_eq!((walker.mana().value(), walker.mana().rate()), (50.0, 0.0));
    walker.mana().add(f32::MAX);
    assert_eq!(walker.mana().value(), 100.0);
    walker.mana().set_both(-f32::MAX, f32::MAX);
    let value = walker.mana().value();
    let rate = walker.mana().rate();
    assert!(value == 0.0 && (500.0..512.0).contains(&rate), "{rate}");
    walker.mana().effective(GameTime::MAX).set(1.0);
    walker.awake().effective(GameTime::MAX).set(false);
    walker.count().add(i64::MAX);
    assert_eq!(walker.count().get(), 1000);
    walker.count().add(i64::MIN);
    assert_eq!(walker.count().get(), -5);
}

impl Mistakes {
    fn steer(&self, world: &mut World<Self>) {
        let here = world.centre();
        let upright = [0.0, 0.0, 0.0, 1.0];
        let mut cart = world.edit(self.cart.expect("started")).expect("it exists");
        let mut cart = cart.pose();
        cart.set(NOWHERE, 0.0, 0.0);
        cart.set(FAR_AWAY, f32::NAN, 0.0);
        cart.set(FAR_AWAY, 0.0, f32::INFINITY);
        cart.put_at(NOWHERE);
        assert_eq!(cart.get().position(), here);
        assert_eq!((cart.get().yaw(), cart.get().speed()), (0.0, 0.0));
        cart.set(FAR_AWAY, f32::MAX, -f32::MAX);
        let mut ball = world.edit(self.ball.expect("started")).expect("it exists");
        let mut ball = ball.pose();
        let fast = [f32::INFINITY, 0.0, 0.0];
        ball.set(NOWHERE, upright);
        ball.set(FAR_AWAY, [f32::NAN; 4]);
        ball.set(FAR_AWAY, [0.0; 4]);
        ball.set_moving(FAR_AWAY, upright, fast, [0.0; 3]);
        ball.set_moving(FAR_AWAY, upright, [0.0; 3], fast);
        ball.put_at(NOWHERE);
        assert_eq!(ball.get().position(), here);
        ball.set_moving(FAR_AWAY, [f32::MAX; 4], [f32::MAX; 3], [-f32::MAX; 3]);
        ball.set_moving(FAR_AWAY, upright, [f32::MAX; 3], [-f32::MAX; 3]);
        ball.put_at(FAR_AWAY);
    }
}

/// New objects are at the origin, or the nearest position that can be sent.
fn spawn(world: &mut World<Mistakes>) {
    for (position, number) in [(NOWHERE, f32::NAN), (FAR_AWAY, f32::MAX)] {
        let path = Path::at(position);
        let mana = Gauge::of(number).changing(number);
        let count = i64::MIN.into();
        let awake = false.into();
        let walker = world.spawn(Walker { path, mana, count, awake });
        let walker = world.get(walker).expect("it exists");
        assert_eq!(walker.mana().value(), 100.0);
        assert_eq!(walker.position().x, 0.0);
        let pose = YawPose::at(position).facing(number).moving(number);
        let cart = world.spawn(Cart { pose });
        assert!(world.position(cart).is_some_and(Position::is_finite));
        let pose = FreePose::moving(position, [number; 4], [number; 3], [number; 3]);
        let ball = world.spawn(Ball { pose });
        assert!(world.position(ball).is_some_and(Position::is_finite));
    }
}

fn wait(world: &mut World<Mistakes>, player: Player<'_, Mistakes>) {
    world.after(Duration::MAX, Timer::Never);
    world.at(GameTime::MAX, Timer::Never);
    world.at(GameTime::ZERO, Timer::Now);
    let by = player.avatar();
    let now = world.now();
    for at in [GameTime::ZERO, GameTime::MAX] {
        world.emit(Bang { by, at: FAR_AWAY }).at(at);
        world.engage(by, by, at);
    }
    world.emit(Bang { by, at: NOWHERE });
    let path = Path::default();
    let stone = Walker { path, mana: Gauge::default(), count: 0.into(), awake: false.into() };
    let stone = world.spawn(stone);
    assert!(world.despawn_at(stone, now + Duration::MAX));
}

fn search(world: &mut World<Mistakes>, player: Player<'_, Mistakes>) {
    let mut found = Vec::new();
    for (centre, radius) in [(NOWHERE, 1.0), (world.centre(), f32::NAN), (world.centre(), -100.0)] {
        world.find_within::<Walker>(centre, radius, &mut found);
        assert_eq!(found, []);
    }
    world.find_within(world.centre(), f32::INFINITY, &mut found);
    assert_eq!(found, [player.avatar()]);
    world.find_in_rectangle(FAR_AWAY, NOWHERE, &mut found);
    assert_eq!(found, []);
    world.set_budget(None, 0);
    world.set_budget(None, u32::MAX);
}

/// What a client sees of its own avatar after all mistakes of a group, and its faults.
fn after(group: u8) -> (TestRoom<Mistakes>, ambit::test::Seen) {
    let mut room = TestRoom::new();
    let ann = room.join("ann", Line::default());
    room.command(ann, &format!("err {group}"));
    room.run(2.secs());
    assert_eq!(room.errors(ann), Vec::<String>::new());
    let seen = room.avatar(ann).expect("the client is in the game");
    (room, seen)
}

#[test]
fn a_path_to_nowhere_changes_nothing() {
    let (room, seen) = after(0);
    let moved = seen.position.distance(room.world().centre());
    assert!(moved < 0.01, "at this speed it takes {moved} m in two seconds");
}

#[test]
fn gauges_and_numbers_stay_within_their_ranges() {
    let (_, seen) = after(1);
    assert_eq!(seen.gauge("mana"), Some(100.0), "it rises fast");
    assert_eq!(seen.number("count"), Some(-5));
    assert_eq!(seen.flag("awake"), Some(true));
}

#[test]
fn a_pose_that_is_not_finite_changes_nothing() {
    let (_, seen) = after(2);
    assert_eq!(seen.kind, "walker");
}

#[test]
fn an_object_with_bad_numbers_is_spawned_with_defaults() {
    after(3);
}

#[test]
fn a_time_that_never_comes_harms_nobody() {
    after(4);
}

#[test]
fn a_search_without_sense_finds_nothing() {
    after(5);
}

#[test]
fn an_object_may_leave_the_map_unless_the_game_prevents_it() {
    let room = TestRoom::<Mistakes>::new();
    let world = room.world();
    let width = world.width();
    let height = world.height();
    let beyond = Position::new(width + 10.0, -10.0, 3.0);
    assert!(!world.is_on_map(beyond));
    assert_eq!(world.nearest_on_map(beyond), Position::new(width, 0.0, 3.0));
    assert_eq!(world.nearest_on_map(NOWHERE), world.centre());
    let inside = Position::new(width / 3.0, height / 3.0, 1.0);
    assert_eq!(world.nearest_on_map(inside), inside);
}

#[test]
fn components_are_made_from_plain_values() {
    let mana: Gauge<100> = 50.into();
    assert_eq!(mana, Gauge::of(50.0));
    let mana: Gauge<100> = 12.5.into();
    assert_eq!(mana, Gauge::of(12.5));
    let count: Number<-5, 1000> = 2000.into();
    assert_eq!(count.get(), 1000);
    let awake: Flag = true.into();
    assert_eq!(awake, Flag::on());
    let [name, same]: [Text<3>; 2] = ["anna".into(), String::from("anna").into()];
    assert_eq!((name.as_str(), name == same), ("ann", true));
}
