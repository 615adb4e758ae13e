//! Which Kubernetes cluster is meant, as for kubectl.

use std::path::PathBuf;

use clap::Args;

/// Which Kubernetes cluster is meant, as for kubectl.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct ContextArguments {
    /// The context of the kubeconfig; else its current one
    #[arg(long, value_name = "NAME")]
    pub(super) context: Option<String>,
    /// The kubeconfig; else kubectl's own
    #[arg(long, value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,
}
