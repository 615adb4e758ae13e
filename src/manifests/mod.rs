//! Manifests -> objects: text in YAML or JSON, in the values of the model.
//!
//! Sources are read one after another, documents one at a time. Whatever is wrong with any of them is told
//! at once, and then nothing is handed on: a half-read input would be planned as if the rest did not exist.
//! This module never reads files and decides nothing about nodes.

pub mod budget;
pub mod counting;
pub mod cron;
pub mod cursor;
pub mod cut;
pub mod document;
pub mod expand;
pub mod fault;
pub mod folder;
pub mod found;
pub mod job;
pub mod json;
pub mod kind;
pub mod live;
pub mod meta;
pub mod node;
pub mod objects;
pub mod older;
pub mod owners;
pub mod pod;
pub mod priority;
pub mod renders;
pub mod rollout;
pub mod said;
pub mod scalar;
pub mod scaling;
pub mod source;
pub mod storage;
pub mod tree;
pub mod workload;
pub mod yaml;

pub use fault::{Fault, Segment, path_text};
pub use kind::{NotUnderstood, Why};
pub use objects::{DaemonSet, Objects, OurObject};
pub use renders::Renders;
pub use said::{Note, Remark};
pub use scaling::{Hpa, option::Scale};
pub use source::{DUMP_BYTES_MAX, Source};

use document::Taker as _;
use found::Found;
use said::Said;
use scaling::Scaling;

/// How an input is to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// How many replicas autoscaled workloads are planned with.
    pub hpa: Hpa,
    /// Workloads whose pods the user counts, whatever else says how many there are.
    pub scale: Vec<Scale>,
}

/// Reads sources. A source that is given twice is read once, as is an object that stands twice with the same
/// content.
///
/// # Errors
/// Everything that is wrong with any document, sorted by file, line and path.
pub fn read(sources: Vec<Source>) -> Result<Objects, Vec<Fault>> {
    let (objects, faults) = read_all(sources, &ReadOptions::default());
    if faults.is_empty() { Ok(objects) } else { Err(faults) }
}

/// Reads sources and returns the objects beside everything that is wrong, sorted by file, line and path. With
/// any fault the objects are good for nothing but to look for further faults in them.
#[must_use]
pub fn read_all(mut sources: Vec<Source>, options: &ReadOptions) -> (Objects, Vec<Fault>) {
    sources.sort();
    sources.dedup();
    let count = sources.len();
    let mut found = Found::default();
    for source in sources {
        if !found.goes_on() {
            break;
        }
        document::read(&source, &mut found);
    }
    let Found {
        mut workloads,
        rollouts,
        owners,
        mut pods,
        autoscalers,
        priorities,
        mut ours,
        mut faults,
        ..
    } = found;
    let mut said = Said::default();
    rollout::resolve(rollouts, &mut workloads, &mut said);
    owners.settle(&mut workloads, &mut pods);
    let scaling = Scaling { autoscalers, hpa: options.hpa, scale: &options.scale };
    scaling.apply(&mut workloads, &mut pods, (&mut said, &mut faults));
    counting::say(&workloads, &mut said);
    let expanded = expand::expand(workloads, pods, &priorities).unwrap_or_else(|fault| {
        faults.add(*fault);
        expand::Expanded::default()
    });
    found.budgets.sort();
    ours.sort_by(|one, other| (&one.kind, &one.name).cmp(&(&other.kind, &other.name)));
    let is_silent = |pod: &&crate::model::Pod| pod.spec.is_without_requests && !pod.is_daemon;
    let objects = Objects {
        pods_without_requests: expanded.pods.iter().filter(is_silent).count(),
        pods: expanded.pods,
        daemons: expanded.daemons,
        nodes: node::joined(found.nodes, found.claims),
        storage: storage::sorted(found.storage),
        budgets: found.budgets,
        ours,
        namespaces: found.namespaces,
        cluster: found.cluster,
        not_understood: found.not_understood,
        renders: found.renders,
        passed_over: found.passed_over,
        unknown_priority_classes: expanded.unknown_priority_classes,
        said: said.sorted(),
        sources: count,
        documents: found.objects,
        finished_pods: found.finished_pods,
    };
    (objects, faults.sorted())
}

#[cfg(test)]
mod tests;
