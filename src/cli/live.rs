//! `--live`: reads a cluster and its Azure resources once, as the content of a snapshot file.
//!
//! Plans are made from exactly that file, so `snapshot --live` followed by `plan --snapshot` has the same result
//! anywhere. Never writes to the cluster or to Azure.
#![expect(
    clippy::disallowed_methods,
    reason = "variables that name the cluster and its credentials are read here"
)]

use clap::Args;

use super::context::ContextArguments;
use super::exit::Failure;
use super::headings;
use super::logs::{self, LogFormat};
use super::progress::Progress;
use super::ui::Ui;
use super::world;
use crate::azure::{Azure, CloudFault, Settings as AzureSettings, SetupFault};
use crate::clock::Clock;
use crate::cluster::{Cluster, Settings};
use crate::observe::{self, KarpenterVariables, Named, ObserveFault, observe};
use crate::offline::{Laid, Request};
use crate::snapshot::file::SnapshotFile;

/// Variables that name the subscription, the resource group and the cluster: Azure's, and those of Karpenter.
const SUBSCRIPTION: [&str; 2] = ["AZURE_SUBSCRIPTION_ID", "ARM_SUBSCRIPTION_ID"];
const RESOURCE_GROUP: [&str; 1] = ["ARM_RESOURCE_GROUP"];
const CLUSTER: [&str; 1] = ["CLUSTER_NAME"];

/// Which cluster is read live.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct LiveArguments {
    /// Read the cluster and its Azure resources; write to neither
    #[arg(long, help_heading = headings::LIVE, conflicts_with_all = ["inputs", "filenames", "at"])]
    pub(super) live: bool,
    #[command(flatten)]
    pub(super) azure: AzureArguments,
}

/// Which managed cluster is meant, as for az.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct AzureArguments {
    /// The managed cluster's resource group [default: ARM_RESOURCE_GROUP, else by the nodes' own group]
    #[arg(short = 'g', long, value_name = "NAME", help_heading = headings::LIVE)]
    resource_group: Option<String>,
    /// The managed cluster [default: CLUSTER_NAME, else by the nodes' resource group]
    #[arg(long, value_name = "NAME", help_heading = headings::LIVE)]
    cluster_name: Option<String>,
    /// The subscription [default: AZURE_SUBSCRIPTION_ID, else the nodes']
    #[arg(long, value_name = "ID", help_heading = headings::LIVE)]
    subscription: Option<String>,
}

impl LiveArguments {
    /// Reads the cluster; `options` say what else a snapshot holds.
    ///
    /// # Errors
    /// No credentials, a cluster that cannot be read or is another, or objects that are faulty.
    pub(super) fn snapshot(
        &self,
        context: &ContextArguments,
        options: Request,
        ui: Ui,
    ) -> Result<SnapshotFile, Failure> {
        let connected = self.azure.connect(context)?;
        self.azure.snapshot_of(&connected, options, ui)
    }

    /// Reads the cluster as something to plan from.
    ///
    /// # Errors
    /// As [`LiveArguments::snapshot`].
    pub(super) fn laid(&self, context: &ContextArguments, options: Request, ui: Ui) -> Result<Laid, Failure> {
        let snapshot = self.snapshot(context, options, ui)?;
        Ok(observe::laid(&snapshot))
    }
}

impl AzureArguments {
    fn snapshot_of(&self, connected: &Connected, options: Request, ui: Ui) -> Result<SnapshotFile, Failure> {
        let _progress = Progress::start("reading the cluster and its Azure resources");
        // Taken before reading, so that events during the read are later than the snapshot's time.
        let at = world::now();
        let seen = connected.wait_for(observe(&connected.cluster, &connected.azure, &self.named()));
        let seen = seen.map_err(failure)?;
        seen.warnings.iter().for_each(|warning| ui.aside(&format!("warning: {warning}\n")));
        seen.snapshot(options, at).map_err(world::failure)
    }

