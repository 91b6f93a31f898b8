//! Reading and editing a gauge in a room.

use ambit_proto::schema::{Codec, Component};
use ambit_proto::time::GameTime;
use ambit_proto::timeline::Gauge as GaugeValue;

use super::Gauge;
use crate::component::access::finite;
use crate::object::{ObjectMut, ObjectRef, Spawn};

/// Reads a [`Gauge`].
#[derive(Clone, Copy)]
pub struct GaugeRef<'w> {
    object: ObjectRef<'w>,
    index: u8,
}

impl GaugeRef<'_> {
    /// The value now.
    pub fn value(&self) -> f32 {
        self.object.world.gauge(self.object.id, self.index).value
    }

    /// The change a second, now.
    pub fn rate(&self) -> f32 {
        self.object.world.gauge(self.object.id, self.index).rate
    }

    /// The highest value.
    pub fn max(&self) -> f32 {
        self.object.world.gauge(self.object.id, self.index).max
    }

    /// The value at another time, as far as known; the last second is stored.
    pub fn at(&self, time: GameTime) -> f32 {
        let world = self.object.world;
        world.gauge_at(self.object.id, self.index, time).value
    }
}

/// Edits a [`Gauge`]: from now on, or from the time that [`effective`](GaugeMut::effective) gives.
pub struct GaugeMut<'w> {
    object: ObjectMut<'w>,
    index: u8,
    from: GameTime,
}

impl GaugeMut<'_> {
    /// Edits take effect at this time: later, or since the last tick.
    #[must_use]
    pub fn effective(self, from: GameTime) -> Self {
        let from = self.object.earliest(from);
        Self { from, ..self }
    }

    /// The value, when edits take effect.
    pub fn value(&self) -> f32 {
        self.gauge().value
    }

    /// The change a second, when edits take effect.
    pub fn rate(&self) -> f32 {
        self.gauge().rate
    }

    /// The highest value.
    pub fn max(&self) -> f32 {
        self.gauge().max
    }

    /// Sets the value, limited to 0 and the maximum; it goes on changing at its rate. If it is not
    /// finite, nothing changes, with an error in the log.
    pub fn set(&mut self, value: f32) {
        self.set_both(value, self.rate());
    }

    /// Adds to the value, within 0 and the maximum. If the amount is not finite, nothing changes,
    /// with an error in the log.
    pub fn add(&mut self, amount: f32) {
        self.set(self.value() + amount);
    }

    /// Sets the change a second, up or down by less than 512; the value goes on from where it is.
    /// If it is not finite, nothing changes, with an error in the log.
    pub fn set_rate(&mut self, rate_per_s: f32) {
        self.set_both(self.value(), rate_per_s);
    }

    /// Sets the value and its change a second. If one of them is not finite, nothing changes, with
    /// an error in the log.
    pub fn set_both(&mut self, value: f32, rate_per_s: f32) {
        let object = &self.object;
        let numbers =
            finite(object, value, "gauge").zip(finite(object, rate_per_s, "rate of a gauge"));
        if let Some((value, rate)) = numbers {
            let ObjectMut { world, id } = &mut self.object;
            world.set_gauge(*id, self.index, self.from, value, rate);
        }
    }

    fn gauge(&self) -> GaugeValue {
        let world = &self.object.world;
        world.gauge_at(self.object.id, self.index, self.from)
    }
}

pub(in crate::component) type Ref<'w> = GaugeRef<'w>;
pub(in crate::component) type Mut<'w> = GaugeMut<'w>;

pub(in crate::component) fn initial<const MAX: u32>(
    gauge: Gauge<MAX>,
    spawn: &Spawn<'_>,
    index: u8,
) -> Component {
    let max = match spawn.codec(index) {
        Some(Codec::Gauge { max }) => max,
        _ => MAX as f32,
    };
    let value = finite(spawn, gauge.value, "gauge").unwrap_or(max);
    let rate = finite(spawn, gauge.rate, "rate of a gauge").unwrap_or(0.0);
    Component::gauge(spawn.now(), value, rate, max)
}

pub(in crate::component) fn reader(object: ObjectRef<'_>, index: u8) -> GaugeRef<'_> {
    GaugeRef { object, index }
}

pub(in crate::component) fn editor(object: ObjectMut<'_>, index: u8) -> GaugeMut<'_> {
    let from = object.world.now();
    GaugeMut { object, index, from }
}
