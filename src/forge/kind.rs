//! Kinds of forges, and their maximum text lengths.

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

/// Maximum text lengths in UTF-16 code units, which the strictest forge counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimits {
    /// The title of a pull request.
    pub title: usize,
    /// The description of a pull request.
    pub body: usize,
    /// A comment, with its marker.
    pub comment: usize,
    /// The description of a status; longer ones are cut.
    pub status_description: usize,
}

/// Gitea stores titles of 255 characters; it does not limit other texts, so GitHub's limits keep them readable.
pub(super) const GITEA: TextLimits =
    TextLimits { title: 255, body: 65_536, comment: 65_536, status_description: 255 };
/// GitHub answers 422 to longer texts.
pub(super) const GITHUB: TextLimits =
    TextLimits { title: 256, body: 65_536, comment: 65_536, status_description: 140 };
/// GitLab accepts descriptions of a million characters; GitHub's limit keeps a page of a list below the limit for
/// answers.
pub(super) const GITLAB: TextLimits =
    TextLimits { title: 255, body: 65_536, comment: 65_536, status_description: 255 };
/// Azure DevOps answers 400 to a longer title or description. Its comments may have 150,000 characters.
pub(super) const AZURE_DEVOPS: TextLimits =
    TextLimits { title: 400, body: 4_000, comment: 65_536, status_description: 255 };

impl ForgeKind {
    /// Returns the kind of a public host; `None` for companies' own hosts.
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

    /// Returns the maximum lengths of texts.
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
