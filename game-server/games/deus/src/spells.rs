//! Spells: checked against the state at their time, then executed as a whole.

use ambit::contact::first_contact;
use ambit::prelude::*;

use crate::content::SpellShape;
use crate::map::BODY_RADIUS_M;
use crate::monsters::MonsterState;
use crate::schema::{Burst, DeusRefusal, DeusTimer, Hero, HeroCast, HeroSpell, Monster, SpellBolt};
use crate::{Deus, DeusWorld};

/// A bolt hits what it comes so near to.
const BOLT_REACH_M: f32 = BODY_RADIUS_M + 0.35;

/// A bolt needs a direction.
const LEAST_FLIGHT_M: f32 = 0.05;

/// A bolt in flight.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FlyingBolt {
    caster: Id<Hero>,
    points: f32,
    starts: GameTime,
    ends: GameTime,
}

impl Deus {
    pub(crate) fn cast(
        &mut self,
        world: &mut DeusWorld,
        player: Player<'_, Self>,
        spell: HeroSpell,
        at: Option<Position>,
    ) -> Result<(), DeusRefusal> {
        let (caster, now) = (player.avatar(), world.now());
        let hero = self.heroes.get(&caster).ok_or(DeusRefusal::NoClass)?;
        let class = hero.class.ok_or(DeusRefusal::NoClass)?;
        let content = self.content.clone();
        let table = content.spell(spell);
        if !hero.is_alive {
            return Err(DeusRefusal::Dead);
        }
        if table.class != class.name() {
            return Err(DeusRefusal::OtherClass);
        }
        if hero.ready_at.iter().any(|(other, ready_at)| *other == spell && now < *ready_at) {
            return Err(DeusRefusal::OnCooldown);
        }
        let from = world.avatar(player).position();
        let place = || at.map(|at| Position::on_ground(at.x, at.y)).ok_or(DeusRefusal::BadPosition);
        let points = table.damage * hero.power();
        // Nothing is changed before everything is checked.
        let (target, place) = match table.shape {
            SpellShape::Nearest { range_m } => {
                let near = nearest_monster(world, from, range_m);
                (Some(near.ok_or(DeusRefusal::OutOfRange)?), from)
            }
            SpellShape::Around { .. } => (None, from),
            SpellShape::Bolt { .. } | SpellShape::Place { .. } => (None, place()?),
        };
        match table.shape {
            SpellShape::Bolt { .. } if place.distance(from) < LEAST_FLIGHT_M => {
                return Err(DeusRefusal::BadPosition);
            }
            SpellShape::Place { range_m, .. } if place.distance(from) > range_m => {
                return Err(DeusRefusal::OutOfRange);
            }
            _ => {}
        }
        let mana = 100.0 * table.mana / hero.mana(&self.content);
        let mut avatar = world.avatar(player);
        if avatar.mana().value() < mana {
            return Err(DeusRefusal::NotEnoughMana);
        }
        avatar.mana().add(-mana);
        if let Some(hero) = self.heroes.get_mut(&caster) {
            hero.ready_at.retain(|(other, _)| *other != spell);
            hero.ready_at.push((spell, now + Duration::from_secs_f32(table.cooldown_s)));
        }
        world.emit(HeroCast { caster, spell, at: place });
        self.make_noise(world, caster, table.noise_m);
        match table.shape {
            SpellShape::Nearest { .. } => {
                if let Some(target) = target {
                    self.hurt_monster(world, target, caster, points);
                }
            }
            SpellShape::Around { radius_m } => {
                self.hurt_around(world, from, radius_m, caster, points);
            }
            SpellShape::Bolt { range_m, speed_m_per_s } => {
                self.launch(world, caster, from, place, (range_m, speed_m_per_s), points);
            }
            SpellShape::Place { delay_s, .. } => {
                let delay = Duration::from_secs_f32(delay_s);
                world.after(delay, DeusTimer::Burst(caster, spell, place));
            }
        }
        Ok(())
    }

