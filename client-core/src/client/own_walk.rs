//! The player's own avatar on its path, drawn ahead of the room.
//!
//! The host's path, the player's commands that walk and the room time go in; where to draw the
//! avatar comes out. It is drawn at the time at which a command that is given now takes effect. So
//! the avatar turns and sets out at once: straight to the place, at the declared speed, up to the
//! first obstacle that the client knows. No clock.
//!
//! The plan is the host's path, and then the commands that it does not contain yet, each with its
//! expected effect. A command is part of the host's path if the host has acknowledged it and the
//! path has changed, or some time has passed: then it changed nothing. One that is refused, or
//! given up, is no part of the plan any more.
//!
//! After a change of the plan the avatar is drawn where it was, and converges. Along the way, the
//! difference is one of time: the avatar walks a little faster or slower, and never backwards.
//! Beside it, the difference is an offset that shrinks ([`path_blending`]). What jumps is drawn
//! there at once.
//!
//! Invariant: on a straight walk, what is drawn never moves against it.
//!
//! Units: metres; room time. A time on the plan is ahead of room time by the lead. Bound:
//! [`MAX_ORDERS`] commands. Cost: for a change of the plan, the points of a path.

use std::time::Duration;

use ambit_proto::cell::Grid;
use ambit_proto::ids::ClientObjectId;
use ambit_proto::map::StaticMap;
use ambit_proto::physics::Arena;
use ambit_proto::schema::TIMELINE_CAPACITY;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Timeline, Waypoint};
use ambit_steering::Terrain;
use ambit_steering::statics::Statics;

use super::event::MapExtent;
use super::rules::Rules;
use crate::replica::component_history::velocity_on;
use crate::replica::error_smoothing::ErrorSmoother;
use crate::replica::jitter_buffer::RenderLag;
use crate::replica::path_blending;

/// A difference along the way is evened out in this time, as that beside it, or in a longer one.
const CONVERGES_S: f64 = 0.15;
/// The longest difference along the way: walks of these times before and after the present are
/// compared with what is drawn.
const MAX_BEHIND: Duration = Duration::from_millis(300);
const MAX_AHEAD: Duration = Duration::from_millis(500);
/// While it converges, the avatar walks at most this share slower, so that a frame that was drawn a
/// few milliseconds ahead of the present is not ahead of the next one, or this share faster, which
/// is hardly seen.
const SLOWER: f64 = 0.5;
const FASTER: f64 = 1.0 / 6.0;
/// The path with the effect of an acknowledged command was lost, or there was none, if it has not
/// arrived within this time and a round trip.
const SETTLED_AFTER: Duration = Duration::from_millis(250);
/// A command that the host has not acknowledged by then was given up on the way.
const GIVEN_UP_AFTER: Duration = Duration::from_millis(1_500);
/// The slowest speed: any way on a map ends, even if the host declares less.
const SLOWEST_M_PER_S: f32 = 0.01;
/// More commands than a player gives in that time.
const MAX_ORDERS: usize = 64;

/// What a command says about a walk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WalkOrder {
    /// The number of the command.
    pub(crate) command: u32,
    pub(crate) to: Position,
    pub(crate) m_per_s: f32,
    /// Radius of the body for obstacles.
    pub(crate) radius_m: f32,
}

/// Where to draw the avatar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DrawnWalker {
    pub(crate) position: Position,
    /// On its way, as drawn, in metres a second; zero at rest.
    pub(crate) velocity: [f32; 3],
}

/// See the module.
#[derive(Debug)]
pub(crate) struct OwnWalk {
    arena: Arena,
    statics: Statics,
    /// How far ahead of room time the avatar is drawn.
    lead: RenderLag,
    avatar: Option<ClientObjectId>,
    /// As the host has it.
    known: Timeline<Waypoint>,
    /// Commands that it does not contain, in the order of their numbers.
    orders: Vec<PendingOrder>,
    plan: Timeline<Waypoint>,
    skew: TimeSkew,
    smoother: Option<ErrorSmoother>,
    /// The last jump of the plan that was drawn.
    jumped_at: Option<GameTime>,
}

