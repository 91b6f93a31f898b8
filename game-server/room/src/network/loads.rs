//! The load of each cell of a map: the data by which a large map could be split.
//!
//! The changes of the world go in; the loads of cells, of rectangles of cells and of the whole map
//! come out. The sums of at most [`MAX_REGIONS_PER_AXIS`] x [`MAX_REGIONS_PER_AXIS`] regions are
//! kept up to date, so a summary of any map costs the same; hosts report it (`RoomLoad`). To split
//! a map, look at the regions first and then at the cells of one region. Nothing in the room
//! depends on these figures.
//!
//! Invariant: the load of a region is the sum over its cells, and the load of the map the sum over
//! its regions.
//!
//! Units: present objects and players; changes (components, poses and events that are sent) in the
//! last complete window of [`WINDOW_S`] seconds. Cost: what changed. Memory: 16 bytes a cell.
//! Source: "Architectures de développement adaptées aux MMOGs" (Project Deus): cells that inform a
//! load balancer, and a k-d tree whose nodes know load and capacity.

use std::collections::HashMap;

use ambit_proto::cell::{Cell, Grid};
use ambit_proto::ids::ObjectId;
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

use crate::logic::world::{EventAudience, World, WorldChange};

/// Regions along each axis, at most.
pub const MAX_REGIONS_PER_AXIS: u16 = 8;
/// How long changes are counted together: long enough to average out short bursts, short enough to
/// react in time.
pub const WINDOW_S: u64 = 4;

/// The load of a cell, or the sum over several cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellLoad {
    /// Objects, avatars among them.
    pub objects: u32,
    /// Objects that players own.
    pub players: u32,
    /// Changes in the last complete window.
    pub changes: u32,
}

/// The loads of the regions of a map, row by row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionLoads {
    /// Regions along x.
    pub columns: u16,
    /// Regions along y.
    pub rows: u16,
    /// Edge of a region, in cells; the last regions may extend beyond the map.
    pub edge_cells: u16,
    /// `columns` x `rows` of them.
    pub loads: Vec<CellLoad>,
}

#[derive(Clone, Copy, Debug, Default)]
struct CellCounter {
    objects: u32,
    players: u16,
    /// The window that `changes` counts, by its lowest bits.
    window: u16,
    changes: u32,
    previous_changes: u32,
}

/// The loads of all cells of a map; see the module.
#[derive(Debug)]
pub struct LoadMap {
    columns: u16,
    rows: u16,
    edge_cells: u16,
    window: u16,
    cells: Vec<CellCounter>,
    regions: Vec<CellCounter>,
    /// The cell in which each object is counted, and whether it counts as a player.
    objects: HashMap<ObjectId, (Cell, bool)>,
}

impl LoadMap {
    /// The loads of an empty map.
    pub fn new(grid: Grid) -> Self {
        let columns = grid.columns();
        let rows = grid.rows();
        let edge_cells = columns.max(rows).div_ceil(MAX_REGIONS_PER_AXIS);
        let regions =
            usize::from(columns.div_ceil(edge_cells)) * usize::from(rows.div_ceil(edge_cells));
        Self {
            columns,
            rows,
            edge_cells,
            window: 0,
            cells: vec![CellCounter::default(); usize::from(columns) * usize::from(rows)],
            regions: vec![CellCounter::default(); regions],
            objects: HashMap::new(),
        }
    }

    /// Applies the world's changes of a tick.
    pub fn note_changes(&mut self, now: GameTime, changes: &[WorldChange], world: &World) {
        self.window = (now.micros() / 1_000_000 / WINDOW_S) as u16;
        for change in changes {
            match *change {
                WorldChange::Spawned { object, cell: Some(cell) } => {
                    let is_player = world.contains(object) && world.owner(object).is_some();
                    self.add(object, cell, is_player);
                }
                WorldChange::Despawned { object, .. } => self.remove(object),
                WorldChange::ChangeCell { object, to, .. } => {
                    if let Some(&(_, is_player)) = self.objects.get(&object) {
                        self.remove(object);
                        self.add(object, to, is_player);
                    }
                }
                WorldChange::Components { object, .. } => self.count_change(object),
                WorldChange::Event { audience: EventAudience::Followers(about), .. } => {
                    self.count_change(about);
                }
                _ => {}
            }
        }
        for &object in world.active_objects() {
            self.count_change(object);
        }
    }

