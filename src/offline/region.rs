//! Which region is planned for: as said, or as the input shows, or assumed and said so.

use std::collections::BTreeMap;

use super::Problem;
use crate::catalog::{UnknownRegion, regions};
use crate::manifests::Objects;
use crate::model::{Region, label};
use crate::policy::Policy;
use crate::snapshot::Assumption;

/// The region of Azure's own price examples; used where nothing says another.
const REGION: &str = "eastus";

/// Returns the region: the user's word, the NodeFleet's, the nodes', the pools'; else an assumed one.
pub(super) fn region(
    said: Option<Region>,
    policy: &Policy,
    objects: &Objects,
    assumptions: &mut Vec<Assumption>,
) -> Region {
    if let Some(region) = said.or_else(|| policy.fleet.region.clone()) {
        return region;
    }
    if let Some(region) = of_nodes(objects).or_else(|| of_pools(policy)) {
        return region;
    }
    assumptions.push(Assumption {
        what: format!("region `{REGION}`"),
        why: "the input names none: `--location`".to_owned(),
    });
    Region::new(REGION)
}

/// Returns the region that most nodes are in; by name among equals.
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

/// Returns the region that a pool's requirement on region or zone names.
fn of_pools(policy: &Policy) -> Option<Region> {
    policy.pools.values().find_map(|pool| {
        let listed = |key: &str| pool.requirements.get(key).and_then(|requirement| requirement.listed());
        let from_region = listed(label::REGION).into_iter().flatten().map(|value| value.to_string());
        let from_zone = listed(label::ZONE).into_iter().flatten();
        let from_zone = from_zone.filter_map(|zone| Some(zone.rsplit_once('-')?.0.to_owned()));
        from_region.chain(from_zone).map(Region::new).find(|region| regions().contains(region))
    })
}

/// Says that a region is not known, with the nearest one that is.
pub(super) fn unknown(unknown: &UnknownRegion) -> Problem {
    Problem {
        what: unknown.to_string(),
        hint: Some(
            "name one of the regions that `nodeform catalog --help` speaks of, or give `--catalog`"
                .to_owned(),
        ),
    }
}
