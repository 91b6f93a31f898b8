//! When a room asks what a viewer sees, and about what.

use std::cell::RefCell;
use std::f32::consts::TAU;

use ambit_proto::pose::{PoseFormat, Turning};

use super::*;

/// 256 headings: 1.4 degrees each.
const YAW: PoseFormat = PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None };
/// The first tick at which the ships see each other.
const CLEARS_AT: u32 = 10;
/// Headings that the first ship turns by at each tick from `CLEARS_AT` on.
const TURN: u32 = 3;

thread_local! {
    /// The questions of the tick, as far as a test asks for them.
    static QUESTIONS: RefCell<Vec<(ObjectId, ObjectId, Sight)>> =
        const { RefCell::new(Vec::new()) };
}

/// Ships in fog, which clears at one tick.
struct FoggySea {
    checks: SightChecks,
    /// What the game says when the fog has cleared.
    says: fn(&mut World, &[ObjectId]),
    /// Where a player's ship lies.
    place: fn(PlayerId) -> (f32, f32),
    ships: Vec<ObjectId>,
    tick: u32,
}

impl FoggySea {
    fn new(checks: SightChecks, says: fn(&mut World, &[ObjectId])) -> Self {
        let place = |player: PlayerId| (50.0 + player.0 as f32, 50.0);
        Self { checks, says, place, ships: Vec::new(), tick: 0 }
    }
}

impl Game for FoggySea {
    fn schema(&self) -> Schema {
        let components = vec![ComponentSpec::public("pose", Codec::Pose(YAW))];
        let kinds = vec![ObjectKind { name: "ship".into(), components, ..ObjectKind::default() }];
        Schema { game: "sea".into(), kinds, ..Schema::default() }
    }

    fn start(&mut self, _: &mut World) {}

    fn join(&mut self, world: &mut World, player: PlayerId, _: &str) -> ObjectId {
        let (x, y) = (self.place)(player);
        let pose = YAW.pose(Position::on_ground(x, y), 0.0, 0.0);
        let ship = world.spawn(0, vec![Component::Pose(pose)]);
        self.ships.push(ship);
        ship
    }

    fn leave(&mut self, _: &mut World, _: PlayerId, _: Left) {}

    fn step(&mut self, world: &mut World, _: Duration) {
        self.tick += 1;
        if self.tick == CLEARS_AT {
            (self.says)(world, &self.ships);
        }
        let turned = TURN * self.tick.saturating_sub(CLEARS_AT);
        let at = world.position(self.ships[0]);
        world.set_pose(self.ships[0], at, turned as f32 / 256.0 * TAU, 0.0);
    }

    fn sees(&self, _: &World, viewer: ObjectId, object: ObjectId, sight: Sight) -> bool {
        QUESTIONS.with_borrow_mut(|questions| questions.push((viewer, object, sight)));
        self.tick >= CLEARS_AT
    }

    fn sight_checks(&self) -> SightChecks {
        self.checks
    }
}

/// The ticks at which each of three ships gets the others into sight: none if it never does.
fn ticks_of_sight(checks: SightChecks, says: fn(&mut World, &[ObjectId])) -> [Vec<u32>; 3] {
    let game = FoggySea::new(checks, says);
    let mut room = Room::new(RoomConfig::default(), Box::new(game));
    let mut inputs = joins(0..3);
    let mut found = [const { Vec::new() }; 3];
    let mut followed = [1; 3];
    for tick in 1..40 {
        room.tick(GameTime::ZERO + tick * TICK, &mut inputs, &mut Vec::new());
        for client in 0..3 {
            let count = room.network().interest().followed(ClientId(client as u32)).count();
            found[client].extend((followed[client]..count).map(|_| tick));
            followed[client] = count;
        }
    }
    found
}

#[test]
fn a_room_asks_again_only_when_it_is_told_to() {
    assert_eq!(ticks_of_sight(SightChecks::ON_DEMAND, |_, _| {}), [[0; 0]; 3]);
}

