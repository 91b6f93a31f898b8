//! `deus`: a party of heroes fights waves of monsters, seen from above.
//!
//! Players choose a class, fight a wave, share out a chest, buy and sell, and fight the next,
//! harder wave on another map. Who dies is out and watches. The game is over when all heroes are
//! dead or the last wave is beaten.
//!
//! Invariants:
//! 1. A command is checked as a whole, then executed as a whole.
//! 2. Every phase ends.
//! 3. Clients that follow a monster know what it will do before it does: its path, and its blow by
//!    an event. A hero who is hurt follows the monster since that event: no blow reaches farther
//!    than `REACH_M`.
//!
//! All numbers are data, in `content/`. Source of the game: "Architectures de developpement
//! adaptees aux MMOGs" (Project Deus).

mod companions;
mod content;
mod course;
mod doors;
mod goods;
mod heroes;
mod instances;
mod kept;
mod kept_heroes;
mod map;
mod minds;
mod monsters;
mod offers;
mod plans;
mod schema;
mod spells;
mod talents;
#[cfg(test)]
mod tests;
mod texts;
mod trade;
mod traps;
mod worn;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ambit::prelude::*;
use ambit::saved::{BadState, Saved};
use ambit::schema::Schema;

use self::companions::CompanionState;
use self::content::SharedContent;
use self::course::Phase;
use self::doors::ClosedDoor;
use self::heroes::HeroState;
use self::instances::Journey;
use self::kept_heroes::KeptHeroes;
use self::map::GroundPlan;
use self::monsters::MonsterState;
use self::offers::Trade;
use self::schema::{
    BoltFlies, Burst, Campaign, Chest, Fallen, HeroCast, HeroRow, HeroesRise, IsReady, LevelUp,
    Loot, LootRule, Merchant, NEWCOMER, PhaseBegins, Relief, Snap, Summons, Tell, TradeDone,
    TradeOffered, place_of,
};
use self::spells::FlyingBolt;
use self::traps::HiddenTrap;

pub use self::content::folders::{check_content, invalid_variable};
pub use self::schema::{Companion, DeusCommand, DeusRefusal, DeusTimer, Door, Hero, Monster, Trap};

/// The world of this game.
type DeusWorld = World<Deus>;
type DeusAnswer = Result<(), DeusRefusal>;

/// Nothing that hurts a hero is farther away when it is announced; the content is checked for it.
pub(crate) const REACH_M: f32 = 20.0;

/// How many players who have died are remembered.
const MOST_FALLEN: usize = 4_096;

/// What a room is created with.
#[derive(Debug, Parameters)]
// 3 cells of 8 m less the margin contain the reach.
#[room(size = "630x630", cell = 8)]
pub struct DeusSettings {
    /// the numbers of the game: those that come with it, or a folder of the server's operator
    #[parameter(default = "shipped")]
    content: String,
    /// who gets the items of a chest
    #[parameter(default = Need)]
    loot: LootRule,
    /// worlds that the waves take place in, in turn: each is a room of its own, on whatever host
    /// has room for it
    #[parameter(default = 1, range = 1..=16, label = "Maps on hosts of their own")]
    maps: u32,
    #[parameter(of_room)]
    map: u64,
}

/// The game `deus`. See the module.
#[derive(Debug, Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Hero, Monster, Chest, Campaign, HeroRow, Merchant, Trap, Companion, Door))]
#[declare(parameters = DeusSettings, timer = DeusTimer, profile = KeptHeroes, version = 1)]
#[declare(events(HeroCast, BoltFlies, Tell, Summons, Burst, Fallen, Snap, Relief))]
#[declare(events(PhaseBegins, Loot, LevelUp, HeroesRise, IsReady, TradeOffered, TradeDone))]
pub struct Deus {
    content: SharedContent,
    heroes: BTreeMap<Id<Hero>, HeroState>,
    /// Who has died in this campaign: it watches, also if it leaves and comes back.
    fallen: BTreeSet<PlayerId>,
    monsters: BTreeMap<Id<Monster>, MonsterState>,
    bolts: Vec<FlyingBolt>,
    layout: GroundPlan,
    /// Where the heroes fight.
    slot: usize,
    traps: Vec<HiddenTrap>,
    closed_doors: Vec<ClosedDoor>,
    companions: BTreeMap<Id<Companion>, CompanionState>,
    chest: Option<Id<Chest>>,
    merchant: Option<Id<Merchant>>,
    loot: LootRule,
    /// The items of the chest that is shared out.
    offer: Vec<u8>,
    /// Who got the last item.
    last_turn: Option<Id<Hero>>,
    phase: Phase,
    /// Counts phases: a timer of an earlier one is obsolete.
    phase_number: u32,
    phase_began: GameTime,
    phase_ends_at: Option<GameTime>,
    wave: i64,
    /// The factor of the health and the damage of monsters in this wave.
    strength: f32,
    /// The monsters of the wave that have still to come, by their numbers in it.
    coming: Range<u32>,
    /// Gold of monsters that is to be paid, and when.
    spoils: i64,
    tally_at: Option<GameTime>,
    /// Where the last monster fell.
    last_fallen: Position,
    /// When a monster last searched a way round walls: one of them at a tick.
    searched_at: GameTime,
    is_over: bool,
    /// What each player offers another one.
    trades: BTreeMap<PlayerId, Trade>,
    last_trade: u32,
    journey: Journey,
}

