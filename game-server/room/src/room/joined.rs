//! What a client is sent when it joins.

use ambit_proto::control::game::{Joined, PoseCoding as CodingField};
use ambit_proto::ids::RoomId;
use ambit_proto::pose::PoseCoding;
use ambit_proto::presentation::{GateArea, Presentation};
use ambit_proto::time::GameTime;

use super::Room;

impl Room {
    /// The message for a client that joins at `now`. `coding` is what it has asked for.
    pub fn joined(&self, room: RoomId, now: GameTime, coding: PoseCoding) -> Joined {
        let config = &self.config;
        let schema = self.world.schema().for_clients();
        let gates = self.gates.all().iter().map(GateArea::from).collect();
        let presentation = Presentation { gates, ..schema.presentation.clone() };
        Joined {
            room: room.0,
            now_us: now.micros(),
            delay_ms: config.delay.as_millis() as u32,
            tick_hz: config.tick_hz,
            width: config.width,
            height: config.height,
            cell: config.cell,
            inner: config.inner.into(),
            outer: config.outer.into(),
            schema: Some((&*schema).into()),
            coding: CodingField::from(coding.or(config.coding)).into(),
            presentation: presentation.to_block(),
        }
    }
}
