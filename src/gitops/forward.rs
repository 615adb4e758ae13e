//! Checks that the branch of merged plans only moves forward: the NodeFleet records the last commit from which plans
//! were applied.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::fault::GitOpsFault;
use super::fleet::{Fleet, fleet};
use super::place::Place;
use crate::cluster::{ClusterFailure, ClusterFailureKind, Writer};
use crate::git::remote::{Clone, Tip};
use crate::review::history::{Ancestry, HEAD, Head, RESUME, REWRITTEN, Step, step};

/// How long history is fetched to find the commit.
const LOOKED_FOR: SignedDuration = SignedDuration::from_secs(60);

/// Maximum number of attempts after concurrent writes.
const TRIES_MAX: u32 = 3;

/// A fetched branch, and the writer that records its position.
#[derive(Clone, Copy)]
pub struct Noting<'a> {
    /// Writes to the cluster.
    pub writer: &'a Writer,
    /// The repository of merged plans.
    pub place: &'a Place,
    /// Its clone.
    pub clone: &'a Clone,
    /// The branch's last commit.
    pub tip: &'a Tip,
}

/// How a branch has moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advanced {
    /// Forward, or not at all.
    Forward,
    /// It was rewritten, and a person allowed it to continue.
    Resumed,
}

/// Checks that the branch has moved forward since plans were last applied, and records its position. Waits for Git on
/// this thread.
///
/// # Errors
/// It was rewritten without a person allowing it to continue, or the NodeFleet cannot be read or written.
pub async fn advance(noting: Noting<'_>) -> Result<Advanced, GitOpsFault> {
    let Noting { writer, place, tip, .. } = noting;
    let now = Head { commit: tip.commit().to_owned(), place: place.of_branch() };
    for _ in 0..TRIES_MAX {
        // Without a NodeFleet, the position cannot be recorded.
        let Some(fleet) = fleet(writer.cluster()).await? else { return Ok(Advanced::Forward) };
        let noted = fleet.annotations.get(HEAD).map(String::as_str);
        let before = noted.and_then(Head::parse).filter(|before| before.place == now.place);
        let ancestry = before.map(|before| ancestry(noting, &before.commit)).transpose()?;
        let resume = fleet.annotations.get(RESUME).map(String::as_str);
        let step = step(noted, &now, ancestry, resume);
        let advanced = match step {
            Step::Stays => return Ok(Advanced::Forward),
            Step::Stops => return Err(rewritten(&fleet, place, noted.unwrap_or_default(), ancestry)),
            Step::Resumes => Advanced::Resumed,
            Step::Advances => Advanced::Forward,
        };
        match note(writer, &fleet, &now, step).await {
            Ok(()) => return Ok(advanced),
            Err(failure) if failure.kind == ClusterFailureKind::Conflict => {}
            Err(failure) => {
                return Err(GitOpsFault::default().and(&failure.what, Some(&failure.hint)).hint(
                    "applying merged plans needs `patch` on nodefleets.nodeform.dev, to note which commit was applied",
                ));
            }
        }
    }
    Err(GitOpsFault::of("the NodeFleet was changed again and again while the commit was noted on it")
        .hint("run the same command again"))
}

fn ancestry(Noting { writer, place, clone, tip }: Noting<'_>, commit: &str) -> Result<Ancestry, GitOpsFault> {
    let clock = writer.cluster().clock();
    let until = clock.now().saturating_add(LOOKED_FOR).unwrap_or(jiff::Timestamp::MAX);
    Ok(clone.ancestry((&place.branch, tip), commit, || clock.now() > until)?)
}

/// Records the position of the branch, if the NodeFleet still has the annotations that were read.
async fn note(writer: &Writer, fleet: &Fleet, now: &Head, step: Step) -> Result<(), ClusterFailure> {
    let path = |annotation: &str| format!("/metadata/annotations/{}", annotation.replace('/', "~1"));
    let test = |annotation: &str| json!({"op": "test", "path": path(annotation), "value": fleet.annotations.get(annotation)});
    if !fleet.annotations.contains_key(HEAD) {
        let metadata = json!({"annotations": {HEAD: now.to_string()}, "resourceVersion": fleet.version});
        return writer.merge_patch(&fleet.path(), &json!({"metadata": metadata})).await.map(drop);
    }
    let mut operations: Vec<Value> =
        vec![test(HEAD), json!({"op": "replace", "path": path(HEAD), "value": now.to_string()})];
    if step == Step::Resumes {
        operations.extend([test(RESUME), json!({"op": "remove", "path": path(RESUME)})]);
    }
    writer.json_patch(&fleet.path(), &operations).await.map(drop)
}

fn rewritten(fleet: &Fleet, place: &Place, noted: &str, ancestry: Option<Ancestry>) -> GitOpsFault {
    let branch = place.branch.as_str();
    let what = match (Head::parse(noted), ancestry) {
        (Some(before), Some(Ancestry::TooFar)) => format!(
            "{REWRITTEN}: commit {}, from which plans were last applied, is not among the last 10,000 commits of branch `{branch}`, or was not found within a minute",
            before.commit
        ),
        (Some(before), _) => format!(
            "{REWRITTEN}: branch `{branch}` no longer contains commit {}, from which plans were last applied",
            before.commit
        ),
        (None, _) => format!("{REWRITTEN}: the annotation `{HEAD}` of the NodeFleet names no commit"),
    };
    GitOpsFault::stale(format!("{what}; nothing is applied")).hint("restore the branch as it was").hint(
        format!(
            "or, if its history is right as it is now: `kubectl annotate nodefleet {} {RESUME}={REWRITTEN}`",
            fleet.name
        ),
    )
}
