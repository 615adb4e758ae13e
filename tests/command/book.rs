//! The book is true: every command in it runs, ends as it says, and prints what it shows.
//!
//! A block of `sh` is run in a folder of its page's own that holds `examples/`; a block of `text` after it is
//! what the block prints, standard error included. `<!-- exit N -->` before a block says another exit code than
//! 0. Blocks of `bash` need a live cluster, and are run by `tests/live`. Where a page asks a cluster or Azure, a
//! recorded answer is given (`tests/book/bin`). `UPDATE=1` rewrites what is shown.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests read files, start programs, and say what they leave out"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::pages::{Block, blocks, copy, root};

/// Every page, by its path in `docs/`.
fn pages() -> Vec<(String, PathBuf)> {
    fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, pages);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path);
            }
        }
    }
    let mut found = Vec::new();
    collect(&root().join("docs"), &mut found);
    found.sort();
    let name = |path: &Path| path.strip_prefix(root().join("docs")).expect("is in it").display().to_string();
    found.into_iter().map(|path| (name(&path), path)).collect()
}

/// A folder of the page's own, with the examples in it.
fn folder(page: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("book").join(page.replace(['/', '.'], "-"));
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("is ours");
    }
    copy(&root().join("examples"), &folder.join("examples"));
    folder
}

/// Runs a block; what it prints, and how it ends.
fn run(block: &Block, folder: &Path) -> (String, i32) {
    let program = Path::new(env!("CARGO_BIN_EXE_nodeform"));
    let path = format!(
        "{}:{}:{}",
        root().join("tests/book/bin").display(),
        program.parent().expect("is in a folder").display(),
        std::env::var("PATH").expect("there is a path")
    );
    let output = Command::new("sh")
        .args(["-eu", "-c", &format!("exec 2>&1\n{}", block.text)])
        .current_dir(folder)
        .env("PATH", path)
        .env("NODEFORM_BOOK", root())
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_DATE"), "2026-11-21T09:00:00Z")))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "A Person")))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "person@example.com")))
        .output()
        .expect("there is a shell");
    let text = String::from_utf8(output.stdout).expect("output is text");
    // Lines end where their text does, so that no editor changes the page.
    let lines = text.lines().map(|line| format!("{}\n", line.trim_end()));
    (lines.collect(), output.status.code().unwrap_or(-1))
}

/// Runs a page; blocks that need `jq` are left out, loudly, where it is not. Returns what is wrong with it, and the page as it should be.
fn checked(name: &str, page: &str) -> (Vec<String>, String) {
    let blocks = blocks(page);
    let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
    if blocks.iter().all(|block| block.language != "sh") {
        return (Vec::new(), page.to_owned());
    }
    let folder = folder(name);
    let mut faults = Vec::new();
    let has_jq = Command::new("jq").arg("--version").output().is_ok();
    assert!(has_jq || std::env::var_os("NODEFORM_REQUIRE_TOOLS").is_none(), "jq is missing");
    let mut shown: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    for (place, block) in blocks.iter().enumerate().filter(|(_, block)| block.language == "sh") {
        if !has_jq && block.text.contains("jq ") {
            eprintln!("skipped: 1 block of {name} needs jq");
            continue;
        }
        let (text, exit) = run(block, &folder);
        let at = block.lines.start + 1;
        if exit != block.exit {
            faults.push(format!("{name}:{at}: ends with {exit}, not {}\n{}{text}", block.exit, block.text));
        }
        if let Some(next) = blocks.get(place + 1).filter(|next| next.language == "text") {
            if next.text != text && std::env::var_os("UPDATE").is_none() {
                faults.push(format!("{name}:{at}: prints\n{text}and not\n{}", next.text));
            }
            shown.push((next.lines.clone(), text));
        }
    }
    for (range, text) in shown.into_iter().rev() {
        lines.splice(range, text.lines().map(str::to_owned));
    }
    (faults, lines.join("\n") + "\n")
}

#[test]
fn every_command_of_the_book_runs_and_prints_what_it_shows() {
    let mut faults = Vec::new();
    let mut commands = 0;
    for (name, path) in pages() {
        let page = fs::read_to_string(&path).expect("the page is text");
        commands += blocks(&page).iter().filter(|block| block.language == "sh").count();
        let (wrong, right) = checked(&name, &page);
        if std::env::var_os("UPDATE").is_some() && right != page {
            fs::write(&path, right).expect("the page can be written");
        }
        faults.extend(wrong);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(commands >= 20, "the book shows {commands} commands only: are its blocks still found?");
}

#[test]
fn the_table_of_contents_names_every_page_and_every_link_leads_somewhere() {
    let contents = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("there is a table of contents");
    let mut faults = Vec::new();
    for (name, path) in pages() {
        if name != "SUMMARY.md" && !contents.contains(&format!("({name})")) {
            faults.push(format!("{name} is not in SUMMARY.md"));
        }
        let page = fs::read_to_string(&path).expect("the page is text");
        for (_, rest) in page.match_indices("](").map(|(at, found)| page.split_at(at + found.len())) {
            let link = rest.split([')', '#']).next().unwrap_or_default();
            let is_here = !link.is_empty() && !link.contains("://");
            if is_here && !path.parent().expect("is in a folder").join(link).exists() {
                faults.push(format!("{name}: `{link}` leads nowhere"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
