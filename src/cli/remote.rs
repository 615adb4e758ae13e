//! The repository that plans are reviewed in: which one is meant, and who speaks to it.
#![expect(clippy::disallowed_methods, reason = "credentials come from the environment or a file of it")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use super::exit::Failure;
use super::live::Connected;
use crate::api::node_fleet::{Git, NodeFleet};
use crate::cluster::ClusterFailureKind;
use crate::git::remote::{Address, Branch, Clone, Credentials, FolderPath, RemoteFault};
use crate::git::signature::{Signers, SigningKey};
use crate::model::secret::Secret;

/// Where NodeFleets are.
const FLEETS: &str = "/apis/nodeform.dev/v1alpha1/nodefleets";

/// The branch and the folder where nothing else is said.
const BRANCH: &str = "main";
const PATH: &str = "nodeform/plans";

/// The user where the server asks for one beside the token and nothing is said.
const USER: &str = "nodeform";

/// The largest token that is read of a file.
const TOKEN_BYTES_MAX: u64 = 64 << 10;

/// In which repository plans are reviewed.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Review in Git (token: NODEFORM_GIT_TOKEN or NODEFORM_GIT_TOKEN_FILE)")]
pub(super) struct RemoteArguments {
    /// The repository, as https://HOST/PATH; else `spec.git.repository` of the NodeFleet
    #[arg(long, value_name = "URL")]
    git_repository: Option<String>,
    /// The branch that plans are merged into; else the NodeFleet's, else main
    #[arg(long, value_name = "BRANCH")]
    git_branch: Option<String>,
    /// The folder of the plans; else the NodeFleet's, else nodeform/plans
    #[arg(long, value_name = "DIR")]
    git_path: Option<String>,
    /// Take a repository on this machine by plain HTTP
    #[arg(long)]
    allow_http: bool,
}

/// Which repository is meant, and what of it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) address: Address,
    pub(super) branch: Branch,
    pub(super) path: FolderPath,
}

impl RemoteArguments {
    /// Returns whether a repository is named, by a flag or by the NodeFleet.
    pub(super) fn is_named(&self, fleet: Option<&Git>) -> bool {
        self.git_repository.is_some() || fleet.is_some_and(|git| git.repository.is_some())
    }

    /// Returns where plans are reviewed, by the flags and else by the NodeFleet.
    ///
    /// # Errors
    /// No repository is named, or something of it cannot be used: everything at once.
    pub(super) fn place(&self, fleet: Option<&Git>) -> Result<Place, Failure> {
        let or = |said: &Option<String>, fleet: Option<&String>| said.clone().or_else(|| fleet.cloned());
        let fleet = fleet.cloned().unwrap_or_default();
        let Some(address) = or(&self.git_repository, fleet.repository.as_ref()) else {
            return Err(Failure::error("no repository is named in which plans are reviewed")
                .hint("name it by `--git-repository https://HOST/PATH`, or as `spec.git.repository` of the NodeFleet"));
        };
        let branch = or(&self.git_branch, fleet.branch.as_ref()).unwrap_or_else(|| BRANCH.to_owned());
        let path = or(&self.git_path, fleet.path.as_ref()).unwrap_or_else(|| PATH.to_owned());
        let address = Address::parse(&address, self.allow_http);
        match (address, Branch::parse(&branch), FolderPath::parse(&path)) {
            (Ok(address), Ok(branch), Ok(path)) => Ok(Place { address, branch, path }),
            (address, branch, path) => {
                let faults = [address.err(), branch.err(), path.err()].into_iter().flatten();
                let none = Failure::errors(Vec::new());
                Err(faults.fold(none, |failure, fault| failure.and(&fault.to_string(), fault.hint())))
            }
        }
    }

