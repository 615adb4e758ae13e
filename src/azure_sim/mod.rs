//! Serves a simulated world: over HTTPS on loopback, in real time; or in memory, in tokio's time.
//!
//! Decides nothing about the world, which is the task of `sim`: it only serves, wakes and records it.
#![expect(
    clippy::disallowed_methods,
    reason = "this module reads the folder of a world and writes the files that a client needs"
)]

mod certificate;
mod files;
mod folder;
mod host;
mod in_memory;
mod options;
mod process;
mod relay;
mod serve;

use std::sync::Arc;

use anyhow::Context as _;

pub use files::{Announcement, Files};
pub use folder::WorldFolder;
pub use in_memory::{Delivery, InMemory, Line};
pub use options::Options;
pub use process::named;

use crate::clock::Clock;
use crate::cluster::{self, Cluster};
use crate::sim::{Start, World};
use certificate::Certificates;
use host::Host;
use relay::Relay;

/// A running simulator.
#[derive(Debug)]
pub struct Simulator {
    /// Connection data for clients; its files are deleted with this value.
    pub files: Files,
    notes: Vec<String>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Simulator {
    /// Starts serving. `skus` returns the SKUs of a region, as ARM lists them. The simulator stops when the value is
    /// dropped.
    ///
    /// # Errors
    /// The world or the faults are invalid, or a file cannot be written.
    pub async fn start(
        options: &Options,
        skus: impl Fn(&str) -> anyhow::Result<Vec<serde_json::Value>>,
    ) -> anyhow::Result<Self> {
        let clock = Clock::of_this_machine();
        let folder = match &options.world {
            Some(path) => WorldFolder::read(path)?,
            None => WorldFolder::default(),
        };
        let mut notes = Vec::new();
        if let (None, Some(file)) = (&options.faults, folder.with_faults.first()) {
            notes.push(format!(
                "the faults in `{0}` are not in effect: pass them with `--faults {0}`",
                file.display()
            ));
        }
        let faults = options.faults.as_deref().map(folder::read_faults).transpose()?.unwrap_or_default();
        let certificates = Certificates::new().context("failed to make a certificate")?;
        let real = match &options.kubeconfig {
            Some(path) => Some(real_cluster(path, clock).await?),
            None => None,
        };
        let ca_certificate = match &real {
            Some(cluster) => cluster.ca_certificate().and_then(pem),
            None => Some(certificates.ca_pem.clone()),
        };
        let start = Start {
            skus: match folder.settings.skus {
                // The world brings its own SKUs, possibly of an unknown region.
                Some(_) => Vec::new(),
                None => skus(&folder.settings.location)?,
            },
            settings: folder.settings,
            manifests: if real.is_some() { Vec::new() } else { folder.manifests },
            faults,
            seed: options.seed,
            speed: options.speed,
            time: clock.now(),
            ca_certificate,
        };
        let world = World::new(start).map_err(|faults| folder::refused("the world", &faults))?;
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", options.port))
            .await
            .with_context(|| format!("failed to listen on port {} of 127.0.0.1", options.port))?;
        let address = listener.local_addr().context("failed to read the address that is listened on")?;
        let files =
            Files::write(&world, &certificates, (address, options.speed), options.kubeconfig.as_deref())?;
        let token = world.credentials().cluster_token.reveal().to_owned();
        let record = options.record.as_deref().map(host::Recorder::create).transpose()?;
        let host = Arc::new(Host::new(world, clock, record));
        let relay = real.map(|real| tokio::spawn(Relay::new(Arc::clone(&host), token, real).run()));
        let serving = tokio::spawn(serve::run(listener, certificates.acceptor()?, host));
        Ok(Self { files, notes, tasks: relay.into_iter().chain([serving]).collect() })
    }

    /// Returns warnings about possibly unintended options, one per line.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

/// Connects to the cluster that kubelets join.
async fn real_cluster(kubeconfig: &std::path::Path, clock: Clock) -> anyhow::Result<Cluster> {
    let settings = cluster::Settings { kubeconfig: Some(kubeconfig.to_owned()), context: None };
    Cluster::of(&settings, clock).await.with_context(|| format!("failed to read `{}`", kubeconfig.display()))
}

/// Decodes a certificate as stored in a kubeconfig.
fn pem(encoded: &str) -> Option<String> {
    String::from_utf8(data_encoding::BASE64.decode(encoded.as_bytes()).ok()?).ok()
}
