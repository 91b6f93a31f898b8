//! What the maps of one world have in common, when messages between them are lost.

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_proto::schema::{Codec, Component, ComponentSpec, EventKind, ObjectKind, Schema};
use ambit_proto::space::Position;
use ambit_proto::timeline::{Gauge, Timeline};
use serde::{Deserialize, Serialize};

use super::super::*;
use super::{ANN, TICK};
use crate::logic::share::{MAX_SHARED_EVENTS, WHOLE_EVERY};

const BOB: PlayerId = PlayerId(2);
const AVATAR: u8 = 0;
/// World-wide: points, and what runs down.
const SCORE: u8 = 1;
const POINTS: u8 = 0;
const TIME: u8 = 1;
/// A second a second.
const MAX_S: f32 = 300.0;

/// Each player has a row. `news` are told on all maps at the next tick.
#[derive(Default, Serialize, Deserialize)]
struct Fair {
    news: usize,
}

impl Game for Fair {
    fn schema(&self) -> Schema {
        let kind = |name: &str, components| ObjectKind {
            name: name.into(),
            components,
            ..ObjectKind::default()
        };
        let number = Codec::Number { min: 0, max: 10_000 };
        let score = vec![
            ComponentSpec::public("points", number),
            ComponentSpec::public("time", Codec::Gauge { max: MAX_S }),
        ];
        Schema {
            game: "fair".into(),
            kinds: vec![
                kind("avatar", vec![ComponentSpec::public("path", Codec::Path)]),
                kind("score", score),
            ],
            events: vec![EventKind { name: "news".into(), fields: Vec::new() }],
            ..Schema::default()
        }
    }

    fn world_wide_kinds(&self) -> BTreeSet<u8> {
        [SCORE].into()
    }

    fn start(&mut self, _: &mut World) {}

    fn join(&mut self, world: &mut World, player: PlayerId, _: &str) -> ObjectId {
        let time = Gauge { value: MAX_S, rate: -1.0, max: MAX_S };
        let time = Component::Gauge(Timeline::starting_with(4, world.now(), time));
        let row = world.spawn(SCORE, vec![Component::Number(0), time]);
        world.set_owner(row, player);
        let at = Position::on_ground(5.0, 5.0);
        world.spawn(AVATAR, vec![Component::at_rest(world.now(), at)])
    }

    fn leave(&mut self, world: &mut World, player: PlayerId, _: Left) {
        let avatar = world.player(player).map(|player| player.avatar);
        world.despawn(avatar.expect("the player is in the room"));
    }

    fn step(&mut self, world: &mut World, _: Duration) {
        for _ in 0..std::mem::take(&mut self.news) {
            world.announce_world_wide(0, Vec::new());
        }
    }

    fn save(&self) -> Option<Vec<u8>> {
        Some(saved::of(self))
    }

    fn restore(&mut self, _: &mut World, saved: &[u8]) -> Result<(), BadState> {
        *self = saved::all(saved)?;
        Ok(())
    }

    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }
}

/// A map, and what it is given at the next tick.
struct Map {
    room: Room,
    inputs: Vec<RoomInput>,
    /// Its own time.
    now: GameTime,
    /// The events of the last tick.
    heard: usize,
}

impl Map {
    fn config(map: u32) -> RoomConfig {
        RoomConfig { map, ..RoomConfig::default() }
    }

    /// The maps of a world began at different times.
    fn new(map: u32) -> Self {
        let room = Room::new(Self::config(map), Box::new(Fair::default()));
        let now = GameTime::ZERO + Duration::from_secs(40) * map;
        Self { room, inputs: Vec::new(), now, heard: 0 }
    }

    fn join(&mut self, player: PlayerId) {
        self.inputs.push(RoomInput::Join {
            client: ClientId(player.0 as u32),
            player,
            name: "x".to_owned(),
            account: None,
            coding: PoseCoding::Auto,
        });
    }