    /// Returns where merged plans are: where the NodeFleet says it, flags say no other.
    ///
    /// # Errors
    /// As [`RemoteArguments::place`], and flags that say another repository, branch or folder.
    pub(super) fn merged_place(&self, fleet: Option<&Git>) -> Result<Place, Failure> {
        if let Some(git) = fleet.filter(|git| git.repository.is_some()) {
            let branch = git.branch.clone().or(Some(BRANCH.to_owned()));
            let path = git.path.clone().or(Some(PATH.to_owned()));
            let said = [
                ("--git-repository", &self.git_repository, &git.repository),
                ("--git-branch", &self.git_branch, &branch),
                ("--git-path", &self.git_path, &path),
            ];
            let others = said.into_iter().filter(|(_, said, fleet)| said.is_some() && said != fleet);
            let faults: Vec<String> = others
                .map(|(flag, _, _)| {
                    format!(
                        "`{flag}` is not what `spec.git` of the NodeFleet says, whose plans alone are applied"
                    )
                })
                .collect();
            if !faults.is_empty() {
                return Err(Failure::errors(faults).hint("leave the flag out, or change the NodeFleet"));
            }
        }
        self.place(fleet)
    }
}

impl Place {
    /// Says where a plan's folder is, for the ledger: a folder of another repository or branch is another.
    pub(super) fn folder(&self, name: &dyn std::fmt::Display) -> String {
        format!("{} {} {}/{name}", self.address, self.branch.as_str(), self.path)
    }

    /// Says which branch of which repository is meant.
    pub(super) fn of_branch(&self) -> String {
        format!("{} {}", self.address.as_str(), self.branch.as_str())
    }

    /// Opens the clone of the repository.
    ///
    /// # Errors
    /// The token cannot be read, or the cache folder not be used.
    pub(super) fn open(&self) -> Result<Clone, Failure> {
        Clone::open(&cache()?, self.address.clone(), credentials()?).map_err(|fault| failure(&fault))
    }
}

/// The NodeFleet of a cluster, as far as it is about the repository.
#[derive(Clone, Debug, Default)]
pub(super) struct Fleet {
    pub(super) name: String,
    /// What it says of the repository.
    pub(super) git: Option<Git>,
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) version: Option<String>,
}

impl Fleet {
    /// Returns where the NodeFleet is.
    pub(super) fn path(&self) -> String {
        format!("{FLEETS}/{}", self.name)
    }
}

/// Returns what the NodeFleet says of the repository; nothing where there is no NodeFleet, or it does not say.
///
/// # Errors
/// The API server refuses.
pub(super) fn of_fleet(connected: &Connected) -> Result<Option<Git>, Failure> {
    Ok(fleet(connected)?.and_then(|fleet| fleet.git))
}

/// Returns the NodeFleet, where there is one.
///
/// # Errors
/// The API server refuses, or there are several.
pub(super) fn fleet(connected: &Connected) -> Result<Option<Fleet>, Failure> {
    let listed = match connected.wait_for(connected.cluster.list(FLEETS, "")) {
        Ok(listed) => listed,
        Err(failure) if failure.kind == ClusterFailureKind::NotFound => return Ok(None),
        Err(failure) => return Err(Failure::errors(Vec::new()).and(&failure.what, Some(&failure.hint))),
    };
    let mut items = listed.items();
    match (items.pop(), items.is_empty()) {
        (Some(item), true) => read(item).map(Some),
        (None, _) => Ok(None),
        (Some(_), false) => {
            Err(Failure::error("the cluster has more than one NodeFleet, and which one counts is not known")
                .hint("leave one: `kubectl get nodefleets`"))
        }
    }
}

/// Reads a NodeFleet of a list. One that cannot be read may name another repository: it is not as if there were none.
fn read(mut item: Value) -> Result<Fleet, Failure> {
    let version = item["metadata"]["resourceVersion"].as_str().map(str::to_owned);
    // Lists leave kind and version out of their items.
    item["apiVersion"] = "nodeform.dev/v1alpha1".into();
    item["kind"] = "NodeFleet".into();
    let name = item["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    match serde_json::from_value::<NodeFleet>(item) {
        Ok(NodeFleet { metadata, spec, .. }) => Ok(Fleet {
            name,
            git: spec.and_then(|spec| spec.git),
            annotations: metadata.annotations.unwrap_or_default(),
            version,
        }),
        Err(error) => Err(Failure::error(format!(
            "NodeFleet `{name}` cannot be read, so which repository counts is not known: {error}"
        ))
        .hint(format!("correct it: `kubectl edit nodefleet {name}`"))),
    }
}

