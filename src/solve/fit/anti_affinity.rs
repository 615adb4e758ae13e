//! Required pod anti-affinity, from both sides: the pod that refuses, and the pod that is refused.

use super::company::Tally;
use super::{Miss, Rule, domain_in_words};
use crate::model::label;

/// Returns how many more pods may join a domain with others of the group. `is_bound`: they refuse those that are
/// counted; `is_counted`: those that are bound refuse them.
#[must_use]
pub const fn more(is_bound: bool, is_counted: bool, there: Tally) -> usize {
    match (is_bound, is_counted) {
        (true, _) if there.counted > 0 => 0,
        (_, true) if there.bound > 0 => 0,
        (true, true) => 1,
        (true, false) | (false, true | false) => usize::MAX,
    }
}

/// Returns why no pod may join a domain.
#[must_use]
pub fn miss(key: &str, domain: &str, is_bound: bool, there: Tally) -> Miss {
    let at = if key == label::HOSTNAME { "on" } else { "in" };
    let domain = domain_in_words(key, domain);
    let because = if is_bound && there.counted > 0 {
        format!("{} of the pods that it may not stand beside are {at} {domain}", there.counted)
    } else {
        format!("pods {at} {domain} refuse such a pod beside them")
    };
    Miss::new(Rule::PodAntiAffinity, because)
}
