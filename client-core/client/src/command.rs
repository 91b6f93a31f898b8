//! Why a command was not sent.

pub use ambit_client_core::argument::{Argument, IntoArguments};
use ambit_client_core::client::CommandError;
pub use ambit_client_core::command_words::CommandWordsError;
pub use ambit_client_core::typed_command::CommandMismatch;
use ambit_client_core::typed_command::TypedCommandError;

/// Why a command was not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The game has no command of this name, or its fields do not take these values.
    #[error(transparent)]
    Command(#[from] CommandWordsError),
    /// The server's game declares a typed command otherwise: this client was built with another
    /// version of the game. The message has both declarations.
    #[error(transparent)]
    OtherVersion(#[from] CommandMismatch),
    /// The game has no control of this name.
    #[error("the game has no control {0:?}; its schema lists those that it has")]
    UnknownControl(String),
    /// The game's control of this name is an axis: [`Game::set_axis`](crate::Game::set_axis).
    #[error("the control {0:?} is an axis, which is set and not held")]
    IsAxis(String),
    /// The game has a control of this name, but it is no axis.
    #[error("the control {0:?} is no axis: hold it instead")]
    NoAxis(String),
    /// There is no game: it is over, or its connection is being restored.
    #[error("not in a game")]
    NotPlaying,
    /// Not now: the player is changing to another map, the game is moving to another host, or too
    /// many commands wait for it. The message says which.
    #[error(transparent)]
    TryAgain(CommandError),
    /// A position is not finite, or on no map.
    #[error("a position of the command is on no map")]
    BadPosition,
    /// An object is not in sight.
    #[error("an object of the command is not in sight")]
    NoSuchObject,
}

impl From<CommandError> for SendError {
    fn from(error: CommandError) -> Self {
        match error {
            // The command was built for this schema, so the game is another one by now.
            CommandError::NotPlaying | CommandError::Undeclared => SendError::NotPlaying,
            CommandError::TooMany | CommandError::ChangingMap | CommandError::ChangingHost => {
                SendError::TryAgain(error)
            }
            CommandError::BadPosition => SendError::BadPosition,
            CommandError::NoSuchObject => SendError::NoSuchObject,
        }
    }
}

impl From<TypedCommandError> for SendError {
    fn from(error: TypedCommandError) -> Self {
        match error {
            TypedCommandError::OtherVersion(mismatch) => SendError::OtherVersion(mismatch),
            TypedCommandError::NoSuchObject => SendError::NoSuchObject,
            TypedCommandError::BadValue(error) => SendError::Command(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use ambit::prelude::{Choice, Command, Id, Kind, Number, Path};
    use ambit_client_core::command_words::from_arguments as command;
    use ambit_client_core::typed_command;
    use ambit_proto::ids::{ClientObjectId, ObjectId};
    use ambit_proto::message::{FieldValue, TypedCommand, TypedId};
    use ambit_proto::schema::Schema;
    use ambit_proto::space::Position;

    use super::*;

    #[test]
    fn values_become_the_fields_that_the_game_declares() {
        let at = |x, y| FieldValue::Position(Position::on_ground(x, y));
        let none = FieldValue::None;
        let bolt = FieldValue::Choice(0);
        check("rest", (), &[]);
        check("walk-to", [120.0, 90.0], &[at(120.0, 90.0)]);
        check("walk-to", Position::on_ground(1.0, 2.0), &[at(1.0, 2.0)]);
        check("cast", "bolt", &[bolt.clone(), none.clone(), none.clone()]);
        let target = ClientObjectId(7);
        check(
            "cast",
            ("bolt", [1.0_f32, 2.0], target),
            &[bolt.clone(), at(1.0, 2.0), FieldValue::Object(target)],
        );
        check(
            "cast",
            ("bolt", None::<[f32; 2]>, target),
            &[bolt, none, FieldValue::Object(target)],
        );
        let hello = FieldValue::Text("hello".to_owned());
        check("shout", (3, "hello"), &[FieldValue::Number(3), hello]);
    }

    #[test]
    fn an_error_says_what_was_expected() {
        let error = |name, arguments| {
            let error = command(&Schema::example(), name, arguments).expect_err("it does not fit");
            error.to_string()
        };
        assert!(error("jump", ().into_arguments()).contains("jump"));
        let frost = error("cast", "frost".into_arguments());
        assert!(frost.contains("bolt, heal"), "{frost}");
        let far = error("walk-to", 5.into_arguments());
        assert!(far.contains("a position"), "{far}");
        let late = error("rest", (1, 2).into_arguments());
        assert!(late.contains("too many"), "{late}");
        let negative = error("cast", ("bolt", None::<Position>, -1).into_arguments());
        assert!(negative.contains("an object"), "{negative}");
    }

    #[derive(Kind)]
    struct Orc {
        path: Path,
    }

    #[derive(Choice)]
    enum Spell {
        Bolt,
        Heal,
    }

    /// As the example declares them, in another order.
    #[derive(Command)]
    enum Known {
        Rest,
        Cast {
            spell: Spell,
            at: Option<Position>,
            target: Option<Id<Orc>>,
        },
        #[command(key = "click")]
        WalkTo {
            to: Position,
        },
    }

    /// Those of another version.
    #[derive(Command)]
    enum Other {
        Jump,
        Cast { spell: Spell, target: Option<ObjectId> },
        WalkTo { to: Option<Position> },
        Shout { times: Number<1, 10>, words: String },
    }

    #[test]
    fn a_typed_command_is_found_by_name_and_holds_the_client_s_ids() {
        let schema = Schema::example();
        let typed = |command: Known| typed_command::build(&schema, command);
        let at = Position::on_ground(120.0, 90.0);
        assert_eq!(
            typed(Known::WalkTo { to: at }),
            Ok(command(&schema, "walk-to", at.into_arguments()).expect("it fits"))
        );
        let rest = command(&schema, "rest", ().into_arguments());
        assert_eq!(typed(Known::Rest), Ok(rest.expect("it fits")));
        let orc = ClientObjectId(7);
        assert_eq!(Id::<Orc>::of_client("walker", orc), None, "another kind");
        let cast = Known::Cast { spell: Spell::Heal, at: None, target: Id::of_client("orc", orc) };
        let by_name = command(&schema, "cast", ("heal", None::<Position>, orc).into_arguments());
        assert_eq!(typed(cast), Ok(by_name.expect("it fits")));
    }

    #[test]
    fn a_client_of_another_version_learns_what_differs_and_what_to_do() {
        let to = None;
        let spell = Spell::Bolt;
        let target = None;
        for (command, expected) in [
            (Other::Jump, "the server's game has no command `jump`"),
            (Other::Cast { spell, target }, "declares `cast SPELL [X Y] [TARGET]` (at is"),
            (
                Other::WalkTo { to },
                "declares `walk-to X Y`, but this client was built with `walk-to [X Y]`",
            ),
        ] {
            let error = refusal(command);
            assert!(matches!(error, SendError::OtherVersion(_)), "{error:?}");
            let text = error.to_string();
            assert!(text.contains(expected), "{text}");
            assert!(text.contains("build it with the server's version"), "{text}");
        }
        let times = 10.into();
        let words = "hello".into();
        let error = refusal(Other::Shout { times, words });
        assert!(matches!(error, SendError::Command(_)), "{error:?}");
        assert!(error.to_string().contains("from 1 to 9"), "{error}");
    }

    #[test]
    fn an_object_that_no_client_knows_is_refused() {
        #[derive(Command)]
        enum Command {
            Cast { spell: Spell, at: Option<Position>, target: Option<ObjectId> },
        }
        let cast =
            |object| Command::Cast { spell: Spell::Bolt, at: None, target: Some(ObjectId(object)) };
        assert_eq!(refusal(cast(1 << 32)), SendError::NoSuchObject);
        assert!(typed_command::build(&Schema::example(), cast(1 << 31)).is_ok());
    }

    fn refusal(command: impl TypedCommand) -> SendError {
        let refused = typed_command::build(&Schema::example(), command);
        refused.expect_err("it is not sent").into()
    }

    fn check(name: &str, arguments: impl IntoArguments, expected: &[FieldValue<ClientObjectId>]) {
        let schema = Schema::example();
        let made = command(&schema, name, arguments.into_arguments()).expect(name);
        assert_eq!(Some(made.kind), schema.command_index(name));
        assert_eq!(made.fields, expected, "{name}");
    }
}
