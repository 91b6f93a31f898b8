//! A world-server with one room full of bots.
//!
//! N avatars that the server moves at 4 m/s on a flat square. The density is the same for every N
//! (about 30 avatars in the 3 x 3 cells of 10 m around each). 20 ticks a second, one input a bot 20
//! times a second.

use std::fmt;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use ambit_tests::walking_crowd::WalkingCrowd;
use anyhow::Context as _;
use serde_json::Value;

use crate::floor::SETTLE_TIME;
use crate::pinned_process::{
    self, CLIENT_CORE, PinnedProcess, SERVER_CORE, ScratchFolder, WAIT_LIMIT, binary,
};
use crate::table::{IdleRoom, Quantiles, ROOM_PARTS, Row, ServerCost, WIRE_PARTS};

pub(crate) const TICK_HZ: u32 = 20;
/// Of the ships.
const SHIPS_HZ: u32 = 60;
/// Avatars see the 3 x 3 cells around them.
pub(crate) const NEAR_ONLY: [(&str, &str); 3] = [("inner", "1"), ("outer", "1"), ("margin", "0")];

/// Edge of the map in metres, by the number of avatars. Other numbers get the density of the last
/// entry.
const EDGES_M: [(u32, f64); 4] = [(100, 57.5), (250, 97.0), (500, 140.8), (1_000, 200.3)];
/// The same for steered avatars. Avatars between random waypoints gather in the middle; steered
/// ones are spread evenly, and on the maps above would see two thirds as many others.
const STEERED_EDGES_M: [(u32, f64); 4] = [(100, 47.0), (250, 79.0), (500, 115.0), (1_000, 165.0)];

/// How avatars move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    /// Between random waypoints.
    Waypoints,
    /// With a heading that changes at random, so that nothing can be extrapolated exactly.
    Steered,
}

impl fmt::Display for Motion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Waypoints => "waypoints",
            Self::Steered => "steered",
        })
    }
}

pub(crate) struct CrowdRun {
    pub(crate) server: PinnedProcess,
    pub(crate) bots: PinnedProcess,
    http: String,
}

/// Measures one row of the table; the caller fills in the ratio.
pub(crate) fn measure(
    count: u32,
    motion: Motion,
    full: u32,
    window: Duration,
) -> anyhow::Result<Row> {
    measure_on(map_edge_m(motion, count), count, motion, full, window)
}

/// Six hundred steered avatars, all within sight of each other.
pub(crate) fn measure_dense(window: Duration) -> anyhow::Result<Row> {
    let row = measure_on(30.0, 600, Motion::Steered, 10, window)?;
    Ok(Row { label: "ambit, steered, all on 30 x 30 m".to_owned(), ..row })
}

/// Ships of `shooter` that bots fly and fire, 60 ticks a second, on a map of 1 km: what a player
/// steers is predicted, and each ship has its sight.
pub(crate) fn measure_ships(count: u32, window: Duration) -> anyhow::Result<Row> {
    let scratch = ScratchFolder::new()?;
    let room = [("tick", SHIPS_HZ.to_string()), ("size", "1000x1000".to_owned())];
    let more = [("ships", "0".to_owned()), ("goal", "999".to_owned())];
    let bots = ["--game", "shooter", "--profile", "shooter", "--full", "20"].map(String::from);
    let run = CrowdRun::start(&scratch.0, count, window, &[&room[..], &more].concat(), &bots, &[])?;
    let row = measure_run(&run, "ambit, ships at 60 Hz", count, SHIPS_HZ, window)?;
    eprintln!("{}", run.callbacks()?);
    Ok(row)
}

fn measure_on(
    edge: f64,
    count: u32,
    motion: Motion,
    full: u32,
    window: Duration,
) -> anyhow::Result<Row> {
    let scratch = ScratchFolder::new()?;
    let room = [("walk", motion.to_string()), ("size", format!("{edge:.1}x{edge:.1}"))];
    let run = CrowdRun::start(
        &scratch.0,
        count,
        window,
        &[&NEAR_ONLY.map(|(key, value)| (key, value.to_owned()))[..], &room].concat(),
        &[walked_by_server(), vec!["--full".into(), full.min(count).to_string()]].concat(),
        &[],
    )?;
    let row = measure_run(&run, &format!("ambit, {motion}"), count, TICK_HZ, window)?;
    let steered = motion == Motion::Steered;
    Ok(Row { updates_per_s: row.updates_per_s.filter(|_| steered), ..row })
}

