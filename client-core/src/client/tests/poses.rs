//! Poses, keys, the map and ages, over a real link.

use ambit_proto::map::{StaticBox, StaticMap};
use ambit_proto::message::{EffectTime, EventValue, Notice, Record, Uplink};
use ambit_proto::pose::{
    AckedSet, BaselineMode, Level, Pose, PoseFormat, SectionHeader, SectionWriter, code,
};
use ambit_proto::schema::Component;

use super::super::*;
use super::scene::*;
use crate::replica::jitter_buffer::RenderTiming;

const WALKER: u8 = 2;
const UP: Keymap = Keymap(0b100);
const TICK: Duration = Duration::from_millis(50);

#[test]
fn a_walker_is_shown_on_its_way_from_pose_to_pose() {
    let mut scene = Scene::playing();
    let mut walkers = Walkers::enter(&mut scene);
    for step in 1..=20 {
        walkers.tick(&mut scene, 5.0 + 0.2 * step as f32);
    }
    let id = walker(&scene);
    let (t, stamp) = (scene.room_time(), walkers.sent[20].1);
    assert_eq!(t, stamp + WAY);
    // The newest pose takes effect a local lag after its stamp.
    assert_near(scene.client.shown_at(id, stamp + LAG), 9.0);
    assert_near(
        scene
            .client
            .shown_at(id, stamp + LAG.saturating_sub(ms(25))),
        8.9,
    );
    assert_near(
        scene.client.position(id, scene.now),
        9.0 - 0.2 * 110.0 / 50.0,
    );
    let stats = scene.client.stats();
    assert_eq!(
        (
            stats.poses,
            stats.updates,
            stats.late_updates,
            stats.lost_tracks
        ),
        (20, 20, 0, 0)
    );
    // The view has not asked for poses.
    assert!(
        !scene
            .events()
            .iter()
            .any(|event| matches!(event, ViewEvent::Update(_)))
    );
    scene.client.watch(true);
    walkers.tick(&mut scene, 9.2);
    assert!(matches!(&scene.events()[..], [ViewEvent::Update(update)] if update.id == id));
}

#[test]
fn a_render_delay_applies_to_poses_and_not_to_timelines() {
    let config = ClientConfig {
        render: RenderTiming::FixedDelay(ms(200)),
        seed: 1,
        ..ClientConfig::default()
    };
    let mut scene = Scene::playing_with(&config);
    let mut walkers = Walkers::enter(&mut scene);
    for step in 1..=20 {
        walkers.tick(&mut scene, 5.0 + 0.2 * step as f32);
    }
    let (id, now) = (walker(&scene), scene.room_time());
    // 200 ms after it arrived: 240 ms after its stamp, and 90 ms after its room time.
    assert_eq!(
        scene.client.shown_time(scene.now),
        Some(now.saturating_sub(ms(90)))
    );
    assert_near(
        scene.client.position(id, scene.now),
        9.0 - 0.2 * 200.0 / 50.0,
    );
    scene.client.watch(true);
    walkers.tick(&mut scene, 9.2);
    let events = scene.events();
    let [ViewEvent::Update(update)] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(update.at, scene.room_time() + ms(200));
    let ComponentValue::Pose { position, .. } = update.components[0].value else {
        panic!("{update:?}")
    };
    assert!((position.x - 9.2).abs() < 0.02);
    let gauge = scene
        .client
        .gauge(
            scene.client.avatar().expect("in sight").id,
            "health",
            scene.now,
        )
        .expect("it has one");
    assert_eq!(gauge.value, 50.0 + 2.0 * 1.25);
}

#[test]
fn a_lost_track_is_sent_until_the_host_knows_and_poses_recover() {
    let mut scene = Scene::playing();
    let mut walkers = Walkers::enter(&mut scene);
    walkers.tick(&mut scene, 5.2);
    // The host uses a baseline that never arrived: it lies before everything that is known.
    let absent = BaselineMode::Old;
    let failed = walkers.tick_as(&mut scene, absent, 5.4);
    assert_eq!(
        (scene.client.stats().lost_tracks, scene.client.stats().poses),
        (1, 1)
    );
    hear(&mut scene);
    let emitted = |scene: &Scene| {
        scene
            .host
            .sent
            .iter()
            .filter_map(|sent| sent.2.missing_baseline)
            .collect::<Vec<_>>()
    };
    assert_eq!(emitted(&scene), [failed as u16]);
    // A host that was notified forgets what it took as known.
    walkers.forget(failed);
    for step in 0..5 {
        walkers.tick(&mut scene, 6.0 + 0.2 * step as f32);
    }
    let stats = scene.client.stats();
    assert_eq!((stats.lost_tracks, stats.poses, stats.malformed), (1, 6, 0));
    assert_near(
        scene.client.shown_at(
            walker(&scene),
            walkers.sent.last().expect("a message was sent").1 + LAG,
        ),
        6.8,
    );
    scene.host.sent.clear();
    scene.pass(ms(500));
    hear(&mut scene);
    assert_eq!(emitted(&scene), [0; 0]);
}

