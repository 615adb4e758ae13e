//! Routes ARM paths to their handlers.

use serde_json::Value;

use super::{
    ArmError, Azure, Call, Stage, disk, group, image, managed_cluster, network, nic, operation, sku, tags,
    usage, vm,
};
use crate::sim::http::Answer;

/// Answers a request that has passed the gate.
pub(crate) fn answer(azure: &mut Azure, call: &Call<'_>, stage: &mut Stage<'_>) -> Result<Answer, ArmError> {
    let lower = call.lower();
    match lower.get(2..).unwrap_or_default() {
        [] => only_get(call, || Ok(group::subscription(azure))),
        ["resourcegroups", group] => only_get(call, || group::one(azure, group, call)),
        ["resourcegroups", group, "providers", provider, rest @ ..] => {
            group::exists(azure, group, call.segment(3))?;
            in_group(azure, call, stage, &Place { group, provider, rest })
        }
        ["providers", provider, rest @ ..] => in_subscription(azure, call, stage, (provider, rest)),
        _ => Err(unknown(call)),
    }
}

/// The resource that a path within a resource group names, in lower case.
struct Place<'a> {
    group: &'a str,
    provider: &'a str,
    rest: &'a [&'a str],
}

fn in_group(
    azure: &mut Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    place: &Place<'_>,
) -> Result<Answer, ArmError> {
    if let Some(resource) = tags::tagged(place.rest) {
        return tags::answer(azure, call, resource);
    }
    let is_node_group = place.group == azure.settings.node_resource_group().to_lowercase();
    match (place.provider, place.rest) {
        ("microsoft.authorization", ["permissions"]) => only_get(call, || Ok(group::permissions(azure))),
        ("microsoft.containerservice", ["managedclusters", name, rest @ ..]) => {
            only_get(call, || managed_cluster::answer(azure, call, (place.group, name, rest)))
        }
        ("microsoft.network", ["virtualnetworks", rest @ ..]) => {
            only_get(call, || network::virtual_network(azure, call, (place.group, rest)))
        }
        // All other resources are in the node resource group.
        (_, _) if !is_node_group => outside(call, place),
        ("microsoft.compute", ["virtualmachines", rest @ ..]) => vm::answer(azure, call, stage, rest),
        ("microsoft.compute", ["disks", rest @ ..]) => disk::answer(azure, call, stage, rest),
        ("microsoft.network", ["networkinterfaces", rest @ ..]) => nic::answer(azure, call, stage, rest),
        ("microsoft.network", ["networksecuritygroups", rest @ ..]) => {
            only_get(call, || network::security_group(azure, call, stage, rest))
        }
        ("microsoft.network", ["loadbalancers", rest @ ..]) => {
            only_get(call, || network::load_balancer(azure, call, stage, rest))
        }
        _ => Err(unknown(call)),
    }
}

/// Answers for other resource groups: lists are empty, single resources are not found, and nothing can be created.
fn outside(call: &Call<'_>, place: &Place<'_>) -> Result<Answer, ArmError> {
    match (call.method, place.rest) {
        ("GET", [_]) => Ok(Answer::json(200, &serde_json::json!({"value": []}))),
        ("DELETE", [_, _]) => Ok(Answer::empty(204)),
        ("GET", _) => {
            Err(ArmError::not_found(&call.resource_type().written, call.segment(7), call.segment(3)))
        }
        _ => {
            let message = format!(
                "The simulated Azure makes resources in the node resource group only, not in '{}'.",
                call.segment(3)
            );
            Err(ArmError::new(403, "RequestDisallowedByPolicy", message))
        }
    }
}

fn in_subscription(
    azure: &Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    (provider, rest): (&str, &[&str]),
) -> Result<Answer, ArmError> {
    let is_here = |location: &str| location == azure.settings.location.to_lowercase();
    match (provider, rest) {
        ("microsoft.compute", ["skus"]) => only_get(call, || sku::list(azure, call)),
        ("microsoft.compute", ["locations", location, "usages"]) if is_here(location) => {
            only_get(call, || Ok(usage::list(azure)))
        }
        (
            "microsoft.compute",
            ["locations", location, "communitygalleries", gallery, "images", image, "versions"],
        ) if is_here(location) => only_get(call, || image::versions(azure, call, stage, (gallery, image))),
        (
            "microsoft.compute" | "microsoft.network",
            ["locations", _, "operations" | "operationresults", id],
        ) => only_get(call, || operation::poll(azure, call, id)),
        ("microsoft.compute", ["locations", location, ..]) => {
            let message = format!(
                "The provided location '{location}' is not available for resource type '{}'.",
                call.resource_type().written
            );
            Err(ArmError::new(400, "LocationNotAvailableForResourceType", message))
        }
        _ => Err(unknown(call)),
    }
}

fn only_get(call: &Call<'_>, answer: impl FnOnce() -> Result<Answer, ArmError>) -> Result<Answer, ArmError> {
    if call.method == "GET" { answer() } else { Err(ArmError::method_not_allowed(call.method)) }
}

pub(crate) fn unknown(call: &Call<'_>) -> ArmError {
    ArmError::new(
        404,
        "NotFound",
        format!("No HTTP resource was found that matches the request URI '{}'.", call.path()),
    )
}

/// Checks the tags of a body: a map of names to strings.
pub(crate) fn tags_of(body: &Value) -> Result<(), ArmError> {
    // ARM's limit of tags per resource.
    const TAGS_MAX: usize = 50;
    if body.get("tags").is_some_and(|tags| !tags.is_object() && !tags.is_null()) {
        return Err(ArmError::new(
            400,
            "InvalidRequestContent",
            "The request content was invalid: 'tags' is no object.",
        ));
    }
    let tags: Vec<(&String, &Value)> = crate::sim::json::members(body, "/tags").collect();
    if tags.len() > TAGS_MAX {
        let message = format!("The number of tags '{}' exceeds the maximum of '{TAGS_MAX}'.", tags.len());
        return Err(ArmError::new(400, "TooManyTags", message));
    }
    for (name, value) in tags {
        let is_bad =
            name.is_empty() || name.len() > 512 || name.contains(['<', '>', '%', '&', '\\', '?', '/']);
        if is_bad {
            let message = format!(
                "The tag name '{name}' has reserved characters '<,>,%,&,\\,?,/' or is too long or empty."
            );
            return Err(ArmError::new(400, "InvalidTagNameCharacters", message));
        }
        if value.as_str().is_none_or(|value| value.len() > 256) {
            let message = format!("The value of the tag '{name}' is no text of at most 256 characters.");
            return Err(ArmError::new(400, "InvalidTagValue", message));
        }
    }
    Ok(())
}
