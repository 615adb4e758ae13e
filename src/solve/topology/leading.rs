//! Pods that must be near others (followers), by the domains in which they can be.
//!
//! If the first pod of a group has a choice, it goes where the others can follow. Never excludes a place.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Role;
use super::census::Census;
use crate::solve::fit::anti_affinity;
use crate::solve::fit::company::Tally;

/// The domains to which pods certainly go, wherever others go: those of pods that can be in only one domain.
#[derive(Default)]
pub(super) struct Sure(BTreeMap<(usize, Arc<str>), Tally>);

impl Sure {
    /// Adds pods that can be in only one domain.
    pub(super) fn add(&mut self, role: Role, domain: &Arc<str>) {
        self.0.entry((role.group, domain.clone())).or_default().add(role.is_bound, role.counted, 1);
    }

    /// Returns whether running pods and pods that certainly come keep a pod of another kind out of a domain. Of its own
    /// kind, `own` pods certainly come there.
    pub(super) fn keeps_off(&self, role: Role, domain: &Arc<str>, running: Tally, own: usize) -> bool {
        let mut there = self.0.get(&(role.group, domain.clone())).copied().unwrap_or_default();
        there.bound = there.bound.saturating_sub(if role.is_bound { own } else { 0 }) + running.bound;
        there.counted = there.counted.saturating_sub(role.counted * own) + running.counted;
        anti_affinity::more(role.is_bound, role.counted > 0, there) == 0
    }
}

/// Pods that must be near a pod of a group.
struct Followers {
    pods: usize,
    /// The domains where they can be.
    domains: BTreeSet<Arc<str>>,
}

/// The followers in each group, because not all of them can be everywhere.
#[derive(Default)]
pub(super) struct Following(BTreeMap<usize, Vec<Followers>>);

impl Following {
    /// Adds pods that must be near others of a group.
    pub(super) fn add(&mut self, group: usize, pods: usize, domains: BTreeSet<Arc<str>>) {
        if !domains.is_empty() {
            self.0.entry(group).or_default().push(Followers { pods, domains });
        }
    }

    /// Returns whether pods with these roles decide where others can follow.
    pub(super) fn is_led(&self, roles: &[Role], census: &Census) -> bool {
        self.led(roles).any(|(role, followers)| followers.iter().any(|waiting| waiting.waits(role, census)))
    }

    /// Returns how many pods still could not follow if a pod with these roles went to these domains.
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
    /// Returns whether the domains where they can be have no counted pod yet.
    fn waits(&self, role: &Role, census: &Census) -> bool {
        self.domains.iter().all(|domain| census.tally(role.group, domain).counted == 0)
    }
}
