//! The profile `crowd`: a bot that walks between random points of the map and sometimes casts a
//! spell.
//!
//! The time and the surroundings go in, a command comes out now and then. No clock and no I/O;
//! random decisions follow from the seed.

use std::sync::Arc;
use std::time::Duration;

use ambit_client_core::argument::IntoArguments;
use ambit_client_core::client::Client;
use ambit_client_core::command_words;
use ambit_proto::ids::ClientObjectId;
use ambit_proto::message::GameCommand;
use ambit_proto::schema::{CommandKind, FieldSpec, FieldType, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::LocalTime;

/// Minimum distance of a destination from the map's edge, in metres.
const EDGE_M: f32 = 1.0;
/// How long a destination is kept at most, in milliseconds: another object may block the way.
const WALK_MS: (u64, u64) = (4_000, 15_000);
/// The pause at a destination, in milliseconds.
const REST_MS: (u64, u64) = (100, 1_000);
/// The time between two casts, in milliseconds.
const CAST_MS: (u64, u64) = (3_000, 9_000);
/// Maximum distance of a bolt's target, in metres.
const BOLT_M: f32 = 25.0;
/// Minimum distance of a bolt's target: an object at the same place, such as a bolt that is just
/// striking, gives no direction.
const LEAST_BOLT_M: f32 = 0.5;
/// Bolts are aimed at least this far ahead: the avatar walks on until the cast takes effect, on a
/// bad network for half a second, and must not have reached that point by then.
const LEAST_AIM_M: f32 = 3.0;
/// Maximum distance of a blink, in metres; the field allows 15.
const BLINK_M: f32 = 12.0;

/// The decisions of one bot.
#[derive(Debug)]
pub(crate) struct CrowdBot {
    rng: fastrand::Rng,
    /// When the bot picks the next destination or ends its pause.
    walk_at: LocalTime,
    resting: bool,
    cast_at: LocalTime,
}

/// What a bot knows when it decides.
#[derive(Clone, Debug)]
pub(crate) struct BotSurroundings {
    /// The avatar's position.
    pub(crate) position: Position,
    /// Whether the avatar moves.
    pub(crate) moving: bool,
    /// The position of the nearest other object.
    pub(crate) nearest: Option<Position>,
    /// Extent of the map, in metres.
    pub(crate) map: (f32, f32),
    /// What the game declares.
    pub(crate) schema: Arc<Schema>,
}

impl BotSurroundings {
    /// What the client of a bot sees at `now`; `None` without an avatar. The nearest object is
    /// looked up only for a bot that casts: there may be many objects.
    pub(crate) fn of(client: &Client, now: LocalTime, casts: bool) -> Option<Self> {
        let t = client.room_time(now)?;
        let rules = client.rules()?;
        let avatar = client.avatar()?;
        let position = avatar.position(t)?;
        Some(Self {
            position,
            moving: avatar.moves(t),
            nearest: casts.then(|| nearest(client, now, position)).flatten(),
            map: (rules.map.width_m, rules.map.height_m),
            schema: rules.schema.clone(),
        })
    }
}

/// The command by which bots walk: the first one whose only field is a position.
pub(crate) fn walk_command(schema: &Schema) -> Option<&CommandKind> {
    let is_walk = |command: &&CommandKind| {
        matches!(&command.fields[..], [FieldSpec { ty: FieldType::Position, .. }])
    };
    schema.commands.iter().find(is_walk)
}

impl CrowdBot {
    /// A bot that begins within a second, so that not all start at once.
    pub(crate) fn new(now: LocalTime, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let walk_at = now + random_duration(&mut rng, (0, 1_000));
        let cast_at = now + random_duration(&mut rng, CAST_MS);
        CrowdBot { rng, walk_at, resting: true, cast_at }
    }

    /// Whether it may cast at `now`, and so needs the nearest object.
    pub(crate) fn may_cast_by(&self, now: LocalTime) -> bool {
        now >= self.cast_at
    }

    /// The next command, mostly none.
    pub(crate) fn decide(
        &mut self,
        now: LocalTime,
        around: &BotSurroundings,
    ) -> Option<GameCommand<ClientObjectId>> {
        if now >= self.cast_at {
            self.cast_at = now + random_duration(&mut self.rng, CAST_MS);
            return self.cast(around);
        }
        if !around.moving && !self.resting && now + millis(REST_MS.1) < self.walk_at {
            self.resting = true;
            self.walk_at = now + random_duration(&mut self.rng, REST_MS);
        }
        if now < self.walk_at {
            return None;
        }
        self.resting = false;
        self.walk_at = now + random_duration(&mut self.rng, WALK_MS);
        let (width, height) = around.map;
        let to = [self.random_coordinate(width), self.random_coordinate(height)];
        command(around, &walk_command(&around.schema)?.name, to)
    }

    fn cast(&mut self, around: &BotSurroundings) -> Option<GameCommand<ClientObjectId>> {
        let (spell, at) = match self.rng.u32(0..10) {
            0..5 => {
                let in_reach = LEAST_BOLT_M..=BOLT_M;
                let target = around
                    .nearest
                    .filter(|target| in_reach.contains(&target.ground_distance(around.position)))?;
                ("bolt", Some(aim(around, target)))
            }
            5..7 => ("heal", None),
            7 => ("veil", None),
            _ => ("blink", Some(self.blink_target(around))),
        };
        command(around, "cast", (spell, at.map(<[f32; 2]>::from)))
    }

    /// A random place in reach of a blink.
    fn blink_target(&mut self, around: &BotSurroundings) -> (f32, f32) {
        let angle = self.rng.f32() * std::f32::consts::TAU;
        let distance = self.rng.f32() * BLINK_M;
        let x = around.position.x + distance * angle.cos();
        let y = around.position.y + distance * angle.sin();
        on_map(around, x, y)
    }

    fn random_coordinate(&mut self, extent: f32) -> f32 {
        EDGE_M + self.rng.f32() * (extent - 2.0 * EDGE_M)
    }
}

/// The command, if the game has it.
fn command(
    around: &BotSurroundings,
    name: &str,
    arguments: impl IntoArguments,
) -> Option<GameCommand<ClientObjectId>> {
    command_words::from_arguments(&around.schema, name, arguments.into_arguments()).ok()
}

fn nearest(client: &Client, now: LocalTime, from: Position) -> Option<Position> {
    let t = client.room_time(now)?;
    let others =
        client.objects().filter(|object| !object.is_own()).filter_map(|object| object.position(t));
    others.min_by(|one, other| one.distance(from).total_cmp(&other.distance(from)))
}

fn random_duration(rng: &mut fastrand::Rng, (least, most): (u64, u64)) -> Duration {
    millis(rng.u64(least..=most))
}

fn millis(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A point on the map in the direction of the target, at the target or behind it.
fn aim(around: &BotSurroundings, target: Position) -> (f32, f32) {
    let distance = target.ground_distance(around.position);
    let share = (LEAST_AIM_M / distance).max(1.0);
    let x = around.position.x + share * (target.x - around.position.x);
    let y = around.position.y + share * (target.y - around.position.y);
    on_map(around, x, y)
}

/// The point, or the nearest one on the map.
fn on_map(around: &BotSurroundings, x: f32, y: f32) -> (f32, f32) {
    let (width, height) = around.map;
    (x.clamp(EDGE_M, width - EDGE_M), y.clamp(EDGE_M, height - EDGE_M))
}

#[cfg(test)]
mod tests {
    use ambit_proto::message::FieldValue;

    use super::*;

    const MAP: (f32, f32) = (200.0, 100.0);
    const WALK: u8 = 0;

    #[test]
    fn a_bot_walks_and_casts_spells_within_the_map() {
        let mut harness = CrowdBotHarness::new(1);
        let actions = harness.run_for(Duration::from_mins(10));
        let mut moves = 0;
        let mut casts = [0; 4];
        for action in actions {
            match &action.fields[..] {
                [FieldValue::Position(Position { x, y, .. })] => {
                    assert!((0.0..=MAP.0).contains(x) && (0.0..=MAP.1).contains(y), "{x} {y}");
                    moves += 1;
                }
                [FieldValue::Choice(spell), _] => casts[usize::from(*spell)] += 1,
                other => panic!("{other:?}"),
            }
        }
        assert!((40..=150).contains(&moves), "{moves} walks in ten minutes");
        assert!(casts.iter().all(|&casts| casts > 3), "{casts:?}");
    }

    #[test]
    fn a_blink_stays_within_its_range_and_on_the_map() {
        let mut harness = CrowdBotHarness::new(2);
        harness.around.position = Position::on_ground(1.0, 1.0);
        for _ in 0..1_000 {
            let (x, y) = harness.crowd.blink_target(&harness.around);
            assert!(x >= EDGE_M && y >= EDGE_M);
            assert!(
                Position::on_ground(x, y).ground_distance(harness.around.position)
                    <= BLINK_M + 0.01
            );
        }
    }

    #[test]
    fn a_bolt_is_aimed_beyond_where_the_avatar_gets_until_then() {
        let around = CrowdBotHarness::new(1).around;
        let aimed = |x, y| aim(&around, Position::on_ground(x, y));
        assert_eq!(aimed(51.0, 50.0), (53.0, 50.0));
        assert_eq!(aimed(50.0, 45.0), (50.0, 45.0), "far enough");
    }

    #[test]
    fn a_bot_walks_on_soon_after_it_arrived() {
        let mut harness = CrowdBotHarness::new(3);
        harness.crowd.cast_at = LocalTime::MAX;
        harness.around.moving = false;
        let actions = harness.run_for(Duration::from_mins(1));
        assert!(actions.len() >= 30, "{} walks in a minute", actions.len());
    }

    #[test]
    fn in_a_game_without_spells_a_bot_only_walks() {
        let mut harness = CrowdBotHarness::new(4);
        Arc::make_mut(&mut harness.around.schema).commands.truncate(1);
        assert!(harness.run_for(Duration::from_mins(5)).iter().all(|action| action.kind == WALK));
    }

    #[test]
    fn the_same_seed_gives_the_same_actions() {
        let run = |seed| CrowdBotHarness::new(seed).run_for(Duration::from_secs(100));
        assert_eq!(run(5), run(5));
        assert_ne!(run(5), run(6));
    }

    /// A bot that always moves, near another object.
    struct CrowdBotHarness {
        crowd: CrowdBot,
        around: BotSurroundings,
        now: LocalTime,
    }

    impl CrowdBotHarness {
        fn new(seed: u64) -> Self {
            let command = |name: &str, fields: Vec<FieldSpec>| CommandKind {
                name: name.into(),
                fields,
                ..CommandKind::default()
            };
            let spell = FieldType::choice(["bolt", "heal", "veil", "blink"]);
            let at = FieldSpec::new("at", FieldType::Position);
            let cast = vec![FieldSpec::new("spell", spell), at.clone().optional()];
            let commands = vec![command("walk-to", vec![at]), command("cast", cast)];
            let schema = Arc::new(Schema { commands, ..Schema::default() });
            let position = Position::on_ground(50.0, 50.0);
            let nearest = Some(Position::on_ground(52.0, 50.0));
            let around = BotSurroundings { position, moving: true, nearest, map: MAP, schema };
            CrowdBotHarness {
                crowd: CrowdBot::new(LocalTime::ZERO, seed),
                around,
                now: LocalTime::ZERO,
            }
        }

        fn run_for(&mut self, time: Duration) -> Vec<GameCommand<ClientObjectId>> {
            let end = self.now + time;
            let mut actions = Vec::new();
            while self.now < end {
                self.now += millis(50);
                actions.extend(self.crowd.decide(self.now, &self.around));
            }
            actions
        }
    }
}
