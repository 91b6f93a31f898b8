//! A room: the logic (a game and its world) and the network, in step.
//!
//! `tick(now, inputs, outputs)` is all there is: the same configuration, seed and inputs give the
//! same outputs, bit by bit. No clock, socket, thread or lock; a shell that catches a panic just
//! drops the room.
//!
//! The logic lives at the **horizon**, `now + delay`: what is commanded takes effect there, and
//! what is decided there is final, since nothing that arrives later can reach back. So clients hear
//! of most things `delay` before they show them (local lag; reference 003, section 3.6). That sum
//! stands here and nowhere else.
//!
//! Invariants:
//! 1. A player has one avatar, from the join until `PlayerOut` or `Remove`; connections come and
//!    go.
//! 2. A player has one connection at most; a newer one supersedes the older.
//! 3. Whoever is not back within the grace period is out.

mod crossing;
mod gates;

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{ClientId, ObjectId, PlayerId};
use ambit_proto::keymap::KeySample;
use ambit_proto::message::{Action, Command, EffectTime};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use self::crossing::Arriving;
use self::gates::Gates;
use crate::config::RoomConfig;
use crate::logic::executed_commands::ExecutedCommands;
use crate::logic::game::{Game, Refusal};
use crate::logic::world::{AppliedInputs, TraceLine, World, WorldChange};
use crate::network::command_filter::UplinkEvent;
use crate::network::loads::LoadMap;
use crate::network::{GameVisibility, JoiningClient, Network, TickTimes};
use crate::saved::{self, BadState};
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
    /// A player at a gate may go to another map.
    LetGo {
        /// Who.
        player: PlayerId,
        /// Of the transfer.
        number: u64,
    },
    /// A player at a gate may not go to another map.
    Stay {
        /// Who.
        player: PlayerId,
    },
    /// A player comes from another map; the client follows.
    Admit {
        /// Who.
        player: PlayerId,
        /// Of the transfer.
        number: u64,
        /// The player's name.
        name: String,
        /// Where to.
        at: Position,
        /// What the avatar brings along.
        carried: Vec<u8>,
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
        /// The room's time when it arrived; may be later than the time for which the tick is, when
        /// that runs late.
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
    /// A player's avatar is in a gate to another map; the player wishes to go.
    AtGate {
        /// Who.
        player: PlayerId,
        /// Where to.
        map: u32,
        /// Where on that map.
        at: Position,
        /// Where the avatar is.
        from: Position,
    },
    /// The answer to [`Input::Released`]. To be told after what the tick has taken.
    Departed {
        /// Who.
        player: PlayerId,
        /// Of the transfer.
        number: u64,
        /// What the avatar takes along; nothing if the player stays.
        carried: Option<Vec<u8>>,
    },
    /// The answer to [`Input::Admit`]. To be told after what the tick has taken.
    Arrived {
        /// Who.
        player: PlayerId,
        /// Of the transfer.
        number: u64,
    },
    /// The client's player has gone to another map: the client leaves by itself when it knows where
    /// to.
    Elsewhere {
        /// The connection.
        client: ClientId,
    },
    /// The game is over.
    Finished,
}

/// What a tick has taken of its inputs: what the world and the game were told, whoever brought it.
/// The same in the same ticks gives the same world; so these, and what [`Room::save`] says, are all
/// that another process needs to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Accepted {
    /// A player has come, for the first time or again.
    Join {
        /// Who.
        player: PlayerId,
        /// The player's name.
        name: String,
    },
    /// A player's connection is gone.
    Lost {
        /// Who.
        player: PlayerId,
    },
    /// A player is out for good.
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
    /// A player wants something; perhaps the game refuses it.
    Command {
        /// Who.
        player: PlayerId,
        /// The client's number for it.
        number: u32,
        /// What.
        action: Action,
    },
    /// A player at a gate may go.
    LetGo {
        /// Who.
        player: PlayerId,
        /// Of the transfer.
        number: u64,
    },
    /// A player at a gate may not go.
    Stay {
        /// Who.
        player: PlayerId,
    },
    /// A player comes from another map.
    Admit {
        /// Who.
        player: PlayerId,
        /// Of the transfer.
        number: u64,
        /// The player's name.
        name: String,
        /// Where to.
        at: Position,
        /// What the avatar brings along.
        carried: Vec<u8>,
    },
    /// A sample of a player's controls.
    Sample {
        /// Who.
        player: PlayerId,
        /// The room's time when it arrived.
        at: GameTime,
        /// What was held.
        sample: KeySample,
    },
}

