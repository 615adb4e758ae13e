//! A bare clone in a cache folder, and what is on the branches of its server.

use std::path::{Path, PathBuf};

use gix::ObjectId;

use super::super::fault::GitFault;
use super::super::repository::{Repository, said};
use super::super::revision::{Asked, Revision};
use super::address::{Address, Branch};
use super::commit::COMMITTER_EMAIL;
use super::fault::RemoteFault;
use super::program::{Credentials, Program};
use crate::model::Digest;

/// How many letters of an address' digest name its clone, and of a branch's name its reference.
const NAME_LENGTH: usize = 26;

/// The last commit of a branch, as it was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    /// The commit.
    pub(super) id: ObjectId,
    /// The commit's files.
    pub(super) revision: Revision,
    /// Whether nodeform committed it.
    pub is_ours: bool,
}

impl Tip {
    /// Returns the commit's full id.
    #[must_use]
    pub fn commit(&self) -> &str {
        &self.revision.commit
    }
}

/// What was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heads {
    /// The branch that plans are merged into.
    pub target: Tip,
    /// The branch that plans are proposed on, where it is there.
    pub proposed: Option<Tip>,
}

/// What is pushed.
#[derive(Clone, Copy, Debug)]
pub struct Push<'a> {
    /// The branch.
    pub branch: &'a Branch,
    /// What is on it now; `None`: it is not there.
    pub before: Option<&'a Tip>,
    /// The commit, which follows what is there.
    pub commit: &'a str,
}

/// A bare clone of a repository on a server.
#[derive(Debug)]
pub struct Clone {
    folder: PathBuf,
    pub(super) repository: Repository,
    address: Address,
    credentials: Option<Credentials>,
}

impl Clone {
    /// Opens the clone of an address in a cache folder, and makes it where it is not there.
    ///
    /// # Errors
    /// The folder cannot be written, or holds something else.
    pub fn open(
        cache: &Path,
        address: Address,
        credentials: Option<Credentials>,
    ) -> Result<Self, RemoteFault> {
        let folder = cache.join(format!("{}.git", short(address.as_str())));
        let unusable = |because: String| RemoteFault::Cache { folder: folder.display().to_string(), because };
        if !folder.join("HEAD").exists() {
            std::fs::create_dir_all(&folder).map_err(|error| unusable(error.to_string()))?;
            gix::init_bare(&folder).map_err(|error| unusable(said(&error)))?;
        }
        let options = gix::open::Options::isolated().open_path_as_is(true);
        let inner = gix::open_opts(&folder, options).map_err(|error| unusable(said(&error)))?;
        Ok(Self { repository: Repository { inner }, folder, address, credentials })
    }

    /// Returns where the repository is.
    #[must_use]
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// Fetches the last commit of the branch that plans are merged into, and of one that they are proposed on.
    ///
    /// # Errors
    /// The server refuses, does not answer, or has no such branch.
    pub fn fetch(&self, target: &Branch, proposed: Option<&Branch>) -> Result<Heads, RemoteFault> {
        let branches: Vec<&Branch> = [Some(target), proposed].into_iter().flatten().collect();
        let names: Vec<String> = branches.iter().map(|branch| branch.full()).collect();
        let mut arguments = vec![self.address.as_str()];
        arguments.extend(names.iter().map(String::as_str));
        let listed = self.program().run("ls-remote", &arguments)?;
        let is_there = |branch: &Branch| {
            let full = branch.full();
            listed.lines().any(|line| line.split_once('\t').is_some_and(|(_, name)| name == full))
        };
        if !is_there(target) {
            let branch = target.as_str().to_owned();
            return Err(RemoteFault::NoBranch { address: self.address.to_string(), branch });
        }
        let proposed = proposed.filter(|branch| is_there(branch));
        let wanted = [Some(target), proposed].into_iter().flatten();
        let specs: Vec<String> =
            wanted.map(|branch| format!("+{}:{}", branch.full(), kept_as(branch))).collect();
        let mut arguments =
            vec!["--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];
        arguments.push(self.address.as_str());
        arguments.extend(specs.iter().map(String::as_str));
        self.program().run("fetch", &arguments)?;
        Ok(Heads {
            target: self.tip(target)?,
            proposed: proposed.map(|branch| self.tip(branch)).transpose()?,
        })
    }

    /// Writes a commit to a branch of the server, if the branch is still as it was fetched: the only write there.
    ///
    /// # Errors
    /// The branch moved, or the server refuses.
    pub fn push(&self, Push { branch, before, commit }: Push<'_>) -> Result<(), RemoteFault> {
        let full = branch.full();
        let before = before.map_or("", Tip::commit);
        let lease = format!("--force-with-lease={full}:{before}");
        // Without a plus sign, which would void the lease.
        let spec = format!("{commit}:{full}");
        let arguments = ["--porcelain", "--no-verify", &lease, self.address.as_str(), &spec];
        let Err(fault) = self.program().run("push", &arguments) else { return Ok(()) };
        let RemoteFault::Failed { because, .. } = &fault else { return Err(fault) };
        let (address, branch, because) =
            (self.address.to_string(), branch.as_str().to_owned(), because.to_owned());
        Err(if because.contains("stale info") || because.contains("fetch first") {
            RemoteFault::Moved { address, branch }
        } else if because.contains("rejected]") {
            RemoteFault::Declined { address, branch, because }
        } else {
            fault
        })
    }

    fn program(&self) -> Program<'_> {
        Program { folder: &self.folder, address: &self.address, credentials: self.credentials.as_ref() }
    }

    fn tip(&self, branch: &Branch) -> Result<Tip, RemoteFault> {
        let unreadable =
            |because: String| GitFault::Unreadable { place: branch.as_str().to_owned(), because };
        let kept = kept_as(branch);
        let found = self.repository.inner.find_reference(kept.as_str());
        let id = found.map_err(|error| unreadable(said(&error)))?.id().detach();
        let Asked::One(revision) = self.repository.asked(&id.to_string())? else {
            return Err(unreadable("it is no commit".to_owned()).into());
        };
        let revision = Revision { name: branch.as_str().to_owned(), ..revision };
        let commit = self.repository.inner.find_commit(id).map_err(|error| unreadable(said(&error)))?;
        let committer = commit.committer().map_err(|error| unreadable(said(&error)))?;
        let is_ours = committer.email == COMMITTER_EMAIL;
        Ok(Tip { id, revision, is_ours })
    }
}

/// The reference under which a branch's commit is kept: of its own, so that no name is in another's way.
fn kept_as(branch: &Branch) -> String {
    format!("refs/nodeform/{}", short(branch.as_str()))
}

fn short(text: &str) -> String {
    Digest::of_bytes(text.as_bytes()).base32(NAME_LENGTH)
}
