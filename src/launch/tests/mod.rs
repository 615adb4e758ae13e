//! Converts plans of a live world into executions, and checks what is withheld.

mod classes;
mod judged;
pub(crate) mod world;

use std::collections::BTreeSet;

use world::{FACTS, OBJECTS, moving, planned, planned_with, policy_of, world_of, world_without};

use super::unknown::removals;
use super::{NotTheSame, ready};
use crate::manifests::listed::{NEEDED_KINDS, SNAPSHOT_KINDS};
use crate::model::ChangeClass;
use crate::offline;
use crate::plan::Plan;
use crate::plan::execution::{Execution, LaunchChoice};

fn execution(plan: &Plan) -> &Execution {
    plan.spec.execution.as_ref().expect("it can be carried out")
}

#[test]
fn a_create_has_choices_that_hold_its_pods_with_the_primary_first_and_the_others_by_price() {
    let plan = planned(OBJECTS);
    let execution = execution(&plan);
    let (_, create, claim) = plan.spec.creates().next().expect("a node is made");
    let choices = execution.choices(&create.spec);
    assert_eq!(choices[0].choice, claim.primary);
    assert!((2..=20).contains(&choices.len()), "{choices:#?}");
    let prices: Vec<_> = choices.iter().skip(1).map(|choice| choice.price_max).collect();
    assert!(prices.is_sorted(), "{prices:?}");
    let most = claim.price_max;
    assert!(choices.iter().all(|LaunchChoice { price_max, .. }| *price_max <= most), "{choices:#?}");
    let listed = |key: &str, value: &str| {
        claim.requirements.get(key).and_then(|list| list.listed()).is_some_and(|list| list.contains(value))
    };
    for LaunchChoice { choice, machine, .. } in choices {
        assert!(listed("node.kubernetes.io/instance-type", choice.size.as_str()), "{choice:?}");
        assert!(listed("topology.kubernetes.io/zone", choice.zone.as_str()), "{choice:?}");
        assert!(execution.machines.contains_key(machine));
    }
    let all = execution.launches.values().flat_map(|launch| &launch.choices);
    let used: BTreeSet<_> = all.map(|choice| choice.machine.clone()).collect();
    assert_eq!(used, execution.machines.keys().cloned().collect(), "no machine is without a choice");
}

#[test]
fn a_removal_waits_for_the_nodes_that_take_its_pods_and_is_bound_to_one_vm() {
    let plan = planned(&world::moving());
    let execution = execution(&plan);
    let (delete, _) = plan.spec.deletes().next().expect("a node goes");
    let (create, _, _) = plan.spec.creates().next().expect("a node comes");
    let removal = &execution.removals[delete];
    assert_eq!(removal.after, std::slice::from_ref(create));
    assert_eq!(removal.grace.map(|grace| grace.as_secs()), Some(600));
    let node = &execution.nodes[delete];
    assert_eq!(node.node_uid.as_deref(), Some("node-uid-1"));
    assert_eq!(node.claim_uid.as_deref(), Some("claim-uid-1"));
    assert_eq!(node.vm_id.as_deref(), Some("00000000-aaaa-4bbb-8ccc-000000000001"));
    assert_eq!(node.interfaces.len(), 1);
    assert_eq!(execution.nominations.get(create), None, "pods that run are moved by eviction");
}

