//! The block that a host sends: JSON without what is null, empty or false.

use serde_json::Value as Json;

use super::Presentation;

impl Presentation {
    /// The block.
    pub fn to_block(&self) -> String {
        // By way of a text, in which a number has the digits of an `f32`.
        let whole = serde_json::to_string(self).expect("all keys are texts");
        let mut json = serde_json::from_str(&whole).expect("it was just written");
        leave_out_empty(&mut json);
        json.to_string()
    }

    /// Reads a block; an empty one is that of a game that says nothing. The error is for people.
    pub fn from_block(block: &str) -> Result<Self, serde_json::Error> {
        if block.is_empty() { Ok(Self::default()) } else { serde_json::from_str(block) }
    }
}

/// Defaults of the structs are empty where a value is left out. Numbers stay: 0 is an index, too.
fn leave_out_empty(json: &mut Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(leave_out_empty),
        Json::Object(fields) => {
            fields.values_mut().for_each(leave_out_empty);
            fields.retain(|_, value| !is_empty(value));
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
