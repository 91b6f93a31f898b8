//! Hosts on machines that vanish without a packet, beside machines that only pause: on a line with
//! loss and jitter, in simulated time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use ambit_host_core::lease::ServingLease;
use ambit_host_protocol::HEARTBEAT_INTERVAL;
use ambit_host_protocol::messages::WorldOrder;
use ambit_proto::time::LocalTime;

use super::harness::LobbyHarness;
use super::random::RandomSource;
use crate::{HostId, HostSilence, LobbyConfig, Origin};

/// The host's room sends a journal entry after each tick.
const TICK: Duration = Duration::from_millis(50);
const ONE_WAY: Duration = Duration::from_millis(40);
const JITTER_MS: u64 = 20;
const LOSS_PERCENT: u64 = 5;
/// QUIC sends lost data again after 9/8 of the round trip, when it hears of what it sent later:
/// with a packet a tick that is one tick later.
const SENT_AGAIN_AFTER: Duration = Duration::from_millis(2 * 60 * 9 / 8 + 50);
const PAUSE: Duration = Duration::from_millis(300);
/// Each process pauses about this often.
const PAUSE_EVERY_MS: u64 = 20_000;

#[test]
fn no_host_is_given_up_in_fifty_hours_of_loss_jitter_and_pauses() {
    for seed in 1..=5 {
        let mut line = Simulation::new(seed);
        let given_up = line.run(LocalTime::ZERO + Duration::from_hours(10), None);
        assert_eq!(given_up, None, "a host that lives was given up, seed {seed}");
        println!(
            "{} pauses, longest silence {:?}, {} ticks without a lease",
            line.pauses, line.longest_silence, line.ticks_without_lease
        );
        assert!(line.pauses > 3_000 && line.longest_silence > PAUSE * 2);
        let one_in_five_hundred = 10 * 3_600 * 20 / 500;
        assert!(line.ticks_without_lease < one_in_five_hundred);
    }
}

#[test]
fn a_vanished_machine_is_given_up_soon_and_after_its_lease() {
    let mut waits: Vec<Duration> = (0..300).map(time_to_give_up).collect();
    waits.sort_unstable();
    let p50 = waits[150];
    let p99 = waits[297];
    println!("given up after {p50:?} (p50), {p99:?} (p99)");
    assert!(p99 < Duration::from_millis(1_500), "{p99:?}");
}

/// How long after it vanished a machine is given up.
fn time_to_give_up(seed: u64) -> Duration {
    let mut line = Simulation::new(seed);
    let vanishes_at = LocalTime::ZERO + Duration::from_millis(60_000 + seed * 7);
    let end = vanishes_at + Duration::from_secs(5);
    let given_up = line.run(end, Some(vanishes_at)).expect("the machine is given up");
    assert!(given_up > vanishes_at, "it was there");
    assert!(!line.lease.may_serve(given_up), "if it lived it could still serve players");
    given_up.since(vanishes_at)
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A timer of the lobby may be due. Before a message that arrives at the same time, as may
    /// happen after a pause.
    Timer,
    /// A journal entry, or a heartbeat with this number.
    AtServer(Option<u64>),
    AtHost {
        number: u64,
        lease: Duration,
    },
    HostTick,
    HostPauses,
    ServerPauses,
}

/// One direction of a stream: lost packets come later, and hold up those behind them.
#[derive(Default)]
struct Direction {
    last_arrival: LocalTime,
}

impl Direction {
    fn arrival(&mut self, now: LocalTime, random: &mut RandomSource) -> LocalTime {
        let mut sent_at = now;
        while random.chance(LOSS_PERCENT) {
            sent_at += SENT_AGAIN_AFTER;
        }
        let jitter = Duration::from_micros(random.below(JITTER_MS * 1_000));
        self.last_arrival = self.last_arrival.max(sent_at + ONE_WAY + jitter);
        self.last_arrival
    }
}

/// The lobby, a host with its lease, and what is between them.
struct Simulation {
    random: RandomSource,
    events: BinaryHeap<Reverse<(LocalTime, Event)>>,
    lobby: LobbyHarness,
    /// What the shell notes when the host's messages arrive.
    silence: HostSilence,
    lease: ServingLease,
    next_heartbeat: LocalTime,
    to_server: Direction,
    to_host: Direction,
    host_resumes_at: LocalTime,
    server_resumes_at: LocalTime,
    pauses: u32,
    longest_silence: Duration,
    ticks_without_lease: u32,
}

const HOST: HostId = HostId(1);

