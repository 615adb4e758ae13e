//! The repository in which plans are reviewed.

use super::access::Access;
use super::fault::GitOpsFault;
use crate::api::node_fleet::Git;
use crate::git::remote::{Address, Branch, Clone as GitClone, FolderPath};

/// Default branch.
pub const BRANCH: &str = "main";

/// Default folder of the plans.
pub const PATH: &str = "nodeform/plans";

/// Repository, branch and folder of plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The repository.
    pub address: Address,
    /// The branch that plans are merged into.
    pub branch: Branch,
    /// The folder of the plans.
    pub path: FolderPath,
}

impl Place {
    /// Returns where plans are reviewed; `None` if no repository is named. `allows_http` accepts plain HTTP on this
    /// machine.
    ///
    /// # Errors
    /// All invalid settings, together.
    pub fn of(git: &Git, allows_http: bool) -> Result<Option<Self>, GitOpsFault> {
        let Some(address) = &git.repository else { return Ok(None) };
        let address = Address::parse(address, allows_http);
        let branch = Branch::parse(git.branch.as_deref().unwrap_or(BRANCH));
        let path = FolderPath::parse(git.path.as_deref().unwrap_or(PATH));
        match (address, branch, path) {
            (Ok(address), Ok(branch), Ok(path)) => Ok(Some(Self { address, branch, path })),
            (address, branch, path) => {
                let faults = [address.err(), branch.err(), path.err()].into_iter().flatten();
                let none = GitOpsFault::default();
                Err(faults.fold(none, |all, fault| all.and(&fault.to_string(), fault.hint())))
            }
        }
    }

    /// Returns the full name of a plan's folder for the ledger, with its repository and branch.
    #[must_use]
    pub fn folder(&self, name: &dyn std::fmt::Display) -> String {
        format!("{} {} {}/{name}", self.address, self.branch.as_str(), self.path)
    }

    /// Returns the repository and branch as text.
    #[must_use]
    pub fn of_branch(&self) -> String {
        format!("{} {}", self.address.as_str(), self.branch.as_str())
    }

    /// Opens the clone of the repository.
    ///
    /// # Errors
    /// The token cannot be read, or the cache folder cannot be used.
    pub fn open(&self, access: &Access) -> Result<GitClone, GitOpsFault> {
        Ok(GitClone::open(&access.cache, self.address.clone(), access.credentials()?)?)
    }
}
