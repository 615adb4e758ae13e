//! What a node costs: by the list, and for the user.
//!
//! List: the VM and its managed OS disk. User: the VM after discounts, or at a commitment's price, the disk
//! and `costPerNode`. What is not known stays unknown and is never summed as nothing.

use crate::model::{
    CapacityType, Commitment, InstanceType, LabelKey, MicroUsdPerHour, Node, Offering, OsDisk, Price, Prices,
    label,
};

use super::market::Market;
use super::solution::Cost;

/// What one node costs by the hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    /// By the list.
    pub list: Price,
    /// For the user.
    pub effective: Price,
}

/// The user's prices, ready to be asked.
#[derive(Clone, Debug)]
pub struct PriceBook<'a> {
    prices: &'a Prices,
    /// Commitments in the order in which they are used up: by size, the cheapest first.
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

    /// Returns the commitments in the order in which they are used up.
    #[must_use]
    pub fn commitments(&self) -> &[&'a Commitment] {
        &self.commitments
    }

    /// Returns what a node of this offering costs without a commitment.
    #[must_use]
    pub fn quote(&self, kind: &InstanceType, offering: &Offering) -> Quote {
        let beside = self.beside_vm(kind);
        let effective = match offering.capacity_type {
            CapacityType::OnDemand => {
                let left = 100 - i64::from(self.discount(kind).min(100));
                offering.price.map(|price| price.percent(left))
            }
            CapacityType::Spot | CapacityType::Reserved => offering.price,
        };
        Quote { list: offering.price.plus(disk(kind)), effective: effective.plus(beside) }
    }

    /// Returns what a node costs whose VM a commitment pays for.
    #[must_use]
    pub fn committed(&self, kind: &InstanceType, offering: &Offering, commitment: &Commitment) -> Quote {
        let effective = Price::Listed(commitment.price).plus(self.beside_vm(kind));
        Quote { list: offering.price.plus(disk(kind)), effective }
    }

    /// Returns what a node costs beside its VM: the managed OS disk and `costPerNode`.
    #[must_use]
    pub fn beside_vm(&self, kind: &InstanceType) -> Price {
        disk(kind).plus(Price::Listed(self.prices.cost_per_node))
    }

    /// Returns the hundredths that are taken off: of the size's series, else of its family.
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

fn folded(name: &str) -> String {
    name.chars().filter(|letter| *letter != '_').flat_map(char::to_lowercase).collect()
}

fn disk(kind: &InstanceType) -> Price {
    match &kind.os_disk {
        OsDisk::Ephemeral => Price::Listed(MicroUsdPerHour(0)),
        OsDisk::Managed(price) => *price,
    }
}

/// How many VMs of each commitment nothing uses yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncommitted(pub Vec<u32>);

impl Uncommitted {
    /// Returns all commitments unused.
    #[must_use]
    pub fn all(book: &PriceBook<'_>) -> Self {
        Self(book.commitments.iter().map(|commitment| commitment.count).collect())
    }

    /// Uses a VM of the first commitment that has one of this size left.
    fn use_one(&mut self, book: &PriceBook<'_>, kind: &InstanceType, offering: &Offering) -> Option<usize> {
        if offering.capacity_type != CapacityType::OnDemand {
            return None;
        }
        let place = book
            .commitments
            .iter()
            .zip(&self.0)
            .position(|(commitment, left)| *left > 0 && commitment.size == kind.name)?;
        self.0[place] -= 1;
        Some(place)
    }
}

/// Returns what these nodes cost, by their labels; commitments are used up in the order of the nodes.
#[must_use]
pub fn quote_nodes<'n>(
    nodes: impl IntoIterator<Item = &'n Node>,
    market: &Market,
    book: &PriceBook<'_>,
) -> (Vec<Option<Quote>>, Uncommitted) {
    let mut left = Uncommitted::all(book);
    let quotes = nodes.into_iter().map(|node| {
        let (kind, offering) = bought_as(node, market)?;
        Some(match left.use_one(book, kind, offering) {
            Some(place) => book.committed(kind, offering, book.commitments[place]),
            None => book.quote(kind, offering),
        })
    });
    (quotes.collect(), left)
}

/// Returns the offering that a node is of, by its labels. Azure's prices are the same in all zones, so that
/// a zone which is not offered does not make the price unknown.
#[must_use]
pub fn bought_as<'m>(node: &Node, market: &'m Market) -> Option<(&'m InstanceType, &'m Offering)> {
    let value = |key: &str| node.labels.get(&LabelKey::new(key)).map(|value| &**value);
    let size = value(label::INSTANCE_TYPE)?.into();
    let kind = market.find(&size, node.class.as_ref())?;
    let capacity_type = match (value(label::CAPACITY_TYPE), value(label::AKS_SCALE_SET_PRIORITY)) {
        (Some(text), _) => CapacityType::parse(text)?,
        (None, Some("spot")) => CapacityType::Spot,
        (None, _) => CapacityType::OnDemand,
    };
    let zone = value(label::ZONE).unwrap_or("0");
    let same: Vec<&Offering> =
        kind.offerings.iter().filter(|offering| offering.capacity_type == capacity_type).collect();
    let exact = same.iter().find(|offering| offering.zone.as_str() == zone);
    exact.or_else(|| same.first()).map(|offering| (kind, *offering))
}

/// Sums what nodes cost; commitments that nothing uses are paid all the same.
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
        // A committed size without a list price still costs what the commitment says.
        cost.list += list.unwrap_or(effective);
        cost.effective += effective;
        cost.is_estimate |= quote.list.is_estimate() || quote.effective.is_estimate();
    }
    for (commitment, left) in book.commitments.iter().zip(&left.0) {
        cost.effective += commitment.price.times(usize::try_from(*left).unwrap_or(usize::MAX));
    }
    cost
}
