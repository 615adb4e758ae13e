//! A plan in the format of `terraform show -json`, so that policies and cost tools for Terraform can read it.
//!
//! Each node is an `azurerm_linux_virtual_machine` with azurerm's attribute names; attributes that are unknown before
//! the VM exists are in `after_unknown`. Cost and omissions are outputs. Format 1.2, as written by Terraform 1.11. For
//! two inputs side by side it is their difference: the changes from the first fleet to the second. Only data in the
//! plan is written, so drift of single attributes, which no plan contains yet, is absent.

mod change;
mod compared;
mod machine;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Number, Value, json};

use super::page::question;
use super::view::PlanView;
use crate::model::{MicroUsdPerHour, PoolName};
use crate::plan::Plan;
use crate::plan::comparison::Comparison;
use crate::review::gate::Gate;
use change::Change;
use machine::{PROVIDER, TYPE, address_of_pool, local_name};

/// Version of the format.
const FORMAT_VERSION: &str = "1.2";

/// Version of the format of the embedded state.
const STATE_FORMAT_VERSION: &str = "1.0";

/// Version of Terraform whose format this is. Checkov does not recognize a document without one.
const TERRAFORM_VERSION: &str = "1.11.4";

/// Returns the plan as one line of JSON with a line feed.
#[must_use]
pub fn plan_tf_json(view: &PlanView<'_>) -> String {
    format!("{}\n", document(view))
}

fn document(view: &PlanView<'_>) -> Value {
    let changes = match &view.plan.evidence.comparison {
        Some(comparison) => compared::of_comparison(comparison, view),
        None => change::of_plan(view),
    };
    let evidence = &view.plan.evidence;
    let (outputs, unknown) = outputs(view.plan);
    let planned: Vec<Value> = changes.iter().filter_map(Change::planned).collect();
    let prior: Vec<Value> = changes.iter().filter_map(Change::prior).collect();
    let (drift, changed): (Vec<&Change>, Vec<&Change>) = changes.iter().partition(|change| change.is_drift());
    let mut document = json!({
        "format_version": FORMAT_VERSION,
        "terraform_version": TERRAFORM_VERSION,
        "planned_values": {"outputs": planned_outputs(&outputs), "root_module": {"resources": planned}},
        "resource_changes": changed.iter().map(|change| change.document()).collect::<Vec<Value>>(),
        "output_changes": output_changes(&outputs, &unknown),
        "prior_state": {
            "format_version": STATE_FORMAT_VERSION,
            "terraform_version": TERRAFORM_VERSION,
            "values": {"root_module": {"resources": prior}},
        },
        "configuration": configuration(view.plan, &changes),
        "applyable": !view.plan.spec.waves.is_empty() && !question::is_what_if(view.plan),
        "complete": Gate::Incomplete.failed(view.plan).is_none() && evidence.report.unplaced.is_empty() && evidence.held.is_empty(),
        "errored": false,
    });
    if !drift.is_empty() {
        document["resource_drift"] = drift.iter().map(|change| change.document()).collect();
    }
    if let Some(at) = evidence.seen_at {
        document["timestamp"] = json!(at.to_string());
    }
    document
}

/// Returns the plan's outputs besides its resources: before and after.
fn outputs(plan: &Plan) -> (BTreeMap<&'static str, (Value, Value)>, BTreeSet<&'static str>) {
    let report = &plan.evidence.report;
    let compared = plan.evidence.comparison.as_ref();
    let costs = |comparison: &Comparison| (comparison.cost_before, comparison.cost_after);
    let (before, after) = compared.map_or((report.cost_before, report.cost_after), costs);
    let unplaced_before = compared.map_or(Value::Null, |comparison| json!(comparison.pending_before));
    let cost = |rate: MicroUsdPerHour, unpriced: usize| if unpriced == 0 { usd(rate) } else { Value::Null };
    let unplaced = report.left_over();
    let outputs = BTreeMap::from([
        ("monthly_cost_is_estimate", (json!(before.is_estimate), json!(after.is_estimate))),
        (
            "monthly_cost_usd",
            (cost(before.effective, before.unpriced_nodes), cost(after.effective, after.unpriced_nodes)),
        ),
        ("unplaced_pods", (unplaced_before, json!(unplaced))),
        ("unpriced_nodes", (json!(before.unpriced_nodes), json!(after.unpriced_nodes))),
    ]);
    let unknown =
        if after.unpriced_nodes > 0 { BTreeSet::from(["monthly_cost_usd"]) } else { BTreeSet::new() };
    (outputs, unknown)
}

/// Formats dollars per month with cents, as a JSON number written digit by digit.
fn usd(rate: MicroUsdPerHour) -> Value {
    let cents = rate.per_month().0.saturating_add(5_000).div_euclid(10_000);
    let text =
        format!("{}{}.{:02}", if cents < 0 { "-" } else { "" }, (cents / 100).abs(), (cents % 100).abs());
    text.parse::<Number>().map_or(Value::Null, Value::Number)
}

fn planned_outputs(outputs: &BTreeMap<&'static str, (Value, Value)>) -> Value {
    let planned = outputs.iter().map(|(name, (_, after))| {
        let mut output = json!({"sensitive": false});
        if !after.is_null() {
            output["value"] = after.clone();
        }
        ((*name).to_owned(), output)
    });
    Value::Object(planned.collect())
}

fn output_changes(
    outputs: &BTreeMap<&'static str, (Value, Value)>,
    unknown: &BTreeSet<&'static str>,
) -> Value {
    let change = |(name, (before, after)): (&&'static str, &(Value, Value))| {
        let is_unknown = unknown.contains(name);
        let action = match (before.is_null(), before == after && !is_unknown) {
            (_, true) => "no-op",
            (true, false) => "create",
            (false, false) => "update",
        };
        let change = json!({
            "actions": [action],
            "before": before,
            "after": after,
            "after_unknown": is_unknown,
            "before_sensitive": false,
            "after_sensitive": false,
        });
        ((*name).to_owned(), change)
    };
    Value::Object(outputs.iter().map(change).collect())
}

/// Returns one resource per pool, as if it had a `for_each` over its nodes.
fn configuration(plan: &Plan, changes: &[Change]) -> Value {
    let pools: BTreeSet<Option<&PoolName>> = changes.iter().map(|change| change.pool.as_ref()).collect();
    let resource = |pool: Option<&PoolName>| {
        json!({
            "address": address_of_pool(pool),
            "mode": "managed",
            "type": TYPE,
            "name": local_name(pool),
            "provider_config_key": "azurerm",
            "expressions": {"location": {"constant_value": plan.evidence.world.region.as_str()}},
            "schema_version": 0,
            "for_each_expression": {},
        })
    };
    let mut root = Map::new();
    root.insert("resources".to_owned(), pools.into_iter().map(resource).collect());
    json!({
        "provider_config": {"azurerm": {"name": "azurerm", "full_name": PROVIDER}},
        "root_module": root,
    })
}

#[cfg(test)]
mod tests;
