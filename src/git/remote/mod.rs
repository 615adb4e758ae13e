//! A repository on a server: what is on its branches, and a commit that adds one folder to it.
//!
//! ```text
//!  Address ─▶ Clone::fetch ─(git fetch, depth 1)─▶ Heads ─▶ files of a folder, or Addition ─▶ commit ─(git push)─▶ branch
//! ```
//!
//! Objects lie in a bare clone in a cache folder and are read and written there; nothing is checked out, and no hook,
//! filter or setting of the machine takes part. The `git` program talks to the server, and only [`Clone::push`] and
//! [`Clone::delete`] write there: a branch that is made, and one that goes if it is still as it was read.
//! Credentials stand in that program's environment and nowhere else. Must never change a branch that is there, or carry a plan out.

mod address;
mod ancestry;
mod bounded;
mod clone;
mod commit;
mod fault;
mod folders;
mod held;
mod left;
mod program;
mod said;

pub use address::{Address, Branch, FolderPath};
pub use clone::{Clone, Heads, Proposed, Tip};
pub use commit::{Addition, Beside, COMMITTER_EMAIL};
pub use fault::RemoteFault;
pub use folders::{Found, PlanEntry, PlanFile};
pub use program::Credentials;
