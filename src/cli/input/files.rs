//! Reads files, folders and standard input as a whole.
#![expect(clippy::disallowed_methods, reason = "reading files is this module's job")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use super::super::exit::Failure;
use super::ignored::Ignored;
use super::{InputFile, Inputs, Origin, STANDARD_INPUT, ToRender};
use crate::manifests::Source;
use crate::manifests::folder::{Foreign, Layout, Tool, layout, parent};
use crate::manifests::source::{
    DUMP_BYTES_MAX, IGNORE_FILE, LeavesOut, is_hidden, is_manifest, is_passed_over,
};

/// Maximum number of bytes read of a `kustomization.yaml` or a `Chart.yaml`; they usually have a few hundred lines.
const DEFINITION_BYTES_MAX: u64 = 1 << 20;

/// Maximum number of bytes read of a `.nodeformignore`.
const IGNORE_BYTES_MAX: u64 = 1 << 20;

/// The file that identifies a Helm chart.
const CHART_FILE: &str = "Chart.yaml";

/// Options for walking folders.
#[derive(Debug)]
pub(super) struct Walking {
    /// Whether to include subfolders.
    pub(super) is_recursive: bool,
    /// The excluded paths.
    pub(super) ignored: Ignored,
    /// The purpose of reading.
    pub(super) purpose: Purpose,
}

/// Purpose of reading files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Planning: input files of kustomize or helm are left to these tools.
    Planning,
    /// Rewriting in place, including input files of kustomize or helm.
    Rewriting,
}

/// Reads these origins, each file once.
///
/// # Errors
/// All paths that cannot be read.
pub(super) fn read(origins: &[Origin], walking: Walking) -> Result<Inputs, Failure> {
    let Walking { is_recursive, ignored, purpose } = walking;
    let mut reader = Reader {
        is_recursive,
        purpose,
        ignored,
        root: PathBuf::new(),
        inputs: Inputs::default(),
        seen: BTreeSet::new(),
        faults: Vec::new(),
    };
    for origin in origins {
        match origin {
            Origin::StandardInput => reader.standard_input(),
            Origin::Folder(path) => {
                reader.root.clone_from(path);
                reader.folder(path);
            }
            Origin::File(path) => {
                reader.root = path.parent().unwrap_or(path).to_owned();
                if is_definition(path) && purpose == Purpose::Rewriting {
                    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                    reader.folder(folder.unwrap_or(Path::new(".")));
                } else if is_definition(path) {
                    reader.sorted_out(std::slice::from_ref(path));
                } else {
                    reader.file(path, false);
                }
            }
        }
    }
    let Reader { mut inputs, seen, mut faults, ignored, .. } = reader;
    let (left_out, wrong) = ignored.end();
    faults.extend(wrong);
    if !faults.is_empty() {
        return Err(Failure::errors(faults).hint("check the path and permissions; `-` is standard input"));
    }
    // A folder that was named explicitly was read, even if another named folder contains it.
    inputs.passed_by.unread_folders.retain(|folder| !seen.contains(&real(Path::new(folder))));
    inputs.passed_by.left_out = left_out;
    inputs.passed_by.read = inputs.files.iter().map(|file| file.source.name.clone()).collect();
    Ok(Inputs { read: seen, ..inputs })
}

/// Returns whether a named file stands for its folder.
fn is_definition(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    Tool::of_file(name).is_some() && path.is_file()
}

/// Returns the canonical path, with all links resolved.
pub(in super::super) fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

struct Reader {
    is_recursive: bool,
    purpose: Purpose,
    ignored: Ignored,
    /// The named folder, or the parent of the named file.
    root: PathBuf,
    inputs: Inputs,
    /// Canonical paths already read, so that links and repeated paths are not counted twice.
    seen: BTreeSet<PathBuf>,
    faults: Vec<String>,
}

impl Reader {
    fn is_new(&mut self, path: &Path) -> bool {
        self.seen.insert(real(path))
    }

    fn standard_input(&mut self) {
        if !self.seen.insert(PathBuf::from("-")) {
            return;
        }
        let mut bytes = Vec::new();
        // One byte above the limit, to detect excess input.
        match std::io::stdin().lock().take(DUMP_BYTES_MAX + 1).read_to_end(&mut bytes) {
            Ok(_) => {
                self.inputs.is_standard_input_blank = bytes.iter().all(u8::is_ascii_whitespace);
                self.keep("-".to_owned(), Source::new(STANDARD_INPUT, bytes));
            }
            Err(error) => self.faults.push(format!("standard input cannot be read: {error}")),
        }
    }

    /// Reads a file that was named or found in a folder.
    fn file(&mut self, path: &Path, is_walked: bool) {
        if !self.is_new(path) {
            return;
        }
        let shown = path.display();
        match fs::metadata(path) {
            Ok(facts) if facts.len() > DUMP_BYTES_MAX => {
                self.faults
                    .push(format!("`{shown}` has {} bytes; {DUMP_BYTES_MAX} is the most", facts.len()));
                return;
            }
            Ok(_) => {}
            Err(error) => {
                self.faults.push(format!("`{shown}` cannot be read: {error}"));
                return;
            }
        }
        // The length of a non-regular file (a pipe, a device) is meaningless, so the read is limited too.
        let mut bytes = Vec::new();
        let file = fs::File::open(path);
        match file.and_then(|file| file.take(DUMP_BYTES_MAX + 1).read_to_end(&mut bytes)) {
            Ok(_) => {
                let place = path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
                self.keep(place, Source { name: shown.to_string(), bytes, is_walked });
            }
            Err(error) => self.faults.push(format!("`{shown}` cannot be read: {error}")),
        }
    }

