//! The start of the lobby's actor: with a new lobby, or with one that is restored.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor as _, Addr, Arbiter, ArbiterHandle};
use ambit_lobby::{Lobby, LobbyConfig, LobbyGame, RecordKey};
use ambit_proto::control::game;
use ambit_proto::control::world::{self, parameter};
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_room::config::{Allowed, Parameter};
use ambit_room::journal::SavedRoom;
use ambit_room::logic::registry::{GameInfo, Registry};
use ambit_room::room_limits::RoomLimits;
use ambit_store::Names;
use ambit_transport::random::system_random;
use ambit_transport::ticket::TicketSigner;
use anyhow::Context as _;
use prost::Message as _;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::actor::calls::in_lobby;
use crate::actor::{ActorParts, LobbyClock, LobbyDesks, WorldServer};
use crate::cluster::leadership::LEADER_LEASE;
use crate::cluster::{StartedLobby, StoredLobby};
use crate::config::Config;
use crate::hosts::room_checkpoints::RoomCheckpoints;
use crate::keep::keeper::Keeper;
use crate::keep::log::KeptState;
use crate::keep::planner::RoomSetAside;

/// How long hosts on other machines may take, beside `--host-silence`, to come back to a server
/// that was started again.
const HOSTS_RETURN_TIME: Duration = Duration::from_secs(2);

/// What a lobby begins with.
pub(super) enum LobbySource {
    Nothing,
    /// The directory of a cluster.
    Cluster(StoredLobby),
    /// The files of `--keep`.
    Folder(Arc<Keeper>, KeptState),
}

/// Starts the lobby's thread. Must be called on a thread of the actix system.
pub(super) fn start_lobby_thread() -> anyhow::Result<ArbiterHandle> {
    Ok(Arbiter::try_new().context("cannot start the lobby's thread")?.handle())
}

/// Starts the lobby's actor with a new lobby, or with one that is restored.
pub(super) fn start_lobby(
    config: &Config,
    registry: &Registry,
    arbiter: &ArbiterHandle,
    (clock, epoch_unix): (LobbyClock, Duration),
    (desks, children): (LobbyDesks, Option<watch::Sender<u32>>),
    stop: CancellationToken,
    source: LobbySource,
) -> anyhow::Result<StartedLobby> {
    let seed = system_random()?;
    let signer = TicketSigner::from_seed(&seed);
    let checker = registry.clone();
    let limits = config.room_limits();
    let games = registry.games();
    let games = games.map(|game| lobby_game(game, registry, &limits)).collect();
    let check = move |game: &str, capacity, parameters: &_| {
        checker.check_within(&limits, game, capacity, parameters).map_err(|error| error.to_string())
    };
    let lobby_config = LobbyConfig {
        server_secret: Some(crate::identity::server_secret(config)?),
        waits_for_directory: matches!(source, LobbySource::Cluster(_)),
        ..config.lobby(epoch_unix)
    };
    let random = || system_random().expect("the system's random source worked before");
    let mut lobby = Lobby::new(lobby_config, games, Box::new(check), Box::new(random), signer);
    let now = clock.now();
    let mut names = desks.accounts.names();
    lobby.set_names(now, names.borrow_and_update().clone());
    let mut write_queue = None;
    let mut checkpoints = RoomCheckpoints::default();
    match source {
        LobbySource::Nothing => {}
        LobbySource::Cluster(StoredLobby { write_queue: queue, records, rooms }) => {
            let reconnect_time = LEADER_LEASE + config.host_silence;
            restore(&mut lobby, now, &records, reconnect_time, &rooms, |saved| saved);
            checkpoints = RoomCheckpoints::with_kept(now, rooms, None);
            write_queue = Some(queue);
        }
        LobbySource::Folder(keeper, KeptState { records, rooms, .. }) => {
            let plan = keeper.start_plan();
            if plan.one_at_a_time {
                lobby.restore_one_at_a_time();
            }
            let reconnect_time = config.host_silence + HOSTS_RETURN_TIME;
            restore(&mut lobby, now, &records, reconnect_time, &rooms, |kept| &kept.saved);
            if let Some(room) = plan.set_aside
                && let Some(kept) = rooms.get(&room)
                && let Some((header, build)) = lobby.set_aside_room(now, room)
            {
                let why = "the server ended when it went on with it".to_owned();
                let saved = kept.saved.clone();
                let set_aside = keeper.set_aside_now(&RoomSetAside { header, saved, build, why });
                set_aside.context("cannot set aside the room that ended the last server")?;
            }
            let rooms = rooms.into_iter().map(|(id, room)| (id, room.saved));
            checkpoints = RoomCheckpoints::with_kept(now, rooms, Some(keeper));
        }
    }
    let (lifeline, ended) = oneshot::channel();
    let checkpoints = Arc::new(checkpoints);
    let of_actor = Arc::clone(&checkpoints);
    let parts = ActorParts {
        lobby,
        clock,
        desks,
        children: children.unwrap_or_else(|| watch::Sender::new(0)),
        write_queue,
        recording_directory: config.recordings.record.clone(),
        checkpoints: of_actor,
        stop,
        lifeline,
    };
    let world = WorldServer::start_in_arbiter(arbiter, move |_| WorldServer::new(parts));
    tokio::spawn(follow_names(names, world.clone()));
    Ok(StartedLobby { world, ended, checkpoints })
}

