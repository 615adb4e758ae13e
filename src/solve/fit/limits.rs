//! Limits of pools and the whole fleet, counted by the capacity of the chosen sizes, and quotas of the subscription.
//!
//! A limit that is exceeded already allows nothing more, and removes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{MicroUsdPerHour, PoolName, Quota, ResourceName};

use super::{Miss, Rule};

/// Quantity that a limit counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counter {
    /// A resource of all nodes of a pool.
    PoolResource(PoolName, ResourceName),
    /// The nodes of a pool.
    PoolNodes(PoolName),
    /// A resource of all nodes.
    FleetResource(ResourceName),
    /// All nodes.
    FleetNodes,
    /// The hourly cost of all nodes.
    FleetCost,
    /// The unused VMs of a commitment; not a limit, but the reason why they are cheap.
    Commitment(usize),
    /// The vCPUs of a quota, by its name.
    Quota(Arc<str>),
}

/// Quotas of a subscription, and their counters in a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotas {
    /// The quotas as Azure reports them.
    pub quota: Arc<Quota>,
    /// Index of each in the ledger; `None` for those that never bind.
    pub places: Vec<Option<usize>>,
}

impl Counter {
    /// Returns the object that sets the limit and the limited quantity, as in `NodePool apps` and `CPU`.
    fn named(&self) -> (String, String) {
        let of = |name: &ResourceName| match name {
            ResourceName::Cpu => "CPU".to_owned(),
            ResourceName::Memory => "memory".to_owned(),
            ResourceName::EphemeralStorage | ResourceName::Pods | ResourceName::Other(_) => {
                format!("`{name}`")
            }
        };
        let pool = |pool: &PoolName| format!("NodePool {pool}");
        let fleet = || "the NodeFleet".to_owned();
        match self {
            Self::PoolResource(own, name) => (pool(own), of(name)),
            Self::PoolNodes(own) => (pool(own), "node".to_owned()),
            Self::FleetResource(name) => (fleet(), of(name)),
            Self::FleetNodes => (fleet(), "node".to_owned()),
            Self::FleetCost => (fleet(), "`costPerMonth`".to_owned()),
            Self::Commitment(_) => ("a commitment".to_owned(), "node".to_owned()),
            Self::Quota(name) => (format!("quota `{name}`"), "vCPU".to_owned()),
        }
    }

    /// Formats an amount of the counted quantity.
    #[must_use]
    pub fn show(&self, amount: i64) -> String {
        match self {
            Self::PoolResource(_, name) | Self::FleetResource(name) => name.show(amount),
            Self::PoolNodes(_) | Self::FleetNodes | Self::Commitment(_) | Self::Quota(_) => {
                amount.to_string()
            }
            Self::FleetCost => {
                let cents = MicroUsdPerHour(amount).per_month().0 / 10_000;
                format!("${}.{:02}/month", cents / 100, cents % 100)
            }
        }
    }
}

impl std::fmt::Display for Counter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::PoolResource(pool, name) => write!(formatter, "limit `{name}` of pool `{pool}`"),
            Self::PoolNodes(pool) => write!(formatter, "limit `nodes` of pool `{pool}`"),
            Self::FleetResource(name) => write!(formatter, "limit `{name}` of the fleet"),
            Self::FleetNodes => write!(formatter, "limit `nodes` of the fleet"),
            Self::FleetCost => write!(formatter, "limit `costPerMonth` of the fleet"),
            Self::Commitment(_) => write!(formatter, "commitment"),
            Self::Quota(name) => write!(formatter, "quota `{name}`"),
        }
    }
}

/// Amounts that one node uses of counters, by index in a [`Ledger`].
pub type Charges = Vec<(usize, i64)>;

/// Remaining amounts of all limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    counters: Vec<Counter>,
    left: Vec<i64>,
    /// Each limit in full, including what is used.
    most: Vec<i64>,
    /// Number of nodes without a pool that the fleet's limits count.
    foreign: usize,
    /// The quotas, whose counters are the last.
    quotas: Option<Arc<Quotas>>,
}

impl Ledger {
    /// Adds an unused limit of this amount.
    pub fn add(&mut self, counter: Counter, left: i64) {
        self.add_used(counter, left, 0);
    }

    /// Adds a limit with this amount used, and returns its index.
    pub fn add_used(&mut self, counter: Counter, most: i64, used: i64) -> usize {
        self.counters.push(counter);
        self.left.push(most.saturating_sub(used));
        self.most.push(most);
        self.counters.len() - 1
    }

