//! A repository on a server: what is on its branches, and a commit that adds one folder to it.
//!
//! ```text
//!  Address ─▶ Clone::fetch ─(git fetch, depth 1)─▶ Heads ─▶ files of a folder, or Addition ─▶ commit ─(git push)─▶ branch
//! ```
//!
//! Objects lie in a bare clone in a cache folder and are read and written there; nothing is checked out, and no hook,
//! filter or setting of the machine takes part. The `git` program talks to the server, and only [`Clone::push`] writes there.
//! Credentials stand in that program's environment and nowhere else. Must never force a branch, or carry a plan out.

mod address;
mod clone;
mod commit;
mod fault;
mod folders;
mod program;

pub use address::{Address, Branch, FolderPath};
pub use clone::{Clone, Heads, Push, Tip};
pub use commit::{Addition, COMMITTER_EMAIL};
pub use fault::RemoteFault;
pub use folders::{Found, PlanEntry, PlanFile};
pub use program::Credentials;
