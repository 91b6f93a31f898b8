//! Pose sections in any order, for slots that are used by several objects.

use std::sync::Arc;
use std::time::Duration;

use ambit_proto::ids::{Alias, ClientObjectId};
use ambit_proto::message::{PlainPose, Record, end_plain_poses};
use ambit_proto::pose::{BaselineMode, Level, PoseCoding, SectionHeader, SectionWriter, code};
use ambit_proto::schema::{Component, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::wire::Writer;

use super::*;
use crate::client::event::{ComponentValue, Facing};

const WALKER: u8 = 2;
const BALL: u8 = 4;
const LOCAL_LAG: Duration = Duration::from_millis(100);
/// The server writes datagram `n` at `50 n` ms.
const TICK_MS: u64 = 50;

#[test]
fn poses_take_effect_after_the_local_lag_and_are_events_if_watched() {
    let mut harness = ReplicaHarness::new(PoseDecoding::Full);
    harness.enter(1, alias(1, 0), WALKER, 5.0);
    let section = harness.section(3, Some(acked(1)), &[(1, WALKER, BaselineMode::Window, 6.0)]);
    assert_eq!((section.applied, section.shown, section.late), (1, 1, 0));
    assert_eq!(harness.emitted(), ["enter 1 at 5"]);
    for (t, x) in [(150, 5.0), (200, 5.5), (250, 6.0), (999, 6.0)] {
        assert_eq!(harness.shown_x(1, t), Some(x), "at {t}");
    }
    harness.replica.watch(true);
    harness.section(4, Some(acked(3)), &[(1, WALKER, BaselineMode::Window, 7.0)]);
    assert_eq!(harness.emitted(), ["update 1 to 7 at 300"]);
}

#[test]
fn a_pose_whose_time_has_come_is_late_if_something_else_was_shown() {
    let mut harness = ReplicaHarness::new(PoseDecoding::Full);
    harness.enter(1, alias(1, 0), WALKER, 5.0);
    harness.now = 160;
    assert_eq!(
        harness.section(2, Some(acked(1)), &[(1, WALKER, BaselineMode::Window, 5.0)]).late,
        0
    );
    harness.now = 260;
    assert_eq!(
        harness.section(3, Some(acked(2)), &[(1, WALKER, BaselineMode::Window, 5.0)]).late,
        0
    );
    harness.now = 400;
    let section = harness.section(4, Some(acked(2)), &[(1, WALKER, BaselineMode::Window, 9.0)]);
    assert_eq!((section.shown, section.late), (1, 1));
}

#[test]
fn a_pose_before_the_enter_is_part_of_the_enter() {
    let mut harness = ReplicaHarness::new(PoseDecoding::Full);
    harness.now = 60;
    harness.enter(1, alias(1, 0), WALKER, 5.0);
    assert_eq!(harness.emitted(), [""; 0]);
    let section = harness.section(2, None, &[(1, WALKER, BaselineMode::Absolute, 6.0)]);
    assert_eq!((section.applied, section.shown), (1, 0));
    harness.now = 200;
    assert_eq!(harness.emitted(), ["enter 1 at 6"]);
}

#[test]
fn a_late_section_after_a_leave_revives_nothing() {
    let mut harness = ReplicaHarness::new(PoseDecoding::Full);
    harness.enter(1, alias(1, 0), WALKER, 5.0);
    harness.section(3, Some(acked(1)), &[(1, WALKER, BaselineMode::Window, 6.0)]);
    harness.leave(5, alias(1, 0));
    harness.now = 400;
    assert_eq!(harness.emitted(), ["enter 1 at 5", "leave 1"]);
    let section = harness.section(4, Some(acked(3)), &[(1, WALKER, BaselineMode::Window, 7.0)]);
    assert_eq!((section.applied, section.stale, &section.acked_set), (0, 1, &Ok(Some(acked(3)))));
    // No later datagram may refer to an object that has left.
    let section = harness.section(6, Some(acked(3)), &[(1, WALKER, BaselineMode::Window, 7.0)]);
    assert_eq!(
        (section.stale, section.acked_set),
        (0, Err(SectionError::MissingBaseline { slot: 1 }))
    );
    assert_eq!((harness.emitted(), harness.replica.visible_objects().count()), (Vec::new(), 0));
}

#[test]
fn a_late_section_does_not_move_the_next_object_of_its_slot() {
    for next in [WALKER, BALL] {
        let mut harness = ReplicaHarness::new(PoseDecoding::Full);
        harness.enter(1, alias(1, 0), WALKER, 5.0);
        harness.enter(1, alias(2, 0), WALKER, 20.0);
        harness.section(3, Some(acked(1)), &[(1, WALKER, BaselineMode::Window, 6.0)]);
        harness.leave(5, alias(1, 0));
        harness.now = 600;
        harness.enter(8, alias(1, 1), next, 50.0);
        let two = [(1, WALKER, BaselineMode::Window, 7.0), (2, WALKER, BaselineMode::Window, 21.0)];
        let section = harness.section(4, Some(acked(3)), &two);
        assert_eq!((section.applied, section.stale, section.acked_set.is_ok()), (1, 1, true));
        assert_eq!((harness.shown_x(3, 900), harness.shown_x(2, 900)), (Some(50.0), Some(21.0)));
        // A section with the late pose as its baseline.
        let section = harness.section(5, Some(acked(4)), &[(1, WALKER, BaselineMode::Window, 8.0)]);
        assert_eq!((section.applied, section.stale, section.acked_set.is_ok()), (0, 1, true));
        assert_eq!(harness.shown_x(3, 900), Some(50.0));
        let section = harness.section(9, Some(acked(8)), &[(1, next, BaselineMode::Window, 51.0)]);
        assert_eq!((section.applied, harness.shown_x(3, 550)), (1, Some(51.0)));
    }
}

#[test]
fn a_pose_without_its_baseline_ends_the_section_but_not_earlier_poses() {
    let mut harness = ReplicaHarness::new(PoseDecoding::Full);
    harness.now = 200;
    harness.enter(1, alias(1, 0), WALKER, 5.0);
    harness.enter(2, alias(2, 0), WALKER, 20.0);
    // The claimed baseline of slot 2 never arrived.
    harness.assume_received(3, 2, 21.0);
    let two = [(1, WALKER, BaselineMode::Absolute, 6.0), (2, WALKER, BaselineMode::Window, 22.0)];
    let section = harness.section(5, Some(AckedSet { newest: 4, mask: 1 }), &two);
    assert_eq!(
        (section.applied, section.acked_set),
        (1, Err(SectionError::MissingBaseline { slot: 2 }))
    );
    assert_eq!((harness.shown_x(1, 900), harness.shown_x(2, 900)), (Some(6.0), Some(20.0)));
}

#[test]
fn an_unreadable_datagram_is_no_baseline_and_is_not_replaced() {
    let mut harness = ReplicaHarness::new(PoseDecoding::Full);
    harness.enter(1, alias(1, 0), WALKER, 5.0);
    harness.enter(1, alias(2, 0), WALKER, 20.0);
    harness.assume_received(2, 1, 6.0);
    harness.replica.note_unreadable_poses(2);
    // The host uses datagram 2 as the baseline; the client has only datagram 1.
    let section = harness.section(4, Some(acked(2)), &[(1, WALKER, BaselineMode::Window, 7.0)]);
    assert_eq!((section.applied, section.acked_set.is_err()), (0, true));
    // Sections stay unreadable until the host uses none of these datagrams.
    let section = harness.section(6, Some(acked(4)), &[(2, WALKER, BaselineMode::Window, 21.0)]);
    assert_eq!((section.applied, section.acked_set.is_err()), (0, true));
    let acked_later = acked(6).after(6);
    let two = [(1, WALKER, BaselineMode::Absolute, 8.0), (2, WALKER, BaselineMode::Absolute, 22.0)];
    let section = harness.section(8, acked_later, &two);
    assert_eq!((section.applied, section.acked_set), (2, Ok(None)));
    let section = harness.section(10, acked(8).after(6), &[(1, WALKER, BaselineMode::Window, 9.0)]);
    assert_eq!((section.applied, harness.shown_x(1, 900)), (1, Some(9.0)));
}

#[test]
fn an_older_section_never_overwrites_a_newer_one() {
    let mut harness = ReplicaHarness::new(PoseDecoding::Full);
    harness.enter(1, alias(1, 0), WALKER, 5.0);
    harness.section(4, Some(acked(1)), &[(1, WALKER, BaselineMode::Window, 7.0)]);
    let section = harness.section(3, Some(acked(1)), &[(1, WALKER, BaselineMode::Window, 6.5)]);
    assert_eq!((section.applied, section.shown), (1, 0));
    assert_eq!((harness.shown_x(1, 250), harness.shown_x(1, 900)), (Some(6.5), Some(7.0)));
}

#[test]
fn a_repeated_enter_is_no_update() {
    let mut harness = ReplicaHarness::new(PoseDecoding::Full);
    harness.replica.watch(true);
    harness.enter(1, alias(1, 0), WALKER, 5.0);
    harness.enter(2, alias(1, 0), WALKER, 5.0);
    assert_eq!(harness.emitted(), ["enter 1 at 5"]);
}

#[test]
fn random_sections_move_no_missing_object() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut harness = ReplicaHarness::new(PoseDecoding::Full);
    harness.enter(1, alias(1, 0), WALKER, 5.0);
    for number in 2..2_000 {
        let bytes: Vec<u8> = (0..rng.usize(1..40)).map(|_| rng.u8(..)).collect();
        let section = harness.replica.apply_poses(harness.datagram(number), &bytes);
        assert!(section.applied <= 1 && section.stale == 0);
    }
    assert_eq!(harness.replica.visible_objects().count(), 1);
}

