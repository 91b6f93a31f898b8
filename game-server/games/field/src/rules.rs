//! The constants of the game. Metres, seconds, points of health and mana.

use std::time::Duration;

/// Radius of a body for collisions with obstacles.
pub(super) const BODY_RADIUS_M: f32 = 0.4;
/// Speed of avatars.
pub(super) const WALK_M_PER_S: f32 = 5.0;
/// Speed of wanderers.
pub(super) const STROLL_M_PER_S: f32 = 2.5;
/// Slower than avatars, who so can run away.
pub(super) const WOLF_M_PER_S: f32 = 4.2;
pub(super) const WOLF_ROAMS_M_PER_S: f32 = 2.0;
/// The highest speed of any target of a bolt.
pub(super) const FASTEST_M_PER_S: f32 = WALK_M_PER_S;

/// Between two searches of a player for a way: a page with a held button asks every 150 ms.
pub(super) const SEARCH_PAUSE: Duration = Duration::from_millis(140);

pub(super) const AVATAR_HEALTH: f32 = 100.0;
pub(super) const NPC_HEALTH: f32 = 50.0;
pub(super) const WOLF_HEALTH: f32 = 50.0;
pub(super) const HEALTH_PER_S: f32 = 1.0;
pub(super) const MAX_MANA: f32 = 100.0;
/// Four bolts in five seconds.
pub(super) const MANA_PER_S: f32 = 8.0;
/// From death to respawn.
pub(super) const RESPAWN_DELAY: Duration = Duration::from_secs(5);

/// How long a newcomer to a room with rounds may read what to do, unless it does something.
pub(super) const READS: Duration = Duration::from_secs(20);

/// From respawn on, unless it casts.
pub(super) const SAFE: Duration = Duration::from_secs(3);

pub(super) const BOLT_MANA: f32 = 10.0;
pub(super) const BOLT_M_PER_S: f32 = 20.0;
pub(super) const BOLT_RANGE_M: f32 = 30.0;
/// The distance at which a bolt hits.
pub(super) const BOLT_REACH_M: f32 = 0.5;
/// Radius of a bolt for collisions with obstacles.
pub(super) const BOLT_RADIUS_M: f32 = 0.1;
pub(super) const BOLT_DAMAGE: i16 = 25;

pub(super) const WOLF_BITE: i16 = 8;

pub(super) const HEAL_MANA: f32 = 20.0;
pub(super) const HEAL_HEALTH: i16 = 40;

pub(super) const VEIL_MANA: f32 = 30.0;
pub(super) const VEIL_DURATION: Duration = Duration::from_secs(10);

pub(super) const BLINK_MANA: f32 = 25.0;
pub(super) const BLINK_RANGE_M: f32 = 15.0;
pub(super) const BLINK_COOLDOWN: Duration = Duration::from_secs(3);
