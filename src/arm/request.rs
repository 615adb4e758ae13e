//! Requests to Azure Resource Manager, complete except for the host and the token.
//!
//! Must never contain a header that identifies the caller.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Api, Body, ResourceId, Tags};

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Reads.
    Get,
    /// Creates or replaces.
    Put,
    /// Updates in part.
    Patch,
    /// Deletes.
    Delete,
    /// Runs an action; never used for writes here.
    Post,
}

impl Method {
    /// Returns the HTTP name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Post => "POST",
        }
    }

    /// Returns whether the method is a write.
    #[must_use]
    pub const fn is_write(self) -> bool {
        !matches!(self, Self::Get)
    }
}

/// One request. Its `Debug` shows secrets as `(sensitive value)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The path with its leading slash, not encoded.
    pub path: String,
    /// The query, `api-version` first, not encoded.
    pub query: Vec<QueryParameter>,
    /// The body of a write.
    pub body: Option<Body>,
    /// Whether it must fail if the resource exists: `If-None-Match: *`.
    pub only_if_absent: bool,
}

/// A query parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryParameter {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
}

impl Request {
    fn new(method: Method, path: String, api: Api) -> Self {
        let version = QueryParameter { name: "api-version", value: api.version().to_owned() };
        Self { method, path, query: vec![version], body: None, only_if_absent: false }
    }

