//! Poses, keys, the map and ages, over a real link.

use ambit_proto::control::world::client_to_world::Body as LobbyRequestBody;
use ambit_proto::control::world::world_to_client::Body as LobbyMessageBody;
use ambit_proto::map::{StaticMap, StaticObstacle};
use ambit_proto::message::{
    EffectTime, FieldValue, Notice, PlainPose, Record, Uplink, end_plain_poses,
};
use ambit_proto::pose::{
    AckedSet, BaselineMode, Level, Pose, PoseCoding, PoseFormat, SectionHeader, SectionWriter, code,
};
use ambit_proto::schema::Component;
use ambit_proto::wire::Writer;

use super::super::event::{ComponentValue, GameEvent};
use super::super::*;
use super::harness::*;
use crate::replica::PoseDecoding;
use crate::replica::jitter_buffer::RenderTiming;

const WALKER: u8 = 2;
const UP: Keymap = Keymap(0b100);
const TICK: Duration = Duration::from_millis(50);

#[test]
fn a_walker_is_interpolated_between_its_poses() {
    let mut harness = ClientHarness::playing();
    let mut walkers = Walkers::enter(&mut harness);
    for step in 1..=20 {
        walkers.tick(&mut harness, 5.0 + 0.2 * step as f32);
    }
    let id = walker(&harness);
    let t = harness.room_time();
    let stamp = walkers.sent[20].1;
    assert_eq!(t, stamp + ONE_WAY_DELAY);
    // The newest pose takes effect one local lag after its stamp.
    assert_near(harness.client.shown_at(id, stamp + LOCAL_LAG), 9.0);
    assert_near(harness.client.shown_at(id, stamp + LOCAL_LAG.saturating_sub(ms(25))), 8.9);
    assert_near(harness.client.position(id, harness.now), 9.0 - 0.2 * 110.0 / 50.0);
    let stats = harness.client.stats();
    assert_eq!((stats.poses, stats.updates, stats.late_updates, stats.lost_tracks), (20, 20, 0, 0));
    // The view has not subscribed to poses.
    assert!(
        !harness
            .events()
            .iter()
            .any(|event| matches!(event, ViewEvent::Game(GameEvent::Update(_))))
    );
    harness.client.watch(true);
    walkers.tick(&mut harness, 9.2);
    assert!(matches!(
        &harness.events()[..],
        [ViewEvent::Game(GameEvent::Update(update))] if update.id == id
    ));
}

#[test]
fn a_render_delay_applies_to_poses_and_not_to_timelines() {
    let config = ClientConfig {
        render: RenderTiming::FixedDelay(ms(200)),
        seed: 1,
        ..ClientConfig::default()
    };
    let mut harness = ClientHarness::playing_with(&config);
    let mut walkers = Walkers::enter(&mut harness);
    for step in 1..=20 {
        walkers.tick(&mut harness, 5.0 + 0.2 * step as f32);
    }
    let id = walker(&harness);
    let now = harness.room_time();
    // 200 ms after it arrived: 240 ms after its stamp, and 90 ms after its room time.
    assert_eq!(harness.client.shown_time(harness.now), Some(now.saturating_sub(ms(90))));
    assert_near(harness.client.position(id, harness.now), 9.0 - 0.2 * 200.0 / 50.0);
    harness.client.watch(true);
    walkers.tick(&mut harness, 9.2);
    let events = harness.events();
    let [ViewEvent::Game(GameEvent::Update(update))] = &events[..] else { panic!("{events:?}") };
    assert_eq!(update.at, harness.room_time() + ms(200));
    let ComponentValue::Pose { position, .. } = update.components[0].value else {
        panic!("{update:?}")
    };
    assert!((position.x - 9.2).abs() < 0.02);
    let gauge = harness
        .client
        .gauge(harness.client.avatar().expect("in sight").id, "health", harness.now)
        .expect("the avatar has a gauge");
    assert_eq!(gauge.value, 50.0 + 2.0 * 1.25);
}

