//! Topology spread constraints.

use crate::model::{LabelKey, SpreadConstraint, Strength};

use crate::manifests::cursor::Cursor;

use super::selector::{self, About};

/// Reads the spread constraints of a pod, in the order written.
#[must_use]
pub fn read(spec: Cursor<'_>) -> Vec<SpreadConstraint> {
    let written = spec.items("topologySpreadConstraints");
    for (place, constraint) in written.iter().enumerate() {
        let said = |of: &Cursor<'_>| {
            ["topologyKey", "whenUnsatisfiable"].map(|field| of.tree.text(field).map(str::to_owned))
        };
        let own = said(constraint);
        if own.iter().all(Option::is_some) && written[..place].iter().any(|other| said(other) == own) {
            let hint = "Kubernetes takes one constraint for each `topologyKey` and `whenUnsatisfiable`";
            constraint.fault("says for the second time how to spread over this label", Some(hint));
        }
    }
    written.into_iter().filter_map(one).collect()
}

fn one(written: Cursor<'_>) -> Option<SpreadConstraint> {
    let key = written.text("topologyKey").filter(|key| !key.is_empty());
    if key.is_none() {
        let hint = "name the label to spread over, such as `topology.kubernetes.io/zone`";
        written.missing("topologyKey", hint);
    }
    if written.get("maxSkew").is_none() {
        written.missing("maxSkew", "write `maxSkew: 1`");
    }
    if written.get("whenUnsatisfiable").is_none() {
        written.missing("whenUnsatisfiable", "write `DoNotSchedule` or `ScheduleAnyway`");
    }
    let positive = |field| written.integer(field, 1..=2_147_483_647).and_then(|n| u32::try_from(n).ok());
    let strength = written.choice("whenUnsatisfiable", &["DoNotSchedule", "ScheduleAnyway"]);
    let strength = strength.map(|place| if place == 0 { Strength::Required } else { Strength::Preferred });
    let honors =
        |field, default| written.choice(field, &["Honor", "Ignore"]).map_or(default, |place| place == 0);
    let (max_skew, min_domains) = (positive("maxSkew"), positive("minDomains"));
    if let Some(least) = written.get("minDomains").filter(|_| strength == Some(Strength::Preferred)) {
        let hint = "remove it, or write `whenUnsatisfiable: DoNotSchedule`";
        least.fault("is only for what is required", Some(hint));
    }
    selector::keys_fault(written, &["matchLabelKeys"]);
    let selector = selector::read(written, "labelSelector");
    let honors_node_affinity = honors("nodeAffinityPolicy", true);
    let honors_node_taints = honors("nodeTaintsPolicy", false);
    let match_label_keys = written.texts("matchLabelKeys").into_iter().map(LabelKey::new).collect();
    // Nothing returns early before this, so that every fault is reported.
    Some(SpreadConstraint {
        topology_key: About::Nodes.key(key?),
        max_skew: max_skew?,
        strength: strength?,
        selector,
        min_domains,
        honors_node_affinity,
        honors_node_taints,
        match_label_keys,
    })
}