    /// Returns what it tells.
    fn tick(&mut self) -> Option<Vec<u8>> {
        self.now += TICK;
        let before = self.room.stats().events;
        let mut outputs = Vec::new();
        self.room.tick(self.now, &mut self.inputs, &mut outputs);
        self.heard = (self.room.stats().events - before) as usize;
        outputs.into_iter().find_map(|output| match output {
            RoomOutput::Share(share) => Some(share),
            _ => None,
        })
    }

    fn row(&self, player: PlayerId) -> Option<ObjectId> {
        self.room.world.room_wide(SCORE, Some(player))
    }

    /// Points, and how much time is left at this tick; of a copy?
    fn score(&self, player: PlayerId) -> Option<(i64, f32, bool)> {
        let (row, world) = (self.row(player)?, &self.room.world);
        let left = world.gauge(row, TIME).value;
        Some((world.number(row, POINTS), left, world.is_copy(row)))
    }

    fn set_points(&mut self, player: PlayerId, points: i64) {
        let row = self.row(player).expect("a row");
        self.room.world.set_number(row, POINTS, points);
    }

    fn tell_news(&mut self, news: usize) {
        let fair = self.room.game.as_any().and_then(|game| game.downcast_mut::<Fair>());
        fair.expect("the game").news = news;
    }

    fn heard_of(&mut self, map: u32, share: Vec<u8>) {
        self.inputs.push(RoomInput::MapShare { map, share });
    }
}

/// Two maps that hear each other.
fn ticks(maps: &mut [Map; 2], count: usize) {
    for _ in 0..count {
        for (index, other) in [(0, 1), (1, 0)] {
            if let Some(share) = maps[index].tick() {
                maps[other].heard_of(index as u32, share);
            }
        }
    }
}

fn two_maps() -> [Map; 2] {
    let mut maps = [Map::new(0), Map::new(1)];
    maps[0].join(ANN);
    ticks(&mut maps, 20);
    maps[1].join(BOB);
    ticks(&mut maps, 20);
    maps
}

#[test]
fn all_maps_have_the_rows_of_all_by_their_own_clocks() {
    let mut maps = two_maps();
    maps[0].set_points(ANN, 7);
    ticks(&mut maps, 8);
    for player in [ANN, BOB] {
        let [here, there] = maps.each_ref().map(|map| map.score(player).expect("a row"));
        assert_eq!((here.0, here.2), (there.0, !there.2), "{here:?} and {there:?}");
        // A message takes two ticks; the grid of gauges is fine.
        assert!((here.1 - there.1).abs() < 0.2, "{here:?} and {there:?}");
    }
    assert_eq!(maps[1].score(ANN).map(|(points, ..)| points), Some(7));
    maps[0].inputs.push(RoomInput::Remove { player: ANN, why: Left::Quit });
    ticks(&mut maps, 8);
    assert_eq!(maps[1].score(ANN), None, "the row has gone with its player");
    assert!(maps[1].score(BOB).is_some());
}

#[test]
fn what_does_not_change_is_not_told_but_at_long_intervals() {
    let mut maps = two_maps();
    ticks(&mut maps, 20);
    let in_a_while = WHOLE_EVERY.as_millis() / TICK.as_millis();
    let mut told = [0; 2];
    for _ in 0..in_a_while {
        for (index, told) in told.iter_mut().enumerate() {
            if let Some(share) = maps[index].tick() {
                *told += 1;
                maps[1 - index].heard_of(index as u32, share);
            }
        }
    }
    assert_eq!(told, [1, 1]);
    let before = maps[1].room.world.component(maps[1].row(ANN).expect("a row"), TIME).clone();
    ticks(&mut maps, in_a_while as usize);
    let after = maps[1].room.world.component(maps[1].row(ANN).expect("a row"), TIME);
    assert_eq!(before, *after, "the same value again is no change");
}

