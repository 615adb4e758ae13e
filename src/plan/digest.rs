//! The digest of a plan and its id: what a review is bound to.
//!
//! SHA-256 of the RFC 8785 form of `spec`; evidence is not in it.

use super::Plan;
use super::identity::digest_of;
use crate::model::Digest;

/// How many characters of the digest's base32 form the id has.
const ID_LENGTH: usize = 10;

impl Plan {
    /// Returns the digest of every decision in the plan.
    #[must_use]
    pub fn digest(&self) -> Digest {
        digest_of(&self.spec)
    }

    /// Returns the short name that people use for the plan; machines compare the whole digest.
    #[must_use]
    pub fn id(&self) -> String {
        self.digest().base32(ID_LENGTH)
    }

    /// Returns whether carrying out the plan would do nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.spec.waves.is_empty()
    }
}
