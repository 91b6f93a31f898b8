//! What players read about classes, spells, talents and items, from their numbers.
//!
//! Content goes in; the names, labels and helps of the choices of commands come out, each within
//! what a schema may have.

use ambit::Listing;
use ambit::presentation::{ChoicePresentation, Condition, Cost, Sign, Variant, Word};
use ambit::schema::Schema;

use crate::content::{Content, ItemSlot, ItemTable, Raises, SpellShape, SpellTable, TalentTable};
use crate::schema::{Class, Item, NEWCOMER, SpellName, Talent};

/// A schema's limit of a help, in bytes. Names and numbers are ASCII.
const MAX_HELP_BYTES: usize = 200;

/// Gives the commands their choices.
pub(crate) fn list_choices(content: &Content, schema: &mut Schema) {
    let about = |label: String, mut help: String, class: &str| {
        help.truncate(MAX_HELP_BYTES);
        let only_for = Some(Condition::text("class", class));
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
        (&*table.name, about(label(&table.name), help, NEWCOMER))
    });
    let talents = content.talents.iter().map(|table| {
        let spell = content.spells.iter().find(|it| table.spell.as_ref() == Some(&it.name));
        let shown = ChoicePresentation {
            sign: spell.and_then(|spell| spell.sign),
            made_of: spell.and_then(|spell| spell.made_of),
            raises: sign_of(&table.raises),
            needs: table.needs.clone(),
            cost: Some(Cost { of: "points".into(), amount: 1 }),
            ..about(label(&table.name), help_of_talent(table), &table.class)
        };
        (&*table.name, shown)
    });
    set_choices::<SpellName>(schema, "cast", spells);
    set_choices::<Class>(schema, "choose", classes);
    set_choices::<Talent>(schema, "learn", talents);
}

/// What classes are called, and what heroes and monsters of each name look like.
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
    let classes = content.classes.iter().map(|table| table.name.as_str());
    let classes: Vec<_> = classes
        .chain([NEWCOMER])
        .map(|name| Word { is: name.to_owned(), label: label(name), ..Word::default() })
        .collect();
    for kind in ["hero", "score"] {
        let Some(index) = schema.kind_index(kind).map(usize::from) else { continue };
        if let Some(class) = schema.kinds[index].component_index("class") {
            schema.presentation.kinds[index].components[usize::from(class)]
                .words
                .clone_from(&classes);
        }
    }
    let variants: [(&str, Vec<Variant>); 2] =
        [("hero", heroes.collect()), ("monster", monsters.collect())];
    for (name, variants) in variants {
        if let Some(index) = schema.kind_index(name) {
            schema.presentation.kinds[usize::from(index)].variants = variants;
        }
    }
}

/// Names the items, and says what they are in the commands and events that are about one.
pub(crate) fn name_items(content: &Content, schema: &mut Schema) {
    Item::name_in(schema, content.items.iter().map(|item| item.name.as_str()));
    let about = |table: &ItemTable| ChoicePresentation {
        label: label(&table.name),
        help: help_of_item(table),
        sign: table.is_consumable().then_some(if table.health > 0.0 {
            Sign::Heal
        } else {
            Sign::Drop
        }),
        thing: table.thing,
        tint: table.tint,
        rarity: Some(table.rarity),
        ..ChoicePresentation::default()
    };
    let about: Vec<_> = content.items.iter().map(about).collect();
    for (command, shown) in schema.commands.iter().zip(&mut schema.presentation.commands) {
        let choices = about.iter().cloned().zip(&content.items).map(|(about, table)| {
            let name = command.name.as_str();
            let only_for = matches!(name, "buy" | "sell" | "want");
            let cooldown_ms = if name == "use" { (1_000.0 * table.cooldown_s) as u32 } else { 0 };
            ChoicePresentation {
                cost: cost_of(content, name, table),
                only_for: only_for.then(|| Condition::set("alive")),
                cooldown_ms,
                ..about
            }
        });
        if matches!(command.name.as_str(), "buy" | "sell" | "want" | "equip" | "unequip" | "use") {
            shown.fields[0].choices = choices.collect();
        }
    }
    let loot = schema.event_index("loot").map(usize::from);
    let shown = loot.map(|loot| &mut schema.presentation.events[loot].fields);
    if let Some(shown) = shown.and_then(|fields| fields.last_mut()) {
        shown.choices = about;
    }
}

/// Names a list, and says what a command about it shows.
fn set_choices<'c, L: Listing>(
    schema: &mut Schema,
    command: &str,
    choices: impl Iterator<Item = (&'c str, ChoicePresentation)>,
) {
    let (names, about): (Vec<&str>, Vec<ChoicePresentation>) = choices.unzip();
    L::name_in(schema, names);
    let index = schema.command_index(command).map(usize::from);
    let shown = index.map(|index| &mut schema.presentation.commands[index].fields);
    if let Some(shown) = shown.and_then(|fields| fields.first_mut()) {
        shown.choices = about;
    }
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

/// For example "Whirl: radius +20 %."
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
    format!("{}.", label(&format!("{of}{}", raised.join(", "))))
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

/// For players to read: "Weapon. Raises damage by 15 %."
fn help_of_item(table: &ItemTable) -> String {
    let slot = match table.slot {
        None => "",
        Some(ItemSlot::Weapon) => "Weapon. ",
        Some(ItemSlot::Armour) => "Armour. ",
        Some(ItemSlot::Gloves) => "Gloves. ",
        Some(ItemSlot::Boots) => "Boots. ",
        Some(ItemSlot::Ring) => "Ring. ",
        Some(ItemSlot::Amulet) => "Amulet. ",
        Some(ItemSlot::Consumable) => "Used up. ",
    };
    let raised = [
        ("damage", table.damage),
        ("armour", table.armour),
        ("health", table.health),
        ("speed", table.speed),
        ("mana", table.mana),
    ];
    let raised = raised.into_iter().filter(|(_, per_cent)| *per_cent > 0.0);
    let (verb, of) = if table.is_consumable() { ("Gives", "of") } else { ("Raises", "by") };
    let all: Vec<String> = raised
        .map(|(what, by)| match of {
            "of" => format!("{by} % of the {what}"),
            _ => format!("{what} by {by} %"),
        })
        .collect();
    format!("{slot}{verb} {}.", all.join(" and "))
}
