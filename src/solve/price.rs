//! Node prices: list price, and effective price for the user.
//!
//! List: the VM and its managed OS disk. User: the VM after discounts, or at a commitment's price, the disk and
//! `costPerNode`. Unknown prices stay unknown and never count as zero.

use std::collections::BTreeMap;

use crate::model::{
    CapacityType, Commitment, InstanceType, LabelKey, MicroUsdPerHour, Node, Offering, Price, Prices,
    SkuName, label,
};

use super::market::Market;
use super::solution::Cost;

/// Hourly price of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    /// List price.
    pub list: Price,
    /// Effective price for the user.
    pub effective: Price,
}

/// The user's prices, prepared for lookup.
#[derive(Clone, Debug)]
pub struct PriceBook<'a> {
    prices: &'a Prices,
    /// Commitments in the order of their use: by size, the cheapest first.
    commitments: Vec<&'a Commitment>,
}

impl<'a> PriceBook<'a> {
    /// Sorts the commitments.
    #[must_use]
    pub fn new(prices: &'a Prices) -> Self {
        let mut commitments: Vec<&Commitment> = prices.commitments.iter().collect();
        commitments.sort_by_key(|commitment| (&commitment.size, commitment.price, commitment.count));
        Self { prices, commitments }
    }

    /// Returns the commitments in the order of their use.
    #[must_use]
    pub fn commitments(&self) -> &[&'a Commitment] {
        &self.commitments
    }

    /// Returns the price of a node of this offering without a commitment.
    #[must_use]
    pub fn quote(&self, kind: &InstanceType, offering: &Offering) -> Quote {
        self.total(offering.price, offering.capacity_type, (Some(kind), kind.os_disk.price()))
    }

    /// Returns the price of a VM at this price with its disk; without a size no discount applies.
    fn total(
        &self,
        vm: Price,
        capacity_type: CapacityType,
        (kind, disk): (Option<&InstanceType>, Price),
    ) -> Quote {
        let percent = kind.map_or(0, |kind| self.discount(kind).min(100));
        let discounted = match capacity_type {
            CapacityType::OnDemand => vm.map(|price| price.percent(100 - i64::from(percent))),
            CapacityType::Spot | CapacityType::Reserved => vm,
        };
        let beside = disk.plus(Price::Listed(self.prices.cost_per_node));
        Quote { list: vm.plus(disk), effective: discounted.plus(beside) }
    }

    /// Returns the price of a node whose VM a commitment pays for.
    #[must_use]
    pub fn committed(&self, kind: &InstanceType, offering: &Offering, commitment: &Commitment) -> Quote {
        let effective = Price::Listed(commitment.price).plus(self.beside_vm(kind));
        Quote { list: offering.price.plus(kind.os_disk.price()), effective }
    }

    /// Returns the price of a node beside its VM: the managed OS disk and `costPerNode`.
    #[must_use]
    pub fn beside_vm(&self, kind: &InstanceType) -> Price {
        kind.os_disk.price().plus(Price::Listed(self.prices.cost_per_node))
    }

    /// Returns the discount in percent: of the size's series, else of its family.
    fn discount(&self, kind: &InstanceType) -> u32 {
        let value = |key: &str| {
            let found = kind.requirements.get(key).and_then(|requirement| requirement.single());
            found.map(|value| folded(value))
        };
        let (series, family) = (value(label::SKU_SERIES), value(label::SKU_FAMILY));
        let of = |name: Option<String>| {
            let named = name?;
            let discounts = self.prices.discounts.iter();
            discounts.filter(|discount| folded(&discount.family) == named).map(|d| d.percent).max()
        };
        of(series).or_else(|| of(family)).unwrap_or(0)
    }
}

/// Normalizes a series for comparison: `Dsv5` and `Ds_v5` are the same.
pub(super) fn folded(name: &str) -> String {
    name.chars().filter(|letter| *letter != '_').flat_map(char::to_lowercase).collect()
}

/// Number of unused VMs of each commitment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncommitted(pub Vec<u32>);

impl Uncommitted {
    /// Returns all commitments as unused.
    #[must_use]
    pub fn all(book: &PriceBook<'_>) -> Self {
        Self(book.commitments.iter().map(|commitment| commitment.count).collect())
    }

    /// Uses one VM of the first commitment that has one of this size left.
    fn use_one(
        &mut self,
        book: &PriceBook<'_>,
        (size, capacity_type): &(SkuName, CapacityType),
    ) -> Option<usize> {
        if *capacity_type != CapacityType::OnDemand {
            return None;
        }
        let mut unused = book.commitments.iter().zip(&self.0);
        let place = unused.position(|(commitment, left)| *left > 0 && commitment.size == *size)?;
        self.0[place] -= 1;
        Some(place)
    }
}

