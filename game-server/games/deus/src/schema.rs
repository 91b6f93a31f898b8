//! What clients know of the game: kinds, events, commands, refusals.

use ambit::prelude::*;

use crate::DeusWorld;
use crate::map::BODY_RADIUS_M;

/// Bytes of a name: 24 characters of 4.
pub(crate) const NAME_BYTES: u32 = 96;
/// The class of a hero who has none yet.
pub(crate) const NEWCOMER: &str = "newcomer";

/// The spells of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpellName;

/// Its classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class;

/// Its talents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Talent;

/// Its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item;

impl Listing for SpellName {}
impl Listing for Class {}
impl Listing for Talent {}
impl Listing for Item {}

/// The place of what is listed: content has at most 64 of each, which is checked when it is read.
pub(crate) fn place_of<L>(listed: Listed<L>) -> u8 {
    listed.index() as u8
}

/// A player's hero. Health and mana are in per cent of what the class and its items give.
#[derive(Kind, Default)]
#[look(glyph = '@', shape = arrow, colour = 0x40_90ff, size = 1.0, bar = health, label = name)]
#[look(by = class)]
pub struct Hero {
    pub(crate) path: Path,
    #[effect(hit, colour = 0xff_5030, size = 1.0)]
    #[component(unit = "%")]
    pub(crate) health: Gauge<100>,
    #[component(unit = "%")]
    #[audience(owner)]
    pub(crate) mana: Gauge<100>,
    #[component(role = player)]
    pub(crate) name: Text<NAME_BYTES>,
    /// `newcomer` before it is chosen.
    #[component(words("newcomer"))]
    pub(crate) class: Text<12>,
    pub(crate) alive: Flag,
    #[audience(owner)]
    pub(crate) level: Number<1, 99>,
    #[audience(owner)]
    pub(crate) experience: Number<0, 9_999_999>,
    /// For talents.
    #[component(label = "Talent points")]
    #[audience(owner)]
    pub(crate) points: Number<0, 99>,
    #[component(label = "Hidden from others", sign = hide)]
    #[audience(owner)]
    pub(crate) hidden: Flag,
    /// It takes part in the wave.
    #[audience(owner)]
    pub(crate) fights: Flag,
    /// It has come in the middle of a wave, or to a map where its party is not.
    #[component(label = "You fight from the next wave on")]
    #[audience(owner)]
    pub(crate) waits: Flag,
    /// It has said so, with the merchant.
    #[component(label = "You are ready")]
    #[audience(owner)]
    pub(crate) ready: Flag,
    /// By class, items and talents.
    #[component(unit = "m/s")]
    #[audience(owner)]
    pub(crate) speed: Half,
}

/// A monster of a wave.
#[derive(Kind)]
#[look(glyph = 'g', shape = disc, colour = 0x50_9040, size = 0.9, bar = health, label = name)]
#[look(by = name)]
pub struct Monster {
    pub(crate) path: Path,
    #[effect(hit, colour = 0xff_5030, size = 1.0)]
    pub(crate) health: Gauge<100>,
    /// Of its kind.
    pub(crate) name: Text<24>,
}

/// A creature that a hero has called. Nothing hurts it; it goes when its time is over.
#[derive(Kind)]
#[look(glyph = 'e', shape = disc, colour = 0xff_a040, material = glow, size = 0.7, bar = time_left)]
#[effect(arrival, colour = 0xff_b060, size = 1.6)]
pub struct Companion {
    pub(crate) path: Path,
    /// In per cent.
    pub(crate) time_left: Gauge<100>,
}

/// A chest, which opens for a hero who comes to it.
#[derive(Kind)]
#[look(glyph = 'C', figure = chest, shape = box, colour = 0xd0_a030, material = metal, size = 1.2)]
#[effect(arrival, colour = 0xff_e080, size = 2.0)]
pub(crate) struct Chest {
    pub(crate) path: Path,
}