#[test]
fn a_lost_track_is_sent_until_the_host_knows_and_poses_recover() {
    let mut harness = ClientHarness::playing();
    let mut walkers = Walkers::enter(&mut harness);
    walkers.tick(&mut harness, 5.2);
    // The host uses a baseline that never arrived and is older than all known poses.
    let mode = BaselineMode::Old;
    let failed = walkers.tick_as(&mut harness, mode, 5.4);
    assert_eq!((harness.client.stats().lost_tracks, harness.client.stats().poses), (1, 1));
    deliver_to_host(&mut harness);
    let emitted = |harness: &ClientHarness| {
        harness.host.sent.iter().filter_map(|sent| sent.2.lost_track).collect::<Vec<_>>()
    };
    assert_eq!(emitted(&harness), [failed as u16]);
    // After the notice the host uses none of the earlier poses as a baseline.
    walkers.mark_lost_track(failed);
    for step in 0..5 {
        walkers.tick(&mut harness, 6.0 + 0.2 * step as f32);
    }
    let stats = harness.client.stats();
    assert_eq!((stats.lost_tracks, stats.poses, stats.malformed), (1, 6, 0));
    assert_near(
        harness.client.shown_at(
            walker(&harness),
            walkers.sent.last().expect("a message was sent").1 + LOCAL_LAG,
        ),
        6.8,
    );
    harness.host.sent.clear();
    harness.advance(ms(500));
    deliver_to_host(&mut harness);
    assert_eq!(emitted(&harness), [0; 0]);
}

#[test]
fn a_client_asks_for_plain_poses_at_each_join_and_reads_them() {
    let mut harness = ClientHarness::playing_with(&ClientConfig {
        coding: PoseCoding::Plain,
        seed: 1,
        ..ClientConfig::default()
    });
    for id in [2, 4].map(ClientObjectId) {
        assert_eq!(harness.asked_coding, 1);
        Walkers::enter(&mut harness);
        for x in [6.0, 7.0] {
            harness.advance(TICK);
            let datagram = harness.write_with(&[], |_, _| plain(1, pose_at(x, 4.0)));
            harness.deliver(&datagram);
        }
        assert_eq!(walker(&harness), id);
        let shown = harness.room_time() + LOCAL_LAG.saturating_sub(ONE_WAY_DELAY);
        assert_near(harness.client.shown_at(id, shown), 7.0);
        // The host is notified, since it sends the pose of an object at rest only once.
        let number = harness.host.link.next_number();
        let unreadable = harness.write_with(&[], |_, _| vec![1]);
        harness.deliver(&unreadable);
        deliver_to_host(&mut harness);
        let sent = harness.host.sent.iter();
        let reports: Vec<u16> = sent.filter_map(|sent| sent.2.lost_track).collect();
        assert_eq!(reports, [number as u16]);
        harness.break_game_connection();
        // The pauses grow.
        let mut requests = (0..10).filter_map(|_| {
            harness.advance(ms(200));
            harness.next_request()
        });
        let Some((number, LobbyRequestBody::RequestTicket(_))) = requests.next() else {
            panic!("expected a request for a ticket")
        };
        harness.send_lobby_message(number, LobbyMessageBody::Ticket(ticket(ROOM)));
        harness.asked_coding = -1;
        harness.join_game();
        harness.events();
    }
    assert_eq!(harness.client.stats().poses, 4);
}

#[test]
fn a_light_client_acknowledges_datagrams_but_knows_no_poses() {
    let run = |pose_decoding| {
        let mut harness = ClientHarness::playing_with(&ClientConfig {
            pose_decoding,
            seed: 1,
            ..ClientConfig::default()
        });
        let mut walkers = Walkers::enter(&mut harness);
        for step in 0..40 {
            walkers.tick(&mut harness, 5.0 + 0.2 * step as f32);
        }
        deliver_to_host(&mut harness);
        harness.client.sample_ages(harness.now);
        let id = walker(&harness);
        let stats = harness.client.stats();
        let shown = harness.client.position(id, harness.now).is_some();
        let acked = harness.host.link.sent_packets().acked_set().expect("a datagram was received");
        (acked, stats.datagrams_up, stats.pose_datagrams, stats.poses, shown, stats.lost_tracks)
    };
    let light = run(PoseDecoding::Light);
    let full = run(PoseDecoding::Full);
    assert_eq!((light.0, light.1, light.2), (full.0, full.1, full.2));
    assert_eq!((light.3, light.4, light.5), (0, false, 0));
    assert_eq!((full.3, full.4), (40, true));
}

