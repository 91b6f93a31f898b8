//! Calls of the lobby's actor: from sessions, hosts and the server.
//!
//! `world.send(call(|world, ctx| ..))` runs a function on the actor's thread, in the order of the
//! mailbox, and returns what it returns; [`in_lobby`] calls the lobby itself.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use ambit_endpoint::driver::LineFigures;
use ambit_host_protocol::generated::WorldToHost;
use ambit_host_protocol::messages::{RoomOrder, WorldOrder};
use ambit_lobby::{
    AccountJob, ConnId, Host, HostId, JobSource, Lobby, OperatedMap, OperatedPlayer, OperatedRoom,
    OperatorOrder, OperatorProblem, Origin, StoreJob,
};
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_room::questions::RoomQuestion;
use ambit_store::{BanTarget, Names, RoomRequest, ServerBan};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::{ConnectedClient, LobbyClock, WorldServer};
use crate::admin::snapshot::add_stats;
use crate::client_connection::ClientConnection;
use crate::cluster::store::WriteProgress;
use crate::hosts::heard_hosts::HeardHosts;
use crate::hosts::room_checkpoints::RoomCheckpoints;
use crate::outgoing::OutgoingQueue;

/// A lobby that does not answer a request by HTTP within this time is stuck.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// A message to the actor: a function that runs on its thread.
pub(crate) struct Call<F>(F);

/// A message that calls the actor.
pub(crate) fn call<R, F>(function: F) -> Call<F>
where
    F: FnOnce(&mut WorldServer, &mut Context<WorldServer>) -> R,
{
    Call(function)
}

/// A message that calls the lobby.
pub(crate) fn in_lobby(
    function: impl FnOnce(&mut Lobby, LocalTime),
) -> Call<impl FnOnce(&mut WorldServer, &mut Context<WorldServer>)> {
    call(|world, ctx| world.call_lobby(ctx, function))
}

impl<R, F> Message for Call<F>
where
    R: 'static,
    F: FnOnce(&mut WorldServer, &mut Context<WorldServer>) -> R,
{
    type Result = R;
}

impl<R, F> Handler<Call<F>> for WorldServer
where
    R: 'static,
    F: FnOnce(&mut WorldServer, &mut Context<WorldServer>) -> R,
{
    type Result = MessageResult<Call<F>>;

    fn handle(&mut self, Call(function): Call<F>, ctx: &mut Self::Context) -> Self::Result {
        MessageResult(function(self, ctx))
    }
}

/// A host that the lobby knows, and what its messages need beside the lobby.
pub(crate) struct RegisteredHost {
    pub(crate) id: HostId,
    pub(crate) clock: LobbyClock,
    pub(crate) checkpoints: Arc<RoomCheckpoints>,
    pub(crate) heard_hosts: Arc<HeardHosts>,
}

impl WorldServer {
    /// A client has connected. What it is sent goes to the queue.
    pub(crate) fn connect(
        &mut self,
        ctx: &mut Context<Self>,
        connection: ClientConnection,
        queue: Arc<OutgoingQueue>,
    ) -> ConnId {
        self.last_conn += 1;
        let conn = ConnId(self.last_conn);
        let address = connection.address();
        self.clients.insert(conn, ConnectedClient { connection, queue });
        self.call_lobby(ctx, |lobby, now| lobby.handle_connect(now, conn, address));
        conn
    }

    /// A client has sent a frame. Returns how long to wait before the next is read.
    pub(crate) fn take_frame(
        &mut self,
        ctx: &mut Context<Self>,
        conn: ConnId,
        frame: &Bytes,
    ) -> Duration {
        self.call_lobby(ctx, |lobby, now| lobby.handle_frame(now, conn, frame));
        self.lobby.read_pause(conn)
    }

    /// A client has disconnected; `quit` says whether it closed the connection on purpose.
    pub(crate) fn disconnect(&mut self, ctx: &mut Context<Self>, conn: ConnId, quit: bool) {
        self.clients.remove(&conn);
        let handle = if quit { Lobby::handle_quit } else { Lobby::handle_disconnect };
        self.call_lobby(ctx, |lobby, now| handle(lobby, now, conn));
    }

