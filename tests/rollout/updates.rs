//! Tags that change in place: carried out whatever goes wrong, and judged.

use std::collections::BTreeMap;

use nodeform::model::Wishes;
use nodeform::offline;
use nodeform::plan::{Change, ChangeId, OldNew, Plan, Update};
use nodeform::review::CheckedPlan;
use serde_json::json;

use crate::scenarios::{Story, made};
use crate::stage::{Stage, Trouble};

const WORLD: &str = include_str!("../live/world.yaml");
const CLASS: &str = "/apis/karpenter.azure.com/v1beta1/aksnodeclasses/default";

fn tagged(stage: &mut Stage) {
    made(stage);
    stage.kube("PATCH", CLASS, &json!({"spec": {"tags": {"team": "web"}}}));
}

#[test]
fn tags_are_set_whatever_goes_wrong_meanwhile() {
    let (applied, left) = Story::of("", tagged).holds();
    assert_eq!(applied.words(), ["done"]);
    assert_eq!(left["running"], 5, "{left}");
}

/// A pool with a label, whose Node lost it, and a class with a tag.
fn labelled(stage: &mut Stage) {
    const POOL: &str = "/apis/karpenter.sh/v1/nodepools/general-purpose";
    stage.kube("PATCH", POOL, &json!({"spec": {"template": {"metadata": {"labels": {"team": "web"}}}}}));
    tagged(stage);
    let nodes = stage.kube("GET", "/api/v1/nodes", &json!(null));
    let made = nodes["items"].as_array().expect("a list").iter();
    let made = made.filter(|node| node["metadata"]["labels"]["karpenter.sh/nodepool"].is_string());
    for node in made {
        let name = node["metadata"]["name"].as_str().expect("a name");
        assert_eq!(node["metadata"]["labels"]["team"], "web", "{node}");
        let lost = json!({"metadata": {"labels": {"team": null, "kept": "by-hand"}}});
        stage.kube("PATCH", &format!("/api/v1/nodes/{name}"), &lost);
    }
}

#[test]
fn labels_that_a_node_lost_come_back_in_place_whatever_goes_wrong_meanwhile() {
    let (applied, left) = Story::of("", labelled).holds();
    assert_eq!(applied.words(), ["done"]);
    assert_eq!(left["running"], 5, "{left}");
    let mut stage = Stage::of(WORLD, 7);
    labelled(&mut stage);
    let plan = offline::plan(&stage.observed(Wishes::default())).expect("the judge accepts it").plan;
    let mut plan = plan.plan().clone();
    assert_eq!(plan.spec.deletes().count(), 0, "what a node lost is no drift");
    let new = OldNew { old: None, new: Some("web".into()) };
    assert_eq!(update(&mut plan).1.labels, BTreeMap::from([("team".into(), new)]));
    let ready = stage.ready(Wishes::default()).expect("a node changes");
    stage.apply(&ready, Trouble::default());
    let nodes = stage.kube("GET", "/api/v1/nodes", &json!(null)).to_string();
    assert!(nodes.contains(r#""team":"web""#) && nodes.contains(r#""kept":"by-hand""#), "{nodes}");
    assert!(stage.ready(Wishes::default()).is_none(), "nothing is left to do");
}

fn update(plan: &mut Plan) -> (ChangeId, &mut Update) {
    let found = plan.spec.changes.iter_mut().find_map(|(id, planned)| match &mut planned.change {
        Change::Update(update) => Some((id.clone(), update)),
        Change::Create(_) | Change::Delete(_) | Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => {
            None
        }
    });
    found.expect("a node changes in place")
}

#[test]
fn the_judge_finds_tags_that_nobody_asks_for_and_those_of_nodeform() {
    let mut stage = Stage::of(WORLD, 7);
    tagged(&mut stage);
    let world = stage.observed(Wishes::default());
    let plan = offline::plan(&world).expect("the judge accepts it").plan.plan().clone();
    let refused = |change: fn(&mut Update)| {
        let mut plan = plan.clone();
        change(update(&mut plan).1);
        let refused = CheckedPlan::judged(&world.snapshot, &world.policy, plan);
        let refused = refused.expect_err("the judge refuses it");
        refused.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    let new = |old: Option<&str>, new: &str| OldNew { old: old.map(Into::into), new: Some(new.into()) };
    assert_eq!(update(&mut plan.clone()).1.tags, BTreeMap::from([("team".into(), new(None, "web"))]));
    let said = refused(|update| {
        update.tags.insert("team".into(), OldNew { old: None, new: Some("etl".into()) });
    });
    assert!(said.contains("gets a value of tag `team` that nothing asks for"), "{said}");
    let said = refused(|update| {
        update.tags.insert("team".into(), OldNew { old: Some("x".into()), new: Some("web".into()) });
    });
    assert!(said.contains("is said to have another value of tag `team` than it has"), "{said}");
    let said = refused(|update| {
        update.tags.insert("nodeform.dev_item".into(), OldNew { old: None, new: Some("x".into()) });
    });
    assert!(said.contains("has tag `nodeform.dev_item` changed, by which nodeform knows its VMs"), "{said}");
    let said = refused(|update| {
        update.labels.insert("team".into(), OldNew { old: None, new: Some("web".into()) });
    });
    assert!(said.contains("gets a value of label `team` that nothing asks for"), "{said}");
    let said = refused(|update| {
        update.labels.insert("kubernetes.io/os".into(), OldNew { old: None, new: Some("linux".into()) });
    });
    assert!(said.contains("is said to have another value of label `kubernetes.io/os` than it has"), "{said}");
    let said = refused(|update| update.tags.clear());
    assert!(said.contains("nothing of it changes"), "{said}");
}
