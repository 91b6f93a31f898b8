//! `/metrics`: a snapshot as text for Prometheus.
//!
//! Nothing is counted here. All values of a scrape are of one moment; those of hosts are up to a
//! second old. Names begin with `ambit_`; counters end in `_total`; units are seconds and bytes.

use std::collections::BTreeMap;
use std::fmt::{Display, Error};

use ambit_host_protocol::TICK_BUCKETS;
use ambit_host_protocol::stats::{HostStats, TickFigures};
use ambit_lobby::{Host, HostId};
use ambit_proto::codes;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeCounterValue, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use super::snapshot::Snapshot;
use crate::keep::planner::KeepStats;

/// Of what games count themselves: each is a label.
const MAX_GAME_COUNTS: usize = 256;

/// No labels, and no exemplars with labels.
type NoLabels = [(&'static str, &'static str); 0];

pub(crate) fn render(snapshot: Snapshot) -> Result<String, Error> {
    let mut registry = Registry::with_prefix("ambit");
    registry.register_collector(Box::new(MetricsCollector(snapshot)));
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry)?;
    Ok(text)
}

#[derive(Debug)]
struct MetricsCollector(Snapshot);

impl Collector for MetricsCollector {
    fn encode(&self, encoder: DescriptorEncoder) -> Result<(), Error> {
        let mut out = MetricsEncoder(encoder);
        out.encode_build()?;
        self.encode_lobby(&mut out)?;
        if let Some(kept) = self.0.kept {
            encode_kept(kept, &mut out)?;
        }
        self.encode_hosts(&mut out)
    }
}

/// Encodes the rows of a table: what a metric is, its name, its help, its value.
macro_rules! encode_table {
    ($out:ident; $($encode:ident $name:literal, $help:literal, $value:expr;)*) => {
        $($out.$encode($name, $help, $value)?;)*
    };
}

impl MetricsCollector {
    fn encode_lobby(&self, out: &mut MetricsEncoder) -> Result<(), Error> {
        let Snapshot { lobby, draining, .. } = &self.0;
        let named = |(code, count): (&codes::ErrorCode, &u64)| (codes::name(*code), *count);
        encode_table! { out;
            gauge "draining", "1 while the server shuts down", u64::from(*draining);
            gauge "connections", "Lobby connections", lobby.connections as u64;
            counter "connections_made", "Lobby connections so far, refused ones included",
                lobby.connections_total;
            gauge "players", "Players, those within the grace period included",
                lobby.players as u64;
            gauge "players_away", "Players within the grace period", lobby.players_away as u64;
            counter "sessions_resumed", "Sessions resumed", lobby.resumed;
            gauge "rooms", "Rooms in the lobby", lobby.rooms as u64;
            gauge "rooms_running", "Rooms whose game runs", lobby.rooms_running as u64;
            counter "rooms_made", "Rooms created", lobby.rooms_made;
            counter "rooms_started", "Rooms started", lobby.rooms_started;
            gauge "hosts", "Hosts that are ready", lobby.hosts as u64;
            gauge "hosts_with_wrong_clock",
                "Hosts whose clock differed from this server's by seconds when they started",
                lobby.hosts_with_wrong_clock as u64;
            counter "rooms_moved",
                "Rooms that lost their host, or were handed over, and had to resume elsewhere",
                lobby.rooms_moved;
            counter "rooms_misfit",
                "Rooms that a host of another build could not read, and that went back",
                lobby.rooms_misfit;
            gauge "rooms_waiting",
                "Rooms that wait for a host of the build that saved them",
                lobby.rooms_waiting as u64;
            counter "rooms_condemned", "Rooms closed because they seemed to crash their hosts",
                lobby.rooms_condemned;
            counter "rooms_abandoned", "Rooms closed because nobody played them",
                lobby.rooms_abandoned;
            counter "password_guesses_refused",
                "Attempts to join a room during a pause after wrong passwords",
                lobby.password_guesses_refused;
            counter "crossings", "Players who moved through a gate to another map",
                lobby.transfers_completed;
            counter "hosts_refused",
                "Hosts refused for their key, their version or an invalid first message",
                lobby.hosts_refused;
            counter "tickets_issued", "Tickets issued", lobby.tickets;
            counter "chats", "Chat messages", lobby.chats;
            counters "lobby_refused", "Requests and connections that the lobby refused",
                ("code", lobby.refused.iter().map(named));
            counters "lobby_closed", "Connections that the lobby closed",
                ("code", lobby.closed.iter().map(named));
        }
        Ok(())
    }

