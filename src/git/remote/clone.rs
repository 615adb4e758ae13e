//! A bare clone in a cache folder, and the branches of its server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gix::ObjectId;

use super::super::fault::GitFault;
use super::super::repository::{self, Repository};
use super::super::revision::{Asked, Revision};
use super::address::{Address, Branch};
use super::bounded::Limits;
use super::commit::COMMITTER_EMAIL;
use super::fault::RemoteFault;
use super::program::{Credentials, Program};
use super::{left, said};
use crate::model::Digest;

/// Length of the digests that name an address' clone and a branch's reference.
const NAME_LENGTH: usize = 26;

/// The last fetched commit of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    /// The commit.
    pub(super) id: ObjectId,
    /// The revision of the commit.
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

/// The fetched branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heads {
    /// The target branch, into which plans are merged.
    pub target: Tip,
    /// The branches with proposed plans, sorted by name.
    pub proposed: Vec<Proposed>,
}

/// A branch with a proposed plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// The branch.
    pub branch: Branch,
    /// Its last commit.
    pub tip: Tip,
}

/// Maximum number of proposal branches that are read.
const PROPOSED_MAX: usize = 200;

/// A bare clone of a repository on a server.
#[derive(Debug)]
pub struct Clone {
    folder: PathBuf,
    pub(super) repository: Repository,
    address: Address,
    credentials: Option<Credentials>,
}

impl Clone {
    /// Opens the clone of an address in a cache folder, and creates it if it does not exist.
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
            gix::init_bare(&folder).map_err(|error| unusable(repository::said(&error)))?;
        }
        let options = gix::open::Options::isolated().open_path_as_is(true);
        let inner = gix::open_opts(&folder, options).map_err(|error| unusable(repository::said(&error)))?;
        Ok(Self { repository: Repository { inner }, folder, address, credentials })
    }

    /// Returns the address of the repository.
    #[must_use]
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// Fetches the last commits of the target branch and of the proposal branches directly below a prefix.
    ///
    /// # Errors
    /// The server refuses, does not answer, or has no such branch.
    pub fn fetch(&self, target: &Branch, below: Option<&str>) -> Result<Heads, RemoteFault> {
        let pattern = below.map(|below| format!("refs/heads/{below}*"));
        let full = target.full();
        let mut arguments = vec![self.address.as_str(), &full];
        arguments.extend(pattern.as_deref());
        let listed = self.program().run("ls-remote", &arguments)?;
        let named = |line: &str| -> Option<(String, String)> {
            let (id, name) = line.split_once('\t')?;
            Some((name.strip_prefix("refs/heads/")?.to_owned(), id.to_owned()))
        };
        let ids: BTreeMap<String, String> = listed.lines().filter_map(named).collect();
        if !ids.contains_key(target.as_str()) {
            let branch = target.as_str().to_owned();
            return Err(RemoteFault::NoBranch { address: self.address.to_string(), branch });
        }
        let is_proposed = |name: &&String| {
            let rest = below.and_then(|below| name.strip_prefix(below));
            rest.is_some_and(|rest| !rest.contains('/')) && *name != target.as_str()
        };
        let proposed = ids.keys().filter(is_proposed).filter_map(|name| Branch::parse(name).ok());
        let proposed: Vec<Branch> = proposed.take(PROPOSED_MAX + 1).collect();
        if proposed.len() > PROPOSED_MAX {
            let (address, below) = (self.address.to_string(), below.unwrap_or_default().to_owned());
            return Err(RemoteFault::TooMany { address, below, most: PROPOSED_MAX });
        }
        let all = [std::slice::from_ref(target), proposed.as_slice()].concat();
        let moved = all.into_iter().filter(|branch| !self.is_kept(branch, &ids));
        self.fetch_tips(&moved.collect::<Vec<Branch>>(), 1)?;
        let proposed = proposed.into_iter().map(|branch| Ok(Proposed { tip: self.tip(&branch)?, branch }));
        Ok(Heads { target: self.tip(target)?, proposed: proposed.collect::<Result<_, RemoteFault>>()? })
    }

    /// Returns whether the last commit of a branch was already fetched.
    fn is_kept(&self, branch: &Branch, ids: &BTreeMap<String, String>) -> bool {
        let kept = self.tip(branch).ok();
        kept.is_some_and(|kept| ids.get(branch.as_str()).is_some_and(|id| id == kept.commit()))
    }

    /// Fetches the last commits of branches, up to this depth.
    pub(super) fn fetch_tips(&self, branches: &[Branch], depth: usize) -> Result<(), RemoteFault> {
        let specs = branches.iter().map(|branch| format!("+{}:{}", branch.full(), kept_as(branch)));
        let specs: Vec<String> = specs.collect();
        if specs.is_empty() { Ok(()) } else { self.fetch_objects(&specs, depth) }
    }

    fn fetch_objects(&self, specs: &[String], depth: usize) -> Result<(), RemoteFault> {
        left::sweep(&self.folder.join("objects"));
        let depth = format!("--depth={depth}");
        let mut arguments =
            vec!["--quiet", &depth, "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];
        arguments.push(self.address.as_str());
        arguments.extend(specs.iter().map(String::as_str));
        self.program().run("fetch", &arguments)?;
        Ok(())
    }

    /// Creates a branch on the server with this commit, if none of the name exists. Returns the server's line with the
    /// address for opening a pull request, if it sends one.
    ///
    /// # Errors
    /// The branch exists, or the server refuses.
    pub fn push(&self, branch: &Branch, commit: &str) -> Result<Option<String>, RemoteFault> {
        let said = self.write(branch, "", commit)?;
        Ok(said::pull_request(&said, &self.address))
    }

    /// Deletes a branch on the server, if it has not moved since it was fetched.
    ///
    /// # Errors
    /// The branch moved, or the server refuses.
    pub fn delete(&self, Proposed { branch, tip }: &Proposed) -> Result<(), RemoteFault> {
        self.write(branch, tip.commit(), "").map(drop)
    }

    /// Moves a branch on the server from its expected commit (empty: it does not exist) to another (empty: it is
    /// deleted): the only write there. Returns the server's output.
    fn write(&self, branch: &Branch, before: &str, after: &str) -> Result<String, RemoteFault> {
        let full = branch.full();
        let lease = format!("--force-with-lease={full}:{before}");
        // Without a plus sign, which would disable the lease.
        let spec = format!("{after}:{full}");
        let arguments = ["--porcelain", "--no-verify", &lease, self.address.as_str(), &spec];
        let fault = match self.program().run_heard("push", &arguments) {
            Ok(heard) => return Ok(heard),
            Err(fault) => fault,
        };
        let RemoteFault::Failed { because, .. } = &fault else { return Err(fault) };
        let (address, branch, because) =
            (self.address.to_string(), branch.as_str().to_owned(), because.to_owned());
        Err(if because.contains("stale info") || because.contains("fetch first") {
            RemoteFault::Moved { address, branch }
        } else if because.contains("rejected]") {
            RemoteFault::Declined { address, branch, because: declined(&because) }
        } else {
            fault
        })
    }

    fn program(&self) -> Program<'_> {
        let (address, credentials) = (&self.address, self.credentials.as_ref());
        Program { folder: &self.folder, address, credentials, limits: Limits::default() }
    }

    fn tip(&self, branch: &Branch) -> Result<Tip, RemoteFault> {
        let kept = kept_as(branch);
        let found = self.repository.inner.find_reference(kept.as_str());
        let id = found.map_err(|error| unreadable(branch.as_str(), repository::said(&error)))?.id().detach();
        self.read(id, branch.as_str())
    }

    /// Returns a commit of the server, on any branch; it is fetched if it is not in the clone.
    ///
    /// # Errors
    /// The server refuses or does not answer, or has no such commit.
    pub fn fetch_commit(&self, commit: &str) -> Result<Tip, RemoteFault> {
        let id = ObjectId::from_hex(commit.as_bytes());
        let id = id.map_err(|_| unreadable(commit, "it is no id of a commit".to_owned()))?;
        if self.repository.inner.find_commit(id).is_err() {
            self.fetch_objects(&[commit.to_owned()], 1)?;
        }
        self.read(id, commit)
    }

    fn read(&self, id: ObjectId, name: &str) -> Result<Tip, RemoteFault> {
        let unreadable = |because: String| unreadable(name, because);
        let Asked::One(revision) = self.repository.asked(&id.to_string())? else {
            return Err(unreadable("it is no commit".to_owned()).into());
        };
        let revision = Revision { name: name.to_owned(), ..revision };
        let commit =
            self.repository.inner.find_commit(id).map_err(|error| unreadable(repository::said(&error)))?;
        let committer = commit.committer().map_err(|error| unreadable(repository::said(&error)))?;
        let is_ours = committer.email == COMMITTER_EMAIL;
        Ok(Tip { id, revision, is_ours })
    }
}

