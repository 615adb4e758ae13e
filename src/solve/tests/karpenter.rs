//! Karpenter's strategy with removals: commands and passes as one target.

use std::collections::BTreeSet;

use super::topology::near;
use super::world::{PodWith, World, node, on, pod, pool, text};
use crate::model::{
    Disruption, DisruptionReason, Drift, Effect, InstanceType, LabelKey, Node, NodeName, Operator, PodPlace,
    Pool, Requirement, Requirements, ResourceName, Taint, label,
};
use crate::solve::karpenter::{self, Refused, Settings, UnnamedFamilies};
use crate::solve::solution::Solution;

const SMALL: &str = "Standard_D2s_v5";
const MIDDLE: &str = "Standard_D4s_v5";
const LARGE: &str = "Standard_D8s_v5";

fn open() -> Pool {
    Pool { disruption: Disruption::default(), ..pool("default") }
}

fn solved(world: &World, refused: &Refused) -> Solution {
    let settings = Settings { unnamed: UnnamedFamilies::LeaveOut, ..Settings::default() };
    karpenter::solve(&world.snapshot, &world.policy, settings, refused)
}

fn shown(world: &World) -> String {
    text(&solved(world, &Refused::default()))
}

fn staying(name: &str, reason: DisruptionReason) -> Refused {
    let mut refused = Refused::default();
    refused.removal(&NodeName::new(name), reason, "somebody says no");
    refused
}

/// Returns two nodes, each of which could take the other's pod.
fn halves() -> World {
    World::of(vec![open()])
        .nodes([node("n1", MIDDLE), node("n2", MIDDLE)])
        .pods([on("n1", pod("one").cpu("2").memory("7Gi")), on("n2", pod("two").cpu("1800m").memory("7Gi"))])
}

#[test]
fn a_node_whose_pods_fit_elsewhere_goes_and_they_are_placed_there() {
    assert_eq!(shown(&halves()), "= n2: one\n- n1: Underutilized\n");
}

#[test]
fn a_node_that_is_too_large_is_replaced_by_what_the_claim_may_become() {
    let world = World::of(vec![open()]).nodes([node("n1", LARGE)]).pods([on("n1", pod("one").cpu("1"))]);
    let solution = solved(&world, &Refused::default());
    assert_eq!(
        text(&solution),
        "+ default Standard_D2s_v5 eastus-1 on-demand 96000: one\n- n1: Underutilized\n"
    );
    let report = &solution.report;
    assert_eq!((report.cost_before.effective.0, report.cost_after.effective.0), (384_000, 96_000));
    // No substitute may cost as much as the replaced node.
    let sizes: BTreeSet<&str> =
        solution.target.new[0].substitutes.iter().map(|substitute| substitute.size.as_str()).collect();
    assert!(sizes.contains(MIDDLE) && !sizes.contains(LARGE), "{sizes:?}");
}

#[test]
fn sizes_whose_offerings_leave_out_how_they_are_bought_do_not_lead_on_without_an_end() {
    let unlabelled = |types: &mut Vec<InstanceType>| {
        for offering in types.iter_mut().flat_map(|kind| &mut kind.offerings) {
            offering.requirements = Requirements::none();
        }
    };
    let world = World::of(vec![open()])
        .nodes([node("n1", SMALL)])
        .pods([on("n1", pod("one").cpu("1"))])
        .types(unlabelled);
    // Each node is cheaper as spot, but its labels say that it is not spot.
    assert_eq!(solved(&world, &Refused::default()).target.removed.len(), 1);
}

#[test]
fn a_node_that_pods_wait_for_is_not_empty() {
    let world = World::of(vec![open()])
        .nodes([node("n1", SMALL), node("n2", SMALL), node("n3", SMALL)])
        .pods([pod("waits").cpu("1500m"), on("n1", pod("one").cpu("1500m"))]);
    assert_eq!(shown(&world), "= n2: waits\n- n3: Empty\n");
}

