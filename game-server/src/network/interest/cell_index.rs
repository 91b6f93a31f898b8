//! Things that stand in cells and what is still to be done about them: the objects, or the viewers
//! by their homes.
//!
//! Each cell has a list of its members for each class. Moves are noted at once and take effect on
//! the lists in [`Crowd::begin`]: until then [`Crowd::cell`] is where a thing is, and the list that
//! it is in is where it was.
//!
//! The lists are threaded through the members, so putting in and taking out are O(1) whatever the
//! crowd, and nothing is allocated but what a new member needs. Invariant: in a list the latest
//! arrival comes first; so the order of two members does not depend on who else is there, and what
//! is reported in this order betrays nobody.

use std::hash::Hash;

use ambit_proto::cell::{Cell, Grid};

use super::slot_map::{SlotIndex, SlotMap};

const NO_SLOT: SlotIndex = SlotIndex::MAX;

/// All objects, or all viewers, each with a `T`.
pub(super) struct CellIndex<Id, T> {
    grid: Grid,
    slots: SlotMap<Id>,
    /// Where each is, by slot.
    cells: Vec<Cell>,
    /// By slot.
    members: Vec<CellMember<T>>,
    /// First member, by class and cell.
    heads: Vec<SlotIndex>,
    /// Who has something due, in the order of asking. An entry whose slot has another tenant by now
    /// is void.
    pending: Vec<(SlotIndex, Id)>,
}

/// All that a look at a thing in passing needs, in one cache line.
#[repr(align(64))]
pub(super) struct CellMember<T> {
    previous: SlotIndex,
    next: SlotIndex,
    /// In whose list it is, if in any.
    listed_cell: Option<Cell>,
    class: u8,
    pending: PendingWork,
    data: T,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PendingWork {
    Nothing,
    /// It has another cell.
    Move,
    /// It is new, or what it sees or who sees it may have changed.
    Full,
}

/// One thing whose surroundings have to be looked at.
#[derive(Clone, Copy)]
pub(super) struct PendingCheck {
    pub slot: SlotIndex,
    pub class: u8,
    /// Where it was when its surroundings were last looked at; `Unchanged` when it is new.
    pub from: Option<Cell>,
    pub to: Cell,
    /// Whether what was near and still is has to be looked at, too.
    pub recheck: bool,
}

impl PendingCheck {
    /// The cells within `radius` that were not within it before, or all if everything is to be
    /// looked at again.
    pub(super) fn cells_entered(self, grid: Grid, radius: u16) -> impl Iterator<Item = Cell> {
        let was_within =
            move |cell: &Cell| self.from.is_some_and(|from| from.distance(*cell) <= radius);
        grid.block(self.to, radius)
            .filter(move |cell| self.recheck || !was_within(cell))
    }

    /// The cells that were within `radius` and are no longer, or all that were.
    pub(super) fn cells_left(self, grid: Grid, radius: u16) -> impl Iterator<Item = Cell> {
        let former = self
            .from
            .into_iter()
            .flat_map(move |from| grid.block(from, radius));
        former.filter(move |cell| self.recheck || self.to.distance(*cell) > radius)
    }
}

impl<Id: Copy + Eq + Hash, T: Default> CellIndex<Id, T> {
    pub(super) fn new(grid: Grid, classes: usize) -> Self {
        Self {
            grid,
            slots: SlotMap::new(),
            cells: Vec::new(),
            members: Vec::new(),
            heads: vec![NO_SLOT; classes * grid.cells()],
            pending: Vec::new(),
        }
    }

    /// Adds a thing, which takes over what its slot's last tenant had with it, storage above all.
    pub(super) fn add(&mut self, id: Id, class: u8, cell: Cell) -> SlotIndex {
        let slot = self.slots.insert(id);
        if self.members.len() <= slot as usize {
            let with = T::default();
            self.members.push(CellMember {
                previous: NO_SLOT,
                next: NO_SLOT,
                listed_cell: None,
                class,
                pending: PendingWork::Nothing,
                data: with,
            });
            self.cells.push(cell);
        }
        self.members[slot as usize].class = class;
        self.cells[slot as usize] = cell;
        self.mark_pending(slot, id, PendingWork::Full);
        slot
    }

    /// Takes it out of everything; its slot may have another tenant at once.
    pub(super) fn remove(&mut self, id: Id) -> Option<SlotIndex> {
        let slot = self.slots.remove(id)?;
        self.unlink(slot);
        self.members[slot as usize].pending = PendingWork::Nothing;
        Some(slot)
    }

    /// Notes where it is. One that is not there is ignored, here and in [`Crowd::request_recheck`].
    pub(super) fn relocate(&mut self, id: Id, to: Cell) {
        if let Some(slot) = self.slots.slot(id) {
            self.cells[slot as usize] = to;
            self.mark_pending(slot, id, PendingWork::Move);
        }
    }

    /// Notes that all that surrounds it is to be looked at.
    pub(super) fn request_recheck(&mut self, id: Id) {
        if let Some(slot) = self.slots.slot(id) {
            self.mark_pending(slot, id, PendingWork::Full);
        }
    }

