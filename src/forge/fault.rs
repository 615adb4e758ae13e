//! Faults of forge requests: what happened, to which object, why, and what to do next.
//!
//! Must never hold a token, or an address with its query.

use jiff::Timestamp;

use super::limits::{ANSWER_BYTES_MAX, WORDS_LETTERS_MAX};
use crate::model::shown::plain;

/// A failed operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {deed} at `{host}`: {kind}")]
pub struct ForgeFault {
    /// The operation, with its object: "read pull request 7 of `org/plans`".
    pub deed: String,
    /// The host of the forge.
    pub host: String,
    /// The reason.
    pub kind: FaultKind,
}

/// Reason why an operation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// A setting, or a text to send, is invalid.
    #[error("{because}")]
    Settings {
        /// The reason.
        because: String,
    },
    /// There is no connection; nothing was sent.
    #[error("there is no connection: {because}")]
    Unreachable {
        /// The reason.
        because: String,
    },
    /// The server's certificate is not trusted; nothing was sent.
    #[error("its certificate is not trusted: {because}")]
    Certificate {
        /// The reason.
        because: String,
    },
    /// The answer takes too long.
    #[error("it did not finish answering within {seconds} seconds")]
    Slow {
        /// Time waited, in seconds.
        seconds: u64,
    },
    /// The connection ended within the answer.
    #[error("the connection ended before the answer did: {because}")]
    Lost {
        /// The library's message.
        because: String,
    },
    /// The answer is too large.
    #[error("the response is larger than {} MiB", ANSWER_BYTES_MAX >> 20)]
    TooMuch,
    /// The answer redirects elsewhere.
    #[error(
        "it redirects to `{to}` ({status}), which is not followed, because it would send the token there"
    )]
    Redirects {
        /// The status.
        status: u16,
        /// The scheme and host of the target.
        to: String,
    },
    /// Not authenticated (401).
    #[error("the token was not accepted (401){because}")]
    NotAccepted {
        /// The forge's message.
        because: Words,
    },
    /// Forbidden (403).
    #[error("the token has no permission (403){because}")]
    Denied {
        /// The forge's message.
        because: Words,
    },
    /// Not found (404).
    #[error("it does not exist, or the token may not see it (404)")]
    NotFound,
    /// Conflict (409).
    #[error("it conflicts with something that exists (409){because}")]
    Conflict {
        /// The forge's message.
        because: Words,
    },
    /// Invalid request (400, 422 and similar).
    #[error("the request was not accepted ({status}){because}")]
    Invalid {
        /// The status.
        status: u16,
        /// The forge's message.
        because: Words,
    },
    /// Too many requests (429, and equivalent answers).
    #[error("too many requests ({status}): waiting until {until:.0}")]
    Wait {
        /// The status.
        status: u16,
        /// Earliest time of the next request.
        until: Timestamp,
    },
    /// Server error (500 and above).
    #[error("it failed ({status}){because}")]
    Broken {
        /// The status.
        status: u16,
        /// The forge's message.
        because: Words,
    },
    /// The answer is not from this forge's API.
    #[error("the answer ({status}) is not one of its API: {what}")]
    NotTheApi {
        /// The status.
        status: u16,
        /// What it is instead.
        what: String,
    },
    /// An answer lacks a field.
    #[error("the answer has no valid `{field}`")]
    Misses {
        /// The field.
        field: &'static str,
    },
    /// A list does not end.
    #[error("there are more than {most}, and no more are read")]
    TooMany {
        /// Maximum number of entries that are read.
        most: usize,
    },
    /// A text exceeds the forge's limit.
    #[error("the {what} has {letters} letters, {most} are allowed")]
    TooLong {
        /// The text.
        what: &'static str,
        /// Its length.
        letters: usize,
        /// Its maximum length.
        most: usize,
    },
}

/// A forge's message, in one line and cut; it starts with a colon, or is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(String);

impl Words {
    /// Converts a forge's message, from which tokens must already be removed.
    pub(super) fn of(said: &str) -> Self {
        Self(one_line(said))
    }

    /// Returns the message without the colon.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Words {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(formatter, ": {}", self.0) }
    }
}

/// Converts an external text to one line, cut and without control characters.
pub(super) fn one_line(said: &str) -> String {
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    plain(&line).chars().take(WORDS_LETTERS_MAX).collect()
}

impl ForgeFault {
    /// Returns what to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        self.kind.hint()
    }

    /// Returns the earliest time of the next request, if the forge set one.
    #[must_use]
    pub const fn wait_until(&self) -> Option<Timestamp> {
        if let FaultKind::Wait { until, .. } = self.kind { Some(until) } else { None }
    }
}

impl FaultKind {
    const fn hint(&self) -> &'static str {
        match self {
            Self::Settings { .. } => {
                "name the repository as `https://HOST/OWNER/REPOSITORY`, and check the token's file"
            }
            Self::Unreachable { .. } => {
                "check the host, and that network policies and HTTPS_PROXY let nodeform reach it"
            }
            Self::Certificate { .. } => {
                "set SSL_CERT_FILE to a file with the CA certificate; a proxy that inspects TLS has its own CA"
            }
            Self::Slow { .. } | Self::Lost { .. } => {
                "nothing is done twice: the next round checks first; if it persists, check which server answers at the host"
            }
            Self::TooMuch => "check which server answers at the host; keep plans in their own repository",
            Self::Redirects { .. } => {
                "name the address that it leads to, if you trust it; a page to sign in means that the token is missing or expired"
            }
            Self::NotAccepted { .. } => {
                "check that the token is whole and has not expired; create a new one if it has"
            }
            Self::Denied { .. } => {
                "let the token read the repository, and write pull requests, comments and commit statuses; check that the repository is not archived"
            }
            Self::NotFound => "check the address of the repository, and that the token may read it",
            Self::Conflict { .. } => {
                "check the pull request: somebody else changed it; the next round checks again"
            }
            Self::Invalid { .. } => {
                "check that both branches exist, that the repository is not archived, and what its rules allow"
            }
            Self::Wait { .. } => "no action needed; if it persists, let fewer programs use this token",
            Self::Broken { .. } => {
                "wait: the next round retries; if it persists, ask the administrators of the forge"
            }
            Self::NotTheApi { .. } => {
                "check the address and the kind of the forge; a page to sign in means that the token is missing or expired"
            }
            Self::Misses { .. } => "check the kind and the version of the forge",
            Self::TooMany { .. } => {
                "close pull requests that are not needed; keep plans in a repository of their own"
            }
            Self::TooLong { .. } => "shorten it",
        }
    }
}
