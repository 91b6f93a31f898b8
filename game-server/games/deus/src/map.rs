//! The maps: slots side by side in one world, each with rooms and corridors.
//!
//! The content and a seed go in; all obstacles, and where heroes and monsters begin, come out, at
//! the start. Clients so have all maps before heroes jump to the next one. The last slot is the
//! merchant's. A small world has one slot, in which all happens.
//!
//! Invariants: in a slot, a way leads from each room to each other one; no way leads out of a slot.
//! Units: metres.

pub(crate) mod routes;

use std::collections::BTreeSet;

use ambit::Rng;
use ambit::prelude::*;
use ambit::statics::{Obstacle, Statics};

use crate::DeusWorld;
use crate::content::rooms::{MapsTable, RoomTable};

/// Half the width of a hero or a monster.
pub(crate) const BODY_RADIUS_M: f32 = 0.45;
/// The middle of a hall, where heroes begin, is free of obstacles within this distance.
const CLEARING_M: f32 = 6.0;
const WALL_HEIGHT_M: f32 = 3.0;
const HALF_WALL_M: f32 = 0.5;
/// The area of a hall for each of its pillars.
const M2_PER_PILLAR: f32 = 130.0;
const MAX_TRIES: u32 = 64;
/// The number of free places of which the nearest to the heroes is taken: a map is large.
const PLACES_TO_CHOOSE: usize = 4;
/// A world of twice this width has two slots beside each other; more than the other is never used.
const SLOT_M: (f32, f32) = (300.0, 400.0);
/// A room has a square of this width, at least.
const SITE_M: f32 = 100.0;
const MOST_ACROSS: usize = 4;
/// One in this number of the doors that a slot does not need exists.
const SPARE_DOORS: u8 = 3;
/// Within this distance of a door, ways go straight through it.
const BEFORE_DOOR_M: f32 = 2.0;
/// Monsters appear within this distance of their place.
const SPAWN_M: f32 = 3.0;
/// East, north, west, south: the other way is two further.
const SIDES: [(f32, f32); 4] = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];

/// All slots.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct GroundPlan {
    slots: Vec<MapSlot>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MapSlot {
    low: (f32, f32),
    /// Extents of the square of a room, and how many there are in a row.
    site: (f32, f32),
    columns: usize,
    /// Row by row.
    pub(crate) rooms: Vec<MapRoom>,
}

/// A room of a slot.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MapRoom {
    pub(crate) middle: Position,
    half: (f32, f32),
    /// By [`SIDES`].
    doors: [bool; 4],
    pub(crate) spawns: Vec<Position>,
    pub(crate) traps: Vec<Position>,
    /// None in a hall.
    chest: Option<Position>,
}

impl GroundPlan {
    /// Draws all maps, and adds their obstacles.
    pub(crate) fn build(world: &mut DeusWorld, maps: &MapsTable) -> Self {
        let width = world.width();
        let height = world.height();
        if width.min(height) < 2.0 * SITE_M {
            let mut rng = world.rng_for(1, u64::from(world.map()) << 32);
            add_walls(world, &mut rng);
            return Self { slots: vec![MapSlot::hall((width, height))] };
        }
        let across = |size: f32| if size >= 2.0 * SLOT_M.0 { 2 } else { 1 };
        let columns = across(width);
        let rows = across(height);
        let wide = width / columns as f32;
        let high = height / rows as f32;
        let size = (wide.min(SLOT_M.1), high.min(SLOT_M.1));
        let across = |size: f32| ((size / SITE_M) as usize).min(MOST_ACROSS);
        let mut slots = Vec::new();
        for index in 0..columns * rows {
            let map = u64::from(world.map());
            let mut rng = world.rng_for(1, index as u64 | map << 32);
            let low = ((index % columns) as f32 * wide, (index / columns) as f32 * high);
            let mut slot = MapSlot { low, site: size, columns: 1, rooms: Vec::new() };
            if index > 0 && index + 1 == columns * rows {
                slot.draw(world, 1, std::slice::from_ref(&maps.merchant), &mut rng);
            } else {
                let columns = across(size.0);
                let rows = across(size.1);
                slot.columns = columns;
                slot.site = (size.0 / columns as f32, size.1 / rows as f32);
                slot.draw(world, rows, &maps.room, &mut rng);
            }
            slot.add_doors(world.statics_mut(), maps.door_m / 2.0, &mut rng);
            slots.push(slot);
        }
        Self { slots }
    }

    /// The slot of the merchant, also where heroes wait.
    pub(crate) fn merchants(&self) -> usize {
        self.slots.len() - 1
    }

