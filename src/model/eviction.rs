//! How many pods may be evicted at once, by their PodDisruptionBudgets, and which not at all for their gang.
//!
//! The rules of Kubernetes' disruption controller and of its eviction API. What the cluster has counted itself counts;
//! budgets of manifests carry no count, so that it is made here from the pods. Nothing here knows waves.

use std::collections::BTreeMap;

use super::disruption_budget::{DisruptionBudget, PodBound, PodShare, UnhealthyPods};
use super::gang::{Gang, Gangs, down};
use super::{Namespace, Node, Pod, PodKey, PodPlace};

/// A budget with what it lets go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard<'a> {
    /// The budget.
    pub budget: &'a DisruptionBudget,
    /// How many of its pods may be evicted before the first of them is up again elsewhere.
    pub allowed: u32,
}

/// What all budgets let go.
#[derive(Clone, Debug, Default)]
pub struct Evictions<'a> {
    guards: Vec<Guard<'a>>,
    by_namespace: BTreeMap<&'a Namespace, Vec<usize>>,
    /// The pods whose gang runs no more than must run.
    bound_together: BTreeMap<&'a PodKey, TooFew>,
}

/// How many of a gang run, which are too few for one to go.
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
    /// Counts what each budget lets go of these pods.
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

    /// Keeps the pods of gangs of which no more run than must run. Where a node is going or not ready, what is there does not
    /// count.
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

    /// Says which gang keeps a pod, where one does not let it go.
    #[must_use]
    pub fn why_bound_together(&self, pod: &Pod) -> Option<String> {
        let TooFew { gang, running, least, field } = self.bound_together.get(&pod.key)?;
        let key = &pod.key;
        Some(format!("its pod `{key}` is one of {running} that run of {gang}, whose {field} is {least}"))
    }

    /// Returns every budget, in the order in which they were given.
    #[must_use]
    pub fn guards(&self) -> &[Guard<'a>] {
        &self.guards
    }

    /// Returns the budget at a place.
    #[must_use]
    pub fn guard(&self, place: usize) -> Option<&Guard<'a>> {
        self.guards.get(place)
    }

    /// Returns whether a pod may be evicted at all: its gang can do without it, at most one budget is about it (with several the eviction API
    /// refuses), and that one lets a pod go. Pods of DaemonSets go with their node.
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

    /// Says which gang or budgets keep a pod, where they do not let it go.
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

    /// Returns the places of the budgets that a pod's eviction uses up by one. A pod that is not ready, or goes
    /// already, is not counted among the healthy ones, so that its eviction takes nothing.
    pub fn used_by(&self, pod: &Pod) -> impl Iterator<Item = usize> {
        let is_counted = !pod.is_daemon && is_healthy(pod);
        self.about(pod).filter(move |_| is_counted)
    }

    /// Returns the places of the budgets that are about a pod.
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

/// Whether the disruption controller counts a pod as healthy: it runs, is ready and is not being deleted.
fn is_healthy(pod: &Pod) -> bool {
    matches!(pod.place, PodPlace::Bound(_)) && !pod.state.is_unready && !pod.is_terminating
}

/// Counts as the disruption controller does: the healthy pods less those that must be healthy, a percentage of all
/// pods being rounded up for both kinds of bound. A budget without a bound lets nothing go.
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
            // Percentages of all pods round up: 1.5 of 3 are 2, whichever bound it is.
            (Least(Percent(50)), 3, 0, 1),
            (Most(Percent(50)), 3, 0, 2),
            (Most(Percent(1)), 3, 0, 1),
            (Least(Percent(100)), 3, 0, 0),
            (Most(Count(1)), 3, 0, 1),
            (Most(Count(0)), 3, 0, 0),
            // What waits is missing already.
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
