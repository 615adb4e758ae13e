//! The text of plans.

use std::sync::Arc;

use super::page::headline::headline;
use super::{Detail, PlanView, explain, plain_text, plan_text, terminal::LINES_MAX};
use crate::model::{
    Commitment, DisruptionReason, LabelKey, MicroUsdPerHour, NodeName, Operator, PodKey, PodPlace, Price,
    Requirement, ResourceName, Resources, SchedulingRule, SkuName, Workload, label,
};
use crate::plan::tests::world as sample;
use crate::plan::{ChangeId, HeldChange, Plan, Step, Wave, read, write};
use crate::snapshot::{Assumption, Gap, GapKind};
use crate::solve::explain::node::NodeFate;
use crate::solve::explain::{NodeExplanation, PodExplanation, PodOutcome};
use crate::solve::report::chain::PoolChain;
use crate::solve::{Held, Kept, NodeRef, Target, Warning};

fn shown(plan: &Plan, detail: Detail) -> String {
    plain_text(&plan_text(&PlanView::new(plan, Some("plan.json")), detail))
}

/// Returns the example with everything that can be reported.
pub(crate) fn talkative() -> Plan {
    let (mut snapshot, policy, mut solution) = sample::example();
    let gap = Gap {
        kind: GapKind::Unread,
        what: "2 documents of kind `Rollout`".into(),
        consequence: "their pods are not planned".into(),
    };
    snapshot.gaps.push(gap);
    let why = "no NodeFleet says another; use `--location`".into();
    snapshot.assumptions.push(Assumption { what: "region `eastus`".into(), why });
    snapshot.pods.extend(["web-5", "huge-1", "huge-2", "spread-1"].map(sample::pod));
    for pod in snapshot.pods.iter_mut().filter(|pod| pod.key.name.starts_with("huge")) {
        Arc::make_mut(&mut pod.spec).requests.set(ResourceName::Cpu, 900_000);
    }
    // It fits none of the empty nodes.
    if let Some(held) = snapshot.pods.last_mut() {
        Arc::make_mut(&mut held.spec).node_selector.add(LabelKey::new("team"), Requirement::one("batch"));
    }
    snapshot.nodes[1].labels.insert(LabelKey::new(label::INSTANCE_TYPE), "Standard_Unheard_of".into());
    solution.target.kept.push(Kept { node: NodeName::new("kept-1"), pods: sample::keys(&["web-5"]) });
    let report = &mut solution.report;
    report.unplaced.push(sample::unplaced(&["huge-1", "huge-2"]));
    report.held.push(Held {
        pods: sample::keys(&["spread-1"]),
        waits_for: "topologySpreadConstraints".into(),
        because: "this rule is not planned with yet".into(),
    });
    report.passed_over.insert(SchedulingRule::PreferredNodeAffinity, 3);
    report.staying.push((NodeName::new("kept-1"), "a pod has `karpenter.sh/do-not-disrupt`".into()));
    report.without_requests = 1;
    report.warnings.push(Warning {
        object: "pool `general`".into(),
        what: "no size has zone `1`".into(),
        hint: Some("write `eastus-1`".into()),
    });
    sample::planned(&snapshot, &policy, &solution)
}

#[test]
fn a_plan_says_the_sum_the_money_the_changes_and_what_is_not_done() {
    let expected = "\
Plan: 1 to import, 2 to add, 0 to change, 1 to destroy. 3 pods stay Pending.
Monthly cost will increase by at most $292 (100 %, $292 → $584): the price of 1 node is not known
$584/month, up to $876 if Azure substitutes
The price of 1 node is not known and in no sum (1 before, 0 after)
  no price is known of size `Standard_Unheard_of` of node `empty-1`

Not read: 2 documents of kind `Rollout`: their pods are not planned
Assumed: region `eastus` (no NodeFleet says another; use `--location`)
1 pod has no resource requests (counted as 0)

  - node `empty-1` (pool `general`, Standard_Unheard_of, eastus-1, on-demand), price not known, no
      pods: empty

  i node `aks-general-zzz` gets a NodeClaim: it has the label of pool `general` and no NodeClaim

  + 2 nodes in `general`: Standard_D4s_v5, eastus-1, on-demand: 8 vCPU, 32 GiB, $292/month, for 4
      Pending pods (`default/web-1`, `default/web-2`, `default/web-3` and 1 more)
  = 1 Pending pod `default/web-5` to an existing node: `kept-1`

Stays Pending:
  2 pods (`default/huge-1`, `default/huge-2`): cpu: `900` is asked for, `7.2` is the most (nearest:
      `Standard_D8s_v5` in pool `general`)
  1 pod `default/spread-1`: held back for topologySpreadConstraints: this rule is not planned with
      yet

Not done:
  1 node kept: `kept-1` (a pod has `karpenter.sh/do-not-disrupt`)
  `preferred nodeAffinity` of 3 pods is a preference and is ignored

Warnings:
  pool `general`: no size has zone `1`; hint: write `eastus-1`

Read: 8 pods, 3 nodes, 2 DaemonSets (2 assumed)
Prices and sizes: recorded, region `eastus`

more: `nodeform show plan.json --all`
";
    assert_eq!(shown(&talkative(), Detail::Brief), expected);
}

