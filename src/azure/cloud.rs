//! The Azure cloud: the public one, a sovereign one, or one from a file.
//!
//! Must never weaken TLS except for this machine.

use url::Url;

use super::environment_file::{self, EnvironmentFault};
use super::{Environment, variable};

/// A cloud: the addresses of Resource Manager and Entra ID, and the audience of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cloud {
    /// Its name, as Azure writes it: `AzurePublicCloud`, `AzureUSGovernmentCloud`, `AzureChinaCloud`.
    pub name: String,
    /// Address of Resource Manager; always https.
    pub resource_manager: Url,
    /// Address of Entra ID; always https.
    pub authority: Url,
    /// Audience of tokens, without a trailing slash.
    pub audience: String,
    /// Suffix of its container registries, if a file sets one.
    pub registry_suffix: Option<String>,
    /// The only trusted certificate (PEM), for a simulator on this machine.
    pub root_certificate: Option<String>,
    /// Speed of a simulator's clock; otherwise 1. Waits are divided by it.
    pub clock_speed: u32,
}

/// Reason why no cloud can be determined.
#[derive(Debug, thiserror::Error)]
pub enum CloudFault {
    /// The name is not one of Azure's.
    #[error(
        "`{0}` is no cloud (variable ARM_CLOUD): AzurePublicCloud, AzureUSGovernmentCloud or AzureChinaCloud"
    )]
    UnknownName(String),
    /// Two settings that exclude each other.
    #[error("both ARM_CLOUD (`{0}`) and AZURE_ENVIRONMENT_FILEPATH are set; unset one")]
    NameAndFile(String),
    /// The settings name two clouds.
    #[error(
        "AZURE_AUTHORITY_HOST is `{host}`, but {cloud} signs in at `{expected}`; set both for the same cloud"
    )]
    OtherAuthority {
        /// The variable's value.
        host: String,
        /// The cloud.
        cloud: String,
        /// Its address.
        expected: String,
    },
    /// The file is invalid.
    #[error("environment file `{path}` (variable AZURE_ENVIRONMENT_FILEPATH): {}", join(faults))]
    File {
        /// Its path.
        path: String,
        /// All of its faults.
        faults: Vec<EnvironmentFault>,
    },
}

fn join(faults: &[EnvironmentFault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// One of Azure's clouds.
struct Known {
    name: &'static str,
    resource_manager: &'static str,
    authority: &'static str,
    audience: &'static str,
}

/// Azure's clouds, with their published endpoints.
const KNOWN: &[Known] = &[
    Known {
        name: "AzurePublicCloud",
        resource_manager: "https://management.azure.com/",
        authority: "https://login.microsoftonline.com/",
        audience: "https://management.azure.com",
    },
    Known {
        name: "AzureUSGovernmentCloud",
        resource_manager: "https://management.usgovcloudapi.net/",
        authority: "https://login.microsoftonline.us/",
        audience: "https://management.usgovcloudapi.net",
    },
    Known {
        name: "AzureChinaCloud",
        resource_manager: "https://management.chinacloudapi.cn/",
        authority: "https://login.chinacloudapi.cn/",
        audience: "https://management.chinacloudapi.cn",
    },
];

impl Cloud {
    /// Returns the cloud that the environment selects: by a file (`AZURE_ENVIRONMENT_FILEPATH`), a name (`ARM_CLOUD`,
    /// `AZURE_CLOUD`), the address where the pod's identity signs in (`AZURE_AUTHORITY_HOST`), else the public one.
    ///
    /// # Errors
    /// If settings contradict each other, or the file is invalid.
    pub fn from_environment(environment: Environment<'_>) -> Result<Self, CloudFault> {
        let name = variable(environment, &["ARM_CLOUD", "AZURE_CLOUD"]);
        let host = variable(environment, &["AZURE_AUTHORITY_HOST"]);
        if let Some(path) = variable(environment, &["AZURE_ENVIRONMENT_FILEPATH"]) {
            if let Some(name) = name {
                return Err(CloudFault::NameAndFile(name));
            }
            let cloud = environment_file::read(&path).map_err(|faults| CloudFault::File { path, faults })?;
            return cloud.signing_in_at(host);
        }
        match (name, host) {
            (Some(name), host) => Self::by_name(&name)?.signing_in_at(host),
            (None, Some(host)) => match KNOWN.iter().find(|known| same_host(known.authority, &host)) {
                Some(known) => Ok(known.cloud()),
                None => Self::public().signing_in_at(Some(host)),
            },
            (None, None) => Ok(Self::public()),
        }
    }

    /// Returns Azure's public cloud.
    #[must_use]
    pub fn public() -> Self {
        KNOWN[0].cloud()
    }

    /// Returns a cloud by Azure's name for it, case-insensitively; the suffix `Cloud` may be left out.
    ///
    /// # Errors
    /// If the name is not one of Azure's.
    pub fn by_name(name: &str) -> Result<Self, CloudFault> {
        let is = |known: &&Known| {
            known.name.eq_ignore_ascii_case(name)
                || known.name.strip_suffix("Cloud").is_some_and(|short| short.eq_ignore_ascii_case(name))
        };
        let known = KNOWN.iter().find(is).ok_or_else(|| CloudFault::UnknownName(name.to_owned()))?;
        Ok(known.cloud())
    }

    fn signing_in_at(self, host: Option<String>) -> Result<Self, CloudFault> {
        match host {
            Some(host) if !same_host(self.authority.as_str(), &host) => Err(CloudFault::OtherAuthority {
                host,
                cloud: self.name,
                expected: self.authority.to_string(),
            }),
            Some(_) | None => Ok(self),
        }
    }

    /// Returns the scope of tokens.
    #[must_use]
    pub fn scope(&self) -> String {
        format!("{}/.default", self.audience)
    }

    /// Returns whether both addresses are on this machine: a simulator.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.resource_manager) && is_loopback(&self.authority)
    }

    /// Returns whether it is one of Azure's own clouds, which have the billing extension of AKS.
    #[must_use]
    pub fn has_billing_extension(&self) -> bool {
        KNOWN.iter().any(|known| known.name == self.name)
    }
}

impl Known {
    fn cloud(&self) -> Cloud {
        let url = |text: &str| Url::parse(text).expect("addresses of this table are valid");
        Cloud {
            name: self.name.to_owned(),
            resource_manager: url(self.resource_manager),
            authority: url(self.authority),
            audience: self.audience.to_owned(),
            registry_suffix: None,
            root_certificate: None,
            clock_speed: 1,
        }
    }
}

fn same_host(address: &str, host: &str) -> bool {
    let origin = |text: &str| Url::parse(text).ok().map(|url| url.origin());
    let host = if host.contains("://") { host.to_owned() } else { format!("https://{host}") };
    origin(address).is_some_and(|address| Some(address) == origin(&host))
}

/// Returns whether an address is on this machine, by number or as `localhost`.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests;
