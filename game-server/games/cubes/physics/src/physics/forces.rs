//! The effects of keys: push, jump, attract, repel.
//!
//! Each is a change of velocities before the step, and depends only on keys and on poses on the
//! grid. Players are processed in the order of their bodies, and so are the bodies within their
//! reach.
//!
//! Units: metres, seconds. Sources: "Synchronisation par le reseau d'un monde virtuel sur Unity" (a
//! force at the cube, parallel to the floor; cubes within a small sphere are attracted or
//! repelled); G. Fiedler, "State Synchronization" (the ball of cubes that rolls: katamari).

use rapier3d::dynamics::RigidBody;
use rapier3d::math::Vector;
use rapier3d::parry::bounding_volume::Aabb;
use rapier3d::pipeline::QueryFilter;

use super::{BodyId, Physics, body_of, handle_of};
use crate::{CUBE, FRAMES_PER_S, PLAYER_EDGE_M, control};
use ambit_proto::keymap::Keymap;

const STEP_S: f32 = 1.0 / FRAMES_PER_S as f32;
/// Acceleration of a player's push, while its cube is slower than [`MAX_PUSH_SPEED_M_PER_S`] in
/// that direction.
const PUSH_ACCELERATION_M_PER_S2: f32 = 14.0;
const MAX_PUSH_SPEED_M_PER_S: f32 = 5.0;
/// The height above its middle at which a cube is pushed, so that it rolls over its edges instead
/// of sliding.
const PUSH_POINT_HEIGHT_M: f32 = 0.4 * PLAYER_EDGE_M;
/// Gives a jump of about a metre.
const JUMP_SPEED_M_PER_S: f32 = 4.5;
/// The smallest z of a contact normal to jump off: up to 60 degrees from the vertical.
const MIN_SUPPORT: f32 = 0.5;
/// Radius of the sphere in which cubes are attracted and repelled, around the middle of a player's
/// cube.
const REACH_M: f32 = 2.0;
const ATTRACT_ACCELERATION_M_PER_S2: f32 = 40.0;
/// The highest speed towards the player.
const MAX_ATTRACT_SPEED_M_PER_S: f32 = 5.0;
/// In the middle of the sphere; it falls linearly to 0 at its surface.
const REPEL_ACCELERATION_M_PER_S2: f32 = 120.0;

/// Whether these keys act on other cubes.
pub(super) fn attracts_or_repels(keys: Keymap) -> bool {
    keys.down(control::ATTRACT) || keys.down(control::REPEL)
}

impl Physics {
    /// Applies the keys of all players for a step.
    pub(super) fn apply_keys(&mut self) {
        for index in 0..self.players.len() {
            let player = self.players[index];
            let keys = self.state(player).keys;
            if keys.current.0 == 0 {
                self.state_mut(player).keys.advance(keys.current);
                continue;
            }
            self.push(player, keys.current);
            if keys.pressed(control::JUMP) && self.is_supported(player) {
                self.wake(player);
                let body = &mut self.world.bodies[handle_of(player)];
                let linear = body.linvel();
                body.set_linvel(
                    Vector::new(linear.x, linear.y, linear.z.max(0.0) + JUMP_SPEED_M_PER_S),
                    true,
                );
            }
            // Both at once have no effect.
            match (keys.down(control::ATTRACT), keys.down(control::REPEL)) {
                (true, false) => self.attract(player),
                (false, true) => self.repel(player),
                _ => {}
            }
            self.state_mut(player).keys.advance(keys.current);
        }
    }

    fn push(&mut self, player: BodyId, keys: Keymap) {
        let along = |positive, negative| {
            f32::from(i8::from(keys.down(positive)) - i8::from(keys.down(negative)))
        };
        let wish = Vector::new(
            along(control::RIGHT, control::LEFT),
            along(control::UP, control::DOWN),
            0.0,
        );
        let Some(direction) = wish.try_normalize() else {
            return;
        };
        self.wake(player);
        let body = &mut self.world.bodies[handle_of(player)];
        let faster = (MAX_PUSH_SPEED_M_PER_S - body.linvel().dot(direction))
            .clamp(0.0, PUSH_ACCELERATION_M_PER_S2 * STEP_S);
        let change = direction * faster;
        body.set_linvel(body.linvel() + change, true);
        // The moment of inertia of a cube about any axis is a sixth of its mass times its edge
        // squared.
        let spin = Vector::new(0.0, 0.0, PUSH_POINT_HEIGHT_M).cross(change)
            * (6.0 / (PLAYER_EDGE_M * PLAYER_EDGE_M));
        body.set_angvel(body.angvel() + spin, true);
    }