#[derive(Clone, Copy, Debug)]
struct PendingOrder {
    order: WalkOrder,
    given_at: GameTime,
    /// When it takes effect, as far as known: on the plan.
    effect_at: GameTime,
    acked_at: Option<GameTime>,
}

/// How far what is drawn is ahead on the plan; it decays.
#[derive(Clone, Copy, Debug, Default)]
struct TimeSkew {
    since: GameTime,
    ahead_s: f64,
}

/// A place on the plan.
#[derive(Clone, Copy, Debug)]
struct PlanPlace {
    at: GameTime,
    distance_m: f32,
}

impl OwnWalk {
    /// For a game in which a command walks the avatar; `None` in others, and without prediction.
    /// `one_way` is the delay to the host.
    pub(crate) fn of(rules: &Rules, predict: Option<bool>, one_way: Duration) -> Option<Self> {
        let MapExtent { width_m, height_m, cell_m, .. } = rules.map;
        let walks = rules.schema.presentation.commands.iter().any(|command| command.walk.is_some());
        // Don't trust the host: a map of invalid size has no floor.
        let is_floor = Grid::try_new(width_m, height_m, cell_m).is_some();
        let arena = Arena { width_m, height_m };
        (walks && is_floor && predict != Some(false))
            .then(|| Self::new(arena, rules.walk_lead(one_way)))
    }

    /// For a map of this size, whose obstacles are not known yet, and with this lead.
    pub(crate) fn new(arena: Arena, lead: Duration) -> Self {
        Self {
            arena,
            statics: Statics::default(),
            lead: RenderLag::constant(lead),
            avatar: None,
            known: Timeline::new(TIMELINE_CAPACITY),
            orders: Vec::new(),
            plan: Timeline::new(TIMELINE_CAPACITY),
            skew: TimeSkew::default(),
            smoother: None,
            jumped_at: None,
        }
    }

    /// The obstacles are these from now on.
    pub(crate) fn set_map(&mut self, map: &StaticMap) {
        self.statics = Statics::of_map(map);
    }

    /// Sets how far ahead of room time the avatar is to be drawn; that changes slowly.
    pub(crate) fn set_lead(&mut self, now: GameTime, lead: Duration) {
        self.lead.slew_to(now, lead);
    }

    /// When a command that is given at `now` takes effect.
    pub(crate) fn effect_of(&self, now: GameTime) -> GameTime {
        now + self.lead.at(now)
    }

    /// The player has given a command.
    pub(crate) fn give(&mut self, now: GameTime, order: WalkOrder) {
        if self.known.is_empty() || self.orders.len() >= MAX_ORDERS {
            return;
        }
        let effect_at = self.effect_of(now);
        self.orders.push(PendingOrder { order, given_at: now, effect_at, acked_at: None });
        // It leads from its effect on: what is drawn is on the new way at once.
        self.replan(now, effect_at);
    }

    /// The host has received a command: the path that it sends from now on contains it. An earlier
    /// one that it has not received has no effect any more.
    pub(crate) fn handle_acked(&mut self, now: GameTime, command: u32) {
        if let Some(index) = self.orders.iter().position(|it| it.order.command == command) {
            self.orders[index].acked_at = Some(now);
            let newest = self.orders[index].given_at;
            self.orders.retain(|it| it.acked_at.is_some() || it.given_at >= newest);
        }
    }

    /// The host has refused a command.
    pub(crate) fn handle_refused(&mut self, now: GameTime, command: u32) {
        self.drop_orders(now, |it| it.order.command == command);
    }

