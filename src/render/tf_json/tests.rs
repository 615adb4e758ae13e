//! What Terraform's tools read of a plan; the test of every story covers the whole format.

use serde_json::{Value, json};

use super::{PlanView, document, plan_tf_json};
use crate::model::{MicroUsdPerHour, NodeName};
use crate::plan::Plan;
use crate::plan::tests::world as sample;

fn shown(plan: &Plan) -> Value {
    document(&PlanView::new(plan, None))
}

/// Returns the change of the node with this name.
fn change(plan: &Plan, name: &str) -> Value {
    let document = shown(plan);
    let changes = document["resource_changes"].as_array().expect("a list");
    changes.iter().find(|change| change["index"] == name).expect("it is there").clone()
}

#[test]
fn each_change_has_terraforms_words() {
    let plan = sample::example_plan();
    let gone = change(&plan, "empty-1");
    assert_eq!(gone["address"], r#"azurerm_linux_virtual_machine.general["empty-1"]"#);
    assert_eq!(gone["change"]["actions"], json!(["delete"]));
    assert_eq!(
        (&gone["change"]["after"], &gone["action_reason"]),
        (&Value::Null, &json!("delete_because_each_key"))
    );
    assert_eq!(gone["change"]["before"]["size"], "Standard_D4s_v5");
    let adopted = change(&plan, "aks-general-zzz");
    assert_eq!(adopted["change"]["actions"], json!(["no-op"]));
    assert!(adopted["change"]["importing"]["id"].is_string());
    assert_eq!(change(&plan, "kept-1")["change"]["actions"], json!(["no-op"]));
    let made = change(&plan, "aks-general-6a32amb4as");
    assert_eq!(made["change"]["actions"], json!(["create"]));
    assert_eq!(made["change"]["after_unknown"]["id"], true);
    let after = &made["change"]["after"];
    assert_eq!(
        [&after["size"], &after["zone"], &after["priority"], &after["location"]],
        ["Standard_D4s_v5", "1", "Regular", "eastus"]
    );
    assert_eq!(after["tags"]["karpenter.sh_nodepool"], "general");
}

#[test]
fn a_node_that_leaves_already_is_drift() {
    let mut plan = sample::example_plan();
    plan.evidence
        .world
        .nodes
        .iter_mut()
        .filter(|node| node.name.as_str() == "kept-1")
        .for_each(|node| node.is_deleting = true);
    let document = shown(&plan);
    assert_eq!(document["resource_drift"][0]["index"], "kept-1");
    assert_eq!(document["resource_drift"][0]["change"]["actions"], json!(["delete"]));
    let prior = document["prior_state"]["values"]["root_module"]["resources"].to_string();
    assert!(!prior.contains("kept-1") && prior.contains("empty-1"));
}

#[test]
fn the_cost_is_an_output_and_unknown_is_not_nothing() {
    let mut plan = sample::example_plan();
    plan.evidence.report.cost_after.effective = MicroUsdPerHour(100_000);
    let cost = |plan: &Plan| shown(plan)["output_changes"]["monthly_cost_usd"].clone();
    assert_eq!(cost(&plan)["after"].to_string(), "73.0");
    assert_eq!(cost(&plan)["after_unknown"], false);
    plan.evidence.report.cost_after.unpriced_nodes = 1;
    assert_eq!((&cost(&plan)["after"], &cost(&plan)["after_unknown"]), (&Value::Null, &json!(true)));
    assert_eq!(shown(&plan)["complete"], false);
}

#[test]
fn names_are_quoted_as_terraform_quotes_them() {
    let mut plan = sample::example_plan();
    for node in &mut plan.evidence.world.nodes {
        node.name = NodeName::new("a\"]${b}");
        node.pool = Some("1.team".into());
    }
    let text = plan_tf_json(&PlanView::new(&plan, None));
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let changes = document["resource_changes"].as_array().expect("a list");
    let address = r#"azurerm_linux_virtual_machine._1_team["a\"]$${b}"]"#;
    assert!(changes.iter().any(|change| change["address"] == address), "{text}");
}
