//! The rules that a pool checks for a pod, in order, with the number of sizes left after each.

use std::collections::BTreeMap;

use crate::model::{MinValuesPolicy, PoolName, SkuName};
use crate::solve::demand::Ask;
use crate::solve::existing::Standing;
use crate::solve::fit::limits::{self, Charges, Ledger};
use crate::solve::fit::{Miss, Rule, labels, ports, resources, taints, variety};
use crate::solve::intern::Bits;
use crate::solve::ledger;
use crate::solve::supply::reach::Reach;
use crate::solve::supply::{Kind, PoolSupply, Usable, blame};

use super::{quota, together};

/// A checked rule and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The rule.
    pub rule: Rule,
    /// Number of sizes of the pool that are left after it.
    pub sizes_left: usize,
    /// Why none is left; `None` if the rule lets the pod pass.
    pub because: Option<String>,
}

/// Result of checking a pod against a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolChain {
    /// The pool.
    pub pool: PoolName,
    /// The checked rules, up to the first that left nothing.
    pub steps: Vec<Step>,
    /// Whether the pool's taints and own labels allow the pod.
    pub may_join: bool,
    /// The rule that failed; `None` if a node of the pool could hold the pod.
    pub miss: Option<Miss>,
    /// The size that came closest, or the cheapest one that fits.
    pub nearest: Option<SkuName>,
}

/// A size, by index, with one of its offerings.
type Way<'p, 'a> = (usize, &'p Kind<'a>, &'p Usable<'a>);

/// Checks all rules of a pool, given the remaining limits and the existing nodes.
#[must_use]
pub fn at_pool(pool: &PoolSupply<'_>, ask: &Ask, (ledger, nodes): (&Ledger, &[Standing<'_>])) -> PoolChain {
    let mut walk = Walk { steps: Vec::new(), may_join: false, nearest: None };
    let miss = walk.all(pool, ask, (ledger, nodes)).err();
    let Walk { steps, may_join, nearest } = walk;
    PoolChain { pool: pool.pool.name.clone(), steps, may_join, miss, nearest }
}

struct Walk {
    steps: Vec<Step>,
    may_join: bool,
    nearest: Option<SkuName>,
}