#[test]
fn a_lost_message_is_made_up_for_by_the_next_whole_one() {
    let mut maps = two_maps();
    let mut lost = 0;
    for points in 1..20 {
        maps[0].set_points(ANN, points);
        for _ in 0..7 {
            lost += usize::from(maps[0].tick().is_some());
            if let Some(share) = maps[1].tick() {
                maps[0].heard_of(1, share);
            }
        }
    }
    assert!(lost > 10, "{lost}");
    assert_eq!(maps[1].score(ANN).map(|(points, ..)| points), Some(0));
    ticks(&mut maps, (WHOLE_EVERY.as_millis() / TICK.as_millis()) as usize + 2);
    assert_eq!(maps[1].score(ANN).map(|(points, ..)| points), Some(19));
}

#[test]
fn a_map_that_goes_on_elsewhere_has_its_copies_and_hears_of_changes() {
    let mut maps = two_maps();
    let state = maps[1].room.save().expect("a snapshot");
    maps[0].set_points(ANN, 3);
    // The last host hears it, the next one does not.
    ticks(&mut maps, 8);
    let game = Box::new(Fair::default());
    maps[1].room = Room::restore(Map::config(1), game, &state).expect("the same build");
    maps[1].inputs = vec![RoomInput::BeginIncarnation(2)];
    assert_eq!(maps[1].score(ANN).map(|(points, _, is_copy)| (points, is_copy)), Some((0, true)));
    ticks(&mut maps, 8);
    assert_eq!(maps[1].score(ANN).map(|(points, ..)| points), Some(3));
    assert_eq!(maps[1].room.world.len(), maps[0].room.world.len(), "no copy is there twice");
}

#[test]
fn copies_go_with_their_map() {
    let mut maps = two_maps();
    maps[0].heard_of(1, Vec::new());
    maps[0].tick();
    assert_eq!(maps[0].score(BOB), None);
    assert!(maps[0].score(ANN).is_some());
}

#[test]
fn an_announcement_is_heard_once_on_each_map_also_while_others_are_lost() {
    let mut maps = two_maps();
    maps[0].tell_news(2);
    let share = maps[0].tick().expect("it is told at once");
    let here = maps[0].heard;
    assert!(maps[0].tick().is_none(), "once");
    maps[1].heard_of(0, share);
    maps[1].tick();
    assert_eq!((here, maps[1].heard), (2, 2));
    // It follows a message that is lost.
    maps[0].set_points(ANN, 9);
    let lost = (0..8).find_map(|_| maps[0].tick());
    assert!(lost.is_some());
    maps[0].tell_news(1);
    let share = maps[0].tick().expect("it is told at once");
    maps[1].heard_of(0, share);
    maps[1].tick();
    assert_eq!(maps[1].heard, 1);
    // More than there is place for stay on their map.
    maps[0].tell_news(MAX_SHARED_EVENTS + 5);
    let share = maps[0].tick().expect("it is told at once");
    maps[1].heard_of(0, share);
    maps[1].tick();
    assert_eq!((maps[0].heard, maps[1].heard), (MAX_SHARED_EVENTS + 5, MAX_SHARED_EVENTS));
}

#[test]
fn bytes_that_are_no_message_of_this_build_change_nothing() {
    let mut maps = two_maps();
    maps[0].set_points(ANN, 5);
    let share = (0..8).find_map(|_| maps[0].tick()).expect("a change is told");
    let before = maps[1].room.world.len();
    let mut rng = fastrand::Rng::with_seed(7);
    for number in 0..2_000 {
        let mut damaged = share.clone();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(..damaged.len());
            damaged[at] = rng.u8(..);
        }
        damaged.truncate(rng.usize(1..=damaged.len()));
        maps[1].heard_of(7, damaged);
        // Bob's client acknowledges nothing: it is not there for long.
        if number % 50 == 0 {
            maps[1].tick();
        }
    }
    assert!(maps[1].score(BOB).is_some_and(|(points, _, is_copy)| points == 0 && !is_copy));
    maps[1].heard_of(7, Vec::new());
    maps[1].tick();
    assert_eq!(maps[1].room.world.len(), before);
}