#[test]
fn a_light_replica_acknowledges_no_poses() {
    let mut harness = ReplicaHarness::new(PoseDecoding::Light);
    harness.enter(1, alias(1, 0), WALKER, 5.0);
    let section = harness.section(3, Some(acked(2)), &[(1, WALKER, BaselineMode::Window, 6.0)]);
    assert_eq!((section.applied, section.acked_set), (0, Ok(None)));
    assert_eq!(
        (harness.emitted(), harness.shown_x(1, 300)),
        (vec!["enter 1 at 5".to_owned()], None)
    );
    let seen = harness.replica.get(ClientObjectId(1)).expect("in sight");
    assert!(
        !seen.moves(at(300))
            && seen.value("pose", at(300)).is_none()
            && seen.newest_pose_stamp().is_none()
    );
}

#[test]
fn a_pose_can_be_read_as_position_facing_and_value() {
    let mut harness = ReplicaHarness::new(PoseDecoding::Full);
    harness.enter(1, alias(1, 0), WALKER, 5.0);
    harness.emitted();
    let seen = harness.replica.get(ClientObjectId(1)).expect("in sight");
    let facing = seen.facing(at(300)).expect("a yaw");
    assert_eq!((facing, seen.yaw(at(300))), (Facing::Yaw(0.0), Some(0.0)));
    assert_eq!(seen.orientation(at(300)), Some([0.0, 0.0, 0.0, 1.0]));
    let position = Position::on_ground(5.0, 1.0);
    assert_eq!(
        seen.value("pose", at(300)),
        Some(ComponentValue::Pose { position, facing, moves: false })
    );
    assert_eq!(
        (seen.pose(at(300)).map(|pose| pose.at), seen.newest_pose_stamp()),
        (Some([500, 100, 0]), Some(at(50)))
    );
}

