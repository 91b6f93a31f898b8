//! What the game's objects are made of: the schema, and how poses and keys are told in it.
//!
//! Kinds and components are those of `ambit_proto::games::cubes`; a test holds them together.

use ambit_proto::games::cubes::{CUBE, FORMAT, GAME, PLAYER, SNAPSHOT_FORMAT, component};
use ambit_proto::ids::ObjectId;
use ambit_proto::keymap::Keymap;
use ambit_proto::pose::{Pose, PoseFormat};
use ambit_proto::schema::{Codec, Component, ComponentSpec, Freshness, Kind, Schema, Sync};
use ambit_proto::time::GameTime;

use crate::logic::world::World;

/// Bytes of a name: 24 characters of 4.
const NAME_BYTES: u32 = 96;
/// What a player's cube pushes about is told at each of 20 ticks; what rolls beyond the usual floor
/// does less harm when it is wrong for a while.
const FRESHNESS: Freshness = Freshness {
    engaged_ms: 50,
    near_m: 32.0,
    near_ms: 100,
    far_ms: 300,
};

pub(super) fn schema(sync: Sync) -> Schema {
    let kind = |name: &str, more: Vec<ComponentSpec>| {
        let pose = ComponentSpec::public("pose", Codec::Pose(format(sync)));
        let components = [vec![pose], more].concat();
        Kind {
            name: name.into(),
            components,
            freshness: FRESHNESS,
            sync,
            ..Kind::default()
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
        kinds: vec![kind("cube", Vec::new()), kind("player", player)],
        ..Schema::default()
    }
}

pub(super) fn spawn_cube(world: &mut World, pose: Pose) -> ObjectId {
    world.spawn(CUBE, vec![Component::Pose(pose)])
}

pub(super) fn spawn_player(world: &mut World, pose: Pose, name: &str) -> ObjectId {
    let now = world.now();
    let mut components = vec![Component::Pose(pose)];
    components.extend(component::HELD.map(|_| Component::flag(now, false)));
    components.push(Component::Text(String::new()));
    let player = world.spawn(PLAYER, components);
    world.set_text(player, component::NAME, name);
    player
}

/// Sets the flags of what a player holds, from a time on, where they change.
pub(super) fn tell_keys(world: &mut World, avatar: ObjectId, from: GameTime, keys: Keymap) {
    for (flag, control) in component::HELD {
        let is_down = keys.down(control);
        if world.flag_at(avatar, flag, from) != is_down {
            world.set_flag(avatar, flag, from, is_down);
        }
    }
}

/// What is told of a pose: where clients show what lies between poses, on a coarser grid.
pub(super) fn told(sync: Sync, pose: Pose) -> Pose {
    match sync {
        Sync::Simulated => pose,
        Sync::Interpolated => {
            let velocities = (!pose.flag).then(|| FORMAT.velocities(&pose));
            SNAPSHOT_FORMAT.moving(FORMAT.position(&pose), FORMAT.quaternion(&pose), velocities)
        }
    }
}

fn format(sync: Sync) -> PoseFormat {
    match sync {
        Sync::Simulated => FORMAT,
        Sync::Interpolated => SNAPSHOT_FORMAT,
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::games::cubes::control;

    use super::*;

    #[test]
    fn kinds_and_components_are_those_that_both_ends_know() {
        for sync in [Sync::Interpolated, Sync::Simulated] {
            let schema = schema(sync);
            assert_eq!(schema.check(), Ok(()));
            assert_eq!(
                ["cube", "player"].map(|name| schema.kind_named(name)),
                [Some(CUBE), Some(PLAYER)]
            );
            let player = schema.kind(PLAYER).expect("it has one");
            assert_eq!(player.component_named("name"), Some(component::NAME));
            let controls = [
                ("left", control::LEFT),
                ("right", control::RIGHT),
                ("up", control::UP),
                ("down", control::DOWN),
                ("attract", control::ATTRACT),
                ("repel", control::REPEL),
            ];
            let held = controls
                .map(|(name, control)| (player.component_named(name).expect("a flag"), control));
            assert_eq!(held, component::HELD);
            assert!(schema.kinds.iter().all(|kind| kind.sync == sync));
        }
    }
}
