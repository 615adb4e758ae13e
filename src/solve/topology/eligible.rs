//! Eligible nodes of a spread: those that count by the pods' own node terms, their tolerations and all their topology
//! keys.
//!
//! Spreads with equal conditions share one result. Never looks at the pods on a node.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::Topology;
use super::group::{Group, GroupKind, Spread};
use crate::model::{LabelKey, Requirements, Stance, Taint, label};
use crate::snapshot::system_node;
use crate::solve::existing::NODES_AT_ONCE;
use crate::solve::fit::{Undefined, labels, taints};

/// The conditions of a spread for nodes.
type Asked<'t> = (&'t Option<Vec<Requirements>>, &'t Option<Stance>, &'t BTreeSet<LabelKey>);

/// A node as spreads see it: its label values, its known requirements, and its taints.
#[derive(Clone, Copy)]
pub struct Seen<'n> {
    /// The value of each label.
    pub labels: &'n BTreeMap<LabelKey, Arc<str>>,
    /// The requirements that node terms are checked against.
    pub site: &'n Requirements,
    /// The taints that pods must tolerate.
    pub taints: &'n [Taint],
}

/// Which nodes count for each spread of a topology.
pub struct Eligible {
    /// The question of each group; `None` for groups for which every node counts, or none does by itself.
    of_group: Vec<Option<usize>>,
    /// The answer to each question, by node.
    answers: Vec<Vec<bool>>,
    /// The values that eligible nodes have, by question and label.
    domains: BTreeMap<(usize, LabelKey), BTreeSet<Arc<str>>>,
}

impl Eligible {
    /// Evaluates these nodes.
    #[must_use]
    pub fn of(topology: &Topology, nodes: &[Seen<'_>]) -> Self {
        let mut questions: BTreeMap<Asked<'_>, usize> = BTreeMap::new();
        let mut eligible = Self { of_group: Vec::new(), answers: Vec::new(), domains: BTreeMap::new() };
        for Group { key, kind, .. } in &topology.groups {
            let GroupKind::Spread(spread) = kind else {
                eligible.of_group.push(None);
                continue;
            };
            let asked = (&spread.alternatives, &spread.tolerations, &spread.keys);
            let next = eligible.answers.len();
            let question = *questions.entry(asked).or_insert(next);
            if question == next {
                let answers = nodes.par_iter().with_min_len(NODES_AT_ONCE);
                eligible.answers.push(answers.map(|node| counts(node, spread)).collect());
            }
            eligible.of_group.push(Some(question));
            let answers = &eligible.answers[question];
            eligible.domains.entry((question, key.clone())).or_insert_with(|| {
                let there = nodes.iter().zip(answers).filter(|(_, counts)| **counts);
                there.filter_map(|(node, _)| node.labels.get(key).cloned()).collect()
            });
        }
        eligible
    }

    /// Returns whether a group counts the pods on a node, given by index: rules other than spreads count all.
    #[must_use]
    pub fn sees(&self, group: usize, node: usize) -> bool {
        self.of_group[group].is_none_or(|question| self.answers[question][node])
    }

    /// Returns the domains that a spread has even without pods; none for other rules.
    pub fn domains(&self, group: usize, key: &LabelKey) -> impl Iterator<Item = &Arc<str>> {
        let question = self.of_group[group].map(|question| (question, key.clone()));
        question.and_then(|question| self.domains.get(&question)).into_iter().flatten()
    }
}

/// Returns whether the system node counts that is assumed if no node is known.
#[must_use]
pub fn counts_system_node(spread: &Spread) -> bool {
    let node = system_node::node();
    let labels = node.labels.iter().map(|(key, value)| (key.as_str(), &**value));
    let site = &Requirements::of_labels(labels);
    counts(&Seen { labels: &node.labels, site, taints: &node.taints }, spread)
}

/// Returns whether a node counts for a spread. Every node has a hostname label, or gets one.
pub(in crate::solve) fn counts(node: &Seen<'_>, spread: &Spread) -> bool {
    let has = |key: &LabelKey| key.as_str() == label::HOSTNAME || node.site.get(key.as_str()).is_some();
    spread.keys.iter().all(has)
        && spread.alternatives.as_ref().is_none_or(|alternatives| {
            alternatives.iter().any(Requirements::is_empty)
                || labels::are_met(alternatives, node.site, &Undefined::Absent)
        })
        && spread.tolerations.as_ref().is_none_or(|stance| taints::are_stood(node.taints, stance))
}
