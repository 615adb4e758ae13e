//! Input bytes with their display name, and the limits on input size.
//!
//! Never reads files: a [`Source`] comes with its bytes.

/// A file, or the standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// The path shown in messages; `-` for the standard input.
    pub name: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// Whether it was found by walking a folder, which may hold files of other tools, rather than named.
    pub is_walked: bool,
}

impl Source {
    /// Creates a source from a name and its content.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into(), is_walked: false }
    }
}

/// File name endings that are read in a folder, as in kubectl.
const ENDINGS: [&str; 3] = [".json", ".yaml", ".yml"];

/// Returns whether a file or folder with this name is skipped in a folder.
#[must_use]
pub fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

/// Folders with third-party sources for builds, which are not manifests of this cluster.
const VENDORED: [&str; 2] = ["node_modules", "vendor"];

/// Returns whether a folder with this name is skipped in a folder.
#[must_use]
pub fn is_passed_over(folder: &str) -> bool {
    is_hidden(folder) || VENDORED.contains(&folder)
}

/// Returns whether a file with this name is read in a folder.
#[must_use]
pub fn is_manifest(name: &str) -> bool {
    !is_hidden(name) && ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Maximum bytes of a source: a dump of a large cluster has a few hundred MiB.
pub const DUMP_BYTES_MAX: u64 = 1 << 30;

/// Maximum bytes of a document that is not a List, and of one item of a List: hand-written ones are far smaller, and a
/// single object in etcd has at most 1.5 MiB.
pub const DOCUMENT_BYTES_MAX: usize = 32 << 20;

/// Size in bytes above which a List is split and each item is parsed separately, so that memory use depends on the
/// largest item and not on the List. Smaller documents are parsed whole.
pub const WHOLE_BYTES_MAX: usize = 1 << 20;

/// Maximum number of nodes (values and keys) of a document with aliases expanded. A million nodes use some 150 MB.
pub const NODES_MAX: usize = 1_000_000;

/// Maximum nesting depth of a document with aliases expanded: the deepest CRD schemas have some sixty levels.
pub const DEPTH_MAX: usize = 128;

/// Maximum number of pods of all workloads; Kubernetes itself supports 150,000 in a cluster.
pub const PODS_MAX: i64 = 500_000;

/// Maximum number of objects in an input: a dump of maximum size has fewer, at two hundred bytes each.
pub const OBJECTS_MAX: usize = 5_000_000;

/// The file in a folder that excludes parts of it from reading, like a `.gitignore`.
pub const IGNORE_FILE: &str = ".nodeformignore";

/// Decides what to exclude from walked folders besides hidden files. Folders are entered and left during the walk;
/// paths are those shown to users.
pub trait LeavesOut {
    /// Starts at a named folder.
    fn start(&mut self, root: &str);
    /// Enters a folder, with the content of its [`IGNORE_FILE`].
    fn enter(&mut self, folder: &str, rules: Option<&[u8]>);
    /// Returns to the parent folder.
    fn leave(&mut self);
    /// Returns whether a file or folder is excluded.
    fn leaves_out(&mut self, path: &str, is_folder: bool) -> bool;
}
