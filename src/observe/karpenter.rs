//! Karpenter's environment variables, for facts about nodes that the managed cluster does not provide.
//!
//! Azure takes precedence, because a variable may be left over from another cluster. Must never read the environment
//! itself.

use std::sync::Arc;

use super::ObserveFault;
use crate::arm::ResourceId;
use crate::snapshot::azure::ClusterFacts;

const SUBNET: &str = "VNET_SUBNET_ID";
const IDENTITIES: &str = "NODE_IDENTITIES";
const API_SERVER: &str = "CLUSTER_ENDPOINT";

/// Default name of the admin user of nodes.
const ADMIN: &str = "azureuser";

/// Facts about a cluster from Karpenter's variables; unset ones are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KarpenterVariables {
    tenant: Option<Arc<str>>,
    api_server: Option<Arc<str>>,
    dns_service_ip: Option<Arc<str>>,
    subnet: Option<Arc<str>>,
    identities: Vec<Arc<str>>,
    kubelet_client_id: Option<Arc<str>>,
    admin_user: Option<Arc<str>>,
    ssh_public_key: Option<Arc<str>>,
}

impl KarpenterVariables {
    /// Reads the variables by name; `find` returns the value of a variable that is set.
    #[must_use]
    pub fn of(find: &dyn Fn(&str) -> Option<String>) -> Self {
        let text = |name: &str| {
            let text = find(name)?;
            Some(Arc::from(text.trim())).filter(|text: &Arc<str>| !text.is_empty())
        };
        let listed = text(IDENTITIES);
        let listed = listed.iter().flat_map(|listed| listed.split(',')).map(str::trim);
        Self {
            tenant: text("AZURE_TENANT_ID").or_else(|| text("ARM_TENANT_ID")),
            api_server: text(API_SERVER),
            dns_service_ip: text("DNS_SERVICE_IP"),
            subnet: text(SUBNET),
            identities: listed.filter(|id| !id.is_empty()).map(Arc::from).collect(),
            kubelet_client_id: text("KUBELET_IDENTITY_CLIENT_ID"),
            admin_user: text("LINUX_ADMIN_USERNAME"),
            ssh_public_key: text("SSH_PUBLIC_KEY"),
        }
    }

    /// Returns the subnet of nodes, used if AKS created none and agent pools name none.
    ///
    /// # Errors
    /// It is not the id of a subnet.
    pub(super) fn subnet(&self) -> Result<Option<Arc<str>>, ObserveFault> {
        let kind = "Microsoft.Network/virtualNetworks/subnets";
        let is_one = |id: &Arc<str>| id.parse::<ResourceId>().is_ok_and(|id| id.expect_kind(kind).is_ok());
        match &self.subnet {
            Some(id) if !is_one(id) => Err(wrong(SUBNET, id, "is no id of a subnet")),
            said => Ok(said.clone()),
        }
    }

