//! Totals: the fleet's cost before and after is summed again from nodes, catalogue and the user's prices.

use std::collections::BTreeMap;

use super::case::Case;
use super::finding::{Finding, Rule};
use super::made::Made;
use super::price::{add, discounted, disk_price, effective_price, show_rate, with_costs};
use crate::model::{CapacityType, ClassName, InstanceType, MicroUsdPerHour, Node, Price, SkuName, label};

/// Hourly cost of nodes.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    list: MicroUsdPerHour,
    effective: MicroUsdPerHour,
    /// Number of nodes that are in neither sum.
    unpriced: usize,
    is_estimate: bool,
}

/// Number of unused committed VMs, by size and price.
type Unused<'a> = BTreeMap<(&'a SkuName, MicroUsdPerHour), u64>;

/// Returns the faults of the sums in the plan's head.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let report = &case.plan.evidence.report;
    let before = {
        let (total, unused) = standing(case, case.snapshot.nodes_today(), |_| true);
        total.with_unused(&unused)
    };
    let (after, doubtful) = after(case);
    let said = [report.cost_before, report.cost_after].map(|cost| Total {
        list: cost.list,
        effective: cost.effective,
        unpriced: cost.unpriced_nodes,
        is_estimate: cost.is_estimate,
    });
    let nothing = MicroUsdPerHour::default();
    let [said_before, said_after] = said;
    let mut faults = differences("before", said_before, before, nothing);
    faults.extend(differences("after", said_after, after, doubtful));
    faults.extend(slack(case).filter(|_| case.plan.spec.targets.is_empty()));
    faults.into_iter().map(|why| Finding::new(Rule::Price, "plan", why)).collect()
}

/// Checks the stated cost of capacity that is kept for the scheduler's choices.
fn slack(case: &Case<'_>) -> Option<String> {
    let report = &case.plan.evidence.report;
    let (pods, cost) = report.slack.map(|slack| (slack.pods, slack.cost))?;
    let is_part = cost.0 > 0 && cost <= report.cost_after.effective;
    (pods == 0 || !is_part).then(|| {
        format!(
            "says that room for {pods} pods which the scheduler might leave over costs {}",
            show_rate(cost)
        )
    })
}

/// Compares the sums. `doubtful` is how far the effective sum may be above the right one.
fn differences(when: &str, said: Total, right: Total, doubtful: MicroUsdPerHour) -> Vec<String> {
    let mut faults = Vec::new();
    let mut object = |what: &str, said: String, right: String| {
        faults.push(format!("says that nodes {when} it {what} {said}, it is {right}"));
    };
    if said.list != right.list {
        object("cost by the list", show_rate(said.list), show_rate(right.list));
    }
    if said.effective < right.effective || said.effective > right.effective + doubtful {
        object("cost the user", show_rate(said.effective), show_rate(right.effective));
    }
    if said.unpriced != right.unpriced {
        object("of unknown price number", said.unpriced.to_string(), right.unpriced.to_string());
    }
    if said.is_estimate != right.is_estimate {
        let word = |is_estimate| if is_estimate { "an estimate" } else { "no estimate" }.to_owned();
        object("cost what is", word(said.is_estimate), word(right.is_estimate));
    }
    faults
}

impl Total {
    /// Adds a node. A node without a known price is never added as 0; a committed one without a list price is added to
    /// the list sum with its effective price.
    fn count(&mut self, list: Price, effective: Price) {
        let Some(amount) = effective.known() else {
            self.unpriced += 1;
            return;
        };
        self.list += list.known().unwrap_or(amount);
        self.effective += amount;
        self.is_estimate |= list.is_estimate() || effective.is_estimate();
    }

    /// Adds unused commitments, which are paid anyway.
    fn with_unused(mut self, unused: &Unused<'_>) -> Self {
        for ((_, price), count) in unused {
            self.effective += price.times(usize::try_from(*count).unwrap_or(usize::MAX));
        }
        self
    }
}

/// Returns the cost of the final fleet, and by how much the sum may be higher: a new node that costs the same with and
/// without a commitment may or may not use one.
fn after(case: &Case<'_>) -> (Total, MicroUsdPerHour) {
    let nodes = case.nodes.values().copied();
    let (mut total, mut unused) = standing(case, nodes, |node| case.stays(node));
    let mut doubtful = MicroUsdPerHour::default();
    for made in &case.made {
        let (list, effective) = (made.placement.list_price, made.placement.effective_price);
        total.count(list, effective);
        if let Some((price, is_certain)) = commitment_of(case, made)
            && let Some(left) = unused.get_mut(&(made.size, price)).filter(|left| **left > 0)
        {
            *left -= 1;
            if !is_certain {
                doubtful += price;
            }
        }
    }
    (total.with_unused(&unused), doubtful)
}

