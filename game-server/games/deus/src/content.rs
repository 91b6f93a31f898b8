//! What the game is made of, as data: classes, spells, talents, monsters, items, waves and maps in
//! TOML.
//!
//! Texts go in; a checked [`Content`] or all mistakes come out, each with its file, its line and
//! the text of that line. Units are in the names of the fields. A room has the shipped content or
//! a folder of the operator's, which the program reads once, so that all rooms of a name play the
//! same. What a room saves contains the operator's texts: it goes on with them elsewhere.

mod check;
pub(crate) mod folders;
pub(crate) mod rooms;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use ambit::Rng;
use ambit::prelude::*;
use ambit::presentation::{Element, Figure, Rarity, Sign, Thing};
use toml::Spanned;

use self::rooms::MapsTable;

/// A blow also hits a hero who has come out of its radius by less than this.
pub(crate) const GRACE_M: f32 = 0.4;

pub(crate) const SHIPPED: &str = "shipped";
/// The number of files in a content.
const FILE_COUNT: usize = 7;
/// The place of the talents among them.
const TALENTS: usize = 6;
const FILES: [&str; FILE_COUNT] = [
    "classes.toml",
    "items.toml",
    "monsters.toml",
    "spells.toml",
    "waves.toml",
    "maps.toml",
    "talents.toml",
];
const SHIPPED_TEXTS: [&str; FILE_COUNT] = [
    include_str!("../content/classes.toml"),
    include_str!("../content/items.toml"),
    include_str!("../content/monsters.toml"),
    include_str!("../content/spells.toml"),
    include_str!("../content/waves.toml"),
    include_str!("../content/maps.toml"),
    include_str!("../content/talents.toml"),
];

static OF_THE_GAME: LazyLock<SharedContent> = LazyLock::new(|| {
    let content = Content::parse(SHIPPED_TEXTS.map(str::to_owned));
    SharedContent(Arc::new(content.expect("a test reads the shipped content")))
});

/// All of it, checked: what one table names is in another one.
#[derive(Debug)]
pub(crate) struct Content {
    /// In the order of the file, as items, spells and talents.
    pub(crate) classes: Vec<ClassTable>,
    pub(crate) items: Vec<ItemTable>,
    /// In the order of their names.
    pub(crate) monsters: Vec<MonsterTable>,
    pub(crate) spells: Vec<SpellTable>,
    pub(crate) talents: Vec<TalentTable>,
    /// Heroes within this distance share the experience of a monster that dies.
    pub(crate) share_m: f32,
    /// The experience with which the second, the third, ... level begins.
    pub(crate) levels: Vec<u32>,
    pub(crate) waves: WaveTable,
    pub(crate) maps: MapsTable,
    texts: [String; FILE_COUNT],
}

/// The content of a room; saved as its texts, unless it is the shipped one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Option<[String; FILE_COUNT]>", try_from = "Option<[String; FILE_COUNT]>")]
pub(crate) struct SharedContent(Arc<Content>);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClassTable {
    #[serde(skip)]
    pub(crate) name: String,
    /// What it is good at, in a sentence.
    #[serde(default)]
    pub(crate) about: String,
    /// What a hero looks like.
    pub(crate) figure: Option<Figure>,
    pub(crate) health: f32,
    pub(crate) health_per_s: f32,
    pub(crate) mana: f32,
    pub(crate) mana_per_s: f32,
    pub(crate) speed_m_per_s: f32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpellTable {
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) class: String,
    pub(crate) mana: f32,
    pub(crate) cooldown_s: f32,
    /// Monsters that are nearer hear the cast.
    pub(crate) noise_m: f32,
    /// The time until it takes effect.
    #[serde(default)]
    pub(crate) delay_s: f32,
    pub(crate) shape: SpellShape,
    #[serde(default)]
    pub(crate) damage: f32,
    #[serde(default)]
    pub(crate) damage_kind: DamageKind,
    #[serde(default)]
    pub(crate) push_m: f32,
    #[serde(default)]
    pub(crate) heal: f32,
    #[serde(default)]
    pub(crate) hides_s: f32,
    /// On its button.
    pub(crate) sign: Option<Sign>,
    /// What it looks like on its way.
    pub(crate) made_of: Option<Element>,
    pub(crate) lasting: Option<LastingTable>,
    pub(crate) summons: Option<CompanionTable>,
}

