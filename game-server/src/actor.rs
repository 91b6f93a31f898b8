//! The actix actor around one room.
//!
//! Ticks, connections and the WorldServer's wishes come in through a bounded mailbox, datagrams
//! through the room's inbox; what the room says is carried to the connections and to the
//! WorldServer. All that decides is in `room`.
//!
//! What always holds: a panic of the room ends this room and nothing else. It owns no lock, thread
//! or handle that somebody waits for, so it is dropped, its players are told, and the WorldServer
//! gets `RoomClosed`.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::game::{GameToClient, Joined, game_to_client};
use ambit_proto::control::host::{
    self as proto, AtGate, Departed, HostToWorld, Members, PlayerOut, RoomClosed, host_to_world,
};
use ambit_proto::ids::{ClientId, PlayerId, RoomId};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use tokio::sync::mpsc;

use crate::clock_thread::{Pulse, RoomClock, SendTick};
use crate::host::control_stream::{self, Control};
use crate::host::counters::Drop;
use crate::host::inlet::{Arrived, Inbox};
use crate::host::outlet::Outlet;
use crate::host::{Place, Shared};
use crate::keeper::{self, Keeper};
use crate::room::{Accepted, Input, Output, Room};
use crate::room_files::RoomFiles;
use crate::stats::RoomStats;
use crate::ticket::Ticket;

/// Messages that may wait for a room: at most 3 ticks, and each connection's task waits for its
/// turn with the rest.
pub(crate) const MAILBOX: usize = 64;

/// How long a client whose player has gone to another map may stay connected: its ticket there may
/// take as long as the lobby needs for another host.
const GO_WITHIN: Duration = Duration::from_secs(20);

/// It is time for a tick.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Tick {
    /// The room's time for which the tick is.
    pub(crate) due: GameTime,
}

/// A player with a good ticket is here.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Attach {
    pub(crate) client: ClientId,
    pub(crate) ticket: Ticket,
    pub(crate) line: Line,
}

/// A connection is gone.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Detach(pub(crate) ClientId);

/// A client says that its player leaves for good.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Leave(pub(crate) ClientId);

/// The WorldServer says that a player is out for good.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Remove {
    pub(crate) player: PlayerId,
    pub(crate) reason: ErrorCode,
    /// Tickets up to this serial are void. Who came with a newer one has come back since, and
    /// stays.
    pub(crate) void_tickets_until: u64,
}

/// The WorldServer says that a player has another name.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Rename {
    pub(crate) player: PlayerId,
    pub(crate) name: String,
}

/// The WorldServer says who sits in the room.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Muster {
    pub(crate) members: Members,
    /// Of all others, tickets up to this serial are void.
    pub(crate) void_tickets_until: u64,
}

/// The WorldServer says something about a player and a gate.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Crossing(pub(crate) Input);

/// The WorldServer, or the end of the host, closes the room.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Close(pub(crate) ErrorCode);

/// The host ends, and the room goes on elsewhere: it stops here, and says what it is.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct HandOver;

/// Another WorldServer is there, which does not know what the room is.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Retell;

/// The ways to one client.
pub(crate) struct Line {
    pub(crate) connection: quinn::Connection,
    pub(crate) control: mpsc::Sender<Control>,
}

struct Client {
    player: PlayerId,
    /// Of the ticket that it came with.
    serial: u64,
    line: Line,
}

/// What a room's actor begins with.
pub(crate) struct Setup {
    pub(crate) id: RoomId,
    pub(crate) capacity: u32,
    pub(crate) room: Room,
    pub(crate) files: RoomFiles,
    /// Tells the WorldServer what the room is, if it is to go on elsewhere.
    pub(crate) keeper: Option<Keeper>,
    pub(crate) clock: RoomClock,
    pub(crate) pulse: Arc<Pulse>,
    #[expect(
        dead_code,
        reason = "counts the room at its arbiter for as long as it is kept"
    )]
    pub(crate) place: Place,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) outlet: Outlet,
    pub(crate) shared: Arc<Shared>,
}