/// Buys and sells, between two waves.
#[derive(Kind)]
#[look(glyph = 'M', figure = trader, shape = arrow, colour = 0x30_9c80, size = 1.1)]
#[effect(arrival, colour = 0x80_ffd0, size = 2.0)]
pub(crate) struct Merchant {
    pub(crate) path: Path,
}

/// A trap that a hero has found.
#[derive(Kind)]
#[look(glyph = '^', figure = trap, shape = box, colour = 0x60_2020, material = metal, size = 1.3)]
pub struct Trap {
    pub(crate) path: Path,
}

/// A part of a door that is closed.
#[derive(Kind)]
#[look(glyph = '+', shape = box, colour = 0x70_4a28, size = 2.0)]
pub struct Door {
    pub(crate) path: Path,
}

/// The course of the game.
#[derive(Kind, Default)]
#[kind(room_wide, name = "course")]
pub(crate) struct Campaign {
    /// Counted from 1; 0 before the first one.
    pub(crate) wave: Number<0, 99>,
    /// The name of the [`Phase`].
    #[component(words = Phase)]
    pub(crate) phase: Text<12>,
    /// Seconds to the end of the phase; 0 before a player has chosen.
    #[component(unit = "s")]
    pub(crate) time_left: Gauge<600>,
    /// Monsters that live.
    pub(crate) monsters: Number<0, 999>,
    /// What is in the chest, while it is shared out.
    #[component(label = "In the chest")]
    pub(crate) offer: Counts<Item, 99>,
}

/// A row of the table.
#[derive(Kind, Default)]
#[kind(room_wide, name = "score")]
pub(crate) struct HeroRow {
    /// Monsters that fell to this player.
    pub(crate) kills: Number<0, 9_999>,
    #[component(role = player)]
    pub(crate) name: Text<NAME_BYTES>,
    /// Empty before it is chosen.
    pub(crate) class: Text<12>,
    #[audience(owner)]
    pub(crate) gold: Number<0, 99_999>,
    /// How many it has.
    pub(crate) items: Number<0, 999>,
    pub(crate) alive: Flag,
    /// Which ones.
    #[audience(owner)]
    pub(crate) bag: Counts<Item, 999>,
    /// Those of them that it wears.
    #[component(label = "Equipped")]
    #[audience(owner)]
    pub(crate) worn: Counts<Item, 1>,
    /// Those that have a slot.
    #[audience(owner)]
    pub(crate) wearable: Counts<Item, 999>,
    /// Those that are used up.
    #[audience(owner)]
    pub(crate) usable: Counts<Item, 999>,
    /// The talents that it can learn now.
    #[audience(owner)]
    pub(crate) learnable: Counts<Talent, 1>,
    /// Those that it has.
    #[component(label = "Learned")]
    #[audience(owner)]
    pub(crate) learned: Counts<Talent, 1>,
}

/// A spell was cast.
#[derive(Event)]
#[event(name = "cast")]
#[effect(cast, colour = 0x90_a0ff, size = 1.2, at = caster)]
pub(crate) struct HeroCast {
    pub(crate) caster: Id<Hero>,
    pub(crate) spell: Listed<SpellName>,
    /// Where it takes effect, or towards where.
    pub(crate) at: Position,
    /// Milliseconds until then.
    pub(crate) due: i64,
}

/// A bolt flies from its caster.
#[derive(Event)]
#[event(name = "bolt")]
#[effect(beam, colour = 0xff_8020, size = 0.6, from = caster, at = at, due = due)]
pub(crate) struct BoltFlies {
    pub(crate) caster: Id<Hero>,
    /// Where it ends, if all monsters walk on as they do now.
    pub(crate) at: Position,
    /// Milliseconds until then.
    pub(crate) due: i64,
}

/// A blow will fall: it hits all heroes who are within reach of the place then.
#[derive(Event)]
#[effect(warning, colour = 0xff_4030, size = 1.6, at = at, reach = radius, due = due)]
pub(crate) struct Tell {
    pub(crate) monster: Id<Monster>,
    pub(crate) at: Position,
    /// In decimetres.
    pub(crate) radius: i64,
    /// Milliseconds until then.
    pub(crate) due: i64,
}

