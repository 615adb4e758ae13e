//! Writes a document with its formatting: unchanged parts byte for byte, moved parts with adjusted indentation.

use std::fmt::Write as _;

use super::read::{Document, Unreadable};
use super::{Entry, Node, Raw, Shape, Style};
use crate::manifests::scalar::resolve;
use crate::manifests::tree::Value;

/// Indentation of values that were not read.
const STEP: usize = 2;

/// Returns the text of a document; `is_json` keeps it JSON.
///
/// # Errors
/// A flow collection that must change contains comments, which would be lost.
pub(crate) fn write(document: &Document, is_json: bool) -> Result<String, Unreadable> {
    let Document { before, column, root, after } = document;
    let step = if let Style::Flow { step: Some(step), .. } = root.style { step } else { STEP };
    let mut writer = Writer { out: String::new(), is_json, step };
    match root.style {
        Style::Block(_) => writer.block(root, *column, true)?,
        Style::Flow { .. } | Style::New => {
            let text = writer.flow(root, *column)?;
            writer.out.push_str(&text);
        }
    }
    Ok(format!("{before}{}{after}", writer.out))
}

/// Formats new entries as a YAML document.
pub(crate) fn fresh(entries: Vec<Entry>) -> Result<String, Unreadable> {
    let mut writer = Writer { out: String::new(), is_json: false, step: STEP };
    writer.block(&Node::map(entries), 0, true)?;
    Ok(writer.out)
}

struct Writer {
    out: String,
    is_json: bool,
    /// Indentation of new parts in JSON, relative to their parent.
    step: usize,
}

impl Writer {
    fn indent(&mut self, column: usize) {
        self.out.extend(std::iter::repeat_n(' ', column));
    }

    fn lines(&mut self, lines: &[Raw], column: usize) {
        for line in lines {
            self.out.push_str(&moved(&line.text, line.column, column));
            self.out.push('\n');
        }
    }

    /// Writes a collection in block style. `is_begun`: the output is already at the place of its first part.
    fn block(&mut self, node: &Node, column: usize, is_begun: bool) -> Result<(), Unreadable> {
        let (parts, is_map) = match &node.shape {
            Shape::Map(parts) => (parts, true),
            Shape::List(parts) => (parts, false),
            Shape::Scalar(_) => return Ok(()),
        };
        for (place, part) in parts.iter().enumerate() {
            let is_inline = is_begun && place == 0;
            if !is_inline {
                self.lines(&part.lead, column);
                self.indent(column);
            }
            match &part.written {
                Some(raw) => {
                    self.out.push_str(&shifted(raw, column));
                    self.out.push('\n');
                }
                None if is_map => self.entry(part, column)?,
                None => self.item(part, column)?,
            }
            self.lines(&part.foot, column);
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry, column: usize) -> Result<(), Unreadable> {
        self.out.push_str(&text(&entry.key, false));
        self.out.push(':');
        let node = &entry.value;
        if is_block(node) {
            self.out.push_str(&entry.trail);
            self.out.push('\n');
            return self.block(node, below(node, column), false);
        }
        let value = self.flow(node, column)?;
        if !value.is_empty() {
            self.out.push(' ');
            self.out.push_str(&value);
        }
        self.out.push_str(&entry.trail);
        self.out.push('\n');
        Ok(())
    }

    fn item(&mut self, item: &Entry, column: usize) -> Result<(), Unreadable> {
        let node = &item.value;
        if is_block(node) {
            let inner = below(node, column).max(column + STEP);
            self.out.push('-');
            self.indent(inner.saturating_sub(column + 1));
            return self.block(node, inner, true);
        }
        let value = self.flow(node, column)?;
        let _ = writeln!(self.out, "- {value}{}", item.trail);
        Ok(())
    }

    /// Writes a value on one line, or in flow style over several lines if it was written so.
    fn flow(&self, node: &Node, column: usize) -> Result<String, Unreadable> {
        if let Some(raw) = &node.raw {
            return Ok(shifted(raw, column));
        }
        let step = match node.style {
            Style::Flow { has_comment: true, .. } => return Err(Unreadable::Comments),
            Style::Flow { step, .. } => step,
            Style::New | Style::Block(_) => self.is_json.then_some(self.step),
        };
        let (parts, is_map) = match &node.shape {
            Shape::Scalar(value) => return Ok(self.scalar(value)),
            Shape::Map(parts) => (parts, true),
            Shape::List(parts) => (parts, false),
        };
        let mut written = Vec::new();
        for part in parts {
            let value = self.flow(&part.value, column + step.unwrap_or(0))?;
            let key = text(&part.key, self.is_json);
            written.push(if is_map { format!("{key}: {value}") } else { value });
        }
        let (open, close) = if is_map { ('{', '}') } else { ('[', ']') };
        Ok(match step.filter(|_| !written.is_empty()) {
            Some(step) => {
                let (inner, outer) = (" ".repeat(column + step), " ".repeat(column));
                format!("{open}\n{inner}{}\n{outer}{close}", written.join(&format!(",\n{inner}")))
            }
            None => format!("{open}{}{close}", written.join(", ")),
        })
    }

    fn scalar(&self, value: &Value) -> String {
        match value {
            Value::Null => if self.is_json { "null" } else { "" }.to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Integer(number) => number.to_string(),
            Value::Decimal(digits) => digits.to_string(),
            Value::Text(content) => text(content, self.is_json),
            Value::List(_) | Value::Map(_) => String::new(),
        }
    }
}

/// Returns whether a collection is written in block style. New lists of scalars are written on one line.
fn is_block(node: &Node) -> bool {
    let is_plain = |parts: &[Entry]| parts.iter().all(|part| matches!(part.value.shape, Shape::Scalar(_)));
    match (&node.shape, node.style) {
        (Shape::Scalar(_), _) | (_, Style::Flow { .. }) => false,
        (Shape::Map(parts) | Shape::List(parts), _) if parts.is_empty() => false,
        (Shape::Map(_) | Shape::List(_), Style::Block(_)) | (Shape::Map(_), Style::New) => true,
        (Shape::List(parts), Style::New) => !is_plain(parts),
    }
}

/// Returns the column of a collection below a key at this column.
fn below(node: &Node, column: usize) -> usize {
    match node.style {
        Style::Block(step) => column + step,
        Style::New | Style::Flow { .. } => column + STEP,
    }
}

/// Moves text to another column. Its first line is not indented, because the output is already there.
fn shifted(raw: &Raw, column: usize) -> String {
    let mut lines = raw.text.split('\n');
    let mut text = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        text.push('\n');
        text.push_str(&moved(line, raw.column, column));
    }
    text
}

/// Moves a line from one column to another.
fn moved(line: &str, from: usize, to: usize) -> String {
    if line.trim().is_empty() {
        return line.trim_matches(' ').to_owned();
    }
    if to >= from {
        return format!("{}{line}", " ".repeat(to - from));
    }
    let present = line.len() - line.trim_start_matches(' ').len();
    line[present.min(from - to)..].to_owned()
}

/// Writes text so that YAML reads it as text.
fn text(content: &str, is_json: bool) -> String {
    let is_safe =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'-' | b'@' | b'+');
    let is_plain = !content.is_empty()
        && content.bytes().all(is_safe)
        && content.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && matches!(resolve(content), Value::Text(_));
    if is_plain && !is_json { content.to_owned() } else { serde_json::Value::from(content).to_string() }
}