/// Where a spell has an effect.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) enum SpellShape {
    /// The caster.
    Own,
    /// The nearest monster.
    Nearest {
        range_m: f32,
    },
    /// The hero who has lost most health.
    Ally {
        range_m: f32,
    },
    Around {
        radius_m: f32,
    },
    Bolt {
        range_m: f32,
        speed_m_per_s: f32,
        #[serde(default)]
        pierces: bool,
    },
    Place {
        range_m: f32,
        radius_m: f32,
    },
}

/// What a monster may resist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DamageKind {
    #[default]
    Physical,
    Fire,
    Cold,
    Poison,
    Holy,
}

/// What goes on for a while.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LastingTable {
    pub(crate) for_s: f32,
    #[serde(default)]
    pub(crate) damage_per_s: f32,
    #[serde(default)]
    pub(crate) heal_per_s: f32,
    /// Reduction of speed, in per cent.
    #[serde(default)]
    pub(crate) slow: f32,
}

/// A creature that strikes monsters for the hero who called it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompanionTable {
    pub(crate) count: u32,
    pub(crate) at_once: u32,
    pub(crate) for_s: f32,
    pub(crate) damage: f32,
    pub(crate) speed_m_per_s: f32,
    pub(crate) reach_m: f32,
    pub(crate) notice_m: f32,
    pub(crate) every_s: f32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TalentFile {
    share_m: f32,
    levels: Vec<u32>,
    talent: BTreeMap<Spanned<String>, TalentTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TalentTable {
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) class: String,
    /// It raises that of this spell alone.
    pub(crate) spell: Option<String>,
    /// Talents that come first.
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    pub(crate) raises: Raises,
}

/// In per cent.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Raises {
    #[serde(default)]
    pub(crate) damage: f32,
    #[serde(default)]
    pub(crate) armour: f32,
    #[serde(default)]
    pub(crate) health: f32,
    #[serde(default)]
    pub(crate) mana: f32,
    #[serde(default)]
    pub(crate) speed: f32,
    #[serde(default)]
    pub(crate) healing: f32,
    /// How often spells can be cast.
    #[serde(default)]
    pub(crate) haste: f32,
    #[serde(default)]
    pub(crate) radius: f32,
    #[serde(default)]
    pub(crate) duration: f32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MonsterTable {
    #[serde(skip)]
    pub(crate) name: String,
    /// What it looks like.
    pub(crate) figure: Option<Figure>,
    /// How large it looks, in sizes of its kind.
    #[serde(default = "one")]
    pub(crate) size: f32,
    /// Whether all players watch its health.
    #[serde(default)]
    pub(crate) boss: bool,
    pub(crate) behaviour: Behaviour,
    pub(crate) health: f32,
    pub(crate) damage: f32,
    pub(crate) speed_m_per_s: f32,
    /// It strikes a hero within this distance.
    pub(crate) reach_m: f32,
    /// The radius of a blow or a shot.
    pub(crate) blow_m: f32,
    /// It steps back from a hero within this distance.
    #[serde(default)]
    pub(crate) keep_m: f32,
    pub(crate) notice_m: f32,
    /// It gives up at this distance from the place where it noticed its target.
    pub(crate) leash_m: f32,
    pub(crate) windup_s: f32,
    pub(crate) rest_s: f32,
    pub(crate) gold: i64,
    pub(crate) experience: u32,
    /// Reduction of damage of each kind, in per cent.
    #[serde(default)]
    pub(crate) resists: BTreeMap<DamageKind, f32>,
    pub(crate) calls: Option<CallTable>,
    /// In their order.
    #[serde(default)]
    pub(crate) phases: Vec<PhaseTable>,
}

fn one() -> f32 {
    1.0
}

/// How a monster fights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Behaviour {
    /// Surrounds a hero and strikes.
    Melee,
    /// Shoots, and keeps away.
    Ranged,
    /// As `Ranged`, and calls others.
    Caster,
}

