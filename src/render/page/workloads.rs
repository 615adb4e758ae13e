//! Pods by the workload that created them, in a few words.

use std::collections::BTreeMap;

use crate::model::{PodKey, Workload};
use crate::render::view::PlanView;
use crate::render::words::{count, grouped, some};

/// Maximum number of workloads listed; the rest is counted.
const WORKLOADS_MAX: usize = 3;

/// Maximum number of pods without a workload listed; the rest is counted.
const PODS_MAX: usize = 3;

/// Pods by workload, and those without one.
#[derive(Debug, Default)]
pub(crate) struct Pods<'a> {
    of: BTreeMap<&'a Workload, usize>,
    alone: Vec<&'a PodKey>,
}

impl<'a> Pods<'a> {
    /// Groups pods by workload. Placeholders of CapacityBuffers are ignored.
    pub(crate) fn of(view: &PlanView<'a>, pods: impl IntoIterator<Item = &'a PodKey>) -> Self {
        let mut sorted = Self::default();
        for pod in pods.into_iter().filter(|pod| !pod.is_placeholder()) {
            match view.workload(pod) {
                Some(workload) => *sorted.of.entry(workload).or_default() += 1,
                None => sorted.alone.push(pod),
            }
        }
        sorted.alone.sort();
        sorted
    }

    /// Returns the number of pods.
    pub(crate) fn len(&self) -> usize {
        self.of.values().sum::<usize>() + self.alone.len()
    }

    /// Describes them with an adjective before the noun: `5 Pending pods of Deployment shop/web`, `11 running pods (8
    /// shop/web, 3 data/etl)`, ``1 Pending pod `default/a` ``.
    pub(crate) fn named(&self, adjective: &str) -> String {
        let noun = if adjective.is_empty() { "pod".to_owned() } else { format!("{adjective} pod") };
        let pods = count(self.len(), &noun);
        match (self.of.len(), self.alone.len()) {
            (0, 0) => pods,
            (0, 1) => format!("{pods} `{}`", self.alone[0]),
            (0, _) => format!("{pods} ({})", some(&self.alone, PODS_MAX)),
            (1, 0) => match self.of.keys().next() {
                Some(Workload { kind, namespace, name }) => format!("{pods} of {kind} {namespace}/{name}"),
                None => pods,
            },
            _ => format!("{pods} ({})", self.by_workload()),
        }
    }

    /// Returns the workload of all pods, if it is a single one.
    fn workload(&self) -> Option<&'a Workload> {
        let mut of = self.of.keys();
        of.next().copied().filter(|_| of.next().is_none() && self.alone.is_empty())
    }

    /// Describes pending and moving pods, together if they are of one workload: `3 Pending and 2 moving pods of Job
    /// data/etl`.
    pub(crate) fn both(waiting: &Self, moving: &Self) -> Vec<String> {
        let number = |pods: &Self| grouped(u64::try_from(pods.len()).unwrap_or(u64::MAX));
        match (waiting.workload(), moving.workload()) {
            (Some(one), Some(other)) if one == other => {
                let Workload { kind, namespace, name } = one;
                let pods = if moving.len() == 1 { "pod" } else { "pods" };
                let (waiting, moving) = (number(waiting), number(moving));
                vec![format!("{waiting} Pending and {moving} moving {pods} of {kind} {namespace}/{name}")]
            }
            _ => [(waiting, "Pending"), (moving, "moving")]
                .into_iter()
                .filter(|(pods, _)| pods.len() > 0)
                .map(|(pods, what)| pods.named(what))
                .collect(),
        }
    }

    /// Lists the workloads with the most pods first: `8 shop/web, 3 data/etl and 2 more workloads`.
    fn by_workload(&self) -> String {
        let mut of: Vec<(&&Workload, &usize)> = self.of.iter().collect();
        of.sort_by_key(|(workload, pods)| (std::cmp::Reverse(**pods), **workload));
        let number = |pods: usize| grouped(u64::try_from(pods).unwrap_or(u64::MAX));
        let shown = of.iter().take(WORKLOADS_MAX);
        let mut parts: Vec<String> = shown
            .map(|(workload, pods)| format!("{} {}/{}", number(**pods), workload.namespace, workload.name))
            .collect();
        if let (1.., Some(first)) = (self.alone.len(), self.alone.first()) {
            let rest = match self.alone.len() {
                1 => format!("`{first}`"),
                alone => format!("{} of no workload", number(alone)),
            };
            parts.push(rest);
        }
        let text = parts.join(", ");
        match of.len().saturating_sub(WORKLOADS_MAX) {
            0 => text,
            more => format!("{text} and {}", count(more, "more workload")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pods;
    use crate::model::{PodKey, Workload};

    #[test]
    fn workloads_are_named_by_how_many_pods_they_have() {
        let workload =
            |name: &str| Workload { kind: "Deployment".into(), namespace: "shop".into(), name: name.into() };
        let names = ["a", "b", "c", "d", "e"].map(workload);
        let alone = ["x", "y"].map(|name| PodKey::new("default", name));
        let mut pods = Pods::default();
        pods.of.insert(&names[0], 8);
        assert_eq!(pods.named("Pending"), "8 Pending pods of Deployment shop/a");
        pods.alone.push(&alone[0]);
        assert_eq!(pods.named("running"), "9 running pods (8 shop/a, `default/x`)");
        pods.of.extend(names[1..].iter().map(|workload| (workload, 1)));
        pods.alone.push(&alone[1]);
        let expected = "14 pods (8 shop/a, 1 shop/b, 1 shop/c, 2 of no workload and 2 more workloads)";
        assert_eq!(pods.named(""), expected);
        pods.of.clear();
        assert_eq!(pods.named("Pending"), "2 Pending pods (`default/x`, `default/y`)");
    }
}
