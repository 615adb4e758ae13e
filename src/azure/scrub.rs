//! Removes secrets that were sent from what a server returns.
//!
//! Must never be the only protection: types keep secrets out of logs first.

use azure_core::http::headers::AUTHORIZATION;
use azure_core::http::{Body, Request};
use data_encoding::BASE64;

use crate::model::{SENSITIVE, Secret};

/// Minimum length of a secret: shorter texts would be found everywhere.
const LENGTH_MIN: usize = 8;

/// Replaces the token and a form's secrets in an answer to this request.
pub(super) fn without_credentials(body: Vec<u8>, request: &Request) -> Vec<u8> {
    let mut secrets = Vec::new();
    if let Some(token) = request.headers().get_optional_str(&AUTHORIZATION) {
        secrets.push(token.strip_prefix("Bearer ").unwrap_or(token).to_owned());
    }
    if let Body::Bytes(form) = request.body() {
        let pairs = url::form_urlencoded::parse(form);
        let named = pairs.filter(|(name, _)| matches!(&**name, "client_secret" | "client_assertion"));
        secrets.extend(named.map(|(_, value)| value.into_owned()));
    }
    if !secrets.iter().any(|secret| is_in(&body, secret)) {
        return body;
    }
    let text = String::from_utf8_lossy(&body).into_owned();
    secrets.iter().fold(text, |text, secret| replace(&text, secret)).into_bytes()
}

/// Replaces a secret, and its base64-decoded text, in a text.
pub(super) fn without_secret(text: &str, secret: Option<&Secret>) -> String {
    let Some(secret) = secret.filter(|secret| !secret.is_empty()) else { return text.to_owned() };
    let decoded =
        BASE64.decode(secret.reveal().as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let whole = replace(text, secret.reveal());
    decoded.map_or(whole.clone(), |decoded| replace(&whole, &decoded))
}

fn replace(text: &str, secret: &str) -> String {
    if secret.len() < LENGTH_MIN { text.to_owned() } else { text.replace(secret, SENSITIVE) }
}

fn is_in(body: &[u8], secret: &str) -> bool {
    secret.len() >= LENGTH_MIN && body.windows(secret.len()).any(|window| window == secret.as_bytes())
}
