//! Which cells have members: a bit for each class and cell, so that a pass over a large zone costs
//! what is in it, and not its cells.

use ambit_proto::cell::{Cell, Grid};

const WORD_BITS: u16 = u64::BITS as u16;

/// The cells with members, by class; see the module.
pub(super) struct OccupiedCells {
    grid: Grid,
    words_per_row: usize,
    /// Row by row, each beginning with a word of its own.
    words: Vec<u64>,
}

impl OccupiedCells {
    pub(super) fn new(grid: Grid, classes: usize) -> Self {
        let words_per_row = usize::from(grid.columns().div_ceil(WORD_BITS));
        // One more, since a block reads the word after each of its own.
        let words = vec![0; classes * usize::from(grid.rows()) * words_per_row + 1];
        Self { grid, words_per_row, words }
    }

    pub(super) fn insert(&mut self, class: u8, cell: Cell) {
        let word = self.word(class, cell.row, cell.column / WORD_BITS);
        self.words[word] |= 1 << (cell.column % WORD_BITS);
    }

    pub(super) fn remove(&mut self, class: u8, cell: Cell) {
        let word = self.word(class, cell.row, cell.column / WORD_BITS);
        self.words[word] &= !(1 << (cell.column % WORD_BITS));
    }

    /// Those of the cells within `radius` of `centre` that have members, row by row.
    pub(super) fn block(&self, class: u8, centre: Cell, radius: u16) -> OccupiedBlock<'_> {
        let span = |at: u16, cells: u16| {
            (at.saturating_sub(radius), at.saturating_add(radius).min(cells - 1))
        };
        let (first_row, last_row) = span(centre.row, self.grid.rows());
        let (low, high) = span(centre.column, self.grid.columns());
        let mut block = OccupiedBlock {
            cells: self,
            first_word: self.word(class, first_row, low / WORD_BITS),
            rows: (first_row, last_row),
            low,
            chunk: 0,
            last_chunk: (
                (high - low) / WORD_BITS,
                u64::MAX >> (WORD_BITS - 1 - (high - low) % WORD_BITS),
            ),
            bits: 0,
        };
        block.bits = block.bits_of_chunk();
        block
    }

    fn word(&self, class: u8, row: u16, word: u16) -> usize {
        let row = usize::from(class) * usize::from(self.grid.rows()) + usize::from(row);
        row * self.words_per_row + usize::from(word)
    }
}

/// The cells of a block that have members: plain loops over words, since most are empty. Each row
/// is taken in chunks of 64 columns from its first one on, so that a block that is not wider has
/// one a row, wherever it begins.
pub(super) struct OccupiedBlock<'c> {
    cells: &'c OccupiedCells,
    /// The index of the word in which the row begins.
    first_word: usize,
    /// The row and the last one.
    rows: (u16, u16),
    /// The first column.
    low: u16,
    /// The chunk in the row.
    chunk: u16,
    /// The last chunk of a row, and which of its bits are in the block.
    last_chunk: (u16, u64),
    /// Those of the chunk that are still to come.
    bits: u64,
}

impl OccupiedBlock<'_> {
    fn bits_of_chunk(&self) -> u64 {
        let word = self.first_word + usize::from(self.chunk);
        let low = self.cells.words[word];
        let high = self.cells.words[word + 1];
        let shift = self.low % WORD_BITS;
        let bits = low >> shift | high << 1 << (WORD_BITS - 1 - shift);
        if self.chunk == self.last_chunk.0 { bits & self.last_chunk.1 } else { bits }
    }
}

impl Iterator for OccupiedBlock<'_> {
    type Item = Cell;

    fn next(&mut self) -> Option<Cell> {
        while self.bits == 0 {
            if self.chunk < self.last_chunk.0 {
                self.chunk += 1;
            } else if self.rows.0 < self.rows.1 {
                self.rows.0 += 1;
                self.first_word += self.cells.words_per_row;
                self.chunk = 0;
            } else {
                return None;
            }
            self.bits = self.bits_of_chunk();
        }
        let column = self.low + self.chunk * WORD_BITS + self.bits.trailing_zeros() as u16;
        self.bits &= self.bits - 1;
        Some(Cell::new(column, self.rows.0))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_block_of_occupied_cells_is_the_block_without_the_empty_ones() {
        for seed in 0..40 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let columns = rng.u16(1..200);
            let rows = rng.u16(1..20);
            let grid = Grid::new(f32::from(columns), f32::from(rows), 1.0);
            let mut cells = OccupiedCells::new(grid, 2);
            let mut plain = BTreeSet::new();
            for _ in 0..200 {
                let class = rng.u8(..2);
                let cell = Cell::new(rng.u16(..columns), rng.u16(..rows));
                if plain.remove(&(class, cell)) {
                    cells.remove(class, cell);
                } else {
                    cells.insert(class, cell);
                    plain.insert((class, cell));
                }
                let (centre, radius) =
                    (Cell::new(rng.u16(..columns), rng.u16(..rows)), rng.u16(..70));
                let expected =
                    grid.block(centre, radius).filter(|&cell| plain.contains(&(class, cell)));
                assert!(cells.block(class, centre, radius).eq(expected), "seed {seed}");
            }
        }
    }
}