/// Tells the lobby of reserved names and bans that have changed, until it has ended.
async fn follow_names(mut names: watch::Receiver<Names>, world: Addr<WorldServer>) {
    while names.changed().await.is_ok() && world.connected() {
        let newest = names.borrow_and_update().clone();
        let _ = world.send(in_lobby(move |lobby, now| lobby.set_names(now, newest))).await;
    }
}

/// Restores the lobby from the records that it has written, and says which rooms were kept.
fn restore<R>(
    lobby: &mut Lobby,
    now: LocalTime,
    records: &BTreeMap<RecordKey, Vec<u8>>,
    reconnect_time: Duration,
    rooms: &BTreeMap<RoomId, R>,
    saved: impl Fn(&R) -> &SavedRoom,
) {
    let records = records.iter().map(|(key, bytes)| (*key, &bytes[..]));
    let kept = rooms.keys().copied().collect();
    lobby.restore(now, records, reconnect_time, &kept);
    let whole = rooms.iter().filter(|(_, room)| saved(room).journal.is_empty());
    lobby.mark_whole(whole.map(|(id, _)| *id));
}

fn lobby_game(game: &GameInfo, registry: &Registry, limits: &RoomLimits) -> LobbyGame {
    let parameters = registry.parameters(game.name).unwrap_or_default();
    let parameters: Vec<_> =
        parameters.iter().map(|parameter| registry.offered(limits, game.name, parameter)).collect();
    let schema = registry.schema(game.name).unwrap_or_default();
    let schema = schema.for_clients();
    LobbyGame {
        name: game.name.to_string(),
        description: game.description.to_string(),
        min_players: game.min_players,
        join_running: game.join_running,
        is_lasting: game.is_lasting,
        quick_start: quick_start(game, &parameters),
        parameters: parameters.iter().map(parameter_message).collect(),
        max_capacity: limits.largest(game.name, "capacity").map_or(u32::MAX, |most| most as u32),
        presentation: schema.presentation.to_block(),
        schema: game::Schema::from(&*schema).encode_to_vec(),
    }
}

/// With no more of what is counted than the operator allows.
fn quick_start(game: &GameInfo, offered: &[Parameter]) -> BTreeMap<String, String> {
    let within = |key: &str, value: &str| {
        let parameter = offered.iter().find(|parameter| parameter.key == key)?;
        let Allowed::Whole { max, .. } = parameter.allowed else { return None };
        Some(value.parse::<u64>().ok()?.min(max).to_string())
    };
    let values = game.quick_start.iter().map(|&(key, value)| {
        (key.to_owned(), within(key, value).unwrap_or_else(|| value.to_owned()))
    });
    values.collect()
}

fn parameter_message(parameter: &Parameter) -> world::Parameter {
    let range = |min: f32, max: f32| world::DecimalRange { min: decimal(min), max: decimal(max) };
    world::Parameter {
        key: parameter.key.to_owned(),
        label: parameter.label.to_owned(),
        default_value: parameter.default.to_owned(),
        about: parameter.about.to_owned(),
        allowed: Some(match parameter.allowed {
            Allowed::Whole { min, max } => {
                parameter::Allowed::Whole(world::WholeRange { min, max })
            }
            Allowed::Decimal { min, max } => parameter::Allowed::Decimal(range(min, max)),
            Allowed::Size { min, max } => parameter::Allowed::Size(range(min, max)),
            Allowed::Word(words) => parameter::Allowed::Word(world::Words {
                words: words.iter().map(|&word| word.to_owned()).collect(),
            }),
        }),
    }
}

