//! What clients know of the game `shooter`: its kinds, events, sounds and controls, and how a ship
//! flies.
//!
//! Server and clients share this crate; it compiles neither the rules nor a room.

use ambit::prelude::*;

mod flight;
pub mod tables;

/// The name of the game.
pub const GAME: &str = "shooter";

/// What clients register to fly their own ships without a wait.
pub const STEERING: Steering =
    Steering::of::<Ship>(GAME, <Ship as ambit::message::TypedKind>::NAME);

/// A ship of a player or a pilot.
#[derive(Kind)]
#[kind(steered)]
// Others turn on while they turn; a tenth of a metre is less than one sees at this distance.
#[reckoning(order = second, tolerance_m = 0.1, tolerance_per_m = 0.003)]
#[reckoning(converge = cubic, converge_ms = 150)]
#[look(glyph = 'A', shape = arrow, colour = 0x60_c0ff, material = metal, size = 3.0, label = name)]
pub struct Ship {
    /// It flies where its nose points. Fine enough for a client to fly on from it.
    pub pose: YawPose<256, 12>,
    /// Of the player or the pilot.
    #[component(role = player)]
    pub name: Text<24>,
    /// It has come or was hit just now, and cannot be hit.
    #[effect(ring, colour = 0x60_c0ff, size = 2.4)]
    #[component(label = "Shielded")]
    pub shielded: Flag,
    /// It was hit, and is a wreck at that place until it comes back elsewhere.
    #[effect(death, colour = 0xff_7030, size = 6.0)]
    #[component(label = "Shot down")]
    pub wrecked: Flag,
}

/// A missile flies straight on, at a constant speed.
#[derive(Kind)]
#[kind(projectile)]
#[look(glyph = '*', shape = disc, colour = 0xff_c040, material = glow, size = 0.7)]
pub struct Missile {
    /// To where it ends, unless it hits.
    pub path: Path,
}

/// The match.
#[derive(Kind)]
#[kind(room_wide)]
pub struct Match {
    /// Counted from 1.
    pub round: Number<1, 9_999>,
    /// The number of points that wins.
    #[component(label = "Points to win")]
    pub goal: Number<1, 999>,
    /// Seconds to the end of the round or, after it, to the next one.
    #[component(unit = "s")]
    pub time_left: Gauge<3_600>,
    /// Of the last round; empty while one is played.
    #[component(role = winner)]
    pub winner: Text<24>,
    /// What the first round needs to begin; empty from then on. Until then no ship fires.
    #[component(label = "Waits for")]
    pub waits_for: Text<24>,
}

/// A row of the table: a player, or a pilot.
#[derive(Kind, Default)]
#[kind(room_wide, label = "Players and pilots")]
pub struct Score {
    /// As at the ship.
    #[component(role = player)]
    pub name: Text<24>,
    /// In this round; never less than none.
    pub points: Number<0, 9_999>,
    /// How often a missile hit, in this round.
    pub hits: Number<0, 9_999>,
    /// How many missiles of a hundred hit, in this round.
    #[component(unit = "%")]
    pub accuracy: Number<0, 100>,
    /// The round trip to the player's client, in milliseconds.
    #[component(label = "Round trip", unit = "ms")]
    pub ping: Number<0, 999>,
    /// Such as `Team 2`; empty without teams.
    pub team: Text<8>,
}

/// A ship has fired.
#[derive(Event)]
#[effect(cast, colour = 0xff_d080, size = 1.2)]
pub struct Fired {
    /// The ship.
    pub ship: Id<Ship>,
}

/// A missile has hit a ship.
#[derive(Event)]
#[event(text = "{by} hits {target}")]
#[effect(blast, colour = 0xff_9030, size = 4.0)]
pub struct Hit {
    /// The ship that was hit.
    #[about]
    pub target: Id<Ship>,
    /// The ship that fired.
    pub by: Option<Id<Ship>>,
    /// Where.
    pub at: Position,
    /// Of the particles, which are the same on all screens ([`ambit::SeededNumbers`]).
    pub seed: u16,
}

/// A shot that is heard and not seen.
#[derive(Sound)]
pub struct Bang;

/// A hit that is heard and not seen.
#[derive(Sound)]
pub struct Boom;

/// A round is over, for all players.
#[derive(Event)]
#[event(text = "Round {round} is over. {winner} has won.")]
pub struct RoundOver {
    /// Its number.
    pub round: i64,
    /// A player, a pilot or a team; empty without a winner.
    pub winner: Text<24>,
}

/// No round is played, for all players: when it begins to wait, and whenever a player fires
/// meanwhile.
#[derive(Event)]
#[event(text = "The round waits for {what}. Nobody can fire until then.")]
pub struct RoundWaits {
    /// As in `Match::waits_for`.
    pub what: Text<24>,
}

/// What players hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Controls)]
pub enum ShipControl {
    /// Turn to the left.
    #[key("a", "arrowleft")]
    TurnLeft,
    /// Turn to the right.
    #[key("d", "arrowright")]
    TurnRight,
    /// Fly faster.
    #[key("w", "arrowup")]
    Accelerate,
    /// Fly slower.
    #[key("s", "arrowdown")]
    Brake,
    /// Fire missiles.
    #[key("space")]
    Fire,
}
