//! Bolts in flight and their hits.
//!
//! A hit is exact: the first time at which bolt and target, both on their paths, are within reach
//! of each other. Hits of all bolts happen in the order of time. Targets are searched in the cells
//! around the segment that a bolt flies in a tick.
//!
//! To keep veiled avatars secret, a bolt of a veiled caster is hidden for its whole flight, and a
//! bolt that hits a veiled avatar damages it once and flies on. Bound: a bolt lives for 1.5 s and
//! costs mana. Cost: a few cells per bolt and tick.

use std::collections::BTreeMap;

use ambit::contact::first_contact;
use ambit::prelude::*;

use super::rules::{BOLT_DAMAGE, BOLT_RADIUS_M, BOLT_RANGE_M, BOLT_REACH_M, FASTEST_M_PER_S};
use super::schema::{self, Bolt};
use super::{FieldGame, FieldWorld};

/// The resolution of time on the wire.
const TIME_STEP: Duration = Duration::from_millis(1);

/// A bolt in flight.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BoltFlight {
    pub(super) caster: ObjectId,
    /// Whether its caster was veiled: then only the caster sees the bolt.
    pub(super) hidden: bool,
    starts: GameTime,
    /// When it reaches the end of its range, if it hits no target.
    ends: GameTime,
    /// Veiled avatars that it has hit and passed through.
    passed_through: Vec<ObjectId>,
}

/// Bolts in flight, oldest first, and scratch buffers.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Bolts {
    pub(super) flying: BTreeMap<Id<Bolt>, BoltFlight>,
    #[serde(skip)]
    pub(super) near: Vec<ObjectId>,
    #[serde(skip)]
    hits: Vec<BoltHit>,
}

/// A bolt and a target come within reach. The order of the fields is the order in which hits
/// happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BoltHit {
    at: GameTime,
    bolt: Id<Bolt>,
    target: ObjectId,
}

impl FieldGame {
    /// Creates a bolt, now.
    pub(super) fn launch(
        &mut self,
        world: &mut FieldWorld,
        caster: ObjectId,
        from: Position,
        to: Position,
    ) {
        let starts = world.now();
        let (bolt, arrival) = schema::spawn_bolt(world, from, to);
        let hidden = self.creatures.is_veiled(caster, starts);
        let ends = arrival.max(starts + TIME_STEP);
        self.bolts
            .flying
            .insert(bolt, BoltFlight { caster, hidden, starts, ends, passed_through: Vec::new() });
    }

    /// Moves all bolts from `since` up to now.
    pub(super) fn move_bolts(&mut self, world: &mut FieldWorld, since: GameTime) {
        let mut strikes = std::mem::take(&mut self.bolts.hits);
        self.find_hits(world, since, &mut strikes);
        for strike in strikes.drain(..) {
            self.apply_hit(world, strike, since);
        }
        self.bolts.hits = strikes;
        self.bolts.flying.retain(|&bolt, &mut BoltFlight { ends, .. }| {
            let is_flying = world.now() < ends;
            if !is_flying {
                world.despawn_at(bolt, ends);
            }
            is_flying
        });
    }

    fn find_hits(&mut self, world: &FieldWorld, since: GameTime, strikes: &mut Vec<BoltHit>) {
        let Bolts { flying, near, .. } = &mut self.bolts;
        for (&id, bolt) in flying.iter() {
            let span = (since.max(bolt.starts), world.now().min(bolt.ends));
            find_near(world, id, span, near);
            for &target in near.iter() {
                let may_hit = target != bolt.caster
                    && self.creatures.is_alive(target)
                    && !bolt.passed_through.contains(&target);
                let contact = || {
                    let bolt = world.motion(id)?;
                    let target = world.motion(target)?;
                    first_contact(bolt, target, span, BOLT_REACH_M)
                };
                if let Some(at) = may_hit.then(contact).flatten() {
                    strikes.push(BoltHit { at, bolt: id, target });
                }
            }
        }
        strikes.sort_unstable();
    }

    /// Applies a hit, unless the bolt has hit another target before, or another bolt has killed the
    /// target.
    fn apply_hit(
        &mut self,
        world: &mut FieldWorld,
        BoltHit { at, bolt, target }: BoltHit,
        since: GameTime,
    ) {
        let veiled = self.creatures.is_veiled(target, at);
        let Some(flight) = self.bolts.flying.get_mut(&bolt) else {
            return;
        };
        if !self.creatures.is_alive(target) {
            return;
        }
        let effect = round_up_to_step(at).max(since + TIME_STEP);
        let caster = flight.caster;
        let hidden = flight.hidden;
        if veiled {
            flight.passed_through.push(target);
        } else {
            self.bolts.flying.remove(&bolt);
            world.despawn_at(bolt, effect);
        }
        let by = (!hidden).then_some(caster);
        let fell = self.damage(world, target, BOLT_DAMAGE, effect, by);
        // A hidden bolt or target does not count: the numbers would reveal it.
        if fell && !hidden && !veiled {
            self.score(world, caster);
        }
        if !veiled {
            self.engage(world, caster, target);
        }
        if !hidden {
            self.engage(world, target, caster);
        }
    }
}

/// The end of a bolt that is cast from one point towards another and hits no target: at its range,
/// an obstacle or the map's edge. `None` if the two points are the same.
pub(super) fn end_of_flight(
    world: &FieldWorld,
    from: Position,
    towards: Position,
) -> Option<Position> {
    let distance = from.distance(towards);
    if distance < 0.01 {
        return None;
    }
    let full = from.lerp(towards, BOLT_RANGE_M / distance);
    let inside = share_inside(from.x, full.x, world.width()).min(share_inside(
        from.y,
        full.y,
        world.height(),
    ));
    let range = BOLT_RANGE_M * inside;
    let end = from.lerp(towards, range / distance);
    let free = world.statics().sweep(from, end, BOLT_RADIUS_M);
    Some(if free < range { from.lerp(towards, free / distance) } else { end })
}

/// The share of the distance between two coordinates that lies between 0 and `edge`.
fn share_inside(from: f32, to: f32, edge: f32) -> f32 {
    let border = if to < from { 0.0 } else { edge };
    if (0.0..=edge).contains(&to) { 1.0 } else { ((border - from) / (to - from)).clamp(0.0, 1.0) }
}

/// Replaces `near` by the objects that may be within reach of the bolt during the span, oldest
/// first.
fn find_near(
    world: &FieldWorld,
    bolt: Id<Bolt>,
    span: (GameTime, GameTime),
    near: &mut Vec<ObjectId>,
) {
    near.clear();
    let Some(bolt) = world.get(bolt) else {
        return;
    };
    let start = bolt.path().at(span.0);
    let end = bolt.path().at(span.1);
    // Targets are at their current positions; at the start of the span they may have been this much
    // farther away.
    let walked = FASTEST_M_PER_S * world.now().since(span.0).as_secs_f32();
    let reach = BOLT_REACH_M + walked + 0.01;
    let low = Position { x: start.x.min(end.x) - reach, y: start.y.min(end.y) - reach, ..start };
    let high = Position { x: start.x.max(end.x) + reach, y: start.y.max(end.y) + reach, ..start };
    world.find_any_in_rectangle(low, high, near);
    near.retain(|&object| !world.is::<Bolt>(object));
}

/// Rounds up to the resolution of time on the wire.
fn round_up_to_step(time: GameTime) -> GameTime {
    (time + TIME_STEP.saturating_sub(Duration::from_micros(1))).whole_millis()
}
