//! The profile of a player: of each class, the hero that the player had last.

use std::collections::{BTreeMap, BTreeSet};

use ambit::prelude::*;

/// The heroes of one player.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptHeroes {
    #[serde(default)]
    pub(crate) by_class: BTreeMap<String, KeptHero>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptHero {
    #[serde(default)]
    pub(crate) experience: u32,
    #[serde(default)]
    pub(crate) gold: u32,
    #[serde(default)]
    pub(crate) talents: BTreeSet<String>,
    /// In the order in which they came.
    #[serde(default)]
    pub(crate) items: Vec<String>,
    /// Which of them it wears. Of an earlier release none is known: then it wears what it can.
    pub(crate) worn: Option<BTreeSet<String>>,
}
