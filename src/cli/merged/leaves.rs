//! Tampering tests: any edit of a plan's file, with all digests recomputed and its page rendered again, must be
//! refused, have no effect on the requests sent, or be visible on the page. Covers every leaf, key and list item, for
//! plans of several small worlds.

mod edits;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use self::edits::{Edit, edits, edits_by_kind, leaves};
use super::super::apply::judged_again;
use crate::gitops::narrowed;
use crate::launch::tests::world::{FACTS, OBJECTS, moving, world_of};
use crate::model::{Digest, MicroUsdPerHour, ResourceName};
use crate::offline::{self, World};
use crate::plan::{Change, ChangeId, Evidence, Plan, PlanSpec, Precondition, file};
use crate::render::escape::code_whole;
use crate::render::money::{Sureness, per_hour};
use crate::render::proposal::{derived, derived_by};
use crate::render::requests::claim;
use crate::review::fields::{self, FIELDS};
use crate::review::proposal::{self, Derived, Files, FolderName, idle_creates};
use crate::review::{ApprovedPlan, Now, Terms, approve};

/// The requests for each applied change.
type Sent = BTreeMap<ChangeId, String>;

/// Returns a plan with other decisions.
fn decided(evidence: &Evidence, spec: &Value) -> Result<Plan, String> {
    let spec: PlanSpec = serde_json::from_value(spec.clone()).map_err(|error| error.to_string())?;
    let mut evidence = evidence.clone();
    // A forger would change the time in both places.
    evidence.seen_at = spec.execution.as_ref().and_then(|execution| execution.seen_at);
    Ok(Plan { spec, evidence })
}

/// Returns its file, as written by a forger who knows how digests and figures are computed.
fn forged(plan: &Plan, spec: &Value) -> Result<String, String> {
    let mut written: Value = serde_json::from_str(&file::write(plan)).expect("it is JSON");
    let digest = Digest::of_json(spec).map_err(|error| format!("{error:?}"))?;
    written["spec"] = spec.clone();
    written["digest"] = json!(digest.to_string());
    Ok(file::spelt(written))
}

/// Returns the requests sent when a folder with this spec is applied.
fn applied(world: &World, evidence: &Evidence, spec: &Value) -> Result<Sent, String> {
    let plan = decided(evidence, spec)?;
    let files = derived(&plan);
    applied_with(world, &plan, spec, &files, files.destroys_text().as_deref())
}

