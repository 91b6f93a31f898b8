//! Commands of a game from words or values, by its schema.
//!
//! A name and words, or typed values, go in; a command that [`Client::act`] accepts comes out, or
//! an error that says what was expected. Any client can so use any game.
//!
//! In words, a position is X and Y, on the ground; an object is its id; a choice is
//! its name; a text is one word, in the last field all the rest. A half is a decimal number, an
//! angle one of radians, or of degrees with `°` or `deg`: `1.57`, `90°`. `-` stands for an optional
//! field without a value; those at the end may be left out.
//!
//! [`Client::act`]: crate::client::Client::act

use ambit_proto::decimal::{Decimal, DecimalFormat};
use ambit_proto::ids::ClientObjectId;
use ambit_proto::message::{FieldValue, GameCommand};
use ambit_proto::presentation::{CommandPresentation, Cost};
use ambit_proto::schema::{CommandKind, FieldSpec, FieldType, Schema};
use ambit_proto::space::Position;

/// A value for a field of a command. Programs mostly pass what converts into it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Argument {
    /// No value, for an optional field.
    #[default]
    None,
    /// A point on the map, in metres: `[x, y]`, `[x, y, z]` or a [`Position`].
    Position(Position),
    /// A whole number, or the id of an object.
    Number(i64),
    /// A half float, or an angle in radians.
    Decimal(f32),
    /// A text, or the name of a choice.
    Text(String),
}

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
    let error = |problem| usage_error(declared, problem);
    let mut fields = Vec::with_capacity(declared.fields.len());
    for (index, field) in declared.fields.iter().enumerate() {
        let is_last = index + 1 == declared.fields.len();
        let is_unknown_choice = matches!(field.ty, FieldType::Choice(_)) && !rest.is_empty();
        let value = take_value(field, &mut rest, is_last).map_err(|problem| {
            let usage = usage(declared);
            if is_unknown_choice {
                CommandWordsError::UnknownChoice { problem, usage }
            } else {
                CommandWordsError::Usage { problem, usage }
            }
        })?;
        fields.push(value);
    }
    match rest.first() {
        None => Ok(GameCommand { kind, fields }),
        Some(word) => Err(error(format!("'{word}' is too much"))),
    }
}

/// The command of this name with these values; optional ones at the end may be left out.
pub fn build(
    schema: &Schema,
    name: &str,
    values: impl IntoIterator<Item = FieldValue<ClientObjectId>>,
) -> Result<GameCommand<ClientObjectId>, CommandWordsError> {
    let (kind, declared) = find(schema, name)?;
    let mut fields: Vec<_> = values.into_iter().take(declared.fields.len() + 1).collect();
    if fields.len() > declared.fields.len() {
        return Err(usage_error(declared, "there are too many values".into()));
    }
    fields.resize(declared.fields.len(), FieldValue::None);
    match fields.iter().zip(&declared.fields).find(|(value, field)| !value.fits(field)) {
        None => Ok(GameCommand { kind, fields }),
        Some((_, field)) => Err(usage_error(declared, problem_of(field))),
    }
}

/// The command called `name` with these arguments: a number may be the id of an object, a text the
/// name of a choice. Optional ones at the end may be left out.
pub fn from_arguments(
    schema: &Schema,
    name: &str,
    arguments: Vec<Argument>,
) -> Result<GameCommand<ClientObjectId>, CommandWordsError> {
    let declared = schema.command_index(name).and_then(|kind| schema.command(kind));
    let fields = declared.map_or(&[][..], |command| &command.fields);
    let values = arguments
        .into_iter()
        .enumerate()
        .map(|(index, argument)| value_of(argument, fields.get(index)));
    build(schema, name, values)
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

/// The value of a field; one that does not fit is refused later, with what was expected.
fn value_of(argument: Argument, field: Option<&FieldSpec>) -> FieldValue<ClientObjectId> {
    let ty = field.map(|field| &field.ty);
    match (argument, ty) {
        (Argument::None, _) => FieldValue::None,
        (Argument::Position(position), _) => FieldValue::Position(position),
        (Argument::Number(id), Some(FieldType::Object)) => u32::try_from(id)
            .map_or(FieldValue::Number(id), |id| FieldValue::Object(ClientObjectId(id))),
        (Argument::Number(number), Some(&FieldType::Decimal(format))) => {
            format.within(number as f32).map_or(FieldValue::Number(number), FieldValue::Decimal)
        }
        (Argument::Number(number), _) => FieldValue::Number(number),
        (Argument::Decimal(value), ty) => match ty {
            Some(FieldType::Decimal(format)) => format.within(value),
            _ => None,
        }
        .map_or_else(|| FieldValue::Text(value.to_string()), FieldValue::Decimal),
        (Argument::Text(name), Some(choice @ FieldType::Choice(_))) => {
            choice.choice_index(&name).map_or(FieldValue::Text(name), FieldValue::Choice)
        }
        (Argument::Text(text), _) => FieldValue::Text(text),
    }
}

fn find<'s>(schema: &'s Schema, name: &str) -> Result<(u8, &'s CommandKind), CommandWordsError> {
    schema
        .command_index(name)
        .and_then(|kind| Some((kind, schema.command(kind)?)))
        .ok_or_else(|| CommandWordsError::UnknownCommand(name.to_owned()))
}

