//! A game for tests of poses: avatars that move at random, or as the fields of the game say.

use std::time::Duration;

use ambit_proto::pose::{PoseFormat, Turning};
use ambit_proto::schema::{Codec, Component, ComponentSpec, Freshness, ObjectKind, Schema};
use ambit_proto::space::Position;

use super::super::*;
use crate::logic::game::Left;
use crate::logic::statics::Obstacle;

/// A yaw of 8 bits, 100 units a metre.
pub(super) const YAW: PoseFormat =
    PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None };
/// Free orientation of 9 bits, 512 units a metre.
pub(super) const FREE: PoseFormat =
    PoseFormat { per_metre: 512, turn: Turning::Free { bits: 9 }, motion: None };

/// The game. Each avatar moves by random numbers of its own.
pub(super) struct MovingAvatars {
    pub format: PoseFormat,
    /// The lowest and the highest coordinate of the avatars on both axes, in metres.
    pub extent: (f32, f32),
    /// Whether avatars keep their heading; otherwise they turn at each tick.
    pub straight: bool,
    /// The number of static boxes.
    pub boxes: u32,
    /// Whether the number components change every 37 ticks.
    pub numbers_change: bool,
    /// All avatars are at rest from this tick on.
    pub rest_from: u32,
    /// Whether avatars pause at random.
    pub pauses: bool,
    /// Whether avatars jump to another place at random.
    pub jumps: bool,
    /// This player's avatar is hidden from all others, and moves only if `hidden_moves`.
    pub hidden: Option<PlayerId>,
    pub hidden_moves: bool,
    pub team: fn(PlayerId) -> Option<u8>,
    /// Whether the first player is engaged with the second.
    pub engaged: fn(PlayerId, PlayerId) -> bool,
    pub tick: u32,
    pub avatars: Vec<MovingAvatar>,
}

pub(super) struct MovingAvatar {
    player: PlayerId,
    object: ObjectId,
    rng: fastrand::Rng,
    at: (f32, f32),
    heading: f32,
    turn: [f32; 4],
    pause: u32,
}

impl MovingAvatars {
    pub(super) fn new(format: PoseFormat) -> Self {
        MovingAvatars {
            format,
            extent: (40.0, 60.0),
            straight: false,
            boxes: 0,
            numbers_change: true,
            rest_from: u32::MAX,
            pauses: false,
            jumps: false,
            hidden: None,
            hidden_moves: false,
            team: |_| None,
            engaged: |_, _| false,
            tick: 0,
            avatars: Vec::new(),
        }
    }
}

const SPEED_M_PER_S: f32 = 4.0;

impl Game for MovingAvatars {
    fn schema(&self) -> Schema {
        let components = vec![
            ComponentSpec::public("pose", Codec::Pose(self.format)),
            ComponentSpec::public("age", Codec::Number { min: 0, max: 1_000_000 }),
            ComponentSpec::team("plan", Codec::Number { min: 0, max: 1_000_000 }),
            ComponentSpec::owner("gold", Codec::Number { min: 0, max: 1_000_000 }),
        ];
        let freshness = Freshness { near_m: 8.0, ..Freshness::default() };
        let kinds = vec![ObjectKind {
            name: "avatar".into(),
            components,
            freshness,
            ..ObjectKind::default()
        }];
        Schema { game: "avatars".into(), kinds, ..Schema::default() }
    }

    fn start(&mut self, world: &mut World) {
        for n in 0..self.boxes {
            let (x, y) = ((n % 100) as f32 * 2.0, 150.0 + (n / 100) as f32 * 2.0);
            world.statics_mut().add(Obstacle::on_ground(x, y, 0.5, 0.5, 2.0));
        }
    }

    fn join(&mut self, world: &mut World, player: PlayerId, _: &str) -> ObjectId {
        let mut rng = fastrand::Rng::with_seed(player.0);
        let (low, high) = self.extent;
        let at = (low + rng.f32() * (high - low), low + rng.f32() * (high - low));
        let pose = self.format.pose(Position::on_ground(at.0, at.1), 0.0, 0.0);
        let numbers = [1, 2, 3].map(Component::Number);
        let object = world.spawn(0, [vec![Component::Pose(pose)], numbers.to_vec()].concat());
        world.set_team(object, (self.team)(player));
        let heading = rng.f32() * 6.0;
        self.avatars.push(MovingAvatar {
            player,
            object,
            rng,
            at,
            heading,
            turn: [0.0, 0.0, 0.0, 1.0],
            pause: 0,
        });
        object
    }

