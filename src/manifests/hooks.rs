//! Finds Helm hooks that `helm template` prints although no install and no upgrade runs them.
//!
//! Hooks that do run use capacity while they last, like any other Job. Nothing is dropped here.

use super::cursor::Cursor;
use super::kind::Treatment;
use super::said::Note;

/// The annotation that marks an object as a hook.
const HOOK: &str = "helm.sh/hook";

/// Hook events that installing or upgrading does not trigger.
const ELSEWHERE: [&str; 7] =
    ["test", "test-success", "test-failure", "pre-delete", "post-delete", "pre-rollback", "post-rollback"];

/// Returns a note about pods that only other Helm commands create; `None` for all other objects, and for existing ones.
#[must_use]
pub fn idle(object: Cursor<'_>, kind: &str, treatment: Treatment) -> Option<Note> {
    let makes_pods = matches!(treatment, Treatment::Pod | Treatment::Workload(_));
    let hook = object.tree.at(&["metadata", "annotations", HOOK])?.as_text()?;
    let is_there = object.tree.at(&["metadata", "uid"]).is_some();
    let is_idle = hook.split(',').all(|event| ELSEWHERE.contains(&event.trim()));
    let name = object.tree.at(&["metadata", "name"])?.as_text()?;
    (makes_pods && is_idle && !is_there).then(|| {
        let why = "it is a hook of Helm that no install and no upgrade runs";
        Note::new(format!("`{kind}/{name}` does not run"), format!("`{HOOK}: {hook}`: {why}"))
    })
}
