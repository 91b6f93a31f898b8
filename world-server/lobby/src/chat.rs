//! Chat: to all players, to the room, to the party, to one player.
//!
//! The sender gets its own message too, as the confirmation that it was sent. The lobby's channel
//! reaches every connected player, also those in rooms; otherwise only idle players would read it.
//!
//! A message costs the server as much as it has receivers, so beside the number of a player's
//! messages there are limits on the receivers: see `budgets`. A player who
//! is muted says nothing in any channel.

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::PlayerId;
use ambit_proto::time::LocalTime;

use crate::Lobby;
use crate::output::{ConnId, DONE, RequestOutcome};
use crate::refusal::LobbyRefusal;
use crate::request::{ChatRequest, ChatTarget};
use crate::sessions::party::in_no_party;

impl Lobby {
    pub(super) fn send_chat(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        say: ChatRequest,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        self.sessions.check_mute(now, player, &self.config)?;
        let (channel, to, receivers) = self.chat_recipients(player, say.to)?;
        if !self.sessions.player_mut(player).allowances.chat.take(now) {
            let message =
                format!("at most {} chat messages a second; wait a little", self.config.chat_per_s);
            return Err(LobbyRefusal::new(ErrorCode::RateLimited, message));
        }
        self.sessions.charge_deliveries(now, player, receivers.len())?;
        if self.config.logs_chat {
            let text = say.text.clone().into_string();
            self.sessions.report_chat(player, channel, text, &mut self.effects);
        }
        let chat = world::Chat {
            channel: channel.into(),
            from: player.0,
            from_name: self.sessions.player(player).name().as_str().to_owned(),
            text: say.text.into_string(),
            to: to.map_or(0, |to| to.0),
        };
        self.effects.counters.chats += 1;
        self.effects.outbox.broadcast(receivers, Body::Chat(chat));
        Ok(DONE)
    }

    /// Returns the channel, the receiver of a whisper, and the connections that get the message.
    fn chat_recipients(
        &self,
        player: PlayerId,
        to: ChatTarget,
    ) -> Result<(world::Channel, Option<PlayerId>, Vec<ConnId>), LobbyRefusal> {
        match to {
            ChatTarget::Lobby => {
                Ok((world::Channel::Lobby, None, self.sessions.players().connected()))
            }
            ChatTarget::Room => {
                let members = self.rooms.member_conns(self.room_of(player)?, &self.sessions);
                Ok((world::Channel::Room, None, members))
            }
            ChatTarget::Party => {
                let party = self.sessions.player(player).party.ok_or_else(in_no_party)?;
                let members = self.sessions.parties().members(party).into_iter();
                Ok((world::Channel::Party, None, self.sessions.conns_of(members)))
            }
            ChatTarget::Player(to) => self.whisper_recipients(
                player,
                self.sessions.players().get(to).map(|to| to.id),
                || format!("the id {to}"),
            ),
            ChatTarget::PlayerNamed(name) => {
                self.whisper_recipients(player, self.sessions.players().find_by_name(&name), || {
                    "that name".to_owned()
                })
            }
        }
    }

    fn whisper_recipients(
        &self,
        player: PlayerId,
        to: Option<PlayerId>,
        wanted: impl FnOnce() -> String,
    ) -> Result<(world::Channel, Option<PlayerId>, Vec<ConnId>), LobbyRefusal> {
        let refuse = |message| LobbyRefusal::new(ErrorCode::NoSuchPlayer, message);
        let to = to.ok_or_else(|| refuse(format!("no player has {}", wanted())))?;
        let heard_by = self
            .sessions
            .player(to)
            .conn
            .ok_or_else(|| refuse("that player is away at the moment".to_owned()))?;
        let own = self.sessions.player(player).conn.filter(|own| *own != heard_by);
        Ok((world::Channel::Whisper, Some(to), own.into_iter().chain([heard_by]).collect()))
    }
}
