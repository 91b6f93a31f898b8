//! A game that the player is in: commands, frames, events.

use std::sync::Arc;
use std::time::Instant;

use ambit_client_core::client::Client as ClientCore;
use ambit_client_core::client::event::GameEvent;
use ambit_client_core::client::request::LobbyRequest;
use ambit_client_core::command_words;
use ambit_client_core::frame::Frame;
use ambit_client_core::{typed_command, typed_reads};
use ambit_proto::ids::{ClientObjectId, RoomId};
use ambit_proto::map::StaticMap;
use ambit_proto::message::{GameCommand, TypedCommand, TypedEvent, TypedKind};
use ambit_proto::schema::{Controls, Schema};

use crate::command::{IntoArguments, SendError};
use crate::error::{ReadError, RequestError};
use crate::inbox::GameQueue;
use crate::session::Session;

/// A game that the player is in.
///
/// All but [`Game::next_event`] is for an engine's thread: it returns at once. Failovers, broken
/// connections and gates to other maps change nothing about it; they are reported as events.
/// Dropping it does not leave the game: [`Game::leave`] does.
pub struct Game {
    session: Session,
    room: RoomId,
    queue: Arc<GameQueue>,
    frame: Frame,
}

impl Game {
    pub(crate) fn new(session: Session, room: RoomId, queue: Arc<GameQueue>) -> Self {
        Game { session, room, queue, frame: Frame::default() }
    }

    /// Everything in sight as it is at `at`, mostly `Instant::now()` or when the screen will show
    /// it (up to 100 ms ahead). May be called at any rate, with ascending times.
    ///
    /// It holds the client for microseconds, and allocates nothing once its buffers have grown. A
    /// frame needs no events to be understood: it contains all objects with all their components.
    /// Once the game is over, it is empty.
    pub fn frame(&mut self, at: Instant) -> &Frame {
        let Self { session, frame, .. } = self;
        if self.queue.is_closed() {
            frame.clear();
        } else {
            let at = session.handle.local_time(at);
            session.read(|client, now| frame.update(client, now, at));
        }
        frame
    }

    /// [`Game::frame`] at the present time.
    pub fn frame_now(&mut self) -> &Frame {
        let Self { session, frame, .. } = self;
        if self.queue.is_closed() {
            frame.clear();
        } else {
            session.read(|client, now| frame.update(client, now, now));
        }
        frame
    }

    /// The frame that [`Game::frame`] returned last: for a program that sends commands while it
    /// looks at the objects.
    pub fn last_frame(&self) -> &Frame {
        &self.frame
    }

    /// The events that have come so far, without waiting. At most 8,192 wait to be read; then
    /// updates are dropped, and after them older events: [`GameEvent::Missed`] tells how many.
    pub fn events(&self) -> impl Iterator<Item = GameEvent> {
        std::iter::from_fn(|| self.queue.try_next())
    }

    /// The next event, as soon as there is one; `None` after [`GameEvent::Ended`].
    pub async fn next_event(&self) -> Option<GameEvent> {
        self.queue.next().await
    }

    /// Gives a command by its name, with the values of its fields: `()`, one value, or a tuple.
    /// [`Game::schema`] lists the commands of the game. Returns a number; if the game refuses the
    /// command, [`GameEvent::Refused`] has the same one.
    ///
    /// ```no_run
    /// # use ambit_client::{ClientObjectId, Game, SendError};
    /// # fn example(game: Game, enemy: ClientObjectId) -> Result<(), SendError> {
    /// game.send("rest", ())?;
    /// game.send("walk-to", [120.0, 90.0])?;
    /// game.send("cast", ("bolt", [120.0, 90.0], enemy))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// It is sent at once, and again until the host has it; a kind of which only the newest counts
    /// is given up after a second. If the connection breaks or the map changes before the host has
    /// confirmed it, [`GameEvent::Refused`] has the code `try_again`: the game may or may not have
    /// executed it. Names and values are checked here already; an error says what the game expects.
    pub fn send(&self, name: &str, arguments: impl IntoArguments) -> Result<u32, SendError> {
        let arguments = arguments.into_arguments();
        self.act(|schema| Ok(command_words::from_arguments(schema, name, arguments)?))
    }