/// Monsters that come because another one calls them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallTable {
    pub(crate) kind: String,
    pub(crate) count: u32,
    /// The most that live at once, for each caller.
    pub(crate) at_once: u32,
    pub(crate) every_s: f32,
}

/// What changes as soon as less than a share of the health is left.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PhaseTable {
    pub(crate) below: f32,
    /// Factors of the speed and of the radius of a blow.
    pub(crate) speed: f32,
    pub(crate) blow: f32,
    /// Called once, when the phase begins.
    pub(crate) calls: Option<CallTable>,
}

/// Where an item is worn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ItemSlot {
    Weapon,
    Armour,
    Gloves,
    Boots,
    Ring,
    Amulet,
    /// It is used up, and worn nowhere.
    Consumable,
}

/// What it raises is in per cent; a consumable gives so much of the health and the mana at once.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ItemTable {
    #[serde(skip)]
    pub(crate) name: String,
    /// Without one it works in the bag, each of a kind.
    pub(crate) slot: Option<ItemSlot>,
    #[serde(default = "common")]
    pub(crate) rarity: Rarity,
    /// After one was used up, the next one of its kind is refused for this time.
    #[serde(default)]
    pub(crate) cooldown_s: f32,
    /// What its card shows.
    pub(crate) thing: Option<Thing>,
    /// Its colour, as 0xRRGGBB.
    pub(crate) tint: Option<u32>,
    /// In gold; each item has one.
    #[serde(default)]
    pub(crate) price: i64,
    #[serde(default)]
    pub(crate) damage: f32,
    #[serde(default)]
    pub(crate) armour: f32,
    #[serde(default)]
    pub(crate) health: f32,
    #[serde(default)]
    pub(crate) speed: f32,
    #[serde(default)]
    pub(crate) mana: f32,
}

fn common() -> Rarity {
    Rarity::Common
}

/// What the items that work give a hero together, in per cent.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ItemBonus {
    pub(crate) damage: f32,
    pub(crate) armour: f32,
    pub(crate) health: f32,
    pub(crate) speed: f32,
    pub(crate) mana: f32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaveTable {
    pub(crate) last: i64,
    pub(crate) choose_s: f32,
    pub(crate) gather_s: f32,
    pub(crate) chest_s: f32,
    pub(crate) fight_s: f32,
    pub(crate) share_s: f32,
    pub(crate) merchant_s: f32,
    pub(crate) sells_back: f32,
    pub(crate) carries: usize,
    /// What is cheaper is in no chest.
    #[serde(default)]
    pub(crate) found_from: i64,
    /// How often chests have items of each rarity: shares. Empty for the usual ones.
    #[serde(default)]
    rarity: BTreeMap<Rarity, u32>,
    pub(crate) end_s: f32,
    pub(crate) base: f32,
    pub(crate) per_hero: f32,
    pub(crate) more: f32,
    pub(crate) stronger: f32,
    pub(crate) most: u32,
    /// The power of the ratio by which a wave exceeds `most`.
    #[serde(default)]
    pub(crate) beyond_most: f32,
    /// The number of heroes for which bosses are as strong as their tables say. Without it, bosses
    /// do not depend on the number of heroes.
    pub(crate) boss_heroes: Option<u32>,
    pub(crate) first: u32,
    pub(crate) then_per_s: u32,
    pub(crate) hunt_after_s: f32,
    pub(crate) wave: Vec<WaveRow>,
}

/// The monsters that come from a wave on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaveRow {
    pub(crate) from: i64,
    /// Shares of kinds.
    pub(crate) kinds: BTreeMap<String, u32>,
    /// One more monster, in the first of these waves only.
    pub(crate) boss: Option<String>,
}

impl WaveTable {
    /// How many monsters a wave has for a number of heroes, and how strong they are.
    pub(crate) fn monsters_of(&self, wave: i64, heroes: usize) -> (u32, f32) {
        let further = (wave - 1) as f32;
        let wanted = (self.base + self.per_hero * heroes as f32) * self.more.powf(further);
        let beyond = (wanted / self.most as f32).max(1.0).powf(self.beyond_most);
        ((wanted.round() as u32).clamp(1, self.most), self.strength_of(wave) * beyond)
    }

