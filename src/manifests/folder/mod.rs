//! Classifies the files of folders: manifests to read, or input of kustomize, Helm and other tools.
//!
//! Folders of such tools are never read as they are: a base and its overlays would each be counted, and templates are
//! not YAML. Works on lists of paths, so folders on disk and in a Git revision are treated alike.

mod definition;
mod reviewed;
mod tool;

use std::collections::{BTreeMap, BTreeSet};

use super::source::is_manifest;
use definition::{Definition, joined};
pub use reviewed::holds_a_plan;
pub use tool::{Foreign, Tool, shell_word};

/// Classification of the files in folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Files that are read as they are, by their index in the list.
    pub manifests: Vec<usize>,
    /// Folders to render, sorted: those that no other folder references.
    pub unrendered: Vec<Unrendered>,
    /// Files of other tools, the first one for each tool.
    pub foreign: BTreeMap<Foreign, String>,
    /// Folders of plans under review, sorted: nothing in them is a manifest.
    pub plans: BTreeSet<String>,
}

/// A folder to render.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unrendered {
    /// The folder; `.` if the paths have none.
    pub folder: String,
    /// The tool that renders it.
    pub tool: Tool,
    /// The name of its definition file.
    pub file: String,
    /// The chart's name, also used for the release; empty for a kustomization.
    pub name: String,
    /// The folders in the list that it references, directly or not.
    pub bases: Vec<String>,
    /// Whether kustomize renders charts for it, which requires `--enable-helm`.
    pub inflates_charts: bool,
    /// Values files in the chart's folder other than `values.yaml`.
    pub values: Vec<String>,
}

impl Unrendered {
    /// Returns the shell command that renders the folder.
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

    /// Returns the name of the release: that of the chart if it is valid, else a placeholder.
    #[must_use]
    pub fn release(&self) -> &str {
        /// Helm's limit.
        const RELEASE_BYTES_MAX: usize = 53;
        let is_inside =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
        let ends = [self.name.bytes().next(), self.name.bytes().last()];
        // A name from a file may be anything, even a flag of helm.
        let is_name = self.name.len() <= RELEASE_BYTES_MAX
            && self.name.bytes().all(is_inside)
            && ends.into_iter().all(|byte| byte.is_some_and(|byte| byte.is_ascii_alphanumeric()));
        if is_name { &self.name } else { "release" }
    }
}

/// Returns the folder of a path; `.` if it has none.
#[must_use]
pub fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => ".",
    }
}

/// Classifies the files of folders. `text` returns the text of a file by its index in the list; a missing text counts
/// as a definition that references nothing.
#[must_use]
pub fn layout(paths: &[&str], mut text: impl FnMut(usize) -> Option<String>) -> Layout {
    let mut definitions: BTreeMap<String, Definition> = BTreeMap::new();
    for (index, path) in paths.iter().enumerate() {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let Some(tool) = Tool::of_file(file) else { continue };
        let folder = if path.starts_with('/') && folder.is_empty() { "/" } else { folder };
        let key = joined("", folder);
        // A folder with both counts as a kustomization, which may use the chart.
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

/// Returns the folders that contain a path, innermost first; the last is the one of paths without a folder.
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
        // Everything in a chart's folder is part of it, as are the charts of a kustomization that renders charts.
        let is_within = ancestors(folder).filter_map(|above| definitions.get(above)).any(|above| {
            above.tool == Tool::Helm || (above.inflates_charts && definition.tool == Tool::Helm)
        });
        !definition.is_part && !is_within && !used.contains(folder.as_str())
    };
    let mut roots: Vec<(&String, &Definition)> = definitions.iter().filter(is_root).collect();
    if roots.is_empty() {
        // Only parts, or folders that reference each other in a cycle: the tool reports the error.
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

/// Returns a folder with all folders that it references, directly or not.
fn reached<'a>(folder: &'a String, definitions: &'a BTreeMap<String, Definition>) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::from([folder]);
    let mut open = vec![folder];
    while let Some(folder) = open.pop() {
        let below = definitions.get(folder).into_iter().flat_map(|definition| &definition.folders);
        open.extend(below.filter(|base| definitions.contains_key(*base) && reached.insert(base)));
    }
    reached
}

/// Returns the files beside a chart's `values.yaml` with similar names.
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
