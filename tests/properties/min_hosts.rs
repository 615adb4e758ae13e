//! Workloads that are spread over hosts keep to at least as many as the fleet asks for, so that a spread keeps its purpose.

use std::collections::BTreeSet;

use nodeform::model::{PodKey, SpreadHosts, label};
use nodeform::solve::solve;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_assert, proptest};
use proptest::sample::select;
use proptest::test_runner::TestCaseError;

use crate::config;
use crate::support::build::{World, pod, world};
use crate::support::fleet::pool;
use crate::support::judged::try_plan_of;
use crate::support::ties::Tie;

/// The workloads, by what they are called and labelled with; the last one is spread over nothing.
const APPS: [&str; 3] = ["api", "db", "web"];

/// A workload: how many pods, of which size, and how far their numbers on hosts may be apart; nothing where it is not spread.
#[derive(Clone, Debug)]
struct Workload {
    pods: usize,
    cpu: &'static str,
    skew: Option<u32>,
    honors_taints: bool,
}

fn workloads() -> impl Strategy<Value = Vec<Workload>> {
    let skew = proptest::option::weighted(0.8, 1..4_u32);
    let one = (1..14_usize, select(&["50m", "500m", "2"][..]), skew, any::<bool>());
    let one = one.prop_map(|(pods, cpu, skew, honors_taints)| Workload { pods, cpu, skew, honors_taints });
    vec(one, 1..=APPS.len())
}

fn with(workloads: &[Workload], asked: SpreadHosts) -> World {
    let built = world().pool(pool("default")).fleet(|fleet| fleet.spread_hosts = asked);
    workloads.iter().zip(APPS).fold(built, |world, (Workload { pods, cpu, skew, honors_taints }, app)| {
        let pod = pod(app).label("app", app).cpu(cpu);
        let policies = (true, *honors_taints);
        let tie = skew.map(|skew| Tie::Spread { key: label::HOSTNAME, app, skew, domains: None, policies });
        world.pods(tie.into_iter().fold(pod, |pod, tie| tie.apply(pod)).times(*pods))
    })
}

proptest! {
    #![proptest_config(config())]

    // Nothing is there and nothing is limited, so that nothing stands against it.
    #[test]
    fn workloads_that_are_spread_over_hosts_have_as_many_as_the_fleet_asks_for(
        workloads in workloads(),
        asked in proptest::option::of(1..6_u32),
    ) {
        let asked = asked.map_or(SpreadHosts::Each, SpreadHosts::AtLeast);
        let world = with(&workloads, asked);
        let solution = solve(&world.snapshot, &world.policy);
        try_plan_of(&world, &solution).map_err(TestCaseError::fail)?;
        for (workload, app) in workloads.iter().zip(APPS) {
            let Some(skew) = workload.skew else { continue };
            let is_own = |pod: &PodKey| pod.name.split('-').next() == Some(app);
            let new = &solution.target.new;
            let hosts = new.iter().enumerate().filter(|(_, node)| node.pods.iter().any(is_own));
            let hosts: BTreeSet<usize> = hosts.map(|(number, _)| number).collect();
            let most = workload.pods.div_ceil(skew as usize);
            let least = match asked {
                SpreadHosts::Each => most,
                SpreadHosts::AtLeast(hosts) => most.min(hosts as usize),
            };
            prop_assert!(hosts.len() >= least, "{app} is on {} hosts, not on {least}", hosts.len());
        }
    }
}