    /// How often chests have items of a rarity.
    pub(crate) fn share_of(&self, rarity: Rarity) -> u32 {
        if !self.rarity.is_empty() {
            return self.rarity.get(&rarity).copied().unwrap_or_default();
        }
        match rarity {
            Rarity::Common => 60,
            Rarity::Uncommon => 25,
            Rarity::Rare => 12,
            Rarity::Epic => 3,
            Rarity::Legendary => 1,
        }
    }

    /// By how much health and damage have grown since the first wave.
    fn strength_of(&self, wave: i64) -> f32 {
        1.0 + self.stronger * (wave - 1) as f32
    }

    /// A boss has more health and damage against more heroes: both by the square root, so that the
    /// two together are in proportion to them.
    pub(crate) fn strength_of_boss(&self, wave: i64, heroes: usize) -> f32 {
        let ratio = self.boss_heroes.map_or(1.0, |usual| heroes as f32 / usual as f32);
        self.strength_of(wave) * ratio.sqrt()
    }
}

impl WaveRow {
    /// One of the kinds, each as often as its share says.
    pub(crate) fn draw(&self, rng: &mut Rng) -> Option<&String> {
        let total = self.kinds.values().sum::<u32>().max(1);
        let mut share = rng.u32(..total);
        let chosen = self.kinds.iter().find(|(_, part)| {
            let is_chosen = share < **part;
            share = share.saturating_sub(**part);
            is_chosen
        });
        chosen.map(|(kind, _)| kind)
    }
}

impl SpellShape {
    /// Whether the caster chooses the place.
    pub(crate) fn needs_place(self) -> bool {
        matches!(self, Self::Bolt { .. } | Self::Place { .. })
    }
}

impl SpellTable {
    /// Whether it does something to monsters, so that a hidden caster is seen again.
    pub(crate) fn is_hostile(&self) -> bool {
        let lasts = self.lasting.is_some_and(|it| it.damage_per_s > 0.0 || it.slow > 0.0);
        lasts || self.damage > 0.0 || self.push_m > 0.0 || self.summons.is_some()
    }

    /// Whether it does something to heroes.
    pub(crate) fn is_friendly(&self) -> bool {
        self.heal > 0.0 || self.lasting.is_some_and(|it| it.heal_per_s > 0.0)
    }
}

impl ItemTable {
    /// Where a hero wears it.
    pub(crate) fn worn_slot(&self) -> Option<ItemSlot> {
        self.slot.filter(|slot| *slot != ItemSlot::Consumable)
    }

    pub(crate) fn is_consumable(&self) -> bool {
        self.slot == Some(ItemSlot::Consumable)
    }
}

impl ItemBonus {
    /// Adds what an item gives, or takes it away with -1.
    pub(crate) fn add(&mut self, item: &ItemTable, sign: f32) {
        self.damage += sign * item.damage;
        self.armour += sign * item.armour;
        self.health += sign * item.health;
        self.speed += sign * item.speed;
        self.mana += sign * item.mana;
    }
}

impl Content {
    /// The content of texts in the order of [`FILES`], or all mistakes in them.
    fn parse(texts: [String; FILE_COUNT]) -> Result<Self, Vec<String>> {
        let mut mistakes = check::ContentMistakes::new(FILES, texts.each_ref().map(String::as_str));
        let classes = mistakes.read::<BTreeMap<_, ClassTable>>(0);
        let items = mistakes.read::<BTreeMap<_, ItemTable>>(1);
        let monsters = mistakes.read::<BTreeMap<String, MonsterTable>>(2);
        let spells = mistakes.read::<BTreeMap<_, SpellTable>>(3);
        let waves = mistakes.read::<WaveTable>(4);
        let maps = mistakes.read::<MapsTable>(5);
        let talents = mistakes.read::<TalentFile>(TALENTS);
        mistakes.check();
        mistakes.check_rooms(maps.as_ref());
        if !mistakes.found.is_empty() {
            return Err(mistakes.sorted());
        }
        let read = (classes, items, monsters, spells, waves, maps);
        let (Some(classes), Some(items), Some(monsters), Some(spells), Some(waves), Some(maps)) =
            read
        else {
            return Err(mistakes.sorted());
        };
        let Some(TalentFile { share_m, levels, talent }) = talents else {
            return Err(mistakes.sorted());
        };
        let classes = in_order(classes, |name, table| ClassTable { name, ..table });
        let items = in_order(items, |name, table| ItemTable { name, ..table });
        let spells = in_order(spells, |name, table| SpellTable { name, ..table });
        let talents = in_order(talent, |name, table| TalentTable { name, ..table });
        let named = |(name, mut table): (String, MonsterTable)| {
            table.phases.sort_by(|one, other| other.below.total_cmp(&one.below));
            MonsterTable { name, ..table }
        };
        let monsters: Vec<_> = monsters.into_iter().map(named).collect();
        mistakes.check_reach(&classes, &monsters, &maps);
        if !mistakes.found.is_empty() {
            return Err(mistakes.sorted());
        }
        Ok(Self { classes, items, monsters, spells, talents, share_m, levels, waves, maps, texts })
    }

