//! Releases of a game: a room that one build has saved goes on in the next one. Each module is a
//! build, with the same names and other types.

use ambit::KindOf;
use ambit::prelude::*;
use ambit::saved::BadState;
use ambit::test::{Line, TestRoom};

/// The first build.
mod first {
    use ambit::prelude::*;

    #[derive(Kind)]
    pub(super) struct Villager {
        pub(super) path: Path,
        pub(super) strength: Gauge<100>,
        pub(super) coins: Number<0, 1_000>,
        pub(super) title: Text<20>,
        /// Gone in the next build.
        pub(super) is_tired: Flag,
    }

    #[derive(Kind)]
    pub(super) struct Tree {
        pub(super) path: Path,
    }

    #[derive(Kind)]
    pub(super) struct Sheep {
        pub(super) pose: YawPose,
    }

    #[derive(Serialize, Deserialize)]
    pub(super) enum Timer {
        Harvest { of: Id<Tree> },
        Rain(u8),
    }

    #[derive(Default, Serialize, Deserialize)]
    pub(super) struct Seat {
        pub(super) steps: u32,
    }

    #[derive(Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Tree, Villager, Sheep), timer = Timer, seat = Seat)]
    pub(super) struct Village {
        pub(super) harvests: u32,
        pub(super) mood: Mood,
        /// Gone in the next build.
        pub(super) rumour: String,
    }

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    pub(super) enum Mood {
        #[default]
        Calm,
        Merry {
            since: GameTime,
        },
    }

    impl Game for Village {
        const INFO: GameInfo = GameInfo::new("village", "Stays.");
        type Avatar = Villager;
        no_commands!();
        type Refusal = NoRefusal;

        fn start(&mut self, world: &mut World<Self>) {
            let of = world.spawn(Tree { path: Path::at(Position::on_ground(20.0, 30.0)) });
            world.spawn(Sheep { pose: YawPose::at(Position::on_ground(40.0, 41.0)).facing(1.5) });
            world.after(5.secs(), Timer::Harvest { of });
            world.after(1.secs(), Timer::Rain(3));
        }

        fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Villager> {
            world.edit_seat(newcomer).expect("it is open").steps = 7;
            world.spawn(Villager {
                path: Path::at(world.centre()),
                strength: 80.into(),
                coins: 900.into(),
                title: "the mayor of a place".into(),
                is_tired: Flag::on(),
            })
        }

        fn timer(&mut self, _: &mut World<Self>, timer: Timer, due: GameTime) {
            match timer {
                Timer::Harvest { .. } => self.harvests += 1,
                Timer::Rain(_) => self.mood = Mood::Merry { since: due },
            }
        }
    }
}

/// Fields and components come and go, kinds too, and all stand in another order.
mod second {
    use ambit::prelude::*;

    pub(super) use super::first::Mood;

    #[derive(Kind)]
    pub(super) struct Villager {
        pub(super) path: Path,
        pub(super) hunger: Gauge<50>,
        pub(super) title: Text<9>,
        pub(super) friends: Number<1, 9>,
        pub(super) coins: Number<0, 500>,
        pub(super) strength: Gauge<60>,
    }

    #[derive(Kind)]
    pub(super) struct Well {
        pub(super) path: Path,
    }

    #[derive(Kind)]
    pub(super) struct Tree {
        /// It was a path.
        pub(super) pose: YawPose<64, 8>,
        pub(super) apples: Number<0, 9>,
    }

    #[derive(Serialize, Deserialize)]
    pub(super) enum Timer {
        Snow,
        Rain(u8),
        Harvest { of: Id<Tree> },
    }

    #[derive(Default, Serialize, Deserialize)]
    pub(super) struct Seat {
        #[serde(default)]
        pub(super) songs: u8,
        pub(super) steps: u64,
    }

    #[derive(Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Well, Villager, Tree), timer = Timer, seat = Seat)]
    pub(super) struct Village {
        #[serde(default)]
        pub(super) feasts: Vec<String>,
        pub(super) mood: Mood,
        pub(super) harvests: u32,
        /// The tree of the last harvest.
        #[serde(default)]
        pub(super) harvested: Option<Id<Tree>>,
    }

    impl Game for Village {
        const INFO: GameInfo = GameInfo::new("village", "Stays.");
        type Avatar = Villager;
        no_commands!();
        type Refusal = NoRefusal;

        fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Villager> {
            world.spawn(Villager {
                path: Path::at(world.centre()),
                hunger: Gauge::empty(),
                title: Text::default(),
                friends: 1.into(),
                coins: 0.into(),
                strength: Gauge::full(),
            })
        }

