//! The thread of a room.
//!
//! Each room has one, so the operating system divides the processors among the rooms: a room that
//! needs more than its share loses its own ticks, and its neighbours get theirs in time. It can
//! interrupt a tick, which no scheduler of ours could. A room that never returns from a tick holds
//! up nothing else. Cost: some ten kilobytes a room, and two changes of threads a tick.

use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use actix::dev::channel::{AddressReceiver, channel};
use actix::{Addr, Context};
use ambit_proto::ids::RoomId;
use tokio::task::LocalSet;

use super::actor::{MAILBOX, RoomActor};

/// A thread that waits for its room. It ends with the room, or when this is dropped.
pub(super) struct RoomThread {
    start: SyncSender<(RoomActor, AddressReceiver<RoomActor>)>,
}

impl RoomThread {
    pub(super) fn start(room: RoomId) -> io::Result<Self> {
        // Only runs the actor: the network has a runtime of its own.
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let (start, starting) = sync_channel::<(RoomActor, AddressReceiver<RoomActor>)>(1);
        thread::Builder::new().name(format!("room {room}")).spawn(move || {
            if let Ok((actor, messages)) = starting.recv() {
                actor.begin_on_this_thread();
                let room = Context::with_receiver(messages).into_future(actor);
                LocalSet::new().block_on(&runtime, room);
            }
        })?;
        Ok(Self { start })
    }

    /// Runs the room from now on.
    pub(super) fn run(self, actor: RoomActor) -> Addr<RoomActor> {
        let (messages, receiver) = channel(MAILBOX);
        if self.start.send((actor, receiver)).is_err() {
            tracing::error!("the thread of a room has ended before the room began");
        }
        Addr::new(messages)
    }
}
