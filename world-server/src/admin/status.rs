//! `/status`: a page for operators with rooms, hosts, maps and a few totals. A script renews it
//! once a second from `/status.json`; without scripts it shows the state when it was opened.
//!
//! However many look at it, the lobby is asked once a second at most.

use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use ambit_host_protocol::stats::RoomLoad;
use ambit_room::network::load_level::LoadLevel;
use ambit_room::network::loads::WINDOW_S;
use axum::body::Bytes;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::snapshot::Snapshot;

/// The script of the page.
pub(super) const SCRIPT: &str = include_str!("status.js");
pub(super) const STYLE: &str = include_str!("status.css");

/// How long an answer is shown to further viewers.
const LIFETIME: Duration = Duration::from_secs(1);

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
    <title>Ambit: status</title>\n<link rel=\"icon\" href=\"icon.svg\">\n\
    <link rel=\"stylesheet\" href=\"status.css\">\n\
    <script type=\"module\" src=\"status.js\"></script>\n<h1>Ambit</h1>\n\
    <p id=\"silence\" role=\"alert\" hidden>The server does not answer; this is old.</p>\n\
    <p><a href=\"/\">Play</a>, <a href=\"/watch\">watch</a>, \
    <a href=\"/metrics\">metrics</a>, <a href=\"/healthz\">health</a>.</p>\n";

/// Both forms of the page.
#[derive(Clone)]
pub(super) struct StatusPage {
    pub(super) html: Bytes,
    pub(super) json: Bytes,
}

/// The page as it was made last.
#[derive(Clone, Default)]
pub(crate) struct NewestStatus(Arc<Mutex<Option<(Instant, StatusPage)>>>);

