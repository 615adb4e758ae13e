//! The table of field names is what the API server says of itself; `UPDATE=1` writes it.
#![expect(clippy::disallowed_methods, reason = "tests read and write files")]

use std::fs;
use std::path::Path;

use nodeform::manifests::fields::table;
use serde_json::Value;

use crate::control_plane::{ControlPlane, Parts};

/// The groups and versions of the kinds that are read.
const DOCUMENTS: [&str; 10] = [
    "api/v1",
    "apis/apps/v1",
    "apis/autoscaling/v1",
    "apis/autoscaling/v2",
    "apis/batch/v1",
    "apis/events.k8s.io/v1",
    "apis/node.k8s.io/v1",
    "apis/policy/v1",
    "apis/scheduling.k8s.io/v1",
    "apis/storage.k8s.io/v1",
];

#[test]
fn the_table_of_field_names_is_what_the_api_server_says() {
    let Some(program) = crate::binary::built() else { return };
    let plane = ControlPlane::start(&program, Parts::Scheduling);
    let documents = DOCUMENTS.map(|name| plane.api().get(&format!("/openapi/v3/{name}")));
    let version = plane.api().get("/version");
    let version = version.get("gitVersion").and_then(Value::as_str).expect("a server has a version");
    let made = table(&documents, version);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/manifests/fields/table.txt");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &made).expect("the table can be written");
    }
    let kept = fs::read_to_string(&path).expect("the table is there");
    assert!(kept == made, "the API server has other fields: run this test with UPDATE=1");
}
