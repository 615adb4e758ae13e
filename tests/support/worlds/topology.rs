//! Rules about pods beside other pods, each with what a test does not say left as Kubernetes has it.

use std::collections::BTreeSet;

use nodeform::model::{
    LabelKey, LabelSelector, PodAffinityTerm, Requirement, Requirements, SpreadConstraint, Strength,
};

/// The pods with this `app`.
pub(crate) fn app(app: &str) -> LabelSelector {
    labelled("app", app)
}

/// What has this label.
pub(crate) fn labelled(key: &str, value: &str) -> LabelSelector {
    LabelSelector(Requirements::none().with(key, Requirement::one(value)))
}

/// Everything.
pub(crate) fn everything() -> LabelSelector {
    LabelSelector::default()
}

/// A required spread of pods with `app: web` over a label, with a skew of one at most.
pub(crate) fn over(key: &str) -> SpreadConstraint {
    SpreadConstraint {
        topology_key: LabelKey::new(key),
        max_skew: 1,
        strength: Strength::Required,
        selector: Some(app("web")),
        min_domains: None,
        honors_node_affinity: true,
        honors_node_taints: false,
        match_label_keys: Vec::new(),
    }
}

/// A term about pods with this `app` in the pod's own namespace.
pub(crate) fn beside(key: &str, name: &str) -> PodAffinityTerm {
    PodAffinityTerm {
        topology_key: LabelKey::new(key),
        selector: Some(app(name)),
        namespaces: BTreeSet::new(),
        namespace_selector: None,
    }
}
