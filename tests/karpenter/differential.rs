//! Karpenter's own decisions, recorded, beside those of [`nodeform::solve::karpenter`]: the same pods in claims of
//! the same pool, with the same requirements and the same cheapest offering; the same pods on the same nodes; and no
//! to the same pods. Of a world with several outcomes any will do.

use crate::karpenter_cases::{Case, cases, shown};
use crate::karpenter_commands::{
    Sequence, sequences, shown_command, shown_end, shown_sequence, shown_target,
};
use nodeform::offline::{self, World};
use nodeform::solve::karpenter::Refused;
use nodeform::solve::{Strategy, karpenter};
use similar::TextDiff;

/// Worlds where we decide otherwise, each with its reason.
const DEVIATIONS: &[(&str, &str)] = &[];

fn decided(case: &Case) -> Vec<String> {
    let World { snapshot, policy, .. } = &case.world();
    match case.command.as_str() {
        "solve" => shown(&karpenter::first_pass(snapshot, policy, case.settings)),
        "consolidate" => shown_command(karpenter::first_command(snapshot, policy, case.settings).as_ref()),
        other => panic!("{}: `{other}` is nothing that is compared", case.name),
    }
}

/// Says how what we decide differs from the recorded outcome that is nearest.
fn difference(case: &Case, decided: &[String]) -> Option<String> {
    if case.outcomes.iter().any(|outcome| outcome == decided) {
        return None;
    }
    let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let ours = text(decided);
    let nearest = case.outcomes.iter().map(|outcome| text(outcome)).max_by(|one, other| {
        let alike = |theirs: &String| TextDiff::from_lines(theirs.as_str(), ours.as_str()).ratio();
        alike(one).total_cmp(&alike(other))
    });
    let theirs = nearest.unwrap_or_default();
    let diff = TextDiff::from_lines(theirs.as_str(), ours.as_str());
    Some(format!("{}\n{}", case.name, diff.unified_diff().header("Karpenter", "nodeform")))
}

#[test]
fn decisions_are_those_of_karpenter() {
    let all = cases("karpenter-cases");
    let disrupted = all.iter().filter(|case| case.command == "consolidate").count();
    assert_eq!((all.len(), disrupted), (62, 9), "worlds, and those of disruption among them");
    let mut faults = Vec::new();
    for case in &all {
        let deviation = DEVIATIONS.iter().find(|(name, _)| *name == case.name);
        match (difference(case, &decided(case)), deviation) {
            (None, None) => {}
            (None, Some((name, why))) => faults.push(format!("{name} is as recorded, but listed: {why}\n")),
            (Some(_), Some((name, why))) => eprintln!("deviates: {name}: {why}"),
            (Some(difference), None) => faults.push(difference),
        }
    }
    assert!(faults.is_empty(), "{} worlds differ:\n\n{}", faults.len(), faults.join("\n"));
}

/// Worlds that were made up by chance, of pools, taints, labels, spreading, affinity, volumes and nodes. Karpenter was
/// recorded less often, so that another outcome may be one that did not come up: then as many pods must be placed, and the
/// new nodes cost the same within [`COST_PERCENT`].
#[test]
fn decisions_about_made_up_worlds_are_those_of_karpenter() {
    let mut faults = Vec::new();
    let mut exact = 0;
    let all = cases("karpenter-generated");
    for case in &all {
        let decided = decided(case);
        match difference(case, &decided) {
            None => exact += 1,
            Some(_) if case.is_varied() && is_as_good(case, &decided) => {}
            Some(difference) => faults.push(difference),
        }
    }
    eprintln!("{exact} of {} worlds are decided exactly as recorded", all.len());
    assert!(faults.is_empty(), "{} worlds differ:\n\n{}", faults.len(), faults.join("\n"));
}

/// Worlds of nodes, pods, budgets and claims that were made up by chance. Where Karpenter does not always decide the same,
/// ours must be one of the commands that came up.
#[test]
fn commands_about_made_up_worlds_are_those_of_karpenter() {
    let all = cases("karpenter-generated-disruption");
    let differs = |case: &Case| difference(case, &decided(case));
    let faults: Vec<String> = all.iter().filter_map(differs).collect();
    eprintln!("{} of {} commands are as recorded", all.len() - faults.len(), all.len());
    assert!(faults.is_empty(), "{} worlds differ:\n\n{}", faults.len(), faults.join("\n"));
}

