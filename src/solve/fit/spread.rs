//! Topology spread: no domain exceeds the emptiest one by more than `maxSkew`.
//!
//! The caller provides the counts: on one node the emptiest counts as empty, because nodes may come and go.

use super::{Miss, Rule, domain_in_words};
use crate::model::label;

/// Returns how many more bound pods may join a domain with this many counted ones, if the emptiest has `least` and each
/// new one counts as `own`.
#[must_use]
pub const fn more(max_skew: usize, counted: usize, least: usize, own: usize) -> usize {
    let most = max_skew.saturating_add(least);
    match (own, counted <= most) {
        (0, true) => usize::MAX,
        (0, false) => 0,
        (own, _) => most.saturating_sub(counted) / own,
    }
}

/// A domain that no pod may join.
#[derive(Clone, Copy, Debug)]
pub struct Full<'d> {
    /// The label that distinguishes the domains.
    pub key: &'d str,
    /// The domain.
    pub domain: &'d str,
    /// Number of counted pods in it.
    pub counted: usize,
    /// Number of counted pods in the emptiest.
    pub least: usize,
    /// The emptiest in words, if known.
    pub emptiest: Option<&'d str>,
    /// Number of existing and of required domains, if there are too few for the emptiest to count.
    pub lacking: Option<(usize, usize)>,
    /// Number of pods that would join together, because they have to share a node.
    pub own: usize,
}

/// Returns why no pod may join a domain.
#[must_use]
pub fn miss(full: Full<'_>, max_skew: usize) -> Miss {
    let Full { key, domain, counted, least, emptiest, lacking, own } = full;
    let emptiest = match (lacking, emptiest) {
        (Some((there, asked)), _) => {
            format!("the least counts as 0 with {there} of `minDomains` {asked}")
        }
        (None, Some(emptiest)) => format!("{emptiest} has {least}"),
        // Nodes come and go: a node that is yet to be created has 0.
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
