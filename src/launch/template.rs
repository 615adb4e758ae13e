//! The bootstrap configuration of a choice, rebuilt from current data: it must equal the plan's. Never returns a
//! configuration that was not reviewed.

use std::collections::BTreeMap;

use super::cluster::refusal;
use super::ground::Ground;
use super::{machine, node};
use crate::bootstrap::{Refusal, Template};
use crate::model::Digest;
use crate::plan::execution::LaunchChoice;
use crate::plan::{ClaimSpecId, PlanSpec};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

/// The bootstrap data of a choice's VM, except for its token.
#[derive(Clone, Debug, PartialEq)]
pub struct Ready {
    /// Its configuration.
    pub template: Template,
    /// SSH public key of the admin user, as a line of `authorized_keys`.
    pub ssh_public_key: String,
}

/// Why a choice cannot be launched as planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTheSame {
    /// The plan has no such choice, or is not from a live cluster.
    #[error("the plan has no such choice")]
    NoSuchChoice,
    /// The observed state no longer determines the bootstrap configuration.
    #[error("its VM's user data can no longer be created: {0}")]
    Refused(Refusal),
    /// The class has changed.
    #[error("AKSNodeClass `{0}` was changed since the plan was made")]
    ClassChanged(String),
    /// The cluster has changed.
    #[error(
        "user data of new nodes changed since the plan was created: the cluster was upgraded (its version is {0} now), or its network, identity or certificate authority was changed"
    )]
    ClusterChanged(String),
    /// The SSH key has changed.
    #[error("the SSH key of the cluster's nodes was changed since the plan was made")]
    KeyChanged,
}

/// Returns the bootstrap data of a plan's choice, built from a fresh snapshot and policy.
///
/// # Errors
/// The result would differ from the plan.
pub fn ready(
    (snapshot, policy): (&Snapshot, &Policy),
    spec: &PlanSpec,
    (claim, choice): (&ClaimSpecId, usize),
) -> Result<Ready, NotTheSame> {
    let execution = spec.execution.as_ref().ok_or(NotTheSame::NoSuchChoice)?;
    let choice: &LaunchChoice = execution.choices(claim).get(choice).ok_or(NotTheSame::NoSuchChoice)?;
    let planned = execution.machines.get(&choice.machine).ok_or(NotTheSame::NoSuchChoice)?;
    let claim = spec.claims.get(claim).ok_or(NotTheSame::NoSuchChoice)?;
    let digest = policy.classes.get(&claim.class).map(|class| class.spec_digest);
    if digest != spec.inputs.classes.get(&claim.class).copied() {
        return Err(NotTheSame::ClassChanged(claim.class.to_string()));
    }
    let refused = |refusals: Vec<Refusal>| {
        let first = refusals.into_iter().next();
        NotTheSame::Refused(first.unwrap_or_else(|| refusal("bootstrap configuration", "is not known")))
    };
    let facts = snapshot
        .azure
        .as_ref()
        .ok_or_else(|| refused(vec![refusal("cluster", "nothing is known of its Azure resources")]))?;
    let key = facts.cluster.ssh_public_key.as_deref().unwrap_or_default();
    if Digest::of_bytes(key.as_bytes()) != planned.ssh_key {
        return Err(NotTheSame::KeyChanged);
    }
    let ground = Ground::of((snapshot, policy), facts, [claim]);
    let made = ground.made(claim, &choice.choice.size).map_err(refused)?;
    let start = machine::start(&made).map_err(refused)?;
    if start.template.digest() != planned.bootstrap {
        return Err(NotTheSame::ClusterChanged(start.cluster.kubernetes_version.to_string()));
    }
    let node = node::node(&made, &start.cluster.kubernetes_version, Some(&choice.choice));
    let template = Template::build(&start.cluster, &node, &made.whole.spec).map_err(refused)?;
    Ok(Ready { template, ssh_public_key: key.to_owned() })
}

/// Bootstrap data of a plan's VMs by claim spec and choice, or why it can no longer be built.
#[derive(Clone, Debug, Default)]
pub struct Materials(pub BTreeMap<(ClaimSpecId, usize), Result<Ready, NotTheSame>>);

impl Materials {
    /// Builds them from a fresh snapshot and policy.
    #[must_use]
    pub fn of((snapshot, policy): (&Snapshot, &Policy), spec: &PlanSpec) -> Self {
        let launches = spec.execution.iter().flat_map(|execution| &execution.launches);
        let choices =
            launches.flat_map(|(claim, launch)| (0..launch.choices.len()).map(move |choice| (claim, choice)));
        let made = choices.map(|(claim, choice)| {
            ((claim.clone(), choice), ready((snapshot, policy), spec, (claim, choice)))
        });
        Self(made.collect())
    }

    /// Returns the bootstrap data of a choice's VM.
    ///
    /// # Errors
    /// Why it can no longer be built.
    pub fn ready(&self, claim: &ClaimSpecId, choice: usize) -> Result<&Ready, &NotTheSame> {
        match self.0.get(&(claim.clone(), choice)) {
            Some(made) => made.as_ref(),
            None => Err(&NotTheSame::NoSuchChoice),
        }
    }
}
