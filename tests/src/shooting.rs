//! Players of the game `shooter` on simulated lines, and how fair their fight is: what is hit on
//! the screen of whoever shoots, what the host confirms, and how far behind cover those are that
//! are hit.
//!
//! Each player sees a screen of 60 frames a second, and decides by what it shows. The hits on a
//! screen are found on its pictures alone. Deterministic: all chance comes from the seed.
//!
//! Units: simulated time, metres.

use std::collections::{BTreeSet, VecDeque};
use std::f32::consts::{PI, TAU};
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::config::{ClientConfig, InputRate};
use ambit_client_core::client::event::ViewEvent;
use ambit_client_core::frame::Frame;
use ambit_client_core::replica::jitter_buffer::RenderTiming;
use ambit_proto::ids::{ClientObjectId, RoomId};
use ambit_proto::keymap::Keymap;
use ambit_proto::schema::Controls as _;
use ambit_proto::space::Position;
use ambit_shooter_kinds::tables::TABLES;
use ambit_shooter_kinds::{Hit, Missile, Ship, ShipControl};
use ambit_transport::impair::Impairment;

use crate::sim::System;

/// Of a screen with 60 Hz.
pub const FRAME: Duration = Duration::from_micros(16_667);
/// The length of a ship, as it is drawn.
const SHIP_M: f32 = 3.0;
/// A hit on the screen and the host's word of it are at most so far apart.
const MAX_APART: Duration = Duration::from_millis(900);
/// How high above the ground one looks.
const EYE_M: f32 = 1.0;
/// How long a player remembers where its own ship was.
const MEMORY: Duration = Duration::from_secs(1);

/// A fight in one room.
pub struct Shooting {
    system: System,
    room: RoomId,
    users: Vec<usize>,
    screens: Vec<Screen>,
    rng: fastrand::Rng,
    now: Duration,
}

/// What a player sees, and what was hit on the screen.
#[derive(Default)]
pub struct Screen {
    frame: Frame,
    /// Where missiles and ships were in the frame before.
    before: Vec<(ClientObjectId, Position)>,
    /// Where the own ship was drawn, the newest last.
    own: VecDeque<(Duration, Position)>,
    hits: Vec<DrawnHit>,
    /// When the host said that a ship was hit.
    said: Vec<(Duration, ClientObjectId)>,
    spent: BTreeSet<ClientObjectId>,
    /// How many events were read.
    events: usize,
    /// Until when the player keeps to what it does.
    decides_at: Duration,
    keys: Vec<ShipControl>,
    /// Hits that the host says this player has made.
    made: usize,
    /// Of each hit that this player took: how long it was behind cover then, and how far it had
    /// come.
    taken: Vec<(Duration, f32)>,
    /// How much later than the own ship the others are, in milliseconds; of all frames.
    age_sum_ms: u64,
    frames: u64,
}

/// A hit on the screen of whoever fired.
#[derive(Clone, Copy, Debug)]
struct DrawnHit {
    at: Duration,
    target: ClientObjectId,
    is_confirmed: bool,
}

/// How fair a fight was.
#[derive(Clone, Debug, Default)]
pub struct Fairness {
    /// Hits on the screens of those who fired, but for those of a ship that somebody else, or
    /// another missile, hit at that time: it is shielded then.
    pub drawn: usize,
    /// Of these, what the host says, too.
    pub confirmed: usize,
    /// All hits that the host says.
    pub host: usize,
    /// How long those who were hit were behind cover on their own screens, in milliseconds; sorted.
    pub behind_ms: Vec<u64>,
    /// How far they had flown since then, in ship lengths; sorted.
    pub behind_ships: Vec<f32>,
    /// How much later than the own ship others are shown, in milliseconds: what whoever comes round
    /// a corner is ahead.
    pub peeker_ms: u64,
}

impl Screen {
    /// The missiles on the screen.
    pub fn missiles(&self) -> impl Iterator<Item = (ClientObjectId, Position)> {
        let missiles = self.frame.objects().filter(|object| object.is::<Missile>());
        missiles.map(|missile| (missile.id(), missile.position()))
    }

    /// The ships of others that can be hit.
    fn targets(&self) -> impl Iterator<Item = (ClientObjectId, Position)> {
        let ships = self.frame.objects().filter(|object| !object.is_own());
        let ships = ships.filter(|ship| ship.get::<Ship>().is_some_and(|view| !view.shielded));
        ships.map(|ship| (ship.id(), ship.position()))
    }

    fn was(&self, id: ClientObjectId) -> Option<Position> {
        self.before.iter().find(|(known, _)| *known == id).map(|(_, at)| *at)
    }

