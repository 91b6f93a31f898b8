//! What came into a frame and what went, so that an engine makes and removes its own objects.
//!
//! Frames go in, one after the other; [`SightChanges::came`] and [`SightChanges::went`] come out,
//! until the next one. Cost: proportional to what is in sight; nothing is allocated once the lists
//! are large enough.

use ambit_client_boundary::frame_arrays::{FrameArrays, ObjectRow};

/// See the module.
#[derive(Debug, Default)]
pub struct SightChanges {
    /// Of the frame before, ascending: those in sight, those that are room-wide.
    before: [Vec<u32>; 2],
    came: Vec<u32>,
    went: Vec<u32>,
}

impl SightChanges {
    /// Compares a frame with the one before.
    pub(crate) fn update(&mut self, arrays: &FrameArrays) {
        self.came.clear();
        self.went.clear();
        let (in_sight, room_wide) = arrays.objects().split_at(arrays.in_sight());
        for (before, now) in self.before.iter_mut().zip([in_sight, room_wide]) {
            compare(before, now, &mut self.came, &mut self.went);
            before.clear();
            before.extend(now.iter().map(|object| object.id));
        }
    }

    /// The ids of the objects that were not in the frame before.
    pub fn came(&self) -> &[u32] {
        &self.came
    }

    /// The ids of those that are not any more.
    pub fn went(&self) -> &[u32] {
        &self.went
    }
}

/// Both lists ascend.
fn compare(before: &[u32], now: &[ObjectRow], came: &mut Vec<u32>, went: &mut Vec<u32>) {
    let mut before = before.iter().copied().peekable();
    for object in now {
        while let Some(gone) = before.next_if(|id| *id < object.id) {
            went.push(gone);
        }
        if before.next_if_eq(&object.id).is_none() {
            came.push(object.id);
        }
    }
    went.extend(before);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_and_goes_is_named_once() {
        check(&[], &[], &[], &[]);
        check(&[], &[1, 2], &[1, 2], &[]);
        check(&[1, 2, 3], &[2, 4], &[4], &[1, 3]);
        check(&[5, 6], &[1, 2], &[1, 2], &[5, 6]);
        check(&[1, 2], &[1, 2], &[], &[]);
        check(&[7], &[], &[], &[7]);
    }

    fn check(before: &[u32], now: &[u32], came: &[u32], went: &[u32]) {
        let now: Vec<_> = now.iter().map(|&id| ObjectRow { id, ..ObjectRow::default() }).collect();
        let (mut found, mut gone) = (Vec::new(), Vec::new());
        compare(before, &now, &mut found, &mut gone);
        assert_eq!((&*found, &*gone), (came, went), "{before:?}");
    }
}
