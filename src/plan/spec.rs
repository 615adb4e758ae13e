//! Plan spec: every decision of a plan and nothing else, reviewed and covered by the digest.
//!
//! Creation times, display prices, pod names and sentences for people are not here: they are `evidence`.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::change::{Change, ChangeId, ClaimSpec, ClaimSpecId, Create, Delete};
use super::execution::Execution;
use super::identity::digest_of;
use super::precondition::Precondition;
use crate::model::{ClassName, Digest, PoolName, Target, WhatIf, Wishes};
use crate::policy::Policy;

/// Every decision of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlanSpec {
    /// The cluster's identity; null for a plan that was made offline and can be shown, not applied.
    pub cluster: Option<Arc<str>>,
    /// The NodePools that were planned for, sorted.
    pub scope: Vec<PoolName>,
    /// The digest of the last settled plan of this scope; null where there is none.
    pub parent: Option<Digest>,
    /// What is supposed that is not so: such a plan answers a question and is never carried out.
    pub what_if: WhatIf,
    /// What the plan is narrowed to, sorted; without any it holds every change.
    pub targets: Vec<Target>,
    /// What is asked to be done with single nodes.
    #[serde(default, skip_serializing_if = "Wishes::is_nothing")]
    pub wishes: Wishes,
    /// When the plan stops being applicable; null offline, where there is no time.
    #[serde(with = "crate::model::written::optional_text")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub expires_at: Option<Timestamp>,
    /// Digests of what the plan follows from.
    pub inputs: Inputs,
    /// What the NodeClaims of the creates ask for, each once.
    pub claims: BTreeMap<ClaimSpecId, ClaimSpec>,
    /// The changes by id.
    pub changes: BTreeMap<ChangeId, PlannedChange>,
    /// The order: one wave after another. Every change that does something is in it.
    pub waves: Vec<Wave>,
    /// How it is carried out; only a plan of a live cluster has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Execution>,
}

/// A change with what must still hold when it starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlannedChange {
    /// What is done.
    pub change: Change,
    /// What must still hold, sorted.
    pub preconditions: Vec<Precondition>,
}

/// Digests of what the plan follows from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Inputs {
    /// What each NodePool of the scope says.
    pub pools: BTreeMap<PoolName, Digest>,
    /// The specs of the AKSNodeClasses.
    pub classes: BTreeMap<ClassName, Digest>,
    /// What the NodeFleet says, or its defaults.
    pub fleet: Option<Digest>,
}

/// What is done with a change in a wave, in the order in which a wave does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Step {
    /// A NodeClaim is written for a node that exists.
    Adopt,
    /// Labels, annotations and tags are changed.
    Update,
    /// A NodeClaim and a VM are made, and the node is waited for.
    Create,
    /// The node is cordoned and its pods are evicted.
    Drain,
    /// The NodeClaim and the VM are deleted.
    Delete,
    /// The node is no longer managed.
    Forget,
}

/// What is done at once; the next wave starts when this one has ended. Inside a wave, steps go in the order
/// of [`Step`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Wave {
    /// The changes of each step, sorted; a step without changes is absent.
    pub steps: BTreeMap<Step, Vec<ChangeId>>,
}

impl Inputs {
    /// Returns the digests of what a policy says.
    #[must_use]
    pub fn of(policy: &Policy) -> Self {
        let pools = policy.pools.iter().map(|(name, pool)| (name.clone(), digest_of(pool))).collect();
        let classes = policy.classes.iter().map(|(name, class)| (name.clone(), class.spec_digest)).collect();
        Self { pools, classes, fleet: Some(digest_of(&policy.fleet)) }
    }
}

impl PlanSpec {
    /// Returns every node that is made, replacements included, with what its NodeClaim asks for, by id.
    /// A create whose claim spec is missing, which no read plan has, is left out.
    pub fn creates(&self) -> impl Iterator<Item = (&ChangeId, &Create, &ClaimSpec)> {
        self.changes.iter().filter_map(|(id, planned)| {
            let create = planned.change.create()?;
            self.claims.get(&create.spec).map(|claim| (id, create, claim))
        })
    }

    /// Returns every node that is deleted, replaced ones included, by id.
    pub fn deletes(&self) -> impl Iterator<Item = (&ChangeId, &Delete)> {
        self.changes.iter().filter_map(|(id, planned)| planned.change.delete().map(|delete| (id, delete)))
    }
}
