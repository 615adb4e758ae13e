//! Unknown quotas, reported once: an unknown quota limits nothing.
//!
//! Never decides anything.

use std::collections::BTreeSet;

use crate::snapshot::{Assumption, Snapshot};
use crate::solve::{Solution, Warning};

/// How to supply the quotas.
const HINT: &str = "`--usage FILE` with the output of `az vm list-usage --location REGION -o json`";

/// Reports for a live cluster that no quota of its subscription is known.
pub(super) fn assumption(snapshot: &Snapshot) -> Option<Assumption> {
    let is_unknown = snapshot.azure.is_some() && snapshot.quota.is_none();
    is_unknown.then(|| Assumption {
        what: "no quota of the subscription limits new nodes".to_owned(),
        why: format!(
            "its usages were not read: allow `Microsoft.Compute/locations/usages/read`, or give them by {HINT}"
        ),
    })
}

/// Reports the quotas that the new nodes count against but Azure does not list.
pub(super) fn warning(snapshot: &Snapshot, solution: &Solution) -> Option<Warning> {
    let quota = snapshot.quota.as_deref()?;
    let mut unknown: BTreeSet<&str> = BTreeSet::new();
    for node in &solution.target.new {
        let taken = quota.taken(node.size.as_str(), node.capacity_type, &node.capacity);
        unknown.extend(taken.names().filter(|name| quota.place(name).is_none()));
    }
    let names: Vec<String> = unknown.iter().map(|name| format!("`{name}`")).collect();
    let (quotas, are, limit) =
        if names.len() == 1 { ("quota", "is", "limits") } else { ("quotas", "are", "limit") };
    (!names.is_empty()).then(|| Warning {
        object: format!("{quotas} {}", names.join(", ")),
        what: format!("{are} not among the usages of the subscription: unknown, and {limit} no new node"),
        hint: Some(format!("give them by {HINT}")),
    })
}
