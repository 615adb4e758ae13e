//! nodeform against a whole control plane, with a simulated Azure whose kubelets join that cluster: by hand with `plan --live`
//! and `apply`, by the controller as its chart installs it, and by pull requests on a real forge. Nothing is left over, and nothing is forbidden to it.
//!
//! How long it takes is not asserted: it is written to `target/figures.json`, as benches do.

mod approvals;
mod audit;
mod bed;
mod deployed;
mod disturbed;
#[path = "../../live/forge/real.rs"]
#[expect(dead_code, reason = "each test binary uses a part of it")]
mod forge;
mod kubectl;
mod kubelet;
mod reviewed;
mod rights;
#[path = "../../../benches/rows.rs"]
#[expect(dead_code, reason = "each program uses a part of it")]
mod rows;
mod stories;
mod volumes;
mod way;
mod workload;

use std::path::Path;
use std::thread;

use bed::{Bed, CLAIMS, Clock, FLEETS, NODES, names};
use deployed::Controller;
use reviewed::Installation;
use rows::Rows;
use way::Way;
use workload::{Workload, one_of};

use super::binary;

#[test]
fn nodes_come_and_go_in_a_real_cluster_by_hand_and_by_themselves() {
    let Some(program) = binary::built() else { return };
    let Some(tools) = deployed::tools() else { return };
    let mut clock = Clock::start();
    let mut bed = Bed::new(&program);
    let inflate = Workload::new(bed.eyes(), "inflate", &[one_of("karpenter.azure.com/sku-family", &["D"])]);
    clock.ends("a control plane and a simulated Azure start");
    by_hand(&bed, &inflate);
    clock.ends("by hand: a node comes and goes");
    let [_, client] = &tools;
    kubectl::takes_no_plan_for_a_manifest(&bed, client);
    kubectl::shows_a_plan_in_a_row(&bed, client);

    let way = Way::to(bed.plane.server());
    let mut controllers = deployed::install(&bed, &way, &tools);
    clock.ends("the chart is installed and upgraded, each time until its Pods are Ready");
    only_observed(&bed, &inflate);
    clock.ends("it is only observed");

    deployed::set_mode(&inflate.eyes, "auto");
    inflate.runs(5);
    assert_eq!(audit::pods_told(&bed, "inflate"), 5, "each pod was told its node before it took any");
    let mut inflated = clock.ends("inflate 0 to 5 by itself");
    beside_each_other(&bed);
    clock.ends("four stories beside each other");
    inflate.scaled(0);
    inflate.eyes.only_the_system_node_is_left();
    inflated += clock.ends("inflate 5 to 0 by itself");

    disturbed::killed_again_and_again(&inflate, &mut controllers);
    clock.ends("5 x kill -9 of the leader");
    disturbed::the_leader_is_frozen(&bed, &inflate, &mut controllers);
    clock.ends("the leader is frozen past its Lease");
    // An API server that has just started forbids everything until it has read its roles.
    audit::nothing_was_forbidden(&audit::asked(&bed));
    disturbed::the_api_server_goes(&mut bed, &inflate);
    inflate.scaled(0);
    inflate.eyes.only_the_system_node_is_left();
    clock.ends("the control plane is away for 20 s");
    approvals::count_of_who_may_and_says_who(&bed, &inflate);
    clock.ends("a plan waits for an approval");
    let mut installation = Installation { bed: &bed, way: &way, tools: &tools, controllers };
    let merged = reviewed::is_proposed_merged_and_reported(&mut installation, &inflate);
    let mut controllers = installation.controllers;
    clock.ends("a plan is proposed, merged, applied and reported");
    disturbed::the_fleet_is_deleted(&inflate);
    clock.ends("the NodeFleet is deleted while a node comes");
    disturbed::the_api_server_falls_silent(&way, &inflate);
    clock.ends("all connections are silent for 60 s");
    rights::are_taken_and_given_back(&bed, &inflate);
    clock.ends("four rights are taken and given back");
    let first_write = disturbed::the_kind_goes(&inflate);
    clock.ends("the kind NodeClaim is deleted");
    controllers.iter_mut().for_each(Controller::terminate);
    bed.judge_exchanges();
    clock.ends("it ends; its requests are judged");
    let mut figures = Rows::default();
    figures.add("inflate_seconds", inflated, "s");
    figures.add("pod_to_write_seconds", first_write, "s");
    if let Some(merged) = merged {
        figures.add("merged_to_write_seconds", merged, "s");
    }
    figures.write(Path::new(env!("CARGO_MANIFEST_DIR")));
}

/// All of them under one controller.
fn beside_each_other(bed: &Bed) {
    thread::scope(|scope| {
        for (name, story) in stories::ALL {
            let eyes = bed.eyes();
            let told = thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, move || story(eyes));
            told.expect("a thread starts");
        }
    });
}

/// The README's commands.
fn by_hand(bed: &Bed, inflate: &Workload) {
    inflate.scale(5);
    inflate.waits_for_nodes(5);
    let plan = bed.path("plan.json").display().to_string();
    let printed = bed.done(&["plan", "--live", "--out", &plan]);
    assert!(printed.contains("Plan: 1 to add, 0 to change, 0 to destroy."), "{printed}");
    let printed = bed.done(&["apply", &plan]);
    assert!(
        printed.ends_with("\nApply complete! Nodes: 1 added, 0 changed, 0 destroyed, 0 not done.\n"),
        "{printed}"
    );
    inflate.runs(5);
    let printed = bed.done(&["plan", "--live"]);
    assert!(printed.starts_with("No changes."), "{printed}");
    inflate.scaled(0);
    bed.done(&["apply", "--auto-approve"]);
    inflate.eyes.only_the_system_node_is_left();
}

/// In mode `observe` there is a plan in the NodeFleet's status, and nothing else is written anywhere.
fn only_observed(bed: &Bed, inflate: &Workload) {
    let eyes = &inflate.eyes;
    let sent_by_hand = bed.recorded().len();
    deployed::set_mode(eyes, "observe");
    inflate.scale(5);
    inflate.waits_for_nodes(5);
    eyes.wait("the NodeFleet shows the plan", || {
        eyes.items(FLEETS).iter().all(|fleet| fleet["status"]["plan"]["add"] == 1)
    });
    assert!(eyes.items(CLAIMS).is_empty());
    assert_eq!(eyes.items(NODES).len(), 1, "{:?}", names(&eyes.items(NODES)));
    let writes = audit::asked(bed).into_iter().filter(audit::Asked::is_write);
    let others: Vec<audit::Asked> = writes
        .filter(|asked| !(asked.is_of_lease() && ["", "nodeform-observe"].contains(&&*asked.name)))
        .filter(|asked| asked.resource != "nodefleets/status")
        .collect();
    assert_eq!(others, [], "nothing but its Lease and the status of the NodeFleet is written");
    let sent = bed.recorded().split_off(sent_by_hand);
    let writes: Vec<_> = sent
        .iter()
        .filter(|exchange| !exchange.to_string().contains("\"method\":\"GET\""))
        .filter(|exchange| !exchange.to_string().contains("oauth2"))
        .collect();
    assert!(writes.is_empty(), "only reads go to Azure: {writes:#?}");
}