    /// Compares with what the host has sent of the avatar's path until `now`, with this round-trip
    /// time; `None` if there is no avatar.
    pub(crate) fn advance(
        &mut self,
        now: GameTime,
        rtt: Duration,
        avatar: Option<(ClientObjectId, &Timeline<Waypoint>)>,
    ) {
        let Some((id, path)) = avatar else {
            self.clear();
            return;
        };
        if self.avatar != Some(id) {
            self.clear();
            self.avatar = Some(id);
        }
        if self.known == *path {
            return self.drop_orders(now, |it| {
                let is_settled = it.acked_at.is_some_and(|at| now >= at + rtt + SETTLED_AFTER);
                is_settled || it.acked_at.is_none() && now >= it.given_at + GIVEN_UP_AFTER
            });
        }
        self.known.clone_from(path);
        // Who jumps elsewhere does not walk on as before.
        let jumped_at = self.known.last().and_then(|(end, _)| jump_until(&self.known, end));
        self.orders.retain(|it| it.acked_at.is_none() && Some(it.effect_at) > jumped_at);
        self.replan(now, GameTime::ZERO);
    }

    /// Where to draw the avatar at room time `t`; `None` while it has no path, or if this is not
    /// the avatar.
    pub(crate) fn drawn(&self, t: GameTime, id: ClientObjectId) -> Option<DrawnWalker> {
        if self.avatar != Some(id) {
            return None;
        }
        let at = self.drawn_time(t);
        let planned = self.plan.value_at(at)?.position;
        let smoother = self.smoother.as_ref();
        let position =
            smoother.map_or(planned, |smoother| path_blending::apply(smoother, t, planned));
        let pace = self.skew.pace(t) as f32;
        let velocity = velocity_on(&self.plan, at).unwrap_or_default().map(|part| part * pace);
        Some(DrawnWalker { position, velocity })
    }

    /// The time on the plan that is drawn at room time `t`.
    fn drawn_time(&self, t: GameTime) -> GameTime {
        shifted(self.effect_of(t), self.skew.at(t))
    }

    fn drop_orders(&mut self, now: GameTime, is_over: impl Fn(&PendingOrder) -> bool) {
        let before = self.orders.len();
        self.orders.retain(|it| !is_over(it));
        if self.orders.len() < before {
            self.replan(now, GameTime::ZERO);
        }
    }

    fn clear(&mut self) {
        self.avatar = None;
        self.known.clear();
        self.orders.clear();
        self.plan.clear();
        (self.skew, self.smoother, self.jumped_at) = (TimeSkew::default(), None, None);
    }

    /// Makes the plan, and converges to it from what is drawn now: to places of `from` and later.
    fn replan(&mut self, now: GameTime, from: GameTime) {
        let drawn = self.avatar.and_then(|id| self.drawn(now, id));
        self.make_plan();
        let present = self.effect_of(now);
        let jumped_at = jump_until(&self.plan, present);
        let jumps = jumped_at > self.jumped_at;
        self.jumped_at = jumped_at;
        (self.skew, self.smoother) = (TimeSkew::default(), None);
        let Some(drawn) = drawn.filter(|_| !jumps) else {
            return;
        };
        let earliest = from.max(jumped_at.unwrap_or(GameTime::ZERO));
        let window =
            (present.saturating_sub(MAX_BEHIND).max(earliest).min(present), present + MAX_AHEAD);
        let Some(place) = nearest(&self.plan, drawn.position, present, window) else {
            return;
        };
        self.skew = TimeSkew { since: now, ahead_s: signed_s(present, place.at) };
        let planned = self.plan.value_at(place.at);
        self.smoother =
            planned.and_then(|planned| path_blending::start(now, drawn.position, planned.position));
    }

    fn make_plan(&mut self) {
        self.plan.clone_from(&self.known);
        let terrain = Terrain { statics: &self.statics, arena: self.arena };
        let mut earliest = GameTime::ZERO;
        for &PendingOrder { order, effect_at, .. } in &self.orders {
            let WalkOrder { to, m_per_s, radius_m, .. } = order;
            let start = effect_at.max(earliest);
            let Some(from) = self.plan.value_at(start).map(|it| it.position) else {
                return;
            };
            let target = terrain.nearest_on_map(Position { z: from.z, ..to });
            let stop = self.statics.first_stop(from, target, radius_m);
            let takes = Duration::from_secs_f32(from.distance(stop) / m_per_s.max(SLOWEST_M_PER_S));
            let points = [(start, Waypoint::walk(from)), (start + takes, Waypoint::walk(stop))];
            self.plan.replace_from(start, points);
            earliest = start;
        }
    }
}

