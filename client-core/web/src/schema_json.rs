//! A game's schema as JSON, for JavaScript: `Schema` in `ts/schema.ts` has the same keys.

use ambit_client_core::command_words;
use ambit_proto::axes::AxisKind;
use ambit_proto::decimal::DecimalFormat;
use ambit_proto::pose::Turning;
use ambit_proto::schema::{
    Camera, ChoiceAbout, Codec, CommandKind, ComponentSpec, ControlSpec, Direction, Effect,
    EffectForm, EventKind, FieldSpec, FieldType, Look, Material, ObjectKind, ObstacleLook,
    PosePresentation, RefusalKind, ScenerySpec, Schema, Shape,
};
use serde_json::{Value as Json, json};

/// The schema. Kinds, components and choices are referred to by their places in these lists.
pub(crate) fn schema_json(schema: &Schema) -> Json {
    json!({
        "game": schema.game,
        "kinds": list(&schema.kinds, kind),
        "events": list(&schema.events, event),
        "commands": list(&schema.commands, command),
        "refusals": list(&schema.refusals, refusal),
        "controls": list(&schema.controls, control),
        "scenery": scenery(&schema.scenery),
    })
}

fn kind(kind: &ObjectKind) -> Json {
    json!({
        "name": kind.name, "label": kind.label,
        "components": list(&kind.components, component),
        "look": look(&kind.look), "effect": kind.effect.map(effect),
        "simulated": kind.presentation == PosePresentation::Simulated,
    })
}

fn component(component: &ComponentSpec) -> Json {
    let mut json = match component.codec {
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
        Codec::Decimal(format) => decimal(format),
        Codec::Text { max_bytes } => json!({ "type": "text", "max_bytes": max_bytes }),
    };
    json["name"] = json!(component.name);
    json["label"] = json!(component.label);
    json["unit"] = json!(component.unit);
    json["effect"] = json!(component.effect.map(effect));
    json
}

fn decimal(format: DecimalFormat) -> Json {
    match format {
        DecimalFormat::Half => json!({ "type": "half" }),
        DecimalFormat::Angle => json!({ "type": "angle" }),
    }
}

fn look(look: &Look) -> Json {
    let shape = match look.shape {
        Shape::Disc => "disc",
        Shape::Box => "box",
        Shape::Arrow => "arrow",
        Shape::Point => "point",
    };
    let material = match look.material {
        Material::Matte => "matte",
        Material::Metal => "metal",
        Material::Glow => "glow",
    };
    json!({
        "glyph": look.glyph, "shape": shape, "colour": colour(look.colour),
        "material": material, "size": look.size_m, "bar": look.bar, "label": look.label,
    })
}

fn effect(effect: Effect) -> Json {
    let form = match effect.form {
        EffectForm::Cast => "cast",
        EffectForm::Hit => "hit",
        EffectForm::Heal => "heal",
        EffectForm::Arrival => "arrival",
        EffectForm::Death => "death",
        EffectForm::Blast => "blast",
        EffectForm::Ring => "ring",
        EffectForm::Beam => "beam",
        EffectForm::Warning => "warning",
    };
    json!({
        "form": form, "colour": colour(effect.colour), "size": effect.size_m, "at": effect.at,
        "from": effect.from, "reach": effect.reach, "due": effect.due,
    })
}

fn scenery(scenery: &ScenerySpec) -> Json {
    let camera = match scenery.camera {
        Camera::Around => "around",
        Camera::Above => "above",
    };
    json!({
        "camera": camera, "ground": scenery.ground.map(colour), "grid": scenery.has_grid,
        "party": scenery.has_party,
        "obstacles": list(&scenery.obstacles, |&look| obstacle_look(look)),
    })
}

fn obstacle_look(look: ObstacleLook) -> Json {
    json!({ "glyph": look.glyph, "colour": colour(look.colour) })
}

fn colour(colour: u32) -> String {
    format!("#{colour:06x}")
}

fn event(event: &EventKind) -> Json {
    let fields = list(&event.fields, field);
    let effect = event.effect.map(effect);
    json!({ "name": event.name, "fields": fields, "effect": effect, "text": event.text })
}

fn command(command: &CommandKind) -> Json {
    json!({
        "name": command.name, "label": command.label, "usage": command_words::usage(command),
        "help": command.help, "key": command.key, "newest_only": command.newest_only,
        "only_for": command.only_for, "walks": command.walk.is_some(),
        "fields": list(&command.fields, field),
    })
}

fn field(field: &FieldSpec) -> Json {
    let mut json = match &field.ty {
        FieldType::Object => json!({ "type": "object" }),
        FieldType::Position => json!({ "type": "position" }),
        FieldType::Number { min, max } => json!({ "type": "number", "min": min, "max": max }),
        FieldType::Decimal(format) => decimal(*format),
        FieldType::Choice(names) => json!({ "type": "choice", "choices": names }),
        FieldType::Text { max_bytes } => json!({ "type": "text", "max_bytes": max_bytes }),
    };
    if let FieldType::Choice(names) = &field.ty {
        let about = |index| field.choices.get(index).cloned().unwrap_or_default();
        json["listed_in"] = json!(field.listed_in);
        json["about"] = (0..names.len()).map(|index| choice(&about(index))).collect();
    }
    json["name"] = json!(field.name);
    json["label"] = json!(field.label);
    json["optional"] = json!(field.optional);
    json
}

