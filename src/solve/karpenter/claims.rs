//! Claims that are being filled: the order in which they are tried, and whether one holds one more pod.
//!
//! Claims with the fewest pods are tried first, equal ones in the order that resulted from filling. Every pod narrows
//! the open labels of a claim; its remaining sizes must hold all its pods.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::model::{HostPort, LabelKey, MinValuesPolicy, Requirement, Requirements};
use crate::solve::fit::ports;
use crate::solve::intern::Bits;

use super::amounts::{self, Amounts};
use super::meeting::Asked;
use super::nodes::{Spot, tolerates};
use super::refusal::No;
use super::reserved::{self, Held, Reservations};
use super::shelf::Shelf;
use super::store::{Memory, Store};
use super::template::Template;
use super::topology::{Owned, Site, Subject, Topology};
use super::variety;
use super::wish::Wish;
use super::{ReservedMode, Settings};

/// A claim that is being filled.
#[derive(Clone, Debug)]
pub(super) struct Open {
    /// Index of its template.
    pub(super) template: usize,
    /// Requirements on its labels.
    pub(super) asked: Asked,
    /// Its own name, as a domain.
    pub(super) host: Arc<str>,
    host_label: Requirement,
    /// Sizes that hold its pods.
    pub(super) kinds: Bits,
    /// Maximum capacity for pods of any of these sizes, per resource.
    most: Amounts,
    /// Requests of its pods.
    pub(super) used: Amounts,
    ports: BTreeSet<HostPort>,
    /// Reservations that it may be launched from.
    pub(super) held: Held,
    /// Whether it offers fewer distinct values than its pool requests.
    pub(super) is_relaxed: bool,
    /// Its pods, by their index in the queue.
    pub(super) pods: Vec<usize>,
}

/// A pod's content at one step.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Requirements of the pod.
    pub(super) wish: Wish,
    /// Requirements on the node's labels, preferences included.
    pub(super) wanted: Asked,
    /// The same without preferences.
    pub(super) strict: Requirements,
    /// Its topology groups.
    pub(super) owned: Owned,
}

/// A pod that is tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt<'t> {
    /// Properties that matter to topology.
    pub(super) subject: Subject<'t>,
    /// Its requirements.
    pub(super) step: &'t Step,
    /// Its resource requests.
    pub(super) requests: &'t [i64],
    /// Requirements of its volumes: one of these; empty requires nothing.
    pub(super) volumes: &'t [Asked],
    /// Volumes that it attaches, by driver.
    pub(super) mounts: &'t [super::volumes::Mount],
}

/// A claim after a pod has joined it.
#[derive(Debug)]
pub(super) struct Fit {
    asked: Asked,
    kinds: Bits,
    used: Amounts,
    held: Held,
    is_relaxed: bool,
}

impl Fit {
    /// Returns the sizes that hold it.
    pub(super) const fn kinds(&self) -> &Bits {
        &self.kinds
    }
}

/// Inputs and caches for fitting pods.
pub(super) struct Bench<'a, 'm> {
    pub(super) settings: Settings,
    pub(super) store: &'a Store<'m>,
    pub(super) memory: &'a mut Memory<'m>,
    pub(super) templates: Vec<Template<'m>>,
    pub(super) topology: Topology<'a>,
    pub(super) reservations: Reservations,
}

impl<'a, 'm> Bench<'a, 'm> {
    /// Returns the sizes that a template chooses from.
    pub(super) fn shelf(&self, template: &Template<'_>) -> &'a Shelf<'m> {
        &self.store.shelves.all[template.shelf]
    }

    /// Creates an empty claim of a template, with the sizes that limits allow.
    pub(super) fn empty(&self, template: usize, kinds: Bits, number: usize) -> Open {
        let own = &self.templates[template];
        let host: Arc<str> = Arc::from(format!("hostname-placeholder-{number:04}"));
        Open {
            template,
            asked: own.base,
            host_label: Requirement::one(&host),
            host,
            most: own.most(&kinds),
            used: vec![0; own.rooms.first().map_or(0, Vec::len)],
            kinds,
            ports: BTreeSet::new(),
            held: Held::new(),
            is_relaxed: false,
            pods: Vec::new(),
        }
    }

