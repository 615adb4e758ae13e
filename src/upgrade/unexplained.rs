//! Drops faults that a remark already explains, so that each problem is reported once.

use super::Upgraded;
use super::remark::{Remark, Sort};
use crate::manifests::tree::Tree;
use crate::manifests::{Fault, Segment};

/// Returns the faults that no remark explains. `after` holds the faults of the rewritten sources: a fault that remains
/// there is unexplained, even if a remark is about a field beside it.
#[must_use]
pub fn unexplained(faults: Vec<Fault>, remarks: &[Remark], after: &[Fault]) -> Vec<Fault> {
    let is_left = |fault: &Fault| after.iter().any(|other| is_same(fault, other));
    let is_explained = |fault: &Fault| {
        remarks
            .iter()
            .filter(|remark| matches!(remark.sort, Sort::Moved | Sort::Lost))
            .any(|remark| is_beside(&remark.fault, fault))
    };
    faults.into_iter().filter(|fault| is_left(fault) || !is_explained(fault)).collect()
}

/// Returns the faults that only appear in the rewritten sources, because objects of older versions are not checked as
/// they are. Their lines are those of the original text.
#[must_use]
pub fn beneath(faults: &[Fault], after: &[Fault], upgraded: &[Upgraded]) -> Vec<Fault> {
    let is_new = |fault: &&Fault| !faults.iter().any(|other| is_same(fault, other));
    let placed = |fault: &Fault| {
        let file = upgraded.iter().find(|file| file.name == *fault.file && file.text.is_some());
        Fault { line: file.map_or(fault.line, |file| file.line_before(fault)), ..fault.clone() }
    };
    after.iter().filter(is_new).map(placed).collect()
}

impl Upgraded {
    /// Returns the original line of a fault's field, or of the nearest enclosing field that existed; 0 if the whole
    /// object is new.
    fn line_before(&self, fault: &Fault) -> usize {
        let mut objects = self.documents.iter().flat_map(objects);
        let Some(object) = objects.find(|object| fault.object.as_deref().is_some_and(|of| is_it(object, of)))
        else {
            return 0;
        };
        let above = (0..=fault.path.len()).rev().map(|depth| object.line_of(&fault.path[..depth]));
        above.into_iter().find(|line| *line > 0).unwrap_or_default()
    }
}

/// Returns the objects of a document: its root, or the items of a List.
fn objects(document: &Tree) -> Vec<&Tree> {
    let items = document.get("items").and_then(Tree::as_list);
    let is_list = document.text("kind").is_some_and(|kind| kind.ends_with("List"));
    items.filter(|_| is_list).map_or_else(|| vec![document], |items| items.iter().flat_map(objects).collect())
}

/// Returns whether faults call the object by this name: `Kind/name`, or `Kind/namespace/name`.
fn is_it(object: &Tree, called: &str) -> bool {
    let text = |key| object.at(&["metadata", key]).and_then(Tree::as_text);
    let (Some(kind), Some(name)) = (object.text("kind"), text("name")) else { return false };
    let space = text("namespace").map(|space| format!("{kind}/{space}/{name}"));
    called == format!("{kind}/{name}") || space.is_some_and(|full| called == full)
}

/// Returns whether a remark is about the field of a fault, about an enclosing, nested or sibling field.
fn is_beside(remark: &Fault, fault: &Fault) -> bool {
    let parent = |path: &[Segment]| path.split_last().map(|(_, parent)| parent.to_vec());
    let is_same_object = remark.file == fault.file && name(remark) == name(fault);
    let is_within = !remark.path.is_empty() && fault.path.starts_with(&remark.path);
    let is_sibling = remark.path.len() > 1 && parent(&remark.path) == parent(&fault.path);
    let is_around = !fault.path.is_empty() && remark.path.starts_with(&fault.path);
    is_same_object && (is_within || is_around || is_sibling)
}

/// Returns whether two faults are the same fault of the same object; indices may have shifted.
fn is_same(one: &Fault, other: &Fault) -> bool {
    let keys = |fault: &Fault| -> Vec<String> {
        let keys = fault.path.iter().filter_map(|segment| match segment {
            Segment::Key(key) => Some(key.clone()),
            Segment::Index(_) => None,
        });
        keys.collect()
    };
    one.file == other.file
        && name(one) == name(other)
        && one.message == other.message
        && keys(one) == keys(other)
}

/// Returns the name of an object without its kind, which may have changed.
fn name(fault: &Fault) -> Option<&str> {
    fault.object.as_deref().and_then(|object| object.split_once('/')).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Fault, Remark, Segment, Sort, unexplained};

    fn fault(path: &[&str], message: &str) -> Fault {
        let mut fault = Fault::at(&Arc::from("a.yaml"), 3, message);
        fault.object = Some("NodePool/a".to_owned());
        fault.path = path.iter().map(|key| Segment::Key((*key).to_owned())).collect();
        fault
    }

    #[test]
    fn a_fault_is_told_once_and_one_that_stays_is_told() {
        let moved = |path: &[&str]| Remark { sort: Sort::Moved, fault: fault(path, "is now x") };
        let remarks = [moved(&["spec", "ref", "apiVersion"]), moved(&["spec", "disruption", "expireAfter"])];
        let faults = vec![
            fault(&["spec", "ref", "apiVersion"], "is not a known field"),
            fault(&["spec", "ref", "group"], "is missing"),
            fault(&["spec", "ref", "name"], "is missing"),
            fault(&["spec", "ref"], "is of another cloud"),
            fault(&["spec", "disruption", "expireAfter"], "is not a known field"),
            fault(&["spec", "weight"], "is too large"),
        ];
        let after = [fault(&["spec", "ref", "name"], "is missing")];
        let left: Vec<String> = unexplained(faults, &remarks, &after)
            .iter()
            .map(|fault| crate::manifests::path_text(&fault.path))
            .collect();
        assert_eq!(left, ["spec.ref.name", "spec.weight"]);
    }
}
