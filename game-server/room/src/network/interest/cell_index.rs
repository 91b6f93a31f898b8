//! Objects by their cells, or viewers by their home cells, with the checks that are pending for
//! them.
//!
//! Each cell has a list of its members for each class. Moves are noted at once and take effect on
//! the lists in [`CellIndex::apply_moves`]. Until then [`CellIndex::cell`] is the present cell of a
//! member, and the list that holds it belongs to the former cell.
//!
//! The lists are linked through the members. So insertion and removal are O(1) at any number of
//! members, and only a new member needs memory. Invariant: a list has the latest arrival first. So
//! the order of two members does not depend on other members, and what is reported in this order
//! reveals no hidden ones.

use std::hash::Hash;

use ambit_proto::cell::{Cell, Grid};

use super::occupied_cells::OccupiedCells;
use super::slot_map::{SlotIndex, SlotMap};

const NO_SLOT: SlotIndex = SlotIndex::MAX;

/// All objects, or all viewers, each with data of type `T`.
pub(super) struct CellIndex<Id, T> {
    grid: Grid,
    occupied: OccupiedCells,
    slots: SlotMap<Id>,
    /// The present cell, by slot.
    cells: Vec<Cell>,
    /// By slot.
    members: Vec<CellMember<T>>,
    /// First member, by class and cell.
    heads: Vec<SlotIndex>,
    /// Members with pending work, in the order in which it was noted. An entry is skipped if its
    /// slot has another owner by then.
    pending: Vec<(SlotIndex, Id)>,
}

/// What a pass over a list needs of one member, in one cache line.
#[repr(align(64))]
pub(super) struct CellMember<T> {
    previous: SlotIndex,
    next: SlotIndex,
    /// The cell whose list holds it, if any.
    listed_cell: Option<Cell>,
    class: u8,
    pending: PendingWork,
    data: T,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PendingWork {
    Nothing,
    /// It may have changed cells.
    Move,
    /// It is new, or its visibility may have changed.
    Full,
}

/// One member whose neighbours have to be checked.
#[derive(Clone, Copy)]
pub(super) struct PendingCheck {
    pub slot: SlotIndex,
    pub class: u8,
    /// The cell at the last check; `None` when it is new.
    pub from: Option<Cell>,
    pub to: Cell,
    /// Whether pairs that were near and still are have to be checked too.
    pub recheck: bool,
}

impl PendingCheck {
    /// Those of the cells with members within `radius` that were not within it before, or all of
    /// them for a full check.
    pub(super) fn cells_entered<Id, T>(
        self,
        index: &CellIndex<Id, T>,
        class: u8,
        radius: u16,
    ) -> impl Iterator<Item = Cell> {
        let was_within =
            move |cell: &Cell| self.from.is_some_and(|from| from.distance(*cell) <= radius);
        let near = index.occupied.block(class, self.to, radius);
        near.filter(move |cell| self.recheck || !was_within(cell))
    }

    /// Those of the cells with members that were within `radius` and are not any more, or all that
    /// were for a full check.
    pub(super) fn cells_left<Id, T>(
        self,
        index: &CellIndex<Id, T>,
        class: u8,
        radius: u16,
    ) -> impl Iterator<Item = Cell> {
        let former = self.from.into_iter();
        former
            .flat_map(move |from| index.occupied.block(class, from, radius))
            .filter(move |cell| self.recheck || self.to.distance(*cell) > radius)
    }
}

impl<Id: Copy + Eq + Hash, T: Default> CellIndex<Id, T> {
    pub(super) fn new(grid: Grid, classes: usize) -> Self {
        Self {
            grid,
            occupied: OccupiedCells::new(grid, classes),
            slots: SlotMap::new(),
            cells: Vec::new(),
            members: Vec::new(),
            heads: vec![NO_SLOT; classes * grid.cells()],
            pending: Vec::new(),
        }
    }

