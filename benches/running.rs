//! Makes clusters that run: nodes that carry pods, and pods that wait beside them.
//!
//! Nothing is random: numbers follow from a seed, so that the same world has the same bytes.

use std::collections::BTreeSet;

use nodeform::model::{NodeName, Pod, PodKey, PodPlace};
use nodeform::offline::{self, World};
use nodeform::sim;
use serde_json::{Value, json};

use crate::worlds::{self, Numbers};

/// A cluster after `gen -kind cluster` of the peer: nodes of 4 to 16 cores of the benchmark's types, at most 70 % full.
pub(crate) fn cluster(nodes: usize, pods: usize) -> World {
    let mut numbers = Numbers::new(42);
    let mut free = Vec::new();
    let mut objects: Vec<Value> = (0..nodes)
        .map(|place| {
            let cores = 4 + numbers.below(13);
            free.push((cores * 700, cores * 2048 * 7 / 10));
            let zone = format!("test-zone-{}", 1 + numbers.below(3));
            node(&format!("node-{place:05}"), (&format!("fake-it-{}", cores - 1), &zone), "default")
        })
        .collect();
    for (place, mut pod) in worlds::generic_pods(pods).into_iter().enumerate() {
        let (cpu, memory) = worlds::size_of(&pod);
        let fits = |free: &(usize, usize)| free.0 >= cpu && free.1 >= memory;
        let home = (0..1000).map(|_| numbers.below(nodes)).find(|node| fits(&free[*node]));
        if let Some(home) = home {
            free[home] = (free[home].0 - cpu, free[home].1 - memory);
            pod["spec"]["nodeName"] = json!(format!("node-{home:05}"));
            pod["status"] = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
        }
        pod["metadata"]["name"] = json!(format!("running-{place:05}"));
        objects.push(pod);
    }
    worlds::on_types_without_budgets(objects)
}

/// The sizes that the nodes of [`large`] have, with cores and MiB.
const SIZES: [(&str, usize, usize); 6] = [
    ("Standard_D8s_v5", 8000, 32 << 10),
    ("Standard_D16s_v5", 16_000, 64 << 10),
    ("Standard_E8s_v5", 8000, 64 << 10),
    ("Standard_E16s_v5", 16_000, 128 << 10),
    ("Standard_F8s_v2", 8000, 16 << 10),
    ("Standard_D32s_v5", 32_000, 128 << 10),
];

/// A large cluster of East US with twenty pools: nodes that are two thirds full, fuller where others are, and pods that wait.
pub(crate) fn large(nodes: usize, running: usize, waiting: usize) -> World {
    let mut numbers = Numbers::new(11);
    let node_of = |place: usize, (size, pool): (&str, usize)| {
        let zone = format!("eastus-{}", 1 + place % 3);
        node(&format!("node-{place:05}"), (size, &zone), &worlds::team(pool))
    };
    let chosen: Vec<(usize, usize)> =
        (0..nodes).map(|_| (numbers.below(SIZES.len()), numbers.below(worlds::TEAMS))).collect();
    let mut objects: Vec<Value> = chosen
        .iter()
        .enumerate()
        .map(|(place, (size, pool))| node_of(place, (SIZES[*size].0, *pool)))
        .collect();
    let workloads = worlds::workloads_of_teams(2000, 12);
    objects.extend(workloads.iter().cloned());
    let mut world = worlds::on_teams(objects);
    let models = std::mem::take(&mut world.snapshot.pods);
    let sizes: Vec<(usize, usize)> = workloads.iter().map(worlds::size_of).collect();
    let team = |model: usize| worlds::team_of(&workloads[model]);
    let mut homes = Homes::of(&chosen);
    for place in 0..running + waiting {
        let model = numbers.below(models.len());
        let home = (place < running).then(|| {
            homes.take(sizes[model], team(model), &mut numbers).expect("the nodes have room for all that run")
        });
        world.snapshot.pods.push(copy(&models[model], place, home));
    }
    world.snapshot.pods.sort();
    world
}

