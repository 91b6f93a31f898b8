//! Obstacles that come and go: those that objects have.

use std::collections::BTreeMap;

use parry3d::bounding_volume::Aabb;

use super::bounds_tree::{BoundsTree, Node};

/// So many that are gone, or this share of all, need no new tree.
const FEW: usize = 32;
const SMALL_SHARE: usize = 2;

/// The obstacles of each object. A change costs what the object has, and now and then a new tree.
pub(super) struct PlacedObstacles<T> {
    /// By object, the indices of its obstacles in the tree.
    of_objects: BTreeMap<u64, Vec<u32>>,
    /// By the index that the tree has for each; `None` of those that are gone.
    solids: Vec<Option<(Aabb, T)>>,
    tree: BoundsTree,
    gone: usize,
}

impl<T> Default for PlacedObstacles<T> {
    fn default() -> Self {
        Self {
            of_objects: BTreeMap::new(),
            solids: Vec::new(),
            tree: BoundsTree::default(),
            gone: 0,
        }
    }
}

impl<T> PlacedObstacles<T> {
    /// Replaces what an object has.
    pub(super) fn set(&mut self, object: u64, obstacles: impl Iterator<Item = (Aabb, T)>) {
        for index in self.of_objects.remove(&object).unwrap_or_default() {
            self.solids[index as usize] = None;
            self.gone += 1;
        }
        if self.gone > FEW.max(self.solids.len() / SMALL_SHARE) {
            self.rebuild();
        }
        let indices = obstacles.map(|(bounds, solid)| {
            self.tree.push(bounds);
            self.solids.push(Some((bounds, solid)));
            self.solids.len() as u32 - 1
        });
        let indices: Vec<u32> = indices.collect();
        if !indices.is_empty() {
            self.of_objects.insert(object, indices);
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.solids.len() - self.gone
    }

    /// Whether one of those that `meets` selects is as `is_wanted` says, in any order.
    pub(super) fn any(
        &self,
        meets: impl Fn(&Node) -> u32,
        mut is_wanted: impl FnMut(&T) -> bool,
    ) -> bool {
        self.tree.any(meets, |index| match &self.solids[index as usize] {
            Some((_, solid)) => is_wanted(solid),
            None => false,
        })
    }

    fn rebuild(&mut self) {
        let mut solids = Vec::with_capacity(self.len());
        self.tree = BoundsTree::default();
        for index in self.of_objects.values_mut().flatten() {
            let solid = self.solids[*index as usize].take();
            self.tree.push(solid.as_ref().expect("an object's obstacles are there").0);
            *index = solids.len() as u32;
            solids.push(solid);
        }
        (self.solids, self.gone) = (solids, 0);
        self.tree.build();
    }
}
