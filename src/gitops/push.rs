//! Pushes a plan to its branch. The branch is created and never changed; branches that it replaces are deleted.

use std::collections::BTreeSet;

use super::fault::GitOpsFault;
use super::standing::{Around, Proposal};
use crate::git::remote::{Addition, Beside, Branch, Clone};
use crate::model::NodeName;
use crate::plan::{Plan, file};
use crate::render::proposal::{commit_message, derived};
use crate::review::proposal::{DESTROYS, FolderName, MARKDOWN, PLAN, SIGNATURE};

/// Collapses the plan file in reviews, because people read the page. It is beside the folders of the months.
const ATTRIBUTES: (&str, &str) = (".gitattributes", "plan.jsonc linguist-generated=true -diff\n");

/// A file of a plan's folder: its name and its text.
pub type NamedText = (&'static str, String);

/// Returns the files of a plan's folder; `signature` is the plan's, if it is signed.
#[must_use]
pub fn files(plan: &Plan, signature: Option<String>) -> Vec<NamedText> {
    let derived = derived(plan);
    let destroys = derived.destroys_text().map(|text| (DESTROYS, text));
    let written = [(MARKDOWN, derived.markdown), (PLAN, file::write(plan))];
    let signature = signature.map(|text| (SIGNATURE, text));
    written.into_iter().chain(destroys).chain(signature).collect()
}

/// A plan to propose.
pub struct Proposing<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its folder.
    pub name: FolderName,
    /// The repository with its proposals.
    pub around: &'a Around,
}

/// Result of proposing a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It is proposed on its own branch.
    Proposed {
        /// The folder, from the root of the repository.
        folder: String,
        /// The branch.
        branch: Branch,
        /// The server's message about opening the pull request.
        opened_at: Option<String>,
    },
    /// There is nothing to propose.
    Nothing {
        /// The reason.
        because: String,
        /// The branch that already proposes the same plan.
        same: Option<Branch>,
    },
}

/// A proposal to delete.
#[derive(Clone, Debug)]
pub struct Going<'a> {
    /// The proposal.
    pub proposal: &'a Proposal,
    /// The reason.
    pub why: String,
}

/// A deleted branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// The branch.
    pub branch: String,
    /// Why it was deleted.
    pub why: String,
    /// Why it still exists, if it could not be deleted.
    pub fault: Option<String>,
}

impl Going<'_> {
    /// Deletes the branch, if it has not moved since it was read.
    #[must_use]
    pub fn delete(self, clone: &Clone) -> Gone {
        let Self { proposal, why } = self;
        let fault = clone.delete(&proposal.proposed).err().map(|fault| fault.to_string());
        Gone { branch: proposal.proposed.branch.as_str().to_owned(), why, fault }
    }
}

impl<'a> Proposing<'a> {
    /// Pushes the plan, unless it is already proposed. Proposals that it replaces are kept until they are deleted.
    ///
    /// # Errors
    /// Someone else committed to a proposal that it would replace, a node is in another proposal, or the server
    /// refuses.
    pub fn propose(&self, files: &[NamedText]) -> Result<Pushed, GitOpsFault> {
        let Self { name, around: Around { place, standing, at, .. }, .. } = self;
        if standing.merged.contains(&(name.month.clone(), name.folder())) {
            let because = format!("{name} is on branch `{}` already", place.branch.as_str());
            return Ok(Pushed::Nothing { because, same: None });
        }
        let own = self.branch()?;
        let same =
            self.of_class().find(|other| other.proposed.branch == own || other.says_the_same(self.plan, *at));
        if let Some(same) = same {
            let branch = &same.proposed.branch;
            let because = format!("branch `{}` proposes the same already", branch.as_str());
            return Ok(Pushed::Nothing { because, same: Some(branch.clone()) });
        }
        if let Some(edited) = self.of_class().find(|other| other.is_open && !other.proposed.tip.is_ours) {
            let branch = edited.proposed.branch.as_str();
            return Err(GitOpsFault::of(format!(
                "branch `{branch}` of {} has a commit by somebody else, on a plan that is not merged yet",
                place.address
            ))
            .hint("merge it, or delete the branch, and propose again"));
        }
        self.is_alone()?;
        let (folder, opened_at) = self.push(&own, files)?;
        Ok(Pushed::Proposed { folder, branch: own, opened_at })
    }

    /// Returns the proposals that this one replaces.
    #[must_use]
    pub fn replaces(&self, pushed: &Pushed) -> Vec<Going<'a>> {
        let by = match pushed {
            Pushed::Proposed { branch, .. } => Some(branch),
            Pushed::Nothing { same, .. } => same.as_ref(),
        };
        let Some(by) = by else { return Vec::new() };
        let replaced =
            self.of_class().filter(|other| other.proposed.branch != *by && other.may_be_replaced());
        let going = replaced.map(|proposal| Going {
            proposal,
            why: match proposal.is_open {
                true => format!("replaced by `{}`", by.as_str()),
                false => "merged".to_owned(),
            },
        });
        going.collect()
    }

    /// Returns the proposals of its class.
    fn of_class(&self) -> impl Iterator<Item = &'a Proposal> {
        let class = self.name.class;
        self.around.standing.proposals.iter().filter(move |proposal| proposal.class == class)
    }

    fn branch(&self) -> Result<Branch, GitOpsFault> {
        Ok(Branch::parse(&format!("{}{}", self.around.below, self.name.folder()))?)
    }

    /// Checks that no other open proposal deletes one of its nodes: otherwise, each would be reviewed for a world that
    /// the other changes.
    fn is_alone(&self) -> Result<(), GitOpsFault> {
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
            false => Err(GitOpsFault { faults, ..GitOpsFault::default() }.hint(
                "propose the rest: `nodeform propose --live`; or merge or delete the other branch first",
            )),
        }
    }

    /// Pushes the files; returns their folder, and the server's message.
    fn push(&self, branch: &Branch, files: &[NamedText]) -> Result<(String, Option<String>), GitOpsFault> {
        let Self { name, around: Around { place, clone, standing, at, .. }, .. } = self;
        let parts = place.path.parts();
        let folder: Vec<String> = parts.iter().cloned().chain([name.month.clone(), name.folder()]).collect();
        let (beside, text) = ATTRIBUTES;
        let beside = Beside { depth: parts.len(), name: beside, text };
        let message = commit_message(self.plan);
        let addition = Addition { path: &folder, files, beside, message: &message, at: *at };
        let commit = clone.commit(&standing.target, addition)?;
        Ok((folder.join("/"), clone.push(branch, &commit)?))
    }
}
