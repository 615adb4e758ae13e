//! Files, folders and standard input, read whole.
#![expect(clippy::disallowed_methods, reason = "reading files is this module's job")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::super::exit::Failure;
use super::{InputFile, Inputs, Origin};
use crate::manifests::Source;
use crate::manifests::folder::{Layout, Tool, layout};
use crate::manifests::source::{DUMP_BYTES_MAX, is_hidden};

/// The most bytes of a `kustomization.yaml` or a `Chart.yaml` that are looked at; people write a few hundred
/// lines.
const DEFINITION_BYTES_MAX: u64 = 1 << 20;

/// Reads these ways in, each file once.
///
/// # Errors
/// Every path that cannot be read, at once.
pub(super) fn read(origins: &[Origin], is_recursive: bool) -> Result<Inputs, Failure> {
    let mut reader = Reader { is_recursive, ..Reader::default() };
    for origin in origins {
        match origin {
            Origin::StandardInput => reader.standard_input(),
            Origin::Folder(path) => {
                reader.root.clone_from(path);
                reader.folder(path);
            }
            Origin::File(path) => {
                reader.root = path.parent().unwrap_or(path).to_owned();
                if is_definition(path) {
                    reader.sorted_out(std::slice::from_ref(path));
                } else {
                    reader.file(path);
                }
            }
        }
    }
    let Reader { inputs, seen, faults, .. } = reader;
    if faults.is_empty() {
        return Ok(Inputs { read: seen, ..inputs });
    }
    Err(Failure::errors(faults)
        .hint("name files or folders that are there and may be read; `-` is standard input"))
}

/// Returns whether a file that was named stands for its folder.
fn is_definition(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    Tool::of_file(name).is_some() && path.is_file()
}

/// Returns the path that a path leads to when every link is followed.
pub(in super::super) fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[derive(Default)]
struct Reader {
    is_recursive: bool,
    /// The folder that was named, or the one around the file that was.
    root: PathBuf,
    inputs: Inputs,
    /// Real paths that were read, so that a link or a path named twice is not counted twice.
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
        // One byte more than the limit, so that too much is seen as too much.
        match std::io::stdin().lock().take(DUMP_BYTES_MAX + 1).read_to_end(&mut bytes) {
            Ok(_) => {
                self.inputs.is_standard_input_blank = bytes.iter().all(u8::is_ascii_whitespace);
                self.keep("-".to_owned(), "<stdin>".to_owned(), bytes);
            }
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
        // What is no regular file (a pipe, a device) has a length that says nothing.
        let mut bytes = Vec::new();
        let file = fs::File::open(path);
        match file.and_then(|file| file.take(DUMP_BYTES_MAX + 1).read_to_end(&mut bytes)) {
            Ok(_) => {
                let place = path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
                self.keep(place, shown.to_string(), bytes);
            }
            Err(error) => self.faults.push(format!("`{shown}` cannot be read: {error}")),
        }
    }

    fn folder(&mut self, folder: &Path) {
        let mut paths = Vec::new();
        self.walk(folder, &mut paths);
        self.sorted_out(&paths);
    }

    /// Lists the files of a folder, in the order of their names.
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
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            match (is_hidden(&name), path.is_dir(), self.is_recursive) {
                (true, _, _) => {}
                (false, true, true) => self.walk(&path, files),
                (false, true, false) => self.inputs.unread_folders.push(path.display().to_string()),
                (false, false, _) => files.push(path),
            }
        }
    }

    /// Reads the manifests among the files of a folder and notes what has to be rendered.
    fn sorted_out(&mut self, paths: &[PathBuf]) {
        let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
        let definition = |index: usize| {
            let mut text = String::new();
            let file = fs::File::open(paths.get(index)?).ok()?;
            file.take(DEFINITION_BYTES_MAX).read_to_string(&mut text).ok()?;
            Some(text)
        };
        let Layout { manifests, unrendered, foreign } = layout(&shown, definition);
        manifests.iter().filter_map(|index| paths.get(*index)).for_each(|path| self.file(path));
        if !unrendered.is_empty() {
            // What lies below is not read, with `-R` or without.
            let is_part =
                |folder: &String| unrendered.iter().any(|root| Path::new(folder).starts_with(&root.folder));
            self.inputs.unread_folders.retain(|folder| !is_part(folder));
        }
        self.inputs.unrendered.extend(unrendered);
        self.inputs.foreign.extend(foreign);
    }

    fn keep(&mut self, place: String, name: String, bytes: Vec<u8>) {
        self.inputs.files.push(InputFile { place, source: Source { name, bytes } });
    }
}
