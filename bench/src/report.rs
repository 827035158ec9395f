//! The measurements as a Markdown table and a plot for each case.

use std::{fs, path::Path};

use anyhow::Context;
use plotters::prelude::*;

use crate::line::Line;

/// Width and height of a plot, in pixels.
const SIZE: (u32, u32) = (720, 360);

/// Writes `report.md` and one `CASE.svg` a case, and says where.
pub(crate) fn write(folder: &Path, lines: &[Line]) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    let mut text = table(lines);
    for lines in lines.chunk_by(|one, next| one.case == next.case) {
        let case = lines[0].case;
        if plot(&folder.join(format!("{case}.svg")), lines).with_context(|| format!("cannot plot `{case}`"))? {
            text += &format!("\n![{case}]({case}.svg)\n");
        }
    }
    let path = folder.join("report.md");
    fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

fn table(lines: &[Line]) -> String {
    let mut text = String::from(
        "| case | size | settings | rate a second | p50 ms | p99 ms | Postgres µs a step | client µs a step | commits a step | WAL bytes a step | HOT | bytes a task | yardstick tps |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let cell = |value: Option<f64>, digits: usize| value.map_or(String::new(), |value| format!("{value:.digits$}"));
    for line in lines {
        text += &format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.0} |\n",
            line.case,
            line.size,
            line.settings,
            cell(line.rate(), 0),
            cell(line.p50_ms, 2),
            cell(line.p99_ms, 2),
            cell(line.pg_cpu_us_per_step, 0),
            cell(line.client_cpu_us_per_step, 0),
            cell(line.commits_per_step, 3),
            cell(line.wal_bytes_per_step, 0),
            cell(line.hot_share, 2),
            cell(line.bytes_per_task, 0),
            line.yardstick_tps,
        );
    }
    if let Some(floor) = lines.iter().find_map(|line| line.pgmq_floor_us) {
        text += &format!(
            "\nPGMQ alone (send, read, delete in batches of 100) took {floor:.1} µs of Postgres CPU a message.\n"
        );
    }
    text
}

/// A bar for each line, of its rate or else its median; `false` when there is nothing to compare.
fn plot(path: &Path, lines: &[Line]) -> anyhow::Result<bool> {
    let mut bars: Vec<(String, f64)> =
        lines.iter().filter_map(|line| Some((label(line), line.rate().or(line.p50_ms)?))).collect();
    if bars.len() < 2 {
        return Ok(false);
    }
    // From the top down.
    bars.reverse();
    let most = bars.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(format!("{}: {}", lines[0].case, lines[0].rate_name()), ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(24)
        .y_label_area_size(190)
        .build_cartesian_2d(0.0..most * 1.1, (0..bars.len() - 1).into_segmented())?;
    let name = |at: &SegmentValue<usize>| match at {
        SegmentValue::CenterOf(at) => bars.get(*at).map_or(String::new(), |(label, _)| label.clone()),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .light_line_style(WHITE)
        .x_label_formatter(&|value| format!("{value:.0}"))
        .y_labels(bars.len())
        .y_label_formatter(&name)
        .draw()?;
    chart.draw_series(bars.iter().enumerate().map(|(at, (_, value))| {
        let mut bar = Rectangle::new(
            [(0.0, SegmentValue::Exact(at)), (*value, SegmentValue::Exact(at + 1))],
            RGBColor(52, 101, 164).filled(),
        );
        bar.set_margin(4, 4, 0, 0);
        bar
    }))?;
    root.present()?;
    Ok(true)
}

fn label(line: &Line) -> String {
    if line.settings.is_empty() { line.size.to_string() } else { line.settings.clone() }
}
