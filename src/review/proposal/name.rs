//! Names of a plan's folder and branch.

use std::collections::BTreeSet;
use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::fault::ProposalFault;
use crate::model::ChangeClass;
use crate::plan::{Change, Plan};
use crate::review::VALID_MAX;

/// Classes that a plan folder may be named after, the most severe last.
const CLASSES: [ChangeClass; 6] = [
    ChangeClass::Update,
    ChangeClass::RemoveEmpty,
    ChangeClass::Create,
    ChangeClass::MovePods,
    ChangeClass::Replace,
    ChangeClass::DeletePool,
];

/// Length of a plan's id, in characters.
const ID_LENGTH: usize = 10;

/// Name of a plan's folder: `2026-11/move-pods-k3v9q2m7xa`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderName {
    /// Month of the snapshot, in UTC: `2026-11`.
    pub month: String,
    /// The class.
    pub class: ChangeClass,
    /// The plan's id.
    pub id: String,
}

impl FolderName {
    /// Returns the name of a plan's folder; `None` for a plan that changes nothing or is not live.
    #[must_use]
    pub fn of(plan: &Plan) -> Option<Self> {
        let seen_at = plan.spec.execution.as_ref()?.seen_at?;
        let month = seen_at.to_string().get(..7)?.to_owned();
        Some(Self { month, class: class(plan)?, id: plan.id() })
    }

    /// Parses the names of a folder and its parent folder.
    ///
    /// # Errors
    /// They are not in nodeform's format.
    pub fn parse(month: &str, folder: &str) -> Result<Self, ProposalFault> {
        let named = || ProposalFault::Name { name: format!("{month}/{folder}") };
        let (class, id) = parts(folder).ok_or_else(named)?;
        if !is_month(month) {
            return Err(ProposalFault::Month { name: folder.to_owned(), month: month.to_owned() });
        }
        Ok(Self { month: month.to_owned(), class, id: id.to_owned() })
    }

    /// Returns whether a folder with these names occupies the place of another plan. Names of neither a plan nor a
    /// month, such as a copy for inspection, occupy none.
    #[must_use]
    pub fn is_misplaced(&self, month: &str, folder: &str) -> bool {
        let (is_plan, is_dated) = (is_plan(folder), is_dated(month));
        ((is_plan || is_dated) && folder != self.folder()) || (is_dated && month != self.month)
    }

    /// Returns the branch on which only this plan is proposed.
    #[must_use]
    pub fn branch(&self, cluster: &str) -> String {
        format!("{}{}", branches(cluster), self.folder())
    }

    /// Returns the name of the folder itself, without its month.
    #[must_use]
    pub fn folder(&self) -> String {
        format!("{}-{}", self.class, self.id)
    }
}

impl fmt::Display for FolderName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.month, self.folder())
    }
}

/// Returns whether a name is that of a month's folder, such as `2026-11`.
#[must_use]
pub fn is_month(name: &str) -> bool {
    let Some((year, month)) = name.split_once('-') else { return false };
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_in_year = month.parse::<u8>().is_ok_and(|month| (1..=12).contains(&month));
    year.len() == 4 && month.len() == 2 && are_digits(year) && are_digits(month) && is_in_year
}

/// Returns whether a name looks like a month's folder, whether the month exists or not, such as `2026-13`.
#[must_use]
pub fn is_dated(name: &str) -> bool {
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.split_once('-').is_some_and(|(year, month)| are_digits(year) && are_digits(month))
}

/// Returns whether all plans of a month, such as `2026-11`, expired more than a week ago: its folder need not be read.
#[must_use]
pub fn is_month_over(month: &str, now: Timestamp) -> bool {
    let told = SignedDuration::from_hours(7 * 24);
    let first = format!("{month}-01").parse::<Date>().ok().filter(|_| is_month(month));
    let last = first.and_then(|first| first.last_of_month().tomorrow().ok());
    let last = last.and_then(|end| end.to_zoned(TimeZone::UTC).ok());
    last.is_some_and(|end| now.duration_since(end.timestamp()) > VALID_MAX + told)
}

/// Returns whether a name is that of a plan's folder, without its month.
#[must_use]
pub fn is_plan(name: &str) -> bool {
    parts(name).is_some()
}

/// Returns the class that a plan is reviewed as: the most severe of its changes. `None` for a plan that changes
/// nothing.
#[must_use]
pub fn class(plan: &Plan) -> Option<ChangeClass> {
    classes(plan).into_iter().max_by_key(|class| CLASSES.iter().position(|known| known == class))
}

/// Returns the classes that a plan's changes are reviewed as.
#[must_use]
pub fn classes(plan: &Plan) -> BTreeSet<ChangeClass> {
    plan.spec.changes.values().flat_map(|planned| of_change(&planned.change)).collect()
}

fn of_change(change: &Change) -> Vec<ChangeClass> {
    match change {
        Change::Create(_) => vec![ChangeClass::Create],
        Change::Delete(delete) => vec![ChangeClass::of(delete.reason)],
        // Apply does not support all of these yet.
        Change::Update(_) | Change::Adopt(_) | Change::Forget(_) => vec![ChangeClass::Update],
        Change::NoOp(_) => Vec::new(),
    }
}

/// Parses class and id from the name of a folder or the end of a branch name.
fn parts(folder: &str) -> Option<(ChangeClass, &str)> {
    let (class, id) = folder.rsplit_once('-')?;
    let class = CLASSES.into_iter().find(|known| known.as_str() == class)?;
    let is_id = id.len() == ID_LENGTH && id.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7'));
    is_id.then_some((class, id))
}

/// Returns the class of the plan that a branch proposes, from the part of its name after [`branches`].
#[must_use]
pub fn class_of_branch(rest: &str) -> Option<ChangeClass> {
    parts(rest).map(|(class, _)| class)
}

/// Returns the prefix of the branches on which plans of a cluster are proposed. Characters that branch names must not
/// contain become `-`.
#[must_use]
pub fn branches(cluster: &str) -> String {
    let plain = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => letter,
        _ => '-',
    };
    let cluster: String = cluster.chars().map(plain).collect();
    let cluster = cluster.trim_matches('-');
    format!("nodeform/{}/", if cluster.is_empty() { "cluster" } else { cluster })
}
