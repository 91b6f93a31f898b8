//! Several maps, each a room of its own on any host: the party goes on to the next one for each
//! further wave, and to the first one for the end.
//!
//! In the phase `Onward` all heroes are sent on from wherever they are. What one carries is all
//! that is known of it, who has died in this campaign, and how the course goes on: the merchant of
//! the next map waits until all have come. Who joins later, on the first map, follows the party
//! from map to map; a player who finds it nowhere begins again.
//!
//! Invariants:
//! 1. What arrives makes a valid hero, whatever a host sends: indices, levels and gold are within
//!    what the content allows, else a new hero comes.
//! 2. Only the room of the first map ends the game.
//! 3. A hero who died and left is out on each map that the party comes to. Any member brings this
//!    along.
//! 4. Where the party is not, no hero comes to life: only the party knows who has fallen.

use std::collections::{BTreeMap, BTreeSet};

use ambit::prelude::*;
use ambit::{TimeLeft, saved};

use crate::course::Phase;
use crate::heroes::HeroState;
use crate::schema::{Hero, HeroRow};
use crate::{Deus, DeusWorld, MOST_FALLEN};

/// A hero who cannot leave within this time stays here.
const LEAVE_S: f32 = 15.0;
/// How long the merchant waits for heroes who have not arrived.
const GATHER: Duration = Duration::from_secs(10);
/// The most that components hold.
pub(crate) const MOST_GOLD: u32 = 99_999;
const MOST_KILLS: u32 = 9_999;
pub(crate) const MOST_EXPERIENCE: u32 = 9_999_999;
const MOST_ITEMS: usize = 999;
const MOST_WAVES: u8 = 98;
/// A hero carries at most this many of those who have died, the newest: a number
/// takes up to 9 bytes, and all that is carried at most 4,096.
const MOST_FALLEN_CARRIED: usize = 360;

/// The way of a course over several maps.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Journey {
    /// Maps in a ring.
    pub(crate) maps: u32,
    /// What follows on the map to which all leave.
    next: Phase,
    /// While all leave: how many they are; afterwards: how many have not arrived yet.
    party: usize,
    /// Whether the party has left this map, and perhaps plays elsewhere.
    is_elsewhere: bool,
    /// On how many maps those who are here have sought it.
    pub(crate) sought: u32,
}

