//! Whatever is changed in a plan's file, with all digests made anew and its page rendered anew: it is refused, or the same is
//! sent, or the page shows it. Every leaf, key and item of a list, of plans of several small worlds.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::super::apply::judged_again;
use super::second::narrowed;
use crate::launch::tests::world::{FACTS, OBJECTS, moving, world_of};
use crate::model::Digest;
use crate::offline::{self, World};
use crate::plan::{Change, ChangeId, Evidence, Plan, PlanSpec, Precondition, file};
use crate::render::proposal::{derived, derived_by};
use crate::render::requests::claim;
use crate::review::fields::{self, FIELDS};
use crate::review::proposal::{self, Files, FolderName, idle_creates};
use crate::review::{ApprovedPlan, Now, Terms, approve};

/// What is sent for each change that is carried out.
type Sent = BTreeMap<ChangeId, String>;

/// A place in a JSON value.
#[derive(Clone, Debug)]
enum Place {
    Key(String),
    Item(usize),
}

/// A change of a file, in words, with the value that it leads to.
struct Edit {
    /// The keys and places down to what is changed.
    path: Vec<String>,
    /// Whether there is nothing below it.
    is_leaf: bool,
    said: String,
    spec: Value,
}

fn at<'v>(value: &'v mut Value, path: &[Place]) -> &'v mut Value {
    path.iter().fold(value, |value, place| match place {
        Place::Key(key) => &mut value[key.as_str()],
        Place::Item(item) => &mut value[*item],
    })
}

/// What another plan has at a place; where it has other names, under the first of its own.
fn of_another<'v>(genuine: &'v Value, path: &[Place]) -> Option<&'v Value> {
    path.iter().try_fold(genuine, |value, place| match (place, value) {
        (Place::Key(key), Value::Object(fields)) => fields.get(key).or_else(|| fields.values().next()),
        (Place::Item(item), Value::Array(items)) => items.get(*item),
        _ => None,
    })
}

fn paths(value: &Value, path: &mut Vec<Place>, found: &mut Vec<Vec<Place>>) {
    found.push(path.clone());
    let inside: Vec<(Place, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (Place::Key(key.clone()), value)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(item, value)| (Place::Item(item), value)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    for (place, value) in inside {
        path.push(place);
        paths(value, path, found);
        path.pop();
    }
}

fn shown(path: &[Place]) -> String {
    let parts = path.iter().map(|place| match place {
        Place::Key(key) => format!(".{key}"),
        Place::Item(item) => format!("[{item}]"),
    });
    format!("spec{}", parts.collect::<String>())
}

/// Values that stand where another stood: nonsense of its kind, and such as people would try.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![json!("nonsense"), json!(7)],
        Value::Bool(is) => vec![json!(!is)],
        Value::Number(number) => {
            let number = number.as_i64().unwrap_or(0);
            vec![json!(number + 1), json!(number * 16)]
        }
        Value::String(text) => {
            let mut others = vec![json!("nonsense"), json!(format!("{text}x")), Value::Null];
            // Where a time or a duration stands, nonsense is no other.
            if text.parse::<jiff::Timestamp>().is_ok() {
                others.extend([json!("2026-11-26T01:00:00Z"), json!("2030-01-01T00:00:00Z")]);
            }
            if text.parse::<jiff::SignedDuration>().is_ok() {
                others.extend([json!("PT1S"), json!("PT100H")]);
            }
            others
        }
        Value::Array(_) => vec![json!([])],
        Value::Object(_) => vec![json!({})],
    }
}

/// Every edit of one place of a spec; `genuine` is another plan's, whose value at the same place is tried.
fn edits(spec: &Value, genuine: &Value) -> Vec<Edit> {
    let mut found = Vec::new();
    paths(spec, &mut Vec::new(), &mut found);
    let mut edits = Vec::new();
    for path in found.iter().filter(|path| !path.is_empty()) {
        let value = at(&mut spec.clone(), path).clone();
        let mut tried = |what: String, edit: &dyn Fn(&mut Value)| {
            let mut spec = spec.clone();
            edit(&mut spec);
            let said = format!("{} {what}", shown(path));
            let path = path.iter().map(|place| match place {
                Place::Key(key) => key.clone(),
                Place::Item(item) => item.to_string(),
            });
            let is_leaf = !matches!(value, Value::Array(_) | Value::Object(_));
            edits.push(Edit { path: path.collect(), is_leaf, said, spec });
        };
        let (last, parent) = path.split_last().expect("it is no root");
        tried("is removed".to_owned(), &|spec| match (at(spec, parent), last) {
            (Value::Object(fields), Place::Key(key)) => drop(fields.remove(key)),
            (Value::Array(items), Place::Item(item)) => drop(items.remove(*item)),
            _ => unreachable!("a path leads through what is there"),
        });
        let theirs = of_another(genuine, path).filter(|theirs| **theirs != value).cloned();
        for other in others(&value).into_iter().chain(theirs) {
            tried(format!("becomes {other}"), &|spec| *at(spec, path) = other.clone());
        }
        if let (Place::Key(key), Value::Object(_)) = (last, &*at(&mut spec.clone(), parent)) {
            tried("is called otherwise".to_owned(), &|spec| {
                let fields: Option<&mut Map<String, Value>> = at(spec, parent).as_object_mut();
                let Some(fields) = fields else { return };
                let value = fields.remove(key).unwrap_or(Value::Null);
                fields.insert(format!("{key}x"), value);
            });
        }
        if value.is_object() {
            for added in [json!("nonsense"), json!({"old": null, "new": "nonsense"})] {
                tried(format!("gets {added}"), &|spec| at(spec, path)["nonsense"] = added.clone());
            }
        }
        if let Value::Array(items) = &value {
            let last = items.last().cloned().unwrap_or(json!("nonsense"));
            for added in [json!("nonsense"), last] {
                tried(format!("gets {added}"), &|spec| {
                    at(spec, path).as_array_mut().expect("a list").push(added.clone());
                });
            }
            if items.len() > 1 {
                tried("is reversed".to_owned(), &|spec| {
                    at(spec, path).as_array_mut().expect("a list").reverse();
                });
            }
        }
    }
    edits
}

