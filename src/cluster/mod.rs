//! The Kubernetes client: which cluster is meant, and one request at a time, read to its end.
//!
//! ```text
//!  Cluster ─┬─ served · list · look · get_optional
//!           └─ writing(&WriteGate) ─▶ Writer: create · replace · patch · apply · delete · evict
//!  lease::acquire ─▶ Held ─▶ WriteGate: open while the Lease is ours
//! ```
//!
//! Objects are bytes here: what they mean is read where manifests are read. Nothing is decided, and Secrets are never listed.

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

/// Where a Pod finds the CA of its cluster.
const SERVICE_ACCOUNT_CA: &str = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";

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
    connections: Connections,
    clock: Clock,
    /// Where it answers, for messages.
    server: String,
    /// The CA of the API server: PEM in base64.
    ca_certificate: Option<String>,
    /// What was last seen of it, by all who read and write. Clones share it.
    world: Arc<Mutex<World>>,
}

impl Cluster {
    /// Reads the kubeconfig; nothing is sent yet.
    ///
    /// # Errors
    /// No kubeconfig, one that cannot be read, or a context that it does not have.
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

    /// Reaches a cluster by clients that this makes: one now, and another after each that has gone silent. None of them may
    /// repeat requests by itself.
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

    /// Returns the clock by which all that is done with the cluster goes.
    #[must_use]
    pub const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Does something with what was last seen of the cluster, which nobody changes meanwhile.
    pub(super) fn with_world<T>(&self, work: impl FnOnce(&mut World) -> T) -> T {
        // What a panic leaves behind is put right by the next list.
        work(&mut self.world.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the address of the API server, for messages.
    #[must_use]
    pub fn server(&self) -> &str {
        self.server.trim_end_matches('/')
    }

    /// Returns the CA of the API server as a kubeconfig has it: PEM in base64; none where a public CA is trusted.
    #[must_use]
    pub fn ca_certificate(&self) -> Option<&str> {
        self.ca_certificate.as_deref()
    }
}

/// How a cluster is reached, and the CA by which its nodes know it.
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
        // A Pod has no kubeconfig and a service account.
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

/// Returns the CA of the cluster that a context of a kubeconfig names, be it written in it or in a file beside it.
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