    /// A spell with a delay takes effect, also if its caster has died meanwhile.
    pub(crate) fn burst(
        &mut self,
        world: &mut DeusWorld,
        caster: Id<Hero>,
        spell: HeroSpell,
        at: Position,
    ) {
        let content = self.content.clone();
        let table = content.spell(spell);
        let Some(hero) = self.heroes.get(&caster) else { return };
        let points = table.damage * hero.power();
        if let SpellShape::Place { radius_m, .. } = table.shape {
            world.emit(Burst { caster, at });
            self.hurt_around(world, at, radius_m, caster, points);
        }
    }

    fn hurt_around(
        &mut self,
        world: &mut DeusWorld,
        centre: Position,
        radius_m: f32,
        caster: Id<Hero>,
        points: f32,
    ) {
        let mut near = Vec::new();
        world.find_within(centre, radius_m + BODY_RADIUS_M, &mut near);
        near.sort_unstable();
        for monster in near {
            self.hurt_monster(world, monster, caster, points);
        }
    }

    fn launch(
        &mut self,
        world: &mut DeusWorld,
        caster: Id<Hero>,
        from: Position,
        towards: Position,
        (range_m, speed_m_per_s): (f32, f32),
        points: f32,
    ) {
        let full = from.lerp(towards, range_m / from.distance(towards));
        let end = world.end_on_map(from, full);
        let end = ambit_ways::first_stop(world.statics(), 0.1, from, end);
        let bolt = world.spawn(SpellBolt { path: Path::at(from) });
        let (starts, mut ends) = (world.now(), world.now());
        if let Some(mut bolt) = world.edit(bolt) {
            ends = bolt.path().walk_to(end, speed_m_per_s);
        }
        self.bolts.insert(bolt, FlyingBolt { caster, points, starts, ends });
    }

    /// Moves all bolts from the tick before to this one: each hits the first monster on its way.
    pub(crate) fn move_bolts(&mut self, world: &mut DeusWorld) {
        let mut hits: Vec<(GameTime, Id<SpellBolt>, Id<Monster>)> = Vec::new();
        let mut near: Vec<Id<Monster>> = Vec::new();
        for (&bolt, flight) in &self.bolts {
            let span = (world.previous_now().max(flight.starts), world.now().min(flight.ends));
            let (Some(motion), Some(seen)) = (world.motion(bolt), world.get(bolt)) else {
                continue;
            };
            let (from, to) = (seen.path().at(span.0), seen.path().at(span.1));
            let middle = from.lerp(to, 0.5);
            // Monsters are at their places of now.
            let reach = from.distance(to) / 2.0 + BOLT_REACH_M + 0.5;
            near.clear();
            world.find_within(middle, reach, &mut near);
            let contact = |monster: Id<Monster>| {
                let at = first_contact(motion, world.motion(monster)?, span, BOLT_REACH_M)?;
                Some((at, bolt, monster))
            };
            hits.extend(near.iter().filter_map(|monster| contact(*monster)).min());
        }
        hits.sort_unstable();
        for (at, bolt, monster) in hits {
            let Some(flight) = self.bolts.remove(&bolt) else { continue };
            world.despawn_at(bolt, at.max(world.previous_now() + Duration::from_millis(1)));
            if self.monsters.get(&monster).is_some_and(MonsterState::is_alive) {
                self.hurt_monster(world, monster, flight.caster, flight.points);
            }
        }
        let now = world.now();
        self.bolts.retain(|&bolt, flight| {
            let is_flying = now < flight.ends;
            if !is_flying {
                world.despawn_at(bolt, flight.ends);
            }
            is_flying
        });
    }
}

fn nearest_monster(world: &DeusWorld, from: Position, within_m: f32) -> Option<Id<Monster>> {
    let mut near = Vec::new();
    world.find_within(from, within_m + BODY_RADIUS_M, &mut near);
    let distance = |monster: &Id<Monster>| {
        world.position(*monster).map_or(f32::MAX, |at| at.ground_distance(from))
    };
    near.into_iter().min_by(|one, other| distance(one).total_cmp(&distance(other)))
}
