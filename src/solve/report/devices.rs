//! Warns about device plugin resources that pods request and that no VM size, NodeOverlay or current node provides.
//!
//! A size lists its own resources, even with an amount of zero, so a GPU of another pool's sizes is not reported.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Node, PodKey, ResourceName, Resources};
use crate::snapshot::Snapshot;
use crate::solve::demand::{Ask, Demand, Shape};
use crate::solve::fit::{Miss, Rule, taints};
use crate::solve::solution::Warning;
use crate::solve::supply::{PoolSupply, Supply};

/// Returns a warning for each such resource, with the NodeOverlay that declares it.
#[must_use]
pub fn warnings(snapshot: &Snapshot, demands: &[&Demand], supply: &Supply<'_>) -> Vec<Warning> {
    let nodes: Vec<&Node> = snapshot.nodes_today().collect();
    let mut asked: BTreeMap<&ResourceName, Vec<&Shape>> = BTreeMap::new();
    for shape in demands.iter().flat_map(|demand| &demand.shapes) {
        for name in unknown(&shape.ask, supply) {
            if nodes.iter().all(|node| node.allocatable.get(name) == 0) {
                asked.entry(name).or_default().push(shape);
            }
        }
    }
    asked.into_iter().filter_map(|(name, shapes)| warning(name, &shapes, supply)).collect()
}

fn warning(name: &ResourceName, shapes: &[&Shape], supply: &Supply<'_>) -> Option<Warning> {
    let pods: BTreeSet<&PodKey> = shapes.iter().flat_map(|shape| &shape.pods).collect();
    let first = pods.first()?;
    let more = if pods.len() > 1 { format!(" and {} more", pods.len() - 1) } else { String::new() };
    let amount = shapes.iter().map(|shape| shape.ask.requests.get(name)).max()?;
    let mut taking = supply.pools.iter().filter(|pool| shapes.iter().any(|shape| takes(pool, &shape.ask)));
    let pool = taking.next().or(supply.pools.first())?;
    let hint = format!(
        "declare it with a NodeOverlay: `spec: {{requirements: [{{key: karpenter.sh/nodepool, operator: In, values: \
         [{}]}}], capacity: {{{name}: {}}}}}`, with the amount that the device plugin gives each node",
        pool.pool.name,
        name.show(amount)
    );
    let what = format!("requests `{name}`, which no VM size and no NodeOverlay provides");
    Some(Warning { object: format!("pod `{first}`{more}"), what, hint: Some(hint) })
}

/// Returns whether a pool's taints and labels allow pods, regardless of their requests.
fn takes(pool: &PoolSupply<'_>, ask: &Ask) -> bool {
    taints::why(&pool.pool.taints, &ask.stance).is_ok()
        && ask.alternatives.iter().any(|wanted| pool.reach(wanted).is_some())
}

/// Returns the requested resources that no size of any pool lists.
fn unknown<'a>(ask: &'a Ask, supply: &Supply<'_>) -> impl Iterator<Item = &'a ResourceName> {
    let is_device =
        |(name, amount): &(&ResourceName, i64)| matches!(name, ResourceName::Other(_)) && *amount > 0;
    let names = ask.requests.iter().filter(is_device).map(|(name, _)| name);
    let is_named = |name: &ResourceName| {
        let mut sizes = supply.pools.iter().flat_map(|pool| &pool.kinds);
        sizes.any(|size| size.kind.allocatable.names(name))
    };
    let has_sizes = supply.pools.iter().any(|pool| !pool.kinds.is_empty());
    let unknown: Vec<&ResourceName> = names.filter(|name| has_sizes && !is_named(name)).collect();
    unknown.into_iter()
}

/// Returns the miss for pods that request a resource that neither a size nor these nodes have.
#[must_use]
pub(super) fn missed<'r>(
    ask: &Ask,
    supply: &Supply<'_>,
    mut nodes: impl Iterator<Item = &'r Resources>,
) -> Option<Miss> {
    let name = unknown(ask, supply).next()?;
    let has = nodes.any(|room| room.get(name) > 0);
    let because = format!("no VM size provides `{name}`: declare it with a NodeOverlay");
    (!has).then(|| Miss::new(Rule::Resource(name.clone()), because))
}
