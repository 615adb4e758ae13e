//! The Azure resources of a cluster: the managed cluster, and the contents of the resource group of its nodes.
//!
//! A list is complete or absent.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{
    Ask, KarpenterVariables, Observation, ObserveFault, Place, Unread, classes, images, network, obstacles,
};
use crate::arm::answer::{
    self, Answer, LoadBalancer, Machine, ManagedCluster, NetworkInterface, PowerState, SecurityGroup,
};
use crate::arm::{Api, Request, ResourceId};
use crate::model::Usage;
use crate::snapshot::azure::{AzureFacts, ClusterFacts, NetworkFacts};
use crate::snapshot::{Gap, GapKind};
use crate::world;

/// Warning if the usages of the subscription cannot be read.
const NO_USAGES: &str = "quotas of the subscription could not be read (`Microsoft.Compute/locations/usages/read`), so \
                         none limits the plan";

/// Reads everything that is needed to plan and to apply.
pub(super) async fn read(
    azure: &impl Ask,
    (place, variables): (&Place, &KarpenterVariables),
    seen: &mut Observation,
) -> Result<AzureFacts, Vec<ObserveFault>> {
    let cluster = managed_cluster(azure, place).await.map_err(|fault| vec![fault])?;
    let mut facts = checked(&cluster, place)?;
    variables.complete(&mut facts)?;
    facts.registry_suffix = azure.registry_suffix().map(Arc::from);
    let group = ResourceId::of_group(place.id.subscription(), &facts.node_resource_group)
        .map_err(|fault| vec![ObserveFault { what: fault.to_string(), hint: None, unread: None }])?;
    let classes = classes::read(seen);
    let mut reader = Reader { azure, seen };
    let vms = reader.list::<Machine>("VMs", &Request::list_machines(&group)).await;
    let interfaces = reader
        .list::<NetworkInterface>("network interfaces", &Request::list_network_interfaces(&group))
        .await;
    let balancers =
        reader.list::<LoadBalancer>("load balancers", &Request::list_load_balancers(&group)).await;
    let groups =
        reader.list::<SecurityGroup>("network security groups", &Request::list_security_groups(&group)).await;
    if facts.subnet.is_none() {
        facts.subnet = network::subnet_of_nodes(&mut reader, &group, variables).await?;
    }
    let named = classes.iter().filter_map(|class| class.spec.as_ref()?.vnet_subnet_id.as_deref());
    let named: BTreeSet<Arc<str>> = named.map(Arc::from).chain(facts.subnet.clone()).collect();
    let subnets = network::subnets(&mut reader, &group, named).await;
    let images = images::newest(&mut reader, place.id.subscription(), &facts, &classes).await;
    let obstacles = obstacles::read(&mut reader, &cluster, &group).await;
    let request = Request::list_usages(place.id.subscription(), &facts.location);
    let usages = reader.quietly::<answer::Usage>(NO_USAGES, &request).await;
    reader.seen.usages = usages.map(|usages| usages.into_iter().map(usage).collect());
    Ok(AzureFacts {
        ledger: None,
        obstacles,
        cluster: facts,
        vms: vms.map(|vms| sorted(vms, world::azure::vm, |vm| &vm.id)),
        interfaces: interfaces.map(|found| sorted(found, world::azure::interface, |interface| &interface.id)),
        backend_pools: balancers.map(backend_pools),
        security_groups: groups.map(|groups| security_groups(&groups)),
        subnets,
        images,
    })
}

/// Reads from Azure and records what could not be read.
pub(super) struct Reader<'r, K> {
    azure: &'r K,
    seen: &'r mut Observation,
}

