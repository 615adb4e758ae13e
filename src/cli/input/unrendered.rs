//! What is said of folders that hold no manifests but what manifests are made of.

use std::collections::{BTreeMap, BTreeSet};

use super::super::exit::Failure;
use crate::manifests::folder::{Foreign, Tool, Unrendered, shell_word};

/// The failure that names every folder which has to be rendered, each with the command to paste. `beside` are
/// the inputs that can be read as they are.
pub(super) fn refused(unrendered: &[Unrendered], beside: &BTreeSet<String>) -> Failure {
    let mut failure = Failure::errors(unrendered.iter().map(|root| fault(root, beside)).collect());
    if unrendered.len() > 1 {
        failure.faults.push(format!("{} folders are to be rendered first", unrendered.len()));
    }
    meant(unrendered).into_iter().fold(failure, Failure::hint)
}

fn fault(root: &Unrendered, beside: &BTreeSet<String>) -> String {
    let Unrendered { folder, tool, file, values, .. } = root;
    let why = match tool {
        Tool::Kustomize => "what it lists is planned once `kustomize` has put it together",
        Tool::Helm => "its templates become manifests with `helm` only",
    };
    let beside: String = beside.iter().map(|input| format!(" {}", shell_word(input))).collect();
    let mut text = format!(
        "`{folder}` has a `{file}` and is not read as it is: {why}\nhint: render it: `{} | nodeform plan -{beside}`",
        root.command()
    );
    if let Some(first) = values.first() {
        let count = values.len();
        let which = if count == 1 { "it" } else { "one of them" };
        let named: Vec<String> = values.iter().take(3).map(|file| format!("`{file}`")).collect();
        let more =
            if count > named.len() { format!(" and {} more", count - named.len()) } else { String::new() };
        text.push_str(&format!(
            "\nhint: {}{more} may be meant as well: with {which}, add `-f {}` to helm's command",
            named.join(", "),
            shell_word(first)
        ));
    }
    text
}

/// Says which of several folders may be meant, where they build on the same one.
fn meant(unrendered: &[Unrendered]) -> Option<String> {
    let mut by_base: BTreeMap<&String, Vec<&String>> = BTreeMap::new();
    for root in unrendered {
        root.bases.iter().for_each(|base| by_base.entry(base).or_default().push(&root.folder));
    }
    let (base, overlays) = by_base.into_iter().find(|(_, overlays)| overlays.len() > 1)?;
    let likely = overlays.iter().find(|folder| folder.contains("prod")).or(overlays.first())?;
    Some(format!(
        "{} folders build on `{base}`: take the one that is meant, such as `{likely}`, since together they hold the \
         same objects several times",
        overlays.len()
    ))
}

/// The failure of folders that hold files of other tools and nothing to read.
pub(super) fn foreign(foreign: &BTreeMap<Foreign, String>) -> Failure {
    let named: Vec<String> =
        foreign.iter().map(|(tool, file)| format!("{} (`{file}`)", tool.as_str())).collect();
    let failure = Failure::error(format!(
        "no file to read: the folders hold only files of {}, which are no manifests",
        named.join(" and ")
    ));
    foreign.keys().fold(failure, |failure, tool| failure.hint(tool.hint()))
}
