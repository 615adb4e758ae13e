//! Soft preferences: their effect, their budget, and the report of those that are given up.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::world::{PodWith, World, ZONES, node, on, pod, pool, text, toleration};
use crate::model::{
    Budget, BudgetNodes, Disruption, Effect, ExtraCost, Form, LabelKey, LabelSelector, NodeAffinity,
    Operator, Pod, PodAffinityTerm, PodKey, PodPlace, Pool, Preferred, Requirement, Requirements,
    ResourceName, SpreadConstraint, Strength, Taint, label,
};
use crate::solve::{GivenUp, Preferences, Solution};

fn selector() -> LabelSelector {
    LabelSelector(Requirements::none().with("app", Requirement::one("web")))
}

/// Returns pods of app `web`.
fn web(count: usize) -> Vec<Pod> {
    let labelled = |number: usize| {
        pod(&format!("web-{number:03}")).spec(|spec| {
            spec.labels = BTreeMap::from([(LabelKey::new("app"), Arc::from("web"))]);
        })
    };
    (0..count).map(labelled).collect()
}

fn with(pods: Vec<Pod>, change: impl Fn(&mut crate::model::PodSpec)) -> Vec<Pod> {
    pods.into_iter().map(|pod| pod.spec(&change)).collect()
}

fn term(key: &str, weight: u32) -> Preferred<PodAffinityTerm> {
    let term = PodAffinityTerm {
        topology_key: LabelKey::new(key),
        selector: Some(selector()),
        namespaces: [].into(),
        namespace_selector: None,
    };
    Preferred { weight, term }
}

fn apart(key: &'static str, weight: u32) -> impl Fn(&mut crate::model::PodSpec) {
    move |spec| spec.preferred_anti_affinity.push(term(key, weight))
}

fn likes(zone: &'static str, weight: u32) -> impl Fn(&mut crate::model::PodSpec) {
    move |spec| {
        let term = Requirements::none().with(label::ZONE, Requirement::one(zone));
        spec.node_affinity.preferred.push(Preferred { weight, term });
    }
}

fn spread_anyway(spec: &mut crate::model::PodSpec) {
    spec.spread.push(SpreadConstraint {
        topology_key: LabelKey::new(label::ZONE),
        max_skew: 1,
        strength: Strength::Preferred,
        selector: Some(selector()),
        min_domains: None,
        honors_node_affinity: true,
        honors_node_taints: false,
        match_label_keys: Vec::new(),
    });
}

fn world(pods: Vec<Pod>, limit: ExtraCost) -> World {
    let mut world = World::of(vec![pool("default")]).pods(pods);
    world.policy.fleet.extra_cost = limit;
    world
}

fn said(solution: &Solution) -> &Preferences {
    solution.report.preferences.as_ref().expect("some pod has preferences")
}

/// Lists the preferences that are given up, one per line.
fn given_up(solution: &Solution) -> Vec<String> {
    let line = |GivenUp { what, weight, instead, because, pods, .. }: &GivenUp| {
        let instead = if *instead == Some(Form::Evenly) { ", evenly instead" } else { "" };
        format!("{what} ({weight}){instead}: {because:?}, {} pods", pods.len())
    };
    said(solution).given_up.iter().map(line).collect()
}

fn pods_by_zone(solution: &Solution) -> BTreeMap<&str, usize> {
    let mut zones = BTreeMap::new();
    for node in &solution.target.new {
        *zones.entry(node.zone.as_str()).or_default() += node.pods.len();
    }
    zones
}

/// Returns the world after a plan is applied: the planned pods run.
fn carried_out(mut world: World, solution: &Solution) -> World {
    for (number, new) in solution.target.new.iter().enumerate() {
        let name = format!("node-{number}");
        let mut made = node(&name, new.size.as_str());
        made.labels.insert(LabelKey::new(label::ZONE), Arc::from(new.zone.as_str()));
        world.snapshot.nodes.push(made);
        let goes = |key: &PodKey| new.pods.contains(key);
        for pod in world.snapshot.pods.iter_mut().filter(|pod| goes(&pod.key)) {
            pod.place = PodPlace::Bound(name.as_str().into());
        }
    }
    world
}