#[test]
fn held_keys_are_sent_with_acknowledgements_and_request_none() {
    let mut harness = ClientHarness::playing();
    let mut walkers = Walkers::enter(&mut harness);
    harness.client.input(harness.now, UP);
    for step in 0..40 {
        walkers.tick(&mut harness, 5.0 + 0.2 * step as f32);
    }
    harness.host.sent.clear();
    let before = harness.client.stats().datagrams_up;
    for step in 0..40 {
        walkers.tick(&mut harness, 13.0 + 0.2 * step as f32);
    }
    let sent = harness.client.stats().datagrams_up - before;
    // One datagram a tick, each with the keys. (Sometimes a ping is due before the next tick.)
    assert!((38..=44).contains(&sent), "{sent}");
    deliver_to_host(&mut harness);
    for (sent_at, _, uplink) in &harness.host.sent {
        let input = uplink.input.as_ref().expect("each uplink has an input");
        let sent_at = GameTime::ZERO + ROOM_CLOCK_OFFSET + sent_at.since(LocalTime::ZERO);
        let sent = input.at(sent_at);
        assert!(
            input.keys == UP && sent.since(sent_at).max(sent_at.since(sent)) <= ms(2),
            "{sent:?} at {sent_at:?}"
        );
    }
    let (newest, _) =
        harness.host.link.sent_packets().acked_set().expect("a datagram was received");
    assert_eq!(harness.host.link.next_number() - newest, 1);
}

#[test]
fn a_release_is_sent_until_it_is_confirmed() {
    let mut harness = ClientHarness::playing();
    harness.client.input(harness.now, UP);
    harness.advance(ms(100));
    harness.client.release(harness.now);
    harness.advance(ms(150));
    let held = |harness: &ClientHarness| {
        harness.host.sent.last().and_then(|sent| sent.2.input.as_ref()).map(|input| input.keys)
    };
    harness.send(&[]);
    assert_eq!(held(&harness), Some(Keymap(0)));
    deliver_to_host(&mut harness);
    harness.host.sent.clear();
    harness.advance(ms(1_000));
    deliver_to_host(&mut harness);
    let held =
        harness.host.sent.iter().filter_map(|sent| sent.2.input.as_ref()).map(|input| input.keys);
    assert_eq!(held.collect::<Vec<_>>(), []);
}

#[test]
fn key_changes_are_sent_until_confirmed_and_effects_become_known() {
    let mut harness = ClientHarness::playing();
    harness.send(&[enter(0, harness.room_time(), 1.0)]);
    harness.client.input(harness.now, UP);
    harness.client.input(harness.now, Keymap(0));
    harness.advance(ms(60));
    let own: Vec<_> = harness.client.own_inputs().collect();
    assert_eq!(
        own.iter().map(|input| (input.keys, input.is_confirmed)).collect::<Vec<_>>(),
        [(UP, false), (Keymap(0), false)]
    );
    // The one-way delay, at most a tick, and the local lag.
    let waits = own[0].effect.since(own[0].at);
    assert!(
        (ONE_WAY_DELAY + LOCAL_LAG..=ONE_WAY_DELAY + LOCAL_LAG + TICK).contains(&waits),
        "{waits:?}"
    );
    deliver_to_host(&mut harness);
    let emitted = |harness: &ClientHarness| -> Vec<_> {
        let input = |sent: &(_, _, Uplink)| sent.2.input.clone().expect("each uplink has an input");
        harness.host.sent.iter().map(|sent| input(sent).samples(own[0].at).count() - 1).collect()
    };
    assert_eq!(emitted(&harness)[..2], [1, 2]);
    assert!(
        emitted(&harness).len() > 2 && emitted(&harness)[2..].iter().all(|&changes| changes == 2),
        "{:?}",
        emitted(&harness)
    );
    let effect = EffectTime {
        sampled_until: own[1].at,
        takes_effect_at: (harness.room_time() + LOCAL_LAG).whole_millis(),
    };
    harness.send(&[Record::InputEffects(vec![effect])]);
    let known: Vec<_> =
        harness.client.own_inputs().map(|input| (input.effect, input.is_confirmed)).collect();
    assert_eq!(known, [(effect.takes_effect_at, true); 2]);
    harness.host.sent.clear();
    harness.advance(ms(200));
    deliver_to_host(&mut harness);
    assert_eq!(emitted(&harness).last(), Some(&0));
}

