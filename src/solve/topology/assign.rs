//! Assigns each pod to a domain before nodes are filled: shapes that groups constrain or count are split, and each part
//! is pinned to one place by its labels.
//!
//! Pods of groups are assigned one by one: to the places of the heaviest pool first, then to the emptiest domain, then
//! to the cheapest. A pod that no place may take is refused with the reason. Never opens nodes.

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

/// Maximum number of pods of a shape in a place, by the shape's index, the label values, and the tier: known from an
/// earlier round of packing.
pub type Caps = BTreeMap<(usize, Values, usize), usize>;

/// The order in which pods of one priority are assigned, and the domains that they prefer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Pods that are only counted first, so constrained ones can adapt to them; to the emptiest domain.
    Evenly,
    /// Constrained pods first, so unconstrained ones leave them free capacity; they may have to wait for pods that they
    /// must be near.
    BoundFirst,
    /// No more evenly than required: to the cheapest domain, and to the fullest of those.
    Thriftily,
    /// Pods with the fewest possible zones first; to zones that others need anyway, so few nodes hold many pods.
    Gathered,
}

/// A place that pods are pinned to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Its labels.
    pub values: Values,
    /// Number of pods for nodes of each tier, existing nodes first.
    pub tiers: Vec<(usize, usize)>,
    /// The tier of the heaviest pools that could take such a pod in any place.
    pub heaviest: usize,
}

/// A demand in which every shape has its domains.
#[derive(Clone, Debug, Default)]
pub struct Assigned {
    /// The demand, split.
    pub demand: Demand,
    /// The origin of each split shape: the index of the original one, and the place that it is pinned to.
    pub origins: Vec<(usize, Option<Pin>)>,
    /// Shapes, by index, that can be placed nowhere.
    pub closed: Vec<usize>,
    /// Like `closed`, but no rule between pods refuses them: they only lack capacity.
    pub crowded: Vec<usize>,
    /// Pods that no place may take.
    pub refused: Vec<Refused>,
}

impl Assigned {
    /// Returns the demand without the pods that can be placed nowhere.
    #[must_use]
    pub fn open_demand(&self) -> Demand {
        let mut demand = self.demand.clone();
        for place in self.closed.iter().chain(&self.crowded) {
            demand.shapes[*place].pods.clear();
        }
        demand
    }

    /// Returns the pods that can be placed nowhere, with the indices of their shapes.
    pub fn closed_pods(&self) -> impl Iterator<Item = (usize, PodKey)> + '_ {
        let pods = |place: &usize| {
            let place = *place;
            self.demand.shapes[place].pods.iter().map(move |pod| (place, pod.clone()))
        };
        self.closed.iter().chain(&self.crowded).flat_map(pods)
    }

    /// Returns whether pods in groups were left without a place.
    #[must_use]
    pub fn leaves_over(&self) -> bool {
        !self.refused.is_empty() || !self.crowded.is_empty()
    }
}

/// Pods that rules between pods exclude from every place.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Their priority.
    pub priority: i32,
    /// The pods, sorted.
    pub pods: Vec<PodKey>,
    /// Why.
    pub miss: Miss,
    /// Whether they had a place until the final domain counts were known.
    pub was_placed: bool,
}

/// Groups unplaced pods by priority and reason.
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

/// Assigns pending pods to domains.
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

/// A shape whose pods are assigned.
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

    /// Returns the places that pods are assigned to, by their labels.
    fn pins(&self) -> Vec<Pin> {
        let mut pins: BTreeMap<&Values, Vec<(usize, usize)>> = BTreeMap::new();
        for (cell, given) in self.cells.iter().zip(&self.given).filter(|(_, given)| **given > 0) {
            pins.entry(&cell.values).or_default().push((cell.tier, *given));
        }
        let new = self.cells.iter().map(|cell| cell.tier).filter(|tier| *tier != THERE);
        let heaviest = new.min().unwrap_or(THERE);
        pins.into_iter().map(|(values, tiers)| Pin { values: values.clone(), tiers, heaviest }).collect()
    }

    /// Returns the number of zones in which it has places.
    fn zones(&self) -> usize {
        let zone = LabelKey::new(label::ZONE);
        self.cells.iter().map(|cell| self.domain(cell, &zone)).collect::<BTreeSet<_>>().len()
    }

    /// Returns the domain of a group in which all pods must be, if there is only one.
    fn only(&self, key: &LabelKey) -> Option<&std::sync::Arc<str>> {
        let first = self.domain(self.cells.first()?, key)?;
        self.cells.iter().all(|cell| self.domain(cell, key) == Some(first)).then_some(first)
    }

    /// Returns the domain of a label in a place.
    fn domain<'p>(&self, cell: &'p Cell, key: &LabelKey) -> Option<&'p std::sync::Arc<str>> {
        let place = self.keys.iter().position(|there| there == key)?;
        cell.values[place].as_ref()
    }
}

/// Returns how to treat nodes outside zones for pods of a shape, given its rules over zones.
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
    /// Maximum number of nodes of all pools together, if each has such a limit.
    nodes_max: Option<usize>,
    following: Following,
    /// Number of pods assigned to each zone.
    gathered: Gathered,
}

impl Round<'_> {
    /// Returns the domains to which pods certainly go that others must stay apart from.
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

    /// Returns whether others certainly keep pods out of a place, wherever pods with a choice go.
    fn is_kept_off(&self, part: &Part, cell: &Cell, sure: &Sure) -> bool {
        part.roles.iter().filter(|role| self.keeps_apart(role)).any(|role| {
            let key = &self.topology.groups[role.group].key;
            part.domain(cell, key).is_some_and(|domain| {
                let own = usize::from(part.only(key) == Some(domain));
                sure.keeps_off(*role, domain, self.census.tally(role.group, domain), own)
            })
        })
    }

    /// Records pods that must be near others, and where they can be.
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

    /// Registers the domains that pods of a spread may open. kube-scheduler counts a domain once it has a node: if
    /// there are more domains than allowed nodes, those that got no pod in an earlier round are left out.
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

    /// Assigns pods while some place may take them.
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

    /// Returns how many pods are assigned to a place in one step: all, if one does not affect the next.
    fn at_once(&self, part: &Part, place: usize) -> usize {
        let is_even = part.roles.iter().all(|role| match self.topology.groups[role.group].kind {
            GroupKind::Affinity | GroupKind::Volume(_) => true,
            GroupKind::Spread(_) | GroupKind::AntiAffinity => false,
        });
        let is_even = is_even && !self.following.is_led(&part.roles, &self.census);
        if is_even { part.left.min(self.cap(part, place) - part.given[place]) } else { 1 }
    }

    /// Returns the maximum number of pods in a place.
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

    /// Checks whether one more pod may be assigned to a place.
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

    /// Returns the rule that refuses the rest of a part. If none does, the rest only lacks capacity, in the returned
    /// places.
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
        // If no place can hold even one pod, the ordinary rules explain it better.
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

/// Returns pods of a shape, pinned to one place.
fn pinned(shape: &Shape, keys: &[LabelKey], values: &Values, pods: Vec<PodKey>) -> Shape {
    Shape { pods, ..within(shape, keys, &BTreeSet::from([values.clone()])) }
}

/// Returns the shape without pods, restricted to these places.
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
        // An alternative that does not agree is left out: joined with the pin it would mean "no such label".
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
