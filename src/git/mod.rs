//! Reads manifests of a Git revision from the object database, and plans that are reviewed in a repository on a server.
//!
//! In a local repository, nothing is fetched or run, and no work tree changes: no hook, no filter, no network; for
//! tools that render folders, a revision's files are written to a temporary folder. Only [`remote`] talks to a server.
//! Links are followed only inside the tree of the revision. What exists and is not read (submodules, folders without
//! `-R`, links that lead out) is reported, never dropped silently.

mod export;
pub mod fault;
pub mod limits;
mod objects;
pub mod remote;
mod repository;
mod revision;
pub mod signature;
mod tree;
mod walk;

pub use fault::GitFault;
pub use repository::Repository;
pub use revision::{Asked, Revision};
pub use walk::{Ask, Found, FoundFile, Unread};