/// See the module.
pub(crate) struct GameServer {
    setup: Setup,
    clients: BTreeMap<ClientId, Client>,
    /// Connections of players who have gone to another map, and when: they close by themselves.
    elsewhere: BTreeMap<ClientId, (Line, GameTime)>,
    /// Empty between ticks; kept for its memory.
    arrived: Vec<Arrived>,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    reported: RoomStats,
}

/// Puts ticks into a room's mailbox.
pub(crate) fn ticker(actor: Addr<GameServer>) -> SendTick {
    Box::new(move |due| actor.try_send(Tick { due }).is_ok())
}

impl GameServer {
    pub(crate) fn new(setup: Setup) -> Self {
        Self {
            setup,
            clients: BTreeMap::new(),
            elsewhere: BTreeMap::new(),
            arrived: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            reported: RoomStats::default(),
        }
    }

    fn on_tick(&mut self, now: GameTime, ctx: &mut Context<Self>) {
        let late = self.setup.clock.now().since(now);
        self.gather();
        self.setup.files.record(now, &self.inputs);
        if let Err(panic) = self.run(now, late) {
            return self.crash(&*panic, ctx);
        }
        self.setup.files.trace(self.setup.room.trace());
        let mut crossings = Vec::new();
        for output in std::mem::take(&mut self.outputs) {
            match output {
                Output::Datagram { client, bytes } => {
                    if let Some(Client { line, .. }) = self.clients.get(&client) {
                        self.setup.outlet.put(&line.connection, bytes);
                    }
                }
                Output::Deaf { client } => {
                    self.part(
                        client,
                        ErrorCode::SlowReader,
                        "nothing was confirmed for too long",
                    );
                }
                Output::Superseded { client } => {
                    self.part(client, ErrorCode::TakenOver, "the player came in again")
                }
                Output::PlayerOut { player, reason } => self.tell_player_out(player, reason),
                Output::AtGate {
                    player,
                    map,
                    at,
                    from,
                } => crossings.push(self.at_gate(player, map, at, from)),
                Output::Departed {
                    player,
                    number,
                    carried,
                } => {
                    let departed = Departed {
                        room: self.setup.id.0,
                        player: player.0,
                        number,
                        carried,
                    };
                    crossings.push(host_to_world::Body::Departed(departed));
                }
                Output::Arrived { player, number } => {
                    let arrived = proto::Arrived {
                        room: self.setup.id.0,
                        player: player.0,
                        number,
                    };
                    crossings.push(host_to_world::Body::Arrived(arrived));
                }
                Output::Elsewhere { client } => {
                    if let Some(Client { line, .. }) = self.clients.remove(&client) {
                        self.elsewhere.insert(client, (line, now));
                    }
                }
                Output::Finished => self.finish(ErrorCode::RoomClosed, "the game is over", ctx),
            }
        }
        let Setup {
            id,
            room,
            keeper,
            shared,
            outlet,
            ..
        } = &mut self.setup;
        let tick = keeper
            .as_ref()
            .and_then(|keeper| keeper.tick(*id, room, now));
        outlet.flush(
            tick.map_or(0, |tick| shared.tell_tick(tick)),
            &shared.counters,
        );
        if let Some(saved) = keeper
            .as_mut()
            .and_then(|keeper| keeper.save(*id, room, now))
        {
            shared.tell(HostToWorld {
                body: Some(host_to_world::Body::RoomSaved(saved)),
            });
        }
        // Now a WorldServer that hears of it has what was taken, too.
        for body in crossings {
            self.setup.shared.tell(HostToWorld { body: Some(body) });
        }
        self.close_those_elsewhere(now);
        self.report();
    }

