//! Rules of the NodeFleet.
//! Must never refuse a field for having no effect yet: that is not a matter of validity.

use super::node_pool::window_fault;
use crate::policy::fault::Fault;
use crate::policy::place::Place;

/// What is wrong with a fleet.
pub(super) fn faults(object: &Place<'_>) -> Vec<Fault> {
    let Some(spec) = object.at("spec") else {
        return Vec::new();
    };
    let mut faults: Vec<Fault> = spec.items("freeze").iter().filter_map(window_fault).collect();
    let is_review = spec.text("mode") == Some("review");
    if is_review && !spec.has("git.repository") {
        let fault = spec.fault_at("git.repository", "is missing: mode `review` has nowhere to propose plans");
        faults.push(fault.hint("name the repository, or use mode `observe`"));
    }
    if !is_review && !spec.items("allow").is_empty() {
        let fault = spec.fault_at("allow", "has a meaning only in mode `review`");
        faults.push(fault.hint("set `mode: review`, or remove `allow`"));
    }
    faults.extend(network_fault(&spec));
    faults.extend(path_fault(&spec));
    faults
}

fn network_fault(spec: &Place<'_>) -> Option<Fault> {
    let is_refused = spec.text("cluster.networkPluginMode") == Some("overlay")
        && spec.text("cluster.networkPlugin").is_some_and(|plugin| plugin != "azure");
    is_refused.then(|| {
        spec.fault_at("cluster.networkPluginMode", "`overlay` is a mode of network plugin `azure`")
            .hint("set `networkPlugin: azure`, or remove the mode")
    })
}

fn path_fault(spec: &Place<'_>) -> Option<Fault> {
    let path = spec.text("git.path")?;
    let leaves = path.starts_with('/') || path.split('/').any(|folder| folder == "..");
    leaves.then(|| {
        spec.fault_at("git.path", "must stay inside of the repository")
            .hint("write it from the root of the repository, such as `fleets/prod`")
    })
}
