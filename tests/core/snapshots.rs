//! What a snapshot keeps: everything that a plan follows from, and nothing else.
#![expect(clippy::disallowed_methods, reason = "tests read files")]

use std::fs;
use std::path::{Path, PathBuf};

use nodeform::manifests::{Names, Source};
use nodeform::model::Region;
use nodeform::offline::{self, Catalogs, Laid, Problem, Request};
use nodeform::plan;
use nodeform::snapshot::file;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_assert_eq, proptest};
use proptest::sample::subsequence;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every world of the fixtures: its name and its manifests.
fn worlds() -> Vec<(String, String)> {
    let mut worlds: Vec<(String, String)> = fs::read_dir(fixtures().join("worlds"))
        .expect("fixtures/worlds is there")
        .map(|entry| entry.expect("an entry"))
        .map(|entry| {
            (entry.file_name().to_string_lossy().into_owned(), read(&entry.path().join("world.yaml")))
        })
        .collect();
    worlds.sort();
    worlds
}

fn request(manifests: &str) -> Request {
    Request {
        sources: vec![Source::new("world.yaml", manifests)],
        catalogs: vec![("catalog.json".into(), read(&fixtures().join("catalog.json")))].into(),
        location: Some(Region::new("eastus")),
        ..Request::default()
    }
}

/// The plan's file, or what is wrong with the input.
fn planned(request: Request) -> Result<String, Vec<Problem>> {
    let world = offline::world(request)?;
    let planned =
        offline::plan(&world).unwrap_or_else(|refused| panic!("the judge: {:#?}", refused.findings));
    Ok(plan::write(planned.plan.plan()))
}

/// The plan that is made from the snapshot of this input, with nothing but the snapshot's file.
fn planned_from_snapshot(request: Request) -> Result<String, Vec<Problem>> {
    let text = file::write(&offline::snapshot(request)?);
    planned(from(&text))
}

fn from(snapshot: &str) -> Request {
    let laid = Laid { snapshot: Source::new("snapshot.json", snapshot), ..Laid::default() };
    Request { laid: Some(laid), ..Request::default() }
}

