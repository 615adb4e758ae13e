//! Parses YAML text into trees, one for each document, as `kubectl` reads it.
//!
//! Built on the events of `granit-parser`. Merge keys are merged, aliases are expanded within a budget, and duplicate
//! keys are refused. After an unreadable document, reading continues with the next one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Tag};

use super::fault::Fault;
use super::scalar::resolve;
use super::source::{DEPTH_MAX, NODES_MAX};
use super::tree::{Entry, Tree, Value, duplicate_key, shortened};

/// Calls `each` with every document of a text, or the fault that makes it unreadable, until it returns false.
/// `lines_before` is the number of lines before the text in the file. Empty documents are skipped.
pub fn read(
    file: &Arc<str>,
    text: &str,
    lines_before: usize,
    mut each: impl FnMut(Result<Tree, Fault>) -> bool,
) {
    let mut parser = Parser::new_from_str_with_options(text, options());
    let mut builder = Builder::new(file, lines_before);
    loop {
        let outcome = match parser.next_event() {
            None => return,
            Some(Ok((Event::StreamEnd, _))) => return,
            Some(Ok((event, span))) => builder.take(event, span.start.line() + lines_before),
            Some(Err(error)) => Err(scan_fault(file, text, lines_before, &error)),
        };
        match outcome {
            Ok(None) => {}
            Ok(Some(tree)) if tree.value == Value::Null => {}
            Ok(Some(tree)) => {
                if !each(Ok(tree)) {
                    return;
                }
            }
            Err(fault) => {
                if !each(Err(fault)) {
                    return;
                }
                builder = Builder::new(file, lines_before);
                if !parser.proceed_next_document().unwrap_or(false) {
                    return;
                }
            }
        }
    }
}

/// Hint for Helm templates.
pub const TEMPLATE: &str =
    "it looks like a Helm template: render the chart with `helm template` and pass the output";

fn options() -> Options {
    let mut options = granit_parser::options! {
        flow_nesting_limit: DEPTH_MAX,
        block_nesting_limit: DEPTH_MAX,
    };
    options.set_emit_comments(false);
    options
}

fn scan_fault(file: &Arc<str>, text: &str, lines_before: usize, error: &ScanError) -> Fault {
    let marked = error.marker().line();
    let tab = tab_line(text, marked, &error.info());
    let line = tab.unwrap_or(marked) + lines_before;
    let fault = Fault::at(file, line, format!("is not valid YAML: {}", error.info()));
    if text.contains("{{") {
        fault.with_hint(TEMPLATE)
    } else if tab.is_some() {
        fault.with_hint("YAML is indented with spaces only: replace the tab at the start of the line")
    } else {
        fault.with_hint("check the indentation and the quotes of this line and of the one before it")
    }
}

/// Returns the line whose indentation holds the tab that the parser rejected. The parser reports the line on which the
/// enclosing value began, or the one after the tab.
fn tab_line(text: &str, marked: usize, info: &str) -> Option<usize> {
    let is_tabbed = |line: &str| line.trim_start_matches([' ', '-']).starts_with('\t');
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let mut near = numbered.skip_while(|(number, _)| number + 1 < marked);
    let is_about_tabs = info.starts_with("tab") || info.contains(" tab");
    let (number, _) = near.find(|(number, line)| is_tabbed(line) || (!is_about_tabs && *number > marked))?;
    (is_about_tabs || number <= marked).then_some(number)
}

/// An open list or map.
struct Frame {
    line: usize,
    anchor: usize,
    /// Number of nodes in the document when it began.
    nodes_before: usize,
    /// Maximum nesting depth below it so far.
    depth: usize,
    content: Content,
}

enum Content {
    List(Vec<Tree>),
    Map { entries: Vec<Entry>, key: Option<Key>, merged: Vec<Tree> },
}

enum Key {
    Named(Arc<str>, usize),
    Merge,
}

/// A finished node that an alias may repeat.
#[derive(Clone)]
struct Anchored {
    tree: Tree,
    nodes: usize,
    depth: usize,
}

struct Builder<'a> {
    file: &'a Arc<str>,
    lines_before: usize,
    frames: Vec<Frame>,
    anchors: BTreeMap<usize, Anchored>,
    nodes: usize,
    root: Option<Tree>,
}

