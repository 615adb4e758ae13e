//! Fills in resources of nodes that are being launched and do not report them yet, from their VM size.
//!
//! A NodeClaim that is not launched may get any of its listed sizes: its capacity is the largest of them (for limits),
//! its allocatable the smallest (for pods). A registered node also gets unreported resources from its size until it is
//! initialized, however long that takes, because another node would lack the same. Reported values are never replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Assumption;
use crate::catalog::{Catalog, Offered};
use crate::model::{
    ClassName, InstanceType, LabelKey, NetworkSetup, Node, NodeStage, ResourceName, Resources, SkuName, label,
};
use crate::policy::Policy;

/// Maximum number of claims to list.
const SHOWN_MAX: usize = 5;

/// Fills in the expected resources of such nodes, and returns the assumption to report.
pub fn fill(
    nodes: &mut [Node],
    catalog: &Catalog,
    policy: &Policy,
    network: NetworkSetup,
) -> Option<Assumption> {
    let mut shelves = Shelves { catalog, policy, network, known: BTreeMap::new() };
    let has_joined = |node: &&mut Node| node.stage == NodeStage::Registered && node.claim.is_some();
    for node in nodes.iter_mut().filter(has_joined) {
        let sizes = sizes(node);
        let Some(own) = shelves.of(node) else { continue };
        if let Some(kind) = own.types.iter().find(|kind| sizes.contains(&kind.name)) {
            promise(&mut node.capacity, &kind.capacity);
            promise(&mut node.allocatable, &kind.allocatable);
        }
    }
    let mut named: Vec<Arc<str>> = Vec::new();
    let is_silent = |node: &&mut Node| {
        node.stage == NodeStage::Launching
            && !node.claimed.is_lost
            && node.capacity == Resources::none()
            && node.allocatable == Resources::none()
    };
    for node in nodes.iter_mut().filter(is_silent) {
        let sizes = sizes(node);
        let Some(own) = shelves.of(node) else { continue };
        let types: Vec<&InstanceType> = own.types.iter().filter(|kind| sizes.contains(&kind.name)).collect();
        let Some((first, others)) = types.split_first() else { continue };
        let (mut most, mut least) = (first.capacity.clone(), first.allocatable.clone());
        for other in others {
            most = Resources::max(&most, &other.capacity);
            least = at_most(&least, &other.allocatable);
        }
        (node.capacity, node.allocatable) = (most, least);
        named.push(Arc::from(node.name.as_str()));
    }
    (!named.is_empty()).then(|| assumption(&named))
}

/// Cache of the instance types that each class is offered.
struct Shelves<'a> {
    catalog: &'a Catalog,
    policy: &'a Policy,
    network: NetworkSetup,
    known: BTreeMap<ClassName, Arc<Offered>>,
}

impl Shelves<'_> {
    /// Returns the instance types that the class of a node is offered.
    fn of(&mut self, node: &Node) -> Option<Arc<Offered>> {
        let Self { catalog, policy, network, known } = self;
        let class = policy.classes.get(node.class.as_ref()?)?;
        let offered = known.entry(class.name.clone()).or_insert_with(|| catalog.offered(class, *network));
        Some(Arc::clone(offered))
    }
}

/// Sets unreported amounts to those of the size.
fn promise(amounts: &mut Resources, of_size: &Resources) {
    let missing = of_size.iter().filter(|(name, _)| amounts.get(name) == 0);
    let missing: Vec<(ResourceName, i64)> = missing.map(|(name, amount)| (name.clone(), amount)).collect();
    missing.into_iter().for_each(|(name, amount)| amounts.set(name, amount));
}

/// Returns the size of a node, or all sizes that it may get.
fn sizes(node: &Node) -> BTreeSet<SkuName> {
    match node.labels.get(&LabelKey::new(label::INSTANCE_TYPE)) {
        Some(size) => BTreeSet::from([SkuName::new(&**size)]),
        None => node.claimed.sizes.iter().map(|size| SkuName::new(&**size)).collect(),
    }
}

/// Returns the minimum of each amount.
fn at_most(one: &Resources, other: &Resources) -> Resources {
    one.iter().map(|(name, amount)| (name.clone(), amount.min(other.get(name)))).collect()
}

