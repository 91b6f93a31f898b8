//! Players of the game `shooter` on simulated lines, and how fair their fight is: the hits on the
//! shooter's screen, the hits that the host confirms, and how far behind cover the hit players are.
//!
//! Each player sees a screen of 60 frames a second, and decides by what it shows. The hits on a
//! screen are found on its pictures alone. Deterministic: all chance comes from the seed.
//!
//! Units: simulated time, metres.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::f32::consts::{PI, TAU};
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::config::{ClientConfig, InputRate};
use ambit_client_core::client::event::{GameEvent, ViewEvent};
use ambit_client_core::frame::{Frame, FrameObject};
use ambit_client_core::replica::jitter_buffer::RenderTiming;
use ambit_proto::ids::{ClientObjectId, RoomId};
use ambit_proto::keymap::Keymap;
use ambit_proto::schema::Controls as _;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_room::logic::statics::{Obstacle, ObstacleShape, Statics};
use ambit_shooter_kinds::tables::TABLES;
use ambit_shooter_kinds::{Hit, Missile, Ship, ShipControl};
use ambit_transport::impair::Impairment;

use crate::sim::System;

/// Of a screen with 60 Hz.
pub const FRAME: Duration = Duration::from_micros(16_667);
/// The length of a ship, as it is drawn.
const SHIP_M: f32 = 3.0;
/// The most time between a hit on the screen and the host's message about it.
const MAX_APART: Duration = Duration::from_millis(900);
/// A shield that is no older may belong to the hit that the screen is about to show.
const NEW: Duration = Duration::from_millis(400);
/// Within this distance, the host's missile takes the place of one that was drawn ahead.
const TAKEN_M: f32 = 8.0;
/// A missile that moves less from frame to frame has not left yet: it waits at the nose of a ship,
/// which flies up to 0.4 m, and hits nothing.
const WAITING_M: f32 = 0.45;
/// How high above the ground one looks.
const EYE_M: f32 = 1.0;
/// How long a player stays behind cover, and how long it is out for others, in milliseconds.
const COVERED: Duration = Duration::from_secs(2);
const OUT_MS: std::ops::Range<u64> = 1_500..4_000;
/// Within this distance of the place where it last saw an enemy, a player looks elsewhere, but not
/// at the edge of the map.
const ARRIVED_M: f32 = 12.0;
const EDGE_M: f32 = 15.0;
/// How far behind an asteroid a ship hides.
const BEHIND_M: f32 = 3.0;
/// No ship flies as far from frame to frame: 70 m/s. One that does so twice in a row slides.
const SLIDE_M: f32 = 70.0 / 60.0;
/// Ships with at least this speed have a direction to step back from, in metres a second.
const FLIES_M_PER_S: f32 = 1.0;
/// The clocks by which a picture is drawn run too fast by up to this factor.
const TOO_FAST: f32 = 1.1;
/// Pictures of an unsteady screen are drawn for times this far behind, up to this much later.
const UNSTEADY_BEHIND: Duration = Duration::from_millis(45);
const UNSTEADY: Duration = Duration::from_millis(65);
/// A ship that comes back comes to a place at least this far away.
const JUMP_M: f32 = 10.0;
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
    drawing: Drawing,
    /// Whether pictures are drawn for a time up to 20 ms ahead or 45 ms behind.
    is_unsteady: bool,
}

