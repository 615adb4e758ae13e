//! Reads references to other files and folders from a `kustomization.yaml` or a `Chart.yaml`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Tool;
use crate::manifests::tree::{Tree, Value};
use crate::manifests::yaml;

/// Fields of a kustomization that name folders to render.
const FOLDER_FIELDS: [&str; 6] =
    ["resources", "bases", "components", "generators", "transformers", "validators"];

/// A folder's definition, as far as it affects which files are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) tool: Tool,
    /// The file's name.
    pub(super) file: String,
    /// The name of the chart; empty for a kustomization.
    pub(super) name: String,
    /// Folders that it references.
    pub(super) folders: BTreeSet<String>,
    /// Paths of all other files that it may reference.
    pub(super) files: BTreeSet<String>,
    /// Whether kustomize renders charts for it, which requires `--enable-helm`.
    pub(super) inflates_charts: bool,
    /// Whether it is only used by others: a Component, or a library chart.
    pub(super) is_part: bool,
}

impl Definition {
    /// Parses a definition. An unreadable one references nothing: its tool reports the error.
    pub(super) fn read(tool: Tool, (folder, file): (&str, &str), text: &str) -> Self {
        let mut trees = Vec::new();
        yaml::read(&Arc::from(file), text, 0, |tree| {
            trees.extend(tree);
            false
        });
        let tree = trees.pop().unwrap_or(Tree { line: 1, value: Value::Null });
        let mut folders = BTreeSet::new();
        let mut files = BTreeSet::new();
        match tool {
            Tool::Kustomize => {
                let named = FOLDER_FIELDS.iter().filter_map(|field| tree.get(field)?.as_list()).flatten();
                folders.extend(named.filter_map(Tree::as_text).map(|path| joined(folder, path)));
                texts(&tree, &mut |text| {
                    // Generators write `key=path`.
                    let path = text.rsplit_once('=').map_or(text, |(_, path)| path);
                    files.insert(joined(folder, path));
                });
            }
            Tool::Helm => {
                let chart = |dependency: &Tree| {
                    let path = dependency.text("repository")?.strip_prefix("file://")?;
                    Some(joined(folder, path))
                };
                let dependencies = tree.get("dependencies").and_then(Tree::as_list).unwrap_or_default();
                folders.extend(dependencies.iter().filter_map(chart));
            }
        }
        let name = if tool == Tool::Helm { tree.text("name").unwrap_or_default() } else { "" };
        Self {
            tool,
            file: file.to_owned(),
            name: name.to_owned(),
            folders,
            files,
            inflates_charts: tree.get("helmCharts").is_some()
                || tree.get("helmChartInflationGenerator").is_some(),
            is_part: tree.text("kind") == Some("Component") || tree.text("type") == Some("library"),
        }
    }
}

fn texts(tree: &Tree, take: &mut impl FnMut(&str)) {
    match &tree.value {
        Value::Text(text) => take(text),
        Value::List(items) => items.iter().for_each(|item| texts(item, take)),
        Value::Map(entries) => entries.iter().for_each(|entry| texts(&entry.value, take)),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Decimal(_) => {}
    }
}

/// Joins a path to a folder and resolves `.` and `..` as far as the text allows.
pub(super) fn joined(folder: &str, path: &str) -> String {
    let whole =
        if path.starts_with('/') || folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", Some(last)) if *last != ".." => {
                parts.pop();
            }
            (part, _) => parts.push(part),
        }
    }
    let root = if whole.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}