    /// Adds a member. It takes over the data of its slot's last owner, so that its storage is
    /// reused.
    pub(super) fn add(&mut self, id: Id, class: u8, cell: Cell) -> SlotIndex {
        let slot = self.slots.insert(id);
        if self.members.len() <= slot as usize {
            let data = T::default();
            self.members.push(CellMember {
                previous: NO_SLOT,
                next: NO_SLOT,
                listed_cell: None,
                class,
                pending: PendingWork::Nothing,
                data,
            });
            self.cells.push(cell);
        }
        self.members[slot as usize].class = class;
        self.cells[slot as usize] = cell;
        self.mark_pending(slot, id, PendingWork::Full);
        slot
    }

    /// Removes a member; its slot may be reused at once.
    pub(super) fn remove(&mut self, id: Id) -> Option<SlotIndex> {
        let slot = self.slots.remove(id)?;
        self.unlink(slot);
        self.members[slot as usize].pending = PendingWork::Nothing;
        Some(slot)
    }

    /// Notes the present cell of a member. An unknown id is ignored, here and in
    /// [`CellIndex::request_recheck`].
    pub(super) fn relocate(&mut self, id: Id, to: Cell) {
        if let Some(slot) = self.slots.slot(id) {
            self.cells[slot as usize] = to;
            self.mark_pending(slot, id, PendingWork::Move);
        }
    }

    /// Requests a full check of the neighbours of a member.
    pub(super) fn request_recheck(&mut self, id: Id) {
        if let Some(slot) = self.slots.slot(id) {
            self.mark_pending(slot, id, PendingWork::Full);
        }
    }

    /// Moves each member with pending work to the list of its cell, and appends the checks that
    /// follow.
    pub(super) fn apply_moves(&mut self, checks: &mut Vec<PendingCheck>) {
        let mut pending = std::mem::take(&mut self.pending);
        for (slot, id) in pending.drain(..) {
            let member = &mut self.members[slot as usize];
            if self.slots.id(slot) != id || member.pending == PendingWork::Nothing {
                continue;
            }
            let recheck =
                std::mem::replace(&mut member.pending, PendingWork::Nothing) == PendingWork::Full;
            let class = member.class;
            let from = member.listed_cell;
            let to = self.cells[slot as usize];
            if from != Some(to) {
                self.unlink(slot);
                self.link(slot, to);
            }
            if recheck || from != Some(to) {
                checks.push(PendingCheck { slot, class, from, to, recheck });
            }
        }
        self.pending = pending;
    }

    /// The members in the list of a class and cell, the latest arrival first, each with its present
    /// cell.
    pub(super) fn members_of(
        &self,
        class: u8,
        cell: Cell,
    ) -> impl Iterator<Item = (SlotIndex, Cell)> + '_ {
        let some = |slot| (slot != NO_SLOT).then_some(slot);
        let first = some(self.heads[self.head(class, cell)]);
        let slots =
            std::iter::successors(first, move |&slot| some(self.members[slot as usize].next));
        slots.map(move |slot| match self.members[slot as usize].pending {
            PendingWork::Nothing => (slot, cell),
            _ => (slot, self.cell(slot)),
        })
    }

