//! `nodeform init --review`: the files that a repository needs besides the NodeFleet to review plans.
//!
//! Must never write settings that only repository administrators may decide, such as merge permissions: it lists them
//! instead.

use std::path::PathBuf;

use clap::ValueEnum;

use super::exit::Failure;
use crate::git::remote::Address;

/// A kind of server that plans are reviewed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ReviewForge {
    /// GitHub
    Github,
    /// GitLab
    Gitlab,
    /// Azure DevOps
    AzureDevops,
    /// Gitea or Forgejo
    Gitea,
}

/// Where plans are to be reviewed.
#[derive(Debug)]
pub(super) struct Reviewing {
    forge: ReviewForge,
    repository: Address,
}

/// How the manifests say that nothing is done.
const OBSERVE: &str = "  mode: observe # nothing is changed; plans are shown\n";

const BY_PATH: &str = "\
# Who is asked to review plans: the second team where nodes are deleted. The last matching line counts.
/nodeform/plans/                @your-org/platform
/nodeform/plans/**/destroy.txt  @your-org/platform-owners
";
const BY_PATTERN: &str = "\
# Who is asked to review plans, by regular expressions. It asks for a review, and requires none.
nodeform/plans/.*/destroy\\.txt  @platform-owners
";

impl Reviewing {
    /// Reads what was asked for.
    ///
    /// # Errors
    /// The address is none that a controller could use.
    pub(super) fn of(forge: ReviewForge, repository: &str) -> Result<Self, Failure> {
        match Address::parse(repository, false) {
            Ok(repository) => Ok(Self { forge, repository }),
            Err(fault) => {
                let failure = Failure::error(format!("`--git-repository`: {fault}"));
                Err(match fault.hint() {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                })
            }
        }
    }

    /// Returns the manifests with this repository; they plan and change nothing by themselves before.
    pub(super) fn manifests(&self, text: &str) -> String {
        let by = match self.forge {
            ReviewForge::AzureDevops => ", by: [ann@example.com]",
            ReviewForge::Github | ReviewForge::Gitlab | ReviewForge::Gitea => "",
        };
        let git = format!(
            "  mode: review # changes that move or replace nodes are proposed as pull requests, and applied after the merge\n  git:\n    repository: \"{}\"\n    forge: {}\n    # approvals: # uncomment to require approvals before the merge counts\n    #   - {{classes: [move-pods, replace, delete-pool], count: 1{by}}}\n",
            self.repository.as_str(),
            self.word()
        );
        text.replacen(OBSERVE, &git, 1)
    }

    /// Returns the files beside the manifests, by their paths in the repository.
    pub(super) fn files(&self) -> Vec<(PathBuf, &'static str)> {
        let files: &[(&str, &str)] = match self.forge {
            ReviewForge::Github => &[
                (".github/CODEOWNERS", BY_PATH),
                (
                    ".github/workflows/nodeform-verify.yml",
                    include_str!("../../examples/ci/verify/github.yml"),
                ),
            ],
            ReviewForge::Gitlab => &[
                ("CODEOWNERS", BY_PATH),
                (".gitlab-ci.yml", include_str!("../../examples/ci/verify/gitlab.yml")),
            ],
            ReviewForge::AzureDevops => {
                &[("nodeform-verify.yml", include_str!("../../examples/ci/verify/azure-pipelines.yml"))]
            }
            ReviewForge::Gitea => &[
                ("CODEOWNERS", BY_PATTERN),
                (".gitea/workflows/nodeform-verify.yml", include_str!("../../examples/ci/verify/gitea.yml")),
            ],
        };
        files.iter().map(|(path, text)| (PathBuf::from(path), *text)).collect()
    }

    /// Says what is left to do by hand, a line each.
    pub(super) fn by_hand(&self) -> String {
        let user = match self.forge {
            ReviewForge::Github => ", user: x-access-token",
            ReviewForge::Gitea => ", user: USER",
            ReviewForge::Gitlab | ReviewForge::AzureDevops => "",
        };
        let (token, branch): (&str, &[&str]) = match self.forge {
            ReviewForge::Github => (
                "a machine user with Contents, Pull requests and Commit statuses: read and write, Metadata: read",
                &[
                    "create a ruleset for `main`: require a pull request with an approval, *review from Code Owners*, *dismiss stale approvals*, *approval of the most recent reviewable push*; no bypass for nodeform's account",
                    "replace the teams in `.github/CODEOWNERS` with yours",
                ],
            ),
            ReviewForge::Gitlab => (
                "the project, with scope `api` and role Developer",
                &[
                    "protect `main`: merge by Maintainers; *Prevent approval by author* and *by users who add commits*, *Remove all approvals when commits are added*, *Code owner approval*",
                    "replace the groups in `CODEOWNERS` with yours",
                ],
            ),
            ReviewForge::AzureDevops => (
                "a service account: Code: read & write, Status: read & write; *Contribute*, *Create branch* on `nodeform/` alone, *Contribute to pull requests*",
                &[
                    "set policies of `main`: a minimum number of reviewers, *Allow requestors to approve their own changes* off, *Prohibit the most recent pusher from approving*, *Reset all votes when there are new changes*",
                    "add *Automatically included reviewers*, required, for the path `*destroy.txt`",
                    "add a *Build validation* by `nodeform-verify.yml`, for the path `/nodeform/plans/*`",
                ],
            ),
            ReviewForge::Gitea => (
                "a user of its own who may write, with `write:repository`, `write:issue`, `read:user`",
                &[
                    "protect `main`: required approvals, a merge allowlist without nodeform's user, *Dismiss stale approvals*",
                    "replace the team in `CODEOWNERS` with yours",
                ],
            ),
        };
        let branch: String = branch.iter().map(|setting| format!("  - {setting}\n")).collect();
        format!(
            "By hand, at {}:\n{branch}  - create a token of {token}\nIn the cluster, in the namespace of the chart:\n  - run `kubectl create secret generic nodeform-git --from-file=token=FILE`\n  - in the values of the chart, set `review: {{tokenSecret: {{name: nodeform-git}}{user}}}`\n",
            self.repository.as_str()
        )
    }

    const fn word(&self) -> &'static str {
        match self.forge {
            ReviewForge::Github => "github",
            ReviewForge::Gitlab => "gitlab",
            ReviewForge::AzureDevops => "azuredevops",
            ReviewForge::Gitea => "gitea",
        }
    }
}
