//! A bot with the profile `shooter`: it flies a ship, aims ahead of the nearest one, and dodges.
//!
//! What the client shows goes in, the held controls come out. So a bot knows what a player knows.
//! No clock and no I/O; random decisions follow from the seed.

use std::f32::consts::{PI, TAU};
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_proto::keymap::Keymap;
use ambit_proto::space::Position;
use ambit_proto::time::LocalTime;

use super::cubes::KeyPresses;

/// The game, and its kinds and controls by name.
pub(crate) const GAME: &str = "shooter";
const SHIP: &str = "ship";
const MISSILE: &str = "missile";
const CONTROLS: [&str; 5] = ["turn-left", "turn-right", "accelerate", "brake", "fire"];

const MISSILE_M_PER_S: f32 = 60.0;
/// It fires at what is nearer, and nearly ahead.
const FIRE_M: f32 = 80.0;
const FIRE_RAD: f32 = 0.12;
/// It dodges a missile that will come this near within this time.
const DODGE_M: f32 = 4.0;
const DODGE_S: f32 = 1.2;
/// How long it flies to one place while it sees no ship, and how near it has to come.
const ROAM: Duration = Duration::from_secs(8);
const ARRIVED_M: f32 = 10.0;
/// It turns no finer than that, so that it does not tremble.
const STEADY_RAD: f32 = 0.06;
/// Nearer to a ship it brakes, and so stays behind it.
const CLOSE_M: f32 = 25.0;
/// Faster than that it brakes then.
const SLOW_M_PER_S: f32 = 8.0;
const EDGE_M: f32 = 15.0;

/// The decisions of one bot.
#[derive(Debug)]
pub(crate) struct ShooterBot {
    rng: fastrand::Rng,
    place: Position,
    until: LocalTime,
}

/// Something that flies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Flyer {
    at: Position,
    /// In metres a second, east and north.
    velocity: [f32; 2],
}

/// What a client shows of the game.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShooterView {
    own: Flyer,
    /// In radians from the east, counter-clockwise.
    yaw: f32,
    ships: Vec<Flyer>,
    missiles: Vec<Flyer>,
    /// Width and height, in metres.
    map: (f32, f32),
    /// The bits of [`CONTROLS`].
    controls: [u8; 5],
}

impl ShooterView {
    /// `None` without an own ship, or in another game.
    pub(crate) fn of(client: &Client, now: LocalTime) -> Option<Self> {
        let t = client.room_time(now)?;
        let game = client.running_game()?;
        let schema = client.schema()?;
        let mut controls = [0; 5];
        for (bit, name) in controls.iter_mut().zip(CONTROLS) {
            *bit = schema.control_index(name)?;
        }
        let mut own = None;
        let mut ships = Vec::new();
        let mut missiles = Vec::new();
        for object in client.objects() {
            let Some(at) = object.position(t) else { continue };
            let linear = object.drawn(t).map_or_else(|| object.path_velocity(t), |it| it.linear);
            let flyer = Flyer { at, velocity: [linear[0], linear[1]] };
            match &**object.kind() {
                SHIP if object.is_own() => own = Some((flyer, object.yaw(t)?)),
                SHIP => ships.push(flyer),
                // The own ship is ahead of its missiles in the room's time: they only seem to come.
                MISSILE if client.is_own_shot(object.id) => {}
                MISSILE => missiles.push(flyer),
                _ => {}
            }
        }
        let (own, yaw) = own?;
        let map = (game.rules().map.width_m, game.rules().map.height_m);
        Some(Self { own, yaw, ships, missiles, map, controls })
    }
}

impl ShooterBot {
    pub(crate) fn new(seed: u64) -> Self {
        let place = Position::default();
        let until = LocalTime::ZERO;
        Self { rng: fastrand::Rng::with_seed(seed), place, until }
    }

    /// The controls to hold now.
    pub(crate) fn decide(&mut self, now: LocalTime, view: &ShooterView) -> KeyPresses {
        let own = view.own.at;
        let nearest = view.ships.iter().min_by(|one, other| {
            own.ground_distance(one.at).total_cmp(&own.ground_distance(other.at))
        });
        if now >= self.until || own.ground_distance(self.place) < ARRIVED_M {
            self.place = self.random_place(view.map);
            self.until = now + ROAM;
        }
        let aim = bearing(own, nearest.map_or(self.place, |ship| lead(own, ship)));
        let dodge = view.missiles.iter().find_map(|missile| dodge(view.own, missile));
        let turn = wrapped(dodge.unwrap_or(aim) - view.yaw);
        let is_within = |metres| nearest.is_some_and(|ship| own.ground_distance(ship.at) < metres);
        let [east, north] = view.own.velocity;
        let is_close = is_within(CLOSE_M);
        let is_slow = east.hypot(north) < SLOW_M_PER_S;
        let [left, right, accelerate, brake, fire] = view.controls;
        let held = [
            (left, turn > STEADY_RAD),
            (right, turn < -STEADY_RAD),
            (accelerate, dodge.is_some() || !is_close && turn.abs() < 1.0),
            (brake, dodge.is_none() && (turn.abs() > 2.0 || is_close && !is_slow)),
            (fire, is_within(FIRE_M) && wrapped(aim - view.yaw).abs() < FIRE_RAD),
        ];
        let held =
            held.iter().fold(Keymap::default(), |keys, &(bit, is_held)| keys.with(bit, is_held));
        KeyPresses { held, ..KeyPresses::default() }
    }

