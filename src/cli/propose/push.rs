//! A plan on its way to its branch. That branch is made and never changed; those that it replaces are deleted.

use std::collections::BTreeSet;

use super::super::exit::{Exit, Failure};
use super::super::remote;
use super::super::ui::Ui;
use super::super::world;
use super::standing::{Around, Proposal};
use crate::git::remote::{Addition, Beside, Branch, RemoteFault};
use crate::model::NodeName;
use crate::plan::Plan;
use crate::render::proposal::commit_message;
use crate::review::proposal::FolderName;

/// Folds the plan's file in reviews: people read the page. Lies beside the folders of the months.
const ATTRIBUTES: (&str, &str) = (".gitattributes", "plan.jsonc linguist-generated=true -diff\n");

/// A plan on its way to its branch.
pub(super) struct Proposing<'a> {
    pub(super) plan: &'a Plan,
    pub(super) name: FolderName,
    /// The branch.
    pub(super) branch: Branch,
    /// Where it is proposed.
    pub(super) around: &'a Around,
    pub(super) ui: Ui,
}

impl Proposing<'_> {
    /// Pushes the plan, unless it is proposed already; then deletes the branches that it replaces.
    pub(super) fn propose(&self, files: &[(&'static str, String)]) -> Result<Exit, Failure> {
        let Self { name, around: Around { place, standing, .. }, .. } = self;
        if standing.merged.contains(&(name.month.clone(), name.folder())) {
            return self.nothing(&format!("{name} is on branch `{}` already", place.branch.as_str()));
        }
        let of_class: Vec<&Proposal> =
            standing.proposals.iter().filter(|proposal| proposal.class == name.class).collect();
        let now = world::now();
        let same = of_class.iter().find(|proposal| {
            proposal.proposed.branch == self.branch || proposal.says_the_same(self.plan, now)
        });
        if let Some(same) = same {
            let branch = &same.proposed.branch;
            self.replace(&of_class, branch);
            return self.nothing(&format!("branch `{}` proposes the same already", branch.as_str()));
        }
        if let Some(edited) = of_class.iter().find(|other| other.is_open && !other.proposed.tip.is_ours) {
            let branch = edited.proposed.branch.as_str();
            return Err(Failure::error(format!(
                "branch `{branch}` of {} has a commit that nodeform did not make, on a plan that is not merged yet",
                place.address
            ))
            .hint("merge it, or delete the branch, and propose again"));
        }
        self.is_alone()?;
        self.push(files)?;
        self.replace(&of_class, &self.branch);
        Ok(Exit::Done)
    }

    /// A node stands in one open proposal at most: of two, each would be reviewed for a world that the other changes.
    fn is_alone(&self) -> Result<(), Failure> {
        let goes: BTreeSet<&NodeName> =
            self.plan.spec.deletes().map(|(_, delete)| &delete.target.node).collect();
        let others = self.around.standing.others(Some(self.name.class));
        let faults: Vec<String> = others
            .iter()
            .flat_map(|other| {
                other.deletes().filter(|node| goes.contains(node)).map(move |node| (node, other))
            })
            .map(|(node, other)| format!("node `{node}` is deleted by {} too", other.described()))
            .collect();
        match faults.is_empty() {
            true => Ok(()),
            false => Err(Failure::errors(faults).hint(
                "propose what is left: `nodeform propose --live`; or merge or delete the other branch first",
            )),
        }
    }

    fn push(&self, files: &[(&'static str, String)]) -> Result<(), Failure> {
        let Self { name, around: Around { place, clone, standing, .. }, ui, .. } = self;
        let failed = |fault: RemoteFault| remote::failure(&fault);
        let parts = place.path.parts();
        let folder: Vec<String> = parts.iter().cloned().chain([name.month.clone(), name.folder()]).collect();
        let (beside, text) = ATTRIBUTES;
        let beside = Beside { depth: parts.len(), name: beside, text };
        let message = commit_message(self.plan);
        let addition = Addition { path: &folder, files, beside, message: &message, at: world::now() };
        let commit = clone.commit(&standing.target, addition).map_err(failed)?;
        let opened_at = clone.push(&self.branch, &commit).map_err(failed)?;
        let (branch, target) = (self.branch.as_str(), place.branch.as_str());
        ui.told(&format!("Proposed: {} on branch `{branch}` of {}\n", folder.join("/"), place.address))?;
        if let Some(line) = opened_at {
            ui.aside(&format!("The server says: {line}\n"));
        }
        ui.aside(&format!(
            "Review it there and merge the branch into `{target}`; then carry it out with `nodeform apply --merged`.\n"
        ));
        Ok(())
    }

    /// Deletes the branches that another takes the place of. One that cannot be deleted stands, and is told.
    fn replace(&self, of_class: &[&Proposal], by: &Branch) {
        let replaced =
            of_class.iter().filter(|other| other.proposed.branch != *by && other.may_be_replaced());
        for Proposal { proposed, is_open, .. } in replaced {
            let branch = proposed.branch.as_str();
            let why = if *is_open { format!("replaced by `{}`", by.as_str()) } else { "merged".to_owned() };
            match self.around.clone.delete(proposed) {
                Ok(()) => self.ui.aside(&format!("Deleted branch `{branch}`: {why}\n")),
                Err(fault) => {
                    self.ui.aside(&format!("warning: branch `{branch}` ({why}) is not deleted: {fault}\n"));
                }
            }
        }
    }

    fn nothing(&self, why: &str) -> Result<Exit, Failure> {
        self.ui.told(&format!("Nothing to propose: {why}.\n"))?;
        Ok(Exit::Done)
    }
}