    pub(crate) fn class(&self, class: u8) -> &ClassTable {
        &self.classes[usize::from(class)]
    }

    pub(crate) fn spell(&self, spell: u8) -> &SpellTable {
        &self.spells[usize::from(spell)]
    }

    pub(crate) fn talent(&self, talent: u8) -> &TalentTable {
        &self.talents[usize::from(talent)]
    }

    /// `None` for an index of other content.
    pub(crate) fn item(&self, index: u8) -> Option<&ItemTable> {
        self.items.get(usize::from(index))
    }

    pub(crate) fn item_named(&self, name: &str) -> Option<u8> {
        self.items.iter().position(|item| item.name == name).map(|index| index as u8)
    }

    /// The index of the monster of this name, which is one of them: that is checked.
    pub(crate) fn kind_of(&self, monster: &str) -> u8 {
        let found = self.monsters.binary_search_by(|table| table.name.as_str().cmp(monster));
        found.unwrap_or_default() as u8
    }

    pub(crate) fn monster(&self, kind: u8) -> &MonsterTable {
        &self.monsters[usize::from(kind)]
    }
}

impl MonsterTable {
    /// From how far away a blow of it hurts a hero: from its place to the farthest point that the
    /// blow covers.
    fn hurts_from_m(&self) -> f32 {
        let widest = self.phases.iter().map(|phase| phase.blow).fold(1.0, f32::max);
        self.reach_m + self.blow_m * widest + GRACE_M
    }
}

impl SharedContent {
    /// The content of this name; the error says what is wrong with it.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        if name == SHIPPED {
            return Ok(Self::default());
        }
        let found =
            folders::FOLDERS.get(name).ok_or_else(|| format!("there is no content '{name}'"))?;
        found.clone().map_err(|mistakes| {
            let count =
                if mistakes.len() == 1 { "one mistake" } else { "several mistakes, the first one" };
            format!("{count}: {}", mistakes[0])
        })
    }
}

impl SharedContent {
    pub(crate) fn is_shipped(&self) -> bool {
        Arc::ptr_eq(&self.0, &OF_THE_GAME.0)
    }
}

impl Default for SharedContent {
    fn default() -> Self {
        OF_THE_GAME.clone()
    }
}

impl Deref for SharedContent {
    type Target = Content;

    fn deref(&self) -> &Content {
        &self.0
    }
}

impl From<SharedContent> for Option<[String; FILE_COUNT]> {
    fn from(content: SharedContent) -> Self {
        (!content.is_shipped()).then(|| content.texts.clone())
    }
}

impl TryFrom<Option<[String; FILE_COUNT]>> for SharedContent {
    type Error = String;

    fn try_from(texts: Option<[String; FILE_COUNT]>) -> Result<Self, String> {
        let Some(texts) = texts else { return Ok(Self::default()) };
        let content = Content::parse(texts).map_err(|mistakes| mistakes.join("; "))?;
        Ok(Self(Arc::new(content)))
    }
}

