//! A room from above: where all objects are and, beside that, what one client has of them.
//!
//! For operators: it has what no player may know. It only reads; who does not ask pays nothing.

use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::map::{ObstacleShape, StaticMap};
use ambit_proto::pose::Turning;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

use super::loads::RegionLoads;
use super::sent_meter::SentMeter;
use super::viewer::Viewer;
use super::why::ObjectAtClient;
use super::{GameVisibility, Network};
use crate::logic::world::World;

/// Objects of a picture, at most; the rest is counted.
pub const MAX_OBJECTS_ABOVE: usize = 20_000;

/// What does not change while a map runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapAbove {
    /// Extents along x and y, in metres.
    pub size_m: [f32; 2],
    /// Edge of a cell, in metres.
    pub cell_m: f32,
    /// By their numbers.
    pub kinds: Vec<KindAbove>,
    pub obstacles: Vec<ObstacleAbove>,
}

/// A kind of objects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindAbove {
    pub name: String,
    /// 0xRRGGBB.
    pub colour: u32,
    /// Diameter, in metres.
    pub size_m: f32,
    /// Within this it comes into a client's sight, in cells.
    pub inner: u16,
    /// Beyond this it goes out of a client's sight, in cells.
    pub outer: u16,
}

/// An obstacle of the map.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObstacleAbove {
    /// The middle, in metres.
    pub at: [f32; 2],
    /// Half of its extents along its own axes, in metres.
    pub half: [f32; 2],
    /// How far it is turned, from x towards y, in radians.
    pub yaw: f32,
    pub is_round: bool,
}

/// A room from above, after its last tick.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoomAbove {
    /// The room's time at that tick; places are as of then plus the local lag.
    pub at: GameTime,
    pub objects: Vec<ObjectAbove>,
    /// How many more there are.
    pub left_out: u32,
    pub clients: Vec<ClientAbove>,
    /// What clients are sent by kind, in bytes a second; empty in the first second of looking.
    pub bytes_by_kind: Vec<u32>,
    /// What changes where.
    pub regions: RegionLoads,
    /// The client that was asked for, if it is here.
    pub view: Option<ViewAbove>,
}

/// An object.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectAbove {
    pub object: ObjectId,
    pub kind: u8,
    /// In metres; `None` for one that is room-wide.
    pub at: Option<[f32; 2]>,
    /// Where it faces, from x towards y, in radians.
    pub yaw: Option<f32>,
    pub owner: Option<PlayerId>,
}

/// A client, and its line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientAbove {
    pub player: PlayerId,
    pub name: String,
    /// Through which it sees the world.
    pub avatar: ObjectId,
    /// The objects that it follows.
    pub follows: u32,
    /// What the line may carry, in bytes a second.
    pub budget_bytes_per_s: u32,
    /// Round trip, in milliseconds, with what the client waits before it acknowledges.
    pub round_trip_ms: Option<u16>,
}

/// What one client has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewAbove {
    pub player: PlayerId,
    /// Column and row of the cell around which its zones lie.
    pub home: [u16; 2],
    pub objects: Vec<FollowedAbove>,
    /// What was due at the last tick, and for which there was no room in the budget.
    pub waiting: u32,
    /// What it is sent, in bytes a second; 0 in the first second of looking.
    pub bytes_per_s: u32,
}

/// An object that a client follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FollowedAbove {
    pub object: ObjectId,
    pub has: ObjectAtClient,
    /// Whether something of it was due at the last tick, and there was no room in the budget.
    pub waits: bool,
    /// What of it the client is sent, in bytes a second; 0 in the first second of looking.
    pub bytes_per_s: u32,
}

