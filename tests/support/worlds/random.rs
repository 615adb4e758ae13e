//! Random worlds, small enough to read when they have shrunk to what fails.
//!
//! Everything is drawn from short lists, so that pods, pools and nodes meet often: the same zones, labels,
//! taints and ports come up on all sides, beside some that nothing has.

use std::sync::Arc;

use nodeform::model::{
    BudgetNodes, CapacityType, Commitment, Discount, Effect, ExtraCost, MicroUsd, MicroUsdPerHour,
    MinValuesPolicy, NodeStage, Operator, PodSpec, Prefer, Preferred, Refusal, RefusedBecause, RefusedPlace,
    Requirement, Requirements, SchedulingRule, SkuName, Strength, label,
};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;

use super::build::{DaemonBuilder, PodBuilder, World, daemon, pod, world};
use super::fleet::{NodeBuilder, PoolBuilder, node, pool};
use super::ties::{APPS, Tie, ties};

/// One requirement as tests write it.
type Expression = (&'static str, Operator, &'static [&'static str]);

/// A label of our own that some pools have.
const TEAM: &str = "example.com/team";

/// The names of pools, in the order in which they are drawn; the last is never defined.
const POOLS: [&str; 5] = ["default", "light", "heavy", "extra", "gone"];

/// What pods and pools ask of labels.
const EXPRESSIONS: [Expression; 24] = [
    (label::ZONE, Operator::In, &["westeurope-1"]),
    (label::ZONE, Operator::In, &["westeurope-1", "westeurope-2"]),
    (label::ZONE, Operator::NotIn, &["westeurope-1", "0"]),
    (label::ARCH, Operator::In, &["amd64"]),
    (label::ARCH, Operator::In, &["arm64"]),
    (label::ARCH, Operator::NotIn, &["arm64"]),
    (label::OS, Operator::In, &["linux"]),
    (label::CAPACITY_TYPE, Operator::In, &["on-demand"]),
    (label::CAPACITY_TYPE, Operator::In, &["spot"]),
    (label::SKU_FAMILY, Operator::In, &["D", "E"]),
    (label::SKU_FAMILY, Operator::In, &["B", "L"]),
    (label::SKU_FAMILY, Operator::NotIn, &["D"]),
    (label::SKU_CPU, Operator::Gt, &["3"]),
    (label::SKU_CPU, Operator::Lt, &["9"]),
    (label::SKU_CPU, Operator::Gte, &["8"]),
    (label::SKU_CPU, Operator::Lte, &["4"]),
    (label::SKU_GPU_NAME, Operator::Exists, &[]),
    (label::SKU_GPU_NAME, Operator::DoesNotExist, &[]),
    (label::AKS_MODE, Operator::In, &["system"]),
    (TEAM, Operator::In, &["blue", "red"]),
    (TEAM, Operator::In, &["red"]),
    (TEAM, Operator::NotIn, &["red"]),
    (TEAM, Operator::Exists, &[]),
    (TEAM, Operator::DoesNotExist, &[]),
];

fn term() -> impl Strategy<Value = Vec<Expression>> {
    vec(select(&EXPRESSIONS[..]), 1..3)
}

/// Pods of one shape; the number in their name is given when the world is put together.
fn pods() -> impl Strategy<Value = (PodBuilder, usize)> {
    let cpu = select(&["10m", "250m", "500m", "1", "1900m", "3", "7", "20"][..]);
    let memory = select(&["16Mi", "256Mi", "1Gi", "3Gi", "9Gi", "40Gi"][..]);
    let selector = weighted(0.3, select(&EXPRESSIONS[..]));
    let terms = prop_oneof![3 => Just(Vec::new()), 1 => vec(term(), 1..3)];
    let tolerates = vec(select(&["team", "gpu"][..]), 0..3);
    let tied = (select(&APPS[..]), prop_oneof![4 => Just(Vec::new()), 2 => vec(ties(), 1..3)]);
    (cpu, memory, selector, terms, tolerates, (extras(), tied), 1..8_usize).prop_map(
        |(cpu, memory, selector, terms, tolerates, (extra, (app, ties)), count)| {
            let mut pod = pod("p").cpu(cpu).memory(memory).label("app", app);
            if let Some((key, Operator::In, [value, ..])) = selector {
                pod = pod.selecting(key, value);
            }
            for term in &terms {
                pod = pod.or_term(term);
            }
            for key in tolerates {
                pod = pod.tolerating(key);
            }
            (ties.into_iter().fold(extra.apply(pod), |pod, tie| tie.apply(pod)), count)
        },
    )
}

/// What a pod may have beside requests, selectors and tolerations; most have nothing.
#[derive(Clone, Copy, Debug)]
enum Extra {
    Nothing,
    Port(u16),
    Gate,
    Gpu,
    Priority(i32),
    Rule(SchedulingRule),
    Spread(Strength),
    OnHost,
    Protected,
    Terminating,
}

fn extras() -> impl Strategy<Value = Extra> {
    let rules = [SchedulingRule::Volumes, SchedulingRule::ResourceClaims, SchedulingRule::RuntimeClass];
    prop_oneof![
        12 => Just(Extra::Nothing),
        2 => select(&[80_u16, 9100][..]).prop_map(Extra::Port),
        1 => Just(Extra::Gate),
        1 => Just(Extra::Gpu),
        1 => select(&[-10, 1000][..]).prop_map(Extra::Priority),
        1 => select(rules.to_vec()).prop_map(Extra::Rule),
        1 => select(&[Strength::Required, Strength::Preferred][..]).prop_map(Extra::Spread),
        1 => select(&[Extra::OnHost, Extra::Protected, Extra::Terminating][..]),
    ]
}

impl Extra {
    fn apply(self, pod: PodBuilder) -> PodBuilder {
        match self {
            Self::Nothing => pod,
            Self::Port(port) => pod.port(port),
            Self::Gate => pod.gate("example.com/wait"),
            Self::Gpu => pod.asking("nvidia.com/gpu", "1").tolerating("gpu"),
            Self::Priority(priority) => pod.priority(priority),
            Self::Rule(rule) => pod.using(rule),
            Self::Spread(strength) => pod.spread(strength),
            Self::OnHost => pod.selecting(label::HOSTNAME, "node-0"),
            Self::Protected => pod.do_not_disrupt(),
            Self::Terminating => pod.terminating(),
        }
    }
}

/// What differs between pools beside what they require.
#[derive(Clone, Copy, Debug)]
enum Twist {
    Nothing,
    Taint(&'static str, Effect),
    Limit(&'static str, &'static str),
    NodesMax(u64),
    Team(&'static str),
    Never,
    Deleting,
    Variety(&'static str, u32),
    Replicas(u64),
}

fn twist() -> impl Strategy<Value = Twist> {
    let effects = [Effect::NoSchedule, Effect::NoExecute, Effect::PreferNoSchedule];
    prop_oneof![
        6 => Just(Twist::Nothing),
        3 => (select(&["team", "gpu"][..]), select(effects.to_vec())).prop_map(|(key, effect)| Twist::Taint(key, effect)),
        2 => select(&[("cpu", "6"), ("cpu", "40"), ("memory", "20Gi"), ("nvidia.com/gpu", "1")][..])
            .prop_map(|(resource, amount)| Twist::Limit(resource, amount)),
        2 => (0..4_u64).prop_map(Twist::NodesMax),
        2 => select(&["blue", "red"][..]).prop_map(Twist::Team),
        1 => Just(Twist::Never),
        1 => (0..4_u64).prop_map(Twist::Replicas),
        1 => Just(Twist::Deleting),
        2 => (select(&[label::INSTANCE_TYPE, label::SKU_FAMILY, label::ZONE, label::CAPACITY_TYPE][..]), 1..6_u32)
            .prop_map(|(key, least)| Twist::Variety(key, least)),
    ]
}

fn pools() -> impl Strategy<Value = Vec<PoolBuilder>> {
    let budget = select(
        &[BudgetNodes::Percent(100), BudgetNodes::Percent(10), BudgetNodes::Count(1), BudgetNodes::Count(0)]
            [..],
    );
    let weight = select(&[0_u32, 10, 50][..]);
    let one = (weight, vec(select(&EXPRESSIONS[..]), 0..3), vec(twist(), 0..3), budget);
    vec(one, 1..=4).prop_map(|pools| {
        let named = pools.into_iter().zip(POOLS);
        named
            .map(|((weight, requirements, twists, budget), name)| {
                let mut built = pool(name).weight(weight).budget(budget);
                for (key, operator, values) in requirements {
                    built = built.requiring(key, operator, values);
                }
                for twist in twists {
                    built = match twist {
                        Twist::Nothing => built,
                        Twist::Taint(key, effect) => built.taint(key, effect),
                        Twist::Limit(resource, amount) => built.limit(resource, amount),
                        Twist::NodesMax(most) => built.nodes_max(most),
                        Twist::Team(team) => built.label(TEAM, team),
                        Twist::Never => built.never_consolidating(),
                        Twist::Replicas(nodes) => built.replicas(nodes),
                        Twist::Deleting => built.deleting(),
                        Twist::Variety(key, least) => built.min_values(key, least),
                    };
                }
                built
            })
            .collect()
    })
}

/// What differs between nodes beside pool, size and zone.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Settled,
    Stage(NodeStage),
    Cordoned,
    Tainted,
    Protected,
    Deleting,
    Foreign,
}

/// A node, and how many pods of half a core run there.
fn nodes() -> impl Strategy<Value = Vec<(NodeBuilder, usize)>> {
    let sizes =
        ["Standard_D2s_v5", "Standard_D4s_v5", "Standard_D8s_v5", "Standard_D4ps_v5", "Standard_L8s_v3"];
    let fate = prop_oneof![
        8 => Just(Fate::Settled),
        1 => select(&[NodeStage::Launching, NodeStage::Registered][..]).prop_map(Fate::Stage),
        4 => select(&[Fate::Cordoned, Fate::Tainted, Fate::Protected, Fate::Deleting, Fate::Foreign][..]),
    ];
    let zone = select(&["0", "1", "2"][..]);
    let pool = prop_oneof![8 => select(&POOLS[..2]), 1 => select(&POOLS[2..])];
    let one = (pool, select(sizes.to_vec()), zone, any::<bool>(), fate, 0..4_usize);
    let several = prop_oneof![2 => vec(one.clone(), 0..4), 1 => vec(one, 0..12)];
    several.prop_map(|nodes| {
        let numbered = nodes.into_iter().enumerate();
        numbered
            .map(|(number, (pool, size, zone, is_spot, fate, pods))| {
                let built = node(&format!("node-{number}")).of_pool(pool).size(size).zone(zone);
                let built = if is_spot { built.spot() } else { built };
                let built = match fate {
                    Fate::Settled => built,
                    Fate::Stage(stage) => built.stage(stage),
                    Fate::Cordoned => built.cordoned(),
                    Fate::Tainted => built.taint("team"),
                    Fate::Protected => built.do_not_disrupt(),
                    Fate::Deleting => built.deleting(),
                    Fate::Foreign => built.foreign(),
                };
                (built, if matches!(fate, Fate::Stage(NodeStage::Launching)) { 0 } else { pods })
            })
            .collect()
    })
}

fn daemons() -> impl Strategy<Value = Vec<DaemonBuilder>> {
    let one =
        (select(&["50m", "300m"][..]), weighted(0.3, select(&EXPRESSIONS[..])), any::<bool>(), any::<bool>());
    vec(one, 0..3).prop_map(|daemons| {
        let numbered = daemons.into_iter().enumerate();
        numbered
            .map(|(number, (cpu, expression, is_tolerant, has_port))| {
                let built = daemon(&format!("daemon-{number}")).with(|pod| {
                    let pod = pod.cpu(cpu);
                    let pod = if has_port { pod.port(9100) } else { pod };
                    expression.into_iter().fold(pod, |pod, expression| pod.or_term(&[expression]))
                });
                if is_tolerant { built } else { built.intolerant() }
            })
            .collect()
    })
}

/// What the fleet says, where it says anything.
#[derive(Clone, Copy, Debug)]
enum Wish {
    Nodes(u64),
    Cpu(i64),
    Cost(i64),
    NodeCost(i64),
    Discount(&'static str, u32),
    Commitment(&'static str, u32),
    BestEffort,
}

fn wishes() -> impl Strategy<Value = Vec<Wish>> {
    let one = prop_oneof![
        (0..8_u64).prop_map(Wish::Nodes),
        (1..60_i64).prop_map(Wish::Cpu),
        (50..2000_i64).prop_map(Wish::Cost),
        (0..90_000_i64).prop_map(Wish::NodeCost),
        (select(&["Dsv5", "D", "E"][..]), 0..=100_u32)
            .prop_map(|(family, percent)| Wish::Discount(family, percent)),
        (select(&["Standard_D4s_v5", "Standard_D8s_v5"][..]), 0..4_u32)
            .prop_map(|(size, count)| Wish::Commitment(size, count)),
        Just(Wish::BestEffort),
    ];
    prop_oneof![3 => Just(Vec::new()), 2 => vec(one, 1..3)]
}

fn wished(world: World, wish: Wish) -> World {
    world.fleet(|fleet| match wish {
        Wish::BestEffort => fleet.min_values_policy = MinValuesPolicy::BestEffort,
        Wish::Nodes(most) => fleet.limits.nodes = Some(most),
        Wish::Cpu(most) => fleet.limits.cpu_milli = Some(most * 1000),
        Wish::Cost(dollars) => fleet.limits.cost_per_month = Some(MicroUsd(dollars * 1_000_000)),
        Wish::NodeCost(cost) => fleet.prices.cost_per_node = MicroUsdPerHour(cost),
        Wish::Discount(family, percent) => {
            fleet.prices.discounts.push(Discount { family: family.into(), percent });
        }
        Wish::Commitment(size, count) => {
            let price = MicroUsdPerHour(90_000);
            fleet.prices.commitments.push(Commitment { size: size.into(), count, price });
        }
    })
}

/// A world of at most four pools, twelve nodes and sixty waiting pods of twelve shapes.
pub(crate) fn worlds() -> impl Strategy<Value = World> {
    let pods = prop_oneof![2 => vec(pods(), 0..4), 1 => vec(pods(), 0..12)];
    let running = (select(&APPS[..]), weighted(0.3, ties()));
    let at = weighted(0.5, Just("2026-11-21T08:00:00Z"));
    (pools(), nodes(), pods, daemons(), wishes(), vec(running, 12), at).prop_map(
        |(pools, nodes, pods, daemons, wishes, running_pods, at)| {
            let mut built = pools.into_iter().fold(world(), World::pool);
            // Without any bound pod an empty node cannot be told from one whose pods were not listed.
            if !nodes.is_empty() {
                built = built.pod(pod("static").cpu("20m").of_daemonset("unlisted").on("node-0"));
            }
            for (number, (node, running)) in nodes.into_iter().enumerate() {
                let name = format!("node-{number}");
                let is_here = running > 0 || number % 2 == 0;
                if is_here {
                    built = built.pods(daemons.iter().take(number % 3).map(|daemon| daemon.on(&name)));
                }
                let (app, tie) = running_pods[number];
                let pod = pod(&format!("running-{number}")).on(&name).label("app", app);
                let pod = tie.into_iter().fold(pod, |pod, tie| tie.apply(pod));
                built = built.node(node).pods(pod.times(running));
            }
            let mut left = 60;
            for (number, (pod, count)) in pods.into_iter().enumerate() {
                let count = count.min(left);
                left -= count;
                built = built.pods(pod.named(&format!("shape-{number}")).times(count));
            }
            let built = daemons.into_iter().fold(built, World::daemon);
            let built = wishes.into_iter().fold(built, wished);
            at.into_iter().fold(built, World::at)
        },
    )
}

/// A world in which one buffer or two keep room.
pub(crate) fn roomy_worlds() -> impl Strategy<Value = World> {
    let one = (select(&["250m", "1", "3", "9"][..]), select(&["256Mi", "3Gi", "20Gi"][..]), 1..4_u32);
    (worlds(), vec(one, 1..3)).prop_map(|(world, rooms)| {
        (0_u32..).zip(rooms).fold(world, |world, (number, (cpu, memory, count))| {
            let room = pod("room").cpu(cpu).memory(memory);
            (0..count)
                .fold(world, |world, ordinal| world.pod(room.clone().placeholder(number * 10 + ordinal)))
        })
    })
}

/// What Azure refused: some sizes, all, or none, everywhere or in a zone, some of it over by now.
fn refusals() -> impl Strategy<Value = Vec<Refusal>> {
    let sizes =
        [None, Some("Standard_D4s_v5"), Some("Standard_D2s_v5"), Some("Standard_E4s_v5"), Some("Gone")];
    let places = [
        RefusedPlace::Everywhere,
        RefusedPlace::EveryZone,
        RefusedPlace::Zone("westeurope-1".into()),
        RefusedPlace::Zone("0".into()),
    ];
    let bought = [None, Some(CapacityType::Spot), Some(CapacityType::OnDemand)];
    let until = ["2026-11-21T07:00:00Z", "2026-11-21T09:00:00Z"];
    let one =
        (select(sizes.to_vec()), select(places.to_vec()), select(bought.to_vec()), select(until.to_vec()));
    vec(one, 0..4).prop_map(|all| {
        let refusal = |(size, place, capacity_type, until): (Option<&str>, _, _, &str)| Refusal {
            size: size.map(SkuName::new),
            place,
            capacity_type,
            because: RefusedBecause::AllocationFailure,
            said: None,
            until: until.parse().expect("a time"),
        };
        all.into_iter().map(refusal).collect()
    })
}

/// A world that prefers availability, in which Azure refused something.
pub(crate) fn refusing_worlds() -> impl Strategy<Value = World> {
    (worlds(), refusals()).prop_map(|(mut world, refusals)| {
        world.snapshot.refusals = refusals;
        world.fleet(|fleet| fleet.prefer = Prefer::Availability).at("2026-11-21T08:00:00Z")
    })
}

/// What a pod may prefer.
#[derive(Clone, Debug)]
enum Soft {
    Node(Vec<Expression>),
    Tie(Tie),
}

fn soft() -> impl Strategy<Value = Vec<(Soft, u32)>> {
    let one = prop_oneof![2 => term().prop_map(Soft::Node), 3 => ties().prop_map(Soft::Tie)];
    prop_oneof![1 => Just(Vec::new()), 2 => vec((one, select(&[1_u32, 10, 100][..])), 1..3)]
}

fn prefer(spec: &mut PodSpec, (soft, weight): &(Soft, u32)) {
    match soft {
        Soft::Node(expressions) => {
            let term = expressions.iter().fold(Requirements::none(), |term, (key, operator, values)| {
                term.with(key, Requirement::new(*operator, *values))
            });
            spec.node_affinity.preferred.push(Preferred { weight: *weight, term });
        }
        Soft::Tie(tie) => tie.wish(spec, *weight),
    }
}

/// A world in which pods prefer things, those of a workload the same, and what that may cost.
pub(crate) fn soft_worlds() -> impl Strategy<Value = World> {
    let limit = select(
        &[ExtraCost::Percent(0), ExtraCost::Percent(5), ExtraCost::Percent(50), ExtraCost::Unlimited][..],
    );
    (worlds(), vec(soft(), 6), limit).prop_map(|(mut world, soft, limit)| {
        for pod in &mut world.snapshot.pods {
            let workload =
                pod.key.name.rsplit_once('-').map_or(0, |(name, _)| name.bytes().map(usize::from).sum());
            let spec = Arc::make_mut(&mut pod.spec);
            soft[workload % soft.len()].iter().for_each(|one| prefer(spec, one));
        }
        world.fleet(|fleet| fleet.extra_cost = limit)
    })
}
