//! Signing keys of plans, and accepted signers.
#![expect(clippy::disallowed_methods, reason = "the key is read from the named file")]

use std::io::Read as _;
use std::path::Path;

use super::fault::GitOpsFault;
use crate::api::node_fleet::Git;
use crate::git::signature::{Signers, SigningKey};
use crate::model::secret::Secret;
use crate::plan::Plan;

/// Maximum size of a key file.
const KEY_BYTES_MAX: u64 = 64 << 10;

/// Reads the private key for signing plans.
///
/// # Errors
/// The file cannot be read, or holds no usable key.
pub fn signing_key(file: &Path) -> Result<SigningKey, GitOpsFault> {
    let unusable = |why: &str| {
        GitOpsFault::of(format!("the signing key in `{}` cannot be used: {why}", file.display()))
            .hint("set NODEFORM_SIGNING_KEY_FILE to a private key without a passphrase, as `ssh-keygen -t ed25519` writes it")
    };
    let mut text = String::new();
    let read = std::fs::File::open(file).and_then(|file| file.take(KEY_BYTES_MAX).read_to_string(&mut text));
    read.map_err(|error| unusable(&error.to_string()))?;
    SigningKey::parse(&Secret::new(text)).map_err(|fault| unusable(&fault.to_string()))
}

/// Returns the accepted signers; `None` if plans need no signature.
///
/// # Errors
/// A line is not a valid key: the accepted signers are unknown.
pub fn signers(git: Option<&Git>) -> Result<Option<Signers>, GitOpsFault> {
    let Some(lines) = git.and_then(|git| git.signers.as_ref()) else { return Ok(None) };
    Signers::parse(lines).map(Some).map_err(|faults| {
        let faults = faults.iter().map(|fault| format!("`spec.git.signers` of the NodeFleet: {fault}"));
        GitOpsFault { faults: faults.collect(), ..GitOpsFault::default() }
            .hint("correct it: `kubectl edit nodefleet`")
    })
}

/// Signs a plan if there is a key. If the NodeFleet names signers, the key must be one of them.
///
/// # Errors
/// The plan cannot be signed, or would not be accepted.
pub fn signed(
    plan: &Plan,
    key: Option<&SigningKey>,
    git: Option<&Git>,
) -> Result<Option<String>, GitOpsFault> {
    let signature = key.map(|key| key.sign(plan)).transpose();
    let signature = signature.map_err(|fault| GitOpsFault::of(fault.to_string()))?;
    if let Some(signers) = signers(git)? {
        signers.verify(plan, signature.as_deref()).map_err(|fault| {
            GitOpsFault::of(format!("the plan would not be applied: {fault}")).hint(
                "set NODEFORM_SIGNING_KEY_FILE to the private key of one of `git.signers` of the NodeFleet",
            )
        })?;
    }
    Ok(signature)
}
