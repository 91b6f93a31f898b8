//! The controls that a player holds down: 32 of them, one bit each.
//!
//! A control is `down` while it is held; it is `pressed` in the one step in which it went down, and `released` in the one
//! in which it came up. Two keymaps tell all three, so a lost one in between loses no state. Which control means
//! what is up to each game.

use crate::wire::{Coder, Wire, WireError};

/// How many controls there are.
pub const CONTROLS: u8 = 32;

/// One bit for each control, the lowest for control 0: set while it is held down.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Keymap(pub u32);

impl Keymap {
    /// Whether `control`, from 0 to 31, is held down.
    ///
    /// # Panics
    /// When there is no such control, as in every function that takes one.
    pub const fn down(self, control: u8) -> bool {
        self.0 & bit(control) != 0
    }

    /// This keymap with `control` held down or not.
    pub const fn with(self, control: u8, down: bool) -> Self {
        if down { Self(self.0 | bit(control)) } else { Self(self.0 & !bit(control)) }
    }
}

/// 32 bits.
impl Wire for Keymap {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.u32(&mut self.0)
    }
}

/// The keymaps of this step and of the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Keys {
    /// Of the step before.
    pub previous: Keymap,
    /// Of this step.
    pub current: Keymap,
}

impl Keys {
    /// The next step begins, with these controls held down.
    pub const fn advance(&mut self, keymap: Keymap) {
        self.previous = self.current;
        self.current = keymap;
    }

    /// Whether `control` is held down.
    pub const fn down(self, control: u8) -> bool {
        self.current.down(control)
    }

    /// Whether `control` went down in this step.
    pub const fn pressed(self, control: u8) -> bool {
        self.current.down(control) && !self.previous.down(control)
    }

    /// Whether `control` came up in this step.
    pub const fn released(self, control: u8) -> bool {
        !self.current.down(control) && self.previous.down(control)
    }
}

const fn bit(control: u8) -> u32 {
    assert!(control < CONTROLS, "there are 32 controls, 0 to 31");
    1 << control
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_is_pressed_once_held_and_released_once() {
        for control in 0..CONTROLS {
            let (held, free) = (Keymap::default().with(control, true), Keymap::default());
            let mut keys = Keys::default();
            let told = [held, held, free, free].map(|keymap| {
                keys.advance(keymap);
                (keys.down(control), keys.pressed(control), keys.released(control))
            });
            let expected = [(true, true, false), (true, false, false), (false, false, true), (false, false, false)];
            assert_eq!(told, expected, "control {control}");
        }
    }

    #[test]
    fn controls_do_not_disturb_each_other() {
        let mut keys = Keys { previous: Keymap(0b0110), current: Keymap(0b0011) };
        assert!(keys.pressed(0) && keys.down(1) && !keys.pressed(1) && keys.released(2) && !keys.down(3));
        keys.advance(Keymap(u32::MAX));
        assert!(!keys.pressed(1) && keys.pressed(31));
        assert_eq!(Keymap(0b0111).with(1, false), Keymap(0b0101));
    }

    #[test]
    #[should_panic(expected = "32 controls")]
    fn a_control_that_does_not_exist_is_our_bug() {
        let _ = Keymap(0).down(32);
    }
}
