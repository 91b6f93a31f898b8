//! What is said only once the directory knows what it confirms.
//!
//! Things go in with the number of the write that they wait for, and come out in order once that is
//! done. While the directory is ill only those that are strict go on waiting: what can be given up
//! later is said at once.

use std::collections::{BTreeSet, VecDeque};

/// See the module.
#[derive(Debug)]
pub(crate) struct PendingWrites<T>(VecDeque<PendingItem<T>>);

#[derive(Debug)]
struct PendingItem<T> {
    write_number: u64,
    strict: bool,
    item: T,
}

impl<T> Default for PendingWrites<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> PendingWrites<T> {
    /// Waits behind what waits already.
    pub(crate) fn push(&mut self, after: u64, strict: bool, what: T) {
        self.0.push_back(PendingItem {
            write_number: after,
            strict,
            item: what,
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How much waits.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// What waits, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|waiting| &waiting.item)
    }

    /// Forgets what is not wanted any more.
    pub(crate) fn retain(&mut self, mut wanted: impl FnMut(&T) -> bool) {
        self.0.retain(|waiting| wanted(&waiting.item));
    }

    /// All that waits no longer; things with the same key keep their order, others may pass what
    /// waits.
    pub(crate) fn pop_ready_by_key<K: Ord>(
        &mut self,
        written: u64,
        ill: bool,
        key: impl Fn(&T) -> K,
    ) -> Vec<T> {
        let (mut blocked, mut out, mut rest) = (BTreeSet::new(), Vec::new(), VecDeque::new());
        for waiting in self.0.drain(..) {
            let key = key(&waiting.item);
            let may_go = waiting.write_number <= written || ill && !waiting.strict;
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

    /// The next thing that waits no longer.
    pub(crate) fn pop_ready(&mut self, written: u64, ill: bool) -> Option<T> {
        let first = self.0.front()?;
        let may_go = first.write_number <= written || ill && !first.strict;
        may_go.then(|| self.0.pop_front().map(|waiting| waiting.item))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_of_one_key_keep_their_order_and_others_pass() {
        let mut held = PendingWrites::default();
        for (after, strict, what) in [
            (5, true, "a1"),
            (0, false, "b1"),
            (0, false, "a2"),
            (6, false, "b2"),
            (0, false, "c1"),
        ] {
            held.push(after, strict, what);
        }
        let key = |what: &&str| what.as_bytes()[0];
        assert_eq!(held.pop_ready_by_key(4, false, key), ["b1", "c1"]);
        assert_eq!(held.pop_ready_by_key(4, true, key), ["b2"]);
        held.retain(|what| *what != "a1");
        assert_eq!(
            (held.pop_ready_by_key(4, false, key), held.len()),
            (vec!["a2"], 0)
        );
    }

    #[test]
    fn the_order_is_kept_and_only_what_is_strict_waits_for_an_ill_directory() {
        let mut held = PendingWrites::default();
        held.push(3, false, 'a');
        held.push(0, false, 'b');
        held.push(5, true, 'c');
        held.push(0, false, 'd');
        let out = |held: &mut PendingWrites<char>, written, ill| {
            std::iter::from_fn(|| held.pop_ready(written, ill)).collect::<String>()
        };
        assert_eq!(out(&mut held, 2, false), "");
        assert_eq!(out(&mut held, 2, true), "ab");
        assert_eq!(out(&mut held, 4, true), "", "what came after it waits too");
        assert_eq!(out(&mut held, 5, false), "cd");
        assert!(held.is_empty());
    }
}
