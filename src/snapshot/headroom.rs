//! Turns CapacityBuffers into placeholders: pods that do not exist, for which free capacity is kept.
//!
//! A placeholder has the node-related constraints of the buffer's pods: requests, node selector, required node
//! affinity, tolerations, host ports. It has no labels and no rules between pods, so it never counts in, or blocks,
//! other pods' rules. It has the lowest priority, so it never takes precedence over a pod.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::buffer::ACTIVE_CAPACITY;
use crate::model::{
    Buffer, BufferName, BufferPods, Effect, Namespace, NodeAffinity, Pod, PodKey, PodPlace, PodSpec,
    PodState, Resources, Toleration, Workload,
};

use super::{Gap, GapKind, Snapshot};

/// Maximum placeholders of a buffer: more than any cluster needs, and few enough to plan.
const PLACEHOLDERS_MAX: u32 = 10_000;

/// Pod spec and replica count of each workload.
pub type Templates = BTreeMap<Workload, (Arc<PodSpec>, u32)>;

/// Adds the placeholders of all buffers to the pods, and a gap for every buffer without placeholders.
pub fn keep_room(
    snapshot: &mut Snapshot,
    buffers: &BTreeMap<(Namespace, BufferName), Buffer>,
    templates: &Templates,
) {
    for buffer in buffers.values() {
        let what = || format!("CapacityBuffer `{}/{}`", buffer.namespace, buffer.name);
        match kept(buffer, templates, &snapshot.pods) {
            Ok((spec, asked)) => {
                let (spec, count) = (Arc::new(spec), asked.min(PLACEHOLDERS_MAX));
                if count < asked {
                    let consequence = format!("it requests headroom for {asked} pods: {count} are kept");
                    snapshot.gaps.push(Gap { kind: GapKind::WithoutEffect, what: what(), consequence });
                }
                snapshot.pods.extend((1..=count).map(|ordinal| placeholder(buffer, ordinal, &spec)));
            }
            Err((kind, consequence)) => snapshot.gaps.push(Gap { kind, what: what(), consequence }),
        }
    }
    snapshot.pods.sort();
    snapshot.gaps.sort();
}

/// Returns the placeholder spec of a buffer, and the number of placeholders.
///
/// # Errors
/// The reason why they cannot be determined.
fn kept(buffer: &Buffer, templates: &Templates, pods: &[Pod]) -> Result<(PodSpec, u32), (GapKind, String)> {
    if &*buffer.strategy != ACTIVE_CAPACITY {
        let because = format!("its strategy `{}` is not known: it keeps no room", buffer.strategy);
        return Err((GapKind::WithoutEffect, because));
    }
    let (workload, named) = match &buffer.pods {
        BufferPods::Template(name) => {
            let (kind, namespace) = (Arc::from("PodTemplate"), buffer.namespace.clone());
            let named = format!("PodTemplate `{name}`");
            (Workload { kind, namespace, name: Arc::clone(name) }, named)
        }
        BufferPods::Workload { group: _, workload } => {
            (workload.clone(), format!("{} `{}`", workload.kind, workload.name))
        }
    };
    let known = templates.get(&workload).cloned().or_else(|| of_pods(&workload, pods));
    let Some((spec, replicas)) = known else {
        let because = format!("the input does not hold its {named}: it keeps no room");
        return Err((GapKind::Unread, because));
    };
    let spec = stripped(&spec);
    match count(buffer, replicas, &spec.requests) {
        Some(count) => Ok((spec, count)),
        None => Err((
            GapKind::WithoutEffect,
            "it says neither `replicas` nor `percentage`, and no limit bounds it: it keeps no room"
                .to_owned(),
        )),
    }
}

/// Derives the spec and replica count of a workload from its running pods, for workloads that are not in the input.
fn of_pods(workload: &Workload, pods: &[Pod]) -> Option<(Arc<PodSpec>, u32)> {
    let mut own = pods.iter().filter(|pod| pod.workload.as_ref() == Some(workload) && !pod.is_terminating);
    let first = own.next()?;
    Some((Arc::clone(&first.spec), u32::try_from(own.count() + 1).unwrap_or(u32::MAX)))
}

