//! What the console prints of its own accord: what lies around, figures, help.

use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::stats::{ClientStats, Distribution};
use ambit_client_core::text::command;
use ambit_client_core::text::json::{self, ms};
use ambit_proto::time::LocalTime;
use serde_json::{Value as Json, json};

/// What lies around, at the present room time. Without a game, nothing does.
pub(crate) fn objects(client: &mut Client, now: LocalTime) -> Json {
    // What is simulated goes on to the present.
    client.handle_timeout(now);
    let t = client.room_time(now).unwrap_or_default();
    let object = |seen: ambit_client_core::replica::VisibleObject<'_, ()>| {
        json::object(
            seen.id,
            seen.kind(),
            seen.is_own(),
            seen.position(t).unwrap_or_default(),
            &seen.values(t),
        )
    };
    json!({ "ev": "objects", "t": ms(t), "objects": client.objects().map(object).collect::<Vec<_>>() })
}

/// Figures since the start of the console; `t` and what belongs to a running game are null without
/// one.
pub(crate) fn stats(client: &Client, now: LocalTime, ages: &Distribution) -> Json {
    let ClientStats {
        datagrams_down,
        bytes_down,
        datagrams_up,
        bytes_up,
        malformed,
        enters,
        leaves,
        events,
        late_events,
        updates,
        ..
    } = client.stats();
    let stats = client.stats();
    json!({
        "ev": "stats", "t": client.room_time(now).map(ms),
        "rtt_ms": stats.rtt.map(fractional_ms), "late_share": stats.late_share(),
        "events": events, "late_events": late_events, "updates": updates, "late_updates": stats.late_updates,
        "enters": enters, "leaves": leaves, "commands": stats.commands, "refused": stats.refused,
        "datagrams_down": datagrams_down, "bytes_down": bytes_down, "datagrams_up": datagrams_up, "bytes_up": bytes_up,
        "age_ms_p50": ages.quantile_ms(0.5), "age_ms_p99": ages.quantile_ms(0.99),
        "age_by_class": json::age_by_class(&stats.ages), "poses": stats.poses, "stale_poses": stats.stale_poses,
        "lost_tracks": stats.lost_tracks, "simulation": json::simulation(&stats.simulation),
        "gap_ms_p99": stats.gaps.quantile_ms(0.99), "gap_ms_max": gap_max(&stats, client.silence(now)).as_millis() as u64,
        "shown_behind_ms": client.room_time(now).zip(client.shown_time(now)).map(|(room, shown)| fractional_ms(room.since(shown))),
        "clock_uncertainty_ms": client.running_game().map(|play| fractional_ms(play.clock_uncertainty())),
        "malformed": malformed, "updates_dropped": stats.events_dropped,
    })
}

/// The list of commands.
pub(crate) fn help() -> Json {
    let command = |(usage, meaning): &(&str, &str)| json!({ "usage": usage, "meaning": meaning });
    json!({ "ev": "help", "commands": command::HELP.iter().map(command).collect::<Vec<_>>() })
}

/// The longest gap, the one under way included.
fn gap_max(stats: &ClientStats, silence: Option<Duration>) -> Duration {
    stats.gaps.max().max(silence.unwrap_or_default())
}

/// To the microsecond.
fn fractional_ms(time: Duration) -> f64 {
    time.as_micros() as f64 / 1_000.0
}
