//! Rounds: each player has a ring on the floor. When the time is over, the player whose ring has
//! most cubes in it wins; then the rings are elsewhere, so that heaps are of no use any more.
//!
//! Rounds are played as long as players are there. Cost: once a second what lies in the rings.

use std::collections::BTreeMap;
use std::f32::consts::TAU;

use ambit::physics::Arena;
use ambit::prelude::*;

use super::CubesWorld;
use super::schema::{Cube, CubeRing, CubeScore, CubesRound, CubesRoundBegins, CubesRoundOver};

/// How far from its middle a cube lies in a ring; it is drawn as wide.
pub(super) const RING_M: f32 = 2.5;
/// How far from the middle of the floor the rings are, as a share of its shorter side.
const AWAY_SHARE: f32 = 0.36;
/// By this share of a whole turn each next ring is farther round, so that all are well apart.
const TURN_SHARE: f32 = 0.618_034;
/// By this share all rings go round for the next round.
const ROUND_SHARE: f32 = 0.31;
/// Between two rounds.
const BREAK: Duration = Duration::from_secs(8);

/// The rounds of a room, as far as they are saved.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct CubeRounds {
    /// From 1; 0 while the room has no players.
    round: i64,
    is_break: bool,
    ends_at: GameTime,
    state: Option<Id<CubesRound>>,
    rings: BTreeMap<PlayerId, RingSeat>,
}

#[derive(Debug, Serialize, Deserialize)]
struct RingSeat {
    ring: Id<CubeRing>,
    row: Id<CubeScore>,
    /// The lowest number that no other ring had.
    place: u16,
}

impl CubeRounds {
    /// A player has come; the first one begins the first round, of `seconds`.
    pub(super) fn join(
        &mut self,
        world: &mut CubesWorld,
        newcomer: &Newcomer<'_>,
        seconds: u32,
        arena: Arena,
    ) {
        if self.rings.is_empty() {
            let state = CubesRound { round: 1.into(), ..CubesRound::default() };
            self.state = Some(world.spawn(state));
            self.round = 0;
            self.begin(world, seconds, arena);
        }
        let is_free = |place: &u16| self.rings.values().all(|seat| seat.place != *place);
        let place = (0..u16::MAX).find(is_free).unwrap_or_default();
        let path = Path::at(place_of(place, self.round, arena));
        let name = format!("Ring of {}", newcomer.name).as_str().into();
        let ring = world.spawn(CubeRing { path, name, open: Flag::on() });
        let score = CubeScore { name: newcomer.name.into(), ..CubeScore::default() };
        let row = world.spawn_row(newcomer.id, score);
        self.rings.insert(newcomer.id, RingSeat { ring, row, place });
    }

    pub(super) fn leave(&mut self, world: &mut CubesWorld, player: PlayerId) {
        let seat = self.rings.remove(&player);
        world.despawn_all(seat.map(|seat| seat.ring));
        if self.rings.is_empty() {
            world.despawn_all(self.state.take());
        }
    }

    /// Counts what lies in the rings, and ends a round or a break whose time is over.
    pub(super) fn step(&mut self, world: &mut CubesWorld, seconds: u32, arena: Arena) {
        if self.rings.is_empty() {
            return;
        }
        let is_over = world.now() >= self.ends_at;
        let second = |time: GameTime| time.micros() / 1_000_000;
        if !self.is_break && (is_over || second(world.now()) != second(world.previous_now())) {
            self.count(world);
        }
        match (is_over, self.is_break) {
            (true, false) => self.end(world),
            (true, true) => self.begin(world, seconds, arena),
            (false, _) => {}
        }
    }

    fn begin(&mut self, world: &mut CubesWorld, seconds: u32, arena: Arena) {
        self.round += 1;
        self.set_time(world, Duration::from_secs(seconds.into()), false);
        if let Some(mut state) = self.state.and_then(|state| world.edit(state)) {
            state.round().set(self.round);
            state.winner().set("");
        }
        for seat in self.rings.values() {
            if let Some(mut ring) = world.edit(seat.ring) {
                ring.path().teleport(place_of(seat.place, self.round, arena));
            }
        }
        world.announce(CubesRoundBegins { round: self.round });
    }

    fn end(&mut self, world: &mut CubesWorld) {
        let winner = self.winner(world);
        self.set_time(world, BREAK, true);
        if let Some(mut state) = self.state.and_then(|state| world.edit(state)) {
            state.winner().set(&winner);
        }
        world.announce(CubesRoundOver { round: self.round, winner: winner.as_str().into() });
    }

    fn set_time(&mut self, world: &mut CubesWorld, time: Duration, is_break: bool) {
        (self.is_break, self.ends_at) = (is_break, world.now() + time);
        if let Some(mut state) = self.state.and_then(|state| world.edit(state)) {
            state.time_left().set_both(time.as_secs_f32(), -1.0);
        }
    }

    /// Empty if none or several have the most.
    fn winner(&self, world: &CubesWorld) -> String {
        let rows = self.rings.values().filter_map(|seat| world.get(seat.row));
        let most = rows.map(|row| row.cubes()).max().unwrap_or_default();
        let rows = self.rings.values().filter_map(|seat| world.get(seat.row));
        let best: Vec<_> = rows.filter(|row| most > 0 && row.cubes() == most).collect();
        if let [only] = &best[..] { only.name().to_owned() } else { String::new() }
    }

    fn count(&self, world: &mut CubesWorld) {
        let mut found: Vec<Id<Cube>> = Vec::new();
        for seat in self.rings.values() {
            let Some(at) = world.position(seat.ring) else { continue };
            world.find_within(at, RING_M, &mut found);
            let cubes = found.len() as i64;
            if let Some(mut row) = world.edit(seat.row)
                && row.cubes().get() != cubes
            {
                row.cubes().set(cubes);
            }
        }
    }
}

/// Where a ring is in a round.
fn place_of(place: u16, round: i64, arena: Arena) -> Position {
    let turn = TAU * (f32::from(place) * TURN_SHARE + round as f32 * ROUND_SHARE);
    let Arena { width_m, height_m } = arena;
    let away = AWAY_SHARE * width_m.min(height_m);
    let (sin, cos) = turn.sin_cos();
    Position::on_ground(width_m / 2.0 + away * cos, height_m / 2.0 + away * sin)
}
