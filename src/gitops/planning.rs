//! Plans a proposal: of one class if it is named, taking proposed and merged plans into account.

use crate::model::ChangeClass;
use crate::offline::again::forget_waiting;
use crate::offline::beside::Other;
use crate::offline::{World, beside};
use crate::plan::Plan;
use crate::review::proposal;

/// Plans a world together with the proposed and approved plans, which `others` returns for the plan's own class;
/// `planner` plans and runs the checker. Without `own`, the class of the plan is used.
///
/// # Errors
/// As `planner`.
pub fn planned<E>(
    world: &World,
    own: Option<ChangeClass>,
    others: impl Fn(Option<ChangeClass>) -> Vec<Other>,
    planner: impl Fn(&World) -> Result<Plan, E>,
) -> Result<Plan, E> {
    // The plan replaces proposals of its own class.
    let own = match own {
        Some(class) => Some(class),
        None => proposal::class(&planner(world)?),
    };
    let others = others(own);
    let mut world = world.clone();
    beside::leave(&mut world, &others);
    let mut plan = planner(&world)?;
    beside::name(&mut plan, &others);
    Ok(plan)
}

/// Classes that are proposed separately.
pub const PROPOSED: [ChangeClass; 6] = [
    ChangeClass::Create,
    ChangeClass::RemoveEmpty,
    ChangeClass::MovePods,
    ChangeClass::Replace,
    ChangeClass::Update,
    ChangeClass::DeletePool,
];

/// Returns the classes that are reviewed together with this one.
#[must_use]
pub const fn together(class: ChangeClass) -> &'static [ChangeClass] {
    match class {
        ChangeClass::Create => &[ChangeClass::Create],
        ChangeClass::RemoveEmpty => &[ChangeClass::RemoveEmpty],
        ChangeClass::MovePods => &[ChangeClass::MovePods],
        ChangeClass::Replace => &[ChangeClass::Replace],
        ChangeClass::Update | ChangeClass::Adopt | ChangeClass::Forget => {
            &[ChangeClass::Update, ChangeClass::Adopt, ChangeClass::Forget]
        }
        ChangeClass::DeletePool => &[ChangeClass::DeletePool],
    }
}

/// Holds all classes except one and those reviewed together with it. Except for new nodes, it also ignores pending
/// pods, so that no review waits for another.
pub fn narrow(world: &mut World, class: ChangeClass) {
    // Pods that are moved may need new nodes.
    let is_other = |held: &ChangeClass| !together(class).contains(held) && *held != ChangeClass::Create;
    world.policy.fleet.holds.classes.extend(ChangeClass::ALL.into_iter().filter(is_other));
    if class != ChangeClass::Create {
        forget_waiting(&mut world.snapshot);
    }
}
