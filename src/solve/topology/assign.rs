//! Which domain each pod goes to, before nodes are filled: shapes that groups bind or count are split, each part
//! pinned to one place by its labels.
//!
//! Pods of groups are given out one by one: to the heaviest pool's places first, then to the emptiest domain, then
//! to the cheapest. A pod that no place may take is refused with the reason. Nodes are never opened here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::census::{Census, Running};
use super::domains::{Cell, Outside, Places, THERE, Values};
use super::gathered::Gathered;
use super::group::{GroupKind, Spread};
use super::leading::{Following, Sure};
use super::{Role, Topology};
use crate::model::{LabelKey, PodKey, Requirement, Requirements, label};
use crate::solve::demand::{Demand, Shape};
use crate::solve::fit::{Miss, Rule, affinity, anti_affinity, spread, volumes};
use crate::solve::memo::Memo;
use crate::solve::supply::Supply;

/// How many pods of a shape a place takes at most, by the shape's place, the values, and the weight of the pools:
/// what an earlier round of packing found out.
pub type Caps = BTreeMap<(usize, Values, usize), usize>;

/// Who of pods of one priority is given out first, and where to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// What is only counted, so that what is bound can go by it; to the emptiest domain.
    Evenly,
    /// What is bound, so that what may go anywhere leaves it room; it may have to wait for those that it must be near.
    BoundFirst,
    /// As evenly as it must be and no more: to the cheapest domain, and to the fullest of those.
    Thriftily,
    /// Those that have the fewest zones to go to; to zones that others need anyway, so that few nodes hold many.
    Gathered,
}

/// A place that pods are pinned to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Its labels.
    pub values: Values,
    /// How many pods are to come to nodes of each tier, those that exist first.
    pub tiers: Vec<(usize, usize)>,
    /// The tier of the heaviest pools that could take such a pod in any place.
    pub heaviest: usize,
}

/// A demand whose shapes all know their domains.
#[derive(Clone, Debug, Default)]
pub struct Assigned {
    /// The demand, split.
    pub demand: Demand,
    /// Where each split shape comes from: the place of the whole one, with what it is pinned to.
    pub origins: Vec<(usize, Option<Pin>)>,
    /// Shapes, by place, of which nothing can be placed anywhere.
    pub closed: Vec<usize>,
    /// The same, of pods to which no rule between pods says no: there is only no room for them.
    pub crowded: Vec<usize>,
    /// Pods that no place may take.
    pub refused: Vec<Refused>,
}

impl Assigned {
    /// Returns the demand with nothing in it of what can be placed nowhere.
    #[must_use]
    pub fn open_demand(&self) -> Demand {
        let mut demand = self.demand.clone();
        for place in self.closed.iter().chain(&self.crowded) {
            demand.shapes[*place].pods.clear();
        }
        demand
    }

    /// Returns the pods that can be placed nowhere, with the places of their shapes.
    pub fn closed_pods(&self) -> impl Iterator<Item = (usize, PodKey)> + '_ {
        let pods = |place: &usize| {
            let place = *place;
            self.demand.shapes[place].pods.iter().map(move |pod| (place, pod.clone()))
        };
        self.closed.iter().chain(&self.crowded).flat_map(pods)
    }

    /// Returns whether pods that mind where others are were given no place.
    #[must_use]
    pub fn leaves_over(&self) -> bool {
        !self.refused.is_empty() || !self.crowded.is_empty()
    }
}

/// Pods that rules between pods leave no place.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Their priority.
    pub priority: i32,
    /// The pods, sorted.
    pub pods: Vec<PodKey>,
    /// Why.
    pub miss: Miss,
    /// Whether they had a place until it was seen what the others came to.
    pub was_placed: bool,
}

/// Groups pods that were taken off by shape and reason.
#[must_use]
pub fn grouped(demand: &Demand, pods: BTreeMap<PodKey, Miss>) -> Vec<Refused> {
    let mut groups: BTreeMap<(i32, Miss), Vec<PodKey>> = BTreeMap::new();
    for (pod, miss) in pods {
        let shape = demand.shapes.iter().find(|shape| shape.pods.binary_search(&pod).is_ok());
        groups.entry((shape.map_or(0, |shape| shape.priority), miss)).or_default().push(pod);
    }
    let refused = |((priority, miss), pods)| Refused { priority, pods, miss, was_placed: true };
    groups.into_iter().map(refused).collect()
}

