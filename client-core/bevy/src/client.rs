//! The resource: a player of an Ambit server.

use std::io;

use ambit_client::{
    Client, ClientObjectId, Connect, Frame, FrameEntry, FrameObject, Game, GameEvent, LobbyEvent,
    PlayError, RequestError, Transform, TypedId,
};
use bevy_ecs::entity::Entity;
use bevy_ecs::message::Message;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::axes::WorldAxes;
use crate::events::{GameMessage, LobbyMessage, SessionMessage};
use crate::network_thread::NetworkThread;
use crate::objects::Entities;
use crate::table::Table;

/// What the network thread has for the world: the answers to what a program has asked.
type Delivery = Box<dyn FnOnce(&mut World) + Send>;

/// How many answers wait for a frame; more wait in their tasks.
const MAX_DELIVERIES: usize = 64;

/// A player: requests to the lobby, the game, and what is in sight.
///
/// Requests run on the network thread; their answers come as messages, in a later frame. Commands
/// and held controls are methods of the [`Game`], and return at once:
///
/// ```
/// use ambit_bevy::AmbitClient;
/// use bevy_ecs::prelude::*;
///
/// fn rest(client: Res<AmbitClient>) {
///     if let Some(game) = client.game() {
///         // A refusal is a message.
///         let _ = game.send("rest", ());
///         let _ = game.hold_named(["turn-left"]);
///     }
/// }
/// ```
///
/// When it is dropped, with the app, the player leaves; that waits for the server for a second at
/// most.
#[derive(Resource)]
pub struct AmbitClient {
    network: NetworkThread,
    deliver: Sender<Delivery>,
    delivered: Receiver<Delivery>,
    axes: WorldAxes,
    client: Option<Client>,
    game: Option<Game>,
    in_sight: Table<Transform>,
    rows: Table<()>,
}

impl AmbitClient {
    pub(crate) fn start(axes: WorldAxes) -> io::Result<Self> {
        let (deliver, delivered) = channel(MAX_DELIVERIES);
        Ok(AmbitClient {
            network: NetworkThread::start()?,
            deliver,
            delivered,
            axes,
            client: None,
            game: None,
            in_sight: Table::default(),
            rows: Table::default(),
        })
    }

    /// Connects, as another player if there is one; [`SessionMessage::Connected`] follows, or
    /// [`SessionMessage::NotConnected`].
    pub fn connect(&self, connect: Connect) {
        let deliver = self.deliver.clone();
        self.network.spawn(async move {
            let connected = connect.await;
            let delivery: Delivery = Box::new(move |world| {
                let message = match connected {
                    Ok(client) => {
                        Self::of(world).client = Some(client);
                        SessionMessage::Connected
                    }
                    Err(error) => SessionMessage::NotConnected(error),
                };
                world.write_message(message);
            });
            // Fails only at the end of the app.
            let _ = deliver.send(delivery).await;
        });
    }

    /// The player in the lobby, once connected. Its requests are for [`AmbitClient::ask`].
    pub fn client(&self) -> Option<&Client> {
        self.client.as_ref()
    }

    /// Runs requests to the lobby; what they return becomes a message of the app
    /// (`App::add_message`). An error if there is no connection yet.
    ///
    /// ```
    /// use ambit_bevy::AmbitClient;
    /// use ambit_client::RoomListing;
    /// use bevy_ecs::prelude::*;
    ///
    /// #[derive(Message)]
    /// struct Rooms(Vec<RoomListing>);
    ///
    /// fn list(client: Res<AmbitClient>) {
    ///     let _ = client.ask(|lobby| async move {
    ///         Rooms(lobby.rooms().await.unwrap_or_default())
    ///     });
    /// }
    /// ```
    pub fn ask<M, F>(&self, requests: impl FnOnce(Client) -> F) -> Result<(), RequestError>
    where
        M: Message,
        F: Future<Output = M> + Send + 'static,
    {
        self.run(requests, |world, answer| {
            world.write_message(answer);
        })
    }

