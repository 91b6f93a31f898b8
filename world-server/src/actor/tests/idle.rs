//! A lobby's actor without games and hosts, for tests of what is around it.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use actix::Arbiter;
use ambit_lobby::{Lobby, LobbyConfig};
use ambit_transport::ticket::TicketSigner;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::accounts::AccountDesk;
use crate::actor::{ActorParts, LobbyClock, LobbyDesks, WorldServer};
use crate::operator_log::OperatorLog;

pub(crate) fn world_server() -> WorldServer {
    let lobby = Lobby::new(
        LobbyConfig::default(),
        Vec::new(),
        Box::new(|_: &str, _, _: &_| Ok(())),
        Box::new(|| [2; 16]),
        TicketSigner::from_seed(&[1; 32]),
    );
    let (clock, _) = LobbyClock::start();
    WorldServer::new(ActorParts {
        lobby,
        clock,
        desks: LobbyDesks { accounts: AccountDesk::in_memory(), operator_log: OperatorLog::new() },
        children: watch::channel(0).0,
        write_queue: None,
        recording_directory: None,
        checkpoints: Arc::default(),
        stop: CancellationToken::new(),
        lifeline: oneshot::channel().0,
    })
}

/// Keeps the thread of an actor busy until the result is dropped.
pub(crate) async fn hold(thread: &Arbiter) -> SyncSender<()> {
    let (is_busy, busy) = oneshot::channel();
    let (release, released) = sync_channel(1);
    thread.spawn_fn(move || {
        let _ = is_busy.send(());
        let _ = released.recv();
    });
    busy.await.expect("the thread runs");
    release
}
