//! The status of PodDisruptionBudgets.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::Scene;
use super::index::{Index, PodView};
use crate::sim::agenda::{later, second};
use crate::sim::cluster::{
    BUDGETS, DEPLOYMENTS, KindId, Labels, Name, PODS, REPLICA_SETS, STATEFUL_SETS, set_condition,
};
use crate::sim::json::{members, number, set, text, text_or_empty};

/// Time for which an allowed eviction counts as a pending disruption, in seconds.
const DISRUPTED_SECONDS: i64 = 120;

pub(crate) fn reconcile(index: &Index, scene: &mut Scene<'_>) {
    let all: Vec<Arc<Value>> = scene.store.list(BUDGETS).map(|(_, object)| Arc::clone(object)).collect();
    for budget in all {
        one(index, scene, &budget);
    }
}

fn one(index: &Index, scene: &mut Scene<'_>, budget: &Value) {
    let namespace = text_or_empty(budget, "/metadata/namespace");
    let selector = budget.pointer("/spec/selector").map(Labels::of_object);
    let pods: Vec<(&Name, &PodView)> = index
        .pods
        .iter()
        .filter(|(name, pod)| name.namespace == namespace && !pod.has_ended)
        .filter(|(name, _)| {
            let pod = scene.store.get(PODS, name);
            selector.as_ref().is_some_and(|selector| pod.is_some_and(|pod| selector.admit_object(pod)))
        })
        .collect();
    let disrupted = disrupted(index, scene.now, budget);
    let healthy = pods
        .iter()
        .filter(|(name, pod)| pod.is_ready && !pod.is_terminating && !disrupted.contains_key(&name.name))
        .count();
    let healthy = i64::try_from(healthy).unwrap_or(i64::MAX);
    let expected = expected(scene, &pods);
    let desired = desired(budget, expected);
    let allowed = if expected > 0 { healthy.saturating_sub(desired).max(0) } else { 0 };
    let generation = number(budget, "/metadata/generation");
    let now = scene.now;
    scene.store.modify(BUDGETS, &Name::of(budget), |object| {
        for (field, count) in [
            ("currentHealthy", healthy),
            ("desiredHealthy", desired),
            ("expectedPods", expected),
            ("disruptionsAllowed", allowed),
        ] {
            set(object, &["status", field], json!(count));
        }
        set(object, &["status", "observedGeneration"], json!(generation));
        set(object, &["status", "disruptedPods"], json!(disrupted));
        let (status, reason) =
            if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
        set_condition(
            object,
            json!({
                "type": "DisruptionAllowed", "status": status, "reason": reason, "message": "",
                "observedGeneration": generation, "lastTransitionTime": second(now),
            }),
        );
    });
}

/// Returns the pods whose eviction was allowed and that are not yet terminating.
fn disrupted(index: &Index, now: Timestamp, budget: &Value) -> BTreeMap<String, String> {
    let namespace = text_or_empty(budget, "/metadata/namespace");
    members(budget, "/status/disruptedPods")
        .filter_map(|(pod, time)| {
            let time = time.as_str()?;
            let since: Timestamp = time.parse().ok()?;
            let view = index.pods.get(&Name::new(namespace, pod))?;
            let is_fresh = later(since, SignedDuration::from_secs(DISRUPTED_SECONDS)) > now;
            (is_fresh && !view.is_terminating).then(|| (pod.clone(), time.to_owned()))
        })
        .collect()
}

/// Returns the replicas of the controllers of these pods; each pod without a controller counts as one.
fn expected(scene: &Scene<'_>, pods: &[(&Name, &PodView)]) -> i64 {
    let mut controllers: BTreeMap<String, i64> = BTreeMap::new();
    let mut alone = 0;
    for (name, pod) in pods {
        match &pod.owner {
            Some(owner) if !controllers.contains_key(owner) => {
                controllers.insert(owner.clone(), wanted_by(scene, name, owner));
            }
            Some(_) => {}
            None => alone += 1,
        }
    }
    controllers.values().sum::<i64>() + alone
}

fn wanted_by(scene: &Scene<'_>, pod: &Name, owner: &str) -> i64 {
    let find = |kind: KindId, uid: &str| {
        scene
            .store
            .list(kind)
            .find(|(name, object)| {
                name.namespace == pod.namespace && text(object, "/metadata/uid") == Some(uid)
            })
            .map(|(_, object)| Arc::clone(object))
    };
    let replicas = |object: &Value| number(object, "/spec/replicas").unwrap_or(1);
    if let Some(set) = find(REPLICA_SETS, owner) {
        let deployment = super::pod::controller(&set).and_then(|uid| find(DEPLOYMENTS, uid));
        return deployment.map_or_else(|| replicas(&set), |deployment| replicas(&deployment));
    }
    find(STATEFUL_SETS, owner).map_or(1, |set| replicas(&set))
}

/// Returns the number of pods that must stay healthy. Percentages are rounded up.
fn desired(budget: &Value, expected: i64) -> i64 {
    let amount = |value: &Value| match value {
        Value::Number(number) => number.as_i64().unwrap_or(0),
        Value::String(text) => match text.strip_suffix('%') {
            Some(percent) => {
                percent.parse::<i64>().unwrap_or(0).saturating_mul(expected).saturating_add(99) / 100
            }
            None => text.parse().unwrap_or(0),
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => 0,
    };
    match (budget.pointer("/spec/minAvailable"), budget.pointer("/spec/maxUnavailable")) {
        (Some(least), _) => amount(least),
        (None, Some(most)) => expected.saturating_sub(amount(most)).max(0),
        (None, None) => 0,
    }
}
