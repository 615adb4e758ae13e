//! VMs that started but did not join in time, as recorded on the claims of a plan.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ground::vm_name;
use super::journal::Launching;
use crate::model::{ClaimName, PoolName, SkuName};
use crate::review::ApprovedPlan;
use crate::world::seen::Seen;

/// A VM that started but did not join in time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Silent {
    /// The NodeClaim that it was created for.
    pub claim: ClaimName,
    /// Its name.
    pub vm: Arc<str>,
    /// Its NodePool.
    pub pool: PoolName,
    /// Its size.
    pub size: SkuName,
    /// Its image.
    pub image: Arc<str>,
}

/// Returns the VMs of a plan's creates that started but did not join, as long as their NodeClaims exist.
#[must_use]
pub fn silent(plan: &ApprovedPlan, seen: &Seen) -> BTreeSet<Silent> {
    let execution = plan.execution();
    let mut silent = BTreeSet::new();
    for (_, create, asked) in plan.spec().creates() {
        let Some(claim) = seen.claims.as_ref().and_then(|claims| claims.get(&create.claim)) else { continue };
        let choices = execution.choices(&create.spec);
        for (attempt, choice) in Launching::of(claim).silent() {
            let Some(tried) = choices.get(choice) else { continue };
            let Some(machine) = execution.machines.get(&tried.machine) else { continue };
            silent.insert(Silent {
                claim: create.claim.clone(),
                vm: vm_name(create, attempt),
                pool: asked.pool.clone(),
                size: tried.choice.size.clone(),
                image: machine.image.clone(),
            });
        }
    }
    silent
}
