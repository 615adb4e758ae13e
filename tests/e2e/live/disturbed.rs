//! What disturbs a controller: it is killed, it is frozen, the API server goes or falls silent, the NodeFleet goes, the kind
//! NodeClaim goes. One after the other.

use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::audit;
use super::bed::{Bed, CLAIMS, Clock, FLEETS};
use super::deployed::{self, Controller};
use super::way::Way;
use super::workload::Workload;

/// The Lease while it is carried out.
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/karpenter-leader-election";

/// Who holds the Lease, by its place among the controllers.
fn leader(inflate: &Workload, controllers: &[Controller]) -> Option<usize> {
    let answer = inflate.eyes.api.ask("GET", LEASE, None).ok()?;
    let holder = answer.body["spec"]["holderIdentity"].as_str()?.to_owned();
    controllers.iter().position(|controller| holder.starts_with(&format!("{}_", controller.pod)))
}

/// The leader is killed five times while nodes come and go, each time at another point, and started again in its Pod.
pub(super) fn killed_again_and_again(inflate: &Workload, controllers: &mut [Controller]) {
    let kill = |controllers: &mut [Controller]| {
        let leader = leader(inflate, controllers).expect("one of them leads");
        controllers[leader].kill();
        controllers[leader].start();
    };
    let vms = || inflate.eyes.own("sim/state", None)["virtualMachines"].as_array().map_or(0, Vec::len);
    let leaves = || {
        inflate
            .claims()
            .iter()
            .any(|claim| claim["metadata"]["annotations"]["nodeform.dev/removal"].is_string())
    };
    inflate.scale(5);
    inflate.eyes.wait("a NodeClaim is there", || !inflate.claims().is_empty());
    kill(controllers);
    inflate.eyes.wait("a VM is there", || vms() > 0);
    kill(controllers);
    inflate.runs(5);
    kill(controllers);
    inflate.has_nodes(1);
    inflate.scaled(0);
    inflate.eyes.wait("the node is going", leaves);
    kill(controllers);
    inflate.eyes.wait("its VM is gone", || vms() == 0);
    kill(controllers);
    inflate.eyes.only_the_system_node_is_left();
}

/// The leader is frozen past its Lease; the other takes over, and the first writes nothing when it goes on.
pub(super) fn the_leader_is_frozen(bed: &Bed, inflate: &Workload, controllers: &mut [Controller]) {
    inflate.eyes.wait("one of them leads", || leader(inflate, controllers).is_some());
    let frozen = leader(inflate, controllers).expect("one leads");
    inflate.scale(5);
    inflate.eyes.wait("a NodeClaim is there", || !inflate.claims().is_empty());
    controllers[frozen].signal("STOP");
    inflate
        .eyes
        .wait("the other leads", || leader(inflate, controllers).is_some_and(|leader| leader != frozen));
    let taken = inflate.eyes.api.get(LEASE)["spec"]["acquireTime"].as_str().expect("a time").to_owned();
    controllers[frozen].signal("CONT");
    inflate.runs(5);
    inflate.has_nodes(1);
    assert_eq!(inflate.eyes.items(CLAIMS).len(), 1, "nothing was made twice");
    let late: Vec<audit::Asked> = audit::asked(bed)
        .into_iter()
        .filter(|asked| asked.pod == controllers[frozen].pod && asked.at > taken)
        .filter(|asked| asked.is_write() && !asked.is_of_lease())
        .collect();
    assert_eq!(late, [], "whoever lost the Lease writes nothing more");
}

/// The control plane is away for longer than the Lease lasts; nothing goes meanwhile, and it goes on afterwards.
pub(super) fn the_api_server_goes(bed: &mut Bed, inflate: &Workload) {
    let before = inflate.nodes();
    bed.plane.stop_server();
    thread::sleep(Duration::from_secs(20));
    bed.plane.start_server();
    inflate.scaled(6);
    assert!(inflate.nodes().iter().any(|node| before.contains(node)), "the node that was there has stayed");
}

/// The NodeFleet is deleted while a node is coming: nothing more happens until there is one again, and then it goes on.
pub(super) fn the_fleet_is_deleted(inflate: &Workload) {
    let eyes = &inflate.eyes;
    inflate.scale(5);
    eyes.wait("a NodeClaim is there", || !inflate.claims().is_empty());
    let deleted = eyes.api.ask("DELETE", &format!("{FLEETS}/main"), None).expect("it answers");
    assert!(deleted.is_done(), "{}", deleted.why());
    let observed = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/nodeform-observe";
    let observes =
        || eyes.api.get(observed)["spec"]["holderIdentity"].as_str().is_some_and(|holder| !holder.is_empty());
    eyes.wait("it only observes", observes);
    deployed::set_mode(eyes, "auto");
    inflate.runs(5);
    inflate.has_nodes(1);
}

/// All connections to the API server fall silent, and nothing is closed: a minute after they speak again all is as it is to
/// be.
pub(super) fn the_api_server_falls_silent(way: &Way, inflate: &Workload) {
    way.falls_silent();
    inflate.scale(12);
    thread::sleep(Duration::from_secs(60));
    way.speaks_again();
    settles(inflate, 12);
}

/// Waits until so many pods run, on nodes of which each is whole, and without pods there is no node: for a minute at most.
pub(super) fn settles(inflate: &Workload, pods: usize) {
    let mut clock = Clock::start();
    inflate.runs(pods);
    let eyes = &inflate.eyes;
    let has_nodes = || !inflate.claims().is_empty();
    eyes.wait("nothing is missing, left over or there twice", || {
        eyes.is_settled() && has_nodes() == (pods > 0)
    });
    let seconds = clock.ends("  of it: until all is as it is to be");
    assert!(seconds < 60.0, "it settled after {seconds:.0} s");
}

/// The kind NodeClaim is deleted: no VM goes with it, and it is said why the kind stays.
///
/// Returns how many seconds it is from a pod that waits to the first write to Azure.
pub(super) fn the_kind_goes(inflate: &Workload) -> f64 {
    let eyes = &inflate.eyes;
    inflate.scale(1);
    inflate.waits_for_nodes(1);
    let mut clock = Clock::start();
    let has =
        |list: &str, count: usize| eyes.own("sim/state", None)[list].as_array().map(Vec::len) == Some(count);
    eyes.wait("something is made in Azure", || has("networkInterfaces", 1));
    let seconds =
        clock.ends("  of it: from one pod that waits in an idle cluster to the first write to Azure");
    inflate.runs(1);
    inflate.has_nodes(1);
    let kind = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodeclaims.karpenter.sh";
    let deleted = eyes.api.ask("DELETE", kind, None).expect("it answers");
    assert!(deleted.is_done(), "{}", deleted.why());
    let says = |fleet: &Value| fleet["status"]["holds"].to_string().contains("which deletes no VM");
    eyes.wait("the NodeFleet says so", || eyes.items(FLEETS).iter().any(says));
    eyes.after_rounds(3);
    let claims = eyes.items(CLAIMS);
    let kept = |claim: &&Value| {
        claim["metadata"]["deletionTimestamp"].is_string()
            && claim["metadata"]["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty())
    };
    assert_eq!(claims.iter().filter(kept).count(), 1, "{claims:#?}");
    assert!(has("virtualMachines", 1), "its VM runs on");
    inflate.runs(1);
    seconds
}
