//! The course of a game: heroes choose, fight a wave, share out a chest, meet the merchant, and
//! fight the next wave on another map.
//!
//! Every phase ends: by what the players do, or by its time. A fight ends when all monsters or all
//! heroes are dead; after a while monsters find the heroes wherever they are, and in the end the
//! heroes have lost. All heroes jump together, also those who only watch.

use ambit::prelude::*;

use crate::goods::counted;
pub(crate) use crate::schema::Phase;
use crate::schema::{Campaign, Chest, DeusTimer, LootRule, Merchant, PhaseBegins};
use crate::{Deus, DeusWorld};

/// A chest opens for a hero within this distance.
const CHEST_REACH_M: f32 = 1.8;

impl Deus {
    /// Begins a phase that lasts at most `seconds`; 0 for a phase without a limit.
    pub(crate) fn begin(&mut self, world: &mut DeusWorld, phase: Phase, seconds: f32) {
        self.phase = phase;
        self.phase_number += 1;
        self.phase_began = world.now();
        self.phase_ends_at = (seconds > 0.0).then(|| world.now() + seconds.secs());
        if let Some(mut course) = world.edit_state::<Campaign>() {
            course.time_left().set_both(seconds, if seconds > 0.0 { -1.0 } else { 0.0 });
        }
        self.keep_all(world);
        self.show_course(world);
        // Where the party is not, no course begins.
        if !(phase.is_choosing() && self.follows_party()) {
            world.announce(PhaseBegins { phase, wave: self.wave });
        }
        if let Some(end) = self.phase_ends_at {
            world.at(end, DeusTimer::PhaseEnds(self.phase_number));
        }
        if phase.is_wave() {
            self.take_along(world);
        }
    }

    /// The time of a phase is over.
    pub(crate) fn phase_ends(&mut self, world: &mut DeusWorld) {
        match self.phase {
            Phase::Choose | Phase::Merchant => self.next_wave(world),
            Phase::Chest => self.open_chest(world),
            Phase::Share => self.meet_merchant(world),
            Phase::Won | Phase::Lost => self.is_over = true,
            Phase::Fight => self.lose(world),
            Phase::Onward => self.stay(world),
        }
    }

    /// A player has chosen a class: the first wave comes soon after all have chosen.
    pub(crate) fn choice_made(&mut self, world: &mut DeusWorld) {
        if !self.phase.is_choosing() {
            return;
        }
        let waves = &self.content.waves;
        let soon = world.now() + waves.gather_s.secs();
        if self.heroes.values().all(|hero| hero.class.is_some()) {
            // The time only gets shorter: a player who chooses again or leaves does not delay it.
            if self.phase_ends_at.is_none_or(|end| end > soon) {
                self.begin(world, Phase::Choose, waves.gather_s);
            }
        } else if self.phase_ends_at.is_none()
            && self.heroes.values().any(|hero| hero.takes_part() || hero.follows)
        {
            // A player who has not chosen by then watches, and may choose later.
            self.begin(world, Phase::Choose, waves.choose_s);
        }
    }

    fn next_wave(&mut self, world: &mut DeusWorld) {
        if self.phase.is_choosing() && self.seek_party(world) {
            return;
        }
        self.settle_followers(world);
        let heroes = self.living().count();
        if heroes == 0 {
            if self.heroes.values().any(|hero| hero.class.is_some()) {
                // Only dead ones have come to this map.
                return self.lose(world);
            }
            // All players who had chosen have left: the time restarts with the next choice.
            (self.phase, self.phase_ends_at) = (Phase::Choose, None);
            return;
        }
        self.wave += 1;
        self.journey.sought = 0;
        world.despawn_all(self.merchant.take());
        let mut rng = world.rng_for(4, self.wave as u64);
        self.slot = self.layout.next_after(self.slot, &mut rng);
        let rooms = &self.layout.slot(self.slot).rooms;
        let room = rng.usize(..rooms.len());
        self.jump(world, self.slot, room);
        self.set_traps(world);
        self.close_doors(world);
        self.begin(world, Phase::Fight, self.content.waves.fight_s);
        self.spawn_wave(world, heroes);
    }

