//! What decides at a host, the process that runs rooms. Pure: no clock, thread, lock or socket.
//!
//! A host is two kinds of cores, so that rooms run on several threads at the same time:
//! - one [`host::HostCore`]: the WorldServer's orders, the rooms that it has given to this host,
//!   tickets, heartbeats, and how the host ends;
//! - for each room one [`room_host::RoomHost`]: the room, its clients, and what the WorldServer is
//!   sent of it.
//!
//! **In** go orders of the WorldServer ([`ambit_host_protocol::messages`]), clients with their
//! first messages, their datagrams, ticks, and the time: of the host's own clock, of the room's,
//! and the seconds since 1970 by which tickets expire. All of them are values that are checked
//! already, but datagrams, tickets and what a WorldServer sends of a saved room: those are read
//! here, and any bytes are survived.
//!
//! **Out** come [`host::HostOutput`] and [`room_host::RoomHostOutput`] from the two `poll`s, to be
//! carried out in that order: messages for the WorldServer, datagrams and control messages of
//! clients, rooms to be made, started and ended. [`host::HostCore::next_deadline`] says when to
//! call again. Nothing is called back.
//!
//! Beside them [`release::check_release`] says when a tick's datagrams may leave. Rooms and network
//! tasks ask it on their own threads. What they need of the [`host::HostCore`] are two numbers that
//! it publishes: until when players may be served ([`lease::ServingPermit`], the one value here
//! that threads share), and from which entry on a room is saved ([`host::HostOutput::SavedFrom`]).
//!
//! The shells only carry: the threads and tasks of `ambit-host`, and the simulator in `tests`. They
//! translate what arrives, call, and carry out.
//!
//! **What always holds:**
//! 1. A room is this host's from its `StartRoom` until it ends, is closed or handed over; without a
//!    link it stays so for as long as the host has a lease.
//! 2. A room has started when `RoomOpened` leaves, so that a player who comes at once finds it. The
//!    first snapshot follows, before all else that the room sends.
//! 3. Orders for a room that is being made reach the room, in order, when it starts.
//! 4. A tick's journal entry is put out before everything that follows from the tick, and its
//!    datagrams leave only behind the entry, and only while the host may serve.
//! 5. A ticket admits one client once, and none after it was revoked.
//! 6. The same inputs at the same times give the same outputs.
//!
//! **Cost:** an order or a heartbeat costs what it changes. A room's tick costs what the room does,
//! and its inputs once more for the journal; once a second a snapshot has all objects of the room
//! (the bench `checkpoint`). What waits is bounded: by the host's rooms, their seats, and
//! [`release::KEPT_WITHIN`].

pub mod checkpoints;
pub mod clock;
pub mod host;
mod lateness;
pub mod lease;
pub mod making;
mod overload;
pub mod release;
pub mod room_host;
mod room_pieces;
pub mod room_task;
pub mod tick_loss;
