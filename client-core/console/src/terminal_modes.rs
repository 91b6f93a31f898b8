//! The modes of the terminal before the console changed them.

#[cfg(unix)]
use on_unix::TerminalModes;

#[cfg(not(unix))]
use elsewhere::TerminalModes;

/// Nothing that is typed is shown until this is dropped.
pub(crate) struct HiddenInput(TerminalModes);

impl HiddenInput {
    /// `None` if standard input is no terminal, or one that shows all.
    pub(crate) fn start() -> Option<Self> {
        let before = TerminalModes::current()?;
        before.hide_input().then_some(HiddenInput(before))
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        self.0.restore();
    }
}

#[cfg(unix)]
mod on_unix {
    use std::io;

    use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};

    pub(crate) struct TerminalModes(Termios);

    impl TerminalModes {
        /// Those of standard input; `None` if it is no terminal.
        pub(crate) fn current() -> Option<Self> {
            tcgetattr(io::stdin()).ok().map(TerminalModes)
        }

        /// Whether it worked.
        pub(crate) fn hide_input(&self) -> bool {
            let mut modes = self.0.clone();
            modes.local_flags.remove(LocalFlags::ECHO);
            tcsetattr(io::stdin(), SetArg::TCSADRAIN, &modes).is_ok()
        }

        pub(crate) fn restore(&self) {
            // The terminal may be gone.
            let _ = tcsetattr(io::stdin(), SetArg::TCSADRAIN, &self.0);
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    /// The modes belong to the process there, and end with it.
    pub(crate) struct TerminalModes;

    impl TerminalModes {
        pub(crate) fn current() -> Option<Self> {
            Some(TerminalModes)
        }

        pub(crate) fn hide_input(&self) -> bool {
            false
        }

        pub(crate) fn restore(&self) {}
    }
}
