//! One line per change, shown with the plan and long after it: reason, VM, price and pods.
//!
//! Must never say more than the plan knows: a plan read back without its evidence has no reasons and pods.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Figures, NodeFigures};
use crate::model::{NodeName, PodKey, PodPlace};
use crate::plan::{Change, ChangeId, Plan};

/// Maximum number of pods that are listed by name.
const NAMED_MAX: usize = 3;

/// Returns one line for each create and removal of a plan.
#[must_use]
pub fn described(plan: &Plan) -> BTreeMap<ChangeId, String> {
    let rows = Figures::of(plan).nodes;
    let row = |name: &str| rows.iter().find(|row| &*row.name == name);
    let changes = plan.spec.changes.iter();
    let lines = changes.filter_map(|(id, planned)| {
        let (name, pods): (&str, Vec<PodKey>) = match &planned.change {
            Change::Create(create) => (&create.vm, placed(plan, id)),
            Change::Delete(delete) => (delete.target.node.as_str(), running(plan, &delete.target.node)),
            Change::Update(_) | Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => return None,
        };
        let reason = plan.evidence.reasons.get(id).map(ToString::to_string);
        let parts = reason.into_iter().chain(row(name).and_then(machine)).chain(named(&pods));
        let line = parts.collect::<Vec<String>>().join("; ");
        (!line.is_empty()).then(|| (id.clone(), line))
    });
    lines.collect()
}

/// Returns the pods placed on a new node.
fn placed(plan: &Plan, id: &ChangeId) -> Vec<PodKey> {
    let pods = plan.evidence.placements.get(id).into_iter().flat_map(|placement| &placement.pods);
    pods.filter(|pod| !pod.is_placeholder()).cloned().collect()
}

/// Returns the pods of workloads on a removed node.
fn running(plan: &Plan, node: &NodeName) -> Vec<PodKey> {
    let groups = plan.evidence.world.pods.iter();
    let on_node = groups.filter(|group| !group.is_daemon && group.place == PodPlace::Bound(node.clone()));
    let keys = on_node.flat_map(|group| {
        let key = |name: &Arc<str>| PodKey { namespace: group.namespace.clone(), name: name.clone() };
        group.names.iter().map(key)
    });
    keys.collect()
}

/// Describes a node's VM and its price.
fn machine(row: &NodeFigures) -> Option<String> {
    let size = row.size.as_ref()?;
    let zone = row.zone.as_ref().map_or_else(String::new, |zone| match zone.as_str() {
        "0" => " outside of zones".to_owned(),
        zone => format!(" in zone {zone}"),
    });
    let bought = row.capacity_type.map_or_else(String::new, |bought| format!(", {bought}"));
    let estimate = if row.is_estimate { "~" } else { "" };
    let price = match &row.monthly {
        Some(monthly) => format!(", {estimate}${monthly}/month"),
        None => ", of unknown price".to_owned(),
    };
    Some(format!("{size}{zone}{bought}{price}"))
}

fn named(pods: &[PodKey]) -> Option<String> {
    let names: Vec<String> = pods.iter().take(NAMED_MAX).map(|pod| format!("`{pod}`")).collect();
    let more = pods.len().saturating_sub(NAMED_MAX);
    let noun = if pods.len() == 1 { "pod" } else { "pods" };
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("{noun} {}{more}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::described;
    use crate::plan::tests::world::example_plan;

    #[test]
    fn each_create_and_removal_has_reason_size_zone_price_and_pods_in_a_line() {
        let plan = example_plan();
        let lines = described(&plan);
        let of = |id: Option<&crate::plan::ChangeId>| lines[id.expect("there is one")].clone();
        let create = of(plan.spec.creates().map(|(id, _, _)| id).next());
        assert!(create.contains("Standard_D4s_v5 in zone eastus-1, on-demand, $146.00/month"), "{create}");
        assert!(create.contains("Pending") && create.contains("; pods `"), "{create}");
        let delete = of(plan.spec.deletes().map(|(id, _)| id).next());
        assert!(delete.starts_with("empty: only pods of DaemonSets; Standard_D4s_v5 in zone"), "{delete}");
        assert_eq!(lines.len(), 3, "{lines:#?}");
    }
}
