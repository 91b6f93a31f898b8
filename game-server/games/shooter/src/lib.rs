//! `shooter`: space ships seen from above, steered by keys.
//!
//! Ships turn, accelerate, brake and fire missiles. A hit gives the shooter two points and costs
//! the other one. Who reaches the goal wins the round; all players have the table. Pilots of the
//! server fly where players are missing. The numbers are in
//! `kinds/src/tables.json`.
//!
//! It is the example of a game that is steered by keys, with a room-wide table. Source:
//! "Optimisation des échanges de données" (a shooter for action games).

mod flight;
mod pilots;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use ambit::prelude::*;
use ambit::schema::{ReckoningOrder, Schema};

use ambit_shooter_kinds::tables::TABLES;

use self::pilots::Course;

pub use ambit_shooter_kinds::{
    Bang, Boom, Fired, Hit, Match, Missile, RoundOver, RoundWaits, STEERING, Score, Ship,
    ShipControl,
};

type ShooterWorld = World<Shooter>;

/// What the game is reminded of.
#[derive(Debug, Serialize, Deserialize)]
pub enum ShooterTimer {
    /// A missile is where its path ends.
    Vanish(Id<Missile>),
    /// A ship that was hit comes back elsewhere.
    ComeBack(Id<Ship>),
    /// A ship can be hit again.
    Unshield(Id<Ship>),
    /// The time of the round with this number is over.
    TimeUp(i64),
    /// The break after the round with this number is over.
    NextRound(i64),
}

/// How a match is played.
#[derive(Debug, Parameters)]
// What a player steers is predicted, and shots hit what the player saw: the local lag is no more
// than the usual way of what others do.
#[room(size = "200x200", cell = 40, delay = 100)]
pub struct ShooterSettings {
    /// points that win a round; with teams, of all members together
    #[parameter(default = 50, range = 1..=999, label = "Points to win")]
    goal: i64,
    /// the longest time of a round; then the player with most points wins
    #[parameter(default = 10, range = 1..=60, label = "Minutes of a round")]
    minutes: u64,
    /// rounds after which the room closes; 0 for no end
    #[parameter(default = 0, range = 0..=999)]
    rounds: i64,
    /// teams that players are put into; 0 or 1 for everyone alone
    #[parameter(default = 0, range = 0..=4)]
    teams: u8,
    /// the least number of ships: pilots of the server fly the missing ones
    #[parameter(default = 6, range = 0..=20, label = "Ships, with pilots")]
    ships: usize,
    /// how shots and ships of different times meet
    #[parameter(default = "filtered", label = "How shots hit")]
    shots: ShotTiming,
    /// how ships are drawn until the next pose of theirs comes
    #[parameter(default = "second", label = "How ships are drawn")]
    order: ShipOrder,
    /// how far off that may be beside a ship, in centimetres; the farther away, the more
    #[parameter(default = 10, range = 0..=100, label = "Error of drawn ships (cm)")]
    tolerance: u16,
    /// asteroids, which stop ships and missiles; without a number as many as a small map has room
    /// for
    #[parameter(default = 8, range = 0..=100)]
    asteroids: Given<u32>,
    #[parameter(of_room, range = flight::LEAST_SIDE_M..=10_000.0)]
    size: (f32, f32),
}

/// Players see their own ships ahead of those of others: what decides whether a shot hits?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Choice)]
pub enum ShotTiming {
    /// the ships' places now; shots are drawn in the time of near ships, so both meet on screens
    #[default]
    Filtered,
    /// the picture of the player who fired, at most 200 ms old
    Rewound,
    /// the ships' places now; shots are drawn in the own time, so players have to aim ahead
    Plain,
}

/// What goes on after the newest pose of a ship: its speed, or the change of its speed and heading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Choice)]
pub enum ShipOrder {
    /// the ship flies straight on
    First,
    /// it turns on, too
    #[default]
    Second,
    /// it turns on as long as it does so steadily
    Automatic,
}

/// The look of asteroids. They stop ships and missiles.
pub(crate) const ASTEROID: ObstacleLook = ObstacleLook::new('O', 0x90_7860);
/// The look of walls.
pub(crate) const WALL: ObstacleLook = ObstacleLook::new('#', 0x4a_6a90);

