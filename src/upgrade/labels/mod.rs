//! Translates labels of AWS, GCP and older Karpenter versions to those of AKS. Must only map labels with the same
//! meaning on both sides; similar labels are only mentioned in hints.

mod requirement;
mod table;

pub(super) use requirement::{Outcome, expression};
pub(super) use table::{Foreign, Values, annotation, foreign, foreign_place};

use super::remark::{Job, Sort};
use super::syntax::Node;

/// Rewrites a map of labels and their values at `path`: a `nodeSelector`, or the labels of a pool. Labels without a
/// counterpart are removed from pools and kept in pods. Returns whether anything changed.
pub(super) fn selector(map: &mut Node, path: &[&str], is_pool: bool, job: &mut Job<'_>) -> bool {
    let mut is_changed = false;
    let keys: Vec<String> = map.entries().iter().map(|entry| entry.key.to_string()).collect();
    for key in keys {
        let Some(entry) = map.entries().iter().find(|entry| *entry.key == *key) else { continue };
        let (line, value) = (entry.line, entry.value.scalar().unwrap_or_default());
        let mut place = path.to_vec();
        place.push(&key);
        let (sort, lost) = sorts(is_pool);
        if foreign_place(&key, &value) {
            is_changed |= is_pool && map.take(&key).is_some();
            job.say(
                lost,
                (line, &place),
                format!("names `{value}`, which Azure does not have"),
                Some(place_hint(&key)),
            );
            continue;
        }
        let Some(foreign) = foreign(&key) else { continue };
        let new_value = foreign.value(&value);
        match (foreign.aks, new_value) {
            (Some(aks), Some(new)) if map.get(aks).is_none() => {
                let message = format!("is `{aks}: {new}` on AKS");
                is_changed = true;
                job.say(sort, (line, &place), message, None);
                if let Some(entry) = map.entry_mut(&key) {
                    let renamed = entry.clone().renamed(aks);
                    *entry = if new == value { renamed } else { renamed.with(Node::text(&new)) };
                }
            }
            _ => {
                is_changed |= is_pool && map.take(&key).is_some();
                job.say(lost, (line, &place), foreign.said(&[&value]), Some(foreign.hint()));
            }
        }
    }
    is_changed
}

/// Returns the kinds of remark for a change and for a loss, in a pool or in pods, which are valid as they are.
pub(super) const fn sorts(is_pool: bool) -> (Sort, Sort) {
    if is_pool { (Sort::Moved, Sort::Lost) } else { (Sort::Foreign, Sort::Left) }
}

/// Returns the advice for a place or a size of another cloud.
pub(super) fn place_hint(key: &str) -> String {
    match key {
        "node.kubernetes.io/instance-type" | "beta.kubernetes.io/instance-type" => {
            "name sizes of Azure, or `karpenter.azure.com/sku-family`, `sku-cpu` and `sku-memory`; `nodeform catalog` lists them".to_owned()
        }
        "topology.kubernetes.io/region" | "failure-domain.beta.kubernetes.io/region" => {
            "name the cluster's region as Azure does, such as `westeurope`".to_owned()
        }
        _ => "zones are `REGION-1`, `REGION-2` and `REGION-3`, such as `westeurope-1`".to_owned(),
    }
}