fn unreadable(place: &str, because: String) -> GitFault {
    GitFault::Unreadable { place: place.to_owned(), because }
}

/// Maximum number of characters that are repeated of a server's answer to a push.
const DECLINED_LETTERS_MAX: usize = 200;

/// Returns the server's reason for declining a push, without Git's own text. It is cut, because the next step follows
/// it.
fn declined(because: &str) -> String {
    const REMOTE: &str = "remote:";
    let of_server = because.split("error: failed to push").next().unwrap_or(because);
    let words = of_server.split(REMOTE).skip(1).map(|words| words.trim().trim_start_matches("error:").trim());
    let words: Vec<&str> = words.filter(|words| !words.is_empty()).collect();
    let said = if words.is_empty() { because.to_owned() } else { words.join("; ") };
    said.chars().take(DECLINED_LETTERS_MAX).collect()
}

/// Returns the reference that keeps a branch's commit: a digest, so that names cannot conflict.
fn kept_as(branch: &Branch) -> String {
    format!("refs/nodeform/{}", short(branch.as_str()))
}

fn short(text: &str) -> String {
    Digest::of_bytes(text.as_bytes()).base32(NAME_LENGTH)
}

#[cfg(test)]
mod tests {
    use super::declined;

    #[test]
    fn of_a_push_that_is_not_taken_the_words_of_the_server_are_said() {
        let said = "To https://forge.example/a/b ! 5eb1:refs/heads/nodeform/x [remote rejected] (pre-receive hook declined) Done \
                    remote: remote: error: remote: error: Not allowed to push to protected branch nodeform/x remote: error: \
                    error: failed to push some refs to 'https://forge.example/a/b'";
        assert_eq!(declined(said), "Not allowed to push to protected branch nodeform/x");
        let bare = "To https://forge.example/a/b ! [remote rejected] (hook declined)";
        assert_eq!(declined(bare), bare);
        assert_eq!(declined(&format!("remote: {}", "x".repeat(999))).len(), 200);
    }
}
