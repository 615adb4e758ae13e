//! Why a size is used or not, pool by pool.

use crate::model::{PoolName, Price, SkuName};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::caution;
use crate::solve::daemons::Daemons;
use crate::solve::fit::limits::{self, Ledger};
use crate::solve::ledger;
use crate::solve::market::Market;
use crate::solve::price::PriceBook;
use crate::solve::solution::{NewNode, Solution};
use crate::solve::supply::{Kind, PoolSupply, Supply, Usable, refusal};
use crate::solve::topology::Topology;

use super::ledger_after;

/// Use of a size by a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PoolUse {
    /// This many new nodes have it.
    Used(usize),
    /// The pool could use it, but another size was cheaper for the pending pods.
    NotCheapest {
        /// Its cheapest price for the user.
        effective_price: Price,
        /// Why it was not chosen.
        because: NotChosen,
        /// Whether it is used only for pods that name it.
        needs_name: bool,
    },
    /// The pool may not use it: the rule, and the reason.
    Refused {
        /// The rule.
        rule: String,
        /// The reason.
        because: String,
    },
    /// The pool creates no nodes.
    PoolUnused(String),
    /// The region does not have it.
    NotThere,
}

/// Why a size that a pool could use is not among its new nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotChosen {
    /// No pending pod needs a new node.
    NothingWaits,
    /// The pending pods go to other pools, or are unplaced.
    OtherPools,
    /// It does not hold the pods of any new node of the pool.
    HoldsNone,
    /// A quota leaves no node of it beside the plan.
    NoQuota(String),
    /// It costs no more than this size, but more with its premium: `prefer: availability`.
    CountsDearer {
        /// The size that was chosen.
        chosen: SkuName,
    },
    /// It would work for new nodes of the pool, at a higher price.
    Dearer {
        /// Number of such nodes.
        nodes: usize,
        /// The chosen size with the smallest price difference.
        chosen: SkuName,
        /// The price difference; unknown if a price is.
        by: Price,
    },
}

/// Explanation of a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeExplanation {
    /// The size.
    pub size: SkuName,
    /// Its use by each pool, by name.
    pub pools: Vec<(PoolName, PoolUse)>,
}

/// Explains a size.
#[must_use]
pub fn explain_size(
    snapshot: &Snapshot,
    policy: &Policy,
    solution: &Solution,
    size: &SkuName,
) -> SizeExplanation {
    let market = Market::of(snapshot, policy);
    let daemons = Daemons::of(snapshot, &Topology::of(snapshot));
    let book = PriceBook::new(&policy.fleet.prices);
    let supply = Supply::of(policy, &market, &book, &daemons);
    let left = ledger_after((snapshot, policy), &market, &supply, solution);
    let use_of = |name: &PoolName| match supply.pools.iter().find(|pool| pool.pool.name == *name) {
        Some(pool) => pool_use(pool, (solution, &left), size),
        None => {
            let pool = &policy.pools[name];
            let what = refusal(policy, pool, &market).err().map(|warning| warning.what);
            PoolUse::PoolUnused(what.unwrap_or_default())
        }
    };
    let pools = policy.pools.keys().map(|name| (name.clone(), use_of(name))).collect();
    SizeExplanation { size: size.clone(), pools }
}

fn pool_use(pool: &PoolSupply<'_>, (solution, left): (&Solution, &Ledger), size: &SkuName) -> PoolUse {
    let own = || solution.target.new.iter().filter(|node| node.pool == pool.pool.name);
    let used = own().filter(|node| node.size == *size).count();
    if used > 0 {
        return PoolUse::Used(used);
    }
    if let Some((_, miss)) = pool.left_out.iter().find(|(name, _)| name == size) {
        return PoolUse::Refused { rule: miss.rule.to_string(), because: miss.because.clone() };
    }
    let Some(kind) = pool.kinds.iter().find(|kind| kind.kind.name == *size) else { return PoolUse::NotThere };
    let prices = kind.offerings.iter().map(|usable| usable.quote.effective);
    let cheapest = prices.min_by_key(|price| (price.known().is_none(), price.known()));
    PoolUse::NotCheapest {
        effective_price: cheapest.unwrap_or(Price::Unknown),
        because: without_quota(pool, kind, left)
            .unwrap_or_else(|| not_chosen(solution, &own().collect::<Vec<_>>(), kind)),
        needs_name: kind.needs_name,
    }
}

/// Returns the quota that leaves no node of a size, with any capacity type.
fn without_quota(pool: &PoolSupply<'_>, kind: &Kind<'_>, left: &Ledger) -> Option<NotChosen> {
    let charges = |usable| ledger::charges(left, pool.pool, Usable::vm(usable, kind));
    let all: Vec<_> = kind.offerings.iter().map(charges).collect();
    let is_short = !all.is_empty() && all.iter().all(|charges| left.lacks_quota(charges));
    let why = limits::why(left, all.first().filter(|_| is_short)?).err()?;
    Some(NotChosen::NoQuota(why.because))
}

/// Returns why no node of the pool, whose new nodes are `own`, has this size.
fn not_chosen(solution: &Solution, own: &[&NewNode], kind: &Kind<'_>) -> NotChosen {
    if solution.target.new.is_empty() && solution.report.unplaced.is_empty() {
        return NotChosen::NothingWaits;
    }
    if own.is_empty() {
        return NotChosen::OtherPools;
    }
    // Substitutes are sorted, the cheapest first.
    let gap = |node: &&NewNode| {
        let other = node.substitutes.iter().find(|other| other.size == kind.kind.name)?;
        let by = match node.effective_price.known() {
            Some(chosen) => other.effective_price.map(|price| price - chosen),
            None => Price::Unknown,
        };
        Some((node.size.clone(), by))
    };
    let gaps: Vec<(SkuName, Price)> = own.iter().filter_map(gap).collect();
    let nodes = gaps.len();
    let nearest =
        gaps.into_iter().min_by_key(|(chosen, by)| (by.known().is_none(), by.known(), chosen.clone()));
    if let Some((chosen, by)) = nearest {
        return NotChosen::Dearer { nodes, chosen, by };
    }
    match own.iter().find(|node| counts_dearer(kind, node)) {
        Some(node) => NotChosen::CountsDearer { chosen: node.size.clone() },
        None => NotChosen::HoldsNone,
    }
}

/// Returns whether a size costs no more than a node, but more with its premium.
fn counts_dearer(kind: &Kind<'_>, node: &NewNode) -> bool {
    let mut priced = kind.offerings.iter().filter(|way| way.quote.effective.known().is_some());
    priced.any(|way| caution::is_avoided_for(way.weighed(), node.weighed()))
}