#[test]
fn everything_shows_each_node_with_its_pods() {
    let expected = "\
Plan: 1 to import, 2 to add, 0 to change, 1 to destroy.
Monthly cost will increase by $146 (33 %, $438 → $584)
$584/month, up to $876 if Azure substitutes

  - node `empty-1` (pool `general`, Standard_D4s_v5, eastus-1, on-demand) will be destroyed,
      $146/month, no pods
      because empty: only pods of DaemonSets
  i node `aks-general-zzz` (pool `general`, Standard_D4s_v5, eastus-1, on-demand) will be adopted as
      NodeClaim `general-zzz`
      because it has the label of pool `general` and no NodeClaim
  + node `aks-general-6a32amb4as` of pool `general`: Standard_D4s_v5, eastus-1, on-demand: 4 vCPU,
      16 GiB, $146/month
      because 2 Pending pods, created for `default/web-1`
      or, where Azure has none: 1 other size, 1 other zone, up to $292/month
      taints: `dedicated=web:NoSchedule`
      default/web-1
      default/web-2
  + node `aks-general-m3zqdmw3s3` of pool `general`: Standard_D4s_v5, eastus-1, on-demand: 4 vCPU,
      16 GiB, $146/month
      because 2 Pending pods, created for `default/web-3`
      or, where Azure has none: 1 other size, 1 other zone, up to $292/month
      taints: `dedicated=web:NoSchedule`
      default/web-3
      default/web-4

Read: 4 pods, 3 nodes, 2 DaemonSets (2 assumed)
Prices and sizes: recorded, region `eastus`
Assumed DaemonSets: `agent`, `picky`
";
    assert_eq!(shown(&sample::example_plan(), Detail::All), expected);
}

#[test]
fn a_saved_plan_shows_what_the_fresh_one_did() {
    let fresh = talkative();
    let saved = read(&write(&fresh)).expect("the file is as it was written");
    for detail in [Detail::Brief, Detail::All] {
        assert_eq!(shown(&saved, detail), shown(&fresh, detail));
    }
}

#[test]
fn what_is_evicted_is_said_by_workload_below_what_goes() {
    let mut plan = sample::example_plan();
    let workload =
        |name: &str| Workload { kind: "Deployment".into(), namespace: "shop".into(), name: name.into() };
    for (name, pods) in [("web", vec!["web-a", "web-b"]), ("cart", vec!["cart-a"])] {
        let mut group = plan.evidence.world.pods[0].clone();
        group.place = PodPlace::Bound(NodeName::new("empty-1"));
        group.workload = Some(workload(name));
        group.names = pods.into_iter().map(Into::into).collect();
        plan.evidence.world.pods.push(group);
    }
    // A wave that only removes empty nodes evicts nothing.
    let of_others = Wave { steps: [(Step::Drain, vec![ChangeId("another".into())])].into() };
    plan.spec.waves.push(of_others);
    let text = shown(&plan, Detail::Brief).replace("\n      ", " ");
    let expected = "$146/month, 3 pods: empty\nEvicts 3 running pods (2 shop/web, 1 shop/cart).\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn lines_are_as_wide_as_the_reader_has_room() {
    let plan = talkative();
    let view = |columns: usize| PlanView::new(&plan, Some("plan.json")).of_columns(columns);
    let text = |columns: usize| plain_text(&plan_text(&view(columns), Detail::Brief));
    // The first line is not wrapped: programs search for it.
    assert!(text(60).lines().skip(1).all(|line| line.chars().count() <= 60), "{}", text(60));
    assert!(text(60).starts_with(&headline(&view(60)).text()), "{}", text(60));
    assert!(text(200).lines().any(|line| line.chars().count() > 100), "{}", text(200));
}

