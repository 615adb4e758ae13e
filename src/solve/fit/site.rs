//! A possible place of a pod: an existing node, or one that could be created.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::model::{HostPort, LabelKey, Requirements, Resources, Taint};

use super::company::{self, Company, HostRole, HostRule};
use super::mounts::Free;
use super::{Miss, labels, ports, resources, taints};
use crate::solve::demand::Ask;

/// Meaning of a label that the node does not name.
#[derive(Clone, Copy, Debug)]
pub enum Undefined<'a> {
    /// It is absent: the node exists.
    Absent,
    /// It may get any value if it is one of these: the node does not exist yet.
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

/// A node as the rules see it, with the pods that are on it.
#[derive(Clone, Debug)]
pub struct Site<'a> {
    /// Its current or possible labels; narrowed by every pod that is placed.
    pub labels: Requirements,
    /// Meaning of labels that are not named.
    pub undefined: Undefined<'a>,
    /// Its taints.
    pub taints: Cow<'a, [Taint]>,
    /// Free capacity.
    pub room: Resources,
    /// Host ports in use.
    pub ports: BTreeSet<HostPort>,
    /// Pods on it, as rules between pods on one node count them.
    pub company: Company,
    /// Free volume slots.
    pub volumes: Free,
}

impl Site<'_> {
    /// Checks whether a pod may run here beside the pods that already do.
    ///
    /// # Errors
    /// The first rule that refuses it.
    pub fn why(&self, ask: &Ask) -> Result<usize, Miss> {
        taints::why(&self.taints, &ask.stance)?;
        let alternative = labels::why(&ask.alternatives, &self.labels, &self.undefined)?;
        ports::why(&ask.host_ports, &self.ports)?;
        resources::why(&ask.requests, &self.room)?;
        self.volumes.why(&ask.volumes)?;
        company::why(&ask.company, &self.company)?;
        Ok(alternative)
    }

    /// Returns whether a pod with matching taints and labels does not fit here.
    #[must_use]
    pub fn has_no_room(&self, ask: &Ask) -> bool {
        !ask.requests.fit_in(&self.room)
            || ports::why(&ask.host_ports, &self.ports).is_err()
            || self.volumes.why(&ask.volumes).is_err()
            || (!ask.company.is_empty() && company::why(&ask.company, &self.company).is_err())
    }

    /// Places this many pods here, all of which must fit.
    ///
    /// # Errors
    /// The first rule that refuses the first of them; the site is unchanged then.
    pub fn put(&mut self, ask: &Ask, count: usize) -> Result<(), Miss> {
        let alternative = self.why(ask)?;
        self.narrow(&ask.alternatives[alternative]);
        self.room = self.room.minus(&ask.requests.times(count));
        self.ports.extend(ask.host_ports.iter().cloned());
        self.company.put(&ask.company, count);
        self.volumes.put(&ask.volumes, count);
        Ok(())
    }

    /// Places pods here, those with the fewest alternatives first; returns those that do not fit, with the reason. Pod
    /// affinity and spread over nodes are not checked: that requires all pods, and an order.
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

    /// Narrows the labels to a pod's requirements. A label that cannot exist is left alone: a requirement of its
    /// absence must not make it look like a label that exists.
    fn narrow(&mut self, wanted: &Requirements) {
        for (key, requirement) in wanted.iter() {
            if self.labels.get(key.as_str()).is_some() || self.undefined.allows(key) {
                let narrowed = labels::narrowed(self.labels.get(key.as_str()), requirement);
                self.labels.set(key.clone(), narrowed);
            }
        }
    }
}
