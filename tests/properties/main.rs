//! What holds in every world, tried on random ones.
//!
//! `PROPTEST_CASES` sets how many; a failure prints the smallest world that still fails.

mod seeds;
#[expect(dead_code, unused_imports, reason = "each test binary uses a part of it")]
#[path = "../support/worlds/mod.rs"]
mod support;

mod covers;
mod min_hosts;
mod more_replicas;
mod packing;
mod preemption;
mod world;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nodeform::check::check;
use nodeform::model::disruption_budget::{DisruptionBudget, PodBound, PodShare, UnhealthyPods};
use nodeform::model::{
    Budget, BudgetNodes, ChangeClass, ConsolidationPolicy, Drift, ExpireAfter, FleetLimits, LabelSelector,
    NodeStage, Pod, PodKey, PodPlace, Pool, Prefer, RefusedPlace, Requirement, Requirements, ResourceName,
    Resources, SpreadConstraint, Strength, label,
};
use nodeform::offline;
use nodeform::plan::{Change, Plan, read, write};
use nodeform::sim;
use nodeform::solve::bound::bound;
use nodeform::solve::karpenter::{self, Refused, Settings, UnnamedFamilies};
use nodeform::solve::{Parting, Solution, Solver, Strategy as SolveBy, Unplaced, solve};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_assume, proptest};
use proptest::sample::{Index, subsequence};
use proptest::test_runner::{RngSeed, TestCaseError};
use support::build::World;
use support::judged::{try_plan_of, try_planned};
use support::random::{refusing_worlds, roomy_worlds, soft_worlds, worlds};
use support::stored::stored_worlds;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Cases of each property where nobody says another number: together some minutes of one core.
const CASES: u32 = 16;

/// Where the worlds begin of which that many are tried.
const SEED: u64 = 2026;

/// Plans until nothing is to be done: one that makes and removes, one that uses what was removed, one that removes what
/// has its place there, an empty one.
const ROUNDS_MAX: usize = 4;

/// The same where buffers keep room: it comes once pods have what limits leave, and then what is there may go together.
const ROUNDS_WITH_ROOM_MAX: usize = 6;

fn config() -> ProptestConfig {
    let standard = ProptestConfig::default();
    // 256 is what proptest takes where the environment says nothing.
    let is_plain = standard.cases == 256;
    let cases = if is_plain { CASES } else { standard.cases };
    // The same worlds every time, so that a change is what makes a test fail; others where more are asked for.
    let rng_seed = if is_plain { RngSeed::Fixed(SEED) } else { standard.rng_seed };
    ProptestConfig { cases, rng_seed, failure_persistence: None, max_shrink_iters: 200, ..standard }
}

/// Solves, plans and judges.
fn planned(world: &World) -> Result<Plan, TestCaseError> {
    try_planned(world).map_err(TestCaseError::fail)
}

/// Solves, plans and judges, by what holds of every plan: which pods share a new node may differ from who would be bound
/// at once.
fn accepted(world: &World) -> Result<Plan, TestCaseError> {
    try_plan_of(world, &solve(&world.snapshot, &world.policy)).map_err(TestCaseError::fail)
}

/// Carries the plan out: the world afterwards.
fn after(world: &World, plan: &Plan) -> World {
    World { snapshot: sim::after(&world.snapshot, plan), policy: world.policy.clone() }
}

/// Plans and carries out until nothing is to be done.
fn settled(mut world: World) -> Result<World, TestCaseError> {
    let keeps_room = world.snapshot.pods.iter().any(|pod| pod.key.is_placeholder());
    let mut rounds = Vec::new();
    for _ in 0..if keeps_room { ROUNDS_WITH_ROOM_MAX } else { ROUNDS_MAX } {
        let plan = planned(&world)?;
        if plan.is_empty() {
            return Ok(world);
        }
        rounds.push((shown(&plan), left_over(&plan)));
        world = after(&world, &plan);
    }
    Err(TestCaseError::fail(format!("the fleet does not settle: {rounds:#?}")))
}

