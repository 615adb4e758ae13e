//! The folder of a world: manifests and Azure settings.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::sim::{FaultsFile, SettingsFault, SimulatedAzure};

/// The `apiVersion` of the simulator's own documents.
const API_VERSION: &str = "nodeform.dev/v1alpha1";
/// Maximum number of documents in one file.
const DOCUMENTS_MAX: usize = 200_000;

/// Content of a world's folder.
#[derive(Debug, Clone, Default)]
pub struct WorldFolder {
    /// Azure settings.
    pub settings: SimulatedAzure,
    /// The objects of the cluster.
    pub manifests: Vec<Value>,
    /// The files with documents of kind `SimulatedFaults`, which are not part of a world.
    pub with_faults: Vec<PathBuf>,
}

impl WorldFolder {
    /// Reads all YAML and JSON files of a folder and its subfolders, in the order of their names.
    ///
    /// # Errors
    /// A file cannot be read, or the document of kind `SimulatedAzure` is invalid; lists all its faults.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        find(folder, &mut files)
            .with_context(|| format!("failed to read the world `{}`", folder.display()))?;
        if files.is_empty() {
            bail!("the world `{}` has no YAML or JSON file", folder.display());
        }
        let mut world = Self::default();
        let mut described_in: Option<PathBuf> = None;
        for file in files {
            for document in documents(&file)? {
                match own_kind(&document) {
                    Some("SimulatedAzure") => {
                        if let Some(other) = &described_in {
                            bail!(
                                "a world has one document of kind SimulatedAzure: `{}` and `{}` each have one",
                                other.display(),
                                file.display()
                            );
                        }
                        world.settings = SimulatedAzure::read(document.get("spec").unwrap_or(&Value::Null))
                            .map_err(|faults| {
                            refused(&format!("SimulatedAzure of `{}`", file.display()), &faults)
                        })?;
                        described_in = Some(file.clone());
                    }
                    // Passed with `--faults` instead, so that a world can be run with and without them.
                    Some("SimulatedFaults") => world.with_faults.push(file.clone()),
                    _ => world.manifests.push(document),
                }
            }
        }
        Ok(world)
    }
}

/// Reads the faults of a file.
///
/// # Errors
/// The file cannot be read, or a document is invalid; lists all its faults.
pub(crate) fn read_faults(file: &Path) -> anyhow::Result<FaultsFile> {
    let mut faults = FaultsFile::default();
    for document in documents(file)? {
        if own_kind(&document) != Some("SimulatedFaults") {
            bail!(
                "`{}` must hold documents of kind SimulatedFaults, apiVersion {API_VERSION}",
                file.display()
            );
        }
        let read = FaultsFile::read(document.get("spec").unwrap_or(&Value::Null))
            .map_err(|faults| refused(&format!("SimulatedFaults of `{}`", file.display()), &faults))?;
        faults.faults.extend(read.faults);
    }
    Ok(faults)
}

/// Returns an error with all faults of an input, one per line.
pub(crate) fn refused(what: &str, faults: &[SettingsFault]) -> anyhow::Error {
    let lines: Vec<String> = faults.iter().map(|fault| format!("  {fault}")).collect();
    anyhow::anyhow!("{what} is not valid:\n{}", lines.join("\n"))
}

fn own_kind(document: &Value) -> Option<&str> {
    (document.get("apiVersion")?.as_str()? == API_VERSION).then_some(document.get("kind")?.as_str()?)
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    entries.sort();
    for entry in entries {
        let extension = entry.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if entry.is_dir() {
            find(&entry, files)?;
        } else if ["yaml", "yml", "json"].contains(&extension) {
            files.push(entry);
        }
    }
    Ok(())
}

fn documents(file: &Path) -> anyhow::Result<Vec<Value>> {
    let text = fs::read_to_string(file).with_context(|| format!("failed to read `{}`", file.display()))?;
    let mut options = serde_saphyr::Options::default();
    options.legacy_octal_numbers = true;
    if let Some(budget) = &mut options.budget {
        budget.max_documents = DOCUMENTS_MAX;
        // A dump of a large cluster has more nodes than hand-written documents.
        budget.max_nodes = budget.max_nodes.max(50_000_000);
        budget.max_events = budget.max_events.max(100_000_000);
        budget.max_total_scalar_bytes = budget.max_total_scalar_bytes.max(1 << 30);
    }
    let documents: Vec<Value> = serde_saphyr::from_multiple_with_options(&text, options)
        .with_context(|| format!("failed to read `{}` as YAML", file.display()))?;
    Ok(documents.into_iter().filter(|document| !document.is_null()).collect())
}