    fn leave(&mut self, world: &mut World, player: PlayerId, _: Left) {
        self.avatars.retain(|avatar| {
            if avatar.player == player {
                world.despawn(avatar.object);
            }
            avatar.player != player
        });
    }

    fn step(&mut self, world: &mut World, _: Duration) {
        self.tick += 1;
        if self.tick.is_multiple_of(100) {
            self.engage(world);
        }
        let tick = self.tick;
        let extent = self.extent;
        let pauses = self.pauses;
        for avatar in &mut self.avatars {
            if self.jumps && avatar.rng.u32(..40) == 0 {
                avatar.jump(world, extent);
            }
            let idle = Some(avatar.player) == self.hidden && !self.hidden_moves;
            avatar.step(
                world,
                self.format,
                extent,
                idle || tick >= self.rest_from,
                pauses,
                self.straight,
            );
            if self.numbers_change && tick.is_multiple_of(37) {
                world.set_number(avatar.object, 1, i64::from(tick));
                world.set_number(avatar.object, 2, i64::from(tick) + 1);
                world.set_number(avatar.object, 3, i64::from(tick) + 2);
            }
        }
    }

    fn sees(&self, world: &World, viewer: ObjectId, object: ObjectId, _: Sight) -> bool {
        self.hidden.is_none_or(|hidden| world.owner(object) != Some(hidden) || viewer == object)
    }
}

impl MovingAvatars {
    fn engage(&self, world: &mut World) {
        let until = world.now() + Duration::from_secs(10);
        for a in &self.avatars {
            for b in self.avatars.iter().filter(|b| (self.engaged)(a.player, b.player)) {
                world.engage(a.object, b.object, until);
            }
        }
    }
}

impl MovingAvatar {
    fn jump(&mut self, world: &mut World, (low, high): (f32, f32)) {
        let mut place = || low + self.rng.f32() * (high - low);
        self.at = (place(), place());
        world.put_at(self.object, Position::on_ground(self.at.0, self.at.1));
    }

    fn step(
        &mut self,
        world: &mut World,
        format: PoseFormat,
        (low, high): (f32, f32),
        at_rest: bool,
        pauses: bool,
        straight: bool,
    ) {
        if pauses && self.pause == 0 && self.rng.u32(..40) == 0 {
            self.pause = self.rng.u32(1..60);
        }
        self.pause = self.pause.saturating_sub(1);
        let speed = if at_rest || self.pause > 0 { 0.0 } else { SPEED_M_PER_S };
        if !straight && speed > 0.0 {
            self.heading += (self.rng.f32() - 0.5) * 0.35;
            self.turn = rotated_randomly(self.turn, &mut self.rng);
        }
        let stride = speed * 0.05;
        let (x, y) =
            (self.at.0 + stride * self.heading.cos(), self.at.1 + stride * self.heading.sin());
        if (low..=high).contains(&x) && (low..=high).contains(&y) {
            self.at = (x, y);
        } else {
            self.heading += 2.0;
        }
        let position = Position::on_ground(self.at.0, self.at.1);
        match format.turn {
            Turning::Free { .. } => {
                world.set_free_pose(self.object, position, self.turn, speed > 0.0);
            }
            _ => world.set_pose(self.object, position, self.heading, speed),
        }
    }
}

fn rotated_randomly(turn: [f32; 4], rng: &mut fastrand::Rng) -> [f32; 4] {
    let turn = turn.map(|part| part + (rng.f32() - 0.5) * 0.05);
    let length = turn.iter().map(|part| part * part).sum::<f32>().sqrt();
    turn.map(|part| part / length)
}

/// Milliseconds from `a` to `b`.
pub(super) fn ms(a: GameTime, b: GameTime) -> u64 {
    b.since(a).as_millis() as u64
}