/// What a player who is alone waits for.
const A_SECOND_SHIP: &str = "a second ship";
/// What a new room waits for, whose players are still loading.
const ALL_PLAYERS: &str = "all players";
/// The table's pings are that close.
const PING_STEP_MS: u64 = 10;
/// How far a ship sees: farther than it flies while a missile is under way.
const SIGHT_M: f32 = 200.0;
/// What a ship sees: all that is not behind it, and not through walls.
const SIGHT: Cone = Cone::new(SIGHT_M, 90.0).margins(10.0, 5.0).blocked_by_walls(1.0);

/// A ship, as the game has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Craft {
    /// `None` for a pilot's.
    player: Option<PlayerId>,
    row: Id<Score>,
    team: u8,
    movement: Movement,
    course: Course,
    /// When it can fire again.
    ready_at: GameTime,
    /// Missiles that it has fired in this round.
    shots: i64,
    /// It can be hit from then on, at the latest.
    shielded_until: GameTime,
    /// A shot from then on ends its shield.
    keeps_shield_until: GameTime,
    /// When it has come, as long as its player has not pressed a key.
    #[serde(default)]
    unused_since: Option<GameTime>,
}

/// A missile in flight.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Shot {
    by: Id<Ship>,
    /// Whose screen decides what it hits; a pilot has none.
    player: Option<PlayerId>,
    /// How old what that screen showed was when the missile was fired.
    behind: Duration,
}

/// The game `shooter`. See the module.
#[derive(Debug, Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Ship, Missile, Match, Score), events(Fired, Hit, RoundOver, RoundWaits))]
#[declare(sounds(Bang, Boom), timer = ShooterTimer)]
#[declare(controls = ShipControl, parameters = ShooterSettings)]
pub struct Shooter {
    goal: i64,
    minutes: u64,
    rounds: i64,
    teams: u8,
    ships: usize,
    asteroids: u32,
    shot_timing: ShotTiming,
    order: ShipOrder,
    /// In centimetres.
    tolerance: u16,
    crafts: BTreeMap<Id<Ship>, Craft>,
    missiles: BTreeMap<Id<Missile>, Shot>,
    /// The round that is played; 0 before the first one.
    round: i64,
    /// There are less than two ships, or not all players are here.
    is_waiting: bool,
    /// Not all players are here who were in the room at its start.
    #[serde(default)]
    awaits_players: bool,
    /// Between two rounds.
    is_break: bool,
    pilots_so_far: u32,
    is_over: bool,
}

impl Shooter {
    fn is_playing(&self) -> bool {
        self.round > 0 && !self.is_break && !self.is_waiting
    }

    fn add_ship(
        &mut self,
        world: &mut ShooterWorld,
        player: Option<PlayerId>,
        name: &str,
    ) -> Id<Ship> {
        let at = flight::start_place(world);
        let yaw = flight::towards_middle(world, at);
        let team = self.smallest_team();
        let team_name = team_name(team).as_str().into();
        let score = Score { name: name.into(), team: team_name, ..Score::default() };
        let row = match player {
            Some(player) => world.spawn_row(player, score),
            None => world.spawn(score),
        };
        let pose = YawPose::at(at).facing(yaw);
        // Players get time to look around, and to read how to fly.
        let shielded = if player.is_some() { Flag::on() } else { Flag::off() };
        let ship = world.spawn(Ship { pose, name: name.into(), shielded, wrecked: Flag::off() });
        let shield = Duration::from_secs_f32(TABLES.ship.waits_for_input_s);
        let shielded_until = world.now() + shield;
        world.after(shield, ShooterTimer::Unshield(ship));
        if self.teams > 1 {
            world.set_team(ship, Some(team));
        }
        let craft = Craft {
            player,
            row,
            team,
            movement: Movement::at_rest(at, yaw),
            course: Course::default(),
            ready_at: world.now(),
            shots: 0,
            shielded_until,
            keeps_shield_until: shielded_until,
            unused_since: player.map(|_| world.now()),
        };
        self.crafts.insert(ship, craft);
        self.begin_if_ready(world);
        ship
    }

    fn begin_if_ready(&mut self, world: &mut ShooterWorld) {
        if self.is_waiting && !self.awaits_players && self.crafts.len() >= 2 {
            self.begin_round(world);
        }
    }

    /// A player has pressed the first key: from now on the shield is as after any arrival.
    fn begin_to_fly(world: &mut ShooterWorld, ship: Id<Ship>, craft: &mut Craft) {
        let now = world.now();
        let Some(until) = craft.unused_since.take().and_then(|came| first_shield(came, now)) else {
            return;
        };
        (craft.shielded_until, craft.keeps_shield_until) = until;
        world.at(craft.shielded_until, ShooterTimer::Unshield(ship));
    }

