//! Turns sources into objects: detects the format of a source, and yields its objects one by one with Lists unfolded.
//!
//! Besides the source, holds only one document in memory, or one item of a large List.

use std::sync::Arc;

use super::cut::{self, CutList, Piece};
use super::fault::Fault;
use super::json::{self, Lines, Raw};
use super::source::{DOCUMENT_BYTES_MAX, DUMP_BYTES_MAX, Source, WHOLE_BYTES_MAX};
use super::tree::{Entry, Tree, Value, duplicate_key};
use super::yaml;

/// Receiver of a source's objects.
pub trait Taker {
    /// Receives an object.
    fn object(&mut self, file: &Arc<str>, tree: Tree);
    /// Receives a fault.
    fn fault(&mut self, fault: Fault);
    /// Returns whether to continue; reading stops otherwise.
    fn goes_on(&self) -> bool;
}

/// Passes on every object of a source, and a fault for every object that cannot be read.
pub fn read(source: &Source, taker: &mut impl Taker) {
    let file: Arc<str> = Arc::from(source.name.as_str());
    if u64::try_from(source.bytes.len()).is_ok_and(|bytes| bytes > DUMP_BYTES_MAX) {
        let message = format!("has {} bytes, more than {DUMP_BYTES_MAX}", source.bytes.len());
        taker.fault(
            Fault::at(&file, 0, message).with_hint("split it, or leave out kinds that are not planned with"),
        );
        return;
    }
    let text = match std::str::from_utf8(&source.bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => return taker.fault(not_text(&file, &source.bytes, error.valid_up_to())),
    };
    let mut reading = Reading { file: &file, taker };
    match text.trim_start().starts_with('{') {
        true => reading.json_or_yaml(text),
        false => reading.yaml(text),
    }
}

fn not_text(file: &Arc<str>, bytes: &[u8], valid: usize) -> Fault {
    let line = 1 + bytes.iter().take(valid).filter(|byte| **byte == b'\n').count();
    let found = bytes.get(valid).copied().unwrap_or_default();
    let fault = Fault::at(file, line, format!("is not UTF-8 text: the byte 0x{found:02x} is not part of it"));
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        fault.with_hint("it looks like UTF-16: save the file as UTF-8")
    } else {
        fault.with_hint("save the file as UTF-8, or leave it out if it is not a manifest")
    }
}

/// Kind and API version of a typed list (`PodList`), which its items do not repeat.
type Typed = Option<(Arc<str>, Arc<str>)>;

struct Reading<'a, T> {
    file: &'a Arc<str>,
    taker: &'a mut T,
}

