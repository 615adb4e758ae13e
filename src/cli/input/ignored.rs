//! Exclusions while walking folders: `--exclude` and `.nodeformignore` files, both in gitignore syntax.
//!
//! Explicitly named paths are always read.

use std::path::{Component, Path};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::super::exit::Failure;
use crate::manifests::source::{IGNORE_FILE, LeavesOut};

/// The patterns of one file, for its folder.
#[derive(Debug)]
struct Rules {
    /// The folder, as reached by the walk.
    folder: String,
    patterns: Gitignore,
}

/// All exclusions for walked folders.
#[derive(Debug)]
pub(super) struct Ignored {
    /// `--exclude`.
    excluded: Gitignore,
    /// The named folder; `--exclude` patterns are also relative to it.
    root: String,
    /// The ignore files of the enclosing folders, outermost first.
    files: Vec<Rules>,
    /// Faults in these files.
    faults: Vec<String>,
    /// The excluded paths, as shown.
    left_out: Vec<String>,
}

/// Fault of a pattern with an unclosed character class; taken literally, it would exclude nothing that anyone intended.
const UNCLOSED: &str = "a `[` without its `]`";

/// Returns whether a character class is never closed.
fn has_open_class(pattern: &str) -> bool {
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '[' => {
                letters.next_if(|letter| matches!(letter, '!' | '^'));
                // A leading bracket is a literal member of the class.
                letters.next_if_eq(&']');
                if !letters.by_ref().any(|letter| letter == ']') {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

impl Ignored {
    /// Parses the patterns of the command line.
    ///
    /// # Errors
    /// Invalid patterns.
    pub(super) fn new(excluded: &[String]) -> Result<Self, Failure> {
        let mut patterns = GitignoreBuilder::new("");
        let wrong: Vec<String> = excluded
            .iter()
            .filter_map(|pattern| {
                let error = patterns.add_line(None, pattern).err().map(|error| error.to_string());
                let error = error.or_else(|| has_open_class(pattern).then(|| UNCLOSED.to_owned()))?;
                Some(format!("`--exclude {pattern}`: {error}"))
            })
            .collect();
        let failure = |faults| {
            Failure::errors(faults)
                .hint("write it as in a `.gitignore`: `--exclude tests/` or `--exclude '*.json'`")
        };
        if !wrong.is_empty() {
            return Err(failure(wrong));
        }
        let excluded = patterns.build().map_err(|error| failure(vec![format!("`--exclude`: {error}")]))?;
        Ok(Self {
            excluded,
            root: String::new(),
            files: Vec::new(),
            faults: Vec::new(),
            left_out: Vec::new(),
        })
    }

    /// Returns the excluded paths, and the faults of the ignore files.
    pub(super) fn end(self) -> (Vec<String>, Vec<String>) {
        (self.left_out, self.faults)
    }

    fn decides(patterns: &Gitignore, path: &str, is_folder: bool) -> Option<bool> {
        match patterns.matched(path, is_folder) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        }
    }
}

impl LeavesOut for Ignored {
    fn start(&mut self, root: &str) {
        self.root = plain(root);
        self.files.clear();
    }

    fn enter(&mut self, folder: &str, rules: Option<&[u8]>) {
        let folder = plain(folder);
        let mut patterns = GitignoreBuilder::new("");
        for (index, line) in String::from_utf8_lossy(rules.unwrap_or_default()).lines().enumerate() {
            if let Err(error) = patterns.add_line(None, line) {
                let place = within(&folder, IGNORE_FILE);
                self.faults.push(format!("{place}:{}: {error}", index + 1));
            }
        }
        // Each line was validated above, so the build cannot fail.
        let patterns = patterns.build().unwrap_or_else(|_| Gitignore::empty());
        self.files.push(Rules { folder, patterns });
    }

    fn leave(&mut self) {
        self.files.pop();
    }

    fn leaves_out(&mut self, shown: &str, is_folder: bool) -> bool {
        let path = plain(shown);
        let below = |folder: &str| {
            if folder.is_empty() { Some(&*path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
        };
        let named = [Some(&*path), below(&self.root)].into_iter().flatten();
        let excluded = named.filter_map(|path| Self::decides(&self.excluded, path, is_folder)).max();
        let by_file = || {
            let mut files = self.files.iter().rev();
            files.find_map(|rules| Self::decides(&rules.patterns, below(&rules.folder)?, is_folder))
        };
        let is_left_out = excluded.or_else(by_file).unwrap_or(false);
        if is_left_out {
            self.left_out.push(shown.to_owned());
        }
        is_left_out
    }
}

/// Returns a path without `.` and without slashes at its ends, as in patterns.
fn plain(path: &str) -> String {
    let parts = Path::new(path).components().filter_map(|part| match part {
        Component::Normal(_) | Component::ParentDir => Some(part.as_os_str().to_string_lossy()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    parts.collect::<Vec<_>>().join("/")
}

fn within(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::{Ignored, LeavesOut};

    /// Returns which paths are excluded by patterns of the command line and of files by folder; a trailing `/` marks a
    /// folder.
    fn left_out(exclude: &[&str], files: &[(&str, &str)], paths: &[&str]) -> Vec<String> {
        let exclude: Vec<String> = exclude.iter().map(|pattern| (*pattern).to_owned()).collect();
        let mut ignored = Ignored::new(&exclude).expect("patterns");
        ignored.start("./repo/");
        for (folder, text) in files {
            ignored.enter(folder, Some(text.as_bytes()));
        }
        let is_out = |path: &&&str| ignored.leaves_out(path.trim_end_matches('/'), path.ends_with('/'));
        paths.iter().filter(is_out).map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn patterns_count_from_the_current_folder_and_from_the_one_that_was_named() {
        let paths = ["./repo/b/", "repo/b/x.yaml", "repo/a/b/", "repo/a/x.json", "repo/c/"];
        assert_eq!(left_out(&["repo/b"], &[], &paths), ["./repo/b/"]);
        assert_eq!(left_out(&["/b/"], &[], &paths), ["./repo/b/"]);
        assert_eq!(left_out(&["b/"], &[], &paths), ["./repo/b/", "repo/a/b/"]);
        assert_eq!(left_out(&["*.json", "c"], &[], &paths), ["repo/a/x.json", "repo/c/"]);
    }

    #[test]
    fn the_innermost_file_decides_and_the_command_line_before_all() {
        let files = [("repo", "# generated\n*.json\n/a/\n"), ("repo/a", "!keep.json\n")];
        let paths = ["repo/x.json", "repo/a/", "repo/b/a/", "repo/a/keep.json", "repo/a/other.json"];
        assert_eq!(left_out(&[], &files, &paths), ["repo/x.json", "repo/a/", "repo/a/other.json"]);
        assert_eq!(
            left_out(&["!x.json", "keep.json"], &files, &paths)[..],
            ["repo/a/", "repo/a/keep.json", "repo/a/other.json"]
        );
    }

    #[test]
    fn patterns_that_cannot_be_read_are_named_with_their_place() {
        let fault = Ignored::new(&["[z-a]".to_owned()]).expect_err("no pattern").to_string();
        assert!(fault.starts_with("error: `--exclude [z-a]`: "), "{fault}");
        let open = |pattern: &str| Ignored::new(&[pattern.to_owned()]).is_err();
        assert_eq!(["[", "a[b", "[]", "[!]"].map(open), [true; 4]);
        assert_eq!(["[]]", "[ab]*", "a\\[b", "*.json"].map(open), [false; 4]);
        let mut ignored = Ignored::new(&[]).expect("none");
        ignored.enter("repo", Some(b"ok\n[z-a]\n"));
        let (_, faults) = ignored.end();
        assert!(faults[0].starts_with("repo/.nodeformignore:2: "), "{faults:?}");
    }
}