    /// Sets the quotas, whose counters were added last.
    pub fn set_quotas(&mut self, quotas: Arc<Quotas>) {
        self.quotas = Some(quotas);
    }

    /// Returns the quotas that are counted.
    #[must_use]
    pub fn quotas(&self) -> Option<&Quotas> {
        self.quotas.as_deref()
    }

    /// Returns whether a quota is among the counters that these charges exceed.
    #[must_use]
    pub fn lacks_quota(&self, charges: &[(usize, i64)]) -> bool {
        exceeded(self, charges).any(|(place, _)| matches!(self.counters[*place], Counter::Quota(_)))
    }

    /// Returns whether a quota of zero is among those counters: most subscriptions have one for most families, so it
    /// says less than one that is used up.
    #[must_use]
    pub fn has_no_quota(&self, charges: &[(usize, i64)]) -> bool {
        exceeded(self, charges)
            .any(|(place, _)| matches!(self.counters[*place], Counter::Quota(_)) && self.most[*place] <= 0)
    }

    /// Returns the size of a quota, and how much is used with this plan; `None` if it limits nothing.
    #[must_use]
    pub fn quota_left(&self, name: &str) -> Option<(i64, i64)> {
        let Quotas { quota, places } = self.quotas()?;
        let place = quota.place(name)?;
        match places[place] {
            Some(counter) => {
                Some((self.most[counter], self.most[counter].saturating_sub(self.left[counter])))
            }
            None => Some((quota.limits[place].most()?, quota.limits[place].used)),
        }
    }

    /// Describes the usage of a quota, without and with this plan, and what one more node needs.
    fn said_of_quota(&self, name: &str, place: usize, amount: i64) -> String {
        let (most, used) = (self.most[place], self.most[place].saturating_sub(self.left[place]));
        let quota = self.quotas().map(|Quotas { quota, .. }| quota);
        let today = quota.and_then(|quota| Some(quota.limits[quota.place(name)?].used));
        let planned = match today {
            Some(today) if today != used => format!("{today} used ({used} with this plan)"),
            Some(_) | None => format!("{used} used"),
        };
        format!("quota `{name}` is {most} vCPUs, {planned}, and a node needs {amount}")
    }

    /// Describes the usage of a limit, and how much of it one more node would use.
    fn said(&self, place: usize, amount: i64) -> String {
        let (counter, most, left) = (&self.counters[place], self.most[place], self.left[place]);
        if let Counter::Quota(name) = counter {
            return self.said_of_quota(name, place, amount);
        }
        let ((object, what), used) = (counter.named(), most.saturating_sub(left));
        let (of, beside) = (counter.show(most), self.beside(counter));
        let used = counter.show(used);
        match (left, amount) {
            (..=0, _) => format!("{object} is at its {what} limit ({used} of {of}){beside}"),
            (_, i64::MAX) => {
                format!("{object} has a {what} limit, and the price of a node is not known{beside}")
            }
            (_, amount) => {
                let amount = counter.show(amount);
                format!("{object} uses {used} of its {what} limit {of}, a node takes {amount}{beside}")
            }
        }
    }

    /// Records how many nodes without a pool the fleet's limits count; it is reported if one of those limits refuses a
    /// node.
    pub const fn note_foreign(&mut self, nodes: usize) {
        self.foreign = nodes;
    }

    /// Describes the nodes without a pool that a limit counts; empty if it counts none.
    fn beside(&self, counter: &Counter) -> String {
        match (counter, self.foreign) {
            (
                Counter::PoolResource(..)
                | Counter::PoolNodes(_)
                | Counter::Commitment(_)
                | Counter::Quota(_),
                _,
            )
            | (_, 0) => String::new(),
            (_, 1) => " (1 node of no NodePool counts too)".to_owned(),
            (_, nodes) => format!(" ({nodes} nodes of no NodePool count too)"),
        }
    }

