//! The simulator's HTTP side: a world behind TLS on loopback, in the time of this machine.
//!
//! What happens in the world is decided in `sim`; here it is only served, woken and written down.
#![expect(
    clippy::disallowed_methods,
    reason = "this module reads the folder of a world, writes the files that a client needs, and reads the clock"
)]

mod certificate;
mod files;
mod folder;
mod host;
mod options;
mod serve;

use std::sync::Arc;

use anyhow::Context as _;
use jiff::Timestamp;

pub use files::{Announcement, Files};
pub use folder::WorldFolder;
pub use options::Options;

use crate::sim::{Start, World};
use certificate::Certificates;
use host::Host;

/// A simulator that serves.
#[derive(Debug)]
pub struct Simulator {
    /// What a client needs to know; the files it names go with this value.
    pub files: Files,
    task: tokio::task::JoinHandle<()>,
}

impl Simulator {
    /// Starts serving; `skus` says what is sold in a region, as ARM lists it. It ends when the value is dropped.
    ///
    /// # Errors
    /// What is wrong with the world, the faults or the files that it is to write.
    pub async fn start(
        options: &Options,
        skus: impl Fn(&str) -> anyhow::Result<Vec<serde_json::Value>>,
    ) -> anyhow::Result<Self> {
        let folder = match &options.world {
            Some(path) => WorldFolder::read(path)?,
            None => WorldFolder::default(),
        };
        let faults = options.faults.as_deref().map(folder::read_faults).transpose()?.unwrap_or_default();
        let certificates = Certificates::new().context("failed to make a certificate")?;
        let start = Start {
            skus: skus(&folder.settings.location)?,
            settings: folder.settings,
            manifests: folder.manifests,
            faults,
            seed: options.seed,
            speed: options.speed,
            time: Timestamp::now(),
            ca_certificate: Some(certificates.ca_pem.clone()),
        };
        let world = World::new(start).map_err(|faults| folder::refused("the world", &faults))?;
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", options.port))
            .await
            .with_context(|| format!("failed to listen on port {} of 127.0.0.1", options.port))?;
        let address = listener.local_addr().context("failed to read the address that is listened on")?;
        let files = Files::write(&world, &certificates, address, options.speed)?;
        let record = options.record.as_deref().map(host::Recorder::create).transpose()?;
        let host = Arc::new(Host::new(world, record));
        let task = tokio::spawn(serve::run(listener, certificates.acceptor()?, host));
        Ok(Self { files, task })
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.task.abort();
    }
}
