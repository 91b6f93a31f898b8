//! Commands of a game from words or values, by its schema.
//!
//! A name and words, or [`Argument`]s, go in; a command that [`Client::act`] accepts comes out, or
//! an error that says what was expected. Any client can so use any game.
//!
//! In words, a position is X and Y, on the ground; an object is its id; a choice is
//! its name; a text is one word, in the last field all the rest. A half is a decimal number, an
//! angle one of radians, or of degrees with `°` or `deg`: `1.57`, `90°`. `-` stands for an optional
//! field without a value; those at the end may be left out.
//!
//! [`Client::act`]: crate::client::Client::act

use std::collections::BTreeMap;

use ambit_proto::decimal::DecimalFormat;
use ambit_proto::ids::ClientObjectId;
use ambit_proto::message::{FieldValue, GameCommand};
use ambit_proto::presentation::{CommandPresentation, Cost};
use ambit_proto::schema::{CommandKind, FieldSpec, FieldType, Schema};
use ambit_proto::space::Position;

use crate::argument::Argument;

/// Why a command could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandWordsError {
    /// The game has no such command.
    #[error("unknown command '{0}'")]
    UnknownCommand(String),
    /// A word is none of the names of a choice.
    #[error("{problem}; expected {usage}")]
    UnknownChoice {
        /// What is wrong.
        problem: String,
        /// The form of the command.
        usage: String,
    },
    /// A value is missing, superfluous, or not one of its field.
    #[error("{problem}; expected {usage}")]
    Usage {
        /// What is wrong.
        problem: String,
        /// The form of the command.
        usage: String,
    },
}

/// The command in these words: its name, then its values.
pub fn parse(
    schema: &Schema,
    words: &[&str],
) -> Result<GameCommand<ClientObjectId>, CommandWordsError> {
    let (name, mut rest) = words.split_first().map_or(("", words), |(name, rest)| (*name, rest));
    let (kind, declared) = find(schema, name)?;
    let mut fields = Vec::with_capacity(declared.fields.len());
    for (index, field) in declared.fields.iter().enumerate() {
        let is_last = index + 1 == declared.fields.len();
        let word = rest.first().copied();
        let argument = take_argument(field, &mut rest, is_last);
        let value = argument.to_field(field).ok_or_else(|| misfit(declared, field, word))?;
        fields.push(value);
    }
    match rest.first() {
        None => Ok(GameCommand { kind, fields }),
        Some(word) => Err(usage_error(declared, format!("'{word}' is too much"))),
    }
}

/// The command called `name` with these arguments, in the order of its fields, or one that has them
/// by name. Optional ones at the end may be left out.
pub fn from_arguments(
    schema: &Schema,
    name: &str,
    mut arguments: Vec<Argument>,
) -> Result<GameCommand<ClientObjectId>, CommandWordsError> {
    let (kind, declared) = find(schema, name)?;
    if let [Argument::Named(named)] = &mut arguments[..]
        && !is_position(named, declared)
    {
        arguments = in_order(declared, std::mem::take(named))?;
    }
    if arguments.len() > declared.fields.len() {
        return Err(usage_error(declared, "there are too many values".into()));
    }
    arguments.resize(declared.fields.len(), Argument::None);
    let pairs = arguments.iter().zip(&declared.fields);
    let fields = pairs.map(|(argument, field)| {
        argument.to_field(field).ok_or_else(|| misfit(declared, field, None))
    });
    Ok(GameCommand { kind, fields: fields.collect::<Result<_, _>>()? })
}

/// What is wrong with the first position of a command that is not on a map of this size, in metres.
pub fn find_off_map(
    command: &GameCommand<ClientObjectId>,
    (width, height): (f32, f32),
) -> Option<String> {
    command.fields.iter().find_map(|field| {
        let FieldValue::Position(Position { x, y, .. }) = *field else { return None };
        let is_on_map = (0.0..=width).contains(&x) && (0.0..=height).contains(&y);
        (!is_on_map).then(|| format!("{x} {y} is not on the map ({width} x {height} m)"))
    })
}

/// The commands of a game, each with what players read about it.
pub fn with_presentations(
    schema: &Schema,
) -> impl Iterator<Item = (&CommandKind, &CommandPresentation)> {
    let shown = |(index, command)| (command, schema.presentation.command(index));
    schema.commands.iter().enumerate().map(shown)
}

/// The form of a command: `cast SPELL [X Y]`.
pub fn usage(command: &CommandKind) -> String {
    let forms = command.fields.iter().map(|field| {
        let words = match field.ty {
            FieldType::Position => "X Y".to_owned(),
            _ => field.name.to_uppercase(),
        };
        if field.optional { format!("[{words}]") } else { words }
    });
    let words: Vec<String> = [command.name.clone()].into_iter().chain(forms).collect();
    words.join(" ")
}

