//! Reads manifests: YAML or JSON text to the objects of the model.
//!
//! Sources are read one after another, documents one at a time. All faults are reported together, and then no objects
//! are returned: a partially read input would be planned as if the rest did not exist. Never reads files and never
//! decides about nodes.

pub mod admission;
pub mod allow;
pub mod budget;
pub mod claimed;
pub mod counting;
pub mod cron;
pub mod cursor;
pub mod cut;
pub mod document;
pub mod expand;
pub mod fault;
pub mod fields;
pub mod folder;
pub mod found;
pub mod group;
pub mod home;
pub mod hooks;
pub mod job;
pub mod json;
pub mod kept;
pub mod kind;
pub mod listed;
pub mod live;
pub mod meta;
pub mod names;
pub mod node;
pub mod objects;
pub mod older;
pub mod operated;
pub mod overlay;
pub mod owners;
pub mod pod;
pub mod priority;
pub mod refusals;
pub mod renders;
mod replaced;
pub mod rollout;
pub mod running;
pub mod said;
pub mod scalar;
pub mod scaling;
pub mod schedulers;
pub mod sides;
pub mod source;
pub mod storage;
pub mod stray;
pub mod tree;
pub mod workload;
pub mod yaml;

pub use fault::{Fault, Segment, path_text};
pub use kept::{Identity, Kept, KeptObject};
pub use kind::{NotUnderstood, Why};
pub use names::{Cover, Names};
pub use objects::{DaemonSet, Objects, OurObject};
pub use operated::Operated;
pub use overlay::Overlay;
pub use renders::Renders;
pub use running::Cron;
pub use said::{Note, Remark};
pub use scaling::{Hpa, option::Scale};
pub use sides::Sides;
pub use source::{DUMP_BYTES_MAX, Source};
pub use stray::NO_OBJECT;

use std::collections::BTreeSet;

use crate::model::Workload;
use document::Taker as _;
use found::Found;
use listed::Everywhere;
use said::Said;
use scaling::Scaling;
use scaling::autoscaler::Autoscaler;

/// Options for reading an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Replica count for autoscaled workloads.
    pub hpa: Hpa,
    /// Which pods of CronJobs count. By default, existing ones if the input is a dump, else the maximum that may run
    /// concurrently.
    pub cron: Option<Cron>,
    /// Workloads with a pod count set by the user, which overrides all others.
    pub scale: Vec<Scale>,
    /// Whether the workloads of `scale` may be missing: when comparing two inputs, only one may have them.
    pub may_miss_scaled: bool,
}

/// Reads sources. A source given twice is read once, as is an object that occurs twice with the same content.
///
/// # Errors
/// All faults of all documents, sorted by file, line and path.
pub fn read(sources: Vec<Source>) -> Result<Objects, Vec<Fault>> {
    let (objects, faults) = read_all(sources, &ReadOptions::default());
    if faults.is_empty() { Ok(objects) } else { Err(faults) }
}

/// Reads sources and returns the objects and all faults, sorted by file, line and path. If there is any fault, the
/// objects may only be used to find further faults.
#[must_use]
pub fn read_all(sources: Vec<Source>, options: &ReadOptions) -> (Objects, Vec<Fault>) {
    let sources = sorted(sources);
    let mut found = Found::default();
    take(&sources, &mut found);
    let (count, sides) = (sources.len(), Sides::of(sources, &found));
    if sides.written.is_empty() {
        drop(sides);
        return objects(found, count, options);
    }
    let ((mut laid, count), mut faults) = sides.found();
    laid.unknown = found.unknown;
    let (objects, further) = objects(laid, count, options);
    faults.extend(further);
    faults.sort();
    // Faults of a manifest are found when it is read, and again when it is laid over the dump.
    faults.dedup();
    (objects, faults)
}

/// Separates a dump from manifests that contradict it, as [`read_all`] does.
#[must_use]
pub fn sides(sources: Vec<Source>) -> Sides {
    let sources = sorted(sources);
    let mut found = Found::default();
    if sources.len() > 1 {
        take(&sources, &mut found);
    }
    Sides::of(sources, &found)
}

/// Reads sources and returns the objects, cut to the parts that planning needs, and the faults of individual objects.
#[must_use]
pub fn keep(sources: Vec<Source>) -> (Kept, Vec<Fault>) {
    let sources = sorted(sources);
    let mut found = Found::keeping();
    take(&sources, &mut found);
    found.refuse_contradictions();
    let count = sources.len();
    drop(sources);
    let laid = running::beside(&found.workloads, &found.made);
    let Found {
        kept,
        not_understood,
        renders,
        operated,
        passed_over,
        strays,
        listed,
        objects,
        finished_pods,
        faults,
        ..
    } = found;
    let kept = Kept {
        objects: kept.unwrap_or_default(),
        laid,
        not_understood,
        renders,
        operated,
        passed_over,
        strays,
        listed,
        sources: count,
        documents: objects,
        finished_pods,
    };
    (kept, faults.sorted())
}

