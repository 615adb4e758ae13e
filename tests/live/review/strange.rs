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
        git rm -r -q --cached --ignore-unmatch nodeform/plans/2999-10 >/dev/null
        git read-tree --prefix=nodeform/plans/2999-10/{name}/ \"$inner\" 2>/dev/null || {{
            month=$(printf '040000 tree %s\\t{name}\\n' \"$inner\" | git mktree)
            plans=$({{ git ls-tree HEAD:nodeform/plans 2>/dev/null || true; printf '040000 tree %s\\t2999-10\\n' \"$month\"; }} | sort -u -k4 | git mktree)
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
            "`plan.jsonc` is not a plain file",
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
    for (status, said, hint) in [
        // A page without tabs is a list of no branch.
        (200, "has no branch `main`", "name a branch that is there"),
        (401, ": the token was not accepted (401)", "check that the token"),
        (403, ": the token may not read it (403)", "let the token read"),
        (404, "is not there, or the token may not see it (404)", "check the address"),
        (409, "answered with status 409", "run the same command again later"),
        (422, "answered with status 422", "run the same command again later"),
        (429, "was asked too often (429)", "run the same command again in some minutes"),
        (500, "answered with status 500", "run the same command again later"),
        (503, "answered with status 503", "run the same command again later"),
    ] {
        let commands = [&["apply", "--merged"][..], &["propose", "--live"]];
        for command in &commands[..if status == 401 { 2 } else { 1 }] {
            let ran = stage.run_on(&stage.forge.url_that_answers(status), command).await;
            assert_eq!(ran.code, Some(1), "{status}: {ran:?}");
            let told = ran.said.lines().filter(|line| !line.starts_with("warning")).collect::<Vec<_>>();
            assert!(
                told.iter().any(|line| line.starts_with("error: `http://") && line.contains(said)),
                "{told:?}"
            );
            assert!(told.iter().any(|line| line.starts_with(&format!("hint: {hint}"))), "{status}: {told:?}");
            assert!(!ran.said.contains("<html") && !ran.said.contains(TOKEN), "{status}: {}", ran.said);
        }
    }
    for _ in 0..2 {
        let ran = stage.run_on(&stage.forge.url_without_end(), &["apply", "--merged"]).await;
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.said.contains("responds with more than 64 MiB\nhint: "), "{ran:?}");
        // What it left is taken away by the next.
        let size = aged(stage.cache.path());
        assert!(size < 65 << 20, "{size} bytes are left");
    }
    assert_eq!(stage.machines().await, (0, 0));
}

/// Returns how many bytes a folder has, and makes its files an hour older.
fn aged(folder: &std::path::Path) -> u64 {
    let before =
        std::time::SystemTime::now().checked_sub(std::time::Duration::from_secs(3600)).expect("a time");
    let entries =
        std::fs::read_dir(folder).expect("it can be listed").map(|entry| entry.expect("an entry").path());
    entries
        .map(|path| match path.is_dir() {
            true => aged(&path),
            false => {
                let file = std::fs::File::open(&path).expect("it can be read");
                file.set_modified(before).expect("it can be set");
                file.metadata().map_or(0, |file| file.len())
            }
        })
        .sum()
}

/// Commits ten thousand folders of plans to a month, each the same.
fn commit_many(forge: &Forge, month: &str) {
    forge.script(&format!(
        "blob=$(echo '{{}}' | git hash-object -w --stdin)
        inner=$(printf '100644 blob %s\\tPLAN.md\\n100644 blob %s\\tplan.jsonc\\n' $blob $blob | git mktree)
        month=$(awk -v inner=$inner 'BEGIN {{ for (i = 10000; i < 20000; i++) {{ id = i \"\"; gsub(/0/, \"a\", id); gsub(/1/, \"b\", id); gsub(/8/, \"c\", id);
            gsub(/9/, \"d\", id); printf \"040000 tree %s\\tcreate-aaaaa%s\\n\", inner, id }} }}' | git mktree)
        plans=$(printf '040000 tree %s\\t{month}\\n' $month | git mktree)
        own=$(printf '040000 tree %s\\tplans\\n' $plans | git mktree)
        root=$({{ git ls-tree HEAD | grep -v nodeform || true; printf '040000 tree %s\\tnodeform\\n' $own; }} | git mktree)
        git push -q --force origin \"$(git commit-tree -p HEAD -m Many $root):refs/heads/main\""
    ));
}

#[tokio::test]
async fn ten_thousand_folders_of_a_month_that_is_over_are_counted_and_of_another_are_one_message() {
    let stage = Stage::start().await;
    commit_many(&stage.forge, "2020-01");
    let ran = stage.apply().await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.said.contains("Skipped: 10,000 plans, expired."), "{ran:?}");
    commit_many(&stage.forge, "2999-01");
    let ran = stage.apply().await;
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.said.contains("that have not ended than are read: 1000 folders"), "{ran:?}");
    assert!(ran.said.lines().count() < 60, "{ran:?}");
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