#[test]
fn waiting_pods_are_nominated_to_the_node_that_is_made_for_them() {
    let plan = planned(OBJECTS);
    let (create, _, _) = plan.spec.creates().next().expect("a node is made");
    let names: Vec<&str> = execution(&plan).nominations[create].iter().map(|pod| &*pod.name).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn a_node_that_cannot_be_made_is_withheld_with_its_pods_and_removals_that_wait_for_it() {
    let facts = FACTS.replace("\"backendPools\": []", "\"backendPools\": null");
    let plan = planned_with(&world::moving(), &facts);
    assert_eq!(plan.spec.changes.len(), 0, "{:#?}", plan.spec.changes);
    let held: Vec<_> = plan.evidence.held.iter().map(|held| (held.class, &*held.because)).collect();
    let why = "pool `apps`: `load balancers`: could not be read";
    assert!(held.contains(&(ChangeClass::Create, why)), "{held:#?}");
    let waits = format!("it waits for what is withheld: {why}");
    assert!(
        held.iter().any(|(class, because)| *class != ChangeClass::Create && *because == waits),
        "{held:#?}"
    );
}

#[test]
fn where_a_kind_could_not_be_listed_no_node_goes_and_new_ones_come() {
    for (kind, said) in [("nodeclaims", "nodeclaims of the cluster"), ("pdb", "pdb of the cluster")] {
        let world = world_without(&[kind], &world::moving(), FACTS);
        let plan = offline::plan(&world).expect("the judge accepts it").plan.plan().clone();
        assert_eq!(plan.spec.deletes().count(), 0, "{kind}");
        let held: Vec<&str> = plan.evidence.held.iter().map(|held| &*held.because).collect();
        let why = format!("{said}: what cannot be listed is unknown; no node is deleted until it can");
        assert!(held.contains(&&*why), "{held:#?}");
        let waiting = offline::plan(&world_without(&[kind], OBJECTS, FACTS)).expect("the judge accepts it");
        assert_eq!(waiting.plan.plan().spec.creates().count(), 1, "{kind}");
    }
}

#[test]
fn each_kind_that_could_not_be_listed_alone_keeps_every_node() {
    let plan = planned(&world::moving());
    let goes: BTreeSet<_> = plan.spec.deletes().map(|(id, _)| id.clone()).collect();
    assert!(!goes.is_empty());
    let kinds = SNAPSHOT_KINDS.iter().map(|kind| kind.word);
    for kind in kinds.filter(|word| !NEEDED_KINDS.contains(word)) {
        let said = format!("{kind} of the cluster");
        let kept = removals(&world_without(&[kind], &moving(), FACTS).snapshot, &plan).expect("they stay");
        assert_eq!((kept.object, kept.changes), (said, goes.clone()), "{kind}");
    }
}

/// Returns the reasons for held changes, and the warnings.
fn told(plan: &Plan) -> String {
    let held = plan.evidence.held.iter().map(|held| held.because.clone());
    let warned =
        plan.evidence.report.warnings.iter().map(|warning| format!("{}: {}", warning.object, warning.what));
    held.chain(warned).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_is_not_known_of_the_cluster_is_named() {
    let cases = [
        (
            "\"sshPublicKey\": \"ssh-ed25519 AAAA\"",
            "\"sshPublicKey\": null",
            "`SSH key`: the cluster names none",
        ),
        (
            "\"caCertificate\": \"LS0t\"",
            "\"caCertificate\": null",
            "`cluster CA`: is in no kubeconfig: set `certificate-authority-data`",
        ),
        (
            "\"kubernetesVersion\": \"1.34.2\"",
            "\"kubernetesVersion\": \"\"",
            "`Kubernetes version`: `` is no version",
        ),
        (
            "\"hasHttpProxy\": false",
            "\"hasHttpProxy\": true",
            "`the cluster's HTTP proxy`: nodeform makes no nodes",
        ),
        (
            "AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2/2404gen2containerd\"",
            "x\"",
            "`spec.imageFamily`: the versions of image `2404gen2containerd` could not be read",
        ),
        (
            "\"networkGuid\": \"44444444-4444-4444-4444-444444444444\"",
            "\"networkGuid\": null",
            "`VNet's resourceGuid`: cannot be determined",
        ),
    ];
    for (from, to, why) in cases {
        assert!(FACTS.contains(from), "{from}");
        let plan = planned_with(OBJECTS, &FACTS.replace(from, to));
        let held = told(&plan);
        assert!(held.contains(why), "`{why}` is not in `{held}`");
        // Sizes of the other generation have their own image.
        assert!(plan.spec.changes.is_empty() || why.contains("imageFamily"), "{from}");
    }
}

#[test]
fn a_choice_is_launched_only_by_what_was_planned() {
    let plan = planned(OBJECTS);
    let (_, create, _) = plan.spec.creates().next().expect("a node is made");
    let now = |objects: &str, facts: &str| {
        let world = world_of(objects, facts);
        ready((&world.snapshot, &world.policy), &plan.spec, (&create.spec, 0))
    };
    let same = now(OBJECTS, FACTS).expect("nothing has changed");
    assert_eq!(same.ssh_public_key, "ssh-ed25519 AAAA");
    let labels = same.template.shown()["kubeletConfig"]["kubeletNodeLabels"].clone();
    let zone = execution(&plan).choices(&create.spec)[0].choice.zone.clone();
    assert_eq!(labels["topology.kubernetes.io/zone"], zone.as_str(), "{labels:#}");
    assert_eq!(labels["karpenter.sh/capacity-type"], "on-demand");
    assert_eq!(labels["kubernetes.azure.com/mode"], "user");
    let newer = FACTS.replace("\"1.34.2\"", "\"1.34.3\"");
    assert_eq!(now(OBJECTS, &newer), Err(NotTheSame::ClusterChanged("1.34.3".to_owned())));
    let key = FACTS.replace("ssh-ed25519 AAAA", "ssh-ed25519 BBBB");
    assert_eq!(now(OBJECTS, &key), Err(NotTheSame::KeyChanged));
    let class = OBJECTS.replace("maxPods: 50", "maxPods: 60");
    assert_eq!(now(&class, FACTS), Err(NotTheSame::ClassChanged("default".to_owned())));
    let image = FACTS.replace("versions/202511.12.0", "versions/202512.01.0");
    assert!(now(OBJECTS, &image).is_ok(), "the plan says which image");
    assert!(policy_of(OBJECTS).whole_classes.contains_key("default"));
}

#[test]
fn why_a_node_stays_that_nodeform_may_not_touch_is_said_as_it_is() {
    let said = |facts: &str| {
        let plan = planned_with(&moving(), facts);
        assert_eq!(plan.spec.deletes().count(), 0);
        plan.evidence.report.staying.iter().map(|(_, why)| why.clone()).collect::<Vec<_>>().join("; ")
    };
    let karpenters = FACTS.replace("nodeform.dev_cluster", "somebody");
    let karpenters = said(&karpenters);
    assert!(karpenters.contains("Karpenter created it, and nodeform cannot adopt it yet"), "{karpenters}");
    assert!(!karpenters.contains("do-not-disrupt"), "{karpenters}");
    let others = FACTS.replace("\"nodeform.dev_cluster\": \"", "\"nodeform.dev_cluster\": \"not-");
    let others = said(&others);
    assert!(others.contains("neither nodeform's tag of this cluster nor Karpenter's"), "{others}");
}

#[test]
fn a_node_whose_removal_is_held_may_get_tags_and_a_hold_on_updates_keeps_them_off() {
    let facts = FACTS.replace(", \"team_name\": \"a\"", "");
    let held = |classes: &str| {
        let fleet = format!(
            "---\napiVersion: nodeform.dev/v1alpha1\nkind: NodeFleet\nmetadata: {{name: f}}\nspec: {{approve: {{{classes}}}}}\n"
        );
        let plan = planned_with(&format!("{}{fleet}", moving()), &facts);
        let changes = plan.spec.changes.values().filter(|planned| planned.change.target().is_some());
        (changes.count(), plan.evidence.held.iter().map(|held| held.class).collect::<Vec<_>>())
    };
    let all = "replace: hold, move-pods: hold";
    assert_eq!(held(all), (1, vec![ChangeClass::Replace]));
    let (changes, classes) = held(&format!("{all}, update: hold"));
    assert_eq!((changes, classes.contains(&ChangeClass::Update)), (0, true), "{classes:?}");
}
