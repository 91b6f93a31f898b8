//! `deus`: a party of heroes fights waves of monsters, seen from above.
//!
//! Players choose a class, fight a wave, open a chest, rest, and fight the next, harder wave. Who
//! dies is out and watches. The game is over when all heroes are dead or the last wave is beaten.
//!
//! Invariants:
//! 1. A command is checked as a whole, then executed as a whole.
//! 2. Every phase ends.
//! 3. What a monster will do is told before: its path, and its blow by an event.
//!
//! All numbers are data, in `content/`. Source of the game: "Architectures de developpement
//! adaptees aux MMOGs" (Project Deus).

mod companions;
mod content;
mod course;
mod effects;
mod heroes;
mod map;
mod minds;
mod monsters;
mod schema;
mod spells;
mod talents;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::BTreeMap;

use ambit::prelude::*;
use ambit::schema::Schema;

use self::companions::CompanionState;
use self::content::SharedContent;
use self::course::Phase;
use self::heroes::HeroState;
use self::monsters::MonsterState;
use self::schema::{
    Burst, Campaign, Chest, Fallen, HeroCast, HeroRow, LevelUp, Loot, NEWCOMER, PhaseBegins,
    Relief, SpellBolt, Summons, Tell, Wound,
};
use self::spells::FlyingBolt;

pub use self::content::check_content;
pub use self::schema::{Companion, DeusCommand, DeusRefusal, DeusTimer, Hero, Monster};

/// The world of this game.
type DeusWorld = World<Deus>;

/// What a room is created with.
#[derive(Debug, Parameters)]
pub struct DeusSettings {
    /// the numbers of the game: those that come with it, or a folder of the server's operator
    #[parameter(default = "shipped")]
    content: String,
}

/// The game `deus`. See the module.
#[derive(Debug, Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Hero, Monster, SpellBolt, Chest, Campaign, HeroRow, Companion))]
#[declare(parameters = DeusSettings, timer = DeusTimer)]
#[declare(events(
    HeroCast,
    Tell,
    Summons,
    Burst,
    Wound,
    Fallen,
    Loot,
    PhaseBegins,
    Relief,
    LevelUp
))]
pub struct Deus {
    content: SharedContent,
    heroes: BTreeMap<Id<Hero>, HeroState>,
    monsters: BTreeMap<Id<Monster>, MonsterState>,
    bolts: BTreeMap<Id<SpellBolt>, FlyingBolt>,
    companions: BTreeMap<Id<Companion>, CompanionState>,
    chest: Option<Id<Chest>>,
    phase: Phase,
    /// Phases so far: a timer of an earlier one is obsolete.
    phase_number: u32,
    phase_began: GameTime,
    phase_ends_at: Option<GameTime>,
    wave: i64,
    /// Where the last monster fell.
    last_fallen: Position,
    /// When a monster last searched a way round walls: one of them at a tick.
    searched_at: GameTime,
    is_over: bool,
}

impl Game for Deus {
    const INFO: GameInfo =
        GameInfo::new("deus", "Choose a class, and fight waves of monsters with others.");
    const SCENERY: Scenery = Scenery::new().camera(Camera::Above).ground(0x2a_2622);
    type Avatar = Hero;
    type Command = DeusCommand;
    type Refusal = DeusRefusal;

    fn words(key: &str) -> Vec<String> {
        if key == "content" { content::names() } else { Vec::new() }
    }

    fn configure(&mut self, settings: DeusSettings) -> Result<(), BadParameter> {
        let content = SharedContent::named(&settings.content);
        self.content =
            content.map_err(|problem| BadParameter::Conflict { key: "content", problem })?;
        Ok(())
    }

    fn schema(&self, schema: &mut Schema) {
        texts::list_choices(&self.content, schema);
    }

    fn planned_objects(&self) -> u64 {
        u64::from(self.content.waves.most)
    }

    fn start(&mut self, world: &mut DeusWorld) {
        let mut rng = world.rng_for(1, 0);
        map::add_walls(world, &mut rng);
        let (wave, time_left, monsters) = (0.into(), 0.0.into(), 0.into());
        world.spawn(Campaign { wave, phase: Phase::Choose.name().into(), time_left, monsters });
        self.last_fallen = world.centre();
    }