    /// Returns the claim after a pod has joined it.
    ///
    /// # Errors
    /// The reason why it may not join.
    pub(super) fn fit(&mut self, claim: &Open, attempt: Attempt<'_>) -> Result<Fit, No> {
        let used = amounts::plus(&claim.used, attempt.requests);
        if !amounts::fits(&used, &claim.most) && !claim.pods.is_empty() {
            return Err(No::Room);
        }
        let pool = self.templates[claim.template].pool;
        if !tolerates(&attempt.step.wish.tolerations, &pool.taints) {
            return Err(No::Taints);
        }
        let asked = self.memory.meetings.join(claim.asked, attempt.step.wanted).ok_or(No::Labels)?;
        if ports::why(&attempt.subject.spec.host_ports, &claim.ports).is_err() {
            return Err(No::Ports);
        }
        if attempt.volumes.is_empty() {
            return self.fit_there(claim, attempt, asked, used);
        }
        let mut no = No::Volumes;
        for volumes in attempt.volumes {
            let Some(there) = self.memory.meetings.join(asked, *volumes) else { continue };
            match self.fit_there(claim, attempt, there, used.clone()) {
                Ok(fit) => return Ok(fit),
                Err(other) => no = other,
            }
        }
        Err(no)
    }

    fn fit_there(
        &mut self,
        claim: &Open,
        attempt: Attempt<'_>,
        asked: Asked,
        used: Amounts,
    ) -> Result<Fit, No> {
        let pool = self.templates[claim.template].pool;
        let site = Site {
            labels: self.memory.meetings.get(asked),
            host: Some(&claim.host_label),
            taints: &pool.taints,
        };
        let narrowed =
            self.topology.narrowed(attempt.subject, &attempt.step.strict, site).map_err(No::Topology)?;
        let asked = self.memory.meetings.narrow(asked, &narrowed).ok_or(No::TopologyDisagrees)?;
        let kinds = self.sizes(claim, attempt, asked, &used)?;
        let (asked, is_relaxed) = self.with_variety(claim, asked, &kinds)?;
        let held = self.held(claim, asked, &kinds)?;
        Ok(Fit { asked, kinds, used, held, is_relaxed: is_relaxed || claim.is_relaxed })
    }

    /// Returns the sizes of a claim that hold these requests and are available under the requirements.
    fn sizes(&mut self, claim: &Open, attempt: Attempt<'_>, asked: Asked, used: &[i64]) -> Result<Bits, No> {
        let template = &self.templates[claim.template];
        let stock = self.memory.stock(self.store, template.shelf, asked);
        let wanted = &attempt.subject.spec.host_ports;
        let blocked: Vec<bool> =
            template.groups.iter().map(|group| ports::why(wanted, &group.ports).is_err()).collect();
        let mut kinds = claim.kinds.clone();
        kinds.keep(&stock.sold);
        let (mut has_room, mut has_ports) = (false, false);
        for place in claim.kinds.iter() {
            let holds = amounts::fits(used, &template.rooms[place]);
            let is_open = !blocked[template.group_of[place]];
            has_room |= holds;
            has_ports |= is_open;
            if !holds || !is_open {
                kinds.remove(place);
            }
        }
        if kinds.is_empty() {
            let mut agreeing = claim.kinds.clone();
            agreeing.keep(&stock.agreeing);
            let mut sold = claim.kinds.clone();
            sold.keep(&stock.sold);
            return Err(No::Sizes {
                has_labels: !agreeing.is_empty(),
                has_offering: !sold.is_empty(),
                has_room,
                has_ports,
            });
        }
        Ok(kinds)
    }

    /// Returns the requirements if the remaining sizes offer enough distinct values. Under best effort, `minValues` is
    /// lowered for a claim without pods.
    fn with_variety(&mut self, claim: &Open, asked: Asked, kinds: &Bits) -> Result<(Asked, bool), No> {
        let shelf = self.shelf(&self.templates[claim.template]);
        let wanted = self.memory.meetings.get(asked);
        let lacking = variety::lacking(wanted, shelf, kinds);
        if lacking.is_empty() {
            return Ok((asked, false));
        }
        match (self.settings.min_values, claim.pods.is_empty()) {
            (MinValuesPolicy::BestEffort, true) => {
                let lowered = variety::lowered(wanted, &lacking);
                Ok((self.memory.meetings.number(&lowered), true))
            }
            (MinValuesPolicy::BestEffort | MinValuesPolicy::Strict, _) => Err(No::Variety(lacking)),
        }
    }