    /// The cells within `radius` of `centre` that have members, row by row.
    pub(super) fn occupied_cells(
        &self,
        class: u8,
        centre: Cell,
        radius: u16,
    ) -> impl Iterator<Item = Cell> + '_ {
        self.occupied.block(class, centre, radius)
    }

    /// The cell whose list holds the member.
    pub(super) fn listed_cell(&self, slot: SlotIndex) -> Option<Cell> {
        self.members[slot as usize].listed_cell
    }

    /// The present cell of the member.
    pub(super) fn cell(&self, slot: SlotIndex) -> Cell {
        self.cells[slot as usize]
    }

    pub(super) fn class(&self, slot: SlotIndex) -> u8 {
        self.members[slot as usize].class
    }

    pub(super) fn slot(&self, id: Id) -> Option<SlotIndex> {
        self.slots.slot(id)
    }

    pub(super) fn id(&self, slot: SlotIndex) -> Id {
        self.slots.id(slot)
    }

    /// The data of the member.
    pub(super) fn data(&self, slot: SlotIndex) -> &T {
        &self.members[slot as usize].data
    }

    pub(super) fn data_mut(&mut self, slot: SlotIndex) -> &mut T {
        &mut self.members[slot as usize].data
    }

    /// Entries that fit without another allocation, and the data of each member.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> (usize, impl Iterator<Item = &T>) {
        let own = self.cells.capacity() + self.members.capacity() + self.pending.capacity();
        (own, self.members.iter().map(|member| &member.data))
    }

    fn mark_pending(&mut self, slot: SlotIndex, id: Id, work: PendingWork) {
        let pending = &mut self.members[slot as usize].pending;
        if *pending == PendingWork::Nothing {
            self.pending.push((slot, id));
        }
        *pending = work.max(*pending);
    }

    fn head(&self, class: u8, cell: Cell) -> usize {
        usize::from(class) * self.grid.cells() + self.grid.index(cell)
    }

    fn link(&mut self, slot: SlotIndex, cell: Cell) {
        let head = self.head(self.class(slot), cell);
        let next = std::mem::replace(&mut self.heads[head], slot);
        if next == NO_SLOT {
            self.occupied.insert(self.class(slot), cell);
        } else {
            self.members[next as usize].previous = slot;
        }
        let member = &mut self.members[slot as usize];
        (member.previous, member.next, member.listed_cell) = (NO_SLOT, next, Some(cell));
    }

    fn unlink(&mut self, slot: SlotIndex) {
        let CellMember { previous, next, class, .. } = self.members[slot as usize];
        let Some(cell) = self.members[slot as usize].listed_cell.take() else {
            return;
        };
        if (previous, next) == (NO_SLOT, NO_SLOT) {
            self.occupied.remove(class, cell);
        }
        if previous == NO_SLOT {
            let head = self.head(class, cell);
            self.heads[head] = next;
        } else {
            self.members[previous as usize].next = next;
        }
        if next != NO_SLOT {
            self.members[next as usize].previous = previous;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Cell = Cell { column: 1, row: 1 };
    const THERE: Cell = Cell { column: 0, row: 1 };

    fn listed(index: &CellIndex<u64, ()>, cell: Cell) -> Vec<(SlotIndex, Cell)> {
        index.members_of(1, cell).collect()
    }

    #[test]
    fn members_leave_a_list_from_its_front_middle_and_end() {
        for moved in 0..3 {
            let mut index: CellIndex<u64, ()> = CellIndex::new(Grid::new(20.0, 20.0, 10.0), 2);
            for id in 0..3 {
                index.add(id, 1, HERE);
            }
            let mut checks = Vec::new();
            index.apply_moves(&mut checks);
            index.relocate(moved, THERE);
            assert_eq!(
                index.members_of(1, HERE).find(|&(slot, _)| u64::from(slot) == moved),
                Some((moved as SlotIndex, THERE))
            );

            checks.clear();
            index.apply_moves(&mut checks);
            let rest: Vec<_> = [2, 1, 0]
                .into_iter()
                .filter(|&id| id != moved)
                .map(|id| (id as SlotIndex, HERE))
                .collect();
            assert_eq!(
                (listed(&index, HERE), listed(&index, THERE)),
                (rest, vec![(moved as SlotIndex, THERE)])
            );
            assert_eq!(
                checks.iter().map(|check| (check.from, check.to)).collect::<Vec<_>>(),
                [(Some(HERE), THERE)]
            );

            index.remove(moved);
            assert_eq!(listed(&index, THERE), []);
        }
    }

    #[test]
    fn a_move_there_and_back_needs_no_check() {
        let mut index: CellIndex<u64, ()> = CellIndex::new(Grid::new(20.0, 20.0, 10.0), 2);
        index.add(7, 0, HERE);
        index.apply_moves(&mut Vec::new());
        index.relocate(7, THERE);
        index.relocate(7, HERE);
        let mut checks = Vec::new();
        index.apply_moves(&mut checks);
        assert!(checks.is_empty());
    }
}