/// Plans, and plans what that comes to again: nothing is left to do. Where nodes that go still fill a limit until they
/// are gone, or the order of binding decides, the plans after it may use what they leave, and one has nothing to do.
fn is_settled_by_one_plan(world: &World) -> Result<(), TestCaseError> {
    let first = planned(world)?;
    let next = after(world, &first);
    let leaves_room = first.spec.deletes().count() > 0 && has_limits(world);
    if leaves_room || others_decide(&first) || counts_others_over_hosts(world) {
        return settled(next).map(|_| ());
    }
    let second = planned(&next)?;
    prop_assert!(second.is_empty(), "{:#?} then {:#?}", shown(&first), shown(&second));
    Ok(())
}

/// Plans two worlds: one plan comes of both.
fn are_planned_alike(world: &World, other: &World) -> Result<(), TestCaseError> {
    let (one, two) = (planned(world)?, planned(other)?);
    prop_assert_eq!(one.digest(), two.digest());
    prop_assert_eq!(one.evidence.placements, two.evidence.placements);
    prop_assert_eq!(one.evidence.kept, two.evidence.kept);
    prop_assert_eq!(one.evidence.reasons, two.evidence.reasons);
    prop_assert_eq!(one.evidence.held, two.evidence.held);
    Ok(())
}

/// What has no place after a plan, and why.
fn left_over(plan: &Plan) -> Vec<String> {
    let line =
        |it: &Unplaced| format!("{} without a place, such as {}: {}", it.pods.len(), it.pods[0], it.because);
    plan.evidence.report.unplaced.iter().map(line).collect()
}

/// What a plan does, a line for each change.
fn shown(plan: &Plan) -> Vec<String> {
    let creates =
        plan.spec.creates().map(|(_, create, claim)| format!("create {} {:?}", create.claim, claim.primary));
    let deletes =
        plan.spec.deletes().map(|(_, delete)| format!("delete {:?} {}", delete.target.node, delete.reason));
    let others = plan
        .spec
        .changes
        .values()
        .filter(|planned| planned.change.create().is_none() && planned.change.delete().is_none());
    creates.chain(deletes).chain(others.map(|planned| format!("{:?}", planned.change))).collect()
}

/// Worlds with PodDisruptionBudgets about some of their pods, drift of some of their nodes, and some class on hold.
fn guarded() -> impl Strategy<Value = World> {
    let bounds = vec((any::<Index>(), 0_u32..=100, any::<bool>(), any::<bool>()), 0..5);
    let drifted = vec(any::<Index>(), 0..6);
    let held = subsequence(vec![ChangeClass::RemoveEmpty, ChangeClass::MovePods, ChangeClass::Adopt], 0..=2);
    (worlds(), bounds, drifted, held).prop_map(|(mut world, bounds, drifted, held)| {
        world.policy.fleet.holds.classes = held.into_iter().collect();
        let nodes = &mut world.snapshot.nodes;
        for index in drifted {
            let place = index.index(nodes.len().max(1));
            if let Some(node) = nodes.get_mut(place) {
                node.claimed.drift = Some(Drift { reason: "ImageDrift".into(), since: None });
            }
        }
        for (number, (index, amount, is_percent, is_least)) in bounds.into_iter().enumerate() {
            let Some(pod) = world.snapshot.pods.get(index.index(world.snapshot.pods.len().max(1))) else {
                continue;
            };
            let mut selector = Requirements::none();
            for (key, value) in pod.spec.labels.iter().take(1) {
                selector.add(key.clone(), Requirement::one(value));
            }
            let share = if is_percent { PodShare::Percent(amount) } else { PodShare::Count(amount / 20) };
            let bound =
                if is_least { PodBound::MinAvailable(share) } else { PodBound::MaxUnavailable(share) };
            world.snapshot.budgets.push(DisruptionBudget {
                namespace: pod.key.namespace.clone(),
                name: format!("budget-{number}").into(),
                selector: Some(LabelSelector(selector)),
                bound: Some(bound),
                unhealthy: UnhealthyPods::IfHealthyBudget,
                counts: None,
            });
        }
        world
    })
}

/// Returns a pod like the given one, under a name that comes after all others.
fn another(pod: &Pod) -> Pod {
    let key = PodKey::new(pod.key.namespace.as_str(), format!("{}-zz-more", pod.key.name));
    Pod { key, ..pod.clone() }
}