#[test]
fn a_light_client_confirms_everything_and_claims_to_know_no_pose() {
    let run = |light| {
        let mut scene = Scene::playing_with(&ClientConfig {
            light,
            seed: 1,
            ..ClientConfig::default()
        });
        let mut walkers = Walkers::enter(&mut scene);
        for step in 0..40 {
            walkers.tick(&mut scene, 5.0 + 0.2 * step as f32);
        }
        hear(&mut scene);
        scene.client.sample_ages(scene.now);
        let id = walker(&scene);
        let stats = scene.client.stats();
        let shown = scene.client.position(id, scene.now).is_some();
        let acked = scene
            .host
            .link
            .sent_packets()
            .acked_set()
            .expect("something came");
        (
            acked,
            stats.datagrams_up,
            stats.pose_datagrams,
            stats.poses,
            shown,
            stats.lost_tracks,
        )
    };
    let (light, full) = (run(true), run(false));
    assert_eq!((light.0, light.1, light.2), (full.0, full.1, full.2));
    assert_eq!((light.3, light.4, light.5), (0, false, 0));
    assert_eq!((full.3, full.4), (40, true));
}

#[test]
fn held_keys_ride_with_acknowledgements_and_ask_for_none() {
    let mut scene = Scene::playing();
    let mut walkers = Walkers::enter(&mut scene);
    scene.client.input(scene.now, UP);
    for step in 0..40 {
        walkers.tick(&mut scene, 5.0 + 0.2 * step as f32);
    }
    scene.host.sent.clear();
    let before = scene.client.stats().datagrams_up;
    for step in 0..40 {
        walkers.tick(&mut scene, 13.0 + 0.2 * step as f32);
    }
    let sent = scene.client.stats().datagrams_up - before;
    // One a tick: every datagram carries keys. (Now and then a ping is due before the next tick.)
    assert!((38..=44).contains(&sent), "{sent}");
    hear(&mut scene);
    for (left, _, uplink) in &scene.host.sent {
        let input = uplink.input.as_ref().expect("each uplink has an input");
        let left = GameTime::ZERO + ROOM_BEGAN_EARLIER + left.since(LocalTime::ZERO);
        let sent = input.at(left);
        assert!(
            input.keys == UP && sent.since(left).max(left.since(sent)) <= ms(2),
            "{sent:?} at {left:?}"
        );
    }
    let (newest, _) = scene
        .host
        .link
        .sent_packets()
        .acked_set()
        .expect("something came");
    assert_eq!(scene.host.link.next_number() - newest, 1);
}

#[test]
fn a_release_is_sent_until_it_is_confirmed() {
    let mut scene = Scene::playing();
    scene.client.input(scene.now, UP);
    scene.pass(ms(100));
    scene.client.release(scene.now);
    scene.pass(ms(150));
    let held = |scene: &Scene| {
        scene
            .host
            .sent
            .last()
            .and_then(|sent| sent.2.input.as_ref())
            .map(|input| input.keys)
    };
    scene.send(&[]);
    assert_eq!(held(&scene), Some(Keymap(0)));
    hear(&mut scene);
    scene.host.sent.clear();
    scene.pass(ms(1_000));
    hear(&mut scene);
    let held = scene
        .host
        .sent
        .iter()
        .filter_map(|sent| sent.2.input.as_ref())
        .map(|input| input.keys);
    assert_eq!(held.collect::<Vec<_>>(), []);
}

#[test]
fn key_changes_are_sent_until_confirmed_and_effects_become_known() {
    let mut scene = Scene::playing();
    scene.send(&[enter(0, scene.room_time(), 1.0)]);
    scene.client.input(scene.now, UP);
    scene.client.input(scene.now, Keymap(0));
    scene.pass(ms(60));
    let own: Vec<_> = scene.client.own_inputs().collect();
    assert_eq!(
        own.iter()
            .map(|input| (input.keys, input.is_confirmed))
            .collect::<Vec<_>>(),
        [(UP, false), (Keymap(0), false)]
    );
    // One-way delay, up to a tick, and the local lag.
    let waits = own[0].effect.since(own[0].at);
    assert!((WAY + LAG..=WAY + LAG + TICK).contains(&waits), "{waits:?}");
    hear(&mut scene);
    let emitted = |scene: &Scene| -> Vec<_> {
        let input = |sent: &(_, _, Uplink)| sent.2.input.clone().expect("each uplink has an input");
        scene
            .host
            .sent
            .iter()
            .map(|sent| input(sent).samples(own[0].at).count() - 1)
            .collect()
    };
    assert_eq!(emitted(&scene)[..2], [1, 2]);
    assert!(
        emitted(&scene).len() > 2 && emitted(&scene)[2..].iter().all(|&changes| changes == 2),
        "{:?}",
        emitted(&scene)
    );
    let effect = EffectTime {
        sampled_until: own[1].at,
        takes_effect_at: (scene.room_time() + LAG).whole_millis(),
    };
    scene.send(&[Record::Effects(vec![effect])]);
    let known: Vec<_> = scene
        .client
        .own_inputs()
        .map(|input| (input.effect, input.is_confirmed))
        .collect();
    assert_eq!(known, [(effect.takes_effect_at, true); 2]);
    scene.host.sent.clear();
    scene.pass(ms(200));
    hear(&mut scene);
    assert_eq!(emitted(&scene).last(), Some(&0));
}

