//! The managed cluster that the objects belong to: the named one, else the manager of the resource group of its nodes.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Ask, AskFault, KarpenterVariables, Observation, ObserveFault, Place};
use crate::arm::{Api, Request, ResourceId};

const CLUSTERS: &str = "Microsoft.ContainerService/managedClusters";

/// Names that the user gave, by flags, variables or a NodeFleet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The subscription.
    pub subscription: Option<String>,
    /// The resource group of the managed cluster.
    pub resource_group: Option<String>,
    /// The managed cluster.
    pub cluster: Option<String>,
    /// Facts from Karpenter's variables.
    pub karpenter: KarpenterVariables,
}

/// Finds the managed cluster.
pub(super) async fn place(
    azure: &impl Ask,
    named: &Named,
    seen: &Observation,
) -> Result<Place, ObserveFault> {
    let of_nodes = group_of_nodes(seen);
    let subscription = named
        .subscription
        .clone()
        .or_else(|| of_nodes.as_ref().map(|group| group.subscription().to_owned()))
        .ok_or_else(|| unnamed("no subscription is named, and no node says one"))?;
    if let (Some(group), Some(cluster)) = (&named.resource_group, &named.cluster) {
        let id = ResourceId::of_group(&subscription, group)
            .and_then(|group| group.in_group(CLUSTERS, cluster))
            .map_err(|fault| unnamed(&format!("the managed cluster is named wrongly: {fault}")))?;
        return Ok(Place { id, of_nodes });
    }
    let Some(group) = &of_nodes else {
        return Err(unnamed("the managed cluster is not named, and no node of AKS says which it is"));
    };
    let id = manager(azure, group).await?;
    Ok(Place { id, of_nodes })
}

/// Reads from Azure which cluster manages the resource group of the nodes: AKS records it there.
async fn manager(azure: &impl Ask, group: &ResourceId) -> Result<ResourceId, ObserveFault> {
    let body = azure.one(&Request::read(group, Api::Resources)).await.map_err(unread)?;
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Group {
        managed_by: Option<String>,
    }
    let managed_by = serde_json::from_value::<Group>(body).ok().and_then(|group| group.managed_by);
    managed_by.and_then(|id| id.parse().ok()).ok_or_else(|| {
        unnamed(&format!("resource group `{}` does not say which cluster manages it", group.name()))
    })
}

fn unnamed(what: &str) -> ObserveFault {
    ObserveFault::new(
        what,
        "name it: `--subscription`, `-g/--resource-group` and `--cluster-name`, as for `az aks show`",
    )
}

/// Converts a failed call to Azure.
fn unread(fault: AskFault) -> ObserveFault {
    ObserveFault { what: fault.what, hint: fault.hint, unread: None }
}

/// Returns the resource group of most of the Azure nodes.
fn group_of_nodes(seen: &Observation) -> Option<ResourceId> {
    #[derive(Deserialize)]
    struct List {
        #[serde(default)]
        items: Vec<Node>,
    }
    #[derive(Deserialize)]
    struct Node {
        #[serde(default)]
        spec: Spec,
    }
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Spec {
        #[serde(rename = "providerID")]
        provider_id: String,
    }
    let mut groups: BTreeMap<ResourceId, usize> = BTreeMap::new();
    for source in seen.sources.iter().filter(|source| source.name == "<nodes>") {
        let nodes = serde_json::from_slice::<List>(&source.bytes).map(|list| list.items).unwrap_or_default();
        let ids = nodes.iter().filter_map(|node| node.spec.provider_id.strip_prefix("azure://"));
        for id in ids.filter_map(|id| id.parse::<ResourceId>().ok()) {
            let group =
                id.resource_group().and_then(|group| ResourceId::of_group(id.subscription(), group).ok());
            group.into_iter().for_each(|group| *groups.entry(group).or_default() += 1);
        }
    }
    groups.into_iter().max_by_key(|(_, count)| *count).map(|(group, _)| group)
}