/// Splits what waits.
#[must_use]
pub(in crate::solve) fn assign(
    demand: &Demand,
    running: &Running<'_>,
    (supply, memo): (&Supply<'_>, &Memo),
    (caps, manner): (&Caps, Manner),
) -> Assigned {
    let tied: Vec<usize> =
        (0..demand.shapes.len()).filter(|place| !demand.shapes[*place].roles.is_empty()).collect();
    if tied.is_empty() {
        let origins = (0..demand.shapes.len()).map(|place| (place, None)).collect();
        return Assigned { demand: demand.clone(), origins, ..Assigned::default() };
    }
    let Running { topology, nodes, .. } = *running;
    let mut places = Places::of((supply, memo), nodes);
    let mut parts: Vec<Part> =
        tied.iter().map(|place| Part::of(*place, &demand.shapes[*place], topology, &mut places)).collect();
    let census = running.census().clone();
    let untied = demand.shapes.iter().filter(|shape| shape.roles.is_empty());
    let (following, gathered) = (Following::default(), Gathered::of(untied));
    let nodes_max = supply.pools.iter().map(|pool| pool.pool.nodes_max).sum::<Option<u64>>();
    let nodes_max = nodes_max.and_then(|most| usize::try_from(most).ok());
    let mut round = Round { topology, census, caps, manner, nodes_max, following, gathered };
    let sure = round.sure(&parts);
    for part in &parts {
        round.open_domains(part);
        round.note_followers(part, &sure);
    }
    parts.sort_by_key(|part| {
        let shape = &demand.shapes[part.shape];
        let is_bound = part.roles.iter().any(|role| role.is_bound);
        let zones = if manner == Manner::Gathered { part.zones() } else { 0 };
        (std::cmp::Reverse(shape.priority), zones, is_bound == (manner != Manner::BoundFirst), part.shape)
    });
    loop {
        let before: usize = parts.iter().map(|part| part.left).sum();
        for part in &mut parts {
            round.give_out(part);
        }
        let after: usize = parts.iter().map(|part| part.left).sum();
        if after == before || after == 0 {
            break;
        }
    }
    parts.sort_by_key(|part| part.shape);
    split(demand, &parts, &round)
}

/// A shape whose pods are given out.
struct Part {
    shape: usize,
    roles: Vec<Role>,
    keys: Vec<LabelKey>,
    cells: Vec<Cell>,
    given: Vec<usize>,
    left: usize,
}

impl Part {
    fn of<'w>(place: usize, shape: &'w Shape, topology: &Topology, places: &mut Places<'w>) -> Self {
        let mut keys: Vec<LabelKey> =
            shape.roles.iter().map(|role| topology.groups[role.group].key.clone()).collect();
        keys.sort();
        keys.dedup();
        let cells = places.cells(shape, &keys, outside(shape, topology));
        let given = vec![0; cells.len()];
        Self { shape: place, roles: shape.roles.clone(), keys, cells, given, left: shape.pods.len() }
    }

    /// Returns the places that pods are given to, by their labels.
    fn pins(&self) -> Vec<Pin> {
        let mut pins: BTreeMap<&Values, Vec<(usize, usize)>> = BTreeMap::new();
        for (cell, given) in self.cells.iter().zip(&self.given).filter(|(_, given)| **given > 0) {
            pins.entry(&cell.values).or_default().push((cell.tier, *given));
        }
        let new = self.cells.iter().map(|cell| cell.tier).filter(|tier| *tier != THERE);
        let heaviest = new.min().unwrap_or(THERE);
        pins.into_iter().map(|(values, tiers)| Pin { values: values.clone(), tiers, heaviest }).collect()
    }

    /// Returns in how many zones it has places.
    fn zones(&self) -> usize {
        let zone = LabelKey::new(label::ZONE);
        self.cells.iter().map(|cell| self.domain(cell, &zone)).collect::<BTreeSet<_>>().len()
    }

    /// Returns the domain of a group in which all pods must be, if there is only one.
    fn only(&self, key: &LabelKey) -> Option<&std::sync::Arc<str>> {
        let first = self.domain(self.cells.first()?, key)?;
        self.cells.iter().all(|cell| self.domain(cell, key) == Some(first)).then_some(first)
    }

    /// Returns the domain of a group in a place.
    fn domain<'p>(&self, cell: &'p Cell, key: &LabelKey) -> Option<&'p std::sync::Arc<str>> {
        let place = self.keys.iter().position(|there| there == key)?;
        cell.values[place].as_ref()
    }
}

