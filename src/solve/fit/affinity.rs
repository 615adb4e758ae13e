//! Required pod affinity: next to a matching pod. The first of pods that match each other may run anywhere.

use super::{Miss, Rule};

/// Returns whether a pod may join a domain with this many of the pods that it matches; `anywhere` is their number in
/// all domains together.
#[must_use]
pub const fn may_come(counted: usize, anywhere: usize, counts_itself: bool) -> bool {
    counted > 0 || (anywhere == 0 && counts_itself)
}

/// Returns why a pod may join no domain.
#[must_use]
pub fn miss(key: &str, anywhere: usize) -> Miss {
    let because = if anywhere == 0 {
        format!("no pod that it has to stand beside, by `{key}`, runs or is placed")
    } else {
        format!("the pods that it has to stand beside are in domains of `{key}` where it cannot be")
    };
    Miss::new(Rule::PodAffinity, because)
}

/// Returns the miss of a pod that has to share a node with a pending pod and fits nowhere together with any, whether or
/// not those fit without it.
#[must_use]
pub fn together() -> Miss {
    let because = "no place is left for it and one of those that it has to stand beside on one node";
    Miss::new(Rule::PodAffinity, because.to_owned())
}

/// Returns why a pod may not join a node without the pods that it has to share it with.
#[must_use]
pub fn elsewhere() -> Miss {
    Miss::new(Rule::PodAffinity, "none of the pods that it has to share a node with is there".to_owned())
}
