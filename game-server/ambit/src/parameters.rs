//! Parameters: what a room of a game can be created with.

pub use ambit_room::config::Parameters as CheckedParameters;
use ambit_room::config::{Allowed, Parameter, ROOM_PARAMETERS, bytes_equal};

use crate::field::Choice;

/// What `create ... key=value` takes: a struct with `#[derive(Parameters)]`, which the game names
/// above itself: `#[declare(parameters = Settings)]`. [`Game::configure`](crate::Game::configure)
/// gets it, checked.
///
/// ```
/// # use ambit::prelude::*;
/// #[derive(Parameters)]
/// #[room(size = "300x300")]
/// struct Settings {
///     /// Points that win a round.
///     #[parameter(default = 50, range = 1..=999)]
///     goal: i64,
///     /// How much the sun shines.
///     #[parameter(default = 0.5, range = 0.0..=1.0)]
///     sun: f32,
///     /// What is to be done.
///     #[parameter(default = Conquer)]
///     aim: Aim,
///     /// The longest time of a round, in minutes.
///     #[parameter(range = 1..=60)]
///     minutes: Option<u32>,
///     #[parameter(of_room)]
///     size: (f32, f32),
/// }
///
/// #[derive(Choice)]
/// enum Aim { Conquer, Survive }
/// ```
///
/// The comment is the help for players. A field is a whole number with a range, an `f32` with a
/// range, `(f32, f32)` (width and height in metres, `"300x200"`), an enum with
/// `#[derive(Choice)]`, or a `String`: its default, or one of the words that
/// [`Game::words`](crate::Game::words) adds. An `Option` is `None` unless the value is given;
/// [`Given`] tells whether it was. `#[room(...)]` sets other defaults of the parameters that every
/// room has, and `of_room` reads one of these; with a `range` players may give less than in other
/// games.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a struct of parameters",
    label = "not parameters",
    note = "add `#[derive(Parameters)]` to the struct `{Self}`"
)]
pub trait Parameters: Sized {
    #[doc(hidden)]
    const TABLE: &'static [Parameter];

    #[doc(hidden)]
    fn read(given: &CheckedParameters) -> Self;
}

/// The parameters of a game that declares none. For parameters, write a struct, derive
/// [`Parameters`](macro@crate::Parameters) for it, and name it above the game:
/// `#[declare(parameters = Settings)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoParameters;

impl Parameters for NoParameters {
    const TABLE: &'static [Parameter] = &[];

    fn read(_: &CheckedParameters) -> Self {
        Self
    }
}

/// The value of a parameter, and whether the player has given it or it is the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given<T> {
    /// The given value, or the default.
    pub value: T,
    /// Whether it was given.
    pub is_given: bool,
}

/// The type of a parameter.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum ParameterShape {
    Whole,
    Decimal,
    Size,
    Word,
}

/// Whether every room has a parameter of this name and type.
#[doc(hidden)]
pub const fn is_of_room(key: &str, shape: ParameterShape) -> bool {
    let mut index = 0;
    while index < ROOM_PARAMETERS.len() {
        let Parameter { key: known, allowed, .. } = ROOM_PARAMETERS[index];
        if bytes_equal(known.as_bytes(), key.as_bytes()) {
            return matches!(
                (allowed, shape),
                (Allowed::Whole { .. }, ParameterShape::Whole)
                    | (Allowed::Decimal { .. }, ParameterShape::Decimal)
                    | (Allowed::Size { .. }, ParameterShape::Size)
                    | (Allowed::Word(_), ParameterShape::Word)
            );
        }
        index += 1;
    }
    false
}

/// Whether a word is one of some.
#[doc(hidden)]
pub const fn is_among(word: &str, words: &[&str]) -> bool {
    let mut index = 0;
    while index < words.len() {
        if bytes_equal(words[index].as_bytes(), word.as_bytes()) {
            return true;
        }
        index += 1;
    }
    false
}

/// The choice of this name.
///
/// # Panics
/// Never: the words of the parameter are the choice's names.
#[doc(hidden)]
pub fn chosen<C: Choice>(name: &str) -> C {
    let index = C::NAMES.iter().position(|known| *known == name);
    index.and_then(|index| C::from_index(index as u16)).expect("a name of the choice")
}
