//! The line to the game's host, in figures.

use std::time::Duration;

use ambit_proto::time::LocalTime;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};

use super::wrap;

const COLUMNS: u16 = 36;

/// What is measured; counters are since the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct NetworkFigures {
    pub(crate) rtt: Option<Duration>,
    pub(crate) jitter: Option<Duration>,
    pub(crate) datagrams_down: u64,
    pub(crate) datagrams_lost: u64,
    pub(crate) bytes_down: u64,
    pub(crate) bytes_up: u64,
    /// Of the newest state that is shown: median and 99th percentile, in milliseconds.
    pub(crate) age_ms: (Option<u64>, Option<u64>),
    /// The longest time without anything new.
    pub(crate) longest_gap: Duration,
    /// How often the host has corrected what the client drew of the own avatar or simulated, and
    /// the 99th percentile of how far, in centimetres.
    pub(crate) corrections: (u64, Option<f64>),
    /// The room's load: how much less it sends.
    pub(crate) load_level: u32,
    pub(crate) moves: u64,
}

/// The panel, open or not.
#[derive(Debug, Default)]
pub(crate) struct NetworkPanel {
    pub(crate) is_open: bool,
    figures: NetworkFigures,
    /// Bytes a second, down and up.
    rate: Option<(f64, f64)>,
    /// The figures that the rate counts from.
    before: Option<(LocalTime, NetworkFigures)>,
}

impl NetworkPanel {
    /// Takes newer figures.
    pub(crate) fn note(&mut self, now: LocalTime, figures: NetworkFigures) {
        if let Some((then, before)) = &self.before {
            let seconds = now.since(*then).as_secs_f64();
            if seconds < 0.9 {
                self.figures = figures;
                return;
            }
            let per_s = |new: u64, old: u64| new.saturating_sub(old) as f64 / seconds;
            let down = per_s(figures.bytes_down, before.bytes_down);
            self.rate = Some((down, per_s(figures.bytes_up, before.bytes_up)));
        }
        self.before = Some((now, figures.clone()));
        self.figures = figures;
    }

    pub(crate) fn draw(&self, frame: &mut Frame<'_>, whole: Rect) {
        let lines = self.lines();
        let width = COLUMNS.min(whole.width);
        let height = (lines.len() as u16 + 2).min(whole.height);
        let area = Rect { x: whole.right() - width, y: whole.y, width, height };
        let columns = usize::from(width.saturating_sub(2));
        let line = |(name, value): (&str, String)| {
            let gap = columns.saturating_sub(wrap::width(name) + wrap::width(&value));
            Line::raw(format!("{name}{}{value}", " ".repeat(gap)))
        };
        let lines: Vec<Line<'_>> = lines.into_iter().map(line).collect();
        let block = Block::bordered().title(" Network ").title_bottom(" F2 closes ");
        frame.render_widget(Clear, area);
        frame.render_widget(Paragraph::new(lines).block(block), area);
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let it = &self.figures;
        let none = || "–".to_owned();
        let ms = |time: Option<Duration>| {
            time.map_or_else(none, |time| format!("{:.1} ms", time.as_secs_f64() * 1_000.0))
        };
        let whole_ms = |ms: Option<u64>| ms.map_or_else(none, |ms| format!("{ms} ms"));
        let sent = it.datagrams_down + it.datagrams_lost;
        let lost = (sent > 0).then(|| 100.0 * it.datagrams_lost as f64 / sent as f64);
        let rate = |pick: fn((f64, f64)) -> f64| {
            self.rate.map_or_else(none, |rate| format!("{:.1} kB/s", pick(rate) / 1_000.0))
        };
        let (corrections, far) = it.corrections;
        vec![
            ("round trip", ms(it.rtt)),
            ("jitter", ms(it.jitter)),
            ("lost", lost.map_or_else(none, |lost| format!("{lost:.2} %"))),
            ("down", rate(|rate| rate.0)),
            ("up", rate(|rate| rate.1)),
            ("age of what is shown, median", whole_ms(it.age_ms.0)),
            ("  99 % are younger than", whole_ms(it.age_ms.1)),
            ("longest silence", ms(Some(it.longest_gap))),
            ("corrections", corrections.to_string()),
            ("  99 % are below", far.map_or_else(none, |far| format!("{far:.1} cm"))),
            ("load of the room", it.load_level.to_string()),
            ("changes of the host", it.moves.to_string()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_counts_from_the_figures_a_second_before() {
        let mut panel = NetworkPanel::default();
        for (ms, bytes) in [(0, 0), (500, 9_000), (1_000, 20_000), (2_000, 25_000)] {
            let figures = NetworkFigures { bytes_down: bytes, ..NetworkFigures::default() };
            panel.note(LocalTime::ZERO + Duration::from_millis(ms), figures);
        }
        assert_eq!(panel.rate, Some((5_000.0, 0.0)));
    }
}
