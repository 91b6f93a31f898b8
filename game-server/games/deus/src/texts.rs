//! What players read about classes, spells, talents and items, from their numbers.
//!
//! Content goes in; the names, labels and helps of the choices of commands come out, each within
//! what a schema may have.

use std::fmt::Write as _;

use ambit::presentation::{ChoicePresentation, Cost, Sign, Variant};
use ambit::schema::{FieldType, Schema};

use crate::content::{Content, ItemTable, Raises, SpellShape, SpellTable, TalentTable};
use crate::schema::NEWCOMER;

/// A schema's limit of a help, in bytes. Names and numbers are ASCII.
const MAX_HELP_BYTES: usize = 200;

/// Gives the commands their choices.
pub(crate) fn list_choices(content: &Content, schema: &mut Schema) {
    let about = |label: String, mut help: String, only_for: &str| {
        help.truncate(MAX_HELP_BYTES);
        let only_for = only_for.to_owned();
        ChoicePresentation { label, help, only_for, ..ChoicePresentation::default() }
    };
    let spells = content.spells.iter().map(|table| {
        let cooldown_ms = (1_000.0 * table.cooldown_s) as u32;
        let about = about(label(&table.name), help_of_spell(table), &table.class);
        let reach_cm = match table.shape {
            SpellShape::Place { range_m, .. } => (100.0 * range_m) as u32,
            _ => 0,
        };
        let alone = !table.shape.needs_place();
        let sign = table.sign;
        let made_of = table.made_of;
        let shown = ChoicePresentation { cooldown_ms, alone, reach_cm, sign, made_of, ..about };
        (&*table.name, shown)
    });
    let classes = content.classes.iter().map(|table| {
        let spells = content.spells.iter().filter(|spell| spell.class == table.name);
        let spells: Vec<_> = spells.map(|spell| spaced(&spell.name)).collect();
        let health = table.health;
        let mana = table.mana;
        let help =
            format!("{} {health} health, {mana} mana. Spells: {}.", table.about, spells.join(", "));
        (&*table.name, about(format!("Choose {}", spaced(&table.name)), help, NEWCOMER))
    });
    let talents = content.talents.iter().map(|table| {
        let spell = content.spells.iter().find(|it| table.spell.as_ref() == Some(&it.name));
        let shown = ChoicePresentation {
            sign: spell.and_then(|spell| spell.sign),
            made_of: spell.and_then(|spell| spell.made_of),
            raises: sign_of(&table.raises),
            ..about(label(&table.name), help_of_talent(table), &table.class)
        };
        (&*table.name, shown)
    });
    set_choices(schema, "cast", spells);
    set_choices(schema, "choose", classes);
    set_choices(schema, "learn", talents);
    let learn = schema.command_index("learn").map(usize::from);
    let learn = learn.and_then(|learn| schema.presentation.commands[learn].fields.first_mut());
    if let Some(field) = learn {
        "learnable".clone_into(&mut field.listed_in);
    }
}

/// What heroes of each class and monsters of each name look like.
pub(crate) fn show_variants(content: &Content, schema: &mut Schema) {
    let heroes = content.classes.iter().map(|table| Variant {
        of: table.name.clone(),
        figure: table.figure,
        ..Variant::default()
    });
    let monsters = content.monsters.iter().map(|table| Variant {
        of: table.name.clone(),
        figure: table.figure,
        size: table.size,
        boss: table.boss,
    });
    let variants: [(&str, Vec<Variant>); 2] =
        [("hero", heroes.collect()), ("monster", monsters.collect())];
    for (name, variants) in variants {
        if let Some(index) = schema.kind_index(name) {
            schema.presentation.kinds[usize::from(index)].variants = variants;
        }
    }
}

