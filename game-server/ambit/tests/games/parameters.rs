//! Declared parameters: what `create ... key=value` takes, and what a game gets of it.

use std::collections::BTreeMap;

use ambit::prelude::*;
use ambit::test::{Line, TestRoom};
use ambit_room::logic::registry::Registry;

#[derive(Kind)]
struct Walker {
    path: Path,
}

#[derive(Clone, Copy, Debug, PartialEq, Choice)]
enum Aim {
    Conquer,
    HoldOut,
}

#[derive(Clone, Debug, PartialEq, Parameters)]
#[room(size = "60x50", tick = 30)]
struct Settings {
    /// Points that win.
    #[parameter(default = 50, range = 1..=20_000)]
    goal: i64,
    /// How fast it is.
    #[parameter(default = 1.5, range = 0.5..=2.0, name = "speed", label = "Speed (m/s)")]
    pace: f32,
    /// What is to be done,
    /// and by whom.
    ///
    /// Not for players.
    #[parameter(default = HoldOut)]
    aim: Aim,
    /// The longest time.
    #[parameter(range = 1..=60)]
    minutes: Option<u8>,
    /// Stones.
    #[parameter(default = 7, range = 0..=9)]
    stones: Given<u32>,
    /// Where it is.
    #[parameter(default = "meadow")]
    place: String,
    #[parameter(of_room, range = 20.5..=100.0)]
    size: (f32, f32),
    #[parameter(of_room)]
    map: u64,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker), parameters = Settings)]
struct Run {
    #[serde(skip)]
    settings: Option<Settings>,
}

impl Game for Run {
    const INFO: GameInfo = GameInfo::new("run", "Run.");
    type Avatar = Walker;
    no_commands!();
    type Refusal = NoRefusal;

    fn words(key: &str) -> Vec<String> {
        let places = ["moor", "heath"].map(str::to_owned);
        if key == "place" { places.into() } else { Vec::new() }
    }

    fn configure(&mut self, settings: Settings) -> Result<(), BadParameter> {
        if settings.goal == 13 {
            let problem = "13 is unlucky".to_owned();
            return Err(BadParameter::Conflict { key: "goal", problem });
        }
        self.settings = Some(settings);
        Ok(())
    }

    fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Walker> {
        world.spawn(Walker { path: Path::at(world.centre()) })
    }
}

fn settings(given: &[(&str, &str)]) -> Settings {
    let mut room = TestRoom::<Run>::with(given);
    room.join("ann", Line::default());
    room.edit(|_, game| game.settings.clone()).expect("it is configured")
}

#[test]
fn a_game_gets_its_parameters_with_their_types() {
    let standard = Settings {
        goal: 50,
        pace: 1.5,
        aim: Aim::HoldOut,
        minutes: None,
        stones: Given { value: 7, is_given: false },
        place: "meadow".to_owned(),
        size: (60.0, 50.0),
        map: 0,
    };
    assert_eq!(settings(&[]), standard);
    let given = [
        ("goal", "20000"),
        ("speed", "0.5"),
        ("aim", "conquer"),
        ("minutes", "60"),
        ("stones", "7"),
        ("place", "heath"),
        ("size", "80x40.5"),
    ];
    let all = Settings {
        goal: 20_000,
        pace: 0.5,
        aim: Aim::Conquer,
        minutes: Some(60),
        stones: Given { value: 7, is_given: true },
        place: "heath".to_owned(),
        size: (80.0, 40.5),
        map: 0,
    };
    assert_eq!(settings(&given), all);
}

#[test]
fn what_is_not_possible_is_refused_with_what_is() {
    let registry = Registry::from(Games::new().with::<Run>());
    for (key, value, expected) in [
        ("goal", "20001", "goal=20001 is not possible: it must be a whole number from 1 to 20000"),
        ("speed", "3", "speed=3 is not possible: it must be a number from 0.5 to 2"),
        ("aim", "win", "aim=win is not possible: it must be conquer or hold-out"),
        ("minutes", "0", "minutes=0 is not possible: it must be a whole number from 1 to 60"),
        ("place", "..", "place=.. is not possible: it must be meadow, moor or heath"),
        ("pace", "1", "there is no parameter \"pace\""),
        (
            "size",
            "20x30",
            "size=20x30 is not possible: it must be WIDTHxHEIGHT, each a number from 20.5 to 100",
        ),
        ("goal", "13", "goal does not fit: 13 is unlucky"),
    ] {
        let given = BTreeMap::from([(key.to_owned(), value.to_owned())]);
        let error = registry.check("run", &given).expect_err(expected).to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn players_read_the_labels_the_comments_and_the_defaults() {
    let registry = Registry::from(Games::new().with::<Run>());
    let parameters = registry.parameters("run").expect("the game");
    let find = |key: &str| parameters.iter().find(|parameter| parameter.key == key);
    let read = |key: &str| find(key).map(|parameter| (parameter.default, parameter.about));
    assert_eq!(read("goal"), Some(("50", "Points that win.")));
    assert_eq!(read("aim"), Some(("hold-out", "What is to be done, and by whom.")));
    assert_eq!(read("minutes"), Some(("", "The longest time.")));
    let label = |key: &str| find(key).map(|parameter| parameter.label);
    assert_eq!(label("speed"), Some("Speed (m/s)"));
    assert_eq!((label("goal"), label("tick")), (Some(""), Some("Ticks a second")));
    assert_eq!(find("size").map(|size| size.default), Some("60x50"));
    assert_eq!(find("tick").map(|tick| tick.default), Some("30"));
    assert!(find("map").is_none(), "the lobby sets it");
}
