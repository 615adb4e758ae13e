//! What a claim lists beside its first choice, where pods are tied to domains.

use std::sync::Arc;

use nodeform::check::{Finding, Rule, check};
use nodeform::model::storage::{AskedClass, ClaimPhase, PodVolume, Volume, VolumeClaim, VolumeClaimKey};
use nodeform::model::{
    CapacityType, LabelKey, Namespace, Operator, PodAffinityTerm, Requirement, Requirements, ResourceName,
    SpreadConstraint, Strength, label,
};

use crate::support::build::{PodBuilder, World};
use crate::support::by_hand::by_hand;
use crate::support::topology::{app, beside, over};
use crate::support::{node, pod, pool, world};

/// What is found where the node of `web` in zone 1 may come up in zone 2 as well.
fn found(world: World) -> Vec<Finding> {
    let new = ("Standard_D2s_v5", "1", CapacityType::OnDemand);
    let (world, mut plan) = by_hand(world.pool(pool("default"))).making("default", new, &["web"]).planned();
    for claim in plan.spec.claims.values_mut() {
        let zones = Requirement::new(Operator::In, ["westeurope-1", "westeurope-2"]);
        claim.requirements.set(LabelKey::new(label::ZONE), zones);
    }
    check(&world.snapshot, &world.policy, &plan)
}

/// What is said of the node.
fn said(world: World) -> Vec<String> {
    let found = found(world).into_iter();
    found.filter(|it| it.rule == Rule::Offering).map(|it| it.message).collect()
}

fn web() -> PodBuilder {
    pod("web").label("app", "web")
}

fn spread(pod: PodBuilder, constraint: SpreadConstraint) -> PodBuilder {
    pod.specified(|spec| spec.spread.push(constraint))
}

fn apart(pod: PodBuilder, term: PodAffinityTerm) -> PodBuilder {
    pod.specified(|spec| spec.anti_affinity.push(term))
}

const ELSEWHERE: &str = "lists `Standard_D2s_v5` in zone `westeurope-2` as on-demand, where \
                         `topology.kubernetes.io/zone` is not what pods of the node are tied to";

#[test]
fn a_node_of_pods_that_are_tied_to_its_zone_comes_up_there() {
    let beside_itself = world().pod(web().specified(|spec| spec.affinity.push(beside(label::ZONE, "web"))));
    assert_eq!(said(beside_itself), [ELSEWHERE]);
    let counted = "lists `Standard_D2s_v5` in zone `westeurope-2` as on-demand, and pod `default/web` is spread over \
                   `topology.kubernetes.io/zone`, where the node counts as it is planned";
    assert_eq!(said(world().pod(spread(web(), over(label::ZONE)))), [counted, ELSEWHERE]);
    for free in [
        world().pod(web()),
        world().pod(spread(web(), over(label::HOSTNAME))),
        world().pod(apart(web(), beside(label::ZONE, "web"))),
    ] {
        assert_eq!(said(free), [""; 0]);
    }
}

/// Who is kept from whom where the node of `web` in zone 1 may come up in zone 2 as well.
fn kept_apart(world: World) -> Vec<String> {
    let found = found(world).into_iter().filter(|it| it.rule == Rule::PodAntiAffinity);
    found.map(|it| format!("{}: {}", it.object, it.message)).collect()
}

#[test]
fn a_node_keeps_others_away_in_every_zone_that_its_claim_lists() {
    let hermit = |zone: &str| {
        let hermit = apart(pod("hermit").on("other"), beside(label::ZONE, "web"));
        world().node(node("other").zone(zone)).pod(hermit).pod(web())
    };
    assert_eq!(kept_apart(hermit("3")), [""; 0]);
    assert_eq!(
        kept_apart(hermit("2")),
        ["pod `default/web`: shares zone `westeurope-2` with pod `default/hermit`, whose anti-affinity by \
             `topology.kubernetes.io/zone` is against it"]
    );
    let own = |zone: &str| {
        let other = pod("old").label("app", "web").on("other");
        world().node(node("other").zone(zone)).pod(other).pod(apart(web(), beside(label::ZONE, "web")))
    };
    assert_eq!(kept_apart(own("3")), [""; 0]);
    assert_eq!(kept_apart(own("2")).len(), 1);
}