#[test]
fn ages_count_by_class_from_the_newest_data_of_each_object() {
    let mut scene = Scene::playing();
    let now = scene.room_time();
    let far = enter_walker(1, now, 90.0);
    let near = enter_walker(2, now, 8.0);
    let foe = enter_walker(3, now, 80.0);
    scene.send(&[enter(0, now, 5.0), far, near, foe]);
    scene.pass(ms(200));
    let strike = strike(3, 0, scene.room_time());
    scene.notice(strike);
    let moved = scene.write_with(&[], |number, stamp| {
        let poses = [
            (1, pose_at(90.0, 1.0)),
            (2, pose_at(8.0, 1.0)),
            (3, pose_at(80.0, 1.0)),
        ];
        absolute(number, stamp, &poses)
    });
    scene.deliver(&moved);
    scene.pass(ms(50));
    let stamp = scene.room_time().saturating_sub(WAY);
    let near_alone = scene.write_with(&[], |number, stamp| {
        absolute(number, stamp, &[(2, pose_at(8.1, 1.0))])
    });
    scene.deliver(&near_alone);
    scene.pass(ms(150));
    scene.client.sample_ages(scene.now);
    let ages = scene.client.stats().ages;
    let newest = scene.room_time().since(stamp).as_millis() as u64;
    assert_eq!(
        (ages.near.count(), ages.far.count(), ages.engaged.count()),
        (1, 1, 2)
    );
    assert_close(ages.near.quantile_ms(0.5), newest);
    assert_close(ages.far.quantile_ms(0.5), newest + 50);
    // The player's own avatar is at rest: silence means that it has not changed. The foe moves.
    assert_close(ages.engaged.quantile_ms(0.5), newest);
    assert_close(ages.engaged.quantile_ms(1.0), newest + 50);
}

#[test]
fn the_map_arrives_during_the_game_and_progress_is_reported() {
    let mut scene = Scene::playing();
    let centre = |n: usize| Position::on_ground(n as f32, 5.0);
    let boxes = (0..1_000)
        .map(|n| StaticBox {
            centre: centre(n),
            half: [1.0, 2.0, 0.5],
        })
        .collect();
    let map = StaticMap { boxes };
    let block = map.encode();
    let now = scene.room_time().saturating_sub(WAY).into();
    scene
        .host
        .link
        .send_block(now, block.clone().into())
        .expect("room");
    let (mut emitted, mut progress) = (None, Vec::new());
    for _ in 0..400 {
        scene.pass(ms(10));
        scene.send(&[]);
        for event in scene.events() {
            match event {
                ViewEvent::Map { map, bytes, .. } => emitted = Some((map, bytes)),
                ViewEvent::MapProgress {
                    received, total, ..
                } => progress.push((received, total)),
                other => panic!("{other:?}"),
            }
        }
    }
    let (shown, bytes) = emitted.expect("it has come in");
    assert_eq!(
        (&*shown, bytes, scene.client.map()),
        (&map, block.len(), Some(&shown))
    );
    assert!(
        progress.is_sorted_by(|a, b| a.0 < b.0) && progress.len() > 3,
        "{progress:?}"
    );
    assert!(progress.iter().all(|(received, total)| received <= total));
}

#[test]
fn an_invalid_map_is_counted_and_ignored() {
    let mut scene = Scene::playing();
    let now = scene.room_time().saturating_sub(WAY).into();
    scene
        .host
        .link
        .send_block(now, vec![0xff; 100].into())
        .expect("room");
    for _ in 0..20 {
        scene.pass(ms(50));
        scene.send(&[]);
    }
    assert_eq!(
        (scene.client.stats().malformed, scene.client.map()),
        (1, None)
    );
}

fn assert_close(age: Option<u64>, expected: u64) {
    let age = age.expect("sampled");
    assert!(age.abs_diff(expected) <= 2, "{age} ms, not {expected}");
}

fn assert_near(position: Option<Position>, x: f32) {
    let position = position.expect("known");
    assert!((position.x - x).abs() < 0.02, "{position:?}, not {x}");
}

