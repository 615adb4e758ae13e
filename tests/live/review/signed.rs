//! Plans that count only with a signature, made and checked by nodeform and by the real `ssh-keygen`.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::forge::TOKEN;
use super::{CREATE, Stage, done};
use crate::program::Ran;

const FLEETS: &str = "/apis/nodeform.dev/v1alpha1/nodefleets";

/// Runs the real `ssh-keygen`.
fn ssh_keygen(folder: &Path, arguments: &[&str], input: &str) -> (bool, String) {
    let written = folder.join("input");
    std::fs::write(&written, input).expect("it is written");
    let input = std::fs::File::open(&written).expect("it is there");
    let mut command = Command::new("ssh-keygen");
    command.args(arguments).current_dir(folder).stdin(input).stdout(Stdio::piped());
    let output = command.output().expect("ssh-keygen is there");
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.success(), said)
}

/// Makes a pair of keys and returns the public one.
fn pair(folder: &Path, name: &str, kind: &[&str]) -> String {
    let arguments = [&["-q", "-N", "", "-C", name, "-f", name][..], kind].concat();
    assert!(ssh_keygen(folder, &arguments, "").0, "{name}");
    std::fs::read_to_string(folder.join(format!("{name}.pub"))).expect("it is there").trim().to_owned()
}

/// Proposes with a private key.
async fn propose(stage: &Stage, key: Option<&Path>) -> Ran {
    let key = key.map(|key| key.display().to_string());
    let mut variables = vec![("NODEFORM_GIT_TOKEN", TOKEN)];
    variables.extend(key.as_deref().map(|key| ("NODEFORM_SIGNING_KEY_FILE", key)));
    stage.run_with(&stage.forge.url(), &["propose", "--live", "--class", "create"], &variables).await
}

/// The keys of a test, and the public ones that count.
struct Keys {
    folder: tempfile::TempDir,
    edwards: String,
    nist: String,
}

impl Keys {
    fn make() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let edwards = pair(folder.path(), "edwards", &["-t", "ed25519"]);
        let nist = pair(folder.path(), "nist", &["-t", "ecdsa", "-b", "256"]);
        pair(folder.path(), "stranger", &["-t", "ed25519"]);
        pair(folder.path(), "large", &["-t", "ecdsa", "-b", "384"]);
        Self { folder, edwards, nist }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Has the real program sign a text.
    fn sign(&self, by: &str, namespace: &str, text: &str) -> String {
        let sign = ["-q", "-Y", "sign", "-f", by, "-n", namespace];
        let (is_signed, signature) = ssh_keygen(self.path(), &sign, text);
        assert!(is_signed, "{signature}");
        signature
    }

    /// Has the real program check the signature of a plan by one of them.
    fn check(&self, public: &str, signature: &str, text: &str) -> bool {
        std::fs::write(self.path().join("signature"), signature).expect("it is written");
        std::fs::write(self.path().join("allowed"), format!("proposer {public}\n")).expect("it is written");
        let check =
            ["-Y", "verify", "-f", "allowed", "-I", "proposer", "-n", "nodeform-plan", "-s", "signature"];
        ssh_keygen(self.path(), &check, text).0
    }
}

/// What is signed of a plan: both its digests.
fn message(plan: &str) -> String {
    let plan: Value = serde_json::from_str(plan).expect("JSON");
    let digest = |name: &str| plan[name].as_str().expect("a text").to_owned();
    format!("{}\n{}\n", digest("digest"), digest("evidenceDigest"))
}

/// A cluster whose NodeFleet names two signers.
async fn stage(keys: &Keys) -> Stage {
    let stage = Stage::start().await;
    let fleet = json!({
        "apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "demo"},
        "spec": {"git": {"signers": [keys.edwards, keys.nist]}},
    });
    let (status, answer) = stage.program.kube("POST", FLEETS, &fleet).await;
    assert_eq!(status, 201, "{answer}");
    stage
}

