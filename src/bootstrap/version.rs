//! Kubernetes versions, as far as joining depends on them.
//!
//! Must never round: an unparsable version is refused.

use std::fmt;
use std::str::FromStr;

/// A Kubernetes version, such as `1.34.2`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KubernetesVersion {
    /// `1`.
    pub major: u16,
    /// `34`.
    pub minor: u16,
    /// The rest: `2`, or `0-rc.1`.
    pub patch: String,
}

impl KubernetesVersion {
    /// Returns whether it is this minor version of Kubernetes 1, or a later one.
    #[must_use]
    pub const fn is_at_least(&self, minor: u16) -> bool {
        self.major > 1 || (self.major == 1 && self.minor >= minor)
    }
}

impl FromStr for KubernetesVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = || format!("`{}` is no version of Kubernetes (as `1.34.2`)", text.escape_default());
        let mut parts = text.strip_prefix('v').unwrap_or(text).splitn(3, '.');
        let mut next = || parts.next().ok_or_else(fault);
        let (major, minor, patch) = (next()?, next()?, next()?);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
        if patch.is_empty() || !patch.chars().all(is_plain) {
            return Err(fault());
        }
        Ok(Self {
            major: major.parse().map_err(|_| fault())?,
            minor: minor.parse().map_err(|_| fault())?,
            patch: patch.to_owned(),
        })
    }
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}
