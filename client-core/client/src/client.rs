//! A player in the lobby.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ambit_client_core::client::event::{LobbyEvent, Welcome};
use ambit_client_core::client::model::{
    ChatAudience, GameDescription, GameListing, PlayerListing, RoomListing,
};
use ambit_client_core::client::request::{LobbyRequest, NewRoom};
use ambit_client_core::client::stats::ClientStats;
use ambit_client_core::shell::Traffic;
use ambit_proto::ids::{AccountId, PartyId, PlayerId, RoomId};
use ambit_transport::random::system_random;

use crate::error::RequestError;
use crate::room::Room;
use crate::session::Session;

/// A player in the lobby: rooms, chat, and the way into games.
///
/// Cheap to clone, and usable from any task or thread: one may chat while another plays. All clones
/// are the same player. When the last of them is dropped, and the last [`Room`] and
/// [`Game`](crate::Game), the player leaves; [`Client::quit`] also waits until the server knows.
#[derive(Clone)]
pub struct Client {
    session: Session,
    welcome: Arc<Welcome>,
    watches_rooms: Arc<AtomicBool>,
}

impl Client {
    pub(crate) fn new(session: Session, welcome: Welcome) -> Self {
        Client { session, welcome: Arc::new(welcome), watches_rooms: Arc::default() }
    }

    /// The player's number in the lobby.
    pub fn player(&self) -> PlayerId {
        let present = self.session.read(|client, _| client.player());
        present.unwrap_or(self.welcome.player)
    }

    /// The player's account, if the session has one: the same tomorrow.
    pub fn account(&self) -> Option<AccountId> {
        self.session.read(|client, _| client.account())
    }

    /// What the player signs in with later (`ann#48213`), if this session began with a password.
    pub fn login(&self) -> Option<&str> {
        self.welcome.login.as_deref()
    }

    /// All that the server has stored of the player's account: an object of JSON.
    pub async fn read_account(&self) -> Result<String, RequestError> {
        match self.session.ask(LobbyRequest::ReadAccount).await? {
            LobbyEvent::AccountData { json } => Ok(json),
            _ => Err(RequestError::unexpected("read the account")),
        }
    }

    /// Deletes all that the server has stored of the player's account. The player must be in no
    /// room. Then the session ends.
    pub async fn erase_account(&self) -> Result<(), RequestError> {
        self.session.ask(LobbyRequest::EraseAccount).await.map(drop)
    }

    /// Sets another password, of 8 to 128 characters.
    pub async fn set_password(
        &self,
        password: impl Into<String>,
        new_password: impl Into<String>,
    ) -> Result<(), RequestError> {
        let (password, new_password) = (password.into(), new_password.into());
        self.session.ask(LobbyRequest::SetPassword { password, new_password }).await.map(drop)
    }

    /// The player's name.
    pub fn name(&self) -> String {
        self.session.read(|client, _| client.name().to_owned())
    }

    /// The games that the server offers.
    pub fn games(&self) -> &[GameListing] {
        &self.welcome.games
    }

    /// With what a room of a game can be created: parameters with their defaults, and seats.
    pub async fn describe_game(
        &self,
        game: impl Into<String>,
    ) -> Result<GameDescription, RequestError> {
        let game = game.into();
        match self.session.ask(LobbyRequest::DescribeGame { game }).await? {
            LobbyEvent::Game(description) => Ok(description),
            _ => Err(RequestError::unexpected("describe a game")),
        }
    }

