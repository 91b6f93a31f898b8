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
use ambit_proto::ids::{AccountId, PlayerId, RoomId};
use ambit_room::logic::store::{
    AskedOfStore, ProfileClaim, ProfileSave, StoreAnswer, StoreKey, StoreNumber, StoreRequest,
};
use ambit_store::{RoomRequest, StoredProfile, ValueKey};

use crate::output::{HostId, OutputQueue, error_body};
use crate::refusal::LobbyRefusal;
use crate::rooms::Rooms;
use crate::rooms::room::{LobbyRoom, RoomPhase};
use crate::sessions::Sessions;
use crate::sessions::players::LobbyPlayer;
use crate::store_job::{StoreJob, StoreOutcome};

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

/// To a session whose account plays the same game in another one.
pub(super) const PLAYS_ALREADY: &str =
    "your account plays this game already, in another session: leave it there, then join again";
/// To a session whose line was broken.
pub(super) const TAKES_OVER: &str = "another session of your account plays this game now";

/// What the shell has to do for a room.
#[derive(Debug)]
pub(crate) struct RoomStoreJob {
    pub(crate) job: StoreJob,
    /// The numbers of the request, and of the oldest one that may come again.
    pub(crate) numbers: [(u32, u64); 2],
    /// Whether the room is closed, and has no answer.
    pub(crate) is_last: bool,
}

impl RoomStoreJob {
    /// The request of that room, among the rooms of this lineage.
    pub(crate) fn request(&self, lineage: [u8; 16], room: RoomId) -> RoomRequest {
        let [number, oldest] = self.numbers;
        RoomRequest { lineage, room: room.0, number, oldest }
    }
}

impl Rooms {
    /// A host passes on what a room's game asks.
    pub(crate) fn take_store_request(
        &mut self,
        host: HostId,
        id: RoomId,
        asked: AskedOfStore,
        sessions: &Sessions,
    ) -> Option<RoomStoreJob> {
        let runs_there = |room: &&LobbyRoom| room.run.phase == RoomPhase::Running { host };
        let pair = |number: StoreNumber| (number.incarnation, number.count);
        let numbers = [pair(asked.number), pair(asked.oldest)];
        let Some(room) = self.get(id).filter(runs_there) else {
            let job = job_of(self.store_jobs.closed_game(id, host)?, asked.request);
            return Some(RoomStoreJob { job, numbers, is_last: true });
        };
        let game = self.at(room.world_id()).game.clone();
        let mut job = job_of(game, asked.request);
        if let StoreJob::ClaimProfile { account, instead_of, .. } = &mut job {
            *instead_of = self.gone_holder(id, numbers[0], *account, sessions);
        }
        let jobs = self.store_jobs.by_room.entry(id).or_default();
        let is_new = jobs.running.len() < MAX_JOBS_OF_ROOM && jobs.running.insert(numbers[0]);
        is_new.then_some(RoomStoreJob { job, numbers, is_last: false })
    }

    /// The claim of a profile by a room that is gone: it has answered for long that another room
    /// has the profile, but no other session of the account is in one.
    fn gone_holder(
        &self,
        id: RoomId,
        number: (u32, u64),
        account: AccountId,
        sessions: &Sessions,
    ) -> Option<u64> {
        let held = self.store_jobs.by_room.get(&id)?.held.get(&number)?;
        let world = self.get(id)?.world_id();
        let players = sessions.players().iter().filter(|player| player.account == Some(account));
        let worlds: Vec<RoomId> = players.filter_map(|player| player.room).collect();
        // The player who waits may have left, and have the profile in another world.
        let is_gone = worlds.is_empty() || worlds == [world];
        let is_over = held.in_peace >= GONE_AFTER || held.times >= GONE_AFTER_WITHOUT_HOST;
        (is_over && is_gone).then_some(held.holder)
    }

    /// Whether each room of the game of this one has a host: what has just come to another one has
    /// to write what it has first.
    fn can_all_write(&self, id: RoomId) -> bool {
        let game = self.get(id).map(|room| &room.game);
        let is_moving = |room: &LobbyRoom| {
            Some(&room.game) == game && matches!(room.run.phase, RoomPhase::Moving { .. })
        };
        !self.iter().any(is_moving)
    }

