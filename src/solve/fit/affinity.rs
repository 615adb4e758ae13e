//! Required pod affinity: beside a pod that is meant. The first of pods that mean each other may stand anywhere.

use super::{Miss, Rule};

/// Returns whether a pod may come to a domain with so many of the pods that it means; `anywhere` is how many there
/// are in all domains together.
#[must_use]
pub const fn may_come(counted: usize, anywhere: usize, counts_itself: bool) -> bool {
    counted > 0 || (anywhere == 0 && counts_itself)
}

/// Returns why a pod may come to no domain.
#[must_use]
pub fn miss(key: &str, anywhere: usize) -> Miss {
    let because = if anywhere == 0 {
        format!("no pod that it has to stand beside, by `{key}`, runs or is placed")
    } else {
        format!("the pods that it has to stand beside are in domains of `{key}` where it cannot be")
    };
    Miss::new(Rule::PodAffinity, because)
}

/// Says that a pod which has to share a node with one that waits has no place together with any, whether or not those have
/// one without it.
#[must_use]
pub fn together() -> Miss {
    let because = "no place is left for it and one of those that it has to stand beside on one node";
    Miss::new(Rule::PodAffinity, because.to_owned())
}

/// Returns why a pod may not come to a node that others are not on.
#[must_use]
pub fn elsewhere() -> Miss {
    Miss::new(Rule::PodAffinity, "none of the pods that it has to share a node with is there".to_owned())
}