    fn encode_hosts(&self, out: &mut MetricsEncoder) -> Result<(), Error> {
        let hosts = self.0.all_hosts();
        encode_table! { out;
            gauge "host_rooms", "Rooms on all hosts", hosts.rooms.into();
            gauge "host_players", "Players in the rooms of all hosts", hosts.players.into();
            gauge "game_connections", "Game connections, those not joined yet included",
                hosts.clients.into();
        }
        encode_traffic(&hosts, out)?;
        encode_wire(&self.0.all_wire(), out)?;
        encode_ticks_of_hosts(&hosts, out)?;
        self.encode_late_rooms(out)?;
        self.encode_callbacks(out)?;
        self.encode_each_host(out)?;
        let refused = hosts.tickets_refused.into_iter();
        out.counters("tickets_refused", "Tickets refused by hosts", ("reason", refused))?;
        let counts = hosts.game_counts.into_iter().take(MAX_GAME_COUNTS);
        out.counters("game_counts", "What games have counted themselves", ("count", counts))?;
        out.encode_drops(self.0.all_drops().iter())
    }

    fn encode_each_host(&self, out: &mut MetricsEncoder) -> Result<(), Error> {
        let cores =
            |(id, host): &(HostId, Host)| (id.0, f64::from(host.stats.cpu_permille) / 1_000.0);
        let rooms = |(id, host): &(HostId, Host)| (id.0, f64::from(host.stats.rooms));
        encode_table! { out;
            gauges "host_cores", "Cores that a host's process used over the last second",
                ("host", self.0.hosts.iter().map(cores));
            gauges "rooms_by_host", "Rooms of a host", ("host", self.0.hosts.iter().map(rooms));
        }
        Ok(())
    }

    /// Only of the rooms whose games take the most time, so that the number of labels is limited.
    fn encode_callbacks(&self, out: &mut MetricsEncoder) -> Result<(), Error> {
        let rooms = self.0.room_callbacks();
        let times = || {
            rooms.iter().flat_map(|(room, callbacks)| {
                callbacks.iter().map(move |time| {
                    let labels = [("room", room.to_string()), ("callback", time.callback.clone())];
                    (labels, time)
                })
            })
        };
        encode_table! { out;
            family "game_calls",
                "Calls of the functions of a room's game; the 64 rooms whose games take the most \
                 time",
                times().map(|(labels, time)| (labels, time.calls));
            family "game_seconds",
                "What these calls took; of `sees`, estimated from one call in 16",
                times().map(|(labels, time)| (labels, time.nanos as f64 / 1e9));
        }
        Ok(())
    }

    /// Only of the rooms that skip the most ticks now, so that the number of labels is limited.
    fn encode_late_rooms(&self, out: &mut MetricsEncoder) -> Result<(), Error> {
        let late_rooms = self.0.late_rooms();
        let skipped = late_rooms.iter().map(|late| (late.room.to_string(), late.ticks_skipped));
        let levels = late_rooms.iter().map(|late| (late.room.0, f64::from(late.load_level)));
        encode_table! { out;
            counters "room_ticks_skipped",
                "Ticks that a room skipped on its host; the 64 rooms that skip the most now",
                ("room", skipped);
            gauges "room_load_level",
                "How much less a room sends because it is late; the same rooms", ("room", levels);
        }
        Ok(())
    }
}