fn messages(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn every_world_plans_alike_from_its_snapshot() {
    for (name, manifests) in worlds() {
        let dump = planned(request(&manifests)).unwrap_or_else(|problems| panic!("{name}: {problems:#?}"));
        let snapshot = planned_from_snapshot(request(&manifests));
        assert!(snapshot.as_deref() == Ok(&dump), "{name}: the plans differ");
    }
}

#[test]
fn a_world_on_the_embedded_catalogue_plans_alike_from_its_snapshot() {
    let (_, manifests) = worlds().swap_remove(0);
    let embedded = || Request { catalogs: Catalogs::default(), ..request(&manifests) };
    assert!(planned_from_snapshot(embedded()) == planned(embedded()));
}

#[test]
fn a_snapshot_that_is_read_and_written_again_is_the_same() {
    for (name, manifests) in worlds() {
        let text = file::write(&offline::snapshot(request(&manifests)).expect("a world can be read"));
        let again = file::read(&Source::new("s", text.as_str())).expect("a snapshot can be read");
        assert!(file::write(&again) == text, "{name}");
    }
}

#[test]
fn a_catalogue_that_was_changed_is_refused_and_one_of_another_region_too() {
    let (_, manifests) = worlds().swap_remove(0);
    let text = file::write(&offline::snapshot(request(&manifests)).expect("a world can be read"));
    let changed = text.replacen("Standard_D", "Standard_E", 1);
    assert_ne!(text, changed);
    let said = messages(&planned(from(&changed)).expect_err("it was changed")).join("\n");
    assert!(said.contains("`catalog` was changed"), "{said}");
    let elsewhere = Request { location: Some(Region::new("westeurope")), ..from(&text) };
    let said = messages(&planned(elsewhere).expect_err("it has one region")).join("\n");
    assert!(said.contains("the snapshot holds the sizes of region `eastus`"), "{said}");
}

#[test]
fn another_embedded_catalogue_is_said_and_planned_with() {
    let (_, manifests) = worlds().swap_remove(0);
    let embedded = Request { catalogs: Catalogs::default(), ..request(&manifests) };
    let text = file::write(&offline::snapshot(embedded).expect("a world can be read"));
    let digest = nodeform::catalog::embedded_digest().to_string();
    let older = text.replacen(&digest, &format!("sha256:{}", "0".repeat(64)), 1);
    assert_ne!(text, older);
    let world = offline::world(from(&older)).expect("an older snapshot is planned from");
    let said =
        |assumption: &nodeform::snapshot::Assumption| assumption.why.contains("was taken with another");
    assert!(world.snapshot.assumptions.iter().any(said), "{:#?}", world.snapshot.assumptions);
}

#[test]
fn what_is_no_snapshot_is_refused_with_the_reason() {
    let head = r#""apiVersion": "nodeform.dev/v1alpha1", "kind": "Snapshot""#;
    let rest = r#""at": null, "documents": 0, "finishedPods": 0, "gaps": [], "location": null, "passedOver": {}, "unread": [], "unrendered": []"#;
    let catalog = format!(
        r#""catalog": {{"embedded": {{"digest": "{}", "pricesOf": "x"}}}}"#,
        nodeform::catalog::embedded_digest()
    );
    let table = [
        (String::new(), "is not the JSON of a snapshot: EOF"),
        ("[]".into(), "is not the JSON of a snapshot"),
        ("{}".into(), "is `` of ``, not `Snapshot`"),
        (
            r#"{"apiVersion": "nodeform.dev/v9", "kind": "Snapshot"}"#.into(),
            "is `Snapshot` of `nodeform.dev/v9`",
        ),
        (format!("{{{head}}}"), "missing field"),
        (format!(r#"{{{head}, {rest}, {catalog}, "objects": [], "more": 1}}"#), "unknown field `more`"),
        (format!(r#"{{{head}, {rest}, {catalog}, "objects": {{}}}}"#), "`objects` must be a list"),
        (format!(r#"{{{head}, {rest}, {catalog}, "objects": [5]}}"#), "a document must be an object"),
        (format!(r#"{{{head}, {rest}, "catalog": {{}}, "objects": []}}"#), "`catalog` cannot be read"),
        (
            format!(r#"{{{head}, {rest}, {catalog}, "objects": [{{"apiVersion": "v1", "kind": "Node"}}]}}"#),
            "metadata: is missing",
        ),
        (format!("{{{head}, {rest}, {catalog}, \"objects\": {}", "[".repeat(100_000)), "is not the JSON"),
    ];
    for (text, expected) in table {
        let said = messages(&planned(from(&text)).expect_err("it is no snapshot")).join("\n");
        assert!(said.contains(expected), "{said}\nfor {}", text.chars().take(300).collect::<String>());
    }
    let bytes = Laid { snapshot: Source::new("s", vec![0xff, 0xfe, 0]), ..Laid::default() };
    assert!(offline::world(Request { laid: Some(bytes), ..Request::default() }).is_err());
}

/// What a plan costs, and which nodes it makes and removes.
fn nodes_and_cost(plan: &str) -> Vec<serde_json::Value> {
    let plan: serde_json::Value = serde_json::from_str(plan).expect("a plan is JSON");
    let of = |change: &serde_json::Value| {
        let change = &change["change"];
        [&change["kind"], &change["claim"], &change["target"]["node"], &change["size"]]
            .map(Clone::clone)
            .to_vec()
    };
    let mut changes: Vec<serde_json::Value> = plan["spec"]["changes"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(_, change)| of(change).into())
        .collect();
    changes.sort_by_key(ToString::to_string);
    changes.extend([plan["evidence"]["report"]["costAfter"].clone(), plan["spec"]["claims"].clone()]);
    changes
}

#[test]
fn hidden_names_leave_nodes_and_cost_as_they_are() {
    for (name, manifests) in worlds() {
        let plain = planned(request(&manifests)).expect("a world is right");
        for names in [Names::Hash, Names::Omit] {
            let hidden = || Request { names, ..request(&manifests) };
            let direct = planned(hidden()).expect("a world is right with hidden names");
            assert_eq!(nodes_and_cost(&direct), nodes_and_cost(&plain), "{name} {names:?}");
            let snapshot = planned_from_snapshot(hidden()).expect("a world is right with hidden names");
            assert!(snapshot == direct, "{name} {names:?}: the snapshot's plan differs");
        }
    }
}

const SECRET_NAMES: &str = r#"
apiVersion: v1
kind: Namespace
metadata: {name: zebra-space, labels: {team: zebra-team}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: zebra-web, namespace: zebra-space}
spec:
  replicas: 3
  selector: {matchLabels: {app: zebra-web}}
  template:
    metadata: {labels: {app: zebra-web}}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector: {matchExpressions: [{key: app, operator: In, values: [zebra-web]}]}
              namespaces: [zebra-space]
      containers: [{name: zebra-main, image: x, resources: {requests: {cpu: 500m, memory: 1Gi}}}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: zebra-data}}]
---
apiVersion: v1
kind: Pod
metadata:
  name: zebra-web-5d4f-1
  namespace: zebra-space
  uid: u
  labels: {app: zebra-web, pod-template-hash: 5d4f}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: zebra-web-5d4f, controller: true}]
spec: {containers: [{name: zebra-main, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: zebra-data, namespace: zebra-space}
spec: {volumeName: zebra-volume}
status: {phase: Bound}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: zebra-volume, labels: {of: zebra-team}}
spec: {csi: {driver: disk.csi.azure.com}, claimRef: {name: zebra-data, namespace: zebra-space}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: zebra-db, namespace: zebra-space}
spec:
  replicas: 1
  serviceName: zebra-headless
  selector: {matchLabels: {app: zebra-db}}
  template:
    metadata: {labels: {app: zebra-db}}
    spec:
      containers: [{name: zebra-main, resources: {requests: {cpu: 500m, memory: 1Gi}}}]
      volumes:
        - {name: zebra-scratch, ephemeral: {volumeClaimTemplate: {metadata: {name: zebra-own}, spec: {storageClassName: fast}}}}
  volumeClaimTemplates: [{metadata: {name: zebra-disk}, spec: {storageClassName: fast}}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: zebra-disk-zebra-db-7, namespace: zebra-space}
spec: {storageClassName: fast}
---
apiVersion: v1
kind: Pod
metadata:
  name: zebra-flow-zebra-step-1
  namespace: zebra-space
  uid: v
  ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: Workflow, name: zebra-flow, controller: true}]
spec: {containers: [{name: zebra-main, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: zebra-scaler, namespace: zebra-space}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: zebra-web}, minReplicas: 2, maxReplicas: 4}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: zebra-budget, namespace: zebra-space}
spec: {minAvailable: 1, selector: {matchLabels: {app: zebra-web}}}
---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: zebra-spare, namespace: zebra-space}
spec: {scalableRef: {apiGroup: apps, kind: Deployment, name: zebra-web}, percentage: 20}
---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: zebra-chunks, namespace: zebra-space}
spec: {podTemplateRef: {name: zebra-chunk}, replicas: 2}
status: {podTemplateRef: {name: zebra-chunk}}
---
apiVersion: v1
kind: PodTemplate
metadata: {name: zebra-chunk, namespace: zebra-space}
template: {spec: {containers: [{name: zebra-main, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: zebra-release, namespace: zebra-space}
spec: {chart: {spec: {chart: zebra-chart}}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: zebra-widget, namespace: zebra-space}
spec: {template: {spec: {containers: [{image: x}]}}}
"#;

#[test]
fn hidden_names_stand_nowhere_and_owners_are_still_known() {
    let (_, pools) =
        worlds().into_iter().find(|(name, _)| name == "whole-packing").expect("a world with pools");
    let pools: Vec<&str> = pools.split("\n---\n").filter(|text| text.contains("kind: NodePool")).collect();
    let input = format!("{}\n---\n{SECRET_NAMES}", pools.join("\n---\n"));
    for names in [Names::Hash, Names::Omit] {
        let hidden = |text: &str| Request { names, ..request(text) };
        let file = file::write(&offline::snapshot(hidden(&input)).expect("the input is right"));
        let world = offline::world(hidden(&input)).expect("the input is right");
        let plan = planned(hidden(&input)).expect("the input is right");
        for (what, text) in [("snapshot", &file), ("plan", &plan), ("memory", &format!("{world:?}"))] {
            let line = text.lines().find(|line| line.contains("zebra"));
            assert_eq!(line.map(|line| line.chars().take(300).collect::<String>()), None, "{what} {names:?}");
        }
        let (room, pods): (Vec<_>, Vec<_>) =
            world.snapshot.pods.iter().partition(|pod| pod.key.is_placeholder());
        let owned = pods.iter().filter(|pod| pod.workload.is_some()).count();
        assert_eq!((pods.len(), owned), (5, 5), "the running pod counts for its Deployment");
        assert_eq!(room.len(), 3, "buffers still find what they name");
        let broken = input.replace("replicas: 3", "replicas: many").replace("cpu: 500m", "cpu: Zebra_1");
        let said = messages(&offline::world(hidden(&broken)).expect_err("it is wrong")).join("\n");
        assert!(said.contains("spec.replicas") && !said.to_lowercase().contains("zebra"), "{said}");
    }
}

/// The objects of a snapshot's file of this kind.
fn of_kind<'a>(file: &'a serde_json::Value, kind: &str) -> Vec<&'a serde_json::Value> {
    let objects = file["objects"].as_array().into_iter().flatten();
    objects.filter(|object| object["kind"] == kind).collect()
}

#[test]
fn names_made_of_others_go_on_fitting_and_what_nodes_are_called_stays() {
    let input = r#"
apiVersion: v1
kind: Node
metadata: {name: aks-web-1, labels: {disk: zebra-ssd}}
spec: {taints: [{key: team, value: zebra-team, effect: NoSchedule}], providerID: azure:///subscriptions/zebra}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 1
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: c}]
      nodeSelector: {disk: zebra-ssd}
      tolerations: [{key: team, value: zebra-team}]
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [zebra-ssd]}]}]
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: db}}
          matchLabelKeys: [pod-template-hash, tier]
  volumeClaimTemplates: [{metadata: {name: disk}, spec: {storageClassName: fast}}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk-db-7}
