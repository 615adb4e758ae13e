//! Why a forge could not be asked, or did not answer as one: what happened, to which object, why, and what to do next.
//! Must never hold a token, or an address with its query.

use jiff::Timestamp;

use super::limits::{ANSWER_BYTES_MAX, WORDS_LETTERS_MAX};
use crate::model::shown::plain;

/// A deed that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {deed} at `{host}`: {kind}")]
pub struct ForgeFault {
    /// What was to be done, with its object: "read pull request 7 of `org/plans`".
    pub deed: String,
    /// The host of the forge.
    pub host: String,
    /// Why it was not.
    pub kind: FaultKind,
}

/// Why a deed came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// A setting, or a text that was to be sent, is not valid.
    #[error("{because}")]
    Settings {
        /// Why not.
        because: String,
    },
    /// There is no connection; nothing was sent.
    #[error("there is no connection: {because}")]
    Unreachable {
        /// Why not.
        because: String,
    },
    /// TLS does not trust the server; nothing was sent.
    #[error("its certificate is not trusted: {because}")]
    Certificate {
        /// Why not.
        because: String,
    },
    /// The answer takes too long.
    #[error("it did not finish answering within {seconds} seconds")]
    Slow {
        /// How long it was waited for.
        seconds: u64,
    },
    /// The connection ended within the answer.
    #[error("the connection ended before the answer did: {because}")]
    Lost {
        /// The library's words.
        because: String,
    },
    /// The answer is too large.
    #[error("the response is larger than {} MiB", ANSWER_BYTES_MAX >> 20)]
    TooMuch,
    /// The answer leads elsewhere.
    #[error(
        "it redirects to `{to}` ({status}), which is not followed, because it would send the token there"
    )]
    Redirects {
        /// The status.
        status: u16,
        /// The scheme and host of the other address.
        to: String,
    },
    /// 401.
    #[error("the token was not accepted (401){because}")]
    NotAccepted {
        /// The forge's words.
        because: Words,
    },
    /// 403.
    #[error("the token has no permission (403){because}")]
    Denied {
        /// The forge's words.
        because: Words,
    },
    /// 404.
    #[error("it does not exist, or the token may not see it (404)")]
    NotFound,
    /// 409.
    #[error("it conflicts with something that exists (409){because}")]
    Conflict {
        /// The forge's words.
        because: Words,
    },
    /// 400, 422 and others of their kind.
    #[error("the request was not accepted ({status}){because}")]
    Invalid {
        /// The status.
        status: u16,
        /// The forge's words.
        because: Words,
    },
    /// 429, and other answers that mean it.
    #[error("too many requests ({status}): waiting until {until:.0}")]
    Wait {
        /// The status.
        status: u16,
        /// When to ask again, at the earliest.
        until: Timestamp,
    },
    /// 500 and above.
    #[error("it failed ({status}){because}")]
    Broken {
        /// The status.
        status: u16,
        /// The forge's words.
        because: Words,
    },
    /// What answers is no API of this forge.
    #[error("the answer ({status}) is not one of its API: {what}")]
    NotTheApi {
        /// The status.
        status: u16,
        /// What it is.
        what: String,
    },
    /// An answer lacks something.
    #[error("the answer has no valid `{field}`")]
    Misses {
        /// What it lacks.
        field: &'static str,
    },
    /// A list does not end.
    #[error("there are more than {most}, and no more are read")]
    TooMany {
        /// How many are read.
        most: usize,
    },
    /// A text is longer than the forge takes.
    #[error("the {what} has {letters} letters, {most} are allowed")]
    TooLong {
        /// Which text.
        what: &'static str,
        /// How many it has.
        letters: usize,
        /// How many it may have.
        most: usize,
    },
}

/// A forge's own words, in one line and cut; they begin with a colon, or there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(String);

impl Words {
    /// Makes words of what a forge says, which must hold no token any more.
    pub(super) fn of(said: &str) -> Self {
        Self(one_line(said))
    }

    /// Returns the words alone.
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

/// Somebody else's text in one line, cut, and without what a terminal obeys.
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

    /// Returns when to ask again, at the earliest, where the forge said so.
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