impl Simulation {
    fn new(seed: u64) -> Self {
        let mut lobby = LobbyHarness::new();
        lobby.reconnecting_host(HOST.0, 9, &[]);
        let mut lease = ServingLease::default();
        let silence = LobbyConfig::default().host_silence;
        lease.configure(lobby.now, silence * 7 / 8, Duration::ZERO);
        let mut simulation = Self {
            random: RandomSource::new(seed),
            events: BinaryHeap::new(),
            silence: lobby.lobby.new_silence(lobby.now, Origin::Remote, &[]),
            next_heartbeat: lobby.now,
            lobby,
            lease,
            to_server: Direction::default(),
            to_host: Direction::default(),
            host_resumes_at: LocalTime::ZERO,
            server_resumes_at: LocalTime::ZERO,
            pauses: 0,
            longest_silence: Duration::ZERO,
            ticks_without_lease: 0,
        };
        for first in [Event::Timer, Event::HostTick, Event::HostPauses, Event::ServerPauses] {
            simulation.schedule(simulation.lobby.now, first);
        }
        simulation
    }

    fn schedule(&mut self, at: LocalTime, event: Event) {
        self.events.push(Reverse((at, event)));
    }

    /// Runs up to `end`. The machine of the host vanishes at the given time. Returns when the lobby
    /// has given the host up.
    fn run(&mut self, end: LocalTime, vanishes_at: Option<LocalTime>) -> Option<LocalTime> {
        while let Some(Reverse((now, event))) = self.events.pop() {
            if now > end {
                break;
            }
            let is_gone = vanishes_at.is_some_and(|at| at <= now);
            let resumes_at = match event {
                Event::Timer | Event::AtServer(_) => self.server_resumes_at,
                Event::HostTick | Event::AtHost { .. } if is_gone => continue,
                Event::HostTick | Event::AtHost { .. } => self.host_resumes_at,
                Event::HostPauses | Event::ServerPauses => now,
            };
            if resumes_at > now {
                self.schedule(resumes_at, event);
                continue;
            }
            match event {
                Event::Timer => {
                    if self.call_lobby(now) {
                        return Some(now);
                    }
                    let next = self.lobby.lobby.next_deadline().expect("a silence timer");
                    self.schedule(next, Event::Timer);
                }
                Event::AtServer(heartbeat) => self.receive(now, heartbeat),
                Event::AtHost { number, lease: length } => {
                    self.lease.acknowledge(now, number, length);
                }
                Event::HostTick => self.tick(now),
                Event::HostPauses => {
                    self.host_resumes_at = now + PAUSE;
                    self.pause_again(now, Event::HostPauses);
                }
                Event::ServerPauses => {
                    self.server_resumes_at = now + PAUSE;
                    self.pause_again(now, Event::ServerPauses);
                }
            }
        }
        None
    }

    /// As the shell does it: tells the lobby what it has noted, then lets its timers come due.
    /// Returns whether the lobby gives the host up.
    fn call_lobby(&mut self, now: LocalTime) -> bool {
        self.lobby.now = now;
        self.lobby.lobby.set_host_silence(HOST, self.silence);
        self.lobby.lobby.handle_timeout(now);
        self.lobby.handle_outputs();
        !self.lobby.take_disconnected_hosts().is_empty()
    }

    fn receive(&mut self, now: LocalTime, heartbeat: Option<u64>) {
        self.longest_silence = self.longest_silence.max(now.since(self.silence.heard_at()));
        self.silence.note_heard(now);
        if let Some(number) = heartbeat {
            let answer = self.silence.acknowledge(number);
            let WorldOrder::AcknowledgeHeartbeat { number, lease } = answer else {
                panic!("{answer:?}")
            };
            let at = self.to_host.arrival(now, &mut self.random);
            self.schedule(at, Event::AtHost { number, lease });
        }
    }

    fn tick(&mut self, now: LocalTime) {
        let has_begun = now.since(LocalTime::ZERO) > Duration::from_secs(1);
        if has_begun && !self.lease.may_serve(now) {
            self.ticks_without_lease += 1;
        }
        let heartbeat = (now >= self.next_heartbeat).then(|| {
            self.next_heartbeat = now + HEARTBEAT_INTERVAL;
            self.lease.next_heartbeat(now)
        });
        let at = self.to_server.arrival(now, &mut self.random);
        self.schedule(at, Event::AtServer(heartbeat));
        self.schedule(now + TICK, Event::HostTick);
    }

    fn pause_again(&mut self, now: LocalTime, event: Event) {
        self.pauses += 1;
        let interval =
            Duration::from_millis(PAUSE_EVERY_MS / 2 + self.random.below(PAUSE_EVERY_MS));
        self.schedule(now + interval, event);
    }
}
