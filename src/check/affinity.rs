//! Node selectors and required node affinity, checked against the labels that the node has or will have.

use super::case::Case;
use super::finding::{Finding, Rule};
use super::labels::pod_meets;

/// Returns the pods whose node lacks the labels that they require.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for site in &case.sites {
        for pod in &site.pods {
            if let Err(why) = pod_meets(&pod.spec, &site.labels) {
                let message = format!("does not belong on {}: {why}", site.title);
                found.push(Finding::new(Rule::NodeAffinity, format!("pod `{}`", pod.key), message));
            }
        }
    }
    found
}
