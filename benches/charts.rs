//! A small cluster as people run it: Deployments of Helm charts, half of which would rather be spread over zones or hosts.
//!
//! Nothing is random: numbers follow from a seed, so that the same world has the same bytes.

use nodeform::offline::World;
use serde_json::{Value, json};

use crate::running::node;
use crate::worlds::{self, Numbers};

/// The sizes of the nodes, with what pods may use of them: thousandths of a core and MiB.
const SIZES: [(&str, usize, usize); 5] = [
    ("Standard_D4s_v5", 3400, 13_500),
    ("Standard_D8s_v5", 7400, 27_500),
    ("Standard_D16s_v5", 15_400, 55_500),
    ("Standard_E4s_v5", 3400, 27_500),
    ("Standard_E8s_v5", 7400, 55_500),
];

/// So many nodes that carry so many Deployments: each is drawn a node, and its replicas go around all nodes from there to the
/// next ones that have room.
pub(crate) fn cluster(nodes: usize, deployments: usize) -> World {
    let mut numbers = Numbers::new(5);
    let mut free: Vec<(usize, usize)> = Vec::new();
    let mut objects: Vec<Value> = (0..nodes)
        .map(|place| {
            let (size, cpu, memory) = SIZES[numbers.below(SIZES.len())];
            free.push((cpu, memory));
            node(&format!("node-{place:05}"), (size, &format!("eastus-{}", 1 + place % 3)), "default")
        })
        .collect();
    for app in 0..deployments {
        let labels = json!({"app": format!("app-{app}")});
        let rules = rules(app, &labels);
        let size = (
            numbers.of(&[50, 100, 100, 250, 250, 500, 1000, 2000]),
            numbers.of(&[128, 256, 512, 1024, 2048]),
        );
        let first = numbers.below(nodes);
        for replica in 0..numbers.of(&[1, 2, 2, 3, 3, 4, 6, 10, 20]) {
            let mut pod = worlds::pod(&format!("app-{app}-{replica:02}"), size, &labels, &rules);
            let fits = |place: &usize| free[*place].0 >= size.0 && free[*place].1 >= size.1;
            let home = (0..nodes).map(|step| (first + replica * 7 + step) % nodes).find(fits);
            if let Some(home) = home {
                free[home] = (free[home].0 - size.0, free[home].1 - size.1);
                pod["spec"]["nodeName"] = json!(format!("node-{home:05}"));
                pod["status"] = json!({"phase": "Running"});
            }
            objects.push(pod);
        }
    }
    worlds::on_azure_without_budgets(objects)
}

/// What the pods of a Deployment ask for: three of ten would rather be spread over zones, one of them over hosts too, two
/// would rather be apart, and one must be spread over zones.
fn rules(app: usize, labels: &Value) -> Value {
    let selector = json!({"matchLabels": labels});
    let spread = |key: &str, how: &str| json!({"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": how, "labelSelector": selector});
    let (zone, host) = ("topology.kubernetes.io/zone", "kubernetes.io/hostname");
    match app % 10 {
        0 | 1 => json!({"topologySpreadConstraints": [spread(zone, "ScheduleAnyway")]}),
        2 => {
            json!({"topologySpreadConstraints": [spread(zone, "ScheduleAnyway"), spread(host, "ScheduleAnyway")]})
        }
        3 | 4 => {
            let term = json!({"topologyKey": host, "labelSelector": selector});
            let preferred = json!([{"weight": 100, "podAffinityTerm": term}]);
            json!({"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}})
        }
        5 => json!({"topologySpreadConstraints": [spread(zone, "DoNotSchedule")]}),
        _ => json!({}),
    }
}
