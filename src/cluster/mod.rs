//! The Kubernetes client: selects the cluster, and sends single requests.
//!
//! ```text
//!  Cluster ─┬─ served · list · look · get_optional
//!           └─ writing(&WriteGate) ─▶ Writer: create · replace · patch · apply · delete · evict
//!  lease::acquire ─▶ Held ─▶ WriteGate: open while the Lease is ours
//! ```
//!
//! Objects are bytes here; `manifests` parses them. This module decides nothing, and never lists Secrets.

#![expect(clippy::disallowed_methods, reason = "the file of a cluster's CA is read here")]

mod connections;
mod failure;
pub mod lease;
mod list;
mod send;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use kube::config::{Config, KubeConfigOptions, Kubeconfig, KubeconfigError};

use crate::clock::Clock;
use crate::world::World;
use connections::Connections;
pub use failure::{ClusterFailure, ClusterFailureKind};
pub use lease::{GateClosed, WriteGate};
pub use list::{Listed, Served};
pub use write::{Deletion, Eviction, Preconditions, ThisPod, Writer};

/// CA file of the cluster in a Pod.
const SERVICE_ACCOUNT_CA: &str = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";

/// Selection of the cluster, as in kubectl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The kubeconfig context; default: the current one.
    pub context: Option<String>,
    /// The kubeconfig; default: the files of `KUBECONFIG`, `~/.kube/config`, or the Pod's service account.
    pub kubeconfig: Option<PathBuf>,
}

/// Client of a cluster.
#[derive(Clone)]
pub struct Cluster {
    connections: Connections,
    clock: Clock,
    /// Its address, for messages.
    server: String,
    /// The CA of the API server: PEM in base64.
    ca_certificate: Option<String>,
    /// The last seen state of the cluster, updated by all reads and writes. Clones share it.
    world: Arc<Mutex<World>>,
}

impl Cluster {
    /// Reads the kubeconfig; nothing is sent yet.
    ///
    /// # Errors
    /// There is no kubeconfig, it cannot be read, or it lacks the context.
    pub async fn of(settings: &Settings, clock: Clock) -> Result<Self, ClusterFailure> {
        let Connection { config, ca_certificate } = connection(settings).await?;
        let server = config.cluster_url.to_string();
        Ok(Self {
            connections: Connections::of(config)?,
            clock,
            server,
            ca_certificate,
            world: Arc::default(),
        })
    }

    /// Connects to a cluster with clients that `connect` creates: one now, and another after each that has gone silent.
    /// They must not retry requests themselves.
    ///
    /// # Errors
    /// As `connect`.
    pub fn reached_by(
        connect: impl Fn() -> Result<kube::Client, ClusterFailure> + Send + Sync + 'static,
        server: &str,
        ca_certificate: Option<String>,
        clock: Clock,
    ) -> Result<Self, ClusterFailure> {
        let connections = Connections::made_by(Box::new(connect))?;
        Ok(Self { connections, clock, server: server.to_owned(), ca_certificate, world: Arc::default() })
    }

    /// Returns the clock that is used for this cluster.
    #[must_use]
    pub const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Runs `work` with exclusive access to the last seen state of the cluster.
    pub(super) fn with_world<T>(&self, work: impl FnOnce(&mut World) -> T) -> T {
        // The next list repairs what a panic leaves behind.
        work(&mut self.world.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the address of the API server, for messages.
    #[must_use]
    pub fn server(&self) -> &str {
        self.server.trim_end_matches('/')
    }

    /// Returns the CA of the API server as in a kubeconfig: PEM in base64; `None` if a public CA is trusted.
    #[must_use]
    pub fn ca_certificate(&self) -> Option<&str> {
        self.ca_certificate.as_deref()
    }
}

/// Client configuration of a cluster, and the CA by which its nodes verify it.
struct Connection {
    config: Config,
    ca_certificate: Option<String>,
}

async fn connection(Settings { context, kubeconfig }: &Settings) -> Result<Connection, ClusterFailure> {
    let options = KubeConfigOptions { context: context.clone(), ..KubeConfigOptions::default() };
    let read = match kubeconfig {
        Some(path) => Kubeconfig::read_from(path),
        None => Kubeconfig::read(),
    };
    let read = match read {
        Ok(read) => read,
        // A Pod has a service account instead of a kubeconfig.
        Err(KubeconfigError::FindPath | KubeconfigError::ReadConfig(..))
            if context.is_none() && kubeconfig.is_none() =>
        {
            let config = Config::incluster().map_err(|_| ClusterFailure::without_kubeconfig())?;
            return Ok(Connection { config, ca_certificate: in_base64(Path::new(SERVICE_ACCOUNT_CA)) });
        }
        Err(error) => return Err(ClusterFailure::of_kubeconfig(&error)),
    };
    let ca_certificate = ca_certificate(&read, context.as_deref());
    let config = Config::from_custom_kubeconfig(read, &options)
        .await
        .map_err(|error| ClusterFailure::of_kubeconfig(&error))?;
    Ok(Connection { config, ca_certificate })
}

/// Returns the CA of the cluster of a kubeconfig context, either embedded or from the file that it names.
fn ca_certificate(kubeconfig: &Kubeconfig, context: Option<&str>) -> Option<String> {
    let context = context.or(kubeconfig.current_context.as_deref())?;
    let named = kubeconfig.contexts.iter().find(|named| named.name == context)?;
    let cluster = &named.context.as_ref()?.cluster;
    let cluster = kubeconfig.clusters.iter().find(|named| named.name == *cluster)?.cluster.as_ref()?;
    let written = cluster.certificate_authority_data.as_ref();
    let written = written.map(|data| data.chars().filter(|letter| !letter.is_whitespace()).collect());
    written.or_else(|| in_base64(Path::new(cluster.certificate_authority.as_ref()?)))
}

fn in_base64(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    Some(data_encoding::BASE64.encode(&bytes))
}
