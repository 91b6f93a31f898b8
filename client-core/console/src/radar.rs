//! The command `radar`: what lies around, as lines of characters, with the player's avatar in the
//! middle.

use ambit_client_core::client::Client;
use ambit_client_text::json::ms;
use ambit_proto::space::Position;
use ambit_proto::time::LocalTime;
use serde_json::{Value as Json, json};

use crate::picture::{OWN, Picture, PictureCell, PictureSize, WALL, arrow};

const SIZE: PictureSize = PictureSize { columns: 61, lines: 25 };
/// It shows no less than that to each side.
const LEAST_M: f32 = 15.0;
/// Beyond the map.
const NOTHING: char = '~';
const FREE: char = '.';

/// The picture at the present room time; no lines without an avatar.
pub(crate) fn radar(client: &mut Client, now: LocalTime) -> Json {
    // Advances simulated objects to the present.
    client.handle_timeout(now);
    let t = client.room_time(now).unwrap_or_default();
    let own = client.objects().find(|seen| seen.is_own() && !seen.is_room_wide());
    let own = own.and_then(|own| Some((own.position(t)?, own.yaw(t))));
    let (Some((here, yaw)), Some(rules)) = (own, client.rules()) else {
        return json!({ "ev": "radar", "t": ms(t), "lines": [] });
    };
    let others = client.objects().filter(|seen| !seen.is_own()).filter_map(|seen| {
        let glyph = rules.schema.presentation.kind(seen.kind_index().into()).look.glyph;
        Some((seen.position(t)?, glyph))
    });
    let marks: Vec<(Position, char)> = others.collect();
    let farthest = marks.iter().map(|mark| here.ground_distance(mark.0)).fold(LEAST_M, f32::max);
    let looks = &rules.schema.presentation.scenery.obstacles;
    let walls = client.map().map_or(&[][..], |map| &map.obstacles).iter().map(|wall| {
        let look = wall.look.and_then(|look| looks.get(usize::from(look)));
        (wall, look.map_or(WALL, |look| look.glyph), None)
    });
    let size = (rules.map.width_m, rules.map.height_m);
    let mut picture = Picture::new(SIZE, here, farthest, size, walls);
    for &(at, glyph) in &marks {
        picture.set(at, glyph, None);
    }
    picture.set(here, yaw.map_or(OWN, arrow), None);
    let glyph = |cell: &PictureCell| match *cell {
        PictureCell::Beyond => NOTHING,
        PictureCell::Free => FREE,
        PictureCell::Thing(glyph, _) => glyph,
    };
    let lines = picture.lines().map(|line| line.iter().map(glyph).collect());
    let lines: Vec<String> = lines.collect();
    json!({ "ev": "radar", "t": ms(t), "radius_m": farthest, "lines": lines })
}
