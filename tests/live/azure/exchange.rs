//! Exchanges as lines of JSON, and the official specification's opinion of them.

use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};

use super::server::{Reply, Seen};

const VALIDATOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/arm-specs/validate_arm.py");

pub(super) fn line(seen: &Seen, reply: Option<&Reply>) -> String {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
    let (status, headers, body) = match reply {
        Some(Reply::Answer { status, headers, body }) => (*status, headers.clone(), parsed(body)),
        Some(Reply::Drop | Reply::Break(_)) | None => (0, Vec::new(), Value::Null),
    };
    let headers: Map<String, Value> = headers.into_iter().map(|(k, v)| (k.to_owned(), json!(v))).collect();
    json!({
        "method": seen.method, "path": format!("{}?{}", seen.path, seen.query), "request": parsed(&seen.body),
        "status": status, "response": body, "responseHeaders": headers,
    })
    .to_string()
}

/// Fails with the validator's words if it finds anything; says loudly where there is none; CI insists on it.
pub(super) fn validate(recording: &str) {
    if !Path::new(VALIDATOR).exists() {
        assert!(std::env::var("NODEFORM_REQUIRE_SHARED").is_err(), "{VALIDATOR} is required");
        eprintln!("skipped: 1 recording is not judged, {VALIDATOR} is absent");
        return;
    }
    let file = super::server::scratch("exchanges.jsonl");
    std::fs::write(&file, recording).unwrap();
    let output = Command::new("python3").arg(VALIDATOR).arg("--warnings").arg(&file).output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && !text.contains("W null-value") && !text.contains("W read-only"),
        "{text}"
    );
}
