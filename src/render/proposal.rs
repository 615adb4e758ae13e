//! Files next to `plan.jsonc` in a plan's folder: the page for people, and the list of nodes to delete; and the commit
//! message.

use super::markdown::{plan_markdown_whole, plan_sentences};
use super::money::{Sureness, by_month, per_month};
use super::page::removals::removed;
use super::view::PlanView;
use super::words::count;
use crate::model::{Price, label};
use crate::plan::{Counts, Plan};
use crate::review::proposal::{Derived, DestroyLine, Template, class};

/// Returns the files derived from a plan.
#[must_use]
pub fn derived(plan: &Plan) -> Derived {
    derived_by(plan, Template::NEWEST)
}

/// Returns the files derived from a plan with a template.
#[must_use]
pub fn derived_by(plan: &Plan, template: Template) -> Derived {
    Derived { markdown: plan_markdown_whole(plan, template), destroys: destroys(plan) }
}

/// Returns the message of the commit that proposes a plan: nodes and cost in the subject, then the first sentences of
/// its page. Contains no names that users chose for pods.
#[must_use]
pub fn commit_message(plan: &Plan) -> String {
    let class = class(plan).map_or("no changes".to_owned(), |class| class.to_string());
    let cluster = cluster(plan).map_or(String::new(), |cluster| format!(" on {cluster}"));
    let (nodes, money) = (nodes(plan), money(plan));
    let (sentences, id, digest) = (plan_sentences(plan), plan.id(), plan.digest());
    format!("nodeform: {class}{cluster}: {nodes}, {money}\n\n{sentences}\n\nPlan: {id}\nDigest: {digest}\n")
}

/// Returns the title of a plan's pull request: `[nodeform prod] move-pods: +1 -3 nodes, -$412/month`. `letters_max` is
/// its maximum length in UTF-16 units.
#[must_use]
pub fn title(plan: &Plan, letters_max: usize) -> String {
    let class = class(plan).map_or("no changes".to_owned(), |class| class.to_string());
    let rest = format!("{class}: {}, {}", nodes(plan), money(plan));
    let cluster = cluster(plan).unwrap_or_default();
    let whole = format!("[nodeform {cluster}] {rest}");
    if letters(&whole) <= letters_max { whole } else { format!("[nodeform] {rest}") }
}

/// Returns the description of a plan's pull request: its page. If it exceeds this many UTF-16 units, it is cut after a
/// whole line and the number of missing lines is added.
#[must_use]
pub fn description(plan: &Plan, letters_max: usize) -> String {
    cut(&derived(plan).markdown, letters_max)
}

/// Cuts a page after a whole line and adds the number of missing lines.
fn cut(page: &str, letters_max: usize) -> String {
    const LEFT_OUT: usize = 40;
    if letters(page) <= letters_max {
        return page.to_owned();
    }
    let (mut kept, mut used) = (String::new(), LEFT_OUT);
    let mut lines = page.lines();
    for line in lines.by_ref() {
        used += letters(line) + 1;
        if used > letters_max {
            break;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    let more = lines.count() + 1;
    format!("{kept}\n{} more: `PLAN.md`\n", count(more, "line"))
}

fn letters(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns the name of the plan's cluster.
fn cluster(plan: &Plan) -> Option<String> {
    let execution = plan.spec.execution.as_ref()?;
    execution.cluster.id.rsplit('/').next().map(plain)
}

/// Formats the number of created, deleted and changed nodes: `+1 -3 nodes`.
fn nodes(plan: &Plan) -> String {
    let Counts { import, add, change, destroy, forget } = Counts::of(plan);
    let parts = [('+', add), ('-', destroy), ('~', import + change + forget)];
    let nodes: Vec<String> = parts
        .into_iter()
        .filter(|(_, number)| *number > 0)
        .map(|(sign, number)| format!("{sign}{number}"))
        .collect();
    let noun = if add + destroy + import + change + forget == 1 { "node" } else { "nodes" };
    format!("{} {noun}", nodes.join(" "))
}

/// Formats the change of the monthly cost.
fn money(plan: &Plan) -> String {
    let report = &plan.evidence.report;
    let (before, after) = (report.cost_before, report.cost_after);
    if before.effective == after.effective {
        return "same cost".to_owned();
    }
    let money = by_month(before, after);
    money.split_once(" (").map_or(&*money, |(money, _)| money).to_owned()
}

/// Returns the lines of `destroy.txt`: a YAML list, by name.
fn destroys(plan: &Plan) -> Vec<DestroyLine> {
    let view = PlanView::new(plan, None);
    let lines = removed(&view).into_iter().map(|gone| {
        let size = view.node(gone.node).and_then(|node| node.labels.get(label::INSTANCE_TYPE));
        let size = size.map_or("size not known".to_owned(), |size| plain(size));
        let price = view.price(gone.node);
        let price = price.known().map_or("price not known".to_owned(), |known| {
            per_month(known, Sureness::of(matches!(price, Price::Estimated(_))))
        });
        let pods = match view.running_on(gone.node).count() {
            0 => "no pods".to_owned(),
            pods => count(pods, "pod"),
        };
        let text = format!("- node/{}  # {size}, {price}, {pods}", plain(gone.node.as_str()));
        DestroyLine { change: gone.id.clone(), text }
    });
    lines.collect()
}

/// Replaces all characters that names of Kubernetes and Azure do not contain, so that no input can inject YAML.
fn plain(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::{commit_message, derived, description, title};
    use crate::launch::tests::world::{moving, planned};

    #[test]
    fn a_commit_says_nodes_money_and_pods_and_no_name_of_a_pod() {
        let plan = planned(&moving());
        let (id, digest) = (plan.id(), plan.digest());
        let expected = format!(
            "nodeform: replace on c1: +1 -1 nodes, ~-$27/month\n\n1 of 1 node is deleted, 1 is created. ~-$27/month (-14 %). \
             2 pods restart. Valid until 26 Nov 06:00 UTC.\n\nPlan: {id}\nDigest: {digest}\n"
        );
        assert_eq!(commit_message(&plan), expected);
        assert_eq!(title(&plan, 255), "[nodeform c1] replace: +1 -1 nodes, ~-$27/month");
        assert_eq!(title(&plan, 45), "[nodeform] replace: +1 -1 nodes, ~-$27/month");
    }

    #[test]
    fn a_description_is_the_page_as_far_as_whole_lines_fit_and_says_how_much_more_there_is() {
        let plan = planned(&moving());
        let page = derived(&plan).markdown;
        assert_eq!(description(&plan, page.len()), page);
        let short = description(&plan, 600);
        let (kept, more) = short.rsplit_once("\n\n").expect("it is cut");
        assert!(page.starts_with(kept) && short.len() <= 600, "{short}");
        let left: usize = more.split(' ').next().expect("a number").parse().expect("a number");
        assert_eq!(more, format!("{left} more: `PLAN.md`\n").replace(" more", " lines more"));
        assert_eq!(kept.lines().count() + left, page.lines().count());
    }
}
