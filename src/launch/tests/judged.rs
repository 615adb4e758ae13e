//! The judge sees what is wrong with how a plan is carried out, by its own reasoning.

use super::world::{FACTS, OBJECTS, moving, planned, world_of, world_without};
use crate::check::{Rule, check};
use crate::model::{MicroUsdPerHour, Zone};
use crate::plan::Plan;
use crate::plan::execution::{Execution, Launch, NodeIdentity, Removal};

fn execution(plan: &mut Plan) -> &mut Execution {
    plan.spec.execution.as_mut().expect("it can be carried out")
}

fn launch(plan: &mut Plan) -> &mut Launch {
    execution(plan).launches.values_mut().next().expect("a launch")
}

fn removal(plan: &mut Plan) -> &mut Removal {
    execution(plan).removals.values_mut().next().expect("a removal")
}

fn identity(plan: &mut Plan) -> &mut NodeIdentity {
    execution(plan).nodes.values_mut().next().expect("a node")
}

/// A fault, what the judge says of it, and whether it is of the world in which pods move.
type Planted = (fn(&mut Plan), &'static str, bool);

const PLANTED: [Planted; 9] = [
    (|plan| removal(plan).after.clear(), "does not wait for just those new nodes that take its pods", true),
    (|plan| removal(plan).grace = None, "drains for another time than its NodeClaim says", true),
    (|plan| identity(plan).vm_id = Some("other".into()), "is bound to another Node, NodeClaim or VM", true),
    (|plan| execution(plan).nodes.clear(), "is changed, and nothing says which VM it is", true),
    (|plan| launch(plan).choices.reverse(), "does not try its first choice first", false),
    (
        |plan| launch(plan).choices[1].choice.zone = Zone::new("westeurope-9"),
        "which its claim does not admit",
        false,
    ),
    (
        |plan| launch(plan).choices[1].price_max = Some(MicroUsdPerHour(1)),
        "says another price of choice",
        false,
    ),
    (|plan| execution(plan).nominations.clear(), "nominates other pods than those that wait for it", false),
    (|plan| plan.spec.expires_at = None, "says how it is carried out, and never expires", false),
];

#[test]
fn each_planted_fault_is_found() {
    for (plant, said, moves) in PLANTED {
        let objects = if moves { moving() } else { OBJECTS.to_owned() };
        let world = world_of(&objects, FACTS);
        let mut plan = planned(&objects);
        assert_eq!(check(&world.snapshot, &world.policy, &plan), [], "{said}");
        plant(&mut plan);
        let found = check(&world.snapshot, &world.policy, &plan);
        let is_it = |rule: Rule, message: &str| rule == Rule::Execution && message.contains(said);
        assert!(found.iter().any(|finding| is_it(finding.rule, &finding.message)), "{said}: {found:#?}");
    }
}

#[test]
fn removals_while_a_kind_could_not_be_listed_are_found() {
    let plan = planned(&moving());
    for kind in ["nodeclaims", "pdb"] {
        let world = world_without(&[kind], &moving(), FACTS);
        let found = check(&world.snapshot, &world.policy, &plan);
        let is_it = |rule: Rule, message: &str| rule == Rule::Gaps && message.contains("while it is unknown");
        assert!(found.iter().any(|finding| is_it(finding.rule, &finding.message)), "{kind}: {found:#?}");
    }
}
