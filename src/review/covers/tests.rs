//! Fates of approved changes and their reasons, in plans of small worlds.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use super::{Covered, Fate, covers};
use crate::launch::tests::world::{OBJECTS, moving, planned};
use crate::model::disruption_budget::{DisruptionBudget, UnhealthyPods};
use crate::model::{DisruptionReason, LabelSelector, MicroUsdPerHour, PodKey, PodPlace, Workload};
use crate::plan::execution::{ClusterIdentity, Machine, NodeIdentity};
use crate::plan::{Change, ChangeId, Execution, Plan};
use crate::solve::Unplaced;

fn execution(plan: &mut Plan) -> &mut Execution {
    plan.spec.execution.as_mut().expect("it can be carried out")
}

/// Returns a plan with a new node that takes two pods, and the removal of the node that runs them.
fn moved() -> (Plan, ChangeId, ChangeId) {
    let plan = planned(&moving());
    let (create, _, _) = plan.spec.creates().next().expect("a node comes");
    let (delete, _) = plan.spec.deletes().next().expect("a node goes");
    let ids = (create.clone(), delete.clone());
    (plan, ids.0, ids.1)
}

fn said(covered: &Covered, id: &ChangeId) -> String {
    match &covered.approved[id] {
        Fate::Kept(_) => "kept".to_owned(),
        Fate::Gone => "gone".to_owned(),
        Fate::NoLongerNeeded(because) => format!("no longer needed: {because}"),
        Fate::NoLongerHolds(because) => format!("no longer holds: {because}"),
        Fate::Waits(because) => format!("waits: {because}"),
    }
}

/// Changes the fresh plan; returns the fates of create and removal.
fn differing(differ: impl FnOnce(&mut Plan, &ChangeId, &ChangeId)) -> [String; 2] {
    let (approved, create, delete) = moved();
    let mut fresh = approved.clone();
    differ(&mut fresh, &create, &delete);
    let covered = covers(&approved, &fresh);
    [said(&covered, &create), said(&covered, &delete)]
}

#[test]
fn the_same_plan_is_kept_with_every_choice() {
    let (plan, create, delete) = moved();
    let covered = covers(&plan, &plan);
    assert!(covered.is_whole(), "{covered:#?}");
    let made = covered.approved[&create].kept().expect("it is kept");
    let spec = &plan.spec.changes[&create].change.create().expect("a create").spec;
    let choices = plan.spec.execution.as_ref().map_or(0, |execution| execution.choices(spec).len());
    assert_eq!(made.choices, (0..choices).collect());
    let goes = covered.approved[&delete].kept().expect("it is kept");
    assert_eq!(goes.after, BTreeSet::from([create.clone()]));
    assert_eq!(covered.waves, [vec![create, delete]]);
}

#[test]
fn what_is_harder_on_pods_than_was_approved_no_longer_holds() {
    let needless = "no longer needed: the nodes whose pods it would take stay";
    let shorter = differing(|fresh, _, delete| {
        execution(fresh).removals.get_mut(delete).expect("a removal").grace =
            Some(SignedDuration::from_secs(599));
    });
    let because = "no longer holds: its pods would have less time to leave than was approved";
    assert_eq!(shorter, [needless, because]);
    let longer = differing(|fresh, _, delete| {
        execution(fresh).removals.get_mut(delete).expect("a removal").grace = None;
    });
    assert_eq!(longer, ["kept", "kept"]);
    let hasty = differing(|fresh, _, delete| {
        execution(fresh).removals.get_mut(delete).expect("a removal").after.clear();
    });
    assert!(hasty[1].starts_with("no longer holds: it would not wait for node `aks-apps-"), "{hasty:?}");
    let (mut approved, _, delete) = moved();
    let fresh = approved.clone();
    if let Change::Delete(delete) = &mut approved.spec.changes.get_mut(&delete).expect("it goes").change {
        delete.reason = DisruptionReason::Empty;
    }
    let because = "no longer holds: pod `default/a` is on it now; it was approved as empty";
    assert_eq!(said(&covers(&approved, &fresh), &delete), because);
}

#[test]
fn another_vm_of_the_same_name_was_never_approved() {
    for field in ["vm", "node"] {
        let [_, delete] = differing(|fresh, _, delete| {
            let node = execution(fresh).nodes.get_mut(delete).expect("a node");
            if field == "vm" {
                node.vm_id = Some("other".into());
            } else {
                node.node_uid = Some("other".into());
            }
        });
        assert!(delete.starts_with("no longer holds: "), "{field}: {delete}");
    }
    let unknown = differing(|fresh, _, delete| {
        execution(fresh).nodes.insert(delete.clone(), crate::plan::execution::NodeIdentity::default());
    });
    assert!(unknown[1].starts_with("no longer holds: "), "{unknown:?}");
}

