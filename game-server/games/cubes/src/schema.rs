//! The schema of the game, and how poses and keys are expressed in it.
//!
//! Kinds and components are those of `ambit_cubes_physics`; a test compares them.

use ambit_cubes_physics::{CUBE, GAME, PLAYER, POSE_FORMAT, SNAPSHOT_POSE_FORMAT, component};
use ambit_proto::ids::ObjectId;
use ambit_proto::keymap::Keymap;
use ambit_proto::pose::{Pose, PoseFormat};
use ambit_proto::schema::{
    Codec, Component, ComponentSpec, Freshness, Look, ObjectKind, PosePresentation, Schema, Shape,
};
use ambit_proto::time::GameTime;

use ambit_room::logic::world::World;

/// Bytes of a name: 24 characters of 4.
const NAME_BYTES: u32 = 96;
/// Cubes that a player's cube pushes are sent at each of 20 ticks. Errors of cubes beyond the
/// default floor's distance matter less for a while.
const FRESHNESS: Freshness = Freshness {
    engaged_ms: 50,
    near_m: 32.0,
    near_ms: 100,
    far_ms: 300,
};

pub(super) fn schema(sync: PosePresentation) -> Schema {
    let kind = |name: &str, more: Vec<ComponentSpec>, look: Look| {
        let pose = ComponentSpec::public("pose", Codec::Pose(format(sync)));
        let components = [vec![pose], more].concat();
        ObjectKind {
            name: name.into(),
            components,
            freshness: FRESHNESS,
            presentation: sync,
            look,
            ..ObjectKind::default()
        }
    };
    let flags = ["left", "right", "up", "down", "attract", "repel"]
        .map(|name| ComponentSpec::public(name, Codec::Flag));
    let name = ComponentSpec::public(
        "name",
        Codec::Text {
            max_bytes: NAME_BYTES,
        },
    );
    let player = flags.into_iter().chain([name]).collect();
    Schema {
        game: GAME.into(),
        kinds: vec![
            kind("cube", Vec::new(), box_of('#', 0xd0_9040, 0.4)),
            kind(
                "player",
                player,
                Look {
                    label: Some(component::NAME),
                    ..box_of('@', 0x30_80ff, 1.0)
                },
            ),
        ],
        ..Schema::default()
    }
}

fn box_of(glyph: char, colour: u32, size_m: f32) -> Look {
    Look {
        glyph,
        shape: Shape::Box,
        colour,
        size_m,
        ..Look::default()
    }
}

pub(super) fn spawn_cube(world: &mut World, pose: Pose) -> ObjectId {
    world.spawn(CUBE, vec![Component::Pose(pose)])
}

pub(super) fn spawn_player(world: &mut World, pose: Pose, name: &str) -> ObjectId {
    let now = world.now();
    let mut components = vec![Component::Pose(pose)];
    components.extend(component::HELD_CONTROLS.map(|_| Component::flag(now, false)));
    components.push(Component::Text(String::new()));
    let player = world.spawn(PLAYER, components);
    world.set_text(player, component::NAME, name);
    player
}

/// Sets the flags of the keys that a player holds, from a time on, where they change.
pub(super) fn set_key_flags(world: &mut World, avatar: ObjectId, from: GameTime, keys: Keymap) {
    for (flag, control) in component::HELD_CONTROLS {
        let is_down = keys.down(control);
        if world.flag_at(avatar, flag, from) != is_down {
            world.set_flag(avatar, flag, from, is_down);
        }
    }
}

/// The pose that clients receive: on a coarser grid if clients interpolate between poses.
pub(super) fn pose_to_send(sync: PosePresentation, pose: Pose) -> Pose {
    match sync {
        PosePresentation::Simulated => pose,
        PosePresentation::Interpolated => {
            let velocities = (!pose.flag).then(|| POSE_FORMAT.velocities(&pose));
            SNAPSHOT_POSE_FORMAT.moving(
                POSE_FORMAT.position(&pose),
                POSE_FORMAT.quaternion(&pose),
                velocities,
            )
        }
    }
}

fn format(sync: PosePresentation) -> PoseFormat {
    match sync {
        PosePresentation::Simulated => POSE_FORMAT,
        PosePresentation::Interpolated => SNAPSHOT_POSE_FORMAT,
    }
}

#[cfg(test)]
mod tests {
    use ambit_cubes_physics::control;

    use super::*;

    #[test]
    fn kinds_and_components_agree_with_the_shared_crate() {
        for sync in [PosePresentation::Interpolated, PosePresentation::Simulated] {
            let schema = schema(sync);
            assert_eq!(schema.check(), Ok(()));
            assert_eq!(
                ["cube", "player"].map(|name| schema.kind_index(name)),
                [Some(CUBE), Some(PLAYER)]
            );
            let player = schema.kind(PLAYER).expect("the schema has a player");
            assert_eq!(player.component_index("name"), Some(component::NAME));
            let controls = [
                ("left", control::LEFT),
                ("right", control::RIGHT),
                ("up", control::UP),
                ("down", control::DOWN),
                ("attract", control::ATTRACT),
                ("repel", control::REPEL),
            ];
            let held = controls
                .map(|(name, control)| (player.component_index(name).expect("a flag"), control));
            assert_eq!(held, component::HELD_CONTROLS);
            assert!(schema.kinds.iter().all(|kind| kind.presentation == sync));
        }
    }
}
