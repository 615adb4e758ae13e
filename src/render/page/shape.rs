//! Short description of a node: pool, size, zone, capacity and price.

use crate::catalog::NO_ZONE;
use crate::model::{NodeName, ResourceName, Resources, label};
use crate::render::money;
use crate::render::view::{Group, NewNodeView, PlanView};
use crate::render::words::count;

/// Bytes per MiB.
const MIB: i64 = 1 << 20;

/// Describes an existing node, starting with its name.
pub(crate) fn existing(view: &PlanView<'_>, name: &NodeName) -> String {
    let Some(node) = view.node(name) else {
        return format!("node `{name}`");
    };
    let value = |key: &str| node.labels.get(key).map(ToString::to_string);
    let pool = node.pool.as_ref().map(|pool| format!("pool `{pool}`"));
    let known: Vec<String> = [
        pool,
        value(label::INSTANCE_TYPE),
        value(label::ZONE).map(|zone| zone_name(&zone)),
        value(label::CAPACITY_TYPE),
    ]
    .into_iter()
    .flatten()
    .collect();
    if known.is_empty() { format!("node `{name}`") } else { format!("node `{name}` ({})", known.join(", ")) }
}

/// Returns the display name of a zone; Azure's placement without a zone is shown as none.
pub(crate) fn zone_name(zone: &str) -> String {
    if zone == NO_ZONE { "no zone".to_owned() } else { zone.to_owned() }
}

/// Describes the total capacity of a group's nodes in Azure's terms.
pub(crate) fn size_of_group(view: &PlanView<'_>, group: &Group<'_>) -> String {
    let memory = group.nodes.iter().map(|node| memory(view, node)).sum();
    capacity(&group.capacity.clone().with(ResourceName::Memory, memory))
}

/// Describes a node's capacity in Azure's terms.
pub(crate) fn size_of(view: &PlanView<'_>, node: &NewNodeView<'_>) -> String {
    capacity(&node.shape.capacity.clone().with(ResourceName::Memory, memory(view, node)))
}

/// Returns the memory of the size: the node itself reports less, because the host reserves some.
fn memory(view: &PlanView<'_>, node: &NewNodeView<'_>) -> i64 {
    let sizes = view.plan.evidence.world.sizes.values().flatten();
    let mut kinds = sizes.filter(|kind| kind.name == node.claim.primary.size);
    let of_size = kinds.find_map(|kind| kind.requirements.get(label::SKU_MEMORY)?.single().cloned());
    let stated = of_size.and_then(|mib| mib.parse::<i64>().ok()).and_then(|mib| mib.checked_mul(MIB));
    stated.unwrap_or_else(|| node.shape.capacity.get(&ResourceName::Memory))
}

/// Formats capacity: vCPU, memory, and devices if any.
pub(crate) fn capacity(capacity: &Resources) -> String {
    let mut parts = vec![
        format!("{} vCPU", ResourceName::Cpu.show(capacity.get(&ResourceName::Cpu))),
        bytes(capacity.get(&ResourceName::Memory)),
    ];
    for (name, amount) in capacity.iter().filter(|(_, amount)| *amount > 0) {
        match name {
            ResourceName::Other(device) => parts.push(format!("{} {device}", name.show(amount))),
            ResourceName::Cpu
            | ResourceName::Memory
            | ResourceName::EphemeralStorage
            | ResourceName::Pods => {}
        }
    }
    parts.join(", ")
}

/// Formats bytes like Azure: `16 GiB`.
pub(crate) fn bytes(bytes: i64) -> String {
    let text = ResourceName::Memory.show(bytes);
    let number = text.trim_end_matches(char::is_alphabetic);
    let unit = &text[number.len()..];
    // Azure has no larger unit of memory.
    match unit.strip_suffix("Ti").is_some() && bytes % (1 << 30) == 0 {
        true => format!("{} GiB", crate::render::words::grouped((bytes >> 30).unsigned_abs())),
        false if unit.is_empty() => text,
        false => format!("{number} {unit}B"),
    }
}

/// Formats the price of a group.
pub(crate) fn group_price(group: &Group<'_>) -> String {
    let sum = money::per_month(group.price, money::Sureness::of(group.is_estimate));
    match group.unpriced {
        0 => sum,
        unpriced if unpriced == group.nodes.len() => "price not known".to_owned(),
        unpriced => format!("{sum} without {} of unknown price", count(unpriced, "node")),
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes, capacity};
    use crate::model::{ResourceName, Resources};

    #[test]
    fn huge_pages_are_shown_in_bytes() {
        let resources = Resources::none().with(ResourceName::parse("hugepages-2Mi"), 4 << 20);
        assert_eq!(capacity(&resources), "0 vCPU, 0, 4Mi hugepages-2Mi");
    }

    #[test]
    fn memory_is_said_as_azure_says_it() {
        let sizes = [16 << 30, 3 << 29, 512 << 20, 2 << 40, 3 << 39];
        assert_eq!(sizes.map(bytes).join(", "), "16 GiB, 1.5 GiB, 512 MiB, 2,048 GiB, 1,536 GiB");
    }
}
