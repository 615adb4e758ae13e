//! Files of a plan's folder: checks that they belong to its plan, and finds out what was struck.

use std::collections::BTreeSet;

use super::fault::ProposalFault;
use super::name::FolderName;
use super::strike::{self, DestroyLine};
use super::template::Template;
use crate::plan::{ChangeId, Plan, file};

/// The file for people.
pub const MARKDOWN: &str = "PLAN.md";
/// The file that is applied.
pub const PLAN: &str = "plan.jsonc";
/// The list of nodes to delete.
pub const DESTROYS: &str = "destroy.txt";

/// The plan's signature, if it is signed.
pub const SIGNATURE: &str = "plan.jsonc.sig";

/// Returns whether a name is that of a plan's file.
#[must_use]
pub fn is_file(name: &str) -> bool {
    matches!(name, MARKDOWN | PLAN | DESTROYS | SIGNATURE)
}

/// Former names of the plan and the list of nodes to delete, which other tools could take for manifests.
const OLD: [&str; 2] = ["plan.json", "destroy.yaml"];

/// Maximum size of a file in bytes: far above any plan that a person can review.
pub const FILE_BYTES_MAX: u64 = 16 << 20;

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A file; its content is not needed if its name is not that of a plan's file.
    Bytes(Vec<u8>),
    /// A file of more than [`FILE_BYTES_MAX`], not read.
    TooLarge,
    /// A folder, a link or a submodule.
    NoFile,
}

/// The files of a folder as found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// `PLAN.md`.
    pub markdown: Option<Vec<u8>>,
    /// `plan.jsonc`.
    pub plan: Option<Vec<u8>>,
    /// `destroy.txt`.
    pub destroys: Option<Vec<u8>>,
    /// `plan.jsonc.sig`.
    pub signature: Option<Vec<u8>>,
}

impl Files {
    /// Sorts the entries of a folder.
    ///
    /// # Errors
    /// A file is too large, or an entry is not a file of a plan.
    pub fn of(found: Vec<(String, Content)>) -> Result<Self, ProposalFault> {
        let large = found.iter().find(|(_, content)| *content == Content::TooLarge);
        if let Some((file, _)) = large {
            return Err(ProposalFault::TooLarge { file: file.clone(), most: FILE_BYTES_MAX });
        }
        let mut files = Self::default();
        for (name, content) in found {
            let Content::Bytes(bytes) = content else { return Err(ProposalFault::NoFile { name }) };
            let file = match &*name {
                MARKDOWN => &mut files.markdown,
                PLAN => &mut files.plan,
                DESTROYS => &mut files.destroys,
                SIGNATURE => &mut files.signature,
                old if OLD.contains(&old) => return Err(ProposalFault::OldName { name }),
                _ => return Err(ProposalFault::OtherFile { name }),
            };
            *file = Some(bytes);
        }
        Ok(files)
    }
}

/// Files derived from a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derived {
    /// `PLAN.md`.
    pub markdown: String,
    /// Lines of `destroy.txt`; without lines there is no such file.
    pub destroys: Vec<DestroyLine>,
}

impl Derived {
    /// Returns the text of `destroy.txt`, if there is one.
    #[must_use]
    pub fn destroys_text(&self) -> Option<String> {
        let text: String = self.destroys.iter().map(|line| format!("{}\n", line.text)).collect();
        (!text.is_empty()).then_some(text)
    }
}

/// A plan as it was reviewed.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The plan.
    pub plan: Plan,
    /// The removals that reviewers struck.
    pub struck: BTreeSet<ChangeId>,
    /// The plan's signature as found, not verified.
    pub signature: Option<String>,
}

/// Reads the files of a folder; `derived` returns the files that a plan has with the template that its page names.
/// Without `name` the folder may have any name.
///
/// # Errors
/// The first mismatch between the files.
pub fn read(
    name: Option<&FolderName>,
    files: Files,
    derived: impl FnOnce(&Plan, Template) -> Derived,
) -> Result<Proposal, ProposalFault> {
    let Files { markdown, plan, destroys, signature } = files;
    let markdown = utf8(MARKDOWN, markdown)?.ok_or(ProposalFault::Missing { file: MARKDOWN })?;
    let plan = utf8(PLAN, plan)?.ok_or(ProposalFault::Missing { file: PLAN })?;
    let (destroys, signature) = (utf8(DESTROYS, destroys)?, utf8(SIGNATURE, signature)?);
    let text = plan;
    let plan = file::read(&text).map_err(ProposalFault::Plan)?;
    // Unknown evidence fields are ignored elsewhere; here they were reviewed and would have no effect.
    if file::write(&plan) != text {
        return Err(ProposalFault::OtherVersion);
    }
    let found = FolderName::of(&plan).filter(|_| plan.spec.execution.is_some());
    let found = found.ok_or(ProposalFault::NotLive)?;
    if let Some(stated) = name.filter(|stated| **stated != found) {
        return Err(ProposalFault::OtherName { stated: stated.to_string(), found: found.to_string() });
    }
    let derived = derived(&plan, Template::of(&markdown)?);
    if markdown != derived.markdown {
        let same = markdown.split('\n').zip(derived.markdown.split('\n'));
        let same = same.take_while(|(found, wanted)| found == wanted).count();
        return Err(ProposalFault::MarkdownDiffers { line: same + 1 });
    }
    let struck = strike::struck(&derived.destroys, destroys.as_deref())?;
    Ok(Proposal { plan, struck, signature })
}

fn utf8(file: &'static str, bytes: Option<Vec<u8>>) -> Result<Option<String>, ProposalFault> {
    match bytes.map(String::from_utf8) {
        Some(Ok(text)) => Ok(Some(text)),
        Some(Err(_)) => Err(ProposalFault::NoText { file }),
        None => Ok(None),
    }
}