/// What a player sees, and what was hit on the screen.
#[derive(Default)]
pub struct Screen {
    frame: Frame,
    /// Where missiles and ships were in the frame before.
    before: Vec<(ClientObjectId, Position)>,
    /// Where the own missiles of the frame before are now, if they have flown on.
    flown: Vec<(ClientObjectId, Position)>,
    /// Where the own ship was drawn, the newest last: when, and the room's time of the picture.
    own: VecDeque<(Duration, GameTime, Position)>,
    /// How long each ship that cannot be hit has been so: one with a shield, or a wreck.
    shields: BTreeMap<ClientObjectId, Duration>,
    /// Where ships were in the frame before, and how far they had come to there, in metres.
    ships: Vec<(ClientObjectId, Position, f32)>,
    /// How often a ship was drawn elsewhere all at once.
    jumps: usize,
    /// Where a ship was drawn on a way that none can fly: from and to, in two frames.
    slides: Vec<(Position, Position)>,
    /// How the own ship was drawn from frame to frame, and where and how fast in the last one.
    own_steps: OwnSteps,
    own_before: Option<(GameTime, Position, [f32; 3])>,
    /// Missiles that began at the own ship.
    mine: BTreeSet<ClientObjectId>,
    /// Where each missile was first drawn.
    origins: BTreeMap<ClientObjectId, Position>,
    hits: Vec<DrawnHit>,
    /// When the host said that a ship was hit.
    said: Vec<(Duration, ClientObjectId)>,
    spent: BTreeSet<ClientObjectId>,
    /// How many events were read.
    events: usize,
    /// Until when the player keeps to what it does.
    decides_at: Duration,
    keys: Vec<ShipControl>,
    /// Until when the player is out for others; then it flies behind cover, until they cannot see
    /// it for a while.
    hunts_until: Duration,
    /// Where it last saw an enemy.
    enemy: Option<Position>,
    /// Hits that the host says this player has made.
    made: usize,
    /// Those of them that the screen has not shown yet: the host's word may come before.
    announced: Vec<(Duration, ClientObjectId)>,
    /// Of each hit that this player took: how long it was behind cover when it was hit, and how far
    /// it had come.
    taken: Vec<(Duration, f32)>,
    /// How long it was behind cover when it heard of that.
    told: Vec<Duration>,
    /// How far from the place of the hit its own screen showed it at that time.
    away_m: Vec<f32>,
    /// How much later than the own ship the others are, in milliseconds; of all frames.
    age_sum_ms: u64,
    frames: u64,
}

/// How a player's own ship was drawn from frame to frame, but for where it came back elsewhere.
#[derive(Clone, Debug, Default)]
pub struct OwnSteps {
    /// How many steps there were.
    pub frames: u64,
    /// How often it was drawn elsewhere all at once.
    pub jumps: usize,
    /// How far each step led from the way that the ship could fly in that time, in metres for each
    /// sixtieth of a second; those that one sees.
    pub beyond_m: Vec<f32>,
    /// How far each step led against the ship's direction, in the same way.
    pub back_m: Vec<f32>,
}

impl OwnSteps {
    /// A smaller error is not seen.
    const VISIBLE_M: f32 = 0.05;

    /// A step from one place to another in this time, of a ship with these velocities before and
    /// after it.
    fn add(&mut self, (from, at): (Position, Position), time: Duration, velocities: [[f32; 3]; 2]) {
        let step = [at.x - from.x, at.y - from.y];
        if step[0].hypot(step[1]) > JUMP_M {
            self.jumps += 1;
            return;
        }
        self.frames += 1;
        let speed = |[x, y, _]: [f32; 3]| x.hypot(y);
        let [x, y, _] = velocities
            .into_iter()
            .fold([0.0; 3], |fast, other| if speed(other) > speed(fast) { other } else { fast });
        let own_m = [x, y].map(|axis| axis * time.as_secs_f32() * TOO_FAST);
        let squared = own_m[0] * own_m[0] + own_m[1] * own_m[1];
        let along = step[0] * own_m[0] + step[1] * own_m[1];
        let share = if squared > 0.0 { (along / squared).clamp(0.0, 1.0) } else { 0.0 };
        // In that time it may have turned.
        let turned_rad = TABLES.ship.turn_rad_per_s * time.as_secs_f32();
        let curve_m = squared.sqrt() * turned_rad / 2.0;
        let off_m = (step[0] - own_m[0] * share).hypot(step[1] - own_m[1] * share);
        let flies = speed([x, y, 0.0]) > FLIES_M_PER_S;
        let against_m = if flies { -(step[0] * x + step[1] * y) / x.hypot(y) } else { 0.0 };
        let frames = (time.as_secs_f32() / FRAME.as_secs_f32()).max(1.0);
        let beyond_m = (off_m - curve_m) / frames;
        let back_m = against_m / frames;
        self.beyond_m.extend((beyond_m > Self::VISIBLE_M).then_some(beyond_m));
        self.back_m.extend((back_m > Self::VISIBLE_M).then_some(back_m));
    }

