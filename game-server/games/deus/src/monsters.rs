//! Monsters: they notice heroes, come near, and strike with a blow that is announced.

use ambit::Rng;
use ambit::prelude::*;

use crate::content::CONTENT;
use crate::map::{self, BODY_RADIUS_M};
use crate::schema::{self, DeusTimer, Fallen, Hero, HeroRow, Monster, Tell, Wound};
use crate::{Deus, DeusWorld};

/// How often a monster decides while it sees a hero, and while it sees none.
const THINK: Duration = Duration::from_millis(300);
const IDLE_THINK: Duration = Duration::from_millis(1_200);
/// Monsters of a wave come no nearer to heroes than that.
const FIRST_DISTANCE_M: f32 = 16.0;
/// A blow hits whoever has come out of its reach by less than this.
const GRACE_M: f32 = 0.4;
/// A hero that moves so little is not followed anew.
const FOLLOW_M: f32 = 0.5;
/// So long after its decision a monster is of interest to the hero that it follows.
const ENGAGED: Duration = Duration::from_secs(2);

/// A monster, as the game has it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MonsterState {
    #[serde(with = "ambit::dice")]
    rng: Rng,
    /// Points of health at 100 %, and of a blow.
    health: f32,
    damage: f32,
    /// Where it walks to.
    goal: Position,
    /// Until then it strikes or rests.
    busy_until: GameTime,
    left: f32,
}

impl MonsterState {
    pub(crate) fn is_alive(&self) -> bool {
        self.left > 0.0
    }
}

impl Deus {
    /// Creates the monsters of a wave for so many heroes.
    pub(crate) fn spawn_wave(&mut self, world: &mut DeusWorld, heroes: usize) {
        let waves = &CONTENT.waves;
        let further = (self.wave - 1) as f32;
        let count = (waves.base + waves.per_hero * heroes as f32) * waves.more.powf(further);
        let stronger = 1.0 + waves.stronger * further;
        let table = CONTENT.goblin();
        let places: Vec<_> = self.living().filter_map(|(id, _)| world.position(id)).collect();
        for index in 0..(count.round() as u32).clamp(1, waves.most) {
            let wave = u64::from(index) | (self.wave as u64) << 32;
            let mut rng = world.rng_for(2, wave);
            let at = map::place_away_from(world, &places, FIRST_DISTANCE_M, &mut rng);
            let monster = schema::spawn_monster(world, at);
            let health = table.health * stronger;
            let wait = Duration::from_millis(rng.u64(..THINK.as_millis() as u64));
            let (damage, goal, busy_until) = (table.damage * stronger, at, world.now());
            let state = MonsterState { rng, health, damage, goal, busy_until, left: health };
            self.monsters.insert(monster, state);
            world.after(wait, DeusTimer::Think(monster));
        }
        self.note_monsters(world);
    }

    /// Removes all monsters.
    pub(crate) fn clear_monsters(&mut self, world: &mut DeusWorld) {
        for monster in std::mem::take(&mut self.monsters).into_keys() {
            world.despawn(monster);
        }
        self.note_monsters(world);
    }

