//! Warns about requirements that nothing in the region meets, with the nearest value, and about pools that allow arm64.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{CapacityType, ClassName, LabelKey, Requirement, Requirements, Zone, label};
use crate::policy::Policy;
use crate::solve::demand::{Demand, Shape};
use crate::solve::fit::taints;
use crate::solve::market::Market;
use crate::solve::report::{contradictions, meant};
use crate::solve::solution::Warning;
use crate::solve::supply::{PoolSupply, Supply, blame, emptied};

/// All values in the region of the labels that the input mentions.
#[derive(Debug, Default)]
pub struct Known {
    values: BTreeMap<LabelKey, BTreeSet<Arc<str>>>,
    /// Labels for which some size accepts any value, so no value is wrong.
    boundless: BTreeSet<LabelKey>,
}

impl Known {
    /// Collects the values of all instance types, whether they are available now or not.
    #[must_use]
    pub fn of(market: &Market) -> Self {
        let mut known = Self::default();
        // Few labels are mentioned, but a size has thirty.
        let names = meant::NAMES.map(LabelKey::new);
        let spoken_of: BTreeSet<&LabelKey> = market.spoken_of.iter().chain(&names).collect();
        // There are many offerings but few zones.
        let mut zones = BTreeSet::new();
        let mut read: BTreeMap<(&Zone, CapacityType), Vec<&Requirements>> = BTreeMap::new();
        // Types that only a class rules out count as well: the region has them.
        let offered = market.offers.by_class.values();
        for kind in offered.flat_map(|offered| offered.types.iter().chain(&offered.unsuited)) {
            known.add_all(&kind.requirements, &spoken_of);
            for offering in &kind.offerings {
                let read = read.entry((&offering.zone, offering.capacity_type)).or_default();
                if !read.contains(&&offering.requirements) {
                    read.push(&offering.requirements);
                    known.add_all(&offering.requirements, &spoken_of);
                }
                zones.insert(offering.zone.as_str());
            }
        }
        let types = [CapacityType::OnDemand, CapacityType::Spot].map(|kind| Arc::from(kind.as_str()));
        known.values.entry(LabelKey::new(label::CAPACITY_TYPE)).or_default().extend(types);
        if !zones.is_empty() {
            let zones = zones.into_iter().map(Arc::from);
            known.values.entry(LabelKey::new(label::ZONE)).or_default().extend(zones);
        }
        known
    }

    fn add_all(&mut self, requirements: &Requirements, spoken_of: &BTreeSet<&LabelKey>) {
        for key in spoken_of {
            let Some(requirement) = requirements.get(key.as_str()) else { continue };
            let Some(values) = requirement.listed() else {
                self.boundless.insert((*key).clone());
                continue;
            };
            let known = self.values.entry((*key).clone()).or_default();
            for value in values.iter() {
                if !known.contains(value) {
                    known.insert(value.clone());
                }
            }
        }
    }

    /// Describes why no value in the region meets a requirement, with a hint. Returns `None` if some value meets it, or
    /// if sizes do not have this label.
    #[must_use]
    pub fn fault(&self, key: &LabelKey, wanted: &Requirement) -> Option<(String, Option<String>)> {
        let values = self.values.get(key).filter(|_| !self.boundless.contains(key))?;
        if wanted.accepts_absence() || values.iter().any(|value| wanted.accepts(value)) {
            return None;
        }
        if key.as_str() == label::ULTRA_SSD {
            let what = format!("`{key}` {wanted}: no size is known here to be so");
            return Some((what, Some(ULTRA_SSD_UNKNOWN.to_owned())));
        }
        if values.is_empty() {
            let what = format!("`{key}` {wanted}: no size has this label");
            return Some((what, emptied::giver(key).map(str::to_owned)));
        }
        let what = format!("`{key}` {wanted}: nothing in the region has such a value");
        let mut texts = wanted.listed().into_iter().flatten();
        let meant = texts.find_map(|value| meant::hint(key, value, &self.values));
        let hint = match (meant, emptied::beyond(wanted, values)) {
            (None, _) if is_for_reserved(key, wanted) => RESERVED.to_owned(),
            (_, None) if let Some(near) = emptied::nearest_numbers(wanted, values) => near,
            (Some(meant), _) => meant,
            (None, Some(bound)) => bound,
            (None, None) => blame::instead((key, wanted), values).unwrap_or_default(),
        };
        Some((what, Some(hint)))
    }
}

/// Hint for `reserved` capacity, which is not sold.
const RESERVED: &str = "AKS has no `reserved` capacity for Karpenter: ask for `on-demand`, and say what reservations cost \
                        with `spec.prices.commitments` of a NodeFleet";

/// Hint for ultra disks: only Azure's own answer lists which sizes support them.
const ULTRA_SSD_UNKNOWN: &str = "the embedded catalogue does not know which sizes take ultra disks: give `--catalog` Azure's own \
                                 answer, as `az vm list-skus -l REGION -o json` prints it";

/// Returns whether reserved capacity is requested.
fn is_for_reserved(key: &LabelKey, wanted: &Requirement) -> bool {
    key.as_str() == label::CAPACITY_TYPE && wanted.accepts(CapacityType::Reserved.as_str())
}

