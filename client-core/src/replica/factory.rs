//! What a view keeps of each object.
//!
//! A view hands the client a [`ViewFactory`]; when an object comes into sight, the factory makes of
//! its `ObjectEntered` whatever the view needs (a sprite, a line on a screen), and the client keeps
//! it with the object until it leaves. A view that keeps its own books takes `()`; one that does it
//! by kind takes [`FactoryByKind`]; all others implement the trait.

use std::collections::BTreeMap;

use crate::client::event::ObjectEntered;

/// Makes a view's objects.
pub trait ViewFactory {
    /// What the view keeps with each object.
    type View;

    /// The view's object for one that has just come into sight.
    fn build(&mut self, enter: &ObjectEntered) -> Self::View;
}

/// For views that keep nothing with the client.
impl ViewFactory for () {
    type View = ();

    fn build(&mut self, _: &ObjectEntered) {}
}

type Builder<V> = Box<dyn FnMut(&ObjectEntered) -> V + Send>;

/// A function for each kind of object, and one for all others.
pub struct FactoryByKind<V> {
    kinds: BTreeMap<String, Builder<V>>,
    others: Builder<V>,
}

impl<V> FactoryByKind<V> {
    /// `others` makes whatever no other function is for.
    pub fn new(others: impl FnMut(&ObjectEntered) -> V + Send + 'static) -> Self {
        FactoryByKind {
            kinds: BTreeMap::new(),
            others: Box::new(others),
        }
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
    use ambit_proto::space::Position;
    use ambit_proto::time::GameTime;

    use super::*;

    #[test]
    fn each_kind_has_its_builder_and_the_rest_has_one_too() {
        let mut factory = FactoryByKind::new(|_| 'o')
            .on("avatar", |_| 'a')
            .on("npc", |enter| if enter.own { '?' } else { 'n' });
        let views = ["avatar", "npc", "stone"].map(|kind| factory.build(&enter(kind)));
        assert_eq!(views, ['a', 'n', 'o']);
    }

    fn enter(kind: &str) -> ObjectEntered {
        let (t, position) = (GameTime::ZERO, Position::default());
        ObjectEntered {
            id: 1,
            kind: kind.into(),
            own: false,
            t,
            position,
            components: Vec::new(),
        }
    }
}
