//! Manifests of a Git revision, read from the object database.
//!
//! Nothing is fetched or run, and no work tree changes: no hook, no filter, no network; for tools that render folders
//! a revision's files are written to a temporary folder. Links are followed
//! inside the tree of the revision and nowhere else. What is there and is not read (submodules, folders without
//! `-R`, links that lead out) is named, never dropped.

mod export;
pub mod fault;
pub mod limits;
mod objects;
pub mod remote;
mod repository;
mod revision;
mod tree;
mod walk;

pub use fault::GitFault;
pub use repository::Repository;
pub use revision::{Asked, Revision};
pub use walk::{Ask, Found, FoundFile, Unread};
