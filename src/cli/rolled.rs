//! Rollout output: one line per event, bars below them on a terminal, and a table of changes at the end.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use clap::ValueEnum;

use super::bars::Tally;
use super::event_line;
use super::exit::Failure;
use super::progress::Progress;
use super::ui::Ui;
use crate::arm::Fault;
use crate::plan::{Change, ChangeId};
use crate::review::ApprovedPlan;
#[cfg(feature = "live")]
use crate::rollout::Action;
use crate::rollout::{Ended, Event, Outcome};

/// How progress is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum RolloutOutput {
    /// For people: a line per event, then what became of each change
    #[default]
    Human,
    /// For programs: one JSON document per line
    Jsonl,
}

/// Shows a rollout.
pub(super) struct Shown {
    plan: Arc<ApprovedPlan>,
    output: RolloutOutput,
    ui: Ui,
    tally: Tally,
    /// The line of bars, for as long as it is shown.
    bars: Option<Progress>,
}

/// Columns that the seconds need which stand after the bars.
const SECONDS_COLUMNS: usize = 10;

impl Shown {
    pub(super) fn new(plan: &Arc<ApprovedPlan>, output: RolloutOutput, ui: Ui) -> Self {
        let tally = Tally::of(plan.spec());
        // Logs would interfere with the line.
        #[cfg(feature = "live")]
        let is_alone = super::logs::said().is_none();
        #[cfg(not(feature = "live"))]
        let is_alone = true;
        let has_bars = output == RolloutOutput::Human && is_alone;
        let bars = has_bars.then(|| Progress::start(&bars_of(&tally, ui)));
        Self { plan: Arc::clone(plan), output, ui, tally, bars }
    }

    /// Shows what happened. A reader that went away does not end the rollout.
    #[cfg(feature = "live")]
    pub(super) fn event(&mut self, event: &Event) {
        match self.output {
            RolloutOutput::Human => self.tell(event, None),
            RolloutOutput::Jsonl => {
                let text = format!("{}\n", self.document(event));
                self.above_bars(event, |ui| ui.text(&text));
            }
        }
    }

    /// Shows what happened, with the time since the rollout began.
    pub(super) fn event_at(&mut self, since: jiff::SignedDuration, event: &Event) {
        let seconds = since.as_secs();
        self.tell(event, Some(&format!("{:02}:{:02}  ", seconds / 60, seconds % 60)));
    }

    /// Writes the lines of an event, where it has some, after the time.
    fn tell(&mut self, event: &Event, time: Option<&str>) {
        let lines = event_line::lines(self.plan.spec(), event, time, self.ui.columns());
        self.above_bars(event, |ui| if lines.is_empty() { Ok(()) } else { ui.lines(&lines) });
    }

    /// Has something printed above the bars, and moves these.
    fn above_bars(&mut self, event: &Event, print: impl FnOnce(Ui) -> Result<(), Failure>) {
        self.tally.take_in(event);
        let said = bars_of(&self.tally, self.ui);
        let print = || print(self.ui);
        let _ = match &self.bars {
            Some(bars) => bars.above(said, print),
            None => print(),
        };
    }

    /// Shows what became of each change.
    pub(super) fn end(&mut self, ended: &Ended) -> Result<(), Failure> {
        self.bars = None;
        match self.output {
            RolloutOutput::Human => {
                self.ui.told(&self.table(ended))?;
                hints(ended).into_iter().for_each(|hint| self.ui.aside(&format!("hint: {hint}\n")));
                Ok(())
            }
            RolloutOutput::Jsonl => self.ui.text(&format!("{}\n", self.summary(ended))),
        }
    }

    /// The object that a change is about, as a plan names it.
    fn object(&self, change: &ChangeId) -> String {
        match self.plan.spec().changes.get(change).map(|planned| &planned.change) {
            Some(Change::Create(create)) => format!("+ node `{}`", create.vm),
            Some(Change::Delete(delete)) => format!("- node `{}`", delete.target.node),
            Some(Change::Update(update)) => format!("~ node `{}`", update.target.node),
            Some(_) | None => format!("~ change `{change}`"),
        }
    }

