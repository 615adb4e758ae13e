//! A plan as names and nothing else, one a line, each as kubectl takes it, after the symbol of what is done with it.

use std::collections::BTreeSet;

use crate::plan::{Change, ExistingNode, Plan};

/// Returns the names of all that the plan is about, by symbol: `+ nodeclaim/NAME` is created, `- nodeclaim/NAME` deleted,
/// `~` updated in place, `i` gets its NodeClaim, `.` is no longer managed. A node without a NodeClaim is `node/NAME`.
#[must_use]
pub fn plan_names(plan: &Plan) -> String {
    let mut lines: BTreeSet<(u8, String)> = BTreeSet::new();
    for planned in plan.spec.changes.values() {
        lines.extend(match &planned.change {
            Change::Create(create) => Some((1, format!("+ {}", claim(create.claim.as_str())))),
            Change::Delete(delete) => Some((0, format!("- {}", existing(&delete.target)))),
            Change::Update(update) => Some((2, format!("~ {}", existing(&update.target)))),
            Change::Adopt(adopt) => Some((3, format!("i {}", existing(&adopt.target)))),
            Change::Forget(forget) => Some((4, format!(". {}", existing(&forget.target)))),
            Change::NoOp(_) => None,
        });
    }
    lines.iter().map(|(_, line)| format!("{line}\n")).collect()
}

fn claim(name: &str) -> String {
    format!("nodeclaim/{}", plain(name))
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
