//! Tests of the walk that is drawn ahead.

use ambit_proto::map::{ObstacleShape, StaticObstacle};

use super::*;

/// From a command to its expected effect.
const LEAD: Duration = Duration::from_millis(225);
const RTT: Duration = Duration::from_millis(100);
const M_PER_S: f32 = 5.0;
/// Of a screen.
const FRAME_US: u64 = 16_667;

#[test]
fn the_avatar_turns_and_sets_out_in_the_next_frame() {
    let mut scene = Scene::at(10.0, 10.0);
    scene.give(1, 16.0, 10.0);
    let first = scene.drawn();
    assert_eq!((first.position.x, first.velocity), (10.0, [M_PER_S, 0.0, 0.0]));
    scene.frame();
    assert!((scene.drawn().position.x - 10.083).abs() < 0.001, "{:?}", scene.drawn());
    scene.run(10);
    scene.give(2, scene.drawn().position.x, 16.0);
    assert!(scene.drawn().velocity[1] > 4.9, "{:?}", scene.drawn());
}

#[test]
fn a_straight_walk_never_goes_back_whenever_the_command_takes_effect() {
    for late_ms in [-25, -10, 0, 10, 25, 150, 280] {
        let mut scene = Scene::at(10.0, 10.0);
        scene.give(1, 14.0, 10.0);
        let mut x = 10.0;
        let mut frames = 0;
        let answered = 6;
        while frames < 90 {
            scene.frame();
            frames += 1;
            if frames == answered {
                scene.execute(1, late_ms);
            }
            let next = scene.drawn().position.x;
            assert!(next >= x - 0.001, "{late_ms} ms: {x} to {next}");
            assert!(next - x < 0.17, "{late_ms} ms: {x} to {next}");
            x = next;
            // It has converged: small differences in 150 ms.
            if late_ms.abs() <= 25 && frames == answered + 10 {
                let host = scene.host_x();
                assert!((x - host).abs() < 0.01, "{late_ms} ms: {x}, {host} at the host");
            }
        }
        assert!((x - 14.0).abs() < 0.01, "{late_ms} ms: {x}");
    }
}

#[test]
fn a_refusal_takes_the_avatar_back_smoothly() {
    let mut scene = Scene::at(10.0, 10.0);
    scene.give(1, 16.0, 10.0);
    scene.run(8);
    let out = scene.drawn().position.x;
    assert!(out > 10.6);
    scene.walk.handle_acked(scene.now, 1);
    scene.walk.handle_refused(scene.now, 1);
    let mut x = out;
    for _ in 0..9 {
        scene.frame();
        let next = scene.drawn().position.x;
        assert!(next <= x && x - next < 0.15, "{x} to {next}");
        x = next;
    }
    assert!((x - 10.0).abs() < 0.001, "{x}");
    assert_eq!(scene.drawn().velocity, [0.0; 3]);
}

#[test]
fn a_lost_path_leaves_the_plan_until_it_comes() {
    let mut scene = Scene::at(10.0, 10.0);
    scene.give(1, 16.0, 10.0);
    scene.run(6);
    scene.walk.handle_acked(scene.now, 1);
    let mut x = scene.drawn().position.x;
    for frame in 0..20 {
        scene.frame();
        if frame == 12 {
            scene.execute(1, 10);
        }
        let next = scene.drawn().position.x;
        assert!(next > x + 0.05, "{x} to {next}");
        x = next;
    }
}

#[test]
fn a_command_that_changes_nothing_or_is_given_up_ends() {
    for is_received in [true, false] {
        let mut scene = Scene::at(10.0, 10.0);
        scene.give(1, 11.0, 10.0);
        scene.run(6);
        if is_received {
            scene.walk.handle_acked(scene.now, 1);
        }
        scene.run(if is_received { 10 } else { 60 });
        assert!((scene.drawn().position.x - 11.0).abs() < 0.35, "{is_received}");
        scene.run(60);
        assert_eq!(scene.drawn().position.x, 10.0, "{is_received}");
    }
}

#[test]
fn an_answer_to_an_earlier_command_does_not_undo_a_later_one() {
    let mut scene = Scene::at(10.0, 10.0);
    scene.give(1, 16.0, 10.0);
    scene.run(5);
    // Let go: it stops there.
    let stop = scene.drawn().position.x + 0.2;
    scene.give(2, stop, 10.0);
    let mut x = scene.drawn().position.x;
    for frame in 0..40 {
        scene.frame();
        match frame {
            2 => scene.execute(1, 12),
            6 => scene.execute(2, 20),
            _ => {}
        }
        let next = scene.drawn().position.x;
        assert!(next >= x - 0.001 && next < stop + 0.01, "{frame}: {x} to {next}, of {stop}");
        x = next;
    }
    assert!((x - stop).abs() < 0.001, "{x} {stop}");
}

#[test]
fn a_turn_at_another_time_converges_to_the_host_s_way() {
    let mut scene = Scene::at(10.0, 10.0);
    scene.give(1, 16.0, 10.0);
    scene.run(6);
    scene.execute(1, 0);
    scene.run(30);
    scene.give(2, scene.drawn().position.x, 16.0);
    let mut at = scene.drawn().position;
    for frame in 0..30 {
        scene.frame();
        if frame == 6 {
            scene.execute(2, 25);
        }
        let next = scene.drawn().position;
        assert!(next.y > at.y && next.distance(at) < 0.12, "{at:?} to {next:?}");
        at = next;
    }
    let host = scene.host_position();
    assert!(at.distance(host) < 0.01, "{at:?}, {host:?} at the host");
}