    /// Everything that arrived since the last time. Of clients that are gone there may be some; the
    /// room does not know them.
    fn gather(&mut self) {
        self.setup.inbox.swap(&mut self.arrived);
        let datagrams = self
            .arrived
            .drain(..)
            .map(|(client, at, bytes)| Input::Datagram { client, at, bytes });
        self.inputs.extend(datagrams);
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "how long a tick takes is measured here"
    )]
    fn run(&mut self, now: GameTime, late: Duration) -> Result<(), Box<dyn Any + Send>> {
        let started = Instant::now();
        let ran = catch_unwind(AssertUnwindSafe(|| {
            self.setup
                .room
                .tick(now, &mut self.inputs, &mut self.outputs)
        }));
        self.setup.shared.counters.ticked(started.elapsed(), late);
        ran
    }

    fn attach(&mut self, client: ClientId, ticket: Ticket, line: Line) {
        let Ticket {
            player,
            name,
            serial,
            ..
        } = ticket;
        // The player may have left while this was waiting for its turn.
        if self.setup.shared.is_void(self.setup.id, player, serial) {
            let error = codes::error(ErrorCode::NotInRoom, "you have left this room");
            self.last_words(
                &line,
                game_to_client::Body::Error(error),
                ErrorCode::NotInRoom,
            );
            return;
        }
        if self.setup.room.avatar(player).is_none() && self.seats_taken() >= self.setup.capacity {
            let error = codes::error(
                ErrorCode::RoomFull,
                format!("the room has {} seats", self.setup.capacity),
            );
            self.last_words(
                &line,
                game_to_client::Body::Error(error),
                ErrorCode::RoomFull,
            );
            return;
        }
        self.say(
            &line,
            Control::Message(GameToClient {
                body: Some(game_to_client::Body::Joined(self.joined())),
            }),
        );
        self.clients.insert(
            client,
            Client {
                player,
                serial,
                line,
            },
        );
        self.inputs.push(Input::Join {
            client,
            player,
            name,
        });
    }

    /// Seats of the room, and of those who came since the last tick.
    fn seats_taken(&self) -> u32 {
        let is_new = |input: &&Input| matches!(input, Input::Join { player, .. } if self.setup.room.avatar(*player).is_none());
        self.setup.room.stats().players + self.inputs.iter().filter(is_new).count() as u32
    }

    fn joined(&self) -> Joined {
        let config = self.setup.room.config();
        Joined {
            room: self.setup.id.0,
            now_us: self.setup.clock.now().micros(),
            delay_ms: config.delay.as_millis() as u32,
            tick_hz: config.tick_hz,
            width: config.width,
            height: config.height,
            cell: config.cell,
            inner: u32::from(config.inner),
            outer: u32::from(config.outer),
            schema: Some(self.setup.room.world().schema().into()),
        }
    }

    fn detach(&mut self, client: ClientId) {
        self.elsewhere.remove(&client);
        if self.clients.remove(&client).is_none() {
            return;
        }
        // What arrived before the end still counts.
        self.gather();
        self.inputs.push(Input::Lost { client });
    }

    fn leave(&mut self, client: ClientId) {
        let Some(&Client { player, .. }) = self.clients.get(&client) else {
            return;
        };
        self.remove(
            player,
            ErrorCode::ErrorUnspecified,
            "you have left the game",
        );
        self.tell_player_out(player, ErrorCode::ErrorUnspecified);
    }

    fn remove(&mut self, player: PlayerId, reason: ErrorCode, message: &str) {
        while let Some((&client, _)) = self
            .clients
            .iter()
            .find(|(_, client)| client.player == player)
        {
            self.part(client, reason, message);
        }
        self.inputs.push(Input::Remove { player });
    }

    fn at_gate(
        &self,
        player: PlayerId,
        map: u32,
        at: Position,
        from: Position,
    ) -> host_to_world::Body {
        let (room, player) = (self.setup.id.0, player.0);
        host_to_world::Body::AtGate(AtGate {
            room,
            player,
            map,
            x: at.x,
            y: at.y,
            from_x: from.x,
            from_y: from.y,
        })
    }

    /// Clients that have not gone by themselves.
    fn close_those_elsewhere(&mut self, now: GameTime) {
        self.elsewhere.retain(|_, (line, since)| {
            let stays = now.since(*since) < GO_WITHIN;
            if !stays {
                control_stream::close(&line.connection, ErrorCode::NotInRoom);
            }
            stays
        });
    }

    /// Tells a client that it is out, and forgets it.
    fn part(&mut self, client: ClientId, reason: ErrorCode, message: &str) {
        if let Some(Client { line, .. }) = self.clients.remove(&client) {
            self.last_words(&line, control_stream::out(reason, message), reason);
        }
    }

    fn last_words(&self, line: &Line, body: game_to_client::Body, code: ErrorCode) {
        self.say(line, Control::Last(GameToClient { body: Some(body) }, code));
    }

    fn say(&self, line: &Line, control: Control) {
        if line.control.try_send(control).is_err() {
            // Full: the client has not read a handful of messages; gone: nobody is left to tell.
            self.setup.shared.counters.dropped(Drop::ControlFull);
            control_stream::close(&line.connection, ErrorCode::SlowReader);
        }
    }

    fn tell_player_out(&self, player: PlayerId, reason: ErrorCode) {
        let out = PlayerOut {
            room: self.setup.id.0,
            player: player.0,
            reason: reason.into(),
        };
        self.setup.shared.tell(HostToWorld {
            body: Some(host_to_world::Body::PlayerOut(out)),
        });
    }

    fn crash(&mut self, panic: &(dyn Any + Send), ctx: &mut Context<Self>) {
        let message = panic_message(panic);
        tracing::error!(
            room = self.setup.id.0,
            "the room's code panicked, the room is closed: {message}"
        );
        self.finish(
            ErrorCode::RoomCrashed,
            "the room crashed; this is a fault of the game's code",
            ctx,
        );
    }

    /// The room ends by itself.
    fn finish(&mut self, reason: ErrorCode, message: &str, ctx: &mut Context<Self>) {
        let closed = RoomClosed {
            room: self.setup.id.0,
            reason: reason.into(),
            message: message.into(),
        };
        self.setup.shared.tell(HostToWorld {
            body: Some(host_to_world::Body::RoomClosed(closed)),
        });
        self.close(reason, message, ctx);
    }

    fn close(&mut self, reason: ErrorCode, message: &str, ctx: &mut Context<Self>) {
        self.setup.pulse.stop();
        self.setup.shared.rooms.remove(&self.setup.id);
        while let Some((&client, _)) = self.clients.first_key_value() {
            self.part(client, reason, message);
        }
        ctx.stop();
    }

    fn report(&mut self) {
        let stats = self.setup.room.stats();
        self.setup.shared.counters.advance(&self.reported, stats);
        self.setup
            .shared
            .counters
            .skipped(self.setup.pulse.take_skipped());
        if let Some(inlet) = self.setup.shared.rooms.get(&self.setup.id) {
            inlet.set_players(stats.players);
            if stats
                .ticks
                .is_multiple_of(u64::from(self.setup.room.config().tick_hz))
            {
                inlet.set_load(self.setup.room.loads().regions());
            }
        }
        self.reported.clone_from(stats);
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a text")
}

