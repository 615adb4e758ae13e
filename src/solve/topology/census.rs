//! Counts the pods of each group by domain, and records which domains exist.
//!
//! Counts running pods on kept nodes, and then assigned pods. Never decides where a pod should go.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::eligible::{Eligible, Seen};
use super::group::{GroupKind, Spread};
use super::{Role, Topology};
use crate::solve::existing::{Part, Standing};
use crate::solve::fit::company::Tally;

/// The counts of every group. Groups whose domains are nodes have none here.
#[derive(Clone, Debug)]
pub struct Census {
    groups: Vec<Counts>,
}

/// The counts of one group.
#[derive(Clone, Debug, Default)]
struct Counts {
    domains: BTreeMap<Arc<str>, Tally>,
    /// Number of domains by pod count, because every pod looks up the emptiest domain.
    levels: BTreeMap<usize, usize>,
    /// Total number of counted pods.
    anywhere: usize,
}

/// Nodes with the counts of running pods on kept nodes, computed on first use.
pub struct Running<'a> {
    /// The rules between pods.
    pub topology: &'a Topology,
    /// The nodes.
    pub nodes: &'a [Standing<'a>],
    census: OnceCell<Census>,
}

impl<'a> Running<'a> {
    /// Creates it without counting.
    #[must_use]
    pub const fn of(topology: &'a Topology, nodes: &'a [Standing<'a>]) -> Self {
        Self { topology, nodes, census: OnceCell::new() }
    }

    /// Returns the counts.
    pub fn census(&self) -> &Census {
        self.census.get_or_init(|| Census::of(self.topology, self.nodes))
    }
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
    /// Counts running pods.
    #[must_use]
    pub fn of(topology: &Topology, nodes: &[Standing<'_>]) -> Self {
        let mut census = Self { groups: vec![Counts::default(); topology.groups.len()] };
        let staying: Vec<&Standing<'_>> =
            nodes.iter().filter(|standing| !standing.node.is_deleting).collect();
        let seen: Vec<Seen<'_>> = staying.iter().map(|standing| standing.seen()).collect();
        let eligible = Eligible::of(topology, &seen);
        census.open_all(topology, &eligible);
        for (place, standing) in staying.iter().enumerate() {
            for Part { role, is_terminating, pods } in standing.parts.iter() {
                let group = &topology.groups[role.group];
                let is_passed_over = *is_terminating && matches!(group.kind, GroupKind::Spread(_));
                if let Some(domain) = standing.node.labels.get(&group.key)
                    && eligible.sees(role.group, place)
                    && !is_passed_over
                {
                    census.add(*role, domain, *pods);
                }
            }
        }
        census
    }

    /// Registers the domains of spreads that have no pod: a domain exists as soon as a node of it counts.
    pub fn open_all(&mut self, topology: &Topology, eligible: &Eligible) {
        for (number, group) in topology.groups.iter().enumerate() {
            if !group.is_of_hosts() {
                for domain in eligible.domains(number, &group.key) {
                    self.open(number, domain);
                }
            }
        }
    }

    /// Counts pods in a domain.
    pub fn add(&mut self, role: Role, domain: &Arc<str>, pods: usize) {
        self.groups[role.group].change(domain, |tally| tally.add(role.is_bound, role.counted, pods));
    }

    /// Removes one pod from a domain.
    pub fn take(&mut self, role: Role, domain: &Arc<str>) {
        self.groups[role.group].change(domain, |tally| {
            tally.bound = tally.bound.saturating_sub(usize::from(role.is_bound));
            tally.counted = tally.counted.saturating_sub(role.counted);
        });
    }

    /// Registers a domain without pods.
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

    /// Returns the total number of counted pods.
    #[must_use]
    pub fn anywhere(&self, group: usize) -> usize {
        self.groups[group].anywhere
    }

    /// Returns the count of the emptiest domain; zero if there are fewer domains than required.
    #[must_use]
    pub fn least(&self, group: usize, spread: &Spread) -> usize {
        if self.lacking(group, spread).is_some() {
            return 0;
        }
        self.groups[group].levels.first_key_value().map_or(0, |(least, _)| *least)
    }

    /// Returns the display name of the domain with the lowest count, the first by name of several.
    #[must_use]
    pub fn emptiest(&self, group: usize) -> Option<String> {
        let least = self.groups[group].domains.iter().min_by_key(|(_, tally)| tally.counted);
        least.map(|(domain, _)| match &**domain {
            "" => "the empty value".to_owned(),
            domain => format!("`{domain}`"),
        })
    }

    /// Returns the existing and the required number of domains, if there are too few.
    #[must_use]
    pub fn lacking(&self, group: usize, spread: &Spread) -> Option<(usize, usize)> {
        let there = self.groups[group].domains.len();
        spread.min_domains.filter(|asked| there < *asked).map(|asked| (there, asked))
    }
}
