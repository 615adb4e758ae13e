//! Failures of calls: the operation, the resource, the answer and the next step.
//!
//! Must never hold a header, a query, a body, or a text that was sent as a secret.

use std::fmt;

use super::transport::{TransportFault, Unreachable};
use crate::arm::answer::AnswerFault;
use crate::arm::fault::FaultKind;
use crate::arm::{Fault, Method};

/// A call in readable form: `PUT /subscriptions/…/virtualMachines/aks-a`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The verb.
    pub operation: &'static str,
    /// The path of the resource, without a query.
    pub resource: String,
    /// Whether it is a write.
    pub is_write: bool,
}

impl Call {
    pub(super) fn new(method: Method, path: &str) -> Self {
        Self { operation: method.as_str(), resource: path.to_owned(), is_write: method.is_write() }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.operation, self.resource)
    }
}

/// Reason why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Azure refused the request.
    #[error("{call}: {} (HTTP {}{}){}", fault.what(), fault.status.unwrap_or_default(), code(fault), told(fault))]
    Refused {
        /// The call.
        call: Call,
        /// Azure's error.
        fault: Box<Fault>,
        /// Azure's id of the request, for its support.
        request_id: Option<String>,
        /// How often it was sent.
        attempts: u32,
    },
    /// Azure accepted the request and failed to complete it.
    #[error("{call}: accepted, then failed: {}{}{}", fault.what(), in_brackets(fault), told(fault))]
    OperationFailed {
        /// The call that started the operation.
        call: Call,
        /// Azure's error.
        fault: Box<Fault>,
    },
    /// An operation did not end in time. It may still end.
    #[error("{call}: still in progress after {waited_seconds} s")]
    OperationUnfinished {
        /// The call that started the operation.
        call: Call,
        /// Time waited, in seconds.
        waited_seconds: u64,
    },
    /// An operation succeeded, but its resource does not exist: it was deleted meanwhile.
    #[error(
        "{call}: succeeded, but the resource has been missing for {waited_seconds} s: it was deleted meanwhile"
    )]
    ResourceMissing {
        /// The call that started the operation.
        call: Call,
        /// Time since the operation succeeded, in seconds.
        waited_seconds: u64,
    },
    /// There was no complete answer.
    #[error("{call}: {fault}")]
    Transport {
        /// The call.
        call: Call,
        /// What went wrong.
        fault: Box<TransportFault>,
        /// How often it was sent.
        attempts: u32,
    },
    /// Signing in failed, so nothing was sent.
    #[error("{call}: no token: {why}")]
    NoToken {
        /// The call.
        call: Call,
        /// Message of Azure's library or of Entra ID.
        why: String,
        /// The transport fault, if that was the cause.
        transport: Option<Box<TransportFault>>,
    },
    /// The answer is not from Resource Manager.
    #[error("{call}: {what} (HTTP {status})")]
    NotArm {
        /// The call.
        call: Call,
        /// The HTTP status.
        status: u16,
        /// What was received instead.
        what: NotArm,
        /// Azure's id of the request, if there is one.
        request_id: Option<String>,
    },
    /// The answer is JSON, but does not match its API.
    #[error("{call}: {fault}")]
    Answer {
        /// The call.
        call: Call,
        /// What is wrong with it.
        fault: AnswerFault,
    },
    /// A link in the answer leads elsewhere. Nothing was sent there.
    #[error("{call}: the answer links to {origin}, which is not this Azure; not followed")]
    ForeignLink {
        /// The call.
        call: Call,
        /// Its origin.
        origin: String,
    },
    /// A list stopped before its end.
    #[error("{call}: the list stopped after {pages} pages with {items} items: {cause}")]
    Incomplete {
        /// The call.
        call: Call,
        /// Number of pages read.
        pages: u32,
        /// Number of items on them.
        items: usize,
        /// Why.
        cause: Box<Self>,
    },
    /// A list does not end.
    #[error("{call}: the list goes on {why}")]
    Endless {
        /// The call.
        call: Call,
        /// How that was detected.
        why: String,
    },
    /// Writes are no longer permitted, so nothing was sent.
    #[error("{call} is not sent: {why}")]
    NotPermitted {
        /// The call.
        call: Call,
        /// Why not.
        why: String,
    },
    /// The address cannot be built.
    #[error("{call}: the cloud's address cannot carry a path")]
    BadTarget {
        /// The call.
        call: Call,
    },
}