    /// Returns the reservations that a claim may be launched from.
    fn held(&self, claim: &Open, asked: Asked, kinds: &Bits) -> Result<Held, No> {
        if self.reservations.is_empty() {
            return Ok(Held::new());
        }
        let shelf = self.shelf(&self.templates[claim.template]);
        let wanted = self.memory.meetings.get(asked);
        let ways = shelf.ways(wanted, &self.store.snapshot.catalog);
        let reserved = kinds.iter().flat_map(|place| ways.offerings(place).filter_map(reserved::of));
        let reserved: BTreeSet<&Arc<str>> = reserved.collect();
        let free = reserved.iter().filter(|id| self.reservations.is_free(id, &claim.held));
        let held: Held = free.map(|id| Arc::clone(id)).collect();
        let is_strict = match self.settings.reserved {
            ReservedMode::Strict => true,
            ReservedMode::Fallback => false,
        };
        let loses = held.is_empty() && (!reserved.is_empty() || !claim.held.is_empty());
        if is_strict && loses { Err(No::Reserved) } else { Ok(held) }
    }

    /// Adds a pod to a claim.
    pub(super) fn join(&mut self, claim: &mut Open, (waiting, attempt): (usize, Attempt<'_>), fit: Fit) {
        let Fit { asked, kinds, used, held, is_relaxed } = fit;
        self.reservations.exchange(&claim.held, &held);
        let template = &self.templates[claim.template];
        if kinds != claim.kinds {
            claim.most = template.most(&kinds);
        }
        claim.asked = asked;
        claim.kinds = kinds;
        claim.used = used;
        claim.held = held;
        claim.is_relaxed = is_relaxed;
        claim.ports.extend(attempt.subject.spec.host_ports.iter().cloned());
        claim.pods.push(waiting);
        let labels = self.memory.meetings.get(asked);
        let site = Site { labels, host: Some(&claim.host_label), taints: &template.pool.taints };
        self.topology.record(attempt.subject, site);
    }

    /// Checks whether a pod may join an existing node whose labels and taints are known to match.
    ///
    /// # Errors
    /// The reason why it may not join.
    pub(super) fn fit_spot(&mut self, spot: &Spot<'_>, attempt: Attempt<'_>) -> Result<(), No> {
        if !amounts::fits(attempt.requests, &spot.room) {
            return Err(No::Room);
        }
        if ports::why(&attempt.subject.spec.host_ports, &spot.ports).is_err() {
            return Err(No::Ports);
        }
        let may_be = attempt.volumes.is_empty()
            || attempt.volumes.iter().any(|volumes| self.memory.meetings.holds(spot.labels, *volumes));
        if !may_be || !spot.attached.has_room(attempt.mounts) {
            return Err(No::Volumes);
        }
        let labels = self.memory.meetings.get(spot.labels);
        let site = Site { labels, host: None, taints: &spot.taints };
        let narrowed =
            self.topology.narrowed(attempt.subject, &attempt.step.strict, site).map_err(No::Topology)?;
        let is_labelled = |(key, wanted): &(LabelKey, Requirement)| {
            labels.get(key.as_str()).is_some_and(|there| there.intersects(wanted))
        };
        if narrowed.iter().all(is_labelled) { Ok(()) } else { Err(No::TopologyDisagrees) }
    }

    /// Adds a pod to an existing node.
    pub(super) fn join_spot(&mut self, spot: &mut Spot<'a>, (waiting, attempt): (usize, Attempt<'_>)) {
        spot.room = amounts::minus(&spot.room, attempt.requests);
        spot.ports.extend(attempt.subject.spec.host_ports.iter().cloned());
        spot.attached.add(attempt.mounts);
        spot.pods.push(waiting);
        let site = Site { labels: self.memory.meetings.get(spot.labels), host: None, taints: &spot.taints };
        self.topology.record(attempt.subject, site);
    }
}

/// The order in which claims are tried.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// Claims by their number of pods.
    by_pods: Vec<VecDeque<usize>>,
}

impl Order {
    /// Returns the claims, those with the fewest pods first.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.by_pods.iter().flat_map(|claims| claims.iter().copied())
    }

    /// Adds a claim with one pod, after those that already have one.
    pub(super) fn open(&mut self, claim: usize) {
        self.bucket(1).push_back(claim);
    }

    /// Moves a claim that now has this many pods before the others with as many.
    pub(super) fn grow(&mut self, claim: usize, pods: usize) {
        self.bucket(pods - 1).retain(|other| *other != claim);
        self.bucket(pods).push_front(claim);
    }

    fn bucket(&mut self, pods: usize) -> &mut VecDeque<usize> {
        if self.by_pods.len() <= pods {
            self.by_pods.resize_with(pods + 1, VecDeque::new);
        }
        &mut self.by_pods[pods]
    }
}