/// Command after command until nothing more is done, in worlds where Karpenter always takes the same way.
#[test]
fn commands_one_after_the_other_are_those_of_karpenter() {
    let recorded = sequences("karpenter-generated-disruption");
    let all = cases("karpenter-generated-disruption");
    let mut faults = Vec::new();
    for Sequence { name, steps } in &recorded {
        let case = all.iter().find(|case| case.name == *name).expect("the world");
        let World { snapshot, policy, .. } = &case.world();
        let ours = shown_sequence(&karpenter::commands(snapshot, policy, case.settings));
        if ours != *steps {
            let (theirs, ours) = (steps.join("\n"), ours.join("\n"));
            let diff = TextDiff::from_lines(theirs.as_str(), ours.as_str());
            faults.push(format!("{name}\n{}", diff.unified_diff().header("Karpenter", "nodeform")));
        }
    }
    eprintln!("{} of {} sequences are as recorded", recorded.len() - faults.len(), recorded.len());
    assert!(faults.is_empty(), "{} worlds differ:\n\n{}", faults.len(), faults.join("\n"));
}

/// Worlds whose end is another, each with its reason.
const OTHER_ENDS: &[(&str, &str)] =
    &[("d0030", "the limit of the pool has no room for what is made while what goes is still there")];

/// The fleet that all commands come to, as one target: what goes, what is made for it and stays.
#[test]
fn fleets_are_those_that_the_commands_of_karpenter_lead_to() {
    let recorded = sequences("karpenter-generated-disruption");
    let all = cases("karpenter-generated-disruption");
    let mut faults = Vec::new();
    for Sequence { name, steps } in &recorded {
        let case = all.iter().find(|case| case.name == *name).expect("the world");
        let World { snapshot, policy, .. } = &case.world();
        let solution = karpenter::solve(snapshot, policy, case.settings, &Refused::default());
        let (ours, theirs) = (shown_target(&solution.target), shown_end(steps));
        let is_known = OTHER_ENDS.iter().any(|(known, _)| known == name);
        if (ours != theirs) != is_known {
            faults.push(format!("{name}: Karpenter {theirs:#?}, nodeform {ours:#?}"));
        }
    }
    assert!(
        faults.is_empty(),
        "{} of {} worlds differ:\n\n{}",
        faults.len(),
        recorded.len(),
        faults.join("\n")
    );
}

/// How many nodes of a world the judge keeps that Karpenter removes, drifted ones beside, with the reason.
const KEPT: &[(&str, usize, &str)] = &[
    ("d0030", 2, "limits"),
    ("d0114", 2, "pods that would rather go"),
    ("d0402", 3, "2 PodDisruptionBudgets"),
    ("d0584", 2, "pods that would rather go"),
    ("d1086", 1, "limits"),
    ("d1360", 1, "limits"),
];

/// Every fleet of the worlds of disruption holds before the judge; what it refuses to remove stays, and is said.
#[test]
fn plans_with_removals_hold_before_the_judge() {
    let (mut faults, mut gone, mut made) = (Vec::new(), 0, 0);
    for case in cases("karpenter-generated-disruption") {
        let world = World { strategy: Strategy::Karpenter, ..case.world() };
        let planned = match offline::plan(&world) {
            Ok(planned) => planned,
            Err(refused) => {
                faults.push(format!("{}: {:#?}", case.name, refused.findings));
                continue;
            }
        };
        let target = &planned.solution.target;
        gone += target.removed.len();
        made += target.new.len();
        let staying = &planned.solution.report.staying;
        let staying: Vec<String> = staying.iter().map(|(node, why)| format!("{node}: {why}")).collect();
        let is_drift = |why: &&String| ["as Drifted", "as drifted"].iter().any(|text| why.contains(text));
        let others = staying.iter().filter(|why| !is_drift(why)).count();
        let known = KEPT.iter().find(|(name, _, _)| *name == case.name).map_or(0, |(_, nodes, _)| *nodes);
        if others != known {
            faults.push(format!("{}: {others} stay, known are {known}: {staying:#?}", case.name));
        }
    }
    eprintln!("{gone} nodes go, {made} are made");
    assert!(gone > 100 && made > 10, "{gone} nodes go, {made} are made");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// How much more or less the new nodes of a varied world may cost than in any of the recorded outcomes.
const COST_PERCENT: u64 = 2;

fn is_as_good(case: &Case, decided: &[String]) -> bool {
    let ours = (refused(decided), cost(decided));
    case.outcomes.iter().any(|outcome| {
        let theirs = (refused(outcome), cost(outcome));
        ours.0 == theirs.0 && ours.1.abs_diff(theirs.1) * 100 <= COST_PERCENT * theirs.1
    })
}

fn refused(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.starts_with("refused ") || line.starts_with("ignored ")).count()
}