impl Game for Deus {
    const INFO: GameInfo = GameInfo::new(
        "deus",
        "Fight waves of monsters with others. Who falls is out until the end.",
    );
    const SCENERY: Scenery =
        Scenery::new().camera(Camera::Above).place(Ground::Halls).ground(0x5a_5046).party();
    type Avatar = Hero;
    type Command = DeusCommand;
    type Refusal = DeusRefusal;

    fn words(key: &str) -> Vec<String> {
        if key == "content" { content::folders::names() } else { Vec::new() }
    }

    fn configure(&mut self, settings: DeusSettings) -> Result<(), BadParameter> {
        let content = SharedContent::named(&settings.content);
        self.content =
            content.map_err(|problem| BadParameter::Conflict { key: "content", problem })?;
        BadParameter::check_map(settings.map, settings.maps)?;
        (self.loot, self.journey.maps) = (settings.loot, settings.maps);
        Ok(())
    }

    fn schema(&self, schema: &mut Schema) {
        texts::name_items(&self.content, schema);
        texts::list_choices(&self.content, schema);
        texts::show_variants(&self.content, schema);
    }

    fn upgrade(version: u32, saved: Saved<'_>) -> Result<Self, BadState> {
        let mut game: Self = saved.read()?;
        if version < 1 {
            game.renumber_items();
        }
        Ok(game)
    }

    /// What heroes have and wear is shown.
    fn upgraded(&mut self, world: &mut DeusWorld, _: u32) {
        let heroes: Vec<_> = self.heroes.keys().copied().collect();
        for id in heroes {
            self.items_changed(world, id);
        }
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings::new().reach_m(REACH_M).view_m(REACH_M)
    }

    fn planned_objects(&self) -> u64 {
        u64::from(self.content.waves.most)
    }

    fn start(&mut self, world: &mut DeusWorld) {
        self.layout = GroundPlan::build(world, &self.content.maps);
        let phase = Phase::Choose.name().into();
        world.spawn(Campaign { phase, time_left: Gauge::empty(), ..Campaign::default() });
        self.last_fallen = world.centre();
    }

    fn join(&mut self, world: &mut DeusWorld, newcomer: Newcomer<'_>) -> Id<Hero> {
        let mut rng = world.rng_for(3, newcomer.id.0);
        let room = &self.layout.slot(self.layout.merchants()).rooms[0];
        let at = room.place_to_begin(world.statics(), &mut rng);
        let player = newcomer.id;
        let waits = self.phase.is_wave();
        let state = HeroState { player, waits, ..HeroState::default() };
        let hero = world.spawn(Hero {
            path: Path::at(at),
            speed: Half::new(state.speed_m_per_s(&self.content)),
            health: Gauge::empty(),
            mana: Gauge::empty(),
            name: newcomer.name.into(),
            class: NEWCOMER.into(),
            level: 1.into(),
            ..Hero::default()
        });
        let name = newcomer.name.into();
        world.spawn_row(newcomer.id, HeroRow { name, ..HeroRow::default() });
        self.heroes.insert(hero, state);
        let wish = newcomer.wishes.get("class");
        let wished = self.content.classes.iter().position(|class| Some(&class.name[..]) == wish);
        if let Some(class) = wished {
            // As if it were chosen at once: who may not now chooses later.
            let _ = self.choose(world, hero, class as u8);
        }
        hero
    }

