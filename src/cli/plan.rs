//! `nodeform plan`: reads, plans, has the plan judged, and prints it.

use std::collections::BTreeSet;

use super::arguments::{PlanArguments, PlanOutput};
use super::exit::{Exit, Failure};
use super::ui::Ui;
use super::{saved, world};
use crate::model::Target;
use crate::offline::World;
use crate::plan::Plan;

pub(super) fn run(arguments: &PlanArguments, ui: Ui) -> Result<Exit, Failure> {
    let PlanArguments { world: from, target, out, output, all, detailed_exitcode } = arguments;
    if from.input.is_empty() {
        return Err(Failure::error("there is nothing to plan: no input was named")
            .hint("name files or folders with manifests: `nodeform plan my-manifests/`")
            .hint("or a dump of a cluster: `kubectl get nodes,nodeclaims,nodepools,aksnodeclasses,pods -A -o yaml | nodeform plan -`")
            .hint("or start with `nodeform init my-cluster`"));
    }
    let targets = world::targets(target)?;
    let world = World { targets, ..world::world(from, ui)? };
    let planned = world::planned(&world)?;
    known(planned.plan.plan(), &world.targets)?;
    let plan = planned.plan.plan();
    if let Some(file) = out {
        saved::save(file, plan, &from.input)?;
    }
    saved::print(plan, out.as_deref(), (*output, *all), ui)?;
    if let (Some(file), PlanOutput::Human) = (out, output) {
        ui.aside(&format!("Saved to `{0}`; show it with `nodeform show {0}`.\n", file.display()));
    }
    let is_changed = !plan.spec.waves.is_empty();
    Ok(if is_changed && *detailed_exitcode { Exit::Changes } else { Exit::Done })
}

/// Refuses targets that name nothing: an empty plan would look as if there were nothing to do.
fn known(plan: &Plan, targets: &BTreeSet<Target>) -> Result<(), Failure> {
    let unknown = crate::plan::target::unknown(plan, targets);
    if unknown.is_empty() {
        return Ok(());
    }
    let faults =
        unknown.iter().map(|target| format!("`--target {target}` is neither in the input nor in the plan"));
    Err(Failure::errors(faults.collect())
        .hint("`nodeform plan … --all` names the pools and nodes; new nodes by VM or NodeClaim"))
}