/// A plan with other decisions.
fn decided(evidence: &Evidence, spec: &Value) -> Result<Plan, String> {
    let spec: PlanSpec = serde_json::from_value(spec.clone()).map_err(|error| error.to_string())?;
    let mut evidence = evidence.clone();
    // Whoever forges a time forges it twice.
    evidence.seen_at = spec.execution.as_ref().and_then(|execution| execution.seen_at);
    Ok(Plan { spec, evidence })
}

/// Its file, as somebody writes it who knows how digests and figures are made.
fn forged(plan: &Plan, spec: &Value) -> Result<String, String> {
    let mut written: Value = serde_json::from_str(&file::write(plan)).expect("it is JSON");
    let digest = Digest::of_json(spec).map_err(|error| format!("{error:?}"))?;
    written["spec"] = spec.clone();
    written["digest"] = json!(digest.to_string());
    Ok(file::spelt(written))
}

/// What is sent when a folder with this spec is applied, and its page.
fn applied(world: &World, evidence: &Evidence, spec: &Value) -> Result<(Sent, String), String> {
    let plan = decided(evidence, spec)?;
    let text = forged(&plan, spec)?;
    let files = derived(&plan);
    let bytes = |text: &String| Some(text.clone().into_bytes());
    let (markdown, destroys) = (files.markdown.clone(), files.destroys_text());
    let found = Files {
        markdown: bytes(&markdown),
        plan: bytes(&text),
        destroys: destroys.as_ref().and_then(bytes),
        signature: None,
    };
    let name = FolderName::of(&plan);
    let read = proposal::read(name.as_ref(), found, derived_by).map_err(|fault| fault.to_string())?;
    let idle = idle_creates(&read.plan, &read.struck);
    let struck = read.struck.into_iter().chain(idle).map(|id| (id, None)).collect();
    let checked = judged_again(read.plan).map_err(|failure| failure.faults.join("; "))?;
    let begun = BTreeSet::new();
    let now = Now { snapshot: &world.snapshot, policy: &world.policy, begun: &begun };
    let approved = approve(checked, now, Terms::default());
    let approved = approved.map_err(|faults| faults[0].to_string())?.striking(struck);
    let left = narrowed(world, approved, &begun).map_err(|refused| format!("{:?}", refused.findings))?;
    Ok((sent(&left.plan), markdown))
}

fn sent(plan: &ApprovedPlan) -> Sent {
    let kept = plan.spec().changes.iter().filter(|(id, _)| !plan.left_out().contains_key(*id));
    let wave = |id: &ChangeId| plan.waves().iter().position(|wave| wave.contains(id));
    let kept = kept.map(|(id, planned)| {
        let execution = plan.execution();
        let made = planned.change.create().map(|create| {
            let claim = claim(plan.spec(), id, "ID").expect("it can be built");
            let choices = execution.choices(&create.spec).iter().enumerate();
            let choices = choices.filter(|(place, _)| plan.may_choose(id, *place));
            let machines: Vec<String> = choices
                .map(|(_, launched)| {
                    let machine = &execution.machines.get(&launched.machine);
                    format!("{:?} of {machine:?}", launched.choice)
                })
                .collect();
            let nominated = execution.nominations.get(id);
            format!("{claim} as {} of {machines:?} for {nominated:?} in {:?}", create.vm, execution.cluster)
        });
        let node = execution.nodes.get(id);
        let removal = execution.removals.get(id).map(|removal| (removal.grace, &removal.after));
        let asked = planned.change.delete().map(|_| asked(&planned.preconditions));
        let change = match planned.change.create() {
            Some(_) => String::new(),
            None => format!("{:?}", planned.change),
        };
        (id.clone(), format!("{made:?} {node:?} {removal:?} {asked:?} {change} {:?}", wave(id)))
    });
    kept.collect()
}