impl<K: Ask> Reader<'_, K> {
    /// Lists resources. Returns `None` and records a gap if that fails.
    pub(super) async fn list<A: Answer>(&mut self, what: &str, request: &Request) -> Option<Vec<A>> {
        let read = self.azure.all(request).await.map_err(|fault| fault.what);
        let parsed = read.and_then(|items| {
            let items = items.into_iter().map(answer::read::<A>).collect::<Result<Vec<A>, _>>();
            items.map_err(|fault| fault.to_string())
        });
        match parsed {
            Ok(items) => Some(items),
            Err(why) => {
                self.gap(what, &why);
                None
            }
        }
    }

    /// Lists resources that nothing depends on. Returns `None` with only a warning if that fails.
    pub(super) async fn quietly<A: Answer>(&mut self, what: &str, request: &Request) -> Option<Vec<A>> {
        let read = self.azure.all(request).await.map_err(|fault| fault.what).and_then(|items| {
            let read =
                items.into_iter().map(|item| answer::read::<A>(item).map_err(|fault| fault.to_string()));
            read.collect::<Result<Vec<A>, String>>()
        });
        read.map_err(|why| self.seen.warnings.push(format!("{what}: {why}"))).ok()
    }

    /// Returns what was read so far.
    pub(super) fn seen(&self) -> &Observation {
        self.seen
    }

    /// Reads one resource. Returns `None` and records a gap if that fails.
    pub(super) async fn one<A: Answer>(&mut self, what: &str, id: &ResourceId, api: Api) -> Option<A> {
        let read = self.azure.one(&Request::read(id, api)).await.map_err(|fault| fault.what);
        match read.and_then(|body| answer::read(body).map_err(|fault| fault.to_string())) {
            Ok(found) => Some(found),
            Err(why) => {
                self.gap(what, &why);
                None
            }
        }
    }

    pub(super) fn gap(&mut self, what: &str, why: &str) {
        self.seen.gaps.push(Gap {
            kind: GapKind::Unread,
            what: format!("{what} in Azure"),
            consequence: "nothing that depends on them is changed".to_owned(),
        });
        self.seen.unread.push(Unread::of_azure(what, why));
        self.seen.warnings.push(format!("{what} could not be read: {why}"));
    }

    /// Adds the next step to the last gap.
    pub(super) fn advise(&mut self, next: &str) {
        if let Some(warning) = self.seen.warnings.last_mut() {
            warning.push_str("; ");
            warning.push_str(next);
        }
        if let Some(unread) = self.seen.unread.last_mut() {
            unread.hint = Some(next.to_owned());
        }
    }
}

/// Reads the managed cluster; if it does not exist, the fault explains how to find its name.
async fn managed_cluster(azure: &impl Ask, place: &Place) -> Result<ManagedCluster, ObserveFault> {
    let read = azure.one(&Request::read(&place.id, Api::ContainerService)).await;
    let body = read.map_err(|fault| match fault.is_not_found {
        true => ObserveFault::new(fault.what, "list the clusters that there are: `az aks list -o table`"),
        false => ObserveFault { what: fault.what, hint: fault.hint, unread: None },
    })?;
    answer::read(body).map_err(|fault| {
        let what = format!("`GET {}`: what came is no managed cluster: {fault}", place.id);
        ObserveFault::new(
            what,
            "check ARM_CLOUD or the file of AZURE_ENVIRONMENT_FILEPATH: is this Azure Resource Manager?",
        )
    })
}

