//! Differences in the text of manifests, line by line, in the format of `diff -u`.
//!
//! Work is bounded by the number of lines. The text of Secrets and the values of environment variables are counted and
//! never shown.

use std::collections::BTreeMap;

use similar::{Algorithm, ChangeTag, TextDiff, TextDiffConfig};

use super::line::{Line, Style};
use super::withheld;
use crate::plan::comparison::{FileDifference, FileWay};

/// With more than this many lines between common start and end, the whole text is shown as new: the time of a
/// comparison is quadratic.
const LINES_MAX: usize = 20_000;

/// Lines of context, as in `diff -u`.
const CONTEXT: usize = 3;

/// A file on one side.
#[derive(Clone, Copy, Debug)]
pub struct SideText<'a> {
    /// Its path, common to both sides.
    pub place: &'a str,
    /// Its name in messages.
    pub name: &'a str,
    /// The content.
    pub bytes: &'a [u8],
}

/// A changed file with its changed lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The file, with the number of lines.
    pub file: FileDifference,
    /// Output like that of `diff -u`, styled.
    pub lines: Vec<Line>,
}

/// A file on both sides, if present.
type Pair<'a> = (Option<SideText<'a>>, Option<SideText<'a>>);

/// Returns the files that differ, by path. If each side is a single file, these are compared with each other.
#[must_use]
pub fn patches(before: &[SideText<'_>], after: &[SideText<'_>]) -> Vec<Patch> {
    if let ([old], [new]) = (before, after) {
        return patch(Some(*old), Some(*new)).into_iter().collect();
    }
    let mut files: BTreeMap<(&str, usize), Pair<'_>> = BTreeMap::new();
    // Two folders of one input may contain the same path: they are matched in order.
    let numbered = |side: &[SideText<'_>]| -> Vec<usize> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let number = |file: &SideText<'_>| {
            let count = counts.entry(file.place.to_owned()).or_default();
            *count += 1;
            *count
        };
        side.iter().map(number).collect()
    };
    for (file, number) in before.iter().zip(numbered(before)) {
        files.entry((file.place, number)).or_default().0 = Some(*file);
    }
    for (file, number) in after.iter().zip(numbered(after)) {
        files.entry((file.place, number)).or_default().1 = Some(*file);
    }
    files.into_values().filter_map(|(old, new)| patch(old, new)).collect()
}

fn patch(old: Option<SideText<'_>>, new: Option<SideText<'_>>) -> Option<Patch> {
    let path = new.or(old)?.place.to_owned();
    let way = match (old, new) {
        (None, _) => FileWay::Added,
        (_, None) => FileWay::Removed,
        (Some(old), Some(new)) if old.bytes == new.bytes => return None,
        (Some(_), Some(_)) => FileWay::Changed,
    };
    let text = |side: Option<SideText<'_>>| {
        side.map_or_else(String::new, |side| String::from_utf8_lossy(side.bytes).into_owned())
    };
    let name = |side: Option<SideText<'_>>| side.map_or("/dev/null".to_owned(), |side| side.name.to_owned());
    let (old_text, new_text) = (text(old), text(new));
    let mut lines = vec![
        Line::new(Style::Bold, format!("--- {}", name(old))),
        Line::new(Style::Bold, format!("+++ {}", name(new))),
    ];
    let (lines_added, lines_removed, hunks) = compared(&old_text, &new_text);
    if holds_secret(&old_text) || holds_secret(&new_text) {
        lines.push(Line::new(Style::Dim, "its text is not shown, since it holds a Secret"));
    } else {
        lines.extend(hunks);
    }
    Some(Patch { file: FileDifference { path, way, lines_added, lines_removed }, lines })
}

