//! AKS' own DaemonSets on every node, assumed if the input does not hold them.
//!
//! The figures are a versioned estimate, marked as such wherever they are shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;

use crate::model::fleet::AKS_DAEMONSETS;
use crate::model::{Namespace, NetworkSetup, PodSpec, Quantity, ResourceName, Resources, Toleration};

use super::{Assumption, Daemon};

/// Their namespace.
pub const NAMESPACE: &str = "kube-system";

/// The priority of `system-node-critical`, which all of them have.
const PRIORITY: i32 = 2_000_001_000;

#[derive(Deserialize)]
struct Table {
    /// Name, CPU and memory of each, by network set-up.
    sets: BTreeMap<String, Vec<(String, String, String)>>,
}

/// Returns the name of a set, and the DaemonSet in it that this set-up lacks.
///
/// The dataplane decides: Cilium replaces kube-proxy with either IPAM mode. A cluster with its own network plugin has
/// kube-proxy but not `azure-cns`, which assigns Azure's addresses.
const fn set_of(network: NetworkSetup) -> (&'static str, Option<&'static str>) {
    match network {
        NetworkSetup::AzureOverlay { is_cilium: true } | NetworkSetup::Azure { is_cilium: true } => {
            ("azure-overlay-cilium", None)
        }
        NetworkSetup::AzureOverlay { is_cilium: false } => ("azure-overlay", None),
        NetworkSetup::Azure { is_cilium: false } => ("azure", None),
        NetworkSetup::None => ("azure-overlay", Some("azure-cns")),
    }
}

/// DaemonSets and nodes in the input.
#[derive(Clone, Debug, Default)]
pub struct Shown<'a> {
    /// Names of the DaemonSets in [`NAMESPACE`], read or inferred from their pods.
    pub names: BTreeSet<&'a str>,
    /// Whether there are Nodes.
    pub has_nodes: bool,
}

/// Returns AKS' DaemonSets that are missing from the input, for a network set-up, sorted by name, and the assumption to
/// report. DaemonSets in the input are not assumed again. An input with Nodes and any of AKS' DaemonSets is a dump,
/// which is complete.
#[must_use]
pub fn assumed(network: NetworkSetup, shown: &Shown<'_>) -> (Vec<Daemon>, Option<Assumption>) {
    let table: Table = serde_json::from_str(include_str!("system_daemonsets.json"))
        .expect("the embedded table is JSON of this shape: a test reads it");
    let is_shown = |(name, ..): &&(String, String, String)| shown.names.contains(name.as_str());
    if shown.has_nodes && AKS_DAEMONSETS.iter().any(|name| shown.names.contains(name)) {
        return (Vec::new(), None);
    }
    let (set, without) = set_of(network);
    let rows = table.sets.get(set).map(Vec::as_slice).unwrap_or_default();
    let rows = rows.iter().filter(|(name, ..)| Some(name.as_str()) != without);
    let missing = rows.filter(|row| !is_shown(row));
    let mut daemons: Vec<Daemon> = missing.map(|(name, cpu, memory)| daemon(name, cpu, memory)).collect();
    daemons.sort();
    let assumption = (!daemons.is_empty()).then(|| assumption(&daemons));
    (daemons, assumption)
}

fn daemon(name: &str, cpu: &str, memory: &str) -> Daemon {
    let mut requests = Resources::none().with(ResourceName::Pods, 1);
    for (resource, written) in [(ResourceName::Cpu, cpu), (ResourceName::Memory, memory)] {
        let quantity =
            Quantity::parse(written).expect("the embedded table holds quantities: a test reads them");
        let amount = resource.request(&quantity);
        if amount > 0 {
            requests.set(resource, amount);
        }
    }
    let spec = PodSpec {
        requests,
        tolerations: vec![Toleration { key: None, value: None, effect: None, seconds: None }],
        priority: PRIORITY,
        ..PodSpec::default()
    };
    let namespace = Namespace::new(NAMESPACE);
    Daemon { namespace, name: Arc::from(name), spec: Arc::new(spec), is_assumed: true }
}

fn assumption(daemons: &[Daemon]) -> Assumption {
    let mut sum = Resources::none();
    for daemon in daemons {
        sum.add(&daemon.spec.requests);
    }
    let amount = |name: ResourceName| name.show(sum.get(&name));
    Assumption {
        what: format!(
            "AKS' {} system {} per node (~{} CPU, ~{})",
            daemons.len(),
            if daemons.len() == 1 { "DaemonSet" } else { "DaemonSets" },
            amount(ResourceName::Cpu),
            amount(ResourceName::Memory),
        ),
        why: "turn off: `--no-system-daemonsets`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{AKS_DAEMONSETS, Shown, assumed};
    use crate::model::NetworkSetup;

    #[test]
    fn every_network_set_up_has_its_daemonsets() {
        let shown = |network| {
            let (daemons, assumption) = assumed(network, &Shown::default());
            let names: Vec<&str> = daemons.iter().map(|daemon| &*daemon.name).collect();
            (names.join(" "), assumption.expect("some are assumed").what)
        };
        let (names, what) = shown(NetworkSetup::AzureOverlay { is_cilium: false });
        assert_eq!(
            names,
            "azure-cns azure-ip-masq-agent cloud-node-manager csi-azuredisk-node csi-azurefile-node kube-proxy"
        );
        assert_eq!(what, "AKS' 6 system DaemonSets per node (~350m CPU, ~470Mi)");
        for set in [NetworkSetup::Azure { is_cilium: true }, NetworkSetup::Azure { is_cilium: false }] {
            assert!(shown(set).0.split(' ').all(|name| AKS_DAEMONSETS.contains(&name)));
        }
        let (names, what) = shown(NetworkSetup::Azure { is_cilium: true });
        assert!(names.contains("cilium") && !names.contains("kube-proxy"));
        assert!(what.contains("~250m CPU, ~570Mi"), "{what}");
        let (names, _) = shown(NetworkSetup::None);
        assert!(names.contains("kube-proxy") && !names.contains("azure-cns"));
        assert!(shown(NetworkSetup::Azure { is_cilium: false }).0.contains("azure-cns"));
    }

    #[test]
    fn what_the_input_shows_is_not_assumed_and_a_dump_shows_all() {
        let count = |names: &[&'static str], has_nodes| {
            let shown = Shown { names: names.iter().copied().collect(), has_nodes };
            let (daemons, assumption) = assumed(NetworkSetup::AzureOverlay { is_cilium: false }, &shown);
            assert_eq!(assumption.is_some(), !daemons.is_empty());
            daemons.len()
        };
        assert_eq!(count(&["nvidia-device-plugin"], false), 6);
        assert_eq!(count(&["nvidia-device-plugin"], true), 6);
        assert_eq!(count(&["kube-proxy", "agent"], false), 5);
        assert_eq!(count(&["kube-proxy", "agent"], true), 0);
        // A DaemonSet of another set-up also identifies a dump.
        assert_eq!(count(&["cilium"], true), 0);
        assert_eq!(count(&["cilium"], false), 6);
        let all = [
            "azure-cns",
            "azure-ip-masq-agent",
            "cloud-node-manager",
            "csi-azuredisk-node",
            "csi-azurefile-node",
            "kube-proxy",
        ];
        assert_eq!(count(&all, false), 0);
    }
}
