//! Profiles between the store, the game and other maps ([`profiles`](super::profiles)).

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{AccountId, ClientId, PlayerId};
use ambit_proto::pose::PoseCoding;
use ambit_proto::time::GameTime;

use super::profiles::{CarriedProfile, HeldProfile, PROFILE_INTERVAL, WaitingPlayer};
use super::seat::{Presence, Seat};
use super::{REPLAY_CLIENT, Room, RoomOutput};
use crate::logic::game::Left;
use crate::logic::store::{
    AskedOfStore, MAX_PROFILE_BYTES, MAX_PROFILES_BYTES, ProfileSave, StoreAnswer, StoreNumber,
    StoreRequest,
};

impl Room {
    /// A player comes whose profile is not here: the store is asked for it.
    pub(super) fn wait_for_profile(
        &mut self,
        (client, coding): (ClientId, PoseCoding),
        player: PlayerId,
        name: String,
        account: AccountId,
        outputs: &mut Vec<RoomOutput>,
    ) {
        let presence = Presence::Here(client);
        let waiting = WaitingPlayer { name, account, presence, coding };
        let earlier = self.profiles.waiting.insert(player, waiting);
        if let Some(WaitingPlayer { presence: Presence::Here(older), .. }) = earlier
            && older != REPLAY_CLIENT
        {
            outputs.push(RoomOutput::Superseded { client: older });
        }
        self.claim_profiles(outputs);
    }

    /// Claims the profiles of those who wait, but those that this room still has to give back.
    fn claim_profiles(&mut self, outputs: &mut Vec<RoomOutput>) {
        let waiting = &self.profiles.waiting;
        let wanted: Vec<_> = waiting.iter().map(|(&player, it)| (player, it.account)).collect();
        for (player, account) in wanted {
            if !self.give_way(player, account, outputs) {
                self.refuse_waiting(player, ErrorCode::AlreadyInRoom, outputs);
            } else if !self.profiles.is_in_use(account) {
                let request = StoreRequest::ClaimProfile(account);
                let now = self.world.now();
                let number = self.world.store_desk().ask_for_room(now, request);
                self.profiles.claims.insert(number, (player, account));
            }
        }
    }

    /// Whether no other session of the account plays here. One whose connection is broken makes
    /// room for the one that waits.
    fn give_way(
        &mut self,
        player: PlayerId,
        account: AccountId,
        outputs: &mut Vec<RoomOutput>,
    ) -> bool {
        let Some(other) = self.profiles.holder(account).filter(|other| *other != player) else {
            return true;
        };
        let is_away = |seat: &Seat| matches!(seat.presence, Presence::Away(_));
        let gives_way = self.seats.get(&other).is_none_or(is_away);
        if gives_way {
            self.remove(other, Left::Lost);
            outputs.push(RoomOutput::PlayerOut { player: other, reason: ErrorCode::TakenOver });
        }
        gives_way
    }

    /// The store has answered a request of the room itself.
    pub(super) fn take_answer(
        &mut self,
        now: GameTime,
        (number, request): (StoreNumber, &StoreRequest),
        answer: &StoreAnswer,
        outputs: &mut Vec<RoomOutput>,
    ) {
        if let Some((player, account)) = self.profiles.claims.remove(&number) {
            match answer {
                StoreAnswer::Claimed(claim, value) => {
                    let (claim, version, is_unwritten) = (*claim, 0, false);
                    let held = HeldProfile { account, claim, version, is_unwritten };
                    self.admit_waiting(now, player, held, value.as_deref(), outputs);
                }
                _ => self.refuse_waiting(player, ErrorCode::ServerError, outputs),
            }
        } else if self.profiles.open_save == Some(number) {
            self.profiles.open_save = None;
            self.profiles.released.clear();
            match (request, answer) {
                (StoreRequest::SaveProfiles(saves), StoreAnswer::Saved(lost)) => {
                    let lost = saves.iter().filter(|save| lost.contains(&save.account));
                    self.put_out_without_profile(lost, outputs);
                }
                (StoreRequest::SaveProfiles(saves), _) => self.drop_changes(saves, outputs),
                _ => {}
            }
        }
        self.claim_profiles(outputs);
    }