    /// Gives a command as a value of the game's own type, for a client that knows the game: the
    /// enum with `#[derive(Command)]`, best in a crate that server and client share. Otherwise the
    /// same as [`Game::send`].
    ///
    /// Objects are named as this client knows them: [`FrameEntry::typed_id`] returns the `Id` of
    /// an object in sight.
    ///
    /// A client that was built with another version of the game can't send the wrong command: if
    /// the server's game has no command of this name, or declares its fields otherwise, this is
    /// [`SendError::OtherVersion`].
    ///
    /// ```no_run
    /// use ambit::prelude::*;
    ///
    /// #[derive(Kind)]
    /// struct Walker { path: Path }
    ///
    /// #[derive(Command)]
    /// enum Command { WalkTo { to: Position }, Greet { whom: Id<Walker> } }
    ///
    /// # fn example(game: ambit_client::Game) -> Result<(), ambit_client::SendError> {
    /// game.command(Command::WalkTo { to: Position::on_ground(120.0, 90.0) })?;
    /// let mut walkers = game.last_frame().objects().filter(|object| !object.is_own());
    /// if let Some(whom) = walkers.find_map(|object| object.typed_id()) {
    ///     game.command(Command::Greet { whom })?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`FrameEntry::typed_id`]: crate::FrameEntry::typed_id
    pub fn command(&self, command: impl TypedCommand) -> Result<u32, SendError> {
        self.act(|schema| Ok(typed_command::build(schema, command)?))
    }

    /// Sends the command that `build` makes for the game's schema.
    fn act(
        &self,
        build: impl FnOnce(&Schema) -> Result<GameCommand<ClientObjectId>, SendError>,
    ) -> Result<u32, SendError> {
        if self.is_over() {
            return Err(SendError::NotPlaying);
        }
        self.session.read(|client, now| {
            let schema = client.schema().ok_or(SendError::NotPlaying)?;
            let command = build(schema)?;
            Ok(client.act(now, &command)?)
        })
    }

    /// Leaves the game and its room. Once the game is over, only [`Room::leave`] does: the player
    /// may have come back to the room since.
    ///
    /// [`Room::leave`]: crate::Room::leave
    pub async fn leave(self) -> Result<(), RequestError> {
        if self.is_over() || self.session.room() != Some(self.room) {
            return Err(RequestError::NotInThisRoom);
        }
        self.session.order(LobbyRequest::LeaveRoom).await
    }

