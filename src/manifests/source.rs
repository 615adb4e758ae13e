//! The bytes that were read, with the name that messages call them by, and how much of them is taken.
//!
//! Reading files is not done here: a [`Source`] comes with its bytes.

/// One file, or the standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// The path as it is shown in messages; `-` for the standard input.
    pub name: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// Whether it was found by walking a folder, where files of other tools may be, rather than named.
    pub is_walked: bool,
}

impl Source {
    /// Makes a source of a name and its content.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into(), is_walked: false }
    }
}

/// The endings of the files that are read in a folder, as in kubectl.
const ENDINGS: [&str; 3] = [".json", ".yaml", ".yml"];

/// Returns whether a file or folder of this name is passed over in a folder.
#[must_use]
pub fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

/// Folders of what others wrote: the sources that a build needs are no manifests of this cluster.
const VENDORED: [&str; 2] = ["node_modules", "vendor"];

/// Returns whether a folder of this name is passed over in a folder.
#[must_use]
pub fn is_passed_over(folder: &str) -> bool {
    is_hidden(folder) || VENDORED.contains(&folder)
}

/// Returns whether a file of this name is read in a folder.
#[must_use]
pub fn is_manifest(name: &str) -> bool {
    !is_hidden(name) && ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The most bytes of a source: a dump of a large cluster has a few hundred MiB.
pub const DUMP_BYTES_MAX: u64 = 1 << 30;

/// The most bytes of a document that is not a List, and of one item of a List: what people write is far
/// below, and a single object in etcd has at most 1.5 MiB.
pub const DOCUMENT_BYTES_MAX: usize = 32 << 20;

/// Above this many bytes a List is cut at its items, and each item is parsed alone: memory then follows
/// the largest item and not the List. Below it the whole document is parsed at once.
pub const WHOLE_BYTES_MAX: usize = 1 << 20;

/// The most nodes (values and keys) of a document, aliases written out. A million nodes take some 150 MB.
pub const NODES_MAX: usize = 1_000_000;

/// The deepest nesting of a document, aliases written out: the deepest schemas of CRDs have some sixty.
pub const DEPTH_MAX: usize = 128;

/// The most pods that workloads may ask for in all; Kubernetes itself supports 150,000 in a cluster.
pub const PODS_MAX: i64 = 500_000;

/// The most objects of an input: a dump of the largest size has fewer, at two hundred bytes each.
pub const OBJECTS_MAX: usize = 5_000_000;

/// The file of a folder that says what of it is not read, as a `.gitignore` says it.
pub const IGNORE_FILE: &str = ".nodeformignore";

/// Says what of the folders that are walked is left out beside hidden files. Folders are entered and left as they are
/// walked; paths are those that are shown.
pub trait LeavesOut {
    /// Starts at a folder that was named.
    fn start(&mut self, root: &str);
    /// Comes to a folder, with the content of its [`IGNORE_FILE`].
    fn enter(&mut self, folder: &str, rules: Option<&[u8]>);
    /// Goes back to the folder around it.
    fn leave(&mut self);
    /// Returns whether a file or folder is left out.
    fn leaves_out(&mut self, path: &str, is_folder: bool) -> bool;
}