/// Returns what nodes in no zone are to pods of a shape, by what is asked of their zone.
fn outside(shape: &Shape, topology: &Topology) -> Outside {
    let of_zones = |role: &&Role| topology.groups[role.group].key.as_str() == label::ZONE;
    let mut outside = Outside::Last;
    for role in shape.roles.iter().filter(of_zones) {
        outside = match &topology.groups[role.group].kind {
            GroupKind::AntiAffinity => outside,
            GroupKind::Spread(Spread { min_domains: Some(least), .. }) if role.is_bound => match outside {
                Outside::Last => Outside::From(*least),
                Outside::From(other) => Outside::From(other.max(*least)),
                Outside::Never => Outside::Never,
            },
            GroupKind::Spread(_) | GroupKind::Affinity | GroupKind::Volume(_) => Outside::Never,
        };
    }
    outside
}

struct Round<'r> {
    topology: &'r Topology,
    census: Census,
    caps: &'r Caps,
    manner: Manner,
    /// How many nodes all pools may have together, where each has such a limit.
    nodes_max: Option<usize>,
    following: Following,
    /// How many pods each zone is given.
    gathered: Gathered,
}

impl Round<'_> {
    /// Returns where pods are sure to come that others may not stand beside.
    fn sure(&self, parts: &[Part]) -> Sure {
        let mut sure = Sure::default();
        for part in parts {
            for role in part.roles.iter().filter(|role| self.keeps_apart(role)) {
                if let Some(domain) = part.only(&self.topology.groups[role.group].key) {
                    sure.add(*role, domain);
                }
            }
        }
        sure
    }

    fn keeps_apart(&self, role: &Role) -> bool {
        matches!(self.topology.groups[role.group].kind, GroupKind::AntiAffinity)
    }

    /// Returns whether others are sure to keep pods off a place, wherever what may choose goes.
    fn is_kept_off(&self, part: &Part, cell: &Cell, sure: &Sure) -> bool {
        part.roles.iter().filter(|role| self.keeps_apart(role)).any(|role| {
            let key = &self.topology.groups[role.group].key;
            part.domain(cell, key).is_some_and(|domain| {
                let own = usize::from(part.only(key) == Some(domain));
                sure.keeps_off(*role, domain, self.census.tally(role.group, domain), own)
            })
        })
    }

    /// Notes who must stand beside others, and where they can.
    fn note_followers(&mut self, part: &Part, sure: &Sure) {
        for role in part.roles.iter().filter(|role| role.is_bound) {
            let group = &self.topology.groups[role.group];
            if matches!(group.kind, GroupKind::Affinity | GroupKind::Volume(_)) {
                let cells = part.cells.iter().filter(|cell| !self.is_kept_off(part, cell, sure));
                let domains = cells.filter_map(|cell| part.domain(cell, &group.key)).cloned().collect();
                self.following.add(role.group, part.left, domains);
            }
        }
    }

    /// Makes the domains known that pods of a spread may open. kube-scheduler counts a domain once it has a node: where there
    /// are more than nodes may be, those are left out that got none in an earlier round.
    fn open_domains(&mut self, part: &Part) {
        for role in part.roles.iter().filter(|role| role.is_bound) {
            let group = &self.topology.groups[role.group];
            let GroupKind::Spread(_) = &group.kind else { continue };
            let new = part.cells.iter().enumerate().filter(|(_, cell)| cell.room.is_none());
            let new: Vec<(usize, &Arc<str>)> =
                new.filter_map(|(place, cell)| Some((place, part.domain(cell, &group.key)?))).collect();
            let count = new.iter().map(|(_, domain)| domain).collect::<BTreeSet<_>>().len();
            let are_few = self.nodes_max.is_some_and(|most| most < count);
            for (place, domain) in new {
                if !are_few || self.cap(part, place) > 0 {
                    self.census.open(role.group, domain);
                }
            }
        }
    }

    /// Gives out pods while some place may take them.
    fn give_out(&mut self, part: &mut Part) {
        let zone = LabelKey::new(label::ZONE);
        while part.left > 0 {
            let open =
                |place: &usize| part.given[*place] < self.cap(part, *place) && self.why(part, *place).is_ok();
            let best = (0..part.cells.len()).filter(open).min_by_key(|place| {
                let cell = &part.cells[*place];
                let crowd = self.crowd(part, cell);
                let domain = |role: &Role| part.domain(cell, &self.topology.groups[role.group].key);
                let shut_out = self.following.shut_out(&part.roles, &self.census, domain);
                let preference = match self.manner {
                    Manner::Evenly | Manner::BoundFirst => (crowd, cell.price, 0),
                    Manner::Thriftily => (0, cell.price, usize::MAX - crowd),
                    Manner::Gathered => {
                        (usize::MAX - self.gathered.count(part.domain(cell, &zone)), cell.price, 0)
                    }
                };
                (cell.tier, cell.is_last, shut_out, preference, *place)
            });
            let Some(best) = best else { return };
            let given = self.at_once(part, best);
            self.gathered.add(part.domain(&part.cells[best], &zone), given);
            part.given[best] += given;
            part.left -= given;
            for role in &part.roles {
                if let Some(domain) = part.domain(&part.cells[best], &self.topology.groups[role.group].key) {
                    self.census.add(*role, domain, given);
                }
            }
        }
    }

    /// Returns how many pods a place is given at once: all where one changes nothing for the next.
    fn at_once(&self, part: &Part, place: usize) -> usize {
        let is_even = part.roles.iter().all(|role| match self.topology.groups[role.group].kind {
            GroupKind::Affinity | GroupKind::Volume(_) => true,
            GroupKind::Spread(_) | GroupKind::AntiAffinity => false,
        });
        let is_even = is_even && !self.following.is_led(&part.roles, &self.census);
        if is_even { part.left.min(self.cap(part, place) - part.given[place]) } else { 1 }
    }

    /// Returns how many pods a place takes at most.
    fn cap(&self, part: &Part, place: usize) -> usize {
        let Cell { values, tier, room, .. } = &part.cells[place];
        let known = self.caps.get(&(part.shape, values.clone(), *tier)).copied();
        known.or(*room).unwrap_or(usize::MAX)
    }

    /// Returns how full the domains of a place are.
    fn crowd(&self, part: &Part, cell: &Cell) -> usize {
        let spreads = part
            .roles
            .iter()
            .filter(|role| matches!(self.topology.groups[role.group].kind, GroupKind::Spread(_)));
        let counted = spreads.filter_map(|role| {
            let domain = part.domain(cell, &self.topology.groups[role.group].key)?;
            Some(self.census.tally(role.group, domain).counted)
        });
        counted.max().unwrap_or(0)
    }

    /// Says whether one more pod may come to a place.
    fn why(&self, part: &Part, place: usize) -> Result<(), Miss> {
        for role in &part.roles {
            self.why_group(part, &part.cells[place], *role)?;
        }
        Ok(())
    }

    fn why_group(&self, part: &Part, cell: &Cell, role: Role) -> Result<(), Miss> {
        let group = &self.topology.groups[role.group];
        let key = group.key.as_str();
        let Some(domain) = part.domain(cell, &group.key) else {
            // Without the label there is no domain: nothing keeps pods apart there, and nothing brings them
            // together.
            return match (&group.kind, role.is_bound) {
                (GroupKind::AntiAffinity | GroupKind::Volume(_), _) | (_, false) => Ok(()),
                (GroupKind::Spread(_), true) => Err(without_label(Rule::TopologySpread, key)),
                (GroupKind::Affinity, true) => Err(without_label(Rule::PodAffinity, key)),
            };
        };
        let there = self.census.tally(role.group, domain);
        match &group.kind {
            GroupKind::Spread(spread) if role.is_bound => {
                let least = self.census.least(role.group, spread);
                let more = spread::more(spread.max_skew, there.counted, least, role.counted);
                let full = || {
                    let lacking = self.census.lacking(role.group, spread);
                    let own = role.counted;
                    let (counted, emptiest) = (there.counted, self.census.emptiest(role.group));
                    let emptiest = emptiest.as_deref();
                    let full = spread::Full { key, domain, counted, least, emptiest, lacking, own };
                    spread::miss(full, spread.max_skew)
                };
                if more > 0 { Ok(()) } else { Err(full()) }
            }
            GroupKind::Spread(_) => Ok(()),
            GroupKind::AntiAffinity => {
                let more = anti_affinity::more(role.is_bound, role.counted > 0, there);
                let miss = || anti_affinity::miss(key, domain, role.is_bound, there);
                if more > 0 { Ok(()) } else { Err(miss()) }
            }
            GroupKind::Affinity | GroupKind::Volume(_) if !role.is_bound => Ok(()),
            kind @ (GroupKind::Affinity | GroupKind::Volume(_)) => {
                let anywhere = self.census.anywhere(role.group);
                let may_come = affinity::may_come(there.counted, anywhere, role.counted > 0);
                let miss = || match kind {
                    GroupKind::Volume(claim) => volumes::elsewhere(claim),
                    GroupKind::Affinity | GroupKind::AntiAffinity | GroupKind::Spread(_) => {
                        affinity::miss(key, anywhere)
                    }
                };
                if may_come { Ok(()) } else { Err(miss()) }
            }
        }
    }

    /// Says which rule refuses what is left of a part; where none does there is only no room, in these places.
    fn refusal(&self, part: &Part) -> Result<BTreeSet<Values>, Miss> {
        let (mut full, mut misses) = (BTreeSet::new(), Vec::new());
        for (place, cell) in part.cells.iter().enumerate() {
            match self.why(part, place) {
                Ok(()) => drop(full.insert(cell.values.clone())),
                Err(miss) => misses.push(miss),
            }
        }
        match misses.into_iter().min_by_key(|miss| (miss.distance(), miss.because.clone())) {
            Some(miss) if full.is_empty() => Err(miss),
            _ => Ok(full),
        }
    }
}

