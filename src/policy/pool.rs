//! Converts a NodePool from its wire type.
//!
//! The schema and Karpenter's rules have been checked already; only values that no schema can check remain. Never adds
//! defaults that Karpenter does not have.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::SignedDuration;

use super::fault::Fault;
use super::path;
use crate::api::node_pool::{self as wire, NodePool};
use crate::api::template;
use crate::api::text::{DurationText, ResourceMap};
use crate::model::{
    Budget, BudgetNodes, ClassName, ConsolidationPolicy, Disruption, DisruptionReason, Effect, ExpireAfter,
    LabelKey, Operator, Pool, PoolName, Requirement, Requirements, ResourceName, Resources, Taint, label,
};

/// Karpenter's default for `expireAfter`.
const EXPIRE_AFTER: SignedDuration = SignedDuration::from_hours(720);

/// Returns the pool, or all its faults.
///
/// # Errors
/// Values that the schema accepts but that are invalid.
pub(super) fn pool(wire: &NodePool) -> Result<Pool, Vec<Fault>> {
    let mut faults = Vec::new();
    let spec = &wire.spec;
    let template = &spec.template.spec;
    if template.node_class_ref.group != "karpenter.azure.com"
        || template.node_class_ref.kind != "AKSNodeClass"
    {
        let reference = &template.node_class_ref;
        let message = format!("`{}/{}` is no class of nodes on Azure", reference.group, reference.kind);
        let hint = "name a class of group `karpenter.azure.com` and kind `AKSNodeClass` (`nodeform validate --fix` writes it), or leave this pool out";
        faults.push(fault("spec.template.spec.nodeClassRef", message).hint(hint));
    }
    let metadata = spec.template.metadata.clone().unwrap_or_default();
    let (limits, nodes_max) = limits(spec.limits.as_ref(), &mut faults);
    let expire_after =
        duration(template.expire_after.as_ref(), "spec.template.spec.expireAfter", &mut faults);
    let grace = "spec.template.spec.terminationGracePeriod";
    let termination_grace_period = duration(template.termination_grace_period.as_ref(), grace, &mut faults);
    let disruption = disruption(spec.disruption.as_ref(), &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(Pool {
        name: PoolName::new(wire.metadata.name.as_deref().unwrap_or_default()),
        weight: spec.weight.and_then(|weight| u32::try_from(weight).ok()).unwrap_or(0),
        class: ClassName::new(&template.node_class_ref.name),
        labels: pairs(metadata.labels)
            .map(|(key, value)| (LabelKey::new(label::normalized(&key)), value))
            .collect(),
        annotations: pairs(metadata.annotations).collect(),
        taints: taints(template.taints.as_deref()),
        startup_taints: taints(template.startup_taints.as_deref()),
        requirements: requirements(&template.requirements),
        limits,
        nodes_max,
        replicas: spec.replicas.and_then(|replicas| u64::try_from(replicas).ok()),
        disruption,
        expire_after: match &template.expire_after {
            Some(DurationText(text)) if text == "Never" => ExpireAfter::Never,
            _ => ExpireAfter::Age(expire_after.unwrap_or(EXPIRE_AFTER)),
        },
        termination_grace_period,
        is_deleting: wire.metadata.deletion_timestamp.is_some(),
    })
}

fn fault(at: &str, message: String) -> Fault {
    Fault { path: path(at), message, hint: None }
}

fn pairs(map: Option<BTreeMap<String, String>>) -> impl Iterator<Item = (Arc<str>, Arc<str>)> {
    map.unwrap_or_default().into_iter().map(|(key, value)| (Arc::from(key), Arc::from(value)))
}

/// Parses a duration; `Never` and an absent value are `None`.
fn duration(text: Option<&DurationText>, at: &str, faults: &mut Vec<Fault>) -> Option<SignedDuration> {
    let text = text.filter(|text| text.0 != "Never")?;
    let nanoseconds = text.nanoseconds();
    if nanoseconds.is_none() {
        let message = format!("`{}` is longer than 292 years", text.0);
        faults.push(fault(at, message).hint("write `Never` where that is meant"));
    }
    nanoseconds.map(SignedDuration::from_nanos)
}

fn limits(limits: Option<&ResourceMap>, faults: &mut Vec<Fault>) -> (Resources, Option<u64>) {
    let nodes = ResourceName::parse("nodes");
    let all = super::amounts(limits, "spec.limits").unwrap_or_else(|found| {
        faults.extend(found);
        Resources::none()
    });
    let nodes_max = all.names(&nodes).then(|| u64::try_from(all.get(&nodes)).ok()).flatten();
    let most = all.iter().filter(|(name, _)| **name != nodes).map(|(name, amount)| (name.clone(), amount));
    (most.collect(), nodes_max)
}

fn taints(taints: Option<&[template::Taint]>) -> Vec<Taint> {
    let effect = |effect| match effect {
        template::TaintEffect::NoSchedule => Effect::NoSchedule,
        template::TaintEffect::PreferNoSchedule => Effect::PreferNoSchedule,
        template::TaintEffect::NoExecute => Effect::NoExecute,
    };
    let of = |taint: &template::Taint| {
        Taint::new(&taint.key, taint.value.as_deref().unwrap_or_default(), effect(taint.effect))
    };
    let mut taints: Vec<Taint> = taints.into_iter().flatten().map(of).collect();
    taints.sort();
    taints.dedup();
    taints
}

/// Converts requirements from their wire type; several on one label must all be met.
pub(super) fn requirements(wire: &[template::Requirement]) -> Requirements {
    let operator = |operator| match operator {
        template::Operator::In => Operator::In,
        template::Operator::NotIn => Operator::NotIn,
        template::Operator::Exists => Operator::Exists,
        template::Operator::DoesNotExist => Operator::DoesNotExist,
        template::Operator::Gt => Operator::Gt,
        template::Operator::Lt => Operator::Lt,
        template::Operator::Gte => Operator::Gte,
        template::Operator::Lte => Operator::Lte,
    };
    let mut requirements = Requirements::none();
    for template::Requirement { key, operator: how, values, min_values } in wire {
        let min_values = min_values.and_then(|count| u32::try_from(count).ok());
        let values = values.as_deref().unwrap_or_default();
        let requirement = Requirement::new(operator(*how), values).with_min_values(min_values);
        requirements.add(LabelKey::new(label::normalized(key)), requirement);
    }
    requirements
}

fn disruption(wire: Option<&wire::Disruption>, faults: &mut Vec<Fault>) -> Disruption {
    let default = Disruption::default();
    let Some(wire) = wire else { return default };
    let at = "spec.disruption.consolidateAfter";
    let consolidate_after = match &wire.consolidate_after {
        Some(DurationText(text)) if text == "Never" => None,
        Some(text) => duration(Some(text), at, faults),
        None => default.consolidate_after,
    };
    let policy = match wire.consolidation_policy {
        Some(wire::ConsolidationPolicy::WhenEmpty) => ConsolidationPolicy::WhenEmpty,
        Some(wire::ConsolidationPolicy::Balanced) => ConsolidationPolicy::Balanced,
        Some(wire::ConsolidationPolicy::WhenEmptyOrUnderutilized) | None => default.policy,
    };
    let budgets = match &wire.budgets {
        None => default.budgets,
        Some(budgets) => {
            budgets.iter().enumerate().filter_map(|(index, wire)| budget(wire, index, faults)).collect()
        }
    };
    Disruption { consolidate_after, policy, budgets }
}

fn budget(wire: &wire::Budget, index: usize, faults: &mut Vec<Fault>) -> Option<Budget> {
    let at = format!("spec.disruption.budgets[{index}]");
    let nodes = match wire.nodes.strip_suffix('%') {
        Some(percent) => percent.parse().ok().map(BudgetNodes::Percent),
        None => wire.nodes.parse().ok().map(BudgetNodes::Count),
    };
    let Some(nodes) = nodes else {
        let message = format!("`{}` is no count of nodes and no percentage", wire.nodes);
        faults.push(fault(&format!("{at}.nodes"), message).hint("write a count such as `5`, or `10%`"));
        return None;
    };
    let window = match (&wire.schedule, &wire.duration) {
        (Some(schedule), Some(length)) => {
            let length = duration(Some(length), &format!("{at}.duration"), faults)?;
            Some((Arc::from(schedule.as_str()), length))
        }
        (Some(_), None) | (None, Some(_) | None) => None,
    };
    let reason = |reason: &wire::DisruptionReason| match reason {
        wire::DisruptionReason::Underutilized => DisruptionReason::Underutilized,
        wire::DisruptionReason::Empty => DisruptionReason::Empty,
        wire::DisruptionReason::Drifted => DisruptionReason::Drifted,
    };
    let reasons = wire.reasons.as_ref().map(|reasons| reasons.iter().map(reason).collect::<BTreeSet<_>>());
    Some(Budget { reasons, nodes, window })
}
