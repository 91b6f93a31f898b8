//! The host core alone: orders, joins, tickets, the lease, the end of a link.

use ambit_host_protocol::generated::world_to_host;
use ambit_host_protocol::protobuf::{messages_of_order, order_of};
use ambit_proto::ids::PlayerId;
use ambit_proto::message;
use ambit_proto::standing::Standing;
use ambit_proto::time::GameTime;
use ambit_proto::wishes::Wishes;

use super::*;
use ambit_host_protocol::MAX_TICK_INPUT_BYTES;
use ambit_host_protocol::messages::RoomMember;
use ambit_proto::frame::MAX_HOST;
use ambit_room::journal::{JournalEntry, SavedRoom};
use ambit_transport::ticket::{Ticket, TicketSigner};

const ADDRESS: &str = "10.0.0.1:7000";
const ROOM: RoomId = RoomId(7);
const ANN: PlayerId = PlayerId(1);
const BOB: PlayerId = PlayerId(2);
const LEASE: Duration = Duration::from_millis(1_500);

#[test]
fn a_room_starts_before_it_is_reported_and_gets_orders_that_waited() {
    let mut host = Host::configured(Duration::ZERO);
    host.order(WorldOrder::OpenRoom(assignment(1), None));
    assert!(matches!(host.poll()[..], [HostOutput::MakeRoom(_)]));
    let remove =
        RoomOrder::RemovePlayer { player: ANN, reason: ErrorCode::Kicked, revoked_until: 3 };
    host.order(WorldOrder::Room(ROOM, remove.clone()));
    assert_eq!(host.poll(), [], "the room is not created yet");
    host.made(1, Ok(Some(RoomSnapshot::default())));
    let clock = RoomClock::start(host.now());
    assert_eq!(
        host.poll(),
        [
            HostOutput::StartRoom { room: ROOM, incarnation: 1, clock },
            HostOutput::World(HostMessage::RoomOpened { room: ROOM, error: None }),
            HostOutput::World(HostMessage::Snapshot(ROOM, RoomSnapshot::default())),
            HostOutput::Room(ROOM, remove.into()),
        ]
    );
}

#[test]
fn a_restored_room_s_clock_runs_from_the_time_of_the_order() {
    let mut host = Host::configured(Duration::ZERO);
    let resume = RoomResume { now: GameTime::from_millis(60_000), ..RoomResume::default() };
    host.order(WorldOrder::OpenRoom(assignment(2), Some(resume)));
    let ordered_at = host.now();
    host.wait(700);
    host.made(2, Ok(None));
    let clock = host.poll().into_iter().find_map(|output| match output {
        HostOutput::StartRoom { clock, .. } => Some(clock),
        _ => None,
    });
    let clock = clock.expect("the room starts");
    assert_eq!(clock.room_time(ordered_at), GameTime::from_millis(60_000));
    assert_eq!(clock.room_time(host.now()), GameTime::from_millis(60_700));
}

#[test]
fn a_room_is_refused_if_it_runs_already_or_the_host_is_full() {
    let mut host = Host::configured(Duration::ZERO);
    host.open(1);
    host.order(WorldOrder::OpenRoom(assignment(2), None));
    assert_eq!(host.refusals(), [ErrorCode::AlreadyRunning]);
    for room in [8, 9] {
        let other = RoomAssignment { room: RoomId(room), ..assignment(1) };
        host.order(WorldOrder::OpenRoom(other, None));
    }
    assert_eq!(host.refusals(), [ErrorCode::NoHostAvailable]);
}

#[test]
fn a_room_that_was_closed_during_its_creation_does_not_start() {
    let mut host = Host::configured(Duration::ZERO);
    host.order(WorldOrder::OpenRoom(assignment(1), None));
    host.order(WorldOrder::CloseRoom { room: ROOM, reason: ErrorCode::RoomClosed });
    host.poll();
    host.made(1, Ok(None));
    assert_eq!(host.poll(), [HostOutput::DiscardRoom(ROOM)]);
    assert!(!host.core.has_room(ROOM));
}

