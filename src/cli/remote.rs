//! The repository for plan reviews: its address and its access.
#![expect(clippy::disallowed_methods, reason = "credentials come from the environment or a file of it")]

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::exit::{Exit, Failure};
use super::live::Connected;
use crate::api::node_fleet::Git;
use crate::azure::Azure;
use crate::clock::Clock;
use crate::gitops::{self, Access, BRANCH, Fleet, GitOpsFault, PATH, Place, Token, USER};
use crate::model::secret::Secret;

/// In which repository plans are reviewed.
#[derive(Args, Clone, Debug, Default)]
#[command(
    next_help_heading = "Review in Git (token: NODEFORM_GIT_TOKEN or NODEFORM_GIT_TOKEN_FILE; GitHub App: NODEFORM_GITHUB_APP_ID and NODEFORM_GITHUB_APP_KEY_FILE)"
)]
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
        let git = Git {
            repository: or(&self.git_repository, fleet.repository.as_ref()),
            branch: or(&self.git_branch, fleet.branch.as_ref()),
            path: or(&self.git_path, fleet.path.as_ref()),
            ..Git::default()
        };
        Place::of(&git, self.allow_http)?.ok_or_else(|| {
            Failure::error("no repository for reviewed plans is set").hint(
                "name it by `--git-repository https://HOST/PATH`, or as `spec.git.repository` of the NodeFleet",
            )
        })
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
                        "`{flag}` differs from `spec.git` of the NodeFleet; only plans of that are applied"
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

/// Returns the NodeFleet, where there is one.
///
/// # Errors
/// The API server refuses, or there are several.
pub(super) fn fleet(connected: &Connected) -> Result<Option<Fleet>, Failure> {
    Ok(connected.wait_for(gitops::fleet(&connected.cluster))?)
}

/// Returns what the NodeFleet says of the repository; nothing where there is no NodeFleet, or it does not say.
///
/// # Errors
/// The API server refuses, or there are several.
pub(super) fn of_fleet(connected: &Connected) -> Result<Option<Git>, Failure> {
    Ok(fleet(connected)?.and_then(|fleet| fleet.git))
}

impl From<GitOpsFault> for Failure {
    fn from(GitOpsFault { faults, hints, is_stale, until: _ }: GitOpsFault) -> Self {
        let exit = if is_stale { Exit::Stale } else { Exit::Error };
        Self { exit, hints, ..Self::errors(faults) }
    }
}

/// Who speaks to the repository, by the environment: the token with its user, and the folder of the clones.
///
/// # Errors
/// There is no such folder, or two tokens.
pub(super) fn access(identity: Option<&Azure>) -> Result<Access, Failure> {
    let cache = cache().ok_or_else(|| {
        Failure::error("no folder for the clone of the repository")
            .hint("set XDG_CACHE_HOME or HOME to a folder that can be written")
    })?;
    access_with(cache, identity)
}

/// As [`access`], for a process that lasts; where the environment names no folder for clones, they lie among what is temporary.
///
/// # Errors
/// There are two tokens.
pub(super) fn access_of_service(identity: &Azure) -> Result<Access, Failure> {
    access_with(cache().unwrap_or_else(|| std::env::temp_dir().join("nodeform/git")), Some(identity))
}

fn access_with(cache: PathBuf, identity: Option<&Azure>) -> Result<Access, Failure> {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let tokens = (variable("NODEFORM_GIT_TOKEN"), variable("NODEFORM_GIT_TOKEN_FILE"));
    let app = (variable("NODEFORM_GITHUB_APP_ID"), variable("NODEFORM_GITHUB_APP_KEY_FILE"));
    let token = match (tokens, app) {
        ((Some(token), None), (None, None)) => Token::Said(Secret::new(token)),
        ((None, Some(file)), (None, None)) => Token::File(file.into()),
        ((None, None), (Some(id), Some(key))) => Token::App { id, key: key.into() },
        ((None, None), (None, None)) => Token::None,
        ((Some(_), Some(_)), _) => {
            return Err(Failure::error("NODEFORM_GIT_TOKEN and NODEFORM_GIT_TOKEN_FILE are both set")
                .hint("leave one of them"));
        }
        ((None, None), (id, _)) => {
            let missing =
                if id.is_none() { "NODEFORM_GITHUB_APP_ID" } else { "NODEFORM_GITHUB_APP_KEY_FILE" };
            return Err(Failure::error(format!("the GitHub App lacks {missing}"))
                .hint("set the App's client id and the file of its private key, or a token alone"));
        }
        ((Some(_), None) | (None, Some(_)), (_, _)) => {
            return Err(Failure::error("a Git token and a GitHub App are both set")
                .hint("leave either NODEFORM_GIT_TOKEN(_FILE) or NODEFORM_GITHUB_APP_ID and NODEFORM_GITHUB_APP_KEY_FILE"));
        }
    };
    let user = variable("NODEFORM_GIT_USER").unwrap_or_else(|| USER.to_owned());
    Ok(Access { cache, user, token, identity: identity.cloned(), issued: Arc::default() })
}

/// Who speaks to the repository of a connected cluster, with a token that is good for now.
///
/// # Errors
/// As [`access`], and where no token is issued.
pub(super) fn renewed(
    connected: &Connected,
    (place, fleet): (&Place, Option<&Git>),
) -> Result<Access, Failure> {
    let access = access(Some(&connected.azure))?;
    let forge = fleet.and_then(|git| git.forge);
    connected.wait_for(access.renew((place, forge), *connected.cluster.clock()))?;
    Ok(access)
}

/// As [`renewed`], where there is no connection to a cluster.
///
/// # Errors
/// As [`renewed`].
pub(super) fn renewed_offline(place: &Place) -> Result<Access, Failure> {
    let access = access(None)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::error(format!("cannot wait for answers: {error}")))?;
    runtime.block_on(access.renew((place, None), Clock::of_this_machine()))?;
    Ok(access)
}

/// The file of the key of the environment that plans are signed with; without one they are not signed.
pub(super) fn signing_key_file() -> Option<PathBuf> {
    std::env::var_os("NODEFORM_SIGNING_KEY_FILE").filter(|file| !file.is_empty()).map(PathBuf::from)
}

/// Where clones lie.
fn cache() -> Option<PathBuf> {
    let said = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let folder = said.or_else(home).filter(|folder| folder.is_absolute());
    folder.map(|folder| folder.join("nodeform/git"))
}
