//! Prices of the catalogue and the fleet, calculated again; an unknown price is never a number.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::case::Case;
use super::finding::{Finding, Rule};
use super::made::Made;
use crate::model::{
    CapacityType, Commitment, InstanceType, MicroUsdPerHour, Node, Offering, OsDisk, Price, SkuName, label,
};

/// Returns the new nodes with a wrong price, and commitments that are used more often than they exist.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut committed: BTreeMap<&SkuName, usize> = BTreeMap::new();
    for made in &case.made {
        let Some((_, size, offering)) = case.bought(made) else { continue };
        let mut object = |why: String| found.push(Finding::new(Rule::Price, made.title(), why));
        let (list, effective) = (list_price(size, offering), effective_price(case, size, offering));
        if made.placement.list_price != list {
            object(format!("has list price {}, it is {}", show(made.placement.list_price), show(list)));
        }
        if made.placement.effective_price == effective {
            continue;
        }
        if committed_prices(case, size, offering).contains(&made.placement.effective_price) {
            *committed.entry(made.size).or_default() += 1;
        } else {
            object(format!(
                "costs the user {}, not {}",
                show(made.placement.effective_price),
                show(effective)
            ));
        }
    }
    for (size, used) in committed {
        let free = free_commitments(case, size);
        if used > free {
            let message = format!("{used} new nodes are paid by commitments, of which {free} are free");
            found.push(Finding::new(Rule::Price, format!("size `{size}`"), message));
        }
    }
    found
}

fn show(price: Price) -> String {
    match price {
        Price::Listed(amount) => show_rate(amount),
        Price::Estimated(amount) => format!("about {}", show_rate(amount)),
        Price::Unknown => "unknown".to_owned(),
    }
}

/// Formats an exact rate in dollars: with cents, and further digits only if needed.
pub(super) fn show_rate(rate: MicroUsdPerHour) -> String {
    let amount = rate.0.unsigned_abs();
    let fraction = format!("{:06}", amount % 1_000_000);
    let (cents, beyond) = fraction.split_at(2);
    let sign = if rate.0 < 0 { "-" } else { "" };
    format!("{sign}${}.{cents}{} an hour", amount / 1_000_000, beyond.trim_end_matches('0'))
}

/// Returns the price of VM and managed OS disk.
fn list_price(size: &InstanceType, offering: &Offering) -> Price {
    add(offering.price, disk_price(size))
}

pub(super) fn disk_price(size: &InstanceType) -> Price {
    match &size.os_disk {
        OsDisk::Ephemeral => Price::Listed(MicroUsdPerHour(0)),
        OsDisk::Managed(price) => *price,
    }
}

/// Returns the price of the discounted VM, the managed OS disk and the fixed cost per node.
pub(super) fn effective_price(case: &Case<'_>, size: &InstanceType, offering: &Offering) -> Price {
    let vm = match (offering.capacity_type, offering.price) {
        (CapacityType::OnDemand, Price::Listed(amount)) => Price::Listed(discounted(case, size, amount)),
        (CapacityType::OnDemand, Price::Estimated(amount)) => {
            Price::Estimated(discounted(case, size, amount))
        }
        (CapacityType::Spot | CapacityType::Reserved, price) | (_, price @ Price::Unknown) => price,
    };
    with_costs(case, vm, disk_price(size))
}

/// Adds the disk and the fixed cost per node.
pub(super) fn with_costs(case: &Case<'_>, vm: Price, disk: Price) -> Price {
    add(add(vm, disk), Price::Listed(case.policy.fleet.prices.cost_per_node))
}

pub(super) fn add(one: Price, two: Price) -> Price {
    match (one, two) {
        (Price::Unknown, _) | (_, Price::Unknown) => Price::Unknown,
        (Price::Listed(one), Price::Listed(two)) => Price::Listed(one + two),
        (Price::Listed(one) | Price::Estimated(one), Price::Listed(two) | Price::Estimated(two)) => {
            Price::Estimated(one + two)
        }
    }
}

