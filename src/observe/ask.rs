//! The source of Azure's resources: Azure, or a simulated one in memory.

use std::future::Future;

use serde_json::Value;

use crate::arm::Request;

/// Answers reads of Azure's resources.
pub trait Ask {
    /// Reads one resource.
    ///
    /// # Errors
    /// The reason why it could not be read.
    fn one(&self, request: &Request) -> impl Future<Output = Result<Value, AskFault>>;

    /// Reads all pages of a list.
    ///
    /// # Errors
    /// The reason why it could not be read completely.
    fn all(&self, request: &Request) -> impl Future<Output = Result<Vec<Value>, AskFault>>;

    /// Returns the suffix of the cloud's container registries, unless it is one of Azure's own clouds.
    fn registry_suffix(&self) -> Option<&str>;
}

/// Reason why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskFault {
    /// What happened, and to which resource.
    pub what: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Whether the resource does not exist.
    pub is_not_found: bool,
}

#[cfg(feature = "live")]
impl From<crate::azure::Failure> for AskFault {
    fn from(failure: crate::azure::Failure) -> Self {
        Self { what: failure.to_string(), hint: failure.hint(), is_not_found: failure.is_not_found() }
    }
}

#[cfg(feature = "live")]
impl Ask for crate::azure::Azure {
    async fn one(&self, request: &Request) -> Result<Value, AskFault> {
        Ok(self.get(request).await?)
    }

    async fn all(&self, request: &Request) -> Result<Vec<Value>, AskFault> {
        Ok(self.list(request).await?)
    }

    fn registry_suffix(&self) -> Option<&str> {
        self.cloud().registry_suffix.as_deref()
    }
}
