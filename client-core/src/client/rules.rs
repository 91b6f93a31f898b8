//! The parameters of a game that the host sends at the join.
//!
//! Converts the message `Joined` into valid values, or returns the error in its schema.

use std::sync::Arc;
use std::time::Duration;

use ambit_proto::control::game as pb;
use ambit_proto::pose::PoseCoding;
use ambit_proto::schema::{Schema, SchemaError};
use ambit_proto::time::GameTime;

use super::event::MapExtent;

/// The contents of `Joined`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// Room time when the message was sent.
    pub now: GameTime,
    /// The local lag: a command sent at `t` takes effect at `t + delay`.
    pub delay: Duration,
    /// How often the room simulates and sends, in ticks a second.
    pub tick_hz: u32,
    /// The map's size; the obstacles come later, as a block.
    pub map: MapExtent,
    /// The schema of the game's objects and events.
    pub schema: Arc<Schema>,
    /// How the host codes poses.
    pub coding: PoseCoding,
}

impl Rules {
    /// The time between two ticks.
    pub fn tick(&self) -> Duration {
        Duration::from_secs(1) / self.tick_hz.max(1)
    }

    /// From a command to its effect, on average: a tick executes what has arrived since the last
    /// one. `one_way` is the delay to the host.
    pub fn walk_lead(&self, one_way: Duration) -> Duration {
        one_way + self.tick() / 2 + self.delay
    }
}

impl TryFrom<pb::Joined> for Rules {
    type Error = SchemaError;

    fn try_from(joined: pb::Joined) -> Result<Self, SchemaError> {
        Ok(Rules {
            now: GameTime::from_micros(joined.now_us),
            delay: Duration::from_millis(joined.delay_ms.into()),
            tick_hz: joined.tick_hz,
            map: MapExtent {
                width_m: joined.width,
                height_m: joined.height,
                cell_m: joined.cell,
                inner: joined.inner,
                outer: joined.outer,
            },
            schema: Arc::new(Schema::from_message(
                joined.schema.unwrap_or_default(),
                &joined.presentation,
            )?),
            coding: PoseCoding::from_number(joined.coding).unwrap_or_default(),
        })
    }
}
