//! Why a call did not do what it should: which operation on which resource, what came back, what to do next.
//! Must never hold a header, a query, a body, or a text that was sent in confidence.

use std::fmt;

use super::transport::{TransportFault, Unreachable};
use crate::arm::answer::AnswerFault;
use crate::arm::fault::FaultKind;
use crate::arm::{Fault, Method};

/// A call, for people: `PUT /subscriptions/…/virtualMachines/aks-a`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The verb.
    pub operation: &'static str,
    /// The path of the resource, without a query.
    pub resource: String,
    /// Whether it changes anything.
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

/// Why a call did not do what it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Azure refused the request.
    #[error("{call}: {} (HTTP {}{}){}", fault.what(), fault.status.unwrap_or_default(), code(fault), told(fault))]
    Refused {
        /// The call.
        call: Call,
        /// What Azure said.
        fault: Box<Fault>,
        /// Azure's id of the request, for its support.
        request_id: Option<String>,
        /// How often it was sent.
        attempts: u32,
    },
    /// Azure accepted the request and failed to carry it out.
    #[error("{call}: accepted, then failed: {}{}{}", fault.what(), in_brackets(fault), told(fault))]
    OperationFailed {
        /// The call that began the operation.
        call: Call,
        /// What Azure said.
        fault: Box<Fault>,
    },
    /// An operation did not end in time. It may still end.
    #[error("{call}: still in progress after {waited_seconds} s")]
    OperationUnfinished {
        /// The call that began the operation.
        call: Call,
        /// How long was waited.
        waited_seconds: u64,
    },
    /// There was no whole answer.
    #[error("{call}: {fault}")]
    Transport {
        /// The call.
        call: Call,
        /// What went wrong.
        fault: Box<TransportFault>,
        /// How often it was sent.
        attempts: u32,
    },
    /// Nobody signed in, so nothing was sent.
    #[error("{call}: no token: {why}")]
    NoToken {
        /// The call.
        call: Call,
        /// The words of Azure's library or of Entra ID.
        why: String,
        /// What went wrong on the way there, if that was it.
        transport: Option<Box<TransportFault>>,
    },
    /// Whoever answered is no Resource Manager.
    #[error("{call}: {what} (HTTP {status})")]
    NotArm {
        /// The call.
        call: Call,
        /// The status of HTTP.
        status: u16,
        /// What came instead.
        what: NotArm,
        /// Azure's id of the request, if there is one.
        request_id: Option<String>,
    },
    /// The answer is JSON, but not what its API promises.
    #[error("{call}: {fault}")]
    Answer {
        /// The call.
        call: Call,
        /// What is wrong with it.
        fault: AnswerFault,
    },
    /// A link of the answer leads elsewhere. Nothing was sent there.
    #[error("{call}: the answer links to {origin}, which is not this Azure; not followed")]
    ForeignLink {
        /// The call.
        call: Call,
        /// Where it leads.
        origin: String,
    },
    /// A list stopped before its end.
    #[error("{call}: the list stopped after {pages} pages with {items} items: {cause}")]
    Incomplete {
        /// The call.
        call: Call,
        /// Pages that were read.
        pages: u32,
        /// Items on them.
        items: usize,
        /// Why.
        cause: Box<Self>,
    },
    /// A list does not end.
    #[error("{call}: the list goes on {why}")]
    Endless {
        /// The call.
        call: Call,
        /// How that was seen.
        why: String,
    },
    /// It may not be written any more, so nothing was sent.
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

/// What came instead of an answer of Resource Manager.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotArm {
    /// A page for people.
    #[error("the answer is HTML, not JSON: this is not Azure Resource Manager, or a proxy answered")]
    Html,
    /// A page of Azure's front door, which is overloaded.
    #[error("the answer is HTML with a server error")]
    HtmlOfFrontDoor,
    /// A redirect.
    #[error("the answer redirects to {to}; not followed, since the token would go along")]
    Redirect {
        /// Where, without path and query.
        to: String,
    },
    /// JSON that ends too early.
    #[error("the answer ends in the middle of its JSON, after {bytes} bytes")]
    TruncatedJson {
        /// How many bytes came.
        bytes: usize,
    },
    /// Something else.
    #[error("the answer is no JSON (line {line}, column {column})")]
    NotJson {
        /// Where it stops being JSON.
        line: usize,
        /// And in which column.
        column: usize,
    },
    /// An error in JSON without the code that each of Azure's has.
    #[error("the answer is no error of Azure's, which has a code: this is not Azure Resource Manager")]
    NoCode,
    /// Nothing.
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
    /// The call that failed.
    #[must_use]
    pub const fn call(&self) -> &Call {
        match self {
            Self::Refused { call, .. }
            | Self::OperationFailed { call, .. }
            | Self::OperationUnfinished { call, .. }
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

    /// What Azure said, where it said something.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Refused { fault, .. } | Self::OperationFailed { fault, .. } => Some(fault),
            Self::Incomplete { cause, .. } => cause.fault(),
            Self::OperationUnfinished { .. }
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

    /// Returns whether the resource does not exist; a missing resource group is another matter.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.fault().is_some_and(|fault| fault.kind == FaultKind::NotFound)
    }

    /// Returns whether Azure may have carried the request out all the same: read the resource before going on.
    #[must_use]
    pub fn may_have_acted(&self) -> bool {
        match self {
            Self::OperationUnfinished { .. } | Self::OperationFailed { .. } => true,
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

    /// What a person can do, as one sentence.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Refused { fault, .. } | Self::OperationFailed { fault, .. } => {
                return fault.hint().map(str::to_owned);
            }
            Self::Incomplete { cause, .. } => return cause.hint(),
            Self::OperationUnfinished { .. } | Self::NotPermitted { .. } => {
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

/// Entra ID's numbers are its contract; the words around them are not.
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
