//! The room goes on at another host: after a failure, or with a new release of the game.

use std::marker::PhantomData;

use ambit_proto::control::world::{WorldToClient, world_to_client};
use ambit_room::logic::registry::Registry;
use ambit_room::room::{Room, RoomInput};
use ambit_room::saved::BadState;

use super::TestRoom;
use crate::{Game, Games};

impl<G: Game> TestRoom<G> {
    /// The host dies, and another one goes on with the room as it was at its last tick. The clients
    /// follow it there.
    ///
    /// # Panics
    /// If the game is not saved with its room, or cannot go on from what it has saved; the message
    /// says why.
    pub fn move_to_another_host(&mut self) {
        self.room = self.restored(&self.registry).unwrap_or_else(|error| {
            panic!("the game {:?} cannot go on from what it has saved: {error}", G::INFO.name)
        });
        self.follow();
    }

    /// A new release: the room goes on in a build in which its game is `H`, and the clients follow
    /// it there. `H` has the same name, and what else it likes.
    ///
    /// # Panics
    /// If that build cannot go on with the room; see [`TestRoom::check_release`].
    #[must_use]
    pub fn release<H: Game>(self) -> TestRoom<H> {
        let registry = Registry::from(Games::new().with::<H>());
        let room = self.restored(&registry).unwrap_or_else(|error| {
            panic!("the next build of {:?} cannot go on with the room: {error}", G::INFO.name)
        });
        let mut next = TestRoom {
            registry,
            header: self.header,
            room,
            incarnation: self.incarnation,
            schedule: self.schedule,
            now: self.now,
            clients: self.clients,
            in_flight: self.in_flight,
            sent: self.sent,
            inputs: self.inputs,
            store: self.store,
            outputs: self.outputs,
            finished: self.finished,
            game: PhantomData,
        };
        next.follow();
        next
    }

    /// Whether a build in which the game is `H` can go on with the room. If not, the room waits for
    /// a host of this build, and players read why.
    pub fn check_release<H: Game>(&self) -> Result<(), BadState> {
        self.restored(&Registry::from(Games::new().with::<H>())).map(|_| ())
    }

    /// What the room's next host gets, as it is after the last tick.
    ///
    /// # Panics
    /// If the game is not saved with its room.
    pub fn save(&self) -> Vec<u8> {
        self.room.save().unwrap_or_else(|| {
            panic!("the game {:?} is not saved, so its rooms end with their host", G::INFO.name)
        })
    }

    /// The room at a host of this build.
    fn restored(&self, registry: &Registry) -> Result<Room, BadState> {
        let prepared = registry.prepare(&self.header);
        let (config, game) = prepared.map_err(|error| BadState::Misfit(error.to_string()))?;
        let mut room = Room::restore(config, game, &self.save())?;
        room.finish_replay(self.room.last_tick().unwrap_or_default());
        Ok(room)
    }

    /// The clients go to the room's new host.
    fn follow(&mut self) {
        self.inputs.clear();
        self.in_flight.clear();
        self.incarnation += 1;
        self.inputs.push(RoomInput::BeginIncarnation(self.incarnation));
        let ticket = self.ticket();
        for number in 0..self.clients.len() {
            if self.clients[number].connected {
                let body = Some(world_to_client::Body::Ticket(ticket.clone()));
                let message = WorldToClient { request: 0, body };
                self.with_client(number, |client, now| {
                    client.handle_world_message(now, message);
                });
            }
        }
    }
}