/// Returns a world in which some pods are gone, each with another like it that waits or none.
fn with_changed_pods(mut world: World, changes: &[(Index, bool)]) -> World {
    for (index, comes_back) in changes {
        let pods = &mut world.snapshot.pods;
        if pods.is_empty() {
            break;
        }
        let gone = pods.remove(index.index(pods.len()));
        if *comes_back && !gone.is_daemon {
            pods.push(Pod { place: PodPlace::Waiting, ..another(&gone) });
        }
    }
    world.snapshot.pods.sort();
    world
}

/// Returns a world in which others wait: copies of any of its pods, and fewer of those that do.
fn with_other_waiting_pods(mut world: World, changes: &[(Index, bool)]) -> World {
    for (index, goes) in changes {
        let pods = &mut world.snapshot.pods;
        if pods.is_empty() {
            break;
        }
        let model = pods[index.index(pods.len())].clone();
        if *goes && model.place == PodPlace::Waiting {
            pods.retain(|pod| *pod != model);
        } else if !model.is_daemon {
            pods.push(Pod { place: PodPlace::Waiting, ..another(&model) });
        }
        pods.sort();
        pods.dedup_by(|one, other| one.key == other.key);
    }
    world
}

/// Returns a world seen so many seconds after eight, in which much depends on that: a budget opens at half past, nodes
/// get too old and were quiet for long enough, and pods may be disrupted, each so many seconds before or after.
fn seen(mut world: World, after_eight: i64, seconds: &[i64]) -> World {
    let eight: jiff::Timestamp = "2026-11-21T08:00:00Z".parse().expect("is a time");
    let span = jiff::SignedDuration::from_secs;
    world.snapshot.at = Some(eight + span(after_eight));
    for pool in world.policy.pools.values_mut() {
        pool.expire_after = ExpireAfter::Age(span(3 * 3600));
        pool.disruption.consolidate_after = Some(span(300));
        let window = Some(("30 8 * * *".into(), span(8 * 3600)));
        pool.disruption.budgets.push(Budget { reasons: None, nodes: BudgetNodes::Count(0), window });
    }
    for (node, seconds) in world.snapshot.nodes.iter_mut().zip(seconds.iter().cycle()) {
        node.created = Some(eight - span(2 * seconds));
        node.quiet_since = Some(eight - span(*seconds));
    }
    for (pod, seconds) in world.snapshot.pods.iter_mut().zip(seconds.iter().cycle()) {
        pod.is_do_not_disrupt = seconds % 3 == 0;
        pod.state.protected_until = Some(eight + span(*seconds));
    }
    world
}

/// Returns a world whose daemonsets take more of every node.
fn heavier(mut world: World) -> World {
    for daemon in &mut world.snapshot.daemons {
        let more = Resources::none().with(ResourceName::Cpu, 150);
        Arc::make_mut(&mut daemon.spec).requests.add(&more);
    }
    world
}

