//! Builders of pools and nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use nodeform::model::{
    Budget, BudgetNodes, CapacityType, ClaimName, Claimed, ClassName, Digest, Disruption, DisruptionReason,
    Effect, ExpireAfter, GpuMode, ImageFamily, LabelKey, Node, NodeClass, NodeName, NodeStage, Operator,
    Pool, PoolName, Quantity, Requirement, Requirements, ResourceName, Resources, Taint, label,
};

use super::sizes;

/// The class of all pools.
pub(crate) const CLASS: &str = "default";

/// An AKSNodeClass with the defaults of its CRD.
pub(crate) fn class() -> NodeClass {
    nodeform::policy::default_class(ClassName::new(CLASS))
}

/// A pool without any requirement, taint or limit, whose nodes may all go at once.
pub(crate) fn pool(name: &str) -> PoolBuilder {
    let everything = Budget { reasons: None, nodes: BudgetNodes::Percent(100), window: None };
    PoolBuilder(Pool {
        name: PoolName::new(name),
        weight: 0,
        class: ClassName::new(CLASS),
        labels: BTreeMap::new(),
        annotations: BTreeMap::new(),
        taints: Vec::new(),
        startup_taints: Vec::new(),
        requirements: Requirements::none(),
        limits: Resources::none(),
        nodes_max: None,
        replicas: None,
        disruption: Disruption { budgets: vec![everything], ..Disruption::default() },
        expire_after: ExpireAfter::Never,
        termination_grace_period: None,
        is_deleting: false,
    })
}

/// A pool to be.
#[derive(Clone, Debug)]
pub(crate) struct PoolBuilder(pub(crate) Pool);

impl PoolBuilder {
    pub(crate) fn weight(mut self, weight: u32) -> Self {
        self.0.weight = weight;
        self
    }

    pub(crate) fn requiring(mut self, key: &str, operator: Operator, values: &[&str]) -> Self {
        self.0.requirements.add(LabelKey::new(key), Requirement::new(operator, values));
        self
    }

    /// Asks that every node is a choice among so many values of a label.
    pub(crate) fn min_values(mut self, key: &str, least: u32) -> Self {
        let least = Requirement::any().with_min_values(Some(least));
        self.0.requirements.add(LabelKey::new(key), least);
        self
    }

    pub(crate) fn label(mut self, key: &str, value: &str) -> Self {
        self.0.labels.insert(LabelKey::new(key), Arc::from(value));
        self
    }

    pub(crate) fn taint(mut self, key: &str, effect: Effect) -> Self {
        self.0.taints.push(Taint::new(key, "", effect));
        self.0.taints.sort();
        self
    }

    pub(crate) fn limit(mut self, resource: &str, amount: &str) -> Self {
        let name = ResourceName::parse(resource);
        let amount = name.capacity(&Quantity::parse(amount).expect("tests write quantities"));
        self.0.limits.set(name, amount);
        self
    }

    pub(crate) fn nodes_max(mut self, most: u64) -> Self {
        self.0.nodes_max = Some(most);
        self
    }

    /// Asks for so many nodes, whatever pods need.
    pub(crate) fn replicas(mut self, nodes: u64) -> Self {
        self.0.replicas = Some(nodes);
        self
    }

    /// Its only budget.
    pub(crate) fn budget(mut self, nodes: BudgetNodes) -> Self {
        self.0.disruption.budgets = vec![Budget { reasons: None, nodes, window: None }];
        self
    }

    /// One more budget.
    pub(crate) fn budget_for(mut self, reason: DisruptionReason, nodes: BudgetNodes) -> Self {
        let reasons = Some([reason].into());
        self.0.disruption.budgets.push(Budget { reasons, nodes, window: None });
        self
    }

    pub(crate) fn never_consolidating(mut self) -> Self {
        self.0.disruption.consolidate_after = None;
        self
    }

    pub(crate) fn deleting(mut self) -> Self {
        self.0.is_deleting = true;
        self
    }

    pub(crate) fn build(self) -> Pool {
        self.0
    }
}

