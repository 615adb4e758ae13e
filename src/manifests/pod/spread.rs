//! Topology spread constraints.

use crate::model::{LabelKey, SpreadConstraint, Strength};

use crate::manifests::cursor::Cursor;

use super::selector::{self, About};

/// Reads the spread constraints of a pod, in the order written.
#[must_use]
pub fn read(spec: Cursor<'_>) -> Vec<SpreadConstraint> {
    spec.items("topologySpreadConstraints").into_iter().filter_map(one).collect()
}

fn one(written: Cursor<'_>) -> Option<SpreadConstraint> {
    let Some(key) = written.text("topologyKey").filter(|key| !key.is_empty()) else {
        written
            .missing("topologyKey", "name the label to spread over, such as `topology.kubernetes.io/zone`");
        return None;
    };
    if written.get("maxSkew").is_none() {
        written.missing("maxSkew", "write `maxSkew: 1`");
    }
    if written.get("whenUnsatisfiable").is_none() {
        written.missing("whenUnsatisfiable", "write `DoNotSchedule` or `ScheduleAnyway`");
    }
    let positive = |field| written.integer(field, 1..=2_147_483_647).and_then(|n| u32::try_from(n).ok());
    let strength = match written.choice("whenUnsatisfiable", &["DoNotSchedule", "ScheduleAnyway"])? {
        0 => Strength::Required,
        _ => Strength::Preferred,
    };
    let honors =
        |field, default| written.choice(field, &["Honor", "Ignore"]).map_or(default, |place| place == 0);
    Some(SpreadConstraint {
        topology_key: About::Nodes.key(key),
        max_skew: positive("maxSkew")?,
        strength,
        selector: selector::read(written, "labelSelector"),
        min_domains: positive("minDomains"),
        honors_node_affinity: honors("nodeAffinityPolicy", true),
        honors_node_taints: honors("nodeTaintsPolicy", false),
        match_label_keys: written.texts("matchLabelKeys").into_iter().map(LabelKey::new).collect(),
    })
}
