//! The tables in Markdown.

use std::fmt::Write as _;

use crate::accuracy::Accuracy;
use crate::ambit_room::Motion;
use crate::pinned_process::Cpu;

/// Cost of the server process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ServerCost {
    pub(crate) cores: f64,
    pub(crate) us_per_client_tick: f64,
    pub(crate) rss_mib: u64,
    pub(crate) ticks_per_s: f64,
}

impl ServerCost {
    pub(crate) fn new(cpu: Cpu, rss_mib: u64, count: u32, ticks_per_s: f64) -> Self {
        let us_per_client_tick = cpu.cores * 1e6 / ticks_per_s / f64::from(count);
        Self { cores: cpu.cores, us_per_client_tick, rss_mib, ticks_per_s }
    }
}

/// Median, 99th percentile and maximum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quantiles {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

/// One run. Figures that the floor does not have are `None`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) count: u32,
    pub(crate) server: ServerCost,
    /// To bare quinn, and to the bare loop.
    pub(crate) ratios: [Option<f64>; 2],
    pub(crate) bytes_per_s: f64,
    pub(crate) datagrams_per_s: f64,
    pub(crate) datagrams_up_per_s: f64,
    pub(crate) work_ms: Option<Quantiles>,
    pub(crate) late_ms: Option<Quantiles>,
    pub(crate) updates_per_s: Option<f64>,
    /// Other avatars that a full client had in sight at the end.
    pub(crate) in_sight: Option<f64>,
    pub(crate) age_ms: Option<(u64, u64)>,
    pub(crate) full_clients: Option<u64>,
    pub(crate) connected: Option<u64>,
    pub(crate) errors: Option<u64>,
    pub(crate) client_cores: f64,
    /// Number of clients that share one encoding: of records, and of poses.
    pub(crate) sharing: Option<[f64; 2]>,
    /// Bytes a second that the server sends to each client, by [`WIRE_PARTS`], and what datagrams
    /// carry of them by [`ROOM_PARTS`].
    pub(crate) parts: Option<([f64; WIRE_PARTS.len()], [f64; ROOM_PARTS.len()])>,
}

/// The parts of packets, as metrics name them: they sum to the bytes on the wire.
pub(crate) const WIRE_PARTS: [&str; 6] =
    ["contents", "heads", "acknowledgements", "streams", "handshakes", "others"];

/// The parts of a room's datagrams.
pub(crate) const ROOM_PARTS: [&str; 11] = [
    "stamps",
    "records",
    "pose_headers",
    "pose_places",
    "pose_contents",
    "link_headers",
    "messages",
    "messages_repeated",
    "slices",
    "slices_repeated",
    "padding",
];

impl Row {
    /// Whether the room keeps its ticks and the clients' single core has time for more clients.
    pub(crate) fn keeps_ticks(&self) -> bool {
        self.server.ticks_per_s >= 19.9 && self.client_cores < 0.97
    }
}

/// A room in which nothing moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdleRoom {
    pub(crate) count: u32,
    pub(crate) cores: f64,
    pub(crate) bytes_per_s: f64,
    pub(crate) datagrams_per_s: f64,
    pub(crate) bytes_up_per_s: f64,
}

/// What clients show, compared with the server's trace.
pub(crate) fn accuracy(found: impl Iterator<Item = (Motion, anyhow::Result<Accuracy>)>) -> String {
    let mut text = String::from(
        "| run | samples | off by p50 | p99 | max | not in the trace |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for (motion, found) in found {
        if let Ok(Accuracy { samples, unmatched, p50_m, p99_m, max_m }) = found {
            let [p50, p99, max] =
                [p50_m, p99_m, max_m].map(|metres| format!("{:.1} cm", metres * 100.0));
            push_formatted(
                &mut text,
                format_args!("| {motion} | {samples} | {p50} | {p99} | {max} | {unmatched} |\n"),
            );
        }
    }
    text
}

/// A room in which nothing moves and no client acts.
pub(crate) fn idle(idle: &anyhow::Result<IdleRoom>) -> String {
    let mut text = String::from(
        "| clients | bytes/s to each | datagrams/s to each | bytes/s from each | cores |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    if let Ok(IdleRoom { count, cores, bytes_per_s, datagrams_per_s, bytes_up_per_s }) = idle {
        push_formatted(
            &mut text,
            format_args!(
                "| {count} | {bytes_per_s:.0} | {datagrams_per_s:.1} | {bytes_up_per_s:.0} \
                 | {cores:.3} |\n"
            ),
        );
    }
    text
}