    /// The slot of the next wave: another one, if there is one.
    pub(crate) fn next_after(&self, slot: usize, rng: &mut Rng) -> usize {
        let others: Vec<usize> = (0..self.merchants()).filter(|it| *it != slot).collect();
        others.get(rng.usize(..others.len().max(1))).copied().unwrap_or(0)
    }

    pub(crate) fn slot(&self, slot: usize) -> &MapSlot {
        &self.slots[slot]
    }

    pub(crate) fn slot_at(&self, at: Position) -> usize {
        let holds = |slot: &MapSlot| slot.site_at(at).is_some();
        self.slots.iter().position(holds).unwrap_or(self.merchants())
    }
}

impl MapSlot {
    fn hall(size: (f32, f32)) -> Self {
        let half = (size.0 / 2.0, size.1 / 2.0);
        let middle = Position::on_ground(half.0, half.1);
        let spawns = Vec::new();
        let traps = Vec::new();
        let room = MapRoom { middle, half, doors: [false; 4], spawns, traps, chest: None };
        Self { low: (0.0, 0.0), site: size, columns: 1, rooms: vec![room] }
    }

    /// Draws a room for each site.
    fn draw(&mut self, world: &mut DeusWorld, rows: usize, tables: &[RoomTable], rng: &mut Rng) {
        for index in 0..self.columns * rows {
            let table = &tables[rng.usize(..tables.len())];
            let x = self.low.0 + self.site.0 * ((index % self.columns) as f32 + 0.5);
            let y = self.low.1 + self.site.1 * ((index / self.columns) as f32 + 0.5);
            let mirror = [rng.bool(), rng.bool()].map(|it| if it { -1.0 } else { 1.0 });
            let room = MapRoom::of(table, Position::on_ground(x, y), mirror);
            room.add_contents(world.statics_mut(), table, mirror);
            self.rooms.push(room);
        }
    }

    /// Draws doors so that each room is reached from each other one, and adds all walls.
    fn add_doors(&mut self, statics: &mut Statics, half_door: f32, rng: &mut Rng) {
        // Each pair of neighbours once, by its side to the east or the north.
        let all = 0..self.rooms.len();
        let mut pairs: Vec<(usize, usize)> = all.flat_map(|room| [(room, 0), (room, 1)]).collect();
        rng.shuffle(&mut pairs);
        let mut group: Vec<usize> = (0..self.rooms.len()).collect();
        for (room, side) in pairs {
            let Some(other) = self.neighbour(room, side) else { continue };
            let one = group[room];
            let two = group[other];
            if one != two || rng.u8(..SPARE_DOORS) == 0 {
                self.rooms[room].doors[side] = true;
                self.rooms[other].doors[side + 2] = true;
                group.iter_mut().filter(|it| **it == two).for_each(|it| *it = one);
            }
        }
        for room in 0..self.rooms.len() {
            self.add_walls_of(statics, room, half_door);
        }
    }

    /// The walls of a room, and of its corridors to the east and the north.
    fn add_walls_of(&self, statics: &mut Statics, index: usize, half_door: f32) {
        let room = &self.rooms[index];
        let mut add = |x: f32, y: f32, (along, across): (f32, f32), side: (f32, f32)| {
            let (half_x, half_y) = if side.0 == 0.0 { (along, across) } else { (across, along) };
            statics.add(Obstacle::on_ground(x, y, half_x, half_y, WALL_HEIGHT_M));
        };
        for (side, (dx, dy)) in SIDES.into_iter().enumerate() {
            let (out, long) = room.out_and_along(side);
            let (x, y) = (room.middle.x + dx * out, room.middle.y + dy * out);
            if !room.doors[side] {
                add(x, y, (long, HALF_WALL_M), (dx, dy));
                continue;
            }
            for hand in [-1.0, 1.0] {
                let off = hand * f32::midpoint(half_door, long);
                let half = ((long - half_door) / 2.0, HALF_WALL_M);
                add(x + off * dy.abs(), y + off * dx.abs(), half, (dx, dy));
                let Some(other) = self.neighbour(index, side).filter(|_| side < 2) else {
                    continue;
                };
                let (other_out, _) = self.rooms[other].out_and_along(side + 2);
                let width = if side == 0 { self.site.0 } else { self.site.1 };
                let length = width - out - other_out;
                let off = hand * (half_door + HALF_WALL_M);
                let (x, y) = (x + dx * length / 2.0, y + dy * length / 2.0);
                add(x + off * dy, y + off * dx, (length / 2.0, HALF_WALL_M), (dy, dx));
            }
        }
    }

