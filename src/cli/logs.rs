//! Log output on standard error: always for the controller, for other live commands if NODEFORM_LOG is set.
//!
//! Must never let a library log what it sends: headers and bodies contain tokens.
#![expect(clippy::disallowed_methods, reason = "NODEFORM_LOG says what is logged")]

use clap::ValueEnum;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::exit::Failure;

/// Libraries of which nothing below a warning is heard.
const QUIET: [&str; 8] = [
    "azure_core",
    "azure_identity",
    "typespec",
    "typespec_client_core",
    "hyper",
    "reqwest",
    "rustls",
    "kube",
];

/// How logs are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// A JSON document a line
    #[default]
    Json,
    /// For people
    Text,
}

/// Returns what NODEFORM_LOG asks for.
pub(super) fn said() -> Option<String> {
    std::env::var("NODEFORM_LOG").ok().filter(|text| !text.is_empty())
}

/// Logs from now on, where nobody does yet.
///
/// # Errors
/// `text` is no list of targets and levels.
pub(super) fn begin(text: &str, format: LogFormat) -> Result<(), Failure> {
    let targets: Targets = text.parse().map_err(|error| {
        Failure::error(format!("NODEFORM_LOG is `{text}`: {error}"))
            .hint("write it as `nodeform=info` or `nodeform=debug`")
    })?;
    let targets = QUIET.iter().fold(targets, |targets, name| targets.with_target(*name, LevelFilter::WARN));
    let registry = tracing_subscriber::registry().with(targets);
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    // The controller has already initialized logging when it connects.
    let _ = match format {
        LogFormat::Json => registry.with(layer.json().flatten_event(true)).try_init(),
        LogFormat::Text => registry.with(layer.with_ansi(false)).try_init(),
    };
    Ok(())
}