#[test]
fn a_wrong_extrapolation_is_smoothed_away() {
    let mut harness = ReplicaHarness::new(PoseDecoding::Full);
    harness.enter(1, alias(1, 0), WALKER, 5.0);
    harness.now = 700;
    harness.section(4, Some(acked(1)), &[(1, WALKER, BaselineMode::Window, 5.5)]);
    let drawn = |t| {
        harness.replica.get(ClientObjectId(1)).and_then(|seen| seen.drawn(at(t))).expect("drawn")
    };
    assert_eq!((drawn(700).position.x, harness.shown_x(1, 700)), (5.0, Some(5.5)));
    let soon = drawn(750).position.x;
    let later = drawn(850).position.x;
    assert!(5.0 < soon && soon < later && later < 5.5, "{soon} {later}");
    assert!(!drawn(850).at_rest);
    assert_eq!((drawn(3_000).position.x, drawn(3_000).at_rest), (5.5, true));
}

#[test]
fn plain_poses_in_any_order_are_those_of_their_objects() {
    let mut harness = ReplicaHarness::plain();
    harness.enter(1, alias(1, 0), WALKER, 5.0);
    harness.enter(1, alias(2, 0), BALL, 20.0);
    // The datagram before is lost, and the one after comes first: nothing depends on it.
    let later = [(alias(2, 0), BALL, 22.0), (alias(1, 0), WALKER, 7.0)];
    let section = harness.plain_section(5, &later);
    assert_eq!((section.applied, section.stale), (2, 0));
    let section = harness.plain_section(3, &[(alias(1, 0), WALKER, 6.0)]);
    assert_eq!((section.applied, section.acked_set), (1, Ok(None)));
    harness.now = 400;
    harness.emitted();
    for (t, x) in [(250, 6.0), (350, 7.0), (999, 7.0)] {
        assert_eq!(harness.shown_x(1, t), Some(x), "at {t}");
    }
    assert_eq!(harness.shown_x(2, 350), Some(22.0));
}