    /// The shell has done a room's job, or could not. Returns which players have to leave their
    /// rooms, and why.
    pub(crate) fn take_store_outcome(
        &mut self,
        request: &RoomRequest,
        outcome: StoreOutcome,
        sessions: &Sessions,
        outbox: &mut OutputQueue,
    ) -> Option<(Vec<PlayerId>, LobbyRefusal)> {
        let id = RoomId(request.room);
        self.store_jobs.end(id, request.number, &outcome);
        match outcome {
            StoreOutcome::Done(value) => {
                self.send_stored(id, request.number, StoreAnswer::Done(value), outbox);
            }
            StoreOutcome::Claimed { claim, value } => {
                let answer = StoreAnswer::Claimed(ProfileClaim(claim), value);
                self.send_stored(id, request.number, answer, outbox);
            }
            StoreOutcome::Saved(lost) => {
                self.send_stored(id, request.number, StoreAnswer::Saved(lost), outbox);
            }
            StoreOutcome::Held { account, claim } if self.get(id).is_some() => {
                let settled = self.settle_sessions(id, account, sessions);
                if settled.is_some() {
                    return settled;
                }
                let can_write = self.can_all_write(id);
                let jobs = self.store_jobs.by_room.entry(id).or_default();
                if jobs.note_held(request.number, claim, can_write) == TOLD_AFTER {
                    self.tell_that_profile_is_held(id, account, sessions, outbox);
                }
            }
            StoreOutcome::Held { .. } => {}
            StoreOutcome::Refused => {
                self.send_stored(id, request.number, StoreAnswer::Refused, outbox);
            }
            StoreOutcome::Unavailable => self.tell_that_store_is_away(id, sessions, outbox),
        }
        None
    }

    /// A room waits for a profile that another one has. Decides between two sessions of the account
    /// in rooms of one game; `None` if there are none.
    fn settle_sessions(
        &self,
        id: RoomId,
        account: AccountId,
        sessions: &Sessions,
    ) -> Option<(Vec<PlayerId>, LobbyRefusal)> {
        let world = self.get(id)?.world_id();
        let game = &self.at(world).game;
        let plays_it = |room: RoomId| {
            self.get(room).is_some_and(|room| room.has_started() && room.game == *game)
        };
        let all = sessions.players().iter();
        let (mut newer, mut others) = (Vec::new(), Vec::new());
        for player in all.filter(|player| player.account == Some(account)) {
            match player.room {
                Some(room) if room == world && self.is_on_map(player.id, id) => {
                    newer.push(player.id);
                }
                Some(room) if plays_it(room) => others.push((player.id, player.conn)),
                _ => {}
            }
        }
        if newer.is_empty() || others.is_empty() {
            return None;
        }
        Some(if others.iter().any(|(_, conn)| conn.is_some()) {
            (newer, LobbyRefusal::new(ErrorCode::AlreadyInRoom, PLAYS_ALREADY))
        } else {
            let others = others.into_iter().map(|(player, _)| player).collect();
            (others, LobbyRefusal::new(ErrorCode::TakenOver, TAKES_OVER))
        })
    }

    fn send_stored(
        &self,
        id: RoomId,
        number: (u32, u64),
        answer: StoreAnswer,
        outbox: &mut OutputQueue,
    ) {
        if let Some(room) = self.get(id)
            && let RoomPhase::Running { host } = room.run.phase
        {
            let (incarnation, count) = number;
            let number = StoreNumber { incarnation, count };
            outbox.send_to_room(host, id, RoomOrder::Stored { number, answer });
        }
    }

    fn tell_that_store_is_away(
        &mut self,
        id: RoomId,
        sessions: &Sessions,
        outbox: &mut OutputQueue,
    ) {
        let Some(world) = self.get(id).map(LobbyRoom::world_id) else {
            return;
        };
        if self.store_jobs.told.insert(id) {
            let message = "what this game stores waits in the room: the server's store does not \
                           work now, and it is tried again";
            let body: Body = error_body(LobbyRefusal::new(ErrorCode::TryAgain, message));
            outbox.broadcast(self.member_conns(world, sessions), body);
        }
    }

    fn tell_that_profile_is_held(
        &self,
        id: RoomId,
        account: AccountId,
        sessions: &Sessions,
        outbox: &mut OutputQueue,
    ) {
        let Some(world) = self.get(id).map(LobbyRoom::world_id) else {
            return;
        };
        let waits =
            |player: &&LobbyPlayer| player.account == Some(account) && player.room == Some(world);
        let message = "what this game stores for you is in use: by another session of your \
                       account, or by a room that is about to write it; you come in once it is \
                       free";
        for player in sessions.players().iter().filter(waits) {
            let body = error_body(LobbyRefusal::new(ErrorCode::TryAgain, message));
            sessions.notify(player.id, body, outbox);
        }
    }

    /// A host is told to close a room.
    pub(crate) fn note_closed(&mut self, id: RoomId, host: HostId) {
        if let Some(room) = self.get(id).filter(|room| room.has_started()) {
            let game = self.at(room.world_id()).game.clone();
            self.store_jobs.note_closed(id, host, game);
        }
    }

    /// The same of a further map, whose world of this game is closed.
    pub(crate) fn note_closed_map(&mut self, id: RoomId, host: HostId, game: String) {
        self.store_jobs.note_closed(id, host, game);
    }

    /// A room is gone: nothing of it comes again.
    pub(crate) fn forget_store_jobs(&mut self, id: RoomId) {
        self.store_jobs.forget(id);
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
