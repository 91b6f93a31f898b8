//! Spells: checked against the state at their time, then executed as a whole.
//!
//! A spell takes effect at once, or `delay_s` after it was announced. Its shape says on whom, its
//! other fields what happens to them.

use ambit::flight::StraightFlight;
use ambit::prelude::*;

use crate::content::{Content, SpellShape, SpellTable};
use crate::doors::end_at_doors;
use crate::heroes::raised;
use crate::map::BODY_RADIUS_M;
use crate::minds::THROWN_M_PER_S;
use crate::plans::Lasting;
use crate::schema::{BoltFlies, Burst, DeusRefusal, DeusTimer, Hero, HeroCast, Monster};
use crate::{Deus, DeusAnswer, DeusWorld};

/// The distance within which a bolt hits a target, and the largest speed of a target.
const BOLT_MEETS: (f32, f32) = (BODY_RADIUS_M + 0.35, THROWN_M_PER_S);

/// A bolt needs a direction.
const LEAST_FLIGHT_M: f32 = 0.05;

/// A bolt in flight, which clients know from an event.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FlyingBolt {
    caster: Id<Hero>,
    spell: u8,
    flight: StraightFlight,
    /// Whom it has hit.
    passed: Vec<Id<Monster>>,
}

/// A spell, with the factors that its caster gives it.
#[derive(Clone, Copy)]
pub(crate) struct CastSpell<'c> {
    pub(crate) caster: Id<Hero>,
    pub(crate) index: u8,
    pub(crate) table: &'c SpellTable,
    /// Where the caster is; what has a radius pushes away from its middle.
    pub(crate) from: Position,
    pub(crate) power: f32,
    healing: f32,
    radius: f32,
    pub(crate) duration: f32,
}

impl Deus {
    pub(crate) fn cast(
        &mut self,
        world: &mut DeusWorld,
        player: Player<'_, Self>,
        index: u8,
        at: Option<Position>,
    ) -> DeusAnswer {
        let caster = player.avatar();
        let now = world.now();
        let content = self.content.clone();
        let hero = self.playing(caster)?;
        if hero.waits {
            return Err(DeusRefusal::Waits);
        }
        let class = hero.class.map(|class| &content.class(class).name);
        let table = content.spells.get(usize::from(index)).filter(|it| Some(&it.class) == class);
        let table = table.ok_or(DeusRefusal::OtherClass)?;
        if hero.ready_at.get(&index).is_some_and(|ready_at| now < *ready_at) {
            return Err(DeusRefusal::OnCooldown);
        }
        // Nothing is changed before everything is checked.
        let from = world.avatar(player).position();
        let chosen = at.map(|at| Position::on_ground(at.x, at.y));
        let place = if table.shape.needs_place() { chosen } else { Some(from) };
        let place = place.ok_or(DeusRefusal::NoPlace)?;
        let is_too_far = match table.shape {
            SpellShape::Bolt { .. } if place.distance(from) < LEAST_FLIGHT_M => {
                return Err(DeusRefusal::TooNear);
            }
            SpellShape::Place { range_m, .. } => place.distance(from) > range_m,
            SpellShape::Nearest { range_m } => {
                world.nearest_within::<Monster>(from, range_m + BODY_RADIUS_M).is_none()
            }
            _ => false,
        };
        if is_too_far {
            return Err(DeusRefusal::OutOfRange);
        }
        let mana = 100.0 * table.mana / hero.mana(&content);
        let mut avatar = world.avatar(player);
        if avatar.mana().value() < mana {
            return Err(DeusRefusal::NotEnoughMana);
        }
        avatar.mana().add(-mana);
        let haste = raised(hero.talents(&content, Some(index), |it| it.haste));
        hero.ready_at.insert(index, now + (table.cooldown_s / haste).secs());
        if table.is_hostile() {
            self.appear(world, caster, None);
        }
        let delay = table.delay_s.secs();
        // A bolt that flies at once tells it all by itself.
        if !(delay.is_zero() && matches!(table.shape, SpellShape::Bolt { .. })) {
            let spell = Listed::new(index.into());
            let due = delay.as_millis() as i64;
            world.emit(HeroCast { caster, spell, at: place, due });
        }
        self.make_noise(world, caster, table.noise_m);
        if delay.is_zero() {
            self.take_effect(world, caster, index, place);
        } else {
            world.after(delay, DeusTimer::Burst(caster, index, place));
        }
        Ok(())
    }

