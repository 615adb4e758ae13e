//! A plan as names and nothing else, one a line, as kubectl's `-o name` writes them: for scripts.
//!
//! What is made, changed and destroyed stands there alike; `-o json` says which is which.

use std::collections::BTreeSet;

use crate::plan::{ExistingNode, Plan};

/// Returns the names of all that the plan is about, sorted: `nodeclaim.karpenter.sh/NAME`, of a node without a claim
/// `node/NAME`.
#[must_use]
pub fn plan_names(plan: &Plan) -> String {
    let mut lines: BTreeSet<String> = BTreeSet::new();
    for planned in plan.spec.changes.values() {
        lines.extend(planned.change.create().map(|create| claim(create.claim.as_str())));
        lines.extend(planned.change.target().map(existing));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn claim(name: &str) -> String {
    format!("nodeclaim.karpenter.sh/{}", plain(name))
}

/// A node without a claim goes by its own name.
fn existing(target: &ExistingNode) -> String {
    match &target.claim {
        Some(name) => claim(name.as_str()),
        None => format!("node/{}", plain(target.node.as_str())),
    }
}

/// A name of the input that holds spaces or line feeds would be read as several.
fn plain(name: &str) -> String {
    name.replace(|letter: char| letter.is_whitespace() || letter.is_control(), "_")
}
