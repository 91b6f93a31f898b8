//! What rooms answer operators, as JSON. Objects come as lists, since there may be thousands.

use std::time::Duration;

use ambit_room::network::above::{
    ClientAbove, FollowedAbove, MapAbove, ObjectAbove, RoomAbove, ViewAbove,
};
use ambit_room::network::loads::RegionLoads;
use ambit_room::network::replication::pose_at_client::PoseAtClient;
use ambit_room::network::why::{ObjectAtClient, SightRule, Why, Zones};
use serde_json::{Value as Json, json};

pub(in crate::admin) fn map(map: &MapAbove) -> Json {
    let kinds = map.kinds.iter().map(|kind| {
        json!({
            "name": kind.name, "colour": format!("#{:06x}", kind.colour), "size": kind.size_m,
            "inner": kind.inner, "outer": kind.outer,
        })
    });
    let obstacles = map.obstacles.iter().map(|obstacle| {
        let ([x, y], [half_x, half_y]) = (obstacle.at, obstacle.half);
        json!([x, y, half_x, half_y, obstacle.yaw, obstacle.is_round])
    });
    json!({
        "size": map.size_m, "cell": map.cell_m,
        "kinds": kinds.collect::<Vec<_>>(), "obstacles": obstacles.collect::<Vec<_>>(),
    })
}

pub(in crate::admin) fn above(above: &RoomAbove) -> Json {
    json!({
        "at_ms": above.at.millis(),
        "objects": above.objects.iter().map(object).collect::<Vec<_>>(),
        "left_out": above.left_out,
        "clients": above.clients.iter().map(client).collect::<Vec<_>>(),
        "bytes_by_kind": above.bytes_by_kind,
        "regions": regions(&above.regions),
        "view": above.view.as_ref().map(view),
    })
}

pub(super) fn why(why: &Why) -> Json {
    let mut answer = json!({ "rule": why.rule.name(), "shows": why.rule.shows() });
    match why.rule {
        SightRule::Near(zones) | SightRule::Kept(zones) | SightRule::TooFar(zones) => {
            let Zones { distance, inner, outer } = zones;
            answer["distance"] = distance.into();
            answer["inner"] = inner.into();
            answer["outer"] = outer.into();
        }
        SightRule::Hidden { by } => answer["by"] = json!(by),
        SightRule::NotHere | SightRule::NoObject | SightRule::Own | SightRule::RoomWide => {}
    }
    answer["at_client"] = why.at_client.as_ref().map_or(Json::Null, at_client);
    answer
}

fn at_client(has: &ObjectAtClient) -> Json {
    let pose = has.pose.as_ref().map(|pose| {
        json!({
            "age_ms": pose.age.map(ms), "acked": pose.is_acked, "changed": pose.has_changed,
            "class": pose.class, "priority": pose.priority,
            "known_age_ms": pose.known.map(|(age, _)| ms(age)),
            "known_at": pose.known.map(|(_, at)| at.on_the_ground()),
        })
    });
    json!({
        "since_ms": has.since.millis(), "known": has.is_known, "unsent": has.unsent,
        "on_the_way": has.on_the_way, "pose": pose,
    })
}

/// Identifier, kind, x, y, heading, owner.
fn object(object: &ObjectAbove) -> Json {
    let at = object.at.map(|at| at.map(centimetres));
    let yaw = object.yaw.map(centimetres);
    let owner = object.owner.map(|owner| owner.0);
    json!([object.object.0, object.kind, at.map(|at| at[0]), at.map(|at| at[1]), yaw, owner])
}

fn client(client: &ClientAbove) -> Json {
    json!({
        "player": client.player.0, "name": client.name, "avatar": client.avatar.0,
        "follows": client.follows, "budget": client.budget_bytes_per_s,
        "round_trip_ms": client.round_trip_ms,
    })
}

fn regions(regions: &RegionLoads) -> Json {
    let loads = regions.loads.iter().map(|load| json!([load.objects, load.players, load.changes]));
    json!({
        "columns": regions.columns, "rows": regions.rows, "edge_cells": regions.edge_cells,
        "loads": loads.collect::<Vec<_>>(),
    })
}

fn view(view: &ViewAbove) -> Json {
    json!({
        "player": view.player.0, "home": view.home, "waiting": view.waiting,
        "bytes": view.bytes_per_s,
        "objects": view.objects.iter().map(followed).collect::<Vec<_>>(),
    })
}

/// Identifier, the newest place that has arrived (x, y) and its age, the age of what was sent last,
/// the class, whether it waits for room in the budget, bytes a second.
fn followed(followed: &FollowedAbove) -> Json {
    let pose: Option<&PoseAtClient> = followed.has.pose.as_ref();
    let known = pose.and_then(|pose| pose.known);
    let at = known.map(|(_, at)| at.on_the_ground().map(centimetres));
    json!([
        followed.object.0,
        at.map(|at| at[0]),
        at.map(|at| at[1]),
        known.map(|(age, _)| ms(age)),
        pose.and_then(|pose| pose.age).map(ms),
        pose.map(|pose| pose.class),
        followed.waits,
        followed.bytes_per_s,
    ])
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Fewer digits are enough to draw it.
fn centimetres(metres: f32) -> f64 {
    (f64::from(metres) * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use ambit_room::logic::sight::HiddenBy;

    use super::*;

    #[test]
    fn a_reason_is_one_object_with_the_rule_s_figures() {
        let zones = Zones { distance: 4, inner: 1, outer: 2 };
        let far = why(&Why { rule: SightRule::TooFar(zones), at_client: None });
        let expected = json!({
            "rule": "too_far", "shows": false, "distance": 4, "inner": 1, "outer": 2,
            "at_client": null,
        });
        assert_eq!(far, expected);
        let hidden = SightRule::Hidden { by: HiddenBy::Rule };
        let hidden = why(&Why { rule: hidden, at_client: None });
        assert_eq!((&hidden["rule"], &hidden["by"]), (&json!("hidden"), &json!("rule")));
    }
}