    /// The largest of some errors, in metres.
    pub fn largest_m(errors_m: &[f32]) -> f32 {
        errors_m.iter().copied().fold(0.0, f32::max)
    }
}

/// A hit on the screen of the player who fired.
#[derive(Clone, Debug)]
struct DrawnHit {
    at: Duration,
    /// Ships that overlap are hit alike: which one the host takes, the screen does not show.
    targets: Vec<ClientObjectId>,
    is_confirmed: bool,
}

/// How players see the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// All at the room's time, the own ship too.
    LocalLag,
    /// The own ship and its shots ahead, others as late as their poses come.
    Predicted,
}

/// How fair a fight was.
#[derive(Clone, Debug, Default)]
pub struct Fairness {
    /// Hits on the screens of the players who fired, without hits of a ship that another player or
    /// another missile hit at that time: it is shielded then.
    pub drawn: usize,
    /// Of these, what the host says, too.
    pub confirmed: usize,
    /// All hits that the host says.
    pub host: usize,
    /// How long those who were hit were behind cover on their own screens, at the time for which
    /// the host says that they were hit, in milliseconds; sorted.
    pub behind_ms: Vec<u64>,
    /// The same when the host's word of it arrives.
    pub told_ms: Vec<u64>,
    /// How far from the place of the hit their own screens showed those who were hit, at the time
    /// for which the host says it, in metres from the hull; sorted.
    pub away_m: Vec<f32>,
    /// How far they had flown since then, in ship lengths; sorted.
    pub behind_ships: Vec<f32>,
    /// How much later than the own ship others are shown, in milliseconds: the advantage of a
    /// player who comes round a corner.
    pub peeker_ms: u64,
}

impl Screen {
    /// The missiles on the screen.
    pub fn missiles(&self) -> impl Iterator<Item = (ClientObjectId, Position)> {
        let missiles = self.frame.objects().filter(|object| object.is::<Missile>());
        missiles.map(|missile| (missile.id(), missile.position()))
    }

    /// The ships of others that can be hit. A shield or a wreck is shown at the room's time, and
    /// its ship later: what has just become one may be hit on the screen now.
    fn targets(&self) -> impl Iterator<Item = (ClientObjectId, Position)> {
        let ships = self.frame.objects().filter(|object| !object.is_own() && object.is::<Ship>());
        let ships = ships.filter(|ship| self.shields.get(&ship.id()).is_none_or(|age| *age <= NEW));
        ships.map(|ship| (ship.id(), ship.position()))
    }

    /// How often a ship was drawn elsewhere from one frame to the next, the own and others.
    pub fn jumps(&self) -> usize {
        self.jumps
    }

    /// Where ships were drawn on a way that none can fly: faster than 70 m/s in two frames in a
    /// row.
    pub fn slides(&self) -> &[(Position, Position)] {
        &self.slides
    }

    /// Notes how far ships have come since the frame before.
    fn note_ships(&mut self) {
        let ships = self.frame.objects().filter(|object| object.is::<Ship>());
        let mut drawn = Vec::new();
        for (id, at) in ships.map(|ship| (ship.id(), ship.position())) {
            let before = self.ships.iter().find(|(known, ..)| *known == id);
            let moved_m = before.map_or(0.0, |(_, from, _)| from.distance(at));
            self.jumps += usize::from(moved_m > JUMP_M);
            if let Some((_, from, before_m)) = before
                && moved_m.min(*before_m) > SLIDE_M
            {
                self.slides.push((*from, at));
            }
            drawn.push((id, at, moved_m));
        }
        self.ships = drawn;
    }

    /// How the own ship was drawn.
    pub fn own_steps(&self) -> &OwnSteps {
        &self.own_steps
    }

