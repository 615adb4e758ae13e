//! NodeClaims that a plan creates, as documents for an API server with Karpenter's CRDs.
//!
//! Fields that Karpenter itself writes at launch are omitted: the hashes of pool and class for drift detection, and the
//! reference to the NodePool, which needs its UID. An adopted node has no document here: Karpenter would launch a VM
//! for its claim.

use crate::api::meta::ObjectMeta;
use crate::api::node_claim::{ClaimResources, NodeClaim, NodeClaimSpec};
use crate::api::template::{NodeClassRef, Operator, Requirement, Taint, TaintEffect};
use crate::api::text::{DurationText, Quantity, ResourceMap};
use crate::api::{Kind, KindFacts};
use crate::model::label;
use crate::model::{
    Effect, ExpireAfter, Operator as ModelOperator, RequirementEntry, Resources, Taint as ModelTaint,
};
use crate::plan::{ClaimSpec, Create, Plan};

use super::page::headline::headline;
use super::page::question;
use super::view::PlanView;
use super::words::{count, verb};

/// Returns the NodeClaims of the new nodes, by name.
#[must_use]
pub fn node_claims(plan: &Plan) -> Vec<NodeClaim> {
    let mut claims: Vec<NodeClaim> =
        plan.spec.creates().map(|(_, create, spec)| claim(create, spec)).collect();
    claims.sort_by(|one, other| one.metadata.name.cmp(&other.metadata.name));
    claims
}

/// Formats the NodeClaims as YAML documents, with a comment on the parts of the plan that are not among them.
///
/// # Panics
/// Never: a claim has a YAML form.
#[must_use]
pub fn plan_yaml(plan: &Plan) -> String {
    if question::is_what_if(plan) {
        return "# What if: nothing of this plan can be applied as it is, so it has no NodeClaims\n"
            .to_owned();
    }
    let claims = node_claims(plan);
    let others = plan.spec.changes.len()
        - plan.spec.changes.values().filter(|planned| planned.change.create().is_some()).count();
    let deletes = plan.spec.deletes().count();
    let headline = headline(&PlanView::new(plan, None)).text();
    let mut text = format!("# {headline}\n# {} to make\n", count(claims.len(), "NodeClaim"));
    if deletes > 0 {
        text.push_str(&format!(
            "# not here: {} to destroy (`-o name` names them too)\n",
            count(deletes, "node")
        ));
    }
    let others = others.saturating_sub(deletes);
    if others > 0 {
        text.push_str(&format!(
            "# not here: {} that {} adopted, changed in place or forgotten\n",
            count(others, "node"),
            verb(others, "is", "are")
        ));
    }
    for claim in claims {
        let value = serde_json::to_value(claim).expect("a claim has text keys and no floats");
        text.push_str("---\n");
        text.push_str(&serde_saphyr::to_string(&value).expect("a JSON value has a YAML form"));
    }
    text
}

pub(super) fn claim(create: &Create, spec: &ClaimSpec) -> NodeClaim {
    let KindFacts { group, version, kind, .. } = Kind::NodeClaim.facts();
    let class = Kind::AksNodeClass.facts();
    let ClaimSpec {
        requirements,
        labels,
        annotations,
        taints: kept_taints,
        startup_taints,
        expire_after,
        termination_grace_period,
        ..
    } = spec;
    let text_map = |map: Vec<(String, String)>| (!map.is_empty()).then(|| map.into_iter().collect());
    let taints = |taints: &[ModelTaint]| (!taints.is_empty()).then(|| taints.iter().map(taint).collect());
    NodeClaim {
        api_version: format!("{group}/{version}"),
        kind: (*kind).to_owned(),
        metadata: ObjectMeta {
            name: Some(create.claim.to_string()),
            labels: text_map(
                labels.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect(),
            ),
            annotations: text_map(
                annotations.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect(),
            ),
            finalizers: Some(vec![label::FINALIZER.to_owned()]),
            ..ObjectMeta::default()
        },
        spec: NodeClaimSpec {
            node_class_ref: NodeClassRef {
                group: class.group.to_owned(),
                kind: class.kind.to_owned(),
                name: spec.class.to_string(),
            },
            requirements: requirements.entries().into_iter().map(requirement).collect(),
            resources: Some(ClaimResources { requests: Some(amounts(&create.requests)) }),
            taints: taints(kept_taints),
            startup_taints: taints(startup_taints),
            expire_after: Some(match expire_after {
                ExpireAfter::Age(age) => duration(age.as_secs()),
                ExpireAfter::Never => DurationText("Never".to_owned()),
            }),
            termination_grace_period: termination_grace_period.map(|period| duration(period.as_secs())),
        },
        status: None,
    }
}

fn requirement(entry: RequirementEntry) -> Requirement {
    let RequirementEntry { key, operator, values, min_values } = entry;
    Requirement {
        key: key.to_string(),
        operator: self::operator(&operator),
        values: (!values.is_empty()).then(|| values.iter().map(ToString::to_string).collect()),
        min_values: min_values.and_then(|number| i32::try_from(number).ok()),
    }
}

fn operator(text: &str) -> Operator {
    // Entries only contain the operators of requirements.
    match ModelOperator::parse(text) {
        Some(ModelOperator::In) => Operator::In,
        Some(ModelOperator::NotIn) => Operator::NotIn,
        Some(ModelOperator::DoesNotExist) => Operator::DoesNotExist,
        Some(ModelOperator::Gt) => Operator::Gt,
        Some(ModelOperator::Lt) => Operator::Lt,
        Some(ModelOperator::Gte) => Operator::Gte,
        Some(ModelOperator::Lte) => Operator::Lte,
        Some(ModelOperator::Exists) | None => Operator::Exists,
    }
}

fn taint(taint: &ModelTaint) -> Taint {
    Taint {
        key: taint.key.to_string(),
        value: (!taint.value.is_empty()).then(|| taint.value.to_string()),
        effect: match taint.effect {
            Effect::NoSchedule => TaintEffect::NoSchedule,
            Effect::PreferNoSchedule => TaintEffect::PreferNoSchedule,
            Effect::NoExecute => TaintEffect::NoExecute,
        },
        time_added: None,
    }
}

fn amounts(resources: &Resources) -> ResourceMap {
    resources.iter().map(|(name, amount)| (name.to_string(), Quantity::Text(name.exact(amount)))).collect()
}

/// Formats a duration as Go does, in the units that Karpenter's pattern allows.
fn duration(seconds: i64) -> DurationText {
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let text: String = parts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, unit)| format!("{number}{unit}"))
        .collect();
    DurationText(if text.is_empty() { "0s".to_owned() } else { text })
}
