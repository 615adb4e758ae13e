//! `nodeform plan`: reads, plans, checks the plan, and prints it.

use std::time::Instant;

use jiff::SignedDuration;

use super::against::Against;
use super::arguments::{PlanArguments, PlanOutput, StrategyArgument};
use super::compare::{self, Compared};
use super::exit::{Exit, Failure};
use super::input::{Sides, real};
use super::ui::Ui;
use super::{saved, targets, world};
use crate::automatic;
use crate::manifests::Names;
use crate::manifests::listed::CLUSTER_KINDS;
use crate::model::Wishes;
use crate::offline::validity::Validity;
use crate::offline::{Planned, Request, World};
use crate::plan::Plan;
use crate::solve::Strategy;

pub(super) fn run(arguments: &PlanArguments, ui: Ui) -> Result<Exit, Failure> {
    let PlanArguments {
        world: from,
        names,
        before,
        target,
        replace,
        forget,
        destroy,
        refresh_only: _,
        against,
        strategy,
        out,
        output,
        all,
        verbose,
        detailed_exitcode,
        gates,
        ..
    } = arguments;
    let said = valid_for(arguments)?;
    let valid_for = said.map(Validity::For).unwrap_or_default();
    if from.is_empty() {
        return Err(nothing_named());
    }
    against.iter().try_for_each(|against| against.is_told_in(*output))?;
    let targets = world::targets(target)?;
    let wishes = Wishes { destroy: *destroy, ..world::wishes(replace, forget)? };
    let (laid, sides) = match from.laid(ui)? {
        Some((laid, beside)) => (Some(laid), Sides { before: None, after: beside }),
        None => (None, from.input.sides(before)?),
    };
    let mut read = sides.read();
    read.extend(from.catalog.iter().chain(&from.usage).map(|list| real(list)));
    let Sides { before, after } = sides;
    let passed_by = after.passed_by.clone();
    let names = Names::from(*names);
    let asks_for_both = *strategy == Some(StrategyArgument::Both);
    let strategy = planned_by(*strategy, before.is_none() && targets.is_empty() && !destroy)?;
    let proves_bound = *verbose || asks_for_both;
    let options =
        Request { targets, wishes, laid, names, strategy, proves_bound, valid_for, ..world::options(from)? };
    let sides = Sides { before, after };
    let Compared { planned, patches, strays } =
        compared(sides, &options, (against.as_ref(), asks_for_both), ui)?;
    // The text of manifests contains names.
    let patches = if names == Names::Show { patches } else { Vec::new() };
    passed_by.say(&strays, ui);
    targets::meant(planned.plan.plan(), &options.targets)?;
    fulfilled(planned.plan.plan())?;
    expiring(planned.plan.plan(), said)?;
    let plan = planned.plan.plan();
    if let Some(file) = out {
        saved::save(file, plan, &read)?;
    }
    saved::print((plan, &patches), out.as_deref(), (*output, *all), ui)?;
    against.iter().try_for_each(|_| Against::say(plan, ui))?;
    if let (Some(file), PlanOutput::Human) = (out, output) {
        ui.aside(&format!("Saved to `{0}`; show it with `nodeform show {0}`.\n", file.display()));
    }
    if proves_bound {
        say_unbounded(plan, ui);
    }
    gates.hold(plan)?;
    Ok(if *detailed_exitcode && proposes_changes(plan) { Exit::Changes } else { Exit::Done })
}

/// Plans the input, or the change from one input to another; `against` is the NodeFleet that applies.
fn compared(
    Sides { before, after }: Sides,
    options: &Request,
    (against, asks_for_both): (Option<&Against>, bool),
    ui: Ui,
) -> Result<Compared, Failure> {
    Ok(match before {
        None => {
            let mut world = automatic::by_name(world::inhabited(after, options.clone())?);
            against.iter().try_for_each(|against| against.decide(&mut world))?;
            let planned = if asks_for_both { both(&world, ui) } else { world::planned(&world) };
            Compared { planned: planned?, patches: Vec::new(), strays: world.strays }
        }
        Some(_) if options.names == Names::Omit => {
            return Err(Failure::error("numbers instead of names mean nothing on two sides")
                .hint("hide the names by `--names hash`, which is the same on both"));
        }
        Some(before) => compare::compared(before, after, options, ui)?,
    })
}

/// Returns whether the plan changes nodes, or whether fleet or cost differ between two inputs.
fn proposes_changes(plan: &Plan) -> bool {
    match &plan.evidence.comparison {
        Some(comparison) => comparison.has_changes(),
        None => !plan.spec.waves.is_empty(),
    }
}