fn measure_run(
    run: &CrowdRun,
    label: &str,
    count: u32,
    tick_hz: u32,
    window: Duration,
) -> anyhow::Result<Row> {
    run.bots.wait_for_line("measuring", WAIT_LIMIT + Duration::from_millis(20) * count)?;
    let before = run.metrics()?;
    let (of_server, of_bots) = pinned_process::measure_cpu(&run.server, &run.bots, window)?;
    let after = run.metrics()?;
    let rss_mib = run.server.rss_mib();
    let found = run.read_result()?;
    let figure = |key: &str| found[key].as_f64().unwrap_or_default();
    let skipped =
        after.value("ambit_ticks_skipped_total") - before.value("ambit_ticks_skipped_total");
    let sharing = ["records", "poses"].map(|what| {
        let [used, made] = ["used", "made"].map(|how| {
            let series = format!("ambit_encodings_total{{what=\"{what}\",how=\"{how}\"}}");
            after.value(&series) - before.value(&series)
        });
        if made > 0.0 { used / made } else { 0.0 }
    });
    let ticks_per_s = f64::from(tick_hz) - skipped / window.as_secs_f64();
    let more = |series: &str| {
        let rate = (after.value(series) - before.value(series)) / window.as_secs_f64();
        rate / f64::from(count)
    };
    let of_wire = WIRE_PARTS
        .map(|part| more(&format!("ambit_wire_bytes_total{{direction=\"out\",part=\"{part}\"}}")));
    let of_rooms =
        ROOM_PARTS.map(|part| more(&format!("ambit_datagram_bits_total{{part=\"{part}\"}}")) / 8.0);
    Ok(Row {
        label: label.to_owned(),
        count,
        server: ServerCost::new(of_server, rss_mib, count, ticks_per_s),
        bytes_per_s: figure("bytes_down_per_s"),
        datagrams_per_s: figure("datagrams_down_per_s"),
        datagrams_up_per_s: figure("datagrams_up_per_s"),
        work_ms: Some(after.quantiles("ambit_recent_tick_work_seconds")),
        late_ms: Some(after.quantiles("ambit_recent_tick_lateness_seconds")),
        updates_per_s: Some(figure("updates_per_s")),
        in_sight: Some(figure("in_sight") - 1.0),
        age_ms: found["age_ms_p50"].as_u64().zip(found["age_ms_p99"].as_u64()),
        full_clients: found["whole"].as_u64(),
        connected: found["connected"].as_u64(),
        errors: found["errors"].as_u64(),
        client_cores: of_bots.cores,
        ratios: [None; 2],
        sharing: Some(sharing),
        parts: Some((of_wire, of_rooms)),
    })
}

/// Cost of a room in which nothing moves and no client sends a command.
pub(crate) fn measure_idle(count: u32, window: Duration) -> anyhow::Result<IdleRoom> {
    let scratch = ScratchFolder::new()?;
    let edge = map_edge_m(Motion::Waypoints, count);
    let [inner, outer, margin] = NEAR_ONLY.map(|(key, value)| (key, value.to_owned()));
    let room = [
        inner,
        outer,
        margin,
        ("size", format!("{edge:.1}x{edge:.1}")),
        ("obstacles", "0".to_owned()),
        ("npcs", "0".to_owned()),
    ];
    let run = CrowdRun::start(
        &scratch.0,
        count,
        window,
        &room,
        &["--game", "field", "--profile", "idle"].map(String::from),
        &[],
    )?;
    run.bots.wait_for_line("measuring", WAIT_LIMIT)?;
    let (of_server, _) = pinned_process::measure_cpu(&run.server, &run.bots, window)?;
    let found = run.read_result()?;
    let figure = |key: &str| found[key].as_f64().unwrap_or_default();
    Ok(IdleRoom {
        count,
        cores: of_server.cores,
        bytes_per_s: figure("bytes_down_per_s"),
        datagrams_per_s: figure("datagrams_down_per_s"),
        bytes_up_per_s: figure("bytes_up_per_s"),
    })
}

/// The bots' flags for a room whose avatars the server moves.
pub(crate) fn walked_by_server() -> Vec<String> {
    ["--game", WalkingCrowd::INFO.name, "--profile", "hold"].map(String::from).to_vec()
}

