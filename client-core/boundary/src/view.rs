//! What a client shows, as arrays.

use ambit_client_core::client::Client;
use ambit_client_core::frame::Frame;
use ambit_proto::time::{GameTime, LocalTime};

use crate::frame_arrays::FrameArrays;

/// What one client shows, beside the client itself.
#[derive(Debug, Default)]
pub struct ClientView {
    frame: Frame,
    arrays: FrameArrays,
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
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The same as arrays.
    pub fn arrays(&self) -> &FrameArrays {
        &self.arrays
    }
}
