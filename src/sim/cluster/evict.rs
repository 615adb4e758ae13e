//! `pods/eviction`: a deletion that respects PodDisruptionBudgets.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::body;
use super::delete::check;
use super::kinds::{BUDGETS, PODS};
use super::route::Route;
use super::selector::Labels;
use super::status::Refusal;
use super::store::{Grace, Name, Store};
use super::write::is_dry_run;
use crate::sim::agenda::second;
use crate::sim::http::{Answer, Request, Response};
use crate::sim::json::{number, set, text, text_or_empty};

pub(crate) fn evict(
    store: &mut Store,
    route: &Route,
    request: &Request,
    now: Timestamp,
) -> Result<Response, Refusal> {
    let eviction = body::yaml(&request.body)?;
    let name = route.name()?;
    let kind = store.kinds.get(PODS).clone();
    let given = text_or_empty(&eviction, "/metadata/name");
    if !given.is_empty() && given != name.name {
        return Err(Refusal::bad_request("name in URL does not match name in Eviction object"));
    }
    let options = eviction.get("deleteOptions").cloned().unwrap_or(Value::Null);
    let pod = store.get(PODS, &name).cloned().ok_or_else(|| Refusal::not_found(&kind, &name.name))?;
    if !is_unprotected(&pod) {
        let budget = budget_of(store, &pod)?;
        if let Some((budget_name, budget)) = budget {
            spend(store, &budget_name, &budget, &pod, (now, is_dry_run(request)))?;
        }
    }
    // The UID precondition belongs to the deletion, which follows after the budget was charged.
    check(&kind, &pod, &options)?;
    if !is_dry_run(request) {
        let grace = Grace { seconds: number(&options, "/gracePeriodSeconds") };
        store.delete(PODS, &name, grace, now);
    }
    let status =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Ok(Response::Answer(Answer::json(201, &status)))
}

/// Returns whether budgets ignore a pod: it is Pending, has ended, or is already being deleted.
fn is_unprotected(pod: &Value) -> bool {
    matches!(text(pod, "/status/phase"), Some("Pending" | "Succeeded" | "Failed"))
        || text(pod, "/metadata/deletionTimestamp").is_some()
}

fn budget_of(store: &Store, pod: &Value) -> Result<Option<(Name, Arc<Value>)>, Refusal> {
    let namespace = text_or_empty(pod, "/metadata/namespace");
    let mut found = store.list(BUDGETS).filter(|(name, budget)| {
        name.namespace == namespace
            && budget
                .pointer("/spec/selector")
                .is_some_and(|selector| Labels::of_object(selector).admit_object(pod))
    });
    let first = found.next().map(|(name, budget)| (name.clone(), Arc::clone(budget)));
    if found.next().is_some() {
        let message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
        return Err(Refusal::new(500, "InternalError", message));
    }
    Ok(first)
}

/// Takes one disruption from a budget, or refuses the eviction.
fn spend(
    store: &mut Store,
    name: &Name,
    budget: &Value,
    pod: &Value,
    (now, is_dry_run): (Timestamp, bool),
) -> Result<(), Refusal> {
    let status = |field: &str| number(budget, &format!("/status/{field}"));
    let is_ready = crate::sim::play::is_ready(pod);
    let healthy = status("currentHealthy").unwrap_or(0);
    let desired = status("desiredHealthy").unwrap_or(0);
    if !is_ready {
        let always = text(budget, "/spec/unhealthyPodEvictionPolicy") == Some("AlwaysAllow");
        if always || (healthy >= desired && desired > 0) {
            return Ok(());
        }
    }
    if status("observedGeneration") != number(budget, "/metadata/generation") {
        let cause = format!("The disruption budget {} is still being processed by the server.", name.name);
        let mut refusal = refused(&cause);
        set(&mut refusal.details, &["retryAfterSeconds"], json!(10));
        return Err(refusal);
    }
    let allowed = status("disruptionsAllowed").unwrap_or(0);
    if allowed <= 0 {
        let cause = format!(
            "The disruption budget {} needs {desired} healthy pods and has {healthy} currently",
            name.name
        );
        return Err(refused(&cause));
    }
    if !is_dry_run {
        let pod_name = text_or_empty(pod, "/metadata/name").to_owned();
        store.modify(BUDGETS, name, |budget| {
            set(budget, &["status", "disruptionsAllowed"], json!(allowed - 1));
            set(budget, &["status", "disruptedPods", &pod_name], json!(second(now)));
        });
    }
    Ok(())
}

fn refused(cause: &str) -> Refusal {
    let message = "Cannot evict pod as it would violate the pod's disruption budget.";
    Refusal::new(429, "TooManyRequests", message)
        .caused_by(json!([{"reason": "DisruptionBudget", "message": cause}]))
}