impl CrowdRun {
    /// Starts server and bots. The bots measure for `window`, once all are in and have settled.
    pub(crate) fn start(
        scratch: &Path,
        count: u32,
        window: Duration,
        room: &[(&str, String)],
        bots: &[String],
        server: &[String],
    ) -> anyhow::Result<Self> {
        let mut arguments: Vec<String> =
            ["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"].map(String::from).to_vec();
        // All bots connect from one address.
        for flag in ["--max-connections", "--max-connections-per-address"] {
            arguments.extend([flag.into(), (count + 64).max(4_096).to_string()]);
        }
        arguments.extend_from_slice(server);
        let server =
            PinnedProcess::start(SERVER_CORE, &binary("test-server")?, &arguments, scratch)?;
        let ready = server.wait_for_line("ready ", WAIT_LIMIT)?;
        let field = |key: &str| {
            ready.split_whitespace().find_map(|field| field.strip_prefix(key)).map(str::to_owned)
        };
        let (world, http) =
            (field("world=").context("no address")?, field("http=").context("no address")?);

        let mut arguments: Vec<String> = vec!["--server".into(), world, "--json".into()];
        arguments.extend([
            "--count".into(),
            count.to_string(),
            "--capacity".into(),
            count.to_string(),
        ]);
        arguments.extend(["--seconds".into(), window.as_secs().to_string()]);
        arguments.extend(["--settle".into(), SETTLE_TIME.as_secs().to_string()]);
        for parameter in room.iter().map(|(key, value)| format!("{key}={value}")) {
            arguments.extend(["--param".into(), parameter]);
        }
        arguments.extend_from_slice(bots);
        let bots = PinnedProcess::start(CLIENT_CORE, &binary("bots")?, &arguments, scratch)?;
        Ok(Self { server, bots, http })
    }

    /// Reads the result line of the bots.
    pub(crate) fn read_result(&self) -> anyhow::Result<Value> {
        Ok(serde_json::from_str(&self.bots.wait_for_line("{", WAIT_LIMIT)?)?)
    }

    /// The time that the functions of the game have taken.
    fn callbacks(&self) -> anyhow::Result<String> {
        let Metrics(text) = self.metrics()?;
        let of_game = text.lines().filter(|line| line.starts_with("ambit_game_"));
        Ok(of_game.collect::<Vec<_>>().join("\n"))
    }

    fn metrics(&self) -> anyhow::Result<Metrics> {
        let mut stream = TcpStream::connect(&self.http)?;
        stream.set_read_timeout(Some(WAIT_LIMIT))?;
        write!(
            stream,
            "GET /metrics HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.http
        )?;
        let mut text = String::new();
        stream.read_to_string(&mut text).context("no metrics")?;
        Ok(Metrics(text))
    }
}

/// The text of one scrape of `/metrics`.
struct Metrics(String);

impl Metrics {
    fn value(&self, series: &str) -> f64 {
        let line = self.0.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.and_then(|value| value.trim().parse().ok()).unwrap_or_default()
    }

    fn quantiles(&self, name: &str) -> Quantiles {
        let at =
            |quantile: &str| self.value(&format!("{name}{{quantile=\"{quantile}\"}}")) * 1_000.0;
        Quantiles { p50: at("0.5"), p99: at("0.99"), max: at("1") }
    }
}

/// Edge of a map on which each avatar sees about 30 others.
pub(crate) fn map_edge_m(motion: Motion, count: u32) -> f64 {
    let edges = match motion {
        Motion::Waypoints => EDGES_M,
        Motion::Steered => STEERED_EDGES_M,
    };
    let (last, edge) = edges[edges.len() - 1];
    let known = edges.iter().find(|(known, _)| *known == count).map(|(_, edge)| *edge);
    known.unwrap_or(edge * (f64::from(count) / f64::from(last)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_beyond_the_listed_sizes_keep_the_density() {
        let edge_m = |count| map_edge_m(Motion::Waypoints, count);
        assert_eq!((edge_m(250), edge_m(1_000)), (97.0, 200.3));
        assert!((edge_m(4_000) - 400.6).abs() < 1e-9);
    }

    #[test]
    fn a_metric_is_found_by_its_whole_name() {
        let metrics = Metrics(
            "HTTP/1.1 200 OK\r\n\r\n# TYPE a gauge\na{quantile=\"0.5\"} 0.002\na_total 7\n".into(),
        );
        assert_eq!(
            (metrics.value("a_total"), metrics.value("a"), metrics.quantiles("a").p50),
            (7.0, 0.0, 2.0)
        );
    }
}
