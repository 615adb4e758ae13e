//! One pass over the queue: every pod goes to an existing node, else to an open claim, else to a new one; else it
//! returns to the end of the queue, until a whole round places nothing.
//!
//! A pod gives up its preferences before the next pod is tried. An attempt that failed and cannot change is not
//! repeated. Never checks the result.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use crate::model::{NodeName, PodKey};
use crate::snapshot::Snapshot;
use crate::solve::intern::Bits;
use crate::solve::supply::named;

use super::amounts::{Amounts, Columns};
use super::claims::{Attempt, Bench, Open, Order, Step};
use super::leaving::Leaving;
use super::meeting::Asked;
use super::nodes::{self, Spot};
use super::refusal::No;
use super::roll::Roll;
use super::settle::Settled;
use super::store::{Memory, Store};
use super::template;
use super::there;
use super::topology::{Subject, Topology};
use super::wish::Wish;
use super::{PodError, Settings, UnnamedFamilies};

/// Inputs of a pass.
#[derive(Clone, Copy)]
pub(super) struct Start<'a, 'm> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) store: &'a Store<'m>,
    pub(super) settings: Settings,
    /// Claims of earlier passes.
    pub(super) settled: &'a [Settled],
    /// Nodes on which earlier passes placed pods.
    pub(super) placed: &'a BTreeMap<PodKey, NodeName>,
    /// Pods that are not to be placed.
    pub(super) left_out: &'a BTreeMap<PodKey, String>,
    /// Nodes that are treated as being removed.
    pub(super) leaving: Leaving<'a>,
}

/// State of pods with one content.
struct Content {
    requests: Amounts,
    volumes: Vec<Asked>,
    steps: Vec<Remembered>,
    /// Number of placed pods when one of them last failed.
    failed_at: Option<usize>,
}

/// State of one step.
struct Remembered {
    step: Rc<Step>,
    /// Claims that will never hold such a pod.
    refused: Vec<bool>,
    /// Nodes that may still hold one, in their order; `None` before the first attempt.
    spots: Option<Vec<usize>>,
}

/// One pass.
pub(super) struct Pass<'a, 'm> {
    pub(super) bench: Bench<'a, 'm>,
    pub(super) spots: Vec<Spot<'a>>,
    pub(super) claims: Vec<Open>,
    pub(super) roll: Roll<'a>,
    pub(super) columns: Columns,
    pub(super) errors: Vec<PodError>,
    order: Order,
    contents: Vec<Content>,
    has_soft_taints: bool,
    placements: usize,
}

/// Reasons why no pool takes a pod, one for each pool.
type Refusals = Vec<(String, No)>;

impl<'a, 'm> Pass<'a, 'm> {
    /// Reads all inputs of a pass.
    pub(super) fn of(start: Start<'a, 'm>, memory: &'a mut Memory<'m>) -> Self {
        let Start { snapshot, store, settings, settled, placed, left_out, leaving } = start;
        let roll = Roll::of(snapshot, leaving, |pod| placed.contains_key(pod) || left_out.contains_key(pod));
        let columns = there::columns(snapshot, &roll);
        let drawn = memory.drawn(store, &columns);
        let taken = there::taken(snapshot, leaving, settled);
        let mut templates = drawn.templates.clone();
        for template in &mut templates {
            taken.get(template.pool.name.as_str()).into_iter().for_each(|taken| template.take(taken));
        }
        let bound = there::bound(snapshot, placed);
        let mut spots = nodes::spots((snapshot, leaving), &bound, settled, (&mut memory.meetings, &columns));
        let shy = leaving.wanting_quiet(snapshot, store.policy);
        spots.iter_mut().for_each(|spot| spot.is_shy = shy.contains(&spot.name));
        let waiting: BTreeSet<&PodKey> = roll.waiting.iter().map(|waiting| &waiting.pod.key).collect();
        let grounds = there::grounds((snapshot, leaving), settled, &bound, &waiting);
        let topology = Topology::of(drawn, grounds, &snapshot.namespaces);
        let reservations = store.reservations.clone();
        let has_soft_taints = template::has_soft_taints(&templates);
        let bench = Bench { settings, store, memory, templates, topology, reservations };
        let mut pass = Self {
            bench,
            spots,
            claims: Vec::new(),
            columns,
            errors: Vec::new(),
            order: Order::default(),
            contents: Vec::new(),
            has_soft_taints,
            placements: 0,
            roll,
        };
        pass.read_contents();
        pass
    }

    /// Builds the first step of every content, in the order of the queue: groups count all placements from the start,
    /// whichever pod is placed first.
    fn read_contents(&mut self) {
        for class in &self.roll.classes {
            let volumes =
                class.volumes.iter().map(|volumes| self.bench.memory.meetings.number(volumes)).collect();
            let requests = self.columns.row(&class.spec.requests);
            self.contents.push(Content { requests, volumes, steps: Vec::new(), failed_at: None });
        }
        let mut order: Vec<usize> = self.roll.waiting.iter().map(|waiting| waiting.class).collect();
        let mut seen = BTreeSet::new();
        order.retain(|class| seen.insert(*class));
        for class in order {
            let wish = Wish::of(self.roll.classes[class].spec, self.bench.settings.preferences);
            self.add_step(class, wish);
        }
    }