#[test]
fn a_node_that_costs_more_or_is_bought_in_another_way_takes_no_approved_place() {
    let dearer = differing(|fresh, _, _| {
        for claim in fresh.spec.claims.values_mut() {
            claim.price_max = claim.price_max.map(|price| price + MicroUsdPerHour(1));
        }
    });
    let because = "it would cost more than was approved";
    assert_eq!(dearer[0], format!("no longer holds: another node would be needed in its place: {because}"));
    let because = "its pods would move to a new node that was not approved or that costs more";
    assert_eq!(dearer[1], format!("no longer holds: {because}"));
    let cheaper = differing(|fresh, _, _| {
        for claim in fresh.spec.claims.values_mut() {
            claim.price_max = claim.price_max.map(|price| price - MicroUsdPerHour(1));
        }
        for launch in execution(fresh).launches.values_mut() {
            launch.choices.truncate(1);
        }
    });
    assert_eq!(cheaper, ["kept", "kept"]);
    let elsewhere = differing(|fresh, _, _| {
        for launch in execution(fresh).launches.values_mut() {
            launch.choices[0].choice.zone = crate::model::Zone::new("westeurope-9");
        }
    });
    assert!(
        elsewhere[0].contains("in zone `westeurope-9`, on-demand, was not approved for it"),
        "{elsewhere:?}"
    );
    let unknown =
        differing(|fresh, _, _| fresh.spec.claims.values_mut().for_each(|claim| claim.price_max = None));
    assert!(unknown[0].contains("it would cost more than was approved"), "{unknown:?}");
}

#[test]
fn a_claim_that_says_something_else_is_another_node() {
    let tainted = differing(|fresh, _, _| {
        let taint = crate::model::Taint::new("team", "a", crate::model::Effect::NoSchedule);
        fresh.spec.claims.values_mut().for_each(|claim| claim.taints = vec![taint.clone()]);
    });
    assert!(tainted[0].contains("of its NodeClaim, `taints` was approved as `[]`"), "{tainted:?}");
    let labelled = differing(|fresh, _, _| {
        let key = crate::model::LabelKey::new("node.kubernetes.io/instance-type");
        fresh.spec.claims.values_mut().for_each(|claim| drop(claim.labels.insert(key.clone(), "x".into())));
    });
    assert_eq!(labelled, ["kept", "kept"], "what a choice decides is compared with the choices");
}

#[test]
fn without_a_reason_to_go_a_node_stays_and_its_new_node_is_not_needed() {
    let (approved, create, delete) = moved();
    let mut fresh = approved.clone();
    fresh.spec.changes.clear();
    let covered = covers(&approved, &fresh);
    assert_eq!(
        said(&covered, &create),
        "no longer needed: in the fresh plan, its pods fit elsewhere or are gone"
    );
    assert!(
        said(&covered, &delete).starts_with("no longer holds: in the fresh plan it is kept"),
        "{covered:#?}"
    );
    let node = fresh.evidence.world.nodes[0].name.clone();
    fresh.evidence.report.staying.push((node, "its pod `web` fits nowhere else".to_owned()));
    assert_eq!(said(&covers(&approved, &fresh), &delete), "no longer holds: its pod `web` fits nowhere else");
    fresh.evidence.world.nodes.clear();
    assert_eq!(said(&covers(&approved, &fresh), &delete), "gone");
}

#[test]
fn a_node_is_not_called_needless_while_a_pod_that_it_is_for_stays_pending() {
    let approved = planned(OBJECTS);
    let create = approved.spec.creates().next().expect("a node comes").0.clone();
    let mut fresh = approved.clone();
    fresh.spec.changes.clear();
    let gone = "no longer needed: in the fresh plan, its pods fit elsewhere or are gone";
    assert_eq!(said(&covers(&approved, &fresh), &create), gone);
    fresh.evidence.report.unplaced.push(Unplaced {
        pods: vec![PodKey::new("default", "b")],
        rule: "cpu".into(),
        because: "no size has as much".into(),
        nearest: None,
        details: Vec::new(),
    });
    let waits = "no longer holds: in the fresh plan, pod `default/b` fits no node and stays Pending";
    assert_eq!(said(&covers(&approved, &fresh), &create), waits);
}

#[test]
fn what_nobody_approved_is_named_and_not_done() {
    let (whole, create, delete) = moved();
    let mut approved = whole.clone();
    approved.spec.changes.remove(&create);
    let covered = covers(&approved, &whole);
    assert_eq!(&*covered.strange[&create], "no new node of pool `apps` was approved");
    assert!(covered.strange.contains_key(&delete), "it waits for that node: {covered:#?}");
    let mut approved = whole.clone();
    approved.spec.changes.remove(&delete);
    assert_eq!(&*covers(&approved, &whole).strange[&delete], "deleting this node was not approved");
    assert!(covers(&planned(OBJECTS), &planned(OBJECTS)).is_whole());
}

