//! Topology spread: no domain gets further ahead of the emptiest than `maxSkew`.
//!
//! Counts come from the caller: on one node the emptiest counts as empty, since nodes may come and go.

use super::{Miss, Rule, domain_in_words};
use crate::model::label;

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

/// A domain that no pod may come to.
#[derive(Clone, Copy, Debug)]
pub struct Full<'d> {
    /// The label that domains are told apart by.
    pub key: &'d str,
    /// The domain.
    pub domain: &'d str,
    /// How many counted pods it has.
    pub counted: usize,
    /// How many the emptiest has.
    pub least: usize,
    /// Which one that is, where it is known, in words.
    pub emptiest: Option<&'d str>,
    /// How many domains there are and have to be, where there are too few for the emptiest to count.
    pub lacking: Option<(usize, usize)>,
    /// How many pods would come together, since they have to share a node.
    pub own: usize,
}

/// Returns why no pod may come to a domain.
#[must_use]
pub fn miss(full: Full<'_>, max_skew: usize) -> Miss {
    let Full { key, domain, counted, least, emptiest, lacking, own } = full;
    let emptiest = match (lacking, emptiest) {
        (Some((there, asked)), _) => {
            format!("the least counts as 0 with {there} of `minDomains` {asked}")
        }
        (None, Some(emptiest)) => format!("{emptiest} has {least}"),
        // Nodes come and go: one that is still to come would have none.
        (None, None) if key == label::HOSTNAME && least == 0 => "a new node has 0".to_owned(),
        (None, None) => format!("the least is {least}"),
    };
    let allows = match own {
        0 | 1 => "no more".to_owned(),
        _ => format!("no capacity for {own} that have to share a node"),
    };
    let domain = domain_in_words(key, domain);
    let because =
        format!("{domain} has {counted} of these pods, {emptiest}: `maxSkew` {max_skew} allows {allows}");
    Miss::new(Rule::TopologySpread, because)
}