/// The number as it was written: 0.1 and not 0.100000001.
fn decimal(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

#[cfg(test)]
mod tests {
    use ambit_room::room_limits::RoomLimit;
    use world::parameter::Allowed as Sent;

    use super::*;

    #[test]
    fn a_game_is_described_within_the_operator_s_limits() {
        let registry = ambit_game_server::standard();
        let limits = ["tick=30", "field.npcs=500", "capacity=12", "cell=0.1"];
        let limits = limits.map(|limit| limit.parse::<RoomLimit>().expect("a limit"));
        let limits = RoomLimits::with(&limits);
        let field = registry.info("field").expect("registered");
        let game = lobby_game(field, &registry, &limits);
        assert_eq!(game.max_capacity, 12);
        let allowed = |key: &str| {
            let mut found = game.parameters.iter().filter(|known| known.key == key);
            let parameter = found.next()?;
            assert!(found.next().is_none(), "{key} comes twice");
            parameter.allowed.clone()
        };
        let whole = |min, max| Some(Sent::Whole(world::WholeRange { min, max }));
        assert_eq!(allowed("tick"), whole(10, 30));
        assert_eq!(allowed("npcs"), whole(0, 500));
        assert_eq!(allowed("pilots"), whole(0, 20));
        assert_eq!(allowed("map-seats"), whole(1, 4_096));
        assert_eq!(allowed("seed"), whole(0, u64::MAX));
        assert_eq!(allowed("map"), None, "only the lobby sets it");
        let margin = world::DecimalRange { min: 0.0, max: 500.0 };
        assert_eq!(allowed("margin"), Some(Sent::Decimal(margin)));
        assert_eq!(decimal(0.1).to_bits(), 0.1_f64.to_bits());
    }

    #[test]
    fn a_quick_start_has_no_more_than_the_operator_allows() {
        let registry = ambit_game_server::standard();
        let limits = ["field.npcs=7", "field.pilots=20"];
        let limits = limits.map(|limit| limit.parse::<RoomLimit>().expect("a limit"));
        let of = |game: &str, limits: &[RoomLimit]| {
            let info = registry.info(game).expect("registered");
            lobby_game(info, &registry, &RoomLimits::with(limits)).quick_start
        };
        let given = |npcs: &str| {
            [
                ("npcs", npcs),
                ("obstacles", "14"),
                ("pilots", "6"),
                ("size", "60x60"),
                ("wolves", "4"),
            ]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
        };
        assert_eq!(of("field", &[]), BTreeMap::from(given("30")));
        assert_eq!(of("field", &limits), BTreeMap::from(given("7")));
        assert_eq!(of("cubes", &limits), BTreeMap::new());
    }

    #[test]
    fn the_largest_value_that_is_offered_is_accepted_and_one_more_is_not() {
        let registry = ambit_game_server::standard();
        let limits = RoomLimits::default();
        let mut nearer = Vec::new();
        for info in registry.games() {
            let declared = registry.parameters(info.name).expect("registered");
            let described = lobby_game(info, &registry, &limits).parameters;
            for (offered, declared) in described.iter().zip(&declared) {
                let (Some(Sent::Whole(range)), Allowed::Whole { max, .. }) =
                    (&offered.allowed, declared.allowed)
                else {
                    continue;
                };
                let is_refused = |value: u64| {
                    // As few objects as the game can have beside.
                    let fewest = ["npcs", "pilots", "wolves", "asteroids", "ships", "cubes"];
                    let is_own = |key: &&str| declared_in(info, key) && *key != declared.key;
                    let fewest = fewest.iter().filter(|key| is_own(key));
                    let fewest = fewest.map(|key| ((*key).to_owned(), least(info, key)));
                    let mut given: BTreeMap<_, _> = fewest.collect();
                    given.insert(declared.key.to_owned(), value.to_string());
                    let checked = registry.check_within(&limits, info.name, 1, &given);
                    checked.is_err_and(|error| error.to_string().contains("this server"))
                };
                assert!(!is_refused(range.max), "{}: {}={}", info.name, declared.key, range.max);
                if range.max < max {
                    nearer.push(format!("{}.{}={}", info.name, declared.key, range.max));
                    assert!(is_refused(range.max + 1), "{nearer:?}");
                }
            }
        }
        assert!(nearer.contains(&"field.npcs=5000".to_owned()), "{nearer:?}");
    }

    /// Why the room is refused.
    fn refusal(game: &str, capacity: u32, given: &[(&str, &str)]) -> String {
        let given = given.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let registry = ambit_game_server::standard();
        registry
            .check_within(&RoomLimits::default(), game, capacity, &given.collect())
            .expect_err("too much")
            .to_string()
    }

    #[test]
    fn what_is_too_much_is_refused_with_the_largest_values_that_would_do() {
        assert_eq!(
            refusal("cubes", 2, &[("cubes", "6000"), ("size", "300x300")]),
            "a room with 6000 objects is too much for this server, which allows 5000: ask for \
             cubes up to 5000"
        );
        assert_eq!(
            refusal("field", 2, &[("npcs", "5000")]),
            "a room with 5004 objects is too much for this server, which allows 5000: ask for \
             npcs up to 4996, or wolves up to 0"
        );
        let given = [("npcs", "4000"), ("size", "60x60")];
        let pairs = refusal("field", 1_000, &given);
        let largest = |name: &str| {
            let (_, rest) = pairs.split_once(&format!("{name} up to ")).expect("it is named");
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next().expect("a first part");
            digits.parse::<u32>().expect("a number")
        };
        let npcs = largest("npcs");
        let seats = largest("capacity");
        let registry = ambit_game_server::standard();
        let is_accepted = |npcs: u32, capacity: u32| {
            let given = [("npcs", npcs.to_string()), ("size", "60x60".to_owned())];
            let given = given.map(|(key, value)| (key.to_owned(), value)).into();
            registry.check_within(&RoomLimits::default(), "field", capacity, &given).is_ok()
        };
        assert!(is_accepted(npcs, 1_000) && is_accepted(4_000, seats), "{pairs}");
        assert!(!is_accepted(npcs + 1, 1_000) && !is_accepted(4_000, seats + 1), "{pairs}");
    }

    #[test]
    fn a_refusal_says_what_is_offered() {
        assert_eq!(
            refusal("field", 2, &[("npcs", "-1")]),
            "npcs=-1 is not possible: it must be a whole number from 0 to 5000"
        );
        assert_eq!(
            refusal("field", 2, &[("budget", "31")]),
            "budget=31 is not possible: it must be a whole number from 32 to 10000"
        );
        assert_eq!(
            refusal("field", 2, &[("tick", "+20")]),
            "tick=+20 is not possible: it must be a whole number from 10 to 60"
        );
        let registry = ambit_game_server::standard();
        for (game, min, max) in [("shooter", 40.0, 10_000.0), ("cubes", 10.0, 4_096.0)] {
            let info = registry.info(game).expect("registered");
            let described = lobby_game(info, &registry, &RoomLimits::default()).parameters;
            let size = described.iter().find(|known| known.key == "size").expect("each has one");
            let range = world::DecimalRange { min, max };
            assert_eq!(size.allowed, Some(Sent::Size(range)), "{game}");
            for side in [min - 1.0, max + 1.0] {
                let given = format!("{side}x{side}");
                assert_eq!(
                    refusal(game, 2, &[("size", &given)]),
                    format!(
                        "size={given} is not possible: it must be WIDTHxHEIGHT, each a number \
                         from {min} to {max}"
                    )
                );
            }
        }
    }

    fn declared_in(info: &GameInfo, key: &str) -> bool {
        info.parameters.iter().any(|parameter| parameter.key == key)
    }

    fn least(info: &GameInfo, key: &str) -> String {
        let declared = info.parameters.iter().find(|parameter| parameter.key == key);
        match declared.map(|parameter| parameter.allowed) {
            Some(Allowed::Whole { min, .. }) => min.to_string(),
            other => panic!("{key} is no whole number: {other:?}"),
        }
    }
}
