//! Faults in catalogue files: the place, the problem, and a hint.

use std::fmt;

use crate::catalog::embedded::UnknownRegion;
use crate::model::Region;

/// A fault in a catalogue file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CatalogFault {
    /// The file.
    pub file: String,
    /// Its place: a path such as `value[3].capabilities.vCPUs`, or line and column; empty for the whole file.
    pub place: String,
    /// The problem.
    pub what: String,
    /// The suggested fix.
    pub hint: String,
}

impl CatalogFault {
    pub(super) fn new(file: &str, place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), place: place.into(), what: what.into(), hint: String::new() }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for CatalogFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`", self.file)?;
        if !self.place.is_empty() {
            write!(formatter, " at {}", self.place)?;
        }
        write!(formatter, ": {}", self.what)?;
        if !self.hint.is_empty() {
            write!(formatter, "\nhint: {}", self.hint)?;
        }
        Ok(())
    }
}

/// Returns the command that lists the sizes of a region.
pub(super) fn sizes_command(region: &Region) -> String {
    format!(
        "run `az rest --url \"https://management.azure.com/subscriptions/SUBSCRIPTION/providers/Microsoft.Compute/skus?api-version=2021-07-01&\\$filter=location eq '{region}'\"`"
    )
}

/// Returns instructions for getting the prices of a region.
pub(super) fn prices_command(region: &Region) -> String {
    format!(
        "ask `https://prices.azure.com/api/retail/prices?$filter=serviceName eq 'Virtual Machines' and armRegionName eq '{region}'` and give every page as a file"
    )
}

pub(super) fn syntax(file: &str, error: &serde_json::Error) -> CatalogFault {
    let place = format!("line {}, column {}", error.line(), error.column());
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text).to_owned();
    CatalogFault::new(file, place, what)
        .hint("give JSON as Azure answers it, or a plain list of instance types")
}

pub(super) fn mixed(file: &str) -> CatalogFault {
    CatalogFault::new(file, "", "a plain list of instance types is given beside sizes or prices of Azure")
        .hint("give either the plain list or Azure's answers; a plain list holds prices of its own")
}

pub(super) fn no_sizes(file: &str, unknown: &UnknownRegion) -> CatalogFault {
    CatalogFault::new(file, "", format!("these are prices without sizes, and {unknown}"))
        .hint(sizes_command(&unknown.region))
}
