//! Who is in the room: joins, connections that come and go, leaves.

use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{AccountId, ClientId, ObjectId, PlayerId};
use ambit_proto::pose::PoseCoding;
use ambit_proto::standing::Standing;
use ambit_proto::time::GameTime;
use ambit_proto::wishes::Wishes;

use super::profiles::CarriedProfile;
use super::seat::{Presence, Seat};
use super::{REPLAY_CLIENT, Room, RoomInput, RoomOutput};
use crate::logic::game::Left;
use crate::network::JoiningClient;

impl Room {
    pub(super) fn join(
        &mut self,
        now: GameTime,
        (client, coding): (ClientId, PoseCoding),
        player: PlayerId,
        name: &str,
        account: Option<AccountId>,
        outputs: &mut Vec<RoomOutput>,
    ) {
        if let Some(Seat { presence: Presence::Here(older), .. }) = self.seats.get(&player) {
            let older = *older;
            self.remove_viewer(older);
            self.world.release_controls(player);
            outputs.push(RoomOutput::Superseded { client: older });
        }
        // The ticket may be older than the player's present name.
        let name = self.names.get(&player).cloned().unwrap_or_else(|| name.to_owned());
        if self.seats.contains_key(&player) {
            self.rename(player, &name);
            self.connect(now, (client, coding), player);
        } else if let Some(account) = account
            && self.world.player_values().has_profiles()
        {
            self.wait_for_profile((client, coding), player, name, account, outputs);
        } else {
            // A new profile opens always.
            let _ = self.world.player_values_mut().open(player, None);
            let presence = Presence::Here(client);
            self.take_seat(now, (presence, coding), player, name, account, outputs);
        }
    }

    /// A player comes for the first time, whose values are open.
    pub(super) fn take_seat(
        &mut self,
        now: GameTime,
        (presence, coding): (Presence, PoseCoding),
        player: PlayerId,
        name: String,
        account: Option<AccountId>,
        outputs: &mut Vec<RoomOutput>,
    ) {
        self.world.set_account(player, account);
        let Some(avatar) = self.create_avatar(player, &name) else {
            self.world.set_account(player, None);
            self.world.set_standing(player, Standing::default());
            self.world.set_wishes(player, Wishes::default());
            self.close_profile(player, Left::Removed);
            match presence {
                Presence::Here(client) => {
                    outputs.push(RoomOutput::WithoutAvatar { client, player });
                }
                Presence::Away(_) => {
                    let reason = ErrorCode::ServerError;
                    outputs.push(RoomOutput::PlayerOut { player, reason });
                }
            }
            return;
        };
        self.world.set_wishes(player, Wishes::default());
        self.gathering.forget(player);
        self.seats.insert(player, Seat { account, presence, ..Seat::new(avatar, name) });
        if let Presence::Here(client) = presence {
            self.connect(now, (client, coding), player);
        }
    }

    fn connect(
        &mut self,
        now: GameTime,
        (client, coding): (ClientId, PoseCoding),
        player: PlayerId,
    ) {
        let seat = self.seats.get_mut(&player).expect("the player has a seat");
        seat.connect(now, client);
        if client != REPLAY_CLIENT {
            let arrival = JoiningClient { client, player, avatar: seat.avatar, coding };
            self.players.insert(client, player);
            self.network.admit(now, arrival, &self.world);
            self.arrivals.push(arrival);
        }
    }

    /// Makes an avatar for a player who comes for the first time. `None` if the game returns an
    /// object that cannot be one: a bug of the game, of which the other players must not suffer.
    fn create_avatar(&mut self, player: PlayerId, name: &str) -> Option<ObjectId> {
        let avatar = self.game.join(&mut self.world, player, name);
        self.take_avatar(player, avatar, name)
    }

    pub(super) fn take_avatar(
        &mut self,
        player: PlayerId,
        avatar: ObjectId,
        name: &str,
    ) -> Option<ObjectId> {
        if !self.world.is_free_avatar(avatar) {
            let game = &self.world.schema().game;
            let problem = if self.world.contains(avatar) {
                "is the avatar of another player"
            } else {
                "does not exist"
            };
            tracing::error!(
                player = player.0,
                "the game `{game}` gives a player the avatar {avatar}, which {problem}; \
                 the player is refused: `Game::join` has to spawn an object and to return its id"
            );
            return None;
        }
        self.world.add_player(player, avatar, name);
        self.world.trace_join(player, avatar, name);
        Some(avatar)
    }

    /// Whether that was the player's connection.
    pub(super) fn disconnect(&mut self, now: GameTime, client: ClientId, player: PlayerId) -> bool {
        let is_present = |seat: &&mut Seat| seat.presence == Presence::Here(client);
        let Some(seat) = self.seats.get_mut(&player).filter(is_present) else {
            return self.profiles.disconnect(now, client, player);
        };
        seat.presence = Presence::Away(now);
        self.remove_viewer(client);
        self.world.release_controls(player);
        true
    }

    pub(super) fn remove(&mut self, player: PlayerId, why: Left) {
        if let Some(Seat { presence: Presence::Here(client), .. }) = self.seats.get(&player) {
            self.remove_viewer(*client);
        }
        self.vacate(player, why);
    }

    /// Frees a player's seat and removes everything else that belongs to the player. Returns the
    /// profile, for another map.
    pub(super) fn vacate(&mut self, player: PlayerId, why: Left) -> Option<CarriedProfile> {
        self.names.remove(&player);
        self.gates.forget(player);
        self.profiles.stop_waiting(player);
        let seat = self.seats.remove(&player)?;
        self.world.trace_leave(player, seat.avatar);
        self.game.leave(&mut self.world, player, why);
        let profile = self.close_profile(player, why);
        self.world.remove_player(player);
        self.world.remove_controls(player);
        Some(profile)
    }

    pub(super) fn rename(&mut self, player: PlayerId, name: &str) {
        self.profiles.rename(player, name);
        let Some(seat) = self.seats.get_mut(&player).filter(|seat| seat.name != name) else {
            return;
        };
        name.clone_into(&mut seat.name);
        self.world.rename_player(player, name);
        self.game.rename(&mut self.world, player, name);
    }

    pub(super) fn remove_viewer(&mut self, client: ClientId) {
        self.players.remove(&client);
        self.arrivals.retain(|arrival| arrival.client != client);
        self.network.remove_viewer(client);
    }

    pub(super) fn drop_unresponsive(&mut self, now: GameTime, outputs: &mut Vec<RoomOutput>) {
        let unresponsive: Vec<ClientId> = self.network.unresponsive_clients(now).collect();
        for client in unresponsive {
            if let Some(&player) = self.players.get(&client) {
                let lost = RoomInput::Disconnect { client, player };
                let _ = self.execute(now, lost, outputs);
            }
            outputs.push(RoomOutput::Unresponsive { client });
        }
    }

    pub(super) fn expire(&mut self, now: GameTime, outputs: &mut Vec<RoomOutput>) {
        let grace: Duration = self.config.grace;
        let over = |seat: &Seat| match seat.presence {
            Presence::Away(since) => now.since(since) >= grace,
            Presence::Here(_) => false,
        };
        for player in self.profiles.expire(now, grace) {
            self.names.remove(&player);
            outputs.push(RoomOutput::PlayerOut { player, reason: ErrorCode::Idle });
        }
        while let Some((&player, _)) = self.seats.iter().find(|(_, seat)| over(seat)) {
            // Not in the journal: it follows from the time.
            self.vacate(player, Left::Lost);
            outputs.push(RoomOutput::PlayerOut { player, reason: ErrorCode::Idle });
        }
    }
}