/// Returns the number of placeholders: the larger of `replicas` and `percentage`, as in Karpenter, or the maximum that
/// the limits allow if neither is set. Limits always apply. A percentage above 0 is rounded up, to at least one pod.
fn count(buffer: &Buffer, replicas: u32, requests: &Resources) -> Option<u32> {
    let is_share = matches!(buffer.pods, BufferPods::Workload { .. });
    let share = buffer.percent.filter(|_| is_share).map(|percent| match percent {
        0 => 0,
        percent => {
            let pods = (u64::from(replicas) * u64::from(percent)).div_ceil(100).max(1);
            u32::try_from(pods).unwrap_or(u32::MAX)
        }
    });
    let limits = buffer.limits.iter().flat_map(Resources::iter);
    let bounds = limits.filter_map(|(name, most)| {
        let each = requests.get(name);
        (each > 0).then(|| u32::try_from(most / each).unwrap_or(u32::MAX))
    });
    let asked = [buffer.replicas, share].into_iter().flatten().max();
    asked.into_iter().chain(bounds).min()
}

/// Reduces a pod spec to the node-related constraints of a placeholder.
fn stripped(spec: &PodSpec) -> PodSpec {
    // Placeholders have no preferences, so they fit wherever the pods may run.
    let soft = Toleration { key: None, value: None, effect: Some(Effect::PreferNoSchedule), seconds: None };
    let mut tolerations: Vec<Toleration> = spec.tolerations.iter().cloned().chain([soft]).collect();
    tolerations.sort();
    tolerations.dedup();
    PodSpec {
        requests: spec.requests.clone(),
        node_selector: spec.node_selector.clone(),
        node_affinity: NodeAffinity { required: spec.node_affinity.required.clone(), preferred: Vec::new() },
        tolerations,
        host_ports: spec.host_ports.clone(),
        priority: i32::MIN,
        ..PodSpec::default()
    }
}

fn placeholder(buffer: &Buffer, ordinal: u32, spec: &Arc<PodSpec>) -> Pod {
    let Buffer { namespace, name, .. } = buffer;
    Pod {
        key: PodKey::placeholder(namespace, name, ordinal),
        workload: Some(Workload {
            kind: Arc::from("CapacityBuffer"),
            namespace: namespace.clone(),
            name: Arc::from(name.as_str()),
        }),
        spec: Arc::clone(spec),
        place: PodPlace::Waiting,
        is_daemon: false,
        is_do_not_disrupt: false,
        is_terminating: false,
        state: PodState::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffer, BufferName, BufferPods, Namespace, Resources, Workload, count};
    use crate::model::ResourceName;

    fn buffer(replicas: Option<u32>, percent: Option<u32>, cpu_milli: Option<i64>) -> Buffer {
        let namespace = Namespace::new("shop");
        let workload =
            Workload { kind: "Deployment".into(), namespace: namespace.clone(), name: "web".into() };
        Buffer {
            namespace,
            name: BufferName::new("room"),
            strategy: super::ACTIVE_CAPACITY.into(),
            pods: BufferPods::Workload { group: "apps".into(), workload },
            replicas,
            percent,
            limits: cpu_milli.map(|cpu| Resources::none().with(ResourceName::Cpu, cpu)),
        }
    }

    #[test]
    fn the_larger_of_what_is_said_counts_as_far_as_limits_let() {
        let requests = Resources::none().with(ResourceName::Cpu, 500);
        let of = |replicas, percent, cpu| count(&buffer(replicas, percent, cpu), 11, &requests);
        assert_eq!(of(Some(5), None, None), Some(5));
        assert_eq!(of(None, Some(20), None), Some(3), "rounded up");
        assert_eq!(of(Some(2), Some(20), None), Some(3));
        assert_eq!(of(Some(5), Some(20), None), Some(5));
        assert_eq!(of(Some(5), Some(90), Some(1700)), Some(3));
        assert_eq!(of(Some(5), None, Some(1700)), Some(3));
        assert_eq!(of(None, None, Some(1700)), Some(3));
        assert_eq!(of(None, None, None), None);
        assert_eq!(of(None, Some(0), None), Some(0));
        let none = count(&buffer(None, Some(10), None), 0, &requests);
        assert_eq!(none, Some(1), "one at least");
    }
}