    fn admit_waiting(
        &mut self,
        now: GameTime,
        player: PlayerId,
        held: HeldProfile,
        value: Option<&[u8]>,
        outputs: &mut Vec<RoomOutput>,
    ) {
        let is_meant = |waiting: &WaitingPlayer| waiting.account == held.account;
        if !self.profiles.waiting.get(&player).is_some_and(is_meant) {
            return self.release(held, None);
        }
        if let Err(problem) = self.world.player_values_mut().open(player, value) {
            tracing::error!(
                player = player.0,
                account = %held.account,
                "a player is refused, and the profile stays as it is: {problem}"
            );
            self.release(held, None);
            return self.refuse_waiting(player, ErrorCode::BadProfile, outputs);
        }
        let Some(waiting) = self.profiles.waiting.remove(&player) else {
            return;
        };
        self.profiles.held.insert(player, held);
        let WaitingPlayer { name, account, presence, coding } = waiting;
        self.take_seat(now, (presence, coding), player, name, Some(account), outputs);
    }

    fn refuse_waiting(
        &mut self,
        player: PlayerId,
        reason: ErrorCode,
        outputs: &mut Vec<RoomOutput>,
    ) {
        if self.profiles.waiting.remove(&player).is_some() {
            outputs.push(RoomOutput::PlayerOut { player, reason });
        }
    }

