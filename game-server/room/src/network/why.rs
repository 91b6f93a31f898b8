//! Why a client has an object, or has it not: the rule that decides it, and what the client has.
//!
//! For operators and authors. It only reads: nothing is stored for it, and who does not ask pays
//! nothing. A player may know only its own part of it, and of what it sees.

use ambit_proto::ids::{ClientId, ObjectId};
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

use super::replication::pose_at_client::PoseAtClient;
use super::viewer::Viewer;
use super::{GameVisibility, Network};
use crate::logic::sight::{HiddenBy, Sight};
use crate::logic::world::World;

/// Why a client has an object, or has it not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// What decides, as the world is now.
    pub rule: SightRule,
    /// What the client has of it; `None` if it is not sent the object. Just after something has
    /// moved it may differ from the rule until the next tick, and with
    /// [`SightChecks`](crate::logic::sight::SightChecks) until the next check.
    pub at_client: Option<ObjectAtClient>,
}

/// The rule that decides whether a client is to have an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SightRule {
    /// The player has no client in this room.
    NotHere,
    /// There is no such object in this room.
    NoObject,
    /// It is the player's own avatar, which is in sight at any distance.
    Own,
    /// It has no place, so all have it.
    RoomWide,
    /// It is within the inner zone.
    Near(Zones),
    /// It is between the zones: in sight since it was nearer (hysteresis).
    Kept(Zones),
    /// It is beyond the zone that counts.
    TooFar(Zones),
    /// It is near enough, and the game hides it.
    Hidden {
        /// What hides it.
        by: HiddenBy,
    },
}

impl SightRule {
    /// Its name, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotHere => "not_here",
            Self::NoObject => "no_object",
            Self::Own => "own",
            Self::RoomWide => "room_wide",
            Self::Near(_) => "near",
            Self::Kept(_) => "kept",
            Self::TooFar(_) => "too_far",
            Self::Hidden { .. } => "hidden",
        }
    }

    /// Whether the client is to have the object.
    pub fn shows(self) -> bool {
        matches!(self, Self::Own | Self::RoomWide | Self::Near(_) | Self::Kept(_))
    }
}

/// How far an object is, and the zones of its kind, all in cells: the larger one of the distances
/// along the axes, from the cell around which the client's zones lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zones {
    pub distance: u16,
    /// Within this an object comes into sight.
    pub inner: u16,
    /// Beyond this it goes out of sight.
    pub outer: u16,
}

/// What a client has of an object that it is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectAtClient {
    /// Since when it may know of it; in the future by the local lag at first.
    pub since: GameTime,
    /// Whether it has acknowledged the object.
    pub is_known: bool,
    /// Components whose newest values still have to be sent, or were lost.
    pub unsent: u32,
    /// Components whose newest values are on the way.
    pub on_the_way: u32,
    /// What moves by poses.
    pub pose: Option<PoseAtClient>,
}

impl Network {
    /// Why the client has the object, or has it not.
    pub(crate) fn why(
        &self,
        now: GameTime,
        client: ClientId,
        object: ObjectId,
        visibility: &GameVisibility<'_>,
    ) -> Why {
        let Some(viewer) = self.viewers.get(client) else {
            return Why { rule: SightRule::NotHere, at_client: None };
        };
        Why {
            rule: self.rule(viewer, object, visibility),
            at_client: self.at_client(now, viewer, object, visibility.world),
        }
    }

    fn rule(
        &self,
        viewer: &Viewer,
        object: ObjectId,
        visibility: &GameVisibility<'_>,
    ) -> SightRule {
        let world = visibility.world;
        if !world.contains(object) {
            return SightRule::NoObject;
        }
        if object == viewer.avatar {
            return SightRule::Own;
        }
        if self.room_wide.contains(&object) {
            return SightRule::RoomWide;
        }
        let class = self.interest_classes[usize::from(world.kind(object))];
        let area = self.interest.area(class);
        let cell = self.grid.cell_at(world.position(object));
        let distance = viewer.home.distance(cell);
        let zones = Zones { distance, inner: area.inner, outer: area.outer };
        let follows = viewer.slots.slot_of(object).is_some();
        let (sight, reach) =
            if follows { (Sight::Kept, area.outer) } else { (Sight::New, area.inner) };
        if distance > reach {
            return SightRule::TooFar(zones);
        }
        world.hiding().set(HiddenBy::Rule);
        if !visibility.game.sees(world, viewer.avatar, object, sight) {
            return SightRule::Hidden { by: world.hiding().get() };
        }
        if distance <= area.inner { SightRule::Near(zones) } else { SightRule::Kept(zones) }
    }

    pub(super) fn at_client(
        &self,
        now: GameTime,
        viewer: &Viewer,
        object: ObjectId,
        world: &World,
    ) -> Option<ObjectAtClient> {
        let slot = viewer.slots.slot_of(object)?;
        let (unsent, on_the_way) = viewer.slots.pending_components(object)?;
        let pose = world.contains(object) && world.has_pose(object);
        let here = world.find_position(viewer.avatar).unwrap_or_default().on_the_ground();
        let context = self.shared_state.reading_context(now.whole_millis());
        let pose = pose.then(|| viewer.slots.poses().at_client(slot, context, here)).flatten();
        Some(ObjectAtClient {
            since: viewer.slots.visible_since(object)?,
            is_known: viewer.slots.is_known(object),
            unsent,
            on_the_way,
            pose,
        })
    }
}
