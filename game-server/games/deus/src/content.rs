//! What the game is made of, as data: classes, spells, monsters, items and waves in TOML.
//!
//! A mistake is an error that names the file, the line and the field. Units are in the names.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ambit::prelude::*;

use crate::schema::{Class, HeroSpell};

/// The content that comes with the game.
pub(crate) static CONTENT: LazyLock<Content> =
    LazyLock::new(|| Content::shipped().expect("a test reads the shipped content"));

/// All of it, checked: each class, spell and monster has its entry.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) classes: BTreeMap<String, ClassTable>,
    pub(crate) spells: BTreeMap<String, SpellTable>,
    pub(crate) monsters: BTreeMap<String, MonsterTable>,
    pub(crate) items: BTreeMap<String, ItemTable>,
    pub(crate) waves: WaveTable,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClassTable {
    pub(crate) health: f32,
    pub(crate) health_per_s: f32,
    pub(crate) mana: f32,
    pub(crate) mana_per_s: f32,
    pub(crate) speed_m_per_s: f32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SpellTable {
    pub(crate) class: String,
    pub(crate) mana: f32,
    pub(crate) cooldown_s: f32,
    pub(crate) damage: f32,
    #[serde(flatten)]
    pub(crate) shape: SpellShape,
}

/// Whom a spell hits.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "shape", rename_all = "kebab-case")]
pub(crate) enum SpellShape {
    Nearest { range_m: f32 },
    Around { radius_m: f32 },
    Bolt { range_m: f32, speed_m_per_s: f32 },
    Place { range_m: f32, radius_m: f32, delay_s: f32 },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MonsterTable {
    pub(crate) health: f32,
    pub(crate) damage: f32,
    pub(crate) speed_m_per_s: f32,
    pub(crate) reach_m: f32,
    pub(crate) notice_m: f32,
    pub(crate) windup_s: f32,
    pub(crate) rest_s: f32,
    pub(crate) gold: i64,
}

/// In per cent.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ItemTable {
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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaveTable {
    pub(crate) last: i64,
    pub(crate) choose_s: f32,
    pub(crate) gather_s: f32,
    pub(crate) chest_s: f32,
    pub(crate) rest_s: f32,
    pub(crate) end_s: f32,
    pub(crate) base: f32,
    pub(crate) per_hero: f32,
    pub(crate) more: f32,
    pub(crate) stronger: f32,
    pub(crate) most: u32,
    pub(crate) hunt_after_s: f32,
}

impl Content {
    fn shipped() -> Result<Self, String> {
        let content = Self {
            classes: read("classes.toml", include_str!("../content/classes.toml"))?,
            spells: read("spells.toml", include_str!("../content/spells.toml"))?,
            monsters: read("monsters.toml", include_str!("../content/monsters.toml"))?,
            items: read("items.toml", include_str!("../content/items.toml"))?,
            waves: read("waves.toml", include_str!("../content/waves.toml"))?,
        };
        content.check()?;
        Ok(content)
    }

    pub(crate) fn class(&self, class: Class) -> &ClassTable {
        &self.classes[class.name()]
    }

    pub(crate) fn spell(&self, spell: HeroSpell) -> &SpellTable {
        &self.spells[spell.name()]
    }

    pub(crate) fn goblin(&self) -> &MonsterTable {
        &self.monsters["goblin"]
    }

    fn check(&self) -> Result<(), String> {
        let missing = |file: &str, what: &str| Err(format!("{file}: {what} is missing"));
        for name in Class::NAMES {
            if !self.classes.contains_key(*name) {
                return missing("classes.toml", &format!("the class '{name}'"));
            }
        }
        for name in HeroSpell::NAMES {
            if !self.spells.contains_key(*name) {
                return missing("spells.toml", &format!("the spell '{name}'"));
            }
        }
        if !self.monsters.contains_key("goblin") {
            return missing("monsters.toml", "the monster 'goblin'");
        }
        for (name, spell) in &self.spells {
            if !self.classes.contains_key(&spell.class) {
                let class = &spell.class;
                return Err(format!("spells.toml: '{name}' is of an unknown class: '{class}'"));
            }
        }
        if self.items.is_empty() {
            return missing("items.toml", "an item");
        }
        Ok(())
    }
}

fn read<T: serde::de::DeserializeOwned>(file: &str, text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| format!("{file}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_content_is_complete() {
        let content = Content::shipped().expect("the shipped content has no mistake");
        assert!(content.waves.last > 1 && content.waves.more >= 1.0);
        assert_eq!(content.spell(HeroSpell::Strike).class, "warrior");
        assert_eq!(content.spell(HeroSpell::Strike).shape, SpellShape::Nearest { range_m: 2.4 });
    }

    #[test]
    fn a_mistake_names_file_line_and_field() {
        let wrong =
            read::<BTreeMap<String, MonsterTable>>("monsters.toml", "[orc]\nhealth = 'x'\n");
        let said = wrong.expect_err("a text is no number");
        assert!(said.starts_with("monsters.toml: ") && said.contains("line 2"), "{said}");
        let unknown = read::<BTreeMap<String, ClassTable>>("classes.toml", "[bard]\nluck = 3\n");
        let said = unknown.expect_err("there is no such field");
        assert!(said.contains("luck"), "{said}");
    }
}
