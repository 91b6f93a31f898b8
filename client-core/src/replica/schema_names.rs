//! The names of a schema, shared with the events that carry them, so that an event copies no
//! string.

use std::sync::Arc;

use ambit_proto::schema::Schema;

/// Names by index.
#[derive(Clone, Debug, Default)]
pub struct SchemaNames {
    /// Kinds of object.
    pub kinds: Vec<PartNames>,
    /// Kinds of event.
    pub events: Vec<PartNames>,
}

/// A name and the names of the parts.
#[derive(Clone, Debug)]
pub struct PartNames {
    /// The name of the kind or event.
    pub name: Arc<str>,
    /// Names of the components or fields.
    pub parts: Vec<Arc<str>>,
}

impl SchemaNames {
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
        SchemaNames {
            kinds: kinds.collect(),
            events: events.collect(),
        }
    }
}

fn named<'s>(name: &'s str, parts: impl Iterator<Item = &'s String>) -> PartNames {
    PartNames {
        name: name.into(),
        parts: parts.map(|part| part.as_str().into()).collect(),
    }
}
