//! Check that the branch of merged plans only moved forward since plans were last applied from it.
//!
//! A rewritten branch may restore plans that were reverted, or lose their reverts. Values in, a step out: nothing is
//! fetched or written here.

use std::fmt;

/// NodeFleet annotation with the commit from which plans were last applied.
pub const HEAD: &str = "nodeform.dev/git-head";
/// NodeFleet annotation with which a person ends a stop.
pub const RESUME: &str = "nodeform.dev/resume";
/// Name of the stop after a rewritten branch, and the value of [`RESUME`] that ends it.
pub const REWRITTEN: &str = "HistoryRewritten";

/// A commit on a branch of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The commit's full id.
    pub commit: String,
    /// Repository and branch.
    pub place: String,
}

impl Head {
    /// Parses an annotation's value; `None` if it is not in this format.
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let (commit, place) = value.split_once(' ')?;
        let is_id = matches!(commit.len(), 40 | 64) && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| Self { commit: commit.to_owned(), place: place.to_owned() })
    }
}

impl fmt::Display for Head {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.commit, self.place)
    }
}

/// Whether a commit is an ancestor of a branch's last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ancestry {
    /// It is an ancestor.
    Follows,
    /// It is not an ancestor.
    Another,
    /// It was not found within the commits that are searched.
    TooFar,
}

/// Reaction to the current commit of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The branch is unchanged.
    Stays,
    /// The new commit is recorded.
    Advances,
    /// A person resumed: the new commit is recorded and their annotation removed.
    Resumes,
    /// Nothing is applied.
    Stops,
}

/// Returns the reaction: `noted` is the annotation's value, `ancestry` that of its commit, and `resume` a person's
/// annotation. Another repository or branch starts over: the NodeFleet says which one counts.
#[must_use]
pub fn step(noted: Option<&str>, now: &Head, ancestry: Option<Ancestry>, resume: Option<&str>) -> Step {
    let Some(noted) = noted else { return Step::Advances };
    let before = Head::parse(noted);
    let is_forward = match &before {
        Some(before) if before == now => return Step::Stays,
        Some(before) if before.place != now.place => true,
        Some(_) => ancestry == Some(Ancestry::Follows),
        None => false,
    };
    match resume == Some(REWRITTEN) {
        _ if is_forward => Step::Advances,
        true => Step::Resumes,
        false => Step::Stops,
    }
}

#[cfg(test)]
mod tests {
    use super::{Ancestry, Head, Step, step};

    fn head(letter: char, place: &str) -> Head {
        Head { commit: letter.to_string().repeat(40), place: place.to_owned() }
    }

    #[test]
    fn a_branch_goes_forward_or_stops_until_a_person_lets_it_go_on() {
        let (a, b) = (head('a', "https://forge.example/a main"), head('b', "https://forge.example/a main"));
        let elsewhere = head('a', "https://forge.example/a other").to_string();
        let a = a.to_string();
        let resume = Some("HistoryRewritten");
        for (noted, ancestry, resume, expected) in [
            (None, None, None, Step::Advances),
            (Some(&*b.to_string()), None, None, Step::Stays),
            (Some(&*a), Some(Ancestry::Follows), None, Step::Advances),
            (Some(&*a), Some(Ancestry::Follows), resume, Step::Advances),
            (Some(&*a), Some(Ancestry::Another), None, Step::Stops),
            (Some(&*a), Some(Ancestry::TooFar), None, Step::Stops),
            (Some(&*a), None, None, Step::Stops),
            (Some(&*a), Some(Ancestry::Another), Some("OtherStop"), Step::Stops),
            (Some(&*a), Some(Ancestry::Another), resume, Step::Resumes),
            (Some(&*elsewhere), None, None, Step::Advances),
            (Some("nonsense"), Some(Ancestry::Follows), None, Step::Stops),
            (Some("nonsense"), None, resume, Step::Resumes),
        ] {
            assert_eq!(step(noted, &b, ancestry, resume), expected, "{noted:?} {ancestry:?} {resume:?}");
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_nothing_else() {
        let head = head('0', "https://forge.example/a main");
        assert_eq!(Head::parse(&head.to_string()), Some(head));
        for value in ["", "a", "main https://forge.example/a", &"0".repeat(40)] {
            assert_eq!(Head::parse(value), None, "{value}");
        }
    }
}