/// A monster calls others: they come to it then, if it is still alive.
#[derive(Event)]
#[effect(cast, colour = 0xb0_50ff, size = 2.5, at = monster)]
pub(crate) struct Summons {
    pub(crate) monster: Id<Monster>,
    /// Milliseconds until then.
    pub(crate) due: i64,
}

/// A hero has stepped on a trap: it hurts all who are within reach when it snaps.
#[derive(Event)]
#[effect(warning, colour = 0xff_4030, size = 4.0, at = trap, reach = radius, due = due)]
pub(crate) struct Snap {
    pub(crate) trap: Id<Trap>,
    /// In decimetres.
    pub(crate) radius: i64,
    /// Milliseconds until then.
    pub(crate) due: i64,
}

/// A spell with a delay has taken effect.
#[derive(Event)]
#[effect(blast, colour = 0xff_7020, size = 7.0, at = at)]
pub(crate) struct Burst {
    pub(crate) caster: Id<Hero>,
    pub(crate) at: Position,
}

/// A hero was healed, in per cent of the health.
#[derive(Event)]
#[effect(heal, colour = 0x70_ff90, size = 1.2)]
pub(crate) struct Relief {
    pub(crate) target: Id<Hero>,
    pub(crate) amount: i64,
}

/// A hero has come to a level.
#[derive(Event)]
#[event(text = "{hero} comes to level {level}")]
#[effect(arrival, colour = 0x80_c0ff, size = 1.8)]
pub(crate) struct LevelUp {
    pub(crate) hero: Id<Hero>,
    pub(crate) level: i64,
}

/// Several heroes have come to a level at once, for all to read.
#[derive(Event)]
#[event(text = "{heroes} heroes come to level {level}")]
pub(crate) struct HeroesRise {
    pub(crate) heroes: i64,
    pub(crate) level: i64,
}

/// A hero has died.
#[derive(Event)]
#[event(name = "death", text = "{target} has fallen")]
#[effect(death, colour = 0xc0_d060, size = 1.6)]
pub(crate) struct Fallen {
    pub(crate) target: ObjectId,
}

/// A hero has got an item, for all to read.
#[derive(Event)]
#[event(text = "{hero_name} gets {item}")]
pub(crate) struct Loot {
    pub(crate) hero_name: Text<NAME_BYTES>,
    pub(crate) item: Listed<Item>,
}

/// Another hero offers a trade, for the one who may accept it.
#[derive(Event)]
#[event(text = "{hero} offers {give} for {take}: accept {offer}")]
pub(crate) struct TradeOffered {
    pub(crate) hero: Id<Hero>,
    /// What the other hero gives.
    pub(crate) give: Text<48>,
    pub(crate) take: Text<48>,
    /// Its number, to accept it.
    pub(crate) offer: i64,
}

/// A trade is done, for each of the two.
#[derive(Event)]
#[event(text = "{hero} gives you {got} for {gave}")]
pub(crate) struct TradeDone {
    /// The other one.
    pub(crate) hero: Id<Hero>,
    pub(crate) got: Text<48>,
    pub(crate) gave: Text<48>,
}

/// A hero has nothing more to do at the merchant's.
#[derive(Event)]
#[event(text = "{hero} is ready")]
pub(crate) struct IsReady {
    pub(crate) hero: Id<Hero>,
}

/// Where the game is in its course.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Choice)]
pub(crate) enum Phase {
    /// The players choose their classes.
    #[default]
    #[choice(label = "Choosing classes")]
    Choose,
    Fight,
    #[choice(label = "To the chest")]
    Chest,
    /// Heroes say what they need of the chest.
    #[choice(label = "Sharing out the chest")]
    Share,
    #[choice(label = "At the merchant's")]
    Merchant,
    #[choice(outcome = won)]
    Won,
    #[choice(outcome = lost)]
    Lost,
    /// All go to another map.
    #[choice(label = "On to the next map")]
    Onward,
}

impl Phase {
    pub(crate) fn is_choosing(self) -> bool {
        self == Self::Choose
    }