/// Runs something where so many threads share what is shared out.
fn with_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads can be started").install(run)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_judge_accepts_every_plan(world in worlds()) {
        planned(&world)?;
    }

    // Drains are paced by budgets of pods, and what is on hold waits; the saved plan alone shows that it is so.
    #[test]
    fn the_judge_accepts_plans_under_budgets_and_holds(world in guarded()) {
        let plan = planned(&world)?;
        let saved = read(&write(&plan)).map_err(|fault| TestCaseError::fail(fault.to_string()))?;
        prop_assert_eq!(check(&saved.snapshot(), &saved.policy(), &saved), []);
    }

    // Trials of fleets are shared out to threads; nothing depends on how many there are, nor on what else is planned.
    #[test]
    fn one_thread_and_two_plan_the_same_bytes(world in worlds()) {
        let plan = || try_planned(&world).map(|plan| write(&plan));
        let alone = with_threads(1, plan);
        let (one, other) = with_threads(2, || rayon::join(plan, plan));
        prop_assert_eq!(&one, &alone);
        prop_assert_eq!(other, alone);
    }

    #[test]
    fn planning_the_planned_fleet_again_gives_nothing_to_do(world in worlds()) {
        is_settled_by_one_plan(&world)?;
    }

    #[test]
    fn the_order_of_what_was_seen_does_not_matter((world, shuffled) in worlds().prop_flat_map(shuffled)) {
        are_planned_alike(&world, &shuffled)?;
    }

    #[test]
    fn limits_that_do_not_bind_change_nothing(world in worlds()) {
        let free = without_limits(world);
        let (one, two) = (planned(&free)?, planned(&far_limits(free.clone()))?);
        prop_assert_eq!(one.evidence.placements, two.evidence.placements);
        prop_assert_eq!(one.evidence.kept, two.evidence.kept);
    }

    // Of both strategies, as far as the judge accepts their fleets; where they place the same pods, each bound holds
    // for the other fleet too.
    #[test]
    fn no_fleet_costs_less_than_the_bound(world in worlds()) {
        let settings = Settings {
            unnamed: UnnamedFamilies::LeaveOut,
            min_values: world.policy.fleet.min_values_policy,
            ..Settings::default()
        };
        let karpenter = karpenter::solve(&world.snapshot, &world.policy, settings, &Refused::default());
        let solutions = [solve(&world.snapshot, &world.policy), karpenter];
        let accepted = |solution: &&Solution| {
            let plan = support::judged::plan_of(&world, solution);
            nodeform::check::check(&world.snapshot, &world.policy, &plan).is_empty()
        };
        let judged: Vec<&Solution> = solutions.iter().filter(accepted).collect();
        for one in &judged {
            let Some(bound) = bound(&world.snapshot, &world.policy, one) else { continue };
            for other in judged.iter().filter(|other| placed(other) == placed(one)) {
                let unpriced = other.target.new.iter().any(|node| node.effective_price.known().is_none());
                let cost = other.report.cost_after.effective;
                prop_assert!(unpriced || bound.least <= cost, "{bound:?} is above {cost:?}");
            }
        }
    }

    // Where nothing goes: what goes when is decided otherwise. A pod that only few others may share its host with is not
    // planned beside more of them, though it might come first: so Karpenter may use fewer nodes.
    #[test]
    fn no_fleet_is_worse_than_that_of_karpenter(world in worlds()) {
        let world = nothing_goes(world);
        prop_assume!(!is_spread_over_hosts(&world));
        let by = |strategy| left_over_and_cost(&world, strategy);
        let (Some((left, cost)), Some((left_by_karpenter, cost_by_karpenter))) =
            (by(SolveBy::Cheapest)?, by(SolveBy::Karpenter)?)
        else {
            return Err(TestCaseError::reject("a node goes all the same"));
        };
        prop_assert!(left <= left_by_karpenter, "{left:?} is more than {left_by_karpenter:?}");
        prop_assert!(left < left_by_karpenter || cost <= cost_by_karpenter, "{cost:?} is more than {cost_by_karpenter:?}");
    }

    // A fleet that has settled gets one node for one more pod, or none where the pod fits on what is there: where
    // running pods are not moved, nothing else can follow from it.
    #[test]
    fn one_more_pod_makes_one_node_at_most(world in worlds(), which in any::<Index>()) {
        let mut settled = settled(only_empty_ones_go(world.clone()))?;
        prop_assume!(!others_decide(&planned(&settled)?));
        let candidates: Vec<&Pod> = world.snapshot.pods.iter().filter(|pod| !pod.is_daemon).collect();
        if !candidates.is_empty() {
            let more = Pod { place: PodPlace::Waiting, ..another(candidates[which.index(candidates.len())]) };
            settled = settled.pods([more]);
        }
        let plan = planned(&settled)?;
        let only_creates = plan.spec.changes.values().all(|planned| matches!(planned.change, Change::Create(_)));
        prop_assert!(plan.spec.changes.len() <= 1 && only_creates, "{:#?}", shown(&plan));
    }
}