/// Returns the prices of these nodes, by their labels; commitments are used in the order of the nodes. If a node's
/// AKSNodeClass is not in the input, or does not allow the node's size, the disk of a class with default settings is
/// assumed, as an estimate.
#[must_use]
pub fn quote_nodes<'n>(
    nodes: impl IntoIterator<Item = &'n Node>,
    market: &Market,
    book: &PriceBook<'_>,
) -> (Vec<Option<Quote>>, Uncommitted) {
    let mut left = Uncommitted::all(book);
    let mut sizes: BTreeMap<_, Sizes<'_>> = BTreeMap::new();
    let quotes = nodes.into_iter().map(|node| {
        let bought = bought_as(node)?;
        let committed = left.use_one(book, &bought).map(|place| book.commitments[place]);
        // Many nodes have the same size.
        let sizes = sizes.entry((node.class.as_ref(), node.pool.as_ref(), bought.0.clone()));
        let sizes =
            *sizes.or_insert_with(|| (market.find(&bought.0, node), market.find_own(&bought.0, node)));
        quote_node((node, sizes), bought, market, book, committed)
    });
    (quotes.collect(), left)
}

/// Instance type of a node: as offered to any class, and to the node's own.
type Sizes<'m> = (Option<&'m InstanceType>, Option<&'m InstanceType>);

fn quote_node(
    (node, (kind, own)): (&Node, Sizes<'_>),
    bought: (SkuName, CapacityType),
    market: &Market,
    book: &PriceBook<'_>,
    committed: Option<&Commitment>,
) -> Option<Quote> {
    let (size, capacity_type) = &bought;
    let vm = vm_price(node, kind, &bought, market)?;
    let assumed = || market.disks.get(size).copied().unwrap_or(Price::Unknown);
    let disk = own.map_or_else(assumed, |kind| kind.os_disk.price());
    let quote = book.total(vm, *capacity_type, (kind, disk));
    let effective = committed.map(|commitment| {
        let beside = disk.plus(Price::Listed(book.prices.cost_per_node));
        Price::Listed(commitment.price).plus(beside)
    });
    Some(Quote { effective: effective.unwrap_or(quote.effective), ..quote })
}

/// Returns the list price of a node's VM as it was bought, without its disk; `None` if unknown.
pub(super) fn vm_of(node: &Node, market: &Market) -> Option<MicroUsdPerHour> {
    let bought = bought_as(node)?;
    vm_price(node, market.find(&bought.0, node), &bought, market)?.known()
}

fn vm_price(
    node: &Node,
    kind: Option<&InstanceType>,
    bought: &(SkuName, CapacityType),
    market: &Market,
) -> Option<Price> {
    let offering = kind.and_then(|kind| offering_of(kind, node, bought.1));
    offering.map(|offering| offering.price).or_else(|| market.today.get(bought).copied())
}

/// Returns the offering that a node was bought as, by its zone if known. Azure's prices are the same in all zones;
/// those of overlays need not be.
fn offering_of<'k>(kind: &'k InstanceType, node: &Node, capacity_type: CapacityType) -> Option<&'k Offering> {
    let zone = node.labels.get(label::ZONE).map(|zone| &**zone);
    let alike = || kind.offerings.iter().filter(|offering| offering.capacity_type == capacity_type);
    alike().find(|offering| Some(offering.zone.as_str()) == zone).or_else(|| alike().next())
}

/// Returns the size and capacity type of a node, by its labels.
#[must_use]
pub fn bought_as(node: &Node) -> Option<(SkuName, CapacityType)> {
    let value = |key: &str| node.labels.get(&LabelKey::new(key)).map(|value| &**value);
    let size = value(label::INSTANCE_TYPE)?.into();
    let capacity_type = match (value(label::CAPACITY_TYPE), value(label::AKS_SCALE_SET_PRIORITY)) {
        (Some(text), _) => CapacityType::parse(text)?,
        (None, Some("spot")) => CapacityType::Spot,
        (None, _) => CapacityType::OnDemand,
    };
    Some((size, capacity_type))
}

/// Returns the total cost of these nodes, which use commitments in this order.
#[must_use]
pub fn cost<'n>(nodes: impl IntoIterator<Item = &'n Node>, market: &Market, book: &PriceBook<'_>) -> Cost {
    let (quotes, left) = quote_nodes(nodes, market, book);
    sum(quotes, &left, book)
}

/// Sums the costs of nodes; unused commitments are paid as well.
#[must_use]
pub fn sum(
    quotes: impl IntoIterator<Item = Option<Quote>>,
    left: &Uncommitted,
    book: &PriceBook<'_>,
) -> Cost {
    let mut cost = Cost::default();
    for quote in quotes {
        let known = quote.and_then(|quote| Some((quote, quote.list.known(), quote.effective.known()?)));
        let Some((quote, list, effective)) = known else {
            cost.unpriced_nodes += 1;
            continue;
        };
        // A committed size without a list price still costs the commitment's price.
        cost.list += list.unwrap_or(effective);
        cost.effective += effective;
        cost.is_estimate |= quote.list.is_estimate() || quote.effective.is_estimate();
    }
    for (commitment, left) in book.commitments.iter().zip(&left.0) {
        cost.effective += commitment.price.times(usize::try_from(*left).unwrap_or(usize::MAX));
    }
    cost
}
