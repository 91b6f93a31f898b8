//! What happens in a game at one moment: a hit, a cast.
//!
//! Events go in on arrival, mostly ahead of their effect, and come out at once, so that views can
//! prepare. One that names an object which is not in sight yet waits for it, until its effect time
//! at most: so views hear only of objects that they have seen.
//!
//! Bound: [`HELD`] events wait; beyond it the oldest is told at once, without the object that it
//! waits for.

use std::collections::VecDeque;

use ambit_proto::message::EventValue;
use ambit_proto::time::GameTime;

use super::event::{FieldValue, GameEvent, NamedValue, ViewEvent};
use crate::replica::Replica;

/// Events that wait for an object, at most.
pub const MAX_HELD: usize = 256;

/// An event as it arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedEvent {
    /// Index in the schema, which has as many fields.
    pub kind: u8,
    /// When it takes effect.
    pub effect: GameTime,
    /// Who, where, how much.
    pub fields: Vec<EventValue>,
}

/// The events that wait.
#[derive(Debug, Default)]
pub struct HeldEvents {
    /// In the order of arrival; at most [`HELD`].
    held: VecDeque<ReceivedEvent>,
}

impl HeldEvents {
    /// An event has arrived.
    pub fn handle<V>(
        &mut self,
        now: GameTime,
        happened: ReceivedEvent,
        replica: &Replica<V>,
        mut tell: impl FnMut(ViewEvent),
    ) {
        if is_due(now, &happened, replica) {
            return tell(to_view_event(
                now,
                &happened,
                happened.effect < now,
                replica,
            ));
        }
        self.held.push_back(happened);
        if self.held.len() > MAX_HELD
            && let Some(oldest) = self.held.pop_front()
        {
            tell(to_view_event(now, &oldest, false, replica));
        }
    }

    /// Tells what need not wait any more. None of it is late: it was there in time.
    pub fn release_due<V>(
        &mut self,
        now: GameTime,
        replica: &Replica<V>,
        mut tell: impl FnMut(ViewEvent),
    ) {
        self.held.retain(|happened| {
            let due = is_due(now, happened, replica);
            if due {
                tell(to_view_event(now, happened, false, replica));
            }
            !due
        });
    }

    /// When `release` has something to do, whatever comes into sight until then.
    pub fn next_due(&self) -> Option<GameTime> {
        self.held.iter().map(|happened| happened.effect).min()
    }

    /// Forgets what waits.
    pub fn clear(&mut self) {
        self.held.clear();
    }
}

fn is_due<V>(now: GameTime, happened: &ReceivedEvent, replica: &Replica<V>) -> bool {
    let in_sight = |field: &EventValue| {
        !matches!(field, EventValue::Object(Some(_))) || visible_object(field, replica).is_some()
    };
    happened.effect <= now || happened.fields.iter().all(in_sight)
}

fn to_view_event<V>(
    t: GameTime,
    happened: &ReceivedEvent,
    late: bool,
    replica: &Replica<V>,
) -> ViewEvent {
    let names = &replica.names().events[usize::from(happened.kind)];
    let fields = happened
        .fields
        .iter()
        .zip(&names.parts)
        .map(|(field, name)| {
            let value = match field {
                EventValue::Object(_) => FieldValue::Object(visible_object(field, replica)),
                EventValue::Position(position) => FieldValue::Position(*position),
                EventValue::Number(number) => FieldValue::Number(*number),
            };
            NamedValue {
                name: name.clone(),
                value,
            }
        });
    let fields = fields.collect();
    ViewEvent::Event(GameEvent {
        name: names.name.clone(),
        t,
        effect: happened.effect,
        late,
        fields,
    })
}

/// The object in sight that a field names.
fn visible_object<V>(field: &EventValue, replica: &Replica<V>) -> Option<u32> {
    let EventValue::Object(Some(alias)) = field else {
        return None;
    };
    replica
        .resolve(*alias)
        .filter(|id| replica.get(*id).is_some())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use ambit_proto::ids::Alias;
    use ambit_proto::schema::Schema;

    use super::*;
    use crate::replica::PoseDecoding;

    #[test]
    fn held_events_are_bounded_and_the_oldest_is_emitted_first() {
        let replica = Replica::<()>::new(
            Arc::new(Schema::example()),
            Duration::ZERO,
            0,
            PoseDecoding::Full,
        );
        let mut happenings = HeldEvents::default();
        let mut told = Vec::new();
        let fields = vec![EventValue::Object(Some(Alias { slot: 1, epoch: 0 }))];
        for ms in 1..=MAX_HELD as u64 + 3 {
            let happened = ReceivedEvent {
                kind: 0,
                effect: GameTime::from_millis(1_000 + ms),
                fields: fields.clone(),
            };
            happenings.handle(GameTime::ZERO, happened, &replica, |event| told.push(event));
        }
        let effects = told.iter().map(|event| match event {
            ViewEvent::Event(happening) => happening.effect.millis(),
            other => panic!("{other:?}"),
        });
        assert_eq!(effects.collect::<Vec<_>>(), [1_001, 1_002, 1_003]);
        assert_eq!(happenings.next_due(), Some(GameTime::from_millis(1_004)));
    }
}
