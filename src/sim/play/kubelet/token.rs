//! Bootstrap tokens: checks a kubelet's token against the Secrets of `kube-system`.

use jiff::Timestamp;
use serde_json::Value;

use crate::sim::cluster::{Name, SECRETS, Store};
use crate::sim::json::{text, text_or_empty};
use crate::sim::sensitive::Sensitive;

/// Checks whether the API server accepts a token at a time; the error says why not.
pub(crate) fn check(store: &Store, token: &Sensitive, now: Timestamp) -> Result<(), String> {
    let is_word = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let parts = token.reveal().split_once('.').filter(|(id, secret)| is_word(id, 6) && is_word(secret, 16));
    let Some((id, secret)) = parts else {
        return Err("the bootstrap token is not of the form `[a-z0-9]{6}.[a-z0-9]{16}`".to_owned());
    };
    let name = format!("bootstrap-token-{id}");
    let Some(found) = store.get(SECRETS, &Name::new("kube-system", &name)) else {
        return Err(format!("Secret kube-system/{name} does not exist"));
    };
    let refused = |why: &str| Err(format!("Secret kube-system/{name}: {why}"));
    if text(found, "/type") != Some("bootstrap.kubernetes.io/token") {
        return refused("its type is not `bootstrap.kubernetes.io/token`");
    }
    if text(found, "/metadata/deletionTimestamp").is_some() {
        return refused("it is being deleted");
    }
    if data(found, "token-id").as_deref() != Some(id) {
        return refused("its `token-id` is another");
    }
    if data(found, "token-secret").as_deref() != Some(secret) {
        return refused("its `token-secret` is another");
    }
    if data(found, "usage-bootstrap-authentication").as_deref() != Some("true") {
        return refused("`usage-bootstrap-authentication` is not `true`");
    }
    match data(found, "expiration").map(|text| text.parse::<Timestamp>()) {
        Some(Err(_)) => refused("its `expiration` is no time"),
        Some(Ok(until)) if until <= now => refused("it has expired"),
        Some(Ok(_)) | None => Ok(()),
    }
}

fn data(secret: &Value, key: &str) -> Option<String> {
    let encoded = text_or_empty(secret, &format!("/data/{key}"));
    let bytes = data_encoding::BASE64.decode(encoded.as_bytes()).ok()?;
    String::from_utf8(bytes).ok().filter(|text| !text.is_empty())
}
