//! Validates `--target`: the named objects must exist, and nodeform must be allowed to delete them.
//!
//! Must never accept a misspelt name, because the plan would look as if there were nothing to do.

use std::collections::BTreeSet;

use super::exit::Failure;
use crate::api::nearest::did_you_mean;
use crate::model::Target;
use crate::plan::{Plan, target};

/// Refuses targets that do not exist or are not managed by nodeform.
///
/// # Errors
/// Every such target, with the nearest name if there is one.
pub(super) fn meant(plan: &Plan, targets: &BTreeSet<Target>) -> Result<(), Failure> {
    known(plan, targets)?;
    managed(plan, targets)
}

fn known(plan: &Plan, targets: &BTreeSet<Target>) -> Result<(), Failure> {
    let unknown = target::unknown(plan, targets);
    if unknown.is_empty() {
        return Ok(());
    }
    let faults =
        unknown.iter().map(|target| format!("`--target {target}` is neither in the input nor in the plan"));
    let names: Vec<String> = target::names(plan).iter().map(ToString::to_string).collect();
    let near = unknown.iter().filter_map(|target| {
        let kind = match target {
            Target::Node(_) => "node/",
            Target::NodePool(_) => "nodepool/",
        };
        let alike = names.iter().filter(|name| name.starts_with(kind)).map(String::as_str);
        did_you_mean(&target.to_string(), alike)
    });
    let near: BTreeSet<String> = near.collect();
    let failure = Failure::errors(faults.collect());
    let failure = near.into_iter().fold(failure, |failure, hint| failure.hint(hint));
    Err(failure.hint("`nodeform plan … --all` names the pools and nodes; new nodes by VM or NodeClaim"))
}

/// Refuses unmanaged nodes: a plan that ignored them would look as if they were already deleted.
fn managed(plan: &Plan, targets: &BTreeSet<Target>) -> Result<(), Failure> {
    let foreign = target::foreign(plan, targets);
    if foreign.is_empty() {
        return Ok(());
    }
    let faults = foreign
        .iter()
        .map(|node| format!("`--destroy --target node/{node}`: not managed by a NodePool; never deleted"));
    Err(Failure::errors(faults.collect())
        .hint("nodes of agent pools go by AKS: `az aks nodepool scale` or `az aks nodepool delete-machines`"))
}
