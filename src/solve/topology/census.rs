//! How many pods of each group are in each domain, and which domains there are.
//!
//! Counts what runs on nodes that stay, and then what is assigned. It never says where a pod should go.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::group::{Group, GroupKind, Spread};
use super::{Role, Topology};
use crate::model::{LabelKey, Node, Requirements, Taint, label};
use crate::solve::existing::Standing;
use crate::solve::fit::company::Tally;
use crate::solve::fit::{Undefined, labels, taints};

/// The counts of every group. Groups whose domains are nodes have none here.
#[derive(Clone, Debug)]
pub struct Census {
    groups: Vec<Counts>,
}

/// The counts of one group.
#[derive(Clone, Debug, Default)]
struct Counts {
    domains: BTreeMap<Arc<str>, Tally>,
    /// How many domains count so many pods: what the emptiest has is asked for every pod.
    levels: BTreeMap<usize, usize>,
    /// How many pods are counted in all.
    anywhere: usize,
}

impl Counts {
    fn change(&mut self, domain: &Arc<str>, change: impl FnOnce(&mut Tally)) {
        let Self { domains, levels, anywhere } = self;
        let tally = match domains.get_mut(domain) {
            Some(tally) => {
                if let Some(count) = levels.get_mut(&tally.counted) {
                    *count -= 1;
                    if *count == 0 {
                        levels.remove(&tally.counted);
                    }
                }
                *anywhere -= tally.counted;
                tally
            }
            None => domains.entry(Arc::clone(domain)).or_default(),
        };
        change(tally);
        *levels.entry(tally.counted).or_default() += 1;
        *anywhere += tally.counted;
    }
}

impl Census {
    /// Counts what runs.
    #[must_use]
    pub fn of(topology: &Topology, nodes: &[Standing<'_>]) -> Self {
        let mut census = Self { groups: vec![Counts::default(); topology.groups.len()] };
        let staying = || nodes.iter().filter(|standing| !standing.node.is_deleting);
        let eligible = |group: &Group| -> Option<Vec<bool>> {
            let GroupKind::Spread(spread) = &group.kind else { return None };
            Some(
                staying()
                    .map(|standing| counts((&standing.site.labels, &standing.site.taints), spread))
                    .collect(),
            )
        };
        let eligible: Vec<Option<Vec<bool>>> = topology
            .groups
            .iter()
            .map(|group| if group.is_of_hosts() { None } else { eligible(group) })
            .collect();
        for (place, standing) in staying().enumerate() {
            for (number, group) in topology.groups.iter().enumerate() {
                // A domain of spread is there without any pod.
                if let (Some(eligible), Some(domain)) = (&eligible[number], domain(standing.node, &group.key))
                    && eligible[place]
                {
                    census.open(number, domain);
                }
            }
            for pod in &standing.bound {
                for role in topology.roles(pod) {
                    let group = &topology.groups[role.group];
                    let is_eligible = eligible[role.group].as_ref().is_none_or(|all| all[place]);
                    let is_passed_over = pod.is_terminating && matches!(group.kind, GroupKind::Spread(_));
                    if let Some(domain) = domain(standing.node, &group.key)
                        && !group.is_of_hosts()
                        && is_eligible
                        && !is_passed_over
                    {
                        census.add(*role, domain, 1);
                    }
                }
            }
        }
        census
    }

    /// Counts pods in a domain.
    pub fn add(&mut self, role: Role, domain: &Arc<str>, pods: usize) {
        self.groups[role.group].change(domain, |tally| tally.add(role.is_bound, role.counted, pods));
    }

    /// Takes one pod off a domain again.
    pub fn take(&mut self, role: Role, domain: &Arc<str>) {
        self.groups[role.group].change(domain, |tally| {
            tally.bound = tally.bound.saturating_sub(usize::from(role.is_bound));
            tally.counted = tally.counted.saturating_sub(role.counted);
        });
    }

    /// Makes a domain known that has no pod yet.
    pub fn open(&mut self, group: usize, domain: &Arc<str>) {
        if !self.groups[group].domains.contains_key(domain) {
            self.groups[group].change(domain, |_| {});
        }
    }

    /// Returns the count of a domain.
    #[must_use]
    pub fn tally(&self, group: usize, domain: &str) -> Tally {
        self.groups[group].domains.get(domain).copied().unwrap_or_default()
    }

    /// Returns how many pods are counted in all domains.
    #[must_use]
    pub fn anywhere(&self, group: usize) -> usize {
        self.groups[group].anywhere
    }

    /// Returns what the emptiest domain counts; nothing where there are fewer domains than asked for.
    #[must_use]
    pub fn least(&self, group: usize, spread: &Spread) -> usize {
        let Counts { domains, levels, .. } = &self.groups[group];
        if spread.min_domains.is_some_and(|least| domains.len() < least) {
            return 0;
        }
        levels.first_key_value().map_or(0, |(least, _)| *least)
    }
}

fn domain<'n>(node: &'n Node, key: &LabelKey) -> Option<&'n Arc<str>> {
    node.labels.get(key)
}

/// Returns whether a node of these labels and taints counts for a spread. Every node has a host's name, or gets one.
pub(super) fn counts((site, taints): (&Requirements, &[Taint]), spread: &Spread) -> bool {
    let has = |key: &LabelKey| key.as_str() == label::HOSTNAME || site.get(key.as_str()).is_some();
    spread.keys.iter().all(has)
        && spread.alternatives.as_ref().is_none_or(|alternatives| {
            alternatives.iter().any(Requirements::is_empty)
                || labels::are_met(alternatives, site, &Undefined::Absent)
        })
        && spread.tolerations.as_ref().is_none_or(|tolerations| taints::are_stood(taints, tolerations))
}