    /// Creates a room for a game, with the player as its host: awaiting the builder returns the
    /// [`Room`].
    ///
    /// ```no_run
    /// # async fn example(client: ambit_client::Client) -> Result<(), ambit_client::RequestError> {
    /// let room = client.create_room("meadow", "field").parameter("npcs", 20).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn create_room(&self, name: impl Into<String>, game: impl Into<String>) -> CreateRoom {
        CreateRoom {
            session: self.session.clone(),
            room: NewRoom {
                name: name.into(),
                game: game.into(),
                // Makes a repeated creation of the room harmless.
                key: system_random().expect("the system has random numbers"),
                ..NewRoom::default()
            },
        }
    }

    /// Takes a seat in a room: awaiting the builder returns the [`Room`].
    pub fn join_room(&self, room: RoomId) -> JoinRoom {
        JoinRoom { session: self.session.clone(), room, password: String::new() }
    }

    /// Takes a seat in any room of a game, the fullest one, or in a new one, which starts as soon
    /// as enough players are there: awaiting the builder returns the [`Room`].
    ///
    /// ```no_run
    /// # async fn example(client: ambit_client::Client) -> Result<(), ambit_client::RequestError> {
    /// client.set_wishes([("class", "mage")]).await?;
    /// let room = client.quick_join("deus").parameter("mode", "party").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn quick_join(&self, game: impl Into<String>) -> QuickJoin {
        let (session, game) = (self.session.clone(), game.into());
        QuickJoin { session, game, parameters: BTreeMap::new() }
    }

    /// Sets what the player wishes in rooms that it joins from now on: a class, a team. Games get
    /// at most 8 names, with their values of together 256 bytes.
    pub async fn set_wishes<N: Into<String>, V: Into<String>>(
        &self,
        wishes: impl IntoIterator<Item = (N, V)>,
    ) -> Result<(), RequestError> {
        let wishes = wishes.into_iter().map(|(name, value)| (name.into(), value.into()));
        let request = LobbyRequest::SetWishes(wishes.collect());
        self.session.order(request).await
    }

    /// Invites a player, by name, to the party that the player leads, or to a new one. Who accepts
    /// comes into each room that the leader joins from then on.
    pub async fn invite(&self, player: impl Into<String>) -> Result<(), RequestError> {
        self.session.order(LobbyRequest::Invite(player.into())).await
    }

    /// Accepts the invitation of a [`LobbyEvent::Invited`].
    pub async fn join_party(&self, party: PartyId) -> Result<(), RequestError> {
        self.session.order(LobbyRequest::JoinParty(party)).await
    }

    /// Leaves the party; who leads it may put another member out instead.
    pub async fn leave_party(&self, member: Option<PlayerId>) -> Result<(), RequestError> {
        let request = LobbyRequest::LeaveParty { player: member };
        self.session.order(request).await
    }

    /// Says something to the party.
    pub async fn say_to_party(&self, text: impl Into<String>) -> Result<(), RequestError> {
        self.session.say(ChatAudience::Party, text.into()).await
    }

    /// The room that the player is in: after
    /// [`Connect::resume_token`](crate::Connect::resume_token) perhaps from the start.
    pub fn room(&self) -> Option<Room> {
        Some(Room::new(self.session.clone(), self.session.room()?))
    }

    /// The rooms of the lobby.
    pub async fn rooms(&self) -> Result<Vec<RoomListing>, RequestError> {
        // A request for the list also says whether changes are reported.
        let subscribe = self.watches_rooms.load(Ordering::Relaxed);
        match self.session.ask(LobbyRequest::ListRooms { subscribe }).await? {
            LobbyEvent::Rooms { rooms } => Ok(rooms),
            _ => Err(RequestError::unexpected("list rooms")),
        }
    }

    /// Lists the rooms, and from then on reports each change as an event, or no longer.
    pub async fn watch_rooms(&self, watch: bool) -> Result<Vec<RoomListing>, RequestError> {
        self.watches_rooms.store(watch, Ordering::Relaxed);
        self.rooms().await
    }

    /// Everybody in the lobby.
    pub async fn players(&self) -> Result<Vec<PlayerListing>, RequestError> {
        self.session.players(true).await
    }

    /// Says something to everybody in the lobby.
    pub async fn say(&self, text: impl Into<String>) -> Result<(), RequestError> {
        self.session.say(ChatAudience::Lobby, text.into()).await
    }

    /// Says something to one player, by name.
    pub async fn whisper(
        &self,
        to: impl Into<String>,
        text: impl Into<String>,
    ) -> Result<(), RequestError> {
        let to = ChatAudience::PlayerNamed(to.into());
        self.session.say(to, text.into()).await
    }

    /// Takes another name; returns the name in use.
    pub async fn rename(&self, name: impl Into<String>) -> Result<String, RequestError> {
        match self.session.ask(LobbyRequest::SetName(name.into())).await? {
            LobbyEvent::Renamed { name, .. } => Ok(name),
            LobbyEvent::Done => Ok(self.name()),
            _ => Err(RequestError::unexpected("change the name")),
        }
    }

    /// The next event of the lobby, as soon as there is one; `None` after the last one. Each event
    /// goes to one of the callers, if there are several. At most 1,024 wait; see
    /// [`LobbyEvent::Missed`].
    pub async fn next_event(&self) -> Option<LobbyEvent> {
        self.session.inbox.lobby.next().await
    }

    /// The events of the lobby that have come so far, without waiting.
    pub fn events(&self) -> impl Iterator<Item = LobbyEvent> {
        std::iter::from_fn(|| self.session.inbox.lobby.try_next())
    }

    /// Whether the lobby answers now: false while a broken connection is restored.
    pub fn is_connected(&self) -> bool {
        self.session.read(|client, _| client.is_connected())
    }

    /// Whether the connection is closed for good.
    pub fn is_closed(&self) -> bool {
        self.session.read(|client, _| client.is_closed())
    }

    /// Secret: it lets another process take over this session, or resume it after a crash.
    pub fn resume_token(&self) -> Vec<u8> {
        self.session.read(|client, _| client.resume_token().to_vec())
    }

    /// Counters: round-trip time, datagrams, lateness, ages of what is shown.
    pub fn stats(&self) -> ClientStats {
        self.session.read(|client, _| client.stats())
    }

    /// The traffic of all connections so far: UDP payload, including QUIC's own.
    pub fn traffic(&self) -> Traffic {
        self.session.handle.traffic()
    }

    /// Leaves game, room and lobby, and waits until the server knows. Without it, a program that
    /// ends at once may leave its seat taken for the server's grace period.
    pub async fn quit(self) {
        self.session.handle.quit();
        self.session.inbox.wait_for_end().await;
    }
}

