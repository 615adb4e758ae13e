//! A plan as bare names, one per line, in kubectl's form after the symbol of the action.

use std::collections::BTreeSet;

use crate::plan::{Change, ExistingNode, Plan};

/// Lists the names of all objects of the plan, by symbol: `+ nodeclaim/NAME` is created, `- nodeclaim/NAME` deleted,
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

/// Names a node by its claim, or by its own name without one.
fn existing(target: &ExistingNode) -> String {
    match &target.claim {
        Some(name) => claim(name.as_str()),
        None => format!("node/{}", plain(target.node.as_str())),
    }
}

/// Replaces spaces and line feeds, which would split a name of the input.
fn plain(name: &str) -> String {
    name.replace(|letter: char| letter.is_whitespace() || letter.is_control(), "_")
}