    /// Enters a game: runs requests to the lobby that return it. [`SessionMessage::Playing`]
    /// follows, or [`SessionMessage::NotPlaying`].
    ///
    /// ```
    /// use ambit_bevy::AmbitClient;
    /// use ambit_client::RoomId;
    /// use bevy_ecs::prelude::*;
    ///
    /// fn join(client: Res<AmbitClient>) {
    ///     let _ = client.play(|lobby| async move {
    ///         lobby.join_room(RoomId(1)).await?.play().await
    ///     });
    /// }
    /// ```
    pub fn play<F>(&self, requests: impl FnOnce(Client) -> F) -> Result<(), RequestError>
    where
        F: Future<Output = Result<Game, PlayError>> + Send + 'static,
    {
        self.run(requests, |world, entered| {
            let message = match entered {
                Ok(game) => {
                    let room = game.room();
                    let before = Self::of(world).game.replace(game);
                    let last = before.iter().flat_map(Game::events).map(GameMessage);
                    world.write_message_batch(last);
                    SessionMessage::Playing(room)
                }
                Err(error) => SessionMessage::NotPlaying(error),
            };
            world.write_message(message);
        })
    }

    /// The game that the player is in, or was in last: commands, controls, the map, the schema.
    pub fn game(&self) -> Option<&Game> {
        self.game.as_ref()
    }

    /// What the entities show; `None` before the first game.
    pub fn frame(&self) -> Option<&Frame> {
        self.game().map(Game::last_frame)
    }

    /// All that is known of an object in sight: its kind, look, components, velocity.
    pub fn object(&self, id: ClientObjectId) -> Option<FrameObject<'_>> {
        self.frame()?.object(id)
    }

    /// The entity of an object or of a room-wide one.
    pub fn entity(&self, id: ClientObjectId) -> Option<Entity> {
        self.in_sight.entity(id).or_else(|| self.rows.entity(id))
    }

    /// The same for an id of an event: `Id<Ship>`.
    pub fn find(&self, id: impl TypedId) -> Option<Entity> {
        self.entity(id.client_object_id()?)
    }

    /// Each entity with what the frame has of it: first what is in sight, then what is room-wide.
    pub fn shown(&self) -> impl Iterator<Item = (Entity, FrameEntry<'_>)> {
        self.frame().into_iter().flat_map(|frame| {
            let objects = frame.objects().map(|object| *object);
            let objects = self.in_sight.entities().zip(objects);
            objects.chain(self.rows.entities().zip(frame.room_wide()))
        })
    }

    /// Which way is up.
    pub fn axes(&self) -> WorldAxes {
        self.axes
    }

    fn run<F: Future<Output: Send> + Send + 'static>(
        &self,
        requests: impl FnOnce(Client) -> F,
        handle: impl FnOnce(&mut World, F::Output) + Send + 'static,
    ) -> Result<(), RequestError> {
        let client = self.client.clone().ok_or(RequestError::Closed)?;
        let requests = requests(client);
        let deliver = self.deliver.clone();
        self.network.spawn(async move {
            let answer = requests.await;
            let delivery: Delivery = Box::new(move |world| handle(world, answer));
            // Fails only at the end of the app.
            let _ = deliver.send(delivery).await;
        });
        Ok(())
    }

    fn of(world: &mut World) -> &mut Self {
        world.resource_mut::<Self>().into_inner()
    }

    /// Takes a frame of the present; `entities` follow it.
    pub(crate) fn take_frame(&mut self, entities: &mut Entities<'_, '_>) {
        let Some(game) = &mut self.game else { return };
        let frame = game.frame_now();
        let objects = frame.objects().map(|object| (object.id(), object.transform(), *object));
        self.in_sight.follow(objects, entities);
        self.rows.follow(frame.room_wide().map(|row| (row.id(), (), row)), entities);
    }
}

/// The player leaves.
impl Drop for AmbitClient {
    fn drop(&mut self) {
        self.game = None;
        self.network.end(self.client.take());
    }
}

/// Hands over what the network thread has, and what has happened.
pub(crate) fn receive(world: &mut World) {
    while let Ok(delivery) = AmbitClient::of(world).delivered.try_recv() {
        delivery(world);
    }
    let client = AmbitClient::of(world);
    let lobby: Vec<LobbyEvent> = client.client.iter().flat_map(Client::events).collect();
    let game: Vec<GameEvent> = client.game.iter().flat_map(Game::events).collect();
    world.write_message_batch(lobby.into_iter().map(LobbyMessage));
    world.write_message_batch(game.into_iter().map(GameMessage));
}