proptest! {
    // Every world is planned eight times.
    #![proptest_config(ProptestConfig { cases: config().cases.div_ceil(4), ..config() })]

    // What is kept is told apart by all that it follows from: pods come and go, and daemonsets take more.
    #[test]
    fn planning_again_with_what_is_kept_is_planning_from_nothing(
        world in worlds(),
        changes in vec((any::<Index>(), any::<bool>()), 1..6),
    ) {
        let solver = Solver::default();
        let changed = with_changed_pods(world.clone(), &changes);
        for world in [&world, &changed, &heavier(changed.clone()), &world] {
            let kept = solver.solve(&world.snapshot, &world.policy);
            prop_assert_eq!(kept, solve(&world.snapshot, &world.policy));
        }
    }
}

/// Whatever the size of a cluster, as long as somebody waits.
const ALWAYS: Parting = Parting { least: 0, running: 0 };

proptest! {
    #![proptest_config(ProptestConfig { cases: config().cases.div_ceil(2), ..config() })]

    #[test]
    fn the_judge_accepts_plans_of_what_runs_and_then_of_what_waits(world in worlds()) {
        let solution = Solver::parting(ALWAYS).solve(&world.snapshot, &world.policy);
        try_plan_of(&world, &solution).map_err(TestCaseError::fail)?;
        let together = solve(&world.snapshot, &world.policy);
        prop_assert!(solution.report.left_over() <= together.report.left_over());
    }

    #[test]
    fn planning_what_waits_again_is_planning_it_from_nothing(
        world in worlds(),
        changes in vec((any::<Index>(), any::<bool>()), 1..4),
    ) {
        let solver = Solver::parting(ALWAYS);
        let of_others = with_other_waiting_pods(world.clone(), &changes);
        let changed = with_changed_pods(of_others.clone(), &changes[..1]);
        for world in [&world, &of_others, &changed, &world] {
            let kept = solver.solve(&world.snapshot, &world.policy);
            prop_assert_eq!(kept, Solver::parting(ALWAYS).solve(&world.snapshot, &world.policy));
        }
    }
}

proptest! {
    // Every world is planned eighteen times.
    #![proptest_config(ProptestConfig { cases: config().cases.div_ceil(4), ..config() })]

    #[test]
    fn what_runs_is_planned_anew_where_time_decides_something_else(
        world in refusing_worlds(),
        seconds in vec(0_i64..1200, 1..6),
    ) {
        let solver = Solver::parting(ALWAYS);
        for after_eight in [0, 9, 300, 900, 1_799, 1_800, 3_599, 3_600, 10_000] {
            let World { snapshot, policy } = seen(world.clone(), after_eight, &seconds);
            let kept = solver.solve(&snapshot, &policy);
            prop_assert_eq!(kept, Solver::parting(ALWAYS).solve(&snapshot, &policy));
        }
    }
}

