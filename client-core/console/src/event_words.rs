//! What players read of an event: the line of its game, with what is in its fields.
//!
//! An event of a schema goes in, a text comes out; `{by} hits {target}` is "ann hits bob". A
//! sentence in which nothing can be said is left out: of an object that is not in sight, or with a
//! text that is empty. Without the first sentence the others say nothing.

use ambit_client_core::client::Client;
use ambit_client_core::client::event::{BorrowedValue, NamedField, SchemaEvent};
use ambit_client_core::replica::VisibleObject;
use ambit_proto::ids::ClientObjectId;
use ambit_proto::message::FieldValue;
use ambit_proto::presentation::EventPresentation;
use ambit_proto::schema::{EventKind, Schema};
use ambit_proto::time::{GameTime, LocalTime};

/// What the running game says of an event; `None` if it has no words for it.
pub(crate) fn of_event(client: &Client, now: LocalTime, event: &SchemaEvent) -> Option<String> {
    let schema = client.schema()?;
    let index = schema.event_index(&event.name)?;
    let kind = schema.events.get(usize::from(index))?;
    let t = client.room_time(now).unwrap_or_default();
    let name_of = |id| name_of(schema, &client.object(id)?, t);
    text(kind, schema.presentation.event(index.into()), &event.fields, &name_of)
}

/// The object's name, or what it is.
pub(crate) fn name_of(
    schema: &Schema,
    seen: &VisibleObject<'_, ()>,
    t: GameTime,
) -> Option<String> {
    let kind = usize::from(seen.kind_index());
    let own = own_name(schema, seen, t);
    own.or_else(|| {
        Some(label(&schema.presentation.kind(kind).label, &schema.kinds.get(kind)?.name))
    })
}

/// The text beside an object that names it, if it has one.
pub(crate) fn own_name(
    schema: &Schema,
    seen: &VisibleObject<'_, ()>,
    t: GameTime,
) -> Option<String> {
    let look = schema.presentation.kind(seen.kind_index().into()).look;
    match seen.component(look.label?.into(), t) {
        Some(BorrowedValue::Text(name)) if !name.is_empty() => Some(name.to_owned()),
        _ => None,
    }
}

/// The game's own label, otherwise the words of the name.
pub(crate) fn label(label: &str, name: &str) -> String {
    if label.is_empty() { for_players(name) } else { label.to_owned() }
}