impl MapAbove {
    /// The map of a world.
    pub(crate) fn of(world: &World, network: &Network) -> Self {
        let grid = world.grid();
        let schema = world.schema();
        let kinds = schema.kinds.iter().enumerate().map(|(number, kind)| {
            let presented = schema.presentation.kinds.get(number);
            let look = presented.map(|kind| kind.look).unwrap_or_default();
            let area = network.interest.area(network.interest_classes[number]);
            let (inner, outer) = (area.inner, area.outer);
            let (colour, size_m) = (look.colour, look.size_m);
            KindAbove { name: kind.name.clone(), colour, size_m, inner, outer }
        });
        let obstacles = StaticMap::decode(&world.static_map()).unwrap_or_default().obstacles;
        let obstacles = obstacles.iter().map(|obstacle| {
            let [x, y, _] = obstacle.shape.half();
            ObstacleAbove {
                at: obstacle.centre.on_the_ground(),
                half: [x, y],
                yaw: obstacle.shape.yaw(),
                is_round: matches!(obstacle.shape, ObstacleShape::Cylinder { .. }),
            }
        });
        Self {
            size_m: [grid.width(), grid.height()],
            cell_m: grid.cell_size(),
            kinds: kinds.collect(),
            obstacles: obstacles.collect(),
        }
    }
}

impl ObjectAbove {
    fn of(world: &World, object: ObjectId) -> Self {
        let yaw = world.has_pose(object).then(|| {
            let format = world.pose_format(object);
            match format.turn {
                Turning::Yaw { .. } => Some(format.yaw(&world.pose(object))),
                Turning::Fixed => None,
                Turning::Free { .. } => world.facing(object).map(|[x, y]| y.atan2(x)),
            }
        });
        Self {
            object,
            kind: world.kind(object),
            at: world.find_position(object).map(Position::on_the_ground),
            yaw: yaw.flatten(),
            owner: world.owner(object),
        }
    }
}

impl Network {
    /// The room, and what the client of this player has of it; `name` knows the players' names.
    /// What is sent is metered for some seconds from now on.
    pub(crate) fn above(
        &mut self,
        now: GameTime,
        player: Option<PlayerId>,
        visibility: &GameVisibility<'_>,
        name: impl Fn(PlayerId) -> String,
    ) -> RoomAbove {
        let world = visibility.world;
        let viewer = player.and_then(|player| self.viewers().find(|it| it.player == player));
        let client = viewer.map(|viewer| viewer.client);
        self.buffers.meter.get_or_insert_with(|| SentMeter::new(now)).look(now, client);
        let meter = self.buffers.meter.as_ref();
        let viewer = client.and_then(|client| self.viewers.get(client));
        let objects = world.objects();
        let left_out = objects.len().saturating_sub(MAX_OBJECTS_ABOVE) as u32;
        RoomAbove {
            at: now,
            objects: objects
                .take(MAX_OBJECTS_ABOVE)
                .map(|object| ObjectAbove::of(world, object))
                .collect(),
            left_out,
            clients: self.viewers().map(|viewer| client_above(viewer, &name)).collect(),
            bytes_by_kind: meter
                .map_or_else(Vec::new, |meter| meter.bytes_by_kind(world.schema().kinds.len())),
            regions: RegionLoads::default(),
            view: viewer.map(|viewer| self.view_above(now, viewer, world)),
        }
    }

    fn view_above(&self, now: GameTime, viewer: &Viewer, world: &World) -> ViewAbove {
        let meter = self.buffers.meter.as_ref();
        let objects = viewer.slots.objects().filter_map(|object| {
            Some(FollowedAbove {
                object,
                has: self.at_client(now, viewer, object, world)?,
                waits: meter.is_some_and(|meter| meter.waits(viewer.client, object)),
                bytes_per_s: meter.map_or(0, |meter| meter.bytes_of(viewer.client, object)),
            })
        });
        let objects: Vec<FollowedAbove> = objects.collect();
        ViewAbove {
            player: viewer.player,
            home: [viewer.home.column, viewer.home.row],
            waiting: meter.map_or(0, |meter| meter.waiting(viewer.client)),
            bytes_per_s: objects.iter().map(|followed| followed.bytes_per_s).sum(),
            objects,
        }
    }
}

fn client_above(viewer: &Viewer, name: impl Fn(PlayerId) -> String) -> ClientAbove {
    ClientAbove {
        player: viewer.player,
        name: name(viewer.player),
        avatar: viewer.avatar,
        follows: viewer.slots.followed_count() as u32,
        budget_bytes_per_s: viewer.link().stats().budget_bytes_per_s,
        round_trip_ms: viewer.ping_ms(),
    }
}
