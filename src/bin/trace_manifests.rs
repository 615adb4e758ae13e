//! Converts a workload trace to Deployments, one for each pod size, on standard output.
//!
//! The trace is CSV on standard input with a header that names `cpu_milli`, `memory_mib` and, if there are GPUs, `gpu`
//! and `gpu_milli` (the share of one GPU in thousandths). Kubernetes' GPU resource is an integer: a share is rounded up
//! to one GPU, and a comment at the top states the number of pods affected.
#![expect(clippy::print_stderr, reason = "faults go aside; the manifests are the output")]

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

/// Requests of a pod in the trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Size {
    cpu_milli: u64,
    memory_mib: u64,
    gpu: u64,
}

/// A trace, with pods counted by size.
#[derive(Default)]
struct Trace {
    pods: BTreeMap<Size, u64>,
    shares: u64,
}

fn main() -> ExitCode {
    let trace = match read(io::stdin().lock()) {
        Ok(trace) => trace,
        Err(fault) => {
            eprintln!("error: {fault}");
            return ExitCode::FAILURE;
        }
    };
    match io::stdout().lock().write_all(manifests(&trace).as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: the manifests cannot be written: {error}");
            ExitCode::FAILURE
        }
    }
}

fn read(input: impl BufRead) -> Result<Trace, String> {
    let mut lines = input.lines();
    let header = lines.next().ok_or("the trace is empty")?.map_err(|error| error.to_string())?;
    let names: Vec<&str> = header.trim().split(',').collect();
    let column = |name: &str| names.iter().position(|present| *present == name);
    let required = |name: &str| column(name).ok_or(format!("the trace has no column `{name}`"));
    let (cpu, memory) = (required("cpu_milli")?, required("memory_mib")?);
    let (gpu, share) = (column("gpu"), column("gpu_milli"));
    let mut trace = Trace::default();
    for (line, number) in lines.zip(2..) {
        let line = line.map_err(|error| format!("line {number}: {error}"))?;
        let cells: Vec<&str> = line.trim().split(',').collect();
        let amount = |column: usize| -> Result<u64, String> {
            let cell = cells.get(column).copied().unwrap_or_default();
            cell.parse().map_err(|_| {
                format!("line {number}: `{cell}` in column `{}` is not a whole number", names[column])
            })
        };
        let optional = |column: Option<usize>| column.map_or(Ok(0), amount);
        let size = Size { cpu_milli: amount(cpu)?, memory_mib: amount(memory)?, gpu: optional(gpu)? };
        trace.shares += u64::from(size.gpu > 0 && (1..1000).contains(&optional(share)?));
        *trace.pods.entry(size).or_default() += 1;
    }
    Ok(trace)
}

fn manifests(trace: &Trace) -> String {
    let pods: u64 = trace.pods.values().sum();
    let mut text = format!("# {pods} pods of {} sizes.\n", trace.pods.len());
    if trace.shares > 0 {
        text.push_str(&format!("# {} of them ask for a share of a GPU and get a whole one.\n", trace.shares));
    }
    for ((size, replicas), ordinal) in trace.pods.iter().zip(1..) {
        let manifest = deployment(&format!("size-{ordinal:03}"), *size, *replicas);
        text.push_str("---\n");
        text.push_str(&serde_saphyr::to_string(&manifest).expect("a JSON value has a YAML form"));
    }
    text
}

fn deployment(name: &str, size: Size, replicas: u64) -> Value {
    let mut requests =
        json!({"cpu": format!("{}m", size.cpu_milli), "memory": format!("{}Mi", size.memory_mib)});
    let mut tolerations = Vec::new();
    if size.gpu > 0 {
        requests["nvidia.com/gpu"] = json!(size.gpu.to_string());
        tolerations.push(json!({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}));
    }
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "trace"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "tolerations": tolerations,
                    "containers": [{"name": "main", "image": "example.com/trace:1", "resources": {"requests": requests}}],
                },
            },
        },
    })
}