    /// From 1; 0 without teams.
    fn smallest_team(&self) -> u8 {
        let size = |team: &u8| self.crafts.values().filter(|craft| craft.team == *team).count();
        if self.teams > 1 { (1..=self.teams).min_by_key(size).unwrap_or(1) } else { 0 }
    }

    /// Ships are friends only in a room with teams.
    fn are_friends(&self, one: &Craft, other: &Craft) -> bool {
        self.teams > 1 && one.team == other.team
    }

    /// Whether nothing can hit it now.
    fn is_shielded(world: &ShooterWorld, ship: Id<Ship>) -> bool {
        world.get(ship).is_none_or(|ship| ship.shielded().is_on())
    }

    /// As many pilots as players are missing.
    fn adjust_pilots(&mut self, world: &mut ShooterWorld) {
        while self.crafts.len() < self.ships {
            self.pilots_so_far += 1;
            let name = format!("Pilot {}", self.pilots_so_far);
            self.add_ship(world, None, &name);
        }
        while self.crafts.len() > self.ships
            && let Some(&pilot) =
                self.crafts.iter().rev().find(|(_, it)| it.player.is_none()).map(|(ship, _)| ship)
        {
            if let Some(craft) = self.crafts.remove(&pilot) {
                world.despawn(craft.row);
            }
            world.despawn(pilot);
        }
    }

    fn score_hit(&mut self, world: &mut ShooterWorld, by: Id<Ship>, target: Id<Ship>) {
        let table = &TABLES.points;
        let row_of = |ship| self.crafts.get(&ship).map(|craft| craft.row);
        let by_row = row_of(by);
        let target_row = row_of(target);
        if let Some(mut score) = target_row.and_then(|row| world.edit(row)) {
            score.points().add(table.got_hit);
        }
        if let Some(mut score) = by_row.and_then(|row| world.edit(row)) {
            score.points().add(table.hit);
            score.hits().add(1);
        }
        let best = self.standings(world).first().cloned();
        if let Some((winner, points)) = best
            && points >= self.goal
            && self.is_playing()
        {
            self.end_round(world, &winner);
        }
    }

    /// The players, or the teams, by their points; the highest first.
    fn standings(&self, world: &ShooterWorld) -> Vec<(String, i64)> {
        let mut points: BTreeMap<String, i64> = BTreeMap::new();
        for craft in self.crafts.values() {
            if let Some(score) = world.get(craft.row) {
                let name = if self.teams > 1 { team_name(craft.team) } else { score.name().into() };
                *points.entry(name).or_default() += score.points();
            }
        }
        let mut all: Vec<_> = points.into_iter().collect();
        all.sort_by_key(|(_, points)| -points);
        all
    }

    /// Begins the next round, or waits for it as long as there is no opponent.
    fn begin_round(&mut self, world: &mut ShooterWorld) {
        if self.crafts.len() < 2 {
            return self.wait_for_ships(world);
        }
        self.round += 1;
        (self.is_break, self.is_waiting) = (false, false);
        for craft in self.crafts.values_mut() {
            craft.shots = 0;
            if let Some(mut score) = world.edit(craft.row) {
                score.points().set(0);
                score.hits().set(0);
                score.accuracy().set(0);
            }
        }
        let round = self.round;
        let time = Duration::from_mins(self.minutes);
        if let Some(mut state) = world.edit_state::<Match>() {
            state.round().set(round);
            state.winner().set("");
            state.waits_for().set("");
            state.time_left().set_both(time.as_secs_f32(), -1.0);
        }
        world.after(time, ShooterTimer::TimeUp(round));
    }

    /// What was played of a round is over, without a winner.
    fn wait_for_ships(&mut self, world: &mut ShooterWorld) {
        (self.is_break, self.is_waiting) = (false, true);
        let minutes = Duration::from_mins(self.minutes);
        if let Some(mut state) = world.edit_state::<Match>() {
            state.winner().set("");
            state.waits_for().set(self.waits_for());
            state.time_left().set_both(minutes.as_secs_f32(), 0.0);
        }
        self.announce_waiting(world);
    }