    fn add_step(&mut self, class: usize, wish: Wish) {
        let content = &self.roll.classes[class];
        let wanted = self.bench.memory.meetings.number(&wish.wanted(content.spec));
        let strict = wish.strict(content.spec);
        let owned = self.bench.topology.own(content.namespace, content.spec, &wish);
        let step = Rc::new(Step { wish, wanted, strict, owned });
        self.contents[class].steps.push(Remembered { step, refused: Vec::new(), spots: None });
    }

    /// Processes the queue.
    pub(super) fn run(&mut self) {
        let mut queue: VecDeque<usize> = (0..self.roll.waiting.len()).collect();
        let mut length_at_push: BTreeMap<usize, usize> = BTreeMap::new();
        let mut last: BTreeMap<usize, Rc<Refusals>> = BTreeMap::new();
        let mut of_class: BTreeMap<usize, Rc<Refusals>> = BTreeMap::new();
        while let Some(waiting) = queue.pop_front() {
            if length_at_push.get(&waiting) == Some(&(queue.len() + 1)) {
                queue.push_front(waiting);
                break;
            }
            let class = self.roll.waiting[waiting].class;
            let is_hopeless = self.contents[class].failed_at == Some(self.placements);
            let has_mounts = !self.roll.waiting[waiting].mounts.is_empty();
            let known = of_class.get(&class).filter(|_| is_hopeless && !has_mounts).cloned();
            let refusals = match known {
                Some(known) => Err(known),
                None => self.place(waiting).map_err(Rc::new),
            };
            match refusals {
                Ok(()) => {
                    self.placements += 1;
                    last.remove(&waiting);
                }
                Err(refusals) => {
                    self.contents[class].failed_at = Some(self.placements);
                    of_class.insert(class, Rc::clone(&refusals));
                    last.insert(waiting, refusals);
                    queue.push_back(waiting);
                    length_at_push.insert(waiting, queue.len());
                }
            }
        }
        for (waiting, refusals) in last {
            let said =
                refusals.iter().map(|(pool, no)| (pool.clone(), no.rule(), no.said(&self.bench.topology)));
            let pod = self.roll.waiting[waiting].pod.key.clone();
            self.errors.push(PodError { pod, reasons: said.collect() });
        }
        self.errors.sort();
    }

    /// Places a pod, giving up one preference after the other.
    ///
    /// # Errors
    /// The last reason of each pool.
    fn place(&mut self, waiting: usize) -> Result<(), Refusals> {
        let class = self.roll.waiting[waiting].class;
        let mut number = 0;
        loop {
            let refusals = match self.place_at(waiting, number) {
                Ok(()) => return Ok(()),
                Err(refusals) => refusals,
            };
            // The pod waits for reserved capacity that other claims hold, and does not give up preferences instead.
            if refusals.iter().any(|(_, no)| matches!(no, No::Reserved)) {
                return Err(refusals);
            }
            number += 1;
            if self.contents[class].steps.len() == number {
                let wish = &self.contents[class].steps[number - 1].step.wish;
                match wish.relaxed(self.has_soft_taints) {
                    Some(relaxed) => self.add_step(class, relaxed),
                    None => return Err(refusals),
                }
            }
        }
    }

    fn place_at(&mut self, waiting: usize, number: usize) -> Result<(), Refusals> {
        let class = self.roll.waiting[waiting].class;
        let content = &self.contents[class];
        let step = Rc::clone(&content.steps[number].step);
        let (requests, volumes) = (content.requests.clone(), content.volumes.clone());
        let mounts = self.roll.waiting[waiting].mounts.clone();
        let known = &self.roll.classes[class];
        let subject = Subject { class, namespace: known.namespace, spec: known.spec, owned: &step.owned };
        let attempt =
            Attempt { subject, step: &step, requests: &requests, volumes: &volumes, mounts: &mounts };
        if self.join_spot(waiting, number, attempt) || self.join_claim(waiting, number, attempt) {
            return Ok(());
        }
        self.open_claim(waiting, attempt)
    }

    fn join_spot(&mut self, waiting: usize, number: usize, attempt: Attempt<'_>) -> bool {
        let remembered = &mut self.contents[attempt.subject.class].steps[number];
        let candidates = remembered.spots.take().unwrap_or_else(|| {
            let meetings = &mut self.bench.memory.meetings;
            let is_chosen = self.roll.classes[attempt.subject.class].is_chosen;
            let may_join = |place: &usize| {
                let spot = &self.spots[*place];
                !(spot.is_shy && is_chosen)
                    && nodes::tolerates(&attempt.step.wish.tolerations, &spot.taints)
                    && meetings.holds(spot.labels, attempt.step.wanted)
            };
            (0..self.spots.len()).filter(may_join).collect()
        });
        let mut kept = Vec::new();
        let mut found = false;
        for (index, place) in candidates.iter().enumerate() {
            match self.bench.fit_spot(&self.spots[*place], attempt) {
                Ok(()) => {
                    self.bench.join_spot(&mut self.spots[*place], (waiting, attempt));
                    kept.extend_from_slice(&candidates[index..]);
                    found = true;
                    break;
                }
                Err(no) if no.is_lasting(true) => {}
                Err(_) => kept.push(*place),
            }
        }
        self.contents[attempt.subject.class].steps[number].spots = Some(kept);
        found
    }

