//! Lists of names: the items of a shop, the spells of a class.
//!
//! A [`Listing`] is a type that stands for such a list, mostly the type of its rows: a table of
//! data. A field that is one of its names is a [`Listed`], a component that counts them is a
//! [`Counts`](crate::Counts). Where the names are known only when the program starts,
//! [`Listing::name_in`] gives all of them their names, in [`Game::schema`](crate::Game::schema).

use std::any::TypeId;
use std::marker::PhantomData;

use ambit_proto::codes::ErrorCode;
use ambit_proto::presentation::ChoicePresentation;
use ambit_proto::schema::{FieldType, Schema};
use derive_where::derive_where;

use crate::field::{MessageField, Objects, Value};

/// A list of at most 1,024 names.
///
/// ```
/// use ambit::prelude::*;
///
/// /// What the merchant has.
/// struct Ware {
///     name: &'static str,
///     price: u32,
/// }
///
/// impl Listing for Ware {
///     const ROWS: &'static [Self] =
///         &[Ware { name: "rope", price: 3 }, Ware { name: "lamp", price: 20 }];
///
///     fn name(&self) -> &str {
///         self.name
///     }
/// }
///
/// #[derive(Debug, PartialEq, Command)]
/// enum Trade {
///     /// Buy something.
///     Buy { ware: Listed<Ware> },
/// }
///
/// let lamp = Listed::<Ware>::named("lamp").expect("a ware");
/// assert_eq!(lamp.row().map(|ware| ware.price), Some(20));
///
/// // What a player has, up to 99 of each.
/// let bag = Counts::<Ware, 99>::of([(Listed::new(0), 2), (lamp, 1)]);
/// assert_eq!(bag, Counts::of([(lamp, 1), (Listed::new(0), 1), (Listed::new(0), 1)]));
/// ```
pub trait Listing: Sized + 'static {
    /// The rows of a table, each with a [`name`](Self::name); none if the names are data that the
    /// game reads when it starts: then it calls [`name_in`](Self::name_in).
    const ROWS: &'static [Self] = &[];

    /// What clients, scripts and saved rooms call this row: `a-z`, `0-9`, `-` and `_`.
    #[expect(clippy::unnecessary_literal_bound, reason = "the rows of a table have it")]
    fn name(&self) -> &str {
        ""
    }

    /// What players read of this row where they choose it from a command: its label, its help, what
    /// it costs.
    fn presentation(&self) -> ChoicePresentation {
        ChoicePresentation::default()
    }

    /// Names what is in the list, for all its fields and components. Once, in
    /// [`Game::schema`](crate::Game::schema); not for a table.
    fn name_in<N: Into<String>>(schema: &mut Schema, names: impl IntoIterator<Item = N>) {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        schema.name_list::<Self>(&names);
    }
}

/// One of the names of a list: a field of a command, an event or an entry of a list.
///
/// A room checks that it is in the list; a game whose lists may become shorter has to look again.
#[derive_where(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Listed<L> {
    index: u16,
    list: PhantomData<fn() -> L>,
}

impl<L> Listed<L> {
    /// The name at this place.
    pub const fn new(index: u16) -> Self {
        Self { index, list: PhantomData }
    }

    /// Its place in the list.
    pub const fn index(self) -> u16 {
        self.index
    }
}

impl<L: Listing> Listed<L> {
    /// The row of a table; `None` beyond its end, and if the list is no table.
    pub fn row(self) -> Option<&'static L> {
        L::ROWS.get(usize::from(self.index))
    }

    /// The row of a table with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|listed| listed.row().is_some_and(|row| row.name() == name))
    }

    /// All rows of a table.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..).zip(L::ROWS).map(|(index, _)| Self::new(index))
    }
}

impl<L: Listing> MessageField for Listed<L> {
    fn field_type() -> FieldType {
        FieldType::listed(TypeId::of::<L>(), L::ROWS.iter().map(L::name))
    }

    fn choices() -> Vec<ChoicePresentation> {
        L::ROWS.iter().map(L::presentation).collect()
    }

    fn into_value(self) -> Value {
        Value::Choice(self.index)
    }

    fn from_value(value: &Value, _: Objects<'_>) -> Result<Self, ErrorCode> {
        match value {
            Value::Choice(index) => Ok(Self::new(*index)),
            _ => Err(ErrorCode::Malformed),
        }
    }
}
