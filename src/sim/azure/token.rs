//! The token endpoint: client credentials with a secret or with a federated assertion.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{Azure, Stage};
use crate::sim::agenda::later;
use crate::sim::http::{Answer, Request, decoded};

/// Answers a token request; `None` for other requests.
pub(crate) fn answer(azure: &mut Azure, request: &Request, stage: &Stage<'_>) -> Option<Answer> {
    let path = request.path();
    let mut parts = path.trim_matches('/').split('/');
    let tenant = parts.next()?;
    let rest: Vec<&str> = parts.collect();
    if rest != ["oauth2", "v2.0", "token"] {
        return None;
    }
    Some(match granted(azure, tenant, request, stage) {
        Ok(token) => Answer::json(200, &token).with("Cache-Control", "no-store, no-cache"),
        Err(fault) => fault.answer(stage),
    })
}

/// A refused token request, in the words of Microsoft Entra.
struct Fault {
    status: u16,
    error: &'static str,
    code: u32,
    message: String,
}

impl Fault {
    fn new(status: u16, error: &'static str, code: u32, message: impl Into<String>) -> Self {
        Self { status, error, code, message: message.into() }
    }

    fn answer(&self, stage: &Stage<'_>) -> Answer {
        let Self { status, error, code, message } = self;
        let body = json!({
            "error": error,
            "error_description": format!("AADSTS{code}: {message}"),
            "error_codes": [code],
            "timestamp": stage.now.strftime("%Y-%m-%d %H:%M:%SZ").to_string(),
        });
        Answer::json(*status, &body)
    }
}

fn granted(azure: &mut Azure, tenant: &str, request: &Request, stage: &Stage<'_>) -> Result<Value, Fault> {
    if !tenant.eq_ignore_ascii_case(&azure.settings.tenant) {
        let message = format!("Tenant '{tenant}' not found.");
        return Err(Fault::new(400, "invalid_request", 90_002, message));
    }
    if request.method != "POST" {
        return Err(Fault::new(400, "invalid_request", 900_561, "The endpoint only accepts POST requests."));
    }
    let body = String::from_utf8_lossy(&request.body).into_owned();
    let field = |name: &str| {
        body.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=')?;
            (decoded(key, true) == name).then(|| decoded(value, true))
        })
    };
    if field("grant_type").as_deref() != Some("client_credentials") {
        return Err(Fault::new(
            400,
            "unsupported_grant_type",
            70_003,
            "The app requested an unsupported grant type.",
        ));
    }
    let client = field("client_id").unwrap_or_default();
    if !client.eq_ignore_ascii_case(&azure.settings.client) {
        let message =
            format!("Application with identifier '{client}' was not found in the directory '{tenant}'.");
        return Err(Fault::new(400, "unauthorized_client", 700_016, message));
    }
    let secret = field("client_secret");
    let is_reader = secret.as_deref().is_some_and(|secret| is_of_reader(azure, secret));
    check_proof(azure, secret, field("client_assertion"), field("client_assertion_type"))?;
    if !field("scope").unwrap_or_default().ends_with("/.default") {
        return Err(Fault::new(
            400,
            "invalid_scope",
            70_011,
            "The provided value for the input parameter 'scope' is not valid.",
        ));
    }
    let seconds = i64::from(azure.settings.token_seconds);
    let token = access_token(azure, stage, seconds);
    if is_reader {
        azure.reader_tokens.insert(token.clone());
    }
    azure.tokens.insert(token.clone(), later(stage.now, SignedDuration::from_secs(seconds)));
    Ok(
        json!({"token_type": "Bearer", "expires_in": seconds, "ext_expires_in": seconds, "access_token": token}),
    )
}

/// Returns whether a secret belongs to the read-only identity.
fn is_of_reader(azure: &Azure, secret: &str) -> bool {
    !secret.is_empty() && secret == azure.reader_secret.reveal()
}

fn check_proof(
    azure: &Azure,
    secret: Option<String>,
    assertion: Option<String>,
    assertion_type: Option<String>,
) -> Result<(), Fault> {
    if let Some(secret) = secret {
        return if secret == azure.client_secret.reveal() || is_of_reader(azure, &secret) {
            Ok(())
        } else {
            Err(Fault::new(401, "invalid_client", 7_000_215, "Invalid client secret provided."))
        };
    }
    let Some(assertion) = assertion else {
        let message =
            "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.";
        return Err(Fault::new(401, "invalid_client", 7_000_218, message));
    };
    let is_typed =
        assertion_type.as_deref() == Some("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    // The simulator cannot verify the signature, only the form.
    if is_typed && assertion.split('.').count() == 3 && assertion.split('.').all(|part| !part.is_empty()) {
        Ok(())
    } else {
        Err(Fault::new(401, "invalid_client", 50_027, "JWT token is invalid or malformed."))
    }
}

/// Returns a token in JWT form, because clients read tenant and expiry from it. Its signature is random.
fn access_token(azure: &Azure, stage: &Stage<'_>, seconds: i64) -> String {
    let encode = |value: &Value| data_encoding::BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let second = stage.now.as_second();
    let head = encode(&json!({"alg": "RS256", "typ": "JWT"}));
    let claims = encode(&json!({
        "aud": "https://management.azure.com", "tid": azure.settings.tenant, "oid": azure.settings.client,
        "appid": azure.settings.client, "iat": second, "nbf": second, "exp": second + seconds,
    }));
    let signature = stage.draw.guid(&format!("token {}", azure.requests));
    format!("{head}.{claims}.{}", data_encoding::BASE64URL_NOPAD.encode(signature.as_bytes()))
}
