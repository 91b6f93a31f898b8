//! The figures of a run.

use std::fmt::{Display, Formatter};

use ambit_pose_training::CATEGORY_NAMES;

const FRAMES_PER_SECOND: f64 = 60.0;
/// Rates to compare with, in kbit/s on `cubes_A`.
const BARS: [(f64, &str); 3] = [
    (253.0, "packing by hand"),
    (194.8, "the best published coder that obeys the rule"),
    (165.0, "the goal"),
];
/// Microseconds a packet, each way.
const TIME_BAR_US: f64 = 200.0;

#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketFigures {
    pub(crate) bytes: usize,
    /// Cubes that differ from the baseline.
    pub(crate) changed: usize,
    /// See `spent_bits`.
    pub(crate) spent: [f64; CATEGORY_NAMES.len()],
    pub(crate) encode_us: f64,
    pub(crate) decode_us: f64,
}

/// The figures of all packets, in their order.
#[derive(Default)]
pub(crate) struct Report {
    packets: Vec<PacketFigures>,
}

impl Report {
    pub(crate) fn add(&mut self, packet: PacketFigures) {
        self.packets.push(packet);
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let all = &self.packets;
        let (first, second) = all.split_at(all.len() / 2);
        let bytes: usize = all.iter().map(|packet| packet.bytes).sum();
        let changed: usize = all.iter().map(|packet| packet.changed).sum();
        let rate = kbit_per_s(all);
        writeln!(f, "every packet decoded and compared: equal bit by bit")?;
        writeln!(
            f,
            "packets            {} ({bytes} bytes, {:.1} each)",
            all.len(),
            bytes as f64 / all.len() as f64
        )?;
        writeln!(
            f,
            "rate               {rate:.2} kbit/s (first half {:.2}, second half {:.2})",
            kbit_per_s(first),
            kbit_per_s(second)
        )?;
        writeln!(
            f,
            "bits               {:.2} a changed cube ({:.1} of them a packet)",
            bytes as f64 * 8.0 / changed.max(1) as f64,
            changed as f64 / all.len() as f64
        )?;
        self.categories(f, changed)?;
        times(f, "encode", all.iter().map(|packet| packet.encode_us))?;
        times(f, "decode", all.iter().map(|packet| packet.decode_us))?;
        for (bar, what) in BARS {
            writeln!(f, "bar {bar:6.1} kbit/s   {} ({what}, on cubes_A)", status(rate < bar))?;
        }
        Ok(())
    }
}

impl Report {
    fn categories(&self, f: &mut Formatter<'_>, changed: usize) -> std::fmt::Result {
        let all = self.packets.iter();
        let mut rest = all.clone().map(|packet| packet.bytes as f64 * 8.0).sum();
        let mut rows = Vec::new();
        for (category, name) in CATEGORY_NAMES.into_iter().enumerate() {
            let bits: f64 = all.clone().map(|packet| packet.spent[category]).sum();
            rest -= bits;
            rows.push((name, bits));
        }
        rows.push(("header, end", rest));
        for (name, bits) in rows {
            let packets = self.packets.len() as f64;
            writeln!(
                f,
                "  {name:16} {:9.2} bits a packet, {:6.2} a changed cube, {:7.2} kbit/s",
                bits / packets,
                bits / changed.max(1) as f64,
                bits / packets * FRAMES_PER_SECOND / 1_000.0
            )?;
        }
        Ok(())
    }
}

fn kbit_per_s(packets: &[PacketFigures]) -> f64 {
    let bytes: usize = packets.iter().map(|packet| packet.bytes).sum();
    bytes as f64 * 8.0 * FRAMES_PER_SECOND / packets.len().max(1) as f64 / 1_000.0
}

fn times(f: &mut Formatter<'_>, name: &str, times: impl Iterator<Item = f64>) -> std::fmt::Result {
    let mut sorted: Vec<f64> = times.collect();
    sorted.sort_by(f64::total_cmp);
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    let quantile = |part: f64| sorted[((sorted.len() - 1) as f64 * part) as usize];
    writeln!(
        f,
        "{name}             {mean:.1} us a packet, p50 {:.1}, p99 {:.1} \
         (bar {TIME_BAR_US:.0} us: {})",
        quantile(0.5),
        quantile(0.99),
        status(mean <= TIME_BAR_US)
    )
}

fn status(holds: bool) -> &'static str {
    if holds { "held" } else { "MISSED" }
}
