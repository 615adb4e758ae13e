//! The checker independently finds faults in how a plan is applied.

use super::world::{FACTS, OBJECTS, moving, planned, world_of, world_without};
use crate::check::{Rule, check};
use crate::model::{MicroUsdPerHour, Zone};
use crate::offline::{judge, propose};
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

/// A fault, the checker's message, and whether it applies to the world in which pods move.
type Planted = (fn(&mut Plan), &'static str, bool);

const PLANTED: [Planted; 10] = [
    (
        |plan| execution(plan).made_for.clear(),
        "is made for other pods than those that are placed on it",
        false,
    ),
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
    (|plan| plan.spec.expires_at = None, "says how it is applied, and never expires", false),
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

/// Returns pods of an application that prefer to be spread over zones.
fn spread() -> String {
    let pod = |number: usize| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: web-{number}, labels: {{app: web}}, ownerReferences: \
             [{{apiVersion: apps/v1, kind: ReplicaSet, name: web, controller: true}}]}}\nspec:\n  \
             topologySpreadConstraints: [{{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, \
             whenUnsatisfiable: ScheduleAnyway, labelSelector: {{matchLabels: {{app: web}}}}}}]\n  \
             containers: [{{name: c, image: i, resources: {{requests: {{cpu: \"1\"}}}}}}]\n"
        )
    };
    let fleet = "---\napiVersion: nodeform.dev/v1alpha1\nkind: NodeFleet\nmetadata: {name: f}\nspec: {preferences: \
        {maxExtraCostPercent: 100}}\n";
    format!("{OBJECTS}{}{fleet}", (0..6).map(pod).collect::<String>())
}

#[test]
fn pods_that_a_node_is_made_for_are_told_by_what_they_ask_and_not_by_what_the_plan_holds_to() {
    let world = world_of(&spread(), FACTS);
    let planned = judge(&world, propose(&world)).expect("the judge accepts it");
    let report = &planned.plan.plan().evidence.report;
    let is_weighed = report.preferences.as_ref().is_some_and(|preferences| preferences.met > 0);
    assert!(
        is_weighed
            && report.unplaced.is_empty()
            && report.warnings.iter().all(|warning| !warning.what.contains("own check")),
        "{report:#?}"
    );
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