/// Rejects a cluster in which nodes cannot be created, with all reasons.
fn checked(cluster: &ManagedCluster, place: &Place) -> Result<ClusterFacts, Vec<ObserveFault>> {
    let name = &cluster.name;
    let mut faults = Vec::new();
    let mut fault = |what: String, hint: String| faults.push(ObserveFault::new(what, hint));
    if cluster.power_state == Some(PowerState::Stopped) {
        fault(
            format!("cluster `{name}` is stopped"),
            format!(
                "start it: `az aks start -g {} -n {name}`",
                place.id.resource_group().unwrap_or_default()
            ),
        );
    }
    let group = cluster.node_resource_group.clone().unwrap_or_default();
    if let Some(seen) = place.of_nodes.as_ref().and_then(ResourceId::resource_group)
        && !seen.eq_ignore_ascii_case(&group)
    {
        fault(
            format!(
                "cluster `{name}` has its nodes in resource group `{group}`, and those that Kubernetes lists are in `{seen}`"
            ),
            "name the cluster of this kubeconfig, or the kubeconfig of that cluster (`--context`)".to_owned(),
        );
    }
    let network = &cluster.network;
    let plugin = network.network_plugin.clone().unwrap_or_default();
    if !["azure", "none"].contains(&plugin.as_str()) {
        fault(
            format!("cluster `{name}` has the network plugin `{plugin}`, with which nodeform makes no nodes"),
            "Azure CNI, with or without overlay, or a plugin of your own (`none`) is needed".to_owned(),
        );
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(cluster_facts(cluster, &group, &plugin))
}

fn cluster_facts(cluster: &ManagedCluster, group: &str, plugin: &str) -> ClusterFacts {
    let text = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(Arc::from);
    let network = &cluster.network;
    let kubelet = cluster.kubelet_identity.as_ref();
    ClusterFacts {
        id: cluster.id.to_string().into(),
        name: cluster.name.as_str().into(),
        location: cluster.location.replace(' ', "").to_ascii_lowercase().into(),
        tenant: text(&cluster.tenant),
        node_resource_group: group.into(),
        kubernetes_version: cluster.kubernetes_version.as_deref().unwrap_or_default().into(),
        api_server: text(&cluster.fqdn).or_else(|| text(&cluster.private_fqdn)).unwrap_or_default(),
        network: NetworkFacts {
            plugin: plugin.into(),
            plugin_mode: text(&network.network_plugin_mode),
            dataplane: text(&network.network_dataplane),
            policy: text(&network.network_policy),
            dns_service_ip: text(&network.dns_service_ip),
        },
        subnet: cluster.agent_pools.iter().find_map(|pool| text(&pool.subnet)),
        ca_certificate: None,
        registry_suffix: None,
        disk_encryption_set: cluster.disk_encryption_set.as_ref().map(|id| id.to_string().into()),
        has_http_proxy: cluster.has_http_proxy,
        has_custom_ca: cluster.has_custom_ca,
        kubelet_client_id: kubelet.and_then(|identity| text(&identity.client_id)),
        identities: kubelet.and_then(|identity| text(&identity.resource_id)).into_iter().collect(),
        admin_user: text(&cluster.admin_username).unwrap_or_default(),
        ssh_public_key: cluster
            .ssh_public_keys
            .iter()
            .find(|key| !key.is_empty())
            .map(|key| key.as_str().into()),
    }
}

fn usage(found: answer::Usage) -> Usage {
    let answer::Usage { name, current, limit } = found;
    Usage { name: name.into(), used: current, limit }
}

fn sorted<A, F>(items: Vec<A>, facts: impl Fn(A) -> F, id: impl Fn(&F) -> &Arc<str>) -> Vec<F> {
    let mut items: Vec<F> = items.into_iter().map(facts).collect();
    items.sort_by(|one, other| id(one).cmp(id(other)));
    items
}

fn backend_pools(balancers: Vec<LoadBalancer>) -> Vec<Arc<str>> {
    let pools = balancers.iter().flat_map(LoadBalancer::pools_of_nodes);
    let mut pools: Vec<Arc<str>> = pools.map(|pool| pool.0.to_string().into()).collect();
    pools.sort();
    pools
}

/// Returns the security groups that AKS creates for nodes: `aks-agentpool-12345678-nsg`.
fn security_groups(groups: &[SecurityGroup]) -> Vec<Arc<str>> {
    let is_of_nodes = |name: &str| {
        let number = name.strip_prefix("aks-agentpool-").and_then(|rest| rest.strip_suffix("-nsg"));
        number.is_some_and(|number| number.len() == 8 && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut found: Vec<Arc<str>> = groups
        .iter()
        .filter(|group| is_of_nodes(&group.name))
        .map(|group| group.id.to_string().into())
        .collect();
    found.sort();
    found
}
