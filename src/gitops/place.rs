//! Which repository plans are reviewed in, and who speaks to it.
#![expect(clippy::disallowed_methods, reason = "a token is read of its file each time, as it may be renewed")]

use std::path::PathBuf;

use super::fault::GitOpsFault;
use crate::api::node_fleet::Git;
use crate::git::remote::{Address, Branch, Clone as GitClone, Credentials, FolderPath};
use crate::model::secret::Secret;

/// The branch where nothing else is said.
pub const BRANCH: &str = "main";

/// The folder of the plans where nothing else is said.
pub const PATH: &str = "nodeform/plans";

/// The user where the server asks for one beside the token and nothing is said.
pub const USER: &str = "nodeform";

/// The largest token that is read of a file.
const TOKEN_BYTES_MAX: u64 = 64 << 10;

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

/// Where a token comes from.
#[derive(Clone, Debug, Default)]
pub enum Token {
    /// There is none: the repository is read as anybody may.
    #[default]
    None,
    /// It was said.
    Said(Secret),
    /// It is in a file, which may be written anew.
    File(PathBuf),
}

/// Who speaks to repositories, and where clones lie.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The folder of the clones.
    pub cache: PathBuf,
    /// The user beside the token.
    pub user: String,
    /// The token.
    pub token: Token,
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

impl Access {
    /// Returns the token with its user, as it is now.
    ///
    /// # Errors
    /// Its file cannot be read, or it is none that a header may have.
    pub fn credentials(&self) -> Result<Option<Credentials>, GitOpsFault> {
        let token = match &self.token {
            Token::None => return Ok(None),
            Token::Said(token) => token.reveal().trim().to_owned(),
            Token::File(file) => token_of(file)?.reveal().trim().to_owned(),
        };
        // Either would end the header, and what follows would be one of its own.
        if token.chars().chain(self.user.chars()).any(char::is_control) || self.user.contains(':') {
            return Err(GitOpsFault::of("the Git token or its user has letters that no header may have")
                .hint("look at NODEFORM_GIT_TOKEN, NODEFORM_GIT_TOKEN_FILE and NODEFORM_GIT_USER"));
        }
        Ok(Some(Credentials { user: self.user.clone(), token: Secret::new(token) }))
    }
}

fn token_of(file: &std::path::Path) -> Result<Secret, GitOpsFault> {
    use std::io::Read as _;
    let mut text = String::new();
    let read =
        std::fs::File::open(file).and_then(|file| file.take(TOKEN_BYTES_MAX).read_to_string(&mut text));
    match read {
        Ok(_) => Ok(Secret::new(text)),
        Err(error) => {
            Err(GitOpsFault::of(format!("the Git token in `{}` cannot be read: {error}", file.display()))
                .hint("let NODEFORM_GIT_TOKEN_FILE name a file that holds the token alone"))
        }
    }
}
