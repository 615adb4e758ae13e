//! What the files of folders are: manifests to read, or what kustomize, Helm and others make manifests of.
//!
//! Such folders are never read as they are: a base and its overlays would be counted each, and templates are
//! not YAML. Works on lists of paths, so that folders on disk and in a revision of Git are told apart alike.

mod definition;
mod reviewed;
mod tool;

use std::collections::{BTreeMap, BTreeSet};

use super::source::is_manifest;
use definition::{Definition, joined};
pub use reviewed::holds_a_plan;
pub use tool::{Foreign, Tool, shell_word};

/// What the files of folders are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The files that are read as they are, by their index in the list.
    pub manifests: Vec<usize>,
    /// The folders to render, sorted: those that no other of them builds on.
    pub unrendered: Vec<Unrendered>,
    /// Files of other tools, the first of each.
    pub foreign: BTreeMap<Foreign, String>,
    /// Folders of plans that people review, sorted: nothing in them is a manifest.
    pub plans: BTreeSet<String>,
}

/// A folder that is to be rendered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unrendered {
    /// The folder; `.` where the paths have none.
    pub folder: String,
    /// What renders it.
    pub tool: Tool,
    /// The name of the file that says so.
    pub file: String,
    /// The chart's name, which the release gets as well; empty for a kustomization.
    pub name: String,
    /// The folders that it builds on, of those in the list.
    pub bases: Vec<String>,
    /// Whether kustomize is to render charts for it, which it does with `--enable-helm` only.
    pub inflates_charts: bool,
    /// Other values than `values.yaml` that the chart's folder holds.
    pub values: Vec<String>,
}

impl Unrendered {
    /// Returns the command that renders the folder, as a person types it.
    #[must_use]
    pub fn command(&self) -> String {
        let folder = shell_word(&self.folder);
        match self.tool {
            Tool::Kustomize if self.inflates_charts => format!("kubectl kustomize --enable-helm {folder}"),
            Tool::Kustomize => format!("kubectl kustomize {folder}"),
            Tool::Helm => {
                format!("helm template {} {folder} --include-crds --skip-tests", shell_word(self.release()))
            }
        }
    }

    /// Returns the name of the release: the chart's where it can be one, else one that stands for it.
    #[must_use]
    pub fn release(&self) -> &str {
        /// As Helm has it.
        const RELEASE_BYTES_MAX: usize = 53;
        let is_inside =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
        let ends = [self.name.bytes().next(), self.name.bytes().last()];
        // A name from a file may be anything, a flag of helm's too.
        let is_name = self.name.len() <= RELEASE_BYTES_MAX
            && self.name.bytes().all(is_inside)
            && ends.into_iter().all(|byte| byte.is_some_and(|byte| byte.is_ascii_alphanumeric()));
        if is_name { &self.name } else { "release" }
    }
}

/// Returns the folder of a path; `.` where it names none.
#[must_use]
pub fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => ".",
    }
}

/// Sorts the files of folders out. `text` gives the text of a file of the list, by its index; what it cannot
/// give counts as a definition that names nothing.
#[must_use]
pub fn layout(paths: &[&str], mut text: impl FnMut(usize) -> Option<String>) -> Layout {
    let mut definitions: BTreeMap<String, Definition> = BTreeMap::new();
    for (index, path) in paths.iter().enumerate() {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let Some(tool) = Tool::of_file(file) else { continue };
        let folder = if path.starts_with('/') && folder.is_empty() { "/" } else { folder };
        let key = joined("", folder);
        // A folder that is both is a kustomization, which may use the chart.
        if definitions.get(&key).is_none_or(|known| known.tool > tool) {
            let text = text(index).unwrap_or_default();
            definitions.insert(key, Definition::read(tool, (folder, file), &text));
        }
    }
    let plans = reviewed::of_plans(paths);
    let mut layout = Layout { unrendered: unrendered(paths, &definitions), ..Layout::default() };
    let named: BTreeSet<&str> =
        definitions.values().flat_map(|definition| &definition.files).map(String::as_str).collect();
    for (index, path) in paths.iter().enumerate() {
        let plain = joined("", path);
        let is_part = ancestors(&plain).any(|folder| definitions.contains_key(folder));
        if plans.contains(parent(path)) {
            layout.plans.insert(parent(path).to_owned());
            continue;
        }
        if is_part || named.contains(plain.as_str()) {
            continue;
        }
        if let Some(foreign) = Foreign::of_path(path) {
            layout.foreign.entry(foreign).or_insert_with(|| (*path).to_owned());
        } else if is_manifest(path.rsplit('/').next().unwrap_or(path)) {
            layout.manifests.push(index);
        }
    }
    layout
}

