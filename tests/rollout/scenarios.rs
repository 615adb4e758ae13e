//! The stories: each carried out whole, then stopped after each side effect, then with each answer lost.

use std::collections::BTreeMap;

use nodeform::model::Wishes;
use nodeform::sim::rehearsal::{End, Trouble};
use serde_json::{Value, json};

use crate::stage::{Applied, Ready, Stage};

const WORLD: &str = include_str!("../live/world.yaml");

/// A story: how the world begins, and what happens before the plan that is looked at.
struct Story {
    documents: String,
    /// What is done before, on top of a fleet that was made by a plan.
    prepare: fn(&mut Stage),
    wishes: Wishes,
}

impl Story {
    fn of(more: &str, prepare: fn(&mut Stage)) -> Self {
        Self { documents: format!("{WORLD}\n---\n{more}"), prepare, wishes: Wishes::default() }
    }

    fn begun(&self) -> (Stage, Ready) {
        let mut stage = Stage::of(&self.documents, 7);
        (self.prepare)(&mut stage);
        let ready = stage.ready(self.wishes.clone()).expect("there is something to do");
        (stage, ready)
    }

    /// Carries it out without trouble, then with each crash and each lost answer; each comes to the same end.
    fn holds(&self) -> (Applied, Value) {
        let (mut stage, ready) = self.begun();
        let whole = stage.apply(&ready, Trouble::default(), BTreeMap::new());
        let (words, left) = (whole.words(), stage.left());
        assert!(whole.effects > 3, "{} side effects", whole.effects);
        for number in 0..whole.effects {
            let lost = Trouble { loses: Some(number), ..Trouble::default() };
            let (mut stage, ready) = self.begun();
            let ended = stage.apply(&ready, lost, BTreeMap::new());
            assert_eq!((ended.words(), stage.left()), (words.clone(), left.clone()), "answer {number} lost");
            let stops = Trouble { stops_after: Some(number + 1), ..Trouble::default() };
            let (mut stage, ready) = self.begun();
            let stopped = stage.apply(&ready, stops, BTreeMap::new());
            assert_eq!(stopped.end, End::Stopped, "stopped after {}", number + 1);
            let ended = stage.apply(&ready, Trouble::default(), stopped.recorded);
            assert_eq!((ended.words(), stage.left()), (words.clone(), left.clone()), "stopped after {}", number + 1);
        }
        (whole, left)
    }
}

/// Makes the fleet that the world asks for.
fn made(stage: &mut Stage) {
    let ready = stage.ready(Wishes::default()).expect("nodes are to be made");
    let applied = stage.apply(&ready, Trouble::default(), BTreeMap::new());
    assert!(applied.words().iter().all(|word| word == "done"), "{:?}", applied.words());
    stage.pass(60);
}

fn scaled(stage: &mut Stage, replicas: u32) {
    let target = "/apis/apps/v1/namespaces/default/deployments/inflate";
    stage.kube("PATCH", target, &json!({"spec": {"replicas": replicas}}));
    stage.pass(60);
}

/// Nothing is left to do, twice.
fn settled(stage: &mut Stage) {
    for _ in 0..2 {
        let again = stage.ready(Wishes::default());
        assert!(again.is_none(), "{:#?}", again.map(|again| again.plan.spec().changes.clone()));
        stage.pass(30);
    }
}

#[test]
fn a_node_comes_for_pods_that_wait() {
    let story = Story::of("", |_| {});
    let (applied, left) = story.holds();
    assert_eq!(applied.words(), ["done"]);
    assert_eq!((left["claims"].as_array().unwrap().len(), &left["running"]), (1, &json!(5)), "{left}");
    let (mut stage, ready) = story.begun();
    stage.apply(&ready, Trouble::default(), BTreeMap::new());
    stage.pass(60);
    settled(&mut stage);
}

#[test]
fn an_empty_node_goes_without_a_trace() {
    let story = Story::of("", |stage| {
        made(stage);
        scaled(stage, 0);
    });
    let (applied, left) = story.holds();
    assert_eq!(applied.words(), ["done"]);
    for list in ["vms", "nics", "disks", "claims"] {
        assert_eq!(left[list], json!([]), "{left}");
    }
}
