//! Digest and id of a plan, to which a review is bound.
//!
//! SHA-256 of the RFC 8785 form of `spec`; evidence is not part of it.

use super::Plan;
use super::identity::digest_of;
use crate::model::Digest;

/// Length of the id, in characters of the digest's base32 form.
const ID_LENGTH: usize = 10;

impl Plan {
    /// Returns the digest of all decisions of the plan.
    #[must_use]
    pub fn digest(&self) -> Digest {
        digest_of(&self.spec)
    }

    /// Returns the short name that people use for the plan; machines compare the whole digest.
    #[must_use]
    pub fn id(&self) -> String {
        self.digest().base32(ID_LENGTH)
    }

    /// Returns whether applying the plan would do nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.spec.waves.is_empty()
    }
}