fn without_label(rule: Rule, key: &str) -> Miss {
    Miss::new(rule, format!("the nodes that could hold it have no label `{key}`"))
}

fn split(demand: &Demand, parts: &[Part], round: &Round<'_>) -> Assigned {
    let mut assigned = Assigned { demand: demand.clone(), ..Assigned::default() };
    assigned.demand.shapes.clear();
    let by_shape: BTreeMap<usize, &Part> = parts.iter().map(|part| (part.shape, part)).collect();
    for (place, shape) in demand.shapes.iter().enumerate() {
        let Some(part) = by_shape.get(&place) else {
            assigned.demand.shapes.push(shape.clone());
            assigned.origins.push((place, None));
            continue;
        };
        let mut next = 0;
        for pin in part.pins() {
            let given: usize = pin.tiers.iter().map(|(_, given)| given).sum();
            let pods = shape.pods[next..next + given].to_vec();
            next += given;
            assigned.demand.shapes.push(pinned(shape, &part.keys, &pin.values, pods));
            assigned.origins.push((place, Some(pin)));
        }
        // Where no place has room for even one pod, the ordinary rules say better why.
        if part.cells.is_empty() {
            assigned.closed.push(assigned.demand.shapes.len());
            assigned.demand.shapes.push(shape.clone());
            assigned.origins.push((place, None));
        } else if next < shape.pods.len() {
            let (priority, pods) = (shape.priority, shape.pods[next..].to_vec());
            match round.refusal(part) {
                Err(miss) => assigned.refused.push(Refused { priority, pods, miss, was_placed: false }),
                Ok(full) => {
                    assigned.crowded.push(assigned.demand.shapes.len());
                    assigned.demand.shapes.push(Shape { pods, ..within(shape, &part.keys, &full) });
                    assigned.origins.push((place, None));
                }
            }
        }
    }
    assigned
}

