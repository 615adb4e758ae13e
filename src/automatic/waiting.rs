//! Pods that are not running, grouped by reason: unplaceable pods immediately, all others after five minutes, whether a
//! plan places them or not.
//!
//! Never omits a pod because a plan places it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::startups::WaitingPod;
use crate::model::{NodeName, PodKey};
use crate::plan::Plan;
use crate::plan::awaited::awaited;

/// How long a pod may take to run before it is reported.
const LONG: SignedDuration = SignedDuration::from_mins(5);

/// Pods that wait for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodWaits {
    /// The pods.
    pub pods: Vec<PodKey>,
    /// The reason.
    pub because: String,
    /// Creation time of the pod that has waited longest.
    pub since: Option<Timestamp>,
}

/// The last plan's information about pending pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Time when the plan's world was observed.
    pub at: Option<Timestamp>,
    /// Pods that the plan cannot place, with the reason.
    without: Vec<(Vec<PodKey>, String)>,
    /// The nodes on which it places the others.
    places: BTreeMap<PodKey, NodeName>,
    /// Joined nodes that are not initialized, with the reason, and whether they are late.
    lacking: BTreeMap<NodeName, (String, bool)>,
    /// The nodes that exist.
    there: BTreeSet<NodeName>,
}

impl Known {
    /// Collects a plan's information; `without` are the pods that it cannot place, in the words of its page.
    /// `clock_speed` divides waits.
    #[must_use]
    pub fn of(plan: &Plan, without: Vec<(Vec<PodKey>, String)>, (at, clock_speed): (Timestamp, u32)) -> Self {
        let speed = i32::try_from(clock_speed).unwrap_or(i32::MAX);
        let mut places = BTreeMap::new();
        for (node, pods) in &plan.evidence.kept {
            places.extend(pods.iter().map(|pod| (pod.clone(), node.clone())));
        }
        for (id, create, _) in plan.spec.creates() {
            let placed = plan.evidence.placements.get(id).into_iter().flat_map(|placement| &placement.pods);
            places.extend(placed.map(|pod| (pod.clone(), NodeName::new(&create.vm))));
        }
        let mut lacking = BTreeMap::new();
        for awaited in awaited(plan) {
            let because = format!("{}; {}", awaited.because(), awaited.hint());
            let name = &awaited.node.name;
            lacking.insert(name.clone(), (because, awaited.is_late(at, speed)));
            places.extend(awaited.pods.into_iter().map(|pod| (pod, name.clone())));
        }
        let there = plan.evidence.world.nodes.iter().map(|node| node.name.clone()).collect();
        Self { at: Some(at), without, places, lacking, there }
    }
}

/// Returns the pods that are not running, most frequent reason first. `coming` are the nodes being created with what
/// they wait for; `pods` are the pods that are not running, or `None` if they could not be listed.
#[must_use]
pub fn waiting(
    known: &Known,
    pods: Option<&[WaitingPod]>,
    coming: &BTreeMap<Arc<str>, String>,
    (at, clock_speed): (Timestamp, u32),
) -> Vec<PodWaits> {
    let there: BTreeMap<&PodKey, &WaitingPod> =
        pods.unwrap_or_default().iter().map(|pod| (&pod.key, pod)).collect();
    let is_there = |key: &&PodKey| pods.is_none() || there.contains_key(key);
    let mut told: BTreeMap<String, Alike<'_>> = BTreeMap::new();
    let mut is_told: BTreeSet<&PodKey> = BTreeSet::new();
    for (keys, because) in &known.without {
        for key in keys.iter().filter(is_there) {
            is_told.insert(key);
            told.entry(because.clone()).or_default().add(key, None, because.clone());
        }
    }
    let long = LONG / i32::try_from(clock_speed.max(1)).unwrap_or(i32::MAX);
    for pod in pods.unwrap_or_default().iter().filter(|pod| !is_told.contains(&pod.key)) {
        let is_long = pod.created.is_some_and(|created| at.duration_since(created) >= long);
        let place = known.places.get(&pod.key);
        let is_late = place.and_then(|node| known.lacking.get(node)).is_some_and(|(_, is_late)| *is_late);
        if is_long || is_late {
            let (node, because) = (pod.node.as_ref().or(place), because(known, pod, coming));
            // The same message for several nodes is one cause.
            let cause = node.map_or_else(|| because.clone(), |node| because.replace(node.as_str(), ""));
            told.entry(cause).or_default().add(&pod.key, node, because);
        }
    }
    let mut waits: Vec<PodWaits> = told
        .into_values()
        .map(|alike| PodWaits {
            since: alike.keys.iter().filter_map(|key| there.get(key)?.created).min(),
            because: alike.because(),
            pods: alike.keys.into_iter().cloned().collect(),
        })
        .collect();
    waits.sort_by(|one, other| (other.pods.len(), &one.because).cmp(&(one.pods.len(), &other.because)));
    waits
}

/// Pods with the same reason, by node.
#[derive(Default)]
struct Alike<'p> {
    keys: Vec<&'p PodKey>,
    /// Their nodes, each with its message.
    nodes: BTreeMap<Option<&'p NodeName>, String>,
}

impl<'p> Alike<'p> {
    fn add(&mut self, key: &'p PodKey, node: Option<&'p NodeName>, because: String) {
        self.keys.push(key);
        self.nodes.entry(node).or_insert(because);
    }

    /// Returns the first node's message and the number of further nodes.
    fn because(&self) -> String {
        let first = self.nodes.values().next().cloned().unwrap_or_default();
        match self.nodes.len().saturating_sub(1) {
            0 => first,
            1 => format!("{first} (and 1 more node)"),
            more => format!("{first} (and {more} more nodes)"),
        }
    }
}

