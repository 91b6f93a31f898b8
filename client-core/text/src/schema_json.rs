//! A game's schema as JSON, each item with its presentation: `Schema` in `client-core/web/ts` has
//! the same keys.

use ambit_client_core::command_words;
use ambit_proto::axes::AxisKind;
use ambit_proto::decimal::DecimalFormat;
use ambit_proto::pose::Turning;
use ambit_proto::presentation::{
    CommandPresentation, ControlPresentation, EventPresentation, FieldPresentation,
    KindPresentation,
};
use ambit_proto::schema::{
    Codec, CommandKind, ComponentSpec, ControlSpec, EventKind, FieldSpec, FieldType, ObjectKind,
    PosePresentation, Schema,
};
use serde::Serialize;
use serde_json::{Value as Json, json};

/// The schema. Kinds, components and choices are referred to by their places in these lists.
pub fn schema_json(schema: &Schema) -> Json {
    let shown = &schema.presentation;
    json!({
        "game": schema.game,
        "kinds": list(&schema.kinds, |index, it| kind(schema, it, shown.kind(index))),
        "events": list(&schema.events, |index, it| event(it, shown.event(index))),
        "commands": list(&schema.commands, |index, it| command(it, shown.command(index))),
        "refusals": list(&schema.refusals, |index, it| {
            with(shown.refusal(index), json!({ "name": it.name }))
        }),
        "controls": list(&schema.controls, |index, it| control(it, shown.control(index))),
        "avatar": shown.avatar,
        "scenery": shown.scenery,
    })
}

fn kind(schema: &Schema, kind: &ObjectKind, shown: &KindPresentation) -> Json {
    let components =
        list(&kind.components, |index, it| with(shown.component(index), component(schema, it)));
    let is_simulated = kind.presentation == PosePresentation::Simulated;
    with(shown, json!({ "name": kind.name, "components": components, "simulated": is_simulated }))
}

fn component(schema: &Schema, component: &ComponentSpec) -> Json {
    let mut json = match &component.codec {
        Codec::Path => json!({ "type": "path" }),
        Codec::Pose(format) => {
            let turn = match format.turn {
                Turning::Fixed => "fixed",
                Turning::Yaw { .. } => "yaw",
                Turning::Free { .. } => "free",
            };
            json!({ "type": "pose", "turn": turn })
        }
        Codec::Gauge { max } => json!({ "type": "gauge", "max": max }),
        Codec::Flag => json!({ "type": "flag" }),
        Codec::Number { min, max } => json!({ "type": "number", "min": min, "max": max }),
        Codec::Decimal(format) => decimal(*format),
        Codec::Text { max_bytes } => json!({ "type": "text", "max_bytes": max_bytes }),
        Codec::Counts(of) => {
            json!({ "type": "counts", "max": of.max, "names": schema.names_of(of) })
        }
        Codec::Bytes { max_bytes } => json!({ "type": "bytes", "max_bytes": max_bytes }),
        Codec::Rows(format) => {
            let fields = list(&format.fields, |_, it| field(it, &FieldPresentation::default()));
            let obstacles = format.are_obstacles;
            json!({ "type": "list", "max": format.max, "fields": fields, "obstacles": obstacles })
        }
    };
    json["name"] = json!(component.name);
    json
}

fn decimal(format: DecimalFormat) -> Json {
    match format {
        DecimalFormat::Half => json!({ "type": "half" }),
        DecimalFormat::Angle => json!({ "type": "angle" }),
    }
}

fn event(event: &EventKind, shown: &EventPresentation) -> Json {
    let fields = list(&event.fields, |index, it| field(it, shown.field(index)));
    with(shown, json!({ "name": event.name, "fields": fields }))
}

fn command(command: &CommandKind, shown: &CommandPresentation) -> Json {
    let fields = list(&command.fields, |index, it| field(it, shown.field(index)));
    let usage = command_words::usage(command);
    let declared = json!({
        "name": command.name, "usage": usage, "newest_only": command.newest_only, "fields": fields,
    });
    with(shown, declared)
}

fn field(field: &FieldSpec, shown: &FieldPresentation) -> Json {
    let mut json = match &field.ty {
        FieldType::Object => json!({ "type": "object" }),
        FieldType::Position => json!({ "type": "position" }),
        FieldType::Number { min, max } => json!({ "type": "number", "min": min, "max": max }),
        FieldType::Decimal(format) => decimal(*format),
        FieldType::Choice(names) => {
            let about = list(names, |index, _| json!(shown.choice(index)));
            json!({
                "type": "choice", "choices": names, "about": about, "listed_in": shown.listed_in,
                "marked_in": shown.marked_in, "sets": shown.sets,
            })
        }
        FieldType::Text { max_bytes } => json!({ "type": "text", "max_bytes": max_bytes }),
    };
    json["name"] = json!(field.name);
    json["label"] = json!(shown.label);
    json["optional"] = json!(field.optional);
    json
}