    /// Notes which of the player's missiles have met a ship on the screen since the frame before.
    fn find_hits(&mut self, now: Duration, is_own: impl Fn(ClientObjectId) -> bool) {
        let mut hits = Vec::new();
        for (missile, at) in self.missiles().filter(|(id, _)| is_own(*id)) {
            let Some(from) = self.was(missile) else { continue };
            let meets = |&(target, there): &(ClientObjectId, Position)| {
                let Some(target_from) = self.was(target) else { return false };
                (0..=8).any(|step| {
                    let share = step as f32 / 8.0;
                    let apart = from.lerp(at, share).distance(target_from.lerp(there, share));
                    apart <= TABLES.ship.radius_m
                })
            };
            let met = self.targets().find(meets);
            hits.extend(met.map(|(target, _)| (missile, target)));
        }
        for (missile, target) in hits {
            if self.spent.insert(missile) {
                self.hits.push(DrawnHit { at: now, target, is_confirmed: false });
            }
        }
    }

    /// The host says that this player has hit.
    fn confirm(&mut self, now: Duration, target: Option<ClientObjectId>) {
        self.made += 1;
        let is_it = |hit: &DrawnHit| {
            !hit.is_confirmed && Some(hit.target) == target && now.abs_diff(hit.at) < MAX_APART
        };
        if let Some(hit) = self.hits.iter_mut().find(|hit| is_it(hit)) {
            hit.is_confirmed = true;
        }
    }

    /// Whether the host says that the ship was hit at that time, by something else.
    fn is_contested(&self, hit: &DrawnHit) -> bool {
        let shield = Duration::from_secs_f32(TABLES.ship.shield_s) + MAX_APART / 2;
        let of_it = self.said.iter().filter(|(_, target)| *target == hit.target);
        !hit.is_confirmed && of_it.into_iter().any(|(at, _)| hit.at.abs_diff(*at) < shield)
    }

    fn velocity(&self, id: ClientObjectId, there: Position) -> [f32; 2] {
        let per_s = 1.0 / FRAME.as_secs_f32();
        let from = self.was(id).unwrap_or(there);
        [(there.x - from.x) * per_s, (there.y - from.y) * per_s]
    }
}

impl Shooting {
    /// Players on the same line, in a room with these parameters.
    pub fn new(seed: u64, players: usize, line: &str, parameters: &[(&str, &str)]) -> Self {
        let mut system = System::new(seed, &ambit_game_server::standard());
        let line: Impairment = line.parse().expect("a valid impairment");
        let users: Vec<usize> = (0..players)
            .map(|number| {
                let config = ClientConfig {
                    name: format!("player{number}"),
                    render: RenderTiming::Adaptive,
                    inputs: InputRate::Hz60,
                    ..ClientConfig::default()
                };
                system.add_user_with(config, &line)
            })
            .collect();
        let given = [("ships", "0"), ("goal", "999"), ("minutes", "60")];
        let room = system.start_room(&users, "shooter", &[&given[..], parameters].concat());
        system.run_for(Duration::from_secs(4));
        let screens = (0..players).map(|_| Screen::default()).collect();
        let rng = fastrand::Rng::with_seed(seed);
        Self { system, room, users, screens, rng, now: Duration::ZERO }
    }

    /// What a player sees.
    pub fn screen(&self, player: usize) -> &Screen {
        &self.screens[player]
    }

    /// Sets what a player holds.
    pub fn hold(&mut self, player: usize, keys: &[ShipControl]) {
        let held = keys.iter().fold(Keymap(0), |held, key| held.with(key.index(), true));
        self.system.hold_keys(self.users[player], held);
    }

    /// Runs frame by frame.
    pub fn run_for(&mut self, time: Duration) {
        for _ in 0..time.as_micros().div_ceil(FRAME.as_micros()) {
            self.system.run_for(FRAME);
            self.now += FRAME;
            for player in 0..self.users.len() {
                self.draw(player);
            }
        }
    }

    /// All players fly about and fire at whom they see.
    pub fn fight_for(&mut self, time: Duration) {
        for _ in 0..time.as_micros() / FRAME.as_micros() {
            for player in 0..self.users.len() {
                let keys = self.decide(player);
                self.hold(player, &keys);
            }
            self.run_for(FRAME);
        }
    }

    /// How fair it was so far.
    pub fn fairness(&self) -> Fairness {
        let mut all = Fairness::default();
        let (mut age_ms, mut frames) = (0, 0);
        // The host's word about the newest hits is still on its way.
        let until = self.now.saturating_sub(MAX_APART);
        for screen in &self.screens {
            let old = screen.hits.iter().filter(|hit| hit.at <= until);
            let old = old.filter(|hit| !screen.is_contested(hit));
            all.drawn += old.clone().count();
            all.confirmed += old.filter(|hit| hit.is_confirmed).count();
            all.host += screen.made;
            let behind = screen.taken.iter();
            all.behind_ms.extend(behind.clone().map(|(time, _)| time.as_millis() as u64));
            all.behind_ships.extend(behind.map(|(_, metres)| metres / SHIP_M));
            age_ms += screen.age_sum_ms;
            frames += screen.frames;
        }
        all.behind_ms.sort_unstable();
        all.behind_ships.sort_by(f32::total_cmp);
        all.peeker_ms = age_ms / frames.max(1);
        all
    }