    #[cfg(feature = "live")]
    fn document(&self, event: &Event) -> Value {
        match event {
            Event::Began(action) => of_action("began", action, None),
            Event::Did(action) => of_action("done", action, None),
            Event::TriesAgain { action, because, .. } => of_action("retry", action, Some(because)),
            Event::Failed { action, because } => of_action("failed", action, Some(because)),
            Event::Panicked { action, because } => of_action("panicked", action, Some(because)),
            Event::Waits { change, wait } => json!({
                "event": "waits", "change": change, "for": wait.what, "until": wait.until.map(|until| until.to_string()),
            }),
            Event::Settled { change, outcome } => {
                json!({"event": "settled", "change": change, "outcome": outcome.word(), "because": outcome.because()})
            }
            Event::Blind { because } => json!({"event": "unreadable", "because": because}),
        }
    }

    fn table(&self, ended: &Ended) -> String {
        let mut text = String::from("\n");
        for (change, outcome) in &ended.outcomes {
            text.push_str(&format!("{}: {outcome}\n", self.object(change)));
        }
        for (change, what) in &ended.open {
            text.push_str(&format!("{}: waits: {what}\n", self.object(change)));
        }
        let Counts { added, changed, destroyed } = self.counts(ended);
        let not_done = ended.not_done();
        let head = match ended.is_so() {
            true => "Apply complete!",
            false if ended.outcomes.values().any(|outcome| *outcome == Outcome::Done) => "Applied in part.",
            false => "Nothing applied.",
        };
        text.push_str(&format!(
            "\n{head} Nodes: {added} added, {changed} changed, {destroyed} destroyed, {not_done} not done.\n"
        ));
        if let Some(time) = ended.stalled_for {
            text.push_str(&format!("Nothing has gone on for {time:#}. "));
        }
        if ended.is_stopped || ended.stalled_for.is_some() {
            text.push_str("Go on with the same plan: `nodeform apply PLAN`.\n");
        }
        text
    }

    fn counts(&self, ended: &Ended) -> Counts {
        let done = ended.outcomes.iter().filter(|(_, outcome)| **outcome == Outcome::Done);
        let mut counts = Counts::default();
        for planned in done.filter_map(|(id, _)| self.plan.spec().changes.get(id)) {
            match planned.change {
                Change::Create(_) => counts.added += 1,
                Change::Update(_) => counts.changed += 1,
                Change::Delete(_) => counts.destroyed += 1,
                Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => {}
            }
        }
        counts
    }

    fn summary(&self, ended: &Ended) -> Value {
        let Counts { added, changed, destroyed } = self.counts(ended);
        json!({
            "event": "end", "plan": self.plan.id(), "added": added, "changed": changed, "destroyed": destroyed,
            "notDone": ended.not_done(),
        })
    }
}

/// How many nodes came, changed in place and went.
#[derive(Default)]
struct Counts {
    added: usize,
    changed: usize,
    destroyed: usize,
}

/// What can be done about what failed, each once.
fn hints(ended: &Ended) -> BTreeSet<&'static str> {
    let hints = |outcome: &Outcome| match outcome {
        Outcome::Failed { code, because } => Fault::hints_of(code, because),
        Outcome::Done
        | Outcome::AlreadySo
        | Outcome::NoLongerNeeded { .. }
        | Outcome::Struck { .. }
        | Outcome::NoLongerHolds { .. }
        | Outcome::Withheld { .. } => BTreeSet::new(),
    };
    ended.outcomes.values().flat_map(hints).collect()
}

fn bars_of(tally: &Tally, ui: Ui) -> String {
    tally.text(ui.columns().saturating_sub(SECONDS_COLUMNS))
}

#[cfg(feature = "live")]
fn of_action(event: &str, action: &Action, because: Option<&String>) -> Value {
    let mut document = json!({"event": event, "change": action.change, "action": action.effect.to_string()});
    if let Some(because) = because {
        document["because"] = json!(because);
    }
    document
}
