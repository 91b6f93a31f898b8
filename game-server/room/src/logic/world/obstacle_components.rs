//! Which components of a game are obstacles.

use ambit_proto::schema::Schema;

/// Which components of each kind are obstacles: a bit each.
#[derive(Debug)]
pub(super) struct ObstacleComponents(Vec<u32>);

impl ObstacleComponents {
    pub(super) fn of(schema: &Schema) -> Self {
        let masks = schema
            .kinds
            .iter()
            .map(|kind| kind.obstacles().fold(0, |mask, index| mask | 1 << index));
        Self(masks.collect())
    }

    /// Bit `i` is component `i` of the kind.
    pub(super) fn mask(&self, kind: u8) -> u32 {
        self.0[usize::from(kind)]
    }
}
