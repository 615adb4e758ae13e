//! Content of pull requests, and that it is nothing but text.

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};
use proptest::prelude::*;

use super::{PlanView, UNITS_MAX, plan_markdown, units};
use crate::model::{LabelKey, Namespace, NodeName, PodKey, PoolName, SkuName, label};
use crate::plan::Plan;
use crate::plan::tests::world as sample;
use crate::render::tests::talkative;
use crate::solve::{Held, Unplaced, Warning};

fn shown(plan: &Plan) -> String {
    plan_markdown(&PlanView::new(plan, Some("plan.json")))
}

#[test]
fn a_plan_says_in_a_pull_request_what_it_says_on_the_terminal() {
    let expected = "\
**Plan: 1 to import, 2 to add, 0 to change, 1 to destroy. 3 pods stay Pending.**

Monthly cost will increase by at most \\$292 (100 %, \\$292 → \\$584): the price of 1 node is not known

- \\$584/month, up to \\$876 if Azure substitutes
- The price of 1 node is not known and in no sum (1 before, 0 after)
- no price is known of size `Standard_Unheard_of` of node `empty-1`

### Not in this plan

- 2 documents of kind `Rollout`: their pods are not planned

### Check first

- Assumed: region `eastus` (no NodeFleet says another; use `--location`)
- 1 pod has no resource requests (counted as 0)

### Destroy (1)

- `empty-1` (pool `general`, `Standard_Unheard_of`, `eastus-1`, on-demand), price not known, no pods: empty

### Change in place

- `aks-general-zzz` gets a NodeClaim: it has the label of pool `general` and no NodeClaim

### Create (2)

| Nodes | Pool | Size | Zone | Capacity type | Total | Cost | For |
| ---: | --- | --- | --- | --- | --- | ---: | --- |
| 2 | `general` | `Standard_D4s_v5` | `eastus-1` | on-demand | 8 vCPU, 32 GiB | \\$292/month | 4 Pending pods (`default/web-1`, `default/web-2`, `default/web-3` and 1 more) |

### On existing nodes

- 1 Pending pod `default/web-5` to an existing node: `kept-1`

### Stays Pending

- 2 pods (`default/huge-1`, `default/huge-2`): cpu: `900` is asked for, `7.2` is the most (nearest: `Standard_D8s_v5` in pool `general`)
- 1 pod `default/spread-1`: held back for topologySpreadConstraints: this rule is not planned with yet

### Not done

- 1 node kept: `kept-1` (a pod has `karpenter.sh/do-not-disrupt`)
- `preferred nodeAffinity` of 3 pods is a preference and is ignored

### Warnings

- pool `general`: no size has zone `1`; hint: write `eastus-1`

### Read and assumed

- Read: 8 pods, 3 nodes, 2 DaemonSets (2 assumed)
- Prices and sizes: recorded, region `eastus`

Every node and pod: `nodeform show plan.json --all`
";
    assert_eq!(shown(&talkative()), expected);
}

/// Returns what a forge would interpret on a page: GitHub's dialect with every extension that interprets plain text.
pub(super) fn faults(text: &str) -> Vec<String> {
    let mut options = Options::default();
    let extension = &mut options.extension;
    extension.autolink = true;
    extension.strikethrough = true;
    extension.table = true;
    extension.tasklist = true;
    extension.footnotes = true;
    extension.math_dollars = true;
    extension.math_code = true;
    extension.wikilinks_title_after_pipe = true;
    extension.superscript = true;
    extension.underline = true;
    extension.spoiler = true;
    extension.alerts = true;
    let arena = Arena::new();
    let mut faults = Vec::new();
    for node in parse_document(&arena, text, &options).descendants() {
        let value = &node.data.borrow().value;
        let is_layout = matches!(
            value,
            NodeValue::Document
                | NodeValue::Paragraph
                | NodeValue::Heading(_)
                | NodeValue::List(_)
                | NodeValue::Item(_)
                | NodeValue::Table(_)
                | NodeValue::TableRow(_)
                | NodeValue::TableCell
                | NodeValue::Strong
                | NodeValue::Code(_)
                | NodeValue::SoftBreak
        );
        if let NodeValue::Text(text) = value {
            faults.extend(acted_on(text));
        } else {
            faults.extend((!is_layout).then(|| format!("{value:?}")));
        }
    }
    let invisible = |character: char| {
        character != '\n'
            && (character.is_control()
                || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'))
    };
    faults.extend(text.contains(invisible).then(|| "invisible characters".to_owned()));
    // Quick actions of GitLab and macros of Azure DevOps are lines of the source.
    faults.extend(text.lines().find(|line| line.starts_with(['/', ':', '['])).map(str::to_owned));
    faults
}

/// Returns what forges interpret in text that is not code.
fn acted_on(text: &str) -> Option<String> {
    let is_reference = |word: &str| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        word.contains(|letter: char| letter.is_ascii_digit())
            && word.contains(|letter: char| letter.is_ascii_alphabetic())
            && word.contains('-')
    };
    let signs = text.contains(['@', '#', '!', '[', ']', '<', '>', '&', '^', '|', '`', '\\', '*', '_']);
    (signs || text.contains("://") || text.contains("www.") || text.split_whitespace().any(is_reference))
        .then(|| text.to_owned())
}

