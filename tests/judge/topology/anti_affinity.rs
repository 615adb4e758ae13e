//! Required pod anti-affinity.

use std::collections::BTreeSet;

use nodeform::check::Rule;
use nodeform::model::{CapacityType, LabelKey, LabelSelector, Namespace, PodAffinityTerm, label};

use super::told_apart;
use crate::support::build::{PodBuilder, World};
use crate::support::topology::{beside, everything, labelled};
use crate::support::{daemon, node, pod, pool, world};

/// Small pods with this `app`.
fn of(app: &str) -> PodBuilder {
    pod(app).cpu("100m").memory("64Mi").label("app", app)
}

fn apart(pod: PodBuilder, term: PodAffinityTerm) -> PodBuilder {
    pod.specified(|spec| spec.anti_affinity.push(term))
}

/// Two nodes in zone 1, one in zone 2.
fn nodes() -> World {
    world()
        .pool(pool("default"))
        .node(node("n1").zone("1"))
        .node(node("n2").zone("1"))
        .node(node("far").zone("2"))
}

#[test]
fn two_pods_on_a_host_that_must_be_alone() {
    told_apart(
        &nodes().pods(apart(of("web"), beside(label::HOSTNAME, "web")).times(2)),
        Rule::PodAntiAffinity,
        |plan| plan.keeping("n1", &["web-1"]).keeping("n2", &["web-2"]),
        |plan| plan.keeping("n1", &["web-1", "web-2"]),
    );
}

#[test]
fn two_pods_on_a_new_host_that_must_be_alone() {
    told_apart(
        &world().pool(pool("default")).pods(apart(of("web"), beside(label::HOSTNAME, "web")).times(2)),
        Rule::PodAntiAffinity,
        |plan| {
            let size = ("Standard_D2s_v5", "1", CapacityType::OnDemand);
            plan.making("default", size, &["web-1"]).making("default", size, &["web-2"])
        },
        |plan| plan.making("default", ("Standard_D2s_v5", "1", CapacityType::OnDemand), &["web-1", "web-2"]),
    );
}

#[test]
fn two_pods_in_a_zone_that_must_be_alone() {
    told_apart(
        &nodes().pods(apart(of("web"), beside(label::ZONE, "web")).times(2)),
        Rule::PodAntiAffinity,
        |plan| plan.keeping("n1", &["web-1"]).keeping("far", &["web-2"]),
        |plan| plan.keeping("n1", &["web-1"]).keeping("n2", &["web-2"]),
    );
}

#[test]
fn a_running_pod_that_keeps_the_new_one_away() {
    told_apart(
        &nodes().pod(apart(of("hermit").on("n1"), beside(label::ZONE, "web"))).pod(of("web")),
        Rule::PodAntiAffinity,
        |plan| plan.keeping("far", &["web"]),
        |plan| plan.keeping("n2", &["web"]),
    );
}

#[test]
fn a_running_pod_that_the_new_one_keeps_away() {
    told_apart(
        &nodes().pod(of("web").on("n1")).pod(apart(of("hermit"), beside(label::ZONE, "web"))),
        Rule::PodAntiAffinity,
        |plan| plan.keeping("far", &["hermit"]),
        |plan| plan.keeping("n2", &["hermit"]),
    );
}

#[test]
fn a_new_pod_that_another_new_one_keeps_away() {
    told_apart(
        &nodes().pod(of("web")).pod(apart(of("hermit"), beside(label::ZONE, "web"))),
        Rule::PodAntiAffinity,
        |plan| plan.keeping("n1", &["web"]).keeping("far", &["hermit"]),
        |plan| plan.keeping("n1", &["web"]).keeping("n2", &["hermit"]),
    );
}

#[test]
fn a_daemons_pod_that_the_new_one_keeps_away() {
    let daemon = daemon("agent").with(|pod| pod.label("app", "agent"));
    let away = PodAffinityTerm {
        namespaces: BTreeSet::from([Namespace::new("kube-system")]),
        ..beside(label::HOSTNAME, "agent")
    };
    told_apart(
        &nodes().pods([daemon.on("n1")]).pod(apart(of("web"), away)),
        Rule::PodAntiAffinity,
        |plan| plan.keeping("n2", &["web"]),
        |plan| plan.keeping("n1", &["web"]),
    );
}

#[test]
fn a_daemonset_to_come_that_keeps_the_new_one_away() {
    let away = PodAffinityTerm {
        namespaces: BTreeSet::from([Namespace::new("default")]),
        ..beside(label::HOSTNAME, "web")
    };
    let daemon = daemon("guard").with(|pod| apart(pod.selecting(label::ZONE, "westeurope-1"), away));
    told_apart(
        &nodes().daemon(daemon).pod(of("web")),
        Rule::PodAntiAffinity,
        |plan| plan.keeping("far", &["web"]),
        |plan| plan.keeping("n1", &["web"]),
    );
}

/// Where namespace `shop` is labelled `team: blue`, and `default` is `team: red`.
fn teams() -> World {
    let mut world = nodes();
    for (namespace, team) in [("shop", "blue"), ("default", "red")] {
        let labels = [(LabelKey::new("team"), team.into())].into();
        world.snapshot.namespaces.insert(Namespace::new(namespace), labels);
    }
    world
}

