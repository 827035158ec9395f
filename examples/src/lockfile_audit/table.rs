//! Tables of plain text: for a terminal, and in Markdown.

/// Rows under a heading, all with the same number of cells.
pub(super) struct Table<const N: usize> {
    heading: [&'static str; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(super) fn new(heading: [&'static str; N], rows: impl IntoIterator<Item = [String; N]>) -> Self {
        Self { heading, rows: rows.into_iter().collect() }
    }

    /// Columns as wide as their widest cell, two blanks apart; numbers to the right.
    pub(super) fn for_terminal(&self) -> String {
        let heading = self.heading.map(str::to_owned);
        let rows = || std::iter::once(&heading).chain(&self.rows);
        let widths: [usize; N] =
            std::array::from_fn(|column| rows().map(|row| row[column].chars().count()).max().unwrap_or_default());
        let line = |row: &[String; N]| {
            let cells = row.iter().zip(widths).map(|(cell, width)| match cell.parse::<u64>() {
                Ok(_) => format!("{cell:>width$}"),
                Err(_) => format!("{cell:<width$}"),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
        };
        rows().map(line).collect()
    }

    pub(super) fn for_markdown(&self) -> String {
        if self.rows.is_empty() {
            return "none\n".into();
        }
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let heading = line(self.heading.iter().map(|&cell| cell.to_owned()).collect());
        let rule = line(vec!["---".to_owned(); N]);
        let rows = self.rows.iter().map(|row| line(row.iter().map(|cell| cell.replace('|', "\\|")).collect()));
        heading + &rule + &rows.collect::<String>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table<2> {
        Table::new(["licence", "n"], [["MIT".into(), "10".into()], ["A|B".into(), "7".into()]])
    }

    #[test]
    fn columns_line_up_on_a_terminal() {
        assert_eq!(table().for_terminal(), "licence  n\nMIT      10\nA|B       7\n");
    }

    #[test]
    fn a_bar_does_not_break_a_markdown_table() {
        assert_eq!(table().for_markdown(), "| licence | n |\n| --- | --- |\n| MIT | 10 |\n| A\\|B | 7 |\n");
    }
}
