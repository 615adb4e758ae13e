//! What people read, as a list: all texts of the program go to `target/words.txt`, each with its file, to be read from top to
//! bottom; and none uses a word for which the field has a better one.
#![expect(clippy::disallowed_methods, reason = "tests read and write files")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// What is not said, and what is said instead, in Kubernetes' and Terraform's words.
const INSTEAD: &[(&str, &str)] = &[
    ("carried out", "applied"),
    ("carry out", "apply"),
    ("took the place of", "superseded by, replaced by"),
    ("passed over", "skipped, ignored"),
    ("look whether", "check that"),
    ("underused", "underutilized"),
    ("asks not to be disrupted", "has `karpenter.sh/do-not-disrupt`"),
    ("is asked for", "is required, is requested"),
    ("are asked for", "are required, are requested"),
    ("asked for by", "requested by"),
    ("may not be listed", "no permission to list"),
    ("has begun", "started, in progress"),
    ("nothing new begins", "no new changes start"),
    ("taken back", "rolled back"),
    ("is tried again", "next attempt at, retry"),
    ("in vain", "pods stay Pending"),
    ("nobody wants", "no longer needed"),
    ("if it stays so", "if it persists"),
    ("a bug of nodeform", "a bug in nodeform"),
    ("the judge", "the checker"),
    ("whoever", "name who or what"),
];

/// Texts of `check`, which name bugs of nodeform itself, and of a test.
const EXEMPT: &[&str] = &["src/check/", "src/cli/merged/leaves"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            files(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// Adds the texts of more than a word; those of tests, and comments for `rustdoc` apart, which are attributes here.
fn texts(tokens: TokenStream, found: &mut Vec<String>) {
    let mut is_test = false;
    let mut after_hash = false;
    for token in tokens {
        match token {
            TokenTree::Group(group) if after_hash && group.delimiter() == Delimiter::Bracket => {
                is_test |= group.stream().to_string().replace(' ', "") == "cfg(test)";
                help(&group, found);
            }
            TokenTree::Group(group) => {
                if !(is_test && group.delimiter() == Delimiter::Brace) {
                    texts(group.stream(), found);
                }
                is_test &= group.delimiter() != Delimiter::Brace;
            }
            TokenTree::Literal(literal) => found.extend(text(&literal.to_string())),
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                after_hash = true;
                continue;
            }
            // An attribute of what it is in: `#![…]`.
            TokenTree::Punct(punct) if after_hash && punct.as_char() == '!' => continue,
            TokenTree::Punct(punct) => is_test &= punct.as_char() != ';',
            TokenTree::Ident(_) => {}
        }
        after_hash = false;
    }
}

/// The texts of an attribute that people read: of the command line and of errors.
fn help(attribute: &Group, found: &mut Vec<String>) {
    let name = attribute.stream().into_iter().next().map(|token| token.to_string()).unwrap_or_default();
    if matches!(name.as_str(), "command" | "arg" | "error" | "schemars") {
        texts(attribute.stream(), found);
    }
}

/// A literal's text, where it is of several words.
fn text(literal: &str) -> Option<String> {
    let inside = literal.strip_prefix('"')?.strip_suffix('"')?;
    // A line that goes on begins at its first letter.
    let mut lines = inside.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    let text = lines.fold(first, |text, line| text + line.trim_start());
    text.trim().contains(' ').then_some(text)
}

#[test]
fn every_text_is_listed_and_speaks_the_words_of_the_field() {
    let mut found = Vec::new();
    files(&root().join("src"), &mut found);
    let mut listed = String::new();
    let mut wrong = BTreeSet::new();
    let mut all = 0;
    for path in found {
        let name = path.strip_prefix(root()).expect("it is below").display().to_string();
        let source = fs::read_to_string(&path).expect("it can be read");
        let mut said = Vec::new();
        texts(source.parse().expect("it is Rust"), &mut said);
        all += said.len();
        for text in said {
            let is_exempt = EXEMPT.iter().any(|exempt| name.starts_with(exempt));
            let bad = INSTEAD.iter().filter(|(bad, _)| !is_exempt && text.to_lowercase().contains(bad));
            wrong.extend(bad.map(|(bad, good)| format!("{name}: `{bad}` (say: {good}) in: {text}")));
            listed.push_str(&format!("{name}: {text}\n"));
        }
    }
    fs::write(root().join("target/words.txt"), listed).expect("the target folder takes files");
    assert!(all > 3_000, "the texts are found: {all}");
    assert!(wrong.is_empty(), "{}", wrong.into_iter().collect::<Vec<_>>().join("\n"));
}