proptest! {
    // Every world is planned with room and without, so that each takes as long as several.
    #![proptest_config(ProptestConfig { cases: config().cases.div_ceil(2), ..config() })]

    #[test]
    fn the_judge_accepts_plans_that_keep_room(world in roomy_worlds()) {
        planned(&world)?;
    }

    #[test]
    fn the_judge_accepts_plans_of_pods_with_disks(world in stored_worlds()) {
        let plan = planned(&world)?;
        planned(&after(&world, &plan))?;
    }

    // Room unsettles no fleet that would be settled without it.
    #[test]
    fn planning_again_with_room_gives_nothing_to_do_where_pods_alone_do(world in roomy_worlds()) {
        let bare = without_room(world.clone());
        prop_assume!(accepted(&after(&bare, &accepted(&bare)?))?.is_empty());
        // Drifted nodes whose pods would have to wait for one that comes up go to what is made for room.
        if world.snapshot.nodes.iter().any(|node| node.stage != NodeStage::Initialized) {
            settled(world)?;
        } else {
            is_settled_by_one_plan(&world)?;
        }
    }

    #[test]
    fn the_order_of_what_was_seen_does_not_matter_to_room((world, other) in roomy_worlds().prop_flat_map(shuffled)) {
        are_planned_alike(&world, &other)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: config().cases.div_ceil(2), ..config() })]

    // What counts as dearer is a reason for other nodes: never for fewer pods with a place, nor for nodes that cost less
    // than any can.
    #[test]
    fn availability_leaves_no_pod_out_and_is_judged_like_price(world in refusing_worlds()) {
        let plan = planned(&world)?;
        let left = |plan: &Plan| plan.evidence.report.unplaced.iter().map(|it| it.pods.len()).sum::<usize>();
        prop_assert!(left(&plan) <= left(&planned(&by_price(world.clone()))?), "{:#?}", left_over(&plan));
        let solution = solve(&world.snapshot, &world.policy);
        if let Some(bound) = bound(&world.snapshot, &world.policy, &solution) {
            let cost = solution.report.cost_after;
            prop_assert!(cost.unpriced_nodes > 0 || bound.least <= cost.effective, "{bound:?} is above {cost:?}");
        }
    }

    // But where zones count as more and less dear and pods are tied to zones: what one step gives out to zones the next
    // may draw together, as with prices that differ by zone.
    #[test]
    fn planning_again_what_avoids_refusals_gives_nothing_to_do_where_the_price_does(world in refusing_worlds()) {
        let by_price = by_price(world.clone());
        prop_assume!(planned(&after(&by_price, &planned(&by_price)?))?.is_empty());
        let first = planned(&world)?;
        let next = after(&world, &first);
        let second = planned(&next)?;
        let leaves_room = first.spec.deletes().count() > 0 && has_limits(&world);
        if leaves_room || others_decide(&first) || differs_by_zone(&world) {
            settled(next)?;
        } else {
            prop_assert!(second.is_empty(), "{:#?} then {:#?}", shown(&first), shown(&second));
        }
    }

    // Refusals are told, and by the price alone they count nothing.
    #[test]
    fn by_price_what_was_refused_changes_nothing(world in refusing_worlds()) {
        let refused = by_price(world);
        let mut world = refused.clone();
        world.snapshot.refusals.clear();
        prop_assert_eq!(write(&planned(&refused)?), write(&planned(&world)?));
    }
}

proptest! {
    // Every preference is planned with and without, so that each world takes as long as several.
    #![proptest_config(ProptestConfig { cases: config().cases.div_ceil(4), ..config() })]

    // What a plan holds to of preferences is judged like what is required; the plan after it is right as well.
    #[test]
    fn preferences_are_met_or_given_up_by_name(world in soft_worlds()) {
        let first = planned(&world)?;
        planned(&after(&world, &first))?;
    }
}

/// The pods that a fleet places.
fn placed(solution: &Solution) -> BTreeSet<&PodKey> {
    let kept = solution.target.kept.iter().flat_map(|kept| &kept.pods);
    kept.chain(solution.target.new.iter().flat_map(|node| &node.pods)).collect()
}

/// Whether pods are left over for want of others: one more, or the nodes of those that were placed, may let them in.
fn others_decide(plan: &Plan) -> bool {
    let rules = ["topologySpreadConstraints", "podAffinity", "podAntiAffinity"];
    plan.evidence.report.unplaced.iter().any(|unplaced| rules.contains(&&*unplaced.rule))
}

/// The same world, where the price alone decides.
fn by_price(mut world: World) -> World {
    world.policy.fleet.prefer = Prefer::Price;
    world
}

/// Whether what Azure refused in some places it may sell in others.
fn differs_by_zone(world: &World) -> bool {
    world.snapshot.refusals.iter().any(|refusal| refusal.place != RefusedPlace::Everywhere)
}

/// The same world, where buffers keep no room.
fn without_room(mut world: World) -> World {
    world.snapshot.pods.retain(|pod| !pod.key.is_placeholder());
    world
}

/// The same world, of which no node goes for what that saves, nor because its pool is going.
fn nothing_goes(mut world: World) -> World {
    for pool in world.policy.pools.values_mut() {
        pool.disruption.consolidate_after = None;
        pool.is_deleting = false;
    }
    world
}

/// Whether the order of binding decides who may be on a host: a spread over hosts counts pods of another workload alone.
fn counts_others_over_hosts(world: &World) -> bool {
    world.snapshot.pods.iter().any(|pod| {
        pod.spec.spread.iter().any(|constraint| {
            let selects_own =
                constraint.selector.as_ref().is_some_and(|selector| selector.selects(&pod.spec.labels));
            constraint.strength == Strength::Required
                && constraint.topology_key.as_str() == label::HOSTNAME
                && !selects_own
        })
    })
}

