//! Warns about new nodes that offer fewer values than their pool's `minValues`.

use std::collections::BTreeMap;

use crate::model::{LabelKey, PoolName};
use crate::policy::Policy;
use crate::solve::solution::{NewNode, Warning};

/// Returns a warning for every pool and label for which nodes list fewer values than `minValues` requires.
#[must_use]
pub fn warnings(policy: &Policy, nodes: &[NewNode]) -> Vec<Warning> {
    let mut short: BTreeMap<(&PoolName, &LabelKey, u32), (usize, u32)> = BTreeMap::new();
    for node in nodes {
        let Some(pool) = policy.pools.get(&node.pool) else { continue };
        for (key, wanted) in pool.requirements.iter() {
            let there = node.variety.asked.get(key).copied().unwrap_or(0);
            if let Some(least) = wanted.min_values().filter(|least| there < *least) {
                let (count, fewest) = short.entry((&pool.name, key, least)).or_insert((0, there));
                *count += 1;
                *fewest = there.min(*fewest);
            }
        }
    }
    let warning = |((pool, key, least), (count, fewest)): ((&PoolName, &LabelKey, u32), (usize, u32))| {
        let nodes =
            if count == 1 { "1 new node lists".to_owned() } else { format!("{count} new nodes list") };
        Warning {
            object: format!("pool `{pool}`"),
            what: format!(
                "{nodes} fewer values of `{key}` than `minValues` asks for: {fewest} of {least}, since \
                 `minValuesPolicy` is `BestEffort`"
            ),
            hint: None,
        }
    };
    short.into_iter().map(warning).collect()
}
