//! What both ends know of all objects while a section is coded.

use super::model::{FLAG_CONTEXTS, MEMBER_CONTEXTS, Model, Trained};
use super::neighbours::Neighbours;
use super::reference::Reference;

/// The buffers of one section after the other: kept so that nothing is allocated again.
#[derive(Debug)]
pub struct Scene {
    pub(super) trained: &'static Trained,
    /// Places are relative to this: the reference's base.
    pub(super) origin: [i32; 3],
    pub(super) reference: Reference,
    pub(super) neighbours: Neighbours,
    /// Probabilities that adapt.
    pub(super) member: [u16; MEMBER_CONTEXTS],
    pub(super) flag: [u16; FLAG_CONTEXTS],
    /// The flag of the object before.
    pub(super) last_flag: bool,
    /// How much farther off than foretold the last objects were, in powers of two: place and turn.
    pub(super) excess: [f32; 2],
}

impl Default for Scene {
    fn default() -> Self {
        Self::of(Trained::priors())
    }
}

impl Scene {
    /// With another model, for training: it stays for good.
    pub fn with(model: Model) -> Self {
        Self::of(Box::leak(Box::new(Trained::new(model))))
    }

    fn of(trained: &'static Trained) -> Self {
        Self {
            trained,
            origin: [0; 3],
            reference: Reference::default(),
            neighbours: Neighbours::default(),
            member: trained.model.member,
            flag: trained.model.flag,
            last_flag: false,
            excess: [0.0; 2],
        }
    }

    /// Forgets the section before.
    pub(super) fn clear(&mut self) {
        self.origin = [0; 3];
        self.reference.clear();
        self.neighbours.clear();
        (self.member, self.flag) = (self.trained.model.member, self.trained.model.flag);
        self.last_flag = false;
        self.excess = [0.0; 2];
    }
}