#[test]
fn a_game_asks_who_sees_one_object() {
    let found = ticks_of_sight(SightChecks::ON_DEMAND, |world, ships| world.ask_who_sees(ships[1]));
    assert_eq!(found, [vec![CLEARS_AT], vec![], vec![CLEARS_AT]]);
}

#[test]
fn a_game_asks_what_one_viewer_sees() {
    let found =
        ticks_of_sight(SightChecks::ON_DEMAND, |world, ships| world.ask_what_is_seen_by(ships[1]));
    assert_eq!(found, [vec![], vec![CLEARS_AT; 2], vec![]]);
}

#[test]
fn a_room_asks_each_viewer_in_its_turn() {
    let found = ticks_of_sight(SightChecks::ON_DEMAND.every_ticks(1), |_, _| {});
    assert_eq!(found, [CLEARS_AT; 3].map(|tick| vec![tick; 2]));
    let found = ticks_of_sight(SightChecks::ON_DEMAND.every_ticks(8), |_, _| {});
    for ticks in &found {
        assert_eq!(ticks.len(), 2);
        assert!(ticks[0] == ticks[1] && (CLEARS_AT..CLEARS_AT + 8).contains(&ticks[0]));
    }
    let turns: BTreeSet<u32> = found.iter().map(|ticks| ticks[0]).collect();
    assert_eq!(turns.len(), 3, "all at once: {found:?}");
}

#[test]
fn a_room_asks_a_viewer_that_has_turned() {
    // 4.2 degrees a tick: more than 10 after three ticks. The other ships do not turn.
    let found = ticks_of_sight(SightChecks::ON_DEMAND.on_turn(10.0), |_, _| {});
    assert_eq!(found, [vec![CLEARS_AT + 3; 2], vec![], vec![]]);
}

#[test]
fn with_200_ships_a_room_asks_about_what_is_near_and_about_nothing_else() {
    const SHIPS: u32 = 200;
    let mut game = FoggySea::new(SightChecks::ON_DEMAND.every_ticks(1), |_, _| {});
    game.place = |player| {
        let mut rng = fastrand::Rng::with_seed(player.0);
        (rng.f32() * 1_000.0, rng.f32() * 1_000.0)
    };
    let config = RoomConfig { inner: 21, outer: 24, ..RoomConfig::default() };
    let config = RoomConfig { width: 1_000.0, height: 1_000.0, ..config };
    let mut room = Room::new(config, Box::new(game));
    let mut inputs = joins(0..SHIPS);
    for tick in 1..=CLEARS_AT + 2 {
        let followed = |room: &Room, client, ship| room.network().interest().follows(client, ship);
        let before: Vec<Vec<ObjectId>> = (0..SHIPS)
            .map(|client| room.network().interest().followed(ClientId(client)).collect())
            .collect();
        QUESTIONS.take();
        room.tick(GameTime::ZERO + tick * TICK, &mut inputs, &mut Vec::new());
        let mut questions = QUESTIONS.take();
        questions.sort_unstable_by_key(|&(viewer, object, _)| (viewer, object));

        let world = room.world();
        let ships: Vec<ObjectId> = world.objects().collect();
        let mut expected = Vec::new();
        for (client, before) in (0..SHIPS).zip(&before) {
            let avatar = world.player(PlayerId(client.into())).expect("it has joined").avatar;
            for &ship in ships.iter().filter(|&&ship| ship != avatar) {
                let cells = world.cell(avatar).distance(world.cell(ship));
                if before.contains(&ship) {
                    assert!(cells <= 24 && followed(&room, ClientId(client), ship));
                    expected.push((avatar, ship, Sight::Kept));
                } else if cells <= 21 {
                    expected.push((avatar, ship, Sight::New));
                }
            }
        }
        expected.sort_unstable_by_key(|&(viewer, object, _)| (viewer, object));
        assert_eq!(questions, expected, "tick {tick}");
        let asked = questions.len();
        let all = (SHIPS * (SHIPS - 1)) as usize;
        assert!((all / 10..all / 5).contains(&asked), "{asked} of {all} pairs");
    }
}
