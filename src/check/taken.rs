//! Available volumes: each is for one claim, and accessible where the claim's pod is placed.
//!
//! As many claims as possible get a volume, whichever the plan meant; the pods of the others are placed wrongly.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::finding::{Finding, Rule};
use super::volumes::{Mount, is_there, mount};
use crate::model::Pod;
use crate::model::storage::VolumeClaimKey;

/// A claim that takes one of the volumes accessible where its pod is placed.
struct Wanted<'a> {
    pod: &'a Pod,
    volumes: Vec<&'a str>,
}

/// Returns the pods with claims for which no volume is left.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut wanted: BTreeMap<VolumeClaimKey, Wanted<'_>> = BTreeMap::new();
    for site in &case.sites {
        for (pod, volume) in
            site.pods.iter().flat_map(|pod| pod.spec.volumes.iter().map(move |it| (*pod, it)))
        {
            if let Ok(Mount::ToTake(key, volumes)) = mount(&case.snapshot.storage, pod, volume) {
                let here = volumes.into_iter().filter(|volume| is_there(volume, &site.labels));
                let volumes = here.map(|volume| &*volume.name).collect();
                wanted.entry(key).or_insert(Wanted { pod, volumes });
            }
        }
    }
    let claims: Vec<&Wanted<'_>> = wanted.values().collect();
    let mut owners: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (claim, (key, Wanted { pod, .. })) in wanted.iter().enumerate() {
        if !finds_one(claim, &claims, &mut owners, &mut BTreeSet::new()) {
            let why = format!("no available volume is left for its claim `{key}` on its node");
            found.push(Finding::new(Rule::Volumes, format!("pod `{}`", pod.key), why));
        }
    }
    found
}

/// Assigns one of its volumes to a claim, reassigning other claims if needed (augmenting path).
fn finds_one<'v>(
    claim: usize,
    claims: &[&Wanted<'v>],
    owners: &mut BTreeMap<&'v str, usize>,
    asked: &mut BTreeSet<&'v str>,
) -> bool {
    for volume in &claims[claim].volumes {
        if !asked.insert(volume) {
            continue;
        }
        let owner = owners.get(volume).copied();
        if owner.is_none_or(|owner| finds_one(owner, claims, owners, asked)) {
            owners.insert(volume, claim);
            return true;
        }
    }
    false
}