/// Names the items in the commands that are about one.
pub(crate) fn name_items(content: &Content, schema: &mut Schema) {
    let names: Vec<String> = content.items.keys().cloned().collect();
    for (command, shown) in schema.commands.iter_mut().zip(&mut schema.presentation.commands) {
        let about = |(name, table): (&String, &ItemTable)| {
            let label = format!("{} {}", shown.label, spaced(name));
            let cost = cost_of(content, &command.name, table);
            let help = help_of_item(table);
            let only_for = "alive".into();
            let thing = table.thing;
            let tint = table.tint;
            let shown = ChoicePresentation { thing, tint, ..ChoicePresentation::default() };
            ChoicePresentation { label, help, only_for, cost, ..shown }
        };
        if matches!(command.name.as_str(), "buy" | "sell" | "want") {
            command.fields[0].ty = FieldType::Choice(names.clone());
            shown.fields[0].choices = content.items.iter().map(about).collect();
            let list = [("want", "offer"), ("sell", "bag")];
            let list = list.into_iter().find(|(name, _)| command.name == *name);
            shown.fields[0].listed_in = list.map_or_else(String::new, |(_, text)| text.into());
        }
    }
}

/// Of the command; an event of this name tells which one it was.
fn set_choices<'c>(
    schema: &mut Schema,
    command: &str,
    choices: impl Iterator<Item = (&'c str, ChoicePresentation)>,
) {
    let (names, about): (Vec<&str>, Vec<ChoicePresentation>) = choices.unzip();
    let names = FieldType::choice(names);
    let event = schema.events.iter_mut().find(|declared| declared.name == command);
    let told = event.into_iter().flat_map(|declared| &mut declared.fields);
    for field in told.filter(|field| matches!(field.ty, FieldType::Choice(_))) {
        field.ty = names.clone();
    }
    let Some(index) = schema.command_index(command).map(usize::from) else { return };
    let fields = schema.commands[index].fields.first_mut();
    let shown = schema.presentation.commands[index].fields.first_mut();
    let Some((field, shown)) = fields.zip(shown) else { return };
    field.ty = names;
    shown.choices = about;
}

fn spaced(name: &str) -> String {
    name.replace(['-', '_'], " ")
}

fn label(name: &str) -> String {
    let words = spaced(name);
    let first = words.get(..1).unwrap_or_default().to_uppercase();
    first + words.get(1..).unwrap_or_default()
}

/// For example "8 mana, every 0.6 s. Flies 18 m and takes 20 health from the first monster."
fn help_of_spell(table: &SpellTable) -> String {
    let (monsters, heroes) = match table.shape {
        SpellShape::Own => (String::new(), "you".to_owned()),
        SpellShape::Nearest { range_m } => {
            (format!("the nearest monster within {range_m} m"), "you".to_owned())
        }
        SpellShape::Ally { range_m } => {
            (String::new(), format!("whoever is hurt most within {range_m} m"))
        }
        SpellShape::Around { radius_m } => {
            (format!("all monsters within {radius_m} m"), format!("all heroes within {radius_m} m"))
        }
        SpellShape::Bolt { pierces: true, .. } => ("all monsters on its way".into(), String::new()),
        SpellShape::Bolt { .. } => ("the first monster".into(), String::new()),
        SpellShape::Place { radius_m, .. } => (
            format!("all monsters within {radius_m} m of a place"),
            format!("all heroes within {radius_m} m of a place"),
        ),
    };
    // Once they are named, it is "them".
    let mut whom = [monsters, heroes];
    let mut name = |side: usize| std::mem::replace(&mut whom[side], "them".to_owned());
    let mut parts = Vec::new();
    if table.damage > 0.0 {
        parts.push(format!("takes {} health from {}", table.damage, name(0)));
    }
    if table.push_m > 0.0 {
        parts.push(format!("pushes {} {} m away", name(0), table.push_m));
    }
    if table.heal > 0.0 {
        parts.push(format!("gives {} health to {}", table.heal, name(1)));
    }
    if let Some(lasting) = table.lasting {
        let damage = lasting.damage_per_s;
        let heal = lasting.heal_per_s;
        let slow = lasting.slow;
        if damage > 0.0 {
            parts.push(format!("takes {damage} a second from {} for {} s", name(0), lasting.for_s));
        }
        if heal > 0.0 {
            parts.push(format!("gives {heal} a second to {} for {} s", name(1), lasting.for_s));
        }
        if slow > 0.0 {
            parts.push(format!("slows {} by {slow} % for {} s", name(0), lasting.for_s));
        }
    }
    if table.hides_s > 0.0 {
        parts.push(format!("hides you for {} s, or until you do damage", table.hides_s));
    }
    if let Some(calls) = table.summons {
        parts.push(format!("calls {} to fight for you for {} s", calls.count, calls.for_s));
    }
    let way = match table.shape {
        SpellShape::Bolt { range_m, .. } => format!("flies {range_m} m and "),
        SpellShape::Place { range_m, .. } => format!("up to {range_m} m away, "),
        _ => String::new(),
    };
    let delay =
        if table.delay_s > 0.0 { format!(" After {} s.", table.delay_s) } else { String::new() };
    let what = label(&format!("{way}{}", parts.join(", ")));
    format!("{} mana, every {} s. {what}.{delay}", table.mana, table.cooldown_s)
}

