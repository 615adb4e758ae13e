//! Bootstrap tokens in a rollout that takes longer than one of them lasts.

use nodeform::model::Wishes;
use nodeform::rollout::{Effect, Event};
use serde_json::{Value, json};

use crate::scenarios::made;
use crate::stage::{Stage, Trouble};

const WORLD: &str = include_str!("../live/world.yaml");
const POOL: &str = "/apis/karpenter.sh/v1/nodepools/general-purpose";

/// Nodes with a pod each that takes ten minutes to end, which are replaced one after the other.
fn slow_to_drain() -> Stage {
    let edits = [
        ("location: westeurope", "location: westeurope\n  durations: {podStop: {from: 600, to: 600}}"),
        ("replicas: 5", "replicas: 9"),
        (r#"{cpu: "1"}"#, r#"{cpu: "3"}"#),
        ("    spec: {containers", "    spec: {terminationGracePeriodSeconds: 600, containers"),
        ("consolidateAfter: 0s", "consolidateAfter: 0s\n    budgets: [{nodes: \"1\"}]"),
        (
            "values: [D]\n",
            "values: [D]\n        - {key: karpenter.azure.com/sku-cpu, operator: In, values: [\"4\"]}\n",
        ),
    ];
    let mut world = WORLD.to_owned();
    for (from, to) in edits {
        assert!(world.contains(from), "{from}");
        world = world.replacen(from, to, 1);
    }
    let mut stage = Stage::of(&world, 7);
    made(&mut stage);
    let labels = json!({"spec": {"template": {"metadata": {"labels": {"team": "b"}}}}});
    stage.kube("PATCH", POOL, &labels);
    stage
}

#[test]
fn vms_get_a_token_that_lasts_an_hour_and_the_one_before_goes_when_none_starts_with_it() {
    let mut stage = slow_to_drain();
    let ready = stage.ready(Wishes::default()).expect("the nodes have drifted");
    let (mut told, mut made_at) = (Vec::new(), stage.now);
    let applied = stage.watched(&ready, Trouble::default(), |now, event, _| {
        let (Event::Did(action) | Event::Began(action)) = event else { return };
        let is_done = matches!(event, Event::Did(_));
        if is_done && action.effect == Effect::CreateToken {
            made_at = now;
            told.push("made".to_owned());
        } else if is_done && matches!(action.effect, Effect::DeleteToken(_)) {
            told.push("removed".to_owned());
        } else if !is_done && matches!(action.effect, Effect::CreateVm(_)) {
            assert!(now.duration_since(made_at) <= jiff::SignedDuration::from_hours(1), "{}", action.effect);
            told.push("VM".to_owned());
        }
    });
    assert!(applied.words().iter().all(|word| word == "done"), "{:#?}", applied.end);
    let count = |what: &str| told.iter().filter(|told| *told == what).count();
    assert_eq!((count("made"), count("removed"), count("VM")), (2, 1, 9), "{told:?}");
    let secrets = stage.kube("GET", "/api/v1/namespaces/kube-system/secrets", &Value::Null);
    assert!(!secrets.to_string().contains("bootstrap-token-"), "{secrets}");
}
