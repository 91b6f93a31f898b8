//! What the console prints by itself: objects in sight, statistics, help.

use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::stats::{ClientStats, Distribution};
use ambit_client_core::command_words;
use ambit_client_core::replica::VisibleObject;
use ambit_client_core::shell::Traffic;
use ambit_client_text::command;
use ambit_client_text::json::{self, ms};
use ambit_proto::axes::AxisKind;
use ambit_proto::ids::ClientObjectId;
use ambit_proto::schema::Schema;
use ambit_proto::time::{GameTime, LocalTime};
use serde_json::{Value as Json, json};

use crate::ui::NetworkFigures;

/// The objects in sight at the present room time; none without a game.
pub(crate) fn objects(client: &mut Client, now: LocalTime) -> Json {
    let (t, objects) = known_objects(client, now, false);
    json!({ "ev": "objects", "t": ms(t), "objects": objects })
}

/// What is room-wide at the present room time, and the names of the components of each kind in the
/// game's order; nothing without a game.
pub(crate) fn table(client: &mut Client, now: LocalTime) -> Json {
    let (t, rows) = known_objects(client, now, true);
    let kinds = client.schema().map_or(&[][..], |schema| &schema.kinds);
    let columns = kinds.iter().filter(|kind| kind.is_room_wide()).map(|kind| {
        let names = kind.components.iter().map(|component| component.name.as_str());
        json!({ "kind": kind.name, "columns": names.collect::<Vec<_>>() })
    });
    json!({ "ev": "table", "t": ms(t), "kinds": columns.collect::<Vec<_>>(), "rows": rows })
}

fn known_objects(client: &mut Client, now: LocalTime, is_room_wide: bool) -> (GameTime, Vec<Json>) {
    // Advances simulated objects to the present.
    client.handle_timeout(now);
    let t = client.room_time(now).unwrap_or_default();
    let object = |seen: VisibleObject<'_, ()>| {
        let position = (!is_room_wide).then(|| seen.position(t).unwrap_or_default());
        json::object(seen.id, seen.kind(), seen.is_own(), position, seen.values(t))
    };
    let known = client.objects().filter(|object| object.is_room_wide() == is_room_wide);
    (t, known.map(object).collect())
}

