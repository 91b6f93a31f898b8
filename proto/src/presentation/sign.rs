//! Signs and elements: what players recognise without reading.

use serde::{Deserialize, Serialize};

/// A sign for a command, a choice or a flag. A viewer that has no picture for it shows letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Sign {
    /// A flame.
    Fire,
    /// Something bursts over an area.
    Burst,
    /// Cold.
    Frost,
    /// Health comes back at once.
    Heal,
    /// Health comes back over time.
    Renew,
    /// Protection.
    Shield,
    /// Others do not see it.
    Hide,
    /// A leap, a step through space, speed.
    Dash,
    /// A blow.
    Sword,
    /// A shot.
    Arrow,
    /// Lightning, a bolt of force.
    Bolt,
    /// A call for help.
    Call,
    /// A snare.
    Trap,
    /// A shout.
    Roar,
    /// Holy light.
    Light,
    /// To go on.
    Ready,
    /// To share or to trade.
    Share,
    /// Poison, blood, water.
    Drop,
    /// All around.
    Whirl,
    /// Away from here.
    Push,
    /// How long something lasts.
    Hourglass,
    /// How often something can be done.
    Clock,
}

/// What something is made of: how it flies, and in which colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Element {
    /// Flames.
    Fire,
    /// Shards of ice.
    Ice,
    /// Green drops.
    Venom,
    /// A green halo.
    Life,
    /// A golden halo.
    Light,
    /// An arrow.
    Arrow,
    /// Lightning.
    Storm,
    /// Darkness.
    Shadow,
    /// Force without a colour of its own.
    Force,
}

/// How rare a thing is, as players of many games know it by its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Rarity {
    /// White.
    Common,
    /// Green.
    Uncommon,
    /// Blue.
    Rare,
    /// Purple.
    Epic,
    /// Orange.
    Legendary,
}

/// A thing that players own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum Thing {
    Whetstone,
    Ring,
    Amulet,
    Crown,
    Helm,
    Gloves,
    Belt,
    Cloak,
    Armour,
    Shield,
    WingedBoots,
    Boots,
    Dagger,
    Axe,
    Hammer,
    Spear,
    Staff,
    Bow,
    Sword,
    Potion,
    Scroll,
    Book,
    Orb,
    Coin,
    Leaf,
    Fang,
    Charm,
    Gem,
    Pouch,
    Relic,
    Box,
}
