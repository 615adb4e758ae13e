//! A NodePool or an AKSNodeClass that is faulty stops nothing else: it is said, and it creates and deletes no nodes.

use nodeform::model::Wishes;
use serde_json::{Value, json};

use crate::scenarios::{made, scaled};
use crate::stage::{Stage, Trouble};

const WORLD: &str = include_str!("../live/world.yaml");
const POOL: &str = "/apis/karpenter.sh/v1/nodepools/general-purpose";

/// A faulty pool, a faulty class, and a pool of that class.
const FAULTY: &str = "---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: faulty}
spec:
  template:
    spec:
      requirements: [{key: kubernetes.io/arch, operator: Sometimes, values: [amd64]}]
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: faulty}
spec: {imageFamily: Slackware}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: of-faulty}
spec:
  template:
    spec:
      requirements: []
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: faulty}
";

#[test]
fn what_is_good_goes_on_beside_what_is_faulty_and_that_is_said() {
    let mut stage = Stage::of(&format!("{WORLD}\n{FAULTY}"), 7);
    made(&mut stage);
    let world = stage.observed(Wishes::default());
    let objects: Vec<&str> = world.faulty.iter().map(|faulty| faulty.object.as_str()).collect();
    assert_eq!(objects, ["AKSNodeClass/faulty", "NodePool/faulty", "NodePool/of-faulty"]);
    assert!(world.faulty.iter().all(|faulty| faulty.what.contains("it creates and deletes no nodes")));
    let planned = nodeform::offline::plan(&world).unwrap();
    let warned = &planned.plan.plan().evidence.report.warnings;
    for object in objects {
        assert!(warned.iter().any(|warning| warning.object == object), "{warned:?}");
    }
}

#[test]
fn nodes_of_a_pool_that_has_become_faulty_stay_until_it_is_mended() {
    let mut stage = Stage::of(WORLD, 7);
    made(&mut stage);
    let requirements =
        stage.kube("GET", POOL, &Value::Null)["spec"]["template"]["spec"]["requirements"].clone();
    let patch = |requirements: Value| json!({"spec": {"template": {"spec": {"requirements": requirements}}}});
    let faulty = json!([{"key": "kubernetes.io/arch", "operator": "Sometimes", "values": ["amd64"]}]);
    stage.kube("PATCH", POOL, &patch(faulty));
    scaled(&mut stage, 0);
    assert!(stage.ready(Wishes::default()).is_none(), "nothing of it is removed");
    stage.kube("PATCH", POOL, &patch(requirements));
    let ready = stage.ready(Wishes::default()).expect("the empty node goes");
    let applied = stage.apply(&ready, Trouble::default());
    assert_eq!(applied.words(), ["done"]);
    assert_eq!(stage.left()["vms"], json!([]));
}