    fn join_claim(&mut self, waiting: usize, number: usize, attempt: Attempt<'_>) -> bool {
        let is_alone = !self.bench.topology.matters(attempt.subject);
        let refused = &mut self.contents[attempt.subject.class].steps[number].refused;
        refused.resize(self.claims.len(), false);
        let mut found = None;
        for place in self.order.iter().filter(|place| !refused[*place]).collect::<Vec<_>>() {
            match self.bench.fit(&self.claims[place], attempt) {
                Ok(fit) => {
                    found = Some((place, fit));
                    break;
                }
                Err(no) => refused[place] = no.is_lasting(is_alone),
            }
        }
        let Some((place, fit)) = found else { return false };
        let claim = &mut self.claims[place];
        self.bench.join(claim, (waiting, attempt), fit);
        self.order.grow(place, claim.pods.len());
        true
    }

    fn open_claim(&mut self, waiting: usize, attempt: Attempt<'_>) -> Result<(), Refusals> {
        let mut refusals = Vec::new();
        for place in 0..self.bench.templates.len() {
            let name = self.bench.templates[place].pool.name.to_string();
            match self.open_of(place, waiting, attempt) {
                Ok(()) => return Ok(()),
                Err(no) => {
                    let is_deferred = matches!(no, No::Reserved);
                    refusals.push((name, no));
                    // A lighter pool does not replace the reserved capacity of a heavier one.
                    if is_deferred {
                        break;
                    }
                }
            }
        }
        Err(refusals)
    }

    fn open_of(&mut self, place: usize, waiting: usize, attempt: Attempt<'_>) -> Result<(), No> {
        let template = &self.bench.templates[place];
        if let Some(most) =
            template.pool.nodes_max.filter(|_| template.nodes_left.is_some_and(|left| left <= 0))
        {
            return Err(No::NodesLimit(most));
        }
        let mut kinds = template.within_limits(self.bench.shelf(template));
        if kinds.is_empty() {
            return Err(No::Limits(template.exceeded(self.bench.shelf(template), &template.kinds)));
        }
        if self.bench.settings.unnamed == UnnamedFamilies::LeaveOut {
            self.leave_out_unnamed(&mut kinds, place, attempt);
        }
        let mut claim = self.bench.empty(place, kinds, self.claims.len() + 1);
        let fit = match self.bench.fit(&claim, attempt) {
            Ok(fit) => fit,
            Err(no) => return Err(self.beyond_limits(place, attempt).unwrap_or(no)),
        };
        self.bench.topology.register_host(&claim.host);
        self.bench.join(&mut claim, (waiting, attempt), fit);
        let shelf = self.bench.shelf(&self.bench.templates[place]);
        self.bench.templates[place].take_largest(shelf, &claim.kinds);
        self.order.open(self.claims.len());
        self.claims.push(claim);
        Ok(())
    }
}

impl Pass<'_, '_> {
    /// Returns that limits refuse a pod a new claim, if the sizes that they exclude could hold it.
    fn beyond_limits(&mut self, place: usize, attempt: Attempt<'_>) -> Option<No> {
        let template = &self.bench.templates[place];
        let mut kinds = template.kinds.clone();
        let within = template.within_limits(self.bench.shelf(template));
        within.iter().for_each(|kind| kinds.remove(kind));
        if self.bench.settings.unnamed == UnnamedFamilies::LeaveOut {
            self.leave_out_unnamed(&mut kinds, place, attempt);
        }
        if kinds.is_empty() {
            return None;
        }
        let claim = self.bench.empty(place, kinds, self.claims.len() + 1);
        let fit = self.bench.fit(&claim, attempt).ok()?;
        let template = &self.bench.templates[place];
        Some(No::Limits(template.exceeded(self.bench.shelf(template), fit.kinds())))
    }

    /// Removes the burstable and HPC sizes that neither the pool nor the pod names.
    fn leave_out_unnamed(&self, kinds: &mut Bits, place: usize, attempt: Attempt<'_>) {
        let Bench { templates, memory, .. } = &self.bench;
        let (template, meetings) = (&templates[place], &memory.meetings);
        let shelf = self.bench.shelf(template);
        let asked = [meetings.get(template.base), meetings.get(attempt.step.wanted)];
        for number in template.to_name.iter() {
            let kind = shelf.kinds[number];
            if !asked.iter().any(|asked| named::names(asked, kind)) {
                kinds.remove(number);
            }
        }
    }
}
