//! What a client shows: frames, and the events about its commands.

use std::collections::VecDeque;

use ambit_client_core::client::Client;
use ambit_client_core::client::event::{GameEvent, ViewEvent};
use ambit_client_core::frame::Frame;
use ambit_proto::time::{GameTime, LocalTime};

use crate::frame_arrays::FrameArrays;

/// What one client shows, beside the client itself.
#[derive(Debug, Default)]
pub struct ClientView {
    frame: Frame,
    arrays: FrameArrays,
    /// Events about confirmed commands. The owner takes them after each call; a call adds at most
    /// 256.
    confirmed: VecDeque<GameEvent>,
}

impl ClientView {
    /// Copies what `client` has in sight at `at` (see [`Frame::update`]) to the
    /// [arrays](Self::arrays). Returns the room time that they show; none without a game.
    pub fn draw(&mut self, client: &mut Client, now: LocalTime, at: LocalTime) -> Option<GameTime> {
        self.frame.update(client, now, at);
        self.arrays.fill(&self.frame);
        self.frame.time()
    }

    /// The frame as it was drawn last.
    pub fn arrays(&self) -> &FrameArrays {
        &self.arrays
    }

    /// After a datagram: notes which commands it has confirmed.
    pub fn note_confirmed(&mut self, client: &mut Client, now: LocalTime) {
        let game = client.running_game();
        let times = game.and_then(|game| Some((game.room_time(now), game.horizon()?)));
        let numbers = client.take_confirmed();
        if let Some((t, effect)) = times {
            let events = numbers.map(|command| GameEvent::Confirmed { t, command, effect });
            self.confirmed.extend(events);
        }
    }

    /// Whether there is an event about a confirmed command.
    pub fn has_confirmed(&self) -> bool {
        !self.confirmed.is_empty()
    }

    /// The next event about a confirmed command.
    pub fn poll_confirmed(&mut self) -> Option<ViewEvent> {
        self.confirmed.pop_front().map(ViewEvent::Game)
    }
}
