//! A place where a pod might stand: a node that exists, or one that could be made.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{HostPort, LabelKey, Requirements, Resources, Taint};

use super::company::{self, Company};
use super::{Miss, labels, ports, resources, taints, volumes};
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
    /// How many more volumes of each driver it takes, where that is limited.
    pub volumes: BTreeMap<Arc<str>, usize>,
}

impl Site<'_> {
    /// Says whether a pod may stand here beside what does already.
    ///
    /// # Errors
    /// The first rule that says no.
    pub fn why(&self, ask: &Ask) -> Result<usize, Miss> {
        taints::why(&self.taints, &ask.tolerations)?;
        let alternative = labels::why(&ask.alternatives, &self.labels, &self.undefined)?;
        ports::why(&ask.host_ports, &self.ports)?;
        resources::why(&ask.requests, &self.room)?;
        volumes::why(&ask.volumes, &self.volumes)?;
        company::why(&ask.company, &self.company)?;
        Ok(alternative)
    }

    /// Puts a pod here.
    ///
    /// # Errors
    /// The first rule that says no; the site is unchanged then.
    pub fn put(&mut self, ask: &Ask) -> Result<(), Miss> {
        let alternative = self.why(ask)?;
        self.narrow(&ask.alternatives[alternative]);
        self.room = self.room.minus(&ask.requests);
        self.ports.extend(ask.host_ports.iter().cloned());
        self.company.put(&ask.company, 1);
        for (driver, count) in &ask.volumes {
            if let Some(left) = self.volumes.get_mut(driver) {
                *left = left.saturating_sub(*count);
            }
        }
        Ok(())
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
