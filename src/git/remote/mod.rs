//! A repository on a server: reads its branches, and adds one folder by a commit.
//!
//! ```text
//!  Address ─▶ Clone::fetch ─(git fetch, depth 1)─▶ Heads ─▶ files of a folder, or Addition ─▶ commit ─(git push)─▶ branch
//! ```
//!
//! Objects are read and written in a bare clone in a cache folder; nothing is checked out, and no hook, filter or setting
//! of the machine is used. The `git` program talks to the server, and only [`Clone::push`] and [`Clone::delete`] write
//! there: they create a branch, and delete one that has not moved since it was read. Credentials are only in that
//! program's environment. Must never change an existing branch, or apply a plan.

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
