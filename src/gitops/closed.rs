//! Plans that people rejected by closing the pull request, identified by what they do (`work`): from the description,
//! or from the commit if someone rewrote it. Pull requests that nodeform itself closes are marked as withdrawn.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::commit::proposal_at;
use super::fault::GitOpsFault;
use super::pull_requests::marker;
use super::standing::Around;
use crate::forge::{Forge, PullRequest, PullRequestState, StickyComment, Text};
use crate::review::proposal::work;

/// Marker of the comment with the reason for closing a pull request.
const CLOSED: &str = "closed";

/// Delimiters of the plan's `work` in a description. It is the first line, because Azure DevOps lists only 400
/// characters.
const MARK: &str = "<!-- nodeform-work: ";
const MARK_END: &str = " -->";

/// Mark in the description of a pull request that nobody rejected: the same changes may be proposed again.
const WITHDRAWN: &str = "<!-- nodeform-withdrawn -->";

/// Prepends the plan's `work` to a description, invisible to readers.
pub(super) fn marked(work: &str, body: &str) -> String {
    format!("{}\n{body}", mark(work))
}

/// Returns the number of characters that [`marked`] adds.
pub(super) fn mark_letters(work: &str) -> usize {
    mark(work).len() + 1
}

fn mark(work: &str) -> String {
    format!("{MARK}{work}{MARK_END}")
}

/// Returns the `work` in a description.
fn work_of(body: &str) -> Option<&str> {
    let (_, rest) = body.split_once(MARK)?;
    rest.split_once(MARK_END).map(|(work, _)| work)
}

/// Returns the `work` of plans that people rejected, with the time. Waits for Git on this thread.
pub(super) fn rejected(around: &Around, listed: &[PullRequest]) -> BTreeMap<String, Timestamp> {
    let mut rejected: BTreeMap<String, Timestamp> = BTreeMap::new();
    for pull_request in listed {
        let PullRequestState::Closed { at } = &pull_request.state else { continue };
        let body = &pull_request.text.body;
        if body.contains(WITHDRAWN) {
            continue;
        }
        let known = work_of(body).map(str::to_owned);
        let Some(work) = known.or_else(|| work_at(around, pull_request)) else { continue };
        let at = at.unwrap_or(around.at);
        let latest = rejected.entry(work).or_insert(at);
        *latest = at.max(*latest);
    }
    rejected
}

/// Reads the `work` of a pull request's plan from its commit.
fn work_at(around: &Around, pull_request: &PullRequest) -> Option<String> {
    let folder = pull_request.source.strip_prefix(&around.below)?;
    let at = (&around.place, &around.clone);
    match proposal_at(at, pull_request.head.as_str(), |entry| entry.name == folder) {
        Ok(proposal) => proposal.map(|proposal| work(&proposal.plan)),
        Err(because) => {
            let number = pull_request.number;
            tracing::debug!("the changes of pull request {number}, which is closed, are unknown: {because}");
            None
        }
    }
}

/// Closes the pull request of a branch before it is deleted, with the reason.
///
/// # Errors
/// The forge does not answer, or its answer is invalid.
pub async fn close(
    forge: &dyn Forge,
    around: &Around,
    (branch, why): (&str, &str),
) -> Result<(), GitOpsFault> {
    let listed = forge.list(branch, around.at).await.map_err(GitOpsFault::from)?;
    for pull_request in listed.iter().filter(|it| it.source == branch && it.is_open()) {
        let comment = StickyComment { marker: marker(CLOSED)?, body: format!("Closed: {why}.") };
        let number = pull_request.number;
        // The whole text: a list may have truncated it.
        let Text { title, body } = forge.pull_request(number).await.map_err(GitOpsFault::from)?.text;
        let body = match work_of(&body) {
            Some(work) => body.replace(&mark(work), WITHDRAWN),
            None => fitted(&format!("{WITHDRAWN}\n{body}"), forge.limits().body),
        };
        forge.update(number, &Text { title, body }).await.map_err(GitOpsFault::from)?;
        forge.close(number, &comment).await.map_err(GitOpsFault::from)?;
    }
    Ok(())
}

/// Cuts a text to a forge's limit, in UTF-16 code units.
fn fitted(text: &str, letters_max: usize) -> String {
    let mut left = letters_max;
    let fits = |letter: &char| {
        let rest = left.checked_sub(letter.len_utf16());
        left = rest.unwrap_or_default();
        rest.is_some()
    };
    text.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_is_read_back_of_a_description_and_of_no_other_text() {
        let body = marked("abc", "# Plan\n");
        assert_eq!((work_of(&body), body.len()), (Some("abc"), "# Plan\n".len() + mark_letters("abc")));
        assert_eq!(work_of("# Plan <!-- nodeform-work: abc"), None);
        assert_eq!(work_of(""), None);
    }

    #[test]
    fn a_text_is_cut_where_the_forge_would_refuse_it() {
        assert_eq!([fitted("ab🙂c", 3), fitted("ab🙂c", 4), fitted("ab🙂c", 9)], ["ab", "ab🙂", "ab🙂c"]);
    }

    #[test]
    fn what_is_withdrawn_is_the_work_of_nobody() {
        let body = marked("abc", "# Plan\n");
        assert_eq!(work_of(&body.replace(&mark("abc"), WITHDRAWN)), None);
        assert!(WITHDRAWN.len() <= mark("abcdefghij").len(), "a description that fits fits still");
    }
}
