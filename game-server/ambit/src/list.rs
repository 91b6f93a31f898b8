//! Lists of entries: a bag with slots, what is offered, a log of quests.

use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;

use ambit_proto::map::StaticObstacle;
use ambit_proto::message::FrameValue;
use ambit_proto::rows::Rows;
use ambit_proto::schema::{Codec, FieldSpec, MAX_ROWS, RowFormat};
use derive_where::derive_where;

#[cfg(feature = "rules")]
use ambit_proto::schema::Component;

use crate::component::Attribute;
use crate::field::{Fields, MessageField, Value};
#[cfg(feature = "rules")]
use crate::object::{ObjectMut, ObjectRef, Spawn};

/// What a [`List`] is made of: a tuple of one to four fields, or a struct with `#[derive(Entry)]`.
/// Each field is of a type that a command may have, but none names an object: clients would not
/// know it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an entry of a list",
    label = "not a type of entry",
    note = "use a tuple of fields, such as `(Listed<Item>, Number<1, 99>)`, or a struct of fields \
            with `#[derive(Entry)]`"
)]
pub trait Entry: Sized {
    #[doc(hidden)]
    fn fields() -> Vec<FieldSpec>;

    #[doc(hidden)]
    fn into_values(self) -> Vec<Value>;

    /// `None` for values of other fields.
    #[doc(hidden)]
    fn from_values(values: &[Value]) -> Option<Self>;

    #[doc(hidden)]
    fn format(max: u32) -> RowFormat {
        RowFormat::new(Self::fields(), max)
    }
}

/// Obstacles that stand in the way while their object exists.
impl Entry for StaticObstacle {
    fn fields() -> Vec<FieldSpec> {
        Self::format(1).fields.to_vec()
    }

    fn into_values(self) -> Vec<Value> {
        self.to_row()
    }

    fn from_values(values: &[Value]) -> Option<Self> {
        Self::of_row(values)
    }

    fn format(max: u32) -> RowFormat {
        RowFormat::of_obstacles(max)
    }
}

/// In a schema the fields are called as in Rust: `0`, `1`.
macro_rules! entry_of_tuple {
    ($($field:ident $index:tt),+) => {
        impl<$($field: MessageField),+> Entry for ($($field,)+) {
            fn fields() -> Vec<FieldSpec> {
                vec![$(FieldSpec {
                    name: stringify!($index).into(),
                    ty: $field::field_type(),
                    optional: $field::OPTIONAL,
                }),+]
            }

            fn into_values(self) -> Vec<Value> {
                vec![$(self.$index.into_value()),+]
            }

            fn from_values(values: &[Value]) -> Option<Self> {
                let mut fields = Fields::of_client(values);
                Some(($($field::from_value(fields.take().ok()?, fields.objects()).ok()?,)+))
            }
        }
    };
}

entry_of_tuple!(A 0);
entry_of_tuple!(A 0, B 1);
entry_of_tuple!(A 0, B 1, C 2);
entry_of_tuple!(A 0, B 1, C 2, D 3);

/// At most `MAX` entries (1 to 1,024, as far as they fit into a datagram), in the order that the
/// game gives them. A list has no history, and a change sends all of it.
///
/// ```
/// use ambit::prelude::*;
///
/// /// What can be carried.
/// #[derive(Clone, Copy, Debug, PartialEq, Eq)]
/// struct Item;
///
/// impl Listing for Item {}
///
/// #[derive(Clone, Debug, PartialEq, Entry)]
/// struct Quest {
///     name: Text<24>,
///     done: Number<0, 100>,
///     reward: Option<Listed<Item>>,
/// }
///
/// #[derive(Kind)]
/// #[kind(room_wide)]
/// struct Belongings {
///     name: Text<24>,
///     #[audience(owner)]
///     slots: List<(Listed<Item>, Number<1, 99>), 40>,
///     #[audience(owner)]
///     quests: List<Quest, 8>,
/// }
///
/// let slots = List::<(Listed<Item>, Number<1, 99>), 40>::of([(Listed::new(3), 5.into())]);
/// assert_eq!(slots.iter().next(), Some((Listed::new(3), 5.into())));
/// ```
#[derive_where(Clone, Default, PartialEq)]
pub struct List<T, const MAX: u32> {
    rows: Rows,
    entries: PhantomData<fn() -> T>,
}

/// Reads a [`List`].
#[derive_where(Clone, Copy, PartialEq)]
pub struct ListRef<'a, T> {
    rows: &'a Rows,
    entries: PhantomData<fn() -> T>,
}

