//! Parses text into a document with its formatting, and attaches every comment to its entry.

use std::sync::Arc;

use granit_parser::{Event, Options, Parser, ScalarStyle, Span, StructureStyle};

use super::{Entry, Node, Raw, Shape, Style};
use crate::manifests::scalar::resolve;
use crate::manifests::source::DEPTH_MAX;
use crate::manifests::tree::Value;

/// Reason why a document cannot be rewritten in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It is not valid YAML, which is reported elsewhere.
    Syntax,
    /// It uses anchors, aliases or merge keys: moving a field would also move values that others share.
    Anchors,
    /// It uses an unsupported form: a tag, a non-text key, a dash without a value.
    Form,
    /// A flow collection that must change contains comments, which would be lost.
    Comments,
}

/// A document: its root, and the text before and after it.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// Markers and comments before it.
    pub(super) before: String,
    /// The column of the root.
    pub(super) column: usize,
    /// The root.
    pub(crate) root: Node,
    /// Text after it.
    pub(super) after: String,
}

/// Parses a text that holds one document. `lines_before` is the number of lines before it in the file.
pub(crate) fn read(text: &str, lines_before: usize) -> Result<Document, Unreadable> {
    let mut options: Options = granit_parser::options! {
        flow_nesting_limit: DEPTH_MAX,
        block_nesting_limit: DEPTH_MAX,
    };
    options.set_emit_comments(true);
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut events = Vec::new();
    let mut comments = Vec::new();
    while let Some(next) = parser.next_event() {
        let (event, span) = next.map_err(|_| Unreadable::Syntax)?;
        let Some(bytes) = span.byte_range() else { return Err(Unreadable::Form) };
        if let Event::Comment(..) = event {
            comments.push(bytes.start);
            continue;
        }
        if let Some(token) = token(event, span)? {
            events.push(Placed { token, start: bytes.start, end: bytes.end, line: span.start.line() });
        }
    }
    let mut reader =
        Reader { text, lines_before, events: events.into_iter().peekable(), comments, consumed: 0 };
    let start = reader.next()?.start;
    let start_line = reader.line_start(start);
    reader.consumed = start_line;
    let root = reader.node(start - start_line)?;
    if reader.events.next().is_some() {
        return Err(Unreadable::Form);
    }
    let end = match root.style {
        Style::Block(_) => reader.consumed,
        Style::Flow { .. } | Style::New => start + root.raw.as_ref().map_or(0, |raw| raw.text.len()),
    };
    let (before, after) = (text[..start].to_owned(), text[end.min(text.len())..].to_owned());
    Ok(Document { before, column: start - start_line, root, after })
}

enum Token {
    Scalar(Value),
    List(StructureStyle),
    Map(StructureStyle),
    End,
}

impl Token {
    /// Returns the style of a collection if the token begins one.
    const fn style(&self) -> Option<StructureStyle> {
        match self {
            Self::List(style) | Self::Map(style) => Some(*style),
            Self::Scalar(_) | Self::End => None,
        }
    }
}

struct Placed {
    token: Token,
    start: usize,
    end: usize,
    line: usize,
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the parser's events may grow; those that hold values are named"
)]
fn token(event: Event<'_>, span: Span) -> Result<Option<Token>, Unreadable> {
    Ok(Some(match event {
        Event::Scalar(text, style, anchor, tag) => {
            if anchor > 0 || (style == ScalarStyle::Plain && text == "<<") {
                return Err(Unreadable::Anchors);
            }
            if tag.is_some() || span.tag_start.is_some() {
                return Err(Unreadable::Form);
            }
            Token::Scalar(match style {
                ScalarStyle::Plain => resolve(&text),
                _ => Value::Text(Arc::from(&*text)),
            })
        }
        Event::SequenceStart(_, anchor, tag) | Event::MappingStart(_, anchor, tag)
            if anchor > 0 || tag.is_some() =>
        {
            return Err(if anchor > 0 { Unreadable::Anchors } else { Unreadable::Form });
        }
        Event::SequenceStart(style, ..) => Token::List(style),
        Event::MappingStart(style, ..) => Token::Map(style),
        Event::SequenceEnd | Event::MappingEnd => Token::End,
        Event::Alias(_) => return Err(Unreadable::Anchors),
        _ => return Ok(None),
    }))
}