#[test]
fn where_two_of_nine_removals_are_lost_the_others_are_dropped_and_of_ten_not() {
    let lost = |of: usize, lost: usize| {
        let (mut approved, create, delete) = moved();
        let removal = approved.spec.changes.remove(&delete).expect("it goes");
        approved.spec.changes.remove(&create);
        let id = |number: usize| ChangeId(format!("d{number}").into());
        (0..of).for_each(|number| drop(approved.spec.changes.insert(id(number), removal.clone())));
        let mut covered = Covered::default();
        for number in 0..of {
            let fate = match number < lost {
                true => Fate::NoLongerHolds("so".into()),
                false => Fate::Kept(super::Kept::same(&id(number))),
            };
            covered.approved.insert(id(number), fate);
            covered.waves.push(vec![id(number)]);
        }
        let said = covered.drop_if_too_many_are_lost(&approved);
        (said.map(|said| said.to_string()), covered.waves.len())
    };
    assert_eq!(lost(10, 2), (None, 10));
    assert_eq!(
        lost(9, 2).0.as_deref(),
        Some("2 of the 9 approved removals no longer hold, more than a fifth")
    );
    assert_eq!(lost(9, 2).1, 0);
    assert_eq!(lost(1, 1), (None, 1), "one alone drops nothing");
    assert_eq!(lost(5, 1), (None, 5));
}

#[test]
fn a_vm_that_would_be_made_otherwise_was_not_approved_and_the_field_is_named() {
    let made = |differ: fn(&mut Machine)| {
        differing(|fresh, _, _| execution(fresh).machines.values_mut().for_each(differ))[0].clone()
    };
    let disk = made(|machine| machine.os_disk.size_gb = 2048);
    assert!(disk.contains("of its VM, `osDisk.sizeGb` was approved as `128`, but is now `2048`"), "{disk}");
    let user = made(|machine| machine.admin_user = "mallory".into());
    assert!(user.contains("`adminUser`") && user.contains("`mallory`"), "{user}");
    let identity = made(|machine| machine.identities.push("/subscriptions/other".into()));
    assert!(identity.contains("`identities`"), "{identity}");
    let subnet = made(|machine| machine.network.subnet = "/subscriptions/other/subnets/s".into());
    assert!(subnet.contains("`network.subnet`"), "{subnet}");
    let tag = made(|machine| drop(machine.tags.insert("owner".into(), "mallory".into())));
    assert!(tag.contains("`tags.owner` was approved as absent"), "{tag}");
    let image =
        made(|machine| machine.image = "/CommunityGalleries/other/images/i/versions/202511.1.0".into());
    assert!(image.contains("but a new plan uses `/CommunityGalleries/other"), "{image}");
    let hash = differing(|fresh, _, _| {
        let launches = execution(fresh).launches.values_mut();
        launches.for_each(|launch| drop(launch.annotations.insert("a".into(), "b".into())));
    });
    assert!(hash[0].contains("of its launch, `annotations.a`"), "{hash:?}");
}

#[test]
fn a_node_whose_ids_are_others_was_never_approved_and_the_id_is_named() {
    type Differ = fn(&mut NodeIdentity);
    let cases: [(&str, Differ); 3] = [
        ("vm", |node| node.vm = Some("/nowhere".into())),
        ("interfaces", |node| node.interfaces = vec!["/somebody/nic".into()]),
        ("osDisk", |node| node.os_disk = Some("/somebody/disk".into())),
    ];
    for (field, differ) in cases {
        let said = differing(|fresh, _, delete| {
            differ(execution(fresh).nodes.get_mut(delete).expect("a node"));
        });
        let start = format!(
            "no longer holds: node `aks-apps-old` is another than the one that was approved: `{field}"
        );
        assert!(said[1].starts_with(&start), "{field}: {said:?}");
    }
}

#[test]
fn a_node_that_was_made_anew_under_its_name_is_told_as_that() {
    let said = differing(|fresh, _, delete| {
        let node = execution(fresh).nodes.get_mut(delete).expect("a node");
        node.node_uid = Some("other".into());
    });
    assert!(said[1].contains("is another than the one that was approved: `nodeUid`"), "{said:?}");
}

/// Adds an unrelated pod on the removed node.
fn come(fresh: &mut Plan, change: impl FnOnce(&mut crate::plan::PodGroup)) {
    let world = &mut fresh.evidence.world;
    let place = |group: &&crate::plan::PodGroup| matches!(group.place, PodPlace::Bound(_));
    let mut group = world.pods.iter().find(place).expect("pods run there").clone();
    group.names = vec!["paydb".into()];
    group.workload = None;
    change(&mut group);
    world.pods.push(group);
}

