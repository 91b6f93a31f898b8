//! Static maps, as a block carries them.

use super::json::{Json, object};
use super::test_vector::TestVector;
use crate::map::{ObstacleShape, StaticMap, StaticObstacle};
use crate::space::Position;

const CENTRE: Position = Position { x: 12.5, y: 40.25, z: 1.5 };
const BOX: ObstacleShape = ObstacleShape::Box { half: [2.0, 0.25, 1.5], turn: 0 };
const ROUND: ObstacleShape = ObstacleShape::Cylinder { radius: 4.0, half_height: 1.5 };

pub(super) fn vectors() -> Vec<TestVector> {
    let turned = |turn| ObstacleShape::Box { half: [2.0, 0.25, 1.5], turn };
    vec![
        map("map-empty", "The number of obstacles alone. A host sends no such block.", &[]),
        map("map-box", "A box that is not turned, without a look.", &[(BOX, None)]),
        map(
            "map-turned-box",
            "The long side of the first box is turned by 45 degrees from east towards north; the \
             second one has the largest turn.",
            &[(turned(64), None), (turned(255), None)],
        ),
        map("map-cylinder", "An upright cylinder.", &[(ROUND, None)]),
        map(
            "map-looks",
            "A look is sent where it is another one than that of the obstacle before.",
            &[(BOX, Some(0)), (BOX, Some(0)), (ROUND, Some(14)), (BOX, None), (ROUND, None)],
        ),
    ]
}

fn map(
    name: &'static str,
    about: &'static str,
    obstacles: &[(ObstacleShape, Option<u8>)],
) -> TestVector {
    let obstacles =
        obstacles.iter().map(|&(shape, look)| StaticObstacle { centre: CENTRE, shape, look });
    let map = StaticMap { obstacles: obstacles.collect() };
    let bytes = map.encode();
    let read = StaticMap::decode(&bytes).expect("a map can be read");
    assert_eq!(read, map, "{name}");
    let value = read.obstacles.iter().map(obstacle).collect();
    TestVector { name, about, context: object! { part: "block" }, bytes, value }
}

fn obstacle(obstacle: &StaticObstacle) -> Json {
    let Position { x, y, z } = obstacle.centre;
    let shape = match obstacle.shape {
        ObstacleShape::Box { half, turn } => {
            object! { shape: "box", half: half.map(Json::from), turn: turn }
        }
        ObstacleShape::Cylinder { radius, half_height } => {
            object! { shape: "cylinder", radius: radius, half_height: half_height }
        }
    };
    object! { centre: [x, y, z], shape: shape, look: obstacle.look }
}