#[test]
fn an_obstacle_and_the_edge_of_the_map_end_the_walk() {
    let mut scene = Scene::at(10.0, 10.0);
    let shape = ObstacleShape::Box { half: [1.0, 4.0, 1.0], turn: 0 };
    let centre = Position::new(15.0, 10.0, 1.0);
    scene
        .walk
        .set_map(&StaticMap { obstacles: vec![StaticObstacle { centre, shape, look: None }] });
    scene.give(1, 20.0, 10.0);
    scene.run(80);
    let x = scene.drawn().position.x;
    // 0.4 m of the body before the wall, and the gap that a sweep leaves.
    assert!((13.5..13.6).contains(&x), "{x}");
    let mut scene = Scene::at(10.0, 3.0);
    scene.give(1, 10.0, -20.0);
    scene.run(60);
    assert_eq!(scene.drawn().position, Position::on_ground(10.0, 0.0));
}

#[test]
fn a_jump_and_another_avatar_are_drawn_at_once() {
    let mut scene = Scene::at(10.0, 10.0);
    scene.give(1, 16.0, 10.0);
    scene.run(8);
    // A blink of 2 m.
    let at = scene.walk.effect_of(scene.now);
    scene.host.replace_from(at, [(at, Waypoint::jump(Position::on_ground(10.0, 12.0)))]);
    scene.walk.handle_acked(scene.now, 1);
    scene.frame();
    assert_eq!(scene.drawn().position, Position::on_ground(10.0, 12.0));
    // To another place on the map, while a command is under way: it leads nowhere any more.
    scene.give(2, 16.0, 12.0);
    scene.frame();
    let at = scene.walk.effect_of(scene.now);
    scene.host.replace_from(at, [(at, Waypoint::jump(Position::on_ground(80.0, 70.0)))]);
    scene.frame();
    assert_eq!(scene.drawn().position, Position::on_ground(80.0, 70.0));
    scene.avatar = ClientObjectId(8);
    scene.host = standing(Position::on_ground(11.0, 12.0));
    scene.frame();
    assert_eq!(scene.drawn().position, Position::on_ground(11.0, 12.0));
}

#[test]
fn only_the_avatar_is_drawn_ahead() {
    let scene = Scene::at(10.0, 10.0);
    assert_eq!(scene.walk.drawn(scene.now, ClientObjectId(99)), None);
}

struct Scene {
    walk: OwnWalk,
    host: Timeline<Waypoint>,
    avatar: ClientObjectId,
    now: GameTime,
    effects: Vec<(u32, GameTime, Position)>,
}

impl Scene {
    fn at(x: f32, y: f32) -> Self {
        let arena = Arena { width_m: 100.0, height_m: 100.0 };
        let now = GameTime::from_millis(10_000);
        let host = standing(Position::on_ground(x, y));
        let walk = OwnWalk::new(arena, LEAD);
        let avatar = ClientObjectId(7);
        let mut scene = Self { walk, host, avatar, now, effects: Vec::new() };
        scene.advance();
        scene
    }

    fn give(&mut self, command: u32, x: f32, y: f32) {
        let to = Position::on_ground(x, y);
        self.effects.push((command, self.walk.effect_of(self.now), to));
        self.walk.give(self.now, WalkOrder { command, to, m_per_s: M_PER_S, radius_m: 0.4 });
    }

    /// The host's answer to a command, which took effect this much later than expected.
    fn execute(&mut self, command: u32, late_ms: i64) {
        let (_, at, to) = *self.effects.iter().find(|effect| effect.0 == command).expect("given");
        let late = Duration::from_millis(late_ms.unsigned_abs());
        let at = if late_ms < 0 { at.saturating_sub(late) } else { at + late };
        let from = self.host.value_at(at).expect("it has a path").position;
        let takes = Duration::from_secs_f32(from.distance(to) / M_PER_S);
        self.host.replace_from(at, [(at, Waypoint::walk(from)), (at + takes, Waypoint::walk(to))]);
        self.walk.handle_acked(self.now, command);
        self.advance();
    }

    fn frame(&mut self) {
        self.now += Duration::from_micros(FRAME_US);
        self.advance();
    }

    fn run(&mut self, frames: u32) {
        for _ in 0..frames {
            self.frame();
        }
    }

    fn advance(&mut self) {
        self.walk.advance(self.now, RTT, Some((self.avatar, &self.host)));
    }

    fn drawn(&self) -> DrawnWalker {
        self.walk.drawn(self.now, self.avatar).expect("it has a path")
    }

    fn host_position(&self) -> Position {
        self.host.value_at(self.walk.effect_of(self.now)).expect("it has a path").position
    }

    fn host_x(&self) -> f32 {
        self.host_position().x
    }
}

fn standing(at: Position) -> Timeline<Waypoint> {
    Timeline::starting_with(TIMELINE_CAPACITY, GameTime::ZERO, Waypoint::walk(at))
}
