//! What has happened, as messages of Bevy.

use std::any::type_name;
use std::fmt::{self, Debug, Formatter};

use ambit_client::{
    ConnectError, GameEvent, GameTime, LobbyEvent, PlayError, RoomId, SchemaEvent, TypedEvent,
};
use bevy_ecs::message::{Message, MessageReader, MessageWriter};
use bevy_ecs::system::{Local, Res};

use crate::client::AmbitClient;

/// Something that happened in the lobby: chat, rooms, the connection.
#[derive(Message, Clone, Debug, PartialEq)]
pub struct LobbyMessage(pub LobbyEvent);

/// Something that happened in the game; most of what a client that knows the game wants is a
/// [`Happened`].
#[derive(Message, Clone, Debug, PartialEq)]
pub struct GameMessage(pub GameEvent);

/// How [`AmbitClient::connect`] and [`AmbitClient::play`] went.
#[derive(Message, Clone, Debug, PartialEq, Eq)]
pub enum SessionMessage {
    /// The player is in the lobby.
    Connected,
    /// There is no connection.
    NotConnected(ConnectError),
    /// The player is in the game of this room: commands can be sent, and a frame has what is seen.
    Playing(RoomId),
    /// The player is not in the game.
    NotPlaying(PlayError),
}

/// An event of the game as its own type, in the frame in which it takes effect
/// ([`AmbitAppExt::add_ambit_event`](crate::AmbitAppExt::add_ambit_event)).
///
/// Its ids are those of this client: [`AmbitClient::find`] returns their entities.
#[derive(Message, Clone)]
pub struct Happened<E: Send + Sync + 'static> {
    /// What happened.
    pub event: E,
    /// When, in room time.
    pub effect: GameTime,
}

impl<E: Send + Sync + 'static> Debug for Happened<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:?}", type_name::<E>(), self.effect)
    }
}

/// Keeps events until the frame shows their time. They come in order of their effects.
pub(crate) fn announce<E: TypedEvent + Send + Sync + 'static>(
    client: Res<AmbitClient>,
    mut game: MessageReader<GameMessage>,
    mut waiting: Local<Vec<Happened<E>>>,
    mut happened: MessageWriter<Happened<E>>,
) {
    for GameMessage(event) in game.read() {
        match event {
            GameEvent::Event(event) => waiting.extend(read(event)),
            // Another room, another time: no frame will show what was to come.
            GameEvent::Started(_) | GameEvent::Ended { .. } => waiting.clear(),
            _ => {}
        }
    }
    if let Some(time) = client.frame().and_then(ambit_client::Frame::time) {
        happened.write_batch(take_due(&mut waiting, time));
    }
}

fn read<E: TypedEvent + Send + Sync + 'static>(event: &SchemaEvent) -> Option<Happened<E>> {
    Some(Happened { event: event.get()?, effect: event.effect })
}

fn take_due<E: Send + Sync + 'static>(
    waiting: &mut Vec<Happened<E>>,
    time: GameTime,
) -> Vec<Happened<E>> {
    let mut due: Vec<_> = waiting.extract_if(.., |it| it.effect <= time).collect();
    due.sort_by_key(|it| it.effect);
    due
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_waits_until_the_frame_shows_its_time() {
        let at = |ms: u64| GameTime::from_millis(ms);
        let mut waiting: Vec<Happened<&str>> = [(30, "c"), (10, "a"), (20, "b"), (20, "b2")]
            .map(|(ms, event)| Happened { event, effect: at(ms) })
            .into();
        let mut due = |ms| -> Vec<_> {
            take_due(&mut waiting, at(ms)).into_iter().map(|it| it.event).collect()
        };
        assert_eq!(due(9), [""; 0]);
        assert_eq!(due(20), ["a", "b", "b2"]);
        assert_eq!(due(29), [""; 0]);
        assert_eq!(due(31), ["c"]);
    }
}
