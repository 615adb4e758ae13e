//! What begins beside what is under way: brakes, budgets, drains in total, the breaker, and the nodes that take pods.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use nodeform::automatic::{self, BackOff, Choosing, Fights, Wants};
use nodeform::manifests::Source;
use nodeform::model::allowance::PoolNodes;
use nodeform::model::{ClaimName, DisruptionReason, NodeName, PoolName, Wishes};
use nodeform::offline;
use nodeform::review::{Brakes, Leaving};
use nodeform::rollout::{self, Effect, Loss, Memory, Next, Standing, WaitsOn};
use nodeform::world::seen::{Provisioning, SeenVm};
use nodeform::world::{Seen, read};
use serde_json::{Value, json};

use crate::scenarios::{made, scaled};
use crate::stage::{Ready, Stage, Trouble};

const WORLD: &str = include_str!("../live/world.yaml");
const POOL: &str = "/apis/karpenter.sh/v1/nodepools/general-purpose";

/// A fleet of nodes with a pod each, and a budget.
fn fleet(nodes: usize, budget: &str) -> Stage {
    let edits = [
        ("replicas: 5", format!("replicas: {nodes}")),
        (r#"{cpu: "1"}"#, r#"{cpu: "3"}"#.to_owned()),
        ("consolidateAfter: 0s", format!("consolidateAfter: 0s\n    budgets: [{{nodes: \"{budget}\"}}]")),
        (
            "values: [D]\n",
            "values: [D]\n        - {key: karpenter.azure.com/sku-cpu, operator: In, values: [\"4\"]}\n"
                .to_owned(),
        ),
    ];
    let mut world = WORLD.to_owned();
    for (from, to) in edits {
        assert!(world.contains(from), "{from}");
        world = world.replace(from, &to);
    }
    let mut stage = Stage::of(&world, 7);
    made(&mut stage);
    stage
}

/// The same once its nodes are no longer what is asked for, with what is planned then.
fn drifted(nodes: usize, budget: &str) -> (Stage, Ready) {
    let mut stage = fleet(nodes, budget);
    let labels = json!({"spec": {"template": {"metadata": {"labels": {"team": "b"}}}}});
    stage.kube("PATCH", POOL, &labels);
    let ready = stage.ready(Wishes::default()).expect("the nodes have drifted");
    (stage, ready)
}

fn emptied(nodes: usize) -> (Stage, Ready) {
    let mut stage = fleet(nodes, "100%");
    scaled(&mut stage, 0);
    let ready = stage.ready(Wishes::default()).expect("empty nodes go");
    (stage, ready)
}

fn destroyed(nodes: usize) -> (Stage, Ready) {
    let mut stage = fleet(nodes, "100%");
    let ready = stage.ready(Wishes { destroy: true, ..Wishes::default() }).expect("all go");
    (stage, ready)
}

/// What a rollout sees of a world whose VMs are as its plan has them.
fn seen(stage: &mut Stage, ready: &Ready) -> Seen {
    let list = |stage: &mut Stage, path: &str| -> Vec<Value> {
        stage.kube("GET", path, &Value::Null)["items"].as_array().unwrap().clone()
    };
    let claims = list(stage, "/apis/karpenter.sh/v1/nodeclaims");
    let nodes = list(stage, "/api/v1/nodes");
    let pods = list(stage, "/api/v1/pods");
    let own = ("nodeform.dev_cluster".into(), ready.plan.execution().cluster.uid.clone());
    let tags = BTreeMap::from([own]);
    let vms = ready.plan.execution().nodes.values().filter_map(|node| {
        let id = node.vm.clone()?;
        let vm = SeenVm {
            id: id.clone(),
            vm_id: node.vm_id.clone(),
            state: Provisioning::Succeeded,
            tags: tags.clone(),
        };
        Some((id.to_lowercase().into(), vm))
    });
    Seen {
        at: stage.now,
        claims: Some(claims.iter().map(|claim| read::claim(claim).unwrap()).collect()),
        nodes: Some(nodes.iter().map(|node| read::node(node).unwrap()).collect()),
        pods: Some(pods.iter().filter_map(|pod| read::pod(pod).unwrap()).collect()),
        waiting: Some(pods.iter().filter_map(read::waiting).collect()),
        attached: Some(BTreeMap::new()),
        vms: Some(vms.collect()),
        interfaces: Some(BTreeMap::new()),
    }
}

/// The brakes as a NodeFleet, and the pool as it is, have them.
fn brakes(stage: &mut Stage, fleet: &str) -> Brakes {
    let pool = stage.kube("GET", POOL, &Value::Null);
    let class = stage.kube("GET", "/apis/karpenter.azure.com/v1beta1/aksnodeclasses/default", &Value::Null);
    let fleet = format!(
        "apiVersion: nodeform.dev/v1alpha1\nkind: NodeFleet\nmetadata: {{name: prod}}\nspec: {fleet}\n"
    );
    said([pool.to_string(), class.to_string(), fleet])
}

fn said<const N: usize>(documents: [String; N]) -> Brakes {
    let sources = documents.into_iter().map(|text| Source::new("<input>", text.into_bytes()));
    Brakes::of(&offline::said_of_nodes(sources.collect()).unwrap())
}

/// How many changes begin, and what the first of the others waits for.
fn begins(next: &Next) -> (usize, String) {
    let is_begin = |effect: &Effect| {
        matches!(effect, Effect::CreateClaim(_))
            || matches!(effect, Effect::Patch(patch) if patch.what == "mark the removal of")
    };
    let begun = next.actions.iter().filter(|action| is_begin(&action.effect)).count();
    let waits = next.standings.values().find_map(|standing| match standing {
        Standing::Waits(wait) if wait.on.is_held_back() => Some(wait.what.clone()),
        Standing::Waits(_) | Standing::Acts(_) | Standing::Settled(_) => None,
    });
    (begun, waits.unwrap_or_default())
}

/// Marks a NodeClaim as one that goes.
fn mark(seen: &mut Seen, claim: &ClaimName, text: &str) {
    let claims = seen.claims.as_mut().unwrap();
    claims.get_mut(claim).unwrap().annotations.insert(rollout::journal::REMOVAL.into(), text.into());
}

#[test]
fn once_the_fleet_is_suspended_nothing_begins_and_what_has_begun_is_finished() {
    let (mut stage, ready) = emptied(3);
    let mut seen = seen(&mut stage, &ready);
    assert_eq!(begins(&rollout::next(&ready.plan, &seen, &Memory::default())).0, 3, "nothing keeps them");
    let suspended = brakes(&mut stage, "{mode: auto, suspend: true}");
    let memory = Memory { brakes: Some(suspended), ..Memory::default() };
    let (id, delete) = ready.plan.spec().deletes().next().unwrap();
    let text = format!("{}/{id}/{}/empty", ready.plan.id(), stage.now);
    mark(&mut seen, delete.target.claim.as_ref().unwrap(), &text);
    let next = rollout::next(&ready.plan, &seen, &memory);
    let (begun, waits) = begins(&next);
    assert_eq!(begun, 0);
    assert!(waits.contains("`suspend: true`"), "{waits}");
    let acts: Vec<_> = next.actions.iter().map(|action| &action.change).collect();
    assert_eq!(acts, [id], "the one that has begun is tainted");
    assert!(!next.is_finished() && !next.only_waits(&memory));
}

#[test]
fn another_mode_brakes_that_cannot_be_read_and_a_class_on_hold_let_nothing_begin() {
    let (mut stage, ready) = emptied(2);
    let seen = seen(&mut stage, &ready);
    let cases = [
        (brakes(&mut stage, "{mode: observe}").automatic(), "mode is `observe`"),
        (Brakes::unread("GET /nodepools: 403"), "could not be read: GET /nodepools: 403"),
        (brakes(&mut stage, "{approve: {remove-empty: hold}}"), "`remove-empty: hold`"),
        (brakes(&mut stage, "{freeze: [{name: launch}]}"), "freeze `launch`"),
    ];
    for (brakes, expected) in cases {
        let memory = Memory { brakes: Some(brakes), ..Memory::default() };
        let next = rollout::next(&ready.plan, &seen, &memory);
        let (begun, waits) = begins(&next);
        assert_eq!(begun, 0, "{expected}");
        assert!(waits.contains(expected), "{waits}");
        assert!(next.only_waits(&memory), "whoever reviews ends here: {expected}");
    }
    let observing = brakes(&mut stage, "{mode: observe}");
    let memory = Memory { brakes: Some(observing), ..Memory::default() };
    assert_eq!(begins(&rollout::next(&ready.plan, &seen, &memory)).0, 2, "who applies by hand decides");
}

#[test]
fn what_goes_empty_waits_once_its_pool_lets_nothing_go() {
    let (mut stage, ready) = emptied(2);
    stage.kube("PATCH", POOL, &json!({"spec": {"disruption": {"budgets": [{"nodes": "0"}]}}}));
    let (seen, brakes) = (seen(&mut stage, &ready), brakes(&mut stage, "{mode: auto}"));
    let memory = Memory { brakes: Some(brakes), ..Memory::default() };
    let next = rollout::next(&ready.plan, &seen, &memory);
    assert!(next.actions.is_empty() && !next.standings.is_empty());
    assert!(next.standings.values().all(|standing| matches!(standing, Standing::Waits(_))), "{next:?}");
}

#[test]
fn budgets_are_those_of_now_and_hold_nothing_that_somebody_deletes() {
    use DisruptionReason::{Deleted, Drifted};
    let mut stage = fleet(1, "2");
    let brakes = brakes(&mut stage, "{mode: auto}");
    let why = |reason, leaving| {
        let (pool, node) = (PoolName::new("general-purpose"), NodeName::new("a"));
        let nodes = PoolNodes { joined: 5, leaving, not_ready: BTreeSet::new() };
        let asked = Leaving { pool: &pool, node: &node, reason };
        brakes.on_removal(asked, &nodes, stage.now).map(|braked| (braked.is_passing, braked.because))
    };
    assert_eq!(why(Drifted, 1), None);
    let used_up = "2 of its pool on the way out already: budgets allow no more concurrent removals";
    assert_eq!(why(Drifted, 2), Some((true, used_up.to_owned())));
    assert_eq!(why(Deleted, 2), None);
}

#[test]
fn the_breaker_counts_by_time_what_is_gone_as_what_goes() {
    let (mut stage, ready) = destroyed(12);
    let mut seen = seen(&mut stage, &ready);
    let memory = Memory::default();
    let begun = |seen: &Seen, memory: &Memory| begins(&rollout::next(&ready.plan, seen, memory));
    let (first, waits) = begun(&seen, &memory);
    assert_eq!(first, 10);
    assert!(waits.contains("10 nodes"), "{waits}");
    let loss = |number: usize, minutes: i64, pool: &str| Loss {
        at: stage.now - SignedDuration::from_mins(minutes),
        claim: format!("gone-{number}").as_str().into(),
        pool: Some(pool.into()),
        plan: "earlier".into(),
    };
    let lost = |many: usize, minutes: i64, pool: &str| Memory {
        losses: (0..many).map(|number| loss(number, minutes, pool)).collect(),
        ..Memory::default()
    };
    assert_eq!(
        begun(&seen, &lost(8, 9, "general-purpose")).0,
        2,
        "their NodeClaims are gone, and they count"
    );
    assert_eq!(begun(&seen, &lost(8, 11, "general-purpose")).0, 10, "ten minutes are over");
    let (begin, waits) = begun(&seen, &lost(9, 1, "another"));
    assert_eq!(begin, 1, "the same measure holds for the whole cluster");
    assert!(waits.starts_with("the cluster, which has lost 10 nodes"), "{waits}");
    let fast = Memory { clock_speed: 10, ..lost(8, 2, "general-purpose") };
    assert_eq!(begun(&seen, &fast).0, 10, "a simulated clock is faster");
    // A node that carries no pods is no loss.
    seen.pods.as_mut().unwrap().clear();
    assert_eq!(begun(&seen, &lost(10, 1, "general-purpose")).0, 10);
}

#[test]
fn what_goes_by_another_plan_takes_from_the_drains_in_total_and_from_the_breaker() {
    let (mut stage, ready) = destroyed(12);
    let mut seen = seen(&mut stage, &ready);
    let claims: Vec<ClaimName> = seen.claims.as_ref().unwrap().keys().take(4).cloned().collect();
    for claim in &claims[..3] {
        mark(&mut seen, claim, &format!("other/change/{}", stage.now));
    }
    mark(&mut seen, &claims[3], &format!("other/change/{}/empty", stage.now));
    let mut memory = Memory::default();
    memory.look(&seen);
    assert_eq!(memory.losses.len(), 3, "an empty one is none");
    // 10 drains at once, and those that are on their way are taken over.
    let spec = ready.plan.spec();
    let goes = |action: &rollout::Action| {
        let claim = spec.changes[&action.change].change.delete()?.target.claim.as_ref()?;
        (!claims.contains(claim)).then_some(())
    };
    assert_eq!(rollout::next(&ready.plan, &seen, &memory).actions.iter().filter_map(goes).count(), 6);
    // Their NodeClaims are gone.
    claims.iter().for_each(|claim| drop(seen.claims.as_mut().unwrap().remove(claim)));
    memory.look(&seen);
    let next = rollout::next(&ready.plan, &seen, &memory);
    assert_eq!(begins(&next).0, 7);
    let until = next.standings.values().find_map(|standing| match standing {
        Standing::Waits(wait) if wait.on == WaitsOn::Turn => wait.until,
        Standing::Waits(_) | Standing::Acts(_) | Standing::Settled(_) => None,
    });
    let expected = stage.now + SignedDuration::from_secs(605);
    assert_eq!(until, Some(expected), "it is known when the next one goes");
}

#[test]
fn a_drift_of_a_whole_pool_never_has_more_nodes_than_its_budget_lets_go() {
    for (budget, most) in [("1", 1), ("2", 2)] {
        let (mut stage, ready) = drifted(5, budget);
        assert_eq!(ready.plan.spec().creates().count(), 5);
        let seen = seen(&mut stage, &ready);
        let (begun, waits) = begins(&rollout::next(&ready.plan, &seen, &Memory::default()));
        assert_eq!(begun, most, "{waits}");
        let mut claims = 0;
        let applied = stage.watched(&ready, Trouble::default(), |_, _, world| {
            claims = claims.max(world.state()["nodeClaims"].as_array().unwrap().len());
        });
        assert!(applied.words().iter().all(|word| word == "done"), "{:#?}", applied.end);
        assert_eq!(claims, 5 + most, "budget {budget}");
    }
}

#[test]
fn no_node_is_made_for_the_pods_of_one_that_stays() {
    let (mut stage, ready) = drifted(2, "1");
    let mut seen = seen(&mut stage, &ready);
    for pod in seen.pods.as_mut().unwrap() {
        pod.is_do_not_disrupt = true;
    }
    let next = rollout::next(&ready.plan, &seen, &Memory::default());
    let words: BTreeSet<&str> =
        next.standings.values().map(|standing| standing.outcome().map_or("open", |it| it.word())).collect();
    assert_eq!(words, BTreeSet::from(["no longer holds", "no longer needed"]));
}

#[test]
fn a_node_that_gets_pods_or_is_protected_before_its_taint_stays() {
    let (mut stage, ready) = emptied(1);
    let mut seen = seen(&mut stage, &ready);
    let (id, delete) = ready.plan.spec().deletes().next().unwrap();
    let (node, claim) = (delete.target.node.clone(), delete.target.claim.clone().unwrap());
    mark(&mut seen, &claim, &format!("{}/{id}/{}/empty", ready.plan.id(), stage.now));
    let what = |seen: &Seen| match &rollout::next(&ready.plan, seen, &Memory::default()).actions[..] {
        [action] => action.effect.to_string(),
        other => panic!("{other:?}"),
    };
    let (taint, back) =
        (format!("taint node `{node}`"), format!("take back the removal of NodeClaim `{claim}`"));
    assert_eq!(what(&seen), taint);
    let mut protected = seen.clone();
    let object = protected.nodes.as_mut().unwrap().get_mut(&node).unwrap();
    object.annotations.insert("karpenter.sh/do-not-disrupt".into(), "true".into());
    assert_eq!(what(&protected), back);
    let pod = json!({
        "metadata": {"namespace": "default", "name": "late", "uid": "u"}, "spec": {"nodeName": node.as_str()}
    });
    seen.pods.as_mut().unwrap().push(read::pod(&pod).unwrap().unwrap());
    assert_eq!(what(&seen), back);
    seen.claims.as_mut().unwrap().get_mut(&claim).unwrap().annotations.remove("nodeform.dev/removal");
    let next = rollout::next(&ready.plan, &seen, &Memory::default());
    assert!(next.is_finished(), "{:?}", next.standings);
    // Once it is tainted it is finished.
    mark(&mut seen, &claim, &format!("{}/{id}/{}/empty", ready.plan.id(), stage.now));
    let tainted = json!({
        "metadata": {"name": "n"}, "spec": {"taints": [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]}
    });
    let taints = read::node(&tainted).unwrap().1.taints;
    seen.nodes.as_mut().unwrap().get_mut(&node).unwrap().taints = taints;
    assert_eq!(what(&seen), "evict pod `default/late`");
}

#[test]
fn a_removal_that_is_taken_back_loses_its_taint_first_and_its_mark_last_unless_its_vm_goes() {
    let (mut stage, ready) = emptied(1);
    let mut seen = seen(&mut stage, &ready);
    let (id, delete) = ready.plan.spec().deletes().next().unwrap();
    let (node, claim) = (delete.target.node.clone(), delete.target.claim.clone().unwrap());
    mark(&mut seen, &claim, &format!("{}/{id}/{}/empty", ready.plan.id(), stage.now));
    let memory = Memory { is_taking_back: true, ..Memory::default() };
    let next = |seen: &Seen, memory: &Memory| match &rollout::next(&ready.plan, seen, memory).actions[..] {
        [action] => action.clone(),
        other => panic!("{other:?}"),
    };
    let back = format!("take back the removal of NodeClaim `{claim}`");
    assert_eq!(next(&seen, &memory).effect.to_string(), back);
    let tainted = json!({
        "metadata": {"name": "n"}, "spec": {"taints": [
            {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}, {"key": "team", "effect": "NoSchedule"},
        ]}
    });
    let taints = read::node(&tainted).unwrap().1.taints;
    seen.nodes.as_mut().unwrap().get_mut(&node).unwrap().taints = taints;
    let freed = next(&seen, &memory).effect;
    assert_eq!(freed.to_string(), format!("take the taint off node `{node}`"));
    let Effect::Patch(patch) = freed else { panic!("{freed:?}") };
    let operations = patch.operations.as_slice();
    let removed = operations.iter().filter(|operation| operation["op"] == "remove");
    let removed: Vec<&str> = removed.filter_map(|operation| operation["path"].as_str()).collect();
    assert_eq!(removed, ["/spec/taints/0"], "others' taints stay: {operations:?}");
    // One that no list shows just now would keep its taint without its mark.
    let mut unlisted = seen.clone();
    unlisted.nodes.as_mut().unwrap().remove(&node);
    assert_eq!(next(&unlisted, &memory).effect.to_string(), format!("ask whether node `{node}` is gone"));
    // The order to delete its VM is on its way: that comes to its end.
    let mut ordered = memory.clone();
    ordered.begins(&next(&seen, &Memory::default()));
    assert_eq!(rollout::next(&ready.plan, &seen, &ordered).actions, []);
    seen.vms.as_mut().unwrap().values_mut().for_each(|vm| vm.state = Provisioning::Deleting);
    assert_eq!(rollout::next(&ready.plan, &seen, &memory).actions, [], "it goes, and is waited for");
}

#[test]
fn a_node_made_for_the_pods_of_another_is_not_removed_as_empty_before_that_one_has_gone() {
    let (stage, ready) = emptied(1);
    let (id, delete) = ready.plan.spec().deletes().next().unwrap();
    let uid = ready.plan.execution().nodes[id].node_uid.clone().unwrap();
    let mut wants = Wants::new(1);
    wants.note(BTreeSet::from([uid]), stage.now - SignedDuration::from_secs(20));
    let claim = delete.target.claim.clone().unwrap();
    let (none, awaiting, back_off) = (BTreeSet::new(), BTreeSet::from([claim]), BackOff::new(1));
    let left_out = |awaiting| {
        let (in_flight, making) = (&BTreeSet::new(), &BTreeSet::new());
        let (wants, back_off, fights) = (&wants, &back_off, &Fights::new(1));
        let choosing = Choosing { wants, back_off, fights, in_flight, making, awaiting, at: stage.now };
        automatic::left_out(ready.plan.spec(), choosing).get(id).map(ToString::to_string)
    };
    assert_eq!(left_out(&none), None);
    let because = left_out(&awaiting).unwrap();
    assert_eq!(because, "an earlier plan created it for the pods of a node that is not deleted yet");
}

#[test]
fn half_of_a_replacement_is_begun_once_its_new_node_is() {
    let (_, ready) = drifted(2, "1");
    let execution = ready.plan.execution();
    let (create, _, _) = ready.plan.spec().creates().next().unwrap();
    let removal = ready.plan.serves(create).to_vec();
    assert_eq!(rollout::half_begun(execution, &BTreeSet::new()), BTreeSet::new());
    let mut begun = BTreeSet::from([create.clone()]);
    assert_eq!(rollout::half_begun(execution, &begun), removal.iter().cloned().collect());
    begun.extend(removal);
    assert_eq!(rollout::half_begun(execution, &begun), BTreeSet::new());
}

#[test]
fn limits_of_the_fleet_hold_nodes_that_have_not_begun() {
    let (mut stage, ready) = drifted(2, "2");
    let seen = seen(&mut stage, &ready);
    // The system node, and the two that are there.
    for (limit, begun) in [(5, 2), (4, 1), (3, 0)] {
        let brakes = brakes(&mut stage, &format!("{{limits: {{nodes: {limit}}}}}"));
        let memory = Memory { brakes: Some(brakes), ..Memory::default() };
        let (begins, waits) = begins(&rollout::next(&ready.plan, &seen, &memory));
        assert_eq!(begins, begun, "{limit}: {waits}");
        let is_said = waits.contains(&format!("the NodeFleet is limited to {limit} nodes"));
        assert_eq!(is_said, begun < 2, "{limit}: {waits}");
    }
}

#[test]
fn what_another_plan_begins_at_the_same_look_counts_before_any_list_shows_it() {
    let (mut stage, ready) = drifted(3, "1");
    let seen = seen(&mut stage, &ready);
    let next = rollout::next(&ready.plan, &seen, &Memory::default());
    let begun = next.begins();
    assert_eq!(begun.len(), 1);
    let laid = rollout::laid(&seen, &[(&ready.plan, &begun[0])]);
    assert_eq!(laid.claims.as_ref().unwrap().len(), 4);
    assert_eq!(begins(&rollout::next(&ready.plan, &laid, &Memory::default())).0, 0, "the budget is used up");

    let (mut stage, ready) = destroyed(12);
    let seen = self::seen(&mut stage, &ready);
    let begun = rollout::next(&ready.plan, &seen, &Memory::default()).begins();
    let begun: Vec<_> = begun.iter().map(|action| (&*ready.plan, action)).collect();
    assert_eq!(begun.len(), 10);
    let laid = rollout::laid(&seen, &begun);
    let mut memory = Memory::default();
    memory.look(&laid);
    assert_eq!(memory.losses.len(), 10, "each is a loss before it is listed");
    assert_eq!(rollout::laid(&seen, &[]).as_ref(), &seen);
}