/// Returns the number of added and removed lines, and the hunks.
fn compared(old: &str, new: &str) -> (usize, usize, Vec<Line>) {
    let (old_lines, new_lines): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = old_lines.iter().zip(&new_lines).take_while(|(one, other)| one == other).count();
    let (old_rest, new_rest) = (&old_lines[start..], &new_lines[start..]);
    let ends = old_rest.iter().rev().zip(new_rest.iter().rev());
    let end = ends.take_while(|(one, other)| one == other).count();
    let (removed, added) = (old_rest.len() - end, new_rest.len() - end);
    if removed + added > LINES_MAX {
        let text = format!("{removed} lines are others, and too many to be compared one by one");
        return (added, removed, vec![Line::new(Style::Dim, text)]);
    }
    let diff: TextDiff<'_, '_, str> =
        TextDiffConfig::default().algorithm(Algorithm::Myers).diff_lines(old, new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    let (old_shown, new_shown) =
        (withheld::shown(diff.iter_old_slices()), withheld::shown(diff.iter_new_slices()));
    let mut unified = diff.unified_diff();
    let mut lines = Vec::new();
    for hunk in unified.context_radius(CONTEXT).iter_hunks() {
        lines.push(Line::new(Style::Dim, hunk.header().to_string()));
        for change in hunk.iter_changes() {
            let (sign, style) = match change.tag() {
                ChangeTag::Equal => (" ", Style::Plain),
                ChangeTag::Delete => ("-", Style::Remove),
                ChangeTag::Insert => ("+", Style::Add),
            };
            let of_new = || change.new_index().and_then(|number| new_shown.get(number));
            let text = change.old_index().and_then(|number| old_shown.get(number)).or_else(of_new);
            lines.push(Line::new(style, format!("{sign}{}", text.map_or("", String::as_str))));
        }
    }
    (added, removed, lines)
}

/// Returns whether a document may be of kind Secret; in doubt it is hidden.
fn holds_secret(text: &str) -> bool {
    text.match_indices("kind").any(|(at, word)| {
        let rest = text[at + word.len()..].trim_start_matches(['"', '\'', ' ', '\t']);
        let value =
            rest.strip_prefix(':').map(|rest| rest.trim_start_matches([' ', '\t', '"', '\'', '\n', '\r']));
        value.is_some_and(|value| value.starts_with("Secret"))
    })
}

#[cfg(test)]
mod tests {
    use super::{Patch, SideText, patches};
    use crate::render::plain_text;

    fn sides<'a>(before: &'a [(&str, &str)], after: &'a [(&str, &str)]) -> Vec<Patch> {
        let side = |files: &'a [(&str, &str)]| -> Vec<SideText<'a>> {
            let text =
                |(place, text): &'a (&str, &str)| SideText { place, name: place, bytes: text.as_bytes() };
            files.iter().map(text).collect()
        };
        patches(&side(before), &side(after))
    }

    #[test]
    fn the_same_text_on_both_sides_gives_nothing() {
        assert_eq!(sides(&[("a", "x\n"), ("b", "y\n")], &[("b", "y\n"), ("a", "x\n")]), []);
    }

    #[test]
    fn files_come_go_and_change_with_their_lines() {
        let patches = sides(&[("a", "1\n2\n3\n"), ("b", "x\n")], &[("a", "1\nzwei\n3\n"), ("c", "y\n")]);
        let text: String = patches.iter().map(|patch| plain_text(&patch.lines)).collect();
        assert_eq!(
            text,
            "--- a\n+++ a\n@@ -1,3 +1,3 @@\n 1\n-2\n+zwei\n 3\n--- b\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
             --- /dev/null\n+++ c\n@@ -0,0 +1 @@\n+y\n"
        );
        let counts: Vec<(usize, usize)> =
            patches.iter().map(|patch| (patch.file.lines_added, patch.file.lines_removed)).collect();
        assert_eq!(counts, [(1, 1), (0, 1), (1, 0)]);
    }

    #[test]
    fn secrets_are_counted_and_not_shown() {
        for kind in ["kind: Secret", "\"kind\" : \"Secret\"", "kind:   'SecretList'"] {
            let (old, new) = (format!("{kind}\ndata: OLD\n"), format!("{kind}\ndata: NEW\n"));
            let patches = sides(&[("s", &old)], &[("s", &new)]);
            let text = plain_text(&patches[0].lines);
            assert!(
                !text.contains("OLD") && !text.contains("NEW") && text.contains("holds a Secret"),
                "{text}"
            );
            assert_eq!(patches[0].file.lines_added, 1);
        }
    }

    #[test]
    fn texts_too_long_to_compare_are_counted() {
        let many = |word: &str| (0..30_000).map(|line| format!("{word} {line}\n")).collect::<String>();
        let patches = sides(&[("a", &many("old"))], &[("a", &many("new"))]);
        assert_eq!((patches[0].file.lines_added, patches[0].lines.len()), (30_000, 3));
    }
}
