//! The region to plan for: as set, as detected from the input, or assumed and then reported. Never silently uses a
//! region that contradicts the input.

use std::collections::BTreeMap;

use super::Problem;
use crate::catalog::{Catalog, UnknownRegion, regions};
use crate::manifests::Objects;
use crate::model::{Region, label};
use crate::policy::Policy;
use crate::snapshot::Assumption;

/// The region of Azure's own price examples; the fallback.
const REGION: &str = "eastus";

/// Returns the region: the user's, the NodeFleet's, the nodes', the pools', the only one `listed` in the user's price
/// lists; else an assumed one.
pub(super) fn region(
    said: Option<Region>,
    (policy, objects): (&Policy, &Objects),
    listed: Option<Region>,
    assumptions: &mut Vec<Assumption>,
) -> Region {
    let seen = of_nodes(objects);
    if let Some(region) = said.or_else(|| policy.fleet.region.clone()) {
        assumptions.extend(seen.filter(|seen| *seen != region).map(|seen| Assumption {
            what: format!("{}`{region}`, although the nodes are labelled `{seen}`", Assumption::OTHER_REGION),
            why: "as `--location` or the NodeFleet says".to_owned(),
        }));
        return region;
    }
    if let Some(region) = seen.or_else(|| of_pools(policy)).or(listed) {
        return region;
    }
    assumptions.push(Assumption {
        what: format!("{}`{REGION}`", Assumption::REGION),
        why: "the input names none: `--location`".to_owned(),
    });
    Region::new(REGION)
}

/// Returns the region of most nodes; the first by name among equals.
fn of_nodes(objects: &Objects) -> Option<Region> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for node in &objects.nodes {
        if let Some(region) = node.labels.get(label::REGION) {
            *counts.entry(region).or_default() += 1;
        }
    }
    let most = counts.values().copied().max()?;
    let (region, _) = counts.into_iter().find(|(_, count)| *count == most)?;
    Some(Region::new(region))
}

/// Returns the region of a pool's requirement on region or zone.
fn of_pools(policy: &Policy) -> Option<Region> {
    policy.pools.values().find_map(|pool| {
        let listed = |key: &str| pool.requirements.get(key).and_then(|requirement| requirement.listed());
        let from_region = listed(label::REGION).into_iter().flatten().map(|value| value.to_string());
        let from_zone = listed(label::ZONE).into_iter().flatten();
        let from_zone = from_zone.filter_map(|zone| Some(zone.rsplit_once('-')?.0.to_owned()));
        from_region.chain(from_zone).map(Region::new).find(|region| regions().contains(region))
    })
}

/// Returns the region of the user's lists of sizes and prices if they cover exactly one.
pub(super) fn of_texts(texts: &[(&str, &str)]) -> Option<Region> {
    let regions = Catalog::regions_of_files(texts);
    regions.first().filter(|_| regions.len() == 1).cloned()
}

/// Reports that a region is unknown, with the nearest known one and all others.
pub(super) fn unknown(unknown: &UnknownRegion) -> Problem {
    let known: Vec<String> = regions().iter().map(ToString::to_string).collect();
    Problem {
        what: unknown.to_string(),
        hint: Some(format!("the regions are {}; or give `--catalog`", known.join(", "))),
    }
}
