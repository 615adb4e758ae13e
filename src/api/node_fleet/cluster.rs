//! The cluster of a NodeFleet, and the place where its plans are reviewed.
//!
//! Must never hold a secret: credentials are found at run time.

use serde::{Deserialize, Serialize};

use super::approvals::Approvals;

/// The cluster that the nodes belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = [
        {
            "message": "networkPluginMode 'overlay' needs networkPlugin 'azure'",
            "rule": "!has(self.networkPluginMode) || self.networkPluginMode != 'overlay' || !has(self.networkPlugin) || self.networkPlugin == 'azure'",
        },
    ]))
)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// Name of the AKS cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minLength" = 1, "maxLength" = 63, "pattern" = crate::api::pattern::CLUSTER_NAME))
    )]
    pub name: Option<String>,
    /// The resource group that the AKS cluster stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minLength" = 1, "maxLength" = 90, "pattern" = crate::api::pattern::RESOURCE_GROUP))
    )]
    pub resource_group: Option<String>,
    /// The Azure location in lower case without spaces, for example `westeurope`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minLength" = 1, "maxLength" = 64, "pattern" = crate::api::pattern::LOCATION))
    )]
    pub location: Option<String>,
    /// Who gives pods their addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_plugin: Option<NetworkPlugin>,
    /// Where the addresses of pods come from; absent: from the subnet of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_plugin_mode: Option<NetworkPluginMode>,
    /// What carries the traffic of pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_dataplane: Option<NetworkDataplane>,
}

/// Who gives pods their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NetworkPlugin {
    /// Azure CNI.
    Azure,
    /// A plugin that the user installs.
    None,
}

/// Where the addresses of pods come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NetworkPluginMode {
    /// A range of their own.
    Overlay,
}

/// What carries the traffic of pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NetworkDataplane {
    /// Azure's own.
    Azure,
    /// Cilium.
    Cilium,
}

/// Where plans are reviewed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = [
        {
            "message": "approvals need forge: they are read of pull requests",
            "rule": "!has(self.approvals) || size(self.approvals) == 0 || has(self.forge)",
        },
        {
            "message": "approvals on Azure DevOps need 'by': it does not report who may write",
            "rule": "!has(self.approvals) || !has(self.forge) || self.forge != 'azuredevops' || self.approvals.all(x, has(x.by))",
        },
    ]))
)]
#[serde(rename_all = "camelCase")]
pub struct Git {
    /// Address of the repository, by `https://`, without a password; of one on this machine also by `http://`, for tries.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "minLength" = 1,
            "maxLength" = 2048,
            "pattern" = crate::api::pattern::REPOSITORY
        ))
    )]
    pub repository: Option<String>,
    /// The branch that plans are merged into.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "main", "minLength" = 1, "maxLength" = 255)))]
    pub branch: Option<String>,
    /// The folder of the plans, from the root of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "maxLength" = 1024,
            "x-kubernetes-validations" = [
                {"message": "path must stay inside of the repository", "rule": "!self.startsWith('/') && !self.split('/').exists(x, x == '..')"},
            ]
        ))
    )]
    pub path: Option<String>,
    /// The kind of server; absent: told by the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forge: Option<Forge>,
    /// Public SSH keys. A merged plan then counts only with a signature by one of them in `plan.jsonc.sig`. Absent: plans need
    /// no signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "items" = {"type": "string", "maxLength": 1024, "pattern": crate::api::pattern::SSH_PUBLIC_KEY},
            "minItems" = 1,
            "maxItems" = 20,
            "x-kubernetes-list-type" = "set"
        ))
    )]
    pub signers: Option<Vec<String>>,
    /// How many people must have approved the pull request of a plan, by the classes of its changes. A merged plan counts only with
    /// the approvals of every entry that is about one of its classes. Needs `forge`. Absent: what is merged is approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 20, "x-kubernetes-list-type" = "atomic")))]
    pub approvals: Option<Vec<Approvals>>,
}

/// The kind of server that a repository is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Forge {
    /// GitHub.
    Github,
    /// Azure DevOps.
    Azuredevops,
    /// GitLab.
    Gitlab,
    /// Gitea or Forgejo.
    Gitea,
}
