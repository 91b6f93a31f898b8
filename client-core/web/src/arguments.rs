//! The arguments of a command, as JavaScript gives them: values in the order of the command's
//! fields, or one object with the fields' names.
//!
//! A number is a decimal (of an angle the radians), a whole number or the id of an object; a text
//! is a text or the name of a choice; `true` and `false` are the choices `yes` and `no`; a position
//! is `[x, y]`, `[x, y, z]` or an object with these keys; `null` is no value. Whether a value fits
//! its field, [`command_words`](ambit_client_core::command_words) decides.

use ambit_client_core::command_words::{Argument, usage};
use ambit_proto::schema::CommandKind;
use ambit_proto::space::Position;
use serde_json::{Map, Value as Json};

/// Whole numbers that a number of JavaScript holds exactly.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// The arguments in a list. `command` is the declared one, if there is one of that name. The error
/// says what is wrong.
pub(crate) fn arguments(
    json: &str,
    command: Option<&CommandKind>,
) -> Result<Vec<Argument>, String> {
    let list: Vec<Json> =
        serde_json::from_str(json).map_err(|error| format!("not a list of values: {error}"))?;
    match (&list[..], command) {
        ([Json::Object(named)], Some(command)) if !is_position(named, command) => {
            by_name(named, command)
        }
        (values, _) => values.iter().map(argument).collect(),
    }
}

fn by_name(named: &Map<String, Json>, command: &CommandKind) -> Result<Vec<Argument>, String> {
    let fields = &command.fields;
    if let Some(unknown) = named.keys().find(|name| fields.iter().all(|field| field.name != **name))
    {
        let usage = usage(command);
        return Err(format!("there is no field '{unknown}'; expected {usage}"));
    }
    let values = fields.iter().map(|field| named.get(&field.name));
    values.map(|value| value.map_or(Ok(Argument::None), argument)).collect()
}

/// Whether an object is a position: unless the command has fields with the names of axes.
fn is_position(named: &Map<String, Json>, command: &CommandKind) -> bool {
    let has_axis = |name: &str| {
        named.contains_key(name) && command.fields.iter().all(|field| field.name != name)
    };
    has_axis("x") && has_axis("y")
}

fn argument(json: &Json) -> Result<Argument, String> {
    match json {
        Json::Null => Ok(Argument::None),
        Json::Bool(yes) => Ok(Argument::Text(if *yes { "yes" } else { "no" }.to_owned())),
        Json::Number(number) => match number.as_f64() {
            Some(number) if number.fract() != 0.0 => Ok(Argument::Decimal(number as f32)),
            Some(number) if number.abs() <= MAX_EXACT => Ok(Argument::Number(number as i64)),
            _ => Err(format!("{number} is not a number for a command")),
        },
        Json::String(text) => Ok(Argument::Text(text.clone())),
        Json::Array(axes) => {
            let axes: Option<Vec<f32>> = axes.iter().map(metres).collect();
            position(axes.as_deref(), json)
        }
        Json::Object(named) => {
            let axes: Option<Vec<f32>> = ["x", "y", "z"]
                .into_iter()
                .filter_map(|axis| named.get(axis))
                .map(metres)
                .collect();
            position(axes.as_deref(), json)
        }
    }
}

fn metres(json: &Json) -> Option<f32> {
    json.as_f64().map(|metres| metres as f32)
}

fn position(axes: Option<&[f32]>, json: &Json) -> Result<Argument, String> {
    match axes {
        Some(&[x, y]) => Ok(Argument::Position(Position::on_ground(x, y))),
        Some(&[x, y, z]) => Ok(Argument::Position(Position::new(x, y, z))),
        _ => Err(format!("{json} is no value for a command: a position is [x, y] or [x, y, z]")),
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::schema::{FieldSpec, FieldType};

    use super::*;

    #[test]
    fn arguments_are_given_in_order_or_by_name() {
        let at = Argument::Position(Position::on_ground(1.0, 2.5));
        let bolt = Argument::Text("bolt".to_owned());
        check(r#"["bolt", [1, 2.5], 7]"#, &[bolt.clone(), at.clone(), Argument::Number(7)]);
        check(r#"["bolt", {"x": 1, "y": 2.5}]"#, &[bolt.clone(), at.clone()]);
        let none = Argument::None;
        check(
            r#"[{"spell": "bolt", "target": 7}]"#,
            &[bolt.clone(), none.clone(), Argument::Number(7)],
        );
        check(r#"["bolt", null, 7]"#, &[bolt, none, Argument::Number(7)]);
        // A position alone is no list of names.
        check(r#"[{"x": 1, "y": 2.5}]"#, &[at]);
        check("[]", &[]);
        check("[-0.5]", &[Argument::Decimal(-0.5)]);
        check("[true]", &[Argument::Text("yes".to_owned())]);
    }

    #[test]
    fn a_wrong_argument_is_named() {
        for (json, expected) in [
            ("7", "not a list"),
            (r#"[{"spel": "bolt"}]"#, "no field 'spel'; expected cast SPELL"),
            ("[1e300]", "1e+300 is not a number for a command"),
            ("[[1]]", "[1] is no value"),
            (r#"["bolt", {"x": 1}]"#, "a position is [x, y]"),
        ] {
            let error = arguments(json, Some(&cast())).expect_err(json);
            assert!(error.contains(expected), "{json}: {error}");
        }
    }

    fn check(json: &str, expected: &[Argument]) {
        let given = arguments(json, Some(&cast()));
        assert_eq!(given.as_deref(), Ok(expected), "{json}");
    }

    fn cast() -> CommandKind {
        CommandKind {
            name: "cast".to_owned(),
            fields: vec![
                FieldSpec::new("spell", FieldType::Choice(vec!["bolt".to_owned()])),
                FieldSpec::new("at", FieldType::Position).optional(),
                FieldSpec::new("target", FieldType::Object).optional(),
            ],
            ..CommandKind::default()
        }
    }
}
