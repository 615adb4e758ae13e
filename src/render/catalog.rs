//! The catalogue as a table for people and as a document for programs.

mod document;
mod row;

pub use document::{CatalogDocument, RefusedRow, ReplacedRow, VERSION, document};
pub use row::{CatalogRow, ShownPrice, ZonesKnown, rows};

use super::table::aligned;
use crate::model::{ResourceName, Zone};

/// Columns of the table, and whether each is right-aligned.
const COLUMNS: [(&str, bool); 12] = [
    ("SIZE", false),
    ("VCPU", true),
    ("MEMORY", true),
    ("GPU", false),
    ("ARCH", false),
    ("ZONES", false),
    ("ON DEMAND $/H", true),
    ("SPOT $/H", true),
    ("OS DISK $/H", true),
    ("DATA DISKS", true),
    ("FOR PODS: CPU", true),
    ("MEMORY", true),
];

/// Formats the rows as a table, followed by a legend of its marks, if any; empty without rows.
#[must_use]
pub fn table(rows: &[CatalogRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut lines = vec![COLUMNS.map(|(heading, _)| heading.to_owned()).to_vec()];
    lines.extend(rows.iter().map(cells));
    let mut text = aligned(&lines, &COLUMNS.map(|(_, is_right)| is_right));
    let has = |mark: char| lines.iter().flatten().any(|cell| cell.starts_with(mark));
    if has('~') {
        text.push_str("\n~ estimated by the rules of docs/reference/estimates.md\n");
    }
    if has('?') {
        text.push_str(if has('~') { "? not known\n" } else { "\n? not known\n" });
    }
    text
}

fn cells(row: &CatalogRow) -> Vec<String> {
    let gpu = match (row.gpus, &row.gpu_name) {
        (0, _) => "-".to_owned(),
        (count, Some(name)) => format!("{count} {name}"),
        (count, None) => count.to_string(),
    };
    let os_disk = match (row.is_os_disk_ephemeral, row.is_estimate) {
        (true, true) => "~ephemeral".to_owned(),
        (true, false) => "ephemeral".to_owned(),
        (false, _) => price(&row.os_disk),
    };
    vec![
        row.size.to_string(),
        marked(row.is_shape_estimate, ResourceName::Cpu.show(row.cpu_milli)),
        marked(row.is_shape_estimate, ResourceName::Memory.show(row.memory_bytes)),
        gpu,
        marked(row.is_shape_estimate, row.arch.clone()),
        zones(row),
        price(&row.on_demand),
        row.spot.as_ref().map_or_else(|| "-".to_owned(), price),
        os_disk,
        marked(row.data_disks.is_estimate, row.data_disks.most.to_string()),
        marked(row.is_shape_estimate, ResourceName::Cpu.show(row.allocatable_cpu_milli)),
        marked(row.is_shape_estimate, ResourceName::Memory.show(row.allocatable_memory_bytes)),
    ]
}

/// Lists the zones by number, because all are in one region.
fn zones(row: &CatalogRow) -> String {
    let number = |zone: &Zone| zone.as_str().rsplit('-').next().unwrap_or_default().to_owned();
    let zones = row.zones.iter().map(number).collect::<Vec<_>>().join(",");
    match (row.zones_known, zones.is_empty()) {
        (ZonesKnown::Unknown, _) => "?".into(),
        (ZonesKnown::Listed | ZonesKnown::Estimated, true) => "-".into(),
        (ZonesKnown::Listed, false) => zones,
        (ZonesKnown::Estimated, false) => format!("~{zones}"),
    }
}

fn marked(is_estimate: bool, shown: String) -> String {
    if is_estimate { format!("~{shown}") } else { shown }
}

fn price(price: &ShownPrice) -> String {
    let amount = price.usd_per_hour.as_ref();
    amount.map_or_else(|| "?".to_owned(), |amount| marked(price.is_estimate, amount.clone()))
}
