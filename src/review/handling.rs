//! How a NodeFleet handles each change of a plan: automatic, reviewed or held, and why.
//!
//! Must never decide: the planner leaves held changes out, and the controller requires reviews. This only predicts it.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::model::{ChangeClass, Fleet, Hold, Mode, PoolName};
use crate::plan::{Change, ChangeId, Plan};

/// How a change is handled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Handling {
    /// Only shown: the mode is `observe`.
    Shown,
    /// Applied automatically.
    Automatic,
    /// Reviewed by people first.
    Reviewed,
    /// Held, for this reason.
    Held(String),
}

/// A change and how it is handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handled {
    /// How it is handled.
    pub handling: Handling,
    /// Its class.
    pub class: ChangeClass,
    /// The NodePool of its node, if any.
    pub pool: Option<PoolName>,
    /// The node, or the NodeClaim of a new one, as commands name them.
    pub name: String,
}

/// Returns how a fleet handles the changes of a plan at a time, followed by the held ones, which the plan does not
/// contain.
#[must_use]
pub fn handling(plan: &Plan, fleet: &Fleet, at: Option<Timestamp>) -> Vec<Handled> {
    let changes = plan.spec.changes.iter().filter_map(|(id, planned)| {
        let (class, pool, name) = match &planned.change {
            Change::Create(create) => {
                let pool = plan.spec.claims.get(&create.spec).map(|claim| claim.pool.clone());
                (ChangeClass::Create, pool, format!("nodeclaim/{}", create.claim))
            }
            Change::Delete(delete) => {
                let target = &delete.target;
                (ChangeClass::of(delete.reason), target.pool.clone(), format!("node/{}", target.node))
            }
            Change::Update(update) => {
                let target = &update.target;
                (ChangeClass::Update, target.pool.clone(), format!("node/{}", target.node))
            }
            Change::Adopt(_) => (ChangeClass::Adopt, None, format!("change `{id}`")),
            Change::Forget(_) => (ChangeClass::Forget, None, format!("change `{id}`")),
            Change::NoOp(_) => return None,
        };
        Some(Handled { handling: of(plan, fleet, (id, class, pool.as_ref(), at)), class, pool, name })
    });
    let held = plan.evidence.held.iter().map(|held| Handled {
        handling: Handling::Held(held.because.clone()),
        class: held.class,
        pool: held.pool.clone(),
        name: format!("node/{}", held.node),
    });
    changes.chain(held).collect()
}

fn of(
    plan: &Plan,
    fleet: &Fleet,
    (id, class, pool, at): (&ChangeId, ChangeClass, Option<&PoolName>, Option<Timestamp>),
) -> Handling {
    let nowhere = PoolName::new("");
    let pool = pool.unwrap_or(&nowhere);
    let change = plan.spec.changes.get(id).map(|planned| &planned.change);
    let held = match change {
        Some(Change::Create(_)) => fleet.holds.on_create(pool),
        Some(Change::Delete(delete)) => fleet.holds.on_removal(pool, delete.reason, at),
        Some(Change::Update(_) | Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_)) | None => {
            fleet.holds.on_change(pool, class, at)
        }
    };
    match (held, fleet.mode) {
        (Some(Hold { because, .. }), _) => Handling::Held(because),
        (None, Mode::Observe) => Handling::Shown,
        (None, Mode::Auto | Mode::Review) if fleet.is_suspended => {
            Handling::Held("the NodeFleet has `suspend: true`".to_owned())
        }
        (None, Mode::Auto | Mode::Review) if fleet.reviewed.has(class, pool) => Handling::Reviewed,
        (None, Mode::Auto | Mode::Review) => match class {
            ChangeClass::DeletePool | ChangeClass::Adopt | ChangeClass::Forget => {
                Handling::Held(format!("`{class}` never happens by itself"))
            }
            ChangeClass::Create
            | ChangeClass::RemoveEmpty
            | ChangeClass::MovePods
            | ChangeClass::Replace
            | ChangeClass::Update => Handling::Automatic,
        },
    }
}

/// Groups changes by handling, class and pool.
#[must_use]
pub fn grouped(handled: Vec<Handled>) -> BTreeMap<(Handling, ChangeClass, Option<PoolName>), Vec<String>> {
    let mut groups: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for Handled { handling, class, pool, name } in handled {
        groups.entry((handling, class, pool)).or_default().push(name);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::tests::world::{moving, planned};
    use crate::model::Reviewed;

    fn said(fleet: &Fleet) -> Vec<String> {
        let plan = planned(&moving());
        assert!(plan.spec.deletes().count() > 0 && plan.spec.creates().count() > 0);
        let groups = grouped(handling(&plan, fleet, plan.evidence.seen_at));
        groups.into_keys().map(|(handling, class, _)| format!("{class}: {handling:?}")).collect()
    }

    #[test]
    fn what_becomes_of_changes_follows_from_mode_reviews_and_holds() {
        let mut fleet = Fleet::default();
        assert!(said(&fleet).iter().all(|line| line.ends_with(": Shown")), "{:?}", said(&fleet));
        fleet.mode = Mode::Auto;
        assert!(said(&fleet).iter().all(|line| line.ends_with(": Automatic")), "{:?}", said(&fleet));
        fleet.mode = Mode::Review;
        fleet.reviewed = Reviewed { classes: [ChangeClass::Replace].into(), ..Reviewed::default() };
        assert!(said(&fleet).contains(&"create: Automatic".to_owned()), "{:?}", said(&fleet));
        assert!(said(&fleet).contains(&"replace: Reviewed".to_owned()), "{:?}", said(&fleet));
        fleet.holds.classes.insert(ChangeClass::Replace);
        let held = "replace: Held(\"`approve` of the NodeFleet has `replace: hold`\")".to_owned();
        assert!(said(&fleet).contains(&held), "{:?}", said(&fleet));
        fleet.is_suspended = true;
        assert!(said(&fleet).iter().all(|line| line.contains(": Held(")), "{:?}", said(&fleet));
    }
}
