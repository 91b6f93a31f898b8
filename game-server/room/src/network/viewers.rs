//! The clients of a room, each found by one look-up.
//!
//! A client has a dense *index* for as long as it is in the room. `interest` has its own dense slot
//! for each viewer; an array leads from that slot to the index.
//!
//! Invariant: an iteration over all clients has the same order in each run: by id
//! ([`Viewers::iter`]), or by home cell ([`Viewers::for_each`]). The latter visits neighbours one
//! after the other, so that what they share stays in the CPU's cache.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use ambit_proto::cell::Cell;
use ambit_proto::ids::{ClientId, ObjectId};
use slab::Slab;

use super::interest::IdHasher;
use super::viewer::Viewer;

type IndexById<Id> = HashMap<Id, u32, BuildHasherDefault<IdHasher>>;

/// The clients of a room; see the module.
#[derive(Default)]
pub(super) struct Viewers {
    entries: Slab<Box<Viewer>>,
    /// Indices, in the order of the clients' ids.
    by_id_order: Vec<u32>,
    /// Indices, neighbours beside each other; see [`Viewers::sort_by_cell`].
    by_cell_order: Vec<u32>,
    by_client: IndexById<ClientId>,
    by_avatar: IndexById<ObjectId>,
    /// Indices, by the slot that `interest` has for a viewer.
    by_interest_slot: Vec<u32>,
}

impl Viewers {
    /// Adds a client that is not in the room.
    pub(super) fn insert(&mut self, viewer: Viewer) {
        let client = viewer.client;
        let avatar = viewer.avatar;
        let index = self.entries.insert(Box::new(viewer)) as u32;
        let at = self.by_id_order.partition_point(|&other| self.at(other).client < client);
        self.by_id_order.insert(at, index);
        self.by_cell_order.push(index);
        let previous = self.by_client.insert(client, index);
        assert!(previous.is_none(), "a client is inserted once");
        self.by_avatar.insert(avatar, index);
    }

    /// Removes a client. Returns whether it was in the room.
    pub(super) fn remove(&mut self, client: ClientId) -> bool {
        let Some(index) = self.by_client.remove(&client) else {
            return false;
        };
        let viewer = self.entries.remove(index as usize);
        // The player may already see through the same avatar by another connection.
        if self.by_avatar.get(&viewer.avatar) == Some(&index) {
            self.by_avatar.remove(&viewer.avatar);
        }
        self.by_id_order.retain(|&other| other != index);
        self.by_cell_order.retain(|&other| other != index);
        true
    }

    /// Sets the slot that `interest` has for the client.
    pub(super) fn set_interest_slot(&mut self, client: ClientId, slot: u32) {
        let index = slot as usize;
        if self.by_interest_slot.len() <= index {
            self.by_interest_slot.resize(index + 1, u32::MAX);
        }
        self.by_interest_slot[index] = self.by_client[&client];
    }

    /// The client that has this slot in `interest`.
    pub(super) fn at_interest_slot_mut(&mut self, slot: u32) -> &mut Viewer {
        self.at_mut(self.by_interest_slot[slot as usize])
    }

    pub(super) fn get(&self, client: ClientId) -> Option<&Viewer> {
        self.by_client.get(&client).map(|&index| self.at(index))
    }

    pub(super) fn get_mut(&mut self, client: ClientId) -> Option<&mut Viewer> {
        let index = *self.by_client.get(&client)?;
        Some(self.at_mut(index))
    }

    /// The client that sees through this object.
    pub(super) fn get_by_avatar_mut(&mut self, avatar: ObjectId) -> Option<&mut Viewer> {
        let index = *self.by_avatar.get(&avatar)?;
        Some(self.at_mut(index))
    }

    /// The client that sees through one object sees through another one from now on; `None` if
    /// there is no such client.
    pub(super) fn change_avatar(&mut self, from: ObjectId, to: ObjectId) -> Option<ClientId> {
        let index = self.by_avatar.remove(&from)?;
        self.by_avatar.insert(to, index);
        let viewer = self.at_mut(index);
        viewer.avatar = to;
        Some(viewer.client)
    }

    /// All clients, by their ids.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Viewer> {
        self.by_id_order.iter().map(|&index| self.at(index))
    }

    /// Sorts the clients by their home cells; the order decays as they move, so it is called now
    /// and then.
    pub(super) fn sort_by_cell(&mut self) {
        let Viewers { by_cell_order: order, entries, .. } = self;
        order.sort_unstable_by_key(|&index| {
            let viewer = &entries[index as usize];
            (z_order(viewer.home), viewer.client)
        });
    }

    /// Calls `each` with every client, neighbours one after the other.
    pub(super) fn for_each(&mut self, mut each: impl FnMut(&mut Viewer)) {
        for &index in &self.by_cell_order {
            each(&mut self.entries[index as usize]);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.by_id_order.len()
    }

    fn at(&self, index: u32) -> &Viewer {
        &self.entries[index as usize]
    }

    fn at_mut(&mut self, index: u32) -> &mut Viewer {
        &mut self.entries[index as usize]
    }
}

/// The number of a cell on the Z-order curve (Morton code), on which near cells have near numbers:
/// the interleaved bits of column and row.
fn z_order(cell: Cell) -> u32 {
    let spread = |part: u16| {
        (0..16).fold(0, |spread, bit| spread | (u32::from(part) >> bit & 1) << (2 * bit))
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
            [number(0, 0), number(1, 0), number(0, 1), number(1, 1), number(2, 0)],
            [0, 1, 2, 3, 4]
        );
        assert_eq!(number(u16::MAX, u16::MAX), u32::MAX);
    }
}
