//! Lists whose names are data: the items of a shop, the spells of a class.
//!
//! A [`List`] is a type that stands for such a list. A field that is one of its names is a
//! [`Listed`], a component that counts them is a [`Counts`](crate::Counts), and
//! [`List::name_in`] gives all of them their names, in [`Game::schema`](crate::Game::schema).

use std::any::TypeId;
use std::fmt::Debug;
use std::marker::PhantomData;

use ambit_proto::codes::ErrorCode;
use ambit_proto::schema::{FieldType, Schema};

use crate::field::{MessageField, Objects, Value};

/// A list whose names are data.
///
/// ```
/// use ambit::prelude::*;
///
/// /// What the merchant has.
/// #[derive(Clone, Copy, Debug, PartialEq, Eq)]
/// struct Ware;
///
/// impl List for Ware {}
///
/// #[derive(Debug, PartialEq, Command)]
/// enum Trade {
///     /// Buy something.
///     Buy { ware: Listed<Ware> },
/// }
///
/// // What a player has, up to 99 of each.
/// let bag = Counts::<Ware, 99>::of([(Listed::new(0), 2), (Listed::new(3), 1)]);
/// assert_eq!(bag, Counts::of([(Listed::new(3), 1), (Listed::new(0), 1), (Listed::new(0), 1)]));
/// ```
pub trait List: Copy + PartialEq + Eq + Debug + 'static {
    /// Names what is in the list, for all its fields and components: at most 64 names. Once, in
    /// [`Game::schema`](crate::Game::schema).
    fn name_in<N: Into<String>>(schema: &mut Schema, names: impl IntoIterator<Item = N>) {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        schema.name_list::<Self>(&names);
    }
}

/// One of the names of a list: a field of a command or an event.
///
/// A room checks that it is in the list; a game whose lists may become shorter has to look again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed<L> {
    index: u8,
    list: PhantomData<L>,
}

impl<L> Listed<L> {
    /// The name at this place.
    pub const fn new(index: u8) -> Self {
        Self { index, list: PhantomData }
    }

    /// Its place in the list.
    pub const fn index(self) -> u8 {
        self.index
    }
}

impl<L: List> MessageField for Listed<L> {
    fn field_type() -> FieldType {
        FieldType::listed(TypeId::of::<L>())
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
