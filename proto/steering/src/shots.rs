//! What an avatar fires: clients draw their own shots before the host has answered.

use std::time::Duration;

use ambit_proto::schema::Controls;
use ambit_proto::space::Position;

use crate::movement::Movement;
use crate::terrain::Terrain;

/// The shots of a kind of avatars: each flies straight on, at one speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shots<C> {
    /// The name of the kind of a shot. It has a path.
    pub kind: &'static str,
    /// What fires, while it is held.
    pub by: C,
    /// Between two shots.
    pub reload: Duration,
    /// In metres a second.
    pub speed_m_per_s: f32,
    /// How far before the avatar's position a shot begins.
    pub nose_m: f32,
    /// How far it flies from there.
    pub range_m: f32,
}

/// [`Shots`] without the names of the game: of the control, its place among the game's.
pub type ShotRule = Shots<u8>;

impl<C: Controls> Shots<C> {
    /// For a caller that does not know the game.
    pub fn rule(self) -> ShotRule {
        let Self { kind, by, reload, speed_m_per_s, nose_m, range_m } = self;
        ShotRule { kind, by: by.index(), reload, speed_m_per_s, nose_m, range_m }
    }
}

impl<C> Shots<C> {
    /// Where a shot of an avatar begins and ends: at its range, an obstacle or the border. `None`
    /// if an obstacle is before its nose.
    pub fn way(&self, from: &Movement, terrain: Terrain<'_>) -> Option<(Position, Position)> {
        let at = from.at;
        let ahead = from.direction();
        let along = |start: Position, metres: f32| Position {
            x: start.x + ahead.x * metres,
            y: start.y + ahead.y * metres,
            ..start
        };
        let free =
            |start, metres: f32| terrain.statics.cast_ray(start, ahead, metres).unwrap_or(metres);
        if free(at, self.nose_m) < self.nose_m {
            return None;
        }
        let nose = terrain.end_on_map(at, along(at, self.nose_m));
        Some((nose, terrain.end_on_map(nose, along(nose, free(nose, self.range_m)))))
    }
}