/// Which questions are asked of a node before it goes: whether it is empty, asks to stay, or has a pod that does.
fn asked(conditions: &[Precondition]) -> [bool; 3] {
    let is = |test: &dyn Fn(&Precondition) -> bool| conditions.iter().any(test);
    [
        is(&|it| matches!(it, Precondition::NodeEmpty { .. })),
        is(&|it| matches!(it, Precondition::NotProtected { .. })),
        is(&|it| matches!(it, Precondition::NotProtected { node_only: false, .. })),
    ]
}

/// A page without what follows from the digests.
fn masked(page: &str) -> String {
    let lines = page.lines().filter(|line| !line.starts_with("# Plan") && !line.starts_with("- Digest"));
    lines.collect::<Vec<&str>>().join("\n")
}

/// Whether a path is on the way to a field of the table.
fn leads_to(path: &[&str], field: &str) -> bool {
    let wanted: Vec<&str> = field.split('.').collect();
    path.len() < wanted.len() && path.iter().zip(wanted).all(|(one, other)| other == "*" || *one == other)
}

/// What became of the edits of a plan.
#[derive(Default)]
struct Found {
    /// Those by which something else would be sent than its page shows.
    unseen: Vec<String>,
    /// The fields of the table that the page was seen to show.
    shown: BTreeSet<&'static str>,
    /// Those that were changed at all, in what they hold.
    changed: BTreeSet<&'static str>,
    /// Leaves that no field of the table is about.
    unknown: BTreeSet<String>,
}

fn found(world: &World, plan: &Plan, genuine: &Plan) -> Found {
    let written = |plan: &Plan| serde_json::to_value(&plan.spec).expect("a spec has a JSON form");
    let spec = written(plan);
    let (before, page) = applied(world, &plan.evidence, &spec).expect("a genuine plan is carried out");
    assert_eq!(before.len(), plan.spec.changes.len(), "all of it is sent");
    let page = masked(&page);
    let mut found = Found::default();
    for Edit { path, is_leaf, said, spec } in edits(&spec, &written(genuine)) {
        let Ok(forged) = decided(&plan.evidence, &spec) else { continue };
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let field = fields::of(&path).map(|field| field.path);
        // Of what is empty there is nothing to show.
        let is_inside = |field: &&str| path.len() > field.split('.').count();
        found.changed.extend(field.filter(|field| is_inside(field) || is_leaf));
        let leads_on = FIELDS.iter().any(|field| leads_to(&path, field.path));
        if field.is_none() && !leads_on {
            found.unknown.insert(path.join("."));
        }
        // What the page shows, reviewers decide.
        if masked(&derived(&forged).markdown) != page {
            found.shown.extend(field);
            continue;
        }
        let Ok((sent, _)) = applied(world, &plan.evidence, &spec) else { continue };
        if sent.iter().any(|(id, sent)| before.get(id) != Some(sent)) {
            found.unseen.push(said);
        }
    }
    found
}

fn planned(objects: &str) -> (World, Plan) {
    let world = world_of(objects, FACTS);
    let plan = offline::plan(&world).expect("the judge accepts it").plan.plan().clone();
    (world, plan)
}

/// The edits of one world by which something else would be sent than its page shows; none is right.
fn none_is_unseen(objects: &str, genuine: &str, holds: fn(&Change) -> bool) {
    let ((world, plan), (_, genuine)) = (planned(objects), planned(genuine));
    assert!(plan.spec.changes.values().any(|planned| holds(&planned.change)), "{:#?}", plan.spec.changes);
    let Found { unseen, shown, changed, unknown } = found(&world, &plan, &genuine);
    assert!(unseen.is_empty(), "{} of them:\n{}", unseen.len(), unseen.join("\n"));
    for field in FIELDS.iter().filter(|field| changed.contains(field.path)) {
        let is_shown = shown.contains(field.path);
        assert_eq!(
            is_shown,
            field.held.is_shown(),
            "the page shows `{}`: {}",
            field.path,
            field.held.as_str()
        );
    }
    assert!(unknown.is_empty(), "not in the table of fields: {unknown:?}");
}

#[test]
fn no_field_of_a_removal_that_its_page_does_not_show_changes_what_is_sent() {
    none_is_unseen(&moving(), OBJECTS, |change| change.delete().is_some());
}

#[test]
fn no_field_of_a_create_that_its_page_does_not_show_changes_what_is_sent() {
    none_is_unseen(OBJECTS, &moving(), |change| change.create().is_some());
}

#[test]
fn no_field_of_a_change_in_place_that_its_page_does_not_show_changes_what_is_sent() {
    let objects = moving().replace("expireAfter: 720h", "expireAfter: Never");
    let objects = objects.replace("team/name: a", "team/name: b");
    let never = "spec:\n  disruption: {consolidateAfter: Never}\n  template:";
    let objects = objects.replace("spec:\n  template:", never);
    none_is_unseen(&objects, &moving(), |change| matches!(change, Change::Update(_)));
}