#[test]
fn a_room_whose_link_was_lost_during_its_creation_does_not_start() {
    let mut host = Host::configured(LEASE);
    host.order(WorldOrder::OpenRoom(assignment(1), None));
    host.lose_link();
    host.configure(LEASE);
    host.order(WorldOrder::OpenRoom(assignment(2), None));
    host.poll();
    host.made(1, Ok(None));
    assert_eq!(
        host.poll(),
        [HostOutput::DiscardRoom(ROOM)],
        "the answer to the order of the lost link"
    );
    host.made(2, Ok(None));
    assert!(host.core.has_rooms());
}

#[test]
fn the_late_end_of_a_room_does_not_end_its_next_incarnation() {
    let mut host = Host::configured(Duration::ZERO);
    host.open(1);
    host.order(WorldOrder::CloseRoom { room: ROOM, reason: ErrorCode::RoomClosed });
    host.open(2);
    host.core.handle_room_ended(ROOM, 1);
    assert!(host.core.has_rooms());
    host.core.handle_room_ended(ROOM, 2);
    assert!(!host.core.has_rooms());
}

#[test]
fn a_room_that_has_closed_itself_can_be_opened_again_at_once() {
    let mut host = Host::configured(Duration::ZERO);
    host.open(1);
    let (reason, message) = (ErrorCode::RoomCrashed, String::new());
    host.core.handle_room_message(HostMessage::RoomClosed { room: ROOM, reason, message });
    host.poll();
    host.order(WorldOrder::OpenRoom(assignment(2), None));
    assert!(matches!(host.poll()[..], [HostOutput::MakeRoom(_)]));
    host.core.handle_room_ended(ROOM, 1);
    assert!(host.core.has_room(ROOM), "the next one is being made");
}

#[test]
fn a_revoked_ticket_is_refused_and_a_newer_one_admitted() {
    let mut host = Host::configured(Duration::ZERO);
    host.open(1);
    host.order(WorldOrder::Room(
        ROOM,
        RoomOrder::RemovePlayer { player: ANN, reason: ErrorCode::Kicked, revoked_until: 5 },
    ));
    assert_eq!(host.join(ANN, 5), Err(ErrorCode::NotInRoom));
    assert_eq!(host.join(ANN, 6), Ok(ANN));
    assert_eq!(host.join(BOB, 1), Ok(BOB));
    let members = vec![RoomMember { player: ANN, name: "ann".into() }];
    host.order(WorldOrder::Room(ROOM, RoomOrder::SyncMembers { members, revoked_until: 9 }));
    assert_eq!(host.join(BOB, 9), Err(ErrorCode::NotInRoom));
    assert_eq!(host.join(ANN, 9), Ok(ANN));
    assert_eq!(host.join(BOB, 10), Ok(BOB));
}

#[test]
fn a_ticket_needs_a_running_room_and_is_used_once() {
    let mut host = Host::new();
    assert_eq!(host.join(ANN, 1), Err(ErrorCode::RoomNotRunning));
    host.configure(Duration::ZERO);
    assert_eq!(host.join(ANN, 2), Err(ErrorCode::BadTicket));
    host.open(1);
    let join = host.ticket(ANN, 3);
    let unknown_coding = Join { coding: 4, ..join.clone() };
    assert_eq!(host.admit(&unknown_coding), Err(ErrorCode::Unsupported));
    assert!(host.admit(&join).is_ok());
    assert_eq!(host.admit(&join), Err(ErrorCode::TicketUsed));
    let old = Join { version: message::VERSION - 1, ..host.ticket(ANN, 4) };
    assert_eq!(host.admit(&old), Err(ErrorCode::VersionMismatch));
    host.order(WorldOrder::CloseRoom { room: ROOM, reason: ErrorCode::RoomClosed });
    assert_eq!(host.join(ANN, 5), Err(ErrorCode::BadTicket));
}

