//! The queue in front of a room's thread: ticks, clients and orders. Datagrams have the
//! [`inbox`](super::inbox).
//!
//! What always holds: a room takes its calls in the order in which they found a place. Bound:
//! [`MAILBOX`].

use ambit_host_core::room_host::AdmittedClient;
use ambit_host_core::room_task::RoomTask;
use ambit_proto::ids::ClientId;
use ambit_proto::time::GameTime;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use super::control_stream::GameConnection;

/// Calls that may wait for a room: at most 3 ticks, and each connection's task waits for its turn
/// with the rest.
const MAILBOX: usize = 64;

/// What a room is called for.
pub(crate) enum RoomCall {
    /// A tick is due, for this time of the room.
    Tick(GameTime),
    Attach(Box<NewClient>),
    /// A client's connection has ended.
    Detach(ClientId),
    /// A client's player leaves for good.
    Left(ClientId),
    /// The WorldServer, or the host, orders something.
    Order(RoomTask),
}

/// A client with a valid ticket has connected.
pub(crate) struct NewClient {
    pub(crate) client: ClientId,
    pub(crate) admitted: AdmittedClient,
    pub(crate) connection: GameConnection,
}

/// A call and its caller.
pub(crate) struct WaitingCall {
    pub(super) call: RoomCall,
    pub(super) caller: Caller,
}

/// Who waits until a call is carried out. Dropped before that, it learns that it never will be.
#[derive(Default)]
pub(crate) struct Caller {
    done: Option<oneshot::Sender<()>>,
    /// Free when this is dropped.
    _place: Option<OwnedSemaphorePermit>,
}

/// The way to a room's thread.
#[derive(Clone)]
pub(crate) struct RoomMailbox {
    calls: mpsc::Sender<WaitingCall>,
}

impl Caller {
    pub(super) fn note_done(self) {
        if let Some(done) = self.done {
            // One that does not wait any more has gone on without it.
            let _ = done.send(());
        }
    }
}

impl RoomMailbox {
    pub(super) fn new() -> (Self, mpsc::Receiver<WaitingCall>) {
        let (calls, waiting) = mpsc::channel(MAILBOX);
        (Self { calls }, waiting)
    }

    /// Puts a tick in; `false` when the queue is full, or the room has ended.
    pub(crate) fn try_tick(&self, due: GameTime) -> bool {
        let (call, caller) = (RoomCall::Tick(due), Caller::default());
        self.calls.try_send(WaitingCall { call, caller }).is_ok()
    }

    /// Waits for a place, and until the room has carried the call out; `false` if it has ended
    /// before.
    pub(crate) async fn call(&self, call: RoomCall) -> bool {
        let (done, is_done) = oneshot::channel();
        let caller = Caller { done: Some(done), _place: None };
        self.calls.send(WaitingCall { call, caller }).await.is_ok() && is_done.await.is_ok()
    }

    /// Puts a call in without waiting: if the queue is full, a task waits in its place. The
    /// receiver has an end when the room has carried the call out, or has ended. `place` is free
    /// then.
    pub(super) fn post(
        &self,
        call: RoomCall,
        place: OwnedSemaphorePermit,
    ) -> oneshot::Receiver<()> {
        let (done, is_done) = oneshot::channel();
        let caller = Caller { done: Some(done), _place: Some(place) };
        let refused = self.calls.try_send(WaitingCall { call, caller });
        if let Err(TrySendError::Full(waiting)) = refused {
            let calls = self.calls.clone();
            tokio::spawn(async move {
                // An error means that the room has ended, so the call has no meaning any more.
                let _ = calls.send(waiting).await;
            });
        }
        is_done
    }
}