    /// Fills in what the managed cluster did not provide, except for the subnet.
    ///
    /// # Errors
    /// Each variable that is needed and invalid.
    pub(super) fn complete(&self, facts: &mut ClusterFacts) -> Result<(), Vec<ObserveFault>> {
        let mut faults = Vec::new();
        let or = |fact: &mut Option<Arc<str>>, said: &Option<Arc<str>>| {
            if fact.is_none() {
                fact.clone_from(said);
            }
        };
        or(&mut facts.tenant, &self.tenant);
        or(&mut facts.network.dns_service_ip, &self.dns_service_ip);
        or(&mut facts.kubelet_client_id, &self.kubelet_client_id);
        or(&mut facts.ssh_public_key, &self.ssh_public_key);
        if facts.admin_user.is_empty() {
            facts.admin_user = self.admin_user.clone().unwrap_or_else(|| ADMIN.into());
        }
        if facts.identities.is_empty() {
            for id in self.identities.iter().filter(|id| id.parse::<ResourceId>().is_err()) {
                faults.push(wrong(IDENTITIES, id, "is no id of a resource"));
            }
            facts.identities.clone_from(&self.identities);
        }
        if facts.api_server.is_empty()
            && let Some(endpoint) = &self.api_server
        {
            match host(endpoint) {
                Some(host) => facts.api_server = host.into(),
                None => faults.push(wrong(API_SERVER, endpoint, "is no https address")),
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }
}

/// Returns the host of an address, by which kubelets reach the API server.
fn host(endpoint: &str) -> Option<&str> {
    let rest = endpoint.strip_prefix("https://")?;
    let host = rest.split(['/', ':']).next()?;
    let is_host = |host: &str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
    Some(host).filter(|host| !host.is_empty() && is_host(host))
}

fn wrong(variable: &str, value: &str, why: &str) -> ObserveFault {
    ObserveFault::new(
        format!("variable {variable}: `{value}` {why}, and the managed cluster does not say it itself"),
        format!("set {variable} as Karpenter's values have it, or unset it"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::azure::NetworkFacts;

    const SUBNET_ID: &str = "/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v/subnets/s";
    const IDENTITY: &str = "/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i";

    fn variables(said: &[(&str, &str)]) -> KarpenterVariables {
        KarpenterVariables::of(&|name| {
            said.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
        })
    }

    /// Returns a cluster with only the mandatory facts.
    fn silent() -> ClusterFacts {
        ClusterFacts {
            id: "".into(),
            name: "demo".into(),
            location: "westeurope".into(),
            tenant: None,
            node_resource_group: "MC".into(),
            kubernetes_version: "1.34.2".into(),
            api_server: "".into(),
            network: NetworkFacts::default(),
            subnet: None,
            kubelet_client_id: None,
            identities: Vec::new(),
            admin_user: "".into(),
            ssh_public_key: None,
            ca_certificate: None,
            registry_suffix: None,
            disk_encryption_set: None,
            has_http_proxy: false,
            has_custom_ca: false,
        }
    }

    fn all() -> KarpenterVariables {
        let identities = format!(" {IDENTITY} ,,");
        variables(&[
            ("ARM_TENANT_ID", "t"),
            (API_SERVER, "https://demo-dns-1.hcp.westeurope.azmk8s.io:443/"),
            ("DNS_SERVICE_IP", "10.0.0.10"),
            (SUBNET, SUBNET_ID),
            (IDENTITIES, &identities),
            ("KUBELET_IDENTITY_CLIENT_ID", "k"),
            ("SSH_PUBLIC_KEY", "ssh-ed25519 AAAA azureuser\n"),
        ])
    }

    #[test]
    fn what_the_cluster_does_not_say_the_variables_say() {
        let mut facts = silent();
        all().complete(&mut facts).unwrap();
        let said = |text: &str| Some(Arc::from(text));
        assert_eq!(facts.tenant, said("t"));
        assert_eq!(&*facts.api_server, "demo-dns-1.hcp.westeurope.azmk8s.io");
        assert_eq!(facts.network.dns_service_ip, said("10.0.0.10"));
        assert_eq!(facts.identities, [IDENTITY.into()]);
        assert_eq!(facts.kubelet_client_id, said("k"));
        assert_eq!(&*facts.admin_user, "azureuser");
        assert_eq!(facts.ssh_public_key, said("ssh-ed25519 AAAA azureuser"));
        assert_eq!(all().subnet().unwrap(), said(SUBNET_ID));
    }

    #[test]
    fn what_the_cluster_says_goes_first() {
        let said = || Some(Arc::from("said"));
        let mut facts = ClusterFacts {
            tenant: said(),
            api_server: "said".into(),
            network: NetworkFacts { dns_service_ip: said(), ..NetworkFacts::default() },
            kubelet_client_id: said(),
            admin_user: "said".into(),
            identities: vec!["said".into()],
            ssh_public_key: said(),
            ..silent()
        };
        let before = facts.clone();
        all().complete(&mut facts).unwrap();
        assert_eq!(facts, before);
        // Variables that are not needed are not validated.
        variables(&[(API_SERVER, "?"), (IDENTITIES, "?")]).complete(&mut facts).unwrap();
    }

    #[test]
    fn what_a_variable_cannot_mean_is_refused_by_its_name() {
        let wrong = variables(&[
            (API_SERVER, "http://demo"),
            (IDENTITIES, "demo"),
            (SUBNET, "/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/rg"),
        ]);
        let faults = wrong.complete(&mut silent()).unwrap_err();
        let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "variable NODE_IDENTITIES: `demo` is no id of a resource, and the managed cluster does not say it itself",
                "variable CLUSTER_ENDPOINT: `http://demo` is no https address, and the managed cluster does not say it itself",
            ]
        );
        assert!(wrong.subnet().unwrap_err().to_string().starts_with("variable VNET_SUBNET_ID: "));
    }

    #[test]
    fn an_empty_variable_says_nothing() {
        assert_eq!(
            variables(&[("SSH_PUBLIC_KEY", " "), (SUBNET, ""), (IDENTITIES, ",")]),
            KarpenterVariables::default()
        );
    }
}
