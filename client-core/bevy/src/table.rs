//! Which objects have entities.
//!
//! The objects of a frame go in, by ascending id, each with what is shown of it; what came, moved
//! and went since the frame before goes to an [`EntityStore`].
//!
//! Invariant: each id comes once and goes once, and moves in between only if what is shown of it
//! has changed. After [`Table::follow`] the entries are the objects of the frame, in its order.
//!
//! Cost: a step for each object; nothing is allocated once the lists have grown.

use ambit_client::ClientObjectId;
use bevy_ecs::entity::Entity;

/// See the module.
#[derive(Debug)]
pub(crate) struct Table<P> {
    entries: Vec<Entry<P>>,
    before: Vec<Entry<P>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry<P> {
    id: ClientObjectId,
    entity: Entity,
    shown: P,
}

/// What is done about a change.
pub(crate) trait EntityStore<T, P> {
    /// An object came into sight: makes its entity.
    fn came(&mut self, object: T, shown: P) -> Entity;
    /// What is shown of it has changed.
    fn moved(&mut self, entity: Entity, shown: P);
    /// It is out of sight.
    fn went(&mut self, entity: Entity);
}

impl<P> Default for Table<P> {
    fn default() -> Self {
        Table { entries: Vec::new(), before: Vec::new() }
    }
}

impl<P: Copy + PartialEq> Table<P> {
    pub(crate) fn follow<T>(
        &mut self,
        frame: impl Iterator<Item = (ClientObjectId, P, T)>,
        store: &mut impl EntityStore<T, P>,
    ) {
        std::mem::swap(&mut self.entries, &mut self.before);
        self.entries.clear();
        let mut before = self.before.iter().copied().peekable();
        for (id, shown, object) in frame {
            while let Some(gone) = before.next_if(|entry| entry.id < id) {
                store.went(gone.entity);
            }
            let entity = match before.next_if(|entry| entry.id == id) {
                Some(entry) => {
                    if entry.shown != shown {
                        store.moved(entry.entity, shown);
                    }
                    entry.entity
                }
                None => store.came(object, shown),
            };
            self.entries.push(Entry { id, entity, shown });
        }
        before.for_each(|gone| store.went(gone.entity));
    }

    /// The entities, in the order of the frame's objects.
    pub(crate) fn entities(&self) -> impl ExactSizeIterator<Item = Entity> {
        self.entries.iter().map(|entry| entry.entity)
    }

    pub(crate) fn entity(&self, id: ClientObjectId) -> Option<Entity> {
        let place = self.entries.binary_search_by_key(&id, |entry| entry.id).ok()?;
        Some(self.entries[place].entity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Log {
        lines: Vec<String>,
        made: u32,
    }

    impl EntityStore<&'static str, i32> for Log {
        fn came(&mut self, object: &'static str, shown: i32) -> Entity {
            self.made += 1;
            self.lines.push(format!("{object} came to {shown}"));
            entity(self.made)
        }

        fn moved(&mut self, entity: Entity, shown: i32) {
            self.lines.push(format!("{entity} moved to {shown}"));
        }

        fn went(&mut self, entity: Entity) {
            self.lines.push(format!("{entity} went"));
        }
    }

    fn entity(number: u32) -> Entity {
        Entity::from_raw_u32(number).expect("a small number")
    }

    fn follow(table: &mut Table<i32>, frame: &[(u32, i32, &'static str)]) -> Vec<String> {
        let mut log = Log { made: table.entries.len() as u32, ..Log::default() };
        let frame = frame.iter().map(|&(id, shown, name)| (ClientObjectId(id), shown, name));
        table.follow(frame, &mut log);
        log.lines
    }

    #[test]
    fn what_came_moved_and_went_is_reported_and_nothing_else() {
        let mut table = Table::default();
        let lines = follow(&mut table, &[(3, 10, "ann"), (5, 20, "bob")]);
        assert_eq!(lines, ["ann came to 10", "bob came to 20"]);
        assert_eq!(follow(&mut table, &[(3, 10, "ann"), (5, 20, "bob")]), [""; 0]);
        let lines = follow(&mut table, &[(5, 21, "bob"), (8, 30, "cid")]);
        let [ann, bob] = [1, 2].map(entity);
        assert_eq!(
            lines,
            [format!("{ann} went"), format!("{bob} moved to 21"), "cid came to 30".to_owned()]
        );
        assert_eq!(table.entity(ClientObjectId(5)), Some(bob));
        assert_eq!(table.entity(ClientObjectId(3)), None);
        assert_eq!(follow(&mut table, &[]).len(), 2);
        assert_eq!(table.entities().len(), 0);
    }
}
