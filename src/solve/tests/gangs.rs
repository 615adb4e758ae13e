//! Gangs: the required number of pods is placed, or none; running gangs are not broken up.

use std::sync::Arc;

use super::world::{PodWith, World, node, on, pod, pool, resources};
use crate::model::{ConsolidationPolicy, Disruption, Group, GroupRef, Node, Pod, Pool};

fn named(gang: &str) -> GroupRef {
    GroupRef::PodGroup(Arc::from(gang))
}

/// Returns `count` pods of a gang, each of which fills a node of four vCPUs.
fn members(gang: &str, count: usize) -> Vec<Pod> {
    let member =
        |number| pod(&format!("{gang}-{number}")).cpu("3").spec(|spec| spec.group = Some(named(gang)));
    (0..count).map(member).collect()
}

/// Returns a pool of nodes of four vCPUs with this node limit.
fn four_cores(nodes: u64) -> Pool {
    Pool { nodes_max: Some(nodes), ..pool("default") }
}

impl World {
    /// Declares a gang; without a minimum its pods are bound one by one.
    fn gang(mut self, name: &str, least: Option<u32>) -> Self {
        self.snapshot.groups.push(Group { namespace: "default".into(), name: named(name), least });
        self.snapshot.groups.sort();
        self
    }

    /// Allows only nodes that one such pod fills.
    fn of_four_cores(self) -> Self {
        self.types(|types| types.retain(|kind| kind.name.as_str() == "Standard_D4s_v5"))
    }

    fn placed(&self) -> Vec<String> {
        let solution = self.solve();
        let kept = solution.target.kept.iter().flat_map(|kept| &kept.pods);
        let mut pods: Vec<String> = kept
            .chain(solution.target.new.iter().flat_map(|node| &node.pods))
            .map(|pod| pod.name.to_string())
            .collect();
        pods.sort();
        pods
    }
}

#[test]
fn of_a_gang_that_does_not_fit_nothing_is_placed() {
    let world = World::of(vec![four_cores(2)]).of_four_cores();
    let world = world.gang("g", Some(4)).pods(members("g", 4));
    assert_eq!(
        world.text(),
        "? g-0 g-1 g-2 g-3: gang: 2 of 4 fit the limit of pool default; minCount is 4\n"
    );
}

#[test]
fn what_a_gang_cannot_use_is_left_to_others() {
    let world = World::of(vec![four_cores(2)]).of_four_cores().gang("g", Some(4));
    let world = world.pods(members("g", 4)).pods([pod("alone").cpu("3")]);
    assert_eq!(world.placed(), ["alone"]);
    let two = World::of(vec![four_cores(4)]).of_four_cores().gang("a", Some(4)).gang("b", Some(4));
    let two = two.pods(members("a", 4)).pods(members("b", 4));
    assert_eq!(two.placed().len(), 4, "one of two gangs is whole");
}

#[test]
fn more_than_the_least_may_be_placed_in_part() {
    let world = World::of(vec![four_cores(3)]).of_four_cores().gang("g", Some(2)).pods(members("g", 4));
    assert_eq!(world.placed(), ["g-0", "g-1", "g-2"], "{}", world.text());
}

#[test]
fn the_gang_of_the_higher_priority_is_whole_and_one_that_fits_without_others_comes_after() {
    let urgent = members("urgent", 3).into_iter().map(|pod| pod.priority(10));
    let world = World::of(vec![four_cores(3)]).of_four_cores().gang("urgent", Some(3)).gang("late", Some(2));
    let world = world.pods(urgent).pods(members("late", 2));
    assert_eq!(world.placed(), ["urgent-0", "urgent-1", "urgent-2"]);
    // The first gang can never be complete; the second was withheld before that was known.
    let urgent = members("urgent", 9).into_iter().map(|pod| pod.priority(10));
    let world = World::of(vec![four_cores(3)]).of_four_cores().gang("urgent", Some(9)).gang("late", Some(2));
    let world = world.pods(urgent).pods(members("late", 2));
    assert_eq!(world.placed(), ["late-0", "late-1"], "{}", world.text());
}