/// Returns what a pod that has been waiting for long waits for.
fn because(known: &Known, pod: &WaitingPod, coming: &BTreeMap<Arc<str>, String>) -> String {
    let said = pod.says.as_ref().map_or_else(String::new, |says| format!(": {says}"));
    if let Some(node) = &pod.node {
        return format!("waiting for node `{node}` to start it{said}");
    }
    let Some(node) = known.places.get(&pod.key) else {
        return match (known.at, pod.created) {
            (Some(at), Some(created)) if at < created => {
                format!("waiting for a plan: the last one is of {at:.0}, before the pod existed")
            }
            (None, _) => "waiting for the first plan".to_owned(),
            (Some(_), _) => format!("waiting for kube-scheduler to place it{said}"),
        };
    };
    if let Some((lacks, _)) = known.lacking.get(node) {
        return lacks.clone();
    }
    match coming.get(node.as_str()) {
        Some(what) => format!("waiting for its node `{node}`: {what}"),
        None if known.there.contains(node) => {
            format!("waiting for kube-scheduler to place it on node `{node}`{said}")
        }
        None => format!("waiting for its node `{node}` to be created"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(minute * 60).unwrap()
    }

    fn pod(name: &str, created: i64) -> WaitingPod {
        WaitingPod {
            uid: name.into(),
            key: PodKey::new("web", name),
            created: Some(at(created)),
            node: None,
            is_unschedulable: true,
            says: Some("0/3 nodes are available".into()),
        }
    }

    fn known() -> Known {
        let place = |pod: &str, node: &str| (PodKey::new("web", pod), NodeName::new(node));
        Known {
            at: Some(at(8)),
            without: vec![(
                vec![PodKey::new("web", "giant"), PodKey::new("web", "gone")],
                "memory".to_owned(),
            )],
            places: [
                place("planned", "n-new"),
                place("coming", "n-coming"),
                place("lacking", "n-lacks"),
                place("kept", "n-old"),
            ]
            .into(),
            lacking: [(
                NodeName::new("n-lacks"),
                ("node `n-lacks` still has the taint `a`".to_owned(), false),
            )]
            .into(),
            there: [NodeName::new("n-old"), NodeName::new("n-lacks")].into(),
        }
    }

    #[test]
    fn every_pod_that_has_not_run_for_five_minutes_is_told_with_what_it_waits_for_and_since_when() {
        let coming = BTreeMap::from([("n-coming".into(), "VM `n-coming` to be made".to_owned())]);
        let bound = WaitingPod {
            node: Some(NodeName::new("n-old")),
            says: Some("ImagePullBackOff".into()),
            ..pod("bound", 1)
        };
        let mut pods: Vec<WaitingPod> =
            ["planned", "coming", "lacking", "kept", "nowhere"].map(|name| pod(name, 2)).into();
        pods.extend([bound, pod("giant", 9), pod("young", 9), pod("early", 9)]);
        let told = |minute: i64| -> Vec<String> {
            let found = waiting(&known(), Some(&pods), &coming, (at(minute), 1));
            let line = |waits: PodWaits| {
                let pods: Vec<&str> = waits.pods.iter().map(|pod| &*pod.name).collect();
                let since = waits.since.map_or(-1, |since| since.as_second() / 60);
                format!("{} since {since}: {}", pods.join(","), waits.because)
            };
            found.into_iter().map(line).collect()
        };
        assert_eq!(
            told(5),
            ["giant since 9: memory"],
            "what gets no node is told at once, what is gone is not"
        );
        let mut told_then = told(10);
        told_then.sort();
        assert_eq!(
            told_then,
            [
                "bound since 1: waiting for node `n-old` to start it: ImagePullBackOff",
                "coming since 2: waiting for its node `n-coming`: VM `n-coming` to be made",
                "giant since 9: memory",
                "kept since 2: waiting for kube-scheduler to place it on node `n-old`: 0/3 nodes are available",
                "lacking since 2: node `n-lacks` still has the taint `a`",
                "nowhere since 2: waiting for kube-scheduler to place it: 0/3 nodes are available",
                "planned since 2: waiting for its node `n-new` to be created",
            ]
        );
        let unplanned = told(14);
        let after = "young,early since 9: waiting for a plan: the last one is of 1970-01-01T00:08:00Z, before the pod existed";
        assert_eq!(unplanned[0], after, "that of most pods comes first");
    }

    #[test]
    fn what_pods_of_many_nodes_wait_for_is_one_cause_and_other_causes_stay_apart() {
        let coming = ["n-new", "n-coming"].map(|node| (Arc::from(node), format!("VM `{node}` to join")));
        let pods = ["planned", "coming", "lacking"].map(|name| pod(name, 2));
        let found = waiting(&known(), Some(&pods), &coming.into(), (at(10), 1));
        let told: Vec<(usize, &str)> =
            found.iter().map(|waits| (waits.pods.len(), &*waits.because)).collect();
        let joining = "waiting for its node `n-coming`: VM `n-coming` to join (and 1 more node)";
        let lacking = "node `n-lacks` still has the taint `a`";
        assert_eq!(told, [(2, joining), (1, lacking)]);
    }

    #[test]
    fn where_the_pods_could_not_be_listed_the_plans_own_reasons_stay() {
        let found = waiting(&known(), None, &BTreeMap::new(), (at(10), 1));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].pods.len(), found[0].since), (2, None));
    }
}
