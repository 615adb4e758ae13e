//! A node in azurerm's description of a VM: its address, and its known attributes.
//!
//! Attributes that are not known yet are omitted, never guessed. This file does not handle changes.

use serde_json::{Map, Value, json};

use crate::catalog::NO_ZONE;
use crate::model::{CapacityType, Node, OsDisk, PoolName, label};
use crate::plan::World;
use crate::plan::comparison::NodeKind;
use crate::render::view::NewNodeView;

/// The type of the resources.
pub(super) const TYPE: &str = "azurerm_linux_virtual_machine";

/// Registry address of the provider.
pub(super) const PROVIDER: &str = "registry.terraform.io/hashicorp/azurerm";

/// Attributes that are unknown before a VM exists.
const UNKNOWN: [&str; 6] = [
    "admin_username",
    "custom_data",
    "id",
    "network_interface_ids",
    "resource_group_name",
    "source_image_id",
];

/// Returns the name of a pool's resource. Terraform names have no dots and do not start with a digit; pool names have
/// no underscores, so distinct names stay distinct.
pub(super) fn local_name(pool: Option<&PoolName>) -> String {
    let Some(pool) = pool else { return "_".to_owned() };
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    let name: String = pool.as_str().chars().map(plain).collect();
    if name.starts_with(|letter: char| letter.is_ascii_alphabetic()) { name } else { format!("_{name}") }
}

pub(super) fn address_of_pool(pool: Option<&PoolName>) -> String {
    format!("{TYPE}.{}", local_name(pool))
}

/// Returns the address of one node, its name quoted like in Terraform.
pub(super) fn address(pool: Option<&PoolName>, name: &str) -> String {
    let quoted = json!(name).to_string().replace("${", "$${").replace("%{", "%%{");
    format!("{}[{quoted}]", address_of_pool(pool))
}

/// Returns the attributes of a new node.
pub(super) fn new(node: &NewNodeView<'_>, world: &World) -> Map<String, Value> {
    let primary = &node.claim.primary;
    let mut values = common(&node.create.vm, Some(&node.claim.pool), world);
    values.extend(bought(primary.capacity_type));
    values.insert("size".to_owned(), json!(primary.size.as_str()));
    values.insert("zone".to_owned(), zone(primary.zone.as_str()));
    let class = world.classes.iter().find(|class| class.name == node.claim.class);
    let mut sizes = world.sizes.get(&node.claim.class).into_iter().flatten();
    let disk = sizes.find(|kind| kind.name == primary.size).map(|kind| &kind.os_disk);
    if let Some(class) = class {
        values.insert("encryption_at_host_enabled".to_owned(), json!(class.encryption_at_host));
        values.insert("os_disk".to_owned(), json!([os_disk(class.os_disk_gb, disk)]));
        tag(&mut values, class.tags.iter().map(|(key, value)| (&**key, &**value)));
    }
    values
}

/// Returns the unknown attributes of a new node.
pub(super) fn unknown() -> Map<String, Value> {
    UNKNOWN.iter().map(|name| ((*name).to_owned(), Value::Bool(true))).collect()
}

/// Returns the attributes of a node that must not be shown.
pub(super) fn sensitive() -> Value {
    json!({"custom_data": true})
}

/// Returns the attributes of an existing node, as far as its labels contain them.
pub(super) fn existing(node: &Node, world: &World) -> Map<String, Value> {
    let value = |key: &str| node.labels.get(key).map(|value| &**value);
    let mut values = common(node.name.as_str(), node.pool.as_ref(), world);
    if let Some(id) = &node.provider_id {
        values.insert("id".to_owned(), json!(id.strip_prefix("azure://").unwrap_or(id)));
    }
    if let Some(size) = value(label::INSTANCE_TYPE) {
        values.insert("size".to_owned(), json!(size));
    }
    if let Some(found) = value(label::ZONE) {
        values.insert("zone".to_owned(), zone(found));
    }
    if let Some(kind) = value(label::CAPACITY_TYPE).and_then(CapacityType::parse) {
        values.extend(bought(kind));
    }
    values
}

/// Returns the attributes of a node of which only the kind is known.
pub(super) fn of_kind(name: &str, kind: &NodeKind, world: &World) -> Map<String, Value> {
    let NodeKind { pool, size, zone: in_zone, capacity_type } = kind;
    let mut values = common(name, pool.as_ref(), world);
    values.extend(size.iter().map(|size| ("size".to_owned(), json!(size.as_str()))));
    values.extend(in_zone.iter().map(|found| ("zone".to_owned(), zone(found.as_str()))));
    values.extend(capacity_type.iter().flat_map(|kind| bought(*kind)));
    values
}

fn common(name: &str, pool: Option<&PoolName>, world: &World) -> Map<String, Value> {
    let mut values = Map::new();
    values.insert("name".to_owned(), json!(name));
    values.insert("location".to_owned(), json!(world.region.as_str()));
    let defaults = [
        ("karpenter.azure.com_cluster", world.fleet.cluster.as_deref()),
        ("karpenter.sh_nodepool", pool.map(PoolName::as_str)),
        ("compute.aks.billing", Some("linux")),
    ];
    // Only Karpenter's nodes have these.
    if pool.is_some() {
        tag(&mut values, defaults.into_iter().filter_map(|(key, value)| Some((key, value?))));
    }
    values
}

/// Adds tags that are not set yet, with keys in Azure's form.
fn tag<'a>(values: &mut Map<String, Value>, tags: impl Iterator<Item = (&'a str, &'a str)>) {
    let there = values.entry("tags").or_insert_with(|| json!({}));
    for (key, value) in tags {
        let key = key.replace('/', "_");
        if there.get(&key).is_none() {
            there[key] = json!(value);
        }
    }
}

fn bought(kind: CapacityType) -> Map<String, Value> {
    let (priority, eviction, bid) = match kind {
        CapacityType::Spot => ("Spot", json!("Delete"), json!(-1)),
        CapacityType::OnDemand | CapacityType::Reserved => ("Regular", Value::Null, Value::Null),
    };
    let values = [("priority", json!(priority)), ("eviction_policy", eviction), ("max_bid_price", bid)];
    values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Returns a zone as in azurerm: a number within the region, or null.
fn zone(zone: &str) -> Value {
    if zone == NO_ZONE { Value::Null } else { json!(zone.rsplit('-').next().unwrap_or(zone)) }
}

fn os_disk(size_gb: u32, disk: Option<&OsDisk>) -> Value {
    let local = json!([{"option": "Local"}]);
    match disk {
        Some(OsDisk::Ephemeral) => {
            json!({"caching": "ReadOnly", "diff_disk_settings": local, "disk_size_gb": size_gb})
        }
        Some(OsDisk::Managed(_)) => json!({"diff_disk_settings": [], "disk_size_gb": size_gb}),
        None => json!({"disk_size_gb": size_gb}),
    }
}
