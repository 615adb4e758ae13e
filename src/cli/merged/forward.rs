//! The branch of merged plans only moves forward: where plans were last applied from stands on the NodeFleet.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::super::exit::{Exit, Failure};
use super::super::live::Connected;
use super::super::remote::{self, Fleet, Place};
use super::super::ui::Ui;
use super::super::world;
use crate::cluster::{ClusterFailure, ClusterFailureKind, WriteGate};
use crate::git::remote::{Clone, Tip};
use crate::review::history::{Ancestry, HEAD, Head, RESUME, REWRITTEN, Step, step};

/// For how long history is fetched until the commit is found.
const LOOKED_FOR: SignedDuration = SignedDuration::from_secs(60);

/// How often it is read again where somebody else wrote at the same time.
const TRIES_MAX: u32 = 3;

/// Looks whether the branch moved forward since plans were last applied, and notes where it is.
///
/// # Errors
/// It was rewritten and nobody let it go on, or the NodeFleet cannot be read or written.
pub(super) fn advance(
    connected: &Connected,
    place: &Place,
    (clone, tip): (&Clone, &Tip),
    ui: Ui,
) -> Result<(), Failure> {
    let now = Head { commit: tip.commit().to_owned(), place: place.of_branch() };
    for _ in 0..TRIES_MAX {
        // Without a NodeFleet there is nowhere to note it.
        let Some(fleet) = remote::fleet(connected)? else { return Ok(()) };
        let noted = fleet.annotations.get(HEAD).map(String::as_str);
        let before = noted.and_then(Head::parse).filter(|before| before.place == now.place);
        let ancestry = before.map(|before| ancestry((clone, tip), place, &before.commit)).transpose()?;
        let resume = fleet.annotations.get(RESUME).map(String::as_str);
        let step = step(noted, &now, ancestry, resume);
        match step {
            Step::Stays => return Ok(()),
            Step::Stops => return Err(rewritten(&fleet, place, noted.unwrap_or_default(), ancestry)),
            Step::Resumes => {
                ui.aside(&format!(
                    "`{RESUME}` of the NodeFleet says `{REWRITTEN}`: going on from commit {}\n",
                    now.commit
                ));
            }
            Step::Advances => {}
        }
        match connected.wait_for(note(connected, &fleet, &now, step)) {
            Ok(()) => return Ok(()),
            Err(failure) if failure.kind == ClusterFailureKind::Conflict => {}
            Err(failure) => {
                return Err(Failure::errors(Vec::new()).and(&failure.what, Some(&failure.hint)).hint(
                    "whoever runs `nodeform apply --merged` needs `patch` on nodefleets.nodeform.dev, to note which commit was applied",
                ));
            }
        }
    }
    Err(Failure::error("the NodeFleet was changed again and again while the commit was noted on it")
        .hint("run the same command again"))
}

fn ancestry((clone, tip): (&Clone, &Tip), place: &Place, commit: &str) -> Result<Ancestry, Failure> {
    let until = world::now().checked_add(LOOKED_FOR).unwrap_or_else(|_| world::now());
    let found = clone.ancestry((&place.branch, tip), commit, || world::now() > until);
    found.map_err(|fault| remote::failure(&fault))
}

/// Writes where the branch is, if the NodeFleet still says what was read of it.
async fn note(connected: &Connected, fleet: &Fleet, now: &Head, step: Step) -> Result<(), ClusterFailure> {
    let writer = connected.cluster.writing(&WriteGate::always_open());
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

fn rewritten(fleet: &Fleet, place: &Place, noted: &str, ancestry: Option<Ancestry>) -> Failure {
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
    Failure { exit: Exit::Stale, ..Failure::error(format!("{what}; nothing is applied")) }
        .hint("restore the branch as it was")
        .hint(format!(
            "or, if its history is right as it is now: `kubectl annotate nodefleet {} {RESUME}={REWRITTEN}`",
            fleet.name
        ))
}