#[tokio::test]
async fn nobody_proposes_what_would_not_count_and_the_real_program_takes_what_is_signed() {
    let keys = Keys::make();
    let stage = stage(&keys).await;
    for (key, why) in [
        (None, "the plan would not be applied: the plan is not signed"),
        (Some("stranger"), "which is none of `git.signers` of the NodeFleet"),
        (Some("large"), "it is neither Ed25519 nor ECDSA on P-256"),
        (Some("large.pub"), "it holds no private SSH key that can be used"),
        (Some("missing"), "cannot be used: No such file or directory"),
    ] {
        let refused = propose(&stage, key.map(|key| keys.path().join(key)).as_deref()).await;
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(
            refused.said.contains(why) && refused.said.contains("NODEFORM_SIGNING_KEY_FILE"),
            "{refused:?}"
        );
        assert_eq!(stage.forge.branches().lines().count(), 1);
    }
    for (name, public) in [("edwards", &keys.edwards), ("nist", &keys.nist)] {
        done(&propose(&stage, Some(&keys.path().join(name))).await);
        let branch = stage.forge.proposed(CREATE);
        let show = |file: &str| {
            let files = stage.forge.git(&["ls-tree", "-r", "--name-only", &format!("origin/{branch}")]);
            let path = files.lines().find(|path| path.ends_with(file)).expect("it is there");
            stage.forge.git(&["show", &format!("origin/{branch}:{path}")])
        };
        let (message, signature) = (message(&show("plan.jsonc")), show("plan.jsonc.sig"));
        assert!(keys.check(public, &signature, &message));
        assert!(!keys.check(public, &signature, &message.replace("sha256", "sha-256")));
        stage.forge.git(&["push", "--quiet", "origin", "--delete", &branch]);
    }
}

#[tokio::test]
async fn where_the_fleet_names_signers_a_plan_counts_only_with_a_signature_by_one_of_them() {
    let keys = Keys::make();
    let stage = stage(&keys).await;
    done(&propose(&stage, Some(&keys.path().join("nist"))).await);
    stage.forge.merge(CREATE);
    let folder =
        stage.forge.git(&["ls-files", "*.sig"]).trim().trim_end_matches("/plan.jsonc.sig").to_owned();
    let local = stage.forge.path(&folder).display().to_string();
    let verified = stage.program.nodeform(&["verify", &local], &[]).await;
    let key = std::fs::read_to_string(keys.path().join("nist")).expect("it is there");
    let key = key.lines().nth(2).expect("a line").to_owned();
    assert!(verified.printed.contains("Signed by SHA256:"), "{verified:?}");
    assert!(!format!("{verified:?}").contains(&key), "{verified:?}");

    let message = message(&stage.forge.read(&format!("{folder}/plan.jsonc")));
    let path = format!("{folder}/plan.jsonc.sig");
    for (signature, why) in [
        (None, "the plan is not signed"),
        (Some("nonsense".to_owned()), "it holds no SSH signature"),
        (Some(keys.sign("stranger", "nodeform-plan", &message)), "which is none of `git.signers`"),
        (Some(keys.sign("edwards", "git", &message)), "the signature is for `git`"),
        (Some(keys.sign("edwards", "nodeform-plan", "another\n")), "is not of this plan"),
    ] {
        match signature {
            Some(text) => stage.forge.write(&path, &text),
            None => std::fs::remove_file(stage.forge.path(&path)).expect("it is there"),
        }
        stage.forge.commit("Other signature");
        let refused = stage.apply().await;
        assert_eq!(refused.code, Some(3), "{refused:?}");
        assert!(
            refused.said.contains(why) && refused.said.contains("hint: propose it again"),
            "{why}: {refused:?}"
        );
        assert_eq!(stage.machines().await, (0, 0));
    }
    // What does not count keeps nothing from being proposed anew.
    let again = propose(&stage, Some(&keys.path().join("nist"))).await;
    assert!(
        again.printed.starts_with("Proposed: ") || again.printed.starts_with("Nothing to propose: "),
        "{again:?}"
    );
    assert!(!again.said.contains("waits to be applied"), "{again:?}");
    stage.forge.write(&path, &keys.sign("edwards", "nodeform-plan", &message));
    stage.forge.commit("Signed by hand");
    done(&stage.apply().await);
    assert_eq!(stage.machines().await, (1, 1));
}
