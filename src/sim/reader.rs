//! A second identity of the world: it may read all of Azure and of the cluster, and write nothing but one Lease.
//!
//! What it tried to write is remembered: whoever is not to write must not try. Must never know a secret: who asks is decided where
//! credentials are.

use super::http::Request;

/// The Lease that it may write, by the path of its list and by its name.
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const LEASE: &str = "nodeform-proposer";

/// Whether it may ask the API server for this.
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

/// What is remembered of a request that was refused.
pub(super) fn refused(request: &Request) -> String {
    format!("{} {}", request.method, request.path())
}
