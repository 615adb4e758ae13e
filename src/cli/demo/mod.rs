//! `nodeform demo`: applies a plan on a simulated cluster, in a minute, without an account.
//!
//! The world is `examples/demo`, in memory. Planning, checking, approving and rolling out use the code for live
//! clusters; only the APIs are simulated.

mod stage;
mod watched;

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;

use super::arguments::PlanOutput;
use super::exit::{Exit, Failure};
use super::rolled::{RolloutOutput, Shown};
use super::saved;
use super::ui::Ui;
use crate::launch::Materials;
use crate::offline::World;
use crate::review::{CheckedPlan, Now, Terms, approve};
use crate::rollout::Ended;
use stage::{AT_ONCE, Stage};
use watched::Watched;

/// How long a rollout may take, of the world's clock.
const PATIENCE: Duration = Duration::from_secs(2 * 3_600);

/// How fast the demo goes.
#[derive(Args, Debug)]
pub(super) struct DemoArguments {
    /// Run so many times faster than a real Azure; `max` runs without waits
    #[arg(long, value_name = "N|max", default_value = "60")]
    speed: String,
    /// Seed the simulation's random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Show the nodes full-screen while plans are applied, as `nodeform top` does; needs a terminal
    #[arg(long)]
    top: bool,
}

/// Shows what nodeform does, with the commands that a user would type.
///
/// # Errors
/// A speed that is none.
pub(super) fn run(arguments: &DemoArguments, ui: Ui) -> Result<Exit, Failure> {
    let speed = speed(&arguments.speed)?;
    let shows_nodes = arguments.top && io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut demo = Demo { stage: Stage::new(arguments.seed)?, speed, shows_nodes, ui };
    ui.text("A simulated Azure and an AKS cluster, in memory (`examples/demo`). 9 pods wait for nodes.\n")?;
    let came = demo.applied(Some("the first zone turns out to have no room"))?;
    demo.settled()?;
    ui.text("\nNight: web needs 2 pods instead of 6, and no report is due.\n")?;
    demo.stage.scale("shop", "web", 2)?;
    demo.stage.scale("data", "report", 0)?;
    let went = demo.applied(Some("PodDisruptionBudget shop/web lets one pod go at a time"))?;
    demo.settled()?;
    demo.end(&came, &went)?;
    Ok(if came.is_so() && went.is_so() { Exit::Done } else { Exit::InPart })
}

fn speed(text: &str) -> Result<Option<u32>, Failure> {
    if text == "max" {
        return Ok(None);
    }
    text.parse().ok().filter(|speed| *speed > 0).map(Some).ok_or_else(|| {
        Failure::error(format!("`--speed {text}` is no speed")).hint("write a number such as `60`, or `max`")
    })
}

struct Demo {
    stage: Stage,
    /// By what waits are divided; `None`: there are none.
    speed: Option<u32>,
    /// Whether nodes are shown full-screen while plans are applied.
    shows_nodes: bool,
    ui: Ui,
}

impl Demo {
    /// Plans and applies, as `nodeform apply` does.
    fn applied(&mut self, hint: Option<&str>) -> Result<Ended, Failure> {
        self.ui.text("\n$ nodeform plan --live --out plan.json\n")?;
        let (world, checked) = self.stage.planned()?;
        saved::print((checked.plan(), &[]), None, (PlanOutput::Human, false), self.ui)?;
        let remark = hint.map(|hint| format!("    # {hint}")).unwrap_or_default();
        self.ui.text(&format!("\n$ nodeform apply plan.json{remark}\n"))?;
        self.rolled_out(&world, checked)
    }

    fn rolled_out(&mut self, world: &World, checked: CheckedPlan) -> Result<Ended, Failure> {
        let begun = std::collections::BTreeSet::new();
        let now = Now { snapshot: &world.snapshot, policy: &world.policy, begun: &begun };
        let approved = approve(checked, now, Terms::default())
            .map_err(|faults| Failure::errors(faults.iter().map(ToString::to_string).collect()))?;
        let approved = Arc::new(approved);
        let materials = Materials::of((&world.snapshot, &world.policy), approved.spec());
        let mut shown = Shown::new(&approved, RolloutOutput::Human, self.ui);
        let (speed, start) = (self.speed, self.stage.now);
        let mut watched = self.shows_nodes.then(|| Watched::open(speed, self.ui)).transpose()?;
        let ended = self.stage.worked(async |memory| {
            let driver = memory.line(|_| AT_ONCE).driver(&approved, materials).await;
            let driver = driver.map_err(|fault| Failure::error(fault.to_string()).hint(fault.hint()))?;
            let late = || Failure::bug(vec!["the simulated rollout does not end".to_owned()]);
            if let Some(watched) = &mut watched {
                let running = watched.beside(memory, |told| driver.run(told));
                return tokio::time::timeout(PATIENCE, running).await.map_err(|_| late());
            }
            let mut last = start;
            let running = driver.run(|event| {
                let now = memory.clock().now();
                pause(speed, last, now);
                last = now;
                shown.event_at(now.duration_since(start), &event);
            });
            tokio::time::timeout(PATIENCE, running).await.map_err(|_| late())
        })??;
        for (at, event) in watched.map(Watched::close).unwrap_or_default() {
            shown.event_at(at.duration_since(start), &event);
        }
        shown.end(&ended)?;
        self.stage.pass(60);
        Ok(ended)
    }

    /// Plans once more: there is nothing to do.
    fn settled(&mut self) -> Result<(), Failure> {
        self.ui.text("\n$ nodeform plan --live\n")?;
        let (_, checked) = self.stage.planned()?;
        saved::print((checked.plan(), &[]), None, (PlanOutput::Human, false), self.ui)
    }

    fn end(&self, came: &Ended, went: &Ended) -> Result<(), Failure> {
        let minutes = self.stage.minutes();
        let failed = came.not_done() + went.not_done();
        self.ui.text(&format!(
            "\n{} changes in {minutes} minutes of the simulated clock, {failed} of them not done. Now: {}.\n\
             Next: try it with your own manifests, `nodeform plan my-manifests/`, or on a simulated Azure of your own: \
             `docs/trying-it-without-azure.md`.\n",
            came.outcomes.len() + went.outcomes.len(),
            self.stage.left_over(),
        ))
    }
}

/// Waits as long as the world did, divided by the speed.
fn pause(speed: Option<u32>, before: Timestamp, now: Timestamp) {
    let Some(speed) = speed else { return };
    if let Ok(waited) = Duration::try_from(now.duration_since(before)) {
        thread::sleep(waited / speed);
    }
}
