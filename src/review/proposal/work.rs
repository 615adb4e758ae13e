//! Effect of a plan, independent of its snapshot: identifies a plan that people rejected before.

use crate::model::Digest;
use crate::plan::{Change, Plan};

/// Length of the name in characters, enough that no two plans of a fleet collide.
const LETTERS: usize = 26;

/// Returns a name for a plan's effect: plans that delete and update the same nodes, and create as many in each pool,
/// have the same effect.
#[must_use]
pub fn work(plan: &Plan) -> String {
    let changes = plan.spec.changes.values().filter_map(|planned| {
        Some(match &planned.change {
            Change::Create(create) => format!("+ {}", plan.spec.claims.get(&create.spec)?.pool),
            Change::Delete(delete) => format!("- {}", delete.target.node),
            Change::Update(update) => format!("~ {}", update.target.node),
            Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => return None,
        })
    });
    let mut changes: Vec<String> = changes.collect();
    changes.sort();
    Digest::of_bytes(changes.join("\n").as_bytes()).base32(LETTERS)
}

#[cfg(test)]
mod tests {
    use super::work;
    use crate::launch::tests::world::{moving, planned};

    #[test]
    fn the_same_work_seen_later_has_one_name_and_less_of_it_another() {
        let plan = planned(&moving());
        let mut later = plan.clone();
        later.spec.expires_at = None;
        assert_eq!(work(&plan), work(&later));
        later.spec.changes.retain(|_, planned| planned.change.delete().is_some());
        assert_ne!(work(&plan), work(&later));
        assert_eq!(work(&plan).len(), 26);
    }
}
