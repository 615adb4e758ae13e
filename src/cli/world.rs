//! Converts arguments to a world and its plan, for `plan` and `explain`.
#![expect(
    clippy::disallowed_methods,
    reason = "reading the clock and the files that were named is this module's job"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::arguments::{CronArgument, HpaArgument, WhatIfArguments, WorldArguments};
use super::exit::Failure;
use super::input::Inputs;
use super::progress::Progress;
use super::ui::Ui;
use crate::catalog::Catalog;
use crate::manifests::Names;
use crate::manifests::{Cron, Hpa, ReadOptions, Scale};
use crate::model::{NodeName, NodeSelector, Region, Target, Usage, Wishes};
use crate::offline::validity::Validity;
use crate::offline::{self, Catalogs, Laid, Planned, Problem, Proposed, Request, World};
use crate::render::words::count;
use crate::review::RefusedPlan;
use crate::snapshot::Question;
use crate::solve::Strategy;

/// Maximum size of a list of sizes or prices in bytes; a region's answers have a few megabytes.
const CATALOG_BYTES_MAX: u64 = 256 << 20;

impl WorldArguments {
    /// Returns whether no input was specified.
    pub(super) fn is_empty(&self) -> bool {
        #[cfg(feature = "live")]
        if self.live.live {
            return false;
        }
        self.input.is_empty() && self.laid.snapshot.is_none()
    }

    /// Reads the specified snapshot, or takes one of a live cluster; `None` for other inputs.
    ///
    /// # Errors
    /// Everything that cannot be read.
    pub(super) fn laid(&self, ui: Ui) -> Result<Option<(Laid, Inputs)>, Failure> {
        #[cfg(feature = "live")]
        if self.live.live {
            if self.laid.snapshot.is_some() {
                return Err(Failure::error(
                    "a snapshot takes the place of a live cluster, and both were named",
                )
                .hint("leave out `--live` or `--snapshot`"));
            }
            let Request { catalogs, usages, location, .. } = options(self)?;
            let asked = Request { catalogs, usages, location, ..Request::default() };
            return Ok(Some((self.live.laid(&self.context, asked, ui)?, Inputs::default())));
        }
        let _ = ui;
        self.laid.read(&self.input)
    }
}

/// Reads the specified input and returns its world, planned with `strategy` if given.
pub(super) fn world(
    arguments: &WorldArguments,
    strategy: Option<Strategy>,
    ui: Ui,
) -> Result<World, Failure> {
    let (laid, inputs) = match arguments.laid(ui)? {
        Some((laid, beside)) => (Some(laid), beside),
        None => (None, arguments.input.read()?),
    };
    let passed_by = inputs.passed_by.clone();
    let world = inhabited(inputs, Request { laid, strategy, ..options(arguments)? })?;
    passed_by.say(&world.strays, ui);
    Ok(world)
}

/// Returns the world of an input, which must contain an object.
pub(super) fn inhabited(inputs: Inputs, options: Request) -> Result<World, Failure> {
    let passed_by = inputs.passed_by.clone();
    let world = described(inputs, options)?;
    if world.objects == 0 { Err(passed_by.nothing_found(&world.strays)) } else { Ok(world) }
}

/// Returns a request without its input.
pub(super) fn options(arguments: &WorldArguments) -> Result<Request, Failure> {
    let WorldArguments { location, catalog, usage, at, what_if, no_system_daemonsets, .. } = arguments;
    Ok(Request {
        sources: Vec::new(),
        reading: reading(what_if)?,
        laid: None,
        names: Names::Show,
        gaps: Vec::new(),
        listed: BTreeSet::new(),
        azure: None,
        at: at.as_deref().map(time).transpose()?,
        location: location.as_deref().map(region),
        catalogs: catalogs(catalog)?,
        usages: usages(usage.as_deref())?,
        question: question(what_if)?,
        wishes: Wishes::default(),
        targets: BTreeSet::new(),
        strategy: None,
        proves_bound: false,
        valid_for: Validity::default(),
        without_system_daemons: *no_system_daemonsets,
    })
}

