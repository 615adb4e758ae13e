//! Recorded exchanges with Azure, one per line, for a validator of the official API specifications. Secrets are
//! removed.

use serde_json::{Value, json};

use super::http::{Request, Response, decoded};
use super::json::unset;

/// Fields that are removed from recorded bodies.
const SECRETS: [&[&str]; 5] = [
    &["properties", "osProfile", "customData"],
    &["properties", "osProfile", "adminPassword"],
    &["properties", "userData"],
    &["properties", "protectedSettings"],
    &["access_token"],
];

/// Returns an exchange with Azure; `None` for other requests and if the answer was lost.
///
/// Page tokens are opaque and not part of the specification, so they are removed from the path. A body that is not JSON
/// becomes null.
#[must_use]
pub fn exchange(request: &Request, response: &Response) -> Option<Value> {
    let path = request.path();
    let is_azure = path.starts_with("/subscriptions/") || path.ends_with("/oauth2/v2.0/token");
    let Response::Answer(answer) = response else { return None };
    if !is_azure {
        return None;
    }
    let headers: serde_json::Map<String, Value> =
        answer.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let mut sent = body(&request.body);
    let mut given = body(&answer.body);
    for secret in SECRETS {
        unset(&mut sent, secret);
        if unset(&mut given, secret).is_some() && secret == ["access_token"] {
            // The token specification requires the field.
            given["access_token"] = json!("(sensitive value)");
        }
    }
    Some(json!({
        "method": request.method, "path": without_page(&request.target), "request": sent,
        "status": answer.status, "response": given, "responseHeaders": headers,
    }))
}

fn body(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or(Value::Null)
}

fn without_page(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    let kept: Vec<&str> = query
        .split('&')
        .filter(|pair| {
            !decoded(pair.split('=').next().unwrap_or_default(), true).eq_ignore_ascii_case("$skiptoken")
        })
        .collect();
    format!("{path}?{}", kept.join("&"))
}