        fn timer(&mut self, _: &mut World<Self>, timer: Timer, due: GameTime) {
            match timer {
                Timer::Harvest { of } => {
                    (self.harvests, self.harvested) = (self.harvests + 1, Some(of));
                }
                Timer::Rain(_) => self.mood = Mood::Merry { since: due },
                Timer::Snow => {}
            }
        }
    }
}

/// The type of a field has changed, and there are wells.
mod third {
    use std::collections::BTreeMap;

    use ambit::prelude::*;
    use ambit::saved::{BadState, Saved};

    pub(super) use super::second::{Mood, Seat, Timer, Tree, Villager, Well};

    #[derive(Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Villager, Tree, Well), timer = Timer, seat = Seat, version = 1)]
    pub(super) struct Village {
        /// Of each year.
        pub(super) harvests: BTreeMap<u16, u32>,
        pub(super) mood: Mood,
        pub(super) upgraded_from: Option<u32>,
    }

    /// As it was before version 1.
    #[derive(Deserialize)]
    struct Version0 {
        harvests: u32,
        mood: Mood,
    }

    impl Game for Village {
        const INFO: GameInfo = GameInfo::new("village", "Stays.");
        type Avatar = Villager;
        no_commands!();
        type Refusal = NoRefusal;

        fn start(&mut self, world: &mut World<Self>) {
            world.spawn(Well { path: Path::at(Position::on_ground(50.0, 50.0)) });
        }

        fn join(&mut self, _: &mut World<Self>, _: Newcomer<'_>) -> Id<Villager> {
            unreachable!("no player comes")
        }

        fn timer(&mut self, _: &mut World<Self>, _: Timer, _: GameTime) {}

        fn upgrade(version: u32, saved: Saved<'_>) -> Result<Self, BadState> {
            if version == 0 {
                let Version0 { harvests, mood } = saved.read()?;
                let harvests = [(0, harvests)].into();
                return Ok(Self { harvests, mood, upgraded_from: None });
            }
            saved.read()
        }

        fn upgraded(&mut self, world: &mut World<Self>, from: u32) {
            self.upgraded_from = Some(from);
            self.start(world);
        }
    }
}

/// A release that cannot read what the second one saves: each of these.
macro_rules! broken {
    ($name:ident, $coins:ty, $harvests:ty, $timer:ident) => {
        mod $name {
            use ambit::prelude::*;

            #[derive(Kind)]
            pub(super) struct Villager {
                path: Path,
                coins: $coins,
            }

            #[derive(Serialize, Deserialize)]
            pub(super) enum Timer {
                Rain(u8),
                $timer { of: ObjectId },
            }

            #[derive(Default, Serialize, Deserialize, Declare)]
            #[declare(kinds(Villager), timer = Timer)]
            pub(super) struct Village {
                harvests: $harvests,
            }

            impl Game for Village {
                const INFO: GameInfo = GameInfo::new("village", "Stays.");
                type Avatar = Villager;
                no_commands!();
                type Refusal = NoRefusal;

                fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Villager> {
                    let _ = &self.harvests;
                    let path = Path::at(world.centre());
                    world.spawn(Villager { path, coins: Default::default() })
                }

                fn timer(&mut self, _: &mut World<Self>, _: Timer, _: GameTime) {}
            }
        }
    };
}

broken!(fits, Number<0, 9>, u32, Harvest);
broken!(other_component, Text<9>, u32, Harvest);
broken!(other_field, Number<0, 9>, String, Harvest);
broken!(other_timer, Number<0, 9>, u32, Reap);

fn all<G: Game, K: KindOf<G>>(world: &World<G>) -> Vec<Id<K>> {
    let mut found = Vec::new();
    world.find_all(&mut found);
    found
}

