//! The connections to an API server, made anew once one of them has gone silent.
//!
//! A connection whose other end is gone without a word takes requests and never answers: kube's client keeps it in its pool
//! and would send the next request along it. Must never send anything itself.

use std::sync::{Arc, Mutex, PoisonError};

use kube::Client;
use kube::config::Config;

use super::ClusterFailure;

/// The connections to an API server. Clones share them.
#[derive(Clone)]
pub(super) struct Connections(Arc<Shared>);

/// Makes a client with connections of its own.
type Connect = Box<dyn Fn() -> Result<Client, ClusterFailure> + Send + Sync>;

struct Shared {
    connect: Connect,
    current: Mutex<Current>,
}

/// A client, and how many there were before it.
#[derive(Clone)]
pub(super) struct Current {
    pub(super) client: Client,
    pub(super) generation: u64,
}

impl Connections {
    /// Prepares the connections of a configuration; nothing is sent yet. kube's own retries are off: they would repeat an
    /// eviction that a PodDisruptionBudget refuses (429) for minutes, and a renewal of the Lease beyond its deadline.
    ///
    /// # Errors
    /// The configuration cannot be used.
    pub(super) fn of(mut config: Config) -> Result<Self, ClusterFailure> {
        config.default_retry = false;
        Self::made_by(Box::new(move || client_of(&config)))
    }

    /// Prepares connections that this makes, now and after each that has gone silent.
    ///
    /// # Errors
    /// There is no first one.
    pub(super) fn made_by(connect: Connect) -> Result<Self, ClusterFailure> {
        let current = Mutex::new(Current { client: connect()?, generation: 0 });
        Ok(Self(Arc::new(Shared { connect, current })))
    }

    /// Returns the client to send with.
    pub(super) fn current(&self) -> Current {
        // Nothing panics while it is locked.
        self.0.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes the connections anew, unless somebody has done so since this generation.
    pub(super) fn renew(&self, generation: u64) {
        let mut current = self.0.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.generation != generation {
            return;
        }
        // It made a client before.
        if let Ok(client) = (self.0.connect)() {
            *current = Current { client, generation: generation + 1 };
        }
    }
}

fn client_of(config: &Config) -> Result<Client, ClusterFailure> {
    Client::try_from(config.clone())
        .map_err(|error| ClusterFailure::settings(format!("the kubeconfig cannot be used: {error}")))
}
