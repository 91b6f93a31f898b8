//! What a call returns, and the text of the last error.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use ambit_client_boundary::calls::BoundaryError;

/// What a call returns. All above [`Status::Nothing`] are errors: `ambit_last_error` has the text.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// There is nothing: no event, no game, no item of this name.
    Nothing = 1,
    /// No client has this handle: it was closed, or never started.
    NoClient = 16,
    /// Another thread is calling this client. One thread at a time may.
    Busy = 17,
    /// A pointer is null or not aligned.
    BadPointer = 18,
    /// A length is larger than what it may be.
    BadLength = 19,
    /// A text is not UTF-8.
    BadText = 20,
    /// The `size` of a structure is none that this library knows.
    BadSize = 21,
    /// The caller was compiled for another version of this interface.
    OtherVersion = 22,
    /// A setting, a request or an argument cannot be read, or does not exist.
    BadOption = 23,
    /// A function that steers needs a client that its caller drives.
    WrongMode = 24,
    /// More than a second has passed since `ambit_poll` or `ambit_frame`; the call did nothing.
    /// The next one works again.
    NotPolled = 25,
    /// There are too many: clients, functions that steer, or requests without an answer.
    TooMany = 26,
    /// The connection is closed for good.
    Closed = 27,
    /// The player is in no game.
    NotPlaying = 28,
    /// The game or the client's core refused it; the code of `ambit_last_error` says why.
    Refused = 29,
    /// The system refused something: a thread, a file, a socket.
    Failed = 30,
    /// The library has a fault. The client is closed.
    Panicked = 31,
}

/// Why a call did nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What the C interface returns for it.
    pub status: Status,
    /// Stable: a code of the protocol, or the name of the status.
    pub code: Cow<'static, str>,
    /// What happened, what was expected, and what to do.
    pub message: Cow<'static, str>,
}

impl Failure {
    pub(crate) fn new(status: Status, message: impl fmt::Display) -> Self {
        let code = match status {
            Status::Ok => "",
            Status::Nothing => "nothing",
            Status::NoClient => "no_client",
            Status::Busy => "busy",
            Status::BadPointer => "bad_pointer",
            Status::BadLength => "bad_length",
            Status::BadText => "bad_text",
            Status::BadSize => "bad_size",
            Status::OtherVersion => "other_version",
            Status::BadOption => "bad_option",
            Status::WrongMode => "wrong_mode",
            Status::NotPolled => "not_polled",
            Status::TooMany => "too_many",
            Status::Closed => "closed",
            Status::NotPlaying => "not_playing",
            Status::Refused => "refused",
            Status::Failed => "failed",
            Status::Panicked => "panicked",
        };
        Failure { status, code: code.into(), message: message.to_string().into() }
    }

    /// There is nothing, which is no error.
    pub(crate) fn nothing() -> Self {
        // Without an allocation, since many calls of a frame find nothing.
        Failure {
            status: Status::Nothing,
            code: "nothing".into(),
            message: "there is nothing: no event, no game, or no item of this name".into(),
        }
    }
}

impl From<BoundaryError> for Failure {
    fn from(BoundaryError { code, message }: BoundaryError) -> Self {
        let status = match &*code {
            "bad_option" | "malformed" | "unknown_command" => Status::BadOption,
            "closed" => Status::Closed,
            "not_playing" => Status::NotPlaying,
            "too_many_requests" => Status::TooMany,
            _ => Status::Refused,
        };
        Failure { status, code: code.into(), message: message.into() }
    }
}

thread_local! {
    static LAST: RefCell<Failure> = RefCell::new(Failure::new(Status::Ok, ""));
}

/// Notes the result of a call.
pub(crate) fn note(result: Result<(), Failure>) -> Status {
    let Err(failure) = result else { return Status::Ok };
    let status = failure.status;
    LAST.with_borrow_mut(|last| *last = failure);
    status
}

/// Reads the last error of this thread.
pub(crate) fn with_last<R>(read: impl FnOnce(&Failure) -> R) -> R {
    LAST.with_borrow(read)
}