/// Sums the prices of the claims, in millionths of a dollar.
fn cost(lines: &[String]) -> u64 {
    let prices = lines.iter().filter_map(|line| {
        let (before, _) = line.strip_prefix("new ")?.split_once(" sizes, ")?;
        let (before, _) = before.rsplit_once(", ")?;
        let (_, price) = before.rsplit_once(' ')?;
        nodeform::model::MicroUsdPerHour::from_decimal_usd(price)
    });
    prices.map(|price| price.0.unsigned_abs()).sum()
}

#[test]
fn every_deviation_names_a_world() {
    let all = cases("karpenter-cases");
    for (name, why) in DEVIATIONS {
        assert!(all.iter().any(|case| case.name == *name), "{name} is no world");
        assert!(!why.is_empty(), "{name} has no reason");
    }
}

/// How many pods Karpenter places and the judge refuses there, with the reason.
const REFUSED: &[(&str, usize, &str)] = &[
    (
        "01-prefer-no-schedule-second-pool",
        1,
        "a heavier pool could have taken it: its taint only discourages",
    ),
    ("11-spread-node-affinity-policy-ignore", 1, "kube-scheduler counts every zone"),
];

/// Pods that the judge refuses until it knows a rule that they require.
const NOT_KNOWN_YET: &str = "which is not planned with";

/// What the judge refuses is reported with its reason; everything else is planned as it was placed, where no node goes.
#[test]
fn plans_by_karpenter_hold_before_the_judge() {
    let mut faults = Vec::new();
    for case in cases("karpenter-cases").iter().filter(|case| case.command == "solve") {
        let mut world = World { strategy: Strategy::Karpenter, ..case.world() };
        for pool in world.policy.pools.values_mut() {
            pool.disruption.consolidate_after = None;
        }
        let planned = match offline::plan(&world) {
            Ok(planned) => planned,
            Err(refused) => {
                faults.push(format!("{}: {:#?}", case.name, refused.findings));
                continue;
            }
        };
        let report = &planned.plan.plan().evidence.report;
        let judged = report
            .unplaced
            .iter()
            .filter(|unplaced| unplaced.rule == "Kubernetes" && !unplaced.because.contains(NOT_KNOWN_YET));
        let refused: Vec<String> =
            judged.clone().flat_map(|unplaced| unplaced.pods.iter().map(ToString::to_string)).collect();
        let known = REFUSED.iter().find(|(name, _, _)| *name == case.name);
        let (known, why) = known.map_or((0, ""), |(_, pods, why)| (*pods, *why));
        if refused.len() != known {
            let said: Vec<&str> = judged.map(|unplaced| unplaced.because.as_str()).collect();
            faults.push(format!("{}: refused {refused:?}, known are {known} ({why}): {said:#?}", case.name));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The comparison must see a difference in a command: a node or a replacement that is left out, and nothing done at all.
#[test]
fn a_changed_command_is_a_difference() {
    let all = cases("karpenter-cases");
    let case = all.iter().find(|case| case.name == "82-consolidate-replace").expect("the world");
    let right = decided(case);
    assert_eq!(difference(case, &right), None);
    assert_eq!(right.len(), 2, "the node that goes, and the one that is made");
    for wrong in [&right[..1], &right[1..], &[]] {
        assert!(difference(case, wrong).is_some(), "{wrong:?}");
    }
}

/// The comparison must see a difference: a pod that is elsewhere, refused or forgotten.
#[test]
fn a_changed_decision_is_a_difference() {
    let all = cases("karpenter-cases");
    let case = all.iter().find(|case| case.name == "64-existing-first-fit").expect("the world");
    let right = decided(case);
    assert_eq!(difference(case, &right), None);
    assert!(case.pods().len() > 1);
    for place in 0..right.len() {
        let mut wrong = right.clone();
        wrong.remove(place);
        assert!(difference(case, &wrong).is_some_and(|text| text.contains(&format!("-{}", right[place]))));
    }
}
