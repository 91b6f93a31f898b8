//! What rooms ask of the store.
//!
//! A host passes on what a game asks, and repeats it once a second until there is an answer. So the
//! lobby remembers only what the shell has at the moment, takes no second request with the same
//! number meanwhile, and drops what is beyond [`MAX_JOBS_OF_ROOM`]: it comes again. A job that the
//! store could not do has no answer either; the room's players are told once that it waits.
//!
//! A profile that another room has is claimed again each second, too. If no other session of the
//! account is in a room meanwhile, that room is gone, and has the profile no longer. Otherwise a
//! session whose line is broken leaves the game for the one that waits, and beside one that plays
//! the newer one is put out.
//!
//! What a closed room wanted written last is passed on without an answer: the shell tries it for
//! some time.
//!
//! A room's id is unique among the rooms of its *lineage*: of all lobbies that have gone on with
//! the records of the first one.

use ambit_host_protocol::messages::RoomOrder;
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::world_to_client::Body;
use ambit_proto::ids::{AccountId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_room::logic::store::{
    AskedOfStore, ProfileClaim, ProfileSave, StoreAnswer, StoreKey, StoreNumber, StoreRequest,
};
use ambit_store::{RoomRequest, StoredProfile, ValueKey};

use crate::lobby::Lobby;
use crate::lobby::output::{HostId, LobbyAction, error_body};
use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::rooms::room::{LobbyRoom, RoomPhase};
use crate::lobby::rooms::running::{PLAYS_ALREADY, TAKES_OVER};
use crate::lobby::sessions::players::LobbyPlayer;
use crate::lobby::store_job::{StoreJob, StoreOutcome};

/// Requests of one room that the shell may have at a time, so that a room leaves the store to
/// others.
const MAX_JOBS_OF_ROOM: usize = 64;
/// A player is told that the profile is in use after this number of answers, some seconds.
const TOLD_AFTER: u32 = 3;
/// A room that no session of the account is in has written the profile by then, or is gone: after
/// that many answers in a row while the store worked and each room of the game had a host.
const GONE_AFTER: u32 = 20;
/// The same after all answers, if a room of the game has no host for good.
const GONE_AFTER_WITHOUT_HOST: u32 = 600;

impl Lobby {
    /// A host passes on what a room's game asks.
    pub(in crate::lobby) fn handle_store_request(
        &mut self,
        host: HostId,
        id: RoomId,
        asked: AskedOfStore,
    ) {
        let runs_there = |room: &&LobbyRoom| room.phase == RoomPhase::Running { host };
        let pair = |number: StoreNumber| (number.incarnation, number.count);
        let (number, oldest) = (pair(asked.number), pair(asked.oldest));
        let Some(room) = self.rooms.get(id).filter(runs_there) else {
            if let Some(game) = self.store_jobs.closed_game(id, host) {
                let job = job_of(game, asked.request);
                let lineage = self.lineage();
                let request = RoomRequest { lineage, room: id.0, number, oldest };
                self.effects.outbox.push(LobbyAction::StoreLast { request, job });
            }
            return;
        };
        let game = self.rooms.at(room.world_id()).game.clone();
        let mut job = job_of(game, asked.request);
        if let StoreJob::ClaimProfile { account, instead_of, .. } = &mut job {
            *instead_of = self.gone_holder(id, number, *account);
        }
        let jobs = self.store_jobs.by_room.entry(id).or_default();
        if jobs.running.len() < MAX_JOBS_OF_ROOM && jobs.running.insert(number) {
            let lineage = self.lineage();
            let request = RoomRequest { lineage, room: id.0, number, oldest };
            self.effects.outbox.push(LobbyAction::Store { request, job });
        }
    }

    /// The claim of a profile by a room that is gone: it has answered for long that another room
    /// has the profile, but no other session of the account is in one.
    fn gone_holder(&self, id: RoomId, number: (u32, u64), account: AccountId) -> Option<u64> {
        let held = self.store_jobs.by_room.get(&id)?.held.get(&number)?;
        let world = self.rooms.get(id)?.world_id();
        let players =
            self.sessions.players().iter().filter(|player| player.account == Some(account));
        let worlds: Vec<RoomId> = players.filter_map(|player| player.room).collect();
        // The player who waits may have left, and have the profile in another world.
        let is_gone = worlds.is_empty() || worlds == [world];
        let is_over = held.in_peace >= GONE_AFTER || held.times >= GONE_AFTER_WITHOUT_HOST;
        (is_over && is_gone).then_some(held.holder)
    }

    /// Whether each room of the game of this one has a host: what has just come to another one has
    /// to write what it has first.
    fn can_all_write(&self, id: RoomId) -> bool {
        let game = self.rooms.get(id).map(|room| &room.game);
        let is_moving = |room: &LobbyRoom| {
            Some(&room.game) == game && matches!(room.phase, RoomPhase::Moving { .. })
        };
        !self.rooms.iter().any(is_moving)
    }

    /// The shell has done a room's job, or could not.
    pub fn handle_stored(&mut self, now: LocalTime, request: &RoomRequest, outcome: StoreOutcome) {
        self.advance(now);
        self.take_store_outcome(now, request, outcome);
        self.advance(now);
    }

    fn take_store_outcome(&mut self, now: LocalTime, request: &RoomRequest, outcome: StoreOutcome) {
        let id = RoomId(request.room);
        if let Some(jobs) = self.store_jobs.by_room.get_mut(&id) {
            jobs.running.remove(&request.number);
            if outcome == StoreOutcome::Unavailable {
                jobs.note_unavailable(request.number);
            }
            if !matches!(outcome, StoreOutcome::Held { .. } | StoreOutcome::Unavailable) {
                jobs.held.remove(&request.number);
            }
            if jobs.running.is_empty() && jobs.held.is_empty() {
                self.store_jobs.by_room.remove(&id);
            }
        }
        match outcome {
            StoreOutcome::Done(value) => {
                self.store_jobs.told.remove(&id);
                self.send_stored(id, request.number, StoreAnswer::Done(value));
            }
            StoreOutcome::Claimed { claim, value } => {
                self.store_jobs.told.remove(&id);
                let answer = StoreAnswer::Claimed(ProfileClaim(claim), value);
                self.send_stored(id, request.number, answer);
            }
            StoreOutcome::Saved(lost) => {
                self.store_jobs.told.remove(&id);
                self.send_stored(id, request.number, StoreAnswer::Saved(lost));
            }
            StoreOutcome::Held { account, claim } => {
                if self.rooms.get(id).is_some() && !self.settle_sessions(now, id, account) {
                    let can_write = self.can_all_write(id);
                    let jobs = self.store_jobs.by_room.entry(id).or_default();
                    if jobs.note_held(request.number, claim, can_write) == TOLD_AFTER {
                        self.tell_that_profile_is_held(id, account);
                    }
                }
            }
            StoreOutcome::Refused => self.send_stored(id, request.number, StoreAnswer::Refused),
            StoreOutcome::Unavailable => self.tell_that_store_is_away(id),
        }
    }

    /// A room waits for a profile that another one has. Decides between two sessions of the account
    /// in rooms of one game; `false` if there are none.
    fn settle_sessions(&mut self, now: LocalTime, id: RoomId, account: AccountId) -> bool {
        let Some(room) = self.rooms.get(id) else {
            return false;
        };
        let world = room.world_id();
        let game = &self.rooms.at(world).game;
        let plays_it = |room: RoomId| {
            self.rooms.get(room).is_some_and(|room| room.has_started() && room.game == *game)
        };
        let of_account =
            self.sessions.players().iter().filter(|player| player.account == Some(account));
        let (mut newer, mut others) = (Vec::new(), Vec::new());
        for player in of_account {
            match player.room {
                Some(room) if room == world && self.is_on_map(player.id, id) => {
                    newer.push(player.id);
                }
                Some(room) if plays_it(room) => others.push((player.id, player.conn)),
                _ => {}
            }
        }
        if newer.is_empty() || others.is_empty() {
            return false;
        }
        let is_played = others.iter().any(|(_, conn)| conn.is_some());
        let (out, why) = if is_played {
            (newer, LobbyRefusal::new(ErrorCode::AlreadyInRoom, PLAYS_ALREADY))
        } else {
            let others = others.into_iter().map(|(player, _)| player).collect();
            (others, LobbyRefusal::new(ErrorCode::TakenOver, TAKES_OVER))
        };
        for player in out {
            self.remove_player(now, player, why.clone());
        }
        true
    }

    fn send_stored(&mut self, id: RoomId, number: (u32, u64), answer: StoreAnswer) {
        if let Some(room) = self.rooms.get(id)
            && let RoomPhase::Running { host } = room.phase
        {
            let (incarnation, count) = number;
            let number = StoreNumber { incarnation, count };
            self.effects.outbox.send_to_room(host, id, RoomOrder::Stored { number, answer });
        }
    }

    fn tell_that_store_is_away(&mut self, id: RoomId) {
        let Some(room) = self.rooms.get(id) else {
            return;
        };
        let world = room.world_id();
        if self.store_jobs.told.insert(id) {
            let message = "what this game stores waits in the room: the server's store does not \
                           work now, and it is tried again";
            let body: Body = error_body(LobbyRefusal::new(ErrorCode::TryAgain, message));
            let members = self.member_conns(world, None);
            self.effects.outbox.broadcast(members, body);
        }
    }

    fn tell_that_profile_is_held(&mut self, id: RoomId, account: AccountId) {
        let Some(room) = self.rooms.get(id) else {
            return;
        };
        let world = room.world_id();
        let waits =
            |player: &&LobbyPlayer| player.account == Some(account) && player.room == Some(world);
        let players: Vec<_> =
            self.sessions.players().iter().filter(waits).map(|player| player.id).collect();
        let message = "what this game stores for you is in use: by another session of your \
                       account, or by a room that is about to write it; you come in once it is \
                       free";
        for player in players {
            self.notify(player, error_body(LobbyRefusal::new(ErrorCode::TryAgain, message)));
        }
    }

    /// A host is told to close a room.
    pub(in crate::lobby) fn note_closed_room(&mut self, id: RoomId, host: HostId) {
        if let Some(room) = self.rooms.get(id).filter(|room| room.has_started()) {
            let game = self.rooms.at(room.world_id()).game.clone();
            self.store_jobs.note_closed(id, host, game);
        }
    }

    /// A room is gone: nothing of it comes again.
    pub(in crate::lobby) fn forget_store_jobs(&mut self, id: RoomId) {
        self.store_jobs.told.remove(&id);
        self.store_jobs.by_room.remove(&id);
        if let Some(lineage) = self.records.lineage() {
            self.effects.outbox.push(LobbyAction::ForgetStoreJobs { lineage, room: id });
        }
    }
}

fn job_of(game: String, request: StoreRequest) -> StoreJob {
    let key = |game, StoreKey { account, name }| ValueKey { game, account, name };
    match request {
        StoreRequest::Load(of) => StoreJob::Load(key(game, of)),
        StoreRequest::Save(of, value) => StoreJob::Save(key(game, of), value),
        StoreRequest::AddResult(row) => StoreJob::AddResult {
            game,
            board: row.board,
            account: row.account,
            player: row.player,
            score: row.score,
        },
        StoreRequest::ClaimProfile(account) => {
            StoreJob::ClaimProfile { game, account, instead_of: None }
        }
        StoreRequest::SaveProfiles(saves) => {
            let profiles = saves.into_iter().map(profile_of).collect();
            StoreJob::SaveProfiles { game, profiles }
        }
    }
}

fn profile_of(save: ProfileSave) -> StoredProfile {
    let ProfileSave { account, claim, version, value, is_last } = save;
    StoredProfile { account, claim: claim.0, version, value, is_last }
}
