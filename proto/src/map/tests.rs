//! The format of each shape and look, its limits, and the geometry that both ends share.

use super::*;

const HALF: [f32; 3] = [1.0, 300.0, 0.126];

#[test]
fn each_shape_takes_few_bits() {
    let bits = |obstacle: StaticObstacle| {
        let obstacles = vec![obstacle; 1_000];
        8 * StaticMap { obstacles }.encode().len() / 1_000
    };
    let shaped = |shape| StaticObstacle { shape, ..StaticObstacle::default() };
    let looking = StaticObstacle { look: Some(3), ..StaticObstacle::default() };
    assert_eq!([bits(StaticObstacle::default()), bits(looking)], [104, 104]);
    assert_eq!(bits(StaticObstacle::new_box(Position::default(), [0.0; 3], 1.0)), 113);
    assert_eq!(bits(shaped(ObstacleShape::Cylinder { radius: 1.0, half_height: 2.0 })), 91);
}

#[test]
fn both_ends_hold_the_same_map() {
    let centre = Position::new(5.001, 6.0, 1.5);
    let shapes = [
        ObstacleShape::Box { half: HALF, turn: 0 },
        ObstacleShape::Box { half: HALF, turn: 255 },
        ObstacleShape::Cylinder { radius: 0.126, half_height: 300.0 },
    ];
    let looks = [None, None, Some(0), Some(14), Some(14), None, Some(1)];
    let obstacles = looks
        .into_iter()
        .flat_map(|look| shapes.map(|shape| StaticObstacle { centre, shape, look }));
    let map = StaticMap { obstacles: obstacles.collect() };
    let block = map.encode();
    let read = StaticMap::decode(&block).expect("the encoding is valid");
    assert!(
        read.obstacles.iter().eq(&map
            .obstacles
            .iter()
            .map(|each| each.quantised())
            .collect::<Vec<_>>())
    );
    assert_eq!(read.obstacles[0].shape.half(), [1.0, MAX_HALF, 0.125]);
    assert_eq!(read.obstacles[2].shape.half(), [0.125, 0.125, MAX_HALF]);
    assert_eq!(read.encode(), block);
}

#[test]
fn a_map_has_one_encoding() {
    // One obstacle; the bit of its shape, and of another look than before.
    let with = |from: usize, bits: &str| {
        let block = StaticMap { obstacles: vec![StaticObstacle::default()] }.encode();
        let mut all: Vec<bool> =
            block.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect();
        all.truncate(17 + 60);
        all.resize(17 + 60 + from, false);
        all.extend(bits.bytes().map(|bit| bit == b'1'));
        let bytes = all
            .chunks(8)
            .map(|bits| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit)));
        StaticMap::decode(&bytes.collect::<Vec<u8>>())
    };
    let turned = |turn: &str| with(0, &format!("10{:042}{turn}0", 0));
    assert_eq!(turned("00000000").expect("a turn of 1").obstacles[0].shape.yaw(), PI / 256.0);
    assert_eq!(
        turned("01111111").expect("a turn of 255").obstacles[0].shape.yaw(),
        PI / 256.0 * 255.0
    );
    assert_eq!(turned("11111111"), Err(WireError::OutOfRange { what: "bounded integer" }));
    assert_eq!(with(43, "11000").expect("a look").obstacles[0].look, Some(0));
    let same = WireError::OutOfRange { what: "look of an obstacle" };
    assert_eq!(with(43, "10000"), Err(same));
}

#[test]
fn turns_are_directions_of_length_one_and_come_back_after_half_a_turn() {
    for turn in 0..=255_u8 {
        let shape = ObstacleShape::Box { half: HALF, turn };
        let [cos, sin] = shape.axis();
        let yaw = f64::from(turn) * std::f64::consts::PI / 256.0;
        assert!((f64::from(cos) - yaw.cos()).abs() < 1e-7, "{turn}: {cos}");
        assert!((f64::from(sin) - yaw.sin()).abs() < 1e-7, "{turn}: {sin}");
        assert_eq!([turn_of(shape.yaw()), turn_of(shape.yaw() - 5.0 * PI)], [turn; 2]);
    }
    assert_eq!([turn_of(f32::NAN), turn_of(f32::INFINITY), turn_of(-0.0)], [0; 3]);
}

#[test]
fn the_distance_on_the_ground_is_that_of_the_turned_shape() {
    let at = |x, y| Position::on_ground(x, y);
    // A box of 4 x 2 m whose long side points to the north-east.
    let block = StaticObstacle::new_box(at(10.0, 10.0), [2.0, 1.0, 1.0], PI / 4.0);
    let diagonal = |metres: f32| metres / 2.0_f32.sqrt();
    let along = |metres| at(10.0 + diagonal(metres), 10.0 + diagonal(metres));
    let across = |metres| at(10.0 - diagonal(metres), 10.0 + diagonal(metres));
    for (place, expected) in [(along(1.9), 0.0), (along(5.0), 3.0), (across(5.0), 4.0)] {
        assert!((block.ground_distance(place) - expected).abs() < 1e-5, "{place:?}");
    }
    let shape = ObstacleShape::Cylinder { radius: 2.0, half_height: 1.0 };
    let round = StaticObstacle { centre: at(10.0, 10.0), shape, look: None };
    assert_eq!(round.ground_distance(at(13.0, 14.0)), 3.0);
    assert_eq!(round.ground_distance(at(11.0, 10.0)), 0.0);
}

#[test]
fn an_announced_count_reserves_no_memory() {
    assert_eq!(StaticMap::decode(&[0xff, 0xff, 0]), Err(WireError::Truncated));
    assert_eq!(
        StaticMap::decode(&[0xff; 20]),
        Err(WireError::TooLong { length: 0x1_ffff, max: 65_536 })
    );
}

#[test]
fn the_largest_map_fits_into_the_block_queue() {
    let turned = StaticObstacle::new_box(Position::default(), [1.0; 3], 1.0);
    let looks = [Some(1), None].into_iter().cycle().take(MAX_OBSTACLES);
    let obstacles = looks.map(|look| StaticObstacle { look, ..turned }).collect();
    assert!(StaticMap { obstacles }.encode().len() < 1 << 20);
}

#[test]
fn an_obstacle_is_the_same_as_a_row_and_fits_its_format() {
    let format = crate::schema::RowFormat::of_obstacles(3);
    let shapes = [
        ObstacleShape::Box { half: [1.5, 0.25, 200.0], turn: 255 },
        ObstacleShape::Cylinder { radius: 0.5, half_height: MAX_HALF },
    ];
    for (shape, look) in shapes.into_iter().zip([None, Some(14)]) {
        let obstacle = StaticObstacle { centre: Position::new(5.5, 6.25, -1.5), shape, look };
        let row = obstacle.to_row();
        assert!(format.fits(&[row.clone()].into_iter().collect()), "{row:?}");
        assert_eq!(StaticObstacle::of_row(&row), Some(obstacle));
        assert_eq!(StaticObstacle::of_row(&row[1..]), None);
        assert_eq!(StaticObstacle::of_row(&row[..6]), None);
    }
}
