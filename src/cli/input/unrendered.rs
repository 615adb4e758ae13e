//! Messages about folders that need rendering.

use std::collections::BTreeMap;

use super::super::exit::Failure;
use super::passed_by::listed;
use super::render::Unrenderable;
use crate::manifests::folder::{Tool, Unrendered, shell_word};
use crate::snapshot::{Gap, GapKind};

/// Maximum number of folders or reasons listed by name.
const NAMED_MAX: usize = 3;

/// Returns the failure for folders that need rendering, with the one solution that always works.
pub(super) fn refused(unrendered: &[Unrendered]) -> Failure {
    let error = match unrendered {
        [Unrendered { folder, tool, file, .. }] => {
            let what = match tool {
                Tool::Kustomize => "a kustomize folder",
                Tool::Helm => "a Helm chart",
            };
            format!("`{folder}` is {what} (`{file}`) and has to be rendered")
        }
        all => {
            let folders = listed(all.iter().map(|root| &root.folder));
            let count = all.len();
            format!("{count} folders have to be rendered by kustomize or helm: {folders}")
        }
    };
    Failure::error(error).hint(hint(unrendered))
}

/// Returns the note that these folders were not checked, and how to check their rendered output.
pub(super) fn unchecked(unrendered: &[Unrendered]) -> String {
    match unrendered {
        [Unrendered { folder, tool, .. }] => format!(
            "Not checked: what {} renders of `{folder}`. Check it: `nodeform validate --render {}`",
            tool.as_str(),
            shell_word(folder)
        ),
        all => format!(
            "Not checked: what kustomize and helm render of {} folders ({}). Check it: `nodeform validate --render \
             FOLDER`",
            all.len(),
            listed(all.iter().map(|root| &root.folder))
        ),
    }
}

fn hint(unrendered: &[Unrendered]) -> String {
    let mut text = meant(unrendered).unwrap_or_else(|| {
        let them = if unrendered.len() == 1 { "it" } else { "them" };
        format!("add `--render`: the kustomize, kubectl or helm of this machine renders {them}")
    });
    let mut values = unrendered.iter().flat_map(|root| &root.values);
    if let Some(first) = values.next() {
        let flag = format!("--helm-values {}", shell_word(first));
        text.push_str(&format!("; for the values of `{first}`, add `{flag}`"));
    }
    text
}

/// Returns a hint which of several overlays of the same base may be intended.
fn meant(unrendered: &[Unrendered]) -> Option<String> {
    let mut by_base: BTreeMap<&String, Vec<&String>> = BTreeMap::new();
    for root in unrendered {
        root.bases.iter().for_each(|base| by_base.entry(base).or_default().push(&root.folder));
    }
    let (base, overlays) = by_base.into_iter().find(|(_, overlays)| overlays.len() > 1)?;
    let likely = overlays.iter().find(|folder| folder.contains("prod")).or(overlays.first())?;
    Some(format!(
        "{} folders build on `{base}`, and together they hold the same objects several times: name the one that is \
         meant, with `--render`, such as `{} --render`",
        overlays.len(),
        shell_word(likely)
    ))
}

/// Returns the failure if no folder could be rendered.
pub(super) fn unrenderable(folders: &[Unrenderable]) -> Failure {
    let mut faults: Vec<String> = folders.iter().take(NAMED_MAX).map(|one| one.whole.clone()).collect();
    if folders.len() > NAMED_MAX {
        faults.push(format!("{} more folders cannot be rendered", folders.len() - NAMED_MAX));
    }
    Failure::errors(faults)
}

/// Returns the gaps in a plan without these folders, by reason and name.
pub(super) fn gaps(folders: &[Unrenderable]) -> Vec<Gap> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Unrenderable { folder, why, .. } in folders {
        by_reason.entry(why).or_default().push(folder);
    }
    let mut reasons: Vec<(&str, Vec<&str>)> = by_reason.into_iter().collect();
    if reasons.len() > NAMED_MAX {
        let others = reasons.split_off(NAMED_MAX - 1);
        let others = others.into_iter().flat_map(|(_, folders)| folders).collect();
        reasons.push(("they cannot be rendered, each for a reason of its own", others));
    }
    let gap = |(why, folders): (&str, Vec<&str>)| Gap {
        kind: GapKind::Unread,
        what: match folders.len() {
            1 => listed(folders.iter()),
            count => format!("{count} folders ({})", listed(folders.iter())),
        },
        consequence: why.to_owned(),
    };
    reasons.into_iter().map(gap).collect()
}