/// `turn-left` is "Turn left".
fn for_players(name: &str) -> String {
    let words = as_words(name);
    let mut letters = words.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// `iron-ring` is "iron ring".
pub(crate) fn as_words(name: &str) -> String {
    let words = name.split(['-', '_']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// `name_of` is the name of an object, if it is in sight.
fn text(
    kind: &EventKind,
    shown: &EventPresentation,
    fields: &[NamedField],
    name_of: &dyn Fn(ClientObjectId) -> Option<String>,
) -> Option<String> {
    let said = |text: &str| {
        let sentences = sentences(text);
        let mut told = sentences.iter().map(|it| sentence(it, kind, shown, fields, name_of));
        let first = told.next()??;
        Some(std::iter::once(first).chain(told.flatten()).collect::<Vec<_>>().join(" "))
    };
    let text = said(&shown.text).filter(|text| !text.is_empty())?;
    Some(match said(&shown.lead).filter(|lead| !lead.is_empty()) {
        Some(lead) => format!("{lead}: {text}"),
        None => text,
    })
}

/// Each with its full stop.
fn sentences(text: &str) -> Vec<&str> {
    let mut rest = text;
    let mut found = Vec::new();
    let ends = [". ", "! ", "? "];
    while let Some(end) = ends.iter().filter_map(|end| rest.find(end)).min() {
        let (sentence, after) = rest.split_at(end + 1);
        found.push(sentence);
        rest = after.trim_start();
    }
    found.push(rest);
    found
}

/// `None` if one of its fields has nothing to say.
fn sentence(
    text: &str,
    kind: &EventKind,
    shown: &EventPresentation,
    fields: &[NamedField],
    name_of: &dyn Fn(ClientObjectId) -> Option<String>,
) -> Option<String> {
    let mut told = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        told.push_str(before);
        let index = kind.fields.iter().position(|field| field.name == name)?;
        let field = fields.iter().find(|field| *field.name == *name)?;
        let word = match &field.value {
            FieldValue::None | FieldValue::Position(_) => None,
            FieldValue::Object(id) => name_of(*id),
            FieldValue::Number(number) => Some(number.to_string()),
            FieldValue::Decimal(decimal) => Some(format!("{:.0}", decimal.rounded())),
            FieldValue::Text(text) => Some(text.clone()),
            FieldValue::Choice(choice) => {
                let about = shown.field(index).choice(usize::from(*choice));
                let name = field.choice.as_deref().unwrap_or_default();
                Some(match (about.label.as_str(), told.is_empty()) {
                    ("", true) => for_players(name),
                    ("", false) => as_words(name),
                    (label, _) => label.to_owned(),
                })
            }
        };
        told.push_str(&word.filter(|word| !word.is_empty())?);
        rest = after;
    }
    told.push_str(rest);
    Some(told)
}

#[cfg(test)]
mod tests {
    use ambit_proto::presentation::{ChoicePresentation, FieldPresentation};
    use ambit_proto::schema::{FieldSpec, FieldType};

    use super::*;

    #[test]
    fn an_event_is_told_in_the_game_s_words() {
        let by = |id| field("by", FieldValue::Object(ClientObjectId(id)));
        let target = field("target", FieldValue::Object(ClientObjectId(1)));
        let told = |text, fields: &[NamedField]| words(text, "", fields);
        let hits = "{by} hits {target}";
        assert_eq!(told(hits, &[target.clone(), by(2)]).as_deref(), Some("bob hits ann"));
        assert_eq!(told(hits, &[target.clone(), by(9)]), None, "it is not in sight");
        let falls = "{target} has fallen. Felled by {by}.";
        let whole = "ann has fallen. Felled by bob.";
        assert_eq!(told(falls, &[target.clone(), by(2)]).as_deref(), Some(whole));
        assert_eq!(told(falls, &[target, by(9)]).as_deref(), Some("ann has fallen."));
        assert_eq!(told("", &[by(2)]), None);
        let nothing = field("target", FieldValue::Text(String::new()));
        assert_eq!(told("{target} has won", &[nothing]), None);
    }

    #[test]
    fn a_choice_has_its_label_and_a_lead_stands_before_the_text() {
        let phase = field("phase", FieldValue::Choice(1));
        let number = field("by", FieldValue::Number(3));
        let told = words("{phase}", "Wave {by}", &[phase, number]);
        assert_eq!(told.as_deref(), Some("Wave 3: The gate is open"));
        let unlabelled = field("phase", FieldValue::Choice(0));
        assert_eq!(words("{phase}", "", &[unlabelled]).as_deref(), Some("At peace"));
    }

    fn words(text: &str, lead: &str, fields: &[NamedField]) -> Option<String> {
        let names = ["at-peace", "gate-open"].map(str::to_owned).to_vec();
        let spec = |name: &str, ty| FieldSpec { name: name.to_owned(), ty, optional: false };
        let kind = EventKind {
            name: "tested".to_owned(),
            fields: vec![
                spec("by", FieldType::Object),
                spec("target", FieldType::Object),
                spec("phase", FieldType::Choice(names)),
            ],
        };
        let label =
            |label: &str| ChoicePresentation { label: label.to_owned(), ..Default::default() };
        let choices = vec![label(""), label("The gate is open")];
        let shown = EventPresentation {
            text: text.to_owned(),
            lead: lead.to_owned(),
            fields: vec![
                FieldPresentation::default(),
                FieldPresentation::default(),
                FieldPresentation { choices, ..FieldPresentation::default() },
            ],
            ..EventPresentation::default()
        };
        let name_of = |id: ClientObjectId| match id.0 {
            1 => Some("ann".to_owned()),
            2 => Some("bob".to_owned()),
            _ => None,
        };
        super::text(&kind, &shown, fields, &name_of)
    }

    fn field(name: &str, value: FieldValue<ClientObjectId>) -> NamedField {
        let choice = match value {
            FieldValue::Choice(index) => Some(["at-peace", "gate-open"][usize::from(index)].into()),
            _ => None,
        };
        NamedField { name: name.into(), value, choice }
    }
}