/// Returns pods of a shape that may stand only in one place.
fn pinned(shape: &Shape, keys: &[LabelKey], values: &Values, pods: Vec<PodKey>) -> Shape {
    Shape { pods, ..within(shape, keys, &BTreeSet::from([values.clone()])) }
}

/// Returns the shape without pods, as it is where it may stand only in these places.
fn within(shape: &Shape, keys: &[LabelKey], places: &BTreeSet<Values>) -> Shape {
    let agrees = |alternative: &Requirements, values: &Values| {
        keys.iter().zip(values).all(|(key, value)| match (alternative.get(key.as_str()), value) {
            (Some(wanted), Some(value)) => wanted.accepts(value),
            (Some(wanted), None) => wanted.accepts_absence(),
            (None, _) => true,
        })
    };
    let mut ask = shape.ask.clone();
    ask.alternatives.clear();
    for values in places {
        // An alternative that does not agree is left out: joined with the pin it would read like "no such label".
        for alternative in shape.ask.alternatives.iter().filter(|alternative| agrees(alternative, values)) {
            let mut alternative = alternative.clone();
            for (key, value) in keys.iter().zip(values) {
                let pin = value.as_ref().map_or_else(Requirement::none, |value| Requirement::one(value));
                alternative.add(key.clone(), pin);
            }
            ask.alternatives.push(alternative);
        }
    }
    ask.alternatives.sort();
    ask.alternatives.dedup();
    Shape { priority: shape.priority, ask, roles: shape.roles.clone(), pods: Vec::new() }
}
