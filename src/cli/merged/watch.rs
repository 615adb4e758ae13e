//! Watches the branch while a merged plan is applied: once its folder is removed, no new changes are started.

use std::time::Duration;

use super::super::ui::Ui;
use super::super::world;
use crate::api::node_fleet::Forge as ForgeWord;
use crate::apply::{Stop, WITHDRAWN};
use crate::clock::Clock;
use crate::git::remote::RemoteFault;
use crate::gitops::{Access, Place};
use crate::review::history::{Ancestry, REWRITTEN};
use crate::review::proposal::FolderName;

/// Interval at which the branch is checked, in the cloud's time.
const EVERY: Duration = Duration::from_secs(30);

/// Maximum number of consecutive failed checks before the rollout stops.
const UNSEEN_MAX: u32 = 10;

/// A plan's folder on its branch.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Watch {
    pub(in crate::cli) place: Place,
    pub(in crate::cli) name: FolderName,
    /// The commit that the plan is applied from.
    pub(in crate::cli) head: String,
    /// Read access to the branch.
    pub(in crate::cli) access: Access,
    /// The forge that the NodeFleet names.
    pub(in crate::cli) forge: Option<ForgeWord>,
    /// The clock, for tokens that expire.
    pub(in crate::cli) clock: Clock,
}

impl Watch {
    /// Checks the branch repeatedly. While it cannot be read, the folder may be gone, so no new changes are started.
    pub(in crate::cli) async fn keep(self, clock_speed: u32, stop: Stop, ui: Ui) {
        let mut unseen = 0_u32;
        loop {
            tokio::time::sleep(EVERY / clock_speed.max(1)).await;
            match self.look().await {
                Ok(true) => {
                    if unseen > 0 {
                        ui.aside("The branch can be read again: resuming.\n");
                    }
                    unseen = 0;
                    stop.hold(false);
                }
                Ok(false) => {
                    let branch = self.place.branch.as_str();
                    ui.aside(&format!(
                        "{} is no longer on branch `{branch}`: no new changes start, and removals are rolled back while their VMs exist.\n",
                        self.name
                    ));
                    return stop.withdraw(WITHDRAWN);
                }
                Err(because) => {
                    if unseen == 0 {
                        ui.aside(&format!("Paused: cannot read the branch: {because}\n"));
                    }
                    unseen += 1;
                    stop.hold(true);
                    if unseen >= UNSEEN_MAX {
                        ui.aside("Branch unreachable for 5 minutes; finishing started changes, starting no others.\n");
                        return stop.ask();
                    }
                }
            }
        }
    }

    async fn look(&self) -> Result<bool, String> {
        let renewed = self.access.renew((&self.place, self.forge), self.clock).await;
        renewed.map_err(|fault| fault.to_string())?;
        let watch = self.clone();
        let looked = tokio::task::spawn_blocking(move || watch.is_there()).await;
        looked.map_err(|error| error.to_string()).and_then(|looked| looked)
    }

    /// Returns whether the folder is on the branch, and the branch still contains the commit of the plan.
    fn is_there(&self) -> Result<bool, String> {
        let said = |fault: RemoteFault| fault.to_string();
        let clone = self.place.open(&self.access).map_err(|fault| fault.to_string())?;
        let heads = clone.fetch(&self.place.branch, None).map_err(said)?;
        let plans = clone.plans(&heads.target, &self.place.path).map_err(said)?.entries;
        let folder = self.name.folder();
        let is_there = plans.iter().any(|plan| plan.month == self.name.month && plan.name == folder);
        let until = world::now().checked_add(EVERY).map_err(|error| error.to_string())?;
        let tip = (&self.place.branch, &heads.target);
        match clone.ancestry(tip, &self.head, || world::now() > until) {
            Ok(Ancestry::Follows) => Ok(is_there),
            _ if !is_there => Ok(false),
            Ok(_) => Err(format!("{REWRITTEN}: it no longer contains commit {}", self.head)),
            Err(fault) => Err(said(fault)),
        }
    }
}
