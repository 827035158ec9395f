//! The result of an audit: counts for the terminal and a page in Markdown.

use std::{cmp::Reverse, collections::BTreeMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    duplicates::Duplicate,
    package::{Audited, Finding, Totals},
    table::Table,
};

/// Packages shown on the terminal; the page has them all.
const MOST_UNSAFE_SHOWN: usize = 10;

/// How many packages have a licence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LicenceCount {
    /// The expression, as the manifests write it.
    pub licence: String,
    /// Packages with it.
    pub packages: u64,
}

/// What an audit found, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// A summary for a terminal.
    pub summary: String,
    /// The whole report in Markdown.
    pub page: String,
}

/// Counts licences, the most frequent first. Packages whose source was not read have none to count.
pub fn count_licences(audited: &[Audited]) -> Vec<LicenceCount> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for facts in audited.iter().filter_map(Audited::facts) {
        *counts.entry(facts.licence.as_deref().unwrap_or("none given")).or_default() += 1;
    }
    let mut counts: Vec<LicenceCount> =
        counts.into_iter().map(|(licence, packages)| LicenceCount { licence: licence.into(), packages }).collect();
    counts.sort_by_key(|count| Reverse(count.packages));
    counts
}

/// Writes the report.
pub fn write_report(title: &str, audited: &[Audited], duplicates: &[Duplicate], licences: &[LicenceCount]) -> Report {
    let overview = overview(audited);
    let licences =
        Table::new(["licence", "packages"], licences.iter().map(|l| [l.licence.clone(), l.packages.to_string()]));
    let duplicates =
        Table::new(["name", "versions"], duplicates.iter().map(|d| [d.name.clone(), d.versions.join(", ")]));
    let packages = packages(audited);
    let page = format!(
        "# Audit of {title}\n\n{}\n## Licences\n\n{}\n## Several versions of one name\n\n{}\n## Packages\n\n{}",
        overview.for_markdown(),
        licences.for_markdown(),
        duplicates.for_markdown(),
        packages.for_markdown(),
    );
    let summary = format!(
        "{}\n{}\n{}\n{}",
        overview.for_terminal(),
        licences.for_terminal(),
        duplicates.for_terminal(),
        most_unsafe(audited).for_terminal(),
    );
    Report { summary, page }
}

fn overview(audited: &[Audited]) -> Table<2> {
    let count = |is_counted: fn(&Finding) -> bool| {
        audited.iter().filter(|audited| is_counted(&audited.finding)).count().to_string()
    };
    let mut totals = Totals::default();
    audited.iter().filter_map(Audited::facts).for_each(|facts| totals += facts.totals);
    let with = |has: fn(&super::Facts) -> bool| audited.iter().filter_map(Audited::facts).filter(|f| has(f)).count();
    Table::new(
        ["what", "count"],
        [
            ["packages".into(), audited.len().to_string()],
            ["source read".into(), count(|finding| matches!(finding, Finding::Read(_)))],
            ["not cached".into(), count(|finding| matches!(finding, Finding::NotCached))],
            ["path or git".into(), count(|finding| matches!(finding, Finding::NotInRegistry))],
            ["unreadable".into(), count(|finding| matches!(finding, Finding::Unreadable(_)))],
            ["with a build script".into(), with(|facts| facts.has_build_script).to_string()],
            ["linking a native library".into(), with(|facts| facts.links.is_some()).to_string()],
            ["Rust files".into(), totals.files.to_string()],
            ["lines".into(), totals.lines.to_string()],
            ["uses of unsafe".into(), totals.unsafe_uses.to_string()],
        ],
    )
}

fn packages(audited: &[Audited]) -> Table<9> {
    let heading = ["package", "version", "from", "licence", "Rust", "build script", "files", "lines", "unsafe"];
    let rows = audited.iter().map(|Audited { package, finding }| {
        let start = [package.name.clone(), package.version.clone(), package.origin.in_words()];
        let end: [String; 6] = match finding {
            Finding::Read(facts) => [
                facts.licence.clone().unwrap_or_else(|| "none given".into()),
                facts.rust_version.clone().unwrap_or_default(),
                build_script(facts),
                facts.totals.files.to_string(),
                facts.totals.lines.to_string(),
                facts.totals.unsafe_uses.to_string(),
            ],
            Finding::NotCached => note("not cached"),
            Finding::NotInRegistry => note(""),
            Finding::Unreadable(reason) => note(reason),
        };
        let mut cells = start.into_iter().chain(end);
        std::array::from_fn(|_| cells.next().unwrap_or_default())
    });
    Table::new(heading, rows)
}

fn build_script(facts: &super::Facts) -> String {
    match (&facts.links, facts.has_build_script) {
        (Some(library), _) => format!("yes, links {library}"),
        (None, true) => "yes".into(),
        (None, false) => String::new(),
    }
}

fn note(text: &str) -> [String; 6] {
    std::array::from_fn(|cell| if cell == 0 { text.to_owned() } else { String::new() })
}

fn most_unsafe(audited: &[Audited]) -> Table<4> {
    let mut found: Vec<_> = audited.iter().filter_map(|a| Some((&a.package, a.facts()?.totals))).collect();
    found.retain(|(_, totals)| totals.unsafe_uses > 0);
    found.sort_by_key(|(_, totals)| Reverse(totals.unsafe_uses));
    let rows = found.into_iter().take(MOST_UNSAFE_SHOWN).map(|(package, totals)| {
        [package.name.clone(), package.version.clone(), totals.lines.to_string(), totals.unsafe_uses.to_string()]
    });
    Table::new(["most unsafe", "version", "lines", "unsafe"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lockfile_audit::{Facts, Origin, Package};

    fn audited(name: &str, finding: Finding) -> Audited {
        Audited { package: Package { name: name.into(), version: "1.0.0".into(), origin: Origin::Path }, finding }
    }

    fn read(licence: Option<&str>, unsafe_uses: u64) -> Finding {
        let totals = Totals { files: 2, lines: 30, unsafe_uses };
        Finding::Read(Facts { licence: licence.map(Into::into), totals, ..Facts::default() })
    }

    #[test]
    fn licences_are_counted_over_what_was_read() {
        let found = [
            audited("a", read(Some("MIT"), 0)),
            audited("b", Finding::NotCached),
            audited("c", read(None, 0)),
            audited("d", read(Some("MIT"), 1)),
        ];
        let counts: Vec<_> = count_licences(&found).into_iter().map(|count| (count.licence, count.packages)).collect();
        assert_eq!(counts, [("MIT".into(), 2), ("none given".into(), 1)]);
    }

    #[test]
    fn a_package_that_is_not_cached_is_a_row_and_no_failure() {
        let found = [audited("a", read(Some("MIT"), 7)), audited("b", Finding::NotCached)];
        let report = write_report("Cargo.lock", &found, &[], &count_licences(&found));
        assert!(report.page.contains("| b | 1.0.0 | path | not cached |"), "{}", report.page);
        assert!(report.page.contains("| a | 1.0.0 | path | MIT |  |  | 2 | 30 | 7 |"), "{}", report.page);
        let row = report.summary.lines().find(|line| line.starts_with("not cached")).unwrap();
        assert_eq!(row.split_whitespace().last(), Some("1"));
        assert!(report.page.contains("## Several versions of one name\n\nnone\n"), "{}", report.page);
    }
}
