//! What came of all rounds: counts and lines for people, and what is wrong.

use std::fmt::{self, Write as _};

use super::round::{Order, Outcome};
use super::stories::Story;

/// Worlds where even a scheduler that is told the plan may strand a pod, and why.
const STRANDED_NOMINATED: [(&str, &str); 1] = [(
    "fixtures/karpenter-cases/73-min-domains-shared-group",
    "pods that ask for more zones than there are can be bound only before the others that they count",
)];

/// What is counted over all worlds and orders.
#[derive(Default)]
pub(crate) struct Counts {
    as_planned: usize,
    elsewhere: usize,
    left_out: usize,
    stranded: usize,
    stranded_alone: usize,
    worlds: usize,
    examples: usize,
    /// The lines of the world that is being counted.
    lines: String,
    text: String,
    faults: String,
}

impl Counts {
    /// Counts a round of pods that have their node nominated.
    pub(crate) fn nominated(&mut self, story: &Story, order: Order, outcome: &Outcome) {
        let Outcome { as_planned, elsewhere, stranded, left_out } = outcome;
        self.as_planned += as_planned;
        self.elsewhere += elsewhere.len();
        self.left_out += left_out.len();
        self.stranded += stranded.len();
        self.note(&format!("{order}, nominated, bound elsewhere"), elsewhere);
        self.note(&format!("{order}, left out"), left_out);
        self.note(&format!("{order}, nominated, stranded"), stranded);
        if !STRANDED_NOMINATED.iter().any(|(name, _)| *name == story.name) {
            self.fault(story, &format!("{order}, nominated, stranded"), stranded);
        }
    }

    /// Counts a round in which the scheduler knows nothing of the plan.
    pub(crate) fn alone(&mut self, story: &Story, order: Order, outcome: &Outcome) {
        let what = format!("{order}, alone, stranded");
        self.stranded_alone += outcome.stranded.len();
        self.note(&what, &outcome.stranded);
        self.fault(story, &what, &outcome.stranded);
    }

    /// Ends a world.
    pub(crate) fn end(&mut self, story: &Story) {
        self.worlds += 1;
        self.examples += usize::from(story.is_bound_alone());
        let lines = std::mem::take(&mut self.lines);
        if !lines.is_empty() {
            write!(self.text, "{}\n{lines}", story.name).expect("text can be written to");
        }
    }

    /// Returns what is wrong, a line for each.
    pub(crate) fn faults(&self) -> &str {
        &self.faults
    }

    fn note(&mut self, what: &str, of: &[String]) {
        for line in of {
            writeln!(self.lines, "  {what}: {line}").expect("text can be written to");
        }
    }

    fn fault(&mut self, story: &Story, what: &str, of: &[String]) {
        for line in of {
            writeln!(self.faults, "{}: {what}: {line}", story.name).expect("text can be written to");
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { as_planned, elsewhere, left_out, stranded, stranded_alone, worlds, examples, .. } = self;
        writeln!(
            formatter,
            "{}{worlds} worlds. Told the plan, the scheduler binds {as_planned} pods as planned \
             and {elsewhere} elsewhere, and strands {stranded}; {left_out} cannot be created in any cluster. \
             Not told, it strands {stranded_alone} pods of {examples} worlds.",
            self.text
        )
    }
}