    /// All heroes jump to a room. Who waited for the next wave takes part from now on.
    pub(crate) fn jump(&mut self, world: &mut DeusWorld, slot: usize, room: usize) {
        let room = &self.layout.slot(slot).rooms[room];
        for (id, hero) in &mut self.heroes {
            if std::mem::take(&mut hero.waits) {
                world.ask_who_sees(*id);
            }
            let mut rng = world.rng_for(3, hero.player.0 | u64::from(self.phase_number) << 32);
            let place = room.place_to_begin(world.statics(), &mut rng);
            if let Some(mut avatar) = world.edit(*id) {
                avatar.path().teleport(place);
                avatar.waits().set(hero.follows);
                avatar.ready().set(false);
                avatar.fights().set(hero.is_alive);
            }
        }
    }

    /// Whether monsters know where the heroes are.
    pub(crate) fn hunts(&self, now: GameTime) -> bool {
        now.since(self.phase_began) > self.content.waves.hunt_after_s.secs()
    }

    /// A fight is over when one side has no members left.
    pub(crate) fn check_end_of_fight(&mut self, world: &mut DeusWorld) {
        if self.phase.is_between() || self.phase.is_end() || self.gathers(world.now()) {
            return;
        }
        let content = self.content.clone();
        let waves = &content.waves;
        if self.living().next().is_none() {
            if !self.heroes.values().any(|hero| hero.is_alive) {
                return self.lose(world);
            }
            // Heroes who came meanwhile fight this wave again.
            self.wave -= 1;
            self.clear_fight(world);
            self.meet_merchant(world);
        } else if self.phase == Phase::Fight && self.is_wave_beaten() {
            if self.wave >= waves.last {
                return self.end(world, Phase::Won);
            }
            let at = self.layout.slot(self.slot).chest_for(self.last_fallen);
            self.chest = Some(world.spawn(Chest { path: Path::at(at) }));
            self.begin(world, Phase::Chest, waves.chest_s);
        }
    }

    /// Opens the chest as soon as a living hero is near.
    pub(crate) fn look_for_opener(&mut self, world: &mut DeusWorld) {
        let Some(chest) = self.chest.and_then(|chest| world.position(chest)) else { return };
        if !self.living_near(world, chest, CHEST_REACH_M).is_empty() {
            self.open_chest(world);
        }
    }

    /// The items of a chest are shared out at once, unless heroes may say first what they need.
    fn open_chest(&mut self, world: &mut DeusWorld) {
        world.despawn_all(self.chest.take());
        self.draw_items(world);
        if self.loot == LootRule::Need {
            self.begin(world, Phase::Share, self.content.waves.share_s);
        } else {
            self.meet_merchant(world);
        }
    }

    /// The merchant is on the next map, if there are several.
    fn meet_merchant(&mut self, world: &mut DeusWorld) {
        self.share_out(world);
        if self.has_maps() {
            self.leave_for(world, Phase::Merchant);
        } else {
            self.visit_merchant(world);
        }
    }

    pub(crate) fn visit_merchant(&mut self, world: &mut DeusWorld) {
        let slot = self.layout.merchants();
        self.jump(world, slot, 0);
        for id in self.living().map(|(id, _)| id).collect::<Vec<_>>() {
            self.heal(world, id);
        }
        let place = self.layout.slot(slot).rooms[0].middle;
        self.merchant = Some(world.spawn(Merchant { path: Path::at(place) }));
        self.heroes.values_mut().for_each(|hero| hero.bag.is_ready = false);
        self.begin(world, Phase::Merchant, self.content.waves.merchant_s);
    }

    fn lose(&mut self, world: &mut DeusWorld) {
        self.clear_fight(world);
        if !self.seek_party(world) {
            self.end(world, Phase::Lost);
        }
    }

    /// The game ends, on the first map.
    fn end(&mut self, world: &mut DeusWorld, how: Phase) {
        if world.map() > 0 {
            self.leave_for(world, how);
        } else {
            self.begin(world, how, self.content.waves.end_s);
        }
    }

    /// Shows how the course stands, but for the time. What has not changed is not sent.
    pub(crate) fn show_course(&self, world: &mut DeusWorld) {
        let left = self.monsters.len() as i64 + self.coming.len() as i64;
        let Some(mut course) = world.edit_state::<Campaign>() else { return };
        course.phase().set(self.phase.name());
        course.wave().set(self.wave);
        course.monsters().set(left);
        course.offer().set(&counted(&self.offer));
    }
}
