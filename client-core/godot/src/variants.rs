//! JSON and components as Godot's values, and the reverse.

use ambit_client_core::client::event::rows_by_name;
use ambit_client_core::frame::{FrameEntry, FrameValue};
use godot::prelude::*;
use serde_json::{Map, Number, Value as Json, json};

/// The value that a script reads. Whole numbers are an `int`, if they fit.
pub(crate) fn to_variant(json: &Json) -> Variant {
    match json {
        Json::Null => Variant::nil(),
        Json::Bool(flag) => flag.to_variant(),
        Json::Number(number) => match number.as_i64() {
            Some(number) => number.to_variant(),
            None => number.as_f64().unwrap_or(f64::NAN).to_variant(),
        },
        Json::String(text) => text.to_variant(),
        Json::Array(list) => list.iter().map(to_variant).collect::<VarArray>().to_variant(),
        Json::Object(object) => to_dictionary(object).to_variant(),
    }
}

/// A dictionary with texts as keys.
pub(crate) fn to_dictionary(object: &Map<String, Json>) -> VarDictionary {
    let mut dictionary = VarDictionary::new();
    for (key, value) in object {
        dictionary.set(&**key, &to_variant(value));
    }
    dictionary
}

/// The dictionary in a text of JSON; empty if it has none.
pub(crate) fn read_dictionary(text: &str) -> VarDictionary {
    match serde_json::from_str(text) {
        Ok(Json::Object(object)) => to_dictionary(&object),
        _ => VarDictionary::new(),
    }
}

/// A value of a script as JSON: vectors are lists, in the order of their fields. An error names
/// what has no form in JSON.
pub(crate) fn to_json(value: &Variant) -> Result<Json, String> {
    Ok(match value.get_type() {
        VariantType::NIL => Json::Null,
        VariantType::BOOL => json!(value.to::<bool>()),
        VariantType::INT => json!(value.to::<i64>()),
        VariantType::FLOAT => {
            let number = value.to::<f64>();
            Number::from_f64(number).map(Json::Number).ok_or_else(|| format!("{number}"))?
        }
        VariantType::STRING | VariantType::STRING_NAME | VariantType::NODE_PATH => {
            json!(value.stringify().to_string())
        }
        VariantType::VECTOR2 => {
            let Vector2 { x, y } = value.to();
            json!([x, y])
        }
        VariantType::VECTOR2I => {
            let Vector2i { x, y } = value.to();
            json!([x, y])
        }
        VariantType::VECTOR3 => {
            let Vector3 { x, y, z } = value.to();
            json!([x, y, z])
        }
        VariantType::VECTOR3I => {
            let Vector3i { x, y, z } = value.to();
            json!([x, y, z])
        }
        VariantType::ARRAY => list_to_json(&value.to::<VarArray>())?,
        VariantType::DICTIONARY => dictionary_to_json(&value.to::<VarDictionary>())?.into(),
        VariantType::PACKED_BYTE_ARRAY => json!(value.to::<PackedByteArray>().to_vec()),
        VariantType::PACKED_STRING_ARRAY => {
            let texts = value.to::<PackedStringArray>();
            texts.as_slice().iter().map(GString::to_string).collect()
        }
        _ => return Err(format!("{value}")),
    })
}

/// A list of a script as JSON.
pub(crate) fn list_to_json(list: &VarArray) -> Result<Json, String> {
    Ok(Json::Array(list.iter_shared().map(|value| to_json(&value)).collect::<Result<_, _>>()?))
}

/// A dictionary of a script as JSON. Its keys have to be texts.
pub(crate) fn dictionary_to_json(dictionary: &VarDictionary) -> Result<Map<String, Json>, String> {
    let mut object = Map::new();
    for (key, value) in dictionary.iter_shared() {
        match to_json(&key)? {
            Json::String(key) => object.insert(key, to_json(&value)?),
            key => return Err(format!("the key {key}")),
        };
    }
    Ok(object)
}

/// The known components of an object, by their names: `bool`, `int`, `float` and `String`; a
/// dictionary with `value`, `rate` and `max` for a gauge, and one of counts by index; bytes, and
/// rows as an array of dictionaries by the names of their fields.
pub(crate) fn values_of(entry: FrameEntry<'_>) -> VarDictionary {
    let mut values = VarDictionary::new();
    for (name, value) in entry.values() {
        let value = match value {
            FrameValue::Gauge(gauge) => {
                vdict! { "value" => gauge.value, "rate" => gauge.rate, "max" => gauge.max }
                    .to_variant()
            }
            FrameValue::Flag(flag) => flag.to_variant(),
            FrameValue::Number(number) => number.to_variant(),
            FrameValue::Decimal(decimal) => decimal.value().to_variant(),
            FrameValue::Text(text) => text.to_variant(),
            FrameValue::Counts(counts) => {
                let mut dictionary = VarDictionary::new();
                for (index, count) in counts.iter() {
                    dictionary.set(i64::from(index), i64::from(count));
                }
                dictionary.to_variant()
            }
            FrameValue::Bytes(bytes) => PackedByteArray::from(bytes).to_variant(),
            FrameValue::Rows(rows) => {
                let rows = rows_by_name(rows).map(|row| to_variant(&json!(row)));
                rows.collect::<VarArray>().to_variant()
            }
        };
        values.set(name, &value);
    }
    values
}
