//! Solutions that are written by hand, so that the judge is tried on plans that nothing of the solver made.

use std::collections::BTreeMap;

use nodeform::model::{
    CapacityType, DisruptionReason, MicroUsdPerHour, OsDisk, PodKey, PoolName, Price, Resources, Zone,
};
use nodeform::plan::{Plan, plan};
use nodeform::solve::price::{PriceBook, Quote, quote_nodes, sum};
use nodeform::solve::{Cost, Held, Kept, Market, NewNode, Removal, Solution, Unplaced, Variety};

use super::build::World;
use super::judged::assert_right;
use super::sizes;

/// A world with what is to be done in it.
pub(crate) struct ByHand {
    world: World,
    solution: Solution,
}

/// Starts with nothing to be done.
pub(crate) fn by_hand(world: World) -> ByHand {
    ByHand { world, solution: Solution::default() }
}

/// The keys of pods of the namespace `default`.
pub(crate) fn keys(names: &[&str]) -> Vec<PodKey> {
    let mut keys: Vec<PodKey> = names.iter().map(|name| PodKey::new("default", name)).collect();
    keys.sort();
    keys
}

impl ByHand {
    /// Makes a node of this pool, size and zone, created for the first of its pods. All daemonsets of the
    /// world come to it.
    pub(crate) fn making(mut self, pool: &str, choice: (&str, &str, CapacityType), pods: &[&str]) -> Self {
        let (size, zone, capacity_type) = choice;
        let size = sizes::instance_type_named(size);
        let zone = Zone::new(sizes::zone(zone));
        let offering = size
            .offerings
            .iter()
            .find(|offering| offering.zone == zone && offering.capacity_type == capacity_type)
            .expect("tests name known offerings");
        let mut daemon_requests = Resources::none();
        for daemon in &self.world.snapshot.daemons {
            daemon_requests.add(&daemon.spec.requests);
        }
        let mut requests = daemon_requests.clone();
        for key in keys(pods) {
            let pod = self.world.snapshot.pods.iter().find(|pod| pod.key == key);
            requests.add(&pod.expect("tests name known pods").spec.requests);
        }
        let disk = match &size.os_disk {
            OsDisk::Ephemeral => Price::Listed(MicroUsdPerHour(0)),
            OsDisk::Managed(price) => *price,
        };
        let list_price = offering.price.plus(disk);
        let beside = Price::Listed(self.world.policy.fleet.prices.cost_per_node);
        self.solution.target.new.push(NewNode {
            pool: PoolName::new(pool),
            size: size.name.clone(),
            zone: zone.clone(),
            capacity_type,
            list_price,
            effective_price: list_price.plus(beside),
            premium: MicroUsdPerHour::default(),
            requests,
            daemon_requests,
            allocatable: size.allocatable.clone(),
            capacity: size.capacity.clone(),
            labels: BTreeMap::new(),
            opened_for: Some(PodKey::new("default", pods[0])),
            pods: keys(pods),
            substitutes: Vec::new(),
            variety: Variety::default(),
            is_estimate: false,
        });
        self
    }

    /// Places pods on an existing node.
    pub(crate) fn keeping(mut self, node: &str, pods: &[&str]) -> Self {
        self.solution.target.kept.push(Kept { node: node.into(), pods: keys(pods) });
        self
    }

    /// Removes an empty node.
    pub(crate) fn removing(mut self, node: &str) -> Self {
        self.solution.target.removed.push(Removal {
            node: node.into(),
            reason: DisruptionReason::Empty,
            what: None,
        });
        self
    }

    /// Removes a node for what that saves.
    pub(crate) fn moving_off(mut self, node: &str) -> Self {
        let reason = DisruptionReason::Underutilized;
        self.solution.target.removed.push(Removal { node: node.into(), reason, what: None });
        self
    }

    /// Removes a node for what it is.
    pub(crate) fn moving_off_due(mut self, node: &str, reason: DisruptionReason) -> Self {
        let what = Some("it says so".into());
        self.solution.target.removed.push(Removal { node: node.into(), reason, what });
        self
    }

    /// Says that pods fit nowhere.
    pub(crate) fn leaving(mut self, pods: &[&str]) -> Self {
        self.solution.report.unplaced.push(Unplaced {
            pods: keys(pods),
            rule: "cpu".to_owned(),
            because: "too large".to_owned(),
            nearest: None,
            details: Vec::new(),
        });
        self
    }

    /// Says that pods are held back.
    pub(crate) fn holding(mut self, pods: &[&str]) -> Self {
        let (waits_for, because) = ("its gates".to_owned(), "they are closed".to_owned());
        self.solution.report.held.push(Held { pods: keys(pods), waits_for, because });
        self
    }

    /// Changes the new nodes.
    pub(crate) fn change(&mut self, change: impl FnMut(&mut NewNode)) {
        self.solution.target.new.iter_mut().for_each(change);
    }

    /// Returns the plan, which the judge has nothing against.
    pub(crate) fn planned(self) -> (World, Plan) {
        let (world, plan) = self.unjudged();
        assert_right(&world, &plan);
        (world, plan)
    }

    /// Returns the plan as it is.
    pub(crate) fn unjudged(self) -> (World, Plan) {
        let Self { world, mut solution } = self;
        let (before, after) = costs(&world, &solution);
        (solution.report.cost_before, solution.report.cost_after) = (before, after);
        let plan = plan(&world.snapshot, &world.policy, &solution);
        (world, plan)
    }
}

/// What the fleet costs before and after. New nodes use no commitments.
fn costs(world: &World, solution: &Solution) -> (Cost, Cost) {
    let World { snapshot, policy } = world;
    let (market, book) = (Market::of(snapshot, policy), PriceBook::new(&policy.fleet.prices));
    let is_removed = |node: &nodeform::model::Node| {
        solution.target.removed.iter().any(|removal| removal.node == node.name) || node.is_deleting
    };
    let (today, unused) = quote_nodes(&snapshot.nodes, &market, &book);
    let before = sum(today, &unused, &book);
    let staying = snapshot.nodes.iter().filter(|node| !is_removed(node));
    let (staying, unused) = quote_nodes(staying, &market, &book);
    let new = solution.target.new.iter();
    let new = new.map(|node| Some(Quote { list: node.list_price, effective: node.effective_price }));
    (before, sum(staying.into_iter().chain(new), &unused, &book))
}