#[test]
fn a_node_comes_up_where_the_volumes_of_its_pods_are() {
    let volume = |zones: &[&str]| {
        let mut world =
            world().pod(web().specified(|spec| spec.volumes = vec![PodVolume::Claim(Arc::from("data"))]));
        world.snapshot.storage.claims = vec![VolumeClaim {
            key: VolumeClaimKey { namespace: Namespace::new("default"), name: Arc::from("data") },
            volume: Some(Arc::from("pv")),
            class: AskedClass::Default,
            phase: ClaimPhase::Bound,
            is_deleting: false,
            is_for_one_pod: false,
            is_for_one_node: false,
            wish: None,
        }];
        world.snapshot.storage.volumes = vec![Volume {
            name: Arc::from("pv"),
            driver: None,
            node_affinity: Some(vec![
                Requirements::none().with(label::ZONE, Requirement::new(Operator::In, zones)),
            ]),
            claim: None,
            class: None,
            is_local: false,
            is_deleting: false,
            offer: None,
        }];
        world
    };
    assert_eq!(said(volume(&["westeurope-1", "westeurope-2"])), [""; 0]);
    let said = said(volume(&["westeurope-1"]));
    assert!(
        said.len() == 1 && said[0].contains("where pod `default/web` does not find its volumes"),
        "{said:?}"
    );
}

/// What is said where the node of `web`, which nothing ties to a zone, may come up in zone 2 as well.
fn said_beside(other: PodBuilder) -> Vec<String> {
    let there = world().node(node("one").zone("1").cordoned()).node(node("two").zone("2").cordoned());
    said(there.pod(other.on("one")).pod(web().selecting(label::NODE_POOL, "default")))
}

#[test]
fn a_node_that_a_spread_of_other_pods_counts_comes_up_in_the_zone_where_it_is_planned() {
    let other = |change: fn(&mut SpreadConstraint)| {
        let mut constraint = SpreadConstraint { selector: Some(app("other")), ..over(label::ZONE) };
        change(&mut constraint);
        spread(pod("other").label("app", "other"), constraint)
    };
    assert_eq!(
        said_beside(other(|_| {})),
        [
            "lists `Standard_D2s_v5` in zone `westeurope-2` as on-demand, and pod `default/other` is spread over \
          `topology.kubernetes.io/zone`, where the node counts as it is planned"
        ]
    );
    assert_eq!(said_beside(other(|constraint| constraint.strength = Strength::Preferred)), [""; 0]);
    assert_eq!(said_beside(other(|constraint| constraint.topology_key = label::HOSTNAME.into())), [""; 0]);
    assert_eq!(said_beside(other(|_| {}).selecting("team", "data")), [""; 0], "the node does not count");
    assert_eq!(said_beside(other(|_| {}).terminating()), [""; 0]);
}

/// What the judge says by this rule where the node of `web` may come up as two larger sizes as well.
fn said_of_sizes(world: World, rule: Rule) -> Vec<String> {
    let new = ("Standard_D2s_v5", "1", CapacityType::OnDemand);
    let (world, mut plan) = by_hand(world).making("default", new, &["web"]).planned();
    for claim in plan.spec.claims.values_mut() {
        let sizes = Requirement::new(Operator::In, ["Standard_D2s_v5", "Standard_D4s_v5"]);
        claim.requirements.set(LabelKey::new(label::INSTANCE_TYPE), sizes);
        claim.price_max = None;
    }
    let found = check(&world.snapshot, &world.policy, &plan).into_iter();
    found.filter(|it| it.rule == rule).map(|it| it.message).collect()
}

#[test]
fn a_choice_that_a_limit_leaves_no_room_for_beside_the_other_nodes_is_seen() {
    let limited =
        |cpu: &str| world().pool(pool("default").limit("cpu", cpu)).pod(web()).node(node("one").cordoned());
    let there = limited("100").snapshot.nodes[0].capacity.get(&ResourceName::Cpu) / 1000;
    let said = said_of_sizes(limited(&(there + 3).to_string()), Rule::PoolLimits);
    assert!(said.len() == 1 && said[0].contains("lists `Standard_D4s_v5`"), "{said:?}");
    assert_eq!(said_of_sizes(limited(&(there + 4).to_string()), Rule::PoolLimits), [""; 0]);
    let of_fleet = |milli: i64| {
        let world = world().pool(pool("default")).pod(web());
        said_of_sizes(world.fleet(|fleet| fleet.limits.cpu_milli = Some(milli)), Rule::FleetLimits)
    };
    assert_eq!(of_fleet(3000).len(), 1);
    assert_eq!(of_fleet(4000), [""; 0]);
}