/// What a flow costs the floors' servers: quinn, the loop, and plain UDP, of each the time for a
/// client and tick, and the packets a second to it.
pub(crate) fn floors(rows: &[(u32, usize, [Option<Row>; 3])]) -> String {
    let mut text = String::from(
        "| flows | bytes | quinn us | loop us | plain us | loop / quinn | quinn packets/s \
         | loop packets/s | plain packets/s |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (count, bytes, floors) in rows {
        let figure = |floor: usize, of: fn(&Row) -> f64| floors[floor].as_ref().map(of);
        let us = |floor| figure(floor, |row| row.server.us_per_client_tick);
        let packets = |floor| figure(floor, |row| row.datagrams_per_s);
        let ratio = us(1).zip(us(0)).map(|(of_loop, of_quinn)| of_loop / of_quinn);
        let cell = |value: Option<f64>, digits: usize| {
            value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
        };
        let figures = [us(0), us(1), us(2)].map(|us| cell(us, 1)).join(" | ");
        let sent = [packets(0), packets(1), packets(2)].map(|sent| cell(sent, 1)).join(" | ");
        let ratio = cell(ratio, 2);
        push_formatted(
            &mut text,
            format_args!("| {count} | {bytes} | {figures} | {ratio} | {sent} |\n"),
        );
    }
    text
}

/// Of what the bytes are that the server sends to each client, those of its clock second included.
pub(crate) fn bytes(rows: &[Row]) -> String {
    let names: Vec<String> =
        WIRE_PARTS.iter().chain(&ROOM_PARTS).map(|name| name.replace('_', " ")).collect();
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head = ["run", "N", "bytes/s"].map(str::to_owned);
    let head = [&head[..], &names].concat();
    let mut text = line(&head) + &line(&vec!["---".to_owned(); head.len()]);
    for row in rows {
        let Some((of_wire, of_rooms)) = row.parts else { continue };
        let begin = [row.label.clone(), row.count.to_string()];
        let sum = of_wire.iter().sum::<f64>();
        let figures = [&[sum], &of_wire[..], &of_rooms].concat();
        let figures: Vec<String> = figures.iter().map(|bytes| format!("{bytes:.1}")).collect();
        text += &line(&[&begin[..], &figures].concat());
    }
    text
}

/// The rows with their heading.
pub(crate) fn table_of(rows: &[Row]) -> String {
    let mut text = String::from(
        "| run | N | cores | us | / quinn | / loop | bytes/s | datagrams/s | up/s | ticks/s \
         | work ms p50, p99, max | late ms p50, p99, max | RSS MiB | in sight | updates/s | Hz \
         | age ms p50, p99 | full | in, errors | clients' cores | shared |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- \
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for row in rows {
        push_formatted(&mut text, format_args!("{}\n", format_row(row)));
    }
    text
}

fn format_row(row: &Row) -> String {
    let ServerCost { cores, us_per_client_tick, rss_mib, ticks_per_s } = row.server;
    let spread = |spread: Option<Quantiles>| {
        spread.map_or("-".to_owned(), |Quantiles { p50, p99, max }| {
            format!("{p50:.1}, {p99:.1}, {max:.1}")
        })
    };
    let number = |value: Option<f64>, digits: usize| {
        value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
    };
    let hz = row.updates_per_s.zip(row.in_sight).map(|(updates, others)| updates / (others + 1.0));
    let cells = [
        row.label.clone(),
        row.count.to_string(),
        format!("{cores:.3}"),
        format!("{us_per_client_tick:.1}"),
        number(row.ratios[0], 2),
        number(row.ratios[1], 2),
        format!("{:.0}", row.bytes_per_s),
        format!("{:.1}", row.datagrams_per_s),
        format!("{:.1}", row.datagrams_up_per_s),
        format!("{ticks_per_s:.1}"),
        spread(row.work_ms),
        spread(row.late_ms),
        rss_mib.to_string(),
        number(row.in_sight, 1),
        number(row.updates_per_s, 0),
        number(hz, 1),
        row.age_ms.map_or("-".to_owned(), |(p50, p99)| format!("{p50}, {p99}")),
        row.full_clients.map_or("-".to_owned(), |full| full.to_string()),
        row.connected
            .zip(row.errors)
            .map_or("-".to_owned(), |(connected, errors)| format!("{connected}, {errors}")),
        format!("{:.2}", row.client_cores),
        row.sharing.map_or("-".to_owned(), |[records, poses]| format!("{records:.1}, {poses:.1}")),
    ];
    format!("| {} |", cells.join(" | "))
}

pub(crate) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown");
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("?");
    format!("{cores} cores, {}, load {load} at the end", model.trim_start_matches(['\t', ' ', ':']))
}

fn push_formatted(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_cell_for_each_heading() {
        let rows = [Row { label: "bare quinn".into(), count: 10, ..Row::default() }];
        let text = table_of(&rows);
        let columns = |start: &str| {
            text.lines().find(|line| line.starts_with(start)).map(|line| line.matches('|').count())
        };
        assert_eq!(columns("| run | N "), columns("| bare quinn"));
        assert_eq!(columns("| run | N "), columns("| --- | --- | --- | --- | --- | --- | --- |"));
        let parts = Some(([1.5; WIRE_PARTS.len()], [0.5; ROOM_PARTS.len()]));
        let text = bytes(&[Row { parts, ..Row::default() }]);
        let columns: Vec<usize> = text.lines().map(|line| line.matches('|').count()).collect();
        assert_eq!(columns, [21; 3], "{text}");
        let text = floors(&[(100, 60, [Some(Row::default()), None, None])]);
        let columns: Vec<usize> = text.lines().map(|line| line.matches('|').count()).collect();
        assert_eq!(columns, [10; 3], "{text}");
    }
}