/// Returns the price of the commitment that pays for a new node, according to the node's stated price, and whether that
/// is certain.
fn commitment_of(case: &Case<'_>, made: &Made<'_>) -> Option<(MicroUsdPerHour, bool)> {
    let (_, size, offering) = case.bought(made)?;
    if offering.capacity_type != CapacityType::OnDemand {
        return None;
    }
    let said = made.placement.effective_price;
    let is_certain = effective_price(case, size, offering) != said;
    let mut commitments = case.policy.fleet.prices.commitments.iter();
    let paying = commitments.find(|commitment| {
        let price = with_costs(case, Price::Listed(commitment.price), disk_price(size));
        commitment.size == *made.size && price == said
    });
    paying.map(|commitment| (commitment.price, is_certain))
}

/// Returns the cost of existing nodes, and the commitments that they leave. Nodes use them in the order of their names,
/// the cheapest commitment first.
fn standing<'a>(
    case: &Case<'a>,
    nodes: impl Iterator<Item = &'a Node>,
    is_counted: impl Fn(&Node) -> bool,
) -> (Total, Unused<'a>) {
    let mut unused = Unused::new();
    for commitment in &case.policy.fleet.prices.commitments {
        *unused.entry((&commitment.size, commitment.price)).or_default() += u64::from(commitment.count);
    }
    let mut total = Total::default();
    for node in nodes.filter(|node| is_counted(node)) {
        let Some((size, capacity_type)) = bought_as(node) else {
            total.count(Price::Unknown, Price::Unknown);
            continue;
        };
        let cheapest = unused.iter_mut().find(|((committed, _), left)| **committed == size && **left > 0);
        let committed =
            cheapest.filter(|_| capacity_type == CapacityType::OnDemand).map(|((_, price), left)| {
                *left -= 1;
                *price
            });
        let (list, effective) = prices(case, node, (&size, capacity_type), committed);
        total.count(list, effective);
    }
    (total, unused)
}

/// Returns the list and effective price of an existing node.
fn prices(
    case: &Case<'_>,
    node: &Node,
    (name, capacity_type): (&SkuName, CapacityType),
    committed: Option<MicroUsdPerHour>,
) -> (Price, Price) {
    let size = find(case, name, node);
    let zone = node.labels.get(label::ZONE).map(|zone| &**zone);
    let alike = || {
        let offerings = size.into_iter().flat_map(|size| &size.offerings);
        offerings.filter(|offering| offering.capacity_type == capacity_type)
    };
    let here = alike().find(|offering| Some(offering.zone.as_str()) == zone);
    let offering = here.or_else(|| alike().next());
    let vm =
        offering.map_or_else(|| case.snapshot.catalog.price(name, capacity_type), |offering| offering.price);
    let disk = disk(case, node, name);
    let paid = match (committed, size) {
        (Some(price), _) => Price::Listed(price),
        (None, Some(size)) if capacity_type == CapacityType::OnDemand => {
            vm.map(|amount| discounted(case, size, amount))
        }
        (None, _) => vm,
    };
    (add(vm, disk), with_costs(case, paid, disk))
}

/// Returns the price of the node's OS disk: that of its class, or else the catalogue's assumption.
fn disk(case: &Case<'_>, node: &Node, name: &SkuName) -> Price {
    let mut own = used_classes(case).filter(|class| node.class.as_ref() == Some(*class));
    let size = own.find_map(|class| case.offered[class].types.iter().find(|size| size.name == *name));
    size.map_or_else(|| case.snapshot.catalog.assumed_os_disk(name), disk_price)
}

/// Returns the classes that a pool or node uses, by name.
fn used_classes<'c>(case: &'c Case<'_>) -> impl Iterator<Item = &'c ClassName> {
    let is_used = |name: &&&ClassName| {
        case.policy.pools.values().any(|pool| pool.class == ***name)
            || case.snapshot.nodes_today().any(|node| node.class.as_ref() == Some(**name))
    };
    case.offered.keys().filter(is_used).copied()
}

/// Returns the size as offered to the node's pool and class, or else to the first class that has it.
fn find<'c>(case: &'c Case<'_>, name: &SkuName, node: &Node) -> Option<&'c InstanceType> {
    let own = case.offered_to_node(node).into_iter();
    let mut types =
        own.chain(used_classes(case).map(|class| &*case.offered[class])).flat_map(|offered| &offered.types);
    types.find(|size| size.name == *name)
}

/// Returns the size and capacity type of an existing node, by its labels.
fn bought_as(node: &Node) -> Option<(SkuName, CapacityType)> {
    let value = |key: &str| node.labels.get(key).map(|value| &**value);
    let capacity_type = match (value(label::CAPACITY_TYPE), value(label::AKS_SCALE_SET_PRIORITY)) {
        (Some(text), _) => CapacityType::parse(text)?,
        (None, Some("spot")) => CapacityType::Spot,
        (None, _) => CapacityType::OnDemand,
    };
    Some((value(label::INSTANCE_TYPE)?.into(), capacity_type))
}
