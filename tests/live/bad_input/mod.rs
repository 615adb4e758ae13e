//! What a user can hand to nodeform that is wrong: each is answered with one message that says what happened to which
//! object, why, and what to do next, and nothing is written.

mod plans;
mod servers;
mod settings;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::program::{Program, Ran};

const WORLD: &str = include_str!("../world.yaml");

/// How long a mistake that stays may keep a user waiting who has not been told of it.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// A world whose `SimulatedAzure` says this as well.
fn world(settings: &str) -> String {
    WORLD.replacen("  location: westeurope\n", &format!("  location: westeurope\n{settings}"), 1)
}

/// A message: how the command ends, what it says, what to do next.
#[derive(Clone, Copy)]
struct Told<'t> {
    exit: i32,
    says: &'t [&'t str],
    hint: &'t str,
}

impl Told<'_> {
    /// Runs a command and judges its message.
    async fn by(&self, program: &Program, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let ran = tokio::time::timeout(PATIENCE, program.nodeform(arguments, variables)).await;
        let ran = ran.unwrap_or_else(|_| panic!("{arguments:?} {variables:?} goes on and on"));
        self.judge(program, &ran, &format!("{arguments:?} {variables:?}"));
        ran
    }

    fn judge(&self, program: &Program, ran: &Ran, of: &str) {
        let said = &ran.said;
        assert_eq!(ran.code, Some(self.exit), "{of}: {ran:?}");
        for part in self.says {
            assert!(said.contains(part), "{of}: `{part}` is not in\n{said}");
        }
        let hint = format!("\nhint: {}", self.hint);
        assert!(said.contains(&hint), "{of}: `{hint}` is not in\n{said}");
        let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error: ")).collect();
        assert_eq!(errors.len(), 1, "{of}: one message\n{said}");
        let distinct: BTreeSet<&str> = said.lines().collect();
        assert_eq!(distinct.len(), said.lines().count(), "{of}: nothing is said twice\n{said}");
        // What only a reader of Rust would understand.
        for inner in ["Some(", "None", "Err(", " { ", "panicked", "bug in nodeform", "stack backtrace"] {
            assert!(!said.contains(inner), "{of}: `{inner}` in\n{said}");
        }
        for secret in program.credentials() {
            assert!(!said.contains(&secret), "{of}: a secret was printed");
        }
    }
}

/// Nothing is there that the world did not begin with.
async fn nothing_is_written(program: &Program) {
    let state = program.own("GET", "/sim/state", &Value::Null).await.1;
    for kind in ["virtualMachines", "networkInterfaces", "disks", "nodeClaims"] {
        assert_eq!(state[kind], json!([]), "{kind}");
    }
    for path in ["/apis/nodeform.dev/v1alpha1/nodeplans", "/apis/coordination.k8s.io/v1/leases"] {
        let (_, listed) = program.kube("GET", path, &Value::Null).await;
        assert_eq!(listed["items"], json!([]), "{path}");
    }
    let (_, secrets) = program.kube("GET", "/api/v1/namespaces/kube-system/secrets", &Value::Null).await;
    assert!(!secrets.to_string().contains("bootstrap-token-"), "{secrets}");
}

/// Both commands that read a live cluster say the same, and neither writes.
async fn refused(program: &Program, variables: &[(&str, &str)], told: Told<'_>) {
    for command in [&["plan", "--live"][..], &["apply", "--auto-approve"]] {
        let ran = told.by(program, command, variables).await;
        assert_eq!(ran.printed, "", "{command:?} {variables:?}");
    }
    nothing_is_written(program).await;
}