    /// Nothing goes on that those who come would have to wait for.
    pub(crate) fn is_between(self) -> bool {
        matches!(self, Self::Choose | Self::Onward)
    }

    /// Whether a wave is played: a hero who is chosen then takes part from the next wave on, or at
    /// once if the fight goes on.
    pub(crate) fn is_wave(self) -> bool {
        matches!(self, Self::Fight | Self::Chest | Self::Share)
    }

    pub(crate) fn is_end(self) -> bool {
        matches!(self, Self::Won | Self::Lost)
    }
}

/// The course has come to another phase, for all to read.
#[derive(Event)]
#[event(lead = "Wave {wave}", text = "{phase}")]
pub(crate) struct PhaseBegins {
    pub(crate) phase: Phase,
    pub(crate) wave: i64,
}

/// Who gets the items of a chest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Choice)]
pub(crate) enum LootRule {
    /// Heroes say what they need; dice among those who want the same.
    #[default]
    Need,
    /// Dice among all.
    Greed,
    /// One after the other.
    Turns,
}

/// What players can do.
#[derive(Clone, Debug, PartialEq, Command)]
pub enum DeusCommand {
    /// Walk to a place, round obstacles.
    #[command(newest_only, key = "click", only_for(alive))]
    #[command(walk(speed_in = "speed", radius = BODY_RADIUS_M))]
    Move {
        /// The place.
        to: Position,
    },
    /// Cast a spell of the class.
    #[command(only_for(fights))]
    Cast {
        /// Which one.
        spell: Listed<SpellName>,
        /// Where to, if the spell needs a place.
        at: Option<Position>,
    },
    /// Choose a class.
    Choose {
        /// Which one.
        #[field(sets = class)]
        class: Listed<Class>,
    },
    /// Learn a talent of the class, for a point.
    #[command(only_for(alive))]
    Learn {
        /// Which one.
        #[field(listed_in = learnable, marked_in = learned)]
        talent: Listed<Talent>,
    },
    /// Buy an item from the merchant.
    #[command(label = "Buy", only_for(phase = "merchant"))]
    Buy {
        /// Which one.
        item: Listed<Item>,
    },
    /// Sell an item to the merchant.
    #[command(label = "Sell", only_for(phase = "merchant"))]
    Sell {
        /// Which one.
        #[field(listed_in = bag, marked_in = worn)]
        item: Listed<Item>,
    },
    /// Put an item on, in place of the one in its slot.
    #[command(label = "Equip", only_for(alive))]
    Equip {
        /// Which one.
        #[field(listed_in = wearable, marked_in = worn)]
        item: Listed<Item>,
    },
    /// Take an item off.
    #[command(label = "Unequip", only_for(phase = "merchant"))]
    Unequip {
        /// Which one.
        #[field(listed_in = worn)]
        item: Listed<Item>,
    },
    /// Use an item up.
    #[command(label = "Use", only_for(alive))]
    Use {
        /// Which one.
        #[field(listed_in = usable)]
        item: Listed<Item>,
    },
    /// Say what you need of the chest.
    ///
    /// Without an item, that you need nothing.
    #[command(label = "Need", only_for(phase = "share"), sign = share)]
    Want {
        /// Which one.
        #[field(listed_in = offer)]
        item: Option<Listed<Item>>,
    },
    /// Offer a hero who is near something of yours for something of theirs.
    ///
    /// Nothing changes hands before the other one accepts this very offer.
    #[command(label = "Trade", only_for(alive))]
    Offer {
        /// With whom.
        to: Id<Hero>,
        /// What you give.
        #[field(listed_in = bag, marked_in = worn)]
        give: Option<Listed<Item>>,
        /// Gold that you give.
        gold: Option<Number<0, 99_999>>,
        /// The name of an item that you want.
        want: Option<Text<NAME_BYTES>>,
        /// Gold that you want.
        price: Option<Number<0, 99_999>>,
    },
    /// Accept a trade that another hero has offered, by its number.
    #[command(label = "Accept a trade", only_for(alive))]
    Accept {
        /// Which one.
        offer: i64,
    },
    /// Go on to the next wave as soon as all are ready.
    #[command(only_for(phase = "merchant"), sign = ready)]
    Ready,
    /// Take that back: there is still something to buy or to sell.
    #[command(label = "Not ready", only_for(ready))]
    Wait,
}

