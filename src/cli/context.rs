//! Selection of the Kubernetes cluster, as in kubectl.

use std::path::PathBuf;

use clap::Args;

use super::headings;

/// Which Kubernetes cluster is meant, as for kubectl.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct ContextArguments {
    /// The kubeconfig's context [default: the current one]
    #[arg(long, value_name = "NAME", help_heading = headings::LIVE)]
    pub(super) context: Option<String>,
    /// The kubeconfig [default: kubectl's]
    #[arg(long, value_name = "FILE", help_heading = headings::LIVE)]
    pub(super) kubeconfig: Option<PathBuf>,
}