    /// Returns the counters with their remaining amounts.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Counter, i64)> {
        self.counters
            .iter()
            .zip(&self.left)
            .enumerate()
            .map(|(place, (counter, left))| (place, counter, *left))
    }

    /// Returns the same without quotas, of which only a few apply to any one VM.
    pub fn before_quotas(&self) -> impl Iterator<Item = (usize, &Counter, i64)> {
        self.iter().take_while(|(_, counter, _)| !matches!(counter, Counter::Quota(_)))
    }

    /// Returns whether anything but commitments is counted.
    #[must_use]
    pub fn has_limits(&self) -> bool {
        self.counters.iter().any(|counter| !matches!(counter, Counter::Commitment(_)))
    }

    /// Returns whether a limit counts nodes of a pool.
    #[must_use]
    pub fn limits(&self, pool: &PoolName) -> bool {
        self.counters.iter().any(|counter| match counter {
            Counter::PoolResource(own, _) | Counter::PoolNodes(own) => own == pool,
            Counter::FleetResource(_) | Counter::FleetNodes | Counter::FleetCost => true,
            // A quota with some left excludes no pod, and one without reports that itself.
            Counter::Commitment(_) | Counter::Quota(_) => false,
        })
    }

    /// Returns only the commitments.
    #[must_use]
    pub fn without_limits(&self) -> Self {
        let mut commitments = Self::default();
        for (_, counter, left) in self.iter() {
            if matches!(counter, Counter::Commitment(_)) {
                commitments.add(counter.clone(), left);
            }
        }
        commitments
    }

    /// Returns whether nothing that was taken since `before` exceeds a limit.
    #[must_use]
    pub fn is_kept(&self, before: &Self) -> bool {
        self.left.iter().zip(&before.left).all(|(left, before)| *left >= 0 || left >= before)
    }

    /// Returns how many more nodes with these charges may be created.
    #[must_use]
    pub fn uses(&self, charges: &[(usize, i64)]) -> usize {
        let uses = charges.iter().map(|(place, amount)| match (self.left[*place], *amount) {
            (left, amount) if left < amount => 0,
            (_, amount) if amount <= 0 => usize::MAX,
            (left, amount) => usize::try_from(left / amount).unwrap_or(usize::MAX),
        });
        uses.min().unwrap_or(usize::MAX)
    }

    /// Takes the charges of this many nodes.
    pub fn take(&mut self, charges: &[(usize, i64)], nodes: usize) {
        let nodes = i64::try_from(nodes).unwrap_or(i64::MAX);
        for (place, amount) in charges {
            self.left[*place] = self.left[*place].saturating_sub(amount.saturating_mul(nodes));
        }
    }

    /// Gives back the charges of one node.
    pub fn give_back(&mut self, charges: &[(usize, i64)]) {
        for (place, amount) in charges {
            self.left[*place] = self.left[*place].saturating_add(*amount);
        }
    }
}

/// Checks whether one more node with these charges may be created.
///
/// # Errors
/// Every limit that it exceeds.
pub fn why(ledger: &Ledger, charges: &[(usize, i64)]) -> Result<(), Miss> {
    let exceeded: Vec<&(usize, i64)> = exceeded(ledger, charges).collect();
    if exceeded.is_empty() {
        return Ok(());
    }
    let because: Vec<String> = exceeded.iter().map(|(place, amount)| ledger.said(*place, *amount)).collect();
    let short_by = exceeded.iter().map(|(place, amount)| {
        let over = i128::from(*amount) - i128::from(ledger.left[*place].max(0));
        i64::try_from(over * 1_000_000 / i128::from(*amount).max(1)).unwrap_or(i64::MAX)
    });
    let short_by = short_by.max().unwrap_or(0);
    Err(Miss { short_by, ..Miss::new(Rule::Limits, because.join("; ")) })
}

/// Returns the charges that exceed a limit.
pub fn exceeded<'c>(
    ledger: &'c Ledger,
    charges: &'c [(usize, i64)],
) -> impl Iterator<Item = &'c (usize, i64)> {
    charges.iter().filter(|(place, amount)| ledger.left[*place] < *amount)
}

/// Returns a sort key by which the node that exceeds limits the least comes first: the number of exceeded limits, and
/// the sum of the excesses, each in millionths of the amount in `most`.
#[must_use]
pub fn excess(ledger: &Ledger, charges: &[(usize, i64)], most: &BTreeMap<usize, i64>) -> (usize, i128) {
    let mut excess = (0, 0);
    for (place, amount) in exceeded(ledger, charges) {
        let over = i128::from(*amount) - i128::from(ledger.left[*place]);
        let scale = i128::from(most.get(place).copied().unwrap_or(*amount)).max(1);
        excess = (excess.0 + 1, excess.1 + over * 1_000_000 / scale);
    }
    excess
}
