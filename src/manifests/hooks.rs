//! Helm's hooks: what `helm template` writes although no install and no upgrade runs it.
//!
//! Hooks that do run take room while they last, as any other Job. Nothing is left out here.

use super::cursor::Cursor;
use super::kind::Treatment;
use super::said::Note;

/// The annotation that makes an object a hook.
const HOOK: &str = "helm.sh/hook";

/// When hooks run that nobody asks for when an application is installed.
const ELSEWHERE: [&str; 7] =
    ["test", "test-success", "test-failure", "pre-delete", "post-delete", "pre-rollback", "post-rollback"];

/// Returns what to say of pods that only other commands of Helm make; nothing of all others, and of those that are there.
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
