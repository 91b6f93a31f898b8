//! Why clients have objects: against an oracle that knows only places, zones and a rule.

use ambit_proto::pose::{PoseFormat, Turning};

use super::*;
use crate::logic::sight::HiddenBy;
use crate::network::why::SightRule;

const YAW: PoseFormat = PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None };
const CLIENTS: u32 = 6;
const STEP_M: f32 = 6.0;

/// Ships that wander. One with an odd number hides from all with an even one at times.
struct Strait {
    rng: fastrand::Rng,
    ships: Vec<ObjectId>,
    tick: u32,
}

impl Strait {
    fn room(seed: u64) -> Room {
        let rng = fastrand::Rng::with_seed(seed);
        let config = RoomConfig { width: 200.0, height: 200.0, ..RoomConfig::default() };
        Room::new(config, Box::new(Self { rng, ships: Vec::new(), tick: 0 }))
    }
}

/// The rule of the game, by the ids of ships alone.
fn is_hidden(tick: u32, viewer: ObjectId, object: ObjectId) -> bool {
    viewer.0.is_multiple_of(2) && !object.0.is_multiple_of(2) && tick / 40 % 2 == 1
}

impl Game for Strait {
    fn schema(&self) -> Schema {
        let components = vec![ComponentSpec::public("pose", Codec::Pose(YAW))];
        let kinds = vec![ObjectKind { name: "ship".into(), components, ..ObjectKind::default() }];
        Schema { game: "strait".into(), kinds, ..Schema::default() }
    }

    fn start(&mut self, world: &mut World) {
        for _ in 0..30 {
            let (x, y) = (self.rng.f32() * 200.0, self.rng.f32() * 200.0);
            let pose = YAW.pose(Position::on_ground(x, y), 0.0, 0.0);
            self.ships.push(world.spawn(0, vec![Component::Pose(pose)]));
        }
    }

    fn join(&mut self, world: &mut World, _: PlayerId, _: &str) -> ObjectId {
        let pose = YAW.pose(Position::on_ground(100.0, 100.0), 0.0, 0.0);
        let ship = world.spawn(0, vec![Component::Pose(pose)]);
        self.ships.push(ship);
        ship
    }

    fn leave(&mut self, _: &mut World, _: PlayerId, _: Left) {}

    fn step(&mut self, world: &mut World, _: Duration) {
        self.tick += 1;
        for &ship in &self.ships {
            let mut by = || (self.rng.f32() - 0.5) * 2.0 * STEP_M;
            let at = world.position(ship);
            let (x, y) = (at.x + by(), at.y + by());
            let to = Position::on_ground(x.clamp(0.0, 199.0), y.clamp(0.0, 199.0));
            world.set_pose(ship, to, 0.0, 0.0);
        }
    }

    fn sees(&self, _: &World, viewer: ObjectId, object: ObjectId, _: Sight) -> bool {
        !is_hidden(self.tick, viewer, object)
    }

    fn sight_checks(&self) -> SightChecks {
        SightChecks::ON_DEMAND.every_ticks(1)
    }
}

pub(super) fn strait(seed: u64) -> Room {
    Strait::room(seed)
}

/// The cell of a place on one axis.
fn cell(metres: f32) -> i32 {
    (metres / 10.0) as i32
}

#[test]
fn the_answer_agrees_with_an_oracle_and_with_what_is_sent() {
    let mut counts = BTreeMap::new();
    for seed in 0..4 {
        let mut room = Strait::room(seed);
        let mut inputs = joins(1..=CLIENTS);
        let mut rng = fastrand::Rng::with_seed(seed + 100);
        for tick in 1..200_u32 {
            room.tick(GameTime::ZERO + tick * TICK, &mut inputs, &mut Vec::new());
            let objects: Vec<ObjectId> = room.world().objects().collect();
            for _ in 0..40 {
                let player = PlayerId(rng.u64(1..=CLIENTS.into()));
                let object = objects[rng.usize(..objects.len())];
                let viewer = room.network().viewer(ClientId(player.0 as u32)).expect("a client");
                let (avatar, home) = (viewer.avatar, viewer.home);
                let at = room.world().position(object);
                let beside = |home: u16, metres: f32| i32::from(home).abs_diff(cell(metres));
                let cells = beside(home.column, at.x).max(beside(home.row, at.y));
                let follows = room.network().interest().follows(viewer.client, object);
                let expected = if object == avatar {
                    "own"
                } else if cells > if follows { 2 } else { 1 } {
                    "too far"
                } else if is_hidden(tick, avatar, object) {
                    "hidden"
                } else if cells <= 1 {
                    "near"
                } else {
                    "kept"
                };
                let why = room.why(player, object);
                let rule = match why.rule {
                    SightRule::Own => "own",
                    SightRule::TooFar(zones) => {
                        assert_eq!(u32::from(zones.distance), cells);
                        "too far"
                    }
                    SightRule::Hidden { by: HiddenBy::Rule } => "hidden",
                    SightRule::Near(_) => "near",
                    SightRule::Kept(_) => "kept",
                    other => panic!("{other:?}"),
                };
                let about = format!("seed {seed}, tick {tick}, {player:?}, {object:?}");
                assert_eq!(rule, expected, "{about}");
                assert_eq!(why.at_client.is_some(), follows, "{about}");
                assert_eq!(why.rule.shows(), follows, "{about}");
                *counts.entry(rule).or_insert(0) += 1;
            }
        }
    }
    assert_eq!(counts.len(), 5, "each answer is needed at times: {counts:?}");
}

#[test]
fn who_is_not_here_and_what_does_not_exist_have_answers() {
    let mut room = Strait::room(1);
    room.tick(GameTime::ZERO + TICK, &mut Vec::new(), &mut Vec::new());
    assert_eq!(room.why(PlayerId(1), ObjectId(1)).rule, SightRule::NotHere);
    let join = RoomInput::Join {
        client: ClientId(1),
        player: PlayerId(1),
        account: None,
        name: "ann".to_owned(),
        coding: PoseCoding::Auto,
    };
    room.tick(GameTime::ZERO + 2 * TICK, &mut vec![join], &mut Vec::new());
    let why = room.why(PlayerId(1), ObjectId(9_999));
    assert_eq!((why.rule, why.at_client), (SightRule::NoObject, None));
    let own = room.network().viewer(ClientId(1)).expect("a client").avatar;
    let why = room.why(PlayerId(1), own);
    let at_client = why.at_client.expect("it is sent");
    assert_eq!(why.rule, SightRule::Own);
    assert!(!at_client.is_known, "nothing is acknowledged");
    let pose = at_client.pose.expect("a ship has a pose");
    assert_eq!(pose.age, Some(Duration::ZERO));
}
