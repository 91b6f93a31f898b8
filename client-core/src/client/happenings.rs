//! What happens in a game at one moment: a hit, a cast.
//!
//! Events go in on arrival, mostly ahead of their effect, and come out at once, so that views can
//! prepare. One that names an object which is not in sight yet waits for it, until its effect time
//! at most: so views hear only of objects that they have seen.
//!
//! Bound: [`HELD`] events wait; beyond it the oldest is told at once, without the object that it
//! waits for.

use std::collections::VecDeque;

use ambit_proto::message::Field;
use ambit_proto::time::GameTime;

use super::event::{FieldValue, Happening, Named, ViewEvent};
use crate::replica::Replica;

/// Events that wait for an object, at most.
pub const HELD: usize = 256;

/// An event as it arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct Happened {
    /// Index in the schema, which has as many fields.
    pub kind: u8,
    /// When it takes effect.
    pub effect: GameTime,
    /// Who, where, how much.
    pub fields: Vec<Field>,
}

/// The events that wait.
#[derive(Debug, Default)]
pub struct Happenings {
    /// In the order of arrival; at most [`HELD`].
    held: VecDeque<Happened>,
}

impl Happenings {
    /// An event has arrived.
    pub fn handle<V>(
        &mut self,
        now: GameTime,
        happened: Happened,
        replica: &Replica<V>,
        mut tell: impl FnMut(ViewEvent),
    ) {
        if is_due(now, &happened, replica) {
            return tell(told(now, &happened, happened.effect < now, replica));
        }
        self.held.push_back(happened);
        if self.held.len() > HELD
            && let Some(oldest) = self.held.pop_front()
        {
            tell(told(now, &oldest, false, replica));
        }
    }

    /// Tells what need not wait any more. None of it is late: it was there in time.
    pub fn release<V>(
        &mut self,
        now: GameTime,
        replica: &Replica<V>,
        mut tell: impl FnMut(ViewEvent),
    ) {
        self.held.retain(|happened| {
            let due = is_due(now, happened, replica);
            if due {
                tell(told(now, happened, false, replica));
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

fn is_due<V>(now: GameTime, happened: &Happened, replica: &Replica<V>) -> bool {
    let in_sight = |field: &Field| {
        !matches!(field, Field::Object(Some(_))) || object(field, replica).is_some()
    };
    happened.effect <= now || happened.fields.iter().all(in_sight)
}

fn told<V>(t: GameTime, happened: &Happened, late: bool, replica: &Replica<V>) -> ViewEvent {
    let names = &replica.names().events[usize::from(happened.kind)];
    let fields = happened
        .fields
        .iter()
        .zip(&names.parts)
        .map(|(field, name)| {
            let value = match field {
                Field::Object(_) => FieldValue::Object(object(field, replica)),
                Field::Position(position) => FieldValue::Position(*position),
                Field::Number(number) => FieldValue::Number(*number),
            };
            Named {
                name: name.clone(),
                value,
            }
        });
    let fields = fields.collect();
    ViewEvent::Event(Happening {
        name: names.name.clone(),
        t,
        effect: happened.effect,
        late,
        fields,
    })
}

/// The object in sight that a field names.
fn object<V>(field: &Field, replica: &Replica<V>) -> Option<u32> {
    let Field::Object(Some(alias)) = field else {
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
    use crate::replica::Mode;

    #[test]
    fn what_waits_is_bounded_and_the_oldest_is_told_first() {
        let replica =
            Replica::<()>::new(Arc::new(Schema::example()), Duration::ZERO, 0, Mode::Full);
        let mut happenings = Happenings::default();
        let mut told = Vec::new();
        let fields = vec![Field::Object(Some(Alias { slot: 1, epoch: 0 }))];
        for ms in 1..=HELD as u64 + 3 {
            let happened = Happened {
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
