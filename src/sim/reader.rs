//! A second, read-only identity: it may read all of Azure and the cluster, and write only one Lease.
//!
//! Its refused writes are recorded: a read-only client must not even attempt to write. Must never know a secret:
//! callers are identified by the modules that hold the credentials.

use super::http::Request;

/// Path of the Leases and name of the one that it may write.
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const LEASE: &str = "nodeform-proposer";

/// Returns whether it may send this request to the API server.
pub(super) fn may_ask(request: &Request) -> bool {
    if matches!(request.method.as_str(), "GET" | "HEAD") {
        return true;
    }
    match request.path().strip_prefix(LEASES) {
        Some("") if request.method == "POST" => {
            let body = serde_json::from_slice::<serde_json::Value>(&request.body).unwrap_or_default();
            body["metadata"]["name"] == LEASE
        }
        Some(rest) => rest == format!("/{LEASE}"),
        None => false,
    }
}

/// Returns the record of a refused request.
pub(super) fn refused(request: &Request) -> String {
    format!("{} {}", request.method, request.path())
}
