//! A tree of the bounds of obstacles, four to a node.
//!
//! Whether a line meets some bounds is a matter of chance, so a processor guesses wrong at each
//! node of a tree. A node with four bounds, all compared at once, halves what a query costs.
//!
//! The tree is built at once ([`BoundsTree::build`]), and by itself when there are many new bounds.
//! New ones are in nodes of their own until then. Which bounds a query finds does not depend on
//! the tree, as long as what meets some bounds also meets all bounds around them.

use glam::Vec3;
use parry3d::bounding_volume::Aabb;
use wide::f32x4;

const WIDTH: usize = 4;
/// Marks a child that is an index of bounds.
const LEAF: u32 = 1 << 31;
/// A tree of 65,536 has 8 levels; each has up to 3 children that wait.
const MAX_WAITING: usize = 32;
/// This number of new bounds, or this share of all, needs no new tree.
const FEW: usize = 32;
const SMALL_SHARE: usize = 8;

/// Bounds with the indices of 0 to their number; see the module.
#[derive(Default)]
pub(super) struct BoundsTree {
    bounds: Vec<Aabb>,
    /// The first one is the root.
    nodes: Vec<Node>,
    /// How many bounds the nodes have.
    built: usize,
    /// With the bounds from `built` on, in their order.
    new: Vec<Node>,
}

/// The bounds of up to four children, by axis.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Node {
    /// The low ends on each axis, and the high ones.
    ends: [[f32x4; 3]; 2],
    children: [u32; WIDTH],
}

/// A line, as nodes are asked about it.
pub(super) struct Line {
    /// Which ends of bounds it meets first on each axis: the low ones (0) or the high ones.
    first: [usize; 3],
    /// Where it begins on each axis, as seen from low and from high ends that are wider by its
    /// width; the same in all lanes.
    from: [[f32x4; 3]; 2],
    /// One over its way.
    per_way: [f32x4; 3],
}

impl BoundsTree {
    /// Adds the bounds with the next index.
    pub(super) fn push(&mut self, bounds: Aabb) {
        let new = self.bounds.len() - self.built;
        if new.is_multiple_of(WIDTH) {
            self.new.push(Node::EMPTY);
        }
        self.new[new / WIDTH].set(new % WIDTH, bounds, self.bounds.len() as u32 | LEAF);
        self.bounds.push(bounds);
        if new > FEW.max(self.built / SMALL_SHARE) {
            self.build();
        }
    }

    /// Takes all bounds into the tree, if there are new ones.
    pub(super) fn build(&mut self) {
        if self.built == self.bounds.len() {
            return;
        }
        self.nodes.clear();
        self.new.clear();
        self.built = self.bounds.len();
        let mut order: Vec<u32> = (0..self.built as u32).collect();
        self.add_node(&mut order);
    }

    /// Whether one of those that `meets` selects is as `is_wanted` says, in any order. The mask of
    /// a node has a bit for each child.
    #[inline]
    pub(super) fn any(
        &self,
        meets: impl Fn(&Node) -> u32,
        mut is_wanted: impl FnMut(u32) -> bool,
    ) -> bool {
        let mut waiting = [0; MAX_WAITING];
        for start in self.nodes.first().into_iter().chain(&self.new) {
            let mut node = start;
            let mut count = 0;
            loop {
                let mut mask = meets(node);
                while mask != 0 {
                    let child = node.children[mask.trailing_zeros() as usize % WIDTH];
                    mask &= mask - 1;
                    if child & LEAF == 0 {
                        waiting[count] = child;
                        count += 1;
                    } else if is_wanted(child & !LEAF) {
                        return true;
                    }
                }
                if count == 0 {
                    break;
                }
                count -= 1;
                node = &self.nodes[waiting[count] as usize];
            }
        }
        false
    }

    /// Adds the node of these bounds, and all nodes below it.
    fn add_node(&mut self, order: &mut [u32]) -> u32 {
        let index = self.nodes.len();
        self.nodes.push(Node::EMPTY);
        let (left, right) = self.halves(order);
        let ((first, second), (third, fourth)) = (self.halves(left), self.halves(right));
        let parts = [first, second, third, fourth];
        for (lane, part) in parts.into_iter().filter(|part| !part.is_empty()).enumerate() {
            let around = self.around(part);
            let child = if let [only] = *part { only | LEAF } else { self.add_node(part) };
            self.nodes[index].set(lane, around, child);
        }
        index as u32
    }

    /// Two halves along the longest axis of the centres.
    fn halves<'o>(&self, order: &'o mut [u32]) -> (&'o mut [u32], &'o mut [u32]) {
        let middle = order.len() / 2;
        if middle == 0 {
            return (order, &mut []);
        }
        let centre = |index: u32| self.bounds[index as usize].center();
        let (low, high) = order.iter().fold((Vec3::MAX, Vec3::MIN), |(low, high), &index| {
            (low.min(centre(index)), high.max(centre(index)))
        });
        let axis = (high - low).max_position();
        order.select_nth_unstable_by(middle, |one, other| {
            centre(*one)[axis].total_cmp(&centre(*other)[axis])
        });
        order.split_at_mut(middle)
    }

    fn around(&self, order: &[u32]) -> Aabb {
        let mut each = order.iter().map(|&index| self.bounds[index as usize]);
        let first = each.next().expect("a part has bounds");
        each.fold(first, |one, other| Aabb::new(one.mins.min(other.mins), one.maxs.max(other.maxs)))
    }
}