/// A room that is about to be created: awaiting it returns the [`Room`].
#[must_use = "nothing is requested before this is awaited"]
pub struct CreateRoom {
    session: Session,
    room: NewRoom,
}

impl CreateRoom {
    /// The number of seats; without it, the server's default.
    pub fn capacity(mut self, seats: u32) -> Self {
        self.room.capacity = seats;
        self
    }

    /// A password to join; without one, everybody may.
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.room.password = password.into();
        self
    }

    /// A parameter of the game or of the room: `size`, `delay`, `npcs`...
    #[expect(clippy::needless_pass_by_value, reason = "a caller writes 20 and not &20")]
    pub fn parameter(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.room.parameters.insert(key.into(), value.to_string());
        self
    }

    async fn request(self) -> Result<Room, RequestError> {
        let request = LobbyRequest::CreateRoom(self.room);
        match self.session.ask(request).await? {
            LobbyEvent::Created { room } => Ok(Room::new(self.session, room.id)),
            _ => Err(RequestError::unexpected("create a room")),
        }
    }
}

impl IntoFuture for CreateRoom {
    type Output = Result<Room, RequestError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.request())
    }
}

/// Any room of a game that is about to be joined: awaiting it returns the [`Room`].
#[must_use = "nothing is requested before this is awaited"]
pub struct QuickJoin {
    session: Session,
    game: String,
    parameters: BTreeMap<String, String>,
}

impl QuickJoin {
    /// What the room must have been created with.
    #[expect(clippy::needless_pass_by_value, reason = "a caller writes 20 and not &20")]
    pub fn parameter(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.parameters.insert(key.into(), value.to_string());
        self
    }

    async fn request(self) -> Result<Room, RequestError> {
        let request = LobbyRequest::QuickJoin { game: self.game, parameters: self.parameters };
        match self.session.ask(request).await? {
            LobbyEvent::Joined { room, .. } => Ok(Room::new(self.session, room.id)),
            _ => Err(RequestError::unexpected("join any room")),
        }
    }
}

impl IntoFuture for QuickJoin {
    type Output = Result<Room, RequestError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.request())
    }
}

/// A room that is about to be joined: awaiting it returns the [`Room`].
#[must_use = "nothing is requested before this is awaited"]
pub struct JoinRoom {
    session: Session,
    room: RoomId,
    password: String,
}

impl JoinRoom {
    /// The room's password.
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.password = password.into();
        self
    }

    async fn request(self) -> Result<Room, RequestError> {
        let request = LobbyRequest::JoinRoom { room: self.room, password: self.password };
        match self.session.ask(request).await? {
            LobbyEvent::Joined { room, .. } => Ok(Room::new(self.session, room.id)),
            _ => Err(RequestError::unexpected("join a room")),
        }
    }
}

impl IntoFuture for JoinRoom {
    type Output = Result<Room, RequestError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.request())
    }
}