    fn waits_for(&self) -> &'static str {
        if self.awaits_players { ALL_PLAYERS } else { A_SECOND_SHIP }
    }

    fn announce_waiting(&self, world: &mut ShooterWorld) {
        world.announce(RoundWaits { what: self.waits_for().into() });
    }

    fn end_round(&mut self, world: &mut ShooterWorld, winner: &str) {
        self.is_break = true;
        let round = self.round;
        let rest = TABLES.round.break_s;
        if let Some(mut state) = world.edit_state::<Match>() {
            state.winner().set(winner);
            state.time_left().set_both(rest, -1.0);
        }
        world.announce(RoundOver { round, winner: winner.into() });
        world.after(Duration::from_secs_f32(rest), ShooterTimer::NextRound(round));
    }

    /// Once a second: what changes by itself.
    fn update_rows(&self, world: &mut ShooterWorld) {
        for craft in self.crafts.values() {
            let ping = craft.player.and_then(|player| world.ping(player));
            let ping = ping.map_or(0, |ping| ping.as_millis() as i64);
            let Some(mut score) = world.edit(craft.row) else { continue };
            let accuracy = score.hits().get() * 100 / craft.shots.max(1);
            if score.accuracy().get() != accuracy {
                score.accuracy().set(accuracy);
            }
            // All clients receive it, so small changes are not sent.
            if score.ping().get().abs_diff(ping) >= PING_STEP_MS {
                score.ping().set(ping);
            }
        }
    }
}

/// Of a ship that has come at `came` and is flown from `now` on: how long it cannot be hit, and
/// from when on a shot ends that. `None` if it has waited too long.
fn first_shield(came: GameTime, now: GameTime) -> Option<(GameTime, GameTime)> {
    let table = &TABLES.ship;
    let after = |time: GameTime, seconds: f32| time + Duration::from_secs_f32(seconds);
    let least = after(came, table.first_shield_s);
    let until = least.max(after(now, table.shield_s));
    let keeps = least.max(after(now, table.keeps_shield_s));
    (now < after(came, table.waits_for_input_s)).then_some((until, keeps))
}

/// Empty for no team.
fn team_name(team: u8) -> String {
    if team == 0 { String::new() } else { format!("Team {team}") }
}

impl Game for Shooter {
    const INFO: GameInfo = GameInfo::new(
        ambit_shooter_kinds::GAME,
        "Fly a ship by keys, and shoot: a hit is 2 points, to be hit costs one, 50 win.",
    );
    const LAG_COMPENSATION: Duration = Duration::from_millis(200);
    const SCENERY: Scenery = Scenery::new()
        .camera(Camera::Above)
        .place(Ground::Space)
        .ground(0x18_1c26)
        .obstacles(&[ASTEROID, WALL]);
    type Avatar = Ship;
    no_commands!();
    type Refusal = NoRefusal;

    fn configure(&mut self, settings: ShooterSettings) -> Result<(), BadParameter> {
        let ShooterSettings { goal, minutes, rounds, teams, ships, .. } = settings;
        let ShooterSettings { asteroids, shots, order, tolerance, size, .. } = settings;
        let most = flight::most_asteroids(size);
        if asteroids.value > most && asteroids.is_given {
            let (width, height) = size;
            let problem = format!(
                "a map of {width}x{height} m has room for {most} at most, not {}",
                asteroids.value
            );
            return Err(BadParameter::Conflict { key: "asteroids", problem });
        }
        (self.goal, self.minutes, self.rounds) = (goal, minutes, rounds);
        (self.teams, self.ships, self.asteroids) = (teams, ships, asteroids.value.min(most));
        (self.shot_timing, self.order, self.tolerance) = (shots, order, tolerance);
        Ok(())
    }

    fn schema(&self, schema: &mut Schema) {
        if let Some(missile) = schema.kinds.get_mut(1) {
            missile.is_projectile = self.shot_timing == ShotTiming::Filtered;
        }
        let ships = schema.kinds.first_mut().and_then(|kind| kind.reckoning.as_mut());
        if let Some(reckoning) = ships {
            reckoning.tolerance_m = f32::from(self.tolerance) / 100.0;
            reckoning.order = match self.order {
                ShipOrder::First => ReckoningOrder::First,
                ShipOrder::Second => ReckoningOrder::Second,
                ShipOrder::Automatic => ReckoningOrder::Automatic,
            };
        }
    }

    /// A ship that fires hits the ship in its missile's way. The picture shows what the ship
    /// sees.
    fn surroundings(&self) -> Surroundings {
        let ship = &TABLES.ship;
        let missile = &TABLES.missile;
        let flies_s = missile.range_m / missile.speed_m_per_s;
        let reach_m = missile.nose_m + missile.range_m + ship.top_speed_m_per_s * flies_s;
        Surroundings::new().reach_m(reach_m).view_m(SIGHT_M)
    }