impl Line {
    /// From a point along a way; it meets bounds that are at most `width` away on each axis, and
    /// some more.
    pub(super) fn new(from: Vec3, way: Vec3, width: f32) -> Self {
        // Never infinite, so that a line within a face has no undefined part.
        let inverse = |metres: f32| 1.0 / if metres.abs() < 1e-9 { 1e-9 } else { metres };
        let per_way = way.to_array().map(inverse);
        let in_all_lanes = |at: Vec3| at.to_array().map(f32x4::splat);
        Self {
            first: per_way.map(|per_way| usize::from(per_way < 0.0)),
            from: [in_all_lanes(from + width), in_all_lanes(from - width)],
            per_way: per_way.map(f32x4::splat),
        }
    }
}

impl Node {
    /// Nothing meets these bounds.
    const EMPTY: Self = Self { ends: [[f32x4::INFINITY; 3]; 2], children: [0; WIDTH] };

    fn set(&mut self, lane: usize, bounds: Aabb, child: u32) {
        for axis in 0..3 {
            self.ends[0][axis].as_mut_array()[lane] = bounds.mins[axis];
            self.ends[1][axis].as_mut_array()[lane] = bounds.maxs[axis];
        }
        self.children[lane] = child;
    }

    /// Those that a line meets.
    #[inline]
    pub(super) fn near_line(&self, line: &Line) -> u32 {
        let mut enter = f32x4::ZERO;
        let mut exit = f32x4::ONE;
        for axis in 0..3 {
            let first = line.first[axis];
            let way_to =
                |end: usize| (self.ends[end][axis] - line.from[end][axis]) * line.per_way[axis];
            (enter, exit) = (enter.fast_max(way_to(first)), exit.fast_min(way_to(1 - first)));
        }
        enter.simd_le(exit).to_bitmask()
    }

    /// Those that have a point in common with `bounds`.
    pub(super) fn overlapping(&self, bounds: &Aabb) -> u32 {
        let mut mask = u32::MAX;
        for axis in 0..3 {
            mask &= self.ends[0][axis].simd_le(f32x4::splat(bounds.maxs[axis])).to_bitmask();
            mask &= self.ends[1][axis].simd_ge(f32x4::splat(bounds.mins[axis])).to_bitmask();
        }
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a line meets, by the tree or one by one, in ascending order.
    fn met(tree: &BoundsTree, line: &Line) -> Vec<u32> {
        let mut found = Vec::new();
        tree.any(
            |node| node.near_line(line),
            |index| {
                found.push(index);
                false
            },
        );
        found.sort_unstable();
        found
    }

    fn met_one_by_one(bounds: &[Aabb], line: &Line) -> Vec<u32> {
        let meets = |bounds: &Aabb| {
            let mut node = Node::EMPTY;
            node.set(2, *bounds, 0);
            node.near_line(line) != 0
        };
        (0..).zip(bounds).filter(|(_, bounds)| meets(bounds)).map(|(index, _)| index).collect()
    }

    #[test]
    fn a_tree_finds_all_that_a_line_meets_and_nothing_else() {
        let mut rng = fastrand::Rng::with_seed(4);
        let mut tree = BoundsTree::default();
        let mut bounds = Vec::new();
        let mut hits = 0;
        for count in 1..=600 {
            let mut point = |range: f32| {
                Vec3::new(rng.f32() * range, rng.f32() * range, rng.f32() * range / 50.0)
            };
            bounds.push(Aabb::from_half_extents(point(500.0), point(10.0)));
            tree.push(bounds[count - 1]);
            let from = point(500.0);
            let to = point(500.0);
            // Also along the axes, and without a length.
            let way = (to - from) * [Vec3::ONE, Vec3::X, Vec3::Y, Vec3::ZERO][count % 4];
            let line = Line::new(from, way, [0.0, 3.0][count / 4 % 2]);
            let expected = met_one_by_one(&bounds, &line);
            hits += expected.len();
            assert_eq!(met(&tree, &line), expected, "{count}");
            if count % 50 == 0 {
                tree.build();
                assert_eq!(met(&tree, &line), expected, "{count}, built");
            }
        }
        assert!(hits > 500, "{hits}");
    }

    #[test]
    fn a_full_tree_of_points_in_a_row_has_room_for_all_that_waits() {
        let mut tree = BoundsTree::default();
        for metres in 0..65_536_u32 {
            tree.push(Aabb::new(Vec3::X * metres as f32, Vec3::X * metres as f32));
        }
        tree.build();
        let line = Line::new(Vec3::ZERO, Vec3::X * 70_000.0, 1.0);
        assert!(met(&tree, &line).into_iter().eq(0..65_536));
    }
}
