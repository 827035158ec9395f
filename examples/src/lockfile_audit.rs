//! The work of the example `lockfile_audit`: reading a lock file, looking at each package, and reporting.

mod duplicates;
mod lock;
mod manifest;
mod package;
mod registry;
mod report;
mod rust_source;
mod table;

pub use duplicates::{Duplicate, find_duplicates};
pub use lock::{Request, parse};
pub use package::{Audited, Facts, Finding, Origin, Package, Totals};
pub use registry::Registry;
pub use report::{LicenceCount, Report, count_licences, write_report};