#[test]
fn a_removal_waits_for_a_pod_that_came_after_the_review() {
    let waits = "waits: pod `default/paydb` (1 replica) came after the review";
    let said = differing(|fresh, _, _| come(fresh, |_| {}));
    assert_eq!(said, ["waits: the nodes whose pods it takes wait", waits]);
    // A pod of the approved owner is known.
    let known = differing(|fresh, _, _| {
        let workload = fresh.evidence.world.pods.iter().find_map(|group| group.workload.clone());
        come(fresh, |group| group.workload = workload);
    });
    assert_eq!(known, ["kept", "kept"]);
    // The fresh plan keeps the node because of the pod: it may be removed once the pod is gone.
    let stays = differing(|fresh, _, _| {
        come(fresh, |_| {});
        fresh.spec.changes.clear();
    });
    assert_eq!(stays, ["waits: the nodes whose pods it takes wait", waits]);
}

/// Returns the fate of the removal after a replica of another workload came to its node while one runs elsewhere.
fn beside(
    change: impl Fn(&mut crate::plan::PodGroup),
    elsewhere: impl Fn(&mut crate::plan::PodGroup),
) -> String {
    let web = Workload { kind: "Deployment".into(), namespace: "default".into(), name: "web".into() };
    let said = differing(|fresh, _, _| {
        come(fresh, |group| {
            group.workload = Some(web.clone());
            change(group);
        });
        come(fresh, |group| {
            group.names = vec!["web-2".into()];
            group.workload = Some(web.clone());
            group.place = PodPlace::Bound("other".into());
            elsewhere(group);
        });
    });
    said[1].clone()
}

#[test]
fn a_newcomer_is_harmless_where_another_replica_is_ready_elsewhere_and_nothing_protects_it() {
    assert_eq!(beside(|_| {}, |_| {}), "kept");
    let waits = "waits: pod `default/paydb` (2 replicas) came after the review";
    assert_eq!(beside(|group| group.is_do_not_disrupt = true, |_| {}), waits);
    assert_eq!(beside(|_| {}, |group| group.state.is_unready = true), waits);
    assert_eq!(beside(|_| {}, |group| group.is_terminating = true), waits);
    assert_eq!(beside(|_| {}, |group| group.place = PodPlace::Waiting), waits);
    assert_eq!(beside(|_| {}, |group| group.place = PodPlace::Bound("aks-apps-old".into())), waits);
}

#[test]
fn a_newcomer_of_a_higher_priority_or_a_budget_at_its_limit_is_waited_for() {
    let web = Workload { kind: "Deployment".into(), namespace: "default".into(), name: "web".into() };
    let said = |differ: fn(&mut Plan)| {
        differing(|fresh, _, _| {
            for (name, node) in [("paydb", "aks-apps-old"), ("web-2", "other")] {
                come(fresh, |group| {
                    group.names = vec![name.into()];
                    group.workload = Some(web.clone());
                    group.place = PodPlace::Bound(node.into());
                });
            }
            differ(fresh);
        })[1]
            .clone()
    };
    let waits = "waits: pod `default/paydb` (2 replicas) came after the review";
    assert_eq!(said(|_| {}), "kept");
    let prior = said(|fresh| {
        let world = &mut fresh.evidence.world;
        let mut spec = crate::model::PodSpec::clone(&world.pod_specs[0]);
        spec.priority = 1000;
        world.pod_specs.push(spec.into());
        let place = world.pod_specs.len() - 1;
        world
            .pods
            .iter_mut()
            .filter(|group| &*group.names[0] == "paydb")
            .for_each(|group| group.spec = place);
    });
    assert_eq!(prior, waits);
    let bounded = said(|fresh| {
        fresh.evidence.world.budgets.push(DisruptionBudget {
            namespace: "default".into(),
            name: "all".into(),
            selector: Some(LabelSelector(crate::model::Requirements::none())),
            bound: None,
            counts: None,
            unhealthy: UnhealthyPods::IfHealthyBudget,
        });
    });
    assert_eq!(bounded, waits);
}

#[test]
fn a_cluster_whose_nodes_are_in_another_group_or_region_is_another() {
    let differs: [fn(&mut ClusterIdentity); 4] = [
        |cluster| cluster.uid = "other".into(),
        |cluster| cluster.id = "/subscriptions/other".into(),
        |cluster| cluster.node_resource_group = "other".into(),
        |cluster| cluster.location = "other".into(),
    ];
    for differ in differs {
        let said = differing(|fresh, _, _| differ(&mut execution(fresh).cluster));
        assert_eq!(said, ["no longer holds: the plans are of two clusters"; 2]);
    }
    let spelt = differing(|fresh, _, _| {
        let cluster = &mut execution(fresh).cluster;
        cluster.node_resource_group = cluster.node_resource_group.to_uppercase().into();
    });
    assert_eq!(spelt, ["kept", "kept"]);
}
