//! The start of the lobby's actor: with a new lobby, or with one that is restored.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor as _, Arbiter, ArbiterHandle};
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_room::logic::registry::Registry;
use ambit_transport::ticket::TicketSigner;
use anyhow::Context as _;
use ring::rand::{SecureRandom as _, SystemRandom};
use tokio::sync::{oneshot, watch};

use crate::actor::{LobbyClock, WorldServer};
use crate::cluster::leadership::LEADER_LEASE;
use crate::cluster::{StartedLobby, StoredLobby};
use crate::config::Config;
use crate::hosts::room_checkpoints::RoomCheckpoints;
use crate::keep::directory::Keeper;
use crate::keep::log::KeptState;
use crate::lobby::{Lobby, LobbyConfig, LobbyGame, RecordKey};

/// How long hosts on other machines may take, beside `--host-silence`, to come back to a server
/// that was started again.
const HOSTS_RETURN_TIME: Duration = Duration::from_secs(2);

/// What a lobby begins with.
pub(super) enum LobbySource {
    Nothing,
    /// The directory of a cluster.
    Cluster(StoredLobby),
    /// The files of `--keep`.
    Directory(Arc<Keeper>, KeptState),
}

/// Starts the lobby's thread. Must be called on a thread of the actix system.
pub(super) fn start_lobby_thread() -> anyhow::Result<ArbiterHandle> {
    Ok(Arbiter::try_new()
        .context("cannot start the lobby's thread")?
        .handle())
}

/// Starts the lobby's actor with a new lobby, or with one that is restored.
pub(super) fn start_lobby(
    config: &Config,
    registry: &Registry,
    arbiter: &ArbiterHandle,
    (clock, epoch_unix): (LobbyClock, Duration),
    children: Option<watch::Sender<u32>>,
    source: LobbySource,
) -> anyhow::Result<StartedLobby> {
    let mut seed = [0; 32];
    SystemRandom::new()
        .fill(&mut seed)
        .map_err(|_| anyhow::anyhow!("the system's random source failed"))?;
    let signer = TicketSigner::from_seed(&seed);
    let games = registry.games().map(lobby_game).collect();
    let checker = registry.clone();
    let limits = config.room_limits();
    let check = move |game: &str, capacity, parameters: &_| {
        checker
            .check_within(&limits, game, capacity, parameters)
            .map_err(|error| error.to_string())
    };
    let lobby_config = LobbyConfig {
        server_secret: Some(crate::identity::server_secret(config)?),
        ..config.lobby(epoch_unix)
    };
    let mut lobby = Lobby::new(
        lobby_config,
        games,
        Box::new(check),
        Box::new(random_bytes()),
        signer,
    );
    let (now, mut write_queue) = (clock.now(), None);
    let mut checkpoints = RoomCheckpoints::default();
    match source {
        LobbySource::Nothing => {}
        LobbySource::Cluster(StoredLobby {
            write_queue: queue,
            records,
            rooms,
        }) => {
            let reconnect_time = LEADER_LEASE + config.host_silence;
            restore(&mut lobby, now, &records, reconnect_time, &rooms);
            let known = rooms.into_iter().filter(|(id, _)| lobby.is_running(*id));
            checkpoints = RoomCheckpoints::with_kept(now, known, None);
            write_queue = Some(queue);
        }
        LobbySource::Directory(keeper, KeptState { records, rooms, .. }) => {
            let plan = keeper.start_plan();
            if plan.one_at_a_time {
                lobby.restore_one_at_a_time();
            }
            let reconnect_time = config.host_silence + HOSTS_RETURN_TIME;
            restore(&mut lobby, now, &records, reconnect_time, &rooms);
            if let Some(room) = plan.set_aside
                && let Some(kept) = rooms.get(&room)
                && let Some(header) = lobby.set_aside_room(now, room)
            {
                let set_aside = keeper.set_aside(&header, &kept.saved);
                set_aside.context("cannot set aside the room that ended the last server")?;
            }
            let (known, unknown): (Vec<_>, Vec<_>) =
                rooms.into_iter().partition(|(id, _)| lobby.is_running(*id));
            for (room, _) in unknown {
                keeper.forget(room);
            }
            let known = known.into_iter().map(|(id, room)| (id, room.saved));
            checkpoints = RoomCheckpoints::with_kept(now, known, Some(keeper));
        }
    }
    let (lifeline, ended) = oneshot::channel();
    let checkpoints = Arc::new(checkpoints);
    let of_actor = Arc::clone(&checkpoints);
    let (record, children) = (
        config.record.clone(),
        children.unwrap_or_else(|| watch::Sender::new(0)),
    );
    let world = WorldServer::start_in_arbiter(arbiter, move |_| {
        WorldServer::new(
            lobby,
            clock,
            children,
            write_queue,
            record,
            of_actor,
            lifeline,
        )
    });
    Ok(StartedLobby {
        world,
        ended,
        checkpoints,
    })
}

/// Restores the lobby from the records that it has written, and says which rooms were kept.
fn restore<R>(
    lobby: &mut Lobby,
    now: LocalTime,
    records: &BTreeMap<RecordKey, Vec<u8>>,
    reconnect_time: Duration,
    rooms: &BTreeMap<RoomId, R>,
) {
    let records = records.iter().map(|(key, bytes)| (*key, &bytes[..]));
    let kept = rooms.keys().copied().collect();
    lobby.restore(now, records, reconnect_time, &kept);
}

fn lobby_game(game: &ambit_room::logic::registry::GameInfo) -> LobbyGame {
    LobbyGame {
        name: game.name.to_string(),
        description: game.description.to_string(),
        min_players: game.min_players,
        join_running: game.join_running,
    }
}

fn random_bytes() -> impl FnMut() -> [u8; 16] + Send {
    let random = SystemRandom::new();
    move || {
        let mut bytes = [0; 16];
        random
            .fill(&mut bytes)
            .expect("the system's random source worked before");
        bytes
    }
}
