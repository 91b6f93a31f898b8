//! One object as a client knows it.
//!
//! Components go in with the stamp of the datagram that brought them; values at any room time come out.
//! Invariant: of each component the newest datagram's word stands, in whatever order datagrams arrive. Their stamps tell
//! which is newer: sequence numbers start over too soon for a component that rests for half an hour.

use ambit_proto::ids::Alias;
use ambit_proto::schema::Component;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use super::kept::{Kept, News};
use super::names::Named as Names;
use crate::client::event::{Named, Value};

/// An object: announced, in sight, or about to leave.
#[derive(Debug)]
pub struct Object<V> {
    /// The server's name for it.
    pub alias: Alias,
    /// Index of its kind.
    pub kind: u8,
    /// Whether it is the player's avatar.
    pub own: bool,
    /// When it comes into sight.
    pub enters: GameTime,
    /// When it goes out of sight, once that is known.
    pub leaves: Option<GameTime>,
    /// What the view keeps; there is one as long as the object is in sight.
    pub view: Option<V>,
    /// By index; `None` for what the client was not told.
    components: Vec<Option<Known>>,
}

#[derive(Debug)]
struct Known {
    kept: Kept,
    /// Of the datagram that was last heard of it.
    stamp: GameTime,
}

/// When something was said, from when on it holds, and what time views show.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The datagram's.
    pub stamp: GameTime,
    /// The record's.
    pub at: GameTime,
    /// The estimated room time.
    pub now: GameTime,
}

impl<V> Object<V> {
    /// An object of which only the head is known, with room for `components`.
    pub fn new(alias: Alias, kind: u8, own: bool, enters: GameTime, components: usize) -> Self {
        let components = std::iter::repeat_with(|| None).take(components).collect();
        Object { alias, kind, own, enters, leaves: None, view: None, components }
    }

    /// Takes over what a record says. Returns the greatest news.
    pub fn merge(&mut self, moment: Moment, components: &[(u8, Component)]) -> News {
        let each = components.iter().map(|(index, component)| self.merge_one(moment, usize::from(*index), component));
        each.max().unwrap_or(News::None)
    }

    /// Where it is at `t`.
    pub fn position(&self, t: GameTime) -> Option<Position> {
        Some(self.kept(0)?.path()?.at(t)?.position)
    }

    /// Whether it is on its way somewhere at `t`.
    pub fn moves(&self, t: GameTime) -> bool {
        self.kept(0).and_then(Kept::path).is_some_and(|path| path.next_after(t).is_some())
    }

    /// The value of a component at `t`.
    pub fn value(&self, index: usize, t: GameTime) -> Option<Value> {
        self.kept(index)?.value(t)
    }

    /// All components at `t`.
    pub fn values(&self, t: GameTime, names: &Names) -> Vec<Named<Value>> {
        self.named(0..self.components.len(), t, names)
    }

    /// Some components at `t`.
    pub fn named(&self, indices: impl Iterator<Item = usize>, t: GameTime, names: &Names) -> Vec<Named<Value>> {
        let named = |index: usize| Some(Named { name: names.parts[index].clone(), value: self.value(index, t)? });
        indices.filter_map(named).collect()
    }

    fn kept(&self, index: usize) -> Option<&Kept> {
        self.components.get(index)?.as_ref().map(|known| &known.kept)
    }

    fn merge_one(&mut self, moment: Moment, index: usize, component: &Component) -> News {
        let Moment { stamp, at, now } = moment;
        match &mut self.components[index] {
            Some(known) if stamp < known.stamp => News::None,
            Some(known) => {
                known.stamp = stamp;
                known.kept.merge(at, component, now)
            }
            unknown => {
                *unknown = Some(Known { kept: Kept::new(at, component), stamp });
                News::Ahead
            }
        }
    }
}
