//! Rules for the NodeFleet. Must never reject a field for having no effect yet: such a field is still valid.

use super::node_pool::window_fault;
use crate::policy::fault::Fault;
use crate::policy::place::Place;

/// Returns the faults of a fleet.
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
    faults.extend(approvals_faults(&spec));
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

/// Returns the faults of the approvals that plans require.
fn approvals_faults(spec: &Place<'_>) -> Vec<Fault> {
    let approvals = spec.items("git.approvals");
    let forge = spec.text("git.forge");
    let mut faults = Vec::new();
    if !approvals.is_empty() && forge.is_none() {
        let fault = spec.fault_at("git.approvals", "needs `forge`: approvals are read of pull requests");
        faults.push(fault.hint("set `git.forge`: `github`, `azuredevops`, `gitlab` or `gitea`"));
    }
    for entry in approvals {
        let by = i64::try_from(entry.items("by").len()).unwrap_or(i64::MAX);
        if !entry.has("by") && forge == Some("azuredevops") {
            let fault = entry.fault_at("by", "is missing: Azure DevOps does not report who may write");
            faults.push(fault.hint("name the accounts whose approval counts, by their sign-in addresses"));
        } else if entry.has("by") && entry.integer("count").is_some_and(|count| by < count) {
            let fault = entry.fault_at("by", "must name at least `count` accounts");
            faults.push(fault.hint("name more accounts, or ask for fewer approvals"));
        }
    }
    faults
}