/// Returns the world of an input, which may be empty.
pub(super) fn described(inputs: Inputs, options: Request) -> Result<World, Failure> {
    let bytes: usize = inputs.files.iter().map(|file| file.source.bytes.len()).sum();
    let _progress = Progress::start(&format!("reading {} MB of manifests", bytes / 1_000_000));
    let (gaps, rendered) = (inputs.all_gaps(), inputs.rendered.clone());
    let revision = inputs.commit.is_some().then(|| inputs.name.clone());
    offline::world(Request { sources: inputs.sources(), gaps, ..options }).map_err(|problems| {
        let failure = Inputs::explained(&rendered, failure(problems));
        match revision {
            Some(revision) => failure.of_work_tree(&revision),
            None => failure,
        }
    })
}

/// Returns the what-if conditions.
fn question(arguments: &WhatIfArguments) -> Result<Question, Failure> {
    let WhatIfArguments { from_scratch, without_zone, hpa: _, cron: _, scale: _ } = arguments;
    let selector = from_scratch.as_deref().map(NodeSelector::parse).transpose().map_err(|fault| {
        Failure::error(format!("`--from-scratch`: {fault}"))
            .hint("write it as after kubectl's `-l`: `--from-scratch=agentpool=web` or `--from-scratch='agentpool in (web,batch)'`")
    })?;
    Ok(Question { from_scratch: selector, without_zones: without_zone.clone() })
}

/// Returns the options for the number of pods of workloads.
fn reading(arguments: &WhatIfArguments) -> Result<ReadOptions, Failure> {
    let (scale, faults): (Vec<_>, Vec<_>) = arguments
        .scale
        .iter()
        .map(|text| (text, text.parse::<Scale>()))
        .partition(|(_, scale)| scale.is_ok());
    if !faults.is_empty() {
        let said = faults
            .into_iter()
            .filter_map(|(text, scale)| scale.err().map(|fault| format!("`--scale {text}`: {fault}")));
        return Err(Failure::errors(said.collect()));
    }
    let hpa = match arguments.hpa {
        HpaArgument::Min => Hpa::Min,
        HpaArgument::Max => Hpa::Max,
        HpaArgument::Current => Hpa::Current,
    };
    let cron = arguments.cron.map(|cron| match cron {
        CronArgument::Running => Cron::Running,
        CronArgument::Peak => Cron::Peak,
    });
    let scale = scale.into_iter().filter_map(|(_, scale)| scale.ok()).collect();
    Ok(ReadOptions { hpa, cron, scale, may_miss_scaled: false })
}

/// Returns the targets that limit a plan.
pub(super) fn targets(texts: &[String]) -> Result<BTreeSet<Target>, Failure> {
    let (targets, faults): (Vec<_>, Vec<_>) =
        texts.iter().map(|text| text.parse::<Target>()).partition(Result::is_ok);
    if faults.is_empty() {
        return Ok(targets.into_iter().flatten().collect());
    }
    let faults = faults.into_iter().filter_map(Result::err).map(|fault| format!("`--target`: {fault}"));
    Err(Failure::errors(faults.collect()))
}

/// Returns the requests for single nodes, given as `NAME` or `node/NAME`.
pub(super) fn wishes(replace: &[String], forget: &[String]) -> Result<Wishes, Failure> {
    let mut faults = Vec::new();
    let mut nodes = |flag: &str, texts: &[String]| -> BTreeSet<NodeName> {
        let mut nodes = BTreeSet::new();
        for text in texts {
            let asked = if text.contains('/') { text.parse() } else { Ok(Target::Node(NodeName::new(text))) };
            match asked {
                Ok(Target::Node(name)) => drop(nodes.insert(name)),
                Ok(Target::NodePool(_)) | Err(_) => faults.push(format!("`{flag} {text}` names no node")),
            }
        }
        nodes
    };
    let wishes = Wishes {
        replace: nodes("--replace", replace),
        forget: nodes("--forget", forget),
        ..Wishes::default()
    };
    if faults.is_empty() {
        return Ok(wishes);
    }
    Err(Failure::errors(faults).hint("write the node's name, or `node/NAME`"))
}