/// Applies the discount of the size's series, or else of its family; the largest of several. Rounds half up to a
/// millionth of a dollar.
pub(super) fn discounted(case: &Case<'_>, size: &InstanceType, amount: MicroUsdPerHour) -> MicroUsdPerHour {
    let percent_of = |key: &str| {
        let name = plain(size.requirements.get(key)?.single()?);
        let discounts = case.policy.fleet.prices.discounts.iter();
        discounts.filter(|discount| plain(&discount.family) == name).map(|discount| discount.percent).max()
    };
    let percent =
        percent_of(label::SKU_SERIES).or_else(|| percent_of(label::SKU_FAMILY)).unwrap_or(0).min(100);
    let left = i128::from(100 - percent) * i128::from(amount.0);
    let rounded = (left + 50).div_euclid(100);
    MicroUsdPerHour(i64::try_from(rounded).unwrap_or(i64::MAX))
}

/// Normalizes a series name: `Dsv5` and `Ds_v5` are the same series.
fn plain(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

fn commitments<'a>(case: &Case<'a>, size: &SkuName) -> impl Iterator<Item = &'a Commitment> {
    let policy = case.policy;
    policy.fleet.prices.commitments.iter().filter(move |commitment| commitment.size == *size)
}

/// Returns the possible prices of a node of this offering if a commitment pays for its VM.
fn committed_prices(case: &Case<'_>, size: &InstanceType, offering: &Offering) -> Vec<Price> {
    if offering.capacity_type != CapacityType::OnDemand {
        return Vec::new();
    }
    commitments(case, &size.name)
        .map(|commitment| with_costs(case, Price::Listed(commitment.price), disk_price(size)))
        .collect()
}

/// Returns how many committed VMs of a size are not used by nodes that stay.
fn free_commitments(case: &Case<'_>, size: &SkuName) -> usize {
    let count: u64 = commitments(case, size).map(|commitment| u64::from(commitment.count)).sum();
    let uses = |node: &&Node| {
        case.stays(node)
            && bought_as(case, node).is_some_and(|(known, offering)| {
                known.name == *size && offering.capacity_type == CapacityType::OnDemand
            })
    };
    let used = case.snapshot.nodes.iter().filter(uses).count();
    usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(used)
}

/// Returns the lowest price that an existing node can have, by its labels: a commitment may pay for it.
pub(super) fn least_price(case: &Case<'_>, node: &Node) -> Option<MicroUsdPerHour> {
    let (size, offering) = bought_as(case, node)?;
    let own = case.offered_to_node(node);
    let has_own = own.is_some_and(|offered| offered.types.iter().any(|own| own.name == size.name));
    let assumed = || OsDisk::Managed(case.snapshot.catalog.assumed_os_disk(&size.name));
    let os_disk = if has_own { size.os_disk.clone() } else { assumed() };
    let size = &InstanceType { os_disk, ..size.clone() };
    let plain = effective_price(case, size, offering);
    committed_prices(case, size, offering).into_iter().chain([plain]).filter_map(Price::known).min()
}

/// Returns the list price of an existing node's VM, by its labels.
pub(super) fn vm_price(case: &Case<'_>, node: &Node) -> Option<MicroUsdPerHour> {
    bought_as(case, node)?.1.price.known()
}

/// Returns the offering of an existing node; prices without overlays are the same in all zones.
fn bought_as<'c>(case: &'c Case<'_>, node: &Node) -> Option<(&'c InstanceType, &'c Offering)> {
    let value = |key: &str| node.labels.get(key).map(|value| &**value);
    let size = find_size(case, value(label::INSTANCE_TYPE)?, node)?;
    let capacity_type = match (value(label::CAPACITY_TYPE), value(label::AKS_SCALE_SET_PRIORITY)) {
        (Some(text), _) => CapacityType::parse(text)?,
        (None, Some("spot")) => CapacityType::Spot,
        (None, _) => CapacityType::OnDemand,
    };
    let zone = value(label::ZONE).unwrap_or("0");
    let alike = || size.offerings.iter().filter(|offering| offering.capacity_type == capacity_type);
    let offering = alike().find(|offering| offering.zone.as_str() == zone).or_else(|| alike().next())?;
    Some((size, offering))
}

fn find_size<'c>(case: &'c Case<'_>, name: &str, node: &Node) -> Option<&'c InstanceType> {
    let own = case.offered_to_node(node);
    let mut all =
        own.into_iter().chain(case.offered.values().map(Arc::as_ref)).flat_map(|offered| &offered.types);
    all.find(|size| size.name.as_str() == name)
}

/// Returns the effective price that the plan states for a new node.
pub(super) fn said_price(made: &Made<'_>) -> Price {
    made.placement.effective_price
}
