//! What clients, rooms and games have in common: the handle of the client core, and what it
//! reports.

use std::sync::Arc;

use ambit_client_core::client::Client as ClientCore;
use ambit_client_core::client::event::{LobbyEvent, Welcome};
use ambit_client_core::client::model::{ChatAudience, PlayerListing};
use ambit_client_core::client::request::LobbyRequest;
use ambit_client_core::shell::{self, ClientEvents, ClientHandle, ClientOptions};
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use crate::error::{ConnectError, RequestError};
use crate::inbox::Inbox;

/// A running client. When the last one is dropped, the client quits.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) handle: ClientHandle,
    pub(crate) inbox: Arc<Inbox>,
}

impl Session {
    /// Connects, and waits until the lobby has welcomed the client.
    pub(crate) async fn start(options: ClientOptions) -> Result<(Self, Welcome), ConnectError> {
        let (handle, events) = shell::start(options, ());
        let inbox = Arc::new(Inbox::new());
        tokio::spawn(route(events, inbox.clone()));
        let session = Session { handle, inbox };
        let welcome = session.inbox.wait_for_welcome().await?;
        Ok((session, welcome))
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&self, request: LobbyRequest) -> Result<LobbyEvent, RequestError> {
        let send = || Ok(self.handle.request(request)?);
        let answer = self.inbox.expect_answer(send)?;
        answer.await.unwrap_or(Err(RequestError::Closed))
    }

    /// Sends a request whose answer says only that it was executed.
    pub(crate) async fn order(&self, request: LobbyRequest) -> Result<(), RequestError> {
        self.ask(request).await.map(drop)
    }

    /// The members of the player's room, or everybody in the lobby.
    pub(crate) async fn players(
        &self,
        everybody: bool,
    ) -> Result<Vec<PlayerListing>, RequestError> {
        match self.ask(LobbyRequest::ListPlayers { everybody }).await? {
            LobbyEvent::Players { players, .. } => Ok(players),
            _ => Err(RequestError::unexpected("list players")),
        }
    }

    /// Sends a chat message.
    pub(crate) async fn say(&self, to: ChatAudience, text: String) -> Result<(), RequestError> {
        self.order(LobbyRequest::Say { to, text }).await
    }

    /// Reads the client core.
    pub(crate) fn read<R>(&self, read: impl FnOnce(&mut ClientCore, LocalTime) -> R) -> R {
        self.handle.run(read)
    }

    /// The room that the player is in.
    pub(crate) fn room(&self) -> Option<RoomId> {
        self.read(|client, _| client.room())
    }
}

/// The router: passes on what the client reports until it has ended.
async fn route(mut events: ClientEvents, inbox: Arc<Inbox>) {
    while let Some(event) = events.next().await {
        inbox.handle(event);
    }
    inbox.finish();
}