/// For example "Damage +12 %. Needs sharp edge."
fn help_of_talent(table: &TalentTable) -> String {
    let raises = &table.raises;
    let raised = [
        ("damage", raises.damage),
        ("armour", raises.armour),
        ("health", raises.health),
        ("mana", raises.mana),
        ("speed", raises.speed),
        ("healing", raises.healing),
        ("haste", raises.haste),
        ("radius", raises.radius),
        ("duration", raises.duration),
    ];
    let raised = raised.iter().filter(|(_, by)| *by > 0.0);
    let raised: Vec<_> = raised.map(|(what, by)| format!("{what} +{by} %")).collect();
    let of = table.spell.as_ref().map(|spell| format!("{}: ", spaced(spell))).unwrap_or_default();
    let needs: Vec<_> = table.needs.iter().map(|name| spaced(name)).collect();
    let needs =
        if needs.is_empty() { String::new() } else { format!(" Needs {}.", needs.join(", ")) };
    format!("{}.{needs}", label(&format!("{of}{}", raised.join(", "))))
}

/// The sign of what a talent raises.
fn sign_of(raises: &Raises) -> Option<Sign> {
    let signs = [
        (raises.healing, Sign::Heal),
        (raises.health, Sign::Renew),
        (raises.mana, Sign::Drop),
        (raises.armour, Sign::Shield),
        (raises.haste, Sign::Clock),
        (raises.duration, Sign::Hourglass),
        (raises.radius, Sign::Burst),
        (raises.speed, Sign::Dash),
        (raises.damage, Sign::Sword),
    ];
    signs.into_iter().find(|(by, _)| *by > 0.0).map(|(_, sign)| sign)
}

/// What a command about an item costs: its price, or less than nothing where it is sold.
fn cost_of(content: &Content, command: &str, table: &ItemTable) -> Option<Cost> {
    let gold = table.price as f32;
    let amount = match command {
        "buy" => gold,
        "sell" => -content.waves.sells_back * gold,
        _ => return None,
    };
    Some(Cost { of: "gold".into(), amount: amount as i32 })
}

/// For players to read: "Raises damage by 15 %."
fn help_of_item(table: &ItemTable) -> String {
    let raised = [
        ("damage", table.damage),
        ("armour", table.armour),
        ("health", table.health),
        ("speed", table.speed),
        ("mana", table.mana),
    ];
    let raised = raised.into_iter().filter(|(_, per_cent)| *per_cent > 0.0);
    let all: Vec<String> = raised.map(|(what, by)| format!("{what} by {by} %")).collect();
    format!("Raises {}.", all.join(" and "))
}

/// Items for players to read: "2 whetstone, red-stone".
pub(crate) fn counted(content: &Content, items: &[u8]) -> String {
    let mut text = String::new();
    for (name, index) in content.items.keys().zip(0..) {
        let count: u32 = items.iter().map(|item| u32::from(*item == index)).sum();
        let comma = if text.is_empty() { "" } else { ", " };
        // Writing to a text does not fail.
        let _ = match count {
            0 => Ok(()),
            1 => write!(text, "{comma}{name}"),
            _ => write!(text, "{comma}{count} {name}"),
        };
    }
    text
}
