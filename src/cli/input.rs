//! Files, folders and standard input, read whole; what they mean is `manifests`' business.
#![expect(clippy::disallowed_methods, reason = "reading files is this module's job")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::Failure;
use crate::manifests::{DUMP_BYTES_MAX, Source};

/// The endings of the files that are read in a folder, as in kubectl.
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];

/// Where manifests come from.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct InputArguments {
    /// Files or folders with manifests; `-` is standard input
    #[arg(value_name = "INPUT")]
    pub(super) inputs: Vec<PathBuf>,
    /// The same as INPUT, as in kubectl; may be repeated
    #[arg(short = 'f', long = "filename", value_name = "INPUT")]
    pub(super) filenames: Vec<PathBuf>,
    /// Read folders with all folders in them
    #[arg(short = 'R', long)]
    pub(super) recursive: bool,
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// The files' bytes.
    pub(super) sources: Vec<Source>,
    /// Folders in folders that were not read, since `-R` was not given.
    pub(super) unread_folders: Vec<PathBuf>,
}

impl InputArguments {
    /// Returns whether no input was named.
    #[must_use]
    pub(super) fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.filenames.is_empty()
    }

    /// Returns whether this existing file was named as an input.
    #[must_use]
    pub(super) fn reads(&self, file: &Path) -> bool {
        let Ok(file) = fs::canonicalize(file) else { return false };
        self.inputs
            .iter()
            .chain(&self.filenames)
            .any(|path| fs::canonicalize(path).is_ok_and(|path| path == file))
    }

    /// Reads everything that was named, folders in the order of their files' names, each file once.
    ///
    /// # Errors
    /// Every path that cannot be read, at once.
    pub(super) fn read(&self) -> Result<Inputs, Failure> {
        let mut reader = Reader { recursive: self.recursive, ..Reader::default() };
        for path in self.inputs.iter().chain(&self.filenames) {
            if path.as_os_str() == "-" {
                reader.standard_input();
            } else if path.is_dir() {
                reader.folder(path);
            } else {
                reader.file(path);
            }
        }
        if !reader.faults.is_empty() {
            return Err(Failure::errors(reader.faults));
        }
        if reader.inputs.sources.is_empty() {
            let failure =
                Failure::error("no file to read: the folders hold no `.yaml`, `.yml` or `.json` file");
            return Err(if reader.inputs.unread_folders.is_empty() {
                failure
            } else {
                failure.hint("add `-R` to read the folders inside them as well")
            });
        }
        Ok(reader.inputs)
    }
}

#[derive(Default)]
struct Reader {
    recursive: bool,
    inputs: Inputs,
    /// Real paths that were read, so that a link or a path named twice is not counted twice.
    seen: BTreeSet<PathBuf>,
    faults: Vec<String>,
}

impl Reader {
    fn is_new(&mut self, path: &Path) -> bool {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        self.seen.insert(real)
    }

    fn standard_input(&mut self) {
        if !self.seen.insert(PathBuf::from("-")) {
            return;
        }
        let mut bytes = Vec::new();
        // One byte more than the limit, so that too much is seen as too much.
        match std::io::stdin().lock().take(DUMP_BYTES_MAX + 1).read_to_end(&mut bytes) {
            Ok(_) => self.keep("<stdin>".to_owned(), bytes),
            Err(error) => self.faults.push(format!("standard input cannot be read: {error}")),
        }
    }

    fn file(&mut self, path: &Path) {
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
        match fs::read(path) {
            Ok(bytes) => self.keep(shown.to_string(), bytes),
            Err(error) => self.faults.push(format!("`{shown}` cannot be read: {error}")),
        }
    }

    fn folder(&mut self, folder: &Path) {
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
        for path in paths {
            let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if path.is_dir() {
                match (is_hidden, self.recursive) {
                    (true, _) => {}
                    (false, true) => self.folder(&path),
                    (false, false) => self.inputs.unread_folders.push(path),
                }
            } else if !is_hidden && ENDINGS.contains(&ending) {
                self.file(&path);
            }
        }
    }

    fn keep(&mut self, name: String, bytes: Vec<u8>) {
        self.inputs.sources.push(Source { name, bytes });
    }
}