    /// Notes how far the own ship has come since the frame before.
    fn note_own_step(&mut self) {
        let own = self.frame.time().zip(self.frame.avatar());
        let own = own.map(|(time, own)| (time, own.position(), own.velocity()));
        if let Some(((since, from, before), (time, at, velocity))) = self.own_before.zip(own) {
            self.own_steps.add((from, at), time.since(since), [before, velocity]);
        }
        self.own_before = own;
    }

    /// Without prediction, an own missile is one that begins at the own ship.
    fn note_own_missiles(&mut self) {
        let Some(own) = self.frame.avatar().map(|own| own.position()) else { return };
        let is_new = |id: &ClientObjectId| !self.origins.contains_key(id);
        let missiles = self.missiles().filter(|(id, at)| is_new(id) && at.distance(own) < 5.0);
        let new: Vec<_> = missiles.map(|(id, _)| id).collect();
        self.mine.extend(new);
    }

    /// Notes how long each ship has had a shield, or has been a wreck.
    fn note_shields(&mut self) {
        let is_shielded = |ship: &FrameObject<'_>| {
            ship.get::<Ship>().is_some_and(|view| view.shielded || view.wrecked)
        };
        let shielded = self.frame.objects().filter(is_shielded);
        let age = |id| self.shields.get(&id).map_or(Duration::ZERO, |age| *age + FRAME);
        self.shields = shielded.map(|ship| (ship.id(), age(ship.id()))).collect();
    }

    fn was(&self, id: ClientObjectId) -> Option<Position> {
        self.before.iter().find(|(known, _)| *known == id).map(|(_, at)| *at)
    }

    /// The host's missiles take the places of those that were drawn ahead: on the screen they are
    /// the same.
    fn follow_missiles(&mut self, is_own: impl Fn(ClientObjectId) -> bool) {
        let shown: BTreeMap<_, _> = self.missiles().filter(|(id, _)| is_own(*id)).collect();
        for (&id, at) in &shown {
            if self.was(id).is_some() {
                continue;
            }
            let gone = |(old, _): &(ClientObjectId, Position)| !shown.contains_key(old);
            let near = |(_, flown): &(ClientObjectId, Position)| flown.distance(*at);
            let gone =
                self.flown.iter_mut().filter(|missile| gone(missile) && near(missile) < TAKEN_M);
            let Some(missile) = gone.min_by(|a, b| near(a).total_cmp(&near(b))) else { continue };
            let old = std::mem::replace(&mut missile.0, id);
            if let Some(before) = self.before.iter_mut().find(|(known, _)| *known == old) {
                before.0 = id;
            }
            if self.spent.contains(&old) {
                self.spent.insert(id);
            }
        }
    }

    /// Notes which of the player's missiles have met a ship on the screen since the frame before.
    ///
    /// A missile that has vanished may have done so because it has hit: it counts as if it had
    /// flown on, up to an obstacle.
    fn find_hits(
        &mut self,
        now: Duration,
        statics: &Statics,
        is_own: impl Fn(ClientObjectId) -> bool,
    ) {
        self.follow_missiles(&is_own);
        let mut hits = Vec::new();
        for &(missile, flown) in &self.flown {
            let Some(from) = self.was(missile) else { continue };
            let shown = self.missiles().find(|(id, _)| *id == missile);
            let at = shown.map_or_else(|| first_stop(statics, from, flown), |(_, at)| at);
            if from.distance(at) < WAITING_M {
                continue;
            }
            let meets = |&(target, there): &(ClientObjectId, Position)| {
                // What has jumped has met nothing on its way.
                let is_near = |from: &Position| from.distance(there) <= JUMP_M;
                let Some(target_from) = self.was(target).filter(is_near) else { return false };
                (0..=8).any(|step| {
                    let share = step as f32 / 8.0;
                    let apart = from.lerp(at, share).distance(target_from.lerp(there, share));
                    apart <= TABLES.ship.radius_m
                })
            };
            let met: Vec<_> = self.targets().filter(meets).map(|(target, _)| target).collect();
            hits.extend((!met.is_empty()).then_some((missile, met)));
        }
        for (missile, targets) in hits {
            if self.spent.insert(missile) {
                let is_it = |(at, announced): &(Duration, ClientObjectId)| {
                    targets.contains(announced) && now.abs_diff(*at) < MAX_APART
                };
                let word = self.announced.iter().position(is_it);
                word.map(|word| self.announced.remove(word));
                self.hits.push(DrawnHit { at: now, targets, is_confirmed: word.is_some() });
            }
        }
        // It is slower on the screen near others, and ends at a time of the host's.
        let frame_m = TABLES.missile.speed_m_per_s * FRAME.as_secs_f32();
        let on = |(id, at): (ClientObjectId, Position)| {
            let from = self.was(id).unwrap_or(at);
            let moved_m = from.distance(at);
            (id, if moved_m > 0.0 { from.lerp(at, 1.0 + frame_m / moved_m) } else { at })
        };
        self.flown = self.missiles().filter(|(id, _)| is_own(*id)).map(on).collect();
    }

    /// The host says that this player has hit.
    fn confirm(&mut self, now: Duration, target: Option<ClientObjectId>) {
        self.made += 1;
        let is_it = |hit: &DrawnHit| {
            let is_there = target.is_some_and(|target| hit.targets.contains(&target));
            !hit.is_confirmed && is_there && now.abs_diff(hit.at) < MAX_APART
        };
        match self.hits.iter_mut().find(|hit| is_it(hit)) {
            Some(hit) => hit.is_confirmed = true,
            None => self.announced.extend(target.map(|target| (now, target))),
        }
    }

    /// Where the own ship was on the picture of this time.
    fn own_at(&self, time: GameTime) -> Option<Position> {
        let picture = self.own.iter().rev().find(|(_, drawn, _)| *drawn <= time);
        picture.map(|(_, _, at)| *at)
    }

    /// For how long the own ship was behind cover on the picture of this time, or on the newest
    /// one, and how far it had come since.
    fn behind_cover(
        &self,
        time: Option<GameTime>,
        is_covered: impl Fn(Position) -> bool,
    ) -> (Duration, f32) {
        let pictures = self.own.iter().rev();
        let pictures = pictures.filter(|(_, drawn, _)| time.is_none_or(|time| *drawn <= time));
        let mut pictures = pictures.peekable();
        let Some(&&(last, _, here)) = pictures.peek() else { return Default::default() };
        let since = pictures.take_while(|(_, _, at)| is_covered(*at)).last();
        since.map_or_else(Default::default, |(then, _, at)| {
            (last.saturating_sub(*then), at.distance(here))
        })
    }

    /// Whether the host says that the ship was hit at that time, by something else.
    fn is_contested(&self, hit: &DrawnHit) -> bool {
        let shielded_s = TABLES.ship.back_after_s + TABLES.ship.shield_s;
        let shield = Duration::from_secs_f32(shielded_s) + MAX_APART / 2;
        let of_it = self.said.iter().filter(|(_, target)| hit.targets.contains(target));
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
        Self::with(seed, players, line, parameters, Drawing::Predicted)
    }

    /// As [`Shooting::new`], with another way to draw.
    pub fn with(
        seed: u64,
        players: usize,
        line: &str,
        parameters: &[(&str, &str)],
        drawing: Drawing,
    ) -> Self {
        let mut system = System::new(seed, &ambit_game_server::standard());
        let line: Impairment = line.parse().expect("a valid impairment");
        let users: Vec<usize> = (0..players)
            .map(|number| {
                let config = ClientConfig {
                    name: format!("player{number}"),
                    render: match drawing {
                        Drawing::Predicted => RenderTiming::Adaptive,
                        Drawing::LocalLag => RenderTiming::RoomTime,
                    },
                    predict: (drawing == Drawing::LocalLag).then_some(false),
                    inputs: InputRate::Hz60,
                    ..ClientConfig::default()
                };
                system.add_user_with(config, &line)
            })
            .collect();
        let given = [("ships", "0"), ("goal", "999"), ("minutes", "60")];
        let room = system.start_room(&users, "shooter", &[&given[..], parameters].concat());
        // A shield lasts until its player presses a key; this one leaves a ship at rest as it is.
        for keys in [Keymap(0).with(ShipControl::Brake.index(), true), Keymap(0)] {
            for &user in &users {
                system.hold_keys(user, keys);
            }
            system.run_for(Duration::from_millis(200));
        }
        system.run_for(Duration::from_millis(3_600));
        let screens = (0..players).map(|_| Screen::default()).collect();
        let rng = fastrand::Rng::with_seed(seed);
        let now = Duration::ZERO;
        let is_unsteady = false;
        Self { system, room, users, screens, rng, now, drawing, is_unsteady }
    }

    /// From now on pictures are drawn for a time up to 20 ms ahead or 45 ms behind, as in a browser
    /// whose worker draws for the next frame of a page, or is busy.
    #[must_use]
    pub fn unsteady(self) -> Self {
        Self { is_unsteady: true, ..self }
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

    /// How fair the fight has been since the start.
    pub fn fairness(&self) -> Fairness {
        let mut all = Fairness::default();
        let mut age_ms = 0;
        let mut frames = 0;
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
            all.away_m.extend(&screen.away_m);
            all.told_ms.extend(screen.told.iter().map(|time| time.as_millis() as u64));
            all.behind_ships.extend(behind.map(|(_, metres)| metres / SHIP_M));
            age_ms += screen.age_sum_ms;
            frames += screen.frames;
        }
        all.behind_ms.sort_unstable();
        all.told_ms.sort_unstable();
        all.away_m.sort_by(f32::total_cmp);
        all.behind_ships.sort_by(f32::total_cmp);
        all.peeker_ms = age_ms / frames.max(1);
        all
    }

    fn draw(&mut self, player: usize) {
        let user = self.users[player];
        self.system.with_client(user, Client::handle_timeout);
        let now = self.system.local_time(user);
        let mut frame = std::mem::take(&mut self.screens[player].frame);
        let at = if self.is_unsteady {
            now.saturating_sub(UNSTEADY_BEHIND)
                + Duration::from_micros(self.rng.u64(..UNSTEADY.as_micros() as u64))
        } else {
            now
        };
        self.system.with_client(user, |client, _| frame.update(client, now, at));
        let client = &self.system.user(user).client;
        let screen = &mut self.screens[player];
        screen.frame = frame;
        screen.note_shields();
        screen.note_ships();
        screen.note_own_step();
        if self.drawing == Drawing::LocalLag {
            screen.note_own_missiles();
        }
        let mine = std::mem::take(&mut screen.mine);
        let world = self.system.room(self.room).expect("the room runs").world();
        let is_own = |id| client.is_own_shot(id) || mine.contains(&id);
        screen.find_hits(self.now, world.statics(), is_own);
        screen.mine = mine;
        let placed = screen.missiles().chain(screen.targets()).collect();
        let own = screen.frame.avatar().map(|avatar| (avatar.id(), avatar.position()));
        if let Some((id, at)) = own {
            let drawn = client.drawn(id, now).map(|drawn| drawn.room_time);
            screen.own.push_back((self.now, drawn.unwrap_or_default(), at));
            let is_old = |(then, ..): &(Duration, GameTime, Position)| {
                self.now.saturating_sub(*then) > MEMORY
            };
            while screen.own.front().is_some_and(is_old) {
                screen.own.pop_front();
            }
            if let Some((own, others)) = drawn.zip(client.shown_time(now)) {
                screen.age_sum_ms += own.since(others).as_millis() as u64;
                screen.frames += 1;
            }
        }
        let events = &self.system.user(user).events;
        for event in &events[std::mem::replace(&mut screen.events, events.len())..] {
            let ViewEvent::Game(GameEvent::Event(event)) = event else { continue };
            let Some(hit) = event.get::<Hit>() else { continue };
            let by = hit.by.and_then(|by| screen.frame.find(by));
            let by = by.map(|ship| (ship.id(), ship.position()));
            let target = screen.frame.find(hit.target).map(|target| target.id());
            let own = own.map(|(id, _)| id);
            screen.said.extend(target.map(|target| (self.now, target)));
            if own.is_some() && by.map(|(id, _)| id) == own {
                screen.confirm(self.now, target);
            } else if own.is_some() && target == own {
                // Since when was there something between it and where the missile came from?
                let near = |(_, at): &(ClientObjectId, Position)| at.distance(hit.at);
                let missiles =
                    screen.before.iter().filter(|(id, _)| screen.origins.contains_key(id));
                let missile = missiles.min_by(|a, b| near(a).total_cmp(&near(b)));
                let origin = missile.and_then(|(id, _)| screen.origins.get(id)).copied();
                let from = origin.or(by.map(|(_, at)| at)).unwrap_or(hit.at);
                let eye = |at: Position| Position { z: EYE_M, ..at };
                // Where the missile came, there was no cover.
                let reach_m = TABLES.ship.radius_m + 0.5;
                let is_covered = |at: Position| {
                    at.distance(hit.at) > reach_m && world.statics().is_between(eye(at), eye(from))
                };
                let away_m = screen.own_at(event.effect).map(|at| at.distance(hit.at));
                screen.away_m.extend(away_m.map(|m| (m - TABLES.ship.radius_m).max(0.0)));
                screen.taken.push(screen.behind_cover(Some(event.effect), is_covered));
                screen.told.push(screen.behind_cover(None, is_covered).0);
            }
        }
        let missiles: Vec<_> = screen.missiles().collect();
        screen.origins.retain(|id, _| missiles.iter().any(|(missile, _)| missile == id));
        for (id, at) in missiles {
            screen.origins.entry(id).or_insert(at);
        }
        screen.before = placed;
    }

    /// Hunts others for a while: turns to the nearest ship, and fires when the nose points ahead of
    /// it. Then flies back behind the nearest asteroid, out of the others' sight.
    fn decide(&mut self, player: usize) -> Vec<ShipControl> {
        let screen = &self.screens[player];
        if self.now < screen.decides_at {
            return screen.keys.clone();
        }
        let Some(own) = screen.frame.avatar() else { return Vec::new() };
        let from = own.position();
        let heading = own.heading();
        let speed = own.velocity()[0].hypot(own.velocity()[1]);
        let nearest = screen
            .targets()
            .min_by(|a, b| a.1.distance(from).total_cmp(&b.1.distance(from)))
            .map(|(id, there)| (there, screen.velocity(id, there)));
        let known = nearest.map(|(there, _)| there).or(screen.enemy);
        let gone = |there: &Position| nearest.is_none() && from.distance(*there) < ARRIVED_M;
        let enemy = known.filter(|there| !gone(there)).or_else(|| self.random_place(player));
        let screen = &self.screens[player];
        let turn_to = |at: Position| {
            let turn = (at.y - from.y).atan2(at.x - from.x) - heading;
            (turn + 9.0 * PI).rem_euclid(TAU) - PI
        };
        let mut keys = Vec::new();
        let is_out = self.now < screen.hunts_until;
        let cover = enemy.filter(|_| !is_out).and_then(|enemy| self.cover_from(from, enemy));
        let turn = if let Some(cover) = cover {
            let turn = turn_to(cover);
            let left_m = from.distance(cover);
            if left_m < 6.0 && speed > 3.0 {
                keys.push(ShipControl::Brake);
            } else if left_m >= 6.0 && turn.abs() < 1.0 {
                keys.push(ShipControl::Accelerate);
            }
            turn
        } else if let Some((there, [x, y])) = nearest {
            let seconds = from.distance(there) / TABLES.missile.speed_m_per_s;
            let turn =
                turn_to(Position::new(there.x + x * seconds, there.y + y * seconds, there.z));
            if turn.abs() < 0.15 && from.distance(there) < 70.0 {
                keys.push(ShipControl::Fire);
            }
            keys.push(ShipControl::Accelerate);
            turn
        } else {
            // It looks round now and then.
            let looks_round = self.now.as_secs() % 4 < 2;
            keys.push(if looks_round { ShipControl::Brake } else { ShipControl::Accelerate });
            enemy.filter(|_| !looks_round).map_or(1.0, turn_to)
        };
        if turn.abs() > 0.06 {
            keys.push(if turn > 0.0 { ShipControl::TurnLeft } else { ShipControl::TurnRight });
        }
        let screen = &mut self.screens[player];
        screen.decides_at = self.now + Duration::from_millis(self.rng.u64(30..120));
        if self.now > screen.hunts_until + COVERED {
            screen.hunts_until = self.now + Duration::from_millis(self.rng.u64(OUT_MS));
        }
        screen.enemy = enemy;
        screen.keys.clone_from(&keys);
        keys
    }

    /// Where to look for others, if none is in sight.
    fn random_place(&mut self, player: usize) -> Option<Position> {
        let map = self.system.user(self.users[player]).client.rules()?.map;
        let mut place = |metres: f32| EDGE_M + self.rng.f32() * (metres - 2.0 * EDGE_M);
        Some(Position::on_ground(place(map.width_m), place(map.height_m)))
    }

    /// The place behind the nearest asteroid, as seen by an enemy.
    fn cover_from(&self, own: Position, enemy: Position) -> Option<Position> {
        let statics = self.system.room(self.room)?.world().statics();
        let round = statics.obstacles().iter().filter_map(|obstacle| match obstacle.shape {
            ObstacleShape::Cylinder { radius, .. } => Some((obstacle, radius)),
            ObstacleShape::Box { .. } => None,
        });
        let from = |obstacle: &Obstacle| obstacle.ground_distance(own);
        let (near, radius_m) = round.min_by(|(a, _), (b, _)| from(a).total_cmp(&from(b)))?;
        let centre = near.centre;
        let (x, y) = (centre.x - enemy.x, centre.y - enemy.y);
        let metres = x.hypot(y).max(0.1);
        let behind = (radius_m + BEHIND_M) / metres;
        Some(Position::on_ground(centre.x + x * behind, centre.y + y * behind))
    }
}