#[test]
fn ages_count_by_class_from_the_newest_data_of_each_object() {
    let mut harness = ClientHarness::playing();
    let now = harness.room_time();
    let far = enter_walker(1, now, 90.0);
    let near = enter_walker(2, now, 8.0);
    let foe = enter_walker(3, now, 80.0);
    harness.send(&[enter(0, now, 5.0), far, near, foe]);
    harness.advance(ms(200));
    let strike = strike_event(3, 0, harness.room_time());
    harness.send_notice(strike);
    let moved = harness.write_with(&[], |number, stamp| {
        let poses = [(1, pose_at(90.0, 1.0)), (2, pose_at(8.0, 1.0)), (3, pose_at(80.0, 1.0))];
        absolute(number, stamp, &poses)
    });
    harness.deliver(&moved);
    harness.advance(ms(50));
    let stamp = harness.room_time().saturating_sub(ONE_WAY_DELAY);
    let near_alone =
        harness.write_with(&[], |number, stamp| absolute(number, stamp, &[(2, pose_at(8.1, 1.0))]));
    harness.deliver(&near_alone);
    harness.advance(ms(150));
    harness.client.sample_ages(harness.now);
    let ages = harness.client.stats().ages;
    let newest = harness.room_time().since(stamp).as_millis() as u64;
    assert_eq!((ages.near.count(), ages.far.count(), ages.engaged.count()), (1, 1, 2));
    assert_close(ages.near.quantile_ms(0.5), newest);
    assert_close(ages.far.quantile_ms(0.5), newest + 50);
    // The own avatar is at rest: without new data it is unchanged. The foe moves.
    assert_close(ages.engaged.quantile_ms(0.5), newest);
    assert_close(ages.engaged.quantile_ms(1.0), newest + 50);
}

#[test]
fn the_map_arrives_during_the_game_and_progress_is_reported() {
    let mut harness = ClientHarness::playing();
    let centre = |n: usize| Position::on_ground(n as f32, 5.0);
    let wall = |n| StaticObstacle::new_box(centre(n), [1.0, 2.0, 0.5], 0.0);
    let map = StaticMap { obstacles: (0..1_000).map(wall).collect() };
    let block = map.encode();
    let now = harness.room_time().saturating_sub(ONE_WAY_DELAY).into();
    harness.host.link.send_block(now, block.clone().into()).expect("the queue is not full");
    let mut emitted = None;
    let mut progress = Vec::new();
    for _ in 0..400 {
        harness.advance(ms(10));
        harness.send(&[]);
        for event in harness.events() {
            match event {
                ViewEvent::Game(GameEvent::Map { map, bytes, .. }) => emitted = Some((map, bytes)),
                ViewEvent::Game(GameEvent::MapProgress { received, total, .. }) => {
                    progress.push((received, total));
                }
                other => panic!("{other:?}"),
            }
        }
    }
    let (shown, bytes) = emitted.expect("the map has arrived");
    assert_eq!((&*shown, bytes, harness.client.map()), (&map, block.len(), Some(&shown)));
    assert!(progress.is_sorted_by(|a, b| a.0 < b.0) && progress.len() > 3, "{progress:?}");
    assert!(progress.iter().all(|(received, total)| received <= total));
}

#[test]
fn an_invalid_map_is_counted_and_ignored() {
    let mut harness = ClientHarness::playing();
    let now = harness.room_time().saturating_sub(ONE_WAY_DELAY).into();
    harness.host.link.send_block(now, vec![0xff; 100].into()).expect("the queue is not full");
    for _ in 0..20 {
        harness.advance(ms(50));
        harness.send(&[]);
    }
    assert_eq!((harness.client.stats().malformed, harness.client.map()), (1, None));
}

fn assert_close(age: Option<u64>, expected: u64) {
    let age = age.expect("sampled");
    assert!(age.abs_diff(expected) <= 2, "{age} ms, not {expected}");
}

fn assert_near(position: Option<Position>, x: f32) {
    let position = position.expect("known");
    assert!((position.x - x).abs() < 0.02, "{position:?}, not {x}");
}

/// Delivers all datagrams of the client to the host.
fn deliver_to_host(harness: &mut ClientHarness) {
    harness.advance(2 * ONE_WAY_DELAY + ms(50));
    let then = harness.now.saturating_sub(ONE_WAY_DELAY);
    harness.host.receive(then);
}

fn enter_walker(slot: u16, at: GameTime, x: f32) -> Record {
    let components = vec![(0, Component::Pose(pose_at(x, 0.0)))];
    Record::Enter { alias: alias(slot), kind: WALKER, at, own: false, components }
}

fn pose_at(x: f32, speed: f32) -> Pose {
    format().pose(Position::on_ground(x, 1.0), 0.0, speed)
}

