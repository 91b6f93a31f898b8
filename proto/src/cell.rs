//! The map, divided into square cells on (x, y): the geometry of the area of interest.
//!
//! Cells have columns along x and rows along y, both from 0 in code. Cell numbers for people count
//! from 1, row by row: on a map of 40 x 40 m with cells of 10 m, (23, 12) lies in the third column
//! of the second row, cell 7. If the size of a map is not a multiple of the cell's edge, the cells
//! at its far edges extend beyond it. A position on a border belongs to the cell beyond the border.
//! A position off the map belongs to the nearest cell at its edge.
//!
//! Invariant: every cell that a [`Grid`] returns is on its map. Source: "Architectures de
//! developpement adaptees aux MMOGs" (Project Deus), section 3.5.

#![warn(missing_docs, reason = "authors of games and clients import it")]

use crate::space::{MAX_MAP_METRES, Position};

/// A cell, by column and row from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Cell {
    /// Along x.
    pub column: u16,
    /// Along y.
    pub row: u16,
}

impl Cell {
    /// The cell at this column and row, both from 0.
    pub const fn new(column: u16, row: u16) -> Self {
        Self { column, row }
    }

    /// The Chebyshev distance to `other`, in cells: 1 for each of the eight neighbours.
    pub fn distance(self, other: Self) -> u16 {
        self.column.abs_diff(other.column).max(self.row.abs_diff(other.row))
    }
}

/// Size of a map and of its cells. Small, so it is passed by value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Grid {
    width_m: f32,
    height_m: f32,
    cell_m: f32,
    /// At least 1, as are the rows.
    columns: u16,
    rows: u16,
}

impl Grid {
    /// A map of `width_m` x `height_m` metres in cells of `cell_m`. `None` unless all three are
    /// above zero, the map is at most 16,384 m (the range of positions on the wire) and has at most
    /// 65,535 columns and rows.
    pub fn try_new(width_m: f32, height_m: f32, cell_m: f32) -> Option<Self> {
        let columns = cells_in(width_m, cell_m)?;
        let rows = cells_in(height_m, cell_m)?;
        Some(Self { width_m, height_m, cell_m, columns, rows })
    }

    /// [`Grid::try_new`] for sizes that were validated before.
    ///
    /// # Panics
    /// If the sizes are invalid.
    pub fn new(width_m: f32, height_m: f32, cell_m: f32) -> Self {
        Self::try_new(width_m, height_m, cell_m).unwrap_or_else(|| {
            panic!("invalid grid: a map of {width_m} x {height_m} m, cells of {cell_m} m")
        })
    }

    /// Extent of the map along x, in metres.
    pub const fn width(self) -> f32 {
        self.width_m
    }

    /// Extent of the map along y, in metres.
    pub const fn height(self) -> f32 {
        self.height_m
    }

    /// Edge of a cell, in metres.
    pub const fn cell_size(self) -> f32 {
        self.cell_m
    }

    /// Number of columns.
    pub const fn columns(self) -> u16 {
        self.columns
    }

    /// Number of rows.
    pub const fn rows(self) -> u16 {
        self.rows
    }

    /// Number of cells.
    pub const fn cells(self) -> usize {
        self.columns as usize * self.rows as usize
    }

    /// The cell of `position`; the nearest one when it is off the map.
    pub fn cell_at(self, position: Position) -> Cell {
        Cell::new(self.axis_index(position.x, self.columns), self.axis_index(position.y, self.rows))
    }

    /// The cell's number for people: row by row from 1.
    pub const fn number(self, cell: Cell) -> u32 {
        self.index(cell) as u32 + 1
    }

    /// The cell's index in an array of all cells: row by row from 0.
    pub const fn index(self, cell: Cell) -> usize {
        cell.row as usize * self.columns as usize + cell.column as usize
    }

    /// The cells within `radius` of `centre`, row by row, as far as they are on the map: 9 for a
    /// radius of 1 in the middle, 6 at an edge, 4 in a corner.
    pub fn block(self, centre: Cell, radius: u16) -> impl Iterator<Item = Cell> + use<> {
        let span = |at: u16, cells: u16| {
            at.saturating_sub(radius)..=at.saturating_add(radius).min(cells - 1)
        };
        let columns = span(centre.column, self.columns);
        span(centre.row, self.rows)
            .flat_map(move |row| columns.clone().map(move |column| Cell::new(column, row)))
    }

    /// Whether `position` is finite and on the map, its edges included; z is ignored.
    pub fn contains(self, position: Position) -> bool {
        position.is_finite()
            && (0.0..=self.width_m).contains(&position.x)
            && (0.0..=self.height_m).contains(&position.y)
    }

