//! Wrong calls of the interface: each is an error, and the library goes on.
//!
//! Clients dial an address at which nothing answers.

#![expect(unsafe_code, reason = "it calls as another language would")]

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ambit_client_ffi::*;

/// No UTF-8.
static BROKEN: [u8; 3] = [b'a', 0xff, b'b'];
/// Any: nothing answers.
static CERTIFICATE: [u8; 32] = [7; 32];
const NO_TEXT: AmbitText = AmbitText { text: null(), length: 0 };

fn text(text: &'static str) -> AmbitText {
    AmbitText { text: text.as_ptr(), length: text.len() as u64 }
}

fn options() -> AmbitOptions {
    AmbitOptions {
        size: size_of::<AmbitOptions>() as u32,
        interface_version: AMBIT_INTERFACE_VERSION,
        flags: AMBIT_CALLER_DRIVEN,
        reserved: 0,
        server: text("127.0.0.1:9"),
        settings: NO_TEXT,
        certificate: CERTIFICATE.as_ptr(),
        known_hosts: NO_TEXT,
        resume_token: null(),
        resume_token_length: 0,
    }
}

fn start(options: &AmbitOptions) -> Result<u64, Status> {
    let mut client = 7;
    match unsafe { ambit_start(options, &raw mut client) } {
        Status::Ok => Ok(client),
        status => {
            assert_eq!(client, 0, "no handle after an error");
            Err(status)
        }
    }
}

fn started() -> u64 {
    start(&options()).expect("it starts")
}

/// Any call that does nothing.
fn hold(client: u64) -> Status {
    let mut now = 0;
    unsafe { ambit_now(client, &raw mut now) }
}

fn last_error() -> (u32, String, String) {
    let mut error = AmbitError {
        size: size_of::<AmbitError>() as u32,
        status: 0,
        code: NO_TEXT,
        message: NO_TEXT,
    };
    assert_eq!(unsafe { ambit_last_error(&raw mut error) }, Status::Ok);
    (error.status, owned(error.code), owned(error.message))
}

