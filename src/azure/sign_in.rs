//! nodeform's Azure identity: one way of signing in, chosen by the environment in a fixed order.
//!
//! 1. `AZURE_TOKEN_CREDENTIALS` names one of the ways below (the SDKs' setting);
//! 2. workload identity, if `AZURE_FEDERATED_TOKEN_FILE` is set;
//! 3. client secret, if `AZURE_CLIENT_SECRET` is set;
//! 4. managed identity, if only `AZURE_CLIENT_ID` is set;
//! 5. the login of the Azure CLI.
//!
//! Must never try the next way when one fails: the identity must not depend on an outage.

use std::path::PathBuf;
use std::sync::Arc;

use azure_core::cloud::{CloudConfiguration, CustomConfiguration};
use azure_core::credentials::{Secret as CoreSecret, TokenCredential};
use azure_core::http::{ClientOptions, ExponentialRetryOptions, HttpClient, RetryOptions, Transport};
use azure_identity as identity;

use super::{Cloud, Environment, limits, variable};
use crate::model::Secret;

/// A way of signing in, with its settings. Its `Debug` shows no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignIn {
    /// Exchanges the token of the pod's service account.
    WorkloadIdentity {
        /// The tenant.
        tenant: String,
        /// The identity's client id.
        client: String,
        /// The file with the service account's token.
        token_file: PathBuf,
    },
    /// A service principal with a secret.
    ClientSecret {
        /// The tenant.
        tenant: String,
        /// The principal's client id.
        client: String,
        /// Its secret.
        secret: Secret,
    },
    /// The identity of the machine on which nodeform runs.
    ManagedIdentity {
        /// The identity's client id; `None` for the machine's own identity.
        client: Option<String>,
    },
    /// The user who logged in with `az login`.
    AzureCli {
        /// The tenant, if it is not the login's own.
        tenant: Option<String>,
    },
}

/// Reason why signing in is impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignInFault {
    /// Variables of the chosen way are missing.
    #[error("{way} needs {}: not set", missing.join(", "))]
    Missing {
        /// The way.
        way: &'static str,
        /// Variables that are missing.
        missing: Vec<&'static str>,
    },
    /// An unsupported way was requested.
    #[error("variable {variable} asks for {what}, which nodeform does not support; {instead}")]
    Unsupported {
        /// The variable.
        variable: &'static str,
        /// The way that it requests.
        what: String,
        /// What to use instead.
        instead: &'static str,
    },
    /// Azure's library refuses a value.
    #[error("{way}: {why}")]
    Refused {
        /// The way.
        way: &'static str,
        /// Its message.
        why: String,
    },
}

const WORKLOAD_IDENTITY: &str = "workload identity";
const CLIENT_SECRET: &str = "signing in with a client secret";
const MANAGED_IDENTITY: &str = "managed identity";
const AZURE_CLI: &str = "the login of the Azure CLI";

const INSTEAD: &str =
    "use WorkloadIdentityCredential, EnvironmentCredential, ManagedIdentityCredential or AzureCliCredential";

/// Environment settings for signing in.
struct Asked {
    tenant: Option<String>,
    client: Option<String>,
    secret: Option<String>,
    token_file: Option<String>,
}

impl SignIn {
    /// Chooses a way by the environment. Terraform's `ARM_TENANT_ID`, `ARM_CLIENT_ID` and `ARM_CLIENT_SECRET` are used
    /// if `AZURE_…` is not set.
    ///
    /// # Errors
    /// If a requested way lacks a setting or is not supported.
    pub fn from_environment(environment: Environment<'_>) -> Result<Self, SignInFault> {
        let asked = Asked {
            tenant: variable(environment, &["AZURE_TENANT_ID", "ARM_TENANT_ID"]),
            client: variable(environment, &["AZURE_CLIENT_ID", "ARM_CLIENT_ID"]),
            secret: variable(environment, &["AZURE_CLIENT_SECRET", "ARM_CLIENT_SECRET"]),
            token_file: variable(environment, &["AZURE_FEDERATED_TOKEN_FILE"]),
        };
        if let Some(way) = variable(environment, &["AZURE_TOKEN_CREDENTIALS"]) {
            return asked.by_name(way);
        }
        for name in ["AZURE_CLIENT_CERTIFICATE_PATH", "AZURE_USERNAME"] {
            if asked.secret.is_none()
                && asked.token_file.is_none()
                && variable(environment, &[name]).is_some()
            {
                let what =
                    if name == "AZURE_USERNAME" { "a user's password" } else { "a client certificate" };
                let instead = "use a client secret or workload identity";
                return Err(SignInFault::Unsupported { variable: name, what: what.to_owned(), instead });
            }
        }
        match (&asked.token_file, &asked.secret, &asked.client) {
            (Some(_), _, _) => asked.workload_identity(),
            (None, Some(_), _) => asked.client_secret(),
            (None, None, Some(_)) => Ok(asked.managed_identity()),
            (None, None, None) => Ok(asked.azure_cli()),
        }
    }

