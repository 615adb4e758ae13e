//! Faults of the connection to Azure.
//!
//! Must never hold an address: its query can hold a secret.

use std::error::Error;

use azure_core::error::ErrorKind;

use super::cause::{self, chain, innermost};

/// Fault before the answer was complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportFault {
    /// There was no connection, so nothing was sent.
    #[error("cannot connect to `{host}`: {why}")]
    Unreachable {
        /// The host.
        host: String,
        /// The reason.
        why: Unreachable,
    },
    /// The connection ended before the answer did: the request may have been applied.
    #[error("the connection to `{host}` ended before the answer did: {why}")]
    Lost {
        /// The host.
        host: String,
        /// The library's message.
        why: String,
    },
    /// The answer is larger than any of Azure's.
    #[error("the answer of `{host}` is larger than {} MiB", super::limits::ANSWER_BYTES_MAX >> 20)]
    TooLarge {
        /// The host.
        host: String,
    },
    /// The server at Entra ID's address is not an identity service.
    #[error(
        "`{host}` answers a request for a token with HTML (HTTP {status}): it is no identity service of Azure"
    )]
    NoIdentityService {
        /// The host.
        host: String,
        /// The HTTP status.
        status: u16,
    },
    /// Entra ID refused to give a token.
    #[error("Entra ID refused: {why}")]
    SignInRefused {
        /// The first line of its message, with its error number.
        why: String,
    },
    /// Plain HTTP to another machine was refused.
    #[error("refused to speak plain HTTP to `{host}`")]
    PlainHttp {
        /// The host.
        host: String,
    },
    /// The certificate of the environment file is invalid.
    #[error("`caFile` of the environment file is no certificate in PEM")]
    BadCertificate,
    /// The request cannot be built.
    #[error("the request cannot be built: {0}")]
    BadRequest(String),
}

/// Reason why there was no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreachable {
    /// The name cannot be resolved.
    #[error("the name cannot be resolved")]
    Name,
    /// The port is closed, or a firewall blocks it.
    #[error("{0}")]
    Connect(String),
    /// The TLS handshake failed.
    #[error("TLS failed: {0}")]
    Tls(String),
    /// It timed out.
    #[error("no connection within {} seconds", super::limits::CONNECT_TIMEOUT.as_secs())]
    Timeout,
}

impl TransportFault {
    /// Wraps it as an error of Azure's pipeline.
    #[must_use]
    pub fn into_core(self) -> azure_core::Error {
        let kind = match &self {
            Self::Unreachable { why: Unreachable::Tls(_), .. } => ErrorKind::Other,
            Self::Unreachable { .. } => ErrorKind::Connection,
            Self::Lost { .. } => ErrorKind::Io,
            Self::TooLarge { .. }
            | Self::NoIdentityService { .. }
            | Self::SignInRefused { .. }
            | Self::PlainHttp { .. }
            | Self::BadCertificate
            | Self::BadRequest(_) => ErrorKind::Other,
        };
        azure_core::Error::new(kind, self)
    }

    /// Finds it in an error of Azure's pipeline.
    pub(in crate::azure) fn in_error(error: &azure_core::Error) -> Option<&Self> {
        let mut next: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(error) = next {
            if let Some(fault) = error.downcast_ref() {
                return Some(fault);
            }
            let inner = error.downcast_ref::<azure_core::Error>().and_then(azure_core::Error::get_ref);
            if let Some(fault) = inner.and_then(|inner| inner.downcast_ref()) {
                return Some(fault);
            }
            next = error.source();
        }
        None
    }
}

/// Classifies the library's error.
pub(super) fn of(host: &str, error: &reqwest::Error) -> TransportFault {
    let host = host.to_owned();
    if error.is_builder() {
        return TransportFault::BadRequest(innermost(error));
    }
    if !error.is_connect() {
        let why = if error.is_timeout() { "no answer in time".to_owned() } else { innermost(error) };
        return TransportFault::Lost { host, why };
    }
    let why = if error.is_timeout() {
        Unreachable::Timeout
    } else if let Some(tls) = cause::tls(error) {
        Unreachable::Tls(tls)
    } else if chain(error).any(|cause| cause.to_string().contains("failed to lookup address")) {
        Unreachable::Name
    } else {
        Unreachable::Connect(innermost(error))
    };
    TransportFault::Unreachable { host, why }
}
