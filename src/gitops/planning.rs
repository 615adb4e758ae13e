//! A plan to be proposed: of one class where one is named, beside what is proposed and merged already.

use crate::model::ChangeClass;
use crate::offline::again::forget_waiting;
use crate::offline::beside::Other;
use crate::offline::{World, beside};
use crate::plan::Plan;
use crate::review::proposal;

/// Plans a world beside what is proposed and approved already, as `others` says for the plan's own class; `planner` plans and has it
/// judged. Without `own` the class of the plan is its own.
///
/// # Errors
/// Whatever keeps the planner from a plan.
pub fn planned<E>(
    world: &World,
    own: Option<ChangeClass>,
    others: impl Fn(Option<ChangeClass>) -> Vec<Other>,
    planner: impl Fn(&World) -> Result<Plan, E>,
) -> Result<Plan, E> {
    // What is proposed of the plan's own class is replaced by it.
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

/// The classes that are proposed by themselves.
pub const PROPOSED: [ChangeClass; 6] = [
    ChangeClass::Create,
    ChangeClass::RemoveEmpty,
    ChangeClass::MovePods,
    ChangeClass::Replace,
    ChangeClass::Update,
    ChangeClass::DeletePool,
];

/// Returns the classes that are reviewed as this one.
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

/// Puts all but a class, and those that are reviewed as it, on hold; but for new nodes, as if pods that wait were not there:
/// nobody's review waits for another's.
pub fn narrow(world: &mut World, class: ChangeClass) {
    // Pods that move may need new nodes.
    let is_other = |held: &ChangeClass| !together(class).contains(held) && *held != ChangeClass::Create;
    world.policy.fleet.holds.classes.extend(ChangeClass::ALL.into_iter().filter(is_other));
    if class != ChangeClass::Create {
        forget_waiting(&mut world.snapshot);
    }
}