/// What a command does, with which choices it needs nothing else, and what they cost:
/// `Cast a spell. Without the rest: heal, veil. Costs: heal 20 mana.` May be empty.
pub fn meaning(command: &CommandKind, shown: &CommandPresentation) -> String {
    let Some(FieldType::Choice(names)) = command.fields.first().map(|field| &field.ty) else {
        return shown.help.clone();
    };
    let named = names.iter().zip(&shown.field(0).choices);
    let costs = named.clone().filter_map(|(name, about)| Some((name, about.cost.as_ref()?)));
    let (costs, gives): (Vec<_>, Vec<_>) = costs.partition(|(_, cost)| cost.amount > 0);
    let sums = |what: &str, all: &[(&String, &Cost)]| {
        let each = all
            .iter()
            .map(|(name, Cost { of, amount })| format!("{name} {} {of}", amount.unsigned_abs()));
        let each: Vec<String> = each.collect();
        if each.is_empty() { String::new() } else { format!("{what}: {}.", each.join(", ")) }
    };
    let costs = sums("Costs", &costs);
    let gives = sums("Gives", &gives);
    let alone: Vec<&str> =
        named.filter(|(_, about)| about.alone).map(|(name, _)| name.as_str()).collect();
    let alone = match alone[..] {
        [] => String::new(),
        _ => format!("Without the rest: {}.", alone.join(", ")),
    };
    let parts = [shown.help.as_str(), &alone, &costs, &gives];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether named values are a position: unless the command has fields with the names of axes.
fn is_position(named: &BTreeMap<String, Argument>, command: &CommandKind) -> bool {
    let has_axis =
        |name| named.contains_key(name) && command.fields.iter().all(|field| field.name != name);
    has_axis("x") && has_axis("y")
}

/// The values in the order of the fields.
fn in_order(
    command: &CommandKind,
    mut named: BTreeMap<String, Argument>,
) -> Result<Vec<Argument>, CommandWordsError> {
    let values = command.fields.iter().map(|field| named.remove(&field.name).unwrap_or_default());
    let values = values.collect();
    match named.first_key_value() {
        None => Ok(values),
        Some((unknown, _)) => Err(usage_error(command, format!("there is no field '{unknown}'"))),
    }
}

pub(crate) fn find<'s>(
    schema: &'s Schema,
    name: &str,
) -> Result<(u8, &'s CommandKind), CommandWordsError> {
    schema
        .command_index(name)
        .and_then(|kind| Some((kind, schema.command(kind)?)))
        .ok_or_else(|| CommandWordsError::UnknownCommand(name.to_owned()))
}

/// How many of these words are the next field's: of a text at the end, all.
pub fn word_count(field: &FieldSpec, words: &[&str], is_last: bool) -> usize {
    match field.ty {
        _ if is_left_out(field, words) => 1,
        FieldType::Position => 2,
        FieldType::Text { .. } if is_last => usize::MAX,
        _ => 1,
    }
}

fn is_left_out(field: &FieldSpec, words: &[&str]) -> bool {
    field.optional && words.first() == Some(&"-")
}

/// Takes the words of a field from `rest`.
fn take_argument(field: &FieldSpec, rest: &mut &[&str], is_last: bool) -> Argument {
    let count = word_count(field, rest, is_last).min(rest.len());
    let is_none = count == 0 || is_left_out(field, rest);
    let (words, after) = rest.split_at(count);
    *rest = after;
    if is_none { Argument::None } else { Argument::Text(words.join(" ")) }
}

/// A value is not one of its field. `word` is the first one of a player who has typed it.
pub(crate) fn misfit(
    command: &CommandKind,
    field: &FieldSpec,
    word: Option<&str>,
) -> CommandWordsError {
    let problem = problem_of(field);
    let Some(word) = word else { return usage_error(command, problem) };
    let problem = format!("'{word}' is invalid: {problem}");
    match field.ty {
        FieldType::Choice(_) => CommandWordsError::UnknownChoice { problem, usage: usage(command) },
        _ => usage_error(command, problem),
    }
}

fn usage_error(command: &CommandKind, problem: String) -> CommandWordsError {
    let usage = usage(command);
    CommandWordsError::Usage { problem, usage }
}

