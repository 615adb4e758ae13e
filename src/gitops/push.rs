//! A plan on its way to its branch. That branch is made and never changed; those that it replaces are deleted.

use std::collections::BTreeSet;

use super::fault::GitOpsFault;
use super::standing::{Around, Proposal};
use crate::git::remote::{Addition, Beside, Branch};
use crate::model::NodeName;
use crate::plan::{Plan, file};
use crate::render::proposal::{commit_message, derived};
use crate::review::proposal::{DESTROYS, FolderName, MARKDOWN, PLAN, SIGNATURE};

/// Folds the plan's file in reviews: people read the page. Lies beside the folders of the months.
const ATTRIBUTES: (&str, &str) = (".gitattributes", "plan.jsonc linguist-generated=true -diff\n");

/// A file of a plan's folder: its name and its text.
pub type NamedText = (&'static str, String);

/// Returns the files of a plan's folder; `signature` is of the plan, where it is signed.
#[must_use]
pub fn files(plan: &Plan, signature: Option<String>) -> Vec<NamedText> {
    let derived = derived(plan);
    let destroys = derived.destroys_text().map(|text| (DESTROYS, text));
    let written = [(MARKDOWN, derived.markdown), (PLAN, file::write(plan))];
    let signature = signature.map(|text| (SIGNATURE, text));
    written.into_iter().chain(destroys).chain(signature).collect()
}

/// A plan on its way to its branch.
pub struct Proposing<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its folder.
    pub name: FolderName,
    /// Where it is proposed.
    pub around: &'a Around,
}

/// What became of a plan on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It is proposed on a branch of its own.
    Proposed {
        /// The folder, from the root of the repository.
        folder: String,
        /// The branch.
        branch: String,
        /// What the server says of how it is opened.
        opened_at: Option<String>,
        /// The branches that it takes the place of.
        replaced: Vec<Replaced>,
    },
    /// There is nothing to propose, and why.
    Nothing {
        /// Why.
        because: String,
        /// The branches that another takes the place of.
        replaced: Vec<Replaced>,
    },
}

/// A branch that another takes the place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The branch.
    pub branch: String,
    /// Why it goes.
    pub why: String,
    /// Why it is there still, where it could not be deleted.
    pub fault: Option<String>,
}

impl Proposing<'_> {
    /// Pushes the plan, unless it is proposed already; then deletes the branches that it replaces.
    ///
    /// # Errors
    /// Somebody else committed to what it would replace, a node is in another proposal, or the server refuses.
    pub fn propose(&self, files: &[NamedText]) -> Result<Pushed, GitOpsFault> {
        let Self { name, around: Around { place, standing, at, .. }, .. } = self;
        let nothing = |because: String, replaced| Ok(Pushed::Nothing { because, replaced });
        if standing.merged.contains(&(name.month.clone(), name.folder())) {
            return nothing(format!("{name} is on branch `{}` already", place.branch.as_str()), Vec::new());
        }
        let own = self.branch()?;
        let of_class: Vec<&Proposal> =
            standing.proposals.iter().filter(|proposal| proposal.class == name.class).collect();
        let same = of_class
            .iter()
            .find(|proposal| proposal.proposed.branch == own || proposal.says_the_same(self.plan, *at));
        if let Some(same) = same {
            let branch = &same.proposed.branch;
            let replaced = self.replace(&of_class, branch);
            return nothing(format!("branch `{}` proposes the same already", branch.as_str()), replaced);
        }
        if let Some(edited) = of_class.iter().find(|other| other.is_open && !other.proposed.tip.is_ours) {
            let branch = edited.proposed.branch.as_str();
            return Err(GitOpsFault::of(format!(
                "branch `{branch}` of {} has a commit that nodeform did not make, on a plan that is not merged yet",
                place.address
            ))
            .hint("merge it, or delete the branch, and propose again"));
        }
        self.is_alone()?;
        let (folder, opened_at) = self.push(&own, files)?;
        let replaced = self.replace(&of_class, &own);
        Ok(Pushed::Proposed { folder, branch: own.as_str().to_owned(), opened_at, replaced })
    }

    fn branch(&self) -> Result<Branch, GitOpsFault> {
        Ok(Branch::parse(&format!("{}{}", self.around.below, self.name.folder()))?)
    }

    /// A node stands in one open proposal at most: of two, each would be reviewed for a world that the other changes.
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
                "propose what is left: `nodeform propose --live`; or merge or delete the other branch first",
            )),
        }
    }

    /// Pushes the files; returns their folder, and what the server says.
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

    /// Deletes the branches that another takes the place of. One that cannot be deleted stands.
    fn replace(&self, of_class: &[&Proposal], by: &Branch) -> Vec<Replaced> {
        let replaced =
            of_class.iter().filter(|other| other.proposed.branch != *by && other.may_be_replaced());
        let deleted = replaced.map(|other| {
            let why = match other.is_open {
                true => format!("replaced by `{}`", by.as_str()),
                false => "merged".to_owned(),
            };
            other.delete(&self.around.clone, why)
        });
        deleted.collect()
    }
}

impl Proposal {
    /// Deletes its branch, if it is as it was read.
    #[must_use]
    pub fn delete(&self, clone: &crate::git::remote::Clone, why: String) -> Replaced {
        let fault = clone.delete(&self.proposed).err().map(|fault| fault.to_string());
        Replaced { branch: self.proposed.branch.as_str().to_owned(), why, fault }
    }
}
