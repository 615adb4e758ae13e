//! Ownership: whose an Azure resource is, whether an unlisted object is gone, and what is due for NodeClaims that
//! belong to no plan.
//!
//! Only resources whose tags assign them to this cluster are ever deleted. Names prove nothing: someone may have
//! created another resource with the same name, or replaced the tags of ours.

pub(super) mod absent;
pub mod life;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::plan::execution::ClusterIdentity;
use crate::plan::{ChangeId, mark};
use crate::world::seen::Whole;

/// Returns why a resource may not be deleted as this cluster's; `None` if its tags assign it to the cluster. If
/// `change` is given, it must have been created for that change. Azure ignores the case of tag names.
#[must_use]
pub fn foreign(
    tags: &BTreeMap<Arc<str>, Arc<str>>,
    cluster: &ClusterIdentity,
    change: Option<&ChangeId>,
) -> Option<String> {
    let value = |name: &str| tag(tags, name).map(|value| &**value);
    let own = mark::tag(mark::CLUSTER);
    let name = cluster.id.rsplit('/').next().unwrap_or_default();
    let other = |tag: &str, found: Option<&str>, wanted: &str| match found {
        Some(found) => format!("its tag `{tag}` is `{found}`, not `{wanted}`"),
        None => format!("it has no tag `{tag}`"),
    };
    match (value(&own), value(mark::KARPENTER_CLUSTER_TAG)) {
        (Some(uid), _) if uid == &*cluster.uid => {}
        (Some(uid), _) => return Some(other(&own, Some(uid), &cluster.uid)),
        (None, Some(found))
            if found.eq_ignore_ascii_case(name) && value(mark::KARPENTER_POOL_TAG).is_some() => {}
        (None, Some(found)) if found.eq_ignore_ascii_case(name) => {
            return Some(other(mark::KARPENTER_POOL_TAG, None, ""));
        }
        (None, found) => return Some(other(mark::KARPENTER_CLUSTER_TAG, found, name)),
    }
    let item = mark::tag(mark::ITEM);
    change
        .filter(|change| value(&item) != Some(&*change.0))
        .map(|change| other(&item, value(&item), &change.0))
}

/// Returns the value of a tag. Azure ignores the case of tag names, and policies or people may write them in another case.
pub(super) fn tag<'a>(tags: &'a BTreeMap<Arc<str>, Arc<str>>, name: &str) -> Option<&'a Arc<str>> {
    tags.get(name)
        .or_else(|| tags.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value))
}

/// Returns the id of the change that created a resource, by its tags.
pub(super) fn item_of(tags: &BTreeMap<Arc<str>, Arc<str>>) -> Option<&Arc<str>> {
    tag(tags, &mark::tag(mark::ITEM))
}

/// Returns whether a network interface belongs to a VM that is not this cluster's, by their common name: Azure keeps it
/// for that VM, whatever its own tags say.
pub(super) fn is_of_foreign_vm(interface: &str, world: Whole<'_>, cluster: &ClusterIdentity) -> bool {
    let name = |id: &str| id.rsplit('/').next().unwrap_or(id).to_ascii_lowercase();
    let of_name = name(interface);
    let mut vms = world.vms.values().filter(|vm| name(&vm.id) == of_name);
    vms.any(|vm| foreign(&vm.tags, cluster, None).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(tags: &[(&str, &str)], change: Option<&str>) -> String {
        let tags = tags.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let cluster = ClusterIdentity {
            uid: "u1".into(),
            id: "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/prod"
                .into(),
            node_resource_group: "mc".into(),
            location: "westeurope".into(),
        };
        let change = change.map(|change| ChangeId(change.into()));
        foreign(&tags, &cluster, change.as_ref()).unwrap_or_else(|| "ours".to_owned())
    }

    #[test]
    fn a_resource_is_ours_by_the_clusters_identity_or_by_karpenters_tags_and_by_nothing_else() {
        type Case = (&'static [(&'static str, &'static str)], Option<&'static str>, &'static str);
        let cases: [Case; 8] = [
            (&[("nodeform.dev_cluster", "u1"), ("nodeform.dev_item", "c1")], Some("c1"), "ours"),
            (&[("NODEFORM.dev_Cluster", "u1")], None, "ours"),
            (&[("karpenter.azure.com_cluster", "Prod"), ("karpenter.sh_nodepool", "a")], None, "ours"),
            (&[("karpenter.azure.com_cluster", "prod")], None, "it has no tag `karpenter.sh_nodepool`"),
            (
                &[("karpenter.azure.com_cluster", "test"), ("karpenter.sh_nodepool", "a")],
                None,
                "its tag `karpenter.azure.com_cluster` is `test`, not `prod`",
            ),
            (
                &[
                    ("nodeform.dev_cluster", "u2"),
                    ("karpenter.azure.com_cluster", "prod"),
                    ("karpenter.sh_nodepool", "a"),
                ],
                None,
                "its tag `nodeform.dev_cluster` is `u2`, not `u1`",
            ),
            (&[("nodeform.dev_cluster", "u1")], Some("c1"), "it has no tag `nodeform.dev_item`"),
            (&[("team", "a")], None, "it has no tag `karpenter.azure.com_cluster`"),
        ];
        for (tags, change, expected) in cases {
            assert_eq!(said(tags, change), expected, "{tags:?} for {change:?}");
        }
    }
}