/// Reads kept objects as [`read_all`] reads their sources.
#[must_use]
pub fn read_kept(kept: Kept, options: &ReadOptions) -> (Objects, Vec<Fault>) {
    let (found, sources) = kept.found();
    objects(found, sources, options)
}

/// Reads kept objects with an overlay: the result of applying it.
#[must_use]
pub fn read_laid(kept: Kept, overlay: Overlay, options: &ReadOptions) -> (Objects, Vec<Fault>) {
    let (found, sources) = overlay::found(kept, overlay);
    objects(found, sources, options)
}

/// Sorts and deduplicates sources.
fn sorted(mut sources: Vec<Source>) -> Vec<Source> {
    sources.sort();
    sources.dedup();
    sources
}

/// Reads sources one after another.
fn take(sources: &[Source], found: &mut Found) {
    for source in sources {
        if !found.goes_on() {
            break;
        }
        found.begin(source);
        document::read(source, found);
    }
}

/// Converts the collected objects, and returns them with all faults.
fn objects(mut found: Found, sources: usize, options: &ReadOptions) -> (Objects, Vec<Fault>) {
    found.refuse_contradictions();
    let is_dump = running::is_dump(&found);
    let missing = missing(&found);
    let Found {
        mut workloads,
        rollouts,
        owners,
        mut pods,
        autoscalers,
        admission,
        priorities,
        mut ours,
        mut laid,
        made,
        unknown,
        notes,
        mut faults,
        ..
    } = found;
    let mut said = Said { assumed: notes, ..Said::default() };
    said.remarks.extend(unknown.remarks());
    rollout::resolve(rollouts, &mut workloads, &mut said);
    let makers = owners.makers(&pods);
    owners.settle(&mut workloads, &mut pods);
    admission.admit(&mut workloads, &mut pods, &mut said);
    laid.extend(running::beside(&workloads, &made));
    laid.extend(targets_of(&laid, &autoscalers));
    running::mark(&mut workloads, (is_dump, &laid), options.cron);
    let scaling = Scaling { autoscalers, options, is_dump };
    scaling.apply(&mut workloads, &mut pods, (&mut said, &mut faults));
    counting::say(&workloads, &mut said);
    running::say(&workloads, &pods, &mut said);
    let has_buffers = ours.iter().any(|object| &*object.kind == "CapacityBuffer");
    if !has_buffers {
        // Only CapacityBuffers reference PodTemplates.
        workloads.retain(|(workload, _)| workload.kind != kind::WorkloadKind::Template);
    }
    let expanded = expand::expand(workloads, pods, &priorities);
    let expanded = expanded.map_err(|fault| faults.add(*fault)).unwrap_or_default();
    said.remarks.extend(schedulers::remarks(&expanded.pods));
    found.budgets.sort();
    ours.sort_by(|one, other| one.identity().cmp(&other.identity()));
    let is_silent = |pod: &&crate::model::Pod| pod.spec.is_without_requests && !pod.is_daemon;
    let objects = Objects {
        pods_without_requests: expanded.pods.iter().filter(is_silent).count(),
        pods: expanded.pods,
        waiting_since: expanded.waiting_since,
        daemons: expanded.daemons,
        templates: if has_buffers { expanded.templates } else { std::collections::BTreeMap::new() },
        refusals: refusals::refusals(found.told, &found.claims),
        nodes: node::joined(found.nodes, found.claims),
        storage: storage::sorted(found.storage),
        budgets: found.budgets,
        groups: group::sorted(found.groups),
        ours,
        namespaces: found.namespaces,
        cluster: found.cluster,
        not_understood: found.not_understood,
        renders: found.renders,
        missing,
        operated: operated::unmade(found.operated, &makers),
        passed_over: found.passed_over,
        strays: found.strays,
        unknown_priority_classes: expanded.unknown_priority_classes,
        said: said.sorted(),
        sources,
        documents: found.objects,
        finished_pods: found.finished_pods,
    };
    (objects, faults.sorted())
}

/// Returns the workloads scaled by any of these autoscalers.
fn targets_of(laid: &BTreeSet<Workload>, autoscalers: &[Autoscaler]) -> Vec<Workload> {
    let by_laid = autoscalers.iter().filter(|autoscaler| laid.contains(&autoscaler.id));
    by_laid.map(|autoscaler| autoscaler.target.clone()).collect()
}

/// Returns the kinds of which every cluster has objects but this dump, which did not list them, has none.
fn missing(found: &Found) -> BTreeSet<Everywhere> {
    let is_dump = !found.nodes.is_empty();
    let has = |kind: &Everywhere| match kind {
        Everywhere::Budgets => !found.budgets.is_empty(),
        Everywhere::PriorityClasses => !found.priorities.is_empty(),
        Everywhere::StorageClasses => !found.storage.classes.is_empty(),
    };
    let is_missing = |kind: &Everywhere| is_dump && !has(kind) && !found.listed.contains(kind.short());
    Everywhere::ALL.into_iter().filter(is_missing).collect()
}

#[cfg(test)]
mod tests;