fn choice(about: &ChoiceAbout) -> Json {
    let ChoiceAbout { label, help, cooldown_ms, only_for, alone, reach_cm, cost } = about;
    let cost = cost.as_ref().map(|cost| json!({ "of": cost.of, "amount": cost.amount }));
    json!({
        "label": label, "help": help, "cooldown_ms": cooldown_ms, "only_for": only_for,
        "alone": alone, "reach_cm": reach_cm, "cost": cost,
    })
}

fn refusal(refusal: &RefusalKind) -> Json {
    json!({ "name": refusal.name, "text": refusal.text })
}

fn control(control: &ControlSpec) -> Json {
    let direction = control.direction.map(|direction| match direction {
        Direction::East => "east",
        Direction::North => "north",
        Direction::West => "west",
        Direction::South => "south",
    });
    let axis = control.axis.map(|axis| match axis {
        AxisKind::Linear => "linear",
        AxisKind::Angle => "angle",
        AxisKind::ShownBehind => "shown-behind",
    });
    json!({
        "name": control.name, "label": control.label, "help": control.help, "keys": control.keys,
        "tapped": control.is_tapped, "direction": direction, "axis": axis,
    })
}

fn list<T>(items: &[T], json: fn(&T) -> Json) -> Json {
    items.iter().map(json).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_has_what_a_page_needs_to_draw_and_to_ask() {
        let health = ComponentSpec::public("health", Codec::Gauge { max: 50.0 });
        let health = ComponentSpec { label: "Life".to_owned(), unit: "%".to_owned(), ..health };
        let kind = ObjectKind {
            name: "orc".to_owned(),
            components: vec![ComponentSpec::public("path", Codec::Path), health],
            look: Look { glyph: 'O', colour: 0x00_ff_80, bar: Some(1), ..Look::default() },
            ..ObjectKind::default()
        };
        let command = CommandKind {
            name: "cast".to_owned(),
            key: Some("c".to_owned()),
            fields: vec![
                FieldSpec::new("spell", FieldType::Choice(vec!["bolt".to_owned()])),
                FieldSpec::new("at", FieldType::Position).optional(),
            ],
            ..CommandKind::default()
        };
        let json = schema_json(&Schema {
            game: "field".to_owned(),
            kinds: vec![kind],
            commands: vec![command],
            ..Schema::default()
        });
        assert_eq!(
            json["kinds"][0],
            json!({
                "name": "orc",
                "label": "",
                "components": [
                    { "name": "path", "label": "", "unit": "", "type": "path", "effect": null },
                    {
                        "name": "health", "label": "Life", "unit": "%", "type": "gauge",
                        "max": 50.0, "effect": null,
                    },
                ],
                "look": {
                    "glyph": "O", "shape": "disc", "colour": "#00ff80", "material": "matte",
                    "size": 1.0, "bar": 1, "label": null,
                },
                "effect": null,
                "simulated": false,
            })
        );
        let command = &json["commands"][0];
        assert_eq!(
            (&command["usage"], &command["walks"]),
            (&json!("cast SPELL [X Y]"), &json!(false))
        );
        assert_eq!(schema_json(&Schema::example())["commands"][0]["walks"], json!(true));
        assert_eq!(
            command["fields"][0],
            json!({
                "name": "spell", "label": "", "type": "choice", "choices": ["bolt"],
                "about": [{
                    "label": "", "help": "", "cooldown_ms": 0, "only_for": "", "alone": false,
                    "reach_cm": 0, "cost": null,
                }],
                "listed_in": "", "optional": false,
            })
        );
        assert_eq!(
            schema_json(&Schema::example())["scenery"],
            json!({
                "camera": "above", "ground": "#204020", "grid": false, "party": true,
                "obstacles": [{ "glyph": "%", "colour": "#806040" }],
            })
        );
        assert_eq!(
            json["scenery"],
            json!({
                "camera": "around", "ground": null, "grid": true, "party": false, "obstacles": [],
            })
        );
        let controls = &schema_json(&Schema::example())["controls"];
        assert_eq!(
            controls[0],
            json!({
                "name": "left", "label": "", "help": "", "keys": ["a", "arrowleft"],
                "tapped": false, "direction": "west", "axis": null,
            })
        );
        assert_eq!(
            (&controls[1]["tapped"], &controls[1]["direction"]),
            (&json!(true), &Json::Null)
        );
    }

    #[test]
    fn labels_are_beside_names() {
        let json = schema_json(&Schema::example());
        assert_eq!(json["kinds"][1]["label"], "Big stones");
        assert_eq!(json["kinds"][0]["components"][2]["label"], "Zauberkräfte");
        assert_eq!(json["commands"][0]["label"], "Walk there");
        assert_eq!(json["controls"][1]["label"], "Leap");
    }

    #[test]
    fn effects_are_at_events_at_kinds_and_at_components() {
        let json = schema_json(&Schema::example());
        assert_eq!(
            json["events"][0]["effect"],
            json!({
                "form": "beam", "colour": "#ff4020", "size": 1.5, "at": 1, "from": 0, "reach": 2,
                "due": 2,
            })
        );
        let avatar = &json["kinds"][0];
        assert_eq!(avatar["effect"]["form"], "arrival");
        assert_eq!(avatar["components"][3]["effect"]["form"], "ring");
        assert_eq!(avatar["look"]["material"], "metal");
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