/// Returns a plan in which every name that users choose is this text.
fn hostile(text: &str, times: usize) -> Plan {
    let mut plan = talkative();
    let pods: Vec<PodKey> =
        (0..3).map(|_| PodKey { namespace: Namespace::new(text), name: text.into() }).collect();
    let report = &mut plan.evidence.report;
    let unplaced = Unplaced {
        pods: pods.clone(),
        rule: text.into(),
        because: format!("`{text}` is {text}"),
        nearest: Some(text.into()),
        details: Vec::new(),
    };
    report.unplaced = vec![unplaced; times];
    report.held = vec![Held { pods: pods.clone(), waits_for: text.into(), because: text.into() }; times];
    report.warnings =
        vec![Warning { object: format!("pool `{text}`"), what: text.into(), hint: Some(text.into()) }; times];
    report.staying = vec![(NodeName::new(text), text.into()); times];
    report.undecided.insert(text.into());
    let world = &mut plan.evidence.world;
    world.catalog = text.into();
    world.gaps.iter_mut().for_each(|gap| (gap.what, gap.consequence) = (text.into(), text.into()));
    world.assumptions.iter_mut().for_each(|assumed| (assumed.what, assumed.why) = (text.into(), text.into()));
    for node in &mut world.nodes {
        node.pool = Some(PoolName::new(text));
        node.labels.insert(LabelKey::new(label::INSTANCE_TYPE), text.into());
        node.labels.insert(LabelKey::new(label::ZONE), text.into());
    }
    for claim in plan.spec.claims.values_mut() {
        claim.pool = PoolName::new(text);
        claim.primary.size = SkuName::new(text);
        claim.primary.zone = crate::model::Zone::new(text);
    }
    for placement in plan.evidence.placements.values_mut() {
        (placement.opened_for, placement.pods) = (Some(pods[0].clone()), pods.clone());
    }
    plan
}

const HOSTILE: [&str; 24] = [
    "@everyone",
    "#1",
    "!1",
    "GH-1",
    "PROJ-12",
    "owner/repo#1",
    "deadbeefcafe",
    "https://evil.example/a",
    "www.evil.example",
    "mail@evil.example",
    "[a](https://evil.example)",
    "![a](https://evil.example/pixel)",
    "<img src=x onerror=alert(1)>",
    "<!-- x -->",
    "```\n# own heading\n```",
    "`",
    "``",
    "a|b|c",
    "a\n/merge\n/approve",
    "\u{202e}drawkcab",
    "&lt;b&gt;",
    "~~gone~~ *bold* __bold__ $x$ $`x`$",
    "- [ ] task\n> [!WARNING]",
    "[[wiki]] [^1] :+1: %1 &1 ~bug",
];

#[test]
fn hostile_names_are_text() {
    for text in HOSTILE {
        for times in [1, 40] {
            let page = shown(&hostile(text, times));
            assert_eq!(faults(&page), Vec::<String>::new(), "{text:?}:\n{page}");
            assert!(units(&page) <= UNITS_MAX, "{text:?} has {}", units(&page));
        }
    }
}

#[test]
fn the_test_of_hostile_names_sees_what_a_forge_would_do() {
    for text in [
        "@all",
        "a #1",
        "https://evil.example",
        "<b>x</b>",
        "~~x~~",
        "a <!-- x -->",
        "\u{202e}",
        "/merge",
        "[^1]: x",
        "$x$ y",
    ] {
        assert_ne!(faults(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_large_plan_keeps_what_matters_and_says_what_it_leaves_out() {
    let mut plan = hostile("name", 60);
    let (id, delete) = plan
        .spec
        .changes
        .iter()
        .find(|(_, planned)| planned.change.delete().is_some())
        .map(|(id, planned)| (id.clone(), planned.clone()))
        .expect("a delete");
    let reason = plan.evidence.reasons[&id].clone();
    for number in 0..500 {
        let id = crate::plan::ChangeId(format!("{}{number}", id.0).into());
        plan.evidence.reasons.insert(id.clone(), reason.clone());
        plan.spec.changes.insert(id, delete.clone());
    }
    let page = shown(&plan);
    assert!(units(&page) <= UNITS_MAX && units(&page) > UNITS_MAX - 300, "{}", units(&page));
    assert!(
        page.starts_with(
            "**Plan: 1 to import, 2 to add, 0 to change, 501 to destroy. 1 pod stays Pending.**\n"
        ),
        "{page}"
    );
    for part in [
        "### Not in this plan\n",
        "### Destroy (501)",
        "| Nodes |",
        "**Left out here:**",
        "of 501 under “Destroy”",
        "`nodeform show plan.json --all`",
    ] {
        assert!(page.contains(part), "{part}:\n{page}");
    }
}

#[test]
fn nothing_to_do_is_short() {
    let (mut settled, policy, _) = sample::example();
    settled.nodes.remove(0);
    settled.pods.clear();
    let plan = sample::planned(&settled, &policy, &sample::solution(Vec::new(), &[]));
    assert!(shown(&plan).starts_with("**No changes.**\n\nMonthly cost will stay at"), "{}", shown(&plan));
    assert!(units(&shown(&plan)) < 1000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_name_breaks_the_page_or_its_size(text in ".{0,120}|[`|@#!<>\\[\\]()*_~$ \n\\\\/a1-]{0,40}", times in 1usize..60) {
        let page = shown(&hostile(&text, times));
        prop_assert_eq!(faults(&page), Vec::<String>::new(), "{}", page);
        prop_assert!(units(&page) <= UNITS_MAX && page.chars().count() <= UNITS_MAX);
    }
}
