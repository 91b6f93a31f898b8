//! The block that a host sends: JSON without what is null, empty or false, and without what takes
//! no time and has no bound.
//!
//! What things are is sent once: choices of a field that are described as those of an earlier one,
//! such as the goods that are bought, sold and worn, leave out these descriptions (`DESCRIBED_BY`).
//! The field then has `as`: the index of a command, and of the field of it that has them. A reader
//! fills them in, so a [`Presentation`] is always whole.

use serde_json::Value as Json;

use super::Presentation;

/// What a choice is, in any field.
const DESCRIBED_BY: [&str; 9] =
    ["help", "label", "made_of", "needs", "raises", "rarity", "sign", "thing", "tint"];
/// The key of the field with the same descriptions.
const AS: &str = "as";

/// A command and a field of it.
type FieldPlace = [usize; 2];
/// What a choice is, by the names of fields.
type ChoiceDescription = Vec<(&'static str, Json)>;
/// The choices of each command's fields.
type KnownChoices = Vec<(FieldPlace, Vec<ChoiceDescription>)>;

impl Presentation {
    /// The block.
    pub fn to_block(&self) -> String {
        // By way of a text, in which a number has the digits of an `f32`.
        let whole = serde_json::to_string(self).expect("all keys are texts");
        let mut json = serde_json::from_str(&whole).expect("it was just written");
        leave_out_empty(&mut json);
        describe_once(&mut json);
        json.to_string()
    }

    /// Reads a block; an empty one is that of a game that says nothing. The error is for people.
    pub fn from_block(block: &str) -> Result<Self, serde_json::Error> {
        if block.is_empty() {
            return Ok(Self::default());
        }
        let mut json = serde_json::from_str(block)?;
        describe_all(&mut json);
        // By way of a text: a client for browsers has one way to read these types, not two.
        serde_json::from_str(&json.to_string())
    }
}

/// Leaves out descriptions that an earlier field has.
fn describe_once(json: &mut Json) {
    let mut known = KnownChoices::new();
    for_each_field(json, |place, field| {
        let Some(choices) = field.get_mut("choices").and_then(Json::as_array_mut) else { return };
        let described: Vec<_> = choices.iter().map(description).collect();
        let same = known.iter().find(|(_, other)| *other == described);
        if described.iter().all(Vec::is_empty) {
            return;
        }
        if let Some((place, _)) = same {
            for choice in choices.iter_mut().filter_map(Json::as_object_mut) {
                for key in DESCRIBED_BY {
                    choice.remove(key);
                }
            }
            field[AS] = place.as_slice().into();
        } else if let Some(place) = place {
            known.push((place, described));
        }
    });
}

/// Fills in descriptions that an earlier field has. One that is not there has none.
fn describe_all(json: &mut Json) {
    let mut known = KnownChoices::new();
    for_each_field(json, |place, field| {
        let same = field.get(AS).and_then(|same| {
            let index = |at: usize| same.get(at)?.as_u64().map(|index| index as usize);
            Some([index(0)?, index(1)?])
        });
        let Some(choices) = field.get_mut("choices").and_then(Json::as_array_mut) else { return };
        let same = same.and_then(|same| known.iter().find(|(place, _)| *place == same));
        if let Some((_, described)) = same {
            let choices = choices.iter_mut().filter_map(Json::as_object_mut);
            for (choice, described) in choices.zip(described) {
                for (key, value) in described {
                    choice.insert((*key).to_owned(), value.clone());
                }
            }
        } else if let Some(place) = place {
            known.push((place, choices.iter().map(description).collect()));
        }
    });
}

/// What a choice is.
fn description(choice: &Json) -> ChoiceDescription {
    DESCRIBED_BY.iter().filter_map(|key| Some((*key, choice.get(*key)?.clone()))).collect()
}

/// The fields of commands, each with its place, and those of events.
fn for_each_field(json: &mut Json, mut act: impl FnMut(Option<FieldPlace>, &mut Json)) {
    for list in ["commands", "events"] {
        let items = json.get_mut(list).and_then(Json::as_array_mut);
        for (at, item) in items.into_iter().flatten().enumerate() {
            let fields = item.get_mut("fields").and_then(Json::as_array_mut);
            for (index, field) in fields.into_iter().flatten().enumerate() {
                act((list == "commands").then_some([at, index]), field);
            }
        }
    }
}

/// Of choices, which are many: 0 is their default.
const ZERO_BY_DEFAULT: [&str; 2] = ["cooldown_ms", "reach_cm"];

/// Defaults of the structs are empty where a value is left out. Other numbers stay: 0 is an index,
/// too.
fn leave_out_empty(json: &mut Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(leave_out_empty),
        Json::Object(fields) => {
            fields.values_mut().for_each(leave_out_empty);
            fields.retain(|name, value| {
                let is_zero = *value == 0 && ZERO_BY_DEFAULT.contains(&name.as_str());
                !is_zero && !is_empty(value)
            });
        }
        _ => {}
    }
}

fn is_empty(json: &Json) -> bool {
    match json {
        Json::Null | Json::Bool(false) => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.iter().all(is_empty),
        Json::Object(fields) => fields.is_empty(),
        Json::Bool(true) | Json::Number(_) => false,
    }
}
