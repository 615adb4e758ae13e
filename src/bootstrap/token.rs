//! The bootstrap token of a rollout, and the Secret that makes the API server accept it.
//!
//! Must never be read back from the cluster: a resumed rollout creates another token.

use std::collections::BTreeMap;
use std::fmt;

use data_encoding::BASE64;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::model::{Secret, SecretJson};

/// Lifetime of a token: longer than any VM of one rollout takes to join, shorter than a working day.
pub const TOKEN_LIFETIME: SignedDuration = SignedDuration::from_hours(2);

/// The group of joining nodes besides `system:bootstrappers`, whose certificate requests AKS approves.
const GROUP: &str = "system:bootstrappers:nodeform";
const ID_LENGTH: usize = 6;
const SECRET_LENGTH: usize = 16;
const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// A bootstrap token: `id.secret`. Its `Debug` output shows only the id.
#[derive(Clone, PartialEq, Eq)]
pub struct BootstrapToken {
    id: String,
    secret: Secret,
}

/// Too few random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a bootstrap token needs more random bytes: give 64")]
pub struct NotEnoughRandomness;

impl BootstrapToken {
    /// Creates a token from random bytes; 64 bytes fail about once in 10^30 cases.
    ///
    /// # Errors
    /// Too few bytes are usable.
    pub fn from_random(bytes: &[u8]) -> Result<Self, NotEnoughRandomness> {
        // 252 is the largest multiple of 36 in a byte; using higher values would favour the first letters.
        let letters = bytes.iter().filter(|byte| **byte < 252).map(|byte| {
            let letter = LETTERS[usize::from(*byte) % LETTERS.len()];
            char::from(letter)
        });
        let text: String = letters.take(ID_LENGTH + SECRET_LENGTH).collect();
        if text.len() < ID_LENGTH + SECRET_LENGTH {
            return Err(NotEnoughRandomness);
        }
        let (id, secret) = text.split_at(ID_LENGTH);
        Ok(Self { id: id.to_owned(), secret: Secret::new(secret.to_owned()) })
    }

    /// Returns the public half, which is part of the Secret's name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns both halves, as a kubelet presents them.
    #[must_use]
    pub fn whole(&self) -> Secret {
        Secret::new(format!("{}.{}", self.id, self.secret.reveal()))
    }

    /// Returns the name of the Secret in `kube-system`.
    #[must_use]
    pub fn object_name(&self) -> String {
        format!("bootstrap-token-{}", self.id)
    }

    /// Returns the Secret for `kube-system` that makes the API server accept the token until [`TOKEN_LIFETIME`] has
    /// passed. Its labels identify the owner.
    #[must_use]
    pub fn object(&self, labels: &BTreeMap<String, String>, now: Timestamp) -> SecretJson {
        let end = now.checked_add(TOKEN_LIFETIME).unwrap_or(Timestamp::MAX);
        let end = format!("{}", end.strftime("%Y-%m-%dT%H:%M:%SZ"));
        let text = |text: &str| BASE64.encode(text.as_bytes());
        let object = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": self.object_name(), "namespace": "kube-system", "labels": labels},
            "type": "bootstrap.kubernetes.io/token",
            "data": {
                "auth-extra-groups": text(GROUP),
                "description": text("lets nodes of one nodeform rollout join"),
                "expiration": text(&end),
                "token-id": text(&self.id),
                "usage-bootstrap-authentication": text("true"),
            },
        });
        SecretJson::new(object).with_secret("/data/token-secret", Secret::new(text(self.secret.reveal())))
    }
}

impl fmt::Debug for BootstrapToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BootstrapToken({}.{:?})", self.id, self.secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(seed: u8) -> Vec<u8> {
        (0..64_u8).map(|n| n.wrapping_mul(37).wrapping_add(seed)).collect()
    }

    #[test]
    fn a_token_has_the_form_that_kubernetes_asks_for_and_differs_by_its_bytes() {
        let token = BootstrapToken::from_random(&bytes(1)).unwrap();
        let whole = token.whole();
        let (id, secret) = whole.reveal().split_once('.').unwrap();
        assert_eq!((id.len(), secret.len()), (6, 16));
        assert!(whole.reveal().chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.'));
        assert_ne!(token, BootstrapToken::from_random(&bytes(2)).unwrap());
        assert_eq!(BootstrapToken::from_random(&[255; 64]), Err(NotEnoughRandomness));
        assert_eq!(BootstrapToken::from_random(&[0; 21]), Err(NotEnoughRandomness));
    }

    #[test]
    fn each_letter_comes_from_seven_bytes() {
        let mut counts: BTreeMap<u8, u32> = BTreeMap::new();
        for byte in 0..252_u8 {
            *counts.entry(LETTERS[usize::from(byte) % 36]).or_default() += 1;
        }
        assert!(counts.len() == 36 && counts.values().all(|count| *count == 7));
    }

    #[test]
    fn the_object_expires_and_shows_no_secret() {
        let token = BootstrapToken::from_random(&bytes(1)).unwrap();
        let object = token.object(&BTreeMap::new(), "2026-11-25T10:00:00.5Z".parse().unwrap());
        let data = |key: &str| {
            let text = object.shown()["data"][key].as_str().unwrap_or_default();
            String::from_utf8(BASE64.decode(text.as_bytes()).unwrap_or_default()).unwrap()
        };
        assert_eq!(data("expiration"), "2026-11-25T12:00:00Z");
        assert_eq!(data("usage-bootstrap-authentication"), "true");
        assert_eq!(data("token-id"), token.id());
        let secret = token.whole().reveal().split_once('.').unwrap().1.to_owned();
        assert!(!format!("{object:?} {token:?}").contains(&secret));
        assert!(object.reveal().reveal().contains(&BASE64.encode(secret.as_bytes())));
    }
}