    fn draw(&mut self, player: usize) {
        let user = self.users[player];
        self.system.with_client(user, Client::handle_timeout);
        let now = self.system.local_time(user);
        let mut frame = std::mem::take(&mut self.screens[player].frame);
        self.system.with_client(user, |client, _| frame.update(client, now, now));
        let client = &self.system.user(user).client;
        let screen = &mut self.screens[player];
        screen.frame = frame;
        screen.find_hits(self.now, |id| client.is_own_shot(id));
        let placed = screen.missiles().chain(screen.targets()).collect();
        let own = screen.frame.avatar().map(|avatar| (avatar.id(), avatar.position()));
        if let Some((id, at)) = own {
            screen.own.push_back((self.now, at));
            while screen
                .own
                .front()
                .is_some_and(|(then, _)| self.now.saturating_sub(*then) > MEMORY)
            {
                screen.own.pop_front();
            }
            let drawn = client.drawn(id, now).map(|drawn| drawn.room_time);
            if let Some((own, others)) = drawn.zip(client.shown_time(now)) {
                screen.age_sum_ms += own.since(others).as_millis() as u64;
                screen.frames += 1;
            }
        }
        let world = self.system.room(self.room).expect("the room runs").world();
        let events = &self.system.user(user).events;
        for event in &events[std::mem::replace(&mut screen.events, events.len())..] {
            let ViewEvent::Event(event) = event else { continue };
            let Some(hit) = event.get::<Hit>() else { continue };
            let by = hit.by.and_then(|by| screen.frame.find(by));
            let by = by.map(|ship| (ship.id(), ship.position()));
            let target = screen.frame.find(hit.target).map(|target| target.id());
            let own = own.map(|(id, _)| id);
            screen.said.extend(target.map(|target| (self.now, target)));
            if own.is_some() && by.map(|(id, _)| id) == own {
                screen.confirm(self.now, target);
            } else if own.is_some() && target == own {
                // Since when was there something between it and whoever fired?
                let from = by.map_or(hit.at, |(_, at)| at);
                let eye = |at: Position| Position { z: EYE_M, ..at };
                let covered = |(_, at): &&(Duration, Position)| {
                    world.statics().is_between(eye(*at), eye(from))
                };
                let (since, start) = screen
                    .own
                    .iter()
                    .rev()
                    .take_while(covered)
                    .last()
                    .copied()
                    .unwrap_or((self.now, Position::default()));
                let here = screen.own.back().map_or(start, |(_, at)| *at);
                let flown_m = if since == self.now { 0.0 } else { start.distance(here) };
                screen.taken.push((self.now.saturating_sub(since), flown_m));
            }
        }
        screen.before = placed;
    }

    /// Turns to the nearest ship, fires when the nose points ahead of it, and flies on in curves.
    fn decide(&mut self, player: usize) -> Vec<ShipControl> {
        let screen = &mut self.screens[player];
        if self.now < screen.decides_at {
            return screen.keys.clone();
        }
        let reaction = Duration::from_millis(self.rng.u64(30..120));
        screen.decides_at = self.now + reaction;
        let side = [ShipControl::TurnLeft, ShipControl::TurnRight][usize::from(self.rng.bool())];
        let Some(own) = screen.frame.avatar() else { return Vec::new() };
        let (from, heading) = (own.position(), own.heading());
        let nearest =
            screen.targets().min_by(|a, b| a.1.distance(from).total_cmp(&b.1.distance(from)));
        let mut keys = vec![ShipControl::Accelerate];
        if let Some((id, there)) = nearest {
            let seconds = from.distance(there) / TABLES.missile.speed_m_per_s;
            let [x, y] = screen.velocity(id, there);
            let (x, y) = (there.x + x * seconds - from.x, there.y + y * seconds - from.y);
            let turn = (y.atan2(x) - heading + 9.0 * PI).rem_euclid(TAU) - PI;
            if turn.abs() > 0.06 {
                keys.push(if turn > 0.0 { ShipControl::TurnLeft } else { ShipControl::TurnRight });
            }
            if turn.abs() < 0.15 && from.distance(there) < 70.0 {
                keys.push(ShipControl::Fire);
            }
        } else {
            keys.push(side);
            screen.decides_at += Duration::from_millis(300);
        }
        screen.keys.clone_from(&keys);
        keys
    }
}

impl Fairness {
    /// The value below which a share of all lies; 0 without any.
    pub fn quantile<T: Copy + Default>(sorted: &[T], share: f64) -> T {
        let last = sorted.len().saturating_sub(1) as f64;
        sorted.get((last * share).round() as usize).copied().unwrap_or_default()
    }
}
