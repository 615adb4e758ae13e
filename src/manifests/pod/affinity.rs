//! Node affinity, pod affinity and pod anti-affinity.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{
    LabelKey, Namespace, NodeAffinity, Operator, PodAffinityTerm, Preferred, Requirement, Requirements,
    SchedulingRule, Strength, label,
};

use crate::manifests::cursor::Cursor;

use super::selector::{self, About};

/// Contents of `spec.affinity`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affinity {
    /// Node affinity.
    pub node: NodeAffinity,
    /// Required pod affinity.
    pub required: Vec<PodAffinityTerm>,
    /// Required pod anti-affinity.
    pub required_anti: Vec<PodAffinityTerm>,
    /// Preferred pod affinity.
    pub preferred: Vec<Preferred<PodAffinityTerm>>,
    /// Preferred pod anti-affinity.
    pub preferred_anti: Vec<Preferred<PodAffinityTerm>>,
    /// Other rules in use that have no field above.
    pub other_rules: BTreeMap<SchedulingRule, Strength>,
}

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Reads the affinity of a pod with these labels.
#[must_use]
pub fn read(spec: Cursor<'_>, labels: &BTreeMap<LabelKey, Arc<str>>) -> Affinity {
    let mut affinity = Affinity::default();
    let Some(written) = spec.get("affinity") else { return affinity };
    if let Some(node) = written.get("nodeAffinity") {
        affinity.node = node_affinity(node, &mut affinity.other_rules);
    }
    if let Some(near) = written.get("podAffinity") {
        (affinity.required, affinity.preferred) = pod_terms(near, labels);
    }
    if let Some(away) = written.get("podAntiAffinity") {
        (affinity.required_anti, affinity.preferred_anti) = pod_terms(away, labels);
    }
    affinity
}

fn node_affinity(written: Cursor<'_>, rules: &mut BTreeMap<SchedulingRule, Strength>) -> NodeAffinity {
    let mut used = |strength: Strength| {
        rules
            .entry(SchedulingRule::MatchFields)
            .and_modify(|present| *present = (*present).min(strength))
            .or_insert(strength);
    };
    let required = written.get(REQUIRED).map(|required| {
        if required.get("nodeSelectorTerms").is_none() {
            required.missing("nodeSelectorTerms", "list at least one term");
        }
        let terms = required.items("nodeSelectorTerms");
        if let Some(empty) = required.get("nodeSelectorTerms").filter(|_| terms.is_empty()) {
            empty.fault("is empty", Some("list at least one term, or remove the affinity"));
        }
        terms.into_iter().filter_map(|term| node_term(term, || used(Strength::Required))).collect()
    });
    let wishes = written.items(PREFERRED).into_iter();
    let preferred = wishes.filter_map(|wish| {
        let weight = weight(wish)?;
        let Some(preference) = wish.get("preference") else {
            wish.missing("preference", "a preferred term has `weight` and `preference`");
            return None;
        };
        let term = node_term(preference, || used(Strength::Preferred))?;
        Some(Preferred { weight, term })
    });
    NodeAffinity { required, preferred: preferred.collect() }
}

/// The only node field that a term may use (Kubernetes, `NodeSelectorTerm.matchFields`).
const NODE_NAME: &str = "metadata.name";

/// Reads a node term; `None` for a term without requirements, which selects no node. A node's name is required through
/// its label `kubernetes.io/hostname`, which is the same on AKS, and `uses_fields` is called.
fn node_term(term: Cursor<'_>, mut uses_fields: impl FnMut()) -> Option<Requirements> {
    let mut requirements = selector::expressions(term, "matchExpressions", About::Nodes);
    for field in term.items("matchFields") {
        uses_fields();
        let operator = field.choice("operator", &["In", "NotIn"]);
        let operator = if operator == Some(1) { Operator::NotIn } else { Operator::In };
        if field.text("key").is_none_or(|key| &**key != NODE_NAME) {
            field.fault(
                "asks about another field than the name",
                Some("`matchFields` knows the key `metadata.name` alone"),
            );
            return None;
        }
        requirements.add(LabelKey::new(label::HOSTNAME), Requirement::new(operator, field.texts("values")));
    }
    (!requirements.is_empty()).then_some(requirements)
}

fn weight(wish: Cursor<'_>) -> Option<u32> {
    if wish.get("weight").is_none() {
        wish.missing("weight", "give it a weight from 1 to 100");
    }
    wish.integer("weight", 1..=100).and_then(|weight| u32::try_from(weight).ok())
}

type PodTerms = (Vec<PodAffinityTerm>, Vec<Preferred<PodAffinityTerm>>);

fn pod_terms(written: Cursor<'_>, labels: &BTreeMap<LabelKey, Arc<str>>) -> PodTerms {
    let required = written.items(REQUIRED).into_iter().filter_map(|term| pod_term(term, labels)).collect();
    let wishes = written.items(PREFERRED).into_iter();
    let preferred = wishes.filter_map(|wish| {
        let Some(term) = wish.get("podAffinityTerm") else {
            wish.missing("podAffinityTerm", "a preferred term has `weight` and `podAffinityTerm`");
            return None;
        };
        Some(Preferred { weight: weight(wish)?, term: pod_term(term, labels)? })
    });
    (required, preferred.collect())
}

fn pod_term(term: Cursor<'_>, labels: &BTreeMap<LabelKey, Arc<str>>) -> Option<PodAffinityTerm> {
    let Some(key) = term.text("topologyKey").filter(|key| !key.is_empty()) else {
        term.missing("topologyKey", "name the label of the domains, such as `kubernetes.io/hostname`");
        return None;
    };
    selector::keys_fault(term, &["matchLabelKeys", "mismatchLabelKeys"]);
    let mut pods = selector::read(term, "labelSelector");
    // The API server merges these into the selector when a pod is created; in a template they are still separate.
    let folds = [("matchLabelKeys", Operator::In), ("mismatchLabelKeys", Operator::NotIn)];
    for (field, operator) in folds {
        for key in term.texts(field) {
            if let (Some(value), Some(pods)) = (labels.get(&**key), &mut pods) {
                pods.0.add(LabelKey::new(key), Requirement::new(operator, [value]));
            }
        }
    }
    Some(PodAffinityTerm {
        topology_key: About::Nodes.key(key),
        selector: pods,
        namespaces: term.texts("namespaces").into_iter().map(Namespace::new).collect(),
        namespace_selector: selector::read(term, "namespaceSelector"),
    })
}