/// What `--keep` writes.
fn encode_kept(kept: KeepStats, out: &mut MetricsEncoder) -> Result<(), Error> {
    encode_table! { out;
        counter "kept_bytes", "Bytes written to keep rooms and sessions", kept.bytes;
        counter "kept_syncs", "Times that what is kept was synced to the disk", kept.syncs;
        counter "kept_failures",
            "Writes that failed; rooms are kept again from their next snapshots on",
            kept.failures;
        counter "kept_rooms_left_out",
            "Times that a room was not kept until its next snapshot, since too much waited",
            kept.left_out;
        gauge "kept_rooms_set_aside",
            "Rooms in `set-aside` of the directory, since they could not go on", kept.set_aside;
        gauge "kept_waiting_bytes", "Bytes that wait to be written", kept.waiting_bytes;
        gauge "kept_failing",
            "1 while rooms and sessions are not kept, since the last write failed",
            u64::from(kept.is_failing);
    }
    Ok(())
}

/// What the hosts send to clients and receive from them.
fn encode_traffic(hosts: &HostStats, out: &mut MetricsEncoder) -> Result<(), Error> {
    let counts = |counts: &BTreeMap<String, u64>| counts.clone().into_iter();
    let by_use = hosts.encodings.iter().filter_map(|(name, count)| {
        let (what, how) = name.split_once('/')?;
        Some(([("what", what.to_owned()), ("how", how.to_owned())], *count))
    });
    let by_kind = hosts.kind_bits.iter().filter_map(|(name, bits)| {
        let mut names = name.splitn(3, '/').map(str::to_owned);
        let (game, kind, part) = (names.next()?, names.next()?, names.next()?);
        Some(([("game", game), ("kind", kind), ("part", part)], *bits))
    });
    encode_table! { out;
        counters "datagrams", "Game datagrams",
            ("direction", by_direction(hosts.datagrams_in, hosts.datagrams_out));
        counters "datagram_bytes", "Bytes of game datagrams, without QUIC's own",
            ("direction", by_direction(hosts.bytes_in, hosts.bytes_out));
        counter "enters", "Objects that came into a client's view", hosts.enters;
        counter "leaves", "Objects that left a client's view", hosts.leaves;
        counter "events", "Events sent, once for each client", hosts.events;
        counter "late_events",
            "Events and updates that arrived after their effect time, as clients report",
            hosts.late_events;
        counter "commands", "Commands executed", hosts.commands;
        counter "commands_refused", "Commands that games refused", hosts.commands_refused;
        gauge "amplification_permille",
            "Datagram bytes sent over bytes received, times 1,000, of the client for which that \
             is highest",
            hosts.amplification_permille.into();
        counters "datagram_bits", "Bits of game datagrams, by what they are for",
            ("part", counts(&hosts.bits));
        family "kind_bits",
            "Bits of objects by their kind: records, and poses with their places by the class in \
             which the client had the object; in `datagram_bits`, too",
            by_kind;
        family "encodings",
            "How often something was encoded (made), and how often that served a client, \
             including checks whether the client predicts it (used)",
            by_use;
        counters "poses",
            "Poses that were due for a client: sent, predicted by it well enough, or left out for \
             lack of budget",
            ("fate", counts(&hosts.poses));
    }
    Ok(())
}

/// The packets of all endpoints: `wire` as in [`HostStats::wire`].
fn encode_wire(wire: &BTreeMap<String, u64>, out: &mut MetricsEncoder) -> Result<(), Error> {
    let named = || wire.iter().filter_map(|(name, count)| Some((name.split_once('/')?, *count)));
    let packets = named().filter(|((_, part), _)| *part == "packets");
    let bytes =
        named().filter(|((_, part), _)| *part != "packets").map(|((direction, part), count)| {
            ([("direction", direction.to_owned()), ("part", part.to_owned())], count)
        });
    encode_table! { out;
        counters "wire_packets", "Packets of servers and hosts, also of the links between them",
            ("direction", packets.map(|((direction, _), count)| (direction.to_owned(), count)));
        family "wire_bytes",
            "Bytes of these packets (UDP's payload), by what they are for: the parts sum to all",
            bytes;
    }
    Ok(())
}

