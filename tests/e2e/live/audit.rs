//! What nodeform's Pods asked the API server for, as its audit log has it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::bed::Bed;

const USER: &str = "system:serviceaccount:kube-system:nodeform";
const PROPOSER: &str = "system:serviceaccount:kube-system:nodeform-proposer";

/// A request that has ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Asked {
    /// When it came in, as RFC 3339.
    pub(super) at: String,
    /// The Pod that asked.
    pub(super) pod: String,
    pub(super) verb: String,
    /// The kind in its plural, with its subresource: `nodefleets/status`.
    pub(super) resource: String,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) code: u64,
}

impl Asked {
    pub(super) fn is_write(&self) -> bool {
        !["get", "list", "watch"].contains(&&*self.verb)
    }

    /// Whether it keeps a Lease.
    pub(super) fn is_of_lease(&self) -> bool {
        self.resource == "leases"
    }
}

/// All that the controller's Pods have asked for so far.
pub(super) fn asked(bed: &Bed) -> Vec<Asked> {
    asked_in(&bed.plane.audit_log(), USER)
}

/// All that the proposer's Pods have asked for so far.
pub(super) fn asked_by_the_proposer(bed: &Bed) -> Vec<Asked> {
    asked_in(&bed.plane.audit_log(), PROPOSER)
}

/// How often the cluster was read for a plan so far.
pub(super) fn readings(log: &Path) -> usize {
    asked_in(log, USER).iter().filter(|asked| asked.resource == "nodepools" && asked.verb == "list").count()
}

fn asked_in(log: &Path, user: &str) -> Vec<Asked> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let log = fs::read_to_string(log).expect("the API server writes it");
    // The last line may be in the middle of being written.
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let lines = lines.filter(|line| line["user"]["username"] == user && line["stage"] == "ResponseComplete");
    let asked = lines.map(|line| {
        let object = &line["objectRef"];
        let subresource = object["subresource"].as_str().map(|name| format!("/{name}")).unwrap_or_default();
        Asked {
            at: text(&line["requestReceivedTimestamp"]),
            pod: text(&line["user"]["extra"]["authentication.kubernetes.io/pod-name"][0]),
            verb: text(&line["verb"]),
            resource: text(&object["resource"]) + &subresource,
            namespace: text(&object["namespace"]),
            name: text(&object["name"]),
            code: line["responseStatus"]["code"].as_u64().unwrap_or_default(),
        }
    });
    asked.collect()
}

/// How many pods of a namespace were told which node they are to have. What they were told is gone once they are bound.
pub(super) fn pods_told(bed: &Bed, namespace: &str) -> usize {
    let told = asked(bed).into_iter().filter(|asked| asked.resource == "pods/status" && asked.code == 200);
    let pods: BTreeSet<String> =
        told.filter(|asked| asked.namespace == namespace).map(|asked| asked.name).collect();
    pods.len()
}

/// Its roles are enough: nothing was forbidden once roles were in force. The API server learns of a role that is applied
/// with the Deployment a moment later, so that what a pod asks first may be refused, and is allowed when it asks again.
pub(super) fn nothing_was_forbidden(asked: &[Asked]) {
    assert!(!asked.is_empty(), "the audit log has what nodeform asks");
    let alike = |one: &Asked, other: &Asked| {
        (&one.pod, &one.verb, &one.resource, &one.namespace)
            == (&other.pod, &other.verb, &other.resource, &other.namespace)
    };
    let allowed_later = |refused: &Asked| {
        asked.iter().any(|other| alike(refused, other) && other.code < 400 && other.at > refused.at)
            && !asked.iter().any(|other| alike(refused, other) && other.code < 400 && other.at < refused.at)
    };
    let forbidden: BTreeSet<(&str, &str)> = asked
        .iter()
        .filter(|asked| asked.code == 403 && !allowed_later(asked))
        .map(|asked| (&*asked.verb, &*asked.resource))
        .collect();
    assert_eq!(forbidden, BTreeSet::new(), "its ClusterRole and Role allow less than it asks");
}
