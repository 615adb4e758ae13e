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

#[tokio::test]
async fn where_the_fleet_names_signers_a_plan_counts_only_with_a_signature_by_one_of_them() {
    let stage = Stage::start().await;
    let keys = tempfile::tempdir().expect("a folder");
    let keys = keys.path();
    let edwards = pair(keys, "edwards", &["-t", "ed25519"]);
    let nist = pair(keys, "nist", &["-t", "ecdsa", "-b", "256"]);
    pair(keys, "stranger", &["-t", "ed25519"]);
    pair(keys, "large", &["-t", "ecdsa", "-b", "384"]);
    let fleet = json!({
        "apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "demo"},
        "spec": {"git": {"signers": [edwards, nist]}},
    });
    let (status, answer) = stage.program.kube("POST", FLEETS, &fleet).await;
    assert_eq!(status, 201, "{answer}");

    // Nobody proposes what would not count.
    for (key, why) in [
        (None, "the plan would not be applied: the plan is not signed"),
        (Some("stranger"), "which is none of `git.signers` of the NodeFleet"),
        (Some("large"), "it is neither Ed25519 nor ECDSA on P-256"),
        (Some("large.pub"), "it holds no private SSH key that can be used"),
        (Some("missing"), "cannot be used: No such file or directory"),
    ] {
        let refused = propose(&stage, key.map(|key| keys.join(key)).as_deref()).await;
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(
            refused.said.contains(why) && refused.said.contains("NODEFORM_SIGNING_KEY_FILE"),
            "{refused:?}"
        );
        assert_eq!(stage.forge.branches().lines().count(), 1);
    }

    // What nodeform signs, the real program takes, and the other way round.
    for (name, public) in [("edwards", &edwards), ("nist", &nist)] {
        done(&propose(&stage, Some(&keys.join(name))).await);
        let branch = stage.forge.proposed(CREATE);
        let show = |file: &str| {
            let files = stage.forge.git(&["ls-tree", "-r", "--name-only", &format!("origin/{branch}")]);
            let path = files.lines().find(|path| path.ends_with(file)).expect("it is there");
            stage.forge.git(&["show", &format!("origin/{branch}:{path}")])
        };
        let plan: Value = serde_json::from_str(&show("plan.jsonc")).expect("JSON");
        let digests =
            ["digest", "evidenceDigest"].map(|name| plan[name].as_str().expect("a text").to_owned());
        let message = format!("{}\n{}\n", digests[0], digests[1]);
        std::fs::write(keys.join("signature"), show("plan.jsonc.sig")).expect("it is written");
        std::fs::write(keys.join("allowed"), format!("proposer {public}\n")).expect("it is written");
        let check =
            ["-Y", "verify", "-f", "allowed", "-I", "proposer", "-n", "nodeform-plan", "-s", "signature"];
        let (is_good, said) = ssh_keygen(keys, &check, &message);
        assert!(is_good && said.contains("Good \"nodeform-plan\" signature for proposer"), "{said}");
        assert!(!ssh_keygen(keys, &check, &message.replace("sha256", "sha-256")).0);
        if name == "edwards" {
            stage.forge.git(&["push", "--quiet", "origin", "--delete", &branch]);
        }
    }
    let key = std::fs::read_to_string(keys.join("nist")).expect("it is there");
    let key = key.lines().nth(2).expect("a line").to_owned();
    stage.forge.merge(CREATE);
    let folder =
        stage.forge.git(&["ls-files", "*.sig"]).trim().trim_end_matches("/plan.jsonc.sig").to_owned();
    let verified =
        stage.program.nodeform(&["verify", &stage.forge.path(&folder).display().to_string()], &[]).await;
    assert!(
        verified.printed.contains("Signed by SHA256:") && !format!("{verified:?}").contains(&key),
        "{verified:?}"
    );

    let plan: Value = serde_json::from_str(&stage.forge.read(&format!("{folder}/plan.jsonc"))).expect("JSON");
    let message = format!(
        "{}\n{}\n",
        plan["digest"].as_str().expect("a text"),
        plan["evidenceDigest"].as_str().expect("a text")
    );
    let by = |name: &str, namespace: &str, message: &str| {
        let (is_signed, text) = ssh_keygen(keys, &["-q", "-Y", "sign", "-f", name, "-n", namespace], message);
        assert!(is_signed, "{text}");
        text
    };
    for (signature, why) in [
        (None, "the plan is not signed"),
        (Some("nonsense".to_owned()), "it holds no SSH signature"),
        (Some(by("stranger", "nodeform-plan", &message)), "which is none of `git.signers`"),
        (Some(by("edwards", "git", &message)), "the signature is for `git`"),
        (Some(by("edwards", "nodeform-plan", "another\n")), "is not of this plan"),
    ] {
        let path = format!("{folder}/plan.jsonc.sig");
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
    stage.forge.write(&format!("{folder}/plan.jsonc.sig"), &by("edwards", "nodeform-plan", &message));
    stage.forge.commit("Signed by hand");
    done(&stage.apply().await);
    assert_eq!(stage.machines().await, (1, 1));
}
