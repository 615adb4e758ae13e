//! For every example the nodes, prices and pods of the page are those of the plan.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{planned, root};

/// What a page or a plan says of a node: what it costs, and the pods that are on it before or after.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    price: String,
    pods: BTreeSet<String>,
}

/// What stands between two texts, and the rest.
fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<(&'t str, &'t str)> {
    text.split_once(start)?.1.split_once(end)
}

fn of_page(page: &str) -> BTreeMap<String, Said> {
    let mut nodes = BTreeMap::new();
    let mut rest = page.split_once("id=\"nodes\"").expect("the page has tables").1;
    while let Some((name, row)) = between(rest, "<th scope=\"row\">", "</th>") {
        let (row, next) = row.split_once("</tr>").expect("a row ends");
        rest = next;
        // Tables of what is held have rows of their own, without pods.
        let Some((_, said)) = row.split_once("<div id=\"n") else { continue };
        let price = row.split("<td>").nth(3).and_then(|cell| cell.split("</td>").next()).expect("a price");
        let listed = said.split_once("<dl>").map_or("", |(_, listed)| listed);
        let pods = listed.split("<dd>").skip(1).flat_map(|part| {
            part.split("<i>").skip(1).filter_map(|pod| pod.split("</i>").next().map(str::to_owned))
        });
        let pods = pods.collect();
        let is_new = nodes.insert(name.to_owned(), Said { price: price.to_owned(), pods }).is_none();
        assert!(is_new, "`{name}` is in the tables twice");
    }
    nodes
}

/// A price as the page writes it.
fn price(node: &Value) -> String {
    let Some(monthly) = node["monthly"].as_str() else { return "price not known".to_owned() };
    let mark = if node["isEstimate"] == true { "~" } else { "" };
    let (dollars, cents) = monthly.split_once('.').expect("cents");
    let (dollars, cents): (u64, u64) = (dollars.parse().expect("a number"), cents.parse().expect("a number"));
    match dollars {
        0..10 => format!("{mark}${monthly}/month"),
        _ => format!("{mark}${}/month", nodeform::render::words::grouped(dollars + u64::from(cents >= 50))),
    }
}

fn of_plan(plan: &Value) -> BTreeMap<String, Said> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let nodes = list(&plan["nodes"]);
    let mut said: BTreeMap<String, Said> = nodes
        .iter()
        .map(|node| (text(&node["name"]), Said { price: price(node), ..Said::default() }))
        .collect();
    let evidence = &plan["evidence"];
    let mut put = |node: &str, pod: String| {
        if !pod.contains("/buffer:") {
            said.get_mut(node).unwrap_or_else(|| panic!("no node `{node}`")).pods.insert(pod);
        }
    };
    for group in list(&evidence["world"]["pods"]) {
        if let Some(node) = group["place"]["bound"].as_str() {
            for name in list(&group["names"]) {
                put(node, format!("{}/{}", text(&group["namespace"]), text(&name)));
            }
        }
    }
    for (node, pods) in evidence["kept"].as_object().into_iter().flatten() {
        list(pods).iter().for_each(|pod| put(node, text(pod)));
    }
    for (id, placement) in evidence["placements"].as_object().into_iter().flatten() {
        let vm = text(&plan["spec"]["changes"][id]["change"]["vm"]);
        list(&placement["pods"]).iter().for_each(|pod| put(&vm, text(pod)));
    }
    said
}

#[test]
fn every_example_shows_the_nodes_prices_and_pods_of_its_plan() {
    let mut examples: Vec<String> = std::fs::read_dir(root().join("examples"))
        .expect("examples/ is there")
        .map(|entry| format!("examples/{}", entry.expect("an entry").file_name().to_string_lossy()))
        .filter(|example| root().join(example).join("expected.txt").is_file())
        .collect();
    examples.sort();
    let mut shown = 0;
    for example in &examples {
        // What is rendered first, or has two sides, is no input as it is.
        let Some(plan) = planned(&[example], "json") else { continue };
        let page = planned(&[example], "html").expect("the plan is a page too");
        let plan: Value = serde_json::from_str(&plan).expect("a plan is JSON");
        assert_eq!(of_page(&page), of_plan(&plan), "{example}");
        shown += 1;
    }
    assert!(shown >= 9, "{shown} of {} examples", examples.len());
}

#[test]
fn a_comparison_lists_the_pods_of_its_second_side() {
    let sides = ["--before", "examples/pull-request/base", "examples/pull-request/head"];
    let page = of_page(&planned(&sides, "html").expect("a page"));
    let plan = planned(&sides, "json").expect("a plan");
    let plan = of_plan(&serde_json::from_str(&plan).expect("a plan is JSON"));
    assert!(plan.values().any(|node| !node.pods.is_empty()), "{plan:?}");
    for (name, node) in &plan {
        assert_eq!(page[name].pods, node.pods, "{name}");
    }
}

#[test]
fn hidden_names_are_on_no_page() {
    let shown = planned(&["examples/consolidation"], "html").expect("a page");
    assert!(shown.contains("shop/web-"), "by default names are shown");
    for how in ["hash", "omit"] {
        let page = planned(&["examples/consolidation", "--names", how], "html").expect("a page");
        assert!(page.contains("aks-apps-k2xw7"), "names of nodes are never hidden");
        for name in ["shop", "web-6c8f", "import-6c8f"] {
            assert!(!page.contains(name), "`--names {how}` shows `{name}`");
        }
    }
}
