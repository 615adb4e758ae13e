//! `nodeform controller`: the automatic mode, in the cluster or beside it.
#![expect(clippy::disallowed_methods, reason = "variables name ports and Lease, and logs go to the terminal")]

use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use tokio::net::TcpListener;

use super::context::ContextArguments;
use super::exit::{Exit, Failure};
use super::live::{AzureArguments, Connected};
use super::logs::{self, LogFormat};
use super::remote;
use super::ui::Ui;
use super::world;
use crate::apply::Stop;
use crate::azure::Azure;
use crate::controller::{
    Controller, Health, Metrics, Repository, Role, run as run_controller, serve_health, serve_metrics,
};

/// What is logged where NODEFORM_LOG says nothing.
const LOG: &str = "nodeform=info";

/// Plans again and again, and carries out what the NodeFleet lets happen.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  nodeform controller --log-format text\n  nodeform controller --role proposer\n\nThe NodeFleet says what happens: mode `observe` (default) shows plans in its status, `auto` carries them out,\n`review` too, but for what moves or replaces nodes: that is proposed on branches of `spec.git.repository`, and carried\nout once it is merged (token: NODEFORM_GIT_TOKEN or NODEFORM_GIT_TOKEN_FILE).\nNODEFORM_LOG says what is logged (default: nodeform=info).\n"
)]
pub(super) struct ControllerArguments {
    /// Run all of it, or one of two processes with rights of their own
    #[arg(long, value_enum, default_value_t)]
    role: RoleArgument,
    /// The port of /metrics, 0 for none; else METRICS_PORT, else 8080
    #[arg(long, value_name = "PORT")]
    metrics_port: Option<u16>,
    /// The port of /healthz and /readyz, 0 for none; else HEALTH_PROBE_PORT, else 8081
    #[arg(long, value_name = "PORT")]
    health_probe_port: Option<u16>,
    /// How logs are written
    #[arg(long, value_enum, default_value_t)]
    log_format: LogFormat,
    /// Sizes and prices to use instead of the embedded ones; may be repeated
    #[arg(long, value_name = "FILE")]
    catalog: Vec<PathBuf>,
    /// Take a repository on this machine by plain HTTP
    #[arg(long)]
    allow_http: bool,
    #[command(flatten)]
    azure: AzureArguments,
    #[command(flatten)]
    context: ContextArguments,
}

/// What of the work a process does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum RoleArgument {
    /// Apply and propose in one process
    #[default]
    All,
    /// Apply plans: writes to Azure and the cluster, only reads Git and the forge
    Controller,
    /// Propose plans: writes to Git and the forge, only reads Azure and the cluster
    Proposer,
}

impl RoleArgument {
    const fn role(self) -> Role {
        match self {
            Self::All => Role::All,
            Self::Controller => Role::Controller,
            Self::Proposer => Role::Proposer,
        }
    }
}

/// Runs the controller until it is told to end.
///
/// # Errors
/// No credentials, no cluster, a port that is taken, settings that cannot be read.
pub(super) fn run(arguments: &ControllerArguments, _ui: Ui) -> Result<Exit, Failure> {
    logs::begin(logs::said().as_deref().unwrap_or(LOG), arguments.log_format)?;
    let catalogs = world::catalogs(&arguments.catalog)?;
    let connected = arguments.azure.connect(&arguments.context)?;
    let Connected { cluster, azure, runtime } = connected;
    let controller = Controller {
        cluster,
        named: arguments.azure.named(),
        catalogs,
        repository: repository(arguments, &azure)?,
        azure,
        identity: identity(),
        metrics: Arc::default(),
        health: Arc::default(),
        stop: Stop::default(),
    };
    runtime.block_on(served(arguments, &controller))?;
    // Abandoned requests must not keep the process alive.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    Ok(Exit::Done)
}

/// Who speaks to the repository that plans are reviewed in.
fn repository(arguments: &ControllerArguments, identity: &Azure) -> Result<Repository, Failure> {
    Ok(Repository {
        access: remote::access_of_service(identity)?,
        allows_http: arguments.allow_http,
        signing_key: remote::signing_key_file(),
        role: arguments.role.role(),
    })
}

async fn served(arguments: &ControllerArguments, controller: &Controller) -> Result<(), Failure> {
    let metrics: Arc<Metrics> = Arc::clone(&controller.metrics);
    let health: Arc<Health> = Arc::clone(&controller.health);
    let mut servers = tokio::task::JoinSet::new();
    if let Some(listener) = listener(arguments.metrics_port, ("METRICS_PORT", 8080)).await? {
        servers.spawn(serve_metrics(listener, metrics));
    }
    if let Some(listener) = listener(arguments.health_probe_port, ("HEALTH_PROBE_PORT", 8081)).await? {
        servers.spawn(serve_health(listener, health));
    }
    let hearing = tokio::spawn(hear(controller.stop.clone()));
    run_controller(controller).await;
    hearing.abort();
    Ok(())
}

async fn listener(
    said: Option<u16>,
    (variable, default): (&str, u16),
) -> Result<Option<TcpListener>, Failure> {
    let of_variable = || std::env::var(variable).ok().filter(|text| !text.is_empty());
    let port = match said {
        Some(port) => port,
        None => of_variable().map_or(Ok(default), |text| text.parse()).map_err(|error| {
            Failure::error(format!("{variable} is no port: {error}"))
                .hint("write a number up to 65535; 0 for none")
        })?,
    };
    if port == 0 {
        return Ok(None);
    }
    let address = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    let bound = match TcpListener::bind(address).await {
        Ok(listener) => Ok(listener),
        // The machine has no IPv6.
        Err(_) => TcpListener::bind(("0.0.0.0", port)).await,
    };
    bound.map(Some).map_err(|error| {
        Failure::error(format!("port {port} cannot be listened on: {error}"))
            .hint(format!("name another by {variable}, or 0 for none"))
    })
}

/// Who holds the Lease: in a cluster the Pod, by name and UID.
fn identity() -> String {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    match (variable("NODEFORM_POD"), variable("NODEFORM_POD_UID")) {
        (Some(pod), Some(uid)) => format!("{pod}_{uid}"),
        (Some(_) | None, _) => super::apply::identity(),
    }
}

/// Hears SIGTERM and Ctrl-C.
async fn hear(stop: Stop) {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    stop.ask();
}
