//! Plans that were seen on the branch, wait, and are no longer there: what has begun is finished, and they are spent.

use std::collections::BTreeSet;

use super::super::apply;
use super::super::exit::Failure;
use super::super::remote::Place;
use super::Merged;
use crate::apply::WITHDRAWN;
use crate::git::remote::PlanEntry;
use crate::ledger::{Ledger, Recorded};
use crate::plan::{Plan, file};

/// The plans under way whose folder is no longer on this branch, by their folders. Those of another place are not known of.
pub(super) fn withdrawn<'l>(
    ledger: &'l Ledger,
    place: &Place,
    entries: &[PlanEntry],
) -> Vec<(&'l str, &'l Recorded)> {
    let there: BTreeSet<String> =
        entries.iter().map(|entry| format!("{}/{}", entry.month, entry.name)).collect();
    let start = place.folder(&"");
    let merged =
        ledger.unfinished().filter_map(|plan| Some((plan.folder.as_deref()?.strip_prefix(&start)?, plan)));
    merged.filter(|(folder, _)| !there.contains(*folder)).collect()
}

impl Merged<'_> {
    /// Ends a plan whose folder is gone.
    ///
    /// # Errors
    /// It cannot be read back, or what has begun cannot be finished.
    pub(super) fn withdraw(&mut self, folder: &str, recorded: &Recorded) -> Result<(), Failure> {
        self.ui.aside(&format!("{folder} is no longer on the branch: withdrawn.\n"));
        let plan = self.read_back(recorded)?;
        let world = apply::observed(self.arguments, self.connected, self.ui)?;
        let ended = self.applying(world, None).finish(plan, WITHDRAWN)?;
        self.note(&ended)
    }

    fn read_back(&self, recorded: &Recorded) -> Result<Plan, Failure> {
        let text = self.connected.wait_for(crate::apply::text(&self.connected.cluster, recorded));
        let text = text.map_err(|fault| apply::not_begun(&fault))?;
        file::read_spec(&text).map_err(|fault| {
            Failure::of_plan_file(format!("NodePlan `{}` cannot be used: {fault}", recorded.name), &fault)
        })
    }
}