impl TimeSkew {
    /// How far ahead what is drawn is at room time `t`, in seconds; negative if it is behind.
    fn at(&self, t: GameTime) -> f64 {
        let share = t.since(self.since).as_secs_f64() / self.lasts_s();
        self.ahead_s * (1.0 - share.min(1.0))
    }

    /// How fast time on the plan goes at room time `t`.
    fn pace(&self, t: GameTime) -> f64 {
        let is_over = t.since(self.since).as_secs_f64() >= self.lasts_s();
        if is_over { 1.0 } else { 1.0 - self.ahead_s / self.lasts_s() }
    }

    fn lasts_s(&self) -> f64 {
        let change = if self.ahead_s > 0.0 { SLOWER } else { FASTER };
        CONVERGES_S.max(self.ahead_s.abs() / change)
    }
}

/// From one time to another one, in seconds.
fn signed_s(from: GameTime, to: GameTime) -> f64 {
    to.since(from).as_secs_f64() - from.since(to).as_secs_f64()
}

fn shifted(time: GameTime, by_s: f64) -> GameTime {
    let by = Duration::from_secs_f64(by_s.abs());
    if by_s < 0.0 { time.saturating_sub(by) } else { time + by }
}

/// When the path jumped last until `t`.
fn jump_until(path: &Timeline<Waypoint>, t: GameTime) -> Option<GameTime> {
    let past = path.points().rev().skip_while(|(time, _)| *time > t);
    past.filter(|(_, point)| point.jump).map(|(time, _)| time).next()
}

/// The place within a window of time that is nearest to `position`; of several, the one next to
/// `present`.
fn nearest(
    path: &Timeline<Waypoint>,
    position: Position,
    present: GameTime,
    (earliest, latest): (GameTime, GameTime),
) -> Option<PlanPlace> {
    /// Places whose distances differ by less are equally near.
    const SAME_M: f32 = 0.005;
    let inside =
        path.points().map(|(time, _)| time).filter(|time| (earliest..latest).contains(time));
    let mut edges: Vec<GameTime> = std::iter::once(earliest).chain(inside).collect();
    edges.push(latest);
    let mut best: Option<PlanPlace> = None;
    for edge in edges.windows(2) {
        let begins = edge[0];
        let ends = edge[1];
        let Some(from) = path.value_at(begins) else {
            return best;
        };
        let to = path.value_at(ends)?;
        let way_m = from.position.distance(to.position);
        let at = if to.jump || way_m < SAME_M {
            present.clamp(begins, ends)
        } else {
            let share = share_along(from.position, to.position, position);
            begins + ends.since(begins).mul_f64(share)
        };
        let distance_m = path.value_at(at)?.position.distance(position);
        let place = PlanPlace { at, distance_m };
        let off = |place: &PlanPlace| signed_s(present, place.at).abs();
        let is_better = best.as_ref().is_none_or(|best| {
            let nearer_m = best.distance_m - distance_m;
            nearer_m > SAME_M || nearer_m > -SAME_M && off(&place) < off(best)
        });
        if is_better {
            best = Some(place);
        }
    }
    best
}

/// At which share of a way a position is beside it, from 0 to 1.
fn share_along(from: Position, to: Position, position: Position) -> f64 {
    let way = [to.x - from.x, to.y - from.y, to.z - from.z].map(f64::from);
    let gone = [position.x - from.x, position.y - from.y, position.z - from.z].map(f64::from);
    let dot = |one: [f64; 3], other: [f64; 3]| -> f64 {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    };
    (dot(gone, way) / dot(way, way)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests;