    /// Makes the clients of the cluster and of Azure.
    ///
    /// # Errors
    /// Everything that is missing, at once.
    pub(super) fn connect(&self, context: &ContextArguments) -> Result<Connected, Failure> {
        if let Some(text) = logs::said() {
            logs::begin(&text, LogFormat::Text)?;
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| Failure::error(format!("the program cannot wait for answers: {error}")))?;
        let (cluster, azure) = runtime.block_on(connected(context))?;
        Ok(Connected { cluster, azure, runtime })
    }

    /// Reads the cluster as something to plan from, by clients that are there.
    ///
    /// # Errors
    /// As [`LiveArguments::snapshot`], but for the clients.
    pub(super) fn laid_of(&self, connected: &Connected, options: Request, ui: Ui) -> Result<Laid, Failure> {
        let snapshot = self.snapshot_of(connected, options, ui)?;
        Ok(observe::laid(&snapshot))
    }

    /// Returns how the managed cluster is named.
    pub(super) fn named(&self) -> Named {
        let Self { resource_group, cluster_name, subscription, .. } = self;
        let or = |said: &Option<String>, names: &[&str]| {
            said.clone().or_else(|| names.iter().find_map(|name| variable(name)))
        };
        Named {
            subscription: or(subscription, &SUBSCRIPTION),
            resource_group: or(resource_group, &RESOURCE_GROUP),
            cluster: or(cluster_name, &CLUSTER),
            karpenter: KarpenterVariables::of(&variable),
        }
    }
}

/// The clients of a cluster and of Azure, and what waits for their answers.
pub(super) struct Connected {
    /// The cluster.
    pub(super) cluster: Cluster,
    /// Azure.
    pub(super) azure: Azure,
    /// Where answers are waited for.
    pub(super) runtime: tokio::runtime::Runtime,
}

impl Connected {
    /// Waits for an answer.
    pub(super) fn wait_for<T>(&self, answer: impl Future<Output = T>) -> T {
        self.runtime.block_on(answer)
    }
}

/// Makes both clients; everything that is missing is told at once.
async fn connected(context: &ContextArguments) -> Result<(Cluster, Azure), Failure> {
    let ContextArguments { context, kubeconfig } = context.clone();
    let cluster = Cluster::of(&Settings { context, kubeconfig }, Clock::of_this_machine()).await;
    let settings = AzureSettings::from_environment(&variable, format!("cli-{}", std::process::id()));
    let azure = settings.and_then(Azure::new);
    let mut failure = Failure::errors(Vec::new());
    if let Err(fault) = &cluster {
        failure = failure.and(&fault.what, Some(&fault.hint));
    }
    if let Err(fault) = &azure {
        failure = failure.and(&fault.to_string(), hint(fault));
    }
    match (cluster, azure) {
        (Ok(cluster), Ok(azure)) => Ok((cluster, azure)),
        _ => Err(failure),
    }
}

/// Returns what to do about credentials or settings of Azure.
const fn hint(fault: &SetupFault) -> Option<&'static str> {
    match fault {
        SetupFault::SignIn(_) => Some(
            "sign in with `az login`, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET of an identity that may read the cluster",
        ),
        SetupFault::Cloud(CloudFault::File { .. }) => Some(
            "write the file anew, as the SDKs of Azure read it, or unset AZURE_ENVIRONMENT_FILEPATH for Azure's public cloud",
        ),
        SetupFault::Cloud(CloudFault::UnknownName(_)) => {
            Some("set it to one of these, or unset it for Azure's public cloud")
        }
        SetupFault::Transport(_) => Some("name a certificate in PEM as `caFile`, or none"),
        // The message itself already says what to do.
        SetupFault::Cloud(CloudFault::NameAndFile(_) | CloudFault::OtherAuthority { .. }) => None,
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

fn failure(faults: Vec<ObserveFault>) -> Failure {
    let none = Failure::errors(Vec::new());
    faults.iter().fold(none, |failure, fault| failure.and(&fault.what, fault.hint.as_deref()))
}