/// Plans what waits, carries that out, and takes most pods off every twentieth node; returns the names of those.
pub(crate) fn thinned(fresh: &World) -> (World, BTreeSet<NodeName>) {
    let planned = offline::plan(fresh).expect("the judge agrees with the fleet");
    let mut snapshot = sim::after(&fresh.snapshot, planned.plan.plan());
    let thin: BTreeSet<NodeName> = snapshot.nodes.iter().step_by(20).map(|node| node.name.clone()).collect();
    let mut seen = 0;
    snapshot.pods.retain(|pod| {
        let is_thinned = matches!(&pod.place, PodPlace::Bound(node) if thin.contains(node));
        seen += usize::from(is_thinned);
        !is_thinned || seen.is_multiple_of(4)
    });
    (World { snapshot, ..fresh.clone() }, thin)
}

/// Puts others in the place of so many pods that wait: pods of the workloads of other pods that wait.
pub(crate) fn change(world: &mut World, count: usize, run: usize) {
    let pods = &mut world.snapshot.pods;
    let mut waiting: Vec<usize> =
        (0..pods.len()).filter(|place| pods[*place].place == PodPlace::Waiting).collect();
    let mut numbers = Numbers::new(17 + run as u64);
    for number in 0..count {
        let gone = waiting.swap_remove(numbers.below(waiting.len()));
        let model = waiting[numbers.below(waiting.len())];
        pods[gone] = copy(&pods[model], (run + 1) * 1_000_000 + number, None);
    }
    pods.sort();
}

/// A pod like the model, under a name of its own.
pub(crate) fn copy(model: &Pod, place: usize, home: Option<usize>) -> Pod {
    let key = PodKey::new(model.key.namespace.as_str(), format!("{}-{place:06}", model.key.name));
    let at = home.map_or(PodPlace::Waiting, |home| PodPlace::Bound(NodeName::new(format!("node-{home:05}"))));
    Pod { key, place: at, ..model.clone() }
}

/// What is free of every node.
struct Homes {
    free: Vec<Home>,
}

struct Home {
    cpu: usize,
    memory: usize,
    pods: usize,
    pool: usize,
    /// What stays free of it as long as others have room, of cores and of memory.
    spare: (usize, usize),
}

impl Homes {
    fn of(chosen: &[(usize, usize)]) -> Self {
        let free = |(size, pool): &(usize, usize)| {
            let (_, cpu, memory) = SIZES[*size];
            // What Azure keeps of it for itself is no pod's.
            let (cpu, memory) = (cpu * 9 / 10, memory * 8 / 10);
            Home { cpu, memory, pods: 100, pool: *pool, spare: (cpu * 3 / 10, memory * 2 / 10) }
        };
        Self { free: chosen.iter().map(free).collect() }
    }

    fn take(
        &mut self,
        (cpu, memory): (usize, usize),
        team: Option<usize>,
        numbers: &mut Numbers,
    ) -> Option<usize> {
        let fits = |home: &usize, is_spared: bool| {
            let Home { spare, pods, pool, .. } = &self.free[*home];
            let spare = if is_spared { *spare } else { (0, 0) };
            let Home { cpu: free_cpu, memory: free_memory, .. } = &self.free[*home];
            *free_cpu >= cpu + spare.0
                && *free_memory >= memory + spare.1
                && *pods > 0
                && team.is_none_or(|team| team == *pool)
        };
        let drawn: Vec<usize> = (0..400).map(|_| numbers.below(self.free.len())).collect();
        let home = drawn.iter().find(|home| fits(home, true));
        let home = *home.or_else(|| drawn.iter().find(|home| fits(home, false)))?;
        let Home { cpu: free_cpu, memory: free_memory, pods, .. } = &mut self.free[home];
        (*free_cpu, *free_memory, *pods) = (*free_cpu - cpu, *free_memory - memory, *pods - 1);
        Some(home)
    }
}

/// A node of a pool, on demand.
pub(crate) fn node(name: &str, (size, zone): (&str, &str), pool: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"node.kubernetes.io/instance-type": size,
            "topology.kubernetes.io/zone": zone, "karpenter.sh/capacity-type": "on-demand",
            "karpenter.sh/nodepool": pool}}})
}