    /// An operator's order. Returns how many players it has reached.
    pub(crate) fn carry_out(
        &mut self,
        ctx: &mut Context<Self>,
        order: OperatorOrder,
    ) -> Result<usize, OperatorProblem> {
        let mut done = Ok(0);
        self.call_lobby(ctx, |lobby, now| done = lobby.carry_out(now, order));
        done
    }

    /// All players, as operators see them, and how the network treats them.
    pub(crate) fn operated_players(&self) -> Vec<(OperatedPlayer, Option<LineFigures>)> {
        let players = self.lobby.operated_players(self.clock.now()).into_iter();
        let with_line = players.map(|player| {
            let client = player.conn.and_then(|conn| self.clients.get(&conn));
            let line = client.and_then(|client| client.connection.line_figures());
            (player, line)
        });
        with_line.collect()
    }

    /// Reserved names, bans and roles have changed.
    pub(crate) fn learn_names(&mut self, ctx: &mut Context<Self>, names: Names) {
        self.call_lobby(ctx, |lobby, now| lobby.set_names(now, names));
    }

    /// Asks the room of a map. Its answer is empty if it is asked too often.
    pub(crate) fn ask_room(
        &mut self,
        map: RoomId,
        question: RoomQuestion,
    ) -> Result<oneshot::Receiver<Vec<u8>>, OperatorProblem> {
        let host = self.lobby.host_of_map(map)?;
        let link = self.hosts.get(&host).ok_or(OperatorProblem::NotRunning(map))?;
        let (number, answer) = self.questions.add(host)?;
        let question = RoomOrder::Ask { number, question: question.encode() };
        let message = WorldToHost::from(WorldOrder::Room(map, question));
        // An operator can ask again: a host that does not read is found out by what it has to get.
        link.try_send(message).map_err(|_| OperatorProblem::TooManyQuestions)?;
        Ok(answer)
    }

    /// A host has answered a question.
    pub(crate) fn take_room_answer(&mut self, host: HostId, number: u64, answer: Vec<u8>) {
        self.questions.take(host, number, answer);
    }

    /// All maps, as operators see them.
    pub(crate) fn operated_maps(&self) -> Vec<OperatedMap> {
        self.lobby.operated_maps()
    }

    /// A player, as operators see it.
    pub(crate) fn operated_player(
        &self,
        player: PlayerId,
    ) -> Result<OperatedPlayer, OperatorProblem> {
        self.lobby.operated_player(self.clock.now(), player)
    }

    /// Whom a ban of this player is for.
    pub(crate) fn ban_targets(&self, player: PlayerId) -> Result<Vec<BanTarget>, OperatorProblem> {
        self.lobby.ban_targets(player)
    }

    /// How many players these bans concern now.
    pub(crate) fn reached_by(&self, bans: Vec<ServerBan>) -> usize {
        self.lobby.reached_by(self.clock.now(), bans)
    }

    /// All rooms, as operators see them.
    pub(crate) fn operated_rooms(&self) -> Vec<OperatedRoom> {
        self.lobby.operated_rooms()
    }

    /// A host has connected; its orders go to the sender. `instance` identifies it; it is empty if
    /// the host cannot reconnect.
    pub(crate) fn register_host(
        &mut self,
        ctx: &mut Context<Self>,
        commands: mpsc::Sender<WorldToHost>,
        origin: Origin,
        instance: &[u8],
    ) -> RegisteredHost {
        self.last_host += 1;
        let host = HostId(self.last_host);
        self.hosts.insert(host, commands);
        let silence = self.lobby.new_silence(self.clock.now(), origin, instance);
        self.heard_hosts.add(host, silence);
        self.call_lobby(ctx, |lobby, now| lobby.handle_host_start(now, host, origin));
        RegisteredHost {
            id: host,
            clock: self.clock,
            checkpoints: Arc::clone(&self.checkpoints),
            heard_hosts: Arc::clone(&self.heard_hosts),
        }
    }