/// What a hero takes to another map. What is empty or zero is left out.
#[derive(Debug, Serialize, Deserialize)]
struct CarriedHero {
    next: Phase,
    wave: u8,
    party: u16,
    #[serde(default, skip_serializing_if = "is_default")]
    sought: u32,
    class: Option<u8>,
    is_alive: bool,
    experience: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    learned: BTreeSet<u8>,
    #[serde(default, skip_serializing_if = "is_default")]
    items: Vec<u8>,
    /// Which of them it wears; `None` from a host of an earlier release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worn: Option<BTreeSet<u8>>,
    gold: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    kills: u32,
    /// Until each spell can be cast again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    ready_in: BTreeMap<u8, TimeLeft>,
    /// Who has died in this campaign.
    #[serde(default, skip_serializing_if = "is_default")]
    fallen: BTreeSet<PlayerId>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Deus {
    /// Whether the course takes place on several maps.
    pub(crate) fn has_maps(&self) -> bool {
        self.journey.maps > 1
    }

    /// All leave for another map, where this phase follows.
    pub(crate) fn leave_for(&mut self, world: &mut DeusWorld, next: Phase) {
        (self.journey.next, self.journey.party) = (next, self.heroes.len());
        self.begin(world, Phase::Onward, LEAVE_S);
    }

    /// Whether the party may be on another map that those who are here have not seen.
    fn is_unfound(&self) -> bool {
        let Journey { maps, is_elsewhere, sought, .. } = self.journey;
        (is_elsewhere || sought > 0) && sought < maps
    }

    /// Whether those who are here follow a party on another map.
    pub(crate) fn follows_party(&self) -> bool {
        match self.phase {
            Phase::Choose => self.is_unfound(),
            Phase::Onward => self.journey.next == Phase::Choose,
            _ => false,
        }
    }

    /// All leave to seek the party, if it may be on another map. Returns whether they do.
    pub(crate) fn seek_party(&mut self, world: &mut DeusWorld) -> bool {
        let seeks = self.is_unfound();
        if seeks {
            self.journey.sought += 1;
            self.leave_for(world, Phase::Choose);
        }
        seeks
    }

    /// To which map all go now.
    pub(crate) fn sends_to(&self, world: &DeusWorld) -> Option<u32> {
        let Journey { next, maps, .. } = self.journey;
        let is_time = self.phase == Phase::Onward;
        is_time.then(|| if next.is_end() { 0 } else { (world.map() + 1) % maps })
    }

    /// Heroes who could not leave go on here.
    pub(crate) fn stay(&mut self, world: &mut DeusWorld) {
        if self.journey.next == Phase::Choose {
            // The next map has not been seen.
            self.journey.sought = self.journey.sought.saturating_sub(1);
        }
        self.journey.is_elsewhere |= self.heroes.len() < self.journey.party;
        self.go_on(world);
    }

    /// What all have left for follows on this map.
    fn go_on(&mut self, world: &mut DeusWorld) {
        let next = self.journey.next;
        let waves = &self.content.waves;
        let seconds = if next.is_end() { waves.end_s } else { waves.gather_s };
        if next.is_end() || next == Phase::Choose {
            self.clear_fight(world);
            self.jump(world, self.layout.merchants(), 0);
            self.begin(world, next, seconds);
        } else {
            self.visit_merchant(world);
        }
    }

    /// Whether some of the party have not arrived yet.
    pub(crate) fn gathers(&self, now: GameTime) -> bool {
        let is_time = self.phase == Phase::Merchant && now.since(self.phase_began) < GATHER;
        self.journey.party > 0 && is_time
    }

    /// This map is empty: the course starts again with the next player.
    pub(crate) fn forget_course(&mut self, world: &mut DeusWorld) {
        self.journey.is_elsewhere |= self.phase == Phase::Onward && !self.journey.next.is_end();
        self.journey.sought = 0;
        self.clear_fight(world);
        world.despawn_all(self.merchant.take());
        (self.wave, self.last_turn) = (0, None);
        self.begin(world, Phase::Choose, 0.0);
    }

    pub(crate) fn carried(&self, world: &DeusWorld, id: Id<Hero>) -> Option<Vec<u8>> {
        let hero = self.heroes.get(&id).filter(|_| self.phase == Phase::Onward)?;
        let row = world.row::<HeroRow>(hero.player)?;
        let now = world.now();
        let ready = hero.ready_at.iter().map(|(spell, at)| (*spell, TimeLeft::until(*at, now)));
        Some(saved::of(&CarriedHero {
            next: self.journey.next,
            wave: self.wave as u8,
            party: self.journey.party as u16,
            sought: self.journey.sought,
            class: hero.class,
            // With `Choose`: whether it comes to life where the party is.
            is_alive: hero.is_alive || hero.follows,
            experience: hero.experience,
            learned: hero.learned.clone(),
            items: hero.bag.items.clone(),
            worn: Some(hero.bag.worn.values().copied().collect()),
            gold: row.gold() as u32,
            kills: row.kills() as u32,
            ready_in: ready.filter(|(_, left)| !left.is_over()).collect(),
            fallen: self.fallen.iter().rev().take(MOST_FALLEN_CARRIED).copied().collect(),
        }))
    }

    /// A hero has come from another map: it is as it was there, with full health.
    pub(crate) fn arrived(&mut self, world: &mut DeusWorld, id: Id<Hero>, carried: &[u8]) {
        let Ok(carried) = saved::all::<CarriedHero>(carried) else { return };
        self.remember_fallen(world, &carried.fallen);
        self.restore_hero(world, id, &carried);
        let is_end = carried.next.is_end();
        if carried.next == Phase::Choose {
            if self.phase == Phase::Choose {
                self.journey.next = Phase::Choose;
                self.journey.sought = self.journey.sought.max(carried.sought);
                self.journey.is_elsewhere &= carried.sought < self.journey.maps;
                self.go_on(world);
            }
        } else if self.phase.is_between() || is_end && !self.phase.is_end() {
            self.journey.next = if is_end { carried.next } else { Phase::Merchant };
            self.journey.party = carried.party.into();
            (self.journey.is_elsewhere, self.journey.sought) = (false, 0);
            self.wave = carried.wave.min(MOST_WAVES).into();
            self.go_on(world);
        }
        if carried.next != Phase::Choose {
            self.journey.party = self.journey.party.saturating_sub(1);
        }
        self.settle_followers(world);
        self.check_all_said(world);
    }

    /// Those who have followed the party come to life where it is, or where they know that it is
    /// on no map. Who has fallen stays so.
    pub(crate) fn settle_followers(&mut self, world: &mut DeusWorld) {
        if self.follows_party() {
            return;
        }
        let heroes = self.heroes.iter_mut().filter(|(_, hero)| hero.follows);
        let mut settled = Vec::new();
        for (id, hero) in heroes {
            (hero.follows, hero.is_alive) = (false, true);
            settled.push(*id);
        }
        for id in settled {
            self.enter(world, id);
        }
    }

    /// Those who are here and have fallen on another map before they left it are out here, too.
    fn remember_fallen(&mut self, world: &mut DeusWorld, fallen: &BTreeSet<PlayerId>) {
        let free = MOST_FALLEN.saturating_sub(self.fallen.len());
        self.fallen.extend(fallen.iter().take(free));
        let heroes = self.heroes.iter();
        let is_out = |hero: &HeroState| hero.class.is_some() && fallen.contains(&hero.player);
        let out: Vec<Id<Hero>> =
            heroes.filter(|(_, hero)| is_out(hero)).map(|(id, _)| *id).collect();
        for id in out {
            self.enter(world, id);
        }
    }

    fn restore_hero(&mut self, world: &mut DeusWorld, id: Id<Hero>, carried: &CarriedHero) {
        let now = world.now();
        let content = self.content.clone();
        let class = carried.class.filter(|class| usize::from(*class) < content.classes.len());
        let (Some(class), Some(hero)) = (class, self.heroes.get_mut(&id)) else { return };
        hero.class = Some(class);
        hero.follows = carried.is_alive && carried.next == Phase::Choose;
        hero.is_alive = carried.is_alive && !hero.follows;
        hero.experience = carried.experience.min(MOST_EXPERIENCE);
        for talent in carried.learned.iter().take(hero.levels(&content)) {
            let table = content.talents.get(usize::from(*talent));
            if table.is_some_and(|table| table.class == content.class(class).name) {
                hero.learned.insert(*talent);
            }
        }
        let ready = carried.ready_in.iter();
        hero.ready_at = ready.map(|(spell, left)| (*spell, left.ends_at(now))).collect();
        if let Some(mut row) = world.edit_row::<HeroRow>(hero.player) {
            row.gold().set(carried.gold.min(MOST_GOLD).into());
            row.kills().set(carried.kills.min(MOST_KILLS).into());
        }
        let known = |item: &u8| content.item(*item).is_some();
        let items = carried.items.iter().copied().filter(known).take(MOST_ITEMS).collect();
        let worn: Option<Vec<u8>> = carried.worn.as_ref().map(|it| it.iter().copied().collect());
        hero.take_up_all(&content, items, worn.as_deref());
        self.enter(world, id);
        self.keep(world, id);
    }
}