/// What a field takes: `times is a whole number from 1 to 9`.
pub(crate) fn problem_of(field: &FieldSpec) -> String {
    let wanted = match &field.ty {
        FieldType::Object => "the number of an object".to_owned(),
        FieldType::Position => "a position X Y, two numbers of metres".to_owned(),
        FieldType::Number { min: i64::MIN, max: i64::MAX } => "a whole number".to_owned(),
        FieldType::Number { min, max } => format!("a whole number from {min} to {max}"),
        FieldType::Decimal(DecimalFormat::Half) => "a number from -65504 to 65504".to_owned(),
        FieldType::Decimal(DecimalFormat::Angle) => {
            "an angle in radians, or in degrees: 90°".to_owned()
        }
        FieldType::Choice(names) => format!("one of {}", names.join(", ")),
        FieldType::Text { max_bytes } => format!("a text of at most {max_bytes} bytes"),
    };
    format!("{} is {wanted}", field.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_the_fields_that_the_schema_declares() {
        let at = |x, y, z| FieldValue::Position(Position::new(x, y, z));
        check("walk-to 120 90.5", &[at(120.0, 90.5, 0.0)]);
        check("walk-to 1.5 2", &[at(1.5, 2.0, 0.0)]);
        check("rest", &[]);
        let none = FieldValue::None;
        let heal = FieldValue::Choice(1);
        check("cast heal", &[heal.clone(), none.clone(), none.clone()]);
        let bolt = FieldValue::Choice(0);
        check(
            "cast bolt 1 2 #7",
            &[bolt, at(1.0, 2.0, 0.0), FieldValue::Object(ClientObjectId(7))],
        );
        check("cast heal - 7", &[heal, none, FieldValue::Object(ClientObjectId(7))]);
        let words = FieldValue::Text("good day".into());
        check("shout 9 good day", &[FieldValue::Number(9), words]);
    }

    #[test]
    fn decimals_are_typed_as_numbers_and_angles_in_degrees_too() {
        let schema = Schema::example_with_poses();
        let of = |format: DecimalFormat, value| FieldValue::Decimal(format.nearest(value));
        let angle = |degrees: f32| of(DecimalFormat::Angle, degrees.to_radians());
        let half = |value| of(DecimalFormat::Half, value);
        for (line, expected) in [
            ("aim 1.5708", [angle(90.0), FieldValue::None]),
            ("aim -90° 2.5", [angle(-90.0), half(2.5)]),
            ("aim 450deg -1e-3", [angle(90.0), half(-0.001)]),
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(parse(&schema, &words).expect(line).fields, expected, "{line}");
        }
        for (line, expected) in [
            ("aim north", "heading is an angle in radians, or in degrees: 90°; expected aim"),
            ("aim 0 70000", "power is a number from -65504 to 65504"),
            ("aim 0 90°", "power is a number"),
            ("aim nan", "heading is an angle"),
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            let error = parse(&schema, &words).expect_err(line).to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
        let given = |arguments| from_arguments(&schema, "aim", arguments).map(|aim| aim.fields);
        let fields = given(vec![Argument::Number(0), Argument::Decimal(0.5)]);
        assert_eq!(fields, Ok(vec![angle(0.0), half(0.5)]));
        for beyond in [Argument::Number(70_000), Argument::Decimal(f32::NAN)] {
            assert!(given(vec![Argument::Number(0), beyond]).is_err());
        }
        assert!(from_arguments(&schema, "shout", vec![Argument::Decimal(1.5)]).is_err());
    }

    #[test]
    fn help_says_which_choices_need_nothing_else() {
        let schema = Schema::example();
        let meaning = |name| {
            let (index, command) = find(&schema, name).expect("declared");
            meaning(command, schema.presentation.command(index.into()))
        };
        assert_eq!(meaning("cast"), "Cast a spell. Without the rest: heal. Costs: bolt 8 mana.");
        assert_eq!(meaning("walk-to"), "Walk to a point.");
        assert_eq!(meaning("rest"), "");
    }

    #[test]
    fn an_error_says_what_was_expected() {
        for (line, expected) in [
            ("jump", "unknown command 'jump'"),
            ("walk-to", "to is a position X Y, two numbers of metres; expected walk-to X Y"),
            ("walk-to 1", "'1' is invalid: to is a position X Y, two numbers of metres"),
            ("walk-to here there", "'here' is invalid"),
            ("walk-to nan 3", "'nan' is invalid"),
            ("walk-to 3 inf", "'3' is invalid"),
            ("rest now", "'now' is too much; expected rest"),
            ("walk-to 1 2 3", "'3' is too much; expected walk-to X Y"),
            (
                "cast frost",
                "'frost' is invalid: spell is one of bolt, heal; expected cast SPELL [X Y]",
            ),
            ("cast bolt 1 2 orc", "target is the number of an object"),
            ("shout 10 x", "times is a whole number from 1 to 9; expected shout TIMES WORDS"),
            ("shout 1", "words is a text of at most 100 bytes"),
            ("shout - x", "'-' is invalid"),
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            let error = parse(&Schema::example(), &words).expect_err(line).to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn a_place_off_the_map_is_named_with_the_size_of_the_map() {
        let off_map = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            find_off_map(&parse(&Schema::example(), &words).expect(line), (100.0, 80.0))
        };
        for on_map in ["walk-to 0 0", "walk-to 100 80", "walk-to 1 2", "rest", "cast heal"] {
            assert_eq!(off_map(on_map), None);
        }
        for (line, place) in [
            ("walk-to 1000 50", "1000 50"),
            ("walk-to -1 2", "-1 2"),
            ("walk-to 1e30 2.5", "1000000000000000000000000000000 2.5"),
            ("cast bolt 50 80.5", "50 80.5"),
        ] {
            let expected = format!("{place} is not on the map (100 x 80 m)");
            assert_eq!(off_map(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn values_are_checked_and_optional_ones_may_be_left_out() {
        let schema = Schema::example();
        let given = |name, arguments| from_arguments(&schema, name, arguments);
        let cast = given("cast", vec!["bolt".into()]).expect("it fits");
        assert_eq!(cast.fields, [FieldValue::Choice(0), FieldValue::None, FieldValue::None]);
        assert!(given("cast", vec![]).is_err());
        assert!(given("rest", vec![Argument::None]).is_err());
        assert!(given("shout", vec![Argument::Number(0)]).is_err());
    }

    #[test]
    fn values_of_a_page_and_words_of_the_console_make_the_same_command() {
        let mut schema = Schema::example_with_poses();
        let flag = FieldSpec::new("on", FieldType::choice(["no", "yes"]));
        let name = "lamp".to_owned();
        schema.commands.push(CommandKind { name, fields: vec![flag], ..CommandKind::default() });
        for (line, pages) in [
            ("rest", &["[]", "[{}]"][..]),
            (
                "walk-to 1 2.5",
                &[
                    "[[1, 2.5]]",
                    r#"[{"x": 1, "y": 2.5}]"#,
                    r#"[{"to": {"x": 1, "y": 2.5}}]"#,
                    r#"["1 2.5"]"#,
                ],
            ),
            (
                "cast bolt 1 2.5 #7",
                &[
                    r#"["bolt", [1, 2.5], 7]"#,
                    r##"["bolt", {"x": 1, "y": 2.5, "z": 0}, "#7"]"##,
                    r#"[{"spell": "bolt", "at": [1, 2.5], "target": 7}]"#,
                ],
            ),
            ("cast heal - 7", &[r#"["heal", null, 7]"#, r#"[{"target": 7, "spell": "heal"}]"#]),
            ("cast heal", &[r#"["heal"]"#, r#"[{"spell": "heal", "at": null}]"#]),
            ("shout 9 good day", &[r#"[9, "good day"]"#, r#"["9", "good day"]"#]),
            ("aim 90° -0.5", &["[1.5707964, -0.5]", r#"["90°", "-0.5"]"#]),
            ("aim 1", &["[1]", r#"[{"heading": 1}]"#]),
            ("lamp on", &["[true]", r#"["yes"]"#]),
            ("lamp no", &["[false]", r#"[{"on": false}]"#]),
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            let typed = parse(&schema, &words).expect(line);
            for page in pages {
                let values = serde_json::from_str(page).expect(page);
                assert_eq!(
                    from_arguments(&schema, words[0], values).as_ref(),
                    Ok(&typed),
                    "{page}"
                );
            }
        }
    }

    #[test]
    fn a_value_of_a_page_that_is_none_of_the_field_is_explained() {
        let schema = Schema::example();
        for (page, expected) in [
            (r#"[{"spel": "bolt"}]"#, "there is no field 'spel'; expected cast SPELL"),
            (r#"["bolt", {"x": 1}]"#, "at is a position X Y, two numbers of metres"),
            (r#"["bolt", null, 1e300]"#, "target is the number of an object; expected cast SPELL"),
            (r#"["bolt", null, true]"#, "target is the number of an object"),
            (r#"["bolt", null, null, 1]"#, "there are too many values"),
        ] {
            let values = serde_json::from_str(page).expect(page);
            let error = from_arguments(&schema, "cast", values).expect_err(page).to_string();
            assert!(error.contains(expected), "{page}: {error}");
        }
        for page in ["[[1]]", r#"[["x", "y"]]"#, "[[1, 2, 3, 4]]"] {
            let error = serde_json::from_str::<Vec<Argument>>(page).expect_err(page).to_string();
            assert!(error.contains("no value for a command: a position is [x, y]"), "{error}");
        }
    }

    fn check(line: &str, fields: &[FieldValue<ClientObjectId>]) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let command = parse(&Schema::example(), &words).expect(line);
        let expected = Schema::example().command_index(words[0]);
        assert_eq!((Some(command.kind), &command.fields[..]), (expected, fields), "{line}");
    }
}
