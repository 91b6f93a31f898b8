//! The course of a game: heroes choose, fight a wave, open a chest, rest, and fight the next one.
//!
//! Every phase ends: by what the players do, or by its time. A fight ends when all monsters or all
//! heroes are dead; after a while monsters find the heroes wherever they are.

use ambit::prelude::*;

use crate::schema::{Campaign, Chest, DeusTimer, Hero, HeroRow, Loot, PhaseBegins};
use crate::{Deus, DeusWorld};

/// A chest opens for whoever comes so near.
const CHEST_REACH_M: f32 = 1.8;

/// Where the game is in its course.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Choice)]
pub(crate) enum Phase {
    /// Whoever is here chooses a class.
    #[default]
    Choose,
    Fight,
    Chest,
    Rest,
    Won,
    Lost,
}

impl Phase {
    pub(crate) fn is_choosing(self) -> bool {
        self == Self::Choose
    }

    pub(crate) fn is_end(self) -> bool {
        matches!(self, Self::Won | Self::Lost)
    }
}

impl Deus {
    /// Begins a phase that lasts so long at most; 0 for one without a time.
    pub(crate) fn begin(&mut self, world: &mut DeusWorld, phase: Phase, seconds: f32) {
        self.phase = phase;
        self.phase_number += 1;
        self.phase_began = world.now();
        let length = Duration::from_secs_f32(seconds);
        self.phase_ends_at = (seconds > 0.0).then(|| world.now() + length);
        let wave = self.wave;
        if let Some(mut course) = world.edit_state::<Campaign>() {
            course.phase().set(phase.name());
            course.wave().set(wave);
            course.time_left().set_both(seconds, if seconds > 0.0 { -1.0 } else { 0.0 });
        }
        world.announce(PhaseBegins { phase: phase.name().into(), wave });
        if seconds > 0.0 {
            let end = DeusTimer::PhaseEnds(self.phase_number);
            world.after(length, end);
        }
    }

    /// The time of a phase is over.
    pub(crate) fn phase_ends(&mut self, world: &mut DeusWorld) {
        match self.phase {
            Phase::Choose | Phase::Rest => self.next_wave(world),
            Phase::Chest => self.open_chest(world),
            Phase::Won | Phase::Lost => self.is_over = true,
            Phase::Fight => {}
        }
    }

    /// Somebody has chosen: the first wave comes soon after all have.
    pub(crate) fn choice_made(&mut self, world: &mut DeusWorld) {
        if !self.phase.is_choosing() {
            return;
        }
        let waves = &self.content.waves;
        let soon = world.now() + Duration::from_secs_f32(waves.gather_s);
        if self.heroes.values().all(|hero| hero.class.is_some()) {
            // It only comes nearer: nobody delays it by choosing again, or by coming and going.
            if self.phase_ends_at.is_none_or(|end| end > soon) {
                self.begin(world, Phase::Choose, waves.gather_s);
            }
        } else if self.phase_ends_at.is_none() && self.living().next().is_some() {
            // Whoever has not chosen by then watches, and may still choose later.
            self.begin(world, Phase::Choose, waves.choose_s);
        }
    }

    fn next_wave(&mut self, world: &mut DeusWorld) {
        let heroes = self.living().count();
        if heroes == 0 {
            // Whoever had chosen has left: the next choice begins the time anew.
            self.phase_ends_at = None;
            return;
        }
        self.wave += 1;
        self.begin(world, Phase::Fight, 0.0);
        self.spawn_wave(world, heroes);
    }

    /// Whether monsters know where the heroes are.
    pub(crate) fn hunts(&self, now: GameTime) -> bool {
        now.since(self.phase_began) > Duration::from_secs_f32(self.content.waves.hunt_after_s)
    }

    /// A fight is over when nobody is left on one side.
    pub(crate) fn check_end_of_fight(&mut self, world: &mut DeusWorld) {
        if self.phase.is_choosing() || self.phase.is_end() {
            return;
        }
        let content = self.content.clone();
        let waves = &content.waves;
        if self.living().next().is_none() {
            self.clear_monsters(world);
            self.remove_chest(world);
            self.begin(world, Phase::Lost, waves.end_s);
        } else if self.phase == Phase::Fight && self.monsters.is_empty() {
            if self.wave >= waves.last {
                return self.begin(world, Phase::Won, waves.end_s);
            }
            self.chest = Some(world.spawn(Chest { path: Path::at(self.last_fallen) }));
            self.begin(world, Phase::Chest, waves.chest_s);
        }
    }

    /// Opens the chest as soon as a hero is there.
    pub(crate) fn look_for_opener(&mut self, world: &mut DeusWorld) {
        let Some(chest) = self.chest.and_then(|chest| world.position(chest)) else { return };
        let is_there = |id: Id<Hero>| {
            world.position(id).is_some_and(|at| at.ground_distance(chest) <= CHEST_REACH_M)
        };
        if self.living().any(|(id, _)| is_there(id)) {
            self.open_chest(world);
        }
    }

    /// Each living hero gets one of its items; then all rest.
    fn open_chest(&mut self, world: &mut DeusWorld) {
        self.remove_chest(world);
        let heroes: Vec<Id<Hero>> = self.living().map(|(id, _)| id).collect();
        for id in heroes {
            let index = world.rng().usize(..self.content.items.len());
            let Some((item, table)) = self.content.items.iter().nth(index) else { continue };
            let Some(hero) = self.heroes.get_mut(&id) else { continue };
            hero.bonus.damage += table.damage;
            hero.bonus.armour += table.armour;
            hero.bonus.health += table.health;
            hero.bonus.speed += table.speed;
            hero.bonus.mana += table.mana;
            let player = hero.player;
            if let Some(mut score) = world.edit_row::<HeroRow>(player) {
                score.items().add(1);
            }
            let name = world.get(id).map_or_else(String::new, |hero| hero.name().to_owned());
            world.announce(Loot { name: name.into(), item: item.as_str().into() });
            self.heal(world, id);
        }
        self.begin(world, Phase::Rest, self.content.waves.rest_s);
    }

    fn remove_chest(&mut self, world: &mut DeusWorld) {
        if let Some(chest) = self.chest.take() {
            world.despawn(chest);
        }
    }

    pub(crate) fn note_monsters(&self, world: &mut DeusWorld) {
        let left = self.monsters.len() as i64;
        if let Some(mut course) = world.edit_state::<Campaign>() {
            course.monsters().set(left);
        }
    }
}