fn held_back(node: &str, because: &str) -> HeldChange {
    HeldChange {
        node: NodeName::new(node),
        pool: None,
        class: crate::model::ChangeClass::RemoveEmpty,
        reason: Some(crate::model::DisruptionReason::Empty),
        because: because.to_owned(),
        until: None,
    }
}

#[test]
fn a_large_plan_fits_on_a_screen_and_counts_what_it_leaves_out() {
    let mut plan = talkative();
    let report = &mut plan.evidence.report;
    let (unplaced, warning) = (report.unplaced[0].clone(), report.warnings[0].clone());
    report.unplaced.extend(std::iter::repeat_n(unplaced, 50));
    report.warnings.extend(std::iter::repeat_n(warning, 50));
    let gap = plan.evidence.world.gaps[0].clone();
    plan.evidence.world.gaps.extend(std::iter::repeat_n(gap, 50));
    plan.evidence.held =
        (0..30).map(|place| held_back(&format!("node-{place}"), &format!("reason {place}"))).collect();
    plan.evidence.report.unplaced[0].because = "not at all ".repeat(400);
    plan.evidence.world.gaps[0].consequence = "not at all ".repeat(400);
    let text = shown(&plan, Detail::Brief);
    assert!(text.lines().count() <= LINES_MAX, "{text}");
    assert!(
        text.contains("    … and ") && text.ends_with("more: `nodeform show plan.json --all`\n"),
        "{text}"
    );
    assert!(text.contains("  - node `empty-1`"), "{text}");
}

#[test]
fn nothing_to_do_says_so_first() {
    let (snapshot, policy, _) = sample::example();
    let mut settled = snapshot;
    settled.nodes.remove(0);
    settled.pods.clear();
    let plan = sample::planned(&settled, &policy, &sample::solution(Vec::new(), &[]));
    let text = shown(&plan, Detail::Brief);
    assert!(text.starts_with("No changes.\nMonthly cost will stay at $292\n"), "{text}");
    assert!(!text.contains("more:"), "{text}");
}

#[test]
fn unknown_prices_are_words() {
    let (mut snapshot, mut policy, mut solution) = sample::example();
    // Committed VMs have a price although the list has none: both that stay, and one of the new ones.
    snapshot.catalog = sample::catalog(Price::Unknown, Price::Unknown);
    let (size, price) = (SkuName::new("Standard_D4s_v5"), MicroUsdPerHour(200_000));
    policy.fleet.prices.commitments = vec![Commitment { size, count: 3, price }];
    for node in &mut solution.target.new {
        (node.list_price, node.effective_price) = (Price::Unknown, Price::Unknown);
        node.substitutes.iter_mut().for_each(|other| other.effective_price = Price::Unknown);
    }
    solution.target.new[0].effective_price = Price::Listed(price);
    let text = shown(&sample::planned(&snapshot, &policy, &solution), Detail::Brief).replace("\n      ", " ");
    assert!(
        text.contains("32 GiB, $146/month without 1 node of unknown price, for 4 Pending pods"),
        "{text}"
    );
    assert!(text.contains("by at least $0: the price of 1 node is not known"), "{text}");
}

#[test]
fn estimates_are_marked() {
    let (mut snapshot, policy, mut solution) = sample::example();
    let estimate = Price::Estimated(MicroUsdPerHour(200_000));
    snapshot.catalog = sample::catalog(estimate, estimate);
    for node in &mut solution.target.new {
        (node.list_price, node.effective_price) = (estimate, estimate);
        node.substitutes.iter_mut().for_each(|other| other.effective_price = estimate);
    }
    let text = shown(&sample::planned(&snapshot, &policy, &solution), Detail::Brief).replace("\n      ", " ");
    assert!(text.contains("32 GiB, ~$292/month, for 4 Pending pods"), "{text}");
    assert!(text.contains("by ~$146 (33 %, ~$438 → ~$584)"), "{text}");
}

