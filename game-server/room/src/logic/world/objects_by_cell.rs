//! The objects in each cell.
//!
//! Each cell is a doubly linked list through the objects' slots. An empty map costs 4 bytes a cell,
//! and a change of cell touches only the neighbours in two lists. The order within a cell is
//! unspecified: readers sort by id.

use ambit_proto::cell::{Cell, Grid};

/// End of a list.
const NONE: u32 = u32::MAX;

/// The object slots of each cell. See the module.
#[derive(Debug)]
pub(super) struct ObjectsByCell {
    grid: Grid,
    /// The first slot of each cell.
    heads: Vec<u32>,
    /// For each slot in use, its neighbours in its cell's list.
    links: Vec<SlotLinks>,
}

#[derive(Clone, Copy, Debug)]
struct SlotLinks {
    previous: u32,
    next: u32,
}

impl ObjectsByCell {
    pub(super) fn new(grid: Grid) -> Self {
        Self { grid, heads: vec![NONE; grid.cells()], links: Vec::new() }
    }

    pub(super) fn insert(&mut self, slot: usize, cell: Cell) {
        if self.links.len() <= slot {
            self.links.resize(slot + 1, SlotLinks { previous: NONE, next: NONE });
        }
        let head = &mut self.heads[self.grid.index(cell)];
        let next = std::mem::replace(head, slot as u32);
        self.links[slot] = SlotLinks { previous: NONE, next };
        if let Some(next) = self.links.get_mut(next as usize) {
            next.previous = slot as u32;
        }
    }

    /// `cell` is where the slot was inserted.
    pub(super) fn remove(&mut self, slot: usize, cell: Cell) {
        let SlotLinks { previous, next } = self.links[slot];
        match self.links.get_mut(previous as usize) {
            Some(link) => link.next = next,
            None => self.heads[self.grid.index(cell)] = next,
        }
        if let Some(link) = self.links.get_mut(next as usize) {
            link.previous = previous;
        }
    }

    /// The slots in the cells from one corner of a rectangle to the other, in no particular order.
    pub(super) fn between(&self, low: Cell, high: Cell) -> impl Iterator<Item = usize> + '_ {
        let cells = (low.row..=high.row).flat_map(move |row| {
            (low.column..=high.column).map(move |column| Cell::new(column, row))
        });
        cells.flat_map(|cell| self.slots_in(cell))
    }

    fn slots_in(&self, cell: Cell) -> impl Iterator<Item = usize> + '_ {
        let next = |slot: u32| (slot != NONE).then_some(slot as usize);
        std::iter::successors(next(self.heads[self.grid.index(cell)]), move |&slot| {
            next(self.links[slot].next)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_moves_agree_with_a_plain_list() {
        let mut rng = fastrand::Rng::with_seed(3);
        let grid = Grid::new(30.0, 20.0, 10.0);
        let mut cells = ObjectsByCell::new(grid);
        let mut plain: Vec<Option<Cell>> = vec![None; 20];
        for step in 0..5_000 {
            let slot = rng.usize(..plain.len());
            let cell = Cell::new(rng.u16(..grid.columns()), rng.u16(..grid.rows()));
            if let Some(old) = plain[slot].take() {
                cells.remove(slot, old);
            }
            if rng.u8(..4) > 0 {
                cells.insert(slot, cell);
                plain[slot] = Some(cell);
            }
            let low = Cell::new(rng.u16(..2), 0);
            let high = Cell::new(2, rng.u16(..2));
            let mut found: Vec<_> = cells.between(low, high).collect();
            found.sort_unstable();
            let inside = |cell: Cell| {
                (low.column..=high.column).contains(&cell.column)
                    && (low.row..=high.row).contains(&cell.row)
            };
            let expected: Vec<_> =
                (0..plain.len()).filter(|&slot| plain[slot].is_some_and(inside)).collect();
            assert_eq!(found, expected, "step {step}");
        }
    }
}
