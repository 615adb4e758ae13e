//! Pages of the book, taken apart into their fenced blocks.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// A fenced block of a page.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) language: String,
    pub(crate) text: String,
    /// The lines of its text in the page, from 0.
    pub(crate) lines: Range<usize>,
    /// The exit code that the line before it names.
    pub(crate) exit: i32,
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn blocks(page: &str) -> Vec<Block> {
    let lines: Vec<&str> = page.lines().collect();
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some(language) = lines[at].strip_prefix("```") else {
            at += 1;
            continue;
        };
        let length = lines[at + 1..].iter().position(|line| *line == "```").expect("every block is closed");
        let before = lines[..at].iter().rev().find(|line| !line.is_empty()).copied().unwrap_or_default();
        let exit = before.strip_prefix("<!-- exit ").and_then(|rest| rest.strip_suffix(" -->"));
        let range = at + 1..at + 1 + length;
        blocks.push(Block {
            language: language.to_owned(),
            text: lines[range.clone()].iter().map(|line| format!("{line}\n")).collect(),
            exit: exit.map_or(0, |code| code.parse().expect("an exit code is a number")),
            lines: range,
        });
        at += length + 2;
    }
    blocks
}

/// Copies a folder with all that is in it.
#[expect(clippy::disallowed_methods, reason = "tests read and write files")]
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the target folder takes folders");
    for entry in std::fs::read_dir(from).expect("the folder is there") {
        let path: PathBuf = entry.expect("an entry").path();
        let there = to.join(path.file_name().expect("has a name"));
        if path.is_dir() {
            copy(&path, &there);
        } else {
            std::fs::copy(&path, &there).expect("can be copied");
        }
    }
}