/// Plans a world. A plan that the checker rejects is a bug and is not shown.
pub(super) fn planned(world: &World) -> Result<Planned, Failure> {
    planned_with(world, |proposed| proposed)
}

/// Plans a world with a progress line, extends the proposal, and runs the checker.
///
/// # Errors
/// The checker rejected the plan: a bug in nodeform.
pub(super) fn planned_with(
    world: &World,
    with: impl FnOnce(Proposed) -> Proposed,
) -> Result<Planned, Failure> {
    let progress = Progress::start(&format!("planning {}", count(world.snapshot.pods.len(), "pod")));
    let proposed = with(offline::propose(world));
    progress.say("judging the plan".to_owned());
    offline::judge(world, proposed).map_err(refused)
}

/// Returns the failure for a plan that the checker rejects.
pub(super) fn refused(refused: RefusedPlan) -> Failure {
    Failure::bug(refused.findings.iter().map(ToString::to_string).collect())
}

/// Returns a region in Azure's notation: `West Europe` is `westeurope`.
pub(super) fn region(text: &str) -> Region {
    Region::new(text.replace(' ', "").to_ascii_lowercase())
}

/// Reads lists of sizes and prices.
pub(super) fn catalogs(paths: &[PathBuf]) -> Result<Catalogs, Failure> {
    let mut texts = Vec::new();
    let mut faults = Vec::new();
    for path in paths {
        match text(path) {
            Ok(text) => texts.push((path.display().to_string(), text)),
            Err(error) => faults.push(format!("`--catalog {}` cannot be read: {error}", path.display())),
        }
    }
    if faults.is_empty() {
        return Ok(texts.into());
    }
    Err(Failure::errors(faults)
        .hint("name a file with Azure's answer or a list of instance types; `/dev/stdin` is standard input"))
}

/// Reads a subscription's quota usage.
pub(super) fn usages(path: Option<&Path>) -> Result<Option<Vec<Usage>>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let text = text(path).map_err(|error| {
        Failure::error(format!("`--usage {}` cannot be read: {error}", path.display()))
            .hint("make it with `az vm list-usage --location REGION -o json`")
    })?;
    let read = Catalog::usages(&path.display().to_string(), &text);
    read.map(Some).map_err(|faults| Failure::errors(faults.iter().map(ToString::to_string).collect()))
}

fn text(path: &Path) -> std::io::Result<String> {
    if fs::metadata(path)?.len() > CATALOG_BYTES_MAX {
        return Err(std::io::Error::other(format!("it has more than {CATALOG_BYTES_MAX} bytes")));
    }
    fs::read_to_string(path)
}

/// Parses the time of a flag; `now` is the current time.
pub(super) fn time(text: &str) -> Result<Timestamp, Failure> {
    if text == "now" {
        return Ok(now());
    }
    let midnight = |date: Date| date.to_zoned(TimeZone::UTC).map(|time| time.timestamp());
    text.parse().or_else(|_| text.parse().and_then(midnight)).map_err(|_| {
        Failure::error(format!("`{text}` is no time"))
            .hint("write it as in `--at 2026-11-21T09:00:00Z`, the date alone for its start in UTC, or `now`")
    })
}

/// Returns the current time in whole seconds: the only place that reads the clock.
pub(super) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// Returns the failure with all problems of an input.
pub(super) fn failure(problems: Vec<Problem>) -> Failure {
    let mut failure = Failure::errors(problems.iter().map(ToString::to_string).collect());
    if problems.len() > 1 {
        failure.faults.push(format!("{} faults", problems.len()));
    }
    failure
}