impl<T: Taker> Reading<'_, T> {
    /// Reads text that begins with a brace: JSON, or YAML in flow style.
    fn json_or_yaml(&mut self, text: &str) {
        let Err(fault) = json::values(self.file, text, |_| true) else { return self.json(text) };
        let mut is_yaml = !self.file.ends_with(".json") && text.len() <= DOCUMENT_BYTES_MAX;
        if is_yaml {
            yaml::read(self.file, text, 0, |tree| {
                is_yaml &= tree.is_ok();
                is_yaml
            });
        }
        if is_yaml {
            self.yaml(text);
        } else if text.trim_start().starts_with("{{") {
            let fault = Fault::at(self.file, fault.line, "begins with `{{` and is no manifest");
            self.taker.fault(fault.with_hint(yaml::TEMPLATE));
        } else {
            self.taker.fault(fault);
        }
    }

    fn json(&mut self, text: &str) {
        let lines = Lines::new(self.file, text);
        // The text was parsed before, so no error is left to report.
        let _ = json::values(self.file, text, |raw| {
            self.json_value(raw, &lines);
            self.taker.goes_on()
        });
    }

    fn json_value(&mut self, raw: Raw<'_>, lines: &Lines<'_>) {
        if raw.size() <= WHOLE_BYTES_MAX {
            self.taken(raw.tree(lines));
            return;
        }
        let Some((head, items)) = self.json_head(raw, lines) else {
            return self.json_whole(raw, lines);
        };
        match list_type(&head) {
            Some(typed) => items.items(|item| {
                self.json_item(item, lines, &typed);
                self.taker.goes_on()
            }),
            None => self.json_whole(raw, lines),
        }
    }

    /// Reads a value without splitting it into items.
    fn json_whole(&mut self, raw: Raw<'_>, lines: &Lines<'_>) {
        if raw.size() > DOCUMENT_BYTES_MAX {
            let fault = lines.fault(raw, too_large(raw.size()));
            return self.taker.fault(fault.with_hint(SPLIT));
        }
        self.taken(raw.tree(lines));
    }

    /// Returns the other fields of a List, and its items; `None` if it is not a List, or must be read whole to report
    /// its faults.
    fn json_head<'b>(&self, raw: Raw<'b>, lines: &Lines<'_>) -> Option<(Tree, Raw<'b>)> {
        const FIELDS_MAX: usize = 16;
        let mut fields = Vec::new();
        let mut items = None;
        let mut is_list = true;
        raw.members(|key, value| {
            is_list &= match (key.as_str(), value.size()) {
                ("items", _) => items.replace(value).is_none(),
                (_, size) => {
                    fields.push((key, value));
                    size <= WHOLE_BYTES_MAX && fields.len() <= FIELDS_MAX
                }
            };
            is_list
        });
        let entry = |(key, value): (String, Raw<'_>)| {
            let value = value.tree(lines).ok()?;
            Some(Entry { key: Arc::from(key), line: value.line, value })
        };
        let entries: Vec<Entry> = fields.into_iter().map(entry).collect::<Option<_>>()?;
        let is_list = is_list && duplicate_key(&entries).is_none();
        Some((Tree { line: 1, value: Value::Map(entries) }, items.filter(|_| is_list)?))
    }

    fn json_item(&mut self, item: Raw<'_>, lines: &Lines<'_>, typed: &Typed) {
        if item.size() > DOCUMENT_BYTES_MAX {
            let fault = lines.fault(item, too_large(item.size()));
            return self.taker.fault(fault.with_hint(SPLIT));
        }
        match item.tree(lines) {
            Ok(tree) => self.unfold(tree, typed),
            Err(fault) => self.taker.fault(fault),
        }
    }

    fn yaml(&mut self, text: &str) {
        if text.len() <= WHOLE_BYTES_MAX {
            return yaml::read(self.file, text, 0, |tree| self.taken(tree));
        }
        cut::documents(text, |piece| {
            self.yaml_document(piece);
            self.taker.goes_on()
        });
    }

    fn yaml_document(&mut self, piece: Piece<'_>) {
        let Piece { text, lines_before } = piece;
        if text.len() > WHOLE_BYTES_MAX
            && let Some(list) = cut::list(piece)
            && let Some(typed) = self.head_of(&list)
        {
            return list.each_item(|item| {
                self.yaml_item(item, &typed);
                self.taker.goes_on()
            });
        }
        if text.len() > DOCUMENT_BYTES_MAX {
            let fault = Fault::at(self.file, lines_before + 1, too_large(text.len()));
            return self.taker.fault(fault.with_hint(SPLIT));
        }
        yaml::read(self.file, text, lines_before, |tree| self.taken(tree));
    }

    /// Reads the text around the items of a List; `None` if it is not a List after all, or must be read whole to report
    /// its faults.
    fn head_of(&self, list: &CutList<'_>) -> Option<Typed> {
        let mut entries = Vec::new();
        let mut is_right = true;
        for part in [list.head, list.tail] {
            if part.text.len() > WHOLE_BYTES_MAX {
                return None;
            }
            yaml::read(self.file, part.text, part.lines_before, |tree| {
                match tree {
                    Ok(Tree { value: Value::Map(more), .. }) => entries.extend(more),
                    Ok(_) | Err(_) => is_right = false,
                }
                is_right
            });
        }
        is_right &= duplicate_key(&entries).is_none() && entries.iter().all(|entry| &*entry.key != "items");
        list_type(&Tree { line: 1, value: Value::Map(entries) }).filter(|_| is_right)
    }

    fn yaml_item(&mut self, piece: Piece<'_>, typed: &Typed) {
        let Piece { text, lines_before } = piece;
        if text.len() > DOCUMENT_BYTES_MAX {
            let fault = Fault::at(self.file, lines_before + 1, too_large(text.len()));
            return self.taker.fault(fault.with_hint(SPLIT));
        }
        yaml::read(self.file, text, lines_before, |tree| {
            match tree {
                Ok(Tree { value: Value::List(items), .. }) => {
                    items.into_iter().for_each(|item| self.unfold(item, typed));
                }
                Ok(tree) => self.unfold(tree, typed),
                Err(fault) => self.taker.fault(fault),
            }
            self.taker.goes_on()
        });
    }

    /// Receives a document; returns whether to continue.
    fn taken(&mut self, tree: Result<Tree, Fault>) -> bool {
        match tree {
            Ok(tree) => self.unfold(tree, &None),
            Err(fault) => self.taker.fault(fault),
        }
        self.taker.goes_on()
    }

    /// Passes on an object, or the items of a List.
    fn unfold(&mut self, mut tree: Tree, typed: &Typed) {
        if let (Value::Map(entries), Some((kind, version))) = (&mut tree.value, typed) {
            for (key, text) in [("kind", kind), ("apiVersion", version)] {
                if entries.iter().all(|entry| &*entry.key != key) {
                    let value = Tree { line: tree.line, value: Value::Text(Arc::clone(text)) };
                    entries.push(Entry { key: Arc::from(key), line: tree.line, value });
                }
            }
        }
        let Some(typed) = list_type(&tree) else { return self.taker.object(self.file, tree) };
        let Value::Map(entries) = tree.value else { return };
        let Some(items) = entries.into_iter().find(|entry| &*entry.key == "items") else { return };
        let described = items.value.value.describe();
        match items.value.value {
            Value::List(items) => items.into_iter().for_each(|item| self.unfold(item, &typed)),
            Value::Null => {}
            Value::Bool(_) | Value::Integer(_) | Value::Decimal(_) | Value::Text(_) | Value::Map(_) => {
                let message = format!("`items` must be a list and is {described}");
                self.taker.fault(Fault::at(self.file, items.line, message));
            }
        }
    }
}

const SPLIT: &str = "split it into smaller documents, or leave it out if it holds nothing to plan with";

fn too_large(bytes: usize) -> String {
    format!("is one document of {bytes} bytes, more than {DOCUMENT_BYTES_MAX}")
}

/// Returns the type of a List's items if the document is a List: `List`, or the API's `PodList`.
fn list_type(tree: &Tree) -> Option<Typed> {
    let kind = tree.text("kind")?;
    let version = tree.text("apiVersion").unwrap_or("v1");
    let item = kind.strip_suffix("List")?;
    // Some kinds end in `List` but are not lists: they have a spec.
    let has_items = tree.get("items").is_some() || tree.get("spec").is_none();
    match item {
        "" if version == "v1" => Some(None),
        "" => None,
        _ if has_items => Some(Some((Arc::from(item), Arc::from(version)))),
        _ => None,
    }
}