/// The folders that a path lies in, the innermost first; the last is the one of paths without a folder.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(above(path), |folder| above(folder))
}

fn above(path: &str) -> Option<&str> {
    match path.rsplit_once('/') {
        Some(("", "")) => None,
        Some(("", _)) => Some("/"),
        Some((folder, _)) => Some(folder),
        None => (!path.is_empty()).then_some(""),
    }
}

fn unrendered(paths: &[&str], definitions: &BTreeMap<String, Definition>) -> Vec<Unrendered> {
    let used: BTreeSet<&str> = definitions
        .iter()
        .flat_map(|(own, definition)| definition.folders.iter().filter(move |folder| *folder != own))
        .map(String::as_str)
        .collect();
    let is_root = |(folder, definition): &(&String, &Definition)| {
        // What lies in a chart is part of it, as are the charts of a kustomization that renders charts.
        let is_within = ancestors(folder).filter_map(|above| definitions.get(above)).any(|above| {
            above.tool == Tool::Helm || (above.inflates_charts && definition.tool == Tool::Helm)
        });
        !definition.is_part && !is_within && !used.contains(folder.as_str())
    };
    let mut roots: Vec<(&String, &Definition)> = definitions.iter().filter(is_root).collect();
    if roots.is_empty() {
        // Only parts, or folders that build on each other in a circle: the tool says what is wrong.
        roots = definitions.iter().collect();
    }
    let as_named = |folder: &str| {
        let given = paths.iter().map(|path| parent(path)).find(|given| joined("", given) == folder);
        given.unwrap_or(folder).to_owned()
    };
    let root = |(folder, definition): (&String, &Definition)| {
        let below = reached(folder, definitions);
        Unrendered {
            folder: as_named(folder),
            tool: definition.tool,
            file: definition.file.clone(),
            name: definition.name.clone(),
            bases: below.iter().filter(|base| **base != folder).map(|base| as_named(base)).collect(),
            inflates_charts: below
                .iter()
                .filter_map(|base| definitions.get(*base))
                .any(|base| base.inflates_charts),
            values: values(folder, definition.tool, paths),
        }
    };
    roots.into_iter().map(root).collect()
}

/// A folder with all folders that it builds on, directly or not.
fn reached<'a>(folder: &'a String, definitions: &'a BTreeMap<String, Definition>) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::from([folder]);
    let mut open = vec![folder];
    while let Some(folder) = open.pop() {
        let below = definitions.get(folder).into_iter().flat_map(|definition| &definition.folders);
        open.extend(below.filter(|base| definitions.contains_key(*base) && reached.insert(base)));
    }
    reached
}

/// Files that lie beside a chart's `values.yaml` and are called like it.
fn values(folder: &str, tool: Tool, paths: &[&str]) -> Vec<String> {
    let is_values = |path: &&&str| {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
        is_yaml && name.contains("values") && name != "values.yaml" && joined("", parent) == folder
    };
    let found = paths.iter().filter(|_| tool == Tool::Helm).filter(is_values);
    found.map(|path| (*path).to_owned()).collect()
}

#[cfg(test)]
mod tests;