#[test]
fn plain_poses_of_objects_that_are_not_followed_change_nothing() {
    let mut harness = ReplicaHarness::plain();
    harness.enter(1, alias(1, 0), WALKER, 5.0);
    harness.leave(4, alias(1, 0));
    harness.enter(9, alias(1, 1), BALL, 50.0);
    harness.now = 700;
    harness.emitted();
    // Of the object before, of one that was never there, and of an epoch yet to come; as a pose of
    // another kind than the slot's.
    let skipped = [
        (alias(1, 0), WALKER, 6.0),
        (alias(7, 0), WALKER, 6.0),
        (alias(1, 2), BALL, 6.0),
        (alias(1, 1), WALKER, 6.0),
        (alias(1, 1), BALL, 51.0),
    ];
    let section = harness.plain_section(10, &skipped);
    assert_eq!((section.applied, section.stale), (1, 4));
    assert_eq!(harness.shown_x(2, 600), Some(51.0));
    assert_eq!(harness.replica.visible_objects().count(), 1);
}

#[test]
fn a_faulty_plain_section_spoils_no_other() {
    let mut harness = ReplicaHarness::plain();
    harness.enter(1, alias(1, 0), WALKER, 5.0);
    let faulty = harness.replica.apply_poses(harness.datagram(3), &[1]);
    assert_eq!(faulty.acked_set, Err(SectionError::Wire(ambit_proto::wire::WireError::Truncated)));
    let section = harness.plain_section(4, &[(alias(1, 0), WALKER, 6.0)]);
    assert_eq!((section.applied, section.acked_set), (1, Ok(None)));
}

/// A replica, and a server that records what it has sent.
struct ReplicaHarness {
    replica: Replica<()>,
    now: u64,
    /// Number, slot and pose of all sent poses.
    sent: Vec<(u64, u16, Pose)>,
}

impl ReplicaHarness {
    fn new(mode: PoseDecoding) -> Self {
        let (schema, tick) =
            (Arc::new(Schema::example_with_poses()), Duration::from_millis(TICK_MS));
        let replica = Replica::new(schema, LOCAL_LAG, tick, ClientObjectId::default(), mode);
        ReplicaHarness { replica, now: 150, sent: Vec::new() }
    }

    /// Its server sends whole poses.
    fn plain() -> Self {
        let mut harness = Self::new(PoseDecoding::Full);
        harness.replica.set_coding(PoseCoding::Plain);
        harness
    }

    fn plain_section(&mut self, number: u64, poses: &[(Alias, u8, f32)]) -> SectionOutcome {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        for &(alias, kind, x) in poses {
            let pose = self.pose(kind, x);
            let format = self.replica.schema().kinds[usize::from(kind)].pose_format();
            let format = format.expect("a kind with poses");
            PlainPose { alias, kind, pose, jumped_ms: None }.write(format, &mut writer);
        }
        end_plain_poses(writer);
        let section = self.replica.apply_poses(self.datagram(number), &bytes);
        self.replica.finish_datagram(self.datagram(number));
        section
    }