spec: {storageClassName: fast}
"#;
    for names in [Names::Hash, Names::Omit] {
        let text = file::write(&offline::snapshot(Request { names, ..request(input) }).expect("right"));
        let file: serde_json::Value = serde_json::from_str(&text).expect("a snapshot is JSON");
        let [node, set, claim] =
            ["Node", "StatefulSet", "PersistentVolumeClaim"].map(|kind| of_kind(&file, kind)[0]);
        let (name, spec) = (&set["metadata"]["name"], &set["spec"]);
        let template = &spec["volumeClaimTemplates"][0]["metadata"]["name"];
        let [name, template] = [name, template].map(|text| text.as_str().expect("a name"));
        assert_ne!((name, template), ("db", "disk"), "{names:?}");
        assert_eq!(claim["metadata"]["name"], format!("{template}-{name}-7"));
        let pod = &spec["template"]["spec"];
        let spread = &pod["topologySpreadConstraints"][0];
        assert_eq!(spread["labelSelector"]["matchLabels"]["app"], *name);
        assert_eq!(spread["matchLabelKeys"], serde_json::json!(["pod-template-hash", "tier"]));
        assert_eq!(spec["template"]["metadata"]["labels"]["app"], *name);
        assert_eq!(
            (&node["metadata"]["name"], &node["metadata"]["labels"]["disk"]),
            (&"aks-web-1".into(), &"zebra-ssd".into())
        );
        assert_eq!(pod["nodeSelector"]["disk"], "zebra-ssd");
        assert_eq!(pod["tolerations"][0]["value"], "zebra-team");
        let term =
            "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0";
        assert_eq!(pod.pointer(&format!("{term}/matchExpressions/0/values/0")), Some(&"zebra-ssd".into()));
        let provider = node["spec"]["providerID"].as_str().expect("is still there");
        assert!(provider.starts_with("azure:///") && !provider.contains("zebra"), "{provider}");
    }
}