    /// A monster decides what to do next.
    pub(crate) fn think(&mut self, world: &mut DeusWorld, id: Id<Monster>) {
        let table = CONTENT.goblin();
        let (now, hunts) = (world.now(), self.hunts(world.now()));
        let Some(at) = world.position(id) else { return };
        let target = self.nearest_hero(world, at, if hunts { f32::MAX } else { table.notice_m });
        let Some(monster) = self.monsters.get_mut(&id) else { return };
        if now < monster.busy_until {
            let wait = monster.busy_until.since(now);
            return world.after(wait, DeusTimer::Think(id));
        }
        let Some((hero, place)) = target else {
            if monster.rng.u8(..3) == 0 {
                let around = |rng: &mut Rng| (rng.f32() - 0.5) * 12.0;
                let (x, y) = (at.x + around(&mut monster.rng), at.y + around(&mut monster.rng));
                let goal = world.nearest_on_map(Position::on_ground(x, y));
                let goal = ambit_ways::first_stop(world.statics(), BODY_RADIUS_M, at, goal);
                walk(world, id, vec![goal], table.speed_m_per_s / 2.0);
            }
            return world.after(IDLE_THINK, DeusTimer::Think(id));
        };
        if place.ground_distance(at) <= table.reach_m {
            let windup = Duration::from_secs_f32(table.windup_s);
            monster.busy_until = now + windup + Duration::from_secs_f32(table.rest_s);
            monster.goal = at;
            if let Some(mut monster) = world.edit(id) {
                monster.path().stop();
            }
            let (radius, due) = ((10.0 * table.reach_m) as i64, windup.as_millis() as i64);
            world.emit(Tell { monster: id, at, radius, due });
            world.after(windup, DeusTimer::Blow(id, at));
        } else if monster.goal.ground_distance(place) > FOLLOW_M {
            monster.goal = place;
            // Up to arm's length, and not into the hero.
            let stop = place.lerp(at, (0.7 * table.reach_m / place.ground_distance(at)).min(1.0));
            let straight = ambit_ways::first_stop(world.statics(), BODY_RADIUS_M, at, stop);
            let way = if straight == stop {
                vec![stop]
            } else {
                let way = ambit_ways::round_obstacles(world.terrain(), BODY_RADIUS_M, at, stop);
                way.unwrap_or_else(|| vec![straight])
            };
            walk(world, id, way, table.speed_m_per_s);
        }
        world.engage(hero, id, now + ENGAGED);
        world.after(THINK, DeusTimer::Think(id));
    }

    /// A blow falls on whoever is still there.
    pub(crate) fn blow(&mut self, world: &mut DeusWorld, id: Id<Monster>, at: Position) {
        let Some(monster) = self.monsters.get(&id) else { return };
        let (damage, reach) = (monster.damage, CONTENT.goblin().reach_m + GRACE_M);
        if let Some((hero, _)) = self.nearest_hero(world, at, reach) {
            self.hurt_hero(world, hero, damage);
        }
    }

    /// Takes points of health from a monster.
    pub(crate) fn hurt_monster(
        &mut self,
        world: &mut DeusWorld,
        id: Id<Monster>,
        by: Id<Hero>,
        points: f32,
    ) {
        let Some(monster) = self.monsters.get_mut(&id) else { return };
        monster.left -= points;
        let (share, amount) = (monster.left / monster.health, points / monster.health);
        let (target, is_dead) = (id.object(), !monster.is_alive());
        if let Some(mut monster) = world.edit(id) {
            monster.health().set((100.0 * share).max(0.0));
        }
        world.emit(Wound { target, amount: (100.0 * amount).ceil() as i64 });
        if !is_dead {
            return;
        }
        world.emit(Fallen { target });
        self.last_fallen = world.position(id).unwrap_or(world.centre());
        self.monsters.remove(&id);
        world.despawn(id);
        let player = self.heroes.get(&by).map(|hero| hero.player);
        if let Some(mut score) = player.and_then(|player| world.edit_row::<HeroRow>(player)) {
            score.kills().add(1);
        }
        let gold = CONTENT.goblin().gold;
        let party: Vec<PlayerId> = self.living().map(|(_, hero)| hero.player).collect();
        for player in party {
            if let Some(mut score) = world.edit_row::<HeroRow>(player) {
                score.gold().add(gold);
            }
        }
        self.note_monsters(world);
        self.check_end_of_fight(world);
    }

    fn nearest_hero(
        &self,
        world: &DeusWorld,
        from: Position,
        within_m: f32,
    ) -> Option<(Id<Hero>, Position)> {
        let places = self.living().filter_map(|(id, _)| Some((id, world.position(id)?)));
        let distance = |(_, at): &(Id<Hero>, Position)| at.ground_distance(from);
        let nearest = places.min_by(|one, other| distance(one).total_cmp(&distance(other)))?;
        (distance(&nearest) <= within_m).then_some(nearest)
    }
}

fn walk(world: &mut DeusWorld, id: Id<Monster>, way: Vec<Position>, speed_m_per_s: f32) {
    if let Some(mut monster) = world.edit(id) {
        monster.path().walk_along(way, speed_m_per_s);
    }
}