    /// The home cell of an object at `position` whose home cell was `previous`: it stays `previous`
    /// until the position is more than `margin_m` beyond the cell's border (hysteresis). Columns
    /// and rows are treated separately.
    ///
    /// So a column that changes and changes back requires at least twice the margin of travel along
    /// x; the same holds for rows. A player who moves to and fro along a border or around a corner
    /// causes few changes.
    pub fn home_cell(self, previous: Cell, position: Position, margin_m: f32) -> Cell {
        let at = self.cell_at(position);
        let keeps = |index: u16, metres: f32| {
            let (from, to) = (f32::from(index) * self.cell_m, f32::from(index + 1) * self.cell_m);
            (from - margin_m..=to + margin_m).contains(&metres)
        };
        Cell {
            column: if keeps(previous.column, position.x) { previous.column } else { at.column },
            row: if keeps(previous.row, position.y) { previous.row } else { at.row },
        }
    }

    /// The index of the cell, out of `slices`, that contains a coordinate along one axis. In `f64`
    /// the quotient of two `f32` never rounds up to the next whole number, so a position before a
    /// border never falls into the cell beyond it.
    fn axis_index(self, metres: f32, slices: u16) -> u16 {
        let slice = (f64::from(metres) / f64::from(self.cell_m)).floor();
        // The cast turns negative values and NaN to zero.
        (slice as u16).min(slices - 1)
    }
}

