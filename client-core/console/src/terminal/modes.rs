//! The modes of the terminal before the editor changed them.

#[cfg(unix)]
pub(super) use on_unix::TerminalModes;

#[cfg(not(unix))]
pub(super) use elsewhere::TerminalModes;

#[cfg(unix)]
mod on_unix {
    use std::io;

    use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};

    pub(crate) struct TerminalModes(Termios);

    impl TerminalModes {
        /// Those of standard input; `None` if it is no terminal.
        pub(crate) fn current() -> Option<Self> {
            tcgetattr(io::stdin()).ok().map(TerminalModes)
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

        pub(crate) fn restore(&self) {}
    }
}