    fn random_place(&mut self, (width, height): (f32, f32)) -> Position {
        let x = EDGE_M + self.rng.f32() * (width - 2.0 * EDGE_M);
        let y = EDGE_M + self.rng.f32() * (height - 2.0 * EDGE_M);
        Position::on_ground(x, y)
    }
}

/// Where a missile that is fired now meets a ship that flies straight on.
fn lead(from: Position, ship: &Flyer) -> Position {
    let seconds = from.ground_distance(ship.at) / MISSILE_M_PER_S;
    let [east, north] = ship.velocity;
    Position { x: ship.at.x + east * seconds, y: ship.at.y + north * seconds, ..ship.at }
}

/// The heading away from a missile's way, if it will come near.
fn dodge(own: Flyer, missile: &Flyer) -> Option<f32> {
    let apart = [missile.at.x - own.at.x, missile.at.y - own.at.y];
    let speed = [missile.velocity[0] - own.velocity[0], missile.velocity[1] - own.velocity[1]];
    let square = speed[0] * speed[0] + speed[1] * speed[1];
    if square < 1.0 {
        return None;
    }
    let seconds = -(apart[0] * speed[0] + apart[1] * speed[1]) / square;
    let nearest = [apart[0] + speed[0] * seconds, apart[1] + speed[1] * seconds];
    let is_coming = (0.0..=DODGE_S).contains(&seconds) && nearest[0].hypot(nearest[1]) < DODGE_M;
    // Across its way, on the side on which it passes less closely.
    let across = speed[1].atan2(speed[0]) + PI / 2.0;
    let side = nearest[0] * across.cos() + nearest[1] * across.sin();
    is_coming.then_some(if side > 0.0 { across + PI } else { across })
}

fn bearing(from: Position, to: Position) -> f32 {
    (to.y - from.y).atan2(to.x - from.x)
}

/// An angle from minus pi to pi.
fn wrapped(angle: f32) -> f32 {
    (angle + PI).rem_euclid(TAU) - PI
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT: Keymap = Keymap(1);
    const FIRE: u8 = 4;

    #[test]
    fn it_aims_where_a_crossing_ship_will_be() {
        // 60 m ahead, a ship flies north at 20 m/s: in a second it is 20 m farther.
        let ship = Flyer { at: Position::on_ground(160.0, 100.0), velocity: [0.0, 20.0] };
        let view = view(vec![ship], Vec::new());
        let held = ShooterBot::new(1).decide(LocalTime::ZERO, &view).held;
        assert!(held.down(0) && !held.down(1) && !held.down(FIRE), "{held:?}");
        let aimed = ShooterView { yaw: 20.0_f32.atan2(60.0), ..view };
        let held = ShooterBot::new(1).decide(LocalTime::ZERO, &aimed).held;
        assert!(held.down(FIRE) && !held.down(0) && !held.down(1), "{held:?}");
        assert_eq!(LEFT, Keymap::default().with(0, true));
    }

    #[test]
    fn it_flies_out_of_the_way_of_a_missile() {
        let missile =
            |y, speed| Flyer { at: Position::on_ground(140.0, y), velocity: [speed, 0.0] };
        let own = view(Vec::new(), Vec::new()).own;
        let up = dodge(own, &missile(99.0, -60.0)).expect("it comes from the east, a little south");
        assert!((wrapped(up) - PI / 2.0).abs() < 0.01, "to the north: {up}");
        let down = dodge(own, &missile(101.0, -60.0)).expect("a little north");
        assert!((wrapped(down) + PI / 2.0).abs() < 0.01, "to the south: {down}");
        assert_eq!(dodge(own, &missile(100.0, 60.0)), None, "it flies away");
        assert_eq!(dodge(own, &missile(120.0, -60.0)), None, "it passes");
    }

    #[test]
    fn without_anybody_it_flies_about() {
        let mut bot = ShooterBot::new(3);
        let view = view(Vec::new(), Vec::new());
        let held = bot.decide(LocalTime::ZERO, &view).held;
        assert!(!held.down(FIRE));
        let first = bot.place;
        bot.decide(LocalTime::ZERO + ROAM, &view);
        assert_ne!(bot.place, first);
    }

    fn view(ships: Vec<Flyer>, missiles: Vec<Flyer>) -> ShooterView {
        let own = Flyer { at: Position::on_ground(100.0, 100.0), velocity: [0.0; 2] };
        let controls = [0, 1, 2, 3, 4];
        ShooterView { own, yaw: 0.0, ships, missiles, map: (300.0, 300.0), controls }
    }
}