/// Why the game refuses a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Refusal)]
pub enum DeusRefusal {
    /// There is no class yet.
    #[text("choose a class first")]
    NoClass,
    /// The class is chosen for the whole game.
    #[text("the class is chosen already")]
    ClassChosen,
    /// It is another class's.
    #[text("that is for another class")]
    OtherClass,
    /// Each level gives one.
    #[text("no points for talents; the next level gives one")]
    NoPoints,
    /// Another talent comes first.
    #[text("another talent comes first")]
    NotYet,
    /// It raises nothing twice.
    #[text("learned already")]
    LearnedAlready,
    /// There is not enough mana.
    #[text("not enough mana")]
    NotEnoughMana,
    /// The spell is not ready yet.
    #[text("not ready yet")]
    OnCooldown,
    /// The hero is dead.
    #[text("you are out until the end of the game")]
    Dead,
    /// The hero has come in the middle of a wave.
    #[text("you fight from the next wave on")]
    Waits,
    /// No monster, or the place, is near enough.
    #[text("out of range")]
    OutOfRange,
    /// The merchant is available between two waves.
    #[text("there is no merchant now")]
    NoMerchant,
    /// The price is higher than that.
    #[text("not enough gold")]
    NotEnoughGold,
    /// The hero carries as many items as a bag holds.
    #[text("you carry enough: sell something first")]
    BagFull,
    /// The hero has none of these.
    #[text("you have none of these")]
    NotYours,
    /// It has no slot, or is not worn now.
    #[text("that is not worn")]
    NotWorn,
    /// It is worn, or works in the bag.
    #[text("that is not used up")]
    NotUsable,
    /// No chest is shared out now.
    #[text("no chest is shared out now")]
    NoChest,
    /// None of these is in the chest.
    #[text("that is not in the chest")]
    NotInChest,
    /// The spell needs a place, and the command has none.
    #[text("give a place: cast SPELL X Y")]
    NoPlace,
    /// The hero has come to a map where its party is not.
    #[text("your party is on another map; you follow it")]
    Follows,
    /// There is no such offer, or the other hero cannot give its part any more.
    #[text("there is no such offer any more")]
    NoTrade,
    /// No item has this name.
    #[text("there is no item of that name")]
    NoSuchItem,
    /// A trade needs something.
    #[text("name what you give or what you want")]
    NothingOffered,
    /// A bolt needs a way on which it flies.
    #[text("choose a place farther away")]
    TooNear,
}

/// What happens later.
#[derive(Debug, Serialize, Deserialize)]
pub enum DeusTimer {
    /// A monster decides.
    Think(Id<Monster>),
    /// A blow falls: who strikes, where, and its radius in metres.
    Blow(Id<Monster>, Position, f32),
    /// Others come: who has called them, their kind, and how many.
    Rise(Id<Monster>, u8, u32),
    /// A spell with a delay takes effect.
    Burst(Id<Hero>, u8, Position),
    /// What lasted on a monster or a hero ends, or the monster is dead of it.
    Lapse(ObjectId),
    /// A hidden hero is seen again.
    Appear(Id<Hero>),
    /// A companion decides.
    Assist(Id<Companion>),
    /// A dead hero is not seen any more.
    Fade(Id<Hero>),
    /// The phase ends, if it is still this one.
    PhaseEnds(u32),
    /// A trap hurts.
    Snap(Id<Trap>),
    /// More monsters of a wave come, if it is still this phase.
    Arrive(u32),
    /// Watching heroes are moved to the others, if it is still this phase.
    Follow(u32),
}

pub(crate) fn spawn_monster(world: &mut DeusWorld, at: Position, name: &str) -> Id<Monster> {
    world.spawn(Monster { path: Path::at(at), health: Gauge::full(), name: name.into() })
}
