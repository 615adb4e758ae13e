//! A plan as `PLAN.md`: everything that a reviewer has to know, however long that is, and how to strike, reject and verify.
//!
//! It follows from the plan alone, so that it is the same wherever the plan's folder lies. Nothing is cut.

mod changed;
mod destroys;
mod full;
mod made;

use super::missing;
use crate::model::Digest;
use crate::plan::execution::ClusterIdentity;
use crate::plan::{Plan, Step, file};
use crate::render::escape::{code_whole, sentence_whole};
use crate::render::line::Line;
use crate::render::page::additions::kept;
use crate::render::page::assumptions::{assumptions, guesses};
use crate::render::page::cost::cost;
use crate::render::page::evictions::evictions;
use crate::render::page::headline::headline;
use crate::render::page::not_done::not_done;
use crate::render::page::pending::pending;
use crate::render::page::preemptions::preemptions;
use crate::render::page::{question, refused};
use crate::render::terminal::warnings;
use crate::render::view::PlanView;
use crate::render::words::count;
use crate::review::proposal::{Template, class};
use crate::snapshot::Gap;

/// Returns the plan as Markdown with every node and pod.
#[must_use]
pub fn plan_markdown_whole(plan: &Plan, template: Template) -> String {
    let view = PlanView::new(plan, None);
    let mut page = Page::default();
    page.line(&title(plan));
    page.line(&format!("**{}**", headline(&view).text()));
    page.items(facts(plan, template));
    let mut summary: Vec<Line> = refused::line(plan).into_iter().collect();
    summary.extend(question::head(plan));
    summary.extend(cost(&view));
    summary.extend(evictions(&view));
    summary.extend(question::bill(&view));
    page.section("Summary", lines(&summary));
    page.section("Not in this plan", missing(&view, Gap::clone));
    page.section("Check first", lines(&guesses(&view)));
    let counts = view.counts();
    page.section(&format!("Destroy ({})", counts.destroy), destroys::items(&view));
    page.section("Change in place", changed::items(&view));
    page.section(&format!("Create ({})", counts.add), made::items(&view));
    page.section("On nodes that stay", kept(&view).iter().map(item).collect());
    page.section("Preemption", lines(&preemptions(&view)));
    page.section("Waves", waves(plan));
    page.section("Stays Pending", lines(&pending(&view, Some(usize::MAX))));
    page.section("Not done, and held", lines(&not_done(&view, usize::MAX)));
    page.section("Warnings", lines(&warnings(&view)));
    page.section("Read and assumed", lines(&assumptions(&view)));
    page.section("How to review", review(plan));
    page.text
}

/// The page as far as it is written.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(&format!("{line}\n\n"));
    }

    /// Writes items of a list; one that begins with spaces belongs to the one before.
    fn items(&mut self, items: Vec<String>) {
        for item in &items {
            let inside = item.trim_start();
            let indent = &item[..item.len() - inside.len()];
            self.text.push_str(&format!("{indent}- {inside}\n"));
        }
        self.text.push_str(if items.is_empty() { "" } else { "\n" });
    }

    /// Writes a heading and items; without items nothing.
    fn section(&mut self, title: &str, items: Vec<String>) {
        if !items.is_empty() {
            self.line(&format!("## {title}"));
            self.items(items);
        }
    }
}

fn item(line: &Line) -> String {
    sentence_whole(line.text().trim())
}

fn lines(lines: &[Line]) -> Vec<String> {
    lines.iter().map(item).filter(|item| !item.is_empty()).collect()
}

fn title(plan: &Plan) -> String {
    let id = code_whole(&plan.id());
    let class = class(plan).map_or(String::new(), |class| format!(": `{class}`"));
    let cluster = plan.spec.execution.as_ref().map(|execution| execution.cluster.id.rsplit('/').next());
    let cluster = cluster.flatten().map_or(String::new(), |name| format!(" in cluster {}", code_whole(name)));
    format!("# Plan {id}{class}{cluster}")
}

/// What the plan is held fast by.
fn facts(plan: &Plan, template: Template) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(execution) = &plan.spec.execution {
        let ClusterIdentity { uid, id, node_resource_group, location } = &execution.cluster;
        facts.push(format!("Cluster: {}, UID {}", code_whole(id), code_whole(uid)));
        let (group, location) = (code_whole(node_resource_group), code_whole(location));
        facts.push(format!("Its nodes: resource group {group} in {location}"));
    }
    facts.extend(plan.evidence.seen_at.map(|at| format!("Seen at: {}", code_whole(&at.to_string()))));
    facts.extend(plan.spec.expires_at.map(|at| format!("May begin until: {}", code_whole(&at.to_string()))));
    facts.push(format!("Digest: {}", code_whole(&plan.digest().to_string())));
    // The plan's digest is of its decisions; this one also of what they were made from.
    let whole = Digest::of_bytes(file::write(plan).as_bytes());
    facts.push(format!("Digest of `plan.jsonc`: {}", code_whole(&whole.to_string())));
    facts.push(template.line().trim_start_matches("- ").to_owned());
    facts
}