#[test]
fn hosts_of_their_own_are_bought_where_the_budget_pays_for_them() {
    let pods = || with(web(3), apart(label::HOSTNAME, 100));
    // One node of 96,000 holds them all; three cost 288,000.
    let free = world(pods(), ExtraCost::Unlimited).solve();
    assert_eq!(free.target.new.len(), 3, "{}", text(&free));
    assert_eq!((said(&free).asked, said(&free).met, given_up(&free).len()), (300, 300, 0));
    let tight = world(pods(), ExtraCost::Percent(5)).solve();
    assert_eq!(tight.target.new.len(), 1, "{}", text(&tight));
    assert_eq!(given_up(&tight), ["podAntiAffinity over kubernetes.io/hostname (100): TooDear, 3 pods"]);
    let Preferences { without, with, all, .. } = said(&tight);
    assert_eq!((without.0, with.0, all.map(|all| all.0)), (96_000, 96_000, Some(288_000)));
}

#[test]
fn what_the_budget_does_not_pay_for_all_pods_it_pays_for_some() {
    // Ten fill three nodes of two cores, so that three may have hosts of their own, and more for more money.
    let pods = || with(web(30), apart(label::HOSTNAME, 1));
    let some = world(pods(), ExtraCost::Percent(30)).solve();
    let (met, asked) = (said(&some).met, said(&some).asked);
    assert!(0 < met && met < asked, "{met} of {asked}: {}", text(&some));
    assert!(said(&some).with.0 * 100 <= said(&some).without.0 * 130);
    let more = world(pods(), ExtraCost::Percent(60)).solve();
    assert!(said(&more).met > met);
}

#[test]
fn a_zone_is_preferred_where_it_costs_nothing() {
    let solution = world(with(web(3), likes(ZONES[2], 1)), ExtraCost::Percent(0)).solve();
    assert_eq!(pods_by_zone(&solution), BTreeMap::from([(ZONES[2], 3)]));
    assert_eq!(given_up(&solution), [""; 0]);
}

/// A budget keeps the empty node, so using it costs nothing, and a new node costs its full price.
#[test]
fn nothing_is_bought_for_a_preference_beside_an_empty_node_that_stays_anyway() {
    let nothing = Budget { reasons: None, nodes: BudgetNodes::Count(0), window: None };
    let disruption = Disruption { budgets: vec![nothing], ..Disruption::default() };
    let mut world = World::of(vec![Pool { disruption, ..pool("default") }])
        .nodes([node("n1", "Standard_D2s_v5"), node("n2", "Standard_D2s_v5")])
        .pods([on("n2", pod("full").cpu("1800m"))])
        .pods(with(web(1), likes(ZONES[1], 1)));
    world.policy.fleet.extra_cost = ExtraCost::Percent(5);
    let said = world.text();
    assert!(said.contains("= n1: web-000\n") && !said.contains("+ "), "{said}");
}

#[test]
fn of_preferences_that_exclude_each_other_the_heaviest_is_met() {
    let pods = with(with(web(1), likes(ZONES[1], 1)), likes(ZONES[2], 10));
    let solution = world(pods, ExtraCost::default()).solve();
    assert_eq!(pods_by_zone(&solution), BTreeMap::from([(ZONES[2], 1)]));
    assert_eq!(
        given_up(&solution),
        ["nodeAffinity to topology.kubernetes.io/zone In [eastus-2] (1): Contradicts, 1 pods"]
    );
}

