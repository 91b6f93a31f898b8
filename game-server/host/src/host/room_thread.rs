//! The thread of a room.
//!
//! Each room has one, so the operating system divides the processors among the rooms: a room that
//! needs more than its share loses its own ticks, and its neighbours get theirs in time. It can
//! interrupt a tick, which no scheduler of ours could. A room that never returns from a tick holds
//! up nothing else. Cost: some ten kilobytes a room, and two changes of threads a tick.

use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use ambit_proto::ids::RoomId;
use tokio::sync::mpsc;

use super::room_mailbox::{RoomMailbox, WaitingCall};
use super::room_shell::RoomShell;

/// A thread that waits for its room. It ends with the room, or when this is dropped.
pub(super) struct RoomThread {
    start: SyncSender<(RoomShell, mpsc::Receiver<WaitingCall>)>,
}

impl RoomThread {
    pub(super) fn start(room: RoomId) -> io::Result<Self> {
        let (start, starting) = sync_channel::<(RoomShell, mpsc::Receiver<WaitingCall>)>(1);
        thread::Builder::new().name(format!("room {room}")).spawn(move || {
            if let Ok((room, calls)) = starting.recv() {
                room.run(calls);
            }
        })?;
        Ok(Self { start })
    }

    /// Runs the room from now on.
    pub(super) fn run(self, room: RoomShell) -> RoomMailbox {
        let (mailbox, calls) = RoomMailbox::new();
        if self.start.send((room, calls)).is_err() {
            tracing::error!("the thread of a room has ended before the room began");
        }
        mailbox
    }
}