/// Returns the failure for a missing input, with the possible inputs.
fn nothing_named() -> Failure {
    let failure = Failure::error("there is nothing to plan: no input was named")
        .hint("name files or folders with manifests: `nodeform plan my-manifests/`")
        .hint(format!("or a dump of a cluster: `kubectl get {CLUSTER_KINDS} -A -o yaml | nodeform plan -`"))
        .hint("or a snapshot of one: `nodeform snapshot --kubectl --out prod.json`, then `nodeform plan --snapshot prod.json`");
    #[cfg(feature = "live")]
    let failure = failure.hint("or a live cluster: `nodeform plan --live`");
    failure.hint("or start with `nodeform init my-cluster`")
}

/// Returns the strategy of the printed plan, if specified.
fn planned_by(strategy: Option<StrategyArgument>, is_whole: bool) -> Result<Option<Strategy>, Failure> {
    let Some(strategy) = strategy else { return Ok(None) };
    match strategy {
        StrategyArgument::Both if !is_whole => {
            Err(Failure::error("`--strategy both` compares whole fleets of one input")
                .hint("leave out `--before`, `--target` and `--destroy`, or choose one strategy"))
        }
        StrategyArgument::Cheapest | StrategyArgument::Both => Ok(Some(Strategy::Cheapest)),
        StrategyArgument::Karpenter => Ok(Some(Strategy::Karpenter)),
    }
}

/// Plans a world with both strategies, and prints how long each took.
#[expect(clippy::disallowed_methods, reason = "timings are printed only; they decide nothing")]
fn both(world: &World, ui: Ui) -> Result<Planned, Failure> {
    let (own, strategy) = (world.strategy, Strategy::Karpenter);
    let started = Instant::now();
    let other = world::planned(&World { proves_bound: false, ..world.clone() }.by(strategy))?;
    let others = started.elapsed();
    let started = Instant::now();
    let planned = world::planned_with(world, |proposed| proposed.beside(own, (strategy, &other)))?;
    ui.aside(&format!(
        "Solved in {:.2} s including the lower bound; Karpenter strategy {:.2} s.\n",
        started.elapsed().as_secs_f64(),
        others.as_secs_f64(),
    ));
    Ok(planned)
}

/// Prints why there is no lower bound of the cost, if so.
fn say_unbounded(plan: &Plan, ui: Ui) {
    let because = match (plan.spec.wishes.destroy, plan.spec.targets.is_empty()) {
        (true, _) => "the pods are left without nodes",
        (false, true) => "the price of a new node is not known",
        (false, false) => "`--target` leaves a part of the fleet out",
    };
    if plan.evidence.report.bound.is_none() {
        ui.aside(&format!("No lower bound of the cost: {because}.\n"));
    }
}

/// Returns the validity of the plan, if specified.
fn valid_for(arguments: &PlanArguments) -> Result<Option<SignedDuration>, Failure> {
    #[cfg(feature = "live")]
    if let Some(text) = &arguments.valid_for {
        return duration("--valid-for", text).map(Some);
    }
    let _ = arguments;
    Ok(None)
}

/// Maximum validity of a plan: by then the cluster has changed too much.
#[cfg(feature = "live")]
const VALID_FOR_MAX: SignedDuration = crate::review::VALID_MAX;

/// Parses a validity period; a day is 24 hours.
///
/// # Errors
/// It is not a duration, not positive, or too long.
#[cfg(feature = "live")]
pub(super) fn duration(flag: &str, text: &str) -> Result<SignedDuration, Failure> {
    const WAYS: &str = "write it as `30m`, `8h` or `7d`, at most `30d`";
    let read = text.parse::<jiff::Span>().ok();
    let read = read.and_then(|span| span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok());
    match read {
        Some(read) if read > VALID_FOR_MAX => {
            Err(Failure::error(format!("`{flag} {text}` is longer than 30 days")).hint(WAYS))
        }
        Some(read) if read.is_positive() => Ok(read),
        Some(_) | None => Err(Failure::error(format!("`{flag} {text}` is no duration")).hint(WAYS)),
    }
}

/// Refuses a validity period for a plan that cannot expire.
fn expiring(plan: &Plan, valid_for: Option<SignedDuration>) -> Result<(), Failure> {
    if valid_for.is_none() || plan.spec.execution.is_some() {
        return Ok(());
    }
    Err(Failure::error("`--valid-for` is for plans of a live cluster: others are never applied")
        .hint("plan with `--live`, or from a snapshot that `nodeform snapshot --live` took"))
}

/// Refuses a plan that does not fulfil an explicit request.
fn fulfilled(plan: &Plan) -> Result<(), Failure> {
    let unfulfilled = crate::plan::wish::unfulfilled(plan);
    if unfulfilled.is_empty() { Ok(()) } else { Err(Failure::errors(unfulfilled)) }
}
