//! Splits YAML text before it is parsed: into documents, and a List into its items.
//!
//! Splits by indentation only, as `kubectl get -o yaml` writes it. Text that does not split this way is parsed whole,
//! within the limits of one document.

/// A part of a text, with the number of lines before it in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The text.
    pub text: &'a str,
    /// The lines before it.
    pub lines_before: usize,
}

/// Returns the lines of a text, each with its start offset.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |offset, line| {
        let start = *offset;
        *offset += line.len();
        Some((start, line))
    })
}

fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

fn is_blank(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}

/// Calls `each` with the documents of a text until it returns false. Markers and directives stay with their document.
pub fn documents<'a>(text: &'a str, mut each: impl FnMut(Piece<'a>) -> bool) {
    let mut start = (0, 0);
    let mut has_content = false;
    for (number, (offset, line)) in lines(text).enumerate() {
        if is_marker(line, "---") {
            if has_content {
                if !each(Piece { text: &text[start.0..offset], lines_before: start.1 }) {
                    return;
                }
                start = (offset, number);
            }
            has_content = true;
        } else if is_marker(line, "...") {
            let end = offset + line.len();
            if !each(Piece { text: &text[start.0..end], lines_before: start.1 }) {
                return;
            }
            start = (end, number + 1);
            has_content = false;
        } else if !is_blank(line) && !line.starts_with('%') {
            has_content = true;
        }
    }
    if start.0 < text.len() {
        each(Piece { text: &text[start.0..], lines_before: start.1 });
    }
}

/// A List that can be split: the text around the items, and the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutList<'a> {
    /// Text before the key `items`.
    pub head: Piece<'a>,
    /// The items, from the first dash.
    pub items: Piece<'a>,
    /// Text after the items.
    pub tail: Piece<'a>,
    indent: usize,
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_item(line: &str) -> bool {
    is_marker(line.trim_start_matches(' '), "-")
}

/// Returns the parts of a document with a top-level block list `items`; `None` if there is none.
#[must_use]
pub fn list(document: Piece<'_>) -> Option<CutList<'_>> {
    let text = document.text;
    let is_items = |line: &str| line.strip_prefix("items:").is_some_and(is_blank);
    let mut all = lines(text).enumerate();
    let (_, (head_end, _)) = all.find(|(_, (_, line))| is_items(line))?;
    let (first_number, (first, line)) = all.find(|(_, (_, line))| !is_blank(line))?;
    if !is_item(line) {
        return None;
    }
    let indent = indent_of(line);
    let end = all.find(|(_, (_, line))| {
        let here = indent_of(line);
        !is_blank(line) && (here < indent || (here == indent && !is_item(line)))
    });
    let (tail_number, tail) = end.map_or((0, text.len()), |(number, (offset, _))| (number, offset));
    let piece =
        |from, to, lines| Piece { text: &text[from..to], lines_before: document.lines_before + lines };
    Some(CutList {
        head: piece(0, head_end, 0),
        items: piece(first, tail, first_number),
        tail: piece(tail, text.len(), tail_number),
        indent,
    })
}

impl<'a> CutList<'a> {
    /// Calls `each` with each item, as text of a one-item list, until it returns false.
    pub fn each_item(&self, mut each: impl FnMut(Piece<'a>) -> bool) {
        let Piece { text, lines_before } = self.items;
        let mut start = (0, 0);
        for (number, (offset, line)) in lines(text).enumerate() {
            if offset > 0 && is_item(line) && indent_of(line) == self.indent {
                if !each(Piece { text: &text[start.0..offset], lines_before: lines_before + start.1 }) {
                    return;
                }
                start = (offset, number);
            }
        }
        each(Piece { text: &text[start.0..], lines_before: lines_before + start.1 });
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, documents, list};

    #[test]
    fn documents_are_cut_at_their_markers() {
        let text = "# head\n%YAML 1.2\n---\na: 1\n--- # two\nb: |\n  ---\n...\n---\nc: 3\n";
        let mut found = Vec::new();
        documents(text, |piece| {
            found.push((piece.lines_before, piece.text));
            true
        });
        let expected =
            [(0, "# head\n%YAML 1.2\n---\na: 1\n"), (4, "--- # two\nb: |\n  ---\n...\n"), (8, "---\nc: 3\n")];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_list_is_cut_at_its_items() {
        let text = "kind: List\nitems: # many\n\n- a: |\n    - no item\n  b:\n  - x\n# note\n-\n  a: 2\nmetadata: {}\n";
        let cut = list(Piece { text, lines_before: 10 }).expect("can be cut");
        let mut found = Vec::new();
        cut.each_item(|piece| {
            found.push((piece.lines_before, piece.text));
            true
        });
        assert_eq!(found, [(13, "- a: |\n    - no item\n  b:\n  - x\n# note\n"), (18, "-\n  a: 2\n")]);
        assert_eq!(
            (cut.head.text, cut.tail.text, cut.tail.lines_before),
            ("kind: List\n", "metadata: {}\n", 20)
        );
        assert!(list(Piece { text: "items: []\n", lines_before: 0 }).is_none());
    }
}
