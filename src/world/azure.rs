//! Azure's listed resources, converted once for both planning and applying plans.
//!
//! Azure resources have no version: before anything relies on a resource missing from a list being gone, it is queried
//! by its id. Never reads anything itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::seen::{Provisioning, SeenInterface, SeenVm};
use crate::arm::answer::{Machine, NetworkInterface};
use crate::arm::{Image, ResourceId, Tags};
use crate::snapshot::azure::{InterfaceFacts, VmFacts};

/// Converts VMs for a rollout, keyed by id in lower case.
pub fn seen_vms(vms: impl IntoIterator<Item = VmFacts>) -> BTreeMap<Arc<str>, SeenVm> {
    let seen = |vm: VmFacts| {
        let VmFacts { id, vm_id, provisioning_state, tags, .. } = vm;
        let state = Provisioning::of(provisioning_state.as_deref());
        (id.to_ascii_lowercase().into(), SeenVm { id, vm_id, state, tags })
    };
    vms.into_iter().map(seen).collect()
}

/// Converts network interfaces for a rollout, keyed by id in lower case.
pub fn seen_interfaces(
    interfaces: impl IntoIterator<Item = InterfaceFacts>,
) -> BTreeMap<Arc<str>, SeenInterface> {
    let seen = |interface: InterfaceFacts| {
        let InterfaceFacts { id, provisioning_state, tags, .. } = interface;
        let state = Provisioning::of(provisioning_state.as_deref());
        (id.to_ascii_lowercase().into(), SeenInterface { id, state, tags })
    };
    interfaces.into_iter().map(seen).collect()
}

fn tags(tags: &Tags) -> BTreeMap<Arc<str>, Arc<str>> {
    tags.as_map().iter().map(|(key, value)| (Arc::from(key.as_str()), Arc::from(value.as_str()))).collect()
}

fn ids(ids: &[ResourceId]) -> Vec<Arc<str>> {
    ids.iter().map(|id| id.to_string().into()).collect()
}

/// Converts a VM for planning.
#[must_use]
pub fn vm(machine: Machine) -> VmFacts {
    let text = |text: Option<String>| text.map(Arc::from);
    VmFacts {
        id: machine.id.to_string().into(),
        name: machine.name.into(),
        vm_id: text(machine.vm_id),
        size: text(machine.size),
        zone: text(machine.zone),
        is_spot: machine.priority.as_deref() == Some("Spot"),
        provisioning_state: text(machine.provisioning_state),
        image: machine.image.map(|image| match image {
            Image::Community(id) => id.into(),
            Image::Resource(id) => id.to_string().into(),
        }),
        created: machine.time_created,
        tags: tags(&machine.tags),
        interfaces: ids(&machine.network_interfaces),
        os_disk: machine.os_disk.and_then(|disk| disk.id).map(|id| id.to_string().into()),
    }
}

/// Converts a network interface for planning.
#[must_use]
pub fn interface(found: NetworkInterface) -> InterfaceFacts {
    InterfaceFacts {
        id: found.id.to_string().into(),
        name: found.name.into(),
        provisioning_state: found.provisioning_state.map(Arc::from),
        vm: found.machine.map(|id| id.to_string().into()),
        tags: tags(&found.tags),
    }
}
