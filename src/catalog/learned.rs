//! Limits instance types to the resources that their nodes actually had. Never increases what a size offers.

use crate::model::{ClassName, InstanceType, LearnedSize, ResourceName};

/// Lowers the allocatable of a class's types to that of nodes with the same pod capacity.
pub(super) fn lower(types: &mut [InstanceType], class: &ClassName, learned: &[LearnedSize]) {
    for size in learned.iter().filter(|size| size.class == *class) {
        let is_it = |kind: &&mut InstanceType| {
            kind.name == size.size && kind.capacity.get(&ResourceName::Pods) == size.max_pods
        };
        for kind in types.iter_mut().filter(is_it) {
            for (name, least) in size.allocatable.iter() {
                if kind.allocatable.get(name) > least {
                    kind.allocatable.set(name.clone(), least);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;
    use crate::model::{ClassName, LearnedSize, NetworkSetup, Region, ResourceName, Resources, SkuName};
    use crate::policy::default_class;

    #[test]
    fn a_size_offers_no_more_than_its_nodes_did_and_never_more_than_was_computed() {
        let catalog = Catalog::embedded(&Region::new("westeurope")).expect("is known");
        let class = default_class(ClassName::new("default"));
        let size = SkuName::new("Standard_D2s_v5");
        let network = NetworkSetup::AzureOverlay { is_cilium: false };
        let of = |catalog: &Catalog| {
            let offered = catalog.offered(&class, network);
            let kind = offered.types.iter().find(|kind| kind.name == size).expect("is sold").clone();
            (
                kind.allocatable.get(&ResourceName::Memory),
                kind.allocatable.get(&ResourceName::Cpu),
                kind.capacity,
            )
        };
        let (memory, cpu, capacity) = of(&catalog);
        let learned = |max_pods| LearnedSize {
            class: class.name.clone(),
            size: size.clone(),
            max_pods,
            allocatable: Resources::none()
                .with(ResourceName::Memory, memory - 1000)
                .with(ResourceName::Cpu, cpu + 1000),
        };
        let max_pods = capacity.get(&ResourceName::Pods);
        let lowered = catalog.clone().with_learned(vec![learned(max_pods)]);
        assert_eq!((of(&lowered).0, of(&lowered).1), (memory - 1000, cpu));
        let of_others = catalog.with_learned(vec![learned(max_pods + 1)]);
        assert_eq!(of(&of_others).0, memory, "another kubelet leaves another amount");
    }
}
