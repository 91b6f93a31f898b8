//! A room: the logic (a game and its world) and the network, in step.
//!
//! `tick(now, inputs, outputs)` is all there is: the same configuration, seed and inputs give the same outputs, bit by
//! bit. No clock, socket, thread or lock; a shell that catches a panic just drops the room.
//!
//! The logic lives at the **horizon**, `now + delay`: what is commanded takes effect there, and what is decided there is
//! final, since nothing that arrives later can reach back. So clients hear of most things `delay` before they show them
//! (local lag; reference 003, section 3.6). That sum stands here and nowhere else.
//!
//! Invariants:
//! 1. A player has one avatar, from the join until `PlayerOut` or `Remove`; connections come and go.
//! 2. A player has one connection at most; a newer one supersedes the older.
//! 3. Whoever is not back within the grace period is out.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{ClientId, ObjectId, PlayerId};
use ambit_proto::keymap::Keymap;
use ambit_proto::message::{Action, Command, Effect};
use ambit_proto::time::GameTime;
use bytes::Bytes;

use crate::config::RoomConfig;
use crate::logic::game::{Game, Refusal};
use crate::logic::world::{Change, Taken, TraceLine, World};
use crate::network::hearing::Heard;
use crate::network::{Arrival, Eyes, Moment, Network};
use crate::stats::RoomStats;

/// What a room is told at a tick.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A player with a good ticket has come, for the first time or again.
    Join {
        /// The new connection.
        client: ClientId,
        /// Who comes.
        player: PlayerId,
        /// The player's name.
        name: String,
    },
    /// A connection broke; the avatar waits for the grace period.
    Lost {
        /// The connection that is gone.
        client: ClientId,
    },
    /// A player has left for good.
    Remove {
        /// Who.
        player: PlayerId,
    },
    /// A player has another name.
    Rename {
        /// Who.
        player: PlayerId,
        /// The new name.
        name: String,
    },
    /// A client, or all of them, may be sent more or less from now on.
    Budget {
        /// Whom; all, those to come included, if none.
        client: Option<ClientId>,
        /// At most.
        bytes_per_s: u32,
    },
    /// A datagram.
    Datagram {
        /// From whom.
        client: ClientId,
        /// The room's time when it arrived; may be later than the time for which the tick is, when that runs late.
        at: GameTime,
        /// What.
        bytes: Bytes,
    },
}

/// What a room wants done after a tick.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send this now, or never.
    Datagram {
        /// To whom.
        client: ClientId,
        /// What; at most `message::MAX_DATAGRAM` bytes.
        bytes: Bytes,
    },
    /// The client's player has another connection: close this one.
    Superseded {
        /// The older connection.
        client: ClientId,
    },
    /// A client has confirmed nothing for too long, and counts as lost: close its connection.
    Deaf {
        /// The connection.
        client: ClientId,
    },
    /// A player did not come back within the grace period and is out.
    PlayerOut {
        /// Who.
        player: PlayerId,
        /// Why.
        reason: ErrorCode,
    },
    /// The game is over.
    Finished,
}

struct Seat {
    avatar: ObjectId,
    name: String,
    presence: Presence,
}

#[derive(Clone, Copy, PartialEq)]
enum Presence {
    Here(ClientId),
    /// Since when the connection is gone.
    Away(GameTime),
}

/// See the module.
pub struct Room {
    config: RoomConfig,
    game: Box<dyn Game>,
    world: World,
    network: Network,
    seats: BTreeMap<PlayerId, Seat>,
    players: BTreeMap<ClientId, PlayerId>,
    /// Names that players took since the room began; perhaps of some who are not in yet. One for each member at most.
    names: BTreeMap<PlayerId, String>,
    /// Who joined at this tick and sees nothing yet.
    arrivals: Vec<Arrival>,
    changes: Vec<Change>,
    heard: Vec<Heard>,
    taken: Vec<Taken>,
    trace: Vec<TraceLine>,
    stats: RoomStats,
    /// Bytes sent when the present second began.
    bytes_before: u64,
    last: Option<GameTime>,
}

impl Room {
    /// A room with nobody in it; its first tick starts the game.
    pub fn new(config: RoomConfig, game: Box<dyn Game>) -> Self {
        let schema = game.schema();
        Room {
            world: World::new(&config, schema.clone()),
            network: Network::new(&config, schema),
            config,
            game,
            seats: BTreeMap::new(),
            players: BTreeMap::new(),
            names: BTreeMap::new(),
            arrivals: Vec::new(),
            changes: Vec::new(),
            heard: Vec::new(),
            taken: Vec::new(),
            trace: Vec::new(),
            stats: RoomStats::default(),
            bytes_before: 0,
            last: None,
        }
    }