#[test]
fn a_gang_that_nothing_declares_waits_and_one_of_policy_basic_does_not() {
    let world = World::of(vec![four_cores(1)]).of_four_cores().pods(members("g", 2));
    assert_eq!(
        world.text(),
        "? g-0 g-1: gang: PodGroup `default/g` is not in the input, and its pods are not scheduled without it: add the \
         output of `kubectl get podgroups.scheduling.k8s.io -A -o yaml`\n"
    );
    assert_eq!(world.gang("g", None).placed(), ["g-0"]);
}

#[test]
fn a_gang_with_too_few_pods_says_how_many_it_has() {
    let world = World::of(vec![four_cores(9)]).of_four_cores().gang("g", Some(4)).pods(members("g", 3));
    assert_eq!(world.text(), "? g-0 g-1 g-2: gang: PodGroup `default/g` has 3 pods; minCount is 4\n");
}

#[test]
fn what_runs_counts_for_its_gang() {
    let four = || {
        let mut pods = members("g", 4);
        let rest = pods.split_off(2);
        let running = pods.into_iter().zip(["n1", "n2"]).map(|(pod, node)| on(node, pod));
        let nodes = ["n1", "n2"].map(|name| node(name, "Standard_D4s_v5"));
        (nodes, running.chain(rest).collect::<Vec<Pod>>())
    };
    let world = |most| {
        let (nodes, pods) = four();
        World::of(vec![four_cores(most)]).of_four_cores().gang("g", Some(4)).nodes(nodes).pods(pods)
    };
    assert_eq!(world(4).placed(), ["g-2", "g-3"]);
    assert_eq!(
        world(3).text(),
        "? g-2 g-3: gang: 3 of 4 (2 of them running) fit the limit of pool default; minCount is 4\n"
    );
}

#[test]
fn a_node_with_pods_that_its_gang_needs_stays() {
    let small =
        |name: &str, node: &str| on(node, pod(name).cpu("500m").spec(|spec| spec.group = Some(named("g"))));
    let world = |least| {
        let any = Disruption {
            policy: ConsolidationPolicy::WhenEmptyOrUnderutilized,
            consolidate_after: Some(jiff::SignedDuration::ZERO),
            budgets: Vec::new(),
        };
        let pool = Pool { disruption: any, limits: resources(&[]), ..pool("default") };
        let nodes =
            ["n1", "n2", "n3"].map(|name| Node { is_consolidatable: true, ..node(name, "Standard_D4s_v5") });
        World::of(vec![pool])
            .gang("g", least)
            .nodes(nodes)
            .pods([small("a", "n1"), small("b", "n2"), small("c", "n3")])
            .solve()
            .target
            .removed
            .len()
    };
    assert_eq!(world(None), 3, "nothing binds them: one small node does for all");
    assert_eq!(world(Some(3)), 0);
    assert_eq!(world(Some(2)), 1, "the gang can do without one of three");
}

#[test]
fn a_gang_of_which_a_pod_is_gated_waits_for_it() {
    let mut pods = members("g", 3);
    pods[2] = pods[2].clone().spec(|spec| {
        spec.gates.insert(Arc::from("quota"));
    });
    let world = World::of(vec![four_cores(9)]).of_four_cores().gang("g", Some(3)).pods(pods);
    assert_eq!(
        world.text(),
        "? g-0 g-1: gang: 2 of 3 fit; minCount is 3 (1 held back)\n! g-2: scheduling gates\n"
    );
}

#[test]
fn pods_of_a_gang_preempt_nobody() {
    let urgent = members("g", 1).into_iter().map(|pod| pod.priority(10));
    let world = World::of(vec![four_cores(1)]).of_four_cores().gang("g", Some(1));
    let world = world.nodes([node("n1", "Standard_D4s_v5")]).pods([on("n1", pod("low").cpu("3"))]);
    let after = crate::solve::preempted(world.pods(urgent).snapshot);
    assert!(after.preemptions.is_empty(), "{:?}", after.preemptions);
}
