//! The names of a schema, shared with the events that carry them: an event costs no copy of a
//! string.

use std::sync::Arc;

use ambit_proto::schema::Schema;

/// Names by index.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Kinds of object.
    pub kinds: Vec<Named>,
    /// Kinds of event.
    pub events: Vec<Named>,
}

/// A name and the names of the parts.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its name.
    pub name: Arc<str>,
    /// Components or fields.
    pub parts: Vec<Arc<str>>,
}

impl Names {
    /// The names in `schema`.
    pub fn of(schema: &Schema) -> Self {
        let kinds = schema
            .kinds
            .iter()
            .map(|kind| named(&kind.name, kind.components.iter().map(|part| &part.name)));
        let events = schema
            .events
            .iter()
            .map(|event| named(&event.name, event.fields.iter().map(|part| &part.name)));
        Names {
            kinds: kinds.collect(),
            events: events.collect(),
        }
    }
}

fn named<'s>(name: &'s str, parts: impl Iterator<Item = &'s String>) -> Named {
    Named {
        name: name.into(),
        parts: parts.map(|part| part.as_str().into()).collect(),
    }
}