/// Returns every warning, sorted.
#[must_use]
pub fn all(
    policy: &Policy,
    (market, known): (&Market, &Known),
    (demands, supply): (&[&Demand], &Supply<'_>),
) -> Vec<Warning> {
    let mut warnings = unmet(policy, (market, known), demands);
    warnings.extend(without_sizes(supply, &warnings));
    warnings.extend(contradictions::unknown_names(policy, market));
    warnings.extend(contradictions::of_pools(policy));
    warnings.extend(open_to_arm64(supply, demands));
    warnings.extend(market.caution.warnings(supply));
    let of_demands = demands.iter().flat_map(|demand| &demand.warnings);
    let more = supply.warnings.iter().chain(of_demands).chain(&market.offers.overlaid.warnings);
    warnings.extend(more.cloned());
    warnings.into_iter().collect()
}

/// Warns about pools whose requirements leave no size, if no other warning explains it.
fn without_sizes(supply: &Supply<'_>, said: &BTreeSet<Warning>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for pool in &supply.pools {
        let object = format!("pool `{}`", pool.pool.name);
        if let Some(miss) = &pool.emptied
            && !said.iter().any(|warning| warning.object == object && warning.hint.is_some())
        {
            let hint = "`nodeform catalog` lists what the region has".to_owned();
            warnings.push(Warning { object, what: miss.because.clone(), hint: Some(hint) });
        }
    }
    warnings
}

/// Explains a requirement on the OS SKU: the class decides it, not the region.
fn of_image(class: &ClassName, (key, wanted): (&LabelKey, &Requirement)) -> Option<(String, Option<String>)> {
    if key.as_str() != label::OS_SKU {
        return None;
    }
    let what = format!("`{key}` {wanted} contradicts `spec.imageFamily` of AKSNodeClass `{class}`");
    Some((what, Some("change one of them: the image decides this label of a node".to_owned())))
}

/// Warns about pools and pods that request what the region does not have.
#[must_use]
pub fn unmet(policy: &Policy, (market, known): (&Market, &Known), demands: &[&Demand]) -> BTreeSet<Warning> {
    let mut warnings = BTreeSet::new();
    for (name, pool) in &policy.pools {
        let base = pool.node_requirements();
        let types = market.offered_to(pool).map_or(&[][..], |offered| &offered.types);
        for (key, requirement) in base.iter() {
            if let Some((what, hint)) = known.fault(key, requirement) {
                // A number that the region has may not meet the pool's other requirements.
                let hint = emptied::nearest_left((key, requirement), &base, types).or(hint);
                let (what, hint) = of_image(&pool.class, (key, requirement)).unwrap_or((what, hint));
                warnings.insert(Warning { object: format!("pool `{name}`"), what, hint });
            }
        }
    }
    let mut by_fault: BTreeMap<(String, Option<String>), Vec<&Shape>> = BTreeMap::new();
    for shape in demands.iter().flat_map(|demand| &demand.shapes) {
        let asked = shape.ask.alternatives.iter().flat_map(Requirements::iter);
        let faults: BTreeSet<_> = asked.filter_map(|(key, wanted)| known.fault(key, wanted)).collect();
        for fault in faults {
            by_fault.entry(fault).or_default().push(shape);
        }
    }
    for ((what, hint), shapes) in by_fault {
        let pods: usize = shapes.iter().map(|shape| shape.pods.len()).sum();
        let first = shapes.iter().filter_map(|shape| shape.pods.first()).min();
        let Some(first) = first else { continue };
        let more = if pods > 1 { format!(" and {} more", pods - 1) } else { String::new() };
        warnings.insert(Warning { object: format!("pod `{first}`{more}"), what, hint });
    }
    warnings
}

/// Warns about pools that may buy arm64 for pods that do not declare arm64 support.
#[must_use]
pub fn open_to_arm64(supply: &Supply<'_>, demands: &[&Demand]) -> Vec<Warning> {
    let is_open = |pool: &&PoolSupply<'_>| {
        pool.kinds.iter().any(|kind| {
            let arch = kind.kind.requirements.get(label::ARCH).and_then(Requirement::single);
            arch.is_some_and(|arch| &**arch == "arm64")
        })
    };
    let mut warnings = Vec::new();
    for pool in supply.pools.iter().filter(is_open) {
        let pods: usize = demands
            .iter()
            .flat_map(|demand| &demand.shapes)
            .filter(|shape| is_silent_about_arch(pool, shape))
            .map(|shape| shape.pods.len())
            .sum();
        if pods > 0 {
            let silent = if pods == 1 { "1 pod does" } else { &format!("{pods} pods do") };
            let what = format!("allows arm64, but {silent} not declare arm64 support");
            let hint = format!(
                "if their images are for amd64 only, add the requirement `{}` In [amd64] to the pool",
                label::ARCH
            );
            warnings.push(Warning { object: format!("pool `{}`", pool.pool.name), what, hint: Some(hint) });
        }
    }
    warnings
}

/// Returns whether pods of the shape may be placed on the pool's arm64 sizes without declaring support.
fn is_silent_about_arch(pool: &PoolSupply<'_>, shape: &Shape) -> bool {
    let silent = |wanted: &&Requirements| wanted.get(label::ARCH).is_none() && pool.reach(wanted).is_some();
    taints::why(&pool.pool.taints, &shape.ask.stance).is_ok()
        && shape.ask.alternatives.iter().any(|wanted| silent(&wanted))
}