impl<'a> Builder<'a> {
    fn new(file: &'a Arc<str>, lines_before: usize) -> Self {
        Self { file, lines_before, frames: Vec::new(), anchors: BTreeMap::new(), nodes: 0, root: None }
    }

    /// Processes an event; returns the document at its end.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the parser's events may grow; those that hold values are named"
    )]
    fn take(&mut self, event: Event<'_>, line: usize) -> Result<Option<Tree>, Fault> {
        match event {
            Event::DocumentStart(..) => *self = Self::new(self.file, self.lines_before),
            Event::DocumentEnd => return Ok(self.root.take()),
            Event::Scalar(text, style, anchor, tag) => {
                self.known_tag(tag.as_deref(), line)?;
                let value = self.scalar(&text, style, tag.as_deref(), line)?;
                let is_merge = style == ScalarStyle::Plain && text == "<<" && tag.is_none();
                self.finish(Tree { line, value }, anchor, 1, is_merge)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.known_tag(tag.as_deref(), line)?;
                self.open(line, anchor, Content::List(Vec::new()))?;
            }
            Event::MappingStart(_, anchor, tag) => {
                self.known_tag(tag.as_deref(), line)?;
                let content = Content::Map { entries: Vec::new(), key: None, merged: Vec::new() };
                self.open(line, anchor, content)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close()?,
            Event::Alias(anchor) => self.alias(anchor, line)?,
            // Stream markers, and events switched off by the options, carry no values.
            _ => {}
        }
        Ok(None)
    }

    fn fault(&self, line: usize, message: impl Into<String>) -> Fault {
        Fault::at(self.file, line, message)
    }

    /// Refuses tags for types of a program or another tool, which Kubernetes does not have.
    fn known_tag(&self, tag: Option<&Tag>, line: usize) -> Result<(), Fault> {
        let Some(tag) = tag.filter(|tag| tag.core_suffix().is_none()) else { return Ok(()) };
        let (handle, suffix) = tag.parts();
        if matches!(suffix, "" | "!" | "binary" | "merge" | "timestamp") {
            return Ok(());
        }
        let handle = if handle == "tag:yaml.org,2002:" { "!!" } else { handle };
        let message = format!(
            "has the tag {}, which Kubernetes does not know",
            shortened(&format!("{handle}{suffix}"))
        );
        Err(self
            .fault(line, message)
            .with_hint("remove the tag, or render the file with the tool that knows it first"))
    }

    fn scalar(&self, text: &str, style: ScalarStyle, tag: Option<&Tag>, line: usize) -> Result<Value, Fault> {
        let kind = tag.and_then(Tag::core_suffix);
        let value = match (kind, style) {
            (Some("str" | "binary"), _) => Value::Text(Arc::from(text)),
            (Some(_), _) | (None, ScalarStyle::Plain) => resolve(text),
            (
                None,
                ScalarStyle::SingleQuoted
                | ScalarStyle::DoubleQuoted
                | ScalarStyle::Literal
                | ScalarStyle::Folded,
            ) => Value::Text(Arc::from(text)),
        };
        let is_as_tagged = match kind {
            Some("int") => matches!(value, Value::Integer(_)),
            Some("float") => matches!(value, Value::Integer(_) | Value::Decimal(_)),
            Some("bool") => matches!(value, Value::Bool(_)),
            Some("null") => value == Value::Null,
            Some(_) | None => true,
        };
        if is_as_tagged {
            Ok(value)
        } else {
            Err(self
                .fault(line, format!("has the tag !!{}, and is {}", kind.unwrap_or(""), value.describe())))
        }
    }

    fn count(&mut self, nodes: usize, line: usize) -> Result<(), Fault> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes <= NODES_MAX {
            return Ok(());
        }
        Err(self
            .fault(line, format!("holds more than {NODES_MAX} values, aliases written out"))
            .with_hint("split the document; a bomb of aliases is refused on purpose"))
    }

    fn too_deep(&self, line: usize) -> Fault {
        self.fault(line, format!("is nested deeper than {DEPTH_MAX} levels"))
            .with_hint("no Kubernetes object is that deep: look for a mistake of indentation or of aliases")
    }

    fn open(&mut self, line: usize, anchor: usize, content: Content) -> Result<(), Fault> {
        let nodes_before = self.nodes;
        self.count(1, line)?;
        if self.frames.len() >= DEPTH_MAX {
            return Err(self.too_deep(line));
        }
        self.frames.push(Frame { line, anchor, nodes_before, depth: 0, content });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Fault> {
        let Some(Frame { line, anchor, nodes_before, depth, content }) = self.frames.pop() else {
            return Ok(());
        };
        let value = match content {
            Content::List(items) => Value::List(items),
            Content::Map { entries, merged, key: _ } => Value::Map(self.merged(entries, merged)?),
        };
        let nodes = self.nodes.saturating_sub(nodes_before);
        let tree = Tree { line, value };
        self.keep_anchor(&tree, anchor, nodes, depth + 1)?;
        self.place(tree, depth + 1, false)
    }

    /// Adds merged maps (`<<`) to a map: its own keys win, then those of earlier merged maps.
    fn merged(&self, mut entries: Vec<Entry>, merged: Vec<Tree>) -> Result<Vec<Entry>, Fault> {
        if let Some(twice) = duplicate_key(&entries) {
            let message = format!("duplicate key `{}`: is a `---` missing?", twice.key);
            return Err(self
                .fault(twice.line, message)
                .with_hint("remove one of the two; kubectl would silently take the last"));
        }
        if merged.is_empty() {
            return Ok(entries);
        }
        let mut keys: BTreeSet<Arc<str>> = entries.iter().map(|entry| Arc::clone(&entry.key)).collect();
        for tree in merged {
            let line = tree.line;
            let maps = if let Value::List(items) = tree.value { items } else { vec![tree] };
            for map in maps {
                let Value::Map(more) = map.value else {
                    return Err(self.fault(line, "`<<` merges maps, and this is not one"));
                };
                entries.extend(more.into_iter().filter(|entry| keys.insert(Arc::clone(&entry.key))));
            }
        }
        Ok(entries)
    }

    fn alias(&mut self, anchor: usize, line: usize) -> Result<(), Fault> {
        let Some(Anchored { tree, nodes, depth }) = self.anchors.get(&anchor).cloned() else {
            return Err(self.fault(line, "an alias is inside the value that it repeats"));
        };
        self.count(nodes, line)?;
        if self.frames.len() + depth > DEPTH_MAX {
            return Err(self.too_deep(line));
        }
        self.place(tree, depth, false)
    }

    /// Adds a scalar.
    fn finish(&mut self, tree: Tree, anchor: usize, nodes: usize, is_merge: bool) -> Result<(), Fault> {
        self.count(nodes, tree.line)?;
        self.keep_anchor(&tree, anchor, nodes, 0)?;
        self.place(tree, 0, is_merge)
    }

    fn keep_anchor(&mut self, tree: &Tree, anchor: usize, nodes: usize, depth: usize) -> Result<(), Fault> {
        if anchor > 0 {
            // The stored copy counts too, otherwise nested anchors would multiply.
            self.count(nodes, tree.line)?;
            self.anchors.insert(anchor, Anchored { tree: tree.clone(), nodes, depth });
        }
        Ok(())
    }

    /// Adds a finished node to the open list or map, or sets it as the root.
    fn place(&mut self, tree: Tree, depth: usize, is_merge: bool) -> Result<(), Fault> {
        let file = self.file;
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(tree);
            return Ok(());
        };
        frame.depth = frame.depth.max(depth);
        match &mut frame.content {
            Content::List(items) => items.push(tree),
            Content::Map { entries, key, merged } => match key.take() {
                None if is_merge => *key = Some(Key::Merge),
                None => {
                    let line = tree.line;
                    *key = Some(Key::Named(key_text(file, tree)?, line));
                }
                Some(Key::Merge) => merged.push(tree),
                Some(Key::Named(name, line)) => entries.push(Entry { key: name, line, value: tree }),
            },
        }
        Ok(())
    }
}

/// Returns the text of a key: numbers and booleans become text, as in the conversion to JSON.
fn key_text(file: &Arc<str>, tree: Tree) -> Result<Arc<str>, Fault> {
    match tree.value {
        Value::Text(text) | Value::Decimal(text) => Ok(text),
        Value::Integer(number) => Ok(Arc::from(number.to_string())),
        Value::Bool(value) => Ok(Arc::from(value.to_string())),
        Value::Null | Value::List(_) | Value::Map(_) => {
            let message = format!("a key must be text and is {}", tree.value.describe());
            Err(Fault::at(file, tree.line, message)
                .with_hint("quote it; an unresolved template `{{ … }}` must be rendered first"))
        }
    }
}