    fn leave(&mut self, world: &mut DeusWorld, player: Player<'_, Self>, _: Left) {
        if let Some(mut row) = world.edit_row::<HeroRow>(player.id()) {
            row.alive().set(false);
        }
        self.keep(world, player.avatar());
        self.heroes.remove(&player.avatar());
        self.trades.remove(&player.id());
        if self.heroes.is_empty() {
            self.fallen.clear();
            if self.has_maps() {
                self.forget_course(world);
            }
            return;
        }
        self.choice_made(world);
        self.check_end_of_fight(world);
        self.check_all_said(world);
    }

    fn command(
        &mut self,
        world: &mut DeusWorld,
        player: Player<'_, Self>,
        command: DeusCommand,
    ) -> DeusAnswer {
        let hero = player.avatar();
        match command {
            DeusCommand::Move { to } => {
                self.walk(world, player, to);
                Ok(())
            }
            DeusCommand::Cast { spell, at } => self.cast(world, player, place_of(spell), at),
            DeusCommand::Choose { class } => self.choose(world, hero, place_of(class)),
            DeusCommand::Buy { item } => self.buy(world, hero, place_of(item)),
            DeusCommand::Sell { item } => self.sell(world, hero, place_of(item)),
            DeusCommand::Equip { item } => self.equip(world, hero, place_of(item)),
            DeusCommand::Unequip { item } => self.unequip(world, hero, place_of(item)),
            DeusCommand::Use { item } => self.use_up(world, hero, place_of(item)),
            DeusCommand::Want { item } => self.want(world, hero, item),
            DeusCommand::Offer { to, give, gold, want, price } => {
                self.offer_trade(world, (hero, to), (give, gold), (want, price))
            }
            DeusCommand::Accept { offer } => self.accept_trade(world, hero, offer),
            DeusCommand::Ready => self.say_ready(world, hero, true),
            DeusCommand::Wait => self.say_ready(world, hero, false),
            DeusCommand::Learn { talent } => self.learn(world, hero, place_of(talent)),
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
            DeusTimer::Snap(trap) => self.snap(world, trap),
            DeusTimer::Arrive(number) if number == self.phase_number => self.arrive(world),
            DeusTimer::Follow(number) if number == self.phase_number => self.take_along(world),
            DeusTimer::PhaseEnds(_) | DeusTimer::Arrive(_) | DeusTimer::Follow(_) => {}
        }
    }

    fn step(&mut self, world: &mut DeusWorld, _: Duration) {
        self.move_bolts(world);
        self.look_for_opener(world);
        self.watch_traps(world);
        self.open_doors(world);
        if self.tally_at.is_some_and(|at| world.now() >= at) {
            self.tally(world);
        }
    }

    /// A hero who is hidden or only watches is not seen by others.
    fn sees(&self, world: &DeusWorld, viewer: Id<Hero>, object: ObjectId, _: Sight) -> bool {
        let hero = world.cast::<Hero>(object).filter(|hero| *hero != viewer);
        hero.and_then(|hero| self.heroes.get(&hero))
            .is_none_or(|hero| hero.takes_part() && !hero.is_hidden())
    }

    fn departs(&self, world: &DeusWorld, _: Player<'_, Self>) -> Option<(u32, Position)> {
        self.sends_to(world).map(|map| (map, world.centre()))
    }

    fn carry(&self, world: &DeusWorld, player: Player<'_, Self>) -> Option<Vec<u8>> {
        self.carried(world, player.avatar())
    }

    fn arrive(
        &mut self,
        world: &mut DeusWorld,
        newcomer: Newcomer<'_>,
        _: Position,
        carried: &[u8],
    ) -> Id<Hero> {
        let hero = self.join(world, newcomer);
        self.arrived(world, hero, carried);
        hero
    }

    fn is_finished(&self) -> bool {
        self.is_over
    }
}

impl Deus {
    /// Also the dead walk, to watch.
    fn walk(&self, world: &mut DeusWorld, player: Player<'_, Self>, to: Position) {
        let hero = self.heroes.get(&player.avatar()).filter(|_| self.phase != Phase::Onward);
        let Some(hero) = hero else { return };
        let from = world.avatar(player).position();
        let way = self.layout.way(world, from, to);
        world.avatar(player).path().walk_along_if_new(&way, hero.speed_m_per_s(&self.content));
    }
}