fn from_namespaces(selector: LabelSelector) -> PodAffinityTerm {
    PodAffinityTerm { namespace_selector: Some(selector), ..beside(label::ZONE, "web") }
}

#[test]
fn pods_of_other_namespaces_that_a_selector_means() {
    let selectors =
        [labelled("team", "red"), labelled("kubernetes.io/metadata.name", "default"), everything()];
    for selector in selectors {
        let hermit = apart(of("hermit").in_namespace("shop").on("n1"), from_namespaces(selector));
        told_apart(
            &teams().pod(hermit).pod(of("web")),
            Rule::PodAntiAffinity,
            |plan| plan.keeping("far", &["web"]),
            |plan| plan.keeping("n2", &["web"]),
        );
    }
}

#[test]
fn the_new_pods_selector_of_namespaces_means_running_pods() {
    told_apart(
        &teams()
            .pod(of("web").in_namespace("shop").on("n1"))
            .pod(apart(of("hermit"), from_namespaces(labelled("team", "blue")))),
        Rule::PodAntiAffinity,
        |plan| plan.keeping("far", &["hermit"]),
        |plan| plan.keeping("n2", &["hermit"]),
    );
}

#[test]
fn namespaces_that_are_not_meant_are_not() {
    let selectors = [labelled("team", "blue"), labelled("kubernetes.io/metadata.name", "shop")];
    for selector in selectors {
        let hermit = apart(of("hermit").in_namespace("shop").on("n1"), from_namespaces(selector));
        super::by_hand(teams().pod(hermit).pod(of("web"))).keeping("n1", &["web"]).planned();
    }
    let own = apart(of("hermit").in_namespace("shop").on("n1"), beside(label::ZONE, "web"));
    super::by_hand(teams().pod(own).pod(of("web"))).keeping("n1", &["web"]).planned();
}

#[test]
fn pods_that_are_being_deleted_count_while_they_run() {
    told_apart(
        &nodes().pod(of("web").terminating().on("n1")).pod(apart(of("hermit"), beside(label::ZONE, "web"))),
        Rule::PodAntiAffinity,
        |plan| plan.keeping("far", &["hermit"]),
        |plan| plan.keeping("n2", &["hermit"]),
    );
}

#[test]
fn pods_that_move_do_not_count_where_they_were() {
    told_apart(
        &nodes()
            .node(node("old").zone("1").deleting())
            .pods(apart(of("web").on("old"), beside(label::ZONE, "web")).times(2)),
        Rule::PodAntiAffinity,
        |plan| plan.keeping("n1", &["web-1"]).keeping("far", &["web-2"]),
        |plan| plan.keeping("n1", &["web-1"]).keeping("n2", &["web-2"]),
    );
}

#[test]
fn pods_that_stay_on_a_node_that_goes_count() {
    told_apart(
        &nodes()
            .node(node("old").zone("1").deleting())
            .pod(of("web").do_not_disrupt().on("old"))
            .pod(apart(of("hermit"), beside(label::ZONE, "web"))),
        Rule::PodAntiAffinity,
        |plan| plan.keeping("far", &["hermit"]),
        |plan| plan.keeping("n1", &["hermit"]),
    );
}

#[test]
fn a_node_without_the_label_is_in_nobodys_way() {
    let world = nodes().pods(apart(of("web"), beside("example.com/rack", "web")).times(2));
    super::by_hand(world).keeping("n1", &["web-1", "web-2"]).planned();
}

#[test]
fn running_pods_that_are_together_are_nobodys_fault() {
    let world = nodes().pods(apart(of("web").on("n1"), beside(label::ZONE, "web")).times(2)).pod(of("other"));
    super::by_hand(world).keeping("n1", &["other"]).planned();
}

/// The pods that the judge objects to.
fn objected(world: World, placing: impl Fn(super::ByHand) -> super::ByHand) -> Vec<String> {
    let found = super::findings(placing(super::by_hand(world)));
    found.into_iter().map(|it| it.object.replace("pod `default/", "").replace('`', "")).collect()
}

#[test]
fn no_more_pods_are_objected_to_than_must_go() {
    let alone = apart(of("web"), beside(label::HOSTNAME, "web")).times(4);
    let names = ["web-1", "web-2", "web-3", "web-4"];
    assert_eq!(objected(nodes().pods(alone), |plan| plan.keeping("n1", &names)), names[1..]);
    let hermit = || apart(of("hermit"), beside(label::HOSTNAME, "web"));
    let beside_many = nodes().pod(hermit()).pods(of("web").times(3));
    let all = ["hermit", "web-1", "web-2", "web-3"];
    assert_eq!(objected(beside_many, |plan| plan.keeping("n1", &all)), ["hermit"]);
    let many = nodes().pods(hermit().times(3)).pod(of("web"));
    let all = ["hermit-1", "hermit-2", "hermit-3", "web"];
    assert_eq!(objected(many, |plan| plan.keeping("n1", &all)), ["web"]);
    // One that is on both sides, with one that only has the rule.
    let both = nodes().pod(apart(of("web"), beside(label::HOSTNAME, "web"))).pod(hermit());
    assert_eq!(objected(both, |plan| plan.keeping("n1", &["hermit", "web"])), ["web"]);
}
