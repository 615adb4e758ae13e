//! The Kubernetes client: which cluster is meant, and one request at a time, read to its end.
//!
//! ```text
//!  Cluster ─┬─ served · list · get_optional
//!           └─ writing(&WriteGate) ─▶ Writer: create · replace · patch · apply · delete · evict
//!  lease::acquire ─▶ Held ─▶ WriteGate: open while the Lease is ours
//! ```
//!
//! Objects are bytes here: what they mean is read where manifests are read. Nothing is decided, and Secrets are never listed.

mod failure;
pub mod lease;
mod list;
mod send;
mod write;

use std::path::PathBuf;

use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig, KubeconfigError};

pub use failure::{ClusterFailure, ClusterFailureKind};
pub use lease::{GateClosed, WriteGate};
pub use list::{Listed, Served};
pub use write::{Deletion, Eviction, Preconditions, ThisPod, Writer};

/// Which cluster is meant, as for kubectl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The context of the kubeconfig; else its current one.
    pub context: Option<String>,
    /// The kubeconfig; else the files of `KUBECONFIG`, `~/.kube/config`, or the Pod's service account.
    pub kubeconfig: Option<PathBuf>,
}

/// A cluster that can be asked.
#[derive(Clone)]
pub struct Cluster {
    /// For lists: tries again where the API server is busy.
    client: Client,
    /// For all that must be sent once: kube's retries would repeat an eviction that a PodDisruptionBudget refuses (429)
    /// for minutes, and a renewal of the Lease beyond its deadline.
    once: Client,
    /// Where it answers, for messages.
    server: String,
}

impl Cluster {
    /// Reads the kubeconfig; nothing is sent yet.
    ///
    /// # Errors
    /// No kubeconfig, one that cannot be read, or a context that it does not have.
    pub async fn of(settings: &Settings) -> Result<Self, ClusterFailure> {
        let config = config(settings).await?;
        let server = config.cluster_url.to_string();
        let mut config_once = config.clone();
        config_once.default_retry = false;
        let client = client_of(config)?;
        let once = client_of(config_once)?;
        Ok(Self { client, once, server })
    }

    /// Returns the address of the API server, for messages.
    #[must_use]
    pub fn server(&self) -> &str {
        self.server.trim_end_matches('/')
    }
}

fn client_of(config: Config) -> Result<Client, ClusterFailure> {
    Client::try_from(config)
        .map_err(|error| ClusterFailure::settings(format!("the kubeconfig cannot be used: {error}")))
}

async fn config(Settings { context, kubeconfig }: &Settings) -> Result<Config, ClusterFailure> {
    let options = KubeConfigOptions { context: context.clone(), ..KubeConfigOptions::default() };
    let Some(path) = kubeconfig else {
        return match Config::from_kubeconfig(&options).await {
            Ok(config) => Ok(config),
            // A Pod has no kubeconfig and a service account.
            Err(KubeconfigError::FindPath | KubeconfigError::ReadConfig(..)) if context.is_none() => {
                Config::incluster().map_err(|_| ClusterFailure::without_kubeconfig())
            }
            Err(error) => Err(ClusterFailure::of_kubeconfig(&error)),
        };
    };
    let read = Kubeconfig::read_from(path).map_err(|error| ClusterFailure::of_kubeconfig(&error))?;
    Config::from_custom_kubeconfig(read, &options)
        .await
        .map_err(|error| ClusterFailure::of_kubeconfig(&error))
}