/// Whether some pod has to be spread over hosts.
fn is_spread_over_hosts(world: &World) -> bool {
    let is_over_hosts = |constraint: &SpreadConstraint| {
        constraint.strength == Strength::Required && constraint.topology_key.as_str() == label::HOSTNAME
    };
    world.snapshot.pods.iter().any(|pod| pod.spec.spread.iter().any(is_over_hosts))
}

/// What a fleet leaves over, the highest priority first, and what it costs, after how many of its nodes have no known price.
type LeftOverAndCost = (Vec<usize>, (usize, i64));

/// Plans by a strategy; nothing where some node goes all the same, such as one that has drifted.
fn left_over_and_cost(world: &World, strategy: SolveBy) -> Result<Option<LeftOverAndCost>, TestCaseError> {
    let World { snapshot, policy } = world.clone();
    let priorities: BTreeSet<Reverse<i32>> =
        snapshot.pods.iter().map(|pod| Reverse(pod.spec.priority)).collect();
    let priority_of: BTreeMap<PodKey, i32> =
        snapshot.pods.iter().map(|pod| (pod.key.clone(), pod.spec.priority)).collect();
    let input = offline::World {
        valid_for: None,
        snapshot,
        policy,
        targets: BTreeSet::new(),
        strategy,
        proves_bound: false,
        objects: 0,
        strays: BTreeSet::new(),
        remarks: Vec::new(),
        faulty: Vec::new(),
        abandoned: Vec::new(),
        evidence: std::sync::Arc::default(),
        unscaled: BTreeSet::new(),
    };
    let proposed = offline::propose(&input);
    let judged = offline::judge(&input, proposed);
    let planned = judged.map_err(|refused| TestCaseError::fail(format!("{:#?}", refused.findings)))?;
    if planned.plan.plan().spec.deletes().count() > 0 {
        return Ok(None);
    }
    let report = &planned.plan.plan().evidence.report;
    let without: Vec<i32> =
        report.unplaced.iter().flat_map(|it| &it.pods).map(|pod| priority_of[pod]).collect();
    let count = |priority: &Reverse<i32>| without.iter().filter(|other| **other == priority.0).count();
    let cost = report.cost_after;
    Ok(Some((priorities.iter().map(count).collect(), (cost.unpriced_nodes, cost.effective.0))))
}

/// The same world, where nodes that carry pods stay.
fn only_empty_ones_go(mut world: World) -> World {
    for pool in world.policy.pools.values_mut() {
        pool.disruption.policy = ConsolidationPolicy::WhenEmpty;
    }
    world
}

/// Whether anything limits what may be made.
fn has_limits(world: &World) -> bool {
    let is_limited = |pool: &Pool| pool.nodes_max.is_some() || pool.limits != Resources::none();
    world.policy.fleet.limits != FleetLimits::default() || world.policy.pools.values().any(is_limited)
}

/// The same world without any limit.
fn without_limits(mut world: World) -> World {
    world.policy.fleet.limits = FleetLimits::default();
    for pool in world.policy.pools.values_mut() {
        (pool.limits, pool.nodes_max) = (Resources::none(), None);
    }
    world
}

/// The same world with limits far above what it needs.
fn far_limits(mut world: World) -> World {
    world.policy.fleet.limits.nodes = Some(10_000);
    for pool in world.policy.pools.values_mut() {
        pool.limits = Resources::none();
        pool.limits.set(ResourceName::Cpu, 1_000_000_000);
        pool.nodes_max = Some(10_000);
    }
    world
}

/// The same world with its lists in another order.
fn shuffled(world: World) -> impl Strategy<Value = (World, World)> {
    let pods = proptest::prelude::Just(world.snapshot.pods.clone()).prop_shuffle();
    let nodes = proptest::prelude::Just(world.snapshot.nodes.clone()).prop_shuffle();
    let daemons = proptest::prelude::Just(world.snapshot.daemons.clone()).prop_shuffle();
    (pods, nodes, daemons).prop_map(move |(pods, nodes, daemons)| {
        let mut other = world.clone();
        other.snapshot.pods = pods;
        other.snapshot.nodes = nodes;
        other.snapshot.daemons = daemons;
        (world.clone(), other)
    })
}
