//! All requests of a live plan, for people.

use serde_json::json;

use super::{Attempt, RequestFault, billing, claim, machine, nic, tags};
use crate::arm::Request;
use crate::arm::extension::billing_id;
use crate::plan::{Change, Plan};

/// Formats the requests of a plan as they are sent at the first attempt: for each new node its NodeClaim, NIC, VM and
/// billing extension, for each updated node its tags, for each deleted node its VM. Secrets are not shown.
///
/// # Errors
/// The plan is not live.
pub fn requests_text(plan: &Plan) -> Result<String, RequestFault> {
    let execution = plan.spec.execution.as_ref().ok_or(RequestFault::NotLive)?;
    let id = plan.id();
    let mut text = String::new();
    for (change, create, _) in plan.spec.creates() {
        let attempt = Attempt { spec: &plan.spec, plan: &id, change, choice: 0, number: 1 };
        let others = execution.choices(&create.spec).len().saturating_sub(1);
        text.push_str(&format!("# node {} is made; {others} fallbacks if Azure refuses\n\n", create.claim));
        let claim = claim(&plan.spec, change, &id)?;
        text.push_str("POST /apis/karpenter.sh/v1/nodeclaims\n");
        text.push_str(&format!("{claim:#}\n\n"));
        for request in [nic(&attempt)?, machine::vm_shown(&attempt)?, billing(&attempt)?] {
            text.push_str(&shown(&request));
        }
    }
    for (change, planned) in &plan.spec.changes {
        let Change::Update(update) = &planned.change else { continue };
        let Some(node) = execution.nodes.get(change) else { continue };
        let labels = update.new_labels();
        if !labels.is_empty() {
            let name = &update.target.node;
            let body = json!({"metadata": {"labels": labels}});
            text.push_str(&format!("# node {name}: set labels, keep all others\n\n"));
            text.push_str(&format!("PATCH /api/v1/nodes/{name}\n{body:#}\n\n"));
        }
        let Some(vm) = node.vm.as_ref().filter(|_| !update.tags.is_empty()) else { continue };
        text.push_str(&format!("# node {}: set tags, keep all others\n\n", update.target.node));
        let (new, extension) = (update.new_tags(), billing_id(vm));
        let beside = node.tagged_beside_vm().map(|id| &**id);
        for id in beside.chain([&*extension, &**vm]) {
            text.push_str(&shown(&tags(id, &new)?));
        }
    }
    for (change, delete) in plan.spec.deletes() {
        let vm = execution.nodes.get(change).and_then(|node| node.vm.as_ref());
        let Some(vm) = vm else { continue };
        text.push_str(&format!("# node {} is deleted once it is drained\n\n", delete.target.node));
        text.push_str(&shown(&Request::delete_machine(&vm.parse()?)));
    }
    Ok(text)
}

fn shown(request: &Request) -> String {
    let condition = if request.only_if_absent { "\nIf-None-Match: *" } else { "" };
    let body = request.body.as_ref().map_or(String::new(), |body| format!("\n{:#}", body.shown()));
    format!("{} {}{condition}{body}\n\n", request.method.as_str(), request.target())
}
