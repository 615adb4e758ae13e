//! `nodeform explain` from a saved plan, without planning again.
#![expect(clippy::disallowed_methods, reason = "reading the plan's file is this module's job")]

use std::fs;
use std::io::Read;
use std::path::Path;

use super::exit::Failure;
use super::saved;
use crate::model::PodKey;
use crate::render::{Line, PlanView, explain::plan as render};
use crate::solve::explain::{Meant, is_workload_kind, pods_meant};

/// Number of bytes read to recognize a plan: its head has one line for each part.
const HEAD_BYTES_MAX: u64 = 64;

/// Returns whether a file looks like a plan, judging by its head.
pub(super) fn is_plan(path: &Path) -> bool {
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let head = || {
        let mut head = Vec::new();
        fs::File::open(path).ok()?.take(HEAD_BYTES_MAX).read_to_end(&mut head).ok()?;
        String::from_utf8(head).ok()
    };
    let start = format!("{{\n  \"apiVersion\": \"{}\",\n  \"digest\"", crate::plan::API_VERSION);
    is_file && head().is_some_and(|head| head.starts_with(&start))
}

/// Explains pods, a workload or a node by a saved plan.
///
/// # Errors
/// The file contains no trustworthy plan, or the plan does not contain the object.
pub(super) fn explain(
    path: &Path,
    (kind, name): (&str, &str),
    namespace: Option<&str>,
) -> Result<Vec<Line>, Failure> {
    let plan = saved::read(path)?;
    let view = PlanView::new(&plan, None);
    let shown = path.display();
    let absent = || Failure::error(format!("`{kind}/{name}` is not in the plan `{shown}`"));
    if matches!(kind, "node" | "nodes" | "no" | "nodeclaim" | "nodeclaims") {
        return render::node(&view, name)
            .ok_or_else(|| absent().hint(format!("`nodeform show {shown} --all` lists the nodes")));
    }
    let snapshot = plan.snapshot();
    if !matches!(kind, "pod" | "pods" | "po") && !is_workload_kind(&snapshot, kind) {
        return Err(Failure::error(format!("`{kind}` cannot be explained from a saved plan"))
            .hint("a plan holds pods, workloads and nodes; for pools and sizes name the manifests"));
    }
    match pods_meant(&snapshot, (kind, name), namespace) {
        Meant::Pods(pods) => {
            let keys: Vec<&PodKey> = pods.iter().map(|pod| &pod.key).collect();
            Ok(keys.into_iter().flat_map(|key| render::pod(&view, key)).collect())
        }
        Meant::InSeveral(spaces) => {
            let spaces: Vec<String> = spaces.iter().map(|space| format!("`-n {space}`")).collect();
            Err(Failure::error(format!("`{kind}/{name}` is in several namespaces"))
                .hint(format!("say which: {}", spaces.join(", "))))
        }
        Meant::Nothing => Err(absent()),
    }
}
