//! The names of a schema, shared with the events that carry them, so that an event copies no
//! string.

use std::sync::Arc;

use ambit_proto::schema::{Codec, ComponentSpec, FieldSpec, FieldType, RowFormat, Schema};

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
    /// What the values of each component mean.
    pub meanings: Vec<ValueMeaning>,
}

/// What the indices and fields in the values of a component are.
#[derive(Clone, Debug, Default)]
pub enum ValueMeaning {
    /// The value says it itself.
    #[default]
    Plain,
    /// The names that it counts.
    Counted(Arc<[Arc<str>]>),
    /// The fields of its rows.
    Rows(RowFormat),
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
            meanings: kind.components.iter().map(|part| meaning(schema, part)).collect(),
        });
        let events = schema.events.iter().map(|event| EventNames {
            name: event.name.as_str().into(),
            fields: event.fields.iter().map(field_names).collect(),
        });
        SchemaNames { kinds: kinds.collect(), events: events.collect() }
    }
}

fn meaning(schema: &Schema, component: &ComponentSpec) -> ValueMeaning {
    match &component.codec {
        Codec::Counts(of) => {
            let names = schema.names_of(of).unwrap_or_default();
            ValueMeaning::Counted(names.iter().map(|name| name.as_str().into()).collect())
        }
        Codec::Rows(format) => ValueMeaning::Rows(format.clone()),
        _ => ValueMeaning::Plain,
    }
}

fn field_names(field: &FieldSpec) -> FieldNames {
    let choices = match &field.ty {
        FieldType::Choice(names) => names.iter().map(|name| name.as_str().into()).collect(),
        _ => Vec::new(),
    };
    FieldNames { name: field.name.as_str().into(), choices }
}