fn owned(text: AmbitText) -> String {
    let bytes = unsafe { std::slice::from_raw_parts(text.text, text.length as usize) };
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn frame() -> AmbitFrame {
    AmbitFrame {
        size: size_of::<AmbitFrame>() as u32,
        in_sight: 9,
        time_us: 9,
        objects: null(),
        values: null(),
        came: null(),
        went: null(),
        object_count: 9,
        value_count: 9,
        came_count: 9,
        went_count: 9,
        avatar: 9,
        reserved: 9,
    }
}

fn request(client: u64, json: &str) -> Status {
    let mut number = 0;
    unsafe { ambit_request(client, json.as_ptr(), json.len() as u64, &raw mut number) }
}

#[test]
fn options_that_make_no_sense_are_refused_with_the_reason() {
    let cases = [
        (AmbitOptions { size: 0, ..options() }, Status::BadSize, "sizeof"),
        (AmbitOptions { size: 24, ..options() }, Status::BadSize, "24"),
        (AmbitOptions { size: u32::MAX, ..options() }, Status::BadSize, ""),
        (AmbitOptions { interface_version: 0, ..options() }, Status::OtherVersion, "version 0"),
        (AmbitOptions { interface_version: 2, ..options() }, Status::OtherVersion, "version 2"),
        (AmbitOptions { flags: 1 << 31, ..options() }, Status::BadOption, "unknown flags"),
        (AmbitOptions { server: NO_TEXT, ..options() }, Status::BadOption, "HOST:PORT"),
        (AmbitOptions { server: text("nonsense"), ..options() }, Status::BadOption, "nonsense"),
        (AmbitOptions { settings: text("{"), ..options() }, Status::BadOption, "EOF"),
        (
            AmbitOptions { settings: text(r#"{"impair": "lots"}"#), ..options() },
            Status::BadOption,
            "impair",
        ),
        (
            AmbitOptions { server: AmbitText { text: null(), length: 5 }, ..options() },
            Status::BadPointer,
            "null",
        ),
        (
            AmbitOptions { server: AmbitText { length: u64::MAX, ..text("a") }, ..options() },
            Status::BadLength,
            "more than",
        ),
        (
            AmbitOptions { settings: text(r#"{"render": "never"}"#), ..options() },
            Status::BadOption,
            "render",
        ),
    ];
    for (options, status, why) in cases {
        assert_eq!(start(&options), Err(status), "{why}");
        let (noted, code, message) = last_error();
        assert_eq!(noted, status as u32);
        assert!(!code.is_empty() && message.contains(why), "{code}: {message}");
    }
    let broken = AmbitText { text: BROKEN.as_ptr(), length: 3 };
    assert_eq!(start(&AmbitOptions { server: broken, ..options() }), Err(Status::BadText));

    let mut client = 7;
    assert_eq!(unsafe { ambit_start(null(), &raw mut client) }, Status::BadPointer);
    let any = options();
    let unaligned = (&raw mut client).map_addr(|address| address + 1);
    for to in [null_mut(), unaligned] {
        assert_eq!(unsafe { ambit_start(&raw const any, to) }, Status::BadPointer);
    }
}

#[test]
fn a_closed_handle_means_no_client_in_all_calls() {
    let client = started();
    assert_eq!(ambit_close(client, 0), Status::Ok);
    let other = started();
    assert_ne!(client, other, "the same place, another handle");
    let mut number = 0_u64;
    let mut small = 0_u32;
    let mut some = NO_TEXT;
    let mut floats = null();
    let name = "walk-to";
    let (at, length) = (name.as_ptr(), name.len() as u64);
    for handle in [client, 0, u64::MAX, client + 1] {
        let mut frame = frame();
        let statuses = unsafe {
            [
                ambit_close(handle, 0),
                ambit_poll(handle, 0),
                ambit_now(handle, &raw mut number),
                request(handle, "\"leave_room\""),
                ambit_send(handle, at, length, null(), 0, &raw mut small),
                ambit_send_fields(handle, 0, null(), 0, &raw mut small),
                ambit_hold(handle, 1),
                ambit_set_axis(handle, 0, 0.5),
                ambit_frame(handle, 0, &raw mut frame),
                ambit_text(handle, 1, &raw mut some),
                ambit_find(handle, AMBIT_KIND, 0, at, length, &raw mut small),
                ambit_describe(handle, AMBIT_SCHEMA, &raw mut some),
                ambit_name(handle, AMBIT_KIND, 0, 0, &raw mut some),
                ambit_map(handle, &raw mut floats, &raw mut number),
            ]
        };
        assert!(statuses.iter().all(|status| *status == Status::NoClient), "{statuses:?}");
        assert_eq!((frame.object_count, frame.avatar), (0, AMBIT_NONE), "nothing is left of it");
    }
    let (status, code, message) = last_error();
    assert_eq!((status, &*code), (Status::NoClient as u32, "no_client"));
    assert!(message.contains("closed"), "{message}");
    assert_eq!(ambit_close(other, 0), Status::Ok);
}

#[test]
fn a_hundred_clients_start_and_close_one_after_the_other() {
    for driven in [0, AMBIT_CALLER_DRIVEN] {
        for _ in 0..100 {
            let client = start(&AmbitOptions { flags: driven, ..options() }).expect("it starts");
            let mut frame = frame();
            assert_eq!(unsafe { ambit_frame(client, 0, &raw mut frame) }, Status::Ok);
            assert_eq!(ambit_close(client, 0), Status::Ok);
        }
    }
}

#[test]
fn what_is_handed_in_is_checked_and_changes_nothing() {
    let client = started();
    let mut number = 5_u32;
    let mut large = 5_u64;
    let name = "walk-to";
    let (at, length) = (name.as_ptr(), name.len() as u64);
    unsafe {
        assert_eq!(ambit_now(client, null_mut()), Status::BadPointer);
        assert_eq!(ambit_request(client, null(), 3, &raw mut large), Status::BadPointer);
        assert_eq!(ambit_request(client, at, u64::MAX, &raw mut large), Status::BadLength);
        assert_eq!(ambit_request(client, at, length, &raw mut large), Status::BadOption);
        assert_eq!(
            ambit_send(client, at, length, [0xff].as_ptr(), 1, &raw mut number),
            Status::BadText
        );
        assert_eq!(ambit_send(client, at, length, null(), 0, &raw mut number), Status::NotPlaying);
        assert_eq!(ambit_send_fields(client, 0, null(), 1, &raw mut number), Status::BadPointer);
        let field = AmbitField {
            kind: 77,
            reserved: 0,
            number: 0,
            x: 0.0,
            y: 0.0,
            z: 0.0,
            reserved_too: 0,
            text: NO_TEXT,
        };
        let fields = [field; 2];
        let mut send =
            |count| ambit_send_fields(client, 0, fields.as_ptr(), count, &raw mut number);
        assert_eq!(send(2), Status::BadOption);
        assert!(last_error().2.contains("unknown kind 77"));
        assert_eq!(
            ambit_send_fields(client, 0, fields.as_ptr(), 65, &raw mut number),
            Status::BadLength
        );
        let mut find = |what| ambit_find(client, what, 0, at, length, &raw mut number);
        assert_eq!(find(AMBIT_KIND), Status::Nothing);
        let (status, code, message) = last_error();
        assert_eq!((status, &*code), (Status::Nothing as u32, "nothing"));
        assert!(message.contains("no item of this name"), "{message}");
        assert_eq!(ambit_find(client, 77, 0, at, length, &raw mut number), Status::BadOption);
        assert_eq!(number, AMBIT_NONE);
        let mut some = NO_TEXT;
        assert_eq!(ambit_describe(client, 77, &raw mut some), Status::BadOption);
        assert_eq!(ambit_describe(client, AMBIT_RULES, &raw mut some), Status::Nothing);
        assert_eq!(ambit_text(client, 1, &raw mut some), Status::Nothing);
        assert_eq!(ambit_set_axis(client, 0, 1.0), Status::NotPlaying);
        assert_eq!(ambit_set_axis(client, 256, 1.0), Status::BadOption);
        assert_eq!(ambit_hold(client, u32::MAX), Status::NotPlaying);
        assert_eq!(ambit_frame(client, 0, null_mut()), Status::BadPointer);
        assert_eq!(ambit_next_event(client, null_mut()), Status::BadPointer);
        assert_eq!(ambit_player(client, null_mut()), Status::BadPointer);
        assert_eq!(ambit_statistics(client, null_mut()), Status::BadPointer);
        assert_eq!(ambit_last_error(null_mut()), Status::BadPointer);
        let steer = |function| ambit_steer(client, at, length, at, length, function, null_mut());
        // More often than there are slots: each replaces the one before.
        assert!((0..20).all(|_| steer(Some(stays)) == Status::Ok));
        assert_eq!(steer(None), Status::Ok);
        let mut reached = [0.0_f32; 3];
        let from = [1.0_f32; 3];
        assert_eq!(
            ambit_terrain_stop(null(), from.as_ptr(), from.as_ptr(), 0.5, reached.as_mut_ptr()),
            Status::BadPointer
        );
        assert_eq!(ambit_terrain_size(null(), reached.as_mut_ptr()), Status::BadPointer);
        assert_eq!(ambit_log(9), Status::BadOption);
    }
    assert_eq!(ambit_close(client, 0), Status::Ok);
}

/// The structure of a later version is longer: what this library does not know is zero.
#[test]
fn structures_of_other_versions_are_filled_as_far_as_both_know() {
    #[repr(C)]
    struct Later {
        frame: AmbitFrame,
        more: [u64; 4],
    }
    #[repr(C)]
    struct LaterOptions {
        options: AmbitOptions,
        more: u64,
    }
    let client = started();
    let mut later = Later { frame: frame(), more: [u64::MAX; 4] };
    later.frame.size = size_of::<Later>() as u32;
    let filled = unsafe { ambit_frame(client, 0, (&raw mut later).cast()) };
    assert_eq!((filled, later.more), (Status::Ok, [0; 4]));
    assert_eq!(later.frame.size, size_of::<Later>() as u32, "it can be used again");
    assert_eq!((later.frame.time_us, later.frame.object_count), (-1, 0));
    assert_eq!(later.frame.avatar, AMBIT_NONE);
    let mut short = frame();
    short.size = 16;
    assert_eq!(unsafe { ambit_frame(client, 0, &raw mut short) }, Status::BadSize);
    assert_eq!(short.object_count, 9, "untouched");
    assert_eq!(ambit_close(client, 0), Status::Ok);

    let mut later = LaterOptions {
        options: AmbitOptions { size: size_of::<LaterOptions>() as u32, ..options() },
        more: 1,
    };
    let mut client = 0;
    let start = |later: &LaterOptions, client: &mut u64| unsafe {
        ambit_start((&raw const *later).cast(), client)
    };
    assert_eq!(start(&later, &mut client), Status::OtherVersion);
    later.more = 0;
    assert_eq!(start(&later, &mut client), Status::Ok);
    assert_eq!(ambit_close(client, 0), Status::Ok);
}

#[test]
fn a_client_belongs_to_one_thread_at_a_time() {
    let client = started();
    let was_busy = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !was_busy.load(Ordering::Relaxed) {
                match hold(client) {
                    Status::Ok => {}
                    Status::Busy => was_busy.store(true, Ordering::Relaxed),
                    status => panic!("{status:?}"),
                }
            }
            assert!(last_error().2.contains("one thread at a time"));
        });
        // It holds the client while it waits; the other thread may hold it, too.
        while !was_busy.load(Ordering::Relaxed) {
            let status = ambit_poll(client, 20);
            assert!(matches!(status, Status::Ok | Status::Busy), "{status:?}");
        }
    });
    assert_eq!(ambit_close(client, 0), Status::Ok);
}

#[test]
fn a_caller_that_forgets_to_poll_is_told_so_once() {
    let client = started();
    thread::sleep(Duration::from_millis(1_200));
    assert_eq!(hold(client), Status::NotPolled);
    let (_, code, message) = last_error();
    assert!(code == "not_polled" && message.contains("ambit_poll"), "{message}");
    assert_eq!(hold(client), Status::Ok);
    assert_eq!(ambit_poll(client, 0), Status::Ok);
    assert_eq!(ambit_close(client, 0), Status::Ok);

    // A thread of the library does not forget.
    let driven = start(&AmbitOptions { flags: 0, ..options() }).expect("it starts");
    thread::sleep(Duration::from_millis(1_200));
    assert_eq!(hold(driven), Status::Ok);
    assert_eq!(ambit_poll(driven, 0), Status::Ok);
    let game = "fleet";
    let (at, length) = (game.as_ptr(), game.len() as u64);
    let steered = unsafe { ambit_steer(driven, at, length, at, length, Some(stays), null_mut()) };
    assert_eq!(steered, Status::WrongMode);
    assert_eq!(ambit_close(driven, 0), Status::Ok);
}

extern "C" fn stays(
    _: *mut c_void,
    _: *mut AmbitMovement,
    _: *const AmbitHeld,
    _: *const c_void,
    _: f32,
) {
}

#[test]
fn what_happens_before_a_server_is_reached_are_events() {
    let client = started();
    let mut event = AmbitEvent {
        size: size_of::<AmbitEvent>() as u32,
        of: 0,
        request: 9,
        name: NO_TEXT,
        json: NO_TEXT,
    };
    let mut names = Vec::new();
    for _ in 0..500 {
        while unsafe { ambit_next_event(client, &raw mut event) } == Status::Ok {
            let json = owned(event.json);
            assert!(json.starts_with('{') && event.of == AMBIT_OF_LOBBY, "{json}");
            names.push(owned(event.name));
        }
        if names.iter().any(|name| name == "closed" || name == "interrupted") {
            break;
        }
        assert_eq!(ambit_poll(client, 20), Status::Ok);
    }
    assert_eq!(names.first().map(String::as_str), Some("connecting"), "{names:?}");
    assert!(names.len() > 1, "{names:?}");
    assert_eq!(ambit_close(client, 0), Status::Ok);
}

#[test]
fn bindings_can_check_each_structure() {
    assert_eq!(ambit_interface_version(), AMBIT_INTERFACE_VERSION);
    assert_eq!(ambit_layout(1, 1), 4, "in_sight");
    assert_eq!(ambit_layout(1, 13), size_of::<AmbitFrame>() as u32);
    assert_eq!(ambit_layout(1, 14), AMBIT_NONE);
    assert_eq!(ambit_layout(99, 0), AMBIT_NONE);
}