/// A node of pool `default` that carries pods: a `Standard_D4s_v5` on demand in zone 1.
pub(crate) fn node(name: &str) -> NodeBuilder {
    NodeBuilder {
        node: Node {
            name: NodeName::new(name),
            claim: Some(ClaimName::new(format!("claim-{name}"))),
            pool: Some(PoolName::new("default")),
            class: Some(ClassName::new(CLASS)),
            provider_id: Some(Arc::from(format!("azure:///vm/{name}"))),
            uid: None,
            claim_uid: None,
            stage: NodeStage::Initialized,
            labels: BTreeMap::new(),
            taints: Vec::new(),
            capacity: Resources::none(),
            allocatable: Resources::none(),
            is_unschedulable: false,
            is_do_not_disrupt: false,
            kept_because: None,
            is_deleting: false,
            created: None,
            quiet_since: None,
            is_consolidatable: false,
            claimed: Claimed::default(),
            troubles: Vec::new(),
        },
        size: "Standard_D4s_v5".to_owned(),
        zone: "1".to_owned(),
        capacity_type: CapacityType::OnDemand,
    }
}

/// A node to be.
#[derive(Clone, Debug)]
pub(crate) struct NodeBuilder {
    node: Node,
    size: String,
    zone: String,
    capacity_type: CapacityType,
}

impl NodeBuilder {
    pub(crate) fn of_pool(mut self, pool: &str) -> Self {
        self.node.pool = Some(PoolName::new(pool));
        self
    }

    /// Karpenter does not manage it.
    pub(crate) fn foreign(mut self) -> Self {
        (self.node.pool, self.node.claim, self.node.class) = (None, None, None);
        self
    }

    pub(crate) fn labelled(mut self, key: &str, value: &str) -> Self {
        self.node.labels.insert(LabelKey::new(key), Arc::from(value));
        self
    }

    pub(crate) fn size(mut self, size: &str) -> Self {
        size.clone_into(&mut self.size);
        self
    }

    pub(crate) fn zone(mut self, short: &str) -> Self {
        short.clone_into(&mut self.zone);
        self
    }

    pub(crate) fn spot(mut self) -> Self {
        self.capacity_type = CapacityType::Spot;
        self
    }

    /// A claim without a node yet.
    pub(crate) fn stage(mut self, stage: NodeStage) -> Self {
        self.node.stage = stage;
        self
    }

    pub(crate) fn taint(mut self, key: &str) -> Self {
        self.node.taints.push(Taint::new(key, "", Effect::NoSchedule));
        self
    }

    pub(crate) fn cordoned(mut self) -> Self {
        self.node.is_unschedulable = true;
        self
    }

    pub(crate) fn deleting(mut self) -> Self {
        self.node.is_deleting = true;
        self
    }

    pub(crate) fn do_not_disrupt(mut self) -> Self {
        self.node.is_do_not_disrupt = true;
        self
    }

    /// Returns the node with the labels and the room of its size.
    pub(crate) fn build(self) -> Node {
        let Self { mut node, size, zone, capacity_type } = self;
        let size = sizes::instance_type_named(&size);
        let zone = sizes::zone(&zone);
        let chosen = [
            (label::ZONE, zone.as_str()),
            (label::CAPACITY_TYPE, capacity_type.as_str()),
            (label::PLACEMENT_SCOPE, if zone == "0" { "regional" } else { "zonal" }),
        ];
        for (key, requirement) in size.requirements.iter() {
            if let Some(value) = requirement.single() {
                node.labels.insert(key.clone(), Arc::clone(value));
            }
        }
        for (key, value) in chosen {
            node.labels.insert(LabelKey::new(key), Arc::from(value));
        }
        if node.stage != NodeStage::Launching {
            node.labels.insert(LabelKey::new(label::HOSTNAME), Arc::from(node.name.as_str()));
        }
        if let Some(pool) = &node.pool {
            node.labels.insert(LabelKey::new(label::NODE_POOL), Arc::from(pool.as_str()));
        }
        (node.capacity, node.allocatable) = (size.capacity, size.allocatable);
        node
    }
}
