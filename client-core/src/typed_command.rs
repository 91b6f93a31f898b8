//! Typed commands: values of the game's own type, for clients that know the game.
//!
//! A value and the schema of the room go in; a command that [`Client::act`] accepts comes out.
//! [`command_words`](crate::command_words) makes commands of any game.
//!
//! Invariant: a client that was built with another version of the game sends no command with
//! another meaning. The command is found by its name, and the room's game must declare its fields
//! as the client knows them: names, types, choices. Help, keys, the order of the commands and the
//! ranges of numbers and texts may differ; the value is checked against the room's range.
//!
//! [`Client::act`]: crate::client::Client::act

use ambit_proto::ids::ClientObjectId;
use ambit_proto::message::{GameCommand, TypedCommand, TypedId as _};
use ambit_proto::schema::{CommandKind, FieldSpec, FieldType, Schema};

use crate::command_words::{CommandWordsError, find, misfit, problem_of, usage};

/// Why a typed command could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypedCommandError {
    /// The room's game declares the command otherwise.
    #[error(transparent)]
    OtherVersion(#[from] CommandMismatch),
    /// An id holds no [`ClientObjectId`].
    #[error("an object of the command is not in sight")]
    NoSuchObject,
    /// A value is not within the range that the room's game declares.
    #[error(transparent)]
    BadValue(#[from] CommandWordsError),
}

/// The client was built with another version of the game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandMismatch {
    /// The room's game has no command of this name.
    #[error(
        "the server's game has no command {client}, which this client was built with: build it \
         with the server's version of the game"
    )]
    Missing {
        /// The form of the command, as the client knows it.
        client: String,
    },
    /// The command has other fields.
    #[error(
        "the server's game declares {server}, but this client was built with {client}: build it \
         with the server's version of the game"
    )]
    OtherFields {
        /// The form of the command, as the room's game declares it.
        server: String,
        /// The form of the command, as the client knows it.
        client: String,
    },
}

/// The command for a room with this schema.
///
/// # Panics
/// If the type does not declare this command of its own: `#[derive(Command)]` does.
pub fn build<C: TypedCommand>(
    schema: &Schema,
    command: C,
) -> Result<GameCommand<ClientObjectId>, TypedCommandError> {
    let GameCommand { kind, fields } = command.into_command();
    let declarations: Vec<_> = C::declarations().into_iter().map(|(kind, _)| kind).collect();
    let (kind, declared) = check(schema, &declarations[usize::from(kind)])?;
    let in_sight =
        fields.iter().map(|field| field.rename_object(|object| object.client_object_id()));
    let fields = in_sight.collect::<Option<Vec<_>>>().ok_or(TypedCommandError::NoSuchObject)?;
    match fields.iter().zip(&declared.fields).find(|(value, field)| !value.fits(field)) {
        None => Ok(GameCommand { kind, fields }),
        Some((_, field)) => Err(misfit(declared, field, None).into()),
    }
}

/// The command as the room's game declares it: with the fields that the client knows.
fn check<'s>(
    schema: &'s Schema,
    known: &CommandKind,
) -> Result<(u8, &'s CommandKind), CommandMismatch> {
    match find(schema, &known.name) {
        Ok((kind, declared)) if have_same_fields(declared, known) => Ok((kind, declared)),
        Ok((_, declared)) => Err(CommandMismatch::OtherFields {
            server: form(declared, known),
            client: form(known, declared),
        }),
        Err(_) => Err(CommandMismatch::Missing { client: form(known, known) }),
    }
}

fn have_same_fields(one: &CommandKind, other: &CommandKind) -> bool {
    one.fields.len() == other.fields.len()
        && one
            .fields
            .iter()
            .zip(&other.fields)
            .all(|(one, other)| one.optional == other.optional && mean_the_same(one, other))
}

/// Whether two fields mean the same, whatever their ranges.
fn mean_the_same(one: &FieldSpec, other: &FieldSpec) -> bool {
    let is_same_type = match (&one.ty, &other.ty) {
        (FieldType::Number { .. }, FieldType::Number { .. })
        | (FieldType::Text { .. }, FieldType::Text { .. }) => true,
        (one, other) => one == other,
    };
    one.name == other.name && is_same_type
}

/// The form of a command, with the values of its first field that is another one in `other`.
fn form(command: &CommandKind, other: &CommandKind) -> String {
    let usage = usage(command);
    let mut pairs = command.fields.iter().zip(&other.fields);
    match pairs.find(|(field, other)| !mean_the_same(field, other)) {
        Some((field, _)) => format!("`{usage}` ({})", problem_of(field)),
        None => format!("`{usage}`"),
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::schema::{FieldSpec, FieldType};

    use super::*;

    #[test]
    fn an_equal_declaration_passes_wherever_it_is_in_the_list() {
        let mut schema = Schema::example();
        let known = schema.commands.clone();
        schema.commands.reverse();
        for command in &mut schema.commands {
            for field in &mut command.fields {
                match &mut field.ty {
                    FieldType::Number { max, .. } => *max = 3,
                    FieldType::Text { max_bytes } => *max_bytes = 5,
                    _ => {}
                }
            }
        }
        for known in &known {
            let (kind, declared) = check(&schema, known).expect(&known.name);
            assert_eq!(
                (Some(kind), &declared.name),
                (schema.command_index(&known.name), &known.name)
            );
        }
    }

    #[test]
    fn an_error_names_both_declarations_and_says_what_to_do() {
        let [cast, walk_to] = ["cast", "walk-to"];
        expect(cast, "`cast SPELL [X Y] [TARGET]`", "`cast SPELL`", |cast| {
            cast.fields.truncate(1);
        });
        expect(
            cast,
            "`cast SPELL [X Y] [TARGET]` (spell is one of bolt, heal)",
            "`cast SPELL [X Y] [TARGET]` (spell is one of heal, bolt)",
            |cast| cast.fields[0].ty = FieldType::choice(["heal", "bolt"]),
        );
        expect(walk_to, "`walk-to X Y`", "`walk-to [X Y]`", |walk_to| {
            walk_to.fields[0].optional = true;
        });
        expect(
            walk_to,
            "`walk-to X Y` (to is a position X Y, two numbers of metres)",
            "`walk-to X Y` (goal is a position X Y, two numbers of metres)",
            |walk_to| walk_to.fields[0].name = "goal".into(),
        );
        let jump = CommandKind {
            name: "jump".into(),
            fields: vec![FieldSpec::new("times", FieldType::NUMBER)],
            ..CommandKind::default()
        };
        let missing = check(&Schema::example(), &jump).expect_err("there is no such command");
        let missing = missing.to_string();
        assert!(missing.contains("no command `jump TIMES`"), "{missing}");
        assert!(missing.contains("build it with the server's"), "{missing}");
    }

    /// What a client says that knows the command of the example `name` with this change.
    fn expect(name: &str, server: &str, client: &str, change: impl FnOnce(&mut CommandKind)) {
        let schema = Schema::example();
        let declared = schema.commands.iter().find(|command| command.name == name);
        let mut known = declared.expect(name).clone();
        change(&mut known);
        let error = check(&schema, &known).expect_err("another version").to_string();
        let expected = format!(
            "the server's game declares {server}, but this client was built with {client}: build \
             it with the server's version of the game"
        );
        assert_eq!(error, expected);
    }
}