impl Walk {
    fn all(
        &mut self,
        pool: &PoolSupply<'_>,
        ask: &Ask,
        (ledger, nodes): (&Ledger, &[Standing<'_>]),
    ) -> Result<(), Miss> {
        // Checks the pod's own taints and labels first: a pool with a fault of its own is nearer than one that the pod
        // may not join.
        let every = if pool.emptied.is_some() { pool.left_out.len() } else { pool.kinds.len() };
        self.step(Rule::Taints, every, taints::why(&pool.pool.taints, &ask.stance))?;
        if let Err(miss) = labels::why(&ask.alternatives, &pool.base, &pool.undefined()) {
            return self.failed(miss);
        }
        self.may_join = true;
        if let Some(miss) = &pool.emptied {
            self.step(Rule::NodeAffinity, every, Ok(()))?;
            return self.failed(miss.clone());
        }
        let ways = self.reached(pool, ask)?;
        let ways = self.named(pool, ask, ways)?;
        let ways = self.with_ports(pool, ask, ways)?;
        let ways = self.with_room(pool, ask, ways)?;
        let ways = self.with_company(pool, (ask, nodes), ways)?;
        self.with_variety(pool, &ways)?;
        self.within_limits((pool, ask), ways, ledger)
    }

    fn step(&mut self, rule: Rule, sizes: usize, answer: Result<(), Miss>) -> Result<(), Miss> {
        match answer {
            Ok(()) => {
                self.steps.push(Step { rule, sizes_left: sizes, because: None });
                Ok(())
            }
            Err(miss) => self.failed(miss),
        }
    }

    fn failed<T>(&mut self, miss: Miss) -> Result<T, Miss> {
        let (rule, because) = (miss.rule.clone(), Some(miss.because.clone()));
        self.steps.push(Step { rule, sizes_left: 0, because });
        Err(miss)
    }

    /// Checks the labels of sizes and offerings.
    fn reached<'p, 'a>(&mut self, pool: &'p PoolSupply<'a>, ask: &Ask) -> Result<Vec<Way<'p, 'a>>, Miss> {
        let reaches: Vec<Reach> = ask.alternatives.iter().filter_map(|wanted| pool.reach(wanted)).collect();
        let of_size = |(place, _, _): &Way<'p, 'a>| reaches.iter().any(|reach| reach.kinds.has(*place));
        let of_offering = |(place, _, usable): &Way<'p, 'a>| {
            reaches.iter().any(|reach| reach.kinds.has(*place) && reach.placements.has(usable.placement))
        };
        let by_size: Vec<Way<'p, 'a>> = ways(pool).into_iter().filter(of_size).collect();
        let left: Vec<Way<'p, 'a>> = by_size.iter().copied().filter(of_offering).collect();
        if !left.is_empty() {
            self.step(Rule::NodeAffinity, sizes(&by_size), Ok(()))?;
            self.step(Rule::Zone, sizes(&left), Ok(()))?;
            return Ok(left);
        }
        let misses = ask.alternatives.iter().filter_map(|wanted| blame::pod_at_pool(pool, wanted));
        let miss = misses.min_by_key(Miss::distance).unwrap_or_else(|| {
            Miss::new(Rule::NodeAffinity, "no size of the pool meets all requirements together".to_owned())
        });
        if miss.rule != Rule::NodeAffinity && !by_size.is_empty() {
            self.step(Rule::NodeAffinity, sizes(&by_size), Ok(()))?;
        }
        self.failed(miss)
    }

    fn named<'p, 'a>(
        &mut self,
        pool: &'p PoolSupply<'a>,
        ask: &Ask,
        ways: Vec<Way<'p, 'a>>,
    ) -> Result<Vec<Way<'p, 'a>>, Miss> {
        let unnamed: Vec<Bits> = ask.alternatives.iter().map(|wanted| pool.unnamed(wanted)).collect();
        let (named, rest): (Vec<_>, Vec<_>) =
            ways.into_iter().partition(|(place, _, _)| unnamed.iter().any(|bits| !bits.has(*place)));
        if !named.is_empty() {
            self.step(Rule::NamedFamily, sizes(&named), Ok(()))?;
            return Ok(named);
        }
        self.nearest = rest.first().map(|(_, kind, _)| kind.kind.name.clone());
        let because = "only burstable (B) or HPC (H) sizes are left, which are used only where a requirement \
                       names their family";
        self.failed(Miss::new(Rule::NamedFamily, because.to_owned()))
    }

    fn with_ports<'p, 'a>(
        &mut self,
        pool: &'p PoolSupply<'a>,
        ask: &Ask,
        ways: Vec<Way<'p, 'a>>,
    ) -> Result<Vec<Way<'p, 'a>>, Miss> {
        let why = |(_, _, usable): &Way<'p, 'a>| {
            ports::why(&ask.host_ports, &pool.overheads[usable.overhead].ports)
        };
        let miss = ways.first().map(why);
        let free: Vec<Way<'p, 'a>> = ways.into_iter().filter(|way| why(way).is_ok()).collect();
        match miss {
            Some(Err(miss)) if free.is_empty() => {
                let because = format!("{} by a daemonset", miss.because);
                self.failed(Miss { because, ..miss })
            }
            Some(_) | None => {
                self.step(Rule::HostPorts, sizes(&free), Ok(()))?;
                Ok(free)
            }
        }
    }

    fn with_room<'p, 'a>(
        &mut self,
        pool: &'p PoolSupply<'a>,
        ask: &Ask,
        ways: Vec<Way<'p, 'a>>,
    ) -> Result<Vec<Way<'p, 'a>>, Miss> {
        let mut nearest: Option<(Miss, SkuName)> = None;
        let mut fitting = Vec::new();
        for way in ways {
            let overhead = &pool.overheads[way.2.overhead].requests;
            match resources::why(&ask.requests, &way.1.kind.allocatable.minus(overhead)) {
                Ok(()) => fitting.push(way),
                Err(miss) => {
                    let name = &way.1.kind.name;
                    let is_nearer = nearest
                        .as_ref()
                        .is_none_or(|(there, size)| (miss.short_by, name) < (there.short_by, size));
                    if is_nearer {
                        nearest = Some((miss, name.clone()));
                    }
                }
            }
        }
        match nearest {
            Some((miss, size)) if fitting.is_empty() => {
                self.nearest = Some(size);
                self.failed(miss)
            }
            Some(_) | None => {
                self.step(Rule::Resource(crate::model::ResourceName::Cpu), sizes(&fitting), Ok(()))?;
                Ok(fitting)
            }
        }
    }

    /// Checks rules between pods on one node against the DaemonSet pods that every node of the pool carries.
    fn with_company<'p, 'a>(
        &mut self,
        pool: &'p PoolSupply<'a>,
        (ask, nodes): (&Ask, &[Standing<'_>]),
        ways: Vec<Way<'p, 'a>>,
    ) -> Result<Vec<Way<'p, 'a>>, Miss> {
        if ask.company.is_empty() {
            return Ok(ways);
        }
        let mut asked: BTreeMap<usize, Result<(), Miss>> = BTreeMap::new();
        for (_, _, usable) in &ways {
            let company = &pool.overheads[usable.overhead].company;
            asked.entry(usable.overhead).or_insert_with(|| together::why(ask, company, nodes));
        }
        let first = asked.values().next().cloned();
        let left: Vec<Way<'p, 'a>> =
            ways.into_iter().filter(|(_, _, usable)| asked[&usable.overhead].is_ok()).collect();
        match first {
            Some(Err(miss)) if left.is_empty() => self.failed(miss),
            Some(_) | None => Ok(left),
        }
    }

    fn with_variety(&mut self, pool: &PoolSupply<'_>, ways: &[Way<'_, '_>]) -> Result<(), Miss> {
        if pool.variety.is_empty() || pool.min_values_policy == MinValuesPolicy::BestEffort {
            return Ok(());
        }
        self.nearest = None;
        let counts = variety::counts(&pool.variety, counted(ways));
        self.step(Rule::MinValues, sizes(ways), variety::why(&pool.variety, &counts))
    }

    fn within_limits(
        &mut self,
        (pool, ask): (&PoolSupply<'_>, &Ask),
        ways: Vec<Way<'_, '_>>,
        ledger: &Ledger,
    ) -> Result<(), Miss> {
        let mut ways = ways;
        ways.sort_by_key(|(_, kind, usable)| {
            let price = usable.quote.effective.known();
            (price.is_none(), price, kind.kind.name.clone(), usable.offering.zone.clone())
        });
        let charges = |(_, kind, usable): &Way<'_, '_>| ledger::charges(ledger, pool.pool, usable.vm(kind));
        let charges: Vec<Charges> = ways.iter().map(charges).collect();
        let both = || ways.iter().zip(&charges);
        let left: Vec<Way<'_, '_>> =
            both().filter(|(_, charges)| limits::why(ledger, charges).is_ok()).map(|(way, _)| *way).collect();
        if let Some((_, cheapest, _)) = left.first() {
            self.nearest = Some(cheapest.kind.name.clone());
            return self.step(Rule::Limits, sizes(&left), Ok(()));
        }
        let most = most(&charges);
        // The first of equals is the cheapest.
        let closest = both().min_by_key(|(_, charges)| {
            (ledger.has_no_quota(charges), limits::excess(ledger, charges, &most))
        });
        let Some(((_, kind, usable), charges)) = closest else { return Ok(()) };
        self.nearest = Some(kind.kind.name.clone());
        let mut why = limits::why(ledger, charges);
        if let Some(miss) = why.as_mut().err().filter(|_| ledger.lacks_quota(charges)) {
            let ways: Vec<_> = ways.iter().map(|(_, kind, usable)| (*kind, *usable)).collect();
            let next = quota::next_best(pool, ask, (&ways, &usable.vm(kind)), ledger);
            miss.because.extend(next.map(|next| format!("; {next}")));
        }
        self.step(Rule::Limits, 0, why)
    }
}

/// Returns the offerings that count as choices for a node. If any has a price, those without do not count, because no
/// highest price could be stated for them.
fn counted<'p>(
    ways: &'p [Way<'_, '_>],
) -> impl Iterator<Item = (&'p crate::model::InstanceType, &'p crate::model::Offering)> + Clone {
    let is_priced = |(_, _, usable): &Way<'_, '_>| usable.quote.effective.known().is_some();
    let has_price = ways.iter().any(is_priced);
    let counted = ways.iter().filter(move |way| !has_price || is_priced(way));
    counted.map(|(_, kind, usable)| (kind.kind, usable.offering))
}

/// Returns the largest known amount that any of these charges takes of each counter.
fn most(charges: &[Charges]) -> BTreeMap<usize, i64> {
    let mut most = BTreeMap::new();
    for (place, amount) in charges.iter().flatten().filter(|(_, amount)| *amount < i64::MAX) {
        let there = most.entry(*place).or_insert(*amount);
        *there = (*there).max(*amount);
    }
    most
}

fn ways<'p, 'a>(pool: &'p PoolSupply<'a>) -> Vec<Way<'p, 'a>> {
    let of =
        |(place, kind): (usize, &'p Kind<'a>)| kind.offerings.iter().map(move |usable| (place, kind, usable));
    pool.kinds.iter().enumerate().flat_map(of).collect()
}

fn sizes(ways: &[Way<'_, '_>]) -> usize {
    let mut places: Vec<usize> = ways.iter().map(|(place, _, _)| *place).collect();
    places.sort_unstable();
    places.dedup();
    places.len()
}
