//! What each client of a recorded room was sent, in the core of a client, as the page has it.

use ambit_client_boundary::frame_arrays::{FLAG_OWN, ObjectRow};
use ambit_client_boundary::{ClientView, Output, PolledClient, configure};
use ambit_client_core::client::config::ClientConfig;
use ambit_host::client_views::RecordedViews;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_room::recording::{self, Recording};

use crate::script::{act_randomly, good_network, room_of};

const SEED: u64 = 21;
const PLAYERS: usize = 3;

#[test]
fn a_replay_shows_each_client_what_it_has_seen() {
    let mut rng = fastrand::Rng::with_seed(SEED);
    let parameters = [("size", "80x80"), ("npcs", "10")];
    let (mut system, room) = room_of(SEED, PLAYERS, &good_network(), &parameters);
    let mut seen: Vec<Vec<(GameTime, Vec<ObjectRow>)>> = vec![Vec::new(); PLAYERS];
    let mut views: Vec<ClientView> = (0..PLAYERS).map(|_| ClientView::default()).collect();
    for _ in 0..60 {
        act_randomly(&mut system, &mut rng, PLAYERS, 80.0, 1);
        for (user, (view, seen)) in views.iter_mut().zip(&mut seen).enumerate() {
            system.with_client(user, |client, now| {
                if let Some(at) = view.draw(client, now, now) {
                    seen.push((at, in_sight(view)));
                }
            });
        }
    }
    let (recording, _) = system.recording(room).expect("the room runs");
    let recording = Recording::read(&recording).expect("the room's own");
    let mut views = RecordedViews::new(recording.header.clone());
    let registry = ambit_game_server::standard();
    recording::replay(recording, &registry, |step| views.note(&step)).expect("the room's own");
    assert_eq!((views.views().count(), views.full_at()), (PLAYERS, None));
    for (_, view) in views.views() {
        let number: usize = view.name["player".len()..].parse().expect("a player's name");
        let mut compared = 0;
        let mut replayed = Replayer::new(&view.messages);
        for (at, live) in &seen[number] {
            let again = replayed.draw(*at);
            let ids = |rows: &[ObjectRow]| rows.iter().map(|row| row.id).collect::<Vec<_>>();
            assert_eq!(ids(live), ids(&again), "seed {SEED}: {} at {at:?}", view.name);
            for (live, again) in live.iter().zip(&again) {
                // The live client learns some ms later what will walk soon, and predicts where its
                // own avatar walks.
                let [is_own, own_again] = [live, again].map(|row| row.flags & FLAG_OWN != 0);
                assert_eq!((live.kind, is_own), (again.kind, own_again), "seed {SEED}");
                let apart = distance(live.position, again.position);
                assert!(is_own || apart < 0.05, "seed {SEED}: {live:?}, {again:?}");
                compared += usize::from(!is_own);
            }
        }
        assert!(compared > 200, "seed {SEED}: {compared}");
        // A new one that is fed at once gets there, too.
        let (at, live) = seen[number].last().expect("frames");
        let sought = Replayer::new(&view.messages).draw(*at);
        assert_eq!(sought.len(), live.len());
        // What rests faces as it was drawn on its way.
        let without_facing = |row: &ObjectRow| ObjectRow { rotation: [0.0; 4], ..*row };
        let [sought, played] = [sought, replayed.draw(*at)]
            .map(|rows| rows.iter().map(without_facing).collect::<Vec<_>>());
        assert_eq!(sought, played);
    }
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
}

fn in_sight(view: &ClientView) -> Vec<ObjectRow> {
    let arrays = view.arrays();
    // NaN is not equal to itself.
    let of = |row: &ObjectRow| ObjectRow { age_ms: 0.0, ..*row };
    arrays.objects()[..arrays.in_sight()].iter().map(of).collect()
}

/// As the worker of the page does it: the client's time is the room's.
struct Replayer<'a> {
    client: PolledClient,
    rest: &'a [u8],
    has_begun: bool,
}

impl<'a> Replayer<'a> {
    fn new(messages: &'a [u8]) -> Self {
        let mut config = ClientConfig::default();
        configure(&mut config, r#"{"replay": true}"#).expect("a valid setting");
        let mut client = PolledClient::new(&config);
        client.set_servers(vec!["127.0.0.1:1".to_owned()]);
        Self { client, rest: messages, has_begun: false }
    }

    /// What is in sight at this time.
    fn draw(&mut self, at: GameTime) -> Vec<ObjectRow> {
        while let Some((time, what, message, rest)) = next_message(self.rest) {
            if time > at.micros() {
                break;
            }
            self.rest = rest;
            self.hand_over(LocalTime::from_micros(time), what, message);
        }
        let now = LocalTime::from_micros(at.micros());
        self.run_until(now);
        let shown = self.client.draw(now, now).expect("a game");
        let apart = shown.micros().abs_diff(at.micros());
        assert!(apart < 1_000, "{apart} µs");
        in_sight(self.client.view())
    }

    fn hand_over(&mut self, now: LocalTime, what: u8, message: &[u8]) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.client.connect(now);
            self.client.handle_world_connected(now, "127.0.0.1:1", None);
        }
        self.run_until(now);
        match what {
            0 => self.client.handle_world_bytes(now, message),
            1 => self.client.handle_game_bytes(now, message),
            _ => self.client.handle_datagram(now, message),
        }
        while let Some(output) = self.client.poll_output() {
            match output {
                Output::ConnectGame { .. } => self.client.handle_game_connected(now),
                Output::Datagram(bytes) => panic!("a replay sends nothing: {bytes:?}"),
                _ => {}
            }
        }
        while self.client.poll_event().is_some() {}
    }

    fn run_until(&mut self, now: LocalTime) {
        while let Some(due) = self.client.next_deadline().filter(|due| *due <= now) {
            self.client.handle_timeout(due);
        }
    }
}

fn next_message(bytes: &[u8]) -> Option<(u64, u8, &[u8], &[u8])> {
    let (time, rest) = bytes.split_first_chunk()?;
    let (&what, rest) = rest.split_first()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (message, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((u64::from_le_bytes(*time), what, message, rest))
}
