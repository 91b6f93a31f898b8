//! `/`: a plain HTML page for people: rooms, hosts and a few totals.

use std::fmt::Write as _;

use ambit_host::protocol::messages::RoomLoad;
use ambit_room::network::load_level::LoadLevel;
use ambit_room::network::loads::WINDOW_S;

use super::snapshot::Snapshot;

const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <meta http-equiv=\"refresh\" content=\"5\"><title>Ambit</title>\
    <style>body{font:15px/1.5 system-ui,sans-serif;margin:2em;max-width:60em}\
    table{border-collapse:collapse}td,th{padding:.2em 1em .2em 0;text-align:left;\
    border-bottom:1px solid #ccc}</style><h1>Ambit</h1>";

pub(crate) fn render(snapshot: &Snapshot) -> String {
    let mut page = String::from(HEAD);
    let lobby = &snapshot.lobby;
    let state = if snapshot.draining {
        "shutting down"
    } else {
        "in service"
    };
    let mut put =
        |text: std::fmt::Arguments| page.write_fmt(text).expect("a String takes everything");
    put(format_args!(
        "<p>{state}: {} connections, {} players, {} rooms of which {} run. \
         <a href=\"/metrics\">Metrics</a>, <a href=\"/healthz\">health</a>.</p>",
        lobby.connections, lobby.players, lobby.rooms, lobby.rooms_running
    ));
    put(format_args!(
        "<h2>Rooms</h2><table><tr><th>id<th>name<th>game<th>players<th>state</tr>"
    ));
    for room in &snapshot.rooms {
        let state = if room.running { "runs" } else { "waits" };
        put(format_args!(
            "<tr><td>{}<td>{}<td>{}<td>{} of {}<td>{state}</tr>",
            room.id,
            escape_html(&room.name),
            escape_html(&room.game),
            room.players,
            room.capacity
        ));
    }
    put(format_args!(
        "\
         </table><h2>Hosts</h2><table><tr><th>id<th>what<th>build<th>address\
         <th>rooms<th>players<th>cores</tr>"
    ));
    for (id, host) in &snapshot.hosts {
        put(format_args!(
            "<tr><td>{}<td>{}<td>{}<td>{}<td>{} of {}<td>{}<td>{:.2}</tr>",
            id.0,
            escape_html(&host.label),
            escape_html(&host.build),
            escape_html(&host.address),
            host.stats.rooms,
            host.capacity,
            host.stats.players,
            f64::from(host.stats.cpu_permille) / 1_000.0
        ));
    }
    put(format_args!(
        "</table>\n<h2>Maps</h2>\n<table><tr><th>room<th>objects<th>players<th>changes/s<th>in \
         the busiest region</tr>\n"
    ));
    for load in snapshot
        .hosts
        .iter()
        .flat_map(|(_, host)| &host.stats.room_loads)
    {
        let (changes, most) = count_changes(load);
        put(format_args!(
            "<tr><td>{}<td>{}<td>{}<td>{}<td>{} %</tr>",
            load.room,
            load.objects
                .iter()
                .map(|count| u64::from(*count))
                .sum::<u64>(),
            load.players
                .iter()
                .map(|count| u64::from(*count))
                .sum::<u64>(),
            changes / WINDOW_S,
            100 * most / changes.max(1)
        ));
    }
    put(format_args!(
        "</table>\n<h2>Late rooms</h2>\n<table><tr><th>room<th>ticks lost<th>lately\
         <th>sends less</tr>\n"
    ));
    for late in snapshot.late_rooms() {
        let less = match late.load_level {
            0 => "no".to_owned(),
            level => format!("level {level} of {}", LoadLevel::MAX.number()),
        };
        put(format_args!(
            "<tr><td>{}<td>{}<td>{}<td>{less}</tr>",
            late.room, late.ticks_skipped, late.recent_ticks_skipped
        ));
    }
    put(format_args!("</table></html>\n"));
    page
}

/// The number of changes in a window, and the number in the region that has the most.
fn count_changes(load: &RoomLoad) -> (u64, u64) {
    let changes = || load.changes.iter().map(|count| u64::from(*count));
    (changes().sum(), changes().max().unwrap_or_default())
}

/// Escapes text for HTML: names are typed by players.
fn escape_html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use ambit_host::protocol::messages::{HostReady, HostStats, LateRoom};
    use ambit_proto::control::world::Room;

    use crate::lobby::{Host, HostId};

    use super::*;

    #[test]
    fn player_text_is_escaped() {
        let room = Room {
            id: 7,
            name: "<script>alert('x')</script>".into(),
            ..Room::default()
        };
        let page = render(&Snapshot {
            rooms: vec![room],
            ..Snapshot::default()
        });
        assert!(
            page.contains("<td>7<td>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"),
            "{page}"
        );
        assert!(!page.contains("<script"));
    }

    #[test]
    fn rooms_that_lost_ticks_or_send_less_are_listed() {
        let late = |room, ticks_skipped, load_level| LateRoom {
            room,
            ticks_skipped,
            load_level,
            recent_ticks_skipped: ticks_skipped / 4,
        };
        let ready = HostReady {
            version: ambit_host::protocol::VERSION,
            address: "127.0.0.1:7777".into(),
            certificate_sha256: vec![0; 32],
            ..HostReady::default()
        };
        let mut host = Host::try_from(ready).expect("a host that is ready");
        host.stats = HostStats {
            late_rooms: vec![late(7, 0, 1), late(8, 40, 0)],
            ..HostStats::default()
        };
        let page = render(&Snapshot {
            hosts: vec![(HostId(1), host)],
            ..Snapshot::default()
        });
        assert!(
            page.contains("<td>7<td>0<td>0<td>level 1 of 7</tr>"),
            "{page}"
        );
        assert!(page.contains("<td>8<td>40<td>10<td>no</tr>"), "{page}");
    }
}
