//! How many pods PodDisruptionBudgets allow to be evicted concurrently, and which pods their gang keeps from eviction.
//!
//! The rules are those of Kubernetes' disruption controller and eviction API. Counts that the cluster computed are used
//! as they are; budgets from manifests have none, so their counts are computed here from the pods. Knows nothing of
//! waves.

use std::collections::BTreeMap;

use super::disruption_budget::{DisruptionBudget, PodBound, PodShare, UnhealthyPods};
use super::gang::{Gang, Gangs, down};
use super::{Namespace, Node, Pod, PodKey, PodPlace};

/// A budget and the number of evictions that it allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard<'a> {
    /// The budget.
    pub budget: &'a DisruptionBudget,
    /// Number of its pods that may be evicted before the first of them is ready again elsewhere.
    pub allowed: u32,
}

/// Evictions allowed by all budgets.
#[derive(Clone, Debug, Default)]
pub struct Evictions<'a> {
    guards: Vec<Guard<'a>>,
    by_namespace: BTreeMap<&'a Namespace, Vec<usize>>,
    /// Pods of gangs that run no more than their minimum.
    bound_together: BTreeMap<&'a PodKey, TooFew>,
}

/// A gang's number of running pods, too low for an eviction.
#[derive(Clone, Debug)]
struct TooFew {
    gang: String,
    running: usize,
    least: usize,
    field: &'static str,
}

impl TooFew {
    fn of(gang: &Gang<'_>, running: usize) -> Option<Self> {
        let least = gang.least.filter(|least| running <= *least)?;
        Some(Self { gang: gang.to_string(), running, least, field: gang.group.least_field() })
    }
}

impl<'a> Evictions<'a> {
    /// Computes how many of these pods each budget allows to be evicted.
    #[must_use]
    pub fn of(budgets: &'a [DisruptionBudget], pods: &[Pod]) -> Self {
        let mut evictions = Self::default();
        for (place, budget) in budgets.iter().enumerate() {
            let allowed = match budget.counts {
                Some(counts) => counts.disruptions_allowed,
                None => counted(budget, pods),
            };
            evictions.guards.push(Guard { budget, allowed });
            evictions.by_namespace.entry(&budget.namespace).or_default().push(place);
        }
        evictions
    }

    /// Protects the pods of gangs that run no more than their minimum. Pods on nodes that are being deleted or not
    /// ready do not count as running.
    #[must_use]
    pub fn with_gangs(mut self, gangs: &Gangs<'a>, nodes: &[Node]) -> Self {
        if gangs.all().is_empty() {
            return self;
        }
        let down = down(nodes);
        for gang in gangs.all() {
            let running: Vec<&Pod> = gang.running(&down).collect();
            if let Some(few) = TooFew::of(gang, running.len()) {
                self.bound_together.extend(running.into_iter().map(|pod| (&pod.key, few.clone())));
            }
        }
        self
    }

    /// Describes the gang that keeps a pod from being evicted, if one does.
    #[must_use]
    pub fn why_bound_together(&self, pod: &Pod) -> Option<String> {
        let TooFew { gang, running, least, field } = self.bound_together.get(&pod.key)?;
        let key = &pod.key;
        Some(format!("its pod `{key}` is one of {running} that run of {gang}, whose {field} is {least}"))
    }

    /// Returns all budgets in input order.
    #[must_use]
    pub fn guards(&self) -> &[Guard<'a>] {
        &self.guards
    }

