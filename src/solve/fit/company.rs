//! The company on one node: which pods of which groups stand there, and who may join them.
//!
//! Only groups whose domains are nodes are looked at; the rules themselves are [`super::spread`],
//! [`super::anti_affinity`] and [`super::affinity`].

use super::{Miss, affinity, anti_affinity, spread};
use crate::model::label;
use crate::solve::topology::Role;
use crate::solve::topology::group::{Group, GroupKind};

/// How many pods of a group are in a domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tally {
    /// Those that the group binds; of spreads over nodes, those that are newly placed.
    pub bound: usize,
    /// Those that a spread over nodes binds and that run.
    pub running: usize,
    /// Those that it counts.
    pub counted: usize,
}

impl Tally {
    /// Adds pods of which each is bound or not and counts for so many.
    pub const fn add(&mut self, is_bound: bool, counted: usize, pods: usize) {
        self.bound += if is_bound { pods } else { 0 };
        self.counted += counted * pods;
    }
}

/// What a group asks of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostRule {
    /// None of the counted beside one that is bound.
    Apart,
    /// At most so many of the counted.
    AtMost(usize),
    /// Beside one of the counted.
    Beside,
}

/// The part that a pod plays in a group on its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostRole {
    /// The group's number.
    pub group: usize,
    /// What it asks.
    pub rule: HostRule,
    /// Whether the pod is bound by it.
    pub is_bound: bool,
    /// How many pods are counted: one or none, and more of a bundle.
    pub counted: usize,
    /// Whether it waits and is counted by a spread that does not bind it: Kubernetes lets it join those that run.
    pub is_free: bool,
}

impl HostRole {
    /// Returns the part on a node, where the group's domains are nodes.
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

    /// Returns the part of a pod that waits.
    #[must_use]
    pub fn waiting(self) -> Self {
        Self { is_free: self.spreads() && !self.is_bound && self.counted > 0, ..self }
    }

    /// Returns whether it is a part in spreading over nodes.
    #[must_use]
    pub const fn spreads(&self) -> bool {
        matches!(self.rule, HostRule::AtMost(_))
    }

    /// Returns how many more such pods may join.
    const fn more(self, there: Tally) -> usize {
        match self.rule {
            HostRule::Apart => anti_affinity::more(self.is_bound, self.counted > 0, there),
            HostRule::AtMost(most) if self.is_bound => spread::more(most, there.counted, 0, self.counted),
            // What is bound here stands by a count that a pod which is only counted must not raise. Of those that run only
            // one that is moved minds: else the next plan would bring together what this one could not.
            HostRule::AtMost(most) if there.bound > 0 || there.running > 0 && !self.is_free => {
                spread::more(most, there.counted, 0, self.counted)
            }
            HostRule::Beside if self.is_bound && there.counted == 0 => 0,
            HostRule::AtMost(_) | HostRule::Beside => usize::MAX,
        }
    }
}

/// Which pods of which groups stand on a node, by group: few, so that a list is quicker than a map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Company(Vec<(usize, Tally)>);

impl Company {
    /// Returns whether no pods of any group stand there.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many more pods of these parts may join.
    #[must_use]
    pub fn most(&self, roles: &[HostRole]) -> usize {
        roles.iter().map(|role| role.more(self.there(role.group))).min().unwrap_or(usize::MAX)
    }

    /// Adds pods of these parts.
    pub fn put(&mut self, roles: &[HostRole], pods: usize) {
        for role in roles {
            self.of_group(role.group).add(role.is_bound, role.counted, pods);
        }
    }

    /// Adds a pod of these parts that runs.
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

/// Says whether a pod of these parts may join.
///
/// # Errors
/// The first group that says no.
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