/// Where a missile stops on its way: at its end, or at an obstacle before it.
fn first_stop(statics: &Statics, from: Position, to: Position) -> Position {
    let raised = Position { z: from.z + EYE_M, ..from };
    let way = Position::new(to.x - from.x, to.y - from.y, to.z - from.z);
    let way_m = from.distance(to);
    statics.cast_ray(raised, way, way_m).map_or(to, |free_m| from.lerp(to, free_m / way_m))
}

impl Fairness {
    /// Several fights together.
    pub fn of_all<'f>(fights: impl Iterator<Item = &'f Self>) -> Self {
        let mut all = Self::default();
        let mut count = 0;
        for fight in fights {
            all.drawn += fight.drawn;
            all.confirmed += fight.confirmed;
            all.host += fight.host;
            all.behind_ms.extend(&fight.behind_ms);
            all.told_ms.extend(&fight.told_ms);
            all.away_m.extend(&fight.away_m);
            all.behind_ships.extend(&fight.behind_ships);
            all.peeker_ms += fight.peeker_ms;
            count += 1;
        }
        all.peeker_ms /= count.max(1);
        all.behind_ms.sort_unstable();
        all.told_ms.sort_unstable();
        all.away_m.sort_by(f32::total_cmp);
        all.behind_ships.sort_by(f32::total_cmp);
        all
    }

    /// How many of those who were hit saw themselves more than a ship's length away.
    pub fn hit_elsewhere(&self) -> usize {
        self.away_m.iter().filter(|metres| **metres > SHIP_M).count()
    }

    /// How many of those who were hit were behind cover for longer than a frame.
    pub fn behind_cover(&self) -> usize {
        self.behind_ms.iter().filter(|ms| u128::from(**ms) > FRAME.as_millis()).count()
    }

    /// The value below which a share of all lies; 0 without any.
    pub fn quantile<T: Copy + Default>(sorted: &[T], share: f64) -> T {
        let last = sorted.len().saturating_sub(1) as f64;
        sorted.get((last * share).round() as usize).copied().unwrap_or_default()
    }
}