#[test]
fn manifests_are_laid_over_a_snapshot_of_hashed_names_and_not_over_one_of_numbers() {
    let (_, pools) =
        worlds().into_iter().find(|(name, _)| name == "whole-packing").expect("a world with pools");
    let pools: Vec<&str> = pools.split("\n---\n").filter(|text| text.contains("kind: NodePool")).collect();
    let input = format!("{}\n---\n{SECRET_NAMES}", pools.join("\n---\n"));
    let laid = |names| {
        let file = file::write(&offline::snapshot(Request { names, ..request(&input) }).expect("right"));
        let is_pruned =
            |text: &&str| text.contains("\nkind: Deployment\n") || text.contains("\nkind: StatefulSet\n");
        let prune: Vec<&str> = SECRET_NAMES.split("\n---\n").filter(is_pruned).collect();
        let prune = vec![Source::new("gone.yaml", prune.join("\n---\n"))];
        let laid = Laid { snapshot: Source::new("s", file), prune, ..Laid::default() };
        offline::world(Request { laid: Some(laid), ..Request::default() })
    };
    let world = laid(Names::Hash).expect("hashed names are known");
    let pods = world.snapshot.pods.iter().filter(|pod| !pod.key.is_placeholder());
    assert_eq!(pods.count(), 1, "only the Workflow's pod stays");
    let said = messages(&laid(Names::Omit).expect_err("numbers are not")).join("\n");
    assert!(said.contains("numbers instead of names"), "{said}");
}

/// Documents of all worlds, a few of them in any order.
fn documents() -> impl Strategy<Value = Vec<String>> {
    let all: Vec<String> = worlds()
        .iter()
        .flat_map(|(_, text)| text.split("\n---\n").map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let count = all.len();
    subsequence(all, 0..count.min(30)).prop_shuffle()
}

fn shuffled() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    documents().prop_flat_map(|documents| (Just(documents.clone()), Just(documents).prop_shuffle()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_snapshot_of_any_documents_in_any_order_plans_as_they_do((one, other) in shuffled()) {
        let dump = planned(request(&one.join("\n---\n")));
        let snapshot = planned_from_snapshot(request(&other.join("\n---\n")));
        match (dump, snapshot) {
            (Ok(dump), Ok(snapshot)) => prop_assert_eq!(dump, snapshot),
            (dump, snapshot) => prop_assert_eq!(dump.is_err(), snapshot.is_err()),
        }
    }
}