/// Returns the requests sent when a folder with this spec and these lines of `destroy.txt` is applied.
fn applied_with(
    world: &World,
    plan: &Plan,
    spec: &Value,
    files: &Derived,
    destroys: Option<&str>,
) -> Result<Sent, String> {
    let bytes = |text: &str| Some(text.as_bytes().to_vec());
    let found = Files {
        markdown: bytes(&files.markdown),
        plan: bytes(&forged(plan, spec)?),
        destroys: destroys.and_then(bytes),
        signature: None,
    };
    let name = FolderName::of(plan);
    let read = proposal::read(name.as_ref(), found, derived_by).map_err(|fault| fault.to_string())?;
    let idle = idle_creates(&read.plan, &read.struck);
    let struck = read.struck.into_iter().chain(idle).map(|id| (id, None)).collect();
    let checked = judged_again(read.plan).map_err(|failure| failure.faults.join("; "))?;
    let begun = BTreeSet::new();
    let now = Now { snapshot: &world.snapshot, policy: &world.policy, begun: &begun };
    let approved = approve(checked, now, Terms::default());
    let approved = approved.map_err(|faults| faults[0].to_string())?.striking(struck);
    let left = narrowed(world, approved, &begun).map_err(|refused| format!("{:?}", refused.findings))?;
    Ok(sent(&left.plan))
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

/// Returns which preconditions a node must meet before deletion: it is empty, it is not protected, none of its pods is
/// protected.
fn asked(conditions: &[Precondition]) -> [bool; 3] {
    let is = |test: &dyn Fn(&Precondition) -> bool| conditions.iter().any(test);
    [
        is(&|it| matches!(it, Precondition::NodeEmpty { .. })),
        is(&|it| matches!(it, Precondition::NotProtected { .. })),
        is(&|it| matches!(it, Precondition::NotProtected { node_only: false, .. })),
    ]
}

/// Returns a page without the lines that depend on digests.
fn masked(page: &str) -> String {
    let lines = page.lines().filter(|line| !line.starts_with("# Plan") && !line.starts_with("- Digest"));
    lines.collect::<Vec<&str>>().join("\n")
}

/// Returns whether a path is a prefix of a field in the table.
fn leads_to(path: &[&str], field: &str) -> bool {
    let wanted: Vec<&str> = field.split('.').collect();
    path.len() < wanted.len() && path.iter().zip(wanted).all(|(one, other)| other == "*" || *one == other)
}

/// Returns the possible spellings of a leaf on the page: literally, or formatted as a duration, an amount or a price.
/// The id of a change appears as its node's name.
fn spellings(leaf: &str, names: &BTreeMap<String, String>) -> Vec<String> {
    match serde_json::from_str(leaf) {
        Ok(Value::String(text)) => {
            let code = |text: &str| code_whole(text).trim_matches('`').to_owned();
            let duration = text.parse::<jiff::SignedDuration>().ok();
            let duration = duration.map(|duration| format!("{duration:#}"));
            [code(&text)].into_iter().chain(duration).chain(names.get(&text).map(|name| code(name))).collect()
        }
        Ok(Value::Number(number)) => {
            let amount = number.as_i64().unwrap_or_default();
            let of = |name: ResourceName| name.exact(amount);
            let price = per_hour(MicroUsdPerHour(amount), Sureness::Listed).replace('$', "\\$");
            vec![number.to_string(), of(ResourceName::Cpu), of(ResourceName::Memory), price]
        }
        _ => vec![leaf.to_owned()],
    }
}

/// Counts a word in a text, except as part of a longer word.
fn times(text: &str, word: &str) -> usize {
    let goes_on = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let found = text.match_indices(word).filter(|(at, _)| {
        !goes_on(text[..*at].chars().next_back()) && !goes_on(text[at + word.len()..].chars().next())
    });
    found.count()
}

/// A plan's decisions and its page, for comparison with edited ones.
struct Reviewed {
    leaves: BTreeMap<String, i64>,
    page: String,
    /// The ids of claims and machines.
    ids: Vec<String>,
    /// The node names of changes, by change id.
    names: BTreeMap<String, String>,
}

/// Returns the ids of the claims and machines of a spec, which the page shows by their content.
fn ids_of(spec: &Value) -> Vec<String> {
    let tables = ["/claims", "/execution/machines"].into_iter();
    let tables = tables.filter_map(|path| spec.pointer(path)?.as_object());
    tables.flat_map(|entries| entries.keys().map(|id| json!(id).to_string())).collect()
}

impl Reviewed {
    fn of(plan: &Plan, spec: &Value) -> Self {
        let name = |change: &Change| match change.create() {
            Some(create) => create.vm.to_string(),
            None => change.target().map_or(String::new(), |target| target.node.to_string()),
        };
        let names = plan.spec.changes.iter().map(|(id, planned)| (id.0.to_string(), name(&planned.change)));
        Self {
            leaves: leaves(spec),
            page: masked(&derived(plan).markdown),
            ids: ids_of(spec),
            names: names.collect(),
        }
    }

    /// Returns whether the page of an edited plan shows every new value and shows removed values less often. If values
    /// only occur more or less often, one of them must differ; if they were only reordered, the page must differ.
    fn shows(&self, edited: &Value, page: &str) -> bool {
        if page == self.page {
            return false;
        }
        let after = leaves(edited);
        let of = |leaves: &BTreeMap<String, i64>, leaf: &str| leaves.get(leaf).copied().unwrap_or_default();
        // Claims and machines appear by content, not by id.
        let ids: BTreeSet<String> = ids_of(edited).into_iter().chain(self.ids.iter().cloned()).collect();
        let changed = self.leaves.keys().chain(after.keys()).collect::<BTreeSet<&String>>().into_iter();
        let changed: Vec<(&String, i64, i64)> = changed
            .map(|leaf| (leaf, of(&self.leaves, leaf), of(&after, leaf)))
            .filter(|(leaf, before, after)| before != after && !ids.contains(*leaf))
            .collect();
        let is_seen = |(leaf, before, after): &&(&String, i64, i64)| {
            spellings(leaf, &self.names).iter().any(|word| match before < after {
                true => times(page, word) > times(&self.page, word),
                false => times(page, word) < times(&self.page, word),
            })
        };
        let (whole, partly): (Vec<_>, Vec<_>) =
            changed.iter().partition(|(_, before, after)| *before == 0 || *after == 0);
        let is_whole_seen = whole.iter().all(is_seen);
        is_whole_seen && (!whole.is_empty() || partly.is_empty() || partly.iter().any(is_seen))
    }
}

/// Results of all edits of a plan.
#[derive(Default)]
struct Found {
    /// Edits that change requests without being visible on the page.
    unseen: Vec<String>,
    /// Fields of the table that the page shows.
    shown: BTreeSet<&'static str>,
    /// Fields whose content was changed by any edit.
    changed: BTreeSet<&'static str>,
    /// Leaves without a field in the table.
    unknown: BTreeSet<String>,
}

fn found(world: &World, plan: &Plan, genuine: &Plan) -> Found {
    let written = |plan: &Plan| serde_json::to_value(&plan.spec).expect("a spec has a JSON form");
    let spec = written(plan);
    let before = applied(world, &plan.evidence, &spec).expect("a genuine plan is carried out");
    assert_eq!(before.len(), plan.spec.changes.len(), "all of it is sent");
    let reviewed = Reviewed::of(plan, &spec);
    let mut found = Found::default();
    for Edit { path, is_leaf, said, value } in edits(&spec, &written(genuine)) {
        let Ok(forged) = decided(&plan.evidence, &value) else { continue };
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let field = fields::of(&path).map(|field| field.path);
        // An empty value has nothing to show.
        let is_inside = |field: &&str| path.len() > field.split('.').count();
        found.changed.extend(field.filter(|field| is_inside(field) || is_leaf));
        let leads_on = FIELDS.iter().any(|field| leads_to(&path, field.path));
        if field.is_none() && !leads_on {
            found.unknown.insert(path.join("."));
        }
        // Visible edits are left to the reviewers.
        if reviewed.shows(&value, &masked(&derived(&forged).markdown)) {
            found.shown.extend(field);
            continue;
        }
        let Ok(sent) = applied(world, &plan.evidence, &value) else { continue };
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

/// Checks that no edit in one world changes requests without being visible on the page.
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

/// Checks that no edit of the evidence changes requests, visible or not.
fn no_evidence_is_sent(objects: &str) {
    let (world, plan) = planned(objects);
    let spec = serde_json::to_value(&plan.spec).expect("a spec has a JSON form");
    let before = applied(&world, &plan.evidence, &spec).expect("a genuine plan is carried out");
    let evidence = serde_json::to_value(&plan.evidence).expect("evidence has a JSON form");
    let (mut unseen, mut read) = (Vec::new(), 0);
    for Edit { said, value, .. } in edits_by_kind(&evidence) {
        let Ok(evidence) = serde_json::from_value::<Evidence>(value) else { continue };
        read += 1;
        let Ok(sent) = applied(&world, &evidence, &spec) else { continue };
        if sent.iter().any(|(id, sent)| before.get(id) != Some(sent)) {
            unseen.push(said);
        }
    }
    assert!(read > 100, "{read} edits were read");
    assert!(unseen.is_empty(), "{} of them:\n{}", unseen.len(), unseen.join("\n"));
}

#[test]
fn nothing_else_is_sent_whatever_a_plan_with_a_removal_says_it_was_made_from() {
    no_evidence_is_sent(&moving());
}

#[test]
fn nothing_else_is_sent_whatever_a_plan_with_a_create_says_it_was_made_from() {
    no_evidence_is_sent(OBJECTS);
}

#[test]
fn a_struck_line_keeps_its_node_and_any_other_line_than_the_plans_is_refused() {
    let (world, plan) = planned(&moving());
    let spec = serde_json::to_value(&plan.spec).expect("a spec has a JSON form");
    let files = derived(&plan);
    let lines = files.destroys_text().expect("a node goes");
    let sent = |text: Option<&str>| applied_with(&world, &plan, &spec, &files, text);
    assert_eq!(sent(Some(&lines)).map(|sent| sent.len()), Ok(2), "a node goes and one comes");
    for struck in [None, Some(""), Some("\n"), Some("[]")] {
        assert_eq!(
            sent(struck),
            Ok(Sent::new()),
            "the node stays, and nothing needs the new one: {struck:?}"
        );
    }
    let at = lines
        .char_indices()
        .filter(|(_, letter)| *letter != '\n')
        .map(|(at, letter)| (at, letter.len_utf8()));
    let others = at.flat_map(|(at, long)| {
        ["", "x", "#", "\n"].map(|other| format!("{}{other}{}", &lines[..at], &lines[at + long..]))
    });
    let added = [format!("{lines}{lines}"), format!("{lines}- node/other\n"), format!("# {lines}")];
    for other in others.chain(added).filter(|other| *other != lines) {
        assert!(sent(Some(&other)).is_err(), "{other:?} is not one of the plan's lines");
    }
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
