//! The view's data of each object.
//!
//! A view passes a [`ViewFactory`] to the client. When an object comes into sight, the factory
//! builds from its `Enter` whatever the view needs (a sprite, a line on a screen), and the client
//! stores it with the object until it leaves. A view that stores nothing uses `()`; one that builds
//! by kind uses [`FactoryByKind`]; others implement the trait.

use std::collections::BTreeMap;

use crate::client::event::ObjectEntered;

/// Builds a view's data of objects.
pub trait ViewFactory {
    /// The data stored with each object.
    type View;

    /// Builds the data of an object that has just come into sight.
    fn build(&mut self, enter: &ObjectEntered) -> Self::View;
}

/// For views that store nothing with the client.
impl ViewFactory for () {
    type View = ();

    fn build(&mut self, _: &ObjectEntered) {}
}

type Builder<V> = Box<dyn FnMut(&ObjectEntered) -> V + Send>;

/// One function for each kind of object, and one for all others.
pub struct FactoryByKind<V> {
    kinds: BTreeMap<String, Builder<V>>,
    others: Builder<V>,
}

impl<V> FactoryByKind<V> {
    /// `others` builds the objects that have no function of their own.
    pub fn new(others: impl FnMut(&ObjectEntered) -> V + Send + 'static) -> Self {
        FactoryByKind { kinds: BTreeMap::new(), others: Box::new(others) }
    }

    /// `build` makes the objects of `kind`.
    pub fn on(
        mut self,
        kind: &str,
        build: impl FnMut(&ObjectEntered) -> V + Send + 'static,
    ) -> Self {
        self.kinds.insert(kind.to_owned(), Box::new(build));
        self
    }
}

impl<V> ViewFactory for FactoryByKind<V> {
    type View = V;

    fn build(&mut self, enter: &ObjectEntered) -> V {
        self.kinds.get_mut(&*enter.kind).unwrap_or(&mut self.others)(enter)
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::ids::ClientObjectId;
    use ambit_proto::space::Position;
    use ambit_proto::time::GameTime;

    use super::*;

    #[test]
    fn kinds_have_their_builders_and_others_share_one() {
        let mut factory = FactoryByKind::new(|_| 'o')
            .on("avatar", |_| 'a')
            .on("npc", |enter| if enter.own { '?' } else { 'n' });
        let views = ["avatar", "npc", "stone"].map(|kind| factory.build(&enter(kind)));
        assert_eq!(views, ['a', 'n', 'o']);
    }

    fn enter(kind: &str) -> ObjectEntered {
        let t = GameTime::ZERO;
        let position = Some(Position::default());
        ObjectEntered {
            id: ClientObjectId(1),
            kind: kind.into(),
            own: false,
            t,
            position,
            components: Vec::new(),
        }
    }
}
