//! Draws the curves: error, jumps and bytes over loss, one line for each scheme.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

use super::rows::{Row, Scheme};

const WIDTH: u32 = 1_100;
const PANEL_HEIGHT: u32 = 330;
const FONT: &str = "sans-serif";

/// One diagram: a figure of the rows over loss.
struct Panel {
    title: &'static str,
    of: fn(&Row) -> f32,
    /// Lower end of the logarithmic axis.
    lowest: f32,
    /// Above this, players see the error.
    limit: Option<f32>,
}

const PANELS: [Panel; 3] = [
    Panel {
        title: "error e, p99, in cm",
        of: |row| row.figures.error_p99 * 100.0,
        lowest: 0.01,
        limit: Some(10.0),
    },
    Panel {
        title: "jump J, p99.9, in cm",
        of: |row| row.figures.jump_p999 * 100.0,
        lowest: 0.05,
        limit: Some(10.0),
    },
    Panel {
        title: "kB/s to a client",
        of: |row| row.figures.bytes_per_s / 1_000.0,
        lowest: 1.0,
        limit: None,
    },
];

pub(crate) fn draw(path: &Path, rows: &[Row]) -> Result<(), Box<dyn Error>> {
    let area =
        SVGBackend::new(path, (WIDTH, PANEL_HEIGHT * PANELS.len() as u32)).into_drawing_area();
    area.fill(&WHITE)?;
    for (panel, place) in PANELS.iter().zip(area.split_evenly((PANELS.len(), 1))) {
        let highest = rows.iter().map(panel.of).fold(panel.limit.unwrap_or(1.0), f32::max) * 1.3;
        let most_loss = rows.iter().map(|row| row.loss).fold(1.0, f32::max);
        let mut chart = ChartBuilder::on(&place)
            .caption(panel.title, (FONT, 16))
            .margin(10)
            .x_label_area_size(30)
            .y_label_area_size(50)
            .margin_right(30)
            .build_cartesian_2d(0.0..most_loss, (panel.lowest..highest).log_scale())?;
        chart.configure_mesh().x_desc("loss, %").light_line_style(WHITE.mix(0.0)).draw()?;
        if let Some(limit) = panel.limit {
            chart.draw_series(LineSeries::new(
                [(0.0, limit), (most_loss, limit)],
                BLACK.stroke_width(1),
            ))?;
        }
        for scheme in Scheme::ALL {
            let points = rows.iter().filter(|row| row.scheme == scheme);
            let points = points.map(|row| (row.loss, (panel.of)(row).max(panel.lowest)));
            let style = style(scheme);
            chart
                .draw_series(LineSeries::new(points, style))?
                .label(scheme.to_string())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], style));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.6))
            .label_font((FONT, 12))
            .draw()?;
    }
    area.present()?;
    Ok(())
}

/// Ambit's schemes have strong colours, the reference schemes pale ones; lower rates have thinner
/// lines.
fn style(scheme: Scheme) -> ShapeStyle {
    let (color, width) = match scheme {
        Scheme::ReferenceStates(20) => (RGBColor(230, 150, 60), 1),
        Scheme::ReferenceStates(_) => (RGBColor(200, 90, 20), 2),
        Scheme::ReferenceSnapshots => (RGBColor(150, 150, 150), 1),
        Scheme::Simulated(20) => (RGBColor(60, 140, 220), 1),
        Scheme::Simulated(_) => (RGBColor(20, 70, 160), 3),
        Scheme::Interpolated(20) => (RGBColor(90, 180, 90), 1),
        Scheme::Interpolated(_) => (RGBColor(20, 120, 40), 3),
    };
    color.stroke_width(width)
}
