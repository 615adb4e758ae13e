//! What a claim lists beside its first choice, where pods are tied to domains.

use std::sync::Arc;

use nodeform::check::{Rule, check};
use nodeform::model::storage::{AskedClass, ClaimPhase, PodVolume, Volume, VolumeClaim, VolumeClaimKey};
use nodeform::model::{
    CapacityType, LabelKey, Namespace, Operator, PodAffinityTerm, Requirement, Requirements,
    SpreadConstraint, label,
};

use super::support::build::{PodBuilder, World};
use super::support::by_hand::by_hand;
use super::support::topology::{beside, over};
use super::support::{node, pod, pool, world};

/// What is said of a node for `web` in zone 1 that may come up in zone 2 as well.
fn said(world: World) -> Vec<String> {
    let new = ("Standard_D2s_v5", "1", CapacityType::OnDemand);
    let (world, mut plan) = by_hand(world.pool(pool("default"))).making("default", new, &["web"]).planned();
    for claim in plan.spec.claims.values_mut() {
        let zones = Requirement::new(Operator::In, ["westeurope-1", "westeurope-2"]);
        claim.requirements.set(LabelKey::new(label::ZONE), zones);
    }
    let found = check(&world.snapshot, &world.policy, &plan).into_iter();
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
    let other_zone = world().node(node("far").zone("3"));
    let hermit = apart(pod("hermit").on("far"), beside(label::ZONE, "web"));
    for tied in [
        world().pod(spread(web(), over(label::ZONE))),
        world().pod(apart(web(), beside(label::ZONE, "web"))),
        other_zone.pod(hermit).pod(web()),
    ] {
        assert_eq!(said(tied), [ELSEWHERE]);
    }
    for free in [
        world().pod(web()),
        world().pod(spread(web(), over(label::HOSTNAME))),
        world().pod(apart(web(), beside(label::HOSTNAME, "web"))),
    ] {
        assert_eq!(said(free), [""; 0]);
    }
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