    fn planned_objects(&self) -> u64 {
        // A ship has a row, and some missiles under way.
        self.ships as u64 * 8
    }

    fn start(&mut self, world: &mut ShooterWorld) {
        flight::add_walls(world);
        flight::add_asteroids(world, self.asteroids);
        let round = 1.into();
        let goal = self.goal.into();
        let time_left = Gauge::of((self.minutes * 60) as f32);
        (self.is_waiting, self.awaits_players) = (true, true);
        let waits_for = self.waits_for().into();
        world.spawn(Match { round, goal, time_left, winner: "".into(), waits_for });
        self.adjust_pilots(world);
    }

    fn all_here(&mut self, world: &mut ShooterWorld) {
        self.awaits_players = false;
        if let Some(mut state) = world.edit_state::<Match>() {
            state.waits_for().set(A_SECOND_SHIP);
        }
        self.begin_if_ready(world);
    }

    fn join(&mut self, world: &mut ShooterWorld, newcomer: Newcomer<'_>) -> Id<Ship> {
        let ship = self.add_ship(world, Some(newcomer.id), newcomer.name);
        self.adjust_pilots(world);
        ship
    }

    fn leave(&mut self, world: &mut ShooterWorld, player: Player<'_, Self>, _: Left) {
        self.crafts.remove(&player.avatar());
        self.adjust_pilots(world);
        if self.is_playing() && self.crafts.len() < 2 {
            self.wait_for_ships(world);
        }
    }

    fn timer(&mut self, world: &mut ShooterWorld, timer: ShooterTimer, due: GameTime) {
        match timer {
            ShooterTimer::Vanish(missile) => {
                self.missiles.remove(&missile);
                world.despawn_at(missile, due);
            }
            ShooterTimer::ComeBack(ship) => self.come_back(world, ship),
            ShooterTimer::Unshield(ship) => {
                // Another shield may have begun meanwhile.
                let is_over = |craft: &Craft| craft.shielded_until <= due;
                if self.crafts.get(&ship).is_some_and(is_over)
                    && let Some(mut ship) = world.edit(ship)
                {
                    ship.shielded().set(false);
                }
            }
            ShooterTimer::TimeUp(round) if round == self.round && self.is_playing() => {
                let winner = self.standings(world).into_iter().next();
                self.end_round(world, &winner.map_or_else(String::new, |(name, _)| name));
            }
            ShooterTimer::NextRound(round) if round == self.round => {
                if self.rounds > 0 && round >= self.rounds {
                    self.is_over = true;
                } else {
                    self.begin_round(world);
                }
            }
            ShooterTimer::TimeUp(_) | ShooterTimer::NextRound(_) => {}
        }
    }

    fn step(&mut self, world: &mut ShooterWorld, _: Duration) {
        self.find_hits(world);
        let ships: Vec<Id<Ship>> = self.crafts.keys().copied().collect();
        for ship in ships {
            let Some(mut craft) = self.crafts.get(&ship).cloned() else { continue };
            let held = if let Some(player) = craft.player {
                if self.is_waiting && world.just_pressed(player, ShipControl::Fire) {
                    self.announce_waiting(world);
                }
                world.held(player)
            } else {
                let mut course = craft.course;
                let held = self.pilot(world, ship, &craft, &mut course);
                craft.course = course;
                held
            };
            if held.controls().keys != ambit::Keymap::default() {
                Self::begin_to_fly(world, ship, &mut craft);
            }
            world.steer(ship, &mut craft.movement, held);
            if held.is_down(ShipControl::Fire) {
                self.fire(world, ship, &mut craft);
            }
            self.crafts.insert(ship, craft);
        }
        let second = |time: GameTime| time.micros() / 1_000_000;
        if second(world.now()) != second(world.previous_now()) {
            self.update_rows(world);
        }
    }

    fn sees(&self, world: &ShooterWorld, viewer: Id<Ship>, object: ObjectId, sight: Sight) -> bool {
        SIGHT.sees(world, viewer, object, sight)
    }

    fn sight_checks(&self) -> SightChecks {
        SightChecks::ON_DEMAND.every_ticks(4).on_turn(5.0)
    }

    fn is_finished(&self) -> bool {
        self.is_over
    }
}