#[test]
fn rooms_end_with_the_link_unless_there_is_a_lease() {
    let mut child = Host::configured(Duration::ZERO);
    child.open(1);
    child.lose_link();
    assert_eq!(
        child.poll(),
        [
            HostOutput::Room(ROOM, RoomTask::Close(ErrorCode::HostDied)),
            HostOutput::End(HostEnding::LinkLost)
        ]
    );
    let mut remote = Host::configured(LEASE);
    remote.open(1);
    remote.lose_link();
    assert_eq!(remote.poll(), [HostOutput::End(HostEnding::LinkLost)]);
    // The host reports its rooms to the next WorldServer and sends it a snapshot.
    remote.connect();
    let ready = remote.poll().into_iter().find_map(|output| match output {
        HostOutput::World(HostMessage::Ready(ready)) => Some(ready.rooms),
        _ => None,
    });
    let here = RoomHere { room: ROOM, incarnation: 1 };
    assert_eq!(ready, Some(vec![here]));
    remote.configure(LEASE);
    let snapshot = HostOutput::Room(ROOM, RoomTask::SendSnapshot);
    assert!(remote.poll().contains(&snapshot));
}

#[test]
fn rooms_that_no_world_server_asks_for_are_closed_after_a_minute() {
    let mut host = Host::configured(LEASE);
    host.open(1);
    host.lose_link();
    host.poll();
    for _ in 0..3 {
        // This WorldServer is a follower.
        host.wait(10_000);
        host.connect();
        host.lose_link();
    }
    host.poll();
    let closes_at = host.now() + Duration::from_secs(30);
    assert_eq!(host.core.next_deadline(), Some(closes_at));
    host.wait(29_999);
    host.timeout();
    assert_eq!(host.poll(), []);
    host.wait(1);
    host.timeout();
    let close = HostOutput::Room(ROOM, RoomTask::Close(ErrorCode::HostDied));
    assert_eq!(host.poll(), [close]);
    assert_eq!(host.core.next_deadline(), None);
}

#[test]
fn heartbeats_and_figures_are_sent_when_they_are_due() {
    let mut host = Host::configured(Duration::ZERO);
    let mut heartbeats = 0;
    let mut figures = 0;
    for _ in 0..2_000 {
        let due = host.core.next_deadline() <= Some(host.now());
        host.timeout();
        let outputs = host.poll();
        assert_eq!(outputs.is_empty(), !due);
        for output in outputs {
            match output {
                HostOutput::World(HostMessage::Heartbeat(_)) => heartbeats += 1,
                HostOutput::SendStats => figures += 1,
                _ => panic!("{output:?}"),
            }
        }
        host.wait(1);
    }
    assert_eq!((heartbeats, figures), (8, 2));
}

#[test]
fn what_a_pause_has_missed_is_skipped() {
    let at = LocalTime::from_millis;
    let next = |now| next_after(at(1_000), HEARTBEAT_INTERVAL, at(now));
    assert_eq!([1_000, 1_249, 1_250, 2_010].map(next), [1_250, 1_250, 1_500, 2_250].map(at));
}

#[test]
fn a_host_disconnects_a_world_server_that_acknowledges_nothing() {
    let mut host = Host::configured(LEASE);
    let mut heartbeats = 0;
    while host.now() < LocalTime::from_millis(60_000) {
        host.wait(250);
        host.timeout();
        for output in host.poll() {
            match output {
                HostOutput::World(HostMessage::Heartbeat(number)) => {
                    heartbeats += 1;
                    if heartbeats < 20 {
                        host.order(acknowledge(number));
                    }
                }
                HostOutput::End(ending) => {
                    assert_eq!(ending, HostEnding::LinkLost);
                    assert!((22..26).contains(&heartbeats), "{heartbeats}");
                    return;
                }
                _ => {}
            }
        }
    }
    panic!("the host does not end the link");
}

#[test]
fn a_child_that_was_stopped_ends_without_a_message() {
    let mut host = Host::configured(Duration::ZERO);
    host.open(1);
    host.wait(250);
    host.timeout();
    host.poll();
    host.wait(3_000);
    host.timeout();
    assert_eq!(host.poll(), [HostOutput::End(HostEnding::Stalled)]);
}

