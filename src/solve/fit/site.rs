//! A place where a pod might stand: a node that exists, or one that could be made.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::model::{HostPort, LabelKey, Requirements, Resources, Taint};

use super::company::{self, Company, HostRole, HostRule};
use super::mounts::Free;
use super::{Miss, labels, ports, resources, taints};
use crate::solve::demand::Ask;

/// What a label means that the node does not name.
#[derive(Clone, Copy, Debug)]
pub enum Undefined<'a> {
    /// It is not there: the node exists.
    Absent,
    /// It may get any value where it is one of these: the node is not there yet.
    Open(&'a BTreeSet<LabelKey>),
}

impl Undefined<'_> {
    /// Returns whether this label may still get any value.
    #[must_use]
    pub fn allows(&self, key: &LabelKey) -> bool {
        match self {
            Self::Absent => false,
            Self::Open(well_known) => well_known.contains(key),
        }
    }
}

/// A node as the rules see it, with what already stands there.
#[derive(Clone, Debug)]
pub struct Site<'a> {
    /// What its labels are or may be; narrowed by every pod that is put there.
    pub labels: Requirements,
    /// What labels mean that are not named.
    pub undefined: Undefined<'a>,
    /// Its taints.
    pub taints: Cow<'a, [Taint]>,
    /// What is left of it.
    pub room: Resources,
    /// The ports that are taken.
    pub ports: BTreeSet<HostPort>,
    /// The pods that stand here, as far as rules between pods on one node count them.
    pub company: Company,
    /// What volumes it takes.
    pub volumes: Free,
}

impl Site<'_> {
    /// Says whether a pod may stand here beside what does already.
    ///
    /// # Errors
    /// The first rule that says no.
    pub fn why(&self, ask: &Ask) -> Result<usize, Miss> {
        taints::why(&self.taints, &ask.stance)?;
        let alternative = labels::why(&ask.alternatives, &self.labels, &self.undefined)?;
        ports::why(&ask.host_ports, &self.ports)?;
        resources::why(&ask.requests, &self.room)?;
        self.volumes.why(&ask.volumes)?;
        company::why(&ask.company, &self.company)?;
        Ok(alternative)
    }

    /// Returns whether a pod whose taints and labels agree has no room here.
    #[must_use]
    pub fn has_no_room(&self, ask: &Ask) -> bool {
        !ask.requests.fit_in(&self.room)
            || ports::why(&ask.host_ports, &self.ports).is_err()
            || self.volumes.why(&ask.volumes).is_err()
            || (!ask.company.is_empty() && company::why(&ask.company, &self.company).is_err())
    }

    /// Puts so many pods here, all of which have room.
    ///
    /// # Errors
    /// The first rule that says no to the first of them; the site is unchanged then.
    pub fn put(&mut self, ask: &Ask, count: usize) -> Result<(), Miss> {
        let alternative = self.why(ask)?;
        self.narrow(&ask.alternatives[alternative]);
        self.room = self.room.minus(&ask.requests.times(count));
        self.ports.extend(ask.host_ports.iter().cloned());
        self.company.put(&ask.company, count);
        self.volumes.put(&ask.volumes, count);
        Ok(())
    }

    /// Puts pods here, those with the fewest alternatives first; returns those that have no place, with why. Whether one is
    /// beside those that it has to stand beside, and how they are spread over nodes, is not asked: that takes all of them,
    /// and an order.
    pub fn seat<'k, K>(&mut self, asks: impl Iterator<Item = (K, &'k Ask)>) -> Vec<(K, Miss)> {
        let mut waiting: Vec<(K, &Ask)> = asks.collect();
        waiting.sort_by_key(|(_, ask)| ask.alternatives.len());
        let refused = waiting.into_iter().filter_map(|(pod, ask)| {
            let is_led = |role: &HostRole| role.is_bound && role.rule == HostRule::Beside;
            let put = match ask.company.iter().any(|role| is_led(role) || role.spreads()) {
                true => {
                    let mut alone = ask.clone();
                    alone.company.retain(|role| !role.spreads());
                    alone.company.iter_mut().for_each(|role| role.is_bound &= role.rule != HostRule::Beside);
                    let spread: Vec<HostRole> =
                        ask.company.iter().filter(|role| role.spreads()).copied().collect();
                    self.put(&alone, 1).map(|()| self.company.put(&spread, 1))
                }
                false => self.put(ask, 1),
            };
            Some((pod, put.err()?))
        });
        refused.collect()
    }

    /// Narrows the labels to what a pod asks for. A label that cannot be there is left alone: a wish for its
    /// absence must not make it look like a label that is there.
    fn narrow(&mut self, wanted: &Requirements) {
        for (key, requirement) in wanted.iter() {
            if self.labels.get(key.as_str()).is_some() || self.undefined.allows(key) {
                let narrowed = labels::narrowed(self.labels.get(key.as_str()), requirement);
                self.labels.set(key.clone(), narrowed);
            }
        }
    }
}
