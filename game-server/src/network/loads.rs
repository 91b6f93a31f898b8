//! What each cell of a map costs: the seam at which a large map can be cut.
//!
//! What has changed in the world goes in, figures of cells, of rectangles of cells and of the whole
//! map come out. The sums of at most [`REGIONS`] x [`REGIONS`] regions are kept along, so a summary
//! of any map costs the same; hosts report it (`RoomLoad`). A cut looks at regions first and at the
//! cells of one region then. Nothing in the room depends on these figures.
//!
//! Invariant: a region's figures are the sums of its cells', and the map's those of its regions.
//! Units: objects and players now; changes (components, poses and events that are told) in the last
//! whole window of [`WINDOW_S`] seconds. Cost: what changed. 16 bytes a cell. PoseSource: reference
//! 003, section 2.1 (cells that inform a load balancer; a k-d tree whose nodes know load and
//! capacity).

use std::collections::HashMap;

use ambit_proto::cell::{Cell, Grid};
use ambit_proto::ids::ObjectId;
use ambit_proto::time::GameTime;

use crate::logic::world::{World, WorldChange};

/// Regions along each axis, at most.
pub const MAX_REGIONS_PER_AXIS: u16 = 8;
/// How long changes are counted together: long enough for a crowd's noise, short enough for a cut
/// that is needed.
pub const WINDOW_S: u64 = 4;

/// What some cells have to bear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellLoad {
    /// Objects, avatars among them.
    pub objects: u32,
    /// Avatars.
    pub players: u32,
    /// RecordChanges in the last whole window.
    pub changes: u32,
}

/// Sums of cells, row by row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionLoads {
    /// Along x.
    pub columns: u16,
    /// Along y.
    pub rows: u16,
    /// Edge of a region, in cells; the last ones may stick out of the map.
    pub edge_cells: u16,
    /// `columns` x `rows` of them.
    pub loads: Vec<CellLoad>,
}

#[derive(Clone, Copy, Debug, Default)]
struct CellCounter {
    objects: u32,
    players: u16,
    /// Of which window `changes` is, by its lowest bits.
    window: u16,
    changes: u32,
    previous_changes: u32,
}

/// See the module.
#[derive(Debug)]
pub struct LoadMap {
    columns: u16,
    rows: u16,
    edge_cells: u16,
    window: u16,
    cells: Vec<CellCounter>,
    regions: Vec<CellCounter>,
    /// Where each object is counted, and whether as an avatar.
    objects: HashMap<ObjectId, (Cell, bool)>,
}

