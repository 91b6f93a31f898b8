//! A room that the player has a seat in.

use ambit_client_core::client::model::{ChatAudience, PlayerListing};
use ambit_client_core::client::request::LobbyRequest;
use ambit_proto::ids::{PlayerId, RoomId};

use crate::error::{PlayError, RequestError};
use crate::game::Game;
use crate::session::Session;

/// A room that the player has a seat in; a player has one at a time.
///
/// Cheap to clone, and usable while its game runs. After the player has left, all requests fail
/// with [`RequestError::NotInThisRoom`].
#[derive(Clone)]
pub struct Room {
    session: Session,
    id: RoomId,
}

impl Room {
    pub(crate) fn new(session: Session, id: RoomId) -> Self {
        Room { session, id }
    }

    /// Its number in the lobby: what other players join it by.
    pub fn id(&self) -> RoomId {
        self.id
    }

    /// Starts the game and enters it; for the room's host only.
    pub async fn start(&self) -> Result<Game, PlayError> {
        self.check()?;
        self.session.inbox.forget_failure();
        self.session.order(LobbyRequest::StartRoom).await?;
        self.play().await
    }

    /// Enters the game as soon as it runs: at once if it does, else when the room's host starts it.
    pub async fn play(&self) -> Result<Game, PlayError> {
        self.check()?;
        let present = || self.session.room();
        let events = self.session.inbox.wait_for_game(self.id, present).await?;
        Ok(Game::new(self.session.clone(), self.id, events))
    }

    /// Its members.
    pub async fn players(&self) -> Result<Vec<PlayerListing>, RequestError> {
        self.check()?;
        self.session.players(false).await
    }

    /// Says something to all members.
    pub async fn say(&self, text: impl Into<String>) -> Result<(), RequestError> {
        self.check()?;
        self.session.say(ChatAudience::Room, text.into()).await
    }

    /// Sets whether the player is ready; a room may wait for all its members.
    pub async fn set_ready(&self, ready: bool) -> Result<(), RequestError> {
        self.check()?;
        self.session.order(LobbyRequest::SetReady(ready)).await
    }

    /// Removes a player; for the room's host only.
    pub async fn kick(&self, player: PlayerId) -> Result<(), RequestError> {
        self.check()?;
        self.session.order(LobbyRequest::Kick(player)).await
    }

    /// Leaves the game and the room.
    pub async fn leave(self) -> Result<(), RequestError> {
        self.check()?;
        self.session.order(LobbyRequest::LeaveRoom).await
    }

    /// A request names no room: it means the one that the player is in.
    fn check(&self) -> Result<(), RequestError> {
        if self.session.room() == Some(self.id) { Ok(()) } else { Err(RequestError::NotInThisRoom) }
    }
}
