//! The WorldServer's process: its store, what it keeps (`--keep`), and its death.
//!
//! The rules are those of the real shells:
//! - What the lobby records and the checkpoints of rooms survive the process a little later than
//!   they come, all together as they were at one moment.
//! - Nothing is asked of the store before all that came until then is kept. In a cluster
//!   ([`System::keep_late`]) the records are kept at once, and rooms independently of the store.
//! - The children of a WorldServer end with it, and so do the connections of its clients. The next
//!   process starts at once, with all that was kept.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_client_core::client::lobby::CloseReason;
use ambit_lobby::{AccountJob, AccountOutcome, JobSource, LobbyConfig, RecordKey, StoreJob};
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_room::journal::SavedRoom;
use ambit_room::logic::registry::Registry;
use ambit_store::RoomRequest;
use ambit_world_server::room_checkpoints::RoomCheckpoints;

use super::System;
use crate::sim::store::{self, SimulatedStore};

/// The longest time for which what has come is not kept yet.
const MAX_KEEP_DELAY_MS: u64 = 400;
/// The hosts of a server that was started again have this time to come back.
const RECONNECT_TIME: Duration = Duration::from_secs(4);
/// Hosts of a server that ends have this time to hand their rooms over.
const STOP_TIME: Duration = Duration::from_secs(5);

/// See the module.
pub(super) struct ServerProcess {
    pub(super) config: LobbyConfig,
    pub(super) store: Option<SimulatedStore>,
    /// The records of the lobby.
    records: BTreeMap<RecordKey, Vec<u8>>,
    kept: KeptServer,
    /// When the next moment is kept.
    keeps_at: LocalTime,
    deaths: u64,
    /// Whether the store does not wait for what is kept, so that rooms may go back behind it.
    keeps_late: bool,
    /// The process ends, and its hosts get no more orders.
    pub(super) holds_orders: bool,
}

/// What survives the process: all of one moment.
#[derive(Default)]
struct KeptServer {
    records: BTreeMap<RecordKey, Vec<u8>>,
    rooms: BTreeMap<RoomId, SavedRoom>,
}

impl ServerProcess {
    pub(super) fn new(config: LobbyConfig) -> Self {
        Self {
            config,
            store: None,
            records: BTreeMap::new(),
            kept: KeptServer::default(),
            keeps_at: LocalTime::ZERO,
            deaths: 0,
            keeps_late: false,
            holds_orders: false,
        }
    }

    pub(super) fn record(&mut self, key: RecordKey, value: Option<Vec<u8>>) {
        match value {
            Some(value) => drop(self.records.insert(key, value)),
            None => drop(self.records.remove(&key)),
        }
    }

    fn keeps_rooms(&self) -> bool {
        self.config.keeps_rooms
    }
}

/// Actions of tests.
impl System {
    /// The games store from now on; each user needs a token with its number, from 1 on.
    pub fn add_store(&mut self) {
        self.server.store = Some(SimulatedStore::new(self.seed));
    }

    /// Rooms are kept as in a cluster.
    pub fn keep_late(&mut self) {
        self.server.keeps_late = true;
    }

    /// Hosts that start from now on have these games, and so has the next WorldServer.
    pub fn set_games(&mut self, games: Registry) {
        self.fleet.set_registry(games);
    }

    /// The server's store.
    ///
    /// # Panics
    /// If it has none.
    pub fn store(&mut self) -> &mut SimulatedStore {
        self.server.store.as_mut().expect("the system has a store")
    }

    /// Kills the WorldServer with all its children, and starts the next one, which goes on with
    /// what was kept.
    ///
    /// # Panics
    /// If it has an embedded host, or hosts on other machines.
    pub fn kill_server(&mut self) {
        self.end_server();
        self.start_server();
    }

