//! Signatures of plans, compatible with `ssh-keygen -Y sign` and `ssh-keygen -Y verify`.
//!
//! Both digests of a plan file are signed, one line each, so they cover its whole content. A private key is read and
//! used only here; must never print one.

use std::fmt;

use ssh_key::{Algorithm, EcdsaCurve, HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};

use crate::model::secret::{SENSITIVE, Secret};
use crate::plan::{Plan, file};

/// Purpose of the signature: one with another namespace, such as a commit's, does not count for a plan.
pub const NAMESPACE: &str = "nodeform-plan";

/// First line of a signature.
const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";

/// Reason why a signature or a key is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureFault {
    /// A line is not a public key of a supported kind.
    #[error("`{line}` is no public SSH key: that is `ssh-ed25519 AAAA…` or `ecdsa-sha2-nistp256 AAAA…`")]
    NoPublicKey {
        /// The line.
        line: String,
    },
    /// A file holds no usable private key.
    #[error("it holds no private SSH key that can be used: {because}")]
    NoPrivateKey {
        /// The reason.
        because: String,
    },
    /// The plan needs a signature and has none.
    #[error("the plan is not signed")]
    Missing,
    /// The file holds no signature.
    #[error("it holds no SSH signature: {because}")]
    NoSignature {
        /// The reason.
        because: String,
    },
    /// The signature has another namespace.
    #[error("the signature is for `{namespace}`, and that of a plan is for `{NAMESPACE}`")]
    OtherNamespace {
        /// Its namespace.
        namespace: String,
    },
    /// The signature is not of this plan.
    #[error("the signature by {key} is not of this plan")]
    OtherPlan {
        /// The key's fingerprint.
        key: String,
    },
    /// The signer is not accepted.
    #[error("the plan is signed by {key}, which is none of `git.signers` of the NodeFleet")]
    OtherSigner {
        /// The key's fingerprint.
        key: String,
    },
}

/// Returns the signed message of a plan.
#[must_use]
pub fn message(plan: &Plan) -> String {
    format!("{}\n{}\n", plan.digest(), file::evidence_digest(plan))
}

/// The accepted public keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signers(Vec<PublicKey>);

impl Signers {
    /// Parses public keys in the format of `authorized_keys`, without options.
    ///
    /// # Errors
    /// Each invalid line.
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

    /// Checks that an accepted key signed a plan.
    ///
    /// # Errors
    /// The reason why the signature is not accepted.
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

/// A private key for signing plans. Neither prints nor serializes.
pub struct SigningKey(PrivateKey);

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(SENSITIVE)
    }
}

impl SigningKey {
    /// Parses a private key that `ssh-keygen` wrote without a passphrase.
    ///
    /// # Errors
    /// It is not a private key, has a passphrase, or is of an unsupported kind.
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
