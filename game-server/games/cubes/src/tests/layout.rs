//! Layouts of cubes: which ones fit on the floor, and their positions.

use ambit_cubes_physics::POSE_FORMAT;

use super::*;

#[test]
fn the_default_cubes_lie_in_a_square_in_the_middle() {
    let places = places("32x32", "100", "1").expect("the cubes fit");
    assert_eq!(places.len(), 100);
    assert_eq!(extent(&places, 0), (11.5, 20.5));
    assert_eq!(extent(&places, 1), (11.5, 20.5));
    assert!(places.iter().all(|place| (place.z - CUBE_EDGE_M / 2.0).abs() < 0.001));
}

#[test]
fn a_large_floor_has_room_for_many_cubes_and_any_floor_for_none() {
    assert_eq!(places("320x320", "9000", "3").map(|places| places.len()), Ok(9_000));
    assert_eq!(places("32x32", "901", "1").map(|places| places.len()), Ok(901));
    assert_eq!(places("10x10", "0", "1").map(|places| places.len()), Ok(0));
    assert_eq!(
        places("10x10", "1", "100").map(|places| places[0]).map(|place| (place.x, place.y)),
        Ok((5.0, 5.0))
    );
}

#[test]
fn a_layout_that_does_not_fit_is_refused_with_advice() {
    let problem = "cubes does not fit: 9000 of them, 1 m apart, need a square of 94.4 m, \
                   but the floor has 32x32 m: use a larger size or less spacing";
    assert_eq!(places("32x32", "9000", "1"), Err(problem.into()));
    assert!(places("40x12", "100", "2").is_err());
    assert!(places("32x32", "10", "0.3").unwrap_err().contains("spacing=0.3 is not possible"));
}

fn places(size: &str, cubes: &str, spacing: &str) -> Result<Vec<Position>, String> {
    let given = [("size", size), ("cubes", cubes), ("spacing", spacing)];
    prepare(&given).map_err(|error| error.to_string())?;
    let scene = Scene::new(&given);
    Ok(scene.poses().iter().map(|pose| POSE_FORMAT.position(pose)).collect())
}

/// The lowest and the highest value, rounded to centimetres.
fn extent(places: &[Position], axis: usize) -> (f32, f32) {
    let along = places.iter().map(|place| (([place.x, place.y][axis]) * 100.0).round() / 100.0);
    (along.clone().fold(f32::MAX, f32::min), along.fold(f32::MIN, f32::max))
}
