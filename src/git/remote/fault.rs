//! Faults of using a repository on a server, with the next step.

use super::super::fault::GitFault;

/// Reason why a repository on a server cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteFault {
    /// The address is not accepted.
    #[error("`{address}` cannot be used as the repository: {because}")]
    Address {
        /// The address, without possible passwords.
        address: String,
        /// The reason.
        because: &'static str,
    },
    /// Git does not accept the name of a branch or a folder.
    #[error("`{name}` cannot be used as {what}: {because}")]
    Name {
        /// The name.
        name: String,
        /// What it names.
        what: &'static str,
        /// The reason.
        because: &'static str,
    },
    /// The `git` program is missing.
    #[error("the program `git` cannot be started: {because}")]
    NoProgram {
        /// The system's error message.
        because: String,
    },
    /// The cache folder cannot be used.
    #[error("the clone in `{folder}` cannot be used: {because}")]
    Cache {
        /// The folder.
        folder: String,
        /// The reason.
        because: String,
    },
    /// The server requires a token, and there is none.
    #[error("{address} requires a token (401), and none is set")]
    NoToken {
        /// The repository.
        address: String,
    },
    /// The server does not accept the token.
    #[error("{address}: the token was not accepted (401)")]
    NotAccepted {
        /// The repository.
        address: String,
    },
    /// The token has no permission for this.
    #[error("{address}: the token may not {what} it (403)")]
    Denied {
        /// The repository.
        address: String,
        /// The denied operation.
        what: &'static str,
    },
    /// The repository does not exist, or is hidden.
    #[error("{address} is not there, or the token may not see it (404)")]
    NotThere {
        /// The repository.
        address: String,
    },
    /// The server limits requests.
    #[error("{address} was asked too often (429)")]
    AskedTooOften {
        /// The repository.
        address: String,
    },
    /// The server answers with another status.
    #[error("{address} answered with status {status}")]
    Status {
        /// The repository.
        address: String,
        /// The status.
        status: u16,
    },
    /// The answer is not from a Git server.
    #[error("{address} answers, but not as a Git repository: with a page to sign in, or of another program")]
    NoGit {
        /// The repository.
        address: String,
    },
    /// The server's certificate is not trusted.
    #[error("the certificate of {address} is not trusted: {because}")]
    Certificate {
        /// The repository.
        address: String,
        /// The program's message.
        because: String,
    },
    /// The server takes too long.
    #[error("{address} did not finish answering within {seconds} seconds")]
    Slow {
        /// The repository.
        address: String,
        /// Time waited, in seconds.
        seconds: u64,
    },
    /// The server sends too much.
    #[error("{address} responds with more than {} MiB", most >> 20)]
    TooMuch {
        /// The repository.
        address: String,
        /// Maximum number of bytes.
        most: u64,
    },
    /// The server redirects elsewhere.
    #[error(
        "{address} leads to another address, which is not followed, so that credentials stay with the server they are for"
    )]
    Redirects {
        /// The repository.
        address: String,
    },
    /// The branch does not exist.
    #[error("{address} has no branch `{branch}`")]
    NoBranch {
        /// The repository.
        address: String,
        /// The branch.
        branch: String,
    },
    /// There are too many proposals.
    #[error("{address} has more than {most} branches below `{below}`")]
    TooMany {
        /// The repository.
        address: String,
        /// The prefix of their names.
        below: String,
        /// Maximum number that is read.
        most: usize,
    },
    /// The branch was changed concurrently.
    #[error("branch `{branch}` of {address} moved while the plan was proposed: nothing was written")]
    Moved {
        /// The repository.
        address: String,
        /// The branch.
        branch: String,
    },
    /// The server rejects the branch by one of its rules.
    #[error("{address} does not take branch `{branch}`: {because}")]
    Declined {
        /// The repository.
        address: String,
        /// The branch.
        branch: String,
        /// The server's message.
        because: String,
    },
    /// Any other error of the program.
    #[error("`git {what}` with {address} failed: {because}")]
    Failed {
        /// The repository.
        address: String,
        /// The command.
        what: &'static str,
        /// Its message.
        because: String,
    },
    /// An object cannot be read or written.
    #[error("{0}")]
    Object(#[from] GitFault),
}

impl RemoteFault {
    /// Returns what to do next.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Address { .. } => Some(
                "use `https://HOST/PATH`; credentials come from NODEFORM_GIT_TOKEN or NODEFORM_GIT_TOKEN_FILE",
            ),
            Self::Name { .. } => {
                Some("name it as Git shows it, as in `--git-branch main --git-path nodeform/plans`")
            }
            Self::NoProgram { .. } => Some("install Git, 2.31 or later, and have it in PATH"),
            Self::Cache { .. } => {
                Some("delete the folder: it is only a cache; set XDG_CACHE_HOME to move it")
            }
            Self::NoToken { .. } => Some(
                "set NODEFORM_GIT_TOKEN, or NODEFORM_GIT_TOKEN_FILE, to a token that may read the repository, and for `propose` write branches below `nodeform/`",
            ),
            Self::NotAccepted { .. } => Some(
                "check that the token of NODEFORM_GIT_TOKEN or NODEFORM_GIT_TOKEN_FILE is whole and has not expired; set NODEFORM_GIT_USER where the server asks for a user",
            ),
            Self::Denied { .. } => Some(
                "let the token read the repository, and for `propose` write branches below `nodeform/`; check that the repository is not archived",
            ),
            Self::NotThere { .. } => {
                Some("check the address, and that the token of NODEFORM_GIT_TOKEN may read the repository")
            }
            Self::AskedTooOften { .. } => Some("run the same command again in some minutes, and less often"),
            Self::Status { .. } => Some(
                "run the same command again later; if it persists, ask the administrators of the Git server",
            ),
            Self::NoGit { .. } => {
                Some("check the address: name it as `git clone` takes it, as `https://HOST/PATH`")
            }
            Self::Certificate { .. } => Some(
                "set SSL_CERT_FILE to a file with the CA certificate; a proxy that inspects TLS has its own CA",
            ),
            Self::Slow { .. } => {
                Some("run the same command again; if it persists, check which server answers at the address")
            }
            Self::TooMuch { .. } => Some(
                "check which server answers at the address; keep plans in their own repository if this one is so large",
            ),
            Self::Redirects { .. } => Some(
                "the repository was renamed or moved: name its new address in `spec.git.repository` of the NodeFleet, or by `--git-repository`",
            ),
            Self::NoBranch { .. } => Some(
                "name a branch that is there by `--git-branch`, or push a first commit to it; a page to sign in has no branch either: then check the address",
            ),
            Self::TooMany { .. } => Some("delete those that are merged or closed"),
            Self::Moved { .. } => Some("run the same command again"),
            Self::Declined { .. } => Some(
                "let the token's user create and delete branches below `nodeform/`; a rule that protects them must exempt this user",
            ),
            Self::Failed { .. } => {
                Some("run the same command again; if it persists, check that a Git server answers there")
            }
            Self::Object(fault) => fault.hint(),
        }
    }
}