    /// Sends SIGTERM to the WorldServer: its children hand their rooms over, and all of it is kept.
    /// [`System::start_server`] has to follow.
    ///
    /// # Panics
    /// As [`System::kill_server`].
    pub fn stop_server(&mut self) {
        self.fleet.wanted_children = 0;
        self.lobby.end_own_hosts();
        self.drain_outputs();
        self.server.holds_orders = true;
        self.run_for(STOP_TIME);
        self.keep_all();
        self.end_server();
        self.server.holds_orders = false;
    }

    /// Starts the WorldServer, which goes on with what was kept.
    pub fn start_server(&mut self) {
        self.server.deaths += 1;
        let seed = self.seed.wrapping_add(self.server.deaths << 32);
        self.lobby = Self::new_lobby(seed, self.fleet.registry(), &self.server.config);
        let KeptServer { records, rooms } = std::mem::take(&mut self.server.kept);
        let kept = rooms.keys().copied().collect();
        let encoded = records.iter().map(|(key, bytes)| (*key, &bytes[..]));
        self.lobby.restore(self.now, encoded, RECONNECT_TIME, &kept);
        self.server.records.clone_from(&records);
        let whole = rooms.iter().filter(|(_, room)| room.journal.is_empty());
        self.lobby.mark_whole(whole.map(|(id, _)| *id));
        self.checkpoints = RoomCheckpoints::restored(self.now, rooms);
        self.fleet.wanted_children = self.server.config.children.min;
        self.start_children();
        self.drain_outputs();
        self.keep_all();
    }

    fn end_server(&mut self) {
        if self.server.keeps_late {
            self.server.kept.records.clone_from(&self.server.records);
        }
        for id in self.hosts.keys().copied().collect::<Vec<_>>() {
            self.lose_child(id);
        }
        for user in 0..self.users.len() {
            if self.users[user].world.take().is_some() {
                self.with_client(user, |client, now| {
                    client.handle_world_closed(now, CloseReason::Broken("killed".into()));
                });
            }
        }
        if let Some(store) = &mut self.server.store {
            store.forget_asker();
        }
    }
}

impl System {
    /// When something is due.
    pub(super) fn next_server_deadline(&self) -> Option<LocalTime> {
        let keeps_at = self.server.keeps_rooms().then_some(self.server.keeps_at);
        let store = self.server.store.as_ref().and_then(SimulatedStore::next_deadline);
        [keeps_at, store].into_iter().flatten().min()
    }

    pub(super) fn run_server(&mut self) {
        if self.server.keeps_rooms() && self.server.keeps_at <= self.now {
            self.keep_all();
        }
        let now = self.now;
        let answers = self.server.store.as_mut().map(|store| store.take_due(now));
        for (request, outcome) in answers.unwrap_or_default() {
            self.lobby.handle_stored(now, &request, outcome);
        }
    }

    /// All that came until now survives the process.
    fn keep_all(&mut self) {
        if !self.server.keeps_rooms() {
            return;
        }
        let records = self.server.records.clone();
        let rooms = records.keys().filter_map(|key| match key {
            RecordKey::Room(room) => Some((*room, self.checkpoints.saved(*room)?)),
            _ => None,
        });
        let rooms = rooms.collect();
        self.server.kept = KeptServer { records, rooms };
        self.server.keeps_at = self.now + self.fleet.random_delay(MAX_KEEP_DELAY_MS);
    }

    pub(super) fn begin_store_job(&mut self, request: RoomRequest, job: StoreJob, is_last: bool) {
        if !self.server.keeps_late {
            self.keep_all();
        }
        let now = self.now;
        let store = self.server.store.as_mut().expect("the games of a simulation store nothing");
        if is_last {
            store.begin_last(request, job);
        } else {
            store.begin(now, request, job);
        }
    }

    pub(super) fn begin_account_job(&mut self, source: JobSource, job: &AccountJob) {
        let account = store::account_of(job);
        let outcome = AccountOutcome::SignedIn { account, login: None };
        self.lobby.handle_account(self.now, source, outcome);
    }
}