#[test]
fn a_child_that_is_asked_to_end_hands_its_rooms_over_at_once() {
    let mut host = Host::configured(Duration::ZERO);
    host.open(1);
    host.stop();
    assert_eq!(
        host.poll(),
        [
            HostOutput::World(HostMessage::HandingOver),
            HostOutput::Room(ROOM, RoomTask::HandOver),
            HostOutput::End(HostEnding::HandedOver),
        ]
    );
    // Messages that the rooms send now are passed on until the link is closed.
    let last = HostMessage::Snapshot(ROOM, RoomSnapshot::default());
    host.core.handle_room_message(last.clone());
    assert_eq!(host.poll(), [HostOutput::World(last.clone())]);
    host.core.disconnect();
    host.core.handle_room_message(last);
    assert_eq!(host.poll(), []);
}

#[test]
fn a_world_server_that_ends_has_all_rooms_handed_over() {
    let mut host = Host::configured(Duration::ZERO);
    host.open(1);
    host.order(WorldOrder::HandOver);
    assert_eq!(
        host.poll(),
        [
            HostOutput::World(HostMessage::HandingOver),
            HostOutput::Room(ROOM, RoomTask::HandOver),
            HostOutput::End(HostEnding::HandedOver),
        ]
    );
}

#[test]
fn a_room_that_is_to_move_stays_until_the_world_server_has_taken_it() {
    let mut host = Host::configured(Duration::ZERO);
    host.open(1);
    host.order(WorldOrder::Room(ROOM, RoomOrder::Move));
    assert_eq!(host.poll(), [HostOutput::Room(ROOM, RoomOrder::Move.into())]);
    host.core.handle_room_message(HostMessage::RoomHandedOver(ROOM));
    assert_eq!(host.poll(), [HostOutput::World(HostMessage::RoomHandedOver(ROOM))]);
    assert!(host.core.has_room(ROOM));
    host.order(WorldOrder::RoomTaken(ROOM));
    assert_eq!(host.poll(), [HostOutput::Room(ROOM, RoomTask::HandOver)]);
    assert!(!host.core.has_room(ROOM));
    // It may come back.
    host.order(WorldOrder::RoomTaken(ROOM));
    assert_eq!(host.poll(), []);
    host.open(3);
    assert!(host.core.has_room(ROOM));
}

#[test]
fn a_remote_host_hands_over_only_to_a_live_world_server() {
    let mut host = Host::configured(LEASE);
    host.open(1);
    host.stop();
    let heartbeat = match &host.poll()[..] {
        [HostOutput::World(HostMessage::Heartbeat(number))] => *number,
        other => panic!("{other:?}"),
    };
    host.order(acknowledge(heartbeat - 1));
    assert_eq!(host.poll(), [], "the answer is to an earlier heartbeat");
    // The link is lost. The next WorldServer must take over the rooms first.
    host.lose_link();
    host.connect();
    host.poll();
    host.configure(LEASE);
    let heartbeat = host.poll().into_iter().find_map(|output| match output {
        HostOutput::World(HostMessage::Heartbeat(number)) => Some(number),
        _ => None,
    });
    host.order(acknowledge(heartbeat.expect("a heartbeat")));
    assert_eq!(
        host.poll(),
        [
            HostOutput::World(HostMessage::HandingOver),
            HostOutput::Room(ROOM, RoomTask::HandOver),
            HostOutput::End(HostEnding::HandedOver),
        ]
    );
}

#[test]
fn a_drained_host_closes_its_rooms_and_takes_no_more_orders() {
    let mut host = Host::configured(Duration::ZERO);
    host.open(1);
    host.order(WorldOrder::Drain);
    assert_eq!(
        host.poll(),
        [
            HostOutput::Room(ROOM, RoomTask::Close(ErrorCode::Draining)),
            HostOutput::End(HostEnding::Drained)
        ]
    );
    host.order(WorldOrder::OpenRoom(assignment(2), None));
    assert_eq!(host.poll(), []);
}