    /// Returns the budget at an index.
    #[must_use]
    pub fn guard(&self, place: usize) -> Option<&Guard<'a>> {
        self.guards.get(place)
    }

    /// Returns whether a pod may be evicted at all: its gang does not need it, at most one budget selects it (the
    /// eviction API refuses several), and that budget allows an eviction. DaemonSet pods are deleted with their node.
    #[must_use]
    pub fn may_leave(&self, pod: &Pod) -> bool {
        if pod.is_daemon {
            return true;
        }
        if self.bound_together.contains_key(&pod.key) {
            return false;
        }
        let mut about = self.about(pod).filter_map(|place| self.guards.get(place));
        match (about.next(), about.next()) {
            (None, _) => true,
            (Some(guard), None) => {
                let is_exempt = pod.state.is_unready && guard.budget.unhealthy == UnhealthyPods::AlwaysAllow;
                is_exempt || guard.allowed > 0
            }
            (Some(_), Some(_)) => false,
        }
    }

    /// Describes the gang or budgets that keep a pod from being evicted, if any do.
    #[must_use]
    pub fn why_stays(&self, pod: &Pod) -> Option<String> {
        if self.may_leave(pod) {
            return None;
        }
        if let Some(why) = self.why_bound_together(pod) {
            return Some(why);
        }
        let guards = self.about(pod).filter_map(|place| self.guards.get(place));
        let named = |guard: &Guard<'_>| format!("`{}/{}`", guard.budget.namespace, guard.budget.name);
        let names: Vec<String> = guards.map(named).collect();
        let key = &pod.key;
        Some(match names.as_slice() {
            [name] => format!("PodDisruptionBudget {name} does not let its pod `{key}` go"),
            names => format!(
                "PodDisruptionBudgets {} all select its pod `{key}`, which the eviction API refuses",
                names.join(", ")
            ),
        })
    }

    /// Returns the indices of the budgets from which evicting a pod takes one disruption. A pod that is not ready or is
    /// already being deleted does not count as healthy, so its eviction takes none.
    pub fn used_by(&self, pod: &Pod) -> impl Iterator<Item = usize> {
        let is_counted = !pod.is_daemon && is_healthy(pod);
        self.about(pod).filter(move |_| is_counted)
    }

    /// Returns the indices of the budgets that select a pod.
    pub fn about(&self, pod: &Pod) -> impl Iterator<Item = usize> {
        let places = self.by_namespace.get(&pod.key.namespace).map_or(&[][..], Vec::as_slice);
        let selects = |place: &usize| self.guards.get(*place).is_some_and(|guard| is_of(pod, guard.budget));
        places.iter().copied().filter(selects)
    }
}

fn is_of(pod: &Pod, budget: &DisruptionBudget) -> bool {
    budget.namespace == pod.key.namespace
        && budget.selector.as_ref().is_some_and(|selector| selector.selects(&pod.spec.labels))
}

/// Returns whether the disruption controller counts a pod as healthy: it runs, is ready and is not being deleted.
fn is_healthy(pod: &Pod) -> bool {
    matches!(pod.place, PodPlace::Bound(_)) && !pod.state.is_unready && !pod.is_terminating
}