/// One table of the page.
struct StatusTable {
    title: &'static str,
    columns: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

impl NewestStatus {
    /// The page: made of a snapshot that `take` takes, or a recent one. Who comes meanwhile waits
    /// for the same snapshot.
    #[expect(clippy::disallowed_methods, reason = "a shell's clock")]
    pub(super) async fn page<E>(
        &self,
        take: impl Future<Output = Result<Snapshot, E>>,
    ) -> Result<StatusPage, E> {
        let mut newest = self.0.lock().await;
        if let Some((made, page)) = &*newest
            && made.elapsed() < LIFETIME
        {
            return Ok(page.clone());
        }
        let page = StatusPage::of(&take.await?);
        *newest = Some((Instant::now(), page.clone()));
        Ok(page)
    }
}

impl StatusPage {
    fn of(snapshot: &Snapshot) -> Self {
        let summary = summary(snapshot);
        let tables = [
            rooms(snapshot),
            hosts(snapshot),
            maps(snapshot),
            late(snapshot),
            waiting(snapshot),
            set_aside(snapshot),
        ];
        let html = render(&summary, &tables).expect("a String takes everything");
        let rows = tables.map(|table| table.rows);
        Self {
            html: html.into(),
            json: json!({ "summary": summary, "tables": rows }).to_string().into(),
        }
    }
}

fn render(summary: &str, tables: &[StatusTable]) -> Result<String, fmt::Error> {
    let mut page = String::from(HEAD);
    writeln!(page, "<p id=\"summary\">{}</p>", escape_html(summary))?;
    for table in tables {
        write!(page, "<h2>{}</h2>\n<table>\n<thead><tr>", table.title)?;
        for column in table.columns {
            write!(page, "<th>{column}</th>")?;
        }
        page.push_str("</tr></thead>\n<tbody>\n");
        for row in &table.rows {
            page.push_str("<tr>");
            for cell in row {
                write!(page, "<td>{}</td>", escape_html(cell))?;
            }
            page.push_str("</tr>\n");
        }
        page.push_str("</tbody>\n</table>\n");
    }
    page.push_str("</html>\n");
    Ok(page)
}

fn summary(snapshot: &Snapshot) -> String {
    let lobby = &snapshot.lobby;
    let state = if snapshot.draining { "shutting down" } else { "in service" };
    format!(
        "{state}: {} connections, {} players, {} rooms of which {} run",
        lobby.connections, lobby.players, lobby.rooms, lobby.rooms_running
    )
}

fn rooms(snapshot: &Snapshot) -> StatusTable {
    let rows = snapshot.rooms.iter().map(|room| {
        vec![
            room.id.to_string(),
            room.name.clone(),
            room.game.clone(),
            format!("{} of {}", room.players, room.capacity),
            if room.running { "runs" } else { "waits" }.to_owned(),
        ]
    });
    StatusTable {
        title: "Rooms",
        columns: &["id", "name", "game", "players", "state"],
        rows: rows.collect(),
    }
}

fn hosts(snapshot: &Snapshot) -> StatusTable {
    let rows = snapshot.hosts.iter().map(|(id, host)| {
        vec![
            id.0.to_string(),
            host.label.clone(),
            host.build.clone(),
            host.address.clone(),
            format!("{} of {}", host.stats.rooms, host.capacity),
            host.stats.players.to_string(),
            format!("{:.2}", f64::from(host.stats.cpu_permille) / 1_000.0),
        ]
    });
    StatusTable {
        title: "Hosts",
        columns: &["id", "what", "build", "address", "rooms", "players", "cores"],
        rows: rows.collect(),
    }
}

fn maps(snapshot: &Snapshot) -> StatusTable {
    let sum = |counts: &[u32]| counts.iter().map(|count| u64::from(*count)).sum::<u64>();
    let hosts = snapshot.hosts.iter();
    let loads = hosts.flat_map(|(_, host)| &host.stats.room_loads);
    let rows = loads.map(|load| {
        let (changes, most) = count_changes(load);
        vec![
            load.room.to_string(),
            sum(&load.objects).to_string(),
            sum(&load.players).to_string(),
            (changes / WINDOW_S).to_string(),
            format!("{} %", 100 * most / changes.max(1)),
        ]
    });
    StatusTable {
        title: "Maps",
        columns: &["room", "objects", "players", "changes/s", "in the busiest region"],
        rows: rows.collect(),
    }
}

fn late(snapshot: &Snapshot) -> StatusTable {
    let rows = snapshot.late_rooms().into_iter().map(|late| {
        let less = match late.load_level {
            0 => "no".to_owned(),
            level => format!("level {level} of {}", LoadLevel::MAX.number()),
        };
        vec![
            late.room.to_string(),
            late.ticks_skipped.to_string(),
            late.recent_ticks_skipped.to_string(),
            less,
        ]
    });
    StatusTable {
        title: "Late rooms",
        columns: &["room", "ticks lost", "lately", "sends less"],
        rows: rows.collect(),
    }
}

fn waiting(snapshot: &Snapshot) -> StatusTable {
    let rows = snapshot.waiting_rooms.iter();
    StatusTable {
        title: "Rooms that wait for a host of their build",
        columns: &["room", "build"],
        rows: rows.map(|(room, build)| vec![room.to_string(), build.clone()]).collect(),
    }
}

fn set_aside(snapshot: &Snapshot) -> StatusTable {
    StatusTable {
        title: "Files of rooms that were set aside",
        columns: &["file in the folder of --keep"],
        rows: snapshot.files_set_aside.iter().map(|file| vec![file.clone()]).collect(),
    }
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
    use ambit_host_protocol::messages::HostReady;
    use ambit_host_protocol::stats::{HostStats, LateRoom};
    use ambit_lobby::{Host, HostId};
    use ambit_proto::control::world::Room;
    use ambit_proto::ids::RoomId;

    use super::*;

    #[test]
    fn player_text_is_escaped() {
        let room = Room { id: 7, name: "<script>alert('x')</script>".into(), ..Room::default() };
        let page = html(&Snapshot { rooms: vec![room], ..Snapshot::default() });
        assert!(
            page.contains("<td>7</td><td>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;</td>"),
            "{page}"
        );
        assert_eq!(page.matches("<script").count(), 1, "its own one");
    }

    #[test]
    fn rooms_that_lost_ticks_or_send_less_are_listed() {
        let late = |room, ticks_skipped, load_level| LateRoom {
            room: RoomId(room),
            ticks_skipped,
            load_level,
            recent_ticks_skipped: ticks_skipped / 4,
        };
        let ready = HostReady {
            version: ambit_host_protocol::VERSION,
            address: "127.0.0.1:7777".into(),
            certificate_sha256: vec![0; 32],
            ..HostReady::default()
        };
        let mut host = Host::try_from(ready).expect("a host that is ready");
        host.stats =
            HostStats { late_rooms: vec![late(7, 0, 1), late(8, 40, 0)], ..HostStats::default() };
        let page = html(&Snapshot { hosts: vec![(HostId(1), host)], ..Snapshot::default() });
        for row in [
            "<td>7</td><td>0</td><td>0</td><td>level 1 of 7</td>",
            "<td>8</td><td>40</td><td>10</td><td>no</td>",
        ] {
            assert!(page.contains(row), "{page}");
        }
    }

    #[test]
    fn rooms_that_wait_and_files_that_were_set_aside_are_listed() {
        let page = html(&Snapshot {
            waiting_rooms: vec![(RoomId(7), "one".into())],
            files_set_aside: vec!["set-aside/room-8.rec".into()],
            ..Snapshot::default()
        });
        for row in ["<td>7</td><td>one</td>", "<td>set-aside/room-8.rec</td>"] {
            assert!(page.contains(row), "{page}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_lobby_is_asked_once_a_second_however_many_look() {
        let newest = NewestStatus::default();
        let mut taken = 0;
        for _ in 0..100 {
            let take = async {
                taken += 1;
                Ok::<_, ()>(Snapshot::default())
            };
            let page = newest.page(take).await.expect("a page");
            assert!(page.json.starts_with(b"{\"summary\":\"in service: 0 conn"));
            tokio::time::advance(Duration::from_millis(30)).await;
        }
        assert_eq!(taken, 3, "in three seconds");
    }

    fn html(snapshot: &Snapshot) -> String {
        let page = StatusPage::of(snapshot);
        String::from_utf8(page.html.to_vec()).expect("text")
    }
}
