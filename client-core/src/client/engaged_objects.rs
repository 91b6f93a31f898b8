//! Objects that recently interacted with the player's avatar.
//!
//! Game events go in. An object counts as engaged for [`ENGAGED_FOR`] after the effect of an event
//! that named it together with the avatar. The avatar itself is always engaged; the caller handles
//! that.
//!
//! Bound: [`MAX_ENGAGED`] objects. When full, a new one replaces the one whose time ends first.

use std::time::Duration;

use ambit_proto::ids::ClientObjectId;
use ambit_proto::time::GameTime;

use super::event::SchemaEvent;

/// How long an event makes its objects engaged.
const ENGAGED_FOR: Duration = Duration::from_secs(5);
/// Maximum number of objects that are engaged at once.
const MAX_ENGAGED: usize = 32;

/// Which objects recently interacted with the player's avatar; see the module.
#[derive(Debug, Default)]
pub(crate) struct EngagedObjects {
    /// Object and end time; at most [`MAX_ENGAGED`].
    until: Vec<(ClientObjectId, GameTime)>,
}

impl EngagedObjects {
    /// Handles an event that was emitted to views; `own` is the player's own avatar.
    pub(crate) fn handle_event(&mut self, own: Option<ClientObjectId>, game_event: &SchemaEvent) {
        let Some(own) = own else { return };
        let fields = || game_event.fields.iter();
        let named = || fields().filter_map(|field| field.value.as_object().copied());
        if named().any(|object| object == own) {
            named()
                .filter(|&object| object != own)
                .for_each(|object| self.engage(object, game_event.effect + ENGAGED_FOR));
        }
    }

    /// Whether `object` is engaged at `t`.
    pub(crate) fn is_engaged(&self, object: ClientObjectId, t: GameTime) -> bool {
        self.until.iter().any(|&(engaged, until)| engaged == object && t < until)
    }

    /// Removes all objects.
    pub(crate) fn clear(&mut self) {
        self.until.clear();
    }

    fn engage(&mut self, object: ClientObjectId, until: GameTime) {
        if let Some(known) = self.until.iter_mut().find(|known| known.0 == object) {
            known.1 = known.1.max(until);
        } else if self.until.len() < MAX_ENGAGED {
            self.until.push((object, until));
        } else if let Some(first) = self.until.iter_mut().min_by_key(|known| known.1) {
            *first = (object, until);
        }
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::message::FieldValue;

    use super::super::event::NamedField;
    use super::*;

    const OWN: Option<ClientObjectId> = Some(ClientObjectId(1));

    #[test]
    fn an_object_named_with_the_avatar_is_engaged_for_a_while() {
        let mut engaged = EngagedObjects::default();
        engaged.handle_event(OWN, &game_event(1_000, &[Some(1), Some(7), None]));
        engaged.handle_event(OWN, &game_event(1_000, &[Some(8), Some(9)]));
        engaged.handle_event(None, &game_event(1_000, &[Some(1), Some(10)]));
        for (object, t, expected) in [
            (7, 900, true),
            (7, 5_999, true),
            (7, 6_000, false),
            (8, 1_000, false),
            (10, 1_000, false),
        ] {
            assert_eq!(
                engaged.is_engaged(ClientObjectId(object), ms(t)),
                expected,
                "{object} at {t}"
            );
        }
        engaged.handle_event(OWN, &game_event(3_000, &[Some(7), Some(1)]));
        assert!(engaged.is_engaged(ClientObjectId(7), ms(7_999)));
    }

    #[test]
    fn when_full_the_object_that_ends_first_is_replaced() {
        let mut engaged = EngagedObjects::default();
        for object in 0..=MAX_ENGAGED as u32 {
            engaged.handle_event(
                Some(ClientObjectId(1_000)),
                &game_event(u64::from(object), &[Some(object), Some(1_000)]),
            );
        }
        assert_eq!(engaged.until.len(), MAX_ENGAGED);
        let is_engaged = |object| engaged.is_engaged(ClientObjectId(object), ms(0));
        assert!(!is_engaged(0) && is_engaged(1) && is_engaged(MAX_ENGAGED as u32));
    }

    fn game_event(effect: u64, objects: &[Option<u32>]) -> SchemaEvent {
        let field = |object: &Option<u32>| NamedField {
            name: "who".into(),
            value: object.map_or(FieldValue::None, |id| FieldValue::Object(ClientObjectId(id))),
            choice: None,
        };
        let fields = objects.iter().map(field).collect();
        SchemaEvent { name: "hit".into(), t: ms(0), effect: ms(effect), late: false, fields }
    }

    fn ms(ms: u64) -> GameTime {
        GameTime::from_millis(ms)
    }
}
