//! A read-only view of a cluster: its nodes, pods and prices, without planning assumptions.
//!
//! Invalid NodePools, AKSNodeClasses and NodeFleets hide nothing else: they are skipped and reported. Never plans
//! anything.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::faulty::Faulty;
use super::{Catalogs, checked, network, problems, region};
use crate::catalog::Catalog;
use crate::manifests::{self, ReadOptions, Remark, Source};
use crate::model::{NodeName, Price};
use crate::snapshot::{AssembleOptions, Snapshot, assemble, coming};
use crate::solve::Market;
use crate::solve::price::{PriceBook, quote_nodes};

use super::Problem;

/// A cluster's current state.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Its nodes, NodeClaims and pods.
    pub snapshot: Snapshot,
    /// Price of each node to the user per hour, if anything is known about it.
    pub prices: BTreeMap<NodeName, Price>,
    /// Skipped objects and assumptions, for users.
    pub notes: Vec<String>,
}

/// Returns a cluster's current state from its listed objects.
///
/// # Errors
/// Objects that are not valid Kubernetes objects: the API server did not write them.
pub fn standing(sources: Vec<Source>, catalogs: &Catalogs, at: Timestamp) -> Result<Standing, Vec<Problem>> {
    let (objects, faults) = manifests::read_all(sources, &ReadOptions::default());
    if !faults.is_empty() {
        return Err(problems(&faults));
    }
    let (mut objects, mut policy, faults) = checked((objects, Vec::new()), Faulty::LeftOut);
    let mut notes: Vec<String> = faults
        .iter()
        .map(|fault| format!("left out: {}", problems(std::slice::from_ref(fault))[0].what))
        .collect();
    notes.extend(objects.said.faulty.iter().map(|Remark { object, what, .. }| format!("{object}: {what}")));
    let mut assumptions = Vec::new();
    let region = region::region(None, (&policy, &objects), None, &mut assumptions);
    // In an unknown region nothing is priced.
    let catalog = catalogs.of(&region).unwrap_or_else(|_| {
        notes.push(format!("region `{region}` is not in the price list: prices are unknown"));
        Catalog::recorded(region.clone(), BTreeMap::new(), std::collections::BTreeSet::new())
    });
    let network = network::network(&policy, &objects.nodes).setup;
    policy.fleet.network = Some(network);
    policy.assume_missing_classes();
    coming::fill(&mut objects.nodes, &catalog, &policy, network);
    let options = AssembleOptions { at: Some(at), network, assumes_system_daemons: false };
    let snapshot = assemble(&objects, catalog, options);
    let priced = snapshot.nodes.iter().any(|node| crate::solve::price::bought_as(node).is_some());
    notes.extend(assumptions.iter().filter(|_| priced).map(ToString::to_string));
    let (market, book) = (Market::of(&snapshot, &policy), PriceBook::new(&policy.fleet.prices));
    let mut nodes: Vec<_> = snapshot.nodes.iter().collect();
    // Nodes use up commitments in the order of their names.
    nodes.sort_by(|one, other| one.name.cmp(&other.name));
    let (quotes, _) = quote_nodes(nodes.iter().copied(), &market, &book);
    let known = nodes.into_iter().zip(quotes);
    let prices = known.filter_map(|(node, quote)| Some((node.name.clone(), quote?.effective))).collect();
    Ok(Standing { snapshot, prices, notes })
}
