//! Selectors and requirements: what two requirements accept together is what both accept, and both forms read back.
//!
//! The first line is a selector as after kubectl's `-l`; each further one `KEY OPERATOR VALUE…`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nodeform::model::{LabelKey, LabelSelector, NodeSelector, Operator, Requirement, Requirements};

/// Panics where that does not hold of an input.
pub(crate) fn holds(text: &str) {
    let mut lines = text.lines();
    let selector = NodeSelector::parse(lines.next().unwrap_or_default());
    let read: Vec<(LabelKey, Requirement, Vec<&str>)> = lines.take(8).filter_map(requirement).collect();
    let samples: BTreeSet<&str> =
        read.iter().flat_map(|(_, _, values)| values).copied().chain(["", "0", "1", "-1", "x"]).collect();
    for (_, one, _) in &read {
        for (_, other, _) in &read {
            together(one, other, &samples);
        }
    }
    let mut all = Requirements::none();
    for (key, requirement, _) in &read {
        all.add(key.clone(), requirement.clone());
    }
    let written = serde_json::to_string(&all).expect("requirements can be written");
    let again: Requirements = serde_json::from_str(&written).expect("what is written can be read");
    assert_eq!(again, all, "{written}");
    for value in &samples {
        let labels: BTreeMap<LabelKey, Arc<str>> =
            read.iter().map(|(key, _, _)| (key.clone(), Arc::from(*value))).collect();
        let meets = all.iter().all(|(key, requirement)| match labels.get(key) {
            Some(value) => requirement.accepts(value),
            None => requirement.accepts_absence(),
        });
        assert_eq!(LabelSelector(all.clone()).selects(&labels), meets, "{all:?} of {labels:?}");
        if let Ok(selector) = &selector {
            let again = NodeSelector::parse(&selector.to_string()).expect("what is shown can be read");
            assert_eq!(again.selects(&labels), selector.selects(&labels));
        }
    }
}

fn requirement(line: &str) -> Option<(LabelKey, Requirement, Vec<&str>)> {
    let mut words = line.split_whitespace();
    let (key, operator) = (LabelKey::new(words.next()?), Operator::parse(words.next()?)?);
    let values: Vec<&str> = words.collect();
    Some((key, Requirement::new(operator, values.iter().copied()), values))
}

fn together(one: &Requirement, other: &Requirement, samples: &BTreeSet<&str>) {
    let both = one.intersection(other);
    assert_eq!(one.intersects(other), other.intersects(one), "{one:?} and {other:?}");
    for value in samples {
        let accepted = one.accepts(value) && other.accepts(value);
        assert_eq!(both.accepts(value), accepted, "`{value}` of {one:?} and {other:?}");
        assert!(!accepted || one.intersects(other), "`{value}` of {one:?} and {other:?}");
    }
}
