//! A plan as names, one a line, as kubectl's `-o name` writes them: for scripts.
//!
//! What is made stands alone. What happens to something that exists stands behind its name in kubectl's word, so
//! that a list with a node to destroy is never mistaken for a list of what comes.

use crate::plan::{Change, ExistingNode, Plan};

/// Returns the names, sorted: `nodeclaim.karpenter.sh/NAME` of a node to make, `… deleted` of one to destroy.
#[must_use]
pub fn plan_names(plan: &Plan) -> String {
    let mut lines: Vec<String> = Vec::new();
    for planned in plan.spec.changes.values() {
        lines.extend(planned.change.create().map(|create| claim(create.claim.as_str())));
        let what = match &planned.change {
            Change::Delete(_) | Change::Replace(_) => "deleted",
            Change::Update(_) => "configured",
            Change::Adopt(_) => "adopted",
            Change::Forget(_) => "forgotten",
            Change::Create(_) | Change::NoOp(_) => continue,
        };
        lines.extend(planned.change.target().map(|target| format!("{} {what}", existing(target))));
    }
    lines.sort();
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