#[test]
fn pods_that_wait_get_nodes_beside_those_that_are_replaced() {
    let world = World::of(vec![open()])
        .nodes([node("n1", LARGE)])
        .pods([on("n1", pod("one").cpu("1")), pod("waits").cpu("15")]);
    let expected = "+ default Standard_D16s_v5 eastus-1 on-demand 768000: waits\n\
                    + default Standard_D2s_v5 eastus-1 on-demand 96000: one\n\
                    - n1: Underutilized\n";
    assert_eq!(shown(&world), expected);
}

#[test]
fn what_somebody_refuses_to_remove_stays_with_the_reason() {
    let solution = solved(&halves(), &staying("n1", DisruptionReason::Underutilized));
    assert_eq!(text(&solution), "= n1: two\n- n2: Underutilized\n~ n1: somebody says no\n");
}

#[test]
fn a_refused_drift_does_not_keep_an_empty_node() {
    let mut drifted: Node = node("n1", SMALL);
    drifted.claimed.drift = Some(Drift { reason: "NodePoolDrifted".into(), since: None });
    let world =
        World::of(vec![open()]).nodes([drifted, node("n2", SMALL)]).pods([on("n2", pod("one").cpu("1500m"))]);
    let solution = solved(&world, &staying("n1", DisruptionReason::Drifted));
    assert_eq!(text(&solution), "- n1: Empty\n");
}

#[test]
fn nodes_stay_where_no_pod_of_any_node_was_listed() {
    let world = World::of(vec![open()]).nodes([node("n1", SMALL)]).pods([pod("waits").cpu("3")]);
    assert_eq!(
        shown(&world),
        "+ default Standard_F4s_v2 eastus-1 on-demand 169000: waits\n~ n1: cannot tell which nodes are empty: the input has no running pods. Add `kubectl get pods -A -o yaml`\n"
    );
}

#[test]
fn nodes_of_pools_have_claims_where_none_was_read() {
    let mut world = halves();
    for node in &mut world.snapshot.nodes {
        node.claim = None;
    }
    assert_eq!(shown(&world), "= n2: one\n- n1: Underutilized\n");
}

#[test]
fn many_nodes_become_one_cheaper_one() {
    let mut world = World::of(vec![open()]);
    for number in 0..6 {
        let name = format!("n{number}");
        world = world.nodes([node(&name, LARGE)]).pods([on(&name, pod(&format!("p{number}")).cpu("900m"))]);
    }
    let text = shown(&world);
    let (made, removed) = text.split_once('\n').expect("a node is made");
    assert_eq!(made, "+ default Standard_F8s_v2 eastus-1 on-demand 338000: p0 p1 p2 p3 p4 p5");
    assert_eq!(removed.lines().count(), 6, "{removed}");
}

#[test]
fn a_drifted_node_that_stays_is_said_to_have_drifted_with_what_keeps_it() {
    let drifted = |name: &str, drift: Option<&str>| {
        let mut node = node(name, SMALL);
        node.claimed.drift = drift.map(|reason| Drift { reason: reason.into(), since: None });
        node
    };
    let busy = |name: &str| on(name, pod(&format!("of-{name}")).cpu("1500m"));
    let why = |world: World| {
        let staying = solved(&world, &Refused::default()).report.staying;
        staying.into_iter().map(|(node, why)| format!("{node}: {why}")).collect::<Vec<_>>()
    };
    let mut labelled = open();
    labelled.labels.insert(LabelKey::new("tier"), "gold".into());
    assert_eq!(
        why(World::of(vec![labelled]).nodes([drifted("n1", None)]).pods([busy("n1")])),
        [
            "n1: it has drifted: its pool has label `tier: gold` and it does not; but its NodeClaim does not say so, and Karpenter follows that"
        ]
    );
    let mut shy = busy("n1");
    shy.is_do_not_disrupt = true;
    assert_eq!(
        why(World::of(vec![open()]).nodes([drifted("n1", Some("NodePoolDrifted"))]).pods([shy])),
        [
            "n1: it has drifted: its NodeClaim says `NodePoolDrifted`; but its pod `default/of-n1` has `karpenter.sh/do-not-disrupt`"
        ]
    );
}