    /// These profiles are other rooms' now: their players are no longer here. But one who has come
    /// back since has claimed the profile again, and what was lost is of the stay before.
    fn put_out_without_profile<'s>(
        &mut self,
        lost: impl Iterator<Item = &'s ProfileSave>,
        outputs: &mut Vec<RoomOutput>,
    ) {
        for ProfileSave { account, claim, .. } in lost {
            let is_lost = |_: &PlayerId, held: &mut HeldProfile| {
                (held.account, held.claim) == (*account, *claim)
            };
            let players: Vec<_> = self.profiles.held.extract_if(.., is_lost).collect();
            for (player, _) in players {
                tracing::warn!(
                    player = player.0,
                    %account,
                    "a player's profile is another room's, so the player is out of this one"
                );
                self.remove(player, Left::Removed);
                outputs.push(RoomOutput::PlayerOut { player, reason: ErrorCode::TakenOver });
            }
        }
    }

    /// The store has not taken what this room has changed: the room is as it was before its last
    /// write. All whose profiles have changed are out, also since then, so that no player keeps
    /// what another one gets back. They come again with what is stored.
    fn drop_changes(&mut self, refused: &[ProfileSave], outputs: &mut Vec<RoomOutput>) {
        let is_refused = |held: &HeldProfile| {
            let is_it =
                |save: &ProfileSave| (save.account, save.claim) == (held.account, held.claim);
            refused.iter().any(is_it)
        };
        let values = self.world.player_values();
        let changed = |player: &PlayerId, held: &mut HeldProfile| {
            is_refused(held) || values.has_changed(*player)
        };
        let dropped: Vec<_> = self.profiles.held.extract_if(.., changed).collect();
        tracing::warn!(
            players = dropped.len(),
            "the store has not taken the profiles of a room: its players come again with what is \
             stored"
        );
        for (player, held) in dropped {
            self.release(held, None);
            self.remove(player, Left::Removed);
            outputs.push(RoomOutput::PlayerOut { player, reason: ErrorCode::TryAgain });
        }
    }

    /// Gives a profile back, with its last value if that has changed.
    fn release(&mut self, held: HeldProfile, value: Option<Vec<u8>>) {
        let HeldProfile { account, claim, version, .. } = held;
        let version = version + 1;
        let is_last = true;
        self.profiles.leaving.push(ProfileSave { account, claim, version, value, is_last });
        self.profiles.is_due = true;
    }

    /// A player has left, and the game's `leave` has run: closes the values. What goes to another
    /// map is returned for it, and is written as well.
    pub(super) fn close_profile(&mut self, player: PlayerId, why: Left) -> CarriedProfile {
        let has_changed = self.is_to_be_written(player);
        let value = self.taken_profile(player).unwrap_or_default();
        let mut held = self.profiles.held.remove(&player);
        self.world.player_values_mut().close(player);
        if let Some(held) = &mut held {
            // What others have exchanged with this player is written with it.
            self.profiles.is_due = true;
            let changed = has_changed.then(|| value.clone());
            if why != Left::ToMap {
                self.release(*held, changed);
            } else if has_changed {
                held.version += 1;
                let HeldProfile { account, claim, version, .. } = *held;
                let (value, is_last) = (changed, false);
                self.profiles.leaving.push(ProfileSave { account, claim, version, value, is_last });
            }
        }
        CarriedProfile { held, value }
    }

    /// A player arrives with a profile from another map.
    pub(super) fn open_carried(&mut self, player: PlayerId, carried: CarriedProfile) {
        let CarriedProfile { held, value } = carried;
        let value = Some(&value[..]).filter(|value| !value.is_empty());
        if let Err(problem) = self.world.player_values_mut().open(player, value) {
            tracing::error!(player = player.0, "a profile from another map: {problem}");
            return;
        }
        if let Some(held) = held {
            self.profiles.held.insert(player, HeldProfile { is_unwritten: true, ..held });
        }
    }

    /// Whether the profile has changed, or was not written here yet.
    fn is_to_be_written(&self, player: PlayerId) -> bool {
        let held = self.profiles.held.get(&player);
        held.is_some_and(|held| held.is_unwritten) || self.world.player_values().has_changed(player)
    }

    /// Writes all that has changed, if that is due and no write is open. At the end of a tick.
    pub(super) fn save_profiles(&mut self, now: GameTime) {
        let profiles = &self.profiles;
        let is_over = now.since(profiles.saved_at) >= PROFILE_INTERVAL;
        if profiles.open_save.is_some() || !(profiles.is_due || is_over) {
            return;
        }
        let mut saves = std::mem::take(&mut self.profiles.leaving);
        let mut bytes: usize = saves.iter().map(ProfileSave::bytes).sum();
        let mut is_all = true;
        let players: Vec<PlayerId> = self.profiles.held.keys().copied().collect();
        for player in players {
            if !self.is_to_be_written(player) {
                continue;
            }
            if bytes > MAX_PROFILES_BYTES {
                is_all = false;
                break;
            }
            let Some(value) = self.taken_profile(player) else {
                continue;
            };
            let Some(held) = self.profiles.held.get_mut(&player) else {
                continue;
            };
            held.version += 1;
            held.is_unwritten = false;
            let HeldProfile { account, claim, version, .. } = *held;
            let (value, is_last) = (Some(value), false);
            let save = ProfileSave { account, claim, version, value, is_last };
            bytes += save.bytes();
            saves.push(save);
        }
        (self.profiles.saved_at, self.profiles.is_due) = (now, !is_all);
        if saves.is_empty() {
            return;
        }
        let last = saves.iter().filter(|save| save.is_last);
        self.profiles.released = last.map(|save| save.account).collect();
        let request = StoreRequest::SaveProfiles(saves);
        let at = self.world.now();
        self.profiles.open_save = Some(self.world.store_desk().ask_for_room(at, request));
    }

    /// The game is over: gives all profiles back. What changes after that is in none.
    pub(super) fn release_profiles(&mut self) {
        let players: Vec<PlayerId> = self.profiles.held.keys().copied().collect();
        for player in players {
            let has_changed = self.is_to_be_written(player);
            let value = self.taken_profile(player).filter(|_| has_changed);
            if let Some(held) = self.profiles.held.remove(&player) {
                self.release(held, value);
            }
        }
    }

    /// The room is closed and ticks no more: what the store is still to be asked, each for the last
    /// time. Loads are of no use any more.
    pub fn last_requests(&mut self) -> Vec<AskedOfStore> {
        self.release_profiles();
        // The write that is open comes before.
        self.profiles.open_save = None;
        if let Some(last) = self.last {
            self.save_profiles(last);
        }
        let mut asked = Vec::new();
        self.world.store_desk().put_out_all(|request| asked.push(request));
        let is_of_use = |asked: &AskedOfStore| {
            !matches!(asked.request, StoreRequest::Load(_) | StoreRequest::ClaimProfile(_))
        };
        asked.retain(is_of_use);
        asked
    }

    /// The profile of a player, if it is short enough to be kept.
    fn taken_profile(&mut self, player: PlayerId) -> Option<Vec<u8>> {
        let value = self.world.player_values_mut().take_profile(player)?;
        if value.len() > MAX_PROFILE_BYTES {
            tracing::error!(
                player = player.0,
                "the profile of a player has {} bytes, and {MAX_PROFILE_BYTES} are the most: the \
                 last one that was shorter stays stored",
                value.len()
            );
            return None;
        }
        Some(value)
    }
}
