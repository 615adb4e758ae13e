//! Pool weight where a pod is tied to others: a heavier pool is held against a plan only in the same domains.

use nodeform::check::Rule;
use nodeform::model::{CapacityType, Operator, label};

use super::findings;
use crate::support::build::{PodBuilder, World};
use crate::support::by_hand::by_hand;
use crate::support::fleet::PoolBuilder;
use crate::support::topology::{beside, over};
use crate::support::{node, pod, pool, world};

/// The rules by which the judge objects to a node of `default` in zone 1 for a pod, beside a heavier pool.
fn rules(world: World, heavy: PoolBuilder) -> Vec<Rule> {
    let new = ("Standard_D2s_v5", "1", CapacityType::OnDemand);
    let plan = by_hand(world.pool(pool("default")).pool(heavy.weight(10))).making("default", new, &["web"]);
    findings(plan).into_iter().map(|finding| finding.rule).collect()
}

fn heavy() -> PoolBuilder {
    pool("heavy")
}

fn heavy_in(key: &str, value: &'static str) -> PoolBuilder {
    heavy().requiring(key, Operator::In, &[value])
}

fn web() -> PodBuilder {
    pod("web").label("app", "web")
}

#[test]
fn a_pod_that_is_tied_is_judged_by_offerings_in_its_domains() {
    let tied = [
        web().specified(|spec| spec.spread.push(over(label::ZONE))),
        web().specified(|spec| spec.anti_affinity.push(beside(label::HOSTNAME, "web"))),
    ];
    for pod in tied {
        let rules = |heavy| rules(world().pod(pod.clone()), heavy);
        assert_eq!(rules(heavy()), [Rule::PoolWeight]);
        assert_eq!(rules(heavy_in(label::ZONE, "westeurope-1")), [Rule::PoolWeight]);
        assert_eq!(rules(heavy_in(label::ZONE, "westeurope-2")), []);
        assert_eq!(rules(heavy_in(label::CAPACITY_TYPE, "spot")), []);
    }
    let rules = |heavy| rules(world().pod(web()), heavy);
    assert_eq!(rules(heavy_in(label::ZONE, "westeurope-2")), [Rule::PoolWeight], "it is not tied");
}

#[test]
fn a_label_of_our_own_is_a_domain_too() {
    let pod = web().specified(|spec| spec.anti_affinity.push(beside("example.com/rack", "web")));
    let rules = |heavy| rules(world().pod(pod.clone()), heavy);
    assert_eq!(rules(heavy()), [Rule::PoolWeight]);
    assert_eq!(rules(heavy().label("example.com/rack", "a")), []);
}

#[test]
fn a_pod_that_another_keeps_away_is_tied() {
    let hermit =
        pod("hermit").on("far").specified(|spec| spec.anti_affinity.push(beside(label::ZONE, "web")));
    let world = world().node(node("far").zone("2")).pod(hermit).pod(web());
    assert_eq!(rules(world.clone(), heavy_in(label::ZONE, "westeurope-2")), []);
    assert_eq!(rules(world, heavy()), [Rule::PoolWeight]);
}