    /// Moves the room on to `now`, which is later than at the last tick. Empties `inputs` and appends to `outputs`.
    pub fn tick(&mut self, now: GameTime, inputs: &mut Vec<Input>, outputs: &mut Vec<Output>) {
        // Whole milliseconds: that is what the wire carries, and both ends are to hold the same.
        let moment = Moment { now, horizon: (now + self.config.delay).whole_millis() };
        self.trace.clear();
        self.world.begin_tick(moment.horizon);
        if self.last.is_none() {
            self.game.start(&mut self.world);
        }
        for input in inputs.drain(..) {
            self.handle(now, input, outputs);
        }
        self.drop_deaf(now, outputs);
        self.expire(now, outputs);
        self.take_inputs(moment);
        self.game.step(&mut self.world, now.since(self.last.unwrap_or(now)));
        self.last = Some(now);
        self.world.finish_tick();
        self.publish(moment);
        self.network
            .send(now, &self.world, &mut self.stats, |client, bytes| outputs.push(Output::Datagram { client, bytes }));
        if self.game.finished() {
            outputs.push(Output::Finished);
        }
        self.count(now);
    }

    /// The configuration that the room was made with.
    pub fn config(&self) -> &RoomConfig {
        &self.config
    }

    /// Counters since the room began.
    pub fn stats(&self) -> &RoomStats {
        &self.stats
    }

    /// What really happened at the last tick; empty unless the configuration asks for it.
    pub fn trace(&self) -> &[TraceLine] {
        &self.trace
    }

    /// The ground truth, for checks from outside.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Who is told what, for checks from outside.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The rules, for checks from outside.
    pub fn game(&self) -> &dyn Game {
        &*self.game
    }

    /// The avatar of a player.
    pub fn avatar(&self, player: PlayerId) -> Option<ObjectId> {
        self.seats.get(&player).map(|seat| seat.avatar)
    }

    fn handle(&mut self, now: GameTime, input: Input, outputs: &mut Vec<Output>) {
        match input {
            Input::Join { client, player, name } => self.join(now, client, player, name, outputs),
            Input::Lost { client } => self.lose(now, client),
            Input::Remove { player } => self.remove(player),
            Input::Rename { player, name } => {
                self.rename(player, &name);
                self.names.insert(player, name);
            }
            Input::Budget { client: None, bytes_per_s } => self.network.set_budget(now, None, bytes_per_s),
            Input::Budget { client: Some(client), bytes_per_s } => self.network.set_budget_of(now, client, bytes_per_s),
            Input::Datagram { client, at, bytes } => self.hear(now, client, at, &bytes),
        }
    }

    fn join(&mut self, now: GameTime, client: ClientId, player: PlayerId, name: String, outputs: &mut Vec<Output>) {
        // The ticket may have been made before the player took another name.
        let name = self.names.get(&player).cloned().unwrap_or(name);
        let avatar = if self.seats.contains_key(&player) {
            self.supersede(player, outputs);
            self.rename(player, &name);
            self.seats[&player].avatar
        } else {
            self.seat(player, &name)
        };
        self.seats.insert(player, Seat { avatar, name, presence: Presence::Here(client) });
        self.players.insert(client, player);
        let arrival = Arrival { client, player, avatar };
        self.network.admit(now, arrival, &self.world);
        self.arrivals.push(arrival);
    }

    /// Makes an avatar for a player who comes for the first time.
    fn seat(&mut self, player: PlayerId, name: &str) -> ObjectId {
        let avatar = self.game.join(&mut self.world, player, name);
        self.world.set_owner(avatar, player);
        self.world.trace_join(player, avatar, name);
        avatar
    }

    /// Gives up the older connection of a player who has another one.
    fn supersede(&mut self, player: PlayerId, outputs: &mut Vec<Output>) {
        if let Presence::Here(client) = self.seats[&player].presence {
            self.disconnect(client);
            self.world.let_go(player);
            outputs.push(Output::Superseded { client });
        }
    }

    fn lose(&mut self, now: GameTime, client: ClientId) {
        let Some(&player) = self.players.get(&client) else { return };
        self.disconnect(client);
        let seat = self.seats.get_mut(&player).expect("a connected player has a seat");
        seat.presence = Presence::Away(now);
        self.world.let_go(player);
    }

    fn remove(&mut self, player: PlayerId) {
        self.names.remove(&player);
        let Some(seat) = self.seats.remove(&player) else { return };
        if let Presence::Here(client) = seat.presence {
            self.disconnect(client);
        }
        self.world.trace_leave(player, seat.avatar);
        self.game.leave(&mut self.world, player);
        self.world.forget_controls(player);
    }

    fn rename(&mut self, player: PlayerId, name: &str) {
        let Some(seat) = self.seats.get_mut(&player).filter(|seat| seat.name != name) else { return };
        name.clone_into(&mut seat.name);
        self.game.rename(&mut self.world, player, name);
    }

