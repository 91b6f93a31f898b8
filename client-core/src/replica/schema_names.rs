//! The names of a schema, shared with the events that carry them, so that an event copies no
//! string.

use std::sync::Arc;

use ambit_proto::schema::{Codec, ComponentSpec, FieldSpec, FieldType, Schema};

/// Names by index.
#[derive(Clone, Debug, Default)]
pub struct SchemaNames {
    /// Kinds of object.
    pub kinds: Vec<PartNames>,
    /// Kinds of event.
    pub events: Vec<EventNames>,
}

/// The name of a kind of object, and the names in it.
#[derive(Clone, Debug)]
pub struct PartNames {
    /// The name of the kind.
    pub name: Arc<str>,
    /// Names of the components.
    pub parts: Vec<Arc<str>>,
    /// Of each component, the names that it counts; empty for other types.
    pub counted: Vec<Arc<[Arc<str>]>>,
}

/// The name of a kind of event and the names in it.
#[derive(Clone, Debug)]
pub struct EventNames {
    /// The name of the kind.
    pub name: Arc<str>,
    /// The fields.
    pub fields: Vec<FieldNames>,
}

/// The name of a field and of its choices.
#[derive(Clone, Debug)]
pub struct FieldNames {
    /// The name of the field.
    pub name: Arc<str>,
    /// Empty for other types.
    pub choices: Vec<Arc<str>>,
}

impl SchemaNames {
    /// The names in `schema`.
    pub fn of(schema: &Schema) -> Self {
        let kinds = schema.kinds.iter().map(|kind| PartNames {
            name: kind.name.as_str().into(),
            parts: kind.components.iter().map(|part| part.name.as_str().into()).collect(),
            counted: kind.components.iter().map(|part| counted_names(schema, part)).collect(),
        });
        let events = schema.events.iter().map(|event| EventNames {
            name: event.name.as_str().into(),
            fields: event.fields.iter().map(field_names).collect(),
        });
        SchemaNames { kinds: kinds.collect(), events: events.collect() }
    }
}

fn counted_names(schema: &Schema, component: &ComponentSpec) -> Arc<[Arc<str>]> {
    let Codec::Counts(of) = component.codec else { return Arc::default() };
    let names = schema.names_of(&of).unwrap_or_default();
    names.iter().map(|name| name.as_str().into()).collect()
}

fn field_names(field: &FieldSpec) -> FieldNames {
    let choices = match &field.ty {
        FieldType::Choice(names) => names.iter().map(|name| name.as_str().into()).collect(),
        _ => Vec::new(),
    };
    FieldNames { name: field.name.as_str().into(), choices }
}