#[test]
fn names_from_the_input_cannot_break_lines() {
    let line = super::Line::new(super::Style::Plain, "pool `a\nPlan: 0 to destroy\u{1b}[2K`");
    assert_eq!(line.text(), "pool `a Plan: 0 to destroy [2K`");
}

#[test]
fn a_highest_price_that_is_an_estimate_is_marked_and_no_zone_is_no_zone() {
    let mut plan = sample::example_plan();
    plan.evidence.placements.values_mut().for_each(|placement| placement.is_price_max_estimate = true);
    for claim in plan.spec.claims.values_mut() {
        let zones = Requirement::new(Operator::In, ["0", "eastus-1", "eastus-2"]);
        claim.requirements.set(LabelKey::new(label::ZONE), zones);
    }
    for node in &mut plan.evidence.world.nodes {
        node.labels.insert(LabelKey::new(label::ZONE), "0".into());
    }
    let text = shown(&plan, Detail::All).replace("\n      ", " ");
    assert!(text.contains("none: 1 other size, 1 other zone, no zone, up to ~$292/month"), "{text}");
    assert!(text.contains("node `empty-1` (pool `general`, Standard_D4s_v5, no zone, on-demand)"), "{text}");
}

#[test]
fn a_node_that_goes_later_is_not_said_to_go() {
    let (node, fate) = (NodeName::new("c"), NodeFate::Removed(DisruptionReason::Empty));
    let (runs, placed, room) = (Vec::new(), Vec::new(), Resources::none());
    let explanation = NodeExplanation::Existing { node, fate, runs, placed, room };
    let title = |held: Option<&str>| explain::node(&explanation, "c", held)[0].text();
    assert_eq!(title(None), "node `c` is deleted: it is empty");
    let because = "a disruption budget lets no node go for reason Empty";
    assert_eq!(title(Some(because)), format!("node `c` is kept for now: it is empty, but {because}"));
}

#[test]
fn nodes_that_leave_are_named_and_several_nodes_are_spoken_of_as_several() {
    let mut plan = sample::example_plan();
    plan.evidence.world.nodes[0].is_deleting = true;
    let because = "it is not initialized yet".to_owned();
    plan.evidence.report.staying =
        ["a", "b"].map(|name| (NodeName::new(name), because.clone())).into_iter().collect();
    plan.evidence.held = vec![held_back("c", "a budget")];
    let text = shown(&plan, Detail::Brief);
    let leaving = format!("  1 node is leaving already: `{}`\n", plan.evidence.world.nodes[0].name);
    assert!(text.contains(&leaving), "{text}");
    assert!(text.contains("  2 nodes kept: `a`, `b` (they are not initialized yet)\n"), "{text}");
    assert!(text.contains("  1 node kept for now although empty: `c` (a budget)\n"), "{text}");
    let because =
        "it is one too many: pool `p` asks for 2 nodes (`replicas`); but its pods have no sure place";
    plan.evidence.report.staying =
        ["a", "b"].map(|name| (NodeName::new(name), because.to_owned())).into_iter().collect();
    let text = shown(&plan, Detail::Brief).replace("\n      ", " ");
    let expected =
        "(they are too many: pool `p` asks for 2 nodes (`replicas`); but their pods have no sure place)";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn what_a_pool_could_hold_is_not_promised_to_a_pod_that_others_leave_no_place() {
    let explained = |outcome: PodOutcome| {
        let chain = PoolChain {
            pool: "general".into(),
            steps: Vec::new(),
            may_join: true,
            miss: None,
            nearest: Some("Standard_D2s_v5".into()),
        };
        let explanation = PodExplanation {
            pod: PodKey::new("default", "web"),
            outcome,
            without: None,
            pools: vec![chain],
            nodes: Vec::new(),
            preferences: None,
        };
        plain_text(&explain::pod(&explanation, &Target::default()))
    };
    let unplaced = PodOutcome::Unplaced {
        rule: "podAntiAffinity".into(),
        because: "every zone has one".into(),
        nearest: None,
    };
    let expected = "\
pod `default/web` fits nowhere: podAntiAffinity: every zone has one

Pool `general`: a new node could hold it, were it not for the other pods
  `Standard_D2s_v5` is the cheapest that could
";
    assert_eq!(explained(unplaced), expected);
    assert!(explained(PodOutcome::Placed(NodeRef::New(0))).contains("a new node could hold it\n"));
}
