//! The command line of `nodeform-azure-sim`.

use std::path::PathBuf;

/// A simulated Azure and a small Kubernetes cluster to try nodeform on
///
/// Serves both on one port of 127.0.0.1. When ready it prints one JSON line with what a client needs, `env` as
/// environment variables. It ends when its standard input ends. `GET /sim/state` lists everything in brief, and
/// `POST /sim/faults` adds faults.
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "nodeform-azure-sim", version)]
pub struct Options {
    /// Folder of manifests, and of a document of kind SimulatedAzure that says what Azure is like
    #[arg(long, value_name = "DIR")]
    pub world: Option<PathBuf>,
    /// How many times faster than in reality things happen
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub speed: u32,
    /// Seed of all durations and ids
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// File with a document of kind SimulatedFaults: what goes wrong, and when
    #[arg(long, value_name = "FILE")]
    pub faults: Option<PathBuf>,
    /// File to which every exchange with Azure is appended, one JSON line each, without secrets
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// A kubeconfig: kubelets of simulated VMs join that cluster instead of a small one of the simulator's own, and pods
    /// on their nodes run there. Of the world only its SimulatedAzure counts then
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Port to listen on; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
}
