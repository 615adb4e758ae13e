//! The connections to an API server, recreated once one of them has gone silent.
//!
//! A half-open connection accepts requests and never answers: kube's client keeps it in its pool and would use it for
//! the next request. Must never send anything itself.

use std::sync::{Arc, Mutex, PoisonError};

use kube::Client;
use kube::config::Config;

use super::ClusterFailure;

/// The connections to an API server. Clones share them.
#[derive(Clone)]
pub(super) struct Connections(Arc<Shared>);

/// Creates a client with its own connections.
type Connect = Box<dyn Fn() -> Result<Client, ClusterFailure> + Send + Sync>;

struct Shared {
    connect: Connect,
    current: Mutex<Current>,
}

/// A client, and the number of clients before it.
#[derive(Clone)]
pub(super) struct Current {
    pub(super) client: Client,
    pub(super) generation: u64,
}

impl Connections {
    /// Prepares the connections of a configuration; nothing is sent yet. kube's own retries are off: they would repeat
    /// an eviction that a PodDisruptionBudget refuses (429) for minutes, and a renewal of the Lease beyond its
    /// deadline.
    ///
    /// # Errors
    /// The configuration is invalid.
    pub(super) fn of(mut config: Config) -> Result<Self, ClusterFailure> {
        config.default_retry = false;
        Self::made_by(Box::new(move || client_of(&config)))
    }

    /// Prepares connections with `connect`, which is called now and after each that has gone silent.
    ///
    /// # Errors
    /// The first call fails.
    pub(super) fn made_by(connect: Connect) -> Result<Self, ClusterFailure> {
        let current = Mutex::new(Current { client: connect()?, generation: 0 });
        Ok(Self(Arc::new(Shared { connect, current })))
    }

    /// Returns the current client.
    pub(super) fn current(&self) -> Current {
        // No code panics while holding the lock.
        self.0.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Recreates the connections, unless that has happened since this generation.
    pub(super) fn renew(&self, generation: u64) {
        let mut current = self.0.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.generation != generation {
            return;
        }
        // It has created a client before.
        if let Ok(client) = (self.0.connect)() {
            *current = Current { client, generation: generation + 1 };
        }
    }
}

fn client_of(config: &Config) -> Result<Client, ClusterFailure> {
    Client::try_from(config.clone())
        .map_err(|error| ClusterFailure::settings(format!("the kubeconfig cannot be used: {error}")))
}
