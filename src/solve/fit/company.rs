//! Rules between pods on one node: which pods of which groups the node has, and which pods may join them.
//!
//! Covers only groups whose domains are nodes; the rules themselves are [`super::spread`], [`super::anti_affinity`] and
//! [`super::affinity`].

use super::{Miss, affinity, anti_affinity, spread};
use crate::model::label;
use crate::solve::topology::Role;
use crate::solve::topology::group::{Group, GroupKind};

/// Number of pods of a group in a domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tally {
    /// Pods that the group binds; for spreads over nodes, only newly placed ones.
    pub bound: usize,
    /// Running pods that a spread over nodes binds.
    pub running: usize,
    /// Pods that it counts.
    pub counted: usize,
}

impl Tally {
    /// Adds pods, each of which is bound or not, and counts as `counted`.
    pub const fn add(&mut self, is_bound: bool, counted: usize, pods: usize) {
        self.bound += if is_bound { pods } else { 0 };
        self.counted += counted * pods;
    }
}

/// Constraint of a group on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostRule {
    /// No counted pod next to a bound one.
    Apart,
    /// At most this many counted pods.
    AtMost(usize),
    /// Next to a counted pod.
    Beside,
}

/// Role of a pod in a group on its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostRole {
    /// The group's number.
    pub group: usize,
    /// Its constraint.
    pub rule: HostRule,
    /// Whether the pod is bound by it.
    pub is_bound: bool,
    /// Number of counted pods: zero or one, and more for a bundle.
    pub counted: usize,
    /// Whether it is pending and counted by a spread that does not bind it: Kubernetes lets it join running pods.
    pub is_free: bool,
}

impl HostRole {
    /// Returns the role on a node, if the group's domains are nodes.
    #[must_use]
    pub fn of(group: &Group, role: Role) -> Option<Self> {
        let rule = match &group.kind {
            GroupKind::Spread(spread) => HostRule::AtMost(spread.max_skew),
            GroupKind::AntiAffinity => HostRule::Apart,
            GroupKind::Affinity | GroupKind::Volume(_) => HostRule::Beside,
        };
        let Role { group: number, is_bound, counted } = role;
        group.is_of_hosts().then_some(Self { group: number, rule, is_bound, counted, is_free: false })
    }

    /// Returns the role of a pending pod.
    #[must_use]
    pub fn waiting(self) -> Self {
        Self { is_free: self.spreads() && !self.is_bound && self.counted > 0, ..self }
    }

    /// Returns whether it is a role in a spread over nodes.
    #[must_use]
    pub const fn spreads(&self) -> bool {
        matches!(self.rule, HostRule::AtMost(_))
    }

    /// Returns how many more such pods may join.
    const fn more(self, there: Tally) -> usize {
        match self.rule {
            HostRule::Apart => anti_affinity::more(self.is_bound, self.counted > 0, there),
            HostRule::AtMost(most) if self.is_bound => spread::more(most, there.counted, 0, self.counted),
            // Newly placed bound pods rely on a count that a merely counted pod must not raise. Running bound pods
            // restrict only a pod that is moved: otherwise the next plan would bring together what this one could not.
            HostRule::AtMost(most) if there.bound > 0 || there.running > 0 && !self.is_free => {
                spread::more(most, there.counted, 0, self.counted)
            }
            HostRule::Beside if self.is_bound && there.counted == 0 => 0,
            HostRule::AtMost(_) | HostRule::Beside => usize::MAX,
        }
    }
}

/// Pods on a node, by group: few groups, for which a list is faster than a map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Company(Vec<(usize, Tally)>);

impl Company {
    /// Returns whether there are no pods of any group.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many more pods with these roles may join.
    #[must_use]
    pub fn most(&self, roles: &[HostRole]) -> usize {
        roles.iter().map(|role| role.more(self.there(role.group))).min().unwrap_or(usize::MAX)
    }

    /// Adds pods with these roles.
    pub fn put(&mut self, roles: &[HostRole], pods: usize) {
        for role in roles {
            self.of_group(role.group).add(role.is_bound, role.counted, pods);
        }
    }

    /// Adds a running pod with these roles.
    pub fn put_running(&mut self, roles: &[HostRole]) {
        for role in roles {
            let there = self.of_group(role.group);
            let runs = role.is_bound && role.spreads();
            there.add(role.is_bound && !runs, role.counted, 1);
            there.running += usize::from(runs);
        }
    }

    fn of_group(&mut self, group: usize) -> &mut Tally {
        let place = match self.place(group) {
            Ok(place) => place,
            Err(place) => {
                self.0.insert(place, (group, Tally::default()));
                place
            }
        };
        &mut self.0[place].1
    }

    /// Returns how many pods of a group are there.
    #[must_use]
    pub fn there(&self, group: usize) -> Tally {
        self.place(group).map_or_else(|_| Tally::default(), |place| self.0[place].1)
    }

    fn place(&self, group: usize) -> Result<usize, usize> {
        self.0.binary_search_by_key(&group, |(group, _)| *group)
    }
}

/// Checks whether a pod with these roles may join.
///
/// # Errors
/// The first group that refuses it.
pub fn why(roles: &[HostRole], company: &Company) -> Result<(), Miss> {
    let Some(role) = roles.iter().find(|role| role.more(company.there(role.group)) == 0) else {
        return Ok(());
    };
    let there = company.there(role.group);
    Err(match role.rule {
        HostRule::Apart => anti_affinity::miss(label::HOSTNAME, "the node", role.is_bound, there),
        HostRule::Beside => affinity::elsewhere(),
        HostRule::AtMost(most) => {
            let (key, counted, own) = (label::HOSTNAME, there.counted, role.counted);
            let (domain, least, emptiest, lacking) = ("the node", 0, None, None);
            let full = spread::Full { key, domain, counted, least, emptiest, lacking, own };
            spread::miss(full, most)
        }
    })
}