    /// Returns a short description of the way.
    #[must_use]
    pub const fn way(&self) -> &'static str {
        match self {
            Self::WorkloadIdentity { .. } => WORKLOAD_IDENTITY,
            Self::ClientSecret { .. } => CLIENT_SECRET,
            Self::ManagedIdentity { .. } => MANAGED_IDENTITY,
            Self::AzureCli { .. } => AZURE_CLI,
        }
    }

    /// Creates the credential; nothing is sent yet.
    ///
    /// # Errors
    /// If Azure's library refuses a value, such as a tenant with a slash.
    pub fn credential(
        &self,
        cloud: &Cloud,
        transport: Arc<dyn HttpClient>,
    ) -> Result<Arc<dyn TokenCredential>, SignInFault> {
        let client_options = options(cloud, transport);
        let refused =
            |error: azure_core::Error| SignInFault::Refused { way: self.way(), why: error.to_string() };
        Ok(match self {
            Self::WorkloadIdentity { tenant, client, token_file } => {
                identity::WorkloadIdentityCredential::new(Some(identity::WorkloadIdentityCredentialOptions {
                    credential_options: identity::ClientAssertionCredentialOptions { client_options },
                    client_id: Some(client.clone()),
                    tenant_id: Some(tenant.clone()),
                    token_file_path: Some(token_file.clone()),
                }))
                .map_err(refused)?
            }
            Self::ClientSecret { tenant, client, secret } => identity::ClientSecretCredential::new(
                tenant,
                client.clone(),
                CoreSecret::new(secret.reveal().to_owned()),
                Some(identity::ClientSecretCredentialOptions { client_options }),
            )
            .map_err(refused)?,
            Self::ManagedIdentity { client } => {
                identity::ManagedIdentityCredential::new(Some(identity::ManagedIdentityCredentialOptions {
                    user_assigned_id: client.clone().map(identity::UserAssignedId::ClientId),
                    client_options,
                }))
                .map_err(refused)?
            }
            Self::AzureCli { tenant } => {
                identity::AzureCliCredential::new(Some(identity::AzureCliCredentialOptions {
                    tenant_id: tenant.clone(),
                    ..Default::default()
                }))
                .map_err(refused)?
            }
        })
    }
}

impl Asked {
    fn by_name(self, way: String) -> Result<SignIn, SignInFault> {
        match way.to_ascii_lowercase().as_str() {
            "workloadidentitycredential" => self.workload_identity(),
            "environmentcredential" => self.client_secret(),
            "managedidentitycredential" => Ok(self.managed_identity()),
            "azureclicredential" => Ok(self.azure_cli()),
            _ => Err(SignInFault::Unsupported {
                variable: "AZURE_TOKEN_CREDENTIALS",
                what: way,
                instead: INSTEAD,
            }),
        }
    }

    fn workload_identity(self) -> Result<SignIn, SignInFault> {
        match (self.tenant, self.client, self.token_file) {
            (Some(tenant), Some(client), Some(file)) => {
                Ok(SignIn::WorkloadIdentity { tenant, client, token_file: file.into() })
            }
            (tenant, client, file) => Err(missing(
                WORKLOAD_IDENTITY,
                &[
                    ("AZURE_TENANT_ID", tenant.is_some()),
                    ("AZURE_CLIENT_ID", client.is_some()),
                    ("AZURE_FEDERATED_TOKEN_FILE", file.is_some()),
                ],
            )),
        }
    }

    fn client_secret(self) -> Result<SignIn, SignInFault> {
        match (self.tenant, self.client, self.secret) {
            (Some(tenant), Some(client), Some(secret)) => {
                Ok(SignIn::ClientSecret { tenant, client, secret: Secret::new(secret) })
            }
            (tenant, client, secret) => Err(missing(
                CLIENT_SECRET,
                &[
                    ("AZURE_TENANT_ID", tenant.is_some()),
                    ("AZURE_CLIENT_ID", client.is_some()),
                    ("AZURE_CLIENT_SECRET", secret.is_some()),
                ],
            )),
        }
    }

    fn managed_identity(self) -> SignIn {
        SignIn::ManagedIdentity { client: self.client }
    }

    fn azure_cli(self) -> SignIn {
        SignIn::AzureCli { tenant: self.tenant }
    }
}

fn missing(way: &'static str, needed: &[(&'static str, bool)]) -> SignInFault {
    let missing = needed.iter().filter(|(_, is_set)| !is_set).map(|(name, _)| *name).collect();
    SignInFault::Missing { way, missing }
}

fn options(cloud: &Cloud, transport: Arc<dyn HttpClient>) -> ClientOptions {
    let mut custom = CustomConfiguration::default();
    custom.authority_host = cloud.authority.to_string();
    let seconds = i64::try_from(limits::TOKEN_RETRY_TIME_MAX.as_secs()).unwrap_or(30);
    ClientOptions {
        transport: Some(Transport::new(transport)),
        retry: RetryOptions::exponential(ExponentialRetryOptions {
            max_retries: limits::TOKEN_RETRIES_MAX,
            max_total_elapsed: azure_core::time::Duration::seconds(seconds),
            ..Default::default()
        }),
        cloud: Some(Arc::new(CloudConfiguration::Custom(custom))),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests;
