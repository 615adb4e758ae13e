//! Plans of random worlds, bound by a scheduler that does not know them: where the real one would leave pods stranded.
//!
//! The rules and the scheduler are this test's own. That the model does what Kubernetes' scheduler does is seen
//! beside the real one, in `tests/e2e`.

mod beside;
mod rules;
mod scheduler;

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::sync::LazyLock;

use crate::support::judged::try_planned;
use crate::support::random::worlds;
use crate::support::{node, pod, world};
use nodeform::model::{NodeName, Pod, PodKey, PodPlace, SchedulingRule};
use nodeform::sim;
use nodeform::snapshot::Snapshot;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rules::Cluster;
use scheduler::{Guidance, ORDERS, Order, sort, stranded};

/// Worlds where nobody says another number (`PROPTEST_CASES`).
const WORLDS: u32 = 100;

/// The most percent of worlds whose plan the judge refuses and that are left out here: `properties` fails at the first.
const LEFT_OUT_PERCENT_MAX: usize = 1;

/// A world and what a plan makes of it.
struct Planned {
    before: Snapshot,
    after: Snapshot,
}

impl Planned {
    /// The cluster with what runs, and the pods that the plan places.
    fn cluster(&self) -> (Cluster<'_>, Vec<(&Pod, &NodeName)>) {
        let was: BTreeMap<&PodKey, &PodPlace> =
            self.before.pods.iter().map(|pod| (&pod.key, &pod.place)).collect();
        let mut cluster = Cluster::of(&self.after);
        let mut placed = Vec::new();
        for pod in &self.after.pods {
            match &pod.place {
                PodPlace::Bound(node) if pod.is_daemon || was.get(&pod.key) == Some(&&pod.place) => {
                    cluster.bind(pod, node);
                }
                PodPlace::Bound(node) => placed.push((pod, node)),
                PodPlace::Waiting => {}
            }
        }
        (cluster, placed)
    }

    fn stranded(&self, order: Order, guidance: Guidance) -> Vec<(&Pod, &NodeName)> {
        let (mut cluster, mut placed) = self.cluster();
        sort(&mut placed, order);
        stranded(&mut cluster, placed, guidance)
    }
}

/// The worlds, planned once for all tests.
static PLANNED: LazyLock<Vec<Planned>> = LazyLock::new(planned);

/// Plans random worlds, the same ones every time.
fn planned() -> Vec<Planned> {
    let standard = Config::default();
    // 256 is what proptest takes where the environment says nothing.
    let count = if standard.cases == 256 { WORLDS } else { standard.cases };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(standard, random);
    let mut planned = Vec::new();
    for number in 0..count {
        let world = worlds().new_tree(&mut runner).expect("a world can be made up").current();
        // That plans are accepted is another test's: `properties.rs`.
        let plan = match try_planned(&world) {
            Ok(plan) => plan,
            Err(why) => {
                let _ = writeln!(io::stderr(), "left out: drawn world {number}: {why}");
                continue;
            }
        };
        planned.push(Planned { after: sim::after(&world.snapshot, &plan), before: world.snapshot });
    }
    let count = usize::try_from(count).expect("a number of worlds fits");
    let left_out = count - planned.len();
    assert!(left_out * 100 <= count * LEFT_OUT_PERCENT_MAX, "{left_out} of {count} worlds are left out");
    planned
}

/// What is stranded of all that was placed, over all worlds and orders.
#[derive(Default)]
struct Stranded {
    placed: usize,
    /// Pods that no rule ties to others.
    free: Vec<String>,
    /// Pods that spread, or that stand beside others or apart from them.
    tied: Vec<String>,
    worlds: usize,
}

fn replayed(guidance: Guidance) -> Stranded {
    let mut stranded = Stranded::default();
    let all = &*PLANNED;
    for (number, planned) in all.iter().enumerate() {
        let before = stranded.free.len() + stranded.tied.len();
        for order in ORDERS {
            stranded.placed += planned.cluster().1.len();
            for (pod, node) in planned.stranded(order, guidance) {
                let line = format!("world {number}, {order:?}: {} for {node}", pod.key);
                let is_tied = pod.spec.rules().keys().any(|rule| TIES.contains(rule));
                if is_tied { stranded.tied.push(line) } else { stranded.free.push(line) }
            }
        }
        stranded.worlds += usize::from(stranded.free.len() + stranded.tied.len() > before);
    }
    let Stranded { placed, free, tied, worlds } = &stranded;
    // Written to the stream itself: what a test that passes prints is not shown.
    let _ = writeln!(
        io::stderr(),
        "{guidance:?}: of {placed} pods {} are stranded, {} of them tied to others, in {worlds} of {} worlds",
        free.len() + tied.len(),
        tied.len(),
        all.len()
    );
    stranded
}

/// The rules by which it matters who is there already.
const TIES: [SchedulingRule; 3] =
    [SchedulingRule::TopologySpread, SchedulingRule::PodAffinity, SchedulingRule::PodAntiAffinity];

/// Of those who are tied to others the judge asks only that some order lets them in: one percent may come at the wrong
/// time, where pods that they count and that have no such rule came first.
const TIED_PERCENT_MAX: usize = 1;

#[test]
fn a_scheduler_that_is_told_the_plan_strands_no_pod_but_for_the_order_of_others() {
    let Stranded { placed, free, tied, .. } = replayed(Guidance::Nominated);
    assert!(placed > 0, "the worlds have pods");
    assert_eq!(free, Vec::<String>::new());
    assert!(tied.len() * 100 <= placed * TIED_PERCENT_MAX, "{}", tied.join("\n"));
}

/// Plans leave room for a scheduler that is not told them where that costs little: this is how many pods the rest strands.
/// More than half of them wait for others by a rule, where room would not help.
const ALONE_PERCENT_MAX: usize = 6;

#[test]
fn a_scheduler_that_is_not_told_the_plan_strands_few_pods() {
    let Stranded { placed, free, tied, .. } = replayed(Guidance::Alone);
    let all = free.len() + tied.len();
    assert!(all * 100 <= placed * ALONE_PERCENT_MAX, "{all} of {placed}");
}

#[test]
fn the_emptiest_node_is_taken_though_another_pod_fits_nowhere_else() {
    let two = world().node(node("large").size("Standard_D8s_v5")).node(node("small").size("Standard_D4s_v5"));
    let pods = [pod("a-small").cpu("1500m").memory("1Gi"), pod("b-large").cpu("7").memory("1Gi")];
    let snapshot = two.pods(pods.map(crate::support::build::PodBuilder::build)).snapshot;
    let [large, small] = ["large", "small"].map(NodeName::new);
    let placed: Vec<(&Pod, &NodeName)> = snapshot.pods.iter().zip([&small, &large]).collect();
    let left = |guidance| stranded(&mut Cluster::of(&snapshot), placed.clone(), guidance).len();
    assert_eq!(left(Guidance::Alone), 1);
    assert_eq!(left(Guidance::Nominated), 0);
}
