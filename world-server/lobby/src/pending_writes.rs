//! A queue of messages that are sent only after the directory has stored what they confirm.
//!
//! Each item goes in with the number of the write that it waits for, and comes out in order once
//! that write is done. While the directory is unavailable only strict items keep waiting; the
//! others are sent at once, since they can be revoked later.

use std::collections::{BTreeSet, VecDeque};

/// A queue; see the module.
#[derive(Debug)]
#[derive_where::derive_where(Default)]
pub(super) struct PendingWrites<T>(VecDeque<PendingItem<T>>);

#[derive(Debug)]
struct PendingItem<T> {
    write_number: u64,
    strict: bool,
    item: T,
}

impl<T> PendingWrites<T> {
    pub(super) fn push(&mut self, after: u64, strict: bool, what: T) {
        self.0.push_back(PendingItem { write_number: after, strict, item: what });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The waiting items in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|waiting| &waiting.item)
    }

    /// Keeps only the items that `wanted` accepts.
    pub(super) fn retain(&mut self, mut wanted: impl FnMut(&T) -> bool) {
        self.0.retain(|waiting| wanted(&waiting.item));
    }

    /// Removes and returns all items that no longer have to wait. Items with the same key keep
    /// their order; others may overtake.
    pub(super) fn pop_ready_by_key<K: Ord>(
        &mut self,
        written: u64,
        unavailable: bool,
        key: impl Fn(&T) -> K,
    ) -> Vec<T> {
        let mut blocked = BTreeSet::new();
        let mut out = Vec::new();
        let mut rest = VecDeque::new();
        for waiting in self.0.drain(..) {
            let key = key(&waiting.item);
            let may_go = waiting.write_number <= written || unavailable && !waiting.strict;
            if may_go && !blocked.contains(&key) {
                out.push(waiting.item);
            } else {
                blocked.insert(key);
                rest.push_back(waiting);
            }
        }
        self.0 = rest;
        out
    }

    /// Removes and returns the first item, if it no longer has to wait.
    pub(super) fn pop_ready(&mut self, written: u64, unavailable: bool) -> Option<T> {
        let first = self.0.front()?;
        let may_go = first.write_number <= written || unavailable && !first.strict;
        may_go.then(|| self.0.pop_front().map(|waiting| waiting.item))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_with_one_key_keep_their_order_and_others_overtake() {
        let mut pending = PendingWrites::default();
        for (after, strict, item) in [
            (5, true, "a1"),
            (0, false, "b1"),
            (0, false, "a2"),
            (6, false, "b2"),
            (0, false, "c1"),
        ] {
            pending.push(after, strict, item);
        }
        let key = |item: &&str| item.as_bytes()[0];
        assert_eq!(pending.pop_ready_by_key(4, false, key), ["b1", "c1"]);
        assert_eq!(pending.pop_ready_by_key(4, true, key), ["b2"]);
        pending.retain(|item| *item != "a1");
        assert_eq!((pending.pop_ready_by_key(4, false, key), pending.len()), (vec!["a2"], 0));
    }

    #[test]
    fn order_is_kept_and_only_strict_items_wait_while_unavailable() {
        let mut pending = PendingWrites::default();
        pending.push(3, false, 'a');
        pending.push(0, false, 'b');
        pending.push(5, true, 'c');
        pending.push(0, false, 'd');
        let out = |pending: &mut PendingWrites<char>, written, unavailable| {
            std::iter::from_fn(|| pending.pop_ready(written, unavailable)).collect::<String>()
        };
        assert_eq!(out(&mut pending, 2, false), "");
        assert_eq!(out(&mut pending, 2, true), "ab");
        assert_eq!(out(&mut pending, 4, true), "", "later items wait too");
        assert_eq!(out(&mut pending, 5, false), "cd");
        assert!(pending.is_empty());
    }
}