#[test]
fn a_label_that_nothing_has_is_given_up_and_keeps_nobody_out() {
    let likes_nothing = |spec: &mut crate::model::PodSpec| {
        let term = Requirements::none().with("example.com/disk", Requirement::one("fast"));
        spec.node_affinity = NodeAffinity { required: None, preferred: vec![Preferred { weight: 50, term }] };
    };
    let pods = with(with(web(3), apart(label::ZONE, 10)), likes_nothing);
    let solution = world(pods, ExtraCost::Unlimited).solve();
    assert_eq!(given_up(&solution), ["nodeAffinity to example.com/disk In [fast] (50): NotPossible, 3 pods"]);
    assert_eq!(pods_by_zone(&solution), ZONES.map(|zone| (zone, 1)).into());
}

#[test]
fn pods_that_cannot_all_be_apart_are_spread_evenly() {
    let solution = world(with(web(5), apart(label::ZONE, 10)), ExtraCost::Unlimited).solve();
    let mut counts: Vec<usize> = pods_by_zone(&solution).into_values().collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 2, 2]);
    assert_eq!(
        given_up(&solution),
        ["podAntiAffinity over topology.kubernetes.io/zone (10), evenly instead: NotPossible, 5 pods"]
    );
}

#[test]
fn spread_anyway_is_even_where_that_is_free() {
    // The most suitable size holds one of these.
    let pods = with(with(web(6), spread_anyway), |spec| {
        spec.requests = super::world::resources(&[("cpu", "1800m"), ("memory", "6Gi"), ("pods", "1")]);
    });
    let solution = world(pods, ExtraCost::Percent(0)).solve();
    assert_eq!(pods_by_zone(&solution), ZONES.map(|zone| (zone, 2)).into(), "{}", text(&solution));
    assert_eq!((said(&solution).met, said(&solution).with), (600, said(&solution).without));
}

#[test]
fn without_a_budget_nothing_is_bought_and_with_any_everything() {
    let pods = || with(web(3), spread_anyway);
    let none = world(pods(), ExtraCost::Percent(0)).solve();
    assert_eq!((none.target.new.len(), said(&none).met), (1, 0));
    let all = world(pods(), ExtraCost::Unlimited).solve();
    assert_eq!((pods_by_zone(&all).len(), said(&all).met), (3, 300));
}

#[test]
fn what_was_bought_for_preferences_stays() {
    for limit in [ExtraCost::Percent(0), ExtraCost::Percent(30), ExtraCost::Unlimited] {
        let mut world = world(with(web(12), apart(label::HOSTNAME, 1)), limit);
        for pool in world.policy.pools.values_mut() {
            pool.disruption = crate::model::Disruption::default();
        }
        let first = world.solve();
        let second = carried_out(world, &first).solve();
        assert!(second.target.is_reached(), "{limit:?}: {}", text(&second));
    }
}

#[test]
fn a_running_pod_is_not_moved_for_what_it_prefers() {
    let pods = with(web(2), likes(ZONES[2], 100));
    let pods = pods.into_iter().map(|pod| on("node-0", pod));
    let solution =
        world(pods.collect(), ExtraCost::Unlimited).nodes([node("node-0", "Standard_D2s_v5")]).solve();
    assert!(solution.target.is_reached(), "{}", text(&solution));
}

#[test]
fn pods_that_prefer_everything_stay_within_the_budget() {
    let pods = with(web(300), |spec| {
        spec.requests = super::world::resources(&[("cpu", "1"), ("memory", "1Gi"), ("pods", "1")]);
        likes(ZONES[0], 1)(spec);
        apart(label::ZONE, 10)(spec);
        apart(label::HOSTNAME, 1)(spec);
    });
    let solution = world(pods, ExtraCost::default()).solve();
    let Preferences { without, with, met, .. } = said(&solution);
    assert!(solution.report.unplaced.is_empty());
    assert!(with.0 * 100 <= without.0 * 105 && *met > 300, "{with:?} of {without:?}, {met} met");
    // No pod can be alone in a zone, and evenly spread pods do not have what they prefer; the zone itself can be met.
    assert_eq!(pods_by_zone(&solution), BTreeMap::from([(ZONES[0], 300)]));
    let lines = given_up(&solution);
    assert_eq!(lines.len(), 2, "{lines:?}");
}