/// What is done at once, and in which order.
fn waves(plan: &Plan) -> Vec<String> {
    let waves = plan.spec.waves.iter().enumerate();
    let wave = |(place, wave): (usize, &crate::plan::Wave)| {
        let steps = wave.steps.iter().map(|(step, ids)| {
            let what = match step {
                Step::Adopt => "adopt",
                Step::Update => "update",
                Step::Create => "create",
                Step::Drain => "drain",
                Step::Delete => "delete",
                Step::Forget => "forget",
            };
            format!("{what} {}", count(ids.len(), "node"))
        });
        format!("Wave {}: {}", place + 1, steps.collect::<Vec<_>>().join(", then "))
    };
    waves.map(wave).collect()
}

/// What a reviewer can do.
fn review(plan: &Plan) -> Vec<String> {
    let is_destroying = plan.spec.deletes().next().is_some();
    let strike = "Keep a node: delete its line of `destroy.txt`; with all lines or the file deleted, every node stays. \
        Any other edit makes the plan invalid.";
    let mut items: Vec<String> = is_destroying.then(|| strike.to_owned()).into_iter().collect();
    items.push(
        "Approve: merge it. `nodeform apply --merged` carries it out, once, if it still holds.".to_owned(),
    );
    items.push("Reject: close it without merging, or let it expire.".to_owned());
    items.push(
        "Verify, in the folder of this file: `nodeform verify .`; this page is `nodeform show plan.jsonc -o md --all`."
            .to_owned(),
    );
    items
}

#[cfg(test)]
mod tests {
    use super::plan_markdown_whole;
    use crate::model::PodPlace;
    use crate::plan::tests::world::example_plan;
    use crate::render::proposal::derived;
    use crate::review::proposal::Template;

    #[test]
    fn every_node_that_goes_or_comes_is_named_and_the_plan_held_fast() {
        let plan = example_plan();
        let page = plan_markdown_whole(&plan, Template::NEWEST);
        assert!(page.starts_with(&format!("# Plan `{}`: `create`\n\n**Plan: ", plan.id())), "{page}");
        assert!(page.contains(&plan.digest().to_string()) && page.contains("## Destroy (1)\n"), "{page}");
        let gone = plan.spec.deletes().map(|(_, delete)| delete.target.node.to_string());
        let come = plan.spec.creates().map(|(_, create, _)| create.vm.to_string());
        for name in gone.chain(come) {
            assert!(page.contains(&format!("`{name}`")), "{name}: {page}");
        }
        let lines = derived(&plan).destroys;
        assert_eq!(lines.len(), 1);
        assert!(
            lines.iter().all(|line| line.text.starts_with("- node/") && line.text.contains("  # ")),
            "{lines:?}"
        );
    }

    #[test]
    fn names_of_pods_are_whole_and_harmless() {
        let mut plan = example_plan();
        let long = format!("{}`@all <b> #1", "x".repeat(200));
        let gone =
            plan.spec.deletes().map(|(_, delete)| delete.target.node.clone()).next().expect("one goes");
        for group in &mut plan.evidence.world.pods {
            group.place = PodPlace::Bound(gone.clone());
            for name in &mut group.names {
                *name = long.as_str().into();
            }
        }
        let page = plan_markdown_whole(&plan, Template::NEWEST);
        assert!(!page.contains("@all") && !page.contains("<b>") && !page.contains("#1"), "{page}");
        assert!(page.contains(&"x".repeat(200)), "{page}");
    }

    #[test]
    fn a_page_of_the_first_template_reads_as_it_did_when_that_was_released() {
        let page = plan_markdown_whole(&example_plan(), Template::First);
        // What follows from the digests is no wording.
        let lines = page.lines().filter(|line| !line.starts_with("# Plan") && !line.starts_with("- Digest"));
        let worded: String = lines.map(|line| format!("{line}\n")).collect();
        let released = include_str!("whole/template-1.md");
        assert!(
            worded == released,
            "pages that are open were written by this template: add another for another wording, and keep this one\n\n{worded}"
        );
    }
}
