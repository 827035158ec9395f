//! The measurements as JSON lines, a Markdown page and a plot for each case.

use std::{fs, path::Path};

use anyhow::Context;
use plotters::prelude::*;

use crate::line::Line;

/// Width and height of a plot, in pixels.
const SIZE: (u32, u32) = (720, 360);

/// The measurements, a JSON object a line.
const LINES: &str = "measured.jsonl";
/// The page that is made of them.
const PAGE: &str = "measured.md";

/// Writes the lines, the page and one `CASE.svg` a case, and says where.
pub(crate) fn write(folder: &Path, lines: &[Line]) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    let json: Vec<String> = lines.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    write_file(&folder.join(LINES), json.join("\n") + "\n")?;
    write_page(folder, lines)
}

/// Writes page and plots anew from the lines that lie in the folder.
pub(crate) fn write_again(folder: &Path) -> anyhow::Result<()> {
    write_page(folder, &read(folder)?)
}

fn read(folder: &Path) -> anyhow::Result<Vec<Line>> {
    let path = folder.join(LINES);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let line = |text: &str| serde_json::from_str(text).with_context(|| format!("no measurement: {text}"));
    text.lines().map(line).collect()
}

fn write_page(folder: &Path, lines: &[Line]) -> anyhow::Result<()> {
    for (case, lines) in plotted(lines) {
        plot(&folder.join(format!("{case}.svg")), lines).with_context(|| format!("cannot plot `{case}`"))?;
    }
    let path = folder.join(PAGE);
    write_file(&path, page(lines))?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

fn write_file(path: &Path, text: String) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

/// The cases with something to compare.
fn plotted(lines: &[Line]) -> impl Iterator<Item = (&str, &[Line])> {
    let groups = lines.chunk_by(|one, next| one.case == next.case);
    groups
        .filter(|lines| lines.iter().filter(|line| bar(line).is_some()).count() > 1)
        .map(|lines| (&*lines[0].case, lines))
}

fn page(lines: &[Line]) -> String {
    let mut text = table(lines);
    for (case, _) in plotted(lines) {
        text += &format!("\n![{case}]({case}.svg)\n");
    }
    text
}

fn table(lines: &[Line]) -> String {
    let mut text = String::from(
        "# Measured\n\nWritten by `cargo run --release -p flow-bench -- all --report FOLDER`; [performance](../performance.md) tells how to read it.\n\n\
         | case | size | settings | rate a second | p50 ms | p99 ms | Postgres µs a step | client µs a step | commits a step | WAL bytes a step | HOT | bytes a task | yardstick tps |\n\
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

/// What the bar of a line shows: its rate, or else its median.
fn bar(line: &Line) -> Option<f64> {
    line.rate().or(line.p50_ms)
}

/// A bar for each line.
fn plot(path: &Path, lines: &[Line]) -> anyhow::Result<()> {
    let mut bars: Vec<(String, f64)> = lines.iter().filter_map(|line| Some((label(line), bar(line)?))).collect();
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
    Ok(())
}

fn label(line: &Line) -> String {
    if line.settings.is_empty() { line.size.to_string() } else { line.settings.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_what_its_lines_say() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/performance");
        let lines = read(&folder).unwrap();
        assert!(lines.len() > 20, "{} measurements", lines.len());
        let kept = fs::read_to_string(folder.join(PAGE)).unwrap();
        assert_eq!(kept, page(&lines), "write it anew: cargo run -p flow-bench -- page docs/performance");
    }
}