fn format() -> PoseFormat {
    *schema().kinds[usize::from(WALKER)].pose_format().expect("walkers have poses")
}

/// A pose section without baselines.
fn absolute(number: u64, stamp: GameTime, poses: &[(u16, Pose)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer =
        SectionWriter::new(&mut bytes, &SectionHeader::new(Level::Shared, number, None));
    for (slot, pose) in poses {
        writer.write_shared(*slot, BaselineMode::Absolute, &code(&format(), None, stamp, pose));
    }
    writer.finish();
    bytes
}

/// A section with a whole pose of a walker.
fn plain(slot: u16, pose: Pose) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    let plain = PlainPose { alias: alias(slot), kind: WALKER, pose, jumped_ms: None };
    plain.write(&format(), &mut writer);
    end_plain_poses(writer);
    bytes
}

fn strike_event(by: u16, whom: u16, effect: GameTime) -> Notice {
    let fields = [by, whom].map(|slot| FieldValue::Object(alias(slot)));
    Notice::Event { kind: 1, effect: effect.whole_millis(), fields: fields.into() }
}

/// A host with one walker, and the poses that it uses as baselines.
struct Walkers {
    /// Datagram number and stamp of each pose; the first is that of the `Enter`.
    sent: Vec<(u64, GameTime, Pose)>,
    /// Poses up to this datagram are not used as baselines.
    unusable_until: Option<u64>,
}

impl Walkers {
    /// The walker enters at x = 5, beside the avatar.
    fn enter(harness: &mut ClientHarness) -> Self {
        let at = harness.room_time();
        let number = harness.host.link.next_number();
        let stamp = at.saturating_sub(ONE_WAY_DELAY);
        harness.send(&[enter(0, at, 1.0), enter_walker(1, at, 5.0)]);
        harness.advance(ms(200));
        harness.events();
        Walkers { sent: vec![(number, stamp, pose_at(5.0, 0.0))], unusable_until: None }
    }

    /// Runs the next tick, with the walker at `x`.
    fn tick(&mut self, harness: &mut ClientHarness, x: f32) -> u64 {
        let then = (harness.now + TICK).saturating_sub(ONE_WAY_DELAY);
        harness.advance(TICK);
        harness.host.receive(then);
        let mode = if self.baseline(self.acked(harness)).is_some() {
            BaselineMode::Window
        } else {
            BaselineMode::Absolute
        };
        self.write(harness, mode, x)
    }

    /// Runs the next tick with this mode of the baseline.
    fn tick_as(&mut self, harness: &mut ClientHarness, mode: BaselineMode, x: f32) -> u64 {
        harness.advance(TICK);
        self.write(harness, mode, x)
    }

    fn write(&mut self, harness: &mut ClientHarness, mode: BaselineMode, x: f32) -> u64 {
        let acked = self.acked(harness);
        let pose = pose_at(x, 4.0);
        let baseline = self.baseline(acked).filter(|_| mode != BaselineMode::Absolute).copied();
        let sent = &mut self.sent;
        let datagram = harness.write_with(&[], |number, stamp| {
            let mut bytes = Vec::new();
            let mut writer =
                SectionWriter::new(&mut bytes, &SectionHeader::new(Level::Shared, number, acked));
            let baseline = baseline.as_ref().map(|(_, stamp, pose)| (*stamp, pose));
            writer.write_shared(1, mode, &code(&format(), baseline, stamp, &pose));
            writer.finish();
            sent.push((number, stamp, pose));
            bytes
        });
        harness.deliver(&datagram);
        self.sent.last().expect("just sent").0
    }

    /// Records that the client has lost track at this datagram.
    fn mark_lost_track(&mut self, number: u64) {
        self.unusable_until = Some(number);
    }

    fn acked(&self, harness: &ClientHarness) -> Option<AckedSet> {
        let (newest, mask) = harness.host.link.sent_packets().acked_set()?;
        let acked = AckedSet { newest, mask };
        self.unusable_until.map_or(Some(acked), |number| acked.after(number))
    }

    fn baseline(&self, acked: Option<AckedSet>) -> Option<&(u64, GameTime, Pose)> {
        self.sent.iter().rev().find(|sent| acked.is_some_and(|acked| acked.contains(sent.0)))
    }
}

/// The client's id of the walker.
fn walker(harness: &ClientHarness) -> ClientObjectId {
    harness.client.objects().find(|object| !object.is_own()).expect("in sight").id
}
