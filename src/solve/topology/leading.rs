//! Who waits for whom: pods that must stand beside others, by the domains in which they can.
//!
//! Where the first of a group may choose, it goes where the others can follow. Nothing here says that a place is closed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Role;
use super::census::Census;

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
    pub(super) fn add<'d>(&mut self, group: usize, pods: usize, domains: impl Iterator<Item = &'d Arc<str>>) {
        let domains: BTreeSet<Arc<str>> = domains.cloned().collect();
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