impl Actor for GameServer {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(MAILBOX);
    }
}

impl Handler<Tick> for GameServer {
    type Result = ();

    fn handle(&mut self, tick: Tick, ctx: &mut Self::Context) {
        self.setup.pulse.took_one();
        // A tick may wait behind the message that closed the room.
        if ctx.state().alive() {
            self.on_tick(tick.due, ctx);
        }
    }
}

impl Handler<Attach> for GameServer {
    type Result = ();

    fn handle(&mut self, new: Attach, _: &mut Self::Context) {
        self.attach(new.client, new.ticket, new.line);
    }
}

impl Handler<Detach> for GameServer {
    type Result = ();

    fn handle(&mut self, Detach(client): Detach, _: &mut Self::Context) {
        self.detach(client);
    }
}

impl Handler<Leave> for GameServer {
    type Result = ();

    fn handle(&mut self, Leave(client): Leave, _: &mut Self::Context) {
        self.leave(client);
    }
}

impl Handler<Remove> for GameServer {
    type Result = ();

    fn handle(&mut self, order: Remove, _: &mut Self::Context) {
        let Remove {
            player,
            reason,
            void_tickets_until,
        } = order;
        let is_back =
            |client: &Client| client.player == player && client.serial > void_tickets_until;
        if !self.clients.values().any(is_back) {
            self.remove(player, reason, "you are out of the room");
        }
    }
}