    fn join(&mut self, world: &mut DeusWorld, newcomer: Newcomer<'_>) -> Id<Hero> {
        let mut rng = world.rng_for(3, newcomer.id.0);
        let at = map::place_to_begin(world, &mut rng);
        let hero = world.spawn(Hero {
            path: Path::at(at),
            health: 0.0.into(),
            mana: 0.0.into(),
            name: newcomer.name.into(),
            class: NEWCOMER.into(),
            alive: Flag::off(),
            level: 1.into(),
            experience: 0.into(),
            points: 0.into(),
            hidden: Flag::off(),
        });
        world.spawn_row(
            newcomer.id,
            HeroRow {
                kills: 0.into(),
                name: newcomer.name.into(),
                class: "".into(),
                gold: 0.into(),
                items: 0.into(),
                alive: Flag::off(),
            },
        );
        self.heroes.insert(hero, HeroState::new(newcomer.id));
        hero
    }

    fn rename(&mut self, world: &mut DeusWorld, player: Player<'_, Self>) {
        world.avatar(player).name().set(player.name());
        if let Some(mut score) = world.edit_row::<HeroRow>(player) {
            score.name().set(player.name());
        }
    }

    fn leave(&mut self, world: &mut DeusWorld, player: Player<'_, Self>) {
        self.heroes.remove(&player.avatar());
        if self.heroes.is_empty() {
            return;
        }
        self.choice_made(world);
        self.check_end_of_fight(world);
    }

    fn command(
        &mut self,
        world: &mut DeusWorld,
        player: Player<'_, Self>,
        command: DeusCommand,
    ) -> Result<(), DeusRefusal> {
        match command {
            DeusCommand::Move { to } => {
                self.walk(world, player, to);
                Ok(())
            }
            DeusCommand::Cast { spell, at } => self.cast(world, player, spell, at),
            DeusCommand::Choose { class } => self.choose(world, player, class),
            DeusCommand::Learn { talent } => self.learn(world, player, talent),
        }
    }

    fn timer(&mut self, world: &mut DeusWorld, timer: DeusTimer, due: GameTime) {
        match timer {
            DeusTimer::Think(monster) => self.think(world, monster, due),
            DeusTimer::Blow(monster, at, radius_m) => self.blow(world, monster, at, radius_m),
            DeusTimer::Rise(caller, kind, count) => self.rise(world, caller, kind, count),
            DeusTimer::Burst(caster, spell, at) => self.take_effect(world, caster, spell, at),
            DeusTimer::Lapse(object) => self.lapse(world, object, due),
            DeusTimer::Appear(hero) => self.appear(world, hero, Some(due)),
            DeusTimer::Assist(companion) => self.assist(world, companion),
            DeusTimer::Fade(hero) => world.ask_who_sees(hero),
            DeusTimer::PhaseEnds(number) if number == self.phase_number => self.phase_ends(world),
            DeusTimer::PhaseEnds(_) => {}
        }
    }

    fn step(&mut self, world: &mut DeusWorld, _: Duration) {
        self.move_bolts(world);
        self.look_for_opener(world);
    }

    /// Whoever is dead or hidden, or has not chosen yet, is not seen.
    fn sees(&self, world: &DeusWorld, viewer: Id<Hero>, object: ObjectId, _: Sight) -> bool {
        let hero = world.cast::<Hero>(object).filter(|hero| *hero != viewer);
        hero.and_then(|hero| self.heroes.get(&hero))
            .is_none_or(|hero| hero.is_alive && !hero.is_hidden())
    }

    fn is_finished(&self) -> bool {
        self.is_over
    }
}

impl Deus {
    /// Also the dead walk, to watch.
    fn walk(&mut self, world: &mut DeusWorld, player: Player<'_, Self>, to: Position) {
        let Some(hero) = self.heroes.get(&player.avatar()) else { return };
        let speed = hero.speed_m_per_s(&self.content);
        let from = world.avatar(player).position();
        let target = world.nearest_on_map(Position::on_ground(to.x, to.y));
        let first = ambit_ways::first_stop(world.statics(), map::BODY_RADIUS_M, from, target);
        let way = if first == target {
            vec![target]
        } else {
            let way =
                ambit_ways::round_obstacles(world.terrain(), map::BODY_RADIUS_M, from, target);
            way.unwrap_or_else(|| vec![first])
        };
        world.avatar(player).path().walk_along(way, speed);
    }
}