    /// Holds these of the game's controls and releases all others, for a client that knows the
    /// game: the enum with `#[derive(Controls)]`, best in a crate that server and client share.
    /// Presses and releases are sent at once, and repeated until the host has confirmed them. While
    /// a broken connection is restored, what is held when the game goes on counts.
    ///
    /// ```no_run
    /// use ambit::prelude::*;
    ///
    /// #[derive(Controls)]
    /// enum Key { TurnLeft, Fire }
    ///
    /// # fn example(game: ambit_client::Game) -> Result<(), ambit_client::SendError> {
    /// game.hold([Key::TurnLeft, Key::Fire])?;
    /// game.release()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn hold<C: Controls>(
        &self,
        controls: impl IntoIterator<Item = C>,
    ) -> Result<(), SendError> {
        self.hold_named(controls.into_iter().map(Controls::name))
    }

    /// The same, with the names of the game's controls.
    pub fn hold_named<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<(), SendError> {
        if self.is_over() {
            return Err(SendError::NotPlaying);
        }
        self.session.read(|client, now| {
            let schema = client.control_schema().ok_or(SendError::NotPlaying)?;
            let keys = schema.keymap(names);
            let keys = keys.map_err(|name| match schema.control_index(name) {
                None => SendError::UnknownControl(name.to_owned()),
                Some(_) => SendError::IsAxis(name.to_owned()),
            })?;
            client.hold(now, keys);
            Ok(())
        })
    }

    /// Moves an axis of the game: from -1 to 1, what is beyond counts as the end; or an angle, in
    /// radians counter-clockwise from the east. It stays there. The value is rounded to 8 bits, and
    /// leaves with the next datagram, 20 or 60 times a second; of values in between only the newest
    /// is sent. So a program may call this for each move of a mouse.
    ///
    /// ```no_run
    /// use ambit::prelude::*;
    ///
    /// #[derive(Controls)]
    /// enum Key {
    ///     #[control(axis)]
    ///     Throttle,
    ///     #[control(angle)]
    ///     Aim,
    /// }
    ///
    /// # fn example(game: ambit_client::Game) -> Result<(), ambit_client::SendError> {
    /// game.set_axis(Key::Throttle, 0.5)?;
    /// game.set_axis_named("aim", std::f32::consts::FRAC_PI_2)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_axis<C: Controls>(&self, axis: C, value: f32) -> Result<(), SendError> {
        self.set_axis_named(axis.name(), value)
    }

    /// The same, with the name of the game's control.
    pub fn set_axis_named(&self, name: &str, value: f32) -> Result<(), SendError> {
        if self.is_over() {
            return Err(SendError::NotPlaying);
        }
        self.session.read(|client, now| {
            let schema = client.control_schema().ok_or(SendError::NotPlaying)?;
            let control = schema.control_index(name);
            let control = control.ok_or_else(|| SendError::UnknownControl(name.to_owned()))?;
            if schema.axis(control).is_none() {
                return Err(SendError::NoAxis(name.to_owned()));
            }
            if client.set_axis(now, control, value) { Ok(()) } else { Err(SendError::NotPlaying) }
        })
    }

    /// Releases all controls; axes stay.
    pub fn release(&self) -> Result<(), SendError> {
        self.hold_named([])
    }

    /// What the game declares: kinds of objects with their components, events, commands. `None`
    /// while a broken connection is restored, and after the end.
    pub fn schema(&self) -> Option<Arc<Schema>> {
        self.read_present(|client| client.schema().cloned())
    }

    /// Whether the server's game declares a kind as this client knows it, with the types of its
    /// components, so that [`FrameEntry::get`] can read its objects. The error says what differs.
    ///
    /// [`FrameEntry::get`]: crate::FrameEntry::get
    pub fn check_kind<K: TypedKind>(&self) -> Result<(), ReadError> {
        let schema = self.schema().ok_or(ReadError::NotPlaying)?;
        Ok(typed_reads::check_kind::<K>(&schema)?)
    }

    /// The same for an event, and [`SchemaEvent::get`](crate::SchemaEvent::get).
    pub fn check_event<E: TypedEvent>(&self) -> Result<(), ReadError> {
        let schema = self.schema().ok_or(ReadError::NotPlaying)?;
        Ok(typed_reads::check_event::<E>(&schema)?)
    }

    /// The static map, once it has arrived; games without obstacles have none, nor is there one
    /// after the end.
    pub fn map(&self) -> Option<Arc<StaticMap>> {
        self.read_present(|client| client.map().cloned())
    }

    /// The room that runs it.
    pub fn room(&self) -> RoomId {
        self.room
    }

    /// Whether it is over for this player. The last events may still wait to be read;
    /// [`GameEvent::Ended`] has the reason.
    pub fn is_over(&self) -> bool {
        self.queue.is_closed()
    }

    /// Reads the client, unless it plays another game by now.
    fn read_present<R>(&self, read: impl FnOnce(&ClientCore) -> Option<R>) -> Option<R> {
        if self.is_over() {
            return None;
        }
        self.session.read(|client, _| read(client))
    }
}

#[cfg(test)]
mod tests;