    /// A host was refused before it got to the lobby.
    pub(crate) fn count_refused_host(&mut self) {
        self.lobby.count_refused_host();
    }

    /// The link to a host has ended.
    pub(crate) fn lose_host(&mut self, ctx: &mut Context<Self>, host: HostId, reason: &str) {
        self.forget_host(host);
        self.call_lobby(ctx, |lobby, now| lobby.handle_host_lost(now, host, reason));
    }

    /// A process has ended, as the watcher of its hosts reports.
    pub(crate) fn end_process(&mut self, ctx: &mut Context<Self>, process: &[u8]) {
        // The lobby forgets these hosts; the ends of their links come later.
        let ended = |host: &&Host| !process.is_empty() && host.process() == process;
        for host in self.lobby.hosts().map(|(_, host)| host).filter(ended) {
            add_stats(&mut self.lost_host_stats, &host.stats);
        }
        self.call_lobby(ctx, |lobby, now| lobby.handle_process_ended(now, process));
    }

    /// Directory writes have completed, or the directory's availability has changed.
    pub(crate) fn note_progress(&mut self, ctx: &mut Context<Self>, progress: WriteProgress) {
        if progress.unavailable != self.is_directory_away {
            if progress.unavailable {
                tracing::warn!("directory unavailable; no rooms are created or started");
            } else {
                tracing::warn!("directory available again; rooms can be created and started");
            }
        }
        let WriteProgress { written, unavailable } = progress;
        self.is_directory_away = unavailable;
        self.call_lobby(ctx, |lobby, now| lobby.handle_write_progress(now, written, unavailable));
    }

    /// Begins a job with an account; its outcome is a call of the lobby.
    pub(super) fn begin_account_job(
        &self,
        ctx: &Context<Self>,
        source: JobSource,
        job: AccountJob,
    ) {
        let doing = self.accounts.clone().carry_out(job);
        let world = ctx.address();
        tokio::spawn(async move {
            let outcome = doing.await;
            // The actor has ended if nobody receives it.
            let _ = world
                .send(in_lobby(move |lobby, now| lobby.handle_account(now, source, outcome)))
                .await;
        });
    }

    /// Begins a job of a room; its outcome is a call of the lobby.
    pub(super) fn begin_store_job(&self, ctx: &Context<Self>, request: RoomRequest, job: StoreJob) {
        let doing = self.accounts.clone().store_for_room(request.clone(), job);
        let world = ctx.address();
        let checkpoints = Arc::clone(&self.checkpoints);
        tokio::spawn(async move {
            // The room must not go back behind what is stored, or it would ask for it once more.
            checkpoints.until_kept().await;
            let outcome = doing.await;
            let report = in_lobby(move |lobby, now| lobby.handle_stored(now, &request, outcome));
            let _ = world.send(report).await;
        });
    }

    /// The server shuts down. The sender is notified once every connection is closed.
    pub(crate) fn start_drain(&mut self, ctx: &mut Context<Self>, drained: oneshot::Sender<()>) {
        self.draining = true;
        self.drained = Some(drained);
        self.call_lobby(ctx, Lobby::drain);
    }

    /// The server ends, and the next one goes on with the rooms: its own hosts hand them over, and
    /// nothing else is ordered from now on.
    pub(crate) fn end_own_hosts(&mut self, ctx: &mut Context<Self>) {
        self.call_lobby(ctx, |lobby, _| lobby.end_own_hosts());
        self.holds_orders = true;
    }

    /// The server ends, and the next one goes on with the rooms: nothing of this end is kept, and
    /// hosts are disconnected.
    pub(crate) fn leave_rooms(&mut self) {
        self.draining = true;
        if let Some(keeper) = self.checkpoints.keeper() {
            keeper.freeze();
        }
        // Dropping our ends closes the links.
        self.hosts.clear();
    }
}
