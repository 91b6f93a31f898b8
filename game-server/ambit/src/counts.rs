//! How many there are of each name of a list.

use std::any::TypeId;
use std::marker::PhantomData;

use ambit_proto::counts::{Counts as CountsOfIndices, MAX_COUNT};
use ambit_proto::message::FrameValue;
use ambit_proto::schema::{Codec, CountedChoice};
use derive_where::derive_where;

#[cfg(feature = "rules")]
use ambit_proto::schema::Component;

use crate::component::Attribute;
use crate::listing::{Listed, Listing};
#[cfg(feature = "rules")]
use crate::object::{ObjectMut, ObjectRef, Spawn};

/// How many there are of each name of the list `L`, at most `MAX` (1 to 65,535) of one: a bag, what
/// is for sale, what can be learned. It has no history, and a change sends all that is listed.
#[derive_where(Clone, Debug, PartialEq, Eq)]
pub struct Counts<L, const MAX: u32> {
    counts: CountsOfIndices,
    list: PhantomData<fn() -> L>,
}

/// Reads [`Counts`].
#[derive_where(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountsRef<'a, L> {
    counts: &'a CountsOfIndices,
    list: PhantomData<fn() -> L>,
}

impl<L: Listing, const MAX: u32> Counts<L, MAX> {
    /// Of pairs of a name and a count: those of the same name are added.
    pub fn of(counts: impl IntoIterator<Item = (Listed<L>, u32)>) -> Self {
        let counts = counts.into_iter().map(|(name, count)| (name.index(), count));
        Self { counts: CountsOfIndices::new(counts), list: PhantomData }
    }
}

impl<'a, L: Listing> CountsRef<'a, L> {
    fn new(counts: &'a CountsOfIndices) -> Self {
        Self { counts, list: PhantomData }
    }

    /// The count of one name.
    pub fn get(&self, name: Listed<L>) -> u32 {
        self.counts.get(name.index())
    }

    /// The names with their counts, in the order of the list; what there is none of is left out.
    pub fn iter(&self) -> impl Iterator<Item = (Listed<L>, u32)> {
        self.counts.iter().map(|(index, count)| (Listed::new(index), count))
    }
}

impl<L: Listing, const MAX: u32> Default for Counts<L, MAX> {
    fn default() -> Self {
        Self::of([])
    }
}

impl<L: Listing, const MAX: u32> Attribute for Counts<L, MAX> {
    type Shown<'f> = CountsRef<'f, L>;

    fn codec() -> Codec {
        const { assert!(MAX >= 1 && MAX <= MAX_COUNT, "`Counts<L, MAX>` counts 1 to 65,535") };
        Codec::Counts(CountedChoice::of_list(TypeId::of::<L>(), MAX))
    }

    fn shown(value: FrameValue<'_>) -> Option<CountsRef<'_, L>> {
        value.as_counts().copied().map(CountsRef::new)
    }

    with_rules! {
        type Ref<'w> = CountsRef<'w, L>;
        type Mut<'w> = CountsMut<'w, L, MAX>;

        fn initial(self, spawn: &Spawn<'_>, index: u8) -> Component {
            let names = match spawn.codec(index) {
                Some(Codec::Counts(of)) => of.names,
                _ => 0,
            };
            Component::Counts(self.counts.within(names, MAX))
        }

        fn reader(object: ObjectRef<'_>, index: u8) -> CountsRef<'_, L> {
            CountsRef::new(object.world.counts(object.id, index))
        }

        fn editor(object: ObjectMut<'_>, index: u8) -> CountsMut<'_, L, MAX> {
            CountsMut { object, index, list: PhantomData }
        }
    }
}

/// Edits [`Counts`].
#[cfg(feature = "rules")]
pub struct CountsMut<'w, L, const MAX: u32> {
    object: ObjectMut<'w>,
    index: u8,
    list: PhantomData<L>,
}

#[cfg(feature = "rules")]
impl<L: Listing, const MAX: u32> CountsMut<'_, L, MAX> {
    /// The counts.
    pub fn get(&self) -> CountsRef<'_, L> {
        CountsRef::new(self.object.world.counts(self.object.id, self.index))
    }

    /// Replaces them; more than `MAX` of a name is `MAX`.
    pub fn set(&mut self, counts: &Counts<L, MAX>) {
        let ObjectMut { world, id } = &mut self.object;
        world.set_counts(*id, self.index, &counts.counts);
    }
}