/// The next token.
struct Next {
    start: usize,
    line: usize,
    is_block: bool,
    is_empty: bool,
}

struct Reader<'a> {
    text: &'a str,
    lines_before: usize,
    events: std::iter::Peekable<std::vec::IntoIter<Placed>>,
    /// Offsets at which comments begin.
    comments: Vec<usize>,
    /// The start of the first line that is not part of an entry yet.
    consumed: usize,
}

impl Reader<'_> {
    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |place| place + 1)
    }

    /// Returns the offset of the line's end, without its line feed.
    fn line_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |place| at + place)
    }

    /// Returns the column of the first word of a line.
    fn indentation(&self, at: usize) -> usize {
        let line = &self.text[self.line_start(at)..];
        line.len() - line.trim_start_matches(' ').len()
    }

    /// Returns the indentation of a flow collection's second line, relative to the first.
    fn step(&self, start: usize, end: usize) -> Option<usize> {
        let feed = self.text[start..end].find('\n')?;
        Some(self.indentation(start + feed + 1).saturating_sub(self.indentation(start)))
    }

    fn next(&mut self) -> Result<Next, Unreadable> {
        let placed = self.events.peek().ok_or(Unreadable::Syntax)?;
        let (start, line) = (placed.start, placed.line + self.lines_before);
        let is_empty = matches!(placed.token, Token::Scalar(Value::Null)) && placed.start == placed.end;
        // The text at `start` is no indication: the parser begins an unindented list at its first item's value.
        let is_block = placed.token.style() == Some(StructureStyle::Block);
        Ok(Next { start, line, is_block, is_empty })
    }

    /// Reads a value whose entry begins at this column.
    fn node(&mut self, column: usize) -> Result<Node, Unreadable> {
        let placed = self.events.next().ok_or(Unreadable::Syntax)?;
        let line = placed.line + self.lines_before;
        let is_flow = placed.token.style() == Some(StructureStyle::Flow);
        let (shape, style, end) = match placed.token {
            Token::Scalar(value) => {
                let end = placed.start + self.text[placed.start..placed.end].trim_end().len();
                (Shape::Scalar(value), Style::New, end)
            }
            Token::Map(_) | Token::List(_) if is_flow => {
                let is_map = matches!(placed.token, Token::Map(_));
                let (parts, end) = self.flow(is_map)?;
                let has_comment = self.comments.iter().any(|at| (placed.start..end).contains(at));
                let shape = if is_map { Shape::Map(parts) } else { Shape::List(parts) };
                (shape, Style::Flow { has_comment, step: self.step(placed.start, end) }, end)
            }
            Token::Map(_) | Token::List(_) => {
                let is_map = matches!(placed.token, Token::Map(_));
                let own = match is_map || self.text[placed.start..].starts_with('-') {
                    true => placed.start - self.line_start(placed.start),
                    // The parser begins an unindented list after its first dash; the dash's line gives its column.
                    false => {
                        let first = self.next()?.start;
                        self.indentation(first)
                    }
                };
                let parts = self.block(is_map, own)?;
                let shape = if is_map { Shape::Map(parts) } else { Shape::List(parts) };
                let style = Style::Block(own.saturating_sub(column));
                return Ok(Node { line, shape, style, raw: None });
            }
            Token::End => return Err(Unreadable::Form),
        };
        let raw = Some(Raw { text: self.text[placed.start..end].to_owned(), column });
        Ok(Node { line, shape, style, raw })
    }

    fn is_at_end(&mut self) -> bool {
        matches!(self.events.peek(), None | Some(Placed { token: Token::End, .. }))
    }

    fn key(&mut self) -> Result<(Arc<str>, Placed), Unreadable> {
        let placed = self.events.next().ok_or(Unreadable::Syntax)?;
        let key: Arc<str> = match &placed.token {
            Token::Scalar(Value::Text(text) | Value::Decimal(text)) => Arc::clone(text),
            Token::Scalar(Value::Integer(number)) => Arc::from(number.to_string()),
            Token::Scalar(Value::Bool(value)) => Arc::from(value.to_string()),
            Token::Scalar(_) | Token::List(_) | Token::Map(_) | Token::End => return Err(Unreadable::Form),
        };
        Ok((key, placed))
    }

    fn flow(&mut self, is_map: bool) -> Result<(Vec<Entry>, usize), Unreadable> {
        let mut parts = Vec::new();
        while !self.is_at_end() {
            let (key, line) = if is_map {
                let (key, placed) = self.key()?;
                (key, placed.line + self.lines_before)
            } else {
                (Arc::from(""), 0)
            };
            let start = self.next()?.start;
            let value = self.node(self.indentation(start))?;
            let line = if is_map { line } else { value.line };
            parts.push(Entry { line, ..Entry::new(&key, value) });
        }
        let end = self.events.next().ok_or(Unreadable::Syntax)?.end;
        Ok((parts, end))
    }

    fn block(&mut self, is_map: bool, column: usize) -> Result<Vec<Entry>, Unreadable> {
        let mut parts: Vec<Entry> = Vec::new();
        while !self.is_at_end() {
            let part = if is_map { self.entry(column)? } else { self.item(column)? };
            parts.push(part);
        }
        self.events.next();
        if let Some(last) = parts.last_mut() {
            last.foot = self.foot(column);
        }
        Ok(parts)
    }

    fn entry(&mut self, column: usize) -> Result<Entry, Unreadable> {
        let (key, placed) = self.key()?;
        let start = placed.start;
        let lead = self.lead(start, column);
        let colon =
            self.text[placed.end..].find(':').map(|at| placed.end + at + 1).ok_or(Unreadable::Form)?;
        let next = self.next()?;
        let mut value_end = colon;
        let value;
        if next.is_block {
            self.consumed = (self.line_end(colon) + 1).min(self.text.len());
            value = self.node(column)?;
        } else {
            value = self.node(column)?;
            if !next.is_empty {
                value_end = next.start + value.raw.as_ref().map_or(0, |raw| raw.text.len());
            }
            self.consumed = (self.line_end(value_end) + 1).min(self.text.len());
        }
        let trail = self.text[value_end..self.line_end(value_end)].to_owned();
        let written = Some(Raw { text: self.written(start), column });
        let line = placed.line + self.lines_before;
        Ok(Entry { key, line, value, lead, trail, foot: Vec::new(), written })
    }

    fn item(&mut self, column: usize) -> Result<Entry, Unreadable> {
        let Next { start: at, line, is_block, is_empty: _ } = self.next()?;
        let dash = self.line_start(at) + column;
        if !self.text[dash..].starts_with('-') || dash >= at {
            return Err(Unreadable::Form);
        }
        let lead = self.lead(dash, column);
        if is_block {
            // The item's first key is on the dash's line, so it has no comments of its own before it.
            self.consumed = at;
        }
        let value = self.node(column)?;
        let mut trail = String::new();
        if !is_block {
            let end = at + value.raw.as_ref().map_or(0, |raw| raw.text.len());
            trail = self.text[end..self.line_end(end)].to_owned();
            self.consumed = (self.line_end(end) + 1).min(self.text.len());
        }
        let written = Some(Raw { text: self.written(dash), column });
        Ok(Entry { key: Arc::from(""), line, value, lead, trail, foot: Vec::new(), written })
    }

    /// Returns the source text from `start` to the last consumed line.
    fn written(&self, start: usize) -> String {
        let text = &self.text[start..self.consumed];
        text.strip_suffix('\n').unwrap_or(text).to_owned()
    }

    /// Consumes the comments and blank lines before an entry.
    fn lead(&mut self, start: usize, column: usize) -> Vec<Raw> {
        let line = self.line_start(start);
        if self.consumed >= line {
            return Vec::new();
        }
        let lead = raws(&self.text[self.consumed..line], column);
        self.consumed = line;
        lead
    }

    /// Consumes the comments below the last entry of a collection that are indented at least to this column.
    fn foot(&mut self, column: usize) -> Vec<Raw> {
        if column == 0 {
            return Vec::new();
        }
        let mut end = self.consumed;
        let mut after = self.consumed;
        for line in self.text[self.consumed..].split_inclusive('\n') {
            after += line.len();
            let comment = line.trim_start_matches(' ');
            if comment.starts_with('#') && line.len() - comment.len() >= column {
                end = after;
            } else if !comment.trim().is_empty() {
                break;
            }
        }
        let foot = raws(&self.text[self.consumed..end], column);
        self.consumed = end;
        foot
    }
}

/// Splits a text into lines, for an entry at this column.
fn raws(text: &str, column: usize) -> Vec<Raw> {
    text.lines().map(|line| Raw { text: line.to_owned(), column }).collect()
}