impl LoadMap {
    /// Of a map on which nothing is.
    pub fn new(grid: Grid) -> Self {
        let (columns, rows) = (grid.columns(), grid.rows());
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

    /// Takes over what a tick has changed.
    pub fn note_changes(&mut self, now: GameTime, changes: &[WorldChange], world: &World) {
        self.window = (now.micros() / 1_000_000 / WINDOW_S) as u16;
        for change in changes {
            match *change {
                WorldChange::Spawned { object, cell } => {
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
                WorldChange::Event { about, .. } => self.count_change(about),
                _ => {}
            }
        }
        for &object in world.active_objects() {
            self.count_change(object);
        }
    }

    /// The figures of one cell.
    pub fn cell(&self, cell: Cell) -> CellLoad {
        self.cells[self.index(cell)].load(self.window)
    }

    /// The sum of the cells from `low` to `high`, both included. Cost: these cells.
    pub fn within(&self, low: Cell, high: Cell) -> CellLoad {
        let rows = low.row..=high.row.min(self.rows - 1);
        let cells = rows.flat_map(|row| {
            (low.column..=high.column.min(self.columns - 1)).map(move |x| Cell::new(x, row))
        });
        cells
            .map(|cell| self.cell(cell))
            .fold(CellLoad::default(), CellLoad::plus)
    }

    /// The summary. Cost: the regions, 64 at most.
    pub fn regions(&self) -> RegionLoads {
        RegionLoads {
            columns: self.columns.div_ceil(self.edge_cells),
            rows: self.rows.div_ceil(self.edge_cells),
            edge_cells: self.edge_cells,
            loads: self
                .regions
                .iter()
                .map(|count| count.load(self.window))
                .collect(),
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

    /// The cell and its region.
    fn for_cell_and_region(&mut self, cell: Cell, then: impl Fn(&mut CellCounter, u16)) {
        let (index, window) = (self.index(cell), self.window);
        let columns = usize::from(self.columns.div_ceil(self.edge_cells));
        let (column, row) = (cell.column / self.edge_cells, cell.row / self.edge_cells);
        then(&mut self.cells[index], window);
        then(
            &mut self.regions[usize::from(row) * columns + usize::from(column)],
            window,
        );
    }

    fn index(&self, cell: Cell) -> usize {
        usize::from(cell.row) * usize::from(self.columns) + usize::from(cell.column)
    }
}

impl CellCounter {
    /// Counters of old windows are turned over when they are touched or read, not at each window's
    /// end.
    fn note_change(&mut self, window: u16) {
        if self.window != window {
            self.previous_changes = if self.window.wrapping_add(1) == window {
                self.changes
            } else {
                0
            };
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
        CellLoad {
            objects: self.objects,
            players: self.players.into(),
            changes,
        }
    }
}

impl CellLoad {
    /// Both together.
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
    /// The whole map.
    pub fn total(&self) -> CellLoad {
        self.loads
            .iter()
            .copied()
            .fold(CellLoad::default(), CellLoad::plus)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ambit_proto::ids::PlayerId;

    use super::*;
    use crate::config::RoomConfig;
    use crate::games::field::FieldGame;
    use crate::logic::game::Game;

    #[test]
    fn the_loads_match_a_brute_force_recount() {
        for (width, height) in [(200.0, 200.0), (370.0, 45.0), (60.0, 20.0)] {
            check(width, height);
        }
    }

    fn check(width: f32, height: f32) {
        let config = RoomConfig {
            width,
            height,
            seed: 3,
            ..RoomConfig::default()
        };
        let mut game = FieldGame::new(10, 150);
        let mut world = World::new(&config, game.schema());
        let (mut loads, mut changes) = (LoadMap::new(config.grid()), Vec::new());
        let mut by_window: BTreeMap<(u64, Cell), u32> = BTreeMap::new();
        let mut seen = 0;
        for tick in 0..400_u64 {
            let now = GameTime::from_millis(tick * 50);
            world.begin_tick(now);
            if tick == 0 {
                game.start(&mut world);
            }
            if tick % 40 == 5 {
                let player = PlayerId(tick);
                let avatar = game.join(&mut world, player, "ann");
                world.set_owner(avatar, player);
            }
            if tick % 80 == 60 {
                game.leave(&mut world, PlayerId(tick - 55));
            }
            game.step(&mut world, std::time::Duration::from_millis(50));
            world.finish_tick();
            world.drain_changes(&mut changes);
            loads.note_changes(now, &changes, &world);
            for change in &changes {
                let (WorldChange::Components { object, .. }
                | WorldChange::Event { about: object, .. }) = *change
                else {
                    continue;
                };
                if world.contains(object) {
                    *by_window
                        .entry((tick / 80, world.cell(object)))
                        .or_default() += 1;
                }
            }
            changes.clear();
            // Not with what has left in this tick: where that was told is nobody's business any
            // more.
            seen += compare(&loads, &world, tick / 80, &by_window);
        }
        assert!(seen > 100, "{seen} changes");
    }

    /// How many changes there were in the last whole window.
    fn compare(
        loads: &LoadMap,
        world: &World,
        window: u64,
        by_window: &BTreeMap<(u64, Cell), u32>,
    ) -> u32 {
        let mut cells: BTreeMap<Cell, CellLoad> = BTreeMap::new();
        for object in world.objects() {
            let load = cells.entry(world.cell(object)).or_default();
            load.objects += 1;
            load.players += u32::from(world.owner(object).is_some());
        }
        let Some(before) = window.checked_sub(1) else {
            return 0;
        };
        for (&(_, cell), changes) in
            by_window.range((before, Cell::default())..(window, Cell::default()))
        {
            cells.entry(cell).or_default().changes += changes;
        }
        let all = (0..loads.rows)
            .flat_map(|row| (0..loads.columns).map(move |column| Cell::new(column, row)));
        for cell in all {
            assert_eq!(
                loads.cell(cell),
                cells.get(&cell).copied().unwrap_or_default(),
                "{cell:?}"
            );
        }
        let total = cells
            .values()
            .copied()
            .fold(CellLoad::default(), CellLoad::plus);
        let regions = loads.regions();
        assert_eq!(
            (
                regions.total(),
                loads.within(Cell::default(), Cell::new(u16::MAX, u16::MAX))
            ),
            (total, total)
        );
        assert!(regions.columns <= MAX_REGIONS_PER_AXIS && regions.rows <= MAX_REGIONS_PER_AXIS);
        let edge = regions.edge_cells;
        for (index, load) in regions.loads.iter().enumerate() {
            let (column, row) = (
                index as u16 % regions.columns * edge,
                index as u16 / regions.columns * edge,
            );
            let high = Cell::new(column + edge - 1, row + edge - 1);
            assert_eq!(
                *load,
                loads.within(Cell::new(column, row), high),
                "region {index}"
            );
        }
        total.changes
    }
}