/// Takes the words of a field from `rest`. The error says what is wrong.
fn take_value(
    field: &FieldSpec,
    rest: &mut &[&str],
    is_last: bool,
) -> Result<FieldValue<ClientObjectId>, String> {
    let Some((&word, after)) = rest.split_first() else {
        return if field.optional { Ok(FieldValue::None) } else { Err(problem_of(field)) };
    };
    if word == "-" && field.optional {
        *rest = after;
        return Ok(FieldValue::None);
    }
    let (value, after) = match &field.ty {
        FieldType::Object => {
            let id = word.trim_start_matches('#').parse().ok().map(ClientObjectId);
            (id.map(FieldValue::Object), after)
        }
        FieldType::Number { .. } => (word.parse().ok().map(FieldValue::Number), after),
        FieldType::Decimal(format) => (decimal(*format, word).map(FieldValue::Decimal), after),
        FieldType::Choice(names) => (choice(names, word).map(FieldValue::Choice), after),
        FieldType::Text { .. } if is_last => (Some(FieldValue::Text(rest.join(" "))), &[][..]),
        FieldType::Text { .. } => (Some(FieldValue::Text(word.to_owned())), after),
        FieldType::Position => {
            let (words, after) = rest.split_at(rest.len().min(2));
            (position(words).map(FieldValue::Position), after)
        }
    };
    *rest = after;
    value
        .filter(|value| value.fits(field))
        .ok_or_else(|| format!("'{word}' is invalid: {}", problem_of(field)))
}

/// The index of a name. Between `no` and `yes`, the words for it elsewhere serve as well.
fn choice(names: &[String], word: &str) -> Option<u8> {
    let name = match word {
        "true" | "on" if names == ["no", "yes"] => "yes",
        "false" | "off" if names == ["no", "yes"] => "no",
        word => word,
    };
    let index = names.iter().position(|other| other == name)?;
    u8::try_from(index).ok()
}

/// A number; an angle may be in degrees.
fn decimal(format: DecimalFormat, word: &str) -> Option<Decimal> {
    let degrees = ["°", "deg"].into_iter().find_map(|unit| word.strip_suffix(unit));
    let value: f32 = match degrees.filter(|_| format == DecimalFormat::Angle) {
        Some(degrees) => degrees.parse::<f32>().ok()?.to_radians(),
        None => word.parse().ok()?,
    };
    format.within(value)
}

/// X and Y. The client checks the range when it sends the command.
fn position(words: &[&str]) -> Option<Position> {
    let metres = |word: &str| word.parse().ok().filter(|metres: &f32| metres.is_finite());
    match words {
        [x, y] => Some(Position::on_ground(metres(x)?, metres(y)?)),
        _ => None,
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
        let bolt = FieldValue::Choice(0);
        let cast = build(&schema, "cast", [bolt.clone()]).expect("it fits");
        assert_eq!(cast.fields, [bolt, FieldValue::None, FieldValue::None]);
        assert!(build(&schema, "cast", []).is_err());
        assert!(build(&schema, "rest", [FieldValue::None]).is_err());
        assert!(build(&schema, "shout", [FieldValue::Number(0)]).is_err());
    }

    fn check(line: &str, fields: &[FieldValue<ClientObjectId>]) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let command = parse(&Schema::example(), &words).expect(line);
        let expected = Schema::example().command_index(words[0]);
        assert_eq!((Some(command.kind), &command.fields[..]), (expected, fields), "{line}");
    }
}