#[test]
fn a_world_server_of_another_version_is_refused() {
    let mut host = Host::new();
    host.connect();
    host.poll();
    host.order(WorldOrder::Configure(HostSettings {
        version: ambit_host_protocol::VERSION + 1,
        ..settings(Duration::ZERO)
    }));
    assert!(matches!(&host.poll()[..], [HostOutput::End(HostEnding::Refused(_))]));
}

#[test]
fn a_new_world_server_has_a_room_from_its_first_entry_after_a_snapshot() {
    let mut host = Host::configured(LEASE);
    host.open(1);
    let entry =
        |number| HostMessage::Journal { room: ROOM, entry: JournalEntry::default(), number };
    let saved_from = |host: &mut Host| {
        let number = |output| match output {
            HostOutput::SavedFrom(ROOM, number) => Some(number),
            _ => None,
        };
        host.poll().into_iter().filter_map(number).collect::<Vec<u64>>()
    };
    host.core.handle_room_message(entry(1));
    assert!(saved_from(&mut host).is_empty(), "it is from its start on");
    host.lose_link();
    host.core.handle_room_message(entry(2));
    host.configure(LEASE);
    assert_eq!(saved_from(&mut host), [u64::MAX]);
    host.core.handle_room_message(entry(3));
    let snapshot = HostMessage::Snapshot(ROOM, RoomSnapshot::default());
    host.core.handle_room_message(snapshot.clone());
    assert!(saved_from(&mut host).is_empty());
    host.core.handle_room_message(entry(4));
    assert_eq!(saved_from(&mut host), [4]);
    for message in [snapshot, entry(5)] {
        host.core.handle_room_message(message);
        assert!(saved_from(&mut host).is_empty());
    }
}

#[test]
fn only_stats_and_heartbeats_are_expendable() {
    let expendable = [HostMessage::Heartbeat(1), HostMessage::Stats(Box::default())];
    assert!(expendable.iter().all(HostMessage::is_expendable));
    let opened = HostMessage::RoomOpened { room: ROOM, error: None };
    assert!(!opened.is_expendable());
}

#[test]
fn a_room_of_any_size_comes_in_pieces_that_fit_into_messages() {
    let entry = |(at, bytes): (u64, usize)| JournalEntry {
        at: GameTime::from_millis(at),
        inputs: vec![at as u8; bytes],
    };
    let small = (1..40).map(|at| (at, 300_000));
    let large = (40..43).map(|at| (at, MAX_TICK_INPUT_BYTES));
    let resume = RoomResume {
        saved: SavedRoom {
            snapshot: RoomSnapshot {
                at: GameTime::ZERO,
                state: (0..20_000_000_u32).map(|byte| byte as u8).collect(),
            },
            journal: small.chain(large).map(entry).collect(),
        },
        ..RoomResume::default()
    };
    let messages = messages_of_order(WorldOrder::OpenRoom(assignment(3), Some(resume.clone())));
    let longest = messages.iter().map(prost::Message::encoded_len).max();
    assert!(longest < Some(MAX_HOST / 2), "{longest:?}");
    assert!(messages.len() > 20, "{}", messages.len());
    let held = messages.iter().map(|message| match &message.body {
        Some(world_to_host::Body::RoomPiece(piece)) => piece.state.capacity(),
        _ => 0,
    });
    assert!(held.sum::<usize>() < 25_000_000, "pieces hold no more than they send");
    let mut host = Host::configured(Duration::ZERO);
    for message in messages {
        host.order(order_of(message).expect("a known order"));
    }
    let [HostOutput::MakeRoom(plan)] = &host.poll()[..] else { panic!("the room is to be made") };
    let (_, restored) = plan.resume.as_ref().expect("it goes on");
    assert!(*restored == resume, "another room");
}

fn acknowledge(number: u64) -> WorldOrder {
    WorldOrder::AcknowledgeHeartbeat { number, lease: LEASE }
}

/// A host core with its time.
struct Host {
    core: HostCore,
    time: HostTime,
    signer: TicketSigner,
}