    /// The middle of each door, and on which side of a room it is: to the east (0) or the north.
    pub(crate) fn doors(&self) -> impl Iterator<Item = (Position, usize)> {
        let all = self.rooms.iter().flat_map(|room| [(room, 0), (room, 1)]);
        all.filter(|(room, side)| room.doors[*side]).map(|(room, side)| {
            let ((dx, dy), (out, _)) = (SIDES[side], room.out_and_along(side));
            (Position::on_ground(room.middle.x + dx * out, room.middle.y + dy * out), side)
        })
    }

    /// The room on this side of another one.
    fn neighbour(&self, room: usize, side: usize) -> Option<usize> {
        let column = room % self.columns;
        let row = room / self.columns;
        match side {
            0 => (column + 1 < self.columns).then(|| room + 1),
            1 => Some(room + self.columns).filter(|other| *other < self.rooms.len()),
            2 => (column > 0).then(|| room - 1),
            _ => (row > 0).then(|| room - self.columns),
        }
    }

    fn site_at(&self, at: Position) -> Option<usize> {
        let (x, y) = ((at.x - self.low.0) / self.site.0, (at.y - self.low.1) / self.site.1);
        let rows = self.rooms.len() / self.columns;
        // The border of the world belongs to it.
        let is_in = x >= 0.0 && y >= 0.0 && x <= self.columns as f32 && y <= rows as f32;
        let (x, y) = ((x as usize).min(self.columns - 1), (y as usize).min(rows - 1));
        is_in.then_some(y * self.columns + x)
    }

    /// Where the chest is if the last monster fell here: in the same room.
    pub(crate) fn chest_for(&self, at: Position) -> Position {
        self.site_at(at).and_then(|site| self.rooms[site].chest).unwrap_or(at)
    }

    /// A free place at least `least_m` from all of these, if one exists. Of several, the nearest.
    pub(crate) fn place_away_from(
        &self,
        statics: &Statics,
        others: &[Position],
        least_m: f32,
        rng: &mut Rng,
    ) -> Position {
        let mut best = (0.0, self.rooms[0].middle);
        let mut found = Vec::new();
        for _ in 0..MAX_TRIES {
            let place = self.rooms[rng.usize(..self.rooms.len())].somewhere(rng);
            if statics.is_blocked(place, BODY_RADIUS_M) {
                continue;
            }
            let distance = |other: &Position| other.ground_distance(place);
            let nearest = others.iter().map(distance).fold(f32::MAX, f32::min);
            if nearest >= least_m {
                found.push((nearest, place));
            }
            if found.len() == PLACES_TO_CHOOSE {
                break;
            }
            if nearest > best.0 {
                best = (nearest, place);
            }
        }
        found.into_iter().min_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or(best).1
    }
}

impl MapRoom {
    fn of(table: &RoomTable, middle: Position, [x, y]: [f32; 2]) -> Self {
        let half = (table.size_m[0] / 2.0, table.size_m[1] / 2.0);
        let place = |at: &[f32; 2]| Position::on_ground(middle.x + x * at[0], middle.y + y * at[1]);
        let spawns = table.spawns.iter().map(place).collect();
        let traps = table.traps.iter().map(place).collect();
        let chest = Some(place(&table.chest));
        Self { middle, half, doors: [false; 4], spawns, traps, chest }
    }

    fn add_contents(&self, statics: &mut Statics, table: &RoomTable, mirror: [f32; 2]) {
        let place = |x: f32, y: f32| (self.middle.x + mirror[0] * x, self.middle.y + mirror[1] * y);
        for &[x, y, half_x, half_y] in &table.walls {
            let (x, y) = place(x, y);
            statics.add(Obstacle::on_ground(x, y, half_x.abs(), half_y.abs(), WALL_HEIGHT_M));
        }
        for &[x, y, radius] in &table.pillars {
            let (x, y) = place(x, y);
            statics.add(Obstacle::round(x, y, radius.abs(), WALL_HEIGHT_M));
        }
    }

    /// How far a side is from the middle, and half its length.
    fn out_and_along(&self, side: usize) -> (f32, f32) {
        if side.is_multiple_of(2) { self.half } else { (self.half.1, self.half.0) }
    }

    /// Where the way through a door begins.
    pub(crate) fn before_door(&self, side: usize) -> Position {
        let ((dx, dy), (out, _)) = (SIDES[side], self.out_and_along(side));
        let out = out - BEFORE_DOOR_M;
        Position::on_ground(self.middle.x + dx * out, self.middle.y + dy * out)
    }

    /// On which side of the room a place is; `None` inside.
    fn side_of(&self, at: Position) -> Option<usize> {
        let (x, y) = (at.x - self.middle.x, at.y - self.middle.y);
        let beyond_x = x.abs() - self.half.0;
        let beyond_y = y.abs() - self.half.1;
        if beyond_x.max(beyond_y) <= 0.0 {
            return None;
        }
        let side = if beyond_x > beyond_y { 1.0 - x.signum() } else { 2.0 - y.signum() };
        Some(side as usize)
    }

