//! Game events such as hits and casts.
//!
//! Events go in on arrival, mostly before they take effect, and come out at once, so that views can
//! prepare. An event that names an object which is not in sight yet waits for it, at most until its
//! effect time. So events name only objects that the views know.
//!
//! Bound: [`MAX_HELD`] events wait. Beyond it, the oldest is emitted at once, without the missing
//! object.

use std::collections::VecDeque;

use ambit_proto::ids::{Alias, ClientObjectId};
use ambit_proto::message::FieldValue;
use ambit_proto::time::GameTime;

use super::event::{GameEvent, NamedField, SchemaEvent};
use crate::replica::Replica;

/// Maximum number of events that wait for an object.
const MAX_HELD: usize = 256;

/// An event as the host has sent it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReceivedEvent {
    /// Index in the schema, which defines as many fields.
    pub(crate) kind: u8,
    /// When it takes effect.
    pub(crate) effect: GameTime,
    /// Who, where, how much.
    pub(crate) fields: Vec<FieldValue<Alias>>,
}

/// The events that wait for objects.
#[derive(Debug, Default)]
pub(crate) struct HeldEvents {
    /// In order of arrival; at most [`MAX_HELD`].
    held: VecDeque<ReceivedEvent>,
}

impl HeldEvents {
    /// An event has arrived.
    pub(crate) fn handle<V>(
        &mut self,
        now: GameTime,
        received: ReceivedEvent,
        replica: &Replica<V>,
        mut emit: impl FnMut(GameEvent),
    ) {
        if is_due(now, &received, replica) {
            return emit(to_view_event(now, &received, received.effect < now, replica));
        }
        self.held.push_back(received);
        if self.held.len() > MAX_HELD
            && let Some(oldest) = self.held.pop_front()
        {
            emit(to_view_event(now, &oldest, false, replica));
        }
    }

    /// Emits the events that no longer need to wait. None of them is late: each arrived in time.
    pub(crate) fn release_due<V>(
        &mut self,
        now: GameTime,
        replica: &Replica<V>,
        mut emit: impl FnMut(GameEvent),
    ) {
        self.held.retain(|received| {
            let due = is_due(now, received, replica);
            if due {
                emit(to_view_event(now, received, false, replica));
            }
            !due
        });
    }

    /// When `release_due` has work to do even if no object comes into sight before.
    pub(crate) fn next_due(&self) -> Option<GameTime> {
        self.held.iter().map(|received| received.effect).min()
    }

    /// Drops all waiting events.
    pub(crate) fn clear(&mut self) {
        self.held.clear();
    }
}

fn is_due<V>(now: GameTime, received: &ReceivedEvent, replica: &Replica<V>) -> bool {
    let in_sight = |field: &FieldValue<Alias>| match field {
        FieldValue::Object(alias) => visible_object(*alias, replica).is_some(),
        _ => true,
    };
    received.effect <= now || received.fields.iter().all(in_sight)
}

fn to_view_event<V>(
    t: GameTime,
    received: &ReceivedEvent,
    late: bool,
    replica: &Replica<V>,
) -> GameEvent {
    let names = &replica.names().events[usize::from(received.kind)];
    let fields = received.fields.iter().zip(&names.fields).map(|(field, names)| NamedField {
        name: names.name.clone(),
        value: field.rename_object(|&alias| visible_object(alias, replica)).unwrap_or_default(),
        choice: match field {
            FieldValue::Choice(index) => names.choices.get(usize::from(*index)).cloned(),
            _ => None,
        },
    });
    let fields = fields.collect();
    GameEvent::Event(SchemaEvent {
        name: names.name.clone(),
        t,
        effect: received.effect,
        late,
        fields,
    })
}

/// The object in sight that an alias names.
fn visible_object<V>(alias: Alias, replica: &Replica<V>) -> Option<ClientObjectId> {
    replica.resolve(alias).filter(|id| replica.get(*id).is_some())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use ambit_proto::schema::Schema;

    use super::*;
    use crate::replica::PoseDecoding;

    #[test]
    fn held_events_are_bounded_and_the_oldest_is_emitted_first() {
        let schema = Arc::new(Schema::example());
        let replica = Replica::<()>::new(
            schema,
            Duration::ZERO,
            Duration::ZERO,
            ClientObjectId::default(),
            PoseDecoding::Full,
        );
        let mut held = HeldEvents::default();
        let mut emitted = Vec::new();
        let fields = vec![FieldValue::Object(Alias { slot: 1, epoch: 0 })];
        for ms in 1..=MAX_HELD as u64 + 3 {
            let received = ReceivedEvent {
                kind: 0,
                effect: GameTime::from_millis(1_000 + ms),
                fields: fields.clone(),
            };
            held.handle(GameTime::ZERO, received, &replica, |event| {
                emitted.push(event);
            });
        }
        let effects = emitted.iter().map(|event| match event {
            GameEvent::Event(game_event) => game_event.effect.millis(),
            other => panic!("{other:?}"),
        });
        assert_eq!(effects.collect::<Vec<_>>(), [1_001, 1_002, 1_003]);
        assert_eq!(held.next_due(), Some(GameTime::from_millis(1_004)));
    }
}