impl<T: Entry, const MAX: u32> List<T, MAX> {
    /// Of these entries; those beyond `MAX` are left out.
    pub fn of(entries: impl IntoIterator<Item = T>) -> Self {
        let rows = entries.into_iter().take(MAX as usize).map(T::into_values).collect();
        Self { rows, entries: PhantomData }
    }

    /// The entries.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        self.rows.iter().filter_map(T::from_values)
    }

    fn format() -> RowFormat {
        T::format(MAX)
    }
}

impl<T: Entry, const MAX: u32> FromIterator<T> for List<T, MAX> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        Self::of(entries)
    }
}

impl<'a, T: Entry> ListRef<'a, T> {
    fn new(rows: &'a Rows) -> Self {
        Self { rows, entries: PhantomData }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The entry at this place; `None` if there are fewer.
    pub fn get(&self, index: usize) -> Option<T> {
        T::from_values(self.rows.get(index)?)
    }

    /// The entries, in their order.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        self.rows.iter().filter_map(T::from_values)
    }
}

impl<T, const MAX: u32> Debug for List<T, MAX> {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        self.rows.fmt(to)
    }
}

impl<T> Debug for ListRef<'_, T> {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        self.rows.fmt(to)
    }
}

impl<T: Entry, const MAX: u32> Attribute for List<T, MAX> {
    type Shown<'f> = ListRef<'f, T>;

    fn codec() -> Codec {
        const { assert!(MAX >= 1 && MAX <= MAX_ROWS, "a `List<T, MAX>` has 1 to 1,024 entries") };
        Codec::Rows(Self::format())
    }

    fn shown(value: FrameValue<'_>) -> Option<ListRef<'_, T>> {
        let shown = value.as_rows().copied()?;
        Self::format().can_read(&shown.format).then(|| ListRef::new(&shown.rows))
    }

    with_rules! {
        type Ref<'w> = ListRef<'w, T>;
        type Mut<'w> = ListMut<'w, T>;

        fn initial(self, spawn: &Spawn<'_>, index: u8) -> Component {
            let rows = match spawn.codec(index) {
                Some(Codec::Rows(format)) => format.within(&self.rows),
                _ => Rows::default(),
            };
            Component::Rows(rows)
        }

        fn reader(object: ObjectRef<'_>, index: u8) -> ListRef<'_, T> {
            ListRef::new(object.world.rows(object.id, index))
        }

        fn editor(object: ObjectMut<'_>, index: u8) -> ListMut<'_, T> {
            ListMut { object, index, entries: PhantomData }
        }
    }
}

/// Edits a [`List`].
#[cfg(feature = "rules")]
pub struct ListMut<'w, T> {
    object: ObjectMut<'w>,
    index: u8,
    entries: PhantomData<fn() -> T>,
}

#[cfg(feature = "rules")]
impl<T: Entry> ListMut<'_, T> {
    /// The entries.
    pub fn get(&self) -> ListRef<'_, T> {
        ListRef::new(self.object.world.rows(self.object.id, self.index))
    }

    /// Replaces all of them; those beyond the maximum are left out.
    pub fn set(&mut self, entries: impl IntoIterator<Item = T>) {
        let rows = entries.into_iter().take(self.max()).map(T::into_values).collect();
        self.set_rows(&rows);
    }

    /// Adds an entry at the end. `false` if the list is full.
    pub fn push(&mut self, entry: T) -> bool {
        let has_room = self.get().len() < self.max();
        if has_room {
            let rows = self.rows().iter().map(<[_]>::to_vec).chain([entry.into_values()]);
            let rows = rows.collect();
            self.set_rows(&rows);
        }
        has_room
    }

    /// Puts another entry in the place of one. `false` if there is none at this place.
    pub fn replace(&mut self, index: usize, entry: T) -> bool {
        let mut rows: Vec<_> = self.rows().iter().map(<[_]>::to_vec).collect();
        let Some(row) = rows.get_mut(index) else { return false };
        *row = entry.into_values();
        self.set_rows(&rows.into());
        true
    }

    /// Takes an entry out; those behind it move up. `None` if there is none at this place.
    pub fn remove(&mut self, index: usize) -> Option<T> {
        let mut rows: Vec<_> = self.rows().iter().map(<[_]>::to_vec).collect();
        let removed = T::from_values(rows.get(index)?);
        rows.remove(index);
        self.set_rows(&rows.into());
        removed
    }

    fn rows(&self) -> &Rows {
        self.object.world.rows(self.object.id, self.index)
    }

    fn max(&self) -> usize {
        self.object.world.max_rows(self.object.id, self.index)
    }

    fn set_rows(&mut self, rows: &Rows) {
        let ObjectMut { world, id } = &mut self.object;
        world.set_rows(*id, self.index, rows);
    }
}
