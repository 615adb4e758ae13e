//! The stories: each carried out whole, then stopped after each side effect, then with each answer lost.
//!
//! A third of those is tried, another one in each story; all of them with `NODEFORM_EVERY_CRASH=1`.

use nodeform::model::Wishes;
use serde_json::{Value, json};

use crate::stage::{Applied, End, Ready, Stage, Trouble};

const WORLD: &str = include_str!("../live/world.yaml");

/// A story: how the world begins, and what happens before the plan that is looked at.
pub(crate) struct Story {
    documents: String,
    /// What is done before, on top of a fleet that was made by a plan.
    prepare: fn(&mut Stage),
    /// How it is planned.
    ready: fn(&mut Stage) -> Option<Ready>,
}

impl Story {
    pub(crate) fn of(more: &str, prepare: fn(&mut Stage)) -> Self {
        Self {
            documents: format!("{WORLD}\n---\n{more}"),
            prepare,
            ready: |stage| stage.ready(Wishes::default()),
        }
    }

    /// The same, planned in another way.
    pub(crate) fn planned(self, ready: fn(&mut Stage) -> Option<Ready>) -> Self {
        Self { ready, ..self }
    }

    fn begun(&self) -> (Stage, Ready) {
        let mut stage = Stage::of(&self.documents, 7);
        (self.prepare)(&mut stage);
        let ready = (self.ready)(&mut stage).expect("there is something to do");
        (stage, ready)
    }

    /// Carries it out without trouble, then with each crash and each lost answer; each comes to the same end.
    pub(crate) fn holds(&self) -> (Applied, Value) {
        let (begun, ready) = self.begun();
        let mut stage = begun.clone();
        let whole = stage.apply(&ready, Trouble::default());
        let (words, left) = (whole.words(), stage.left());
        assert!(whole.effects > 3, "{} side effects", whole.effects);
        let every = if std::env::var_os("NODEFORM_EVERY_CRASH").is_some() { 1 } else { 3 };
        for number in (self.documents.len() % every..whole.effects).step_by(every) {
            let lost = Trouble { loses: Some(number), ..Trouble::default() };
            let mut stage = begun.clone();
            let ended = stage.apply(&ready, lost);
            // An answer that is lost before the plan has begun ends the command: it is run again.
            let ended =
                if ended.end == End::Stopped { stage.apply(&ready, Trouble::default()) } else { ended };
            assert_eq!((ended.words(), stage.left()), (words.clone(), left.clone()), "answer {number} lost");
            let stops = Trouble { stops_after: Some(number + 1), ..Trouble::default() };
            let mut stage = begun.clone();
            let stopped = stage.apply(&ready, stops);
            assert_eq!(stopped.end, End::Stopped, "stopped after {}", number + 1);
            let ended = stage.apply(&ready, Trouble::default());
            assert_eq!(
                (ended.words(), stage.left()),
                (words.clone(), left.clone()),
                "stopped after {}",
                number + 1
            );
        }
        (whole, left)
    }
}

/// Makes the fleet that the world asks for.
pub(crate) fn made(stage: &mut Stage) {
    let ready = stage.ready(Wishes::default()).expect("nodes are to be made");
    let applied = stage.apply(&ready, Trouble::default());
    assert!(applied.words().iter().all(|word| word == "done"), "{:?}", applied.words());
    stage.pass(60);
}