/// Tells what stands in the way of the repository.
pub(super) fn failure(fault: &RemoteFault) -> Failure {
    Failure::errors(Vec::new()).and(&fault.to_string(), fault.hint())
}

/// The token of the environment, with its user; without one the repository is read as anybody may.
fn credentials() -> Result<Option<Credentials>, Failure> {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let token = match (variable("NODEFORM_GIT_TOKEN"), variable("NODEFORM_GIT_TOKEN_FILE")) {
        (Some(token), None) => token,
        (None, Some(file)) => token_of(&file)?,
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            return Err(Failure::error("NODEFORM_GIT_TOKEN and NODEFORM_GIT_TOKEN_FILE are both set")
                .hint("leave one of them"));
        }
    };
    let token = token.trim().to_owned();
    let user = variable("NODEFORM_GIT_USER").unwrap_or_else(|| USER.to_owned());
    // Either would end the header, and what follows would be one of its own.
    if token.chars().chain(user.chars()).any(char::is_control) || user.contains(':') {
        return Err(Failure::error("the Git token or its user has letters that no header may have")
            .hint("look at NODEFORM_GIT_TOKEN, NODEFORM_GIT_TOKEN_FILE and NODEFORM_GIT_USER"));
    }
    Ok(Some(Credentials { user, token: Secret::new(token) }))
}

/// The key of the environment that plans are signed with; without one they are not signed.
pub(super) fn signing_key() -> Result<Option<SigningKey>, Failure> {
    let Some(file) = std::env::var("NODEFORM_SIGNING_KEY_FILE").ok().filter(|file| !file.is_empty()) else {
        return Ok(None);
    };
    let unusable = |why: &str| {
        Failure::error(format!("the signing key in `{file}` cannot be used: {why}"))
            .hint("let NODEFORM_SIGNING_KEY_FILE name a private key without a passphrase, as `ssh-keygen -t ed25519` writes it")
    };
    let text = read_secret(&file).map_err(|error| unusable(&error.to_string()))?;
    SigningKey::parse(&text).map(Some).map_err(|fault| unusable(&fault.to_string()))
}

/// Returns whose signatures count; nothing where plans need none.
///
/// # Errors
/// A line that is no key. Then nobody knows whose count.
pub(super) fn signers(git: Option<&Git>) -> Result<Option<Signers>, Failure> {
    let Some(lines) = git.and_then(|git| git.signers.as_ref()) else { return Ok(None) };
    Signers::parse(lines).map(Some).map_err(|faults| {
        let faults = faults.iter().map(|fault| format!("`spec.git.signers` of the NodeFleet: {fault}"));
        Failure::errors(faults.collect()).hint("correct it: `kubectl edit nodefleet`")
    })
}

fn read_secret(file: &str) -> std::io::Result<Secret> {
    use std::io::Read as _;
    let mut text = String::new();
    std::fs::File::open(file)?.take(TOKEN_BYTES_MAX).read_to_string(&mut text)?;
    Ok(Secret::new(text))
}

fn token_of(file: &str) -> Result<String, Failure> {
    let read = read_secret(file).map_err(|error| {
        Failure::error(format!("the Git token in `{file}` cannot be read: {error}"))
            .hint("let NODEFORM_GIT_TOKEN_FILE name a file that holds the token alone")
    });
    read.map(|text| text.reveal().to_owned())
}

/// Where clones lie.
fn cache() -> Result<PathBuf, Failure> {
    let said = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let folder = said.or_else(home).filter(|folder| folder.is_absolute());
    folder.map(|folder| folder.join("nodeform/git")).ok_or_else(|| {
        Failure::error("there is no folder for the clone of the repository")
            .hint("set XDG_CACHE_HOME or HOME to a folder that can be written")
    })
}