/// The tables of a file, in its order.
fn in_order<T>(read: BTreeMap<Spanned<String>, T>, named: fn(String, T) -> T) -> Vec<T> {
    let mut tables: Vec<_> = read.into_iter().collect();
    tables.sort_by_key(|(name, _)| name.span().start);
    tables.into_iter().map(|(name, table)| named(name.into_inner(), table)).collect()
}

/// Whether players can type this name and it has at most `most` bytes.
fn is_typeable(name: &str, most: usize) -> bool {
    let is_good = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-');
    (1..=most).contains(&name.len()) && name.chars().all(is_good)
}

/// The name of content with as many items as there may be, for tests.
#[cfg(test)]
pub(crate) const LARGE: &str = "large";

#[cfg(test)]
impl SharedContent {
    /// As an operator's: 64 items whose names are as long as they may be, and of which there is as
    /// much to say; a hero carries 100.
    pub(crate) fn of_many_items() -> Self {
        const SLOTS: [&str; 6] = ["weapon", "armour", "gloves", "boots", "ring", "amulet"];
        let mut texts = SHIPPED_TEXTS.map(str::to_owned);
        let item = |index: usize| {
            format!(
                "[{index:02}-item-of-a-long-name-x]\nslot = '{}'\nrarity = 'legendary'\n\
                 thing = 'winged_boots'\ntint = 0x123456\nprice = 10000\n\
                 damage = 123.5\narmour = 123.5\nhealth = 123.5\nspeed = 123.5\nmana = 123.5\n",
                SLOTS[index % SLOTS.len()]
            )
        };
        texts[1] = (0..64).map(item).collect();
        let waves = FILES.iter().position(|name| *name == "waves.toml").expect("waves");
        let carries =
            texts[waves].lines().find(|line| line.starts_with("carries")).expect("a line");
        texts[waves] = texts[waves].replace(carries, "carries = 100");
        Self(Arc::new(Content::parse(texts).expect("good content")))
    }