/// How the client has an object. What it has not may exist or not: it cannot know.
pub(crate) fn why(client: &mut Client, now: LocalTime, id: ClientObjectId) -> Json {
    client.handle_timeout(now);
    let t = client.room_time(now).unwrap_or_default();
    let find =
        |is_wanted: &dyn Fn(&VisibleObject<'_, ()>) -> bool| client.objects().find(is_wanted);
    let Some(seen) = find(&|seen| seen.id == id) else {
        return json!({ "ev": "why", "t": ms(t), "object": id.0, "in_sight": false });
    };
    let own = find(&|seen| seen.is_own() && !seen.is_room_wide());
    let distance =
        |own: &VisibleObject<'_, ()>| Some(f64::from(own.position(t)?.distance(seen.position(t)?)));
    let distance = own.as_ref().filter(|_| !seen.is_room_wide()).and_then(distance);
    let pose_age = seen.newest_pose_stamp().map(|stamp| fractional_ms(t.since(stamp)));
    let rule = match () {
        () if seen.is_room_wide() => "room_wide",
        () if seen.is_own() => "own",
        () => "near",
    };
    json!({
        "ev": "why", "t": ms(t), "object": id.0, "in_sight": true, "kind": &**seen.kind(),
        "rule": rule, "since_ms": fractional_ms(t.since(seen.in_sight_since())),
        "distance_m": distance, "pose_age_ms": pose_age, "at_rest": seen.is_reported_at_rest(),
    })
}

/// Statistics since the start of the console; `t` and values of a running game are null without
/// one.
pub(crate) fn stats(
    client: &Client,
    now: LocalTime,
    ages: &Distribution,
    traffic: Traffic,
) -> Json {
    let stats = client.stats();
    let lateness = stats.room_lateness;
    json!({
        "ev": "stats", "t": client.room_time(now).map(ms), "room_late": lateness.is_late,
        "room_load_level": lateness.load_level, "room_ticks_run": lateness.ticks_run,
        "room_ticks_due": lateness.ticks_due,
        "rtt_ms": stats.rtt.map(fractional_ms), "late_share": stats.late_share(),
        "events": stats.events, "late_events": stats.late_events, "updates": stats.updates,
        "late_updates": stats.late_updates, "enters": stats.enters, "leaves": stats.leaves,
        "commands": stats.commands, "refused": stats.refused,
        "datagrams_down": stats.datagrams_down, "bytes_down": stats.bytes_down,
        "datagrams_up": stats.datagrams_up, "bytes_up": stats.bytes_up,
        "packets_down": traffic.datagrams_down, "wire_bytes_down": traffic.bytes_down,
        "packets_up": traffic.datagrams_up, "wire_bytes_up": traffic.bytes_up,
        "age_ms_p50": ages.quantile_ms(0.5), "age_ms_p99": ages.quantile_ms(0.99),
        "age_by_class": json::age_by_class(&stats.ages), "poses": stats.poses,
        "stale_poses": stats.stale_poses,
        "lost_tracks": stats.lost_tracks, "simulation": json::simulation(&stats.simulation),
        "gap_ms_p99": stats.gaps.quantile_ms(0.99),
        "gap_ms_max": gap_max(&stats, client.silence(now)).as_millis() as u64,
        "shown_behind_ms": client
            .room_time(now)
            .zip(client.shown_time(now))
            .map(|(room, shown)| fractional_ms(room.since(shown))),
        "clock_uncertainty_ms": client
            .running_game()
            .map(|game| fractional_ms(game.clock_uncertainty())),
        "malformed": stats.malformed, "updates_dropped": stats.events_dropped,
    })
}

/// What the panel of the network shows.
pub(crate) fn figures(client: &Client, now: LocalTime, ages: &Distribution) -> NetworkFigures {
    let stats = client.stats();
    let simulation = &stats.simulation;
    // Own avatars are reconciled, what the client simulates is corrected.
    let corrections = simulation.reconciled.count() + simulation.corrections.count();
    let far = simulation.reconciled.quantile_cm(0.99).or(simulation.corrections.quantile_cm(0.99));
    NetworkFigures {
        rtt: stats.rtt,
        jitter: stats.jitter,
        datagrams_down: stats.datagrams_down,
        datagrams_lost: stats.datagrams_lost,
        bytes_down: stats.bytes_down,
        bytes_up: stats.bytes_up,
        age_ms: (ages.quantile_ms(0.5), ages.quantile_ms(0.99)),
        longest_gap: gap_max(&stats, client.silence(now)),
        corrections: (corrections, far),
        load_level: stats.room_lateness.load_level,
        moves: stats.moves,
    }
}

/// The list of commands: those of the console, then those of the running game, and its controls.
pub(crate) fn help(schema: Option<&Schema>) -> Json {
    let command = |usage: &str, meaning: &str| json!({ "usage": usage, "meaning": meaning });
    let game = schema.into_iter().flat_map(command_words::with_presentations);
    let console = command::HELP.iter().map(|(usage, meaning)| command(usage, meaning));
    let game = game.map(|(game, shown)| {
        let usage = command_words::usage(game);
        command(&command::game_usage(&usage), &command_words::meaning(game, shown))
    });
    let controls = schema.into_iter().flat_map(Schema::player_controls);
    let controls = controls.map(|(it, shown)| {
        let usage = match it.axis {
            None => format!("keys {}", it.name),
            Some(AxisKind::Linear) => format!("axis {} -1..1", it.name),
            Some(AxisKind::Angle | AxisKind::ShownBehind) => format!("axis {} RADIANS", it.name),
        };
        command(&usage, &shown.help)
    });
    json!({ "ev": "help", "commands": console.chain(game).chain(controls).collect::<Vec<_>>() })
}

/// The longest gap, including one that still lasts.
fn gap_max(stats: &ClientStats, silence: Option<Duration>) -> Duration {
    stats.gaps.max().max(silence.unwrap_or_default())
}

/// In milliseconds, with a resolution of a microsecond.
fn fractional_ms(time: Duration) -> f64 {
    time.as_micros() as f64 / 1_000.0
}
