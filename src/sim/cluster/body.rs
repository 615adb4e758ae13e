//! Parses request bodies.

use serde_json::Value;

use super::status::Refusal;

/// Reads a JSON body.
pub(crate) fn json(body: &[u8]) -> Result<Value, Refusal> {
    no_protobuf(body)?;
    serde_json::from_slice(body).map_err(|error| {
        Refusal::bad_request(format!("couldn't get version/kind; json parse error: {error}"))
    })
}

/// Reads a YAML body; JSON is a subset.
pub(crate) fn yaml(body: &[u8]) -> Result<Value, Refusal> {
    no_protobuf(body)?;
    if let Ok(value) = serde_json::from_slice(body) {
        return Ok(value);
    }
    let text =
        std::str::from_utf8(body).map_err(|_| Refusal::bad_request("error decoding YAML: no UTF-8"))?;
    serde_saphyr::from_str(text)
        .map_err(|error| Refusal::bad_request(format!("error decoding YAML: {error}")))
}

/// Refuses Kubernetes' protobuf format, recognized by its magic bytes, as the API server refuses a format that it
/// cannot read.
fn no_protobuf(body: &[u8]) -> Result<(), Refusal> {
    if !body.starts_with(b"k8s\0") {
        return Ok(());
    }
    let message = "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml";
    Err(Refusal::new(415, "UnsupportedMediaType", message))
}