    /// A spell takes effect at a place, also if its caster has died meanwhile.
    pub(crate) fn take_effect(
        &mut self,
        world: &mut DeusWorld,
        caster: Id<Hero>,
        spell: u8,
        at: Position,
    ) {
        let content = self.content.clone();
        let Some(spell) = self.spell_of(&content, world, caster, spell) else { return };
        let CastSpell { table, from, .. } = spell;
        match table.shape {
            SpellShape::Own => self.benefit(world, spell, caster),
            SpellShape::Nearest { range_m } => {
                if let Some(target) = world.nearest_within(from, range_m + BODY_RADIUS_M) {
                    self.harm(world, spell, target);
                }
            }
            SpellShape::Ally { range_m } => {
                if let Some(ally) = self.most_hurt(world, caster, range_m) {
                    self.benefit(world, spell, ally);
                }
            }
            SpellShape::Bolt { .. } => self.launch(world, spell, at),
            SpellShape::Around { radius_m } | SpellShape::Place { radius_m, .. } => {
                if table.delay_s > 0.0 && table.is_hostile() {
                    world.emit(Burst { caster, at });
                }
                self.fill(world, CastSpell { from: at, ..spell }, radius_m * spell.radius);
            }
        }
        if table.hides_s > 0.0 {
            self.hide(world, caster, table.hides_s * spell.duration);
        }
        self.call_companions(world, spell);
    }

