//! The children of a world: one for each object in sight whose kind has a scene.
//!
//! A frame goes in, [`Changes`] come out: which children move, come and go, and whose values
//! changed. Nothing of Godot is called here, so that both the client and the world may be borrowed.
//! Cost: proportional to what is in sight; a child that rests costs a comparison.

use std::collections::HashMap;
use std::mem;

use ambit_client_boundary::frame_arrays::{FrameArrays, ObjectRow, ValueRow};
use ambit_client_core::frame::Frame;
use ambit_client_ffi::Instance;
use ambit_proto::ids::ClientObjectId;
use godot::prelude::*;

use crate::variants::values_of;

/// Where an object is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct ChildPose {
    pub(crate) position: [f32; 3],
    pub(crate) rotation: [f32; 4],
}

/// An object that has no child yet.
pub(crate) struct Coming {
    pub(crate) id: u32,
    pub(crate) kind: String,
    pub(crate) pose: ChildPose,
    pub(crate) values: VarDictionary,
}

/// A child that moves; the second is whether it turned, too.
pub(crate) struct Moving<N: GodotClass> {
    pub(crate) node: Gd<N>,
    pub(crate) pose: ChildPose,
    pub(crate) is_turned: bool,
}

/// See the module.
pub(crate) struct Changes<N: GodotClass> {
    pub(crate) gone: Vec<(u32, Gd<N>)>,
    pub(crate) coming: Vec<Coming>,
    pub(crate) moving: Vec<Moving<N>>,
    pub(crate) changed: Vec<(Gd<N>, VarDictionary)>,
}

/// An object that was seen, with its child, if its kind has a scene.
struct Known<N: GodotClass> {
    node: Option<Gd<N>>,
    pose: ChildPose,
    values: Vec<ValueRow>,
    /// The number of the last frame that had it.
    seen: u64,
}

/// See the module.
pub(crate) struct Children<N: GodotClass> {
    known: HashMap<u32, Known<N>>,
    frames: u64,
}

impl<N: GodotClass> Default for Children<N> {
    fn default() -> Self {
        Self { known: HashMap::new(), frames: 0 }
    }
}

impl<N: GodotClass> Default for Changes<N> {
    fn default() -> Self {
        Self { gone: Vec::new(), coming: Vec::new(), moving: Vec::new(), changed: Vec::new() }
    }
}

impl<N: GodotClass> Children<N> {
    /// Compares what is drawn with the children. Without a client, all of them go.
    pub(crate) fn compare(&mut self, drawn: Option<&Instance>, changes: &mut Changes<N>) {
        self.frames += 1;
        if let Some(view) = drawn.map(Instance::view) {
            let arrays = view.arrays();
            for row in &arrays.objects()[..arrays.in_sight()] {
                self.compare_object(row, arrays, view.frame(), changes);
            }
        }
        let frames = self.frames;
        let gone = self.known.extract_if(|_, known| known.seen != frames);
        changes.gone.extend(gone.filter_map(|(id, known)| Some((id, known.node?))));
    }

    /// The child of an object.
    pub(crate) fn node(&self, id: u32) -> Option<&Gd<N>> {
        self.known.get(&id)?.node.as_ref()
    }

    /// The child that was made for an object which came.
    pub(crate) fn set_node(&mut self, id: u32, node: Gd<N>) {
        if let Some(known) = self.known.get_mut(&id) {
            known.node = Some(node);
        }
    }

    fn compare_object(
        &mut self,
        row: &ObjectRow,
        arrays: &FrameArrays,
        frame: &Frame,
        changes: &mut Changes<N>,
    ) {
        let Some(object) = frame.object(ClientObjectId(row.id)) else { return };
        let pose = ChildPose { position: row.position, rotation: row.rotation };
        let first = row.first_value as usize;
        let values = &arrays.values()[first..first + object.declared().components.len()];
        let Some(known) = self.known.get_mut(&row.id) else {
            let (values, seen) = (values.to_vec(), self.frames);
            self.known.insert(row.id, Known { node: None, pose, values, seen });
            changes.coming.push(Coming {
                id: row.id,
                kind: object.kind().to_owned(),
                pose,
                values: values_of(*object),
            });
            return;
        };
        known.seen = self.frames;
        let before = mem::replace(&mut known.pose, pose);
        let Some(node) = &known.node else { return };
        if before != pose {
            let is_turned = before.rotation != pose.rotation;
            changes.moving.push(Moving { node: node.clone(), pose, is_turned });
        }
        if !are_same(&known.values, values) {
            values.clone_into(&mut known.values);
            changes.changed.push((node.clone(), values_of(*object)));
        }
    }
}

/// Bit by bit, since what is not known is NaN.
fn are_same(one: &[ValueRow], other: &[ValueRow]) -> bool {
    let bits = |row: &ValueRow| [row.value, row.rate, row.max].map(f64::to_bits);
    one.len() == other.len() && one.iter().map(bits).eq(other.iter().map(bits))
}
