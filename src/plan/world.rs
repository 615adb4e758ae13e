//! What a plan was made from, small enough to travel with it: the judge reads it instead of the input.
//!
//! Pods of one shape stand together, and of the catalogue only the sizes that the plan chose or that run.
//! What is rebuilt from it is for judging and showing, never for planning anew: most sizes are missing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{
    ClassName, Fleet, InstanceType, LabelKey, Namespace, Node, NodeClass, PodPlace, PodSpec, Pool, Region,
    Workload,
};
use crate::snapshot::{Assumption, Daemon, Gap};

/// What a plan was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct World {
    /// How many documents were read, where the reader said it.
    #[serde(default)]
    pub documents: Option<usize>,
    /// The region of the catalogue.
    pub region: Region,
    /// Where the catalogue comes from, for people.
    pub catalog: String,
    /// Instance types by class: those of planned and running nodes.
    pub sizes: BTreeMap<ClassName, Vec<InstanceType>>,
    /// Labels that pods may ask for without their pool naming them, of those that pods ask for.
    pub well_known: BTreeSet<LabelKey>,
    /// NodePools.
    pub pools: Vec<Pool>,
    /// AKSNodeClasses.
    pub classes: Vec<NodeClass>,
    /// The NodeFleet or its defaults.
    pub fleet: Fleet,
    /// Nodes by name.
    pub nodes: Vec<Node>,
    /// DaemonSets.
    pub daemons: Vec<Daemon>,
    /// What the scheduler reads of pods; equal ones once.
    pub pod_specs: Vec<Arc<PodSpec>>,
    /// Pods, those alike but for their name together.
    pub pods: Vec<PodGroup>,
    /// What could not be read.
    pub gaps: Vec<Gap>,
    /// What was assumed.
    pub assumptions: Vec<Assumption>,
}

/// Pods that differ in nothing but their name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PodGroup {
    /// What the scheduler reads of them: a place in [`World::pod_specs`].
    pub spec: usize,
    /// Their namespace.
    pub namespace: Namespace,
    /// The workload that made them, if one did.
    pub workload: Option<Workload>,
    /// Where they are.
    pub place: PodPlace,
    /// Whether they belong to a DaemonSet or are static pods.
    pub is_daemon: bool,
    /// Whether they ask not to be disrupted.
    pub is_do_not_disrupt: bool,
    /// Whether they are being deleted.
    pub is_terminating: bool,
    /// Their names, sorted.
    pub names: Vec<Arc<str>>,
}