    fn spell_of<'c>(
        &self,
        content: &'c Content,
        world: &DeusWorld,
        caster: Id<Hero>,
        index: u8,
    ) -> Option<CastSpell<'c>> {
        let hero = self.heroes.get(&caster)?;
        let table = content.spells.get(usize::from(index))?;
        let of = Some(index);
        Some(CastSpell {
            caster,
            index,
            table,
            from: world.position(caster)?,
            power: raised(hero.bonus.damage + hero.talents(content, of, |it| it.damage)),
            healing: raised(hero.talents(content, of, |it| it.healing)),
            radius: raised(hero.talents(content, of, |it| it.radius)),
            duration: raised(hero.talents(content, of, |it| it.duration)),
        })
    }

    /// What a spell does to all within a radius.
    fn fill(&mut self, world: &mut DeusWorld, spell: CastSpell<'_>, radius_m: f32) {
        let reach = radius_m + BODY_RADIUS_M;
        if spell.table.is_hostile() {
            for monster in world.all_within(spell.from, reach) {
                self.harm(world, spell, monster);
            }
        }
        if spell.table.is_friendly() {
            for hero in world.all_within(spell.from, reach) {
                self.benefit(world, spell, hero);
            }
        }
    }

    /// What a spell does to a monster.
    fn harm(&mut self, world: &mut DeusWorld, spell: CastSpell<'_>, target: Id<Monster>) {
        let CastSpell { caster, table, .. } = spell;
        let power = spell.power * self.weakness(target, table.damage_kind);
        self.appear(world, caster, None);
        if table.damage > 0.0 {
            self.hurt_monster(world, target, caster, power * table.damage);
        } else {
            self.notice(world, target, caster);
        }
        let now = world.now();
        if table.push_m > 0.0 {
            self.push(world, target, spell.from, table.push_m);
        }
        let lasting = table.lasting.filter(|it| it.damage_per_s > 0.0 || it.slow > 0.0);
        let Some(lasting) = lasting else { return };
        let Some(monster) = self.monsters.get_mut(&target) else { return };
        monster.settle(now);
        monster.effects.add(spell.lasting(now, -power * lasting.damage_per_s, lasting.slow));
        self.plan_monster(world, target);
        if lasting.slow > 0.0 {
            self.decide_anew(world, target);
        }
    }

    /// What a spell does to a hero.
    fn benefit(&mut self, world: &mut DeusWorld, spell: CastSpell<'_>, target: Id<Hero>) {
        let table = spell.table;
        let now = world.now();
        if table.heal > 0.0 {
            self.relieve(world, target, table.heal * spell.healing);
        }
        let lasting = table.lasting.filter(|it| it.heal_per_s > 0.0);
        let hero = self.heroes.get_mut(&target).filter(|hero| hero.is_alive);
        if let (Some(lasting), Some(hero)) = (lasting, hero) {
            hero.effects.add(spell.lasting(now, lasting.heal_per_s * spell.healing, 0.0));
            self.plan_hero(world, target);
        }
    }

    /// The hero who has lost most health, without those who are hidden from the caster.
    fn most_hurt(&self, world: &DeusWorld, caster: Id<Hero>, range_m: f32) -> Option<Id<Hero>> {
        let from = world.position(caster)?;
        let is_known = |id: &Id<Hero>| *id == caster || !self.heroes[id].is_hidden();
        let health = |id: Id<Hero>| world.get(id).map_or(f32::MAX, |hero| hero.health().value());
        let near = self.living_near(world, from, range_m).into_iter().filter(is_known);
        near.min_by(|one, other| health(*one).total_cmp(&health(*other)))
    }

    fn launch(&mut self, world: &mut DeusWorld, spell: CastSpell<'_>, towards: Position) {
        let SpellShape::Bolt { range_m, speed_m_per_s, pierces } = spell.table.shape else {
            return;
        };
        let CastSpell { caster, from, .. } = spell;
        // Its caster may have come nearer to the place since it was announced.
        let full = from.lerp(towards, range_m / from.distance(towards).max(LEAST_FLIGHT_M));
        let end = world.end_on_map(from, full);
        let end = ambit_ways::first_stop(world.statics(), 0.1, from, end);
        let end = end_at_doors(&self.closed_doors, from, end);
        let now = world.now();
        let flight = StraightFlight::new(now, from, end, speed_m_per_s);
        let span = (now, flight.ends_at());
        let first = flight.first_met(world, span, BOLT_MEETS, |_: Id<Monster>| !pierces);
        let ends = first.map_or(flight.ends_at(), |(time, _)| time);
        let at = flight.position_at(ends);
        let due = ends.since(now).as_millis() as i64;
        world.emit(BoltFlies { caster, at, due });
        self.bolts.push(FlyingBolt { caster, spell: spell.index, flight, passed: Vec::new() });
    }

    /// Moves all bolts from the tick before to this one: each hits the first monster on its way, or
    /// all of them.
    pub(crate) fn move_bolts(&mut self, world: &mut DeusWorld) {
        let mut bolts = std::mem::take(&mut self.bolts);
        bolts.retain_mut(|bolt| self.fly(world, bolt));
        self.bolts = bolts;
    }

    /// Moves a bolt; returns whether it flies on.
    fn fly(&mut self, world: &mut DeusWorld, bolt: &mut FlyingBolt) -> bool {
        let content = self.content.clone();
        let span = (world.previous_now(), world.now());
        let FlyingBolt { caster, spell, flight, passed } = bolt;
        let Some(spell) = self.spell_of(&content, world, *caster, *spell) else { return false };
        while let Some((_, monster)) =
            flight.first_met(world, span, BOLT_MEETS, |it| !passed.contains(&it))
        {
            passed.push(monster);
            self.harm(world, spell, monster);
            if !matches!(spell.table.shape, SpellShape::Bolt { pierces: true, .. }) {
                return false;
            }
        }
        world.now() < flight.ends_at()
    }
}

impl CastSpell<'_> {
    fn lasting(self, now: GameTime, per_s: f32, slow: f32) -> Lasting {
        let for_s = self.table.lasting.map_or(0.0, |it| it.for_s) * self.duration;
        Lasting { spell: self.index, by: self.caster, per_s, slow, ends: now + for_s.secs() }
    }
}
