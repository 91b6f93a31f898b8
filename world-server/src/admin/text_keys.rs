//! Which keys of a file of texts no text has: misspelt ones, which change nothing.
//!
//! The keys are those of `client-core/web/page/src/core/translation.ts`. Names that depend on a
//! room, such as those of a list or a board, are not looked up, and the page looks up its own keys.

use std::collections::BTreeMap;

use ambit_proto::schema::{FieldSpec, Schema};
use ambit_room::logic::registry::Registry;

/// What can be said of something.
const SHOWN: [&str; 5] = ["label", "help", "text", "unit", "lead"];

/// Those of `keys` that are of no game, or of what a game does not have.
pub(super) fn unknown<'k>(
    keys: impl Iterator<Item = &'k String>,
    registry: &Registry,
) -> Vec<&'k str> {
    let games = registry.games().map(|info| (info.name, registry.schema(info.name)));
    let schemas: BTreeMap<_, _> = games.collect();
    let is_known = |key: &&str| {
        let parts: Vec<&str> = key.split('.').collect();
        match *parts {
            ["page", ..] => true,
            [game, "description"] | [game, "boards", _, "label"] => schemas.contains_key(game),
            [game, "parameters", name, "label" | "about"] => {
                let parameters = registry.parameters(game).unwrap_or_default();
                parameters.iter().any(|parameter| parameter.key == name)
            }
            [game, ref about @ ..] => match schemas.get(game) {
                Some(Some(schema)) => has(schema, about),
                // A game without a room by default: its schema is not known.
                Some(None) => true,
                None => false,
            },
            [] => false,
        }
    };
    keys.map(String::as_str).filter(|key| !is_known(key)).collect()
}

/// Whether a game has what a key is about.
fn has(schema: &Schema, key: &[&str]) -> bool {
    let [list, name, parts @ .., shown] = key else { return false };
    let part = parts.first();
    let has_part =
        |fields: &[FieldSpec]| part.is_none_or(|part| fields.iter().any(|it| it.name == *part));
    let has_item = match *list {
        "kinds" => schema.kinds.iter().any(|kind| {
            kind.name == *name && part.is_none_or(|part| kind.component_index(part).is_some())
        }),
        "events" => {
            schema.events.iter().any(|event| event.name == *name && has_part(&event.fields))
        }
        "commands" => schema.commands.iter().any(|it| it.name == *name && has_part(&it.fields)),
        "refusals" => part.is_none() && schema.refusal_index(name).is_some(),
        "controls" => part.is_none() && schema.control_index(name).is_some(),
        _ => false,
    };
    SHOWN.contains(shown) && has_item
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_what_no_game_has_are_unknown() {
        let registry = ambit_game_server::standard();
        let german = include_str!("../../../client-core/web/texts/de.json");
        let german: BTreeMap<String, String> = serde_json::from_str(german).expect("texts");
        // A game does not declare the names of its boards.
        let board = "deus.boards.winners.label".to_owned();
        assert_eq!(unknown(german.keys().chain([&board]), &registry), [""; 0]);
        let misspelt = [
            "dues.description",
            "deus.comands.cast.label",
            "deus.commands.cats.label",
            "deus.commands.cast.spel.frost.label",
            "deus.commands.cast.labell",
            "deus.kinds.hero.manna.label",
            "deus.refusals.dead.part.text",
            "deus.boards.winners.help",
            "dues.boards.winners.label",
            "deus.parameters.contents.about",
            "label",
        ]
        .map(str::to_owned);
        assert_eq!(unknown(misspelt.iter(), &registry), misspelt);
    }
}
