//! Builds the PUT body of a NIC with Azure's models.
//!
//! Must never set a property that [`NetworkInterface`] does not have.

use azure_mgmt_network::models as wire;

use super::{BackendPool, Body, NetworkInterface, ResourceId, complete};

/// Builds the body that creates this NIC.
#[must_use]
pub fn build(nic: &NetworkInterface) -> Body {
    let NetworkInterface {
        name,
        location,
        tags,
        subnet,
        security_group,
        backend_pools,
        accelerated_networking,
        pod_addresses,
    } = nic;
    let mut primary = configuration(name, subnet);
    if let Some(properties) = &mut primary.properties {
        properties.primary = Some(true);
        properties.load_balancer_backend_address_pools = backend_pools.iter().map(pool).collect();
    }
    let more = (1..=*pod_addresses).map(|number| configuration(&format!("ipconfig{number}"), subnet));
    let mut properties = wire::NetworkInterfacePropertiesFormat::new();
    properties.ip_configurations = std::iter::once(primary).chain(more).collect();
    properties.enable_accelerated_networking = Some(*accelerated_networking);
    properties.enable_ip_forwarding = Some(false);
    properties.network_security_group = security_group.as_ref().map(|id| {
        let mut group = wire::NetworkSecurityGroup::new();
        group.resource.id = Some(id.to_string());
        group
    });
    let mut model = wire::NetworkInterface::new();
    model.resource.location = Some(location.clone());
    model.resource.tags = Some(complete::tags(tags));
    model.properties = Some(properties);
    complete::network_interface(&model)
}

fn configuration(name: &str, subnet: &ResourceId) -> wire::NetworkInterfaceIpConfiguration {
    let mut reference = wire::Subnet::new();
    reference.sub_resource.id = Some(subnet.to_string());
    let mut properties = wire::NetworkInterfaceIpConfigurationPropertiesFormat::new();
    properties.primary = Some(false);
    properties.private_ip_allocation_method = Some(wire::IpAllocationMethod::Dynamic);
    properties.subnet = Some(reference);
    let mut configuration = wire::NetworkInterfaceIpConfiguration::new();
    configuration.name = Some(name.to_owned());
    configuration.properties = Some(properties);
    configuration
}

fn pool(pool: &BackendPool) -> wire::BackendAddressPool {
    let mut reference = wire::BackendAddressPool::new();
    reference.sub_resource.id = Some(pool.0.to_string());
    reference
}