pub(crate) fn scaled(stage: &mut Stage, replicas: u32) {
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
    stage.apply(&ready, Trouble::default());
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

/// Faults of Azure, on top of the world.
fn faults(rules: &str) -> String {
    format!("apiVersion: nodeform.dev/v1alpha1\nkind: SimulatedFaults\nspec:\n  faults:\n{rules}")
}

#[test]
fn another_choice_is_taken_where_a_zone_has_no_room() {
    let story = Story::of(&faults("    - {kind: ZoneFull, when: {zone: '1'}}"), |_| {});
    let (applied, left) = story.holds();
    assert_eq!(applied.words(), ["done"]);
    let name = left["vms"][0].as_str().unwrap();
    assert!(name.ends_with("-2"), "the first attempt's VM is gone: {left}");
    assert_eq!((&left["nics"][0], &left["running"]), (&left["vms"][0], &json!(5)), "{left}");
}

#[test]
fn a_create_fails_without_a_trace_where_no_quota_is_left() {
    let story = Story::of(&faults("    - {kind: QuotaExceeded}"), |_| {});
    let (applied, left) = story.holds();
    let words = applied.words();
    let why = ": the quota of this size family is 0: limit 0, 0 in use (OperationNotAllowed)";
    assert!(words[0].starts_with("failed: ") && words[0].ends_with(why), "{words:?}");
    assert_eq!(words[0].matches(why).count(), 1, "what is true of several is said once: {words:?}");
    for list in ["vms", "nics", "disks", "claims"] {
        assert_eq!(left[list], json!([]), "{left}");
    }
}

#[test]
fn a_vm_that_never_joins_is_replaced_by_one_of_another_size() {
    let story = Story::of(&faults("    - {kind: NeverJoins, times: 1}"), |_| {});
    let (mut stage, ready) = story.begun();
    let applied = stage.apply(&ready, Trouble::default());
    assert_eq!(applied.words(), ["done"]);
    let left = stage.left();
    assert!(left["vms"][0].as_str().unwrap().ends_with("-2"), "{left}");
}

#[test]
fn two_sizes_that_never_join_end_a_create_without_a_trace() {
    let story = Story::of(&faults("    - {kind: NeverJoins}"), |_| {});
    let (mut stage, ready) = story.begun();
    let applied = stage.apply(&ready, Trouble::default());
    let words = applied.words();
    assert!(words[0].starts_with("failed: "), "{words:?}");
    let sizes: Vec<&str> = words[0].split(' ').filter(|word| word.starts_with("Standard_")).collect();
    assert!(sizes.len() == 2 && sizes[0] != sizes[1], "{words:?}");
    assert!(words[0].ends_with(": NotJoined"), "{words:?}");
    let left = stage.left();
    for list in ["vms", "nics", "disks", "claims"] {
        assert_eq!(left[list], json!([]), "{left}");
    }
}

#[test]
fn pods_that_wait_are_told_their_node_before_it_takes_any() {
    let mut stage = Stage::of(WORLD, 7);
    let ready = stage.ready(Wishes::default()).expect("nodes are to be made");
    // Of five pods that were planned one is gone by now.
    scaled(&mut stage, 4);
    let applied = stage.apply(&ready, Trouble::default());
    assert_eq!(applied.words(), ["done"]);
    let pods = stage.kube("GET", "/api/v1/namespaces/default/pods", &Value::Null);
    let told: Vec<&Value> = pods["items"].as_array().unwrap().iter().collect();
    assert_eq!(told.len(), 4);
    for pod in told {
        assert_eq!(pod["status"]["nominatedNodeName"], pod["spec"]["nodeName"], "{pod}");
        assert!(pod["spec"]["nodeName"].is_string(), "{pod}");
    }
}

#[test]
fn a_vm_that_comes_late_after_its_failure_is_not_left_over() {
    let story = Story::of(&faults("    - {kind: LateSuccess, times: 1}"), |_| {});
    let (applied, left) = story.holds();
    assert_eq!(applied.words(), ["done"]);
    assert_eq!(left["vms"].as_array().unwrap().len(), 1, "{left}");
    assert_eq!(left["nics"].as_array().unwrap().len(), 1, "{left}");
}

#[test]
fn nodes_go_with_their_pods_where_all_is_destroyed() {
    let all = Story::of("", made);
    let story = all.planned(|stage| stage.ready(Wishes { destroy: true, ..Wishes::default() }));
    let (applied, left) = story.holds();
    assert_eq!(applied.words(), ["done"]);
    assert_eq!(
        (&left["vms"], &left["claims"], &left["running"]),
        (&json!([]), &json!([]), &json!(0)),
        "{left}"
    );
}

/// A budget that lets one pod of five go at a time.
const BUDGET: &str = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: inflate, namespace: default}\n\
                      spec: {maxUnavailable: 1, selector: {matchLabels: {app: inflate}}}\n";

#[test]
fn a_drain_waits_for_a_budget_and_goes_on() {
    let story = Story::of(BUDGET, |stage| {
        scaled(stage, 14);
        made(stage);
        scaled(stage, 2);
    });
    let (applied, left) = story.holds();
    assert!(applied.words().iter().all(|word| word == "done"), "{:?}", applied.words());
    assert_eq!(left["running"], json!(2), "{left}");
}

#[test]
fn a_fleet_is_consolidated_once_pods_have_left() {
    let story = Story::of("", |stage| {
        scaled(stage, 14);
        made(stage);
        scaled(stage, 3);
    });
    let (applied, left) = story.holds();
    assert!(applied.words().iter().all(|word| word == "done"), "{:?}", applied.words());
    assert_eq!((left["vms"].as_array().unwrap().len(), &left["running"]), (1, &json!(3)), "{left}");
    let (mut stage, ready) = story.begun();
    stage.apply(&ready, Trouble::default());
    stage.pass(60);
    settled(&mut stage);
}

#[test]
fn a_node_that_was_empty_when_it_was_planned_and_is_not_any_more_stays() {
    let story = Story::of("", |stage| {
        made(stage);
        scaled(stage, 0);
    });
    let (mut stage, ready) = story.begun();
    scaled(&mut stage, 2);
    let applied = stage.apply(&ready, Trouble::default());
    let words = applied.words();
    assert!(words[0].starts_with("no longer holds: ") && words[0].contains("no longer empty"), "{words:?}");
    let left = stage.left();
    assert_eq!((left["vms"].as_array().unwrap().len(), &left["running"]), (1, &json!(2)), "{left}");
}

#[test]
fn an_operation_that_never_ends_is_given_up_and_leaves_nothing() {
    let story = Story::of(&faults("    - {kind: OperationStuck, times: 1}"), |_| {});
    let (mut stage, ready) = story.begun();
    stage.apply(&ready, Trouble::default());
    stage.pass(1_900);
    if let Some(ready) = stage.ready(Wishes::default()) {
        stage.apply(&ready, Trouble::default());
    }
    let left = stage.left();
    assert_eq!(
        (left["vms"].as_array().unwrap().len(), left["nics"].as_array().unwrap().len(), &left["running"]),
        (1, 1, &json!(5)),
        "{left}"
    );
}

#[test]
fn a_request_that_is_throttled_is_sent_again() {
    let story = Story::of(&faults("    - {kind: Throttled, when: {method: PUT}, times: 2}"), |_| {});
    let (applied, left) = story.holds();
    assert_eq!(applied.words(), ["done"]);
    assert_eq!(left["running"], json!(5), "{left}");
}
