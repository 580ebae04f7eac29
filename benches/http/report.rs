//! The tables and the plot of `docs/performance.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use plotters::prelude::*;

use crate::Options;
use crate::load::{Case, Measured, ratio};

const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/performance.md");
const PLOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/performance.svg");

/// A row for each case, compared with the first case and with the case of the same name and `: {compared_to}`.
pub fn table(cases: &[Case<'_>], measured: &mut BTreeMap<String, Measured>, compared_to: &str) -> String {
    let bare = measured.get(&cases[0].name).map_or(0.0, Measured::rate);
    let mut table = format!(
        "| call | rate/s | p50 ms | p99 ms | ÷ {} | ÷ {compared_to} | service µs | PostgreSQL µs | peak MiB |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        cases[0].name
    );
    for Case { name, .. } in cases.iter().filter(|case| measured.contains_key(&case.name)).collect::<Vec<_>>() {
        let other = measured.get(&format!("{name}: {compared_to}"));
        let compared = other.map_or_else(String::new, |other| format!("**{:.2}**", ratio(&measured[name], other)));
        let case = measured.get_mut(name).unwrap();
        let (rate, p50, p99) = (case.rate(), case.percentile(50), case.percentile(99));
        let (of_bare, peak, (service, database)) = (rate / bare, case.peak, case.cost());
        if case.costs.is_empty() {
            // Measured by another program, which tells the rate.
            writeln!(table, "| {name} | {rate:.0} | | | {of_bare:.2} | | | | |").unwrap();
            continue;
        }
        writeln!(
            table,
            "| {name} | {rate:.0} | {p50:.2} | {p99:.2} | {of_bare:.2} | {compared} | {service:.0} | {database:.0} | {peak:.0} |"
        )
        .unwrap();
    }
    table
}

/// Replaces the text between its marks in `docs/performance.md`, unless only a part was measured.
pub fn write(title: &str, connections: usize, text: &str, options: &Options) {
    println!("\n{text}");
    if !options.only.is_empty() {
        return println!("only a part was measured, so docs/performance.md stays as it is");
    }
    let report = std::fs::read_to_string(REPORT).unwrap();
    let (open, close) = (format!("<!-- {title} -->\n"), format!("<!-- end of {title} -->"));
    let Some((before, rest)) = report.split_once(&open) else {
        return println!("docs/performance.md has no marks for {title}");
    };
    let (_, after) = rest.split_once(&close).expect("an end mark");
    let (rounds, seconds) = (options.rounds, options.seconds);
    let how = format!("{connections} connections, {rounds} rounds of {seconds} s a case, median of the rounds.");
    std::fs::write(REPORT, format!("{before}{open}{how}\n\n{text}{close}{after}")).unwrap();
    println!("written to docs/performance.md");
}

/// A line of the plot: its name, and the rate and the p99 in ms for each number of connections.
pub type Line = (String, Vec<(f64, f64, f64)>);

/// Plots rates and p99 against connections, with logarithmic axes.
pub fn plot(lines: &[Line]) {
    let root = SVGBackend::new(PLOT, (1_000, 440)).into_drawing_area();
    root.fill(&WHITE).unwrap();
    let (left, right) = root.split_horizontally(500);
    panel(&left, "answers a second", lines, |point| point.1);
    panel(&right, "p99, milliseconds", lines, |point| point.2);
    root.present().unwrap();
    println!("drawn to docs/performance.svg");
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    title: &str,
    lines: &[Line],
    value: fn(&(f64, f64, f64)) -> f64,
) {
    const COLOURS: [RGBColor; 6] = [
        RGBColor(110, 110, 110),
        RGBColor(0, 114, 178),
        RGBColor(0, 158, 115),
        RGBColor(213, 94, 0),
        RGBColor(130, 180, 160),
        RGBColor(235, 170, 120),
    ];
    let points = || lines.iter().flat_map(|(_, points)| points);
    let (low, high) = points().fold((f64::MAX, f64::MIN), |(low, high), p| (low.min(value(p)), high.max(value(p))));
    let (first, last) = points().fold((f64::MAX, f64::MIN), |(low, high), p| (low.min(p.0), high.max(p.0)));
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d((first..last).log_scale().base(2.0), (low * 0.8..high * 1.3).log_scale())
        .unwrap();
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("connections")
        .label_style(("sans-serif", 12))
        .draw()
        .unwrap();
    for ((name, points), colour) in lines.iter().zip(COLOURS) {
        let line = || points.iter().map(|point| (point.0, value(point)));
        chart
            .draw_series(LineSeries::new(line(), colour.stroke_width(2)))
            .unwrap()
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
        chart.draw_series(line().map(|point| Circle::new(point, 3, colour.filled()))).unwrap();
    }
    let place = SeriesLabelPosition::LowerRight;
    let mut labels = chart.configure_series_labels();
    labels.position(place).background_style(WHITE.mix(0.85)).label_font(("sans-serif", 12)).draw().unwrap();
}