fn assumption(named: &[Arc<str>]) -> Assumption {
    let mut shown: Vec<String> = named.iter().take(SHOWN_MAX).map(|name| format!("`{name}`")).collect();
    if named.len() > SHOWN_MAX {
        shown.push(format!("{} more", named.len() - SHOWN_MAX));
    }
    let lead = if named.len() == 1 {
        "NodeClaim has what its size has".to_owned()
    } else {
        format!("{} NodeClaims have what their sizes have", named.len())
    };
    Assumption {
        what: format!("{lead}: {}", shown.join(", ")),
        why: "`status.capacity` is not there yet".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::fill;
    use crate::catalog::Catalog;
    use crate::manifests::{Source, read};
    use crate::model::{ClassName, NetworkSetup, Node, Region, ResourceName};
    use crate::policy::{Policy, default_class};

    fn filled(labels: &str, sizes: &str, status: &str) -> (Node, Option<String>) {
        let text = format!(
            "{{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {{name: c1, labels: {{{labels}}}}}, \
             spec: {{nodeClassRef: {{group: karpenter.azure.com, kind: AKSNodeClass, name: default}}, requirements: \
             [{{key: node.kubernetes.io/instance-type, operator: In, values: [{sizes}]}}]}}, status: {{{status}}}}}\n"
        );
        let objects = read(vec![Source::new("a.yaml", text)]).expect("is right");
        let mut policy = Policy::default();
        let class = ClassName::new("default");
        policy.classes.insert(class.clone(), default_class(class));
        let catalog = Catalog::embedded(&Region::new("eastus")).expect("is known");
        let mut nodes = objects.nodes;
        let said = fill(&mut nodes, &catalog, &policy, NetworkSetup::AzureOverlay { is_cilium: false });
        (nodes.remove(0), said.map(|said| said.what))
    }

    fn cpu(node: &Node) -> (i64, bool) {
        let own = node.allocatable.get(&ResourceName::Cpu);
        (node.capacity.get(&ResourceName::Cpu), own > 0 && own < node.capacity.get(&ResourceName::Cpu))
    }

    #[test]
    fn a_claim_counts_by_its_size() {
        let (node, said) =
            filled("node.kubernetes.io/instance-type: Standard_D4as_v5", "Standard_D4as_v5", "");
        assert_eq!(
            (cpu(&node), said.as_deref()),
            ((4000, true), Some("NodeClaim has what its size has: `c1`"))
        );
    }

    #[test]
    fn a_claim_that_is_not_launched_counts_by_the_largest_and_offers_the_least() {
        let (node, _) = filled("", "Standard_D4as_v5, Standard_D8as_v5", "");
        assert_eq!(node.capacity.get(&ResourceName::Cpu), 8000);
        assert!(node.allocatable.get(&ResourceName::Cpu) < 4000);
    }

    #[test]
    fn what_the_claim_says_itself_stays_and_unknown_sizes_stay_unknown() {
        let (node, said) = filled("", "Standard_D4as_v5", "capacity: {cpu: 3}");
        assert_eq!((node.capacity.get(&ResourceName::Cpu), said), (3000, None));
        let (node, said) = filled("", "Standard_Nobody", "");
        assert_eq!((node.capacity.get(&ResourceName::Cpu), said), (0, None));
    }

    #[test]
    fn a_node_that_has_joined_counts_by_its_size_in_what_it_does_not_report_until_it_is_initialized() {
        let gpus = |initialized: &str| {
            let text = format!(
                "{{apiVersion: v1, kind: Node, metadata: {{name: aks-c1, labels: {{karpenter.sh/registered: 'true', \
                 node.kubernetes.io/instance-type: Standard_NC4as_T4_v3{initialized}}}}}, spec: {{providerID: 'azure:///c1'}}, \
                 status: {{capacity: {{cpu: '4', memory: 20Gi}}, allocatable: {{cpu: 3800m, memory: 20Gi}}, conditions: \
                 [{{type: Ready, status: 'True'}}]}}}}\n---\n{{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {{name: \
                 c1}}, spec: {{nodeClassRef: {{group: karpenter.azure.com, kind: AKSNodeClass, name: default}}, requirements: [], \
                 resources: {{requests: {{cpu: '1', nvidia.com/gpu: '1'}}}}}}, status: {{providerID: 'azure:///c1'}}}}\n"
            );
            let mut nodes = read(vec![Source::new("a.yaml", text)]).expect("is right").nodes;
            let mut policy = Policy::default();
            let class = ClassName::new("default");
            policy.classes.insert(class.clone(), default_class(class));
            let catalog = Catalog::embedded(&Region::new("eastus")).expect("is known");
            assert_eq!(
                fill(&mut nodes, &catalog, &policy, NetworkSetup::AzureOverlay { is_cilium: false }),
                None
            );
            let node = nodes.remove(0);
            let gpu = node.allocatable.get(&ResourceName::parse("nvidia.com/gpu"));
            let lacks: Vec<String> = node.claimed.lacks.iter().map(ToString::to_string).collect();
            (gpu, node.allocatable.get(&ResourceName::Cpu), lacks.join(", "))
        };
        assert_eq!(gpus(""), (1, 3800, "`nvidia.com/gpu` is not registered".to_owned()));
        let initialized = ", karpenter.sh/initialized: 'true'";
        assert_eq!(
            gpus(initialized),
            (0, 3800, String::new()),
            "what an initialized node has is what it says"
        );
    }
}
