//! Clients that know the game read its kinds and events as types.

use ambit::message::{TypedEvent as _, TypedId as _, TypedKind as _};
use ambit::prelude::*;
use ambit::test::{Line, TestClient, TestRoom};
use ambit_client_core::client::event::SchemaEvent;
use ambit_client_core::typed_reads::{check_event, check_kind};

#[derive(Kind)]
struct Runner {
    path: Path,
    name: Text<24>,
    laps: Number<0, 1000>,
    awake: Flag,
    stamina: Gauge<100>,
    #[audience(owner)]
    coins: Number<0, 1000>,
}

#[derive(Kind)]
#[look(by = level)]
#[variant(3, size = 1.5)]
#[variant(-1, boss)]
struct Tower {
    path: Path,
    level: Number<-1, 3>,
}

#[derive(Kind)]
#[look(by = is_shut)]
#[variant(true, figure = chest)]
struct Gate {
    path: Path,
    is_shut: Flag,
}

#[derive(Kind)]
#[kind(room_wide)]
struct Race {
    round: Number<0, 9>,
}

#[derive(Clone, Copy, Debug, PartialEq, Choice)]
enum Mood {
    Glad,
    Sad,
}

#[derive(Debug, PartialEq, Event)]
struct Waved {
    by: Id<Runner>,
    to: Option<Id<Runner>>,
    mood: Mood,
    loudly: bool,
    times: u8,
    at: Position,
    words: String,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Runner, Race), events(Waved))]
struct Run;

impl Game for Run {
    const INFO: GameInfo = GameInfo::new("run", "Run.");
    type Avatar = Runner;
    no_commands!();
    type Refusal = NoRefusal;

    fn start(&mut self, world: &mut World<Self>) {
        world.spawn(Race { round: 3.into() });
    }

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer) -> Id<Runner> {
        world.spawn(Runner {
            path: Path::at(world.centre()),
            name: newcomer.name.into(),
            laps: 7.into(),
            awake: true.into(),
            stamina: Gauge::of(40.0).changing(1.0),
            coins: 12.into(),
        })
    }
}

fn wave(room: &mut TestRoom<Run>, to: Option<Id<Runner>>) {
    let by = runner(room, 0);
    room.edit(|world, _| {
        let at = Position::on_ground(3.0, 4.0);
        let mood = Mood::Sad;
        let words = "hello".to_owned();
        world.announce(Waved { by, to, mood, loudly: true, times: 3, at, words });
    });
    room.run(1.secs());
}

fn runner(room: &TestRoom<Run>, index: usize) -> Id<Runner> {
    room.world().players().nth(index).expect("the player").avatar()
}

fn waves(room: &TestRoom<Run>, client: TestClient) -> Vec<Waved> {
    room.events(client).iter().filter_map(SchemaEvent::get).collect()
}

#[test]
fn a_client_reads_an_object_with_the_types_of_its_kind() {
    let mut room = TestRoom::<Run>::new();
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default()));
    room.run(1.secs());
    let own = room.avatar(ann).expect("ann's avatar");
    let own = own.get::<Runner>().expect("a runner");
    assert_eq!((own.name, own.laps, own.awake, own.coins), ("ann", 7, true, Some(12)));
    assert!(own.stamina.value > 40.0 && own.stamina.rate == 1.0, "{own:?}");
    let seen = room.sees(bob);
    let seen = seen.iter().find(|seen| !seen.own).and_then(|seen| seen.get::<Runner>());
    let seen = seen.expect("ann in sight of bob");
    assert_eq!((seen.name, seen.coins), ("ann", None), "only she knows her coins");
    let race = &room.room_wide(bob)[0];
    assert_eq!(race.get::<Race>().map(|race| race.round), Some(3));
    assert!(race.get::<Runner>().is_none());
}

