//! Who waits for whom: pods that must stand beside others, by the domains in which they can.
//!
//! Where the first of a group may choose, it goes where the others can follow. Nothing here says that a place is closed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Role;
use super::census::Census;
use crate::solve::fit::anti_affinity;
use crate::solve::fit::company::Tally;

/// The domains to which pods are sure to come wherever others go: of those that can be in one alone.
#[derive(Default)]
pub(super) struct Sure(BTreeMap<(usize, Arc<str>), Tally>);

impl Sure {
    /// Notes pods that can be in one domain alone.
    pub(super) fn add(&mut self, role: Role, domain: &Arc<str>) {
        self.0.entry((role.group, domain.clone())).or_default().add(role.is_bound, role.counted, 1);
    }

    /// Returns whether those who run or are sure to come keep a pod of another kind off a domain. Of its own kind, so many
    /// are sure to come there.
    pub(super) fn keeps_off(&self, role: Role, domain: &Arc<str>, running: Tally, own: usize) -> bool {
        let mut there = self.0.get(&(role.group, domain.clone())).copied().unwrap_or_default();
        there.bound = there.bound.saturating_sub(if role.is_bound { own } else { 0 }) + running.bound;
        there.counted = there.counted.saturating_sub(role.counted * own) + running.counted;
        anti_affinity::more(role.is_bound, role.counted > 0, there) == 0
    }
}

/// Pods that wait for somebody to stand beside.
struct Followers {
    pods: usize,
    /// Where they can be.
    domains: BTreeSet<Arc<str>>,
}

/// The followers in each group of which not all can be everywhere.
#[derive(Default)]
pub(super) struct Following(BTreeMap<usize, Vec<Followers>>);

impl Following {
    /// Notes pods that must stand beside others of a group.
    pub(super) fn add(&mut self, group: usize, pods: usize, domains: BTreeSet<Arc<str>>) {
        if !domains.is_empty() {
            self.0.entry(group).or_default().push(Followers { pods, domains });
        }
    }

    /// Returns whether pods of such parts decide where others can follow.
    pub(super) fn is_led(&self, roles: &[Role], census: &Census) -> bool {
        self.led(roles).any(|(role, followers)| followers.iter().any(|waiting| waiting.waits(role, census)))
    }

    /// Returns how many pods could still not follow if one of such parts went to these domains.
    pub(super) fn shut_out<'d>(
        &self,
        roles: &[Role],
        census: &Census,
        domain: impl Fn(&Role) -> Option<&'d Arc<str>>,
    ) -> usize {
        let of_group = |(role, followers): (&Role, &Vec<Followers>)| -> usize {
            let there = domain(role);
            let is_left = |waiting: &&Followers| {
                there.is_none_or(|there| !waiting.domains.contains(there)) && waiting.waits(role, census)
            };
            followers.iter().filter(is_left).map(|waiting| waiting.pods).sum()
        };
        self.led(roles).map(of_group).sum()
    }

    fn led<'f>(&'f self, roles: &'f [Role]) -> impl Iterator<Item = (&'f Role, &'f Vec<Followers>)> {
        let leading = roles.iter().filter(|role| role.counted > 0);
        leading.filter_map(|role| Some((role, self.0.get(&role.group)?)))
    }
}

impl Followers {
    /// Returns whether there is nobody yet where they can be.
    fn waits(&self, role: &Role, census: &Census) -> bool {
        self.domains.iter().all(|domain| census.tally(role.group, domain).counted == 0)
    }
}