/// How many cells cover a length. A remainder below a millionth of a cell counts as a rounding
/// error.
fn cells_in(length_m: f32, cell_m: f32) -> Option<u16> {
    let fits = length_m > 0.0 && length_m <= MAX_MAP_METRES && cell_m > 0.0 && cell_m.is_finite();
    let cells = (f64::from(length_m) / f64::from(cell_m) - 1e-6).ceil().max(1.0);
    (fits && cells <= f64::from(u16::MAX)).then_some(cells as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f32, y: f32) -> Position {
        Position::on_ground(x, y)
    }

    fn numbers(grid: Grid, centre: Cell, radius: u16) -> Vec<u32> {
        grid.block(centre, radius).map(|cell| grid.number(cell)).collect()
    }

    #[test]
    fn the_example_position_is_in_cell_seven() {
        let grid = Grid::new(40.0, 40.0, 10.0);
        let cell = grid.cell_at(at(23.0, 12.0));
        assert_eq!(cell, Cell::new(2, 1));
        assert_eq!(grid.number(cell), 7);
        assert_eq!((grid.columns(), grid.rows(), grid.cells()), (4, 4, 16));
    }

    #[test]
    fn cells_are_numbered_row_by_row_from_one() {
        let grid = Grid::new(30.0, 20.0, 10.0);
        let all = grid.block(Cell::new(1, 1), 9).map(|cell| grid.number(cell)).collect::<Vec<_>>();
        assert_eq!(all, [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn partial_cells_cover_the_edge_of_the_map() {
        let grid = Grid::new(45.0, 9.0, 10.0);
        assert_eq!((grid.columns(), grid.rows()), (5, 1));
        assert_eq!(grid.cell_at(at(44.9, 8.9)), Cell::new(4, 0));
        assert!(grid.contains(at(45.0, 9.0)) && !grid.contains(at(45.1, 9.0)));
        // 0.3 / 0.1 is a little more than 3 in floats, but a fourth column would be wrong.
        assert_eq!(Grid::new(0.3, 0.3, 0.1).columns(), 3);
    }

    #[test]
    fn a_border_belongs_to_the_cell_beyond_it() {
        for cell_m in [10.0, 7.3, 0.1, 33.333] {
            let grid = Grid::new(cell_m * 100.0, cell_m * 100.0, cell_m);
            for column in 1..100 {
                let border = f32::from(column) * cell_m;
                // A multiple that is not exact in floats may lie on either side of the true one.
                let beyond = if cell_m == 10.0 { border } else { border * 1.000_001 };
                assert_eq!(grid.cell_at(at(beyond, 0.0)).column, column, "{cell_m}");
                assert_eq!(
                    grid.cell_at(at(border * 0.999_999, 0.0)).column,
                    column - 1,
                    "{cell_m}"
                );
            }
        }
    }

    #[test]
    fn a_position_off_the_map_is_in_the_nearest_cell() {
        let grid = Grid::new(40.0, 40.0, 10.0);
        assert_eq!(grid.cell_at(at(-1.0, 99.0)), Cell::new(0, 3));
        assert_eq!(grid.cell_at(at(40.0, 40.0)), Cell::new(3, 3));
        assert_eq!(grid.cell_at(at(f32::NAN, f32::INFINITY)), Cell::new(0, 3));
        assert!(!grid.contains(at(f32::NAN, 1.0)) && !grid.contains(at(-0.001, 1.0)));
    }

    #[test]
    fn a_block_is_clipped_at_the_map_s_edge() {
        let grid = Grid::new(40.0, 40.0, 10.0);
        assert_eq!(numbers(grid, Cell::new(1, 1), 1), [1, 2, 3, 5, 6, 7, 9, 10, 11]);
        assert_eq!(numbers(grid, Cell::new(0, 0), 1), [1, 2, 5, 6]);
        assert_eq!(numbers(grid, Cell::new(3, 1), 1), [3, 4, 7, 8, 11, 12]);
        assert_eq!(numbers(grid, Cell::new(3, 3), 0), [16]);
        assert_eq!(grid.block(Cell::new(0, 0), u16::MAX).count(), 16);
    }

    #[test]
    fn a_block_is_all_cells_within_its_radius() {
        let grid = Grid::new(90.0, 60.0, 10.0);
        let all: Vec<Cell> = grid.block(Cell::new(0, 0), 99).collect();
        for &centre in &all {
            for radius in 0..5 {
                let near = all.iter().copied().filter(|cell| cell.distance(centre) <= radius);
                assert!(grid.block(centre, radius).eq(near), "{centre:?}, {radius}");
            }
        }
    }

    #[test]
    fn the_home_cell_stays_until_the_margin_is_passed() {
        let grid = Grid::new(40.0, 40.0, 10.0);
        let home = Cell::new(1, 1);
        for (x, y, expected) in [
            (20.0, 15.0, home),
            (22.0, 15.0, home),
            (22.1, 15.0, Cell::new(2, 1)),
            (8.0, 8.0, home),
            (7.9, 8.0, Cell::new(0, 1)),
            (22.1, 22.1, Cell::new(2, 2)),
            (39.0, 1.0, Cell::new(3, 0)),
            (-5.0, 15.0, Cell::new(0, 1)),
        ] {
            assert_eq!(grid.home_cell(home, at(x, y), 2.0), expected, "({x}, {y})");
        }
        assert_eq!(grid.home_cell(Cell::new(3, 3), at(99.0, 99.0), 2.0), Cell::new(3, 3));
    }

    #[test]
    fn a_home_cell_changes_back_only_after_twice_the_margin_of_travel() {
        let grid = Grid::new(100.0, 100.0, 10.0);
        let margin = 2.0;
        for seed in 0..50 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut position = at(50.0, 50.0);
            let mut home = grid.cell_at(position);
            // The previous column and the x of the change; then the same for rows.
            let mut changed_at: [Option<(u16, f32)>; 2] = [None; 2];
            for _ in 0..2_000 {
                position.x += rng.f32() - 0.5;
                position.y += rng.f32() - 0.5;
                let next = grid.home_cell(home, position, margin);
                let axes =
                    [(home.column, next.column, position.x), (home.row, next.row, position.y)];
                for (last, (from, to, metres)) in
                    changed_at.iter_mut().zip(axes).filter(|(_, axis)| axis.0 != axis.1)
                {
                    if let Some((left, there)) = *last
                        && left == to
                    {
                        assert!(
                            (metres - there).abs() > 2.0 * margin,
                            "seed {seed}: {metres}, {there}"
                        );
                    }
                    *last = Some((from, metres));
                }
                home = next;
            }
        }
    }

    #[test]
    fn an_invalid_map_size_is_refused() {
        for (width, height, cell) in [
            (0.0, 10.0, 10.0),
            (10.0, -1.0, 10.0),
            (10.0, 10.0, 0.0),
            (f32::NAN, 10.0, 10.0),
            (10.0, 10.0, f32::NAN),
            (10.0, 10.0, f32::INFINITY),
            (16_385.0, 10.0, 10.0),
            (16_000.0, 10.0, 0.1),
        ] {
            assert_eq!(Grid::try_new(width, height, cell), None, "{width} x {height}, {cell}");
        }
        assert!(Grid::try_new(16_384.0, 16_384.0, 10.0).is_some());
    }

    #[test]
    fn a_diagonal_step_is_one_cell() {
        assert_eq!(Cell::new(3, 3).distance(Cell::new(4, 2)), 1);
        assert_eq!(Cell::new(3, 3).distance(Cell::new(0, 5)), 3);
    }
}