impl Host {
    fn new() -> Self {
        let profile = HostProfile {
            address: ADDRESS.into(),
            fingerprint: Fingerprint([1; 32]),
            capacity: 2,
            label: String::new(),
            build: String::new(),
            cores: 1,
            instance: [0; 16],
            process: None,
        };
        Host {
            core: HostCore::new(profile),
            time: HostTime { local: LocalTime::from_millis(5_000), ticket_unix_s: 1_000_000 },
            signer: TicketSigner::from_seed(&[7; 32]),
        }
    }

    /// A host that a WorldServer has configured.
    fn configured(lease: Duration) -> Self {
        let mut host = Host::new();
        host.configure(lease);
        host.poll();
        host
    }

    fn configure(&mut self, lease: Duration) {
        if !self.core.is_linked() {
            self.connect();
        }
        self.order(WorldOrder::Configure(settings(lease)));
    }

    fn connect(&mut self) {
        self.core.connect(self.time);
    }

    fn lose_link(&mut self) {
        self.core.handle_link_lost(self.time);
    }

    fn stop(&mut self) {
        self.core.handle_stop(self.time);
    }

    fn order(&mut self, order: WorldOrder) {
        self.core.handle_order(self.time, order);
    }

    fn timeout(&mut self) {
        self.core.handle_timeout(self.time);
    }

    fn made(&mut self, incarnation: u32, made: Result<Option<RoomSnapshot>, Error>) {
        self.core.handle_made(self.time, ROOM, incarnation, made);
    }

    /// Opens the room, which is created at once.
    fn open(&mut self, incarnation: u32) {
        self.order(WorldOrder::OpenRoom(assignment(incarnation), None));
        self.made(incarnation, Ok(None));
        self.poll();
    }

    fn ticket(&self, player: PlayerId, serial: u64) -> Join {
        let ticket = Ticket {
            room: ROOM,
            player,
            name: "ann".into(),
            account: None,
            standing: Standing::default(),
            wishes: Wishes::default(),
            host: ADDRESS.into(),
            expires_unix_s: self.time.ticket_unix_s + 30,
            serial,
            nonce: u128::from(serial * 100 + player.0).to_le_bytes(),
        };
        Join { version: message::VERSION, ticket: self.signer.sign(&ticket), coding: 0 }
    }

    fn join(&mut self, player: PlayerId, serial: u64) -> Result<PlayerId, ErrorCode> {
        let join = self.ticket(player, serial);
        self.admit(&join)
    }

    fn admit(&mut self, join: &Join) -> Result<PlayerId, ErrorCode> {
        let admitted = self.core.admit(self.time, join);
        admitted.map(|admitted| admitted.ticket.player).map_err(|error| error.code())
    }

    fn refusals(&mut self) -> Vec<ErrorCode> {
        let code = |output| match output {
            HostOutput::World(HostMessage::RoomOpened { error, .. }) => {
                error.map(|error| error.code())
            }
            _ => None,
        };
        self.poll().into_iter().filter_map(code).collect()
    }

    fn wait(&mut self, ms: u64) {
        self.time.local += Duration::from_millis(ms);
    }

    fn now(&self) -> LocalTime {
        self.time.local
    }

    fn poll(&mut self) -> Vec<HostOutput> {
        std::iter::from_fn(|| self.core.poll()).collect()
    }
}

/// The settings of a remote host with this lease; with a lease of zero, of a child that is given up
/// after two seconds of silence.
fn settings(lease: Duration) -> HostSettings {
    HostSettings {
        version: ambit_host_protocol::VERSION,
        ticket_key: TicketSigner::from_seed(&[7; 32]).public_key().to_vec(),
        grace_ms: 30_000,
        saves_rooms: true,
        lease,
        silence: if lease.is_zero() { Duration::from_secs(2) } else { Duration::ZERO },
    }
}

fn assignment(incarnation: u32) -> RoomAssignment {
    RoomAssignment {
        room: ROOM,
        game: "field".into(),
        capacity: 4,
        incarnation,
        ..RoomAssignment::default()
    }
}
