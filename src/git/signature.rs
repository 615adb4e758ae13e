//! Signatures of plans, as `ssh-keygen -Y sign` makes them and `ssh-keygen -Y verify` checks them.
//!
//! What is signed is both digests of a plan file, a line each, so all that the file says. A private key is read and used here
//! and nowhere else; must never print one.

use std::fmt;

use ssh_key::{Algorithm, EcdsaCurve, HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};

use crate::model::secret::{SENSITIVE, Secret};
use crate::plan::{Plan, file};

/// What the signature is for: one that was made for something else, as a commit, is none of a plan.
pub const NAMESPACE: &str = "nodeform-plan";

/// How the text of a signature begins.
const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";

/// Why a signature does not count, or a key is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureFault {
    /// A line that is no public key of a kind that is taken.
    #[error("`{line}` is no public SSH key: that is `ssh-ed25519 AAAA…` or `ecdsa-sha2-nistp256 AAAA…`")]
    NoPublicKey {
        /// The line.
        line: String,
    },
    /// A file that holds no private key that can be used.
    #[error("it holds no private SSH key that can be used: {because}")]
    NoPrivateKey {
        /// Why.
        because: String,
    },
    /// The plan has no signature, and needs one.
    #[error("the plan is not signed")]
    Missing,
    /// The file holds no signature.
    #[error("it holds no SSH signature: {because}")]
    NoSignature {
        /// Why.
        because: String,
    },
    /// The signature was made for something else.
    #[error("the signature is for `{namespace}`, and that of a plan is for `{NAMESPACE}`")]
    OtherNamespace {
        /// What it is for.
        namespace: String,
    },
    /// The signature is not of this plan.
    #[error("the signature by {key} is not of this plan")]
    OtherPlan {
        /// The key's fingerprint.
        key: String,
    },
    /// Who signed does not count.
    #[error("the plan is signed by {key}, which is none of `git.signers` of the NodeFleet")]
    OtherSigner {
        /// The key's fingerprint.
        key: String,
    },
}

/// Returns what is signed of a plan.
#[must_use]
pub fn message(plan: &Plan) -> String {
    format!("{}\n{}\n", plan.digest(), file::evidence_digest(plan))
}

/// The keys whose signatures count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signers(Vec<PublicKey>);

impl Signers {
    /// Reads public keys, as they stand in `authorized_keys`, without options.
    ///
    /// # Errors
    /// Each line that is none.
    pub fn parse(lines: &[String]) -> Result<Self, Vec<SignatureFault>> {
        let (mut keys, mut faults) = (Vec::new(), Vec::new());
        for line in lines {
            match PublicKey::from_openssh(line.trim()) {
                Ok(key) if is_taken(&key.algorithm()) => keys.push(key),
                Ok(_) | Err(_) => faults.push(SignatureFault::NoPublicKey { line: line.clone() }),
            }
        }
        if faults.is_empty() { Ok(Self(keys)) } else { Err(faults) }
    }

    /// Checks that one of them signed a plan.
    ///
    /// # Errors
    /// Why the signature does not count.
    pub fn verify(&self, plan: &Plan, signature: Option<&str>) -> Result<(), SignatureFault> {
        let key = signed_by(plan, signature.ok_or(SignatureFault::Missing)?)?;
        match self.0.iter().any(|signer| signer.key_data() == key.key_data()) {
            true => Ok(()),
            false => Err(SignatureFault::OtherSigner { key: named(&key) }),
        }
    }
}

/// Returns the fingerprint of the key that signed a plan.
///
/// # Errors
/// The signature is not of this plan.
pub fn signer(plan: &Plan, signature: &str) -> Result<String, SignatureFault> {
    signed_by(plan, signature).map(|key| named(&key))
}

fn signed_by(plan: &Plan, signature: &str) -> Result<PublicKey, SignatureFault> {
    let no_signature = |because: String| SignatureFault::NoSignature { because };
    if !signature.trim_start().starts_with(BEGIN) {
        return Err(no_signature(format!("it does not begin with `{BEGIN}`")));
    }
    let read = SshSig::from_pem(signature);
    let read = read.map_err(|error| no_signature(format!("its lines cannot be decoded ({error})")))?;
    if read.namespace() != NAMESPACE {
        return Err(SignatureFault::OtherNamespace { namespace: read.namespace().to_owned() });
    }
    let key = PublicKey::from(read.public_key().clone());
    match key.verify(NAMESPACE, message(plan).as_bytes(), &read) {
        Ok(()) if is_taken(&key.algorithm()) => Ok(key),
        Ok(()) | Err(_) => Err(SignatureFault::OtherPlan { key: named(&key) }),
    }
}

fn named(key: &PublicKey) -> String {
    key.fingerprint(HashAlg::Sha256).to_string()
}

const fn is_taken(algorithm: &Algorithm) -> bool {
    matches!(algorithm, Algorithm::Ed25519 | Algorithm::Ecdsa { curve: EcdsaCurve::NistP256 })
}

/// A private key that plans are signed with. Neither prints nor serialises.
pub struct SigningKey(PrivateKey);

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(SENSITIVE)
    }
}

impl SigningKey {
    /// Reads a private key, as `ssh-keygen` writes it without a passphrase.
    ///
    /// # Errors
    /// It is none, has a passphrase, or is of a kind that is not taken.
    pub fn parse(text: &Secret) -> Result<Self, SignatureFault> {
        let none = |because: &str| SignatureFault::NoPrivateKey { because: because.to_owned() };
        let key = PrivateKey::from_openssh(text.reveal()).map_err(|error| none(&error.to_string()))?;
        if key.is_encrypted() {
            return Err(none("it has a passphrase"));
        }
        match is_taken(&key.algorithm()) {
            true => Ok(Self(key)),
            false => Err(none("it is neither Ed25519 nor ECDSA on P-256")),
        }
    }

    /// Signs a plan.
    ///
    /// # Errors
    /// The key cannot be used.
    pub fn sign(&self, plan: &Plan) -> Result<String, SignatureFault> {
        let signed = self.0.sign(NAMESPACE, HashAlg::Sha512, message(plan).as_bytes());
        let text = signed.and_then(|signed| signed.to_pem(LineEnding::LF));
        text.map_err(|error| SignatureFault::NoPrivateKey { because: error.to_string() })
    }
}
