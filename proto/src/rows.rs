//! Rows of fields: a bag with slots, a list of offers, a log of quests.
//!
//! What the fields are, a [`RowFormat`](crate::schema::RowFormat) says. Invariant: the rows of a
//! component fit its format, which is checked where they are set and where they are read.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::field_value::FieldValue;
use crate::ids::ObjectId;

/// The value of a field of a row; never an object.
pub type RowValue = FieldValue<ObjectId>;

/// See the module. A copy costs no allocation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Vec<RowValue>>", into = "Vec<Vec<RowValue>>")]
pub struct Rows(Arc<[Vec<RowValue>]>);

impl Rows {
    /// The values of each row, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[RowValue]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// The values of one row; `None` if there are fewer.
    pub fn get(&self, index: usize) -> Option<&[RowValue]> {
        self.0.get(index).map(Vec::as_slice)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Vec<RowValue>> for Rows {
    fn from_iter<I: IntoIterator<Item = Vec<RowValue>>>(rows: I) -> Self {
        Self(rows.into_iter().collect())
    }
}

impl From<Vec<Vec<RowValue>>> for Rows {
    fn from(rows: Vec<Vec<RowValue>>) -> Self {
        Self(rows.into())
    }
}

impl From<Rows> for Vec<Vec<RowValue>> {
    fn from(rows: Rows) -> Self {
        rows.0.to_vec()
    }
}