#[test]
fn fields_components_and_kinds_come_and_go_with_a_release() {
    let mut room = TestRoom::<first::Village>::new();
    let ann = room.join("ann", Line::default());
    room.run(2.secs());
    let before = room.avatar(ann).expect("she is there").position;
    let mut room = room.release::<second::Village>();
    room.run(1.secs());
    assert_eq!(room.errors(ann), Vec::<String>::new());
    let villager = room.avatar(ann).expect("she is still there");
    assert_eq!(villager.position, before);
    let number = |name| villager.number(name);
    assert_eq!((number("coins"), number("friends")), (Some(500), Some(1)), "the nearest values");
    assert_eq!((villager.gauge("strength"), villager.gauge("hunger")), (Some(60.0), Some(50.0)));
    assert_eq!(villager.text("title"), Some("the mayor"));
    let player = room.player(ann);
    let seat = room.world().seat(player).expect("it is open");
    assert_eq!((seat.steps, seat.songs), (7, 0));
    // The sheep are gone, and the tree has a pose where its path was.
    let trees = all::<_, second::Tree>(room.world());
    let [tree] = trees[..] else { panic!("{trees:?}") };
    let stands = room.world().get(tree).expect("it stands");
    assert_eq!(stands.pose().position(), Position::on_ground(20.0, 30.0));
    assert_eq!((stands.apples(), all::<_, second::Well>(room.world()).len()), (0, 0));
    // The timer that the first build has set.
    room.run(3.secs());
    room.edit(|_, village| {
        assert_eq!((village.harvests, village.harvested), (1, Some(tree)));
        let merry = second::Mood::Merry { since: GameTime::from_millis(1_200) };
        assert_eq!((&village.mood, &village.feasts), (&merry, &Vec::new()));
    });
    // It goes on as any room does.
    room.move_to_another_host();
    room.run(1.secs());
    assert_eq!(room.errors(ann), Vec::<String>::new());
    assert_eq!(room.avatar(ann).expect("she plays").number("coins"), Some(500));
}

#[test]
fn a_type_that_has_changed_is_upgraded_and_what_is_new_is_made() {
    let mut room = TestRoom::<first::Village>::new();
    let ann = room.join("ann", Line::default());
    room.run(7.secs());
    let mut room = room.release::<third::Village>();
    room.run(1.secs());
    let was = room.edit(|world, village| {
        assert_eq!(all::<_, third::Well>(world).len(), 1);
        assert_eq!(village.harvests, [(0, 1)].into());
        village.upgraded_from
    });
    assert_eq!(was, Some(0));
    // Once: the next host reads this version.
    room.edit(|_, village| village.upgraded_from = None);
    room.move_to_another_host();
    room.run(1.secs());
    room.edit(|world, village| {
        assert_eq!((all::<_, third::Well>(world).len(), village.upgraded_from), (1, None));
    });
    assert!(room.avatar(ann).is_some());
    // The earlier builds do not read it.
    let newer = room.check_release::<second::Village>().expect_err("it is newer").to_string();
    assert!(newer.contains("version 1 of the game, and this build has 0"), "{newer}");
}

#[test]
fn a_release_that_cannot_read_a_room_says_why() {
    let mut room = TestRoom::<first::Village>::new();
    room.join("ann", Line::default());
    room.run(2.secs());
    assert_eq!(room.check_release::<fits::Village>(), Ok(()));
    let why = |bad: Result<(), BadState>| bad.expect_err("it does not fit").to_string();
    let words = why(room.check_release::<other_component::Village>());
    let expected = "the component `coins` of the kind `villager` was a number, and is a text now";
    assert!(words.contains(expected), "{words}");
    let words = why(room.check_release::<other_field::Village>());
    assert!(words.contains("expected a string"), "{words}");
    let words = why(room.check_release::<other_timer::Village>());
    assert!(words.contains("a timer cannot be read") && words.contains("Harvest"), "{words}");
    // The room is as it was.
    room.run(4.secs());
    room.edit(|_, village| assert_eq!(village.harvests, 1));
}

#[test]
fn damaged_bytes_of_another_build_are_an_error() {
    use ambit_room::logic::registry::{Header, Registry};
    use ambit_room::room::Room;

    let mut room = TestRoom::<first::Village>::new();
    room.join("ann", Line::default());
    room.run(2.secs());
    let saved = room.save();
    let registry = Registry::from(Games::new().with::<second::Village>());
    let header = Header { game: "village".to_owned(), seed: 1, capacity: 9, ..Header::default() };
    let restore = |bytes: &[u8]| {
        let (config, game) = registry.prepare(&header).expect("the defaults");
        let mut room = Room::restore(config, game, bytes)?;
        room.finish_replay(room.last_tick().unwrap_or_default());
        Ok::<_, BadState>(room.save().is_some())
    };
    assert_eq!(restore(&saved), Ok(true));
    for length in 0..saved.len() {
        assert!(restore(&saved[..length]).is_err(), "{length}");
    }
    // Any other byte: an error or a room, and never a panic.
    for at in 0..saved.len() {
        for flip in [1, 0x80, 0xFF] {
            let mut damaged = saved.clone();
            damaged[at] ^= flip;
            let _ = restore(&damaged);
        }
    }
}