#[test]
fn a_client_reads_an_event_with_the_types_of_its_fields() {
    let mut room = TestRoom::<Run>::new();
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default()));
    let to = Some(runner(&room, 1));
    wave(&mut room, to);
    let known_as = |client, own: bool| {
        let seen = room.sees(client).into_iter().find(|seen| seen.own == own);
        seen.expect("both are in sight").id
    };
    for (client, is_ann) in [(ann, true), (bob, false)] {
        let waved = waves(&room, client).pop().expect("an event");
        let (by, to) = (known_as(client, is_ann), known_as(client, !is_ann));
        assert_eq!(
            (waved.by.client_object_id(), waved.to.and_then(Id::client_object_id)),
            (Some(by), Some(to))
        );
        assert_eq!((waved.mood, waved.loudly, waved.times), (Mood::Sad, true, 3));
        assert_eq!((waved.at, &*waved.words), (Position::on_ground(3.0, 4.0), "hello"));
    }
}

#[test]
fn an_object_out_of_sight_is_unseen_or_none() {
    let mut room = TestRoom::<Run>::with(&[("size", "300x300")]);
    let [_, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default()));
    let walker = runner(&room, 0);
    room.edit(|world, _| {
        let mut walker = world.edit(walker).expect("ann's");
        walker.path().teleport(Position::on_ground(5.0, 5.0));
    });
    room.run(2.secs());
    assert_eq!(room.sees(bob).len(), 1, "ann is far away");
    wave(&mut room, Some(walker));
    let waved = waves(&room, bob).pop().expect("an announcement");
    assert_eq!((waved.by.object(), waved.to), (ObjectId::UNSEEN, None));
}

#[test]
fn a_number_or_a_flag_says_which_variant_an_object_is() {
    let told = |(_, shown): (_, ambit::presentation::KindPresentation)| {
        let of = shown.variants.into_iter().map(|variant| variant.of).collect::<Vec<_>>();
        (shown.look.by, of)
    };
    assert_eq!(told(Tower::declaration()), (Some(1), vec!["3".to_owned(), "-1".to_owned()]));
    assert_eq!(told(Gate::declaration()), (Some(1), vec!["true".to_owned()]));
}

/// The game as a client of another version knows it.
mod other {
    use ambit::prelude::*;

    #[derive(Kind)]
    pub(super) struct Runner {
        path: Path,
        /// Others are before it in the server's.
        awake: Flag,
    }

    #[derive(Kind)]
    #[kind(name = "runner")]
    pub(super) struct Faster {
        path: Path,
        laps: Gauge<9>,
    }

    #[derive(Kind)]
    pub(super) struct Horse {
        path: Path,
    }

    #[derive(Debug, PartialEq, Choice)]
    pub(super) enum Mood {
        Sad,
        Bored,
    }

    #[derive(Event)]
    pub(super) struct Waved {
        pub(super) mood: Mood,
        /// Without its range.
        pub(super) times: i64,
    }

    #[derive(Event)]
    #[event(name = "waved")]
    pub(super) struct Nodded {
        pub(super) mood: i64,
    }
}

#[test]
fn a_client_of_another_version_reads_by_name_or_nothing() {
    let mut room = TestRoom::<Run>::new();
    let ann = room.join("ann", Line::default());
    wave(&mut room, None);
    let seen = room.avatar(ann).expect("the avatar");
    assert_eq!(seen.get::<other::Runner>().map(|runner| runner.awake), Some(true));
    assert!(seen.get::<other::Faster>().is_none() && seen.get::<other::Horse>().is_none());
    let event = &room.events(ann)[0];
    let waved = event.get::<other::Waved>().expect("an event");
    assert_eq!((waved.mood, waved.times), (other::Mood::Sad, 3));
    assert!(event.get::<other::Nodded>().map(|nodded| nodded.mood).is_none());

    let schema = ambit::Typed::<Run>::declared_schema();
    assert_eq!(check_kind::<Runner>(&schema), Ok(()));
    assert_eq!(check_kind::<other::Runner>(&schema), Ok(()));
    assert_eq!(check_event::<Waved>(&schema), Ok(()));
    assert_eq!(Waved::declaration().0, schema.events[0]);
    for (error, expected) in [
        (check_kind::<other::Horse>(&schema), "has no kind `horse`"),
        (check_kind::<other::Faster>(&schema), "without the component `laps` (gauge)"),
        (check_event::<other::Nodded>(&schema), "without the field `mood`"),
    ] {
        let error = error.expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("build it with the server's version"), "{error}");
    }
}