fn control(control: &ControlSpec, shown: &ControlPresentation) -> Json {
    let axis = control.axis.map(|axis| match axis {
        AxisKind::Linear => "linear",
        AxisKind::Angle => "angle",
        AxisKind::ShownBehind => "shown-behind",
    });
    with(shown, json!({ "name": control.name, "tapped": control.is_tapped, "axis": axis }))
}

/// What is shown of an item, and what is declared of it; that has the lists.
fn with(shown: &impl Serialize, declared: Json) -> Json {
    let mut json = json!(shown);
    if let (Json::Object(all), Json::Object(declared)) = (&mut json, declared) {
        all.extend(declared);
    }
    json
}

fn list<T>(items: &[T], json: impl Fn(usize, &T) -> Json) -> Json {
    items.iter().enumerate().map(|(index, item)| json(index, item)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_has_what_is_declared_and_what_is_shown_of_it() {
        let json = schema_json(&Schema::example());
        let avatar = &json["kinds"][0];
        assert_eq!(
            avatar["components"][2],
            json!({
                "name": "mana", "label": "Zauberkräfte", "unit": "%", "type": "gauge", "max": 62.5,
                "effect": null, "sign": null, "role": null, "words": [],
            })
        );
        assert_eq!(avatar["look"]["colour"], json!("#3080ff"));
        assert_eq!(avatar["effect"]["form"], "arrival");
        assert_eq!(avatar["components"][3]["effect"]["form"], "ring");
        assert_eq!((&avatar["name"], &avatar["simulated"]), (&json!("avatar"), &json!(false)));
        assert_eq!(avatar["components"].as_array().map(Vec::len), Some(6));
        let stone = &json["kinds"][1];
        assert_eq!((&stone["label"], &stone["look"]["glyph"]), (&json!("Big stones"), &json!("o")));
        assert_eq!(json["events"][0]["text"], "{who} loses {damage} points");
        assert_eq!(json["events"][0]["fields"][2]["name"], "damage");
        assert_eq!(json["refusals"][0], json!({ "name": "tired", "text": "you are too tired" }));
        assert_eq!(
            json["controls"][0],
            json!({
                "name": "left", "label": "", "help": "", "keys": ["a", "arrowleft"],
                "tapped": false, "direction": "west", "axis": null,
            })
        );
        assert_eq!(
            json["scenery"],
            json!({
                "camera": "above", "place": "halls", "ground": "#204020", "no_grid": true,
                "party": true,
                "obstacles": [{ "glyph": "%", "colour": "#806040" }],
            })
        );
    }

    #[test]
    fn commands_have_forms_and_choices_what_players_read() {
        let json = schema_json(&Schema::example());
        let walk = &json["commands"][0];
        assert_eq!((&walk["key"], &walk["walk"]["radius_m"]), (&json!("click"), &json!(0.4_f32)));
        let cast = &json["commands"][2];
        assert_eq!(
            (&cast["usage"], &cast["walk"], &cast["help"]),
            (&json!("cast SPELL [X Y] [TARGET]"), &Json::Null, &json!("Cast a spell."))
        );
        assert_eq!(
            cast["fields"][0],
            json!({
                "name": "spell", "label": "Which spell", "type": "choice",
                "choices": ["bolt", "heal"], "listed_in": "book", "marked_in": "known",
                "sets": "name", "optional": false,
                "about": Schema::example().presentation.command(2).field(0).choices,
            })
        );
        let times = json!({
            "name": "times", "label": "", "type": "number", "min": 1, "max": 9, "optional": false,
        });
        assert_eq!(json["commands"][3]["fields"][0], times);
    }

    #[test]
    fn halves_and_angles_have_types_of_their_own() {
        let json = schema_json(&Schema::example_with_poses());
        let vane = &json["kinds"][5]["components"];
        assert_eq!((&vane[1]["name"], &vane[1]["type"]), (&json!("heading"), &json!("angle")));
        assert_eq!((&vane[2]["name"], &vane[2]["type"]), (&json!("wind"), &json!("half")));
        assert_eq!(
            json["commands"][4]["fields"],
            json!([
                { "name": "heading", "label": "", "type": "angle", "optional": false },
                { "name": "power", "label": "", "type": "half", "optional": true },
            ])
        );
    }
}