/// Delivers everything that has left the client to the host.
fn hear(scene: &mut Scene) {
    scene.pass(2 * WAY + ms(50));
    let then = scene.now.saturating_sub(WAY);
    scene.host.receive(then);
}

fn enter_walker(slot: u16, at: GameTime, x: f32) -> Record {
    let components = vec![(0, Component::Pose(pose_at(x, 0.0)))];
    Record::Enter {
        alias: alias(slot),
        kind: WALKER,
        at,
        own: false,
        components,
    }
}

fn pose_at(x: f32, speed: f32) -> Pose {
    format().pose(Position::on_ground(x, 1.0), 0.0, speed)
}

fn format() -> PoseFormat {
    *schema().kinds[usize::from(WALKER)]
        .pose_format()
        .expect("walkers have poses")
}

/// A pose section without baselines.
fn absolute(number: u64, stamp: GameTime, poses: &[(u16, Pose)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer =
        SectionWriter::new(&mut bytes, &SectionHeader::new(Level::Shared, number, None));
    for (slot, pose) in poses {
        writer.write_shared(
            *slot,
            BaselineMode::Absolute,
            &code(&format(), None, stamp, pose),
        );
    }
    writer.finish();
    bytes
}

fn strike(by: u16, whom: u16, effect: GameTime) -> Notice {
    let fields = [by, whom].map(|slot| EventValue::Object(Some(alias(slot))));
    Notice::Event {
        kind: 1,
        effect: effect.whole_millis(),
        fields: fields.into(),
    }
}

/// A host with one walker, and the poses that it takes as known to the client.
struct Walkers {
    /// Datagram number and stamp of each pose; the first is that of the `Enter`.
    sent: Vec<(u64, GameTime, Pose)>,
    /// Poses up to this datagram are no baselines.
    worthless: Option<u64>,
}

impl Walkers {
    /// The walker comes into sight at x = 5, beside the avatar.
    fn enter(scene: &mut Scene) -> Self {
        let at = scene.room_time();
        let (number, stamp) = (scene.host.link.next_number(), at.saturating_sub(WAY));
        scene.send(&[enter(0, at, 1.0), enter_walker(1, at, 5.0)]);
        scene.pass(ms(200));
        scene.events();
        Walkers {
            sent: vec![(number, stamp, pose_at(5.0, 0.0))],
            worthless: None,
        }
    }

    /// The next tick: the walker is at `x`.
    fn tick(&mut self, scene: &mut Scene, x: f32) -> u64 {
        let then = (scene.now + TICK).saturating_sub(WAY);
        scene.pass(TICK);
        scene.host.receive(then);
        let mode = if self.base(self.acked(scene)).is_some() {
            BaselineMode::Window
        } else {
            BaselineMode::Absolute
        };
        self.write(scene, mode, x)
    }

    /// The same, with the given mode and baseline.
    fn tick_as(&mut self, scene: &mut Scene, mode: BaselineMode, x: f32) -> u64 {
        scene.pass(TICK);
        self.write(scene, mode, x)
    }

    fn write(&mut self, scene: &mut Scene, mode: BaselineMode, x: f32) -> u64 {
        let (acked, pose) = (self.acked(scene), pose_at(x, 4.0));
        let base = self
            .base(acked)
            .filter(|_| mode != BaselineMode::Absolute)
            .copied();
        let sent = &mut self.sent;
        let datagram = scene.write_with(&[], |number, stamp| {
            let mut bytes = Vec::new();
            let mut writer = SectionWriter::new(
                &mut bytes,
                &SectionHeader::new(Level::Shared, number, acked),
            );
            let base = base.as_ref().map(|(_, stamp, pose)| (*stamp, pose));
            writer.write_shared(1, mode, &code(&format(), base, stamp, &pose));
            writer.finish();
            sent.push((number, stamp, pose));
            bytes
        });
        scene.deliver(&datagram);
        self.sent.last().expect("just sent").0
    }

    /// The client has lost track at this datagram.
    fn forget(&mut self, number: u64) {
        self.worthless = Some(number);
    }

    fn acked(&self, scene: &Scene) -> Option<AckedSet> {
        let (newest, mask) = scene.host.link.sent_packets().acked_set()?;
        let acked = AckedSet { newest, mask };
        self.worthless
            .map_or(Some(acked), |number| acked.after(number))
    }

    fn base(&self, acked: Option<AckedSet>) -> Option<&(u64, GameTime, Pose)> {
        self.sent
            .iter()
            .rev()
            .find(|sent| acked.is_some_and(|acked| acked.contains(sent.0)))
    }
}

/// The client's id of the walker.
fn walker(scene: &Scene) -> u32 {
    scene
        .client
        .objects()
        .find(|object| !object.is_own())
        .expect("in sight")
        .id
}