/// How well the hosts keep the time of their ticks.
fn encode_ticks_of_hosts(hosts: &HostStats, out: &mut MetricsEncoder) -> Result<(), Error> {
    encode_table! { out;
        counter "ticks_skipped", "Ticks skipped because a room was too far behind",
            hosts.ticks_skipped;
        gauge "rooms_late", "Rooms that send less because their ticks take longer than they may",
            hosts.rooms_late.into();
    }
    out.encode_ticks(&hosts.tick_buckets, hosts.tick_seconds_sum)?;
    encode_table! { out;
        recent "recent_tick_work_seconds",
            "Work of the newest 256 ticks; the worst of all hosts",
            hosts.recent_work.unwrap_or_default();
        recent "recent_tick_lateness_seconds",
            "Delay of the start of the newest 256 ticks; the worst of all hosts",
            hosts.recent_lateness.unwrap_or_default();
    }
    Ok(())
}

/// The Prometheus encoder with one function for each shape of metric.
struct MetricsEncoder<'a>(DescriptorEncoder<'a>);

impl MetricsEncoder<'_> {
    fn gauge(&mut self, name: &str, help: &str, value: u64) -> Result<(), Error> {
        let gauge = ConstGauge::new(value as i64);
        gauge.encode(self.0.encode_descriptor(name, help, None, MetricType::Gauge)?)
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) -> Result<(), Error> {
        let counter = ConstCounter::new(value);
        counter.encode(self.0.encode_descriptor(name, help, None, MetricType::Counter)?)
    }

    fn counters(
        &mut self,
        name: &str,
        help: &str,
        (label, values): (&'static str, impl Iterator<Item = (String, u64)>),
    ) -> Result<(), Error> {
        self.family(name, help, values.map(|(value, count)| ([(label, value)], count)))
    }

    fn family<const N: usize, V: EncodeCounterValue>(
        &mut self,
        name: &str,
        help: &str,
        values: impl Iterator<Item = ([(&'static str, String); N], V)>,
    ) -> Result<(), Error> {
        let mut encoder = self.0.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (labels, count) in values {
            ConstCounter::new(count).encode(encoder.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn encode_ticks(&mut self, buckets: &[u64], sum_s: f64) -> Result<(), Error> {
        let bounds = TICK_BUCKETS.into_iter().chain([f64::INFINITY]);
        let buckets: Vec<(f64, u64)> =
            bounds.zip(buckets.iter().copied().chain(std::iter::repeat(0))).collect();
        let count = buckets.iter().map(|(_, count)| count).sum();
        let help = "Work of one tick of one room";
        let mut encoder =
            self.0.encode_descriptor("tick_seconds", help, None, MetricType::Histogram)?;
        encoder.encode_histogram::<NoLabels>(sum_s, count, &buckets, None)
    }

    fn gauges<V: Display>(
        &mut self,
        name: &str,
        help: &str,
        (label, values): (&'static str, impl Iterator<Item = (V, f64)>),
    ) -> Result<(), Error> {
        let mut encoder = self.0.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (value, number) in values {
            ConstGauge::new(number)
                .encode(encoder.encode_family(&[(label, value.to_string())])?)?;
        }
        Ok(())
    }

    fn recent(&mut self, name: &str, help: &str, figures: TickFigures) -> Result<(), Error> {
        let quantiles = [("0.5", figures.p50_us), ("0.99", figures.p99_us), ("1", figures.max_us)];
        let seconds = quantiles.map(|(quantile, us)| (quantile, f64::from(us) / 1e6));
        self.gauges(name, help, ("quantile", seconds.into_iter()))
    }

    fn encode_drops<'n>(
        &mut self,
        drops: impl Iterator<Item = (&'n String, &'n u64)>,
    ) -> Result<(), Error> {
        let labelled = drops.map(|(name, count)| {
            let (queue, reason) = name.split_once('/').unwrap_or((name, "other"));
            ([("queue", queue.to_owned()), ("reason", reason.to_owned())], *count)
        });
        self.family("drops", "Items dropped at bounded queues", labelled)
    }

    fn encode_build(&mut self) -> Result<(), Error> {
        let mut encoder =
            self.0.encode_descriptor("build", "Version of this program", None, MetricType::Info)?;
        encoder.encode_info(&[("version", env!("CARGO_PKG_VERSION"))])
    }
}

fn by_direction(received: u64, sent: u64) -> impl Iterator<Item = (String, u64)> {
    [("in".to_owned(), received), ("out".to_owned(), sent)].into_iter()
}

#[cfg(test)]
mod tests {
    use ambit_host_protocol::stats::{CallbackTime, RoomCallbacks};
    use ambit_proto::ids::RoomId;

    use super::*;

    #[test]
    fn every_line_is_a_comment_or_an_ambit_metric() {
        let text = render(Snapshot::default()).unwrap();
        for line in text.lines() {
            assert!(line.starts_with("# ") || line.starts_with("ambit_"), "{line}");
        }
        assert!(text.contains("ambit_build_info{version="), "{text}");
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn metrics_have_their_labels_and_names() {
        let mut snapshot = Snapshot::default();
        snapshot.lobby.connections = 3;
        snapshot.lobby.refused.insert(codes::ErrorCode::RoomFull, 2);
        snapshot.drops.insert("lobby_out/slow_reader".into(), 4);
        snapshot.lost_host_stats = HostStats {
            datagrams_in: 10,
            bytes_out: 11,
            late_events: 1,
            recent_work: Some(TickFigures { p50_us: 1_500, p99_us: 2_000, max_us: 3_000 }),
            tickets_refused: [("forged".to_owned(), 6)].into(),
            drops: [("game_inbox/full".to_owned(), 5)].into(),
            game_counts: [("inn/drinks".to_owned(), 7)].into(),
            ..HostStats::default()
        };
        let mut host = Host::default();
        host.stats = HostStats {
            cpu_permille: 1_500,
            rooms: 3,
            room_callbacks: vec![RoomCallbacks {
                room: RoomId(7),
                callbacks: vec![CallbackTime {
                    callback: "step".to_owned(),
                    calls: 20,
                    nanos: 1_500_000_000,
                }],
            }],
            ..HostStats::default()
        };
        snapshot.hosts.push((HostId(2), host));
        let text = render(snapshot).unwrap();
        for line in [
            "ambit_connections 3",
            "ambit_lobby_refused_total{code=\"room_full\"} 2",
            "ambit_datagrams_total{direction=\"in\"} 10",
            "ambit_datagram_bytes_total{direction=\"out\"} 11",
            "ambit_late_events_total 1",
            "ambit_recent_tick_work_seconds{quantile=\"0.5\"} 0.0015",
            "ambit_recent_tick_lateness_seconds{quantile=\"1\"} 0.0",
            "ambit_host_cores{host=\"2\"} 1.5",
            "ambit_rooms_by_host{host=\"2\"} 3.0",
            "ambit_game_calls_total{room=\"7\",callback=\"step\"} 20",
            "ambit_game_seconds_total{room=\"7\",callback=\"step\"} 1.5",
            "ambit_tickets_refused_total{reason=\"forged\"} 6",
            "ambit_game_counts_total{count=\"inn/drinks\"} 7",
            "ambit_drops_total{queue=\"game_inbox\",reason=\"full\"} 5",
            "ambit_drops_total{queue=\"lobby_out\",reason=\"slow_reader\"} 4",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} is missing in\n{text}");
        }
    }

    #[test]
    fn the_histogram_is_cumulative() {
        let mut buckets = vec![0; TICK_BUCKETS.len() + 1];
        (buckets[0], buckets[2], buckets[TICK_BUCKETS.len()]) = (3, 2, 1);
        let lost =
            HostStats { tick_buckets: buckets, tick_seconds_sum: 1.5, ..HostStats::default() };
        let text = render(Snapshot { lost_host_stats: lost, ..Snapshot::default() }).unwrap();
        for line in [
            "ambit_tick_seconds_bucket{le=\"0.0005\"} 3",
            "ambit_tick_seconds_bucket{le=\"0.002\"} 5",
            "ambit_tick_seconds_bucket{le=\"+Inf\"} 6",
            "ambit_tick_seconds_count 6",
            "ambit_tick_seconds_sum 1.5",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} is missing in\n{text}");
        }
    }
}
