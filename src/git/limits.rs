//! How much of a repository is looked at: a hostile one is small and unpacks to anything.

/// The most entries of folders that one reading visits; the largest repositories have half a million files.
pub const ENTRIES_MAX: usize = 1_000_000;

/// The most bytes of one folder's list: some hundred thousand names.
pub const FOLDER_BYTES_MAX: u64 = 32 << 20;

/// The deepest folders; paths of people have at most some thirty parts.
pub const DEPTH_MAX: usize = 128;

/// The most links on the way to one file, as in Linux.
pub const LINKS_MAX: usize = 40;

/// The longest target of a link, as in Linux.
pub const LINK_BYTES_MAX: u64 = 4096;

/// The most bytes of a `kustomization.yaml` or a `Chart.yaml` that are looked at; people write a few hundred lines.
pub const DEFINITION_BYTES_MAX: u64 = 1 << 20;
