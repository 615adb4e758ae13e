//! Repositories whose trees no `git add` makes, and servers that are no Git servers: each is told for what it is, nothing is
//! done of it, and a good plan beside it is carried out.

use super::forge::{Forge, TOKEN};
use super::{CREATE, Stage, running};

/// Commits a tree to the target branch in which a plan's folder holds what a script makes: `$inner` is its tree.
fn commit(forge: &Forge, name: &str, inner: &str) {
    forge.script(&format!(
        "blob=$(echo '{{}}' | git hash-object -w --stdin)
        {inner}
        git read-tree HEAD
        git rm -r -q --cached --ignore-unmatch nodeform/plans/2026-10 >/dev/null
        git read-tree --prefix=nodeform/plans/2026-10/{name}/ \"$inner\" 2>/dev/null || {{
            month=$(printf '040000 tree %s\\t{name}\\n' \"$inner\" | git mktree)
            plans=$({{ git ls-tree HEAD:nodeform/plans 2>/dev/null || true; printf '040000 tree %s\\t2026-10\\n' \"$month\"; }} | sort -u -k4 | git mktree)
            own=$(printf '040000 tree %s\\tplans\\n' \"$plans\" | git mktree)
            root=$({{ git ls-tree HEAD | grep -v nodeform || true; printf '040000 tree %s\\tnodeform\\n' \"$own\"; }} | git mktree)
        }}
        root=${{root:-$(git write-tree)}}
        git push -q --force origin \"$(git commit-tree -p HEAD -m Strange \"$root\"):refs/heads/main\""
    ));
}

#[tokio::test]
async fn strange_trees_are_refused_by_name_and_the_good_plan_beside_them_is_carried_out() {
    let stage = Stage::start().await;
    let holding = |body: &str| {
        format!(
            "plan=$({body} | git hash-object -w --stdin)
            inner=$(printf '100644 blob %s\\tPLAN.md\\n100644 blob %s\\tplan.jsonc\\n' $blob $plan | git mktree)"
        )
    };
    let entry = |mode: &str, kind: &str, object: &str, name: &str| {
        format!("inner=$(printf '{mode} {kind} %s\\t{name}\\n' {object} | git mktree --missing)")
    };
    let cases = [
        ("deep JSON", holding("head -c 200000 /dev/zero | tr '\\0' '['"), "create-aaaaaaaaaa", "plan.jsonc"),
        ("a large file", holding("head -c 268435456 /dev/zero"), "create-aaaaaaaaaa", "has more than 16 MiB"),
        (
            "a submodule",
            entry("160000", "commit", "1111111111111111111111111111111111111111", "plan.jsonc"),
            "create-aaaaaaaaaa",
            "`plan.jsonc` is no plain file",
        ),
        (
            "no UTF-8",
            entry("100644", "blob", "$blob", "\\377\\376.json"),
            "create-aaaaaaaaaa",
            "create-aaaaaaaaaa",
        ),
        ("a way up", entry("100644", "blob", "$blob", ".."), "create-aaaaaaaaaa", "create-aaaaaaaaaa"),
        (
            "a terminal's code",
            holding("echo '{}'"),
            "create-$(printf \"\\033\")[2Ja",
            "is not a plan folder name",
        ),
    ];
    for (what, inner, name, said) in &cases {
        commit(&stage.forge, name, inner);
        let ran = stage.apply().await;
        assert_eq!(ran.code, Some(3), "{what}: {ran:?}");
        assert!(ran.said.contains(said), "{what}: {}", ran.said);
        assert!(ran.said.contains("hint: "), "{what}: {}", ran.said);
        assert!(!ran.said.contains('\u{1b}'), "{what}: {}", ran.said);
        assert!(ran.said.lines().count() <= 6, "{what}: {}", ran.said);
        assert_eq!(stage.machines().await, (0, 0), "{what}");
    }
    // The last of them still lies there.
    stage.forge.git(&["pull", "--quiet", "--ff-only", "origin", "main"]);
    stage.propose(&["--class", "create"]).await;
    stage.forge.merge(CREATE);
    let ran = stage.apply().await;
    assert_eq!(ran.code, Some(3), "one is refused: {ran:?}");
    stage.program.wait_for(|state| running(state) == 5).await;
    assert_eq!(stage.machines().await, (1, 1));
}

#[tokio::test]
async fn servers_that_are_none_of_git_are_told_for_what_they_answer() {
    let stage = Stage::start().await;
    for (status, said) in [
        (200, "Git"),
        (401, "refuses to ls-remote"),
        (403, "refuses to ls-remote"),
        (404, "is not there, or not for these credentials"),
        (500, "500"),
        (503, "503"),
    ] {
        for command in [&["propose", "--live"][..], &["apply", "--merged"]] {
            let ran = stage.run_on(&stage.forge.url_that_answers(status), command).await;
            assert_eq!(ran.code, Some(1), "{status}: {ran:?}");
            assert!(ran.said.contains(said), "{status} {command:?}: {}", ran.said);
            assert!(ran.said.contains("hint: "), "{status}: {}", ran.said);
            assert!(!ran.said.contains("<html"), "{status}: {}", ran.said);
            assert!(!ran.said.contains(TOKEN), "{status}: {}", ran.said);
        }
    }
    assert_eq!(stage.machines().await, (0, 0));
}

#[tokio::test]
async fn names_that_look_like_options_are_refused_before_anything_runs() {
    let stage = Stage::start().await;
    let canary = stage.cache.path().join("canary");
    let option = format!("--upload-pack=touch {}", canary.display());
    for flag in ["--git-branch", "--git-path"] {
        let flag = format!("{flag}={option}");
        for command in [&["propose", "--live"][..], &["apply", "--merged"]] {
            let ran = stage.run(&[command, &[flag.as_str()]].concat()).await;
            assert!([Some(1), Some(2)].contains(&ran.code), "{ran:?}");
            assert!(ran.said.contains("cannot be used as") && ran.said.contains("hint: "), "{}", ran.said);
        }
    }
    let ran = stage.run_on(&option, &["propose", "--live"]).await;
    assert!([Some(1), Some(2)].contains(&ran.code), "{ran:?}");
    assert!(!canary.exists());
    assert!(stage.forge.asked().is_empty(), "{:?}", stage.forge.asked());
}