    /// As an operator's: the shipped content with more monsters, of all kinds from the beginning.
    pub(crate) fn of_many() -> Self {
        let mut texts = SHIPPED_TEXTS.map(str::to_owned);
        let all = "kinds = { goblin = 2, brute = 1, wolf = 1, bowman = 1, shaman = 1 }";
        texts[4] = texts[4].replace("kinds = { goblin = 1 }", all);
        texts[4] = texts[4].replace("base = 0.0", "base = 40.0");
        Self(Arc::new(Content::parse(texts).expect("good content")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mistakes of the shipped content with one text in place of another.
    fn mistakes(file: &str, old: &str, new: &str) -> Vec<String> {
        let mut texts = SHIPPED_TEXTS.map(str::to_owned);
        let index = FILES.iter().position(|name| *name == file).expect("a file of content");
        assert!(texts[index].contains(old), "{file} has no {old}");
        texts[index] = texts[index].replacen(old, new, 1);
        Content::parse(texts).map_or_else(|mistakes| mistakes, |_| Vec::new())
    }

    #[test]
    fn the_shipped_content_is_good_and_has_two_bosses() {
        let content = SharedContent::default();
        assert_eq!(content.spell(0).shape, SpellShape::Nearest { range_m: 2.4 });
        let classes: Vec<_> = content.classes.iter().map(|table| &*table.name).collect();
        assert_eq!(classes, ["warrior", "mage", "archer", "healer"]);
        for class in classes {
            let spells = content.spells.iter().filter(|spell| spell.class == class).count();
            let talents = content.talents.iter().filter(|talent| talent.class == class).count();
            assert!((3..=5).contains(&spells) && talents == 12, "{class}: {spells}, {talents}");
        }
        assert_eq!(content.monster(content.kind_of("wolf")).name, "wolf");
        assert_eq!(content.monsters.iter().filter(|it| it.phases.is_empty()).count(), 8);
        let bosses = content.waves.wave.iter().filter(|row| row.boss.is_some());
        let last = content.waves.last;
        assert_eq!(bosses.map(|row| row.from).collect::<Vec<_>>(), [last / 2, last]);
    }

    #[test]
    fn a_mistake_names_file_line_and_field() {
        let check = |file: &str, (old, new): (&str, &str), expected: &[&str]| {
            let found = mistakes(file, old, new);
            assert_eq!(found.len(), 1, "{new}: {found:?}");
            for part in [&[file, "line "], expected].concat() {
                assert!(found[0].contains(part), "{found:?} has no {part}");
            }
        };
        let goblin = "health = 40";
        check("monsters.toml", (goblin, "health = 'x'"), &["line 15: ", "`health = 'x'`", "f32"]);
        for wrong in ["health = -1", "health = 0", "health = nan", "health = inf"] {
            check("monsters.toml", (goblin, wrong), &["line 15: ", "`health` must be from 1"]);
        }
        check("monsters.toml", (goblin, ""), &["line 12: ", "missing field `health`"]);
        check("monsters.toml", ("\"horned\"", "\"hornd\""), &["unknown variant `hornd`"]);
        check("monsters.toml", ("size = 1.75", "size = 20.0"), &["`size` must be from 0.1 to 10"]);
        check("items.toml", ("0x7f8c99", "0x1000000"), &["`tint` must be from 0 to 16777215"]);
        check("monsters.toml", ("gold = 3", "gold = 3\nluck = 3"), &["unknown field `luck`"]);
        check("monsters.toml", ("reach_m = 1.6", "reach_m = 0.0"), &["`reach_m` must be from 0.1"]);
        check("monsters.toml", ("kind = \"rat\"", "kind = \"bat\""), &["`kind`", "no 'bat'"]);
        check("monsters.toml", ("below = 0.6", "below = 1.5"), &["`below` must be from"]);
        check("monsters.toml", ("\"melee\"", "\"caster\""), &["needs `calls`"]);
        check("spells.toml", ("\"mage\"", "\"bard\""), &["`class`: classes.toml has no 'bard'"]);
        check("waves.toml", ("boss = \"lich\"", "boss = \"lych\""), &["`boss`", "no 'lych'"]);
        check("waves.toml", ("rat = 2", "bat = 2"), &["`kinds`", "no 'bat'"]);
        check("waves.toml", ("{ goblin = 1 }", "{}"), &["`kinds` names nobody"]);
        check("items.toml", ("damage = 15", "damage = = 15"), &["line 42: "]);
        check("items.toml", ("price = 40", ""), &["line 38: ", "a `price`, and something"]);
        check("items.toml", ("damage = 15", ""), &["line 38: ", "something that it raises"]);
        check("items.toml", ("slot = \"weapon\"", "slot = \"hat\""), &["unknown variant `hat`"]);
        check("items.toml", ("slot = \"weapon\"", "cooldown_s = 3"), &["`cooldown_s` is of what"]);
        check("items.toml", ("health = 40", "damage = 4"), &["a consumable gives `health`"]);
        check("waves.toml", ("epic = 3", "epic = -3"), &["`epic` must be from 0 to 1000"]);
        check("waves.toml", ("epic = 3", "mythic = 3"), &["unknown variant `mythic`"]);
        check("waves.toml", ("sells_back = 0.5", "sells_back = 1.5"), &["must be from 0 to 1"]);
        check("waves.toml", ("beyond_most = 1", "beyond_most = 3"), &["must be from 0 to 2"]);
        check("waves.toml", ("boss_heroes = 24", "boss_heroes = 0"), &["must be from 1 to 100"]);
        check("maps.toml", ("[-30.0, -22.0]", "[-300.0, 0.0]"), &["`spawns` must be from -45"]);
        check("maps.toml", ("[48.0, 40.0]", "[48.0, 400.0]"), &["`size_m` must be from 16 to 90"]);
        check("maps.toml", ("[72.0, 56.0]", "[72.0]"), &["line 30: "]);
        let name = mistakes("items.toml", "[iron-ring]", "['iron ring']");
        assert_eq!(
            name,
            ["items.toml needs names of `a-z`, `0-9`, `_` and `-`, of 24 bytes at most"]
        );
        let in_a_pillar = mistakes("maps.toml", "[-18.0, 0.0]", "[-24.0, 12.0]");
        assert_eq!(in_a_pillar, ["maps.toml needs a way from the middle of room 1 to (-24, 12)"]);
        let pillar = "[-10.0, -7.0, 0.8]";
        for (new, what) in [
            ("[-10.0, -7.0, -0.8]", "whose extents are 0.1 or more"),
            ("[-44.0, -7.0, 0.8]", "that are inside of it, not (-44, -7)"),
        ] {
            let told = mistakes("maps.toml", pillar, new);
            assert_eq!(told, [format!("maps.toml needs `pillars` in the merchant's room {what}")]);
        }
        let spawns = "[[-20.0, 16.0], [20.0, -16.0], [-20.0, -16.0], [20.0, 16.0]]";
        let told = mistakes("maps.toml", spawns, "[]");
        assert_eq!(told, ["maps.toml needs `spawns` in room 4"]);
        let no_first = mistakes("waves.toml", "from = 1\n", "from = 2\n");
        assert_eq!(no_first, ["waves.toml needs a `[[wave]]` with `from = 1`"]);
        let idle = mistakes(
            "classes.toml",
            "[mage]",
            "[bard]\nhealth = 9\nhealth_per_s = 1\n\
            mana = 9\nmana_per_s = 1\nspeed_m_per_s = 4\n[mage]",
        );
        assert_eq!(idle, ["spells.toml needs a spell of each class"]);
    }

    #[test]
    fn what_hurts_from_farther_than_players_see_is_refused_by_name() {
        let far = mistakes("monsters.toml", "reach_m = 12.0", "reach_m = 12.5");
        assert_eq!(
            far,
            ["monsters.toml needs blows of `lich` that reach 20 m at most, so that players see \
              what hurts them; they reach 16.5 m, and a hero walks 3.8 m until they fall"]
        );
        let check = |file: &str, old: &str, new: &str, what: &str| {
            let found = mistakes(file, old, new);
            let needs = format!("{file} needs {what} that reach 20 m at most");
            assert!(found.len() == 1 && found[0].starts_with(&needs), "{new}: {found:?}");
        };
        check("monsters.toml", "reach_m = 11.0", "reach_m = 90.0", "blows of `bowman`");
        check("monsters.toml", "blow = 1.5", "blow = 9.0", "blows of `lich`");
        check("monsters.toml", "windup_s = 0.9", "windup_s = 5.0", "blows of `brute`");
    }

    #[test]
    fn mistakes_in_spells_and_talents_are_told() {
        let check = |file: &str, (old, new): (&str, &str), expected: &str| {
            let found = mistakes(file, old, new);
            assert!(found.len() == 1 && found[0].contains(expected), "{new}: {found:?}");
        };
        check("spells.toml", ("slow = 50", "slow = 99"), "`slow` must be from 1 to 95");
        check("spells.toml", ("\"fire\"", "\"water\""), "unknown variant `water`");
        check("spells.toml", ("shape = \"own\"", "shape = \"all\""), "unknown variant `all`");
        check(
            "spells.toml",
            ("pierces = true", "bounces = true"),
            "unexpected keys in table: bounces",
        );
        check("spells.toml", ("[strike]", "[strike]\nhele = 3"), "unknown field `hele`");
        check("spells.toml", ("[smite]", "[Smite]"), "names of `a-z`");
        check("monsters.toml", ("poison = 30", "poison = 130"), "must be from -100 to 100");
        check("monsters.toml", ("poison = 30", "smell = 30"), "unknown variant `smell`");
        check("talents.toml", ("[40, 100", "[100, 40"), "`levels` must rise");
        check("talents.toml", ("damage = 8", "luck = 8"), "unknown field `luck`");
        check("talents.toml", ("\"sharp-edge\"", "\"blunt-edge\""), "`needs`: there is no");
        check("talents.toml", ("\"sharp-edge\"", "\"kindling\""), "of another class");
        check("talents.toml", ("spell = \"whirl\"", "spell = \"blast\""), "of another class");
        check("talents.toml", ("spell = \"whirl\"", "spell = \"hum\""), "has no 'hum'");
        check("talents.toml", ("[\"wrath\"]", "[\"judgement\"]"), "can never");
        let reserved = mistakes("classes.toml", "[archer]", "[newcomer]");
        assert!(reserved[0].starts_with("classes.toml needs no class `newcomer`"), "{reserved:?}");
    }
}
