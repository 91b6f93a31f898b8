//! The clients of a room, each found in one step.
//!
//! A client has a *place*, a dense index, for as long as it is there. What is told to the followers
//! of an object goes by the dense numbers that `interest` has for them, and from there to the place
//! by an array.
//!
//! Invariant: whoever walks through all of them does so in an order that is the same in each run:
//! that of their ids ([`Viewers::iter`]), or that of where they are ([`Viewers::for_each`]), so
//! that what neighbours share lies in the nearest cache.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use ambit_proto::cell::Cell;
use ambit_proto::ids::{ClientId, ObjectId};

use super::interest::IdHasher;
use super::viewer::Viewer;

type IndexById<Id> = HashMap<Id, u32, BuildHasherDefault<IdHasher>>;

/// See the module.
#[derive(Default)]
pub(super) struct Viewers {
    /// By place.
    entries: Vec<Option<Box<Viewer>>>,
    free: Vec<u32>,
    /// Places, in the order of the clients' ids.
    by_id_order: Vec<u32>,
    /// Places, neighbours beside each other; see [`Viewers::arrange`].
    by_cell_order: Vec<u32>,
    by_client: IndexById<ClientId>,
    by_avatar: IndexById<ObjectId>,
    /// By the number that `interest` has for a viewer.
    by_interest_slot: Vec<u32>,
}

impl Viewers {
    /// Takes in a client that is not there.
    pub(super) fn insert(&mut self, viewer: Viewer) {
        let (client, avatar) = (viewer.client, viewer.avatar);
        let place = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as u32 - 1
        });
        self.entries[place as usize] = Some(Box::new(viewer));
        let at = self
            .by_id_order
            .partition_point(|&other| self.at(other).client < client);
        self.by_id_order.insert(at, place);
        self.by_cell_order.push(place);
        let before = self.by_client.insert(client, place);
        assert!(before.is_none(), "a client comes once");
        self.by_avatar.insert(avatar, place);
    }

    /// Whether the client was there.
    pub(super) fn remove(&mut self, client: ClientId) -> bool {
        let Some(place) = self.by_client.remove(&client) else {
            return false;
        };
        let viewer = self.entries[place as usize]
            .take()
            .expect("a place that is given");
        // Its player may look on through the same avatar by another connection already.
        if self.by_avatar.get(&viewer.avatar) == Some(&place) {
            self.by_avatar.remove(&viewer.avatar);
        }
        self.by_id_order.retain(|&other| other != place);
        self.by_cell_order.retain(|&other| other != place);
        self.free.push(place);
        true
    }

    /// From now on `interest` calls the client this.
    pub(super) fn set_interest_slot(&mut self, client: ClientId, number: u32) {
        let index = number as usize;
        if self.by_interest_slot.len() <= index {
            self.by_interest_slot.resize(index + 1, u32::MAX);
        }
        self.by_interest_slot[index] = self.by_client[&client];
    }

    /// The client that `interest` calls `number`.
    pub(super) fn at_interest_slot_mut(&mut self, number: u32) -> &mut Viewer {
        self.at_mut(self.by_interest_slot[number as usize])
    }

    /// One client.
    pub(super) fn get(&self, client: ClientId) -> Option<&Viewer> {
        self.by_client.get(&client).map(|&place| self.at(place))
    }

    /// One client.
    pub(super) fn get_mut(&mut self, client: ClientId) -> Option<&mut Viewer> {
        let place = *self.by_client.get(&client)?;
        Some(self.at_mut(place))
    }

    /// The client that sees through this object.
    pub(super) fn get_by_avatar_mut(&mut self, avatar: ObjectId) -> Option<&mut Viewer> {
        let place = *self.by_avatar.get(&avatar)?;
        Some(self.at_mut(place))
    }

    /// All clients, by their ids.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Viewer> {
        self.by_id_order.iter().map(|&place| self.at(place))
    }

    /// Brings neighbours together again: to be called now and then.
    pub(super) fn sort_by_cell(&mut self) {
        let Viewers {
            by_cell_order: round,
            entries: seats,
            ..
        } = self;
        round.sort_unstable_by_key(|&place| {
            let viewer = seats[place as usize].as_ref().expect(OCCUPIED);
            (z_order(viewer.home), viewer.client)
        });
    }

    /// Calls `each` with every client, neighbours one after the other.
    pub(super) fn for_each(&mut self, mut each: impl FnMut(&mut Viewer)) {
        for &place in &self.by_cell_order {
            each(self.entries[place as usize].as_mut().expect(OCCUPIED));
        }
    }

    /// One client after the other, in turns without end.
    pub(super) fn round_robin(&self, turn: u64) -> Option<&Viewer> {
        let turn = turn.checked_rem(self.by_id_order.len() as u64)?;
        Some(self.at(self.by_id_order[turn as usize]))
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.by_id_order.len()
    }

    fn at(&self, place: u32) -> &Viewer {
        self.entries[place as usize].as_ref().expect(OCCUPIED)
    }

    fn at_mut(&mut self, place: u32) -> &mut Viewer {
        self.entries[place as usize].as_mut().expect(OCCUPIED)
    }
}

const OCCUPIED: &str = "a place that is given";

/// Number of a cell on a curve on which neighbours are near each other: the bits of column and row
/// by turns.
fn z_order(cell: Cell) -> u32 {
    let spread = |part: u16| {
        (0..16).fold(0, |spread, bit| {
            spread | (u32::from(part) >> bit & 1) << (2 * bit)
        })
    };
    spread(cell.column) | spread(cell.row) << 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_a_block_have_consecutive_z_order_codes() {
        let number = |column, row| z_order(Cell { column, row });
        assert_eq!(
            [
                number(0, 0),
                number(1, 0),
                number(0, 1),
                number(1, 1),
                number(2, 0)
            ],
            [0, 1, 2, 3, 4]
        );
        assert_eq!(number(u16::MAX, u16::MAX), u32::MAX);
    }
}