/// What was received instead of an answer of Resource Manager.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotArm {
    /// An HTML page.
    #[error("the answer is HTML, not JSON: this is not Azure Resource Manager, or a proxy answered")]
    Html,
    /// An HTML page of Azure's front door, which is overloaded.
    #[error("the answer is HTML with a server error")]
    HtmlOfFrontDoor,
    /// A redirect.
    #[error("the answer redirects to {to}; not followed, since the token would go along")]
    Redirect {
        /// Its target, without path and query.
        to: String,
    },
    /// Truncated JSON.
    #[error("the answer ends in the middle of its JSON, after {bytes} bytes")]
    TruncatedJson {
        /// Number of bytes received.
        bytes: usize,
    },
    /// Any other text.
    #[error("the answer is no JSON (line {line}, column {column})")]
    NotJson {
        /// Line of the first invalid character.
        line: usize,
        /// Column of that line.
        column: usize,
    },
    /// An error in JSON without the code that all of Azure's errors have.
    #[error("the answer is no error of Azure's, which has a code: this is not Azure Resource Manager")]
    NoCode,
    /// No body.
    #[error("the answer has no body")]
    Empty,
}

fn code(fault: &Fault) -> String {
    if fault.code.is_empty() { String::new() } else { format!(" {}", fault.code) }
}

fn in_brackets(fault: &Fault) -> String {
    if fault.code.is_empty() { String::new() } else { format!(" ({})", fault.code) }
}

fn told(fault: &Fault) -> String {
    if fault.message.is_empty() { String::new() } else { format!(": {}", fault.message) }
}

impl Failure {
    /// Returns the call that failed.
    #[must_use]
    pub const fn call(&self) -> &Call {
        match self {
            Self::Refused { call, .. }
            | Self::OperationFailed { call, .. }
            | Self::OperationUnfinished { call, .. }
            | Self::ResourceMissing { call, .. }
            | Self::Transport { call, .. }
            | Self::NoToken { call, .. }
            | Self::NotArm { call, .. }
            | Self::Answer { call, .. }
            | Self::ForeignLink { call, .. }
            | Self::Incomplete { call, .. }
            | Self::Endless { call, .. }
            | Self::NotPermitted { call, .. }
            | Self::BadTarget { call } => call,
        }
    }

