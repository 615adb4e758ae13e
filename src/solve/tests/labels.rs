//! Node selectors, node affinity, taints, and labels that pools leave open.

use super::world::{PodWith, World, any_pool, pod, pool, toleration};
use crate::model::{Effect, Operator, Requirement, Requirements, Taint, label};

fn wants(key: &str, operator: Operator, values: &[&str]) -> Requirements {
    Requirements::none().with(key, Requirement::new(operator, values.iter().copied()))
}

#[test]
fn bounds_of_pool_and_pod_meet_in_one_size() {
    let pool = pool("default")
        .requires(label::SKU_CPU, Requirement::new(Operator::Gt, ["2"]))
        .requires(label::SKU_CPU, Requirement::new(Operator::Lt, ["16"]));
    let pod = pod("a").terms(vec![wants(label::SKU_CPU, Operator::Gt, &["4"])]);
    assert_eq!(
        World::of(vec![pool]).pods([pod]).text(),
        "+ default Standard_F8s_v2 eastus-1 on-demand 338000: a\n"
    );
}

#[test]
fn pods_that_ask_for_different_values_of_an_open_label_do_not_share_a_node() {
    let pool = pool("default").requires("team", Requirement::new(Operator::In, ["blue", "green"]));
    let pods =
        [pod("any").cpu("400m"), pod("blue").selects("team", "blue"), pod("green").selects("team", "green")];
    assert_eq!(
        World::of(vec![pool]).pods(pods).text(),
        "+ default Standard_D2s_v5 eastus-1 on-demand 96000 team=blue: any blue\n\
         + default Standard_D2s_v5 eastus-2 on-demand 96000 team=green: green\n"
    );
}

#[test]
fn a_pod_that_refuses_a_label_goes_to_the_pool_without_it() {
    let mut labelled = pool("labelled");
    labelled.weight = 50;
    labelled.labels.insert("team".into(), "blue".into());
    let a = pod("a").terms(vec![wants("team", Operator::DoesNotExist, &[])]);
    assert_eq!(
        World::of(vec![labelled, pool("plain")]).pods([a]).text(),
        "+ plain Standard_D2s_v5 eastus-1 on-demand 96000: a\n"
    );
}

#[test]
fn a_label_that_nobody_defines_cannot_be_asked_for() {
    let text = World::of(vec![pool("default")]).pods([pod("a").selects("team", "blue")]).text();
    assert_eq!(text, "? a: node affinity: `team` In [blue] is required, the node has no such label\n");
}

#[test]
fn the_cheaper_term_is_chosen_whatever_their_order() {
    let terms =
        [wants(label::SKU_FAMILY, Operator::In, &["E"]), wants(label::SKU_FAMILY, Operator::In, &["D"])];
    for terms in [terms.clone(), [terms[1].clone(), terms[0].clone()]] {
        let world = World::of(vec![pool("default")]).pods([pod("a").terms(terms.to_vec())]);
        assert_eq!(world.text(), "+ default Standard_D2s_v5 eastus-1 on-demand 96000: a\n");
    }
}

#[test]
fn an_affinity_without_any_term_is_never_met() {
    let text = World::of(vec![pool("default")]).pods([pod("a").terms(Vec::new())]).text();
    assert!(text.starts_with("? a: node affinity: "), "{text}");
}

#[test]
fn two_nodes_of_two_architectures_may_be_cheaper_than_one() {
    let pool = any_pool("default").requires(label::CAPACITY_TYPE, Requirement::one("on-demand"));
    let pods = [pod("free").cpu("3"), pod("pinned").cpu("3").selects(label::ARCH, "amd64")];
    assert_eq!(
        World::of(vec![pool]).pods(pods).text(),
        "+ default Standard_D4ps_v5 eastus-1 on-demand 154000: free\n\
         + default Standard_F4s_v2 eastus-2 on-demand 169000: pinned\n"
    );
}

#[test]
fn only_a_toleration_of_this_taint_lets_a_pod_in() {
    let mut pool = pool("default");
    pool.taints.push(Taint::new("team", "blue", Effect::NoSchedule));
    let pods = [
        pod("wrong-value").tolerates(toleration("team", Some("green"), None)),
        pod("right-value").tolerates(toleration("team", Some("blue"), None)),
        pod("exists").tolerates(toleration("team", None, None)),
        pod("wrong-effect").tolerates(toleration("team", Some("blue"), Some(Effect::NoExecute))),
    ];
    assert_eq!(
        World::of(vec![pool]).pods(pods).text(),
        "+ default Standard_D2s_v5 eastus-1 on-demand 96000: exists right-value\n\
         ? wrong-effect wrong-value: taints: taint `team=blue:NoSchedule` is not tolerated\n"
    );
}

#[test]
fn startup_taints_and_taints_that_only_discourage_keep_nobody_away() {
    let mut pool = pool("default");
    pool.taints.push(Taint::new("a", "", Effect::PreferNoSchedule));
    pool.startup_taints.push(Taint::new("b", "", Effect::NoSchedule));
    let text = World::of(vec![pool]).pods([pod("a")]).text();
    assert_eq!(text, "+ default Standard_D2s_v5 eastus-1 on-demand 96000: a\n");
}

#[test]
fn burstable_sizes_serve_only_who_names_them() {
    let pods = [pod("plain").cpu("3"), pod("thrifty").cpu("3").selects(label::SKU_FAMILY, "B")];
    assert_eq!(
        World::of(vec![pool("default")]).pods(pods).text(),
        "+ default Standard_B4ms eastus-1 on-demand 20000: thrifty\n\
         + default Standard_F4s_v2 eastus-2 on-demand 169000: plain\n"
    );
    let named = pool("default").requires(label::SKU_FAMILY, Requirement::new(Operator::In, ["B", "D"]));
    let text = World::of(vec![named]).pods([pod("plain").cpu("3")]).text();
    assert_eq!(text, "+ default Standard_B4ms eastus-1 on-demand 20000: plain\n");
}

#[test]
fn a_label_that_one_pod_wants_there_and_another_away_parts_them() {
    let pool = pool("default").requires("team", Requirement::new(Operator::NotIn, ["red"]));
    let there = pod("there").terms(vec![wants("team", Operator::Exists, &[])]);
    let away = pod("away").terms(vec![wants("team", Operator::DoesNotExist, &[])]);
    assert_eq!(
        World::of(vec![pool]).pods([there, away]).text(),
        "+ default Standard_D2s_v5 eastus-1 on-demand 96000: away\n\
         + default Standard_D2s_v5 eastus-2 on-demand 96000 team=0: there\n"
    );
}

#[test]
fn a_label_that_the_pool_gives_is_there_whatever_its_requirements_say() {
    let mut torn = pool("default").requires("team", Requirement::none());
    torn.labels.insert("team".into(), "blue".into());
    let away = pod("away").terms(vec![wants("team", Operator::DoesNotExist, &[])]);
    assert_eq!(
        World::of(vec![torn]).pods([away, pod("blue").selects("team", "blue")]).text(),
        "+ default Standard_D2s_v5 eastus-1 on-demand 96000: blue\n\
         ? away: node affinity: `team` DoesNotExist required, found In [blue]\n"
    );
}