/// Computes the allowed disruptions as the disruption controller does: healthy pods minus the required healthy ones,
/// with percentages of all pods rounded up for both kinds of bound. A budget without a bound allows none.
fn counted(budget: &DisruptionBudget, pods: &[Pod]) -> u32 {
    let own = || pods.iter().filter(|pod| is_of(pod, budget));
    let count = |pods: usize| u32::try_from(pods).unwrap_or(u32::MAX);
    let all = count(own().count());
    let of_all = |share: PodShare| match share {
        PodShare::Count(count) => count,
        PodShare::Percent(percent) => {
            let hundredths = u64::from(all) * u64::from(percent);
            u32::try_from(hundredths.div_ceil(100)).unwrap_or(u32::MAX)
        }
    };
    let wanted = match budget.bound {
        Some(PodBound::MinAvailable(least)) => of_all(least),
        Some(PodBound::MaxUnavailable(most)) => all.saturating_sub(of_all(most)),
        None => return 0,
    };
    count(own().filter(|pod| is_healthy(pod)).count()).saturating_sub(wanted)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::disruption_budget::{DisruptionBudget, PodBound, PodShare, UnhealthyPods};
    use super::super::{LabelSelector, NodeName, Pod, PodKey, PodPlace, PodSpec, PodState};
    use super::Evictions;

    fn pods(running: usize, waiting: usize) -> Vec<Pod> {
        let place = |number: usize| match number < running {
            true => PodPlace::Bound(NodeName::new("a")),
            false => PodPlace::Waiting,
        };
        let pod = |number: usize| Pod {
            key: PodKey::new("default", format!("web-{number}")),
            workload: None,
            spec: Arc::new(PodSpec::default()),
            place: place(number),
            is_daemon: false,
            is_do_not_disrupt: false,
            is_terminating: false,
            state: PodState::default(),
        };
        (0..running + waiting).map(pod).collect()
    }

    fn budget(bound: Option<PodBound>) -> DisruptionBudget {
        DisruptionBudget {
            namespace: "default".into(),
            name: "web".into(),
            selector: Some(LabelSelector::default()),
            bound,
            unhealthy: UnhealthyPods::IfHealthyBudget,
            counts: None,
        }
    }

    fn allowed(bound: Option<PodBound>, pods: &[Pod]) -> u32 {
        Evictions::of(&[budget(bound)], pods).guards()[0].allowed
    }

    #[test]
    fn a_budget_that_nobody_counted_is_counted_as_kubernetes_does() {
        use PodBound::{MaxUnavailable as Most, MinAvailable as Least};
        use PodShare::{Count, Percent};
        for (bound, running, waiting, expected) in [
            (Least(Count(2)), 3, 0, 1),
            (Least(Count(3)), 3, 0, 0),
            (Least(Count(9)), 3, 0, 0),
            // Percentages of all pods round up for both bounds: 1.5 of 3 becomes 2.
            (Least(Percent(50)), 3, 0, 1),
            (Most(Percent(50)), 3, 0, 2),
            (Most(Percent(1)), 3, 0, 1),
            (Least(Percent(100)), 3, 0, 0),
            (Most(Count(1)), 3, 0, 1),
            (Most(Count(0)), 3, 0, 0),
            // Pending pods already count as unavailable.
            (Most(Count(1)), 2, 1, 0),
            (Most(Count(2)), 2, 1, 1),
            (Least(Percent(50)), 2, 2, 0),
        ] {
            assert_eq!(
                allowed(Some(bound), &pods(running, waiting)),
                expected,
                "{bound:?} of {running}+{waiting}"
            );
        }
        assert_eq!(allowed(None, &pods(3, 0)), 0, "without a bound nothing is counted, and nothing goes");
    }

    #[test]
    fn what_is_not_ready_or_goes_already_is_not_healthy_and_takes_nothing() {
        let mut pods = pods(3, 0);
        pods[0].state.is_unready = true;
        pods[1].is_terminating = true;
        let budgets = [budget(Some(PodBound::MaxUnavailable(PodShare::Count(3))))];
        let evictions = Evictions::of(&budgets, &pods);
        assert_eq!(evictions.guards()[0].allowed, 1);
        assert_eq!(pods.iter().map(|pod| evictions.used_by(pod).count()).collect::<Vec<_>>(), [0, 0, 1]);
    }

    #[test]
    fn who_keeps_a_pod_is_named() {
        let pods = pods(2, 0);
        let never = budget(Some(PodBound::MaxUnavailable(PodShare::Count(0))));
        let other = DisruptionBudget { name: "all".into(), ..never.clone() };
        let why = |budgets: &[DisruptionBudget]| Evictions::of(budgets, &pods).why_stays(&pods[0]);
        assert_eq!(why(&[]), None);
        let one = why(std::slice::from_ref(&never)).expect("none may go");
        assert_eq!(one, "PodDisruptionBudget `default/web` does not let its pod `default/web-0` go");
        let two = why(&[never, other]).expect("none may go");
        let expected = "PodDisruptionBudgets `default/web`, `default/all` all select its pod `default/web-0`, which the \
                        eviction API refuses";
        assert_eq!(two, expected);
    }
}