impl Handler<Crossing> for GameServer {
    type Result = ();

    fn handle(&mut self, Crossing(input): Crossing, _: &mut Self::Context) {
        self.inputs.push(input);
    }
}

impl Handler<Muster> for GameServer {
    type Result = ();

    fn handle(
        &mut self,
        Muster {
            members,
            void_tickets_until,
        }: Muster,
        ctx: &mut Self::Context,
    ) {
        let (mut gone, mut renamed) = (BTreeSet::new(), Vec::new());
        for change in keeper::changes(&self.setup.room, Some(&members)) {
            match change {
                Accepted::Remove { player } => drop(gone.insert(player)),
                Accepted::Rename { player, name } => renamed.push(Input::Rename { player, name }),
                _ => {}
            }
        }
        // Those too who have just come in, and whom no tick has seated yet.
        let here: BTreeSet<PlayerId> = self.clients.values().map(|client| client.player).collect();
        let sits = |player: &PlayerId| {
            members
                .members
                .iter()
                .any(|member| member.player == player.0)
        };
        gone.extend(here.into_iter().filter(|player| !sits(player)));
        for player in gone {
            self.handle(
                Remove {
                    player,
                    reason: ErrorCode::ErrorUnspecified,
                    void_tickets_until,
                },
                ctx,
            );
        }
        self.inputs.extend(renamed);
    }
}

impl Handler<Rename> for GameServer {
    type Result = ();

    fn handle(&mut self, Rename { player, name }: Rename, _: &mut Self::Context) {
        self.inputs.push(Input::Rename { player, name });
    }
}

impl Handler<HandOver> for GameServer {
    type Result = ();

    fn handle(&mut self, _: HandOver, ctx: &mut Self::Context) {
        let Setup {
            id,
            room,
            keeper,
            shared,
            pulse,
            outlet,
            ..
        } = &mut self.setup;
        pulse.stop();
        let mut last = Vec::new();
        if catch_unwind(AssertUnwindSafe(|| room.part(&mut last))).is_err() {
            tracing::error!(
                room = id.0,
                "the room's last words are left unsaid: its game has failed"
            );
        }
        for output in last {
            if let Output::Datagram { client, bytes } = output
                && let Some(Client { line, .. }) = self.clients.get(&client)
            {
                outlet.put(&line.connection, bytes);
            }
        }
        outlet.flush(shared.last_serial(), &shared.counters);
        if let (Some(keeper), Some(last)) = (keeper, room.last_tick()) {
            keeper.hurry();
            if let Some(saved) = keeper.save(*id, room, last) {
                shared.tell(HostToWorld {
                    body: Some(host_to_world::Body::RoomSaved(saved)),
                });
            }
        }
        // Connections stay as they are until the process is gone: their clients are called
        // elsewhere meanwhile.
        std::mem::forget((
            std::mem::take(&mut self.clients),
            std::mem::take(&mut self.elsewhere),
        ));
        ctx.stop();
    }
}

impl Handler<Retell> for GameServer {
    type Result = ();

    fn handle(&mut self, Retell: Retell, _: &mut Self::Context) {
        if let Some(keeper) = &mut self.setup.keeper {
            keeper.hurry();
        }
    }
}

impl Handler<Close> for GameServer {
    type Result = ();

    fn handle(&mut self, Close(reason): Close, ctx: &mut Self::Context) {
        self.close(reason, "the room was closed", ctx);
    }
}
