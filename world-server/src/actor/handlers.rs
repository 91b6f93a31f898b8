//! What each message to the lobby's actor does: it is translated to a call of the lobby.

use std::sync::Arc;

use actix::prelude::*;

use super::messages::{
    CaughtUp, ClientFrame, Connect, DirectoryProgress, Disconnect, HostConnected, HostDisconnected,
    HostProcessEnded, HostRefused, HostReported, LeaveRooms, Malformed, RegisteredHost,
    RoomsStored, SetServers, StartDrain, TakeSnapshot,
};
use super::{ConnectedClient, HostLink, WorldServer};
use crate::admin::snapshot::add_stats;
use crate::cluster::pending_writes::PendingWrites;
use crate::lobby::{ConnId, Host, HostId, Lobby};

impl Handler<Connect> for WorldServer {
    type Result = MessageResult<Connect>;

    fn handle(
        &mut self,
        Connect { connection, queue }: Connect,
        ctx: &mut Self::Context,
    ) -> Self::Result {
        self.last_conn += 1;
        let conn = ConnId(self.last_conn);
        let address = connection.address();
        self.clients
            .insert(conn, ConnectedClient { connection, queue, pending: PendingWrites::default() });
        self.call_lobby(ctx, |lobby, now| lobby.handle_connect(now, conn, address));
        MessageResult(conn)
    }
}

impl Handler<ClientFrame> for WorldServer {
    type Result = MessageResult<ClientFrame>;

    fn handle(
        &mut self,
        ClientFrame { conn, frame }: ClientFrame,
        ctx: &mut Self::Context,
    ) -> Self::Result {
        self.call_lobby(ctx, |lobby, now| lobby.handle_frame(now, conn, &frame));
        MessageResult(self.lobby.read_pause(conn))
    }
}

impl Handler<CaughtUp> for WorldServer {
    type Result = ();

    fn handle(&mut self, CaughtUp { conn, missed }: CaughtUp, ctx: &mut Self::Context) {
        self.call_lobby(ctx, |lobby, now| lobby.handle_caught_up(now, conn, missed));
    }
}

impl Handler<Malformed> for WorldServer {
    type Result = ();

    fn handle(&mut self, Malformed { conn, code }: Malformed, ctx: &mut Self::Context) {
        self.call_lobby(ctx, |lobby, now| lobby.handle_malformed(now, conn, code));
    }
}

impl Handler<Disconnect> for WorldServer {
    type Result = ();

    fn handle(&mut self, Disconnect { conn, quit }: Disconnect, ctx: &mut Self::Context) {
        self.clients.remove(&conn);
        self.call_lobby(ctx, |lobby, now| {
            if quit {
                lobby.handle_quit(now, conn);
            } else {
                lobby.handle_disconnect(now, conn);
            }
        });
    }
}

impl Handler<HostConnected> for WorldServer {
    type Result = MessageResult<HostConnected>;

    fn handle(
        &mut self,
        HostConnected { commands, origin, instance }: HostConnected,
        ctx: &mut Self::Context,
    ) -> Self::Result {
        self.last_host += 1;
        let host = HostId(self.last_host);
        self.hosts.insert(host, HostLink { commands, pending: PendingWrites::default() });
        let silence = self.lobby.new_silence(self.clock.now(), origin, &instance);
        self.heard_hosts.add(host, silence);
        self.call_lobby(ctx, |lobby, now| lobby.handle_host_start(now, host, origin));
        MessageResult(RegisteredHost {
            id: host,
            clock: self.clock,
            checkpoints: Arc::clone(&self.checkpoints),
            heard_hosts: Arc::clone(&self.heard_hosts),
        })
    }
}

impl Handler<HostRefused> for WorldServer {
    type Result = ();

    fn handle(&mut self, HostRefused: HostRefused, _: &mut Self::Context) {
        self.lobby.count_refused_host();
    }
}

impl Handler<HostReported> for WorldServer {
    type Result = ();

    fn handle(&mut self, HostReported(host, report): HostReported, ctx: &mut Self::Context) {
        self.call_lobby(ctx, |lobby, now| lobby.handle_host(now, host, report));
    }
}

impl Handler<HostDisconnected> for WorldServer {
    type Result = ();

    fn handle(
        &mut self,
        HostDisconnected(host, reason): HostDisconnected,
        ctx: &mut Self::Context,
    ) {
        self.forget_host(host);
        self.call_lobby(ctx, |lobby, now| lobby.handle_host_lost(now, host, &reason));
    }
}

impl Handler<HostProcessEnded> for WorldServer {
    type Result = ();

    fn handle(&mut self, HostProcessEnded(instance): HostProcessEnded, ctx: &mut Self::Context) {
        // The lobby forgets these hosts; the ends of their links come later.
        let ended = |host: &&Host| !instance.is_empty() && host.instance == instance;
        for host in self.lobby.hosts().map(|(_, host)| host).filter(ended) {
            add_stats(&mut self.lost_host_stats, &host.stats);
        }
        self.call_lobby(ctx, |lobby, now| lobby.handle_process_ended(now, &instance));
    }
}

impl Handler<RoomsStored> for WorldServer {
    type Result = ();

    fn handle(&mut self, RoomsStored(rooms): RoomsStored, ctx: &mut Self::Context) {
        self.call_lobby(ctx, |lobby, now| lobby.handle_rooms_stored(now, &rooms));
    }
}

impl Handler<SetServers> for WorldServer {
    type Result = ();

    fn handle(&mut self, SetServers(servers): SetServers, ctx: &mut Self::Context) {
        self.call_lobby(ctx, |lobby, _| lobby.set_servers(servers));
    }
}

impl Handler<DirectoryProgress> for WorldServer {
    type Result = ();

    fn handle(&mut self, DirectoryProgress(progress): DirectoryProgress, _: &mut Self::Context) {
        if progress.unavailable != self.write_progress.unavailable {
            if progress.unavailable {
                tracing::warn!("directory unavailable; no rooms are created or started");
            } else {
                tracing::warn!("directory available again; rooms can be created and started");
            }
        }
        self.write_progress = progress;
        self.lobby.set_directory_available(!progress.unavailable);
        self.release_pending();
    }
}

impl Handler<StartDrain> for WorldServer {
    type Result = ();

    fn handle(&mut self, StartDrain(drained): StartDrain, ctx: &mut Self::Context) {
        self.draining = true;
        self.drained = Some(drained);
        self.call_lobby(ctx, Lobby::drain);
    }
}

impl Handler<LeaveRooms> for WorldServer {
    type Result = ();

    fn handle(&mut self, _: LeaveRooms, _: &mut Self::Context) {
        self.draining = true;
        if let Some(keeper) = self.checkpoints.keeper() {
            keeper.freeze();
        }
        // Dropping our ends closes the links.
        self.hosts.clear();
    }
}

impl Handler<TakeSnapshot> for WorldServer {
    type Result = MessageResult<TakeSnapshot>;

    fn handle(&mut self, _: TakeSnapshot, _: &mut Self::Context) -> Self::Result {
        MessageResult(Box::new(self.snapshot()))
    }
}