    /// Puts each thing that has something due on the list of its cell, and appends what is to be
    /// looked at.
    pub(super) fn apply_moves(&mut self, errands: &mut Vec<PendingCheck>) {
        let mut noted = std::mem::take(&mut self.pending);
        for (slot, id) in noted.drain(..) {
            let member = &mut self.members[slot as usize];
            if self.slots.id(slot) != id || member.pending == PendingWork::Nothing {
                continue;
            }
            let again =
                std::mem::replace(&mut member.pending, PendingWork::Nothing) == PendingWork::Full;
            let (class, from, to) = (member.class, member.listed_cell, self.cells[slot as usize]);
            if from != Some(to) {
                self.unlink(slot);
                self.link(slot, to);
            }
            if again || from != Some(to) {
                errands.push(PendingCheck {
                    slot,
                    class,
                    from,
                    to,
                    recheck: again,
                });
            }
        }
        self.pending = noted;
    }

    /// Who is on the list of a class and cell, the latest arrival first, and where each of them is
    /// now.
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

    /// In whose list it is.
    pub(super) fn listed_cell(&self, slot: SlotIndex) -> Option<Cell> {
        self.members[slot as usize].listed_cell
    }

    /// Where it is.
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

    /// What it has with it.
    pub(super) fn data(&self, slot: SlotIndex) -> &T {
        &self.members[slot as usize].data
    }

    pub(super) fn data_mut(&mut self, slot: SlotIndex) -> &mut T {
        &mut self.members[slot as usize].data
    }

    /// Entries for which no more memory has to be asked, and what each member has with it.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> (usize, impl Iterator<Item = &T>) {
        let own = self.cells.capacity() + self.members.capacity() + self.pending.capacity();
        (own, self.members.iter().map(|member| &member.data))
    }

    fn mark_pending(&mut self, slot: SlotIndex, id: Id, due: PendingWork) {
        let noted = &mut self.members[slot as usize].pending;
        if *noted == PendingWork::Nothing {
            self.pending.push((slot, id));
        }
        *noted = due.max(*noted);
    }

    fn head(&self, class: u8, cell: Cell) -> usize {
        usize::from(class) * self.grid.cells() + self.grid.index(cell)
    }

    fn link(&mut self, slot: SlotIndex, cell: Cell) {
        let head = self.head(self.class(slot), cell);
        let next = std::mem::replace(&mut self.heads[head], slot);
        if next != NO_SLOT {
            self.members[next as usize].previous = slot;
        }
        let member = &mut self.members[slot as usize];
        (member.previous, member.next, member.listed_cell) = (NO_SLOT, next, Some(cell));
    }

    fn unlink(&mut self, slot: SlotIndex) {
        let CellMember {
            previous,
            next,
            class,
            ..
        } = self.members[slot as usize];
        let Some(cell) = self.members[slot as usize].listed_cell.take() else {
            return;
        };
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

    fn listed(crowd: &CellIndex<u64, ()>, cell: Cell) -> Vec<(SlotIndex, Cell)> {
        crowd.members_of(1, cell).collect()
    }

    #[test]
    fn members_leave_a_list_from_its_front_middle_and_end() {
        for leaver in 0..3 {
            let mut crowd: CellIndex<u64, ()> = CellIndex::new(Grid::new(20.0, 20.0, 10.0), 2);
            for id in 0..3 {
                crowd.add(id, 1, HERE);
            }
            let mut errands = Vec::new();
            crowd.apply_moves(&mut errands);
            crowd.relocate(leaver, THERE);
            assert_eq!(
                crowd
                    .members_of(1, HERE)
                    .find(|&(slot, _)| u64::from(slot) == leaver),
                Some((leaver as SlotIndex, THERE))
            );

            errands.clear();
            crowd.apply_moves(&mut errands);
            let stay: Vec<_> = [2, 1, 0]
                .into_iter()
                .filter(|&id| id != leaver)
                .map(|id| (id as SlotIndex, HERE))
                .collect();
            assert_eq!(
                (listed(&crowd, HERE), listed(&crowd, THERE)),
                (stay, vec![(leaver as SlotIndex, THERE)])
            );
            assert_eq!(
                errands
                    .iter()
                    .map(|errand| (errand.from, errand.to))
                    .collect::<Vec<_>>(),
                [(Some(HERE), THERE)]
            );

            crowd.remove(leaver);
            assert_eq!(listed(&crowd, THERE), []);
        }
    }

    #[test]
    fn a_move_there_and_back_needs_no_check() {
        let mut crowd: CellIndex<u64, ()> = CellIndex::new(Grid::new(20.0, 20.0, 10.0), 2);
        crowd.add(7, 0, HERE);
        crowd.apply_moves(&mut Vec::new());
        crowd.relocate(7, THERE);
        crowd.relocate(7, HERE);
        let mut errands = Vec::new();
        crowd.apply_moves(&mut errands);
        assert!(errands.is_empty());
    }
}