    fn disconnect(&mut self, client: ClientId) {
        self.players.remove(&client);
        self.arrivals.retain(|arrival| arrival.client != client);
        self.network.remove_viewer(client);
    }

    fn hear(&mut self, now: GameTime, client: ClientId, at: GameTime, bytes: &[u8]) {
        let Some(&player) = self.players.get(&client) else { return };
        self.stats.datagrams_in += 1;
        self.stats.bytes_in += bytes.len() as u64;
        let mut heard = std::mem::take(&mut self.heard);
        if self.network.handle_datagram(client, at, bytes, &mut heard).is_err() {
            self.stats.malformed += 1;
        }
        for item in heard.drain(..) {
            match item {
                Heard::Command(command) => self.command(now, client, player, &command),
                Heard::OverRate(number) => {
                    self.stats.commands_over_rate += 1;
                    if let Some(number) = number {
                        self.refuse(now, client, number, ErrorCode::RateLimited);
                    }
                }
                Heard::Outdated => self.stats.commands_outdated += 1,
                Heard::Malformed(_) => self.stats.malformed += 1,
                Heard::Input(input) => {
                    self.stats.inputs += 1;
                    input.samples(at).for_each(|sample| self.world.hear(at, player, sample));
                }
                Heard::LostTrack => self.stats.lost_tracks += 1,
            }
        }
        self.heard = heard;
    }

    fn command(&mut self, now: GameTime, client: ClientId, player: PlayerId, command: &Command) {
        let done = match command.action {
            // Not the game's business: it learns what is pressed.
            Action::Keys(keys) => {
                self.world.hold(player, Keymap(keys));
                Ok(())
            }
            _ => self.game.command(&mut self.world, player, &command.action),
        };
        match done {
            Ok(()) => self.stats.commands += 1,
            Err(Refusal(code)) => {
                self.stats.refused += 1;
                self.refuse(now, client, command.number, code);
            }
        }
    }

    /// Lets the game know what the players press at this tick, and the players what has come to count.
    fn take_inputs(&mut self, moment: Moment) {
        let mut taken = std::mem::take(&mut self.taken);
        self.world.take_inputs(&mut taken);
        for Taken { player, until, changed } in taken.drain(..) {
            let Some(seat) = self.seats.get(&player) else { continue };
            if let (Some(at), Presence::Here(client)) = (until, seat.presence) {
                self.network.note_effect(client, Effect { at, effect: moment.horizon });
            }
            if changed {
                let pressed = self.world.strokes(player).pressed();
                self.game.input(&mut self.world, player, pressed);
            }
        }
        self.taken = taken;
    }

    fn refuse(&mut self, now: GameTime, client: ClientId, command: u32, code: ErrorCode) {
        self.network.refuse(now, client, command, code as u16, &mut self.stats);
    }

    fn drop_deaf(&mut self, now: GameTime, outputs: &mut Vec<Output>) {
        let deaf: Vec<ClientId> = self.network.deaf(now).collect();
        for client in deaf {
            self.lose(now, client);
            outputs.push(Output::Deaf { client });
        }
    }

    fn expire(&mut self, now: GameTime, outputs: &mut Vec<Output>) {
        let grace: Duration = self.config.grace;
        let over = |seat: &Seat| matches!(seat.presence, Presence::Away(since) if now.since(since) >= grace);
        while let Some((&player, _)) = self.seats.iter().find(|(_, seat)| over(seat)) {
            self.remove(player);
            outputs.push(Output::PlayerOut { player, reason: ErrorCode::Idle });
        }
    }

    /// Lets the network know what has changed, and the newcomers see.
    fn publish(&mut self, moment: Moment) {
        self.world.drain_changes(&mut self.changes);
        let eyes = Eyes { game: &*self.game, world: &self.world };
        self.network.apply(moment, &self.changes, &self.arrivals, &eyes, &mut self.stats);
        self.arrivals.clear();
        self.changes.clear();
        self.world.drain_trace(&mut self.trace);
    }

    fn count(&mut self, now: GameTime) {
        if self.stats.ticks.is_multiple_of(u64::from(self.config.tick_hz)) {
            let shares = self.network.viewers().filter_map(|viewer| viewer.amplification(now));
            self.stats.amplification_permille = (shares.fold(0.0, f64::max) * 1_000.0) as u32;
            let sent = (self.stats.bytes_out - self.bytes_before) * 1_000;
            self.stats.budget_use_permille = sent.checked_div(self.network.budgets()).unwrap_or(0) as u32;
            self.bytes_before = self.stats.bytes_out;
        }
        self.stats.ticks += 1;
        self.stats.players = self.seats.len() as u32;
        self.stats.clients = self.players.len() as u32;
        self.stats.objects = self.world.len() as u32;
    }
}

#[cfg(test)]
mod tests;