    fn datagram(&self, number: u64) -> ReceivedDatagram {
        ReceivedDatagram { number, stamp: at(number * TICK_MS), now: at(self.now) }
    }

    fn enter(&mut self, number: u64, alias: Alias, kind: u8, x: f32) {
        let pose = self.pose(kind, x);
        self.sent.push((number, alias.slot, pose));
        let components = vec![(0, Component::Pose(pose))];
        let enter = Record::Enter {
            alias,
            kind,
            at: at(number * TICK_MS) + LOCAL_LAG,
            own: false,
            components,
        };
        self.replica.apply(self.datagram(number), &enter);
        self.replica.advance(at(self.now), &mut ());
    }

    fn leave(&mut self, number: u64, alias: Alias) {
        let leave = Record::Leave { alias, at: at(number * TICK_MS) + LOCAL_LAG };
        self.replica.apply(self.datagram(number), &leave);
    }

    /// The server assumes that the client has received this datagram.
    fn assume_received(&mut self, number: u64, slot: u16, x: f32) {
        let pose = self.pose(WALKER, x);
        self.sent.push((number, slot, pose));
    }

    fn section(
        &mut self,
        number: u64,
        acked: Option<AckedSet>,
        poses: &[(u16, u8, BaselineMode, f32)],
    ) -> SectionOutcome {
        let mut bytes = Vec::new();
        let mut writer =
            SectionWriter::new(&mut bytes, &SectionHeader { level: Level::Shared, number, acked });
        for &(slot, kind, mode, x) in poses {
            let pose = self.pose(kind, x);
            let known = |number: u64| acked.is_some_and(|acked| acked.contains(number));
            let baseline = self
                .sent
                .iter()
                .filter(|sent| sent.1 == slot && known(sent.0))
                .max_by_key(|sent| sent.0);
            let baseline = baseline
                .filter(|_| mode == BaselineMode::Window)
                .map(|(number, _, pose)| (at(number * TICK_MS), *pose));
            let schema = self.replica.schema();
            let format = schema.kinds[usize::from(kind)].pose_format().expect("a kind with poses");
            let baseline = baseline.as_ref().map(|(stamp, pose)| (*stamp, pose));
            writer.write_shared(slot, mode, &code(format, baseline, at(number * TICK_MS), &pose));
            self.sent.push((number, slot, pose));
        }
        writer.finish();
        let section = self.replica.apply_poses(self.datagram(number), &bytes);
        self.replica.finish_datagram(self.datagram(number));
        section
    }

    fn pose(&self, kind: u8, x: f32) -> Pose {
        let format = self.replica.schema().kinds[usize::from(kind)]
            .pose_format()
            .expect("a kind with poses");
        format.pose(Position::on_ground(x, 1.0), 0.0, 0.0)
    }

    fn shown_x(&self, id: u32, t: u64) -> Option<f32> {
        self.replica
            .get(ClientObjectId(id))
            .expect("in sight")
            .position(at(t))
            .map(|position| position.x)
    }

    fn emitted(&mut self) -> Vec<String> {
        self.replica.advance(at(self.now), &mut ());
        let emitted = std::iter::from_fn(|| self.replica.poll_event());
        emitted
            .map(|event| match event {
                GameEvent::Enter(enter) => {
                    format!("enter {} at {}", enter.id, enter.position.expect("it has a place").x)
                }
                GameEvent::Leave { id, .. } => format!("leave {id}"),
                GameEvent::Update(update) => {
                    match update.components.first().map(|component| &component.value) {
                        Some(ComponentValue::Pose { position, .. }) => {
                            format!(
                                "update {} to {} at {}",
                                update.id,
                                position.x,
                                update.at.millis()
                            )
                        }
                        other => panic!("unexpected event: {other:?}"),
                    }
                }
                other => panic!("{other:?}"),
            })
            .collect()
    }
}

fn acked(newest: u64) -> AckedSet {
    AckedSet { newest, mask: u32::MAX }
}

fn alias(slot: u16, epoch: u8) -> Alias {
    Alias { slot, epoch }
}

fn at(ms: u64) -> GameTime {
    GameTime::from_millis(ms)
}
