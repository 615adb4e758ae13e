//! Limits: what a pool and the whole fleet may have, counted by the capacity of the sizes that are chosen, and what a
//! subscription may have by its quotas.
//!
//! A limit that is exceeded already lets nothing more in, and takes nothing away.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{MicroUsdPerHour, PoolName, Quota, ResourceName};

use super::{Miss, Rule};

/// What a limit counts.
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
    /// What all nodes cost by the hour.
    FleetCost,
    /// The VMs of a commitment that nothing uses yet; no limit, but what makes them cheap.
    Commitment(usize),
    /// The vCPUs of a quota, by its name.
    Quota(Arc<str>),
}

/// The quotas of a subscription, and where a ledger counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotas {
    /// What Azure says.
    pub quota: Arc<Quota>,
    /// The place of each in the ledger; none of those that never leave too little.
    pub places: Vec<Option<usize>>,
}

impl Counter {
    /// Names the object that sets the limit and what it limits, as in `NodePool apps` and `CPU`.
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

    /// Writes an amount of what is counted.
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

/// What one node takes of counters, by their places in a [`Ledger`].
pub type Charges = Vec<(usize, i64)>;

/// What is left of every limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    counters: Vec<Counter>,
    left: Vec<i64>,
    /// What each limit is, all that it counts included.
    most: Vec<i64>,
    /// How many nodes of no pool the fleet's limits count.
    foreign: usize,
    /// The quotas, whose counters are the last.
    quotas: Option<Arc<Quotas>>,
}

impl Ledger {
    /// Adds a limit of which so much is left, and nothing is used.
    pub fn add(&mut self, counter: Counter, left: i64) {
        self.add_used(counter, left, 0);
    }

    /// Adds a limit of which so much is used, and returns its place.
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

    /// Returns whether a quota is among the counters that leave too little for these charges.
    #[must_use]
    pub fn lacks_quota(&self, charges: &[(usize, i64)]) -> bool {
        exceeded(self, charges).any(|(place, _)| matches!(self.counters[*place], Counter::Quota(_)))
    }

    /// Returns whether a quota of nothing is among those counters: most subscriptions have one for most families, and it
    /// says less than one that is used up.
    #[must_use]
    pub fn has_no_quota(&self, charges: &[(usize, i64)]) -> bool {
        exceeded(self, charges)
            .any(|(place, _)| matches!(self.counters[*place], Counter::Quota(_)) && self.most[*place] <= 0)
    }

    /// Returns how much there may be of a quota and how much is used with this plan; none where it limits nothing.
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

    /// Says how far a quota is used, without and with this plan, and what one more node needs.
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

    /// Says how far a limit is used, and what one more node of so much would take.
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

    /// Notes how many nodes of no pool the fleet's limits count: it is told where one of them refuses.
    pub const fn note_foreign(&mut self, nodes: usize) {
        self.foreign = nodes;
    }

    /// Says which nodes of no pool a limit counts, for people; nothing where it counts none.
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

    /// Returns what is counted and what is left of it.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Counter, i64)> {
        self.counters
            .iter()
            .zip(&self.left)
            .enumerate()
            .map(|(place, (counter, left))| (place, counter, *left))
    }

    /// Returns the same without quotas: of those only a few are of any one VM.
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
            // A quota that leaves room keeps no pod away, and one that leaves none says so itself.
            Counter::Commitment(_) | Counter::Quota(_) => false,
        })
    }

    /// Returns what is left of commitments alone.
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

    /// Returns how many nodes with these charges may still be made.
    #[must_use]
    pub fn uses(&self, charges: &[(usize, i64)]) -> usize {
        let uses = charges.iter().map(|(place, amount)| match (self.left[*place], *amount) {
            (left, amount) if left < amount => 0,
            (_, amount) if amount <= 0 => usize::MAX,
            (left, amount) => usize::try_from(left / amount).unwrap_or(usize::MAX),
        });
        uses.min().unwrap_or(usize::MAX)
    }

    /// Takes the charges of so many nodes.
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

/// Says whether one more node with these charges may be made.
///
/// # Errors
/// Every limit that does not let it.
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

/// Returns the charges for which a limit leaves too little.
pub fn exceeded<'c>(
    ledger: &'c Ledger,
    charges: &'c [(usize, i64)],
) -> impl Iterator<Item = &'c (usize, i64)> {
    charges.iter().filter(|(place, amount)| ledger.left[*place] < *amount)
}

/// Returns what sorts first the node that exceeds limits the least: by how many, and by how much in all,
/// each in millionths of what `most` takes of it.
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
