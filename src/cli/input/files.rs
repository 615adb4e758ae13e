//! Files, folders and standard input, read whole.
#![expect(clippy::disallowed_methods, reason = "reading files is this module's job")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::super::exit::Failure;
use super::{Inputs, Origin};
use crate::manifests::Source;
use crate::manifests::source::{DUMP_BYTES_MAX, is_hidden, is_manifest};

/// Reads these ways in, each file once.
///
/// # Errors
/// Every path that cannot be read, at once.
pub(super) fn read(origins: &[Origin], is_recursive: bool) -> Result<Inputs, Failure> {
    let mut reader = Reader { is_recursive, ..Reader::default() };
    for origin in origins {
        match origin {
            Origin::StandardInput => reader.standard_input(),
            Origin::Folder(path) => reader.folder(path),
            Origin::File(path) => reader.file(path),
        }
    }
    if reader.faults.is_empty() { Ok(reader.inputs) } else { Err(Failure::errors(reader.faults)) }
}

/// Returns whether an existing file is one of these paths.
pub(super) fn is_among<'a>(file: &Path, mut paths: impl Iterator<Item = &'a PathBuf>) -> bool {
    let Ok(file) = fs::canonicalize(file) else { return false };
    paths.any(|path| fs::canonicalize(path).is_ok_and(|path| path == file))
}

#[derive(Default)]
struct Reader {
    is_recursive: bool,
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
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                match (is_hidden(&name), self.is_recursive) {
                    (true, _) => {}
                    (false, true) => self.folder(&path),
                    (false, false) => self.inputs.unread_folders.push(path.display().to_string()),
                }
            } else if is_manifest(&name) {
                self.file(&path);
            }
        }
    }

    fn keep(&mut self, name: String, bytes: Vec<u8>) {
        self.inputs.sources.push(Source { name, bytes });
    }
}