/// Returns a heavier pool with a `PreferNoSchedule` taint, and a plain one of these sizes.
fn discouraging(sizes: &[&str], limit: ExtraCost) -> World {
    let mut soft = pool("soft");
    soft.weight = 10;
    soft.taints.push(Taint::new("team", "blue", Effect::PreferNoSchedule));
    let sizes = Requirement::new(Operator::In, sizes.iter().copied());
    let mut world = World::of(vec![soft, pool("plain").requires(label::INSTANCE_TYPE, sizes)]);
    world.policy.fleet.extra_cost = limit;
    world
}

fn pools(solution: &Solution) -> Vec<&str> {
    solution.target.new.iter().map(|node| node.pool.as_str()).collect()
}

#[test]
fn a_taint_that_only_discourages_sends_pods_elsewhere_where_that_is_free() {
    let pods = [pod("a"), pod("b").tolerates(toleration("team", Some("blue"), None))];
    let solution = discouraging(&["Standard_D2s_v5"], ExtraCost::Percent(0)).pods(pods).solve();
    // A node of the plain pool is as cheap as one of the heavier pool, and the second pod need not have its own.
    assert_eq!((pools(&solution), said(&solution).met), (vec!["plain"], 100), "{}", text(&solution));
}

#[test]
fn a_taint_that_only_discourages_lets_pods_in_where_the_way_round_is_too_dear() {
    let world = |limit| discouraging(&["Standard_E4s_v5"], limit).pods([pod("a")]);
    let tight = world(ExtraCost::default()).solve();
    assert_eq!(pools(&tight), ["soft"]);
    assert_eq!(given_up(&tight), ["no node with team=blue:PreferNoSchedule (100): TooDear, 1 pods"]);
    let free = world(ExtraCost::Unlimited).solve();
    assert_eq!((pools(&free), said(&free).met), (vec!["plain"], 100));
}

#[test]
fn a_taint_that_only_discourages_keeps_nobody_out_where_there_is_nothing_else() {
    let mut world = discouraging(&["Standard_D2s_v5"], ExtraCost::Unlimited).pods([pod("a")]);
    world.policy.pools.remove("plain");
    let solution = world.solve();
    assert_eq!(pools(&solution), ["soft"]);
    assert_eq!(given_up(&solution), ["no node with team=blue:PreferNoSchedule (100): NotPossible, 1 pods"]);
}

#[test]
fn a_pod_that_waits_passes_a_node_by_that_discourages_it_and_one_that_runs_stays() {
    let mut soft = node("soft", "Standard_D4s_v5");
    soft.taints.push(Taint::new("team", "blue", Effect::PreferNoSchedule));
    let nodes = [soft, node("zz", "Standard_D4s_v5")];
    let pods = [on("soft", pod("runs")), on("zz", pod("other")), pod("waits")];
    let solution = world(pods.into(), ExtraCost::default()).nodes(nodes).solve();
    assert_eq!(text(&solution), "= zz: waits\n");
}

#[test]
fn what_is_only_preferred_is_not_told_as_what_keeps_a_pod_from_a_place() {
    let near = |spec: &mut crate::model::PodSpec| spec.preferred_affinity.push(term(label::HOSTNAME, 1));
    let mut owner = pool("default");
    owner.limits.set(ResourceName::Cpu, 4_000);
    let mut runs = with(web(1), near).remove(0).cpu("1500m");
    runs.key = PodKey::new("default", "runs");
    let runs = Pod { place: PodPlace::Bound("n1".into()), ..runs };
    let waiting = with(web(3), near).into_iter().map(|pod| pod.cpu("1500m"));
    let world = World::of(vec![owner]).nodes([node("n1", "Standard_D2s_v5")]).pods([runs]).pods(waiting);
    let unplaced = world.solve().report.unplaced;
    let told: Vec<&str> = unplaced.iter().map(|group| group.rule.as_str()).collect();
    assert_eq!(told, ["limits"], "{unplaced:#?}");
}