#[test]
fn why_a_rule_leaves_no_domain_is_said_without_names_that_are_made_up() {
    let why = |key: &str| {
        let alone = pod("alone").cpu("1").spec(|spec| spec.affinity.push(near(key, "nobody")));
        let world = World::of(vec![open()]).pods([alone]);
        let unplaced = solved(&world, &Refused::default()).report.unplaced;
        unplaced.into_iter().map(|unplaced| unplaced.because).collect::<Vec<_>>()
    };
    assert_eq!(
        why("example.com/rack"),
        [
            "pool `default`: pod affinity over `example.com/rack` leaves no domain: no node has that label, and none can be created with it"
        ]
    );
    assert_eq!(
        why(label::HOSTNAME),
        ["pool `default`: pod affinity over `kubernetes.io/hostname` leaves no node"]
    );
}

/// Returns a pod that Karpenter ignores because it selects nodes by name; a pod that keeps it away runs on one of two
/// nodes.
fn kept_away_from_n1(hosts: &[&str]) -> World {
    let mut other = node("n2", MIDDLE);
    other.labels.insert(LabelKey::new(label::ZONE), "eastus-2".into());
    let keeper = pod("keeper").cpu("2").spec(|spec| spec.anti_affinity.push(near(label::ZONE, "web")));
    let named = Requirement::new(Operator::In, hosts);
    let web = pod("web").cpu("1").terms(vec![Requirements::none().with(label::HOSTNAME, named)]);
    let web = web.spec(|spec| {
        spec.labels.insert("app".into(), "web".into());
    });
    World::of(vec![pool("default")]).nodes([node("n1", MIDDLE), other]).pods([
        on("n1", keeper),
        on("n2", pod("other").cpu("2")),
        web,
    ])
}

#[test]
fn who_is_bound_late_stays_out_of_the_domains_of_those_that_keep_it_away() {
    assert_eq!(shown(&kept_away_from_n1(&["n1", "n2"])), "= n2: web\n");
    let text = shown(&kept_away_from_n1(&["n1"]));
    assert!(text.starts_with("? web: not scheduled: Karpenter passes it over"), "{text}");
}

#[test]
fn who_is_refused_again_is_not_bound_late_either() {
    let world = World::of(vec![pool("default")])
        .nodes([node("n1", MIDDLE)])
        .pods([on("n1", pod("other").cpu("1")), pod("web").cpu("1")]);
    let again = || {
        let waiting = world.snapshot.pods.iter().filter(|pod| pod.place == PodPlace::Waiting);
        let pods = waiting.map(|pod| (pod.key.clone(), "somebody says no".to_owned())).collect();
        Refused { pods, ..Refused::default() }
    };
    let mut refused = again();
    assert_eq!(text(&solved(&world, &refused)), "= n1: web\n");
    refused.extend(again());
    assert_eq!(
        text(&solved(&world, &refused)),
        "? web: Kubernetes: Karpenter would place it, and the checker rejects: somebody says no\n"
    );
}

#[test]
fn the_limit_that_keeps_a_pod_from_a_new_node_is_named() {
    let because = |change: fn(&mut Pool), cpu: &str| {
        let mut owner = open();
        change(&mut owner);
        // A pool that would not take it anyway is not the one to change.
        let mut closed = Pool { name: "closed".into(), weight: 9, ..open() };
        closed.taints.push(Taint::new("closed", "", Effect::NoSchedule));
        let waiting = World::of(vec![closed, owner]).pods([pod("web").cpu(cpu)]);
        let unplaced = solved(&waiting, &Refused::default()).report.unplaced.remove(0);
        assert_eq!(unplaced.rule, "limits");
        unplaced.because
    };
    assert_eq!(
        because(|pool| pool.limits.set(ResourceName::Cpu, 3_000), "3"),
        "pool `default`: its `cpu` limit leaves 3, a node takes 4"
    );
    assert_eq!(
        because(|pool| pool.limits.set(ResourceName::Cpu, 1_000), "500m"),
        "pool `default`: its `cpu` limit leaves 1, a node takes 2"
    );
    assert_eq!(
        because(|pool| pool.nodes_max = Some(0), "1"),
        "pool `default`: it is at its node limit of 0 (`spec.limits.nodes`)"
    );
}