    pub fn cell(&self, cell: Cell) -> CellLoad {
        self.cells[self.index(cell)].load(self.window)
    }

    /// The sum over the cells from `low` to `high`, both included. Cost: the number of these cells.
    pub fn within(&self, low: Cell, high: Cell) -> CellLoad {
        let rows = low.row..=high.row.min(self.rows - 1);
        let cells = rows.flat_map(|row| {
            (low.column..=high.column.min(self.columns - 1)).map(move |x| Cell::new(x, row))
        });
        cells.map(|cell| self.cell(cell)).fold(CellLoad::default(), CellLoad::plus)
    }

    /// The loads of all regions, at most 64.
    pub fn regions(&self) -> RegionLoads {
        RegionLoads {
            columns: self.columns.div_ceil(self.edge_cells),
            rows: self.rows.div_ceil(self.edge_cells),
            edge_cells: self.edge_cells,
            loads: self.regions.iter().map(|count| count.load(self.window)).collect(),
        }
    }

    fn add(&mut self, object: ObjectId, cell: Cell, is_player: bool) {
        self.objects.insert(object, (cell, is_player));
        self.for_cell_and_region(cell, |count, _| {
            count.objects += 1;
            count.players += u16::from(is_player);
        });
    }

    fn remove(&mut self, object: ObjectId) {
        let Some((cell, is_player)) = self.objects.remove(&object) else {
            return;
        };
        self.for_cell_and_region(cell, |count, _| {
            count.objects -= 1;
            count.players -= u16::from(is_player);
        });
    }

    fn count_change(&mut self, object: ObjectId) {
        if let Some(&(cell, _)) = self.objects.get(&object) {
            self.for_cell_and_region(cell, CellCounter::note_change);
        }
    }

    /// Calls `apply` with the counters of the cell and of its region.
    fn for_cell_and_region(&mut self, cell: Cell, apply: impl Fn(&mut CellCounter, u16)) {
        let index = self.index(cell);
        let window = self.window;
        let columns = usize::from(self.columns.div_ceil(self.edge_cells));
        let column = cell.column / self.edge_cells;
        let row = cell.row / self.edge_cells;
        apply(&mut self.cells[index], window);
        apply(&mut self.regions[usize::from(row) * columns + usize::from(column)], window);
    }

    fn index(&self, cell: Cell) -> usize {
        usize::from(cell.row) * usize::from(self.columns) + usize::from(cell.column)
    }
}

impl CellCounter {
    /// The counter of an old window is replaced when it is next used, so the end of a window costs
    /// nothing.
    fn note_change(&mut self, window: u16) {
        if self.window != window {
            self.previous_changes =
                if self.window.wrapping_add(1) == window { self.changes } else { 0 };
            (self.window, self.changes) = (window, 0);
        }
        self.changes += 1;
    }

    fn load(self, window: u16) -> CellLoad {
        let changes = match window.wrapping_sub(self.window) {
            0 => self.previous_changes,
            1 => self.changes,
            _ => 0,
        };
        CellLoad { objects: self.objects, players: self.players.into(), changes }
    }
}

impl CellLoad {
    /// The sum of two loads.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            objects: self.objects + other.objects,
            players: self.players + other.players,
            changes: self.changes + other.changes,
        }
    }
}

impl RegionLoads {
    /// The load of the whole map.
    pub fn total(&self) -> CellLoad {
        self.loads.iter().copied().fold(CellLoad::default(), CellLoad::plus)
    }
}