    /// Whether a body stands on something, by the last step's contacts.
    fn is_supported(&self, body: BodyId) -> bool {
        let collider = self.state(body).collider;
        self.world.contact_pairs_with(collider).filter(|pair| pair.has_any_active_contact()).any(
            |pair| {
                // Normals point from the first collider to the second.
                let up = if pair.collider1 == collider { -1.0 } else { 1.0 };
                let manifolds = pair.solver_manifolds().iter();
                manifolds
                    .filter(|manifold| !manifold.data.solver_contacts.is_empty())
                    .any(|manifold| manifold.data.normal.z * up > MIN_SUPPORT)
            },
        )
    }

    /// Pulls near cubes, so that they move and turn with the player's cube, which is pulled towards
    /// them with the same impulse.
    fn attract(&mut self, player: BodyId) {
        let (centre, linear, angular, mass) = self.motion(player);
        let mut pulled = Vector::ZERO;
        self.change_each_within_reach(player, |body| {
            let away = body.translation() - centre;
            let distance = away.length();
            let nearer = away * -(MAX_ATTRACT_SPEED_M_PER_S / distance.max(PLAYER_EDGE_M));
            let wanted = linear + angular.cross(away) + nearer;
            let change =
                (wanted - body.linvel()).clamp_length_max(ATTRACT_ACCELERATION_M_PER_S2 * STEP_S);
            pulled += change * body.mass();
            change
        });
        if mass > 0.0 && pulled != Vector::ZERO {
            self.wake(player);
            let body = &mut self.world.bodies[handle_of(player)];
            body.set_linvel(linear - pulled / mass, true);
        }
    }

    /// Pushes cubes away, with more force the nearer they are.
    fn repel(&mut self, player: BodyId) {
        let (centre, ..) = self.motion(player);
        self.change_each_within_reach(player, |body| {
            let away = body.translation() - centre;
            let direction = away.try_normalize().unwrap_or(Vector::Z);
            let share = 1.0 - (away.length() / REACH_M).min(1.0);
            direction * (share * REPEL_ACCELERATION_M_PER_S2 * STEP_S)
        });
    }

    fn motion(&self, body: BodyId) -> (Vector, Vector, Vector, f32) {
        let body = &self.world.bodies[handle_of(body)];
        (body.translation(), body.linvel(), body.angvel(), body.mass())
    }

    /// Wakes each small cube within reach and changes its velocity.
    fn change_each_within_reach(
        &mut self,
        player: BodyId,
        mut change: impl FnMut(&RigidBody) -> Vector,
    ) {
        let mut near = std::mem::take(&mut self.scratch);
        near.clear();
        self.find_within_reach(player, &mut near);
        near.sort_unstable();
        for &body in &near {
            self.wake(body);
            let simulated = &mut self.world.bodies[handle_of(body)];
            let faster = change(simulated);
            simulated.set_linvel(simulated.linvel() + faster, true);
        }
        self.scratch = near;
    }

    /// Appends the small cubes whose middle is within reach of a body, in no particular order.
    pub(super) fn find_within_reach(&self, body: BodyId, found: &mut Vec<BodyId>) {
        let centre = self.world.bodies[handle_of(body)].translation();
        let around = Aabb::from_half_extents(centre, Vector::splat(REACH_M));
        // The bounds of the last step are wide enough: they include how far a cube may move in the
        // next one.
        let near = self.world.intersect_aabb_conservative(around, QueryFilter::only_dynamic());
        let bodies = near
            .filter_map(|(_, collider)| collider.parent())
            .filter(|&handle| self.world.bodies[handle].translation().distance(centre) <= REACH_M);
        found.extend(bodies.map(body_of).filter(|&other| self.state(other).kind == CUBE));
    }
}
