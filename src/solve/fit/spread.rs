//! Topology spread: no domain gets further ahead of the emptiest than `maxSkew`.
//!
//! Counts come from the caller: on one node the emptiest counts as empty, since nodes may come and go.

use super::{Miss, Rule};

/// Returns how many more pods that are bound may come to a domain of so many counted ones, where the emptiest has
/// `least` and each that comes counts for `own`.
#[must_use]
pub const fn more(max_skew: usize, counted: usize, least: usize, own: usize) -> usize {
    let most = max_skew.saturating_add(least);
    match (own, counted <= most) {
        (0, true) => usize::MAX,
        (0, false) => 0,
        (own, _) => most.saturating_sub(counted) / own,
    }
}

/// Returns why no pod may come to a domain.
#[must_use]
pub fn miss(key: &str, domain: &str, (counted, least): (usize, usize), max_skew: usize) -> Miss {
    let because = format!(
        "`{key}` `{domain}` has {counted} of these pods, the emptiest {least}: `maxSkew` {max_skew} leaves no more"
    );
    Miss::new(Rule::TopologySpread, because)
}
