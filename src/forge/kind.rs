//! Which forges there are, and how long texts may be on each.

use std::fmt;

/// A kind of forge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgeKind {
    /// Gitea and Forgejo.
    Gitea,
    /// GitHub and GitHub Enterprise Server.
    GitHub,
    /// GitLab.
    GitLab,
    /// Azure DevOps.
    AzureDevOps,
}

/// How many letters a text may have, as units of UTF-16, which is how the strictest forge counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimits {
    /// The title of a pull request.
    pub title: usize,
    /// The description of a pull request.
    pub body: usize,
    /// A comment, with its marker.
    pub comment: usize,
    /// The description of a status; a longer one is cut.
    pub status_description: usize,
}

/// Gitea stores titles of 255 letters; it has no limit for other texts, so that GitHub's keep them readable.
pub(super) const GITEA: TextLimits =
    TextLimits { title: 255, body: 65_536, comment: 65_536, status_description: 255 };
/// GitHub answers 422 to more.
pub(super) const GITHUB: TextLimits =
    TextLimits { title: 256, body: 65_536, comment: 65_536, status_description: 140 };
/// GitLab takes a million letters of a description; GitHub's limit keeps a page of a list within what is read of an answer.
pub(super) const GITLAB: TextLimits =
    TextLimits { title: 255, body: 65_536, comment: 65_536, status_description: 255 };
/// Azure DevOps answers 400 to a longer title or description. Comments have 150,000 letters there.
pub(super) const AZURE_DEVOPS: TextLimits =
    TextLimits { title: 400, body: 4_000, comment: 65_536, status_description: 255 };

impl ForgeKind {
    /// Tells the kind by a host that is of one kind alone; `None` for hosts of companies.
    #[must_use]
    pub fn of_host(host: &str) -> Option<Self> {
        match host {
            "github.com" => Some(Self::GitHub),
            "gitlab.com" => Some(Self::GitLab),
            "gitea.com" | "codeberg.org" => Some(Self::Gitea),
            "dev.azure.com" => Some(Self::AzureDevOps),
            _ if host.ends_with(".visualstudio.com") => Some(Self::AzureDevOps),
            _ if host.ends_with(".ghe.com") => Some(Self::GitHub),
            _ => None,
        }
    }

    /// Returns how long texts may be.
    #[must_use]
    pub const fn limits(self) -> TextLimits {
        match self {
            Self::Gitea => GITEA,
            Self::GitHub => GITHUB,
            Self::GitLab => GITLAB,
            Self::AzureDevOps => AZURE_DEVOPS,
        }
    }
}

impl fmt::Display for ForgeKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Gitea => "Gitea",
            Self::GitHub => "GitHub",
            Self::GitLab => "GitLab",
            Self::AzureDevOps => "Azure DevOps",
        })
    }
}
