//! Chat: to everybody, to the room, to one player.
//!
//! The sender hears itself, as the others do: that is the proof that it was said. The lobby's
//! channel goes to everybody who is connected, in rooms too: a lobby that only the idle hear is a
//! silent one.

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::PlayerId;
use ambit_proto::time::LocalTime;

use super::output::ConnId;
use super::refusal::Refusal;
use super::request::{Audience, Say};
use super::{Answer, DONE, Lobby};

impl Lobby {
    pub(super) fn say(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        say: Say,
    ) -> Result<Answer, Refusal> {
        let (channel, to, hearers) = self.hearers(player, say.to)?;
        if !self.players.at_mut(player).chat.take(now) {
            let message = format!(
                "at most {} chat messages a second; wait a little",
                self.config.chat_per_s
            );
            return Err(Refusal::new(ErrorCode::RateLimited, message));
        }
        let chat = world::Chat {
            channel: channel.into(),
            from: player.0,
            from_name: self.players.at(player).name().as_str().to_owned(),
            text: say.text.into_string(),
            to: to.map_or(0, |to| to.0),
        };
        self.counters.chats += 1;
        self.outbox.broadcast(hearers, Body::Chat(chat));
        Ok(DONE)
    }

    /// The channel, the player whispered to, and the connections that hear it.
    fn hearers(
        &self,
        player: PlayerId,
        to: Audience,
    ) -> Result<(world::Channel, Option<PlayerId>, Vec<ConnId>), Refusal> {
        match to {
            Audience::Lobby => Ok((world::Channel::Lobby, None, self.players.connected())),
            Audience::Room => Ok((
                world::Channel::Room,
                None,
                self.member_conns(self.room_of(player)?, None),
            )),
            Audience::Player(to) => {
                self.whisper(player, self.players.get(to).map(|to| to.id), || {
                    format!("the id {to}")
                })
            }
            Audience::PlayerCalled(name) => {
                self.whisper(player, self.players.called(&name), || {
                    "that name".to_owned()
                })
            }
        }
    }

    fn whisper(
        &self,
        player: PlayerId,
        to: Option<PlayerId>,
        wanted: impl FnOnce() -> String,
    ) -> Result<(world::Channel, Option<PlayerId>, Vec<ConnId>), Refusal> {
        let refuse = |message| Refusal::new(ErrorCode::NoSuchPlayer, message);
        let to = to.ok_or_else(|| refuse(format!("no player has {}", wanted())))?;
        let heard_by = self
            .players
            .at(to)
            .conn
            .ok_or_else(|| refuse("that player is away at the moment".to_owned()))?;
        let own = self.players.at(player).conn.filter(|own| *own != heard_by);
        Ok((
            world::Channel::Whisper,
            Some(to),
            own.into_iter().chain([heard_by]).collect(),
        ))
    }
}
