//! Replanning with caches: reuses nothing of another market or policy, and everything of the same.

use std::sync::Arc;

use super::world::{PodWith, World, daemon, pod, pool};
use crate::model::{
    LabelKey, LabelSelector, MicroUsdPerHour, Pod, Requirement, Requirements, ResourceName, Resources,
    SpreadConstraint, Strength, label,
};
use crate::solve::daemons::Daemons;
use crate::solve::market::Market;
use crate::solve::memo::{Memos, Supplied};
use crate::solve::topology::Topology;
use crate::solve::{Solver, solve};

/// Returns pods of an app that are spread over zones.
fn spread(name: &str, count: usize, cpu: &str) -> Vec<Pod> {
    let of = |number: usize| {
        pod(&format!("{name}-{number}")).cpu(cpu).spec(|spec| {
            spec.labels.insert("app".into(), name.into());
            spec.spread.push(SpreadConstraint {
                topology_key: LabelKey::new(label::ZONE),
                max_skew: 1,
                strength: Strength::Required,
                selector: Some(LabelSelector(Requirements::none().with("app", Requirement::one(name)))),
                min_domains: None,
                honors_node_affinity: true,
                honors_node_taints: false,
                match_label_keys: Vec::new(),
            });
        })
    };
    (1..=count).map(of).collect()
}

fn world() -> World {
    World::of(vec![pool("default")])
        .pods(spread("web", 7, "900m"))
        .pods(spread("api", 2, "2500m"))
        .daemons([daemon("logs")])
}

fn memo(memos: &Memos, world: &World) -> Arc<Supplied> {
    let market = Market::of(&world.snapshot, &world.policy);
    let topology = Topology::of(&world.snapshot);
    memos.beside(&world.policy, &market, &Daemons::of(&world.snapshot, &topology))
}

/// Returns worlds that differ from the first one in what their nodes may be, each in its own way.
fn others() -> Vec<World> {
    let mut heavier = world();
    let more = Resources::none().with(ResourceName::Cpu, 1000);
    Arc::make_mut(&mut heavier.snapshot.daemons[0].spec).requests.add(&more);
    let mut dearer = world();
    dearer.policy.fleet.prices.cost_per_node = MicroUsdPerHour(500_000);
    let listed = world().types(|types| {
        for kind in types.iter_mut().filter(|kind| kind.name.as_str().contains("_D")) {
            kind.offerings.iter_mut().for_each(|offering| offering.is_available = false);
        }
    });
    let zones = world().types(|types| {
        for kind in types {
            kind.offerings.retain(|offering| offering.zone.as_str() != "eastus-2");
        }
    });
    let mut narrower = world();
    narrower.policy.pools =
        World::of(vec![pool("default").requires(label::SKU_FAMILY, Requirement::one("E"))]).policy.pools;
    vec![heavier, dearer, listed, zones, narrower]
}

#[test]
fn a_plan_after_others_is_the_plan_from_nothing() {
    let (solver, first) = (Solver::default(), world());
    let before = solver.solve(&first.snapshot, &first.policy);
    for other in others() {
        let plan = solver.solve(&other.snapshot, &other.policy);
        assert_eq!(plan, solve(&other.snapshot, &other.policy));
        assert_ne!(plan.target, before.target);
        assert_eq!(solver.solve(&first.snapshot, &first.policy), before);
    }
}

#[test]
fn what_was_kept_is_found_again_when_only_pods_change() {
    let (memos, first) = (Memos::default(), world());
    let kept = memo(&memos, &first);
    let more = world().pods(spread("web-more", 3, "500m"));
    assert!(Arc::ptr_eq(&kept, &memo(&memos, &more)));
    for other in others() {
        assert!(!Arc::ptr_eq(&kept, &memo(&memos, &other)));
    }
}

#[test]
fn no_more_is_kept_than_a_few_supplies() {
    let (memos, first) = (Memos::default(), world());
    let kept = memo(&memos, &first);
    let dearer = (1..=4).map(|cents| {
        let mut dearer = world();
        dearer.policy.fleet.prices.cost_per_node = MicroUsdPerHour(cents * 10_000);
        dearer
    });
    for other in others().into_iter().chain(dearer) {
        memo(&memos, &other);
    }
    assert!(!Arc::ptr_eq(&kept, &memo(&memos, &first)), "nine others were asked for since");
}
