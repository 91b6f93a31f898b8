//! The loads of cells and regions against a brute force recount.

use std::collections::BTreeMap;

use ambit::Typed;
use ambit_field::FieldGame;
use ambit_proto::cell::Cell;
use ambit_proto::ids::PlayerId;
use ambit_proto::time::GameTime;
use ambit_room::config::RoomConfig;
use ambit_room::logic::game::{Game, Left};
use ambit_room::logic::world::{EventAudience, World, WorldChange};
use ambit_room::network::loads::{CellLoad, LoadMap, MAX_REGIONS_PER_AXIS};

#[test]
fn the_loads_match_a_brute_force_recount() {
    for (width, height) in [(200.0, 200.0), (370.0, 45.0), (60.0, 20.0)] {
        check(width, height);
    }
}

fn check(width: f32, height: f32) {
    let config = RoomConfig { width, height, seed: 3, ..RoomConfig::default() };
    let mut game = Typed(FieldGame::new(10, 150));
    let mut world = World::new(&config, game.schema());
    let mut loads = LoadMap::new(config.grid());
    let mut changes = Vec::new();
    let mut by_window: BTreeMap<(u64, Cell), u32> = BTreeMap::new();
    let mut compared = 0;
    for tick in 0..400_u64 {
        let now = GameTime::from_millis(tick * 50);
        world.begin_tick(now);
        while let Some(timer) = world.pop_due_timer() {
            game.timer(&mut world, &timer);
        }
        if tick == 0 {
            game.start(&mut world);
        }
        if tick % 40 == 5 {
            let player = PlayerId(tick);
            let avatar = game.join(&mut world, player, "ann");
            world.add_player(player, avatar, "ann");
        }
        if tick % 80 == 60 {
            game.leave(&mut world, PlayerId(tick - 55), Left::Quit);
            world.remove_player(PlayerId(tick - 55));
        }
        game.step(&mut world, std::time::Duration::from_millis(50));
        world.finish_tick();
        world.drain_changes(&mut changes);
        loads.note_changes(now, &changes, &world);
        for change in &changes {
            let object = match *change {
                WorldChange::Components { object, .. } => object,
                WorldChange::Event { audience: EventAudience::Followers(about), .. } => about,
                _ => continue,
            };
            if world.contains(object) {
                *by_window.entry((tick / 80, world.cell(object))).or_default() += 1;
            }
        }
        changes.clear();
        // Changes of an object that was removed at this tick have no cell here any more: they
        // are not compared.
        compared += compare(&loads, &world, tick / 80, &by_window);
    }
    assert!(compared > 100, "{compared} changes");
}

/// Compares all cells and regions with a recount; returns the changes of the last complete
/// window.
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
    let columns = world.grid().columns();
    let rows = world.grid().rows();
    let all = (0..rows).flat_map(|row| (0..columns).map(move |column| Cell::new(column, row)));
    for cell in all {
        assert_eq!(loads.cell(cell), cells.get(&cell).copied().unwrap_or_default(), "{cell:?}");
    }
    let total = cells.values().copied().fold(CellLoad::default(), CellLoad::plus);
    let regions = loads.regions();
    assert_eq!(
        (regions.total(), loads.within(Cell::default(), Cell::new(u16::MAX, u16::MAX))),
        (total, total)
    );
    assert!(regions.columns <= MAX_REGIONS_PER_AXIS && regions.rows <= MAX_REGIONS_PER_AXIS);
    let edge = regions.edge_cells;
    for (index, load) in regions.loads.iter().enumerate() {
        let (column, row) =
            (index as u16 % regions.columns * edge, index as u16 / regions.columns * edge);
        let high = Cell::new(column + edge - 1, row + edge - 1);
        assert_eq!(*load, loads.within(Cell::new(column, row), high), "region {index}");
    }
    total.changes
}
