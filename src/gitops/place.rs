//! Which repository plans are reviewed in, and who speaks to it.

use super::access::Access;
use super::fault::GitOpsFault;
use crate::api::node_fleet::Git;
use crate::git::remote::{Address, Branch, Clone as GitClone, FolderPath};

/// The branch where nothing else is said.
pub const BRANCH: &str = "main";

/// The folder of the plans where nothing else is said.
pub const PATH: &str = "nodeform/plans";

/// Which repository is meant, and what of it.
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
    /// Returns where plans are reviewed; nothing where no repository is named. `allows_http` takes one of this machine by plain
    /// HTTP.
    ///
    /// # Errors
    /// Something of it cannot be used: everything at once.
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

    /// Says where a plan's folder is, for the ledger: a folder of another repository or branch is another.
    #[must_use]
    pub fn folder(&self, name: &dyn std::fmt::Display) -> String {
        format!("{} {} {}/{name}", self.address, self.branch.as_str(), self.path)
    }

    /// Says which branch of which repository is meant.
    #[must_use]
    pub fn of_branch(&self) -> String {
        format!("{} {}", self.address.as_str(), self.branch.as_str())
    }

    /// Opens the clone of the repository.
    ///
    /// # Errors
    /// The token cannot be read, or the cache folder not be used.
    pub fn open(&self, access: &Access) -> Result<GitClone, GitOpsFault> {
        Ok(GitClone::open(&access.cache, self.address.clone(), access.credentials()?)?)
    }
}