    fn folder(&mut self, folder: &Path) {
        let mut paths = Vec::new();
        self.ignored.start(&folder.to_string_lossy());
        // Ignore files of the parent folders apply as well, as if the walk had started at the outermost.
        let above: Vec<&Path> = folder.ancestors().skip(1).collect();
        if folder.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            above.into_iter().rev().for_each(|above| self.enter(above));
        }
        self.inputs.passed_by.folders.push(folder.display().to_string());
        self.walk(folder, &mut paths);
        self.sorted_out(&paths);
    }

    /// Enters a folder and reads its ignore file.
    fn enter(&mut self, folder: &Path) {
        let mut bytes = Vec::new();
        let path = folder.join(IGNORE_FILE);
        let file = fs::File::open(&path);
        let rules = match file.and_then(|file| file.take(IGNORE_BYTES_MAX).read_to_end(&mut bytes)) {
            Ok(_) => Some(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                self.faults.push(format!("`{}` cannot be read: {error}", path.display()));
                None
            }
        };
        self.ignored.enter(&folder.to_string_lossy(), rules.as_deref());
    }

    /// Collects the files of a folder, in the order of their names.
    fn walk(&mut self, folder: &Path, files: &mut Vec<PathBuf>) {
        if !self.is_new(folder) {
            return;
        }
        let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
        let mut paths: Vec<PathBuf> = match entries {
            Ok(entries) => entries.iter().map(fs::DirEntry::path).collect(),
            Err(error) => {
                self.faults.push(format!("folder `{}` cannot be read: {error}", folder.display()));
                return;
            }
        };
        paths.sort();
        self.enter(folder);
        let is_chart = paths.iter().any(|path| is_definition(path) && path.ends_with(CHART_FILE));
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let (is_folder, shown) = (path.is_dir(), path.display().to_string());
            if is_hidden(&name) {
                continue;
            }
            if is_folder && is_passed_over(&name) {
                self.inputs.passed_by.vendored.push(shown);
                continue;
            }
            if self.ignored.leaves_out(&shown, is_folder) {
                continue;
            }
            match (is_folder, self.is_recursive) {
                (false, _) => files.push(path),
                (true, true) => self.walk(&path, files),
                (true, false) if is_chart && self.purpose == Purpose::Rewriting => {
                    // A chart includes its subfolders.
                    self.is_recursive = true;
                    self.walk(&path, files);
                    self.is_recursive = false;
                }
                (true, false) => self.inputs.passed_by.unread_folders.push(shown),
            }
        }
        self.ignored.leave();
    }

    /// Reads the manifests among the files of a folder and records folders that need rendering.
    fn sorted_out(&mut self, paths: &[PathBuf]) {
        let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
        let definition = |index: usize| {
            let mut text = String::new();
            let file = fs::File::open(paths.get(index)?).ok()?;
            file.take(DEFINITION_BYTES_MAX).read_to_string(&mut text).ok()?;
            Some(text)
        };
        let Layout { manifests, unrendered, foreign, plans } = layout(&shown, definition);
        if self.purpose == Purpose::Rewriting {
            let parts = shown.iter().enumerate().filter(|(index, path)| {
                let name = path.rsplit('/').next().unwrap_or(path);
                let is_plan = plans.contains(parent(path));
                let is_other = is_plan || Tool::of_file(name).is_some() || Foreign::of_path(path).is_some();
                is_manifest(name) && !is_other && !manifests.contains(index)
            });
            for path in parts.filter_map(|(index, _)| paths.get(index)) {
                self.inputs.parts.insert(path.display().to_string());
                self.file(path, true);
            }
        }
        manifests.iter().filter_map(|index| paths.get(*index)).for_each(|path| self.file(path, true));
        let Inputs { passed_by, unrendered: known, .. } = &mut self.inputs;
        // Subfolders of these are not read, with or without `-R`.
        let is_part =
            |folder: &String| unrendered.iter().any(|root| Path::new(folder).starts_with(&root.folder));
        let purpose = self.purpose;
        passed_by.unread_folders.retain(|folder| purpose == Purpose::Rewriting || !is_part(folder));
        passed_by.foreign.extend(foreign);
        passed_by.plans.extend(plans);
        let root = &self.root;
        known.extend(unrendered.into_iter().map(|folder| {
            let place = Path::new(&folder.folder).strip_prefix(root).unwrap_or(Path::new(&folder.folder));
            ToRender { place: place.display().to_string(), folder }
        }));
    }

    fn keep(&mut self, place: String, source: Source) {
        self.inputs.files.push(InputFile { place, source });
    }
}
