//! All fields of a new node, whatever fields there are: the page shows everything that is sent and compared.
//!
//! Must never leave out a field because it is unknown here.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::model::{Resources, Taint};
use crate::plan::execution::{DiskPlacement, Execution, LaunchChoice, Machine, MachineId};
use crate::plan::{ChangeId, ClaimSpec, ClaimSpecId, Create};
use crate::render::escape::code_whole;

/// Fields of a claim that its items show.
const SAID_OF_CLAIM: [&str; 7] =
    ["pool", "primary", "priceMax", "class", "labels", "taints", "startupTaints"];

/// Fields of a machine that its items show.
const SAID_OF_MACHINE: [&str; 4] = ["image", "osDisk", "network", "identities"];

/// Fields of a network interface that its machine's items show.
const SAID_OF_NETWORK: [&str; 2] = ["subnet", "securityGroup"];

/// Returns an item for each aspect of a claim that reviewers check: image, disk, network, identities, taints and
/// labels.
pub(super) fn claim(claim: &ClaimSpec, id: &ClaimSpecId, execution: Option<&Execution>) -> Vec<String> {
    let machines = machines(id, execution);
    let mut items: Vec<String> = machine_facts(&machines);
    let taints = |taints: &[Taint]| match taints {
        [] => "none".to_owned(),
        taints => taints.iter().map(|taint| code_whole(&taint.to_string())).collect::<Vec<_>>().join(", "),
    };
    let startup = match claim.startup_taints.as_slice() {
        [] => String::new(),
        startup => format!("; startup taints: {}", taints(startup)),
    };
    items.push(format!("Taints: {}{startup}", taints(&claim.taints)));
    let labels: Vec<String> =
        claim.labels.iter().map(|(key, value)| code_whole(&format!("{key}={value}"))).collect();
    items.push(format!("Labels: {}", if labels.is_empty() { "none".to_owned() } else { labels.join(", ") }));
    items
}

/// Formats one aspect of a VM.
type Said = fn(&Machine) -> String;

/// Lists the facts of the VMs once each, with their sizes if sizes differ.
fn machine_facts(machines: &[(String, Option<&Machine>)]) -> Vec<String> {
    let said: [(&str, Said); 4] = [
        ("Image", |machine| code_whole(&machine.image)),
        ("OS disk", |machine| {
            format!("{} GB, {}", machine.os_disk.size_gb, placement(machine.os_disk.placement))
        }),
        ("Subnet", |Machine { network, .. }| {
            let group = network.security_group.as_deref().map_or("that of the subnet".to_owned(), code_whole);
            format!("{}, security group: {group}", code_whole(&network.subnet))
        }),
        ("Identities", |machine| {
            let identities: Vec<String> =
                machine.identities.iter().map(|identity| code_whole(identity)).collect();
            if identities.is_empty() { "none".to_owned() } else { identities.join(", ") }
        }),
    ];
    let facts = said.into_iter().filter(|_| !machines.is_empty()).map(|(what, of)| {
        let mut values: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (sizes, machine) in machines {
            values.entry(machine.map_or("not known".to_owned(), of)).or_default().push(sizes);
        }
        let is_one = values.len() == 1;
        let value = |(value, sizes): (String, Vec<&str>)| match is_one {
            true => value,
            false => format!("{value} (for {})", sizes.join(", ")),
        };
        format!("{what}: {}", values.into_iter().map(value).collect::<Vec<_>>().join("; "))
    });
    facts.collect()
}

const fn placement(placement: DiskPlacement) -> &'static str {
    match placement {
        DiskPlacement::Managed => "a managed disk",
        DiskPlacement::CacheDisk => "on the host (cache disk)",
        DiskPlacement::ResourceDisk => "on the host (temporary disk)",
        DiskPlacement::NvmeDisk => "on the host (NVMe disk)",
    }
}

/// Returns every other field of a claim and of its machines, in one item.
pub(super) fn settings(claim: &ClaimSpec, id: &ClaimSpecId, execution: Option<&Execution>) -> String {
    let mut said = vec![format!("Pool {}, {}", code_whole(claim.pool.as_str()), inline_code(&claim.primary))];
    said.extend(fields(claim, &SAID_OF_CLAIM));
    if let Some(launch) = execution.and_then(|execution| execution.launches.get(id)) {
        said.push(format!("capacity {}", amounts(&launch.capacity)));
        said.extend(fields(launch, &["choices", "capacity"]));
    }
    said.extend(machine_settings(&machines(id, execution)));
    said.join("; ")
}

