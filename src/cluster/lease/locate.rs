//! Location of the Lease: Karpenter's is in its installation namespace.

use serde_json::Value;

use super::{NAME, NAMESPACE, decide::REPORTS, record::Record};
use crate::cluster::{Cluster, ClusterFailure};

/// Returns the namespace of the Lease, or the one to create it in.
///
/// # Errors
/// Leases cannot be listed.
pub async fn namespace(cluster: &Cluster) -> Result<String, ClusterFailure> {
    let query = format!("fieldSelector=metadata.name%3D{NAME}");
    let listed = cluster.list("/apis/coordination.k8s.io/v1/leases", &query).await?;
    Ok(chosen(&listed.items()).unwrap_or(NAMESPACE).to_owned())
}

/// Returns the identity of the holder of a Lease; `None` if it does not exist or has no holder.
///
/// # Errors
/// The Lease cannot be read.
pub async fn holder(
    cluster: &Cluster,
    (namespace, name): (&str, &str),
) -> Result<Option<String>, ClusterFailure> {
    let lease = cluster.get_optional(&format!("{}/{name}", super::list(namespace))).await?;
    Ok(lease.map(|lease| Record::of(&lease).holder).filter(|holder| !holder.is_empty()))
}

/// Returns whether the holder of a Lease reports the state of the fleet.
///
/// # Errors
/// The API server refuses, or does not answer.
pub async fn reports(cluster: &Cluster, (namespace, name): (&str, &str)) -> Result<bool, ClusterFailure> {
    let lease = cluster.get_optional(&format!("{}/{name}", super::list(namespace))).await?;
    Ok(lease.is_some_and(|lease| {
        let reporter = lease["metadata"]["annotations"][REPORTS].as_str();
        reporter.is_some_and(|reporter| reporter == Record::of(&lease).holder)
    }))
}

/// Chooses among Leases of several installations: one with a holder, then the last renewed, by the holders' clocks.
fn chosen(leases: &[Value]) -> Option<&str> {
    let named = leases.iter().filter(|lease| lease["metadata"]["name"] == NAME);
    let ranked = named.filter_map(|lease| {
        let record = Record::of(lease);
        let namespace = lease["metadata"]["namespace"].as_str()?;
        Some((!record.holder.is_empty(), record.renew_time, namespace))
    });
    ranked.max().map(|(_, _, namespace)| namespace)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lease(namespace: &str, holder: &str, renewed: &str) -> Value {
        json!({
            "metadata": {"name": NAME, "namespace": namespace},
            "spec": {"holderIdentity": holder, "renewTime": renewed},
        })
    }

    #[test]
    fn the_one_that_is_held_and_renewed_last_is_meant() {
        let old = lease("karpenter", "x", "2026-01-01T00:00:00.000000Z");
        let new = lease("nodes", "y", "2026-01-02T00:00:00.000000Z");
        let free = lease("zzz", "", "2026-01-03T00:00:00.000000Z");
        assert_eq!(chosen(&[new.clone(), free, old]), Some("nodes"));
        assert_eq!(chosen(&[json!({"metadata": {"name": "other", "namespace": "x"}})]), None);
    }
}
