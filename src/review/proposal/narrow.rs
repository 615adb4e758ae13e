//! Keeping nodes: the remaining lines of the list of removals after some are struck.
//!
//! Must never add a line: a struck line stays struck.

use std::collections::BTreeSet;

use super::strike::{DestroyLine, idle_creates};
use crate::plan::{ChangeId, Plan};

/// Remaining removals of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowed {
    /// The file's text; `None` if every node is kept, so there is no file.
    pub text: Option<String>,
    /// The remaining lines.
    pub left: Vec<String>,
    /// Number of new nodes that are no longer needed.
    pub idle: usize,
}

/// A node that the plan does not delete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the plan does not delete node `{node}`")]
pub struct NotDeleted {
    /// The node.
    pub node: String,
    /// The nodes that it deletes, by name.
    pub known: Vec<String>,
}

/// Returns the struck removals including those of nodes to keep, given as `node/NAME` or by name.
///
/// # Errors
/// The plan does not delete one of them.
pub fn kept(
    plan: &Plan,
    lines: &[DestroyLine],
    struck: &BTreeSet<ChangeId>,
    keep: &[String],
) -> Result<BTreeSet<ChangeId>, NotDeleted> {
    let node = |line: &DestroyLine| {
        let delete = plan.spec.changes.get(&line.change).and_then(|planned| planned.change.delete());
        delete.map_or("", |delete| delete.target.node.as_str())
    };
    let mut struck = struck.clone();
    for name in keep {
        let name = name.strip_prefix("node/").unwrap_or(name);
        let Some(line) = lines.iter().find(|line| node(line) == name) else {
            let known = lines.iter().map(|line| node(line).to_owned()).collect();
            return Err(NotDeleted { node: name.to_owned(), known });
        };
        struck.insert(line.change.clone());
    }
    Ok(struck)
}

/// Strikes the removals of nodes, given as `node/NAME` or by name, in addition to those already struck.
///
/// # Errors
/// The plan does not delete one of them.
pub fn narrow(
    plan: &Plan,
    lines: &[DestroyLine],
    struck: &BTreeSet<ChangeId>,
    keep: &[String],
) -> Result<Narrowed, NotDeleted> {
    let struck = kept(plan, lines, struck, keep)?;
    let left = lines.iter().filter(|line| !struck.contains(&line.change));
    let left: Vec<String> = left.map(|line| line.text.clone()).collect();
    let text = (!left.is_empty()).then(|| left.iter().map(|line| format!("{line}\n")).collect());
    Ok(Narrowed { text, left, idle: idle_creates(plan, &struck).len() })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::struck;
    use super::{NotDeleted, narrow};
    use crate::plan::tests::world::example_plan;
    use crate::render::proposal::derived;

    #[test]
    fn a_kept_node_has_no_line_and_the_rest_is_what_a_reviewer_would_leave() {
        let plan = example_plan();
        let lines = derived(&plan).destroys;
        let kept =
            narrow(&plan, &lines, &BTreeSet::new(), &["node/empty-1".to_owned()]).expect("it is deleted");
        assert_eq!((kept.text.as_deref(), kept.left.len()), (None, 0));
        let all = struck(&lines, kept.text.as_deref()).expect("only lines were struck");
        assert_eq!(all.len(), 1, "every node stays without the file");
        let again = narrow(&plan, &lines, &all, &["empty-1".to_owned()]).expect("it was deleted");
        assert_eq!(again, kept, "what was struck stays struck");
        let none = narrow(&plan, &lines, &BTreeSet::new(), &[]).expect("nothing is asked");
        assert_eq!(none.text, derived(&plan).destroys_text());
    }

    #[test]
    fn a_node_that_the_plan_does_not_delete_is_refused_with_those_that_it_does() {
        let plan = example_plan();
        let lines = derived(&plan).destroys;
        let fault =
            narrow(&plan, &lines, &BTreeSet::new(), &["node/kept-1".to_owned()]).expect_err("it stays");
        assert_eq!(fault, NotDeleted { node: "kept-1".to_owned(), known: vec!["empty-1".to_owned()] });
    }
}
