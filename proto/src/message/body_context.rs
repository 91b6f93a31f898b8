//! What both ends know before they read or write the body of a datagram from a server.

use std::time::Duration;

use crate::schema::Schema;
use crate::time::GameTime;

/// What both ends know before they read or write a body.
#[derive(Clone, Copy, Debug)]
pub struct BodyContext<'s> {
    /// The game's schema.
    pub schema: &'s Schema,
    /// The local lag: the horizon of a datagram is its stamp plus this.
    pub delay: Duration,
    /// For a reader. A stamp is the moment nearest to it with the stamp's low bits. A writer
    /// ignores it.
    pub approximate_now: GameTime,
}

impl BodyContext<'_> {
    /// From when on the contents of a datagram with this stamp are valid, unless they give another
    /// time.
    pub fn horizon(&self, stamp: GameTime) -> GameTime {
        (stamp.whole_millis() + self.delay).whole_millis()
    }
}