    fn clamped(&self, at: Position) -> Position {
        let (x, y) = (self.half.0 - 1.0, self.half.1 - 1.0);
        let x = at.x.clamp(self.middle.x - x, self.middle.x + x);
        Position::on_ground(x, at.y.clamp(self.middle.y - y, self.middle.y + y))
    }

    /// A place of the monsters, or any if there is none.
    fn somewhere(&self, rng: &mut Rng) -> Position {
        let mut within = |half: f32| (rng.f32() - 0.5) * 2.0 * half;
        if self.spawns.is_empty() {
            let (x, y) = (within(self.half.0), within(self.half.1));
            return Position::on_ground(self.middle.x + x, self.middle.y + y);
        }
        let (x, y) = (within(SPAWN_M), within(SPAWN_M));
        let at = self.spawns[rng.usize(..self.spawns.len())];
        self.clamped(Position::on_ground(at.x + x, at.y + y))
    }

    /// A free place near the middle.
    pub(crate) fn place_to_begin(&self, statics: &Statics, rng: &mut Rng) -> Position {
        let angle = rng.f32() * std::f32::consts::TAU;
        let radius = rng.f32().sqrt() * 4.0;
        let (x, y) = (radius * angle.cos(), radius * angle.sin());
        let place = Position::on_ground(self.middle.x + x, self.middle.y + y);
        if statics.is_blocked(place, BODY_RADIUS_M) { self.middle } else { place }
    }
}

/// Adds the pillars of a hall that is the whole world.
pub(crate) fn add_walls(world: &mut DeusWorld, rng: &mut Rng) {
    let width = world.width();
    let height = world.height();
    let middle = world.centre();
    let pillars = (width * height / M2_PER_PILLAR) as u32;
    for _ in 0..pillars {
        let (x, y) = (rng.f32() * width, rng.f32() * height);
        let (half_x, half_y) = match rng.u8(..3) {
            0 => (0.5 + rng.f32() * 2.5, 0.4),
            1 => (0.4, 0.5 + rng.f32() * 2.5),
            _ => (0.8, 0.8),
        };
        let is_inside = x > half_x && x < width - half_x && y > half_y && y < height - half_y;
        let pillar = Obstacle::on_ground(x, y, half_x, half_y, WALL_HEIGHT_M);
        if is_inside && pillar.ground_distance(middle) > CLEARING_M {
            world.statics_mut().add(pillar);
        }
    }
}

/// The first place of a room that no way from its middle reaches: its chest, a spawn, a trap or a
/// door.
pub(crate) fn unreached(table: &RoomTable) -> Option<(f32, f32)> {
    // Obstacles have no negative positions on the wire.
    let middle = Position::on_ground(SITE_M, SITE_M);
    let room = MapRoom::of(table, middle, [1.0, 1.0]);
    let mut statics = Statics::default();
    room.add_contents(&mut statics, table, [1.0, 1.0]);
    let is_free = |from: Position, to: Position| {
        let is_blocked = statics.is_blocked(to, BODY_RADIUS_M);
        !is_blocked && ambit_ways::is_free(&statics, BODY_RADIUS_M, from, to)
    };
    let place = |x: f32, y: f32| Position::on_ground(middle.x + x, middle.y + y);
    let mut reached = BTreeSet::new();
    let mut open = vec![(0_i8, 0_i8)];
    while let Some((x, y)) = open.pop() {
        let from = place(x.into(), y.into());
        for (dx, dy) in SIDES {
            let next = (x + dx as i8, y + dy as i8);
            let to = place(next.0.into(), next.1.into());
            if room.side_of(to).is_none() && is_free(from, to) && reached.insert(next) {
                open.push(next);
            }
        }
    }
    let is_reached = |at: Position| {
        let (x, y) = ((at.x - middle.x).floor(), (at.y - middle.y).floor());
        let corners = [(x, y), (x + 1.0, y), (x, y + 1.0), (x + 1.0, y + 1.0)];
        let is_known = |(x, y): &(f32, f32)| reached.contains(&(*x as i8, *y as i8));
        corners.iter().any(|corner| is_known(corner) && is_free(place(corner.0, corner.1), at))
    };
    let doors = (0..4).map(|side| room.before_door(side));
    let inside = room.chest.iter().chain(&room.spawns).chain(&room.traps);
    let mut all = doors.chain(inside.copied());
    let missed = all.find(|at| !is_reached(*at))?;
    Some((missed.x - middle.x, missed.y - middle.y))
}
