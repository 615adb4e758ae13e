//! Whether the branch of merged plans only moved forward since somebody last applied from it.
//!
//! A branch that was rewritten may bring back plans that were taken back, or lose what took them back. Values in, a step out:
//! nothing is fetched or written here.

use std::fmt;

/// The annotation of a NodeFleet that says from where plans were last applied.
pub const HEAD: &str = "nodeform.dev/git-head";
/// The annotation of a NodeFleet by which a person lets a stop end.
pub const RESUME: &str = "nodeform.dev/resume";
/// The stop that a rewritten branch leads to, and what [`RESUME`] says to end it.
pub const REWRITTEN: &str = "HistoryRewritten";

/// A commit of a branch of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The commit's full id.
    pub commit: String,
    /// The repository and the branch.
    pub place: String,
}

impl Head {
    /// Reads an annotation's value; nothing where it is not as it is written here.
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

/// Whether a commit is among those that a branch's last commit follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ancestry {
    /// It is.
    Follows,
    /// It is not.
    Another,
    /// It was not found, and there are more commits than are looked at.
    TooFar,
}

/// What is done about where a branch is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is where it was.
    Stays,
    /// It is noted where it is.
    Advances,
    /// A person let it go on: it is noted where it is, and their word is taken off.
    Resumes,
    /// Nothing is applied.
    Stops,
}

/// Returns what is done: `noted` is the annotation's value, `ancestry` what is known of its commit, and `resume` what a
/// person said. Another repository or branch begins anew: the NodeFleet says which one counts.
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
