//! Nodes are kept if their pods are needed by others in their zone.

use super::topology::{near, pods};
use super::world::{PodWith, World, node, on, pod, pool};
use crate::model::{Disruption, LabelKey, Node, NodeName, Pod, PodSpec, Pool, label};
use crate::solve::explain::NodeExplanation;
use crate::solve::explain::node::NodeFate;
use crate::solve::shrink::alone::Alone;
use crate::solve::{NodeRef, explain_node};

const SIZE: &str = "Standard_D4s_v5";

fn node_in(zone: &str, name: &str) -> Node {
    let mut node = node(name, SIZE);
    node.labels.insert(LabelKey::new(label::ZONE), zone.into());
    node
}

/// Returns a node with a small pod and a nearly full one in the same zone, and one with free capacity in another zone.
fn world(on_the_full_one: impl Fn(&mut PodSpec)) -> World {
    let open = Pool { disruption: Disruption::default(), ..pool("default") };
    let web: Vec<Pod> = pods("web", 1, on_the_full_one);
    let stays = |pod: Pod| Pod { is_do_not_disrupt: true, ..pod };
    let web = web.into_iter().map(|pod| stays(on("n2", pod.cpu("3300m"))));
    let cache = pods("cache", 1, |_| {}).into_iter().map(|pod| on("n1", pod.cpu("900m")));
    let nodes = [node_in("eastus-1", "n1"), node_in("eastus-1", "n2"), node_in("eastus-2", "n3")];
    World::of(vec![open]).nodes(nodes).pods(web).pods(cache).pods([stays(on("n3", pod("api").cpu("2")))])
}

fn removed(world: &World) -> Vec<NodeName> {
    world.solve().target.removed_names().into_iter().collect()
}

#[test]
fn a_pod_is_not_moved_away_from_one_that_has_to_stand_beside_it_in_its_zone() {
    assert_eq!(removed(&world(|_| {})), [NodeName::new("n1")]);
    let tied = world(|spec| spec.affinity.push(near(label::ZONE, "cache")));
    assert_eq!(removed(&tied), []);
    let why = explain_node((&tied.snapshot, &tied.policy), &tied.solve(), &NodeRef::Existing("n1".into()));
    let is_needed =
        matches!(why, NodeExplanation::Existing { fate: NodeFate::StaysInUse(Alone::Needed), .. });
    assert!(is_needed, "{why:?}");
}

#[test]
fn one_of_several_that_a_pod_may_stand_beside_may_go() {
    let tied = world(|spec| spec.affinity.push(near(label::ZONE, "cache")));
    let another = pods("cache", 2, |_| {}).pop().expect("two were asked for");
    assert_eq!(removed(&tied.pods([on("n2", another.cpu("100m"))])), [NodeName::new("n1")]);
}

#[test]
fn what_was_apart_already_keeps_no_node() {
    let tied = world(|spec| spec.affinity.push(near(label::ZONE, "gone")));
    assert_eq!(removed(&tied), [NodeName::new("n1")]);
}