/// Lists the other fields of VMs once each, with their sizes if sizes differ.
fn machine_settings(machines: &[(String, Option<&Machine>)]) -> Vec<String> {
    let known: Vec<(&str, &Machine)> =
        machines.iter().filter_map(|(sizes, machine)| Some((sizes.as_str(), (*machine)?))).collect();
    let mut said: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (sizes, machine) in &known {
        let own =
            fields(machine, &SAID_OF_MACHINE).into_iter().chain(fields(&machine.network, &SAID_OF_NETWORK));
        own.for_each(|field| said.entry(field).or_default().push(sizes));
    }
    let of = |(field, sizes): (String, Vec<&str>)| match sizes.len() == known.len() {
        true => format!("VM {field}"),
        false => format!("VM {field} (of {})", sizes.join(", ")),
    };
    said.into_iter().map(of).collect()
}

/// Returns the machines of a claim, each with its sizes.
fn machines<'e>(id: &ClaimSpecId, execution: Option<&'e Execution>) -> Vec<(String, Option<&'e Machine>)> {
    let Some(execution) = execution else { return Vec::new() };
    let mut sizes: BTreeMap<&MachineId, Vec<String>> = BTreeMap::new();
    for LaunchChoice { choice, machine, price_max: _ } in execution.choices(id) {
        let size = code_whole(choice.size.as_str());
        let sizes = sizes.entry(machine).or_default();
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    let machine = |(id, sizes): (&MachineId, Vec<String>)| (sizes.join(", "), execution.machines.get(id));
    sizes.into_iter().map(machine).collect()
}

/// Describes what is specific to one node of a claim besides its name: its requests and its pods.
pub(super) fn node(id: &ChangeId, create: &Create, execution: Option<&Execution>) -> String {
    let mut said = vec!["requests".to_owned()];
    said.push(amounts(&create.requests));
    let (mut nominated, mut made_for) = (Vec::new(), Vec::new());
    if let Some(execution) = execution {
        let pods = execution.nominations.get(id).into_iter().flatten();
        nominated = pods.map(|pod| code_whole(&pod.to_string())).collect();
        let purposes = execution.made_for.get(id).into_iter().flatten();
        made_for = purposes.map(|purpose| code_whole(purpose.as_str())).collect();
    }
    if !nominated.is_empty() {
        said.push(format!("for Pending {}", nominated.join(", ")));
    }
    if !made_for.is_empty() {
        said.push(format!("(pod templates {})", made_for.join(", ")));
    }
    said.join(" ")
}

/// Formats amounts like Kubernetes, without rounding.
fn amounts(resources: &Resources) -> String {
    let amounts =
        resources.iter().map(|(name, amount)| code_whole(&format!("{name}={}", name.exact(amount))));
    amounts.collect::<Vec<_>>().join(", ")
}

/// Returns an item for each field of a value, except empty fields and those in `said`.
fn fields(value: &impl Serialize, said: &[&str]) -> Vec<String> {
    let written = written(value);
    let fields = written.as_object().into_iter().flatten();
    let fields = fields.filter(|(name, value)| !said.contains(&name.as_str()) && !is_nothing(value));
    fields.map(|(name, value)| format!("{name} {}", entries(value))).collect()
}

fn written(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(Value::is_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Formats the content of a field, entry by entry.
fn entries(value: &Value) -> String {
    let entries: Vec<String> = match value {
        Value::Array(items) => items.iter().map(|item| code_whole(&inline(item))).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            fields.map(|(key, value)| code_whole(&format!("{key}={}", inline(value)))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            vec![code_whole(&inline(value))]
        }
    };
    entries.join(", ")
}

fn inline_code(value: &impl Serialize) -> String {
    entries(&written(value))
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("({})", items.iter().map(inline).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{key}={}", inline(value)));
            fields.collect::<Vec<_>>().join(" ")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