    /// Returns Azure's error, if there is one.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Refused { fault, .. } | Self::OperationFailed { fault, .. } => Some(fault),
            Self::Incomplete { cause, .. } => cause.fault(),
            Self::OperationUnfinished { .. }
            | Self::ResourceMissing { .. }
            | Self::Transport { .. }
            | Self::NoToken { .. }
            | Self::NotArm { .. }
            | Self::Answer { .. }
            | Self::ForeignLink { .. }
            | Self::Endless { .. }
            | Self::NotPermitted { .. }
            | Self::BadTarget { .. } => None,
        }
    }

    /// Returns whether the resource does not exist; a missing resource group does not count.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.fault().is_some_and(|fault| fault.kind == FaultKind::NotFound)
    }

    /// Returns whether Azure may have applied the request anyway: read the resource before continuing.
    #[must_use]
    pub fn may_have_acted(&self) -> bool {
        match self {
            Self::OperationUnfinished { .. }
            | Self::ResourceMissing { .. }
            | Self::OperationFailed { .. } => true,
            Self::Transport { call, fault, .. } => {
                call.is_write
                    && matches!(**fault, TransportFault::Lost { .. } | TransportFault::TooLarge { .. })
            }
            Self::Refused { call, fault, .. } => call.is_write && fault.kind == FaultKind::Unavailable,
            Self::NotArm { call, what, .. } => call.is_write && !matches!(what, NotArm::Redirect { .. }),
            Self::Answer { call, .. } | Self::ForeignLink { call, .. } => call.is_write,
            Self::NoToken { .. }
            | Self::Incomplete { .. }
            | Self::Endless { .. }
            | Self::NotPermitted { .. }
            | Self::BadTarget { .. } => false,
        }
    }

    /// Returns the next step for the user, as one sentence.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Refused { fault, .. } | Self::OperationFailed { fault, .. } => {
                return fault.hint().map(str::to_owned);
            }
            Self::Incomplete { cause, .. } => return cause.hint(),
            Self::OperationUnfinished { .. } | Self::ResourceMissing { .. } | Self::NotPermitted { .. } => {
                "run the same command again; it continues where this one stopped"
            }
            Self::Transport { fault, .. } => return of_transport(fault),
            Self::NoToken { transport: Some(fault), .. } => return of_transport(fault),
            Self::NoToken { why, .. } => of_token(why),
            Self::NotArm { what: NotArm::HtmlOfFrontDoor, .. } => "try again in a few minutes",
            Self::NotArm { .. } | Self::ForeignLink { .. } => {
                "check ARM_CLOUD or the file of AZURE_ENVIRONMENT_FILEPATH, and any proxy (HTTPS_PROXY)"
            }
            Self::Answer { .. } | Self::Endless { .. } => {
                "use a newer nodeform, or report this with the path above"
            }
            Self::BadTarget { .. } => {
                "check `resourceManagerEndpoint` in the file of AZURE_ENVIRONMENT_FILEPATH"
            }
        };
        Some(text.to_owned())
    }
}

fn of_transport(fault: &TransportFault) -> Option<String> {
    let text = match fault {
        TransportFault::Unreachable { why: Unreachable::Tls(_), .. } => {
            "the certificate is not trusted: is a proxy in between, or (simulator) `caFile` of an earlier run?"
        }
        TransportFault::Unreachable { .. } => {
            "check the network, HTTPS_PROXY, and ARM_CLOUD or AZURE_ENVIRONMENT_FILEPATH"
        }
        TransportFault::Lost { .. } => "run the same command again",
        TransportFault::NoIdentityService { .. } => {
            "check AZURE_AUTHORITY_HOST or `activeDirectoryEndpoint` in the file of AZURE_ENVIRONMENT_FILEPATH"
        }
        TransportFault::BadCertificate => "`caFile` must name a certificate in PEM",
        TransportFault::SignInRefused { why } => of_token(why),
        TransportFault::TooLarge { .. }
        | TransportFault::PlainHttp { .. }
        | TransportFault::BadRequest(_) => return None,
    };
    Some(text.to_owned())
}

/// Returns a hint by Entra ID's error number, which is stable; its message is not.
fn of_token(why: &str) -> &'static str {
    let known = [
        (
            "AADSTS7000215",
            "the client secret is wrong: set AZURE_CLIENT_SECRET to the secret's value, not its id",
        ),
        ("AADSTS7000222", "the client secret has expired: `az ad app credential reset --id CLIENT_ID`"),
        ("AADSTS700016", "the tenant has no such application: check AZURE_CLIENT_ID and AZURE_TENANT_ID"),
        ("AADSTS90002", "there is no such tenant: check AZURE_TENANT_ID"),
        ("AADSTS70021", "no federated credential matches the service account: check its issuer and subject"),
        ("az login", "log in: `az login`"),
    ];
    let found = known.iter().find(|(number, _)| why.contains(number));
    found.map_or(
        "set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, use workload identity, or run `az login`",
        |(_, hint)| hint,
    )
}