#[derive(Serialize, Deserialize)]
struct Seat {
    avatar: ObjectId,
    name: String,
    presence: Presence,
    /// Which commands of the present client were carried out.
    done: ExecutedCommands,
    /// Until when commands may come that were carried out already, since another host has done it.
    again_until: GameTime,
    /// By which the player came from another map; 0 if by the door.
    transfer: u64,
    /// The newest of them to go or to hold keys: one that was sent before it is out of date,
    /// wherever the newer one was heard.
    steered: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Presence {
    Here(ClientId),
    /// Since when the connection is gone.
    Away(GameTime),
}

/// How long after a player has come here from another host commands may be said again: far longer
/// than a line can be silent.
const AGAIN: Duration = Duration::from_secs(30);
/// A command this far behind another one is of another client's counting: none has so many on their
/// way.
const FAR_BEHIND: u32 = 128;

/// Of a seat whose player's words are done again: no connection has this number.
const NOBODY: ClientId = ClientId(u32::MAX);

/// See the module.
pub struct Room {
    config: RoomConfig,
    game: Box<dyn Game>,
    world: World,
    network: Network,
    seats: BTreeMap<PlayerId, Seat>,
    players: BTreeMap<ClientId, PlayerId>,
    /// Names that players took since the room began; perhaps of some who are not in yet. One for
    /// each member at most.
    names: BTreeMap<PlayerId, String>,
    /// Who joined at this tick and sees nothing yet.
    arrivals: Vec<JoiningClient>,
    loads: LoadMap,
    gates: Gates,
    /// What players at gates have come to, since the tick began.
    said: Vec<Output>,
    changes: Vec<WorldChange>,
    heard: Vec<UplinkEvent>,
    taken: Vec<AppliedInputs>,
    accepted: Vec<Accepted>,
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
            loads: LoadMap::new(config.grid()),
            config,
            game,
            seats: BTreeMap::new(),
            players: BTreeMap::new(),
            names: BTreeMap::new(),
            arrivals: Vec::new(),
            gates: Gates::default(),
            said: Vec::new(),
            changes: Vec::new(),
            heard: Vec::new(),
            taken: Vec::new(),
            accepted: Vec::new(),
            trace: Vec::new(),
            stats: RoomStats::default(),
            bytes_before: 0,
            last: None,
        }
    }

    /// Moves the room on to `now`, which is later than at the last tick. Empties `inputs` and
    /// appends to `outputs`.
    pub fn tick(&mut self, now: GameTime, inputs: &mut Vec<Input>, outputs: &mut Vec<Output>) {
        let moment = self.begin(now);
        for input in inputs.drain(..) {
            self.handle(now, input, outputs);
        }
        self.drop_deaf(now, outputs);
        self.finish(moment, outputs);
        self.network
            .send(now, &self.world, &mut self.stats, |client, bytes| {
                outputs.push(Output::Datagram { client, bytes })
            });
        if self.game.is_finished() {
            outputs.push(Output::Finished);
        }
        self.count(now);
    }

    /// No tick follows here: whoever heard nothing at the last one is told where the room stands,
    /// so that nobody waits for it longer than for the next host.
    pub fn part(&mut self, outputs: &mut Vec<Output>) {
        let Some(last) = self.last else { return };
        self.network
            .send_final(last, &self.world, &mut self.stats, |client, bytes| {
                outputs.push(Output::Datagram { client, bytes })
            });
    }

    /// What the last tick has taken.
    pub fn accepted(&self) -> &[Accepted] {
        &self.accepted
    }

    /// The room as it is between two ticks, beside its configuration; nothing if its game can't go
    /// on elsewhere. Cost: all objects.
    pub fn save(&self) -> Option<Vec<u8>> {
        let game = self.game.save()?;
        let mut out = Vec::with_capacity(game.len() + 64 * self.world.len());
        saved::put(
            &mut out,
            &(
                self.last,
                &self.seats,
                &self.names,
                self.gates.state(),
                &game,
            ),
        );
        self.world.save(&mut out);
        Some(out)
    }

    /// A room of the same configuration that goes on where one was saved; `game` has been made
    /// anew. Nobody is connected: who was there comes again, and has the grace period for it from
    /// [`Room::resume`] on.
    pub fn restore(
        config: RoomConfig,
        game: Box<dyn Game>,
        mut saved: &[u8],
    ) -> Result<Self, BadState> {
        let mut room = Room::new(config, game);
        // Puts up what stands around.
        room.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
        let (game, gates): (Vec<u8>, _);
        (room.last, room.seats, room.names, gates, game) = saved::take(&mut saved)?;
        room.gates.restore(gates);
        room.world.restore(&mut saved)?;
        if !saved.is_empty()
            || !room
                .seats
                .values()
                .all(|seat| room.world.contains(seat.avatar))
        {
            return Err(BadState::Malformed);
        }
        room.game.restore(&mut room.world, &game)?;
        room.network = Network::new(&room.config, room.game.schema());
        room.loads = LoadMap::new(room.config.grid());
        room.stats = RoomStats::default();
        Ok(room)
    }

    /// Does again what the tick at `now` did to world and game, by what it had taken.
    pub fn replay(&mut self, now: GameTime, accepted: &[Accepted]) {
        let moment = self.begin(now);
        for input in accepted {
            let _ = self.accept(now, input.clone());
        }
        self.finish(moment, &mut Vec::new());
    }

    /// The last tick was done again: who was there at `now` has lost the connection then.
    pub fn resume(&mut self, now: GameTime) {
        for (&player, seat) in &mut self.seats {
            if let Presence::Here(_) = seat.presence {
                (seat.presence, seat.again_until) = (Presence::Away(now), GameTime::MAX);
                self.world.release_controls(player);
            }
        }
    }

    /// Which commands of a player's present client were carried out, here or wherever the room has
    /// run.
    pub fn done(&self, player: PlayerId) -> Option<ExecutedCommands> {
        self.seats.get(&player).map(|seat| seat.done)
    }

    /// Who has an avatar, whether connected or not, and how each is called.
    pub fn seated(&self) -> impl Iterator<Item = (PlayerId, &str)> {
        self.seats
            .iter()
            .map(|(&player, seat)| (player, seat.name.as_str()))
    }

    /// The time of the last tick.
    pub fn last_tick(&self) -> Option<GameTime> {
        self.last
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

    /// What each part of the map costs.
    pub fn loads(&self) -> &LoadMap {
        &self.loads
    }

    /// The rules, for checks from outside.
    pub fn game(&self) -> &dyn Game {
        &*self.game
    }

    /// The avatar of a player.
    pub fn avatar(&self, player: PlayerId) -> Option<ObjectId> {
        self.seats.get(&player).map(|seat| seat.avatar)
    }

    /// Everything to the horizon of `now`, but what has come in.
    fn begin(&mut self, now: GameTime) -> TickTimes {
        // Whole milliseconds: that is what the wire carries, and both ends are to hold the same.
        let moment = TickTimes {
            now,
            horizon: (now + self.config.delay).whole_millis(),
        };
        self.trace.clear();
        self.accepted.clear();
        self.said.clear();
        self.world.begin_tick(moment.horizon);
        if self.last.is_none() {
            self.game.start(&mut self.world);
            self.gates.put_up(self.game.gates(&self.world));
        }
        moment
    }

    /// What has come in takes effect.
    fn finish(&mut self, moment: TickTimes, outputs: &mut Vec<Output>) {
        let now = moment.now;
        self.expire(now, outputs);
        self.take_inputs(moment);
        self.game
            .step(&mut self.world, now.since(self.last.unwrap_or(now)));
        self.last = Some(now);
        self.watch_gates(now);
        outputs.append(&mut self.said);
        self.world.finish_tick();
        self.publish(moment);
    }

    /// Tells world and game of something, and notes it. What a game says to a command.
    fn accept(&mut self, now: GameTime, accepted: Accepted) -> Result<(), Refusal> {
        let said = match &accepted {
            Accepted::Join { player, name } => {
                self.come(now, *player, name);
                Ok(())
            }
            Accepted::Lost { player } => {
                if let Some(seat) = self.seats.get_mut(player) {
                    seat.presence = Presence::Away(now);
                }
                self.world.release_controls(*player);
                Ok(())
            }
            Accepted::Remove { player } => {
                self.vacate(*player);
                Ok(())
            }
            Accepted::Rename { player, name } => {
                self.rename(*player, name);
                self.names.insert(*player, name.clone());
                Ok(())
            }
            Accepted::Command {
                player,
                number,
                action,
            } => {
                if let Some(seat) = self.seats.get_mut(player) {
                    seat.done.insert(*number);
                    if matches!(action, Action::Move { .. }) {
                        seat.steered = Some(*number);
                    }
                }
                self.game.command(&mut self.world, *player, action)
            }
            Accepted::LetGo { player, number } => {
                self.let_go(*player, *number);
                Ok(())
            }
            Accepted::Stay { player } => {
                self.gates.refuse(*player);
                Ok(())
            }
            Accepted::Admit {
                player,
                number,
                name,
                at,
                carried,
            } => {
                let (name, carried) = (name.clone(), carried.clone());
                self.admit(
                    now,
                    &Arriving {
                        player: *player,
                        number: *number,
                        name,
                        at: *at,
                        carried,
                    },
                );
                Ok(())
            }
            Accepted::Sample { player, at, sample } => {
                self.world.receive_sample(*at, *player, *sample);
                Ok(())
            }
        };
        self.accepted.push(accepted);
        said
    }

    fn handle(&mut self, now: GameTime, input: Input, outputs: &mut Vec<Output>) {
        match input {
            Input::Join {
                client,
                player,
                name,
            } => self.join(now, client, player, name, outputs),
            Input::Lost { client } => self.lose(now, client),
            Input::Remove { player } => self.remove(now, player),
            Input::Rename { player, name } => {
                let _ = self.accept(now, Accepted::Rename { player, name });
            }
            Input::LetGo { player, number } => {
                let _ = self.accept(now, Accepted::LetGo { player, number });
            }
            Input::Stay { player } => {
                let _ = self.accept(now, Accepted::Stay { player });
            }
            Input::Admit {
                player,
                number,
                name,
                at,
                carried,
            } => {
                let _ = self.accept(
                    now,
                    Accepted::Admit {
                        player,
                        number,
                        name,
                        at,
                        carried,
                    },
                );
            }
            Input::Budget {
                client: None,
                bytes_per_s,
            } => self.network.set_budget(now, None, bytes_per_s),
            Input::Budget {
                client: Some(client),
                bytes_per_s,
            } => self.network.set_client_budget(now, client, bytes_per_s),
            Input::Datagram { client, at, bytes } => self.hear(now, client, at, &bytes),
        }
    }

    fn join(
        &mut self,
        now: GameTime,
        client: ClientId,
        player: PlayerId,
        name: String,
        outputs: &mut Vec<Output>,
    ) {
        if self.gates.departure(player).is_some() {
            // With a ticket of before; the next one leads to where the player is now.
            return outputs.push(Output::Superseded { client });
        }
        if let Some(Seat {
            presence: Presence::Here(older),
            ..
        }) = self.seats.get(&player)
        {
            let older = *older;
            self.lose(now, older);
            outputs.push(Output::Superseded { client: older });
        }
        let _ = self.accept(now, Accepted::Join { player, name });
        let seat = self
            .seats
            .get_mut(&player)
            .expect("whoever has come has a seat");
        seat.presence = Presence::Here(client);
        self.players.insert(client, player);
        let arrival = JoiningClient {
            client,
            player,
            avatar: seat.avatar,
        };
        self.network.admit(now, arrival, &self.world);
        self.arrivals.push(arrival);
    }

    /// A player is there, with the old avatar or a new one.
    fn come(&mut self, now: GameTime, player: PlayerId, name: &str) {
        // The ticket may have been made before the player took another name.
        let name = self
            .names
            .get(&player)
            .cloned()
            .unwrap_or_else(|| name.to_owned());
        if self.seats.contains_key(&player) {
            self.rename(player, &name);
        } else {
            let avatar = self.seat(player, &name);
            let (presence, done) = (Presence::Here(NOBODY), ExecutedCommands::default());
            self.seats.insert(
                player,
                Seat {
                    avatar,
                    name,
                    presence,
                    done,
                    again_until: GameTime::ZERO,
                    transfer: 0,
                    steered: None,
                },
            );
        }
        let seat = self.seats.get_mut(&player).expect("seated");
        // Who it is that brings the player's words is not the game's business.
        seat.presence = Presence::Here(NOBODY);
        if seat.again_until == GameTime::MAX {
            seat.again_until = now + AGAIN;
        } else {
            // Another client may count anew, and says nothing again.
            (seat.done, seat.again_until, seat.steered) =
                (ExecutedCommands::default(), GameTime::ZERO, None);
        }
    }

    /// Makes an avatar for a player who comes for the first time.
    fn seat(&mut self, player: PlayerId, name: &str) -> ObjectId {
        let avatar = self.game.join(&mut self.world, player, name);
        self.world.set_owner(avatar, player);
        self.world.trace_join(player, avatar, name);
        avatar
    }

    fn lose(&mut self, now: GameTime, client: ClientId) {
        let Some(&player) = self.players.get(&client) else {
            return;
        };
        self.disconnect(client);
        let _ = self.accept(now, Accepted::Lost { player });
    }

    fn remove(&mut self, now: GameTime, player: PlayerId) {
        if let Some(Seat {
            presence: Presence::Here(client),
            ..
        }) = self.seats.get(&player)
        {
            self.disconnect(*client);
        }
        let _ = self.accept(now, Accepted::Remove { player });
    }

    /// A player's seat is free, and nothing is left of the player.
    fn vacate(&mut self, player: PlayerId) {
        self.names.remove(&player);
        self.gates.forget(player);
        let Some(seat) = self.seats.remove(&player) else {
            return;
        };
        self.world.trace_leave(player, seat.avatar);
        self.game.leave(&mut self.world, player);
        self.world.remove_controls(player);
    }

    fn rename(&mut self, player: PlayerId, name: &str) {
        let Some(seat) = self.seats.get_mut(&player).filter(|seat| seat.name != name) else {
            return;
        };
        name.clone_into(&mut seat.name);
        self.game.rename(&mut self.world, player, name);
    }

    fn disconnect(&mut self, client: ClientId) {
        self.players.remove(&client);
        self.arrivals.retain(|arrival| arrival.client != client);
        self.network.remove_viewer(client);
    }

    fn hear(&mut self, now: GameTime, client: ClientId, at: GameTime, bytes: &[u8]) {
        let Some(&player) = self.players.get(&client) else {
            return;
        };
        self.stats.datagrams_in += 1;
        self.stats.bytes_in += bytes.len() as u64;
        let mut heard = std::mem::take(&mut self.heard);
        if self
            .network
            .handle_datagram(client, at, bytes, &mut heard)
            .is_err()
        {
            self.stats.malformed += 1;
        }
        for item in heard.drain(..) {
            match item {
                UplinkEvent::Command(command) => self.command(now, client, player, &command),
                UplinkEvent::OverRate(number) => {
                    self.stats.commands_over_rate += 1;
                    if let Some(number) = number {
                        self.refuse(now, client, number, ErrorCode::RateLimited);
                    }
                }
                UplinkEvent::Outdated => self.stats.commands_outdated += 1,
                UplinkEvent::Malformed(_) => self.stats.malformed += 1,
                UplinkEvent::Input(input) => {
                    self.stats.inputs += 1;
                    for sample in input.samples(at) {
                        let _ = self.accept(now, Accepted::Sample { player, at, sample });
                    }
                }
                UplinkEvent::MissingBaseline => self.stats.missing_baselines += 1,
            }
        }
        self.heard = heard;
    }

    fn command(&mut self, now: GameTime, client: ClientId, player: PlayerId, command: &Command) {
        let carried_out =
            |seat: &Seat| seat.again_until > now && seat.done.contains(command.number);
        if self.seats.get(&player).is_some_and(carried_out) {
            self.stats.commands_repeated += 1;
            return;
        }
        let is_outdated = |seat: &Seat| {
            let is_behind =
                |last: u32| (1..FAR_BEHIND).contains(&last.wrapping_sub(command.number));
            let steers = matches!(command.action, Action::Move { .. });
            seat.again_until > now && steers && seat.steered.is_some_and(is_behind)
        };
        if self.seats.get(&player).is_some_and(is_outdated) {
            self.stats.commands_outdated += 1;
            return;
        }
        let done = self.accept(
            now,
            Accepted::Command {
                player,
                number: command.number,
                action: command.action.clone(),
            },
        );
        match done {
            Ok(()) => self.stats.commands += 1,
            Err(Refusal(code)) => {
                self.stats.commands_refused += 1;
                self.refuse(now, client, command.number, code);
            }
        }
    }

    /// Lets the game know what the players press at this tick, and the players what has come to
    /// count.
    fn take_inputs(&mut self, moment: TickTimes) {
        let mut taken = std::mem::take(&mut self.taken);
        self.world.apply_inputs(&mut taken);
        for AppliedInputs {
            player,
            applied_until: until,
            changed,
        } in taken.drain(..)
        {
            let Some(seat) = self.seats.get(&player) else {
                continue;
            };
            if let (Some(at), Presence::Here(client)) = (until, seat.presence) {
                self.network.queue_effect(
                    client,
                    EffectTime {
                        sampled_until: at,
                        takes_effect_at: moment.horizon,
                    },
                );
            }
            if changed {
                let pressed = self.world.button_edges(player).pressed();
                self.game.input(&mut self.world, player, pressed);
            }
        }
        self.taken = taken;
    }

    fn refuse(&mut self, now: GameTime, client: ClientId, command: u32, code: ErrorCode) {
        self.network
            .refuse_command(now, client, command, code as u16, &mut self.stats);
    }

    fn drop_deaf(&mut self, now: GameTime, outputs: &mut Vec<Output>) {
        let deaf: Vec<ClientId> = self.network.unresponsive_clients(now).collect();
        for client in deaf {
            self.lose(now, client);
            outputs.push(Output::Deaf { client });
        }
    }

    fn expire(&mut self, now: GameTime, outputs: &mut Vec<Output>) {
        let grace: Duration = self.config.grace;
        let over = |seat: &Seat| matches!(seat.presence, Presence::Away(since) if now.since(since) >= grace);
        while let Some((&player, _)) = self.seats.iter().find(|(_, seat)| over(seat)) {
            // Not noted: the time alone says so.
            self.vacate(player);
            outputs.push(Output::PlayerOut {
                player,
                reason: ErrorCode::Idle,
            });
        }
    }

    /// Lets the network know what has changed, and the newcomers see.
    fn publish(&mut self, moment: TickTimes) {
        self.world.drain_changes(&mut self.changes);
        self.loads
            .note_changes(moment.now, &self.changes, &self.world);
        let eyes = GameVisibility {
            game: &*self.game,
            world: &self.world,
        };
        self.network.apply(
            moment,
            &self.changes,
            &self.arrivals,
            &eyes,
            &mut self.stats,
        );
        self.arrivals.clear();
        self.changes.clear();
        self.world.drain_trace(&mut self.trace);
    }

    fn count(&mut self, now: GameTime) {
        if self
            .stats
            .ticks
            .is_multiple_of(u64::from(self.config.tick_hz))
        {
            let shares = self
                .network
                .viewers()
                .filter_map(|viewer| viewer.amplification(now));
            self.stats.amplification_permille = (shares.fold(0.0, f64::max) * 1_000.0) as u32;
            let sent = (self.stats.bytes_out - self.bytes_before) * 1_000;
            self.stats.budget_use_permille = sent
                .checked_div(self.network.total_budget_bytes_per_s())
                .unwrap_or(0) as u32;
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