    fn with_query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push(QueryParameter { name, value: value.into() });
        self
    }

    /// Reads one resource.
    #[must_use]
    pub fn read(id: &ResourceId, api: Api) -> Self {
        Self::new(Method::Get, id.to_string(), api)
    }

    /// Lists the resources of one type (`Namespace/type`) in a resource group.
    #[must_use]
    pub fn list_in_group(group: &ResourceId, kind: &str, api: Api) -> Self {
        Self::new(Method::Get, format!("{group}/providers/{kind}"), api)
    }

    /// Lists the VMs of a resource group.
    #[must_use]
    pub fn list_machines(group: &ResourceId) -> Self {
        Self::list_in_group(group, "Microsoft.Compute/virtualMachines", Api::Compute)
    }

    /// Lists the NICs of a resource group.
    #[must_use]
    pub fn list_network_interfaces(group: &ResourceId) -> Self {
        Self::list_in_group(group, "Microsoft.Network/networkInterfaces", Api::Network)
    }

    /// Lists the load balancers of a resource group.
    #[must_use]
    pub fn list_load_balancers(group: &ResourceId) -> Self {
        Self::list_in_group(group, "Microsoft.Network/loadBalancers", Api::Network)
    }

    /// Lists the VNets of a resource group.
    #[must_use]
    pub fn list_virtual_networks(group: &ResourceId) -> Self {
        Self::list_in_group(group, "Microsoft.Network/virtualNetworks", Api::Network)
    }

    /// Lists the network security groups of a resource group.
    #[must_use]
    pub fn list_security_groups(group: &ResourceId) -> Self {
        Self::list_in_group(group, "Microsoft.Network/networkSecurityGroups", Api::Network)
    }

    /// Lists the caller's permissions in a resource group.
    #[must_use]
    pub fn list_permissions(group: &ResourceId) -> Self {
        Self::list_in_group(group, "Microsoft.Authorization/permissions", Api::Permissions)
    }

    /// Lists the VM sizes of a location.
    #[must_use]
    pub fn list_skus(subscription: &str, location: &str) -> Self {
        let path = format!("/subscriptions/{subscription}/providers/Microsoft.Compute/skus");
        Self::new(Method::Get, path, Api::Skus).with_query("$filter", format!("location eq '{location}'"))
    }

    /// Lists the subscription's Compute quotas and their usage in a location.
    #[must_use]
    pub fn list_usages(subscription: &str, location: &str) -> Self {
        let path =
            format!("/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{location}/usages");
        Self::new(Method::Get, path, Api::Compute)
    }

    /// Lists the versions of a community gallery image in a location.
    #[must_use]
    pub fn list_image_versions(subscription: &str, location: &str, image: &CommunityImage<'_>) -> Self {
        let CommunityImage { gallery, definition } = image;
        let path = format!(
            "/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{location}/communityGalleries/{gallery}/images/{definition}/versions"
        );
        Self::new(Method::Get, path, Api::Galleries)
    }

    /// Creates a VM; fails with 412 if a VM of that name exists.
    #[must_use]
    pub fn create_machine(id: &ResourceId, body: Body) -> Self {
        let mut request = Self::new(Method::Put, id.to_string(), Api::Compute);
        request.body = Some(body);
        request.only_if_absent = true;
        request
    }

    /// Creates or replaces a NIC. Azure does not support `If-None-Match` here, so read first.
    #[must_use]
    pub fn put_network_interface(id: &ResourceId, body: Body) -> Self {
        let mut request = Self::new(Method::Put, id.to_string(), Api::Network);
        request.body = Some(body);
        request
    }

    /// Creates or replaces an extension of a VM.
    #[must_use]
    pub fn put_extension(id: &ResourceId, body: Body) -> Self {
        let mut request = Self::new(Method::Put, id.to_string(), Api::Compute);
        request.body = Some(body);
        request
    }

    /// Deletes a VM without shutting down its OS: the node is already drained.
    #[must_use]
    pub fn delete_machine(id: &ResourceId) -> Self {
        Self::new(Method::Delete, id.to_string(), Api::Compute).with_query("forceDeletion", "true")
    }

    /// Deletes a NIC.
    #[must_use]
    pub fn delete_network_interface(id: &ResourceId) -> Self {
        Self::new(Method::Delete, id.to_string(), Api::Network)
    }

    /// Sets tags of a resource in place; other tags are kept.
    #[must_use]
    pub fn merge_tags(id: &ResourceId, tags: &Tags) -> Self {
        Self::patch_tags(id, "Merge", tags)
    }

    /// Removes tags from a resource if they have these values.
    #[must_use]
    pub fn remove_tags(id: &ResourceId, tags: &Tags) -> Self {
        Self::patch_tags(id, "Delete", tags)
    }

    fn patch_tags(id: &ResourceId, operation: &str, tags: &Tags) -> Self {
        let path = format!("{id}/providers/Microsoft.Resources/tags/default");
        let mut request = Self::new(Method::Patch, path, Api::Tags);
        request.body =
            Some(Body::new(json!({"operation": operation, "properties": {"tags": tags.as_map()}})));
        request
    }

    /// Adds identities to a VM; existing ones are kept.
    #[must_use]
    pub fn add_identities(id: &ResourceId, identities: &[ResourceId]) -> Self {
        let mut request = Self::new(Method::Patch, id.to_string(), Api::Compute);
        let identity = user_assigned(identities);
        request.body = Some(Body::new(json!({"identity": identity})));
        request
    }

    /// Returns the path and query as a string for display; not encoded.
    #[must_use]
    pub fn target(&self) -> String {
        let query: Vec<String> =
            self.query.iter().map(|parameter| format!("{}={}", parameter.name, parameter.value)).collect();
        format!("{}?{}", self.path, query.join("&"))
    }
}

/// Returns the `identity` of a VM with user-assigned identities: an empty object under each id.
pub(super) fn user_assigned(identities: &[ResourceId]) -> Value {
    let by_id: BTreeMap<String, Value> = identities.iter().map(|id| (id.to_string(), json!({}))).collect();
    json!({"type": "UserAssigned", "userAssignedIdentities": by_id})
}

/// An image in a community gallery, without a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommunityImage<'a> {
    /// The gallery's public name, such as `AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2`.
    pub gallery: &'a str,
    /// The image's name, such as `2204gen2containerd`.
    pub definition: &'a str,
}
