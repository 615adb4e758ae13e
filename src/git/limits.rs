//! Limits for reading a repository: a hostile one is small and expands without limit.

/// Maximum number of folder entries visited by one read; the largest repositories have half a million files.
pub const ENTRIES_MAX: usize = 1_000_000;

/// Maximum number of bytes of one folder's list: some hundred thousand names.
pub const FOLDER_BYTES_MAX: u64 = 32 << 20;

/// Maximum depth of folders; real paths have at most some thirty components.
pub const DEPTH_MAX: usize = 128;

/// Maximum number of links on the way to one file, as in Linux.
pub const LINKS_MAX: usize = 40;

/// Maximum length of a link's target, as in Linux.
pub const LINK_BYTES_MAX: u64 = 4096;

/// Maximum number of bytes of a `kustomization.yaml` or a `Chart.yaml` that is read; usual ones have a few hundred
/// lines.
pub const DEFINITION_BYTES_MAX: u64 = 1 << 20;
