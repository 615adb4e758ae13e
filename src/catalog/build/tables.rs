//! Tables of the default catalogue, as text that diffs well: one fact per line, sorted by name.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::raw::{BuildFault, Family, Raw, RawTexts, Shape};

/// Tier of all sizes in the tables, omitted from their names.
const TIER: &str = "Standard_";

/// One file of the default catalogue.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Table {
    /// Its path below the catalogue's folder.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Placeholder for a fact that no list has.
const UNKNOWN: &str = "?";

/// Builds all tables. A size is included if its family is known, even without a shape or a price.
///
/// # Errors
/// When a raw list does not have the expected form.
pub fn tables(texts: &RawTexts<'_>) -> Result<Vec<Table>, BuildFault> {
    let raw = Raw::read(texts)?;
    let family = |known: &Family| Some((known.name.strip_prefix(TIER)?.to_owned(), known.family.clone()));
    let taken: BTreeMap<String, String> = raw.families.iter().filter_map(family).collect();
    let mut tables =
        vec![sizes(&raw, &taken), gpus(&raw), disks(&raw), data_disks(&raw), zones(&raw), regions(&raw)];
    for (region, rows) in &raw.prices {
        let mut text = "# US dollars by the hour on demand, by size of the Standard tier\n".to_owned();
        for (name, price) in rows {
            if let Some(size) = name.strip_prefix(TIER).filter(|size| taken.contains_key(*size)) {
                push_line(&mut text, &[size, &price.on_demand.to_string()]);
            }
        }
        tables.push(Table { path: format!("prices/{region}.txt"), text });
    }
    tables.sort();
    Ok(tables)
}

fn push_line(text: &mut String, words: &[&str]) {
    text.push_str(&words.join(" "));
    text.push('\n');
}

fn sizes(raw: &Raw, taken: &BTreeMap<String, String>) -> Table {
    let mut text =
        "# size of the Standard tier, vCPUs, memory in MiB, GPUs, architecture, quota family; `?` where \
                    the list of shapes does not hold the size\n"
            .to_owned();
    for (size, family) in taken {
        let shape =
            raw.shapes.get(&format!("{TIER}{size}")).map(|Shape { vcpu, memory_mb, gpu, architecture }| {
                [vcpu.to_string(), memory_mb.to_string(), gpu.to_string(), architecture.clone()]
            });
        let [vcpus, memory, gpus, arch] = shape.unwrap_or_else(|| [(); 4].map(|()| UNKNOWN.to_owned()));
        push_line(&mut text, &[size, &vcpus, &memory, &gpus, &arch, family]);
    }
    Table { path: "sizes.txt".into(), text }
}

fn data_disks(raw: &Raw) -> Table {
    let mut text = "# size of the Standard tier in lower case, the most data disks of a VM\n".to_owned();
    let rows: BTreeMap<String, u32> = raw
        .data_disks
        .iter()
        .filter_map(|(name, most)| Some((name.strip_prefix(TIER)?.to_lowercase(), *most)))
        .collect();
    for (size, most) in rows {
        push_line(&mut text, &[&size, &most.to_string()]);
    }
    Table { path: "data_disks.txt".into(), text }
}

fn gpus(raw: &Raw) -> Table {
    let mut text = "# size in lower case, maker of its GPU, operating systems with a driver\n".to_owned();
    for (name, gpu) in &raw.gpus {
        let size = name.strip_prefix("standard_").unwrap_or(name);
        push_line(&mut text, &[size, &gpu.gpu, &gpu.os.join(",")]);
    }
    Table { path: "gpus.txt".into(), text }
}

fn disks(raw: &Raw) -> Table {
    let mut text = "# kind of managed disk, tier, GiB, US dollars by the month of 730 hours\n".to_owned();
    for (kind, tiers) in [("premiumSsd", &raw.disks.premium_ssd), ("standardSsd", &raw.disks.standard_ssd)] {
        for tier in tiers {
            push_line(&mut text, &[kind, &tier.tier, &tier.gib.to_string(), &tier.price.to_string()]);
        }
    }
    Table { path: "disks.txt".into(), text }
}

/// Builds the table of zones: `?` marks a region with prices but no location entry, `-` a region without zones.
fn zones(raw: &Raw) -> Table {
    let mut text = "# region, its zones; `-` where it has none, `?` where that is not known\n".to_owned();
    for region in raw.prices.keys() {
        let location = raw.locations.iter().find(|location| location.name == *region);
        let mut zones: Vec<&str> = location
            .iter()
            .flat_map(|location| {
                location.availability_zone_mappings.iter().map(|zone| zone.logical_zone.as_str())
            })
            .collect();
        zones.sort_unstable();
        let shown = match (location, zones.is_empty()) {
            (None, _) => "?".to_owned(),
            (Some(_), true) => "-".to_owned(),
            (Some(_), false) => zones.join(" "),
        };
        push_line(&mut text, &[region, &shown]);
    }
    Table { path: "zones.txt".into(), text }
}

/// Builds the Rust list that includes the price files, so that each is compiled in and parsed separately.
fn regions(raw: &Raw) -> Table {
    let mut text = "// Written by `make_catalog`.\n[\n".to_owned();
    for region in raw.prices.keys() {
        writeln!(text, "    (\"{region}\", include_str!(\"prices/{region}.txt\")),")
            .expect("writing to a string cannot fail");
    }
    text.push_str("]\n");
    Table { path: "regions.in".into(), text }
}
